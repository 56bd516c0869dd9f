//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::job::Part;
use crate::param::{self, AccessValue, Value};
use crate::tree::TreeSpec;
use crate::workload::Access;
use crate::{Diagnostic, IoPriority, Job, rates};

fn tree(depth: u32, width: u32) {
    _ = TreeSpec { depth, width, ..TreeSpec::default() }.n_files();
}

fn divide(part: &Part, rate_iops: f64) {
    rates::divide(&mut [Job { parts: vec![part.clone()], ..Job::default() }], rate_iops);
}

fn written(name: &str, value: &Value, kb_base: u32) {
    _ = param::find(name).expect("a parameter").text(value, kb_base);
}

#[test]
fn a_wrong_call_panics() {
    let part = Part { name: "p".to_owned(), ..Part::default() };
    let light = Part { weight: -1.0, ..part.clone() };
    let odd = Part { weight: f64::NAN, ..part.clone() };
    let slow = Part { rate_iops: Some(-5.0), ..part.clone() };
    let nothing = Access { read: false, ..Access::READ };
    let nothing = Value::Access(AccessValue { access: nothing, postfix: None });
    testing::check_wrong_calls(&[
        ("a tree without levels", "a tree of 0 levels", &|| tree(0, 2)),
        ("folders without folders", "a tree of 0 folders in each", &|| tree(2, 0)),
        ("no rate", "-1 I/Os per second are divided", &|| divide(&part, -1.0)),
        ("an endless rate", "inf I/Os per second", &|| divide(&part, f64::INFINITY)),
        ("a weight below 0", "`p` has the weight -1", &|| divide(&light, 100.0)),
        ("a weight that is no number", "`p` has the weight NaN", &|| divide(&odd, 100.0)),
        ("a part's rate below 0", "`p` has the rate Some(-5.0)", &|| divide(&slow, 100.0)),
        ("a class too high", "the class 8 of a priority", &|| _ = IoPriority::new(8, 0, 0)),
        ("a level too low", "the level 8 of a priority", &|| _ = IoPriority::new(2, 8, 0)),
        ("a hint too large", "the hint 1024 of", &|| _ = IoPriority::new(2, 0, 1024)),
        ("a message without a code", "`no file` has the code ``", &|| {
            _ = Diagnostic::error("", "no file");
        }),
        ("a code in two words", "`no file` has the code `No file`", &|| {
            _ = Diagnostic::warning("No file", "no file");
        }),
        ("a code without a message", "`no-file` has no message", &|| {
            _ = Diagnostic::note("no-file", "");
        }),
        ("help without words", "the help of `no-file` says nothing", &|| {
            _ = Diagnostic::note("no-file", "no file").help("");
        }),
        ("a k of neither 1000 nor 1024", "`access` is written with a k of 1", &|| {
            written("access", &nothing, 1);
        }),
        ("a walk without a word", "no word means the walk Access", &|| {
            written("access", &nothing, 1024);
        }),
    ]);
    divide(&part, 0.0);
    tree(1, 1);
}

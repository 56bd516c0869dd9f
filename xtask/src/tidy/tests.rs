//! The scanner on hostile Rust, and all rules on small files and on the tree itself.

use std::path::Path;

use super::scanner::{Function, Source};
use super::{File, calls, circles, sizes, violations, words};
use crate::workspace::Package;

#[test]
fn the_tree_is_tidy() {
    let violations = violations().expect("the tree can be read");
    let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(list.is_empty(), "{} violations:\n{}", list.len(), list.join("\n"));
}

#[track_caller]
fn check_code(text: &str, expected: &str) {
    let source = Source::new(text);
    assert_eq!(source.code().len(), text.len());
    let words: Vec<&str> = source.code().split_whitespace().collect();
    assert_eq!(words.join(" "), expected);
}

#[test]
fn comments_are_not_code() {
    check_code("a // b\nc", "a c");
    check_code("a /* b /* c */ d */ e", "a e");
    check_code("/// doc \"quote\na", "a");
    check_code("a /* never closed", "a");
}

#[test]
fn literals_are_not_code() {
    check_code(r#"a("b {") }"#, "a( ) }");
    check_code(r#"a("\"b", c)"#, "a( , c)");
    check_code("a(r#\"b \" c\"#, d)", "a( , d)");
    check_code("a(br##\"b \"# c\"##, d)", "a( , d)");
    check_code("a('{', '\\'', b'\"', 'é')", "a( , , b , )");
    check_code("a(\"// no comment\") b", "a( ) b");
    check_code("a(\"never closed", "a(");
}

#[test]
fn lifetimes_and_raw_identifiers_are_code() {
    check_code("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
    check_code("r#type + br + r", "r#type + br + r");
    check_code("'outer: loop {}", "'outer: loop {}");
}

#[track_caller]
fn check_functions(text: &str, expected: &[(&str, usize, usize)]) {
    let expected: Vec<Function<'_>> =
        expected.iter().map(|&(name, line, n_lines)| Function { name, line, n_lines }).collect();
    assert_eq!(Source::new(text).functions(), expected);
}

#[test]
fn a_function_ends_with_its_brace() {
    check_functions("fn a() {}\nfn b() {\n    if x { y }\n}\n", &[("a", 1, 1), ("b", 2, 3)]);
    check_functions("fn a() {\n    \"}\"; // }\n    '}';\n}\n", &[("a", 1, 4)]);
    check_functions("fn a(x: [u8; { 4 }]) -> [u8; { 4 }]\nwhere\n{\n}\n", &[("a", 1, 4)]);
}

#[test]
fn nested_functions_count_for_themselves() {
    let text = "fn outer() {\n    fn inner() {\n    }\n}\n";
    check_functions(text, &[("outer", 1, 4), ("inner", 2, 2)]);
}

#[test]
fn declarations_and_pointer_types_are_no_functions() {
    check_functions("trait T { fn a(&self) -> u8; }", &[]);
    check_functions("type F = fn(u8) -> u8;", &[]);
    check_functions("macro_rules! m { ($n:ident) => { fn $n() {} } }", &[]);
}

#[track_caller]
fn check_std_modules(text: &str, expected: &[&str]) {
    let source = Source::new(text);
    let found: Vec<&str> = source.std_modules().into_iter().map(|(_, name)| name).collect();
    assert_eq!(found, expected);
}

#[test]
fn standard_modules_are_found_in_paths_and_groups() {
    check_std_modules("use std::fs; std::env::var(x)", &["fs", "env"]);
    check_std_modules("use std::{fs::{self, File}, io, net::*};", &["fs", "io", "net"]);
    check_std_modules("use std::{\n    fmt,\n    thread,\n};", &["fmt", "thread"]);
    check_std_modules("use mystd::fs; // std::fs", &[]);
}

fn file(path: &str, text: &str) -> File {
    let package = |name: &str| Package {
        name: name.to_owned(),
        dir: Path::new("crates").join(name),
        dependencies: Vec::new(),
    };
    let packages = ["plan", "runner", "plimsoll"].map(package);
    File::new(Path::new(path), text.to_owned(), &packages)
}

#[track_caller]
fn check_calls(path: &str, text: &str, expected: &[&str]) {
    let found: Vec<String> = calls::check(&file(path, text)).iter().map(display_head).collect();
    assert_eq!(found, expected);
}

/// Returns a violation without its advice: `line: name`.
fn display_head(violation: &super::Violation) -> String {
    let head = violation.message.split(": ").next().unwrap_or_default();
    format!("{}: {head}", violation.line)
}

#[test]
fn a_pure_crate_does_no_io() {
    check_calls("crates/plan/src/a.rs", "use std::fs;\n", &["1: `std::fs`"]);
    check_calls("crates/plan/src/a.rs", "\nuse std::{fmt, thread};\n", &["2: `std::thread`"]);
    check_calls("crates/runner/src/a.rs", "use std::fs;\n", &[]);
}

#[test]
fn tests_may_do_what_code_may_not() {
    check_calls("crates/plan/tests/a.rs", "use std::fs;\nx.unwrap();", &[]);
    check_calls("crates/plan/src/tests.rs", "use std::fs;\n", &[]);
    check_calls("crates/plan/src/a.rs", "#[cfg(test)]\nmod t {\n    use std::fs;\n}\n", &[]);
    check_calls("crates/plan/src/a.rs", "#[test]\nfn a() { x.unwrap() }\n", &[]);
    let after = "#[cfg(test)]\nmod t {}\nfn f() { x.unwrap(); }\n";
    check_calls("crates/plan/src/a.rs", after, &["3: `.unwrap()`"]);
    let negated = "#[cfg(not(test))]\nfn f() { x.unwrap(); }\n";
    check_calls("crates/plan/src/a.rs", negated, &["2: `.unwrap()`"]);
}

#[test]
fn clock_environment_and_output_have_one_home() {
    check_calls("crates/runner/src/a.rs", "Instant::now()", &["1: `Instant::now`"]);
    check_calls("crates/runner/src/clock.rs", "Instant::now()", &[]);
    check_calls("crates/runner/src/a.rs", "std::env::var(\"HOME\")", &["1: `std::env`"]);
    check_calls("crates/plimsoll/src/a.rs", "std::env::var(\"HOME\")", &[]);
    check_calls("crates/runner/src/a.rs", "eprintln!(\"x\")", &["1: `eprintln!`"]);
    check_calls("crates/runner/src/a.rs", "// println!\n\"println!\"", &[]);
}

#[test]
fn unfinished_work_is_refused_in_tests_as_well() {
    check_calls("crates/plan/tests/a.rs", "dbg!(1)", &["1: `dbg!`"]);
    check_calls("crates/plan/tests/a.rs", "#[test]\n#[ignore = \"slow\"]", &["2: `#[ignore`"]);
}

#[test]
fn a_lint_is_switched_off_with_a_reason() {
    let head = "1: a lint is switched off without a reason";
    check_calls("crates/plan/src/a.rs", "#[allow(dead_code)]", &[head]);
    check_calls("crates/plan/src/a.rs", "#![expect(unused)]", &[head]);
    check_calls("crates/plan/src/a.rs", "#[expect(unused, reason = \"why\")]", &[]);
}

#[test]
fn a_test_module_in_its_own_file_is_a_test() {
    let mut files = [
        file("crates/plan/src/lib.rs", "#[cfg(test)]\nmod fakes;\n"),
        file("crates/plan/src/fakes.rs", ""),
    ];
    super::mark_test_modules(&mut files);
    assert!(files[1].is_test && !files[0].is_test);
}

#[track_caller]
fn check_circles(files: &[(&str, &str)], expected: &[&str]) {
    let files: Vec<File> =
        files.iter().map(|(path, text)| file(&format!("crates/plan/src/{path}"), text)).collect();
    let found: Vec<String> = circles::check(&files).iter().map(ToString::to_string).collect();
    let heads = found.iter().map(|text| text.split(": move").next().unwrap_or_default());
    assert_eq!(heads.collect::<Vec<_>>(), expected);
}

#[test]
fn files_import_in_one_direction() {
    let lib = ("lib.rs", "mod a;\nmod b;");
    let b = ("b.rs", "use crate::a::A;\nstruct B;");
    let named = "crates/plan/src/a.rs:2: imports `crates/plan/src/b.rs`, which imports it";
    check_circles(&[lib, ("a.rs", "struct A;\nuse super::b::B;"), b], &[named]);
    check_circles(&[lib, ("a.rs", "struct A;\nfn f() { crate::b::g() }"), b], &[named]);
    check_circles(&[lib, ("a.rs", "struct A;\nuse crate::{c::D, b::{self, B}};"), b], &[named]);
    check_circles(
        &[lib, ("a.rs", "struct A; // crate::b::B\nfn f() { \"crate::b::B\"; }"), b],
        &[],
    );
    check_circles(
        &[lib, ("a.rs", "struct A;\n#[cfg(test)]\nmod tests { use crate::b::B; }"), b],
        &[],
    );
}

#[test]
fn names_that_are_handed_on_come_from_where_they_are_defined() {
    let lib = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B as Other;");
    let a = ("a.rs", "use crate::Other;\nstruct A;");
    check_circles(&[lib, a, ("b.rs", "struct B;")], &[]);
    let found = "crates/plan/src/a.rs:1: imports `crates/plan/src/b.rs`, which imports it";
    check_circles(&[lib, a, ("b.rs", "use crate::A;\nstruct B;")], &[found]);
}

#[test]
fn a_module_may_use_what_lies_in_its_folder() {
    let lib = ("lib.rs", "mod a;");
    let folder = [("a.rs", "mod b;\nuse b::B;\nstruct A;"), ("a/b.rs", "use super::A;\nstruct B;")];
    check_circles(&[lib, folder[0], folder[1]], &[]);
    let three =
        [folder[0], ("a/b.rs", "use super::A;\nuse super::c::C;"), ("a/c.rs", "use super::b::B;")];
    let found = "crates/plan/src/a/b.rs:2: imports `crates/plan/src/a/c.rs`, which imports it";
    check_circles(&three, &[found]);
}

#[test]
fn what_serde_is_to_call_is_an_import() {
    let lib = ("lib.rs", "mod a;\nmod b;");
    let b = ("b.rs", "use crate::a::A;\nfn f() {}");
    let found = "crates/plan/src/a.rs:3: imports `crates/plan/src/b.rs`, which imports it";
    for call in [
        "#[serde(with = \"crate::b\")]",
        "#[serde(default, deserialize_with = \"crate::b::f\")]",
        "#[cfg_attr(x, serde(skip_serializing_if = \"super::b::f\"))]",
    ] {
        let a = format!("struct A {{\n    // \"crate::b::f\"\n    {call}\n    c: u8,\n}}");
        check_circles(&[lib, ("a.rs", &a), b], &[found]);
    }
    let a = "struct A {\n    #[serde(with = \"std::b::f\", rename = \"b::f\")]\n    c: u8,\n}";
    check_circles(&[lib, ("a.rs", a), b], &[]);
}

#[test]
fn a_folder_is_one_file_for_all_outside_of_it() {
    let lib = ("lib.rs", "mod a;\nmod b;");
    let folder = [("a/mod.rs", "mod c;\nuse crate::b::B;"), ("a/c.rs", "struct C;")];
    let b = ("b.rs", "use crate::a::c::C;\nstruct B;");
    let found = "crates/plan/src/a/mod.rs:2: imports `crates/plan/src/b.rs`, which imports \
                 `crates/plan/src/a/c.rs`";
    check_circles(&[lib, folder[0], folder[1], b], &[found]);
    let up = [("a/mod.rs", "mod c;\nstruct A;"), ("a/c.rs", "use crate::b::B;")];
    let b = ("b.rs", "use crate::a::A;\nstruct B;");
    let found = "crates/plan/src/a/c.rs:1: imports `crates/plan/src/b.rs`, which imports \
                 `crates/plan/src/a/mod.rs`";
    check_circles(&[lib, up[0], up[1], b], &[found]);
}

#[test]
fn long_lines_functions_and_files_are_reported() {
    let long_line = format!("// {}\n", "é".repeat(98));
    let long_function = format!("fn f() {{\n{}}}\n", "    x;\n".repeat(69));
    let long_file = "\n".repeat(801);
    let n_found = |path: &str, text: &str| sizes::check(&file(path, text)).len();
    assert_eq!(n_found("a.rs", &long_line), 1);
    assert_eq!(n_found("a.rs", &long_line.replacen('é', "", 1)), 0);
    assert_eq!(n_found("a.rs", &long_function), 1);
    assert_eq!(n_found("a.rs", &long_function.replacen("    x;\n", "", 1)), 0);
    assert_eq!(n_found("a.rs", &long_file), 1);
    assert_eq!(n_found("tests/a.rs", &long_file), 0);
}

#[test]
fn words_of_the_workshop_are_refused_everywhere() {
    let words = [concat!("FIX", "ME"), concat!("cd /wo", "rk/x"), concat!("the assis", "tant")];
    for word in words {
        assert_eq!(words::check(&file("README.md", word)).len(), 1, "{word}");
    }
    assert!(words::check(&file("README.md", "mkstemp takes tmp.XXXXXX; network/work/")).is_empty());
}

#[test]
fn riddles_are_refused() {
    for text in
        [concat!("as it is to", "ld"), concat!("No", "body says"), concat!("it me", "nds it")]
    {
        assert_eq!(words::check(&file("docs/x.md", text)).len(), 1, "{text}");
    }
    let names = "the user nobody; NOBODY; `nobody`; amend and recommend; a threshold";
    assert!(words::check(&file("docs/x.md", names)).is_empty());
}

#[test]
fn dependencies_come_from_the_public_registry() {
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert!(words::check_lock("Cargo.lock", public).is_empty());
    let private = "\nsource = \"git+https://example.org/fork\"\n";
    assert_eq!(words::check_lock("Cargo.lock", private)[0].line, 2);
}

//! Values without sense, which the kind mode refuses with what to write, and 5.04.07 takes.

mod support;

use dialects::vdbench::run::{Rate, Sd};
use dialects::vdbench::{Lun, Options, parse_files, parse_text, remote_finding, unsized_luns};
use plan::Severity;
use support::vdbench::{compat, kind};
use support::{MapHost, all_shown, shown};

const WD: &str = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n";

/// The kind mode finds one mistake, `code line:column message | help`; the other mode none.
#[track_caller]
fn check(text: &str, expected: &str) {
    check_kind(text, expected);
    let parsed = compat(text);
    assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
}

#[track_caller]
fn check_kind(text: &str, expected: &str) {
    let parsed = kind(text);
    let errors = parsed.diagnostics.iter().filter(|f| f.severity == Severity::Error);
    let found: Vec<String> = errors.map(|finding| shown(finding).replace("error ", "")).collect();
    assert_eq!(found, [expected], "{text}");
}

#[track_caller]
fn check_fine(text: &str) {
    assert!(!kind(text).has_errors(), "{text}\n{}", all_shown(&kind(text).diagnostics));
}

fn wd(rest: &str) -> String {
    format!("sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1,{rest}\nrd=r1,wd=wd1,iorate=9,elapsed=4\n")
}

fn rd(rest: &str) -> String {
    format!("{WD}rd=r1,wd=wd1,interval=1,{rest}\n")
}

/// Two run definitions on one structure of 10 files of 4k.
fn two_rds(first: &str, second: &str) -> String {
    format!(
        "fsd=f1,anchor=/a,sizes=4k\nfwd=w1,fsd=f1\nrd=r1,fwd=w1,fwdrate=9,elapsed=4,{first}\n\
         rd=r2,fwd=w1,fwdrate=9,elapsed=4,{second}\n"
    )
}

#[test]
fn a_list_within_a_list_is_no_list() {
    let nested = |column: u32, key: &str, flat: &str| {
        format!(
            "nested-list 3:{column} a list stands within the list of `{key}=`, which Vdbench reads \
             as one list | write one list: `{key}={flat}`"
        )
    };
    let more = |rest: &str| rd(&format!("elapsed=4,{rest}"));
    check(&more("iorate=9,forthreads=(1,(2,3))"), &nested(58, "forthreads", "(1,2,3)"));
    check(&more("iorate=9,xfersize=(4k,(8k))"), &nested(57, "xfersize", "(4k,8k)"));
    check(&more("iorate=(100,(200))"), &nested(47, "iorate", "(100,200)"));
    check(
        &more("iorate=(100)(200)"),
        "nested-list 3:47 something stands behind the list of `iorate=`, which Vdbench reads as \
         one list | write one list: `iorate=(100,200)`",
    );
    check_fine(&more("iorate=(100,200),forthreads=(1-4,d)"));
}

#[test]
fn names_can_be_those_of_pages() {
    let named = |name: &str| {
        format!("sd={name},lun=/a,size=1g\nwd=wd1,sd=*\nrd=r1,wd=wd1,iorate=9,elapsed=4\n")
    };
    let help = "its pages are named after it; write another name";
    for name in ["../other/sd1", "/etc/sd1", "a/b"] {
        let mistake = format!("wrong-name 1:4 `sd={name}` cannot be the name of a file | {help}");
        check(&named(name), &mistake);
    }
    let long = "wrong-name 1:4 a name of `sd=` has 101 bytes, more than 100";
    check(&named(&"x".repeat(101)), &format!("{long} | {help}"));
    let page = "wrong-name 1:4 `sd=summary` has the name of the page `summary.html`";
    check(&named("summary"), &format!("{page} | {help}"));
    for name in ["\u{fc}-1", "a.b", ".", &"x".repeat(100)] {
        check_fine(&named(name));
    }
    assert_eq!(
        all_shown(&kind(&named("wd1")).diagnostics),
        "warning shared-page 2:4 `sd=wd1` and `wd=wd1` have one page, `wd1.html`, for both | give \
         them names of their own"
    );
}

#[test]
fn an_anchor_is_the_same_however_it_is_written() {
    let text = |other: &str, files: u32| {
        format!(
            "fsd=f1,anchor=/a/b,files=5,sizes=4k\nfsd=f2,anchor={other},files={files},sizes=4k\n\
             fwd=w1,fsd=f*,threads=2\nrd=r1,fwd=w1,fwdrate=9,elapsed=4,format=yes\n"
        )
    };
    let different = "different-structures 4:4 rd=r1: fsd=f1 and fsd=f2 are different structures in \
                     one anchor, `/a/b` | give each an anchor of its own, or a run definition of \
                     its own with format=yes";
    let nested = "nested-anchors 2:5 anchors may not be parents or children of each other: fsd=f1 \
                  and fsd=f2 | give each file system definition a folder of its own";
    for other in ["/a/./b/", "//a/b", "/a/b/."] {
        check_kind(&text(other, 7), different);
        check_fine(&text(other, 5));
        check_kind(&text(&format!("{other}/c"), 5), nested);
    }
}

#[test]
fn files_are_read_as_editors_write_them() {
    let text = "* one\nsd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\nrd=r1,wd=wd1,iorate=9,elapsed=4\n";
    let read = |bytes: Vec<u8>, options: &Options| {
        let mut host = MapHost::default();
        host.files.insert("p".to_owned(), bytes);
        let parsed = parse_files(&["p"], options, &host);
        (parsed.runs.len(), all_shown(&parsed.diagnostics))
    };
    let both = |bytes: &[u8]| {
        let of = |options: &Options| read(bytes.to_vec(), options);
        (of(&Options::default()), of(&Options::compat()))
    };
    for ends in ["\n", "\r", "\r\n"] {
        let (kind, compat) = both(text.replace('\n', ends).as_bytes());
        assert_eq!((&kind, &compat), (&(1, String::new()), &(1, String::new())), "{ends:?}");
        let wrong = text.replace("iorate", "iorat").replace('\n', ends);
        let (_, found) = read(wrong.replace("iorat", "nosuch").into_bytes(), &Options::default());
        assert!(found.starts_with("error unknown-keyword 4:14 "), "{found}");
    }
    let ((n_runs, found), (n_compat, _)) = both(format!("\u{feff}{text}").as_bytes());
    assert_eq!((n_runs, n_compat), (1, 0));
    assert!(found.starts_with("warning byte-order-mark 1:1 "), "{found}");
    for bytes in [text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(), {
        let marked = format!("\u{feff}{text}");
        marked.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }] {
        for (n_runs, found) in <[_; 2]>::from(both(&bytes)) {
            assert!(n_runs == 0 && found.lines().count() == 1, "{found}");
            assert!(found.contains("cannot be read: it is UTF-16"), "{found}");
        }
    }
    let latin = text.replace("/a", "/~").into_bytes();
    let latin = latin.into_iter().map(|byte| if byte == b'~' { 0xfc } else { byte }).collect();
    let (_, found) = read(latin, &Options::default());
    assert!(found.starts_with("error not-utf-8 2:13 "), "{found}");
}

#[test]
fn findings_that_are_not_shown_are_counted() {
    let many = |line: &str| {
        let lines: String = (0..350).map(|idx| format!("wd=wd{idx},sd=sd1,{line}\n")).collect();
        format!("sd=sd1,lun=/a,size=1g\n{lines}rd=r1,wd=wd1,iorate=9,elapsed=4\n")
    };
    let parsed = kind(&many("nosuch=1"));
    assert_eq!(parsed.diagnostics.len(), 201);
    let last = shown(&parsed.diagnostics[200]);
    assert!(last.starts_with("error more-errors - 150 more errors are not shown | "), "{last}");
    let parsed = kind(&many("rdpct=1\t* a comment"));
    assert_eq!((parsed.runs.len(), parsed.has_errors()), (1, false));
    let parsed = kind(&many("rdpct=1, xfersize=4k"));
    assert_eq!((parsed.runs.len(), parsed.diagnostics.len()), (1, 201));
    let last = shown(&parsed.diagnostics[200]);
    assert_eq!(last, "warning more-warnings - 150 more warnings are not shown");
}

#[test]
fn quoted_parentheses_are_those_of_a_value() {
    let text = rd("iorate=9,elapsed=4,startcmd=(\"echo $(date)\",cons)");
    let parsed = kind(&text);
    assert_eq!(parsed.runs[0].commands[0].text, "echo $(date)");
    let found = all_shown(&parsed.diagnostics);
    assert!(found.starts_with("warning quoted-parenthesis 3:61 "), "{found}");
    assert!(
        all_shown(&kind(&text.replace(",cons)", "").replace("=(", "=")).diagnostics).is_empty()
    );
}

#[test]
fn a_structure_is_there_when_a_run_needs_it() {
    let mistake = |there: &str, asked: &str, whose: &str| {
        format!(
            "different-structures 4:4 rd=r2: fsd=f1 is {asked}, but {whose} leaves another \
             structure in `/a`: {there} | write format=yes, which removes what is there first, or \
             give each structure an anchor of its own"
        )
    };
    let shape = |depth, width, files, sizes| {
        format!("depth={depth},width={width},files={files},sizes={sizes}")
    };
    let plain = shape(1, 1, 10, "4k");
    let after_r1 = |there: &str| mistake(there, &plain, "rd=r1");
    let deep = after_r1(&shape(2, 1, 10, "4k"));
    check(&two_rds("format=yes,fordepth=(1-2,1)", "format=no"), &deep);
    check(&two_rds("format=yes,fordepth=(1-2,1)", "format=restart"), &deep);
    check(&two_rds("format=only,depth=2", "operations=(mkdir,rmdir)"), &deep);
    check(&two_rds("format=restart,forsizes=(8k)", ""), &after_r1(&shape(1, 1, 10, "8k")));
    check(
        &two_rds("format=yes", "format=(yes,once),forfiles=(10,20)"),
        &mistake(&plain, &shape(1, 1, 20, "4k"), "its format"),
    );
    for (first, second) in [
        ("format=yes,fordepth=(1-2,1)", "format=yes"),
        ("format=yes,fordepth=(2-1,d)", "format=no"),
        ("format=(clean,only),fordepth=2", "format=restart"),
        ("format=yes,fordepth=2", "format=(clean,only)"),
        ("format=no,fordepth=(1-2,1)", "format=no"),
        ("format=yes,fortotal=(8k,16k)", "format=no,forwss=(4k)"),
    ] {
        check_fine(&two_rds(first, second));
    }
}

#[test]
fn a_mistake_of_a_workload_is_reported_once() {
    let text = two_rds("format=yes", "format=no").replace("fsd=f1\n", "fsd=f1,rdpct=50\n");
    let parsed = kind(&text);
    let found: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(found, ["sequential-rdpct"], "{}", all_shown(&parsed.diagnostics));
    let parsed =
        kind(&two_rds("format=no", "format=no").replace("sizes=4k", "sizes=4k,totalsize=1g"));
    let found: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(found, ["wrong-structure"], "{}", all_shown(&parsed.diagnostics));
}

#[test]
fn work_that_would_not_be_done_is_a_mistake() {
    let text = two_rds("format=yes", "foroperations=(getattr,read)")
        .replace("fwd=w1,fsd=f1\n", "fwd=w1,fsd=f1,fileio=random,rdpct=30\n");
    check(
        &text,
        "exclusive-parameters 4:4 rd=r2: with 'rdpct=' of fwd=w1 only operation=read or write is \
         allowed, and only one of them | leave `operations=` or `foroperations=` of the run \
         definition out",
    );
    check_fine(&text.replace("getattr", "write"));
    let text = two_rds("format=yes", "format=no")
        .replace("fwd=w1,fsd=f1\n", "fwd=w1,fsd=f1,skew=100\nfwd=w2,fsd=f1\n")
        .replace("rd=r2,fwd=w1", "rd=r2,fwd=w*");
    check(
        &text,
        "wrong-skew 5:4 rd=r2: the shares of the others add up to 100, and leave nothing for \
         fwd=w2 | write `skew=` for it too, or leave it out of the run",
    );
    check(
        "sd=(sd1,sd2),lun=/a,size=1g\nwd=wd1,sd=sd1\nrd=r1,wd=wd1,iorate=9,elapsed=4\n",
        "too-many-values 1:4 `sd=` begins one definition, and has 2 names | write a definition \
         for each; Vdbench takes the first name alone",
    );
}

#[test]
fn a_list_of_seeks_that_cannot_be_read_says_why() {
    let parsed = kind(&rd("iorate=9,elapsed=4,seekpct=(0-50)"));
    let found: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(found, ["endless-range"], "{}", all_shown(&parsed.diagnostics));
}

#[test]
fn percentages() {
    let percent = "write a percentage, from 0 to 100";
    check(&wd("rdpct=150"), &format!("wrong-value 2:21 `rdpct=` cannot be `150` | {percent}"));
    check(&wd("rhpct=101"), &format!("wrong-value 2:21 `rhpct=` cannot be `101` | {percent}"));
    check(
        &wd("seekpct=200"),
        "wrong-value 2:23 `seekpct=` cannot be `200` | write a percentage, from 0 (sequential) to \
         100 (random), or -1 for eof",
    );
    check(
        &rd("iorate=9,elapsed=4,forrdpct=(0,150)"),
        &format!("wrong-value 3:53 `forrdpct=` cannot be `(0,150)` | {percent}"),
    );
    check_kind(
        &wd("skew=abc"),
        "wrong-value 2:20 `skew=` needs a number, not `abc` | it is a percentage: a number from 0 \
         to 100",
    );
}

#[test]
fn counts() {
    let count = "write a whole number, 1 or more";
    let text = "sd=sd1,lun=/a,size=1g,threads=0\nrd=r1,sd=sd1,iorate=9,elapsed=4\n";
    check(text, &format!("wrong-value 1:31 `threads=` cannot be `0` | {count}"));
    check(
        &rd("iorate=9,elapsed=4,forthreads=(0,1)"),
        &format!("wrong-value 3:55 `forthreads=` cannot be `(0,1)` | {count}"),
    );
    let files = "fsd=f,anchor=/a,files=2.5\nfwd=w,fsd=f\nrd=r,fwd=w,fwdrate=9,elapsed=4\n";
    check(files, &format!("wrong-value 1:23 `files=` cannot be `2.5` | {count}"));
    let files = "fsd=f,anchor=/a\nfwd=w,fsd=f,threads=0\nrd=r,fwd=w,fwdrate=9,elapsed=4\n";
    check(files, &format!("wrong-value 2:21 `threads=` cannot be `0` | {count}"));
}

#[test]
fn times_and_rates() {
    let seconds = "write whole seconds; `m` behind it makes them minutes, `h` hours";
    check(
        &rd("iorate=9,elapsed=4.5"),
        &format!("wrong-value 3:42 `elapsed=` cannot be `4.5` | {seconds}"),
    );
    assert!(!kind(&rd("iorate=9,elapsed=1m")).has_errors());
    assert!(!kind(&rd("iorate=10.5,elapsed=4")).has_errors(), "a rate is any number");
    check_kind(
        &rd("iorate=0,elapsed=4"),
        "wrong-value 3:32 `iorate=` cannot be `0` | write a number above 0, or max",
    );
}

#[test]
fn sizes() {
    let text = "sd=sd1,lun=/a,size=-5m\nrd=r1,sd=sd1,iorate=9,elapsed=4\n";
    check(
        text,
        "wrong-value 1:20 `size=` cannot be `-5m` | write bytes above 0, with k, m, g or t behind \
         the number",
    );
    check(
        &wd("xfersize=1000"),
        "wrong-value 2:24 `xfersize=` cannot be `1000` | write a multiple of 512 bytes, such as 4k",
    );
    let small = "sd=sd1,lun=/a,size=4k\nwd=w,sd=sd1,xfersize=8k\nrd=r1,wd=w,iorate=9,elapsed=4\n";
    let help = "write a larger `size=`, or a smaller `xfersize=`";
    check(
        small,
        &format!(
            "size-below-xfersize 1:4 sd=sd1: size=4096 is less than one transfer of wd=w: 8192 | \
             {help}"
        ),
    );
    check(
        &small.replace("elapsed", "forxfersize=(4k,8k),elapsed").replace("=8k", "=512"),
        &format!(
            "size-below-xfersize 1:4 sd=sd1: size=4096 is less than one transfer of wd=w: 8192 | \
             {help}"
        ),
    );
}

#[test]
fn values_that_are_not_there() {
    let help = "write one behind the sign, without a blank, or leave the keyword out";
    check_kind(&wd("rdpct="), &format!("no-keyword 2:15 `rdpct=` has no value | {help}"));
    check_kind(
        &wd("hotband=5"),
        "wrong-value 2:23 `hotband=` cannot be `5` | write a beginning and an end, such as \
         hotband=(10,20)",
    );
    check(
        &wd("hotband=(50,10)"),
        "wrong-range 2:4 hotband=(50,10): the second value must be higher than the first | up to \
         200 the values are percentages, above they are bytes",
    );
}

#[test]
fn sections_out_of_order_say_the_order() {
    let order = "definitions come in the order general parameters, hd, rg, fsd or sd, wd or fwd, \
                 rd";
    let found = kind("sd=sd1,lun=/a\nrd=r1,sd=sd1,iorate=9\nsd=sd2,lun=/b\n");
    assert_eq!(
        shown(&found.diagnostics[0]),
        format!(
            "error unknown-keyword 3:8 unknown keyword: lun | `lun=` belongs to `sd=`; {order}"
        )
    );
    let found = kind("sd=sd1,lun=/a\ncompratio=2\nrd=r1,sd=sd1,iorate=9\n");
    let said = shown(&found.diagnostics[0]);
    assert!(said.ends_with(&format!("`compratio=` is a general parameter; {order}")), "{said}");
}

#[test]
fn an_unknown_keyword_is_unknown_whatever_its_value_is() {
    check_kind(
        &rd("iorate=9,elapsed=4,maxdatax=no"),
        "unknown-keyword 3:44 unknown parameter: maxdatax | write maxdata, maxdataread or \
         maxdatawritten",
    );
}

#[test]
fn a_file_that_includes_itself_says_so() {
    let host = MapHost::of_files(&[("a", "include=b\n"), ("b", "* b\ninclude=a\n")]);
    let found = parse_files(&["a"], &Options::default(), &host);
    assert_eq!(
        shown(&found.diagnostics[0]),
        "error nested-include 2:9 a file includes itself: `a` includes `b` includes `a` | leave \
         this line out"
    );
}

#[test]
fn files_that_are_too_large_are_not_cut_off() {
    let text = rd("iorate=9,elapsed=4");
    let long = format!("{text}*{}\n", " ".repeat((64 << 20) - text.len() - 2));
    let longer = format!("{long}r");
    let includes = format!("{text}include=long\n");
    let files = [("long", longer.as_str()), ("fits", &long), ("includes", &includes)];
    let host = MapHost::of_files(&files);
    let mistake = "`long` holds more than a parameter file may (64 MiB) | name a parameter file; \
                   split one that is so long";
    for options in [Options::default(), Options::compat()] {
        let read = |path: &str| all_shown(&parse_files(&[path], &options, &host).diagnostics);
        assert_eq!(read("long"), format!("error file-too-large - {mistake}"));
        assert_eq!(read("includes"), format!("error file-too-large 4:9 {mistake}"));
        assert_eq!(read("fits"), "");
    }
}

#[test]
fn hosts_without_an_address_are_named_once() {
    let host = MapHost { unknown_hosts: vec![".far".to_owned()], ..MapHost::default() };
    let text: String = (0..25).map(|n| format!("hd=h{n},system=h{n}.far\n")).collect();
    let text = text + &rd("iorate=9,elapsed=4");
    let found = parse_text("t", &text, &Options::default(), &host);
    assert_eq!(
        all_shown(&found.diagnostics),
        "warning unknown-host 1:14 this machine cannot resolve `h0.far`, `h1.far`, `h2.far` and \
         22 more: Vdbench would end here | write an address, or a name that can be resolved"
    );
    assert_eq!(found.runs.len(), 1);
    let remote = remote_finding(&found).unwrap();
    assert_eq!(
        remote.message, "the file runs on other hosts: `h0`, `h1`, `h2` and 5 more",
        "8 threads are for 8 of them"
    );
    assert!(parse_text("t", &text, &Options::compat(), &host).has_errors());
}

#[test]
fn files_without_a_size() {
    let text = "sd=sd1,lun=/a\nsd=sd2,lun=/b\nsd=sd3,lun=/dev/sdx\nsd=sd4,lun=/c,size=1m\n\
                wd=w,sd=*,xfersize=8k\nrd=r1,wd=w,iorate=9,elapsed=4\n";
    let look = |sd: &Sd| Some(if sd.lun == "/b" { Lun::File(4096) } else { Lun::Missing });
    let found = unsized_luns(&kind(text), &look);
    assert_eq!(
        all_shown(&found),
        "error missing-size 1:4 sd=sd1: `/a` is not there | write `size=` to have it made, or \
         `--remap A=B` for another folder\n\
         error missing-size 2:4 sd=sd2: `/b` has 4096 bytes, less than one transfer of wd=w: 8192 \
         | write `size=` to have it made longer, or a smaller `xfersize=`"
    );
}

#[test]
fn files_in_shared_memory_without_a_size() {
    let text = "sd=sd1,lun=/dev/shm/f\nwd=w,sd=*\nrd=r1,wd=w,iorate=9,elapsed=4\n";
    let found = all_shown(&unsized_luns(&kind(text), &|_| Some(Lun::Missing)));
    assert!(found.starts_with("error missing-size 1:4 sd=sd1: `/dev/shm/f` is not"), "{found}");
}

#[test]
fn files_in_folders_that_are_not_there() {
    let text = "sd=sd1,lun=/a/b,size=1m\nsd=sd2,lun=/dev/sdx\nwd=w,sd=*\n\
                rd=r1,wd=w,iorate=9,elapsed=4\n";
    let found = |text: &str| all_shown(&unsized_luns(&kind(text), &|_| Some(Lun::NoFolder)));
    let mistake = "error missing-folder 1:4 sd=sd1: the folder of `/a/b` is not there | mkdir \
                   -p '/a' makes it; `--remap A=B` names another";
    assert_eq!(found(text), mistake);
    // A command may make it.
    assert_eq!(found(&text.replace("elapsed=4", "elapsed=4,startcmd=\"mkdir /a\"")), "");
    assert!(found(&text.replace(",size=1m", "")).starts_with("error missing-size 1:4 "));
}

/// Both modes find the same one mistake.
#[track_caller]
fn check_both(text: &str, expected: &str) {
    check_kind(text, expected);
    let parsed = compat(text);
    let found: Vec<String> = parsed.diagnostics.iter().map(shown).collect();
    assert_eq!(found, [format!("error {expected}")], "{text}");
}

fn general(rest: &str) -> String {
    format!("{rest}\n{WD}rd=r1,wd=wd1,iorate=9,elapsed=4\n")
}

#[test]
fn numbers_that_no_mode_takes() {
    let help = "write a number in digits, less than 9223372036854775808 (8 EiB)";
    let sd = |rest: &str| format!("sd=sd1,lun=/a,{rest}\nrd=r1,sd=sd1,iorate=9,elapsed=4\n");
    let files = |rest: &str| {
        format!("fsd=f,anchor=/a,{rest}\nfwd=w,fsd=f\nrd=r,fwd=w,fwdrate=9,elapsed=4\n")
    };
    for (text, place, key, value) in [
        (rd("elapsed=4,iorate=NaN"), "3:42", "iorate", "NaN"),
        (rd("elapsed=4,iorate=(5,NaN)"), "3:42", "iorate", "NaN"),
        (rd("elapsed=4,iorate=Infinity"), "3:42", "iorate", "Infinity"),
        (rd("elapsed=4,iorate=-Infinity"), "3:42", "iorate", "-Infinity"),
        (rd("elapsed=4,iorate=1e400"), "3:42", "iorate", "1e400"),
        (rd("elapsed=4,iorate=1e30"), "3:42", "iorate", "1e30"),
        (rd("elapsed=4,iorate=curve,curve=NaN"), "3:54", "curve", "NaN"),
        (rd("elapsed=4,iorate=curve,curve=(50,NaN)"), "3:54", "curve", "NaN"),
        (wd("range=(NaN,50)"), "2:21", "range", "NaN"),
        (wd("hotband=(NaN,50)"), "2:23", "hotband", "NaN"),
        (sd("size=99999999999999t"), "1:20", "size", "99999999999999t"),
        (sd("size=1m,range=(1,Infinity)"), "1:29", "range", "Infinity"),
        (general("dedupratio=NaN\ndedupunit=4k"), "1:12", "dedupratio", "NaN"),
        (general("compratio=NaN"), "1:11", "compratio", "NaN"),
        (files("totalsize=NaN"), "1:27", "totalsize", "NaN"),
    ] {
        check_both(&text, &format!("wrong-value {place} `{key}=` cannot be `{value}` | {help}"));
    }
}

#[test]
fn numbers_beyond_their_limits() {
    let threads = "write a whole number, 1 or more, at most 100000";
    for threads_written in ["100001", "1000000", "99999999999"] {
        check_both(
            &format!(
                "sd=sd1,lun=/a,size=1g,threads={threads_written}\nrd=r1,sd=sd1,iorate=9,elapsed=4\n"
            ),
            &format!("wrong-value 1:31 `threads=` cannot be `{threads_written}` | {threads}"),
        );
    }
    check_both(
        &rd("iorate=9,elapsed=4,forthreads=(1,200000)"),
        &format!("wrong-value 3:55 `forthreads=` cannot be `(1,200000)` | {threads}"),
    );
    let seconds = "write whole seconds; `m` behind it makes them minutes, `h` hours";
    check_both(
        &rd("iorate=9,elapsed=20000000000"),
        &format!(
            "wrong-value 3:42 `elapsed=` cannot be `20000000000` | {seconds}, at most 315360000 \
             seconds (ten years)"
        ),
    );
    check_both(
        &rd("elapsed=4,iorate=2147483648"),
        "wrong-value 3:42 `iorate=` cannot be `2147483648` | write a number above 0, or max, at \
         most 2147483647",
    );
    check_kind(
        &format!("{WD}rd=r1,wd=wd1,iorate=9,elapsed=4,interval=0\n"),
        &format!("wrong-value 3:42 `interval=` cannot be `0` | {seconds}"),
    );
    check_kind(
        &general("compression=0"),
        "wrong-value 1:13 `compression=` cannot be `0` | write a percentage above 0, up to 100",
    );
    for text in [
        rd("iorate=2147483647,elapsed=315360000"),
        rd("iorate=9,elapsed=4,maxdata=100g,forthreads=100000"),
    ] {
        let parsed = kind(&text);
        assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
    }
}

#[test]
fn hit_areas_lie_within_their_storage() {
    let text = "sd=sd1,lun=/a,size=4m,hitarea=8m\nwd=w,sd=sd1,whpct=50\n\
                rd=r1,wd=w,iorate=9,elapsed=4\n";
    check(
        text,
        "hitarea-above-size 1:4 sd=sd1: hitarea=8388608 is more than size=4194304, and wd=w asks \
         for hits | write a smaller `hitarea=` (1m where none is written), or a larger `size=`",
    );
    let looped = text.replace("hitarea=8m", "hitarea=1m").replace("rd=r1", "rd=r1,hitarea=8m");
    assert_eq!(kind(&looped).diagnostics[0].code, "hitarea-above-size");
    for fine in [text.replace("whpct=50", "whpct=0"), text.replace("size=4m", "size=8m")] {
        assert!(!kind(&fine).has_errors(), "{fine}");
    }
}

#[test]
fn what_is_written_is_not_missing() {
    let missing = |rate: &str| {
        format!(
            "error missing-rate 3:4 rd=r1: iorate= parameter is missing, as Vdbench says: `{rate}` \
             is not a rate above 0 | write `iorate=max`, `iorate=curve` or I/Os per second"
        )
    };
    let found = |rate: &str| all_shown(&compat(&rd(&format!("elapsed=4,{rate}"))).diagnostics);
    assert_eq!(found("iorate=-10"), missing("-10"));
    assert_eq!(found("iorate=0"), missing("0"));
    assert!(found("threads=1").contains("iorate= parameter is missing |"));
}

#[test]
fn unknown_names_are_reported_at_once() {
    let text = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=xx*\nrd=r1,wd=yy*,iorate=9,elapsed=4\n\
                rd=r2,wd=wd1,iorate=9,elapsed=4\n";
    let found: Vec<String> = kind(text).diagnostics.iter().map(shown).collect();
    let starts = [
        "error unknown-name 2:11 could not find sd=xx* for wd=wd1,host=localhost |",
        "error unknown-name 3:10 could not find WD=yy* for RD=r1 |",
    ];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for (line, start) in found.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
}

/// A definition with one mistake hides no other one.
#[test]
fn unknown_names_are_reported_beside_other_mistakes() {
    let text = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd9,rdpct=101\nwd=wd2,sd=sd1\n\
                rd=r1,wd=wd2,iorate=9,elapsed=4\nrd=r1,wd=wd7,iorate=9,elapsed=4\n\
                rd=r2,wd=(wd2,wd8),iorate=x,elapsed=4\n";
    let found = all_shown(&kind(text).diagnostics);
    for start in [
        "error unknown-name 2:11 could not find sd=sd9 for wd=wd1",
        "error wrong-value 2:",
        "error duplicate-name 5:4",
        "error unknown-name 5:10 could not find WD=wd7 for RD=r1",
        "error unknown-name 6:10 could not find WD=wd8 for RD=r2",
    ] {
        assert_eq!(found.matches(start).count(), 1, "{start}\n{found}");
    }
}

#[test]
fn rates_that_are_words_to_vdbench() {
    for (number, word) in [("9999988", "MAX"), ("9999977", "curve")] {
        let text = rd(&format!("iorate={number},elapsed=4"));
        check_fine(&text);
        let warned = all_shown(&kind(&text).diagnostics);
        assert!(warned.starts_with("warning rate-code 3:"), "{warned}");
        let number: f64 = number.parse().expect("a number");
        assert_eq!(kind(&text).runs[0].rate, Rate::Iops(number));
        let announced = &compat(&text).runs[0].announced;
        assert!(announced.contains(&format!("Uncontrolled {word}")), "{announced}");
    }
    let files = "fsd=f,anchor=/a\nfwd=w,fsd=f\nrd=r,fwd=w,fwdrate=9999988,elapsed=4\n";
    assert_eq!(kind(files).runs.last().expect("a run").rate, Rate::Iops(9_999_988.0));
    assert_eq!(compat(files).runs.last().expect("a run").rate, Rate::Max);
}

#[test]
fn threads_of_a_run_together() {
    let many = "sd=sd,lun=/a,size=1g,count=(1,60),threads=2000\nwd=w,sd=sd*\n";
    let sum = "too-many-threads 3:4 rd=r1: all threads of a run come to 120000, more than 100000";
    let lower = "lower `threads=` or `forthreads=`, or use fewer definitions in one run";
    let text = format!("{many}rd=r1,wd=w,iorate=9,elapsed=4,interval=1\n");
    check_both(&text, &format!("{sum} | {lower}"));
    let looped = text.replace("interval=1", "interval=1,forthreads=(1,50000)");
    let found = all_shown(&compat(&looped).diagnostics);
    assert!(found.contains("too-many-threads 3:") && found.contains("3000000"), "{found}");
    let fine = text.replace("threads=2000", "threads=1666");
    check_fine(&fine);
    let files = "fsd=f,anchor=/a,count=(1,9)\nfwd=w1,fsd=f1,threads=60000\n\
                 fwd=w2,fsd=f2,threads=60000\nrd=r1,fwd=w*,fwdrate=9,elapsed=4,interval=1\n";
    check_both(files, &format!("too-many-threads 4:4{} | {lower}", &sum[20..]));
}

#[test]
fn tabs_in_front_of_comments_are_reported() {
    let text = "sd=sd1,lun=/a,size=1g\tcomment\nrd=r1,sd=sd1,iorate=9,elapsed=4,interval=1\n";
    check_fine(text);
    let warned = all_shown(&kind(text).diagnostics);
    assert!(warned.starts_with("warning tab-in-line 1:22"), "{warned}");
}

#[test]
fn mistakes_of_runs_are_reported_beside_those_of_definitions() {
    let text = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd9,rdpt=5\nwd=wd2,sd=sd1\n\
                rd=default,interval=1\nrd=r1,wd=wd2,elapsed=4,interval=3,iorate=max\n\
                rd=r2,wd=wd7,elapsed=4,iorate=max\nrd=r3,wd=wd2,elapsed=4\n\
                rd=r4,wd=wd1,elapsed=4,iorate=max\nrd=r5,wd=wd2,elapsed=x,interval=7,iorate=max\n";
    let parsed = kind(text);
    let found: Vec<String> = parsed
        .diagnostics
        .iter()
        .map(|it| {
            let shown = all_shown(std::slice::from_ref(it));
            shown.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let expected = [
        "unknown-name 2:11",
        "unknown-keyword 2:15",
        "wrong-times 5:4",
        "unknown-name 6:10",
        "missing-rate 7:4",
        "wrong-value 9:22",
    ];
    assert_eq!(found, expected);
}

#[test]
fn rates_that_vary() {
    let mistake = |message: &str| {
        format!(
            "wrong-rates 3:4 rd=r1: {message} | write rates and seconds in turn: \
             `iorate=(100,5,500,1)`"
        )
    };
    let rates = |rates: &str| rd(&format!("elapsed=10,distribution=variable,iorate=({rates})"));
    check(&rates("100,8,9,3"), &mistake("its rates last 11 s, and the run itself 10 s"));
    check(&rates("100,2.5"), &mistake("rates hold for whole seconds, 1 or more"));
    check(&rates("100,2,300,0"), &mistake("rates hold for whole seconds, 1 or more"));
    let share = "a share of the elapsed time comes to less than a second";
    check(&rates("100,2,300,5%"), &mistake(share));
    check(&rates("0,2,0,5"), &mistake("there is no rate above 0"));
    check_kind(
        &rates("5,2,8"),
        &mistake("the iorate= list of 'distribution=variable' needs an even number of values"),
    );
    assert!(kind(&rates("100,8,9,2")).refusals.is_empty());
}

#[test]
fn file_structures_have_no_rates_that_vary() {
    let text = "fsd=f,anchor=/a\nfwd=w,fsd=f\n\
                rd=r,fwd=w,fwdrate=9,format=no,elapsed=4,distribution=spike,iorate=(9,1)\n";
    let parsed = kind(text);
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    assert_eq!(parsed.refusals.len(), 1);
}

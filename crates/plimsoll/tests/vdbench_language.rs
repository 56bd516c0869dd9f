//! Vdbench's files under `check`, `translate` and `explain`.

mod common;

use common::{Outcome, Sandbox};

const RUN: &str = "wd=wd1,sd=sd*\nrd=rd1,wd=wd1,iorate=max,elapsed=4,interval=1\n";

const FILES: &str = "\
fsd=fsd1,anchor=tree,depth=2,width=2,files=4,size=8k
fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2
rd=rd1,fwd=fwd1,fwdrate=curve,curve=(50,100),format=yes,elapsed=4,interval=1
";

/// Writes a parameter file and calls a command with it and more arguments.
fn with(text: &str, args: &[&str]) -> (Sandbox, Outcome) {
    let sandbox = Sandbox::new();
    sandbox.write("a.parm", text);
    let done = sandbox.plimsoll(args);
    (sandbox, done)
}

#[test]
fn runs_on_other_hosts_are_shown_and_one_error_ends_them() {
    let hosts: String = (1..=25).map(|n| format!("hd=h{n},system=h{n}.invalid\n")).collect();
    let text = format!("{hosts}sd=sd1,host=*,lun=f,size=1m\n{RUN}");
    let (sandbox, done) = with(&text, &["check", "a.parm"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Simulating RD=rd1; I/O rate: Uncontrolled MAX"));
    assert_eq!(done.stderr.matches("cannot resolve").count(), 1, "{}", done.stderr);
    let done = sandbox.plimsoll(&["vdbench", "-s", "-f", "a.parm"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = sandbox.plimsoll(&["run", "a.parm"]);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert_eq!(done.stderr.matches("error").count(), 1, "{}", done.stderr);
    // Eight threads are for eight of them.
    assert!(done.stderr.contains("`h1`, `h2`, `h3` and 5 more"), "{}", done.stderr);
    assert!(done.stderr.contains("--all-hosts-local"), "{}", done.stderr);
    let done = sandbox.plimsoll(&["vdbench", "--compat", "-s", "-f", "a.parm"]);
    assert_eq!(done.code, 157);
    assert!(done.stderr.contains("Host 'h1.invalid' does not exist"), "{}", done.stderr);
}

#[test]
fn variables_stand_on_the_command_line() {
    let text = format!("sd=sd1,lun=$file,size=$size\n{RUN}");
    let (_, done) = with(&text, &["check", "a.parm", "file=other", "size=3m"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("other") && done.stdout.contains("size=3m"), "{}", done.stdout);
    let (_, done) = with(&text, &["check", "a.parm", "file=other"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("give the value on the command line: `size=value`"));
}

#[test]
fn a_file_without_a_size_is_found_before_the_run() {
    let (_, done) = with(&format!("sd=sd1,lun=nosuch\n{RUN}"), &["check", "a.parm"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("sd=sd1: `nosuch` is not there"), "{}", done.stderr);
    assert!(done.stderr.contains("a.parm:1:4"), "{}", done.stderr);
}

#[test]
fn structures_and_curves_are_shown_as_such() {
    let (_, done) = with(FILES, &["check", "a.parm"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for words in [
        "anchor    tree",
        "depth 2, width 2, 4 files in each of the lowest folders",
        "16 files in 6 folders",
        "read of 4 KiB from start to end, files at random",
        "removes what is there, makes folders and files",
        "50 % of the operations per second of step 2",
    ] {
        assert!(done.stdout.contains(words), "{words}\n{}", done.stdout);
    }
}

#[test]
fn what_another_language_cannot_say_at_all_is_refused() {
    let (sandbox, done) = with(FILES, &["translate", "a.parm", "--to", "fio"]);
    assert_eq!(done.code, 2);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("work on a structure of files"), "{}", done.stderr);
    let done = sandbox.plimsoll(&["translate", "a.parm", "--to", "toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn a_parameter_file_in_plain_form_has_the_same_runs() {
    let text = "* two\nsd=default,size=1m\nsd=sd1,lun=\"/x/a b\",th=2\nsd=sd2,lun=/x/c,\nth=3\n\
                wd=wd1,sd=sd*,xf=$size\nrd=rd1,wd=wd1,io=(1,2),el=4,in=1,forth=(1-4,d)\n";
    let plain = ["translate", "a.parm", "size=8k", "--to", "vdbench", "--remap", "/x=/y"];
    let (sandbox, done) = with(text, &plain);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.stdout,
        "sd=default,size=1m\nsd=sd1,lun=\"/y/a b\",threads=2\nsd=sd2,lun=/y/c,threads=3\n\
         wd=wd1,sd=sd*,xfersize=8k\n\
         rd=rd1,wd=wd1,iorate=(1,2),elapsed=4,interval=1,forthreads=(1-4,d)\n"
    );
    sandbox.write("b.parm", &done.stdout);
    let runs = |file: &str, more: &[&str]| {
        let done = sandbox.plimsoll(&[&["check", file], more].concat());
        done.stdout.lines().filter(|line| line.starts_with("Sim")).collect::<String>()
    };
    assert_eq!(runs("a.parm", &["size=8k"]), runs("b.parm", &[]));
}

#[test]
fn every_word_of_vdbench_is_explained() {
    let sandbox = Sandbox::new();
    let done = sandbox.plimsoll(&["explain", "sd.lun", "stopafter", "rd"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for words in ["sd.lun (Vdbench)", "fwd.stopafter (Vdbench)", "rd (Vdbench)", "forxfersize"] {
        assert!(done.stdout.contains(words), "{words}\n{}", done.stdout);
    }
    let done = sandbox.plimsoll(&["explain", "xfersize"]);
    assert!(done.stdout.contains("block_size") && done.stdout.contains("wd.xfersize (Vdbench)"));
}

#[test]
fn validation_is_refused_and_the_rest_of_its_file_translated() {
    let text = format!("validate=yes\nsd=sd1,lun=f,size=1m\n{RUN}");
    let (sandbox, done) = with(&text, &["run", "a.parm"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("error[no-validation]"), "{}", done.stderr);
    for language in ["fio", "toml"] {
        let done = sandbox.plimsoll(&["translate", "a.parm", "--to", language]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.starts_with("# lost: data validation"), "{}", done.stdout);
        assert!(done.stdout.contains("(a.parm:1)"), "{}", done.stdout);
    }
    let done = sandbox.plimsoll(&["translate", "a.parm", "--to", "vdbench"]);
    assert_eq!(done.success().lines().next(), Some("validate=yes"));
    assert_eq!(done.stderr, "");
}

#[test]
fn a_rate_that_varies_runs_is_shown_and_translated() {
    let text = "sd=sd1,lun=f,size=1m,threads=4\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=(40,1,400,1),distribution=(d,variable),elapsed=4,interval=1\n";
    let (sandbox, done) = with(text, &["check", "a.parm"]);
    let said = done.success();
    for words in ["rate_total_iops=400", "rate_periods=40:1,400:1"] {
        assert!(said.contains(words), "{said}");
    }
    sandbox.plimsoll(&["translate", "a.parm", "--to", "toml", "-o", "a.toml"]).success();
    for file in ["a.parm", "a.toml"] {
        let ran = sandbox.plimsoll(&["run", file, "--no-progress", "--json"]);
        let page: serde_json::Value = serde_json::from_str(ran.success()).expect("a record");
        let n_ios =
            page["jobs"].as_array().expect("jobs").last().expect("one")["dirs"]["read"]["n_ios"]
                .as_u64()
                .expect("a number");
        // Two cycles of 440; what is due at the very end may not be issued.
        assert!((870..=880).contains(&n_ios), "{file}: {n_ios}");
    }
}

#[test]
fn a_page_of_check_fits_80_columns() {
    let name = "a_workload_whose_name_is_long_enough_to_need_a_line_of_its_own";
    let text = format!(
        "sd=sd1,lun=f,size=1m\nwd={name},sd=sd1,rdpct=70,seekpct=50,\
         xfersize=(4k,10,8k,10,12k,10,16k,10,32k,10,64k,50)\n\
         rd={name},wd={name},iorate=max,elapsed=4,interval=1,forthreads=(1,2),\
         forrdpct=(10,20),forrhpct=(0,10)\n"
    );
    let (_, done) = with(&text, &["check", "a.parm"]);
    let too_long = |line: &&str| line.chars().count() > 80;
    assert_eq!(done.success().lines().find(too_long), None, "{}", done.stdout);
    assert!(done.stdout.contains("For loops: threads=2"), "{}", done.stdout);
}

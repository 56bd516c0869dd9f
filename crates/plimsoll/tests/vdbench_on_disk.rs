//! What runs under Vdbench's name leave on disk, in the store and on the console when they are
//! stopped, killed, out of space or asked for what is not there.

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Outcome, Sandbox, outcome};

const MIB: u64 = 1 << 20;

fn vdbench(sandbox: &Sandbox, text: &str) -> Outcome {
    sandbox.write("a.parm", text);
    sandbox.plimsoll(&["vdbench", "-f", "a.parm", "-o", "out"])
}

/// Starts it, and returns once `is_there` is true.
fn begin(sandbox: &Sandbox, text: &str, is_there: impl Fn() -> bool) -> Child {
    sandbox.write("a.parm", text);
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["vdbench", "-f", "a.parm", "-o", "out"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    for _ in 0..120_000 {
        if is_there() {
            return child;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("it does not come");
}

fn page(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn len(sandbox: &Sandbox, name: &str) -> u64 {
    std::fs::metadata(sandbox.path(name)).map_or(0, |facts| facts.len())
}

fn interrupt(child: Child) -> Outcome {
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("a shell's tool").success());
    let output = child.wait_with_output().expect("it ends");
    Outcome {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The value of a column in each average of a flatfile.
fn averages(sandbox: &Sandbox, column: &str) -> Vec<f64> {
    let flat = page(sandbox, "out/flatfile.html");
    let mut rows = flat.lines().filter(|line| !line.starts_with(['*', '<']) && !line.is_empty());
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let heading = words(rows.next().expect("a heading"));
    let idx = heading.iter().position(|name| name == column).expect("the column");
    let averages = rows.map(words).filter(|row| row.iter().any(|word| word.starts_with("avg_")));
    averages.map(|row| row[idx].parse().expect("a number")).collect()
}

#[test]
fn points_of_a_curve_are_shares_of_the_average_that_is_printed() {
    let sandbox = Sandbox::new();
    let text = "sd=sd1,lun=f,size=1m,threads=1\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=curve,curve=(10,50),elapsed=3,interval=1\n";
    vdbench(&sandbox, text).success();
    let rates = averages(&sandbox, "rate");
    let asked = averages(&sandbox, "reqrate");
    // The first is that of the format.
    let maximum = rates[1].trunc();
    for (asked, pct) in asked[2..].iter().zip([10.0, 50.0]) {
        let share = maximum * pct / 100.0;
        let step = if share > 1000.0 { 100.0 } else { 10.0 };
        // Rounded up, from lengths of intervals in whole milliseconds.
        let low = share * 0.998;
        assert!((low..=share * 1.002 + step).contains(asked), "{asked}: {pct} % of {maximum}");
    }
    assert_eq!(asked.len(), 4);
}

/// Every file below a folder but the control file, with its contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("vdb_control.file") {
                let name = path.strip_prefix(folder).expect("below it").display().to_string();
                all.insert(name, std::fs::read(path).expect("a file"));
            }
        }
    }
    all
}

#[test]
fn files_are_copied_and_moved_with_what_is_in_them() {
    let sandbox = Sandbox::new();
    let text = |operation: &str, format: &str| {
        format!(
            "fsd=default,depth=2,width=2,files=3,size=(8k,50,20k,50)\n\
             fsd=fsd1,anchor=from\nfsd=fsd2,anchor=to\n\
             fwd=fwd1,fsd=fsd1,target=fsd2,operation={operation},fileselect=(seq,once),threads=2\n\
             rd=rd1,fwd=fwd1,fwdrate=max,format={format},elapsed=60,interval=1\n"
        )
    };
    let copied = vdbench(&sandbox, &text("copy", "yes"));
    assert!(copied.success().contains("Starting RD=format_for_rd1"));
    let source = contents(&sandbox.path("from"));
    assert_eq!(source.len(), 12);
    assert!(source.values().all(|bytes| bytes.iter().any(|byte| *byte != 0)), "written");
    assert_eq!(contents(&sandbox.path("to")), source);
    let one = source.keys().next().expect("a file");
    std::fs::remove_dir_all(sandbox.path("to")).expect("ours");
    let moved = vdbench(&sandbox, &text("move", "restart"));
    moved.success();
    assert_eq!(contents(&sandbox.path("from")).len(), 0);
    let target = contents(&sandbox.path("to"));
    assert!(target == source, "{} files, {one}", target.len());
}

#[test]
fn a_copy_without_folders_to_go_to_says_so() {
    let sandbox = Sandbox::new();
    let text = "fsd=default,depth=1,width=1,files=3,size=4k\n\
                fsd=fsd1,anchor=from\nfsd=fsd2,anchor=to\n\
                fwd=fwd1,fsd=fsd1,operation=read\n\
                fwd=fwd2,fsd=fsd1,target=fsd2,operation=copy\n\
                rd=rd1,fwd=fwd1,fwdrate=max,format=(yes,only)\n\
                rd=rd2,fwd=fwd2,fwdrate=max,format=no,elapsed=60,interval=1\n";
    let failed = vdbench(&sandbox, text);
    assert_eq!(failed.code, 157, "{}", failed.stdout);
    let expected = "none of the folders of fsd=fsd2 (a.parm:3), where files of fsd=fsd1 (a.parm:2) \
                    go, exists";
    assert!(failed.stdout.contains(expected), "{}", failed.stdout);
}

/// A file of so many bytes, written as slowly as the disk does it.
const SLOW_FORMAT: &str = "sd=sd1,lun=f,size=256m,openflags=o_dsync\nwd=wd1,sd=sd1\n\
                           rd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";

#[test]
fn a_format_that_was_killed_is_done_again() {
    let sandbox = Sandbox::new();
    let mut child = begin(&sandbox, SLOW_FORMAT, || len(&sandbox, "f") > MIB);
    child.kill().and_then(|()| child.wait()).expect("it is ours");
    let cut = len(&sandbox, "f");
    assert!(cut > 0 && cut < 256 * MIB, "{cut}: as long as what was written");
    let again = vdbench(&sandbox, &SLOW_FORMAT.replace(",openflags=o_dsync", ""));
    assert!(again.success().contains("Starting RD=SD_format"), "{}", again.stdout);
    let bytes = std::fs::read(sandbox.path("f")).expect("a file");
    assert_eq!(bytes.len() as u64, 256 * MIB);
    let empty = bytes.chunks(64 << 10).position(|chunk| chunk.iter().all(|byte| *byte == 0));
    assert_eq!(empty, None, "every block is written");
    let third = vdbench(&sandbox, &SLOW_FORMAT.replace(",openflags=o_dsync", ""));
    assert!(!third.success().contains("SD_format"), "it is complete");
}

#[test]
fn an_interrupt_in_a_format_or_a_warmup_ends_with_what_there_is() {
    let sandbox = Sandbox::new();
    let ended = interrupt(begin(&sandbox, SLOW_FORMAT, || len(&sandbox, "f") > MIB));
    assert_eq!(ended.code, 130, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("results are kept"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("Starting RD=rd1"), "{}", ended.stdout);
    assert!(len(&sandbox, "f") < 256 * MIB);
    let events = page(&sandbox, "out/status.html");
    assert!(events.contains("Abort requested: interrupted"), "{events}");
    assert!(page(&sandbox, "out/plimsoll.json").contains("\"interrupted\""));

    let text = "sd=sd1,lun=g,size=1m\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=50,elapsed=600,interval=1,warmup=600\n";
    let second_row = || {
        let summary = std::fs::read_to_string(sandbox.path("out/summary.html"));
        summary.is_ok_and(|summary| summary.contains("rd1") && summary.contains("           2   "))
    };
    std::fs::remove_dir_all(sandbox.path("out")).expect("ours");
    let ended = interrupt(begin(&sandbox, text, second_row));
    assert_eq!(ended.code, 130, "{}{}", ended.stdout, ended.stderr);
    let summary = page(&sandbox, "out/summary.html");
    assert_eq!(summary.matches("avg_").count(), 1, "of the format alone: {summary}");
    assert!(summary.contains("Vdbench was interrupted"), "{summary}");
    assert!(page(&sandbox, "out/status.html").contains("Abort requested: interrupted"));
}

#[test]
fn an_interrupted_format_of_files_is_completed_by_the_next() {
    let sandbox = Sandbox::new();
    let text = "fsd=fsd1,anchor=tree,depth=1,width=10,files=300,size=64k,openflags=o_dsync\n\
                fwd=fwd1,fsd=fsd1,operation=read\n\
                rd=rd1,fwd=fwd1,fwdrate=10,format=restart,elapsed=2,interval=1\n";
    let first = || sandbox.path("tree/vdb.1_1.dir/vdb_f0000.file").exists();
    let ended = interrupt(begin(&sandbox, text, first));
    assert_eq!(ended.code, 130, "{}{}", ended.stdout, ended.stderr);
    let whole = |files: &BTreeMap<String, Vec<u8>>| {
        files.values().filter(|bytes| bytes.len() == 64 << 10).count()
    };
    assert!(whole(&contents(&sandbox.path("tree"))) < 3000);
    // Nothing completes it.
    let part = vdbench(&sandbox, &text.replace("format=restart", "format=no"));
    let words = "fsd=fsd1 (a.parm:1) in `tree` is not complete: ";
    assert!(part.stdout.contains(words), "{}{}", part.stdout, part.stderr);
    let again = vdbench(&sandbox, &text.replace(",openflags=o_dsync", ""));
    assert!(!again.success().contains("is not complete"), "{}", again.stdout);
    let files = contents(&sandbox.path("tree"));
    assert_eq!((files.len(), whole(&files)), (3000, 3000));
}

#[track_caller]
fn check_failure(text: &str, expected: &str) {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("folder")).expect("a folder");
    let failed = vdbench(&sandbox, text);
    assert_eq!(failed.code, 157, "{}{}", failed.stdout, failed.stderr);
    let said = format!("{}{}", failed.stdout, failed.stderr);
    assert!(said.contains(expected), "{said}");
    for foreign in ["job `", "tree `", "directory=", "allow_file_create", "`size`", "`bs`"] {
        assert!(!said.contains(foreign), "{foreign}: {said}");
    }
}

#[test]
fn mistakes_are_reported_in_the_words_of_the_file() {
    let rest = "wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";
    let raw = |sd: &str| format!("* a comment\n{sd}\n{rest}");
    check_failure(&raw("sd=sd1,lun=missing"), "sd=sd1: `missing` is not there");
    check_failure(&raw("sd=sd1,lun=folder,size=1m"), "sd=sd1 (a.parm:2)");
    check_failure(&raw("sd=sd1,lun=none/f,size=1m"), "the folder of `none/f` is not there");
    check_failure(&raw("sd=sd1,lun=f,size=900000t"), "lower size=");
}

#[test]
fn file_operations_say_what_they_lack() {
    let text = |operation: &str, rd: &str| {
        format!(
            "fsd=fsd1,anchor=tree,depth=1,width=2,files=3,size=4k\n\
             fwd=fwd1,fsd=fsd1,operation={operation}\n\
             rd=rd1,fwd=fwd1,fwdrate=max,elapsed=60,interval=1,{rd}\n"
        )
    };
    let none = "create: none of the 2 folders of fsd=fsd1 (a.parm:1) exists to make files in: let \
                a format (format=yes or restart) make them first";
    check_failure(&text("create", "format=no"), none);
    let empty = "has no file that is empty (fileselect=empty), and nothing in this step makes \
                 one: 0 of its 6 files exist, 0 are full; let files be created first (operation \
                 create), or leave the fileselect out";
    let write = "write,fileio=random,fileselect=empty";
    check_failure(&text(write, "format=(yes,directories)"), empty);
}

/// As 5.04.07: a file that is missing is empty and not full, and is made when it is written.
#[test]
fn files_that_are_missing_are_empty() {
    for filter in ["empty", "notfull"] {
        let sandbox = Sandbox::new();
        let text = format!(
            "fsd=fsd1,anchor=tree,depth=1,width=2,files=5,size=16k\n\
             fwd=fwd1,fsd=fsd1,operation=write,xfersize=4k,fileio=sequential,\
             fileselect=({filter},random)\n\
             rd=rd1,fwd=fwd1,fwdrate=10,elapsed=2,interval=1,format=directories\n"
        );
        vdbench(&sandbox, &text).success();
        let is_file = |entry: &std::fs::DirEntry| entry.path().extension().is_some();
        let folders = std::fs::read_dir(sandbox.path("tree")).expect("the anchor").flatten();
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok());
        let n_files = files.flatten().flatten().filter(is_file).count();
        assert!((1..10).contains(&n_files), "{filter}: {n_files}");
    }
}

/// As 5.04.07: the run ends at once, and the next one begins.
#[test]
fn a_run_whose_work_is_done_from_the_start_ends_well() {
    let sandbox = Sandbox::new();
    let text = "fsd=fsd1,anchor=tree,depth=1,width=2,files=3,size=4k\n\
                fwd=fmkdir,fsd=fsd1,operation=mkdir\n\
                fwd=fcreate,fsd=fsd1,operation=create\n\
                fwd=frmdir,fsd=fsd1,operation=rmdir\n\
                fwd=fdelete,fsd=fsd1,operation=delete\n\
                fwd=fread,fsd=fsd1,operation=read\n\
                rd=default,fwdrate=max,elapsed=2,interval=1\n\
                rd=rd1,fwd=fmkdir,format=yes\n\
                rd=rd2,fwd=fcreate\n\
                rd=rd3,fwd=frmdir\n\
                rd=rd4,fwd=fdelete\n\
                rd=rd5,fwd=fdelete\n\
                rd=rd6,fwd=frmdir\n\
                rd=rd7,fwd=frmdir\n";
    let outcome = vdbench(&sandbox, text);
    let console = outcome.success();
    for line in [
        "mkdir: all 2 folders of fsd=fsd1 (a.parm:1) exist already: nothing is left to make",
        "create: all 6 files of fsd=fsd1 (a.parm:1) exist already: nothing is left to make",
        "rmdir: 10",
        "delete: fsd=fsd1 (a.parm:1) has no file",
        "rmdir: no folder of fsd=fsd1 (a.parm:1) exists that could be removed",
        "Starting RD=rd7",
    ] {
        assert!(console.contains(line), "{line}: {console}");
    }
}

#[test]
fn what_is_made_and_found_is_reported_as_it_is() {
    let sandbox = Sandbox::new();
    let text = "fsd=fsd1,anchor=tree,depth=2,width=2,files=3,size=4k\n\
                fwd=fwd1,fsd=fsd1,operation=read,threads=3\n\
                rd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=2,interval=1,\
                operations=(read,open)\n";
    let outcome = vdbench(&sandbox, text);
    let console = outcome.success();
    let log = page(&sandbox, "out/logfile.html");
    let mut rest = console;
    for line in [
        "All slaves are now connected",
        "localhost-0: Created anchor directory: tree",
        "localhost-0: anchor=tree mkdir complete.",
        "localhost-0: anchor=tree create complete.",
        "avg_1-1",
        "Starting RD=rd1;",
    ] {
        let (_, after) = rest.split_once(line).unwrap_or_else(|| panic!("{line}: {console}"));
        assert!(log.contains(line), "{line}: {log}");
        rest = after;
    }
    let warning = "warning: rd=rd1,fwd=fwd1: threads=3 over its structures";
    assert!(log.contains(warning) && !console.contains(warning), "{log}");
    let raw = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";
    let console = vdbench(&sandbox, raw).success().to_owned();
    assert!(console.contains("lun=f does not exist or is too small."), "{console}");
    let again = vdbench(&sandbox, raw).success().to_owned();
    assert!(!again.contains("does not exist") && !again.contains("SD_format"), "{again}");
    let size = "sd=sd1,lun=f lun size: 1,048,576 bytes; 0.0010 GB (1024**3); 0.0010 GB (1000**3)";
    assert!(page(&sandbox, "out/logfile.html").contains(size));
}

#[test]
fn why_a_run_ends_is_reported_once() {
    let sandbox = Sandbox::new();
    sandbox.write("tree", "a file");
    let text = "fsd=fsd1,anchor=tree,depth=1,width=1,files=2,size=4k\n\
                fwd=fwd1,fsd=fsd1,operation=read\n\
                rd=rd1,fwd=fwd1,fwdrate=max,elapsed=60,interval=1,format=yes\n";
    let failed = vdbench(&sandbox, text);
    assert_eq!(failed.code, 157, "{}", failed.stdout);
    let why = "fsd=fsd1 (a.parm:1): the anchor `tree` is not a folder";
    assert_eq!(failed.stdout.matches(why).count(), 1, "{}", failed.stdout);
    assert!(failed.stdout.contains(&format!("Vdbench terminated: {why}")), "{}", failed.stdout);
    for name in ["errorlog", "logfile", "summary", "status"] {
        let text = page(&sandbox, &format!("out/{name}.html"));
        assert_eq!(text.matches(why).count(), 1, "{name}: {text}");
    }
}

#[test]
fn a_kind_of_error_is_reported_once_with_a_count() {
    let sandbox = Sandbox::new();
    symlink("/dev/full", sandbox.path("f")).expect("a link");
    let text = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,rdpct=0\n\
                rd=rd1,wd=wd1,iorate=100,elapsed=60,interval=1\n";
    let failed = vdbench(&sandbox, text);
    assert_eq!(failed.code, 157, "{}", failed.stdout);
    let one = "sd=sd1 (a.parm:1): write of 4096 bytes at ";
    assert_eq!(failed.stdout.matches(one).count(), 1, "{}", failed.stdout);
    let count = |text: &str| {
        let (head, _) = text.split_once(" times write failed: No space left").expect("a count");
        head.rsplit(' ').next().and_then(|n| n.parse::<usize>().ok()).expect("a number")
    };
    let n = count(&failed.stdout);
    assert!(n >= 50, "{}", failed.stdout);
    assert_eq!(page(&sandbox, "out/errorlog.html").matches(one).count(), n);
}

#[test]
fn results_that_cannot_be_written_are_no_success() {
    let sandbox = Sandbox::new();
    let text =
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=50,elapsed=2,interval=1\n";
    let child = begin(&sandbox, text, || len(&sandbox, "out/sd1.html") > 0);
    symlink("/dev/full", sandbox.path("full")).expect("a link");
    std::fs::rename(sandbox.path("full"), sandbox.path("out/flatfile.html")).expect("a page");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let failed = Outcome { code: output.status.code().expect("it ends"), stdout, stderr };
    assert_eq!(failed.code, 157, "{}{}", failed.stdout, failed.stderr);
    assert!(!failed.stdout.contains("completed successfully"), "{}", failed.stdout);
    let why = "Vdbench terminated: cannot write to `out/flatfile.html`: No space left";
    assert!(failed.stdout.contains(why) && failed.stdout.contains("avg_2-2"), "{}", failed.stdout);
}

const SHORT: &str = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\n\
                     rd=r1,wd=wd1,iorate=100,elapsed=2,interval=1\n";

#[test]
fn a_directory_belongs_to_one_run_at_a_time() {
    let sandbox = Sandbox::new();
    let text = SHORT.replace("elapsed=2", "elapsed=60");
    let first = begin(&sandbox, &text, || len(&sandbox, "out/sd1.html") > 0);
    let second = vdbench(&sandbox, SHORT);
    assert_eq!(second.code, 157, "{}", second.stderr);
    assert!(second.stderr.contains("another run writes to `out` now"), "{}", second.stderr);
    let before = page(&sandbox, "out/summary.html");
    interrupt(first);
    assert!(page(&sandbox, "out/summary.html").starts_with(&before));
    vdbench(&sandbox, SHORT).success();
}

#[test]
fn what_no_run_has_written_is_left_alone() {
    let refused = |name: &str, make: &dyn Fn(&Path)| {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("out")).expect("a folder");
        sandbox.write("mine", "mine");
        make(&sandbox.path(name));
        let found = vdbench(&sandbox, SHORT);
        assert_eq!(found.code, 157, "{name}: {}", found.stderr);
        assert!(found.stderr.contains("no run wrote"), "{name}: {}", found.stderr);
        assert_eq!(page(&sandbox, name), "mine");
        assert_eq!(page(&sandbox, "mine"), "mine");
    };
    let file = |path: &Path| std::fs::write(path, "mine").expect("a file");
    let link = |path: &Path| symlink("../mine", path).expect("a link");
    for name in ["out/summary.html", "out/plimsoll.json"] {
        refused(name, &file);
        refused(name, &link);
    }
    // What is named after a definition is found when it is written.
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("real")).expect("a folder");
    symlink("real", sandbox.path("out")).expect("a link");
    sandbox.write("real/sd1.html", "mine");
    let found = vdbench(&sandbox, SHORT);
    assert_eq!(found.code, 157, "{}", found.stderr);
    assert!(found.stderr.contains("out/sd1.html"), "{}", found.stderr);
    assert_eq!(page(&sandbox, "real/sd1.html"), "mine");
    std::fs::remove_file(sandbox.path("real/sd1.html")).expect("it is there");
    sandbox.write("real/other.html", "mine");
    vdbench(&sandbox, SHORT).success();
    vdbench(&sandbox, SHORT).success();
    assert_eq!(page(&sandbox, "real/other.html"), "mine");
}

#[test]
fn names_of_definitions_stay_in_the_directory() {
    let sandbox = Sandbox::new();
    let text = SHORT.replace("sd1", "../sd1");
    sandbox.write("a.parm", &text);
    sandbox.plimsoll(&["vdbench", "-f", "a.parm", "-o", "out", "--compat", "5.04.07"]).success();
    assert!(len(&sandbox, "out/.._sd1.html") > 0 && !sandbox.path("sd1.html").exists());
}

#[test]
fn an_amount_is_kept_to_what_is_in_flight() {
    let sandbox = Sandbox::new();
    let text = "sd=sd1,lun=f,size=4m,threads=8\nwd=wd1,sd=sd1,xfersize=64k,rdpct=0\n\
                rd=r1,wd=wd1,iorate=max,elapsed=60,interval=1,maxdata=20m\n";
    vdbench(&sandbox, text).success();
    let record = page(&sandbox, "out/plimsoll.json");
    let record: serde_json::Value = serde_json::from_str(&record).expect("a record");
    let bytes = record["jobs"][1]["dirs"]["write"]["io_bytes"].as_u64().expect("a number");
    let n_ios = bytes / (64 << 10);
    assert!((320..=320 + 2 * 8).contains(&n_ios), "{n_ios}");
}

#[test]
fn runs_are_kept_in_the_store() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.parm",
        "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1\nrd=default,wd=wd1,elapsed=2,interval=1\n\
         rd=first,iorate=50\nrd=second,iorate=(60,70)\n",
    );
    let plimsoll = |args: &[&str]| {
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.env("PLIMSOLL_STORE", sandbox.path("runs.db"));
        outcome(command.args(args))
    };
    let run = ["vdbench", "-f", "a.parm", "-o", "out", "--name=nightly", "--tag", "disk"];
    plimsoll(&run).success();
    plimsoll(&["vdbench", "-f", "a.parm", "-o", "out", "--no-store"]).success();
    let list = plimsoll(&["runs", "--json"]).success().to_owned();
    assert_eq!(list.matches("\"id\"").count(), 1, "{list}");
    assert!(list.contains("nightly") && list.contains("disk"), "{list}");
    let shown = plimsoll(&["show", "nightly"]).success().to_owned();
    for name in ["first", "second"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    let refused = plimsoll(&["vdbench", "-f", "a.parm", "--no-store", "--tag", "x"]);
    assert_eq!(refused.code, 157, "{}", refused.stderr);
}

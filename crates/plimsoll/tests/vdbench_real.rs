//! Parameter files under the real Vdbench 5.04.07 and under ours: the same runs, columns and rows,
//! rates within bounds, as many opens per read, and trees of files that either works on.
//!
//! `PLIMSOLL_VDBENCH` names the folder of the real one. Without it, or without the right to make a
//! network namespace, in which it finds no other host, each test says so and passes.
#![expect(clippy::print_stderr, reason = "says what was not run, and what was seen")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Outcome, Sandbox, outcome};

/// How far apart the same figure may be: rates of a few seconds with random arrivals, on a host
/// that does other work as well.
const APART: f64 = 0.25;

struct Real {
    program: PathBuf,
}

/// What a run left.
struct Ran {
    code: i32,
    /// `Starting RD=` lines, without the time.
    runs: Vec<String>,
    /// Heading of the rows on the console.
    heading: Vec<String>,
    /// Rows of flatfile.html: of the intervals of each run, and of its average.
    intervals: BTreeMap<String, usize>,
    averages: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Real {
    fn find() -> Option<Real> {
        #[expect(clippy::disallowed_methods, reason = "a test's own option")]
        let named = std::env::var("PLIMSOLL_VDBENCH");
        let folder = match named {
            Ok(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => {
                eprintln!("not run: PLIMSOLL_VDBENCH does not name the folder of Vdbench 5.04.07");
                return None;
            }
        };
        let program = folder.join("vdbench");
        let probe = Command::new("unshare").args(["-n", "ip", "link", "set", "lo", "up"]).output();
        if !program.exists() || !probe.is_ok_and(|it| it.status.success()) {
            eprintln!("not run: no {} or no network namespace", program.display());
            return None;
        }
        Some(Real { program })
    }

    fn run(&self, sandbox: &Sandbox, args: &[&str]) -> Ran {
        let mut command = sandbox.command(Path::new("unshare"));
        let script = "ip link set lo up; exec \"$0\" -f a.parm -o real \"$@\"";
        command.args(["-n", "sh", "-c", script]).arg(&self.program).args(args);
        Ran::of(sandbox, "real", &outcome(&mut command))
    }
}

fn ours(sandbox: &Sandbox, args: &[&str]) -> Ran {
    let args = [&["vdbench", "-f", "a.parm", "-o", "ours"], args].concat();
    Ran::of(sandbox, "ours", &sandbox.plimsoll(&args))
}

impl Ran {
    fn of(sandbox: &Sandbox, folder: &str, outcome: &Outcome) -> Ran {
        let behind_time = |line: &str| line.split_once(' ').map(|it| it.1.trim().to_owned());
        let lines = || outcome.stdout.lines();
        let runs = lines().filter_map(behind_time).filter(|it| it.starts_with("Starting RD="));
        let heading =
            lines().find(|line| line.contains("..Interval..") || line.contains(" interval "));
        let heading = heading.map_or(Vec::new(), |line| {
            // The first three words are the date.
            line.split_whitespace().skip(3).map(str::to_owned).collect()
        });
        let flat = std::fs::read_to_string(sandbox.path(&format!("{folder}/flatfile.html")));
        let (intervals, averages) = flat_rows(&flat.unwrap_or_default());
        Ran { code: outcome.code, runs: runs.collect(), heading, intervals, averages }
    }

    #[track_caller]
    fn figure(&self, run: &str, column: &str) -> f64 {
        let row = self.averages.get(run).unwrap_or_else(|| panic!("no average of {run}"));
        *row.get(column).unwrap_or_else(|| panic!("no {column}: {row:?}"))
    }
}

type Averages = BTreeMap<String, BTreeMap<String, f64>>;

fn flat_rows(text: &str) -> (BTreeMap<String, usize>, Averages) {
    let mut rows = text.lines().filter(|line| !line.starts_with(['*', '<']) && !line.is_empty());
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let names = rows.next().map(words).unwrap_or_default();
    let (mut intervals, mut averages) = (BTreeMap::new(), BTreeMap::new());
    for row in rows.map(words) {
        let at = |name: &str| names.iter().position(|it| it == name).map(|idx| row[idx].clone());
        let (Some(run), Some(interval)) = (at("Run"), at("Interval")) else { continue };
        if !interval.starts_with("avg_") {
            *intervals.entry(run).or_insert(0) += 1;
            continue;
        }
        let figures = names.iter().zip(&row);
        let figures = figures.filter_map(|(name, word)| Some((name.clone(), word.parse().ok()?)));
        averages.insert(run, figures.collect());
    }
    (intervals, averages)
}

#[track_caller]
fn alike(what: &str, real: f64, ours: f64) {
    let is_alike = (real - ours).abs() <= APART * real.abs().max(ours.abs());
    assert!(is_alike, "{what}: {real} in Vdbench, {ours} here");
}

/// Runs a file under both. The columns named first are compared as they are, and those named last
/// in proportion to the operations of the run.
#[track_caller]
fn check(text: &str, run: &str, columns: &[&str], per_operation: &[&str]) {
    let Some(real) = Real::find() else { return };
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("a")).expect("a folder");
    // Vdbench takes whole paths only.
    let anchor = format!("anchor={},", sandbox.path("a").display());
    let lun = format!("lun={},", sandbox.path("f").display());
    sandbox.write("a.parm", text.replace("anchor=a,", &anchor).replace("lun=f,", &lun));
    let theirs = real.run(&sandbox, &[]);
    let _may_hold_devices_only = std::fs::remove_dir_all(sandbox.path("a"));
    std::fs::create_dir(sandbox.path("a")).expect("a folder");
    let _ = std::fs::remove_file(sandbox.path("f"));
    let mine = ours(&sandbox, &[]);
    assert_eq!((theirs.code, &theirs.runs), (mine.code, &mine.runs));
    assert_eq!(theirs.heading, mine.heading);
    let n_rows = |ran: &Ran| ran.intervals.get(run).copied();
    assert_eq!(n_rows(&theirs), n_rows(&mine), "rows of {run}");
    for column in columns {
        alike(column, theirs.figure(run, column), mine.figure(run, column));
    }
    let rate = |ran: &Ran| ran.figure(run, "Rate");
    for column in per_operation {
        let share = |ran: &Ran| ran.figure(run, column) / rate(ran);
        alike(&format!("{column} per operation"), share(&theirs), share(&mine));
    }
    eprintln!(
        "{run}: {}",
        columns
            .iter()
            .chain(per_operation)
            .map(|it| format!("{it} {} / {}", theirs.figure(run, it), mine.figure(run, it)))
            .collect::<Vec<_>>()
            .join(", ")
    );
}

fn files(fsd: &str, fwd: &str) -> String {
    format!(
        "fsd=fsd1,anchor=a,depth=1,width=2,{fsd}\n\
         fwd=fwd1,fsd=fsd1,fileselect=random,threads=2,{fwd}\n\
         rd=rd1,fwd=fwd1,fwdrate=300,format=yes,elapsed=5,interval=1\n"
    )
}

#[test]
fn random_reads_open_a_file_again_after_as_many_bytes_as_it_has() {
    let read = "operation=read,fileio=random,xfersize=8k";
    check(
        &files("files=60,size=8k", read),
        "rd1",
        &["Rate", "Xfersize"],
        &["Open_rate", "Close_rate"],
    );
    let read = "operation=read,fileio=random,xfersize=4k";
    check(&files("files=20,size=64k", read), "rd1", &["Rate"], &["Open_rate"]);
    let read = "operation=read,fileio=random,xfersize=4k,stopafter=5";
    check(&files("files=20,size=64k", read), "rd1", &["Rate"], &["Open_rate"]);
}

#[test]
fn mixes_and_sequential_work_open_as_often() {
    let mixed = "rdpct=60,fileio=random,xfersize=4k";
    check(&files("files=20,size=32k", mixed), "rd1", &["Rate", "Read_rate"], &["Open_rate"]);
    let written = "operation=write,fileio=sequential,xfersize=4k";
    check(&files("files=20,size=32k", written), "rd1", &["Rate", "Write_rate"], &["Open_rate"]);
    let again = "operation=write,fileio=(seq,delete),xfersize=8k";
    let counted = ["Open_rate", "Create_rate", "Delete_rate"];
    check(&files("files=40,size=16k", again), "rd1", &["Rate"], &counted);
}

#[test]
fn deletes_are_counted_and_never_shared() {
    let text = files("files=400,size=4k", "operation=delete,fileio=(random,shared),xfersize=4k")
        .replace("elapsed=5", "elapsed=2");
    check(&text, "rd1", &[], &["Delete_rate"]);
    let with_mix = "operation=delete,fileio=(random,shared),rdpct=0,xfersize=8k";
    check(&files("files=20,size=64k", with_mix), "rd1", &["Rate", "Write_rate"], &["Open_rate"]);
}

#[test]
fn columns_are_there_for_what_is_used() {
    check(&files("files=20,size=4k", "operation=getattr"), "rd1", &["Rate"], &["Getattr_rate"]);
}

#[test]
fn blocks_have_the_same_runs_rates_and_sizes() {
    let text = "sd=sd1,lun=f,size=16m,threads=4\n\
                wd=wd1,sd=sd1,rdpct=70,xfersize=(4k,50,16k,50),seekpct=100\n\
                rd=rd1,wd=wd1,iorate=300,elapsed=5,interval=1\n\
                rd=rd2,wd=wd1,iorate=(100,200),elapsed=2,interval=1,forthreads=(1,2)\n";
    check(text, "rd1", &["rate", "bytes/io", "read%"], &[]);
}

#[test]
fn an_unknown_keyword_fails_in_both() {
    let Some(real) = Real::find() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("a.parm", "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,nonsense=3\n");
    assert_eq!((real.run(&sandbox, &[]).code, ours(&sandbox, &[]).code), (157, 157));
}

/// Every folder and file below a folder, with its size.
fn tree(folder: &Path) -> BTreeSet<(String, u64)> {
    let mut all = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("below it").display().to_string();
            if path.is_dir() {
                all.insert((name + "/", 0));
                folders.push(path);
            } else if name != "vdb_control.file" && name != "no_dismount.txt" {
                all.insert((name, path.metadata().expect("a file").len()));
            }
        }
    }
    all
}

/// A program that runs the file with a format, and its name.
type Tool<'a> = (&'a str, &'a dyn Fn(&str) -> Ran);

/// A structure is the same tree in both, and what one made the other reads, completes and reads.
#[track_caller]
fn check_tree(fsd: &str) {
    let Some(real) = Real::find() else { return };
    let sandbox = Sandbox::new();
    let anchor = sandbox.path("a");
    let text = format!(
        "fsd=fsd1,anchor={},{fsd}\n\
         fwd=fwd1,fsd=fsd1,operation=read,fileio=random,fileselect=random,xfersize=4k\n\
         rd=rd1,fwd=fwd1,fwdrate=100,format=$format,elapsed=2,interval=1\n",
        anchor.display()
    );
    sandbox.write("a.parm", text);
    let fresh = || {
        let _may_be_missing = std::fs::remove_dir_all(&anchor);
        std::fs::create_dir(&anchor).expect("a folder");
    };
    let theirs: Tool<'_> = ("Vdbench", &|format: &str| real.run(&sandbox, &[format]));
    let mine: Tool<'_> = ("this program", &|format: &str| ours(&sandbox, &[format]));
    let mut trees = Vec::new();
    for (maker, other) in [(theirs, mine), (mine, theirs)] {
        let case = format!("{fsd}: {} makes, {} uses", maker.0, other.0);
        fresh();
        assert_eq!((maker.1)("format=(yes,only)").code, 0, "{case}");
        let whole = tree(&anchor);
        let ran = (other.1)("format=no");
        assert_eq!(ran.code, 0, "{case}");
        alike(&case, 100.0, ran.figure("rd1", "Rate"));
        let gone = whole
            .iter()
            .find(|it| Path::new(&it.0).extension().is_some_and(|end| end == "file"))
            .expect("a file");
        std::fs::remove_file(anchor.join(&gone.0)).expect("it is there");
        // Only a format of ours looks for itself; the control file says that all is there.
        if maker.0 == "Vdbench" {
            assert_eq!((other.1)("format=restart").code, 0, "{case}");
            assert_eq!(tree(&anchor), whole, "{case}");
            assert_eq!((maker.1)("format=no").code, 0, "{case}");
        }
        assert_eq!((other.1)("format=(yes,only)").code, 0, "{case}");
        assert_eq!(tree(&anchor), whole, "{case}");
        trees.push(whole);
    }
    assert_eq!(trees[0], trees[1], "{fsd}");
    eprintln!("{fsd}: {} folders and files alike", trees[0].len());
}

#[test]
fn trees_are_the_same_and_used_both_ways() {
    check_tree("depth=2,width=3,files=2,size=8k");
    check_tree("depth=3,width=2,files=3,sizes=(4k,40,8k,25,20k,35),distribution=all");
    check_tree("depth=1,width=2,files=90,sizes=(40k,0)");
    check_tree("depth=2,width=2,files=20,size=4k,totalsize=120k");
}

//! Command lines under diskspd for Linux and under ours: rows, columns, bytes and mixes of the
//! report, what files hold in the end, and the I/O that `strace` sees.
//!
//! `PLIMSOLL_DISKSPD` names the real program, built from its source. Without it each test says so
//! and passes.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Sandbox, outcome};

const MIB: u64 = 1 << 20;

/// What files hold when a line does not say.
const FILE_BYTES: u64 = 16 * MIB;

/// The real program; none where nothing names it.
fn real() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test's own option")]
    let named = std::env::var("PLIMSOLL_DISKSPD").ok().filter(|it| !it.is_empty());
    let program = named.map(PathBuf::from).filter(|it| it.is_file());
    if program.is_none() {
        testing::skipped!("PLIMSOLL_DISKSPD does not name diskspd for Linux");
    }
    program
}

/// Who runs a line, each in a folder of its own.
#[derive(Clone, Copy, Debug)]
enum Tool<'a> {
    Real(&'a Path),
    Ours,
}

impl Tool<'_> {
    fn folder(self) -> &'static str {
        match self {
            Tool::Real(_) => "real",
            Tool::Ours => "ours",
        }
    }

    /// Puts the program and its arguments behind those of a command.
    fn call(self, command: &mut Command, words: &[String]) {
        match self {
            Tool::Real(program) => command.arg(program).args(words),
            Tool::Ours => {
                let program = env!("CARGO_BIN_EXE_plimsoll");
                command.args([program, "diskspd"]).args(words).arg("--no-progress")
            }
        };
    }
}

/// A row of a table: thread, bytes, I/Os and file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    thread: String,
    bytes: u64,
    n_ios: u64,
    file: String,
}

/// A table of the report: the columns that it has, its rows, and what they add up to.
struct Table {
    columns: BTreeSet<String>,
    rows: Vec<Row>,
    total: Row,
}

struct Report {
    total: Table,
    read: Table,
    write: Table,
}

/// Names a column as 2.2 does: the variant has older words for two of them.
fn column(cell: &str) -> String {
    match cell.trim() {
        "MB/s" => "MiB/s",
        "AvgLat(ms)" => "AvgLat",
        other => other,
    }
    .to_owned()
}

fn row(line: &str) -> Row {
    let line = line.replace("total:", "total |");
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let count = |idx: usize| cells[idx].parse().unwrap_or_else(|_| panic!("no count: {line}"));
    let file = cells.last().and_then(|it| it.split(" (").next()).unwrap_or_default().to_owned();
    Row { thread: cells[0].to_owned(), bytes: count(1), n_ios: count(2), file }
}

#[track_caller]
fn table(report: &str, title: &str) -> Table {
    let behind = report.split(&format!("\n{title}\n")).nth(1);
    let behind = behind.unwrap_or_else(|| panic!("no table `{title}`: {report}"));
    let lines = behind.lines().take_while(|line| !line.trim().is_empty());
    let mut lines = lines.filter(|line| !line.starts_with('-'));
    let columns = lines.next().expect("a heading").split('|').map(column).collect();
    let mut rows: Vec<Row> = lines.map(row).collect();
    let total = rows.pop().expect("a last row");
    Table { columns, rows, total }
}

/// Runs a line in the folder of the tool, and reads what it prints.
#[track_caller]
fn report(sandbox: &Sandbox, tool: Tool<'_>, words: &[String]) -> Option<Report> {
    let mut command = sandbox.command(Path::new("env"));
    command.current_dir(sandbox.path(tool.folder()));
    tool.call(&mut command, words);
    let found = outcome(&mut command);
    let text = &found.stdout;
    if !text.contains("\nTotal IO\n") {
        assert!(matches!(tool, Tool::Real(_)), "{words:?}: {text}{}", found.stderr);
        return None;
    }
    let [total, read, write] = ["Total IO", "Read IO", "Write IO"].map(|it| table(text, it));
    Some(Report { total, read, write })
}

impl Report {
    /// Checks that it adds up: all is read or written, in whole blocks, row by row.
    #[track_caller]
    fn check_sums(&self, block_bytes: u64) {
        let tables = [&self.total, &self.read, &self.write];
        for table in tables {
            for row in table.rows.iter().chain([&table.total]) {
                assert_eq!(row.bytes, row.n_ios * block_bytes, "{row:?}");
            }
            let bytes: u64 = table.rows.iter().map(|row| row.bytes).sum();
            assert_eq!(bytes, table.total.bytes);
        }
        assert_eq!(self.total.total.n_ios, self.read.total.n_ios + self.write.total.n_ios);
    }

    fn n_ios(&self) -> u64 {
        self.total.total.n_ios
    }

    fn write_share(&self) -> f64 {
        self.write.total.n_ios as f64 / self.n_ios() as f64
    }

    /// Threads and files of the rows.
    fn places(&self) -> Vec<(String, String)> {
        self.total.rows.iter().map(|row| (row.thread.clone(), row.file.clone())).collect()
    }
}

/// Makes folders for both, with these files in each where the line makes none.
fn folders(words: &[String]) -> Sandbox {
    let sandbox = Sandbox::new();
    let counted: Vec<u8> = (0..FILE_BYTES).map(|idx| idx as u8).collect();
    for folder in ["real", "ours"] {
        std::fs::create_dir(sandbox.path(folder)).expect("a folder");
        let is_made = words.iter().any(|it| it.starts_with("-c"));
        for file in files(words).filter(|_| !is_made) {
            sandbox.write(&format!("{folder}/{file}"), &counted);
        }
    }
    sandbox
}

fn files(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().filter(|it| !it.starts_with('-'))
}

/// Returns the number behind a letter of a line, with its unit; this one where there is none.
fn number(words: &[String], letter: &str, without: u64) -> u64 {
    let Some(text) = words.iter().find_map(|it| it.strip_prefix(letter)) else { return without };
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => MIB,
        other => panic!("the unit {other}"),
    };
    digits.parse::<u64>().expect("a number") * unit
}

/// Runs a line in both and compares what they print. Returns whether the real program takes it.
#[track_caller]
fn compare(program: &Path, words: &[String]) -> bool {
    let sandbox = folders(words);
    let Some(real) = report(&sandbox, Tool::Real(program), words) else { return false };
    let ours = report(&sandbox, Tool::Ours, words).expect("a report");
    let block_bytes = number(words, "-b", 64 << 10);
    real.check_sums(block_bytes);
    ours.check_sums(block_bytes);
    assert_eq!(ours.places(), real.places(), "{words:?}");
    for (ours, real) in [(&ours.total, &real.total), (&ours.read, &real.read)] {
        assert_eq!(ours.columns, real.columns, "{words:?}");
    }
    let asked = number(words, "-w", 0) as f64 / 100.0;
    for report in [&real, &ours] {
        // Four standard deviations of as many draws; none where all or nothing is written.
        let bound = 4.0 * (asked * (1.0 - asked) / report.n_ios() as f64).sqrt();
        let share = report.write_share();
        assert!((share - asked).abs() <= bound, "{words:?}: {share} of {} written", report.n_ios());
    }
    // What either wrote into a file, or made it of, is the same. The variant leaves a hole before
    // the first place of a file that it makes.
    let base = number(words, "-B", 0) as usize;
    for file in files(words) {
        let [real, ours] = ["real", "ours"].map(|folder| {
            std::fs::read(sandbox.path(&format!("{folder}/{file}"))).expect("a file")
        });
        assert!(
            ours[base..] == real[base..],
            "{words:?}: {file}: {} and {} bytes",
            ours.len(),
            real.len()
        );
    }
    true
}

/// Returns a line of the field in words, with small files in this folder, and short.
fn shortened(line: &str) -> Vec<String> {
    let line = line.split('>').next().unwrap_or_default();
    let mut n_files = 0;
    let words = line.split_whitespace().skip(1).map(|word| {
        let is_number = |letter: &str| {
            word.strip_prefix(letter).is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
        };
        if !word.starts_with('-') {
            n_files += 1;
            format!("file{n_files}")
        } else if is_number("-c") {
            "-c16M".to_owned()
        } else if is_number("-d") {
            "-d1".to_owned()
        } else if is_number("-W") {
            "-W0".to_owned()
        } else {
            word.to_owned()
        }
    });
    let mut words: Vec<String> = words.collect();
    if !words.iter().any(|it| it.starts_with("-W")) {
        words.push("-W0".to_owned());
    }
    words
}

/// Lines of scripts in the field, those that the variant for Linux takes as they are: it knows
/// neither `-h`, `-C` and `-Su` nor small letters for sizes.
#[test]
fn lines_of_the_field_give_the_same_report() {
    let Some(program) = real() else { return };
    let Some(corpus) = testing::corpus("", "diskspd.txt") else { return };
    let list = std::fs::read_to_string(corpus.join("diskspd.txt")).expect("a list");
    let lines = list.lines().filter(|line| line.contains("\tliteral\t") && !line.contains('<'));
    let commands = lines.filter_map(|line| line.split('\t').nth(3)).map(shortened);
    let distinct: BTreeSet<Vec<String>> = commands.collect();
    let n = distinct.iter().filter(|words| compare(&program, words)).count();
    // Of the 48 lines six are the same but for where their file lies.
    assert_eq!(n, 9, "of {} distinct lines", distinct.len());
}

/// Options that no line of the field has in a form that the variant takes.
#[test]
fn options_of_the_variant_give_the_same_report() {
    let Some(program) = real() else { return };
    for line in [
        "-b4K -r4K -o8 -t2 -w50 -Sd -xk -L -D -c16M a",
        "-b4K -r4K -o1 -w100 -Ss -D200 -c4M a",
        "-b8K -s16K -B1M -f3M -t2 -T256K -w30 -c8M a b",
        "-b4K -si4K -t1 -o4 -L -c1M a",
        "-b64K -o1 -F3 -w10 -Zz -c2M a b c",
        "-b4K -r4K -w100 -Zs -xp -n -c1M a",
        "-b16K -r16K -a0 -z7 -w75 -c1M a",
    ] {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let words = [words, vec!["-d1".to_owned(), "-W0".to_owned()]].concat();
        assert!(compare(&program, &words), "{line}");
    }
}

/// An I/O that the kernel was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Io {
    is_write: bool,
    bytes: u64,
    offset: u64,
}

/// What `strace` saw: how the file was opened for I/O, and what each thread asked for in order.
struct Trace {
    flags: BTreeSet<String>,
    threads: Vec<Vec<Io>>,
}

#[track_caller]
fn trace(sandbox: &Sandbox, tool: Tool<'_>, words: &[String]) -> Trace {
    let mut command = sandbox.command(Path::new("strace"));
    command.current_dir(sandbox.path(tool.folder()));
    command.args(["-f", "-e", "trace=open,openat,io_submit", "-o", "trace"]);
    tool.call(&mut command, words);
    let found = outcome(&mut command);
    let name = format!("{}/trace", tool.folder());
    let text = std::fs::read_to_string(sandbox.path(&name)).expect("a trace");
    let mut flags = BTreeSet::new();
    let mut threads: Vec<(&str, Vec<Io>)> = Vec::new();
    for line in text.lines() {
        let thread = line.split(' ').next().unwrap_or_default();
        if line.contains("\"a\", O_") {
            let words = line
                .split([' ', ',', '|', ')'])
                .filter(|it| it.contains("SYNC") || *it == "O_DIRECT");
            flags.extend(words.map(str::to_owned));
        }
        let ios = line.split("aio_lio_opcode=").skip(1).filter_map(io);
        match threads.iter_mut().find(|it| it.0 == thread) {
            Some((_, all)) => all.extend(ios),
            None => threads.push((thread, ios.collect())),
        }
    }
    let threads: Vec<Vec<Io>> = threads.into_iter().map(|it| it.1).collect();
    let threads: Vec<Vec<Io>> = threads.into_iter().filter(|it| !it.is_empty()).collect();
    assert!(!threads.is_empty(), "{tool:?} {words:?}: no I/O in {}{}", found.stdout, found.stderr);
    Trace { flags, threads }
}

fn io(text: &str) -> Option<Io> {
    let value = |name: &str| {
        let behind = text.split_once(name)?.1;
        let digits = behind.split(|it: char| !it.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    };
    let is_write = text.starts_with("IOCB_CMD_PWRITE");
    Some(Io { is_write, bytes: value("aio_nbytes=")?, offset: value("aio_offset=")? })
}

/// Traces a line in both.
#[track_caller]
fn traces(program: &Path, line: &str) -> [Trace; 2] {
    let words: Vec<String> =
        format!("{line} -xk -d1 -W0 a").split(' ').map(str::to_owned).collect();
    let sandbox = folders(&words);
    [Tool::Real(program), Tool::Ours].map(|tool| trace(&sandbox, tool, &words))
}

/// The first I/Os of each thread go to the same places, in the same order, around the end of the
/// target. With one I/O in flight: of several, the variant has each walk by itself, over what the
/// others read.
#[test]
fn threads_walk_through_the_same_places() {
    let Some(program) = real() else { return };
    if !testing::has_program("strace") {
        return;
    }
    for line in [
        "-b64K -o1 -w0",
        "-b4K -o1 -s12K -w0",
        "-b64K -o1 -B1M -f3M -w100",
        "-b8K -o1 -t2 -T256K -f1M -w100",
        "-b8K -o1 -s64K -t2 -T16K -B4K -f1M -w0",
    ] {
        let walks = traces(&program, line).map(|it| {
            let head = |ios: &Vec<Io>| ios.iter().take(100).copied().collect::<Vec<Io>>();
            let mut walks: Vec<Vec<Io>> = it.threads.iter().map(head).collect();
            walks.sort_by_key(|walk| walk[0].offset);
            walks
        });
        let [real, ours] = walks;
        assert_eq!(real.len(), ours.len(), "{line}");
        for (real, ours) in real.iter().zip(&ours) {
            let n = real.len().min(ours.len());
            assert!(n > 50, "{line}: {n} I/Os");
            let apart = (0..n).find(|&idx| real[idx] != ours[idx]);
            let apart = apart.map(|idx| (idx, real[idx], ours[idx]));
            assert_eq!(apart, None, "{line}");
        }
    }
}

/// Random I/O goes to multiples of the same number, from the same first place to the same last one,
/// in blocks of the same size; and files are opened alike.
#[test]
fn random_io_has_the_same_places_and_caches() {
    let Some(program) = real() else { return };
    if !testing::has_program("strace") {
        return;
    }
    for (line, step, first, last, flags) in [
        ("-b4K -r4K -f128K -w50 -Sd", 4 << 10, 0, 124 << 10, &["O_DIRECT"][..]),
        ("-b8K -r4K -B64K -f128K -w50", 4 << 10, 64 << 10, 120 << 10, &[]),
        ("-b4K -r12K -f128K -w100 -Ss", 12 << 10, 0, 120 << 10, &["O_SYNC"]),
        ("-b64K -r -f1M -w50 -Sh", 64 << 10, 0, 960 << 10, &["O_DIRECT", "O_SYNC"]),
    ] {
        for trace in traces(&program, line) {
            let offsets: BTreeSet<u64> = trace.threads[0].iter().map(|io| io.offset).collect();
            let all: BTreeSet<u64> = (first..=last).step_by(step).collect();
            assert_eq!(offsets, all, "{line}");
            let flags: BTreeSet<String> = flags.iter().map(|&it| it.to_owned()).collect();
            assert_eq!(trace.flags, flags, "{line}");
        }
    }
}

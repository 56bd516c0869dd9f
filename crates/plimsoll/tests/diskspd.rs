//! Scripts that call diskspd, as a user runs them.

mod common;

use std::path::Path;
use std::process::Stdio;

use common::{Sandbox, outcome};
use record::Record;

const P30: &str = "[[volume]]\nmount = \"/mnt/p30\"\ndisk = \"P30\"\ncache = \"None\"\n";

/// A database and its log, as a batch file has them.
const SCRIPT: &str = "@echo off\r\n\
    rem a database\r\n\
    C:\\tools\\diskspd.exe -b8K -d5 -W1 -o32 -r -w30 -Sh -L -c2G F:\\data.dat > data.txt\r\n\
    C:\\tools\\diskspd.exe -b64K -d5 -W1 -o16 -t2 -si -w100 -Sh -c2G f:\\logs\\log.dat\r\n";

/// A P30 does 5,000 I/Os and 200 MB a second.
#[test]
fn a_script_runs_on_an_emulated_disk() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    sandbox.write("a.cmd", SCRIPT);
    let wide: Vec<u8> =
        format!("\u{feff}{SCRIPT}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    sandbox.write("wide.cmd", wide);
    for name in ["a.cmd", "wide.cmd"] {
        let args = ["run", name, "--remap", "F:=/mnt/p30", "--on", "p30.toml", "--virtual"];
        let outcome = sandbox.plimsoll(&[&args[..], &["--json", "--no-progress"]].concat());
        let record = Record::from_json(outcome.success()).expect("a record");
        let steps: Vec<&str> = record.steps.iter().map(|step| &*step.name).collect();
        let first = "-b8K -d5 -W1 -o32 -r -w30 -Sh -L -c2G";
        assert_eq!(steps, [first, "-b64K -d5 -W1 -o16 -t2 -si -w100 -Sh -c2G"]);
        let of_step = |idx: u32| record.jobs.iter().filter(move |job| job.step_idx == idx);
        let per_s = |n: u64| n as f64 / 5.0;
        let iops = per_s(of_step(0).map(record::JobRecord::n_ios).sum());
        assert!((iops / 5_000.0 - 1.0).abs() < 0.02, "{iops} IOPS");
        let writes: u64 = of_step(0).map(|job| job.dirs.write.n_ios).sum();
        assert!((per_s(writes) / iops - 0.3).abs() < 0.01, "{writes} of the I/Os are writes");
        let bytes_per_s = per_s(of_step(1).map(|job| job.dirs.write.io_bytes).sum());
        assert!((bytes_per_s / 200e6 - 1.0).abs() < 0.02, "{bytes_per_s} B/s");
    }
}

#[test]
fn a_line_runs_on_files_of_this_host() {
    let sandbox = Sandbox::new();
    let line = "diskspd -b4K -c1M -w50 -r -t2 -o4 -W0 -d1 one.dat two.dat -xk\n";
    sandbox.write("line.txt", line);
    let args = ["run", "line.txt", "--set", "runtime=200ms", "--json", "--no-progress"];
    let outcome = sandbox.plimsoll(&args);
    let record = Record::from_json(&outcome.stdout).expect("a record");
    // Two threads of each target.
    assert_eq!(record.jobs.len(), 4, "{}", outcome.stderr);
    assert!(record.jobs.iter().all(|job| job.n_ios() > 0 && job.error_errno == 0));
    for name in ["one.dat", "two.dat"] {
        assert_eq!(std::fs::metadata(sandbox.path(name)).expect("it was made").len(), 1 << 20);
    }
}

/// A reader that has seen enough says nothing about how the run went.
#[test]
fn a_closed_pipe_hides_no_failed_run() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["diskspd", "-b4K", "-c64K", "-w100", "-d1", "-W0", "/dev/full"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary was built");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

#[test]
fn it_is_checked_and_translated() {
    let sandbox = Sandbox::new();
    sandbox.write("a.cmd", SCRIPT);
    let checked = sandbox.plimsoll(&["check", "a.cmd"]);
    assert!(checked.success().contains("2 steps"), "{}", checked.stdout);
    assert!(checked.stderr.contains("`--remap 'F:=/mnt/data'`"), "{}", checked.stderr);
    let refused = sandbox.plimsoll(&["run", "a.cmd"]);
    assert_eq!(refused.code, 2, "{}", refused.stdout);
    assert!(refused.stderr.contains("target `F:\\data.dat` is nothing"), "{}", refused.stderr);
    let to_fio = ["translate", "a.cmd", "--to", "fio", "--remap", "F:=/mnt/f", "--section", "3"];
    let fio = sandbox.plimsoll(&to_fio).success().to_owned();
    for line in ["rw=randrw", "rwmixread=70", "iodepth=32", "filename=/mnt/f/data.dat", "bs=8k"] {
        assert!(fio.lines().any(|it| it == line), "{line}: {fio}");
    }
    sandbox.write("a.fio", &fio);
    sandbox.plimsoll(&["check", "a.fio"]).success();
    // And back: what diskspd cannot say is listed.
    let back = sandbox.plimsoll(&["translate", "a.fio", "--to", "diskspd"]).success().to_owned();
    let line = back.lines().find(|line| line.starts_with("diskspd ")).expect("a line");
    for word in ["-b8K", "-d5", "-W1", "-o32", "-w30", "-r", "-Sh", "-c2G", "/mnt/f/data.dat"] {
        assert!(line.split(' ').any(|it| it == word), "{word}: {back}");
    }
    sandbox.write("back.cmd", &back);
    sandbox.plimsoll(&["check", "back.cmd"]).success();
    let jobs = "[global]\nsize=1g\nruntime=9\ntime_based\ndirect=1\nnorandommap\n[a]\n\
                filename=/m/a\nrw=randread\nrandom_distribution=zipf:1.2\n[b]\nfilename=/m/b\n\
                rw=write\n";
    sandbox.write("two.fio", jobs);
    let two = sandbox.plimsoll(&["translate", "two.fio", "--to", "diskspd"]);
    assert_eq!(two.success().matches("\ndiskspd ").count(), 2, "{}", two.stdout);
    for loss in ["zipf", "run one after another"] {
        assert!(two.stderr.contains(loss), "{loss}: {}", two.stderr);
    }
}

/// What real scripts have runs, each line for a second.
#[test]
fn command_lines_of_the_field_run_on_an_emulated_disk() {
    let Some(corpus) = testing::corpus("", "diskspd.txt") else { return };
    let list = std::fs::read_to_string(corpus.join("diskspd.txt")).expect("a list");
    let commands = list.lines().filter_map(|line| line.split('\t').nth(3));
    // Those that want a value, or are no commands, are refused one by one elsewhere.
    let is_whole = |line: &&str| {
        let is_template = line.contains(['$', '<', '%']) && !line.contains("c$");
        !is_template && ![" -1 ", "-Rp", "-i100 d:"].iter().any(|it| line.contains(it))
    };
    let lines: Vec<&str> = commands.filter(is_whole).collect();
    assert_eq!(lines.len(), 36);
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    sandbox.write("all.cmd", lines.join("\r\n"));
    let mut args = vec!["run", "all.cmd", "--on", "p30.toml", "--virtual", "--json"];
    let remap = ["C:", "D:", "E:", "F:", "G:", "M:", "V:", "X:", "Z:", "\\\\mb-win81\\diskspd"];
    let remap: Vec<String> = remap.iter().map(|it| format!("{it}=/mnt/p30")).collect();
    for it in remap.iter().map(String::as_str).chain(["\\\\node2\\c$=/mnt/p30"]) {
        args.extend(["--remap", it]);
    }
    for it in ["runtime=1s", "ramp_time=0", "size=64m", "directory=/mnt/p30"] {
        args.extend(["--set", it]);
    }
    let outcome = sandbox.plimsoll(&[&args[..], &["--no-progress"]].concat());
    let record = Record::from_json(&outcome.stdout).expect("a record");
    assert_eq!(record.steps.len(), lines.len(), "{}", outcome.stderr);
    for (idx, line) in lines.iter().enumerate() {
        let jobs: Vec<_> = record.jobs.iter().filter(|it| it.step_idx as usize == idx).collect();
        let n_ios: u64 = jobs.iter().map(|job| job.n_ios()).sum();
        assert!(n_ios > 0 && jobs.iter().all(|job| job.error_errno == 0), "{line}");
    }
}

/// A table of the report: its rows as cells, split where columns are.
fn table(report: &str, title: &str) -> Vec<Vec<String>> {
    let behind = report.split(&format!("\n{title}\n")).nth(1).expect("the table is there");
    let rows = behind.lines().take_while(|line| !line.trim().is_empty());
    let rows = rows.filter(|line| !line.starts_with('-'));
    let cells = |row: &str| row.replace("total:", "total |").split('|').map(trimmed).collect();
    rows.map(cells).collect()
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("`{cell}` is no number"))
}

#[track_caller]
fn near(cell: &str, expected: f64) {
    let value = number(cell);
    assert!((value / expected - 1.0).abs() < 0.03, "{value} is not near {expected}");
}

/// Arguments that run a command line of diskspd on an emulated P30: 5,000 I/Os and 200 MB a second.
fn on_p30<'a>(command: &[&'a str]) -> Vec<&'a str> {
    let ours = ["--remap", "F:=/mnt/p30", "--on", "p30.toml", "--virtual", "--no-progress"];
    [&["diskspd"], command, &ours[..]].concat()
}

/// What programs that read the report take of it, by words and columns.
#[test]
fn the_command_line_prints_the_tool_s_report() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    let command =
        ["-b8K", "-d5", "-W1", "-t2", "-o16", "-r", "-w30", "-Sh", "-L", "-D", "-c2G", "F:\\a.dat"];
    let outcome = sandbox.plimsoll(&on_p30(&command));
    let report = outcome.success();
    let echo = "\nCommand Line: diskspd -b8K -d5 -W1 -t2 -o16 -r -w30 -Sh -L -D -c2G F:\\a.dat\n";
    assert!(report.starts_with(echo), "{report}");
    for line in [
        "\tduration: 5s",
        "\twarm up time: 1s",
        "\tmeasuring latency",
        "\tgathering IOPS at intervals of 1000ms",
        "\tpath: 'F:\\a.dat'",
        "\t\tsoftware cache disabled",
        "\t\thardware write cache disabled, writethrough on",
        "\t\tperforming mix test (read/write ratio: 70/30)",
        "\t\tblock size: 8KiB",
        "\t\tusing random I/O (alignment: 8KiB)",
        "\t\tnumber of outstanding I/O operations per thread: 16",
        "\t\tthreads per file: 2",
        "Results for timespan 1:",
        "thread count:\t\t2",
    ] {
        assert!(report.lines().any(|it| it == line), "{line}: {report}");
    }
    // Until the last I/O has ended.
    assert!(report.contains("\nactual test time:\t5.0"), "{report}");
    let head = [
        "thread",
        "bytes",
        "I/Os",
        "MiB/s",
        "I/O per s",
        "AvgLat",
        "IopsStdDev",
        "LatStdDev",
        "file",
    ];
    let total = table(report, "Total IO");
    assert_eq!(total[0], head);
    let [first, second, all] = &total[1..] else { panic!("{total:?}") };
    assert_eq!((&*first[0], &*second[0], &*all[0]), ("0", "1", "total"));
    assert_eq!(first[8], "F:\\a.dat (2GiB)");
    let count = |cell: &str| cell.parse::<u64>().expect("a count");
    assert_eq!(count(&all[1]), count(&all[2]) * 8192);
    assert_eq!(count(&all[2]), count(&first[2]) + count(&second[2]));
    near(&all[2], 25_000.0);
    near(&all[3], 5_000.0 * 8192.0 / 1_048_576.0);
    near(&all[4], 5_000.0);
    // 32 in flight at 5,000 a second take 6.4 ms.
    near(&all[5], 6.4);
    let reads = table(report, "Read IO");
    let writes = table(report, "Write IO");
    near(&reads[3][4], 3_500.0);
    near(&writes[3][4], 1_500.0);
    check_latencies(report);
}

/// The table of percentiles that ends the report.
#[track_caller]
fn check_latencies(report: &str) {
    let shares = report.split("Total latency distribution:\n").nth(1).expect("a table");
    let rows: Vec<Vec<String>> = shares
        .lines()
        .filter(|line| line.contains('|'))
        .map(|line| line.split('|').map(trimmed).collect())
        .collect();
    let names: Vec<&str> = rows.iter().map(|row| &*row[0]).collect();
    let expected = [
        "%-ile", "min", "25th", "50th", "75th", "90th", "95th", "99th", "3-nines", "4-nines",
        "5-nines", "6-nines", "7-nines", "8-nines", "9-nines", "max",
    ];
    assert_eq!(names, expected);
    assert_eq!(rows[0][1..], ["Read (ms)", "Write (ms)", "Total (ms)"]);
    let median = number(&rows[3][3]);
    assert!(number(&rows[1][3]) <= median && median <= number(&rows[15][3]), "{shares}");
}

/// Returns the contents of the elements of a name, in the order of the text.
fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let parts = xml.split(&*format!("<{name}>")).skip(1).collect::<Vec<_>>();
    let end = format!("</{name}>");
    parts.into_iter().filter_map(|part| Some(part.split_once(&*end)?.0)).collect()
}

/// What PerfKitBenchmarker and VMFleet take of the XML.
#[test]
fn results_and_profiles_are_in_xml_too() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    let command = ["-b64K", "-d5", "-W0", "-o16", "-w100", "-Su", "-L", "-D", "-Rxml", "-c1G"];
    let command = [&command[..], &["F:\\a&b.dat", "F:\\c.dat"]].concat();
    let outcome = sandbox.plimsoll(&on_p30(&command));
    let xml = outcome.success();
    assert!(xml.starts_with("<Results>\n  <System>\n"), "{xml}");
    near(elements(xml, "TestTimeSeconds")[0], 5.0);
    let sum = |name: &str| elements(xml, name).iter().map(|it| number(it)).sum::<f64>();
    let mb_s = sum("WriteBytes") / 5.0 / 1e6;
    assert!((mb_s / 200.0 - 1.0).abs() < 0.03, "{mb_s} MB/s");
    assert_eq!((sum("WriteCount"), sum("ReadCount")), (sum("IOCount"), 0.0));
    assert_eq!(elements(xml, "Path"), ["F:\\a&amp;b.dat", "F:\\c.dat"].repeat(2));
    let shares = elements(xml, "Percentile");
    assert_eq!((shares.len(), shares[0], shares[107]), (108, "0", "100"));
    assert_eq!(
        shares[99..107].join(" "),
        "99 99.9 99.99 99.999 99.9999 99.99999 99.999999 \
        99.9999999"
    );
    assert_eq!(elements(xml, "TotalMilliseconds").len(), 108);
    assert!(elements(xml, "ReadMilliseconds").is_empty());
    assert_eq!(xml.matches("SampleMillisecond=").count(), 5, "{xml}");
    let profile = sandbox.plimsoll(&["diskspd", "-Rpxml", "-r4K", "-rs40", "-g9i", "*1"]);
    let mistake = [profile.stdout.is_empty(), profile.stderr.contains("target of a profile")];
    assert_eq!(mistake, [true, true]);
    let profile = sandbox.plimsoll(&["diskspd", "-Rpxml", "-r4K", "-rs40", "-g9i", "f.dat"]);
    let xml = profile.success();
    assert!(xml.starts_with("<Profile>\n  <Progress>0</Progress>\n"), "{xml}");
    for line in [
        "<RandomRatio>40</RandomRatio>",
        "<Random>4096</Random>",
        "<Throughput unit=\"IOPS\">9</Throughput>",
        "<BlockSize>65536</BlockSize>",
    ] {
        assert!(xml.lines().any(|it| it.trim() == line), "{line}: {xml}");
    }
    let text = sandbox.plimsoll(&["diskspd", "-Rp", "-c1M", "f.dat"]);
    assert!(text.success().contains("\tduration: 10s\n"), "{}", text.stdout);
    assert!(!sandbox.path("f.dat").exists());
}

/// Two time spans: random writes of two threads on two targets that are worked on differently, then
/// reads of one.
const PROFILE: &str = "<Profile><ResultFormat>xml</ResultFormat><TimeSpans>\n\
    <TimeSpan><Duration>5</Duration><Warmup>1</Warmup><MeasureLatency>true</MeasureLatency>\n\
    <Targets>\n\
    <Target><Path>*1</Path><BlockSize>8192</BlockSize><Random>8192</Random><WriteRatio>100\
    </WriteRatio><RequestCount>16</RequestCount><FileSize>1073741824</FileSize>\
    <DisableAllCache>true</DisableAllCache></Target>\n\
    <Target><Path>F:\\log.dat</Path><WriteRatio>100</WriteRatio><RequestCount>1</RequestCount>\
    <FileSize>1073741824</FileSize><DisableAllCache>true</DisableAllCache></Target>\n\
    </Targets></TimeSpan>\n\
    <TimeSpan><Duration>5</Duration><Warmup>0</Warmup><Targets><Target><Path>*1</Path>\
    <RequestCount>8</RequestCount><FileSize>1073741824</FileSize><DisableOSCache>1</DisableOSCache>\
    </Target></Targets></TimeSpan></TimeSpans></Profile>\n";

/// A profile is a file of jobs, and stands behind `-X`.
#[test]
fn a_profile_runs_time_span_by_time_span() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    sandbox.write("p.xml", PROFILE);
    let on = ["--remap", "F:=/mnt/p30", "--on", "p30.toml", "--virtual", "--no-progress"];
    let args = [&["run", "p.xml", "--json", "--remap", "*1=/mnt/p30/data.dat"], &on[..]].concat();
    let record = Record::from_json(sandbox.plimsoll(&args).success()).expect("a record");
    let steps: Vec<&str> = record.steps.iter().map(|step| &*step.name).collect();
    assert_eq!((steps, record.jobs.len()), (vec!["time span 1", "time span 2"], 3));
    let args = [&["diskspd", "-Xp.xml", "-Rtext", "F:\\data.dat"], &on[..]].concat();
    let report = sandbox.plimsoll(&args).success().to_owned();
    assert!(report.contains("\ttimespan:   2\n"), "{report}");
    let spans: Vec<&str> = report.split("\nResults for timespan ").collect();
    let [_, first, second] = &spans[..] else { panic!("{report}") };
    let rows = |report: &str| {
        let rows = table(report, "Total IO");
        rows[1..]
            .iter()
            .map(|row| format!("{} {}", row[0], row.last().expect("one")))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(first)[..2], ["0 F:\\data.dat (1GiB)", "1 F:\\log.dat (1GiB)"]);
    assert_eq!(rows(second)[0], "0 F:\\data.dat (1GiB)");
    // 200 MB/s of reads of 64 KiB.
    near(&table(second, "Total IO")[2][3], 200e6 / 1_048_576.0);
    assert!(
        first.contains("Total latency")
            && !second.split("Totals:").next().expect("one").contains("latency distribution")
    );
    let totals = report.split("\n\nTotals:\n").nth(1).expect("they end it");
    assert!(totals.contains("\ntotal test time:\t10."), "{totals}");
    let row = |name: &str| {
        let line = totals.lines().find(|line| line.starts_with(name)).expect("a row");
        line.split('|').nth(1).and_then(|it| it.trim().parse::<u64>().ok()).expect("bytes")
    };
    assert_eq!(row("total"), row("read") + row("write"));
    // The profile says XML.
    let args = [&["diskspd", "-Xp.xml", "-d1", "F:\\data.dat"], &on[..]].concat();
    let xml = sandbox.plimsoll(&args).success().to_owned();
    assert_eq!(elements(&xml, "Duration"), ["1", "1"]);
    assert_eq!(elements(&xml, "TestTimeSeconds").len(), 2);
    assert_eq!(elements(&xml, "Id"), ["0", "1", "0"]);
    // What is printed of it asks for the same.
    let printed = sandbox.plimsoll(&["diskspd", "-Xp.xml", "-Rpxml"]).success().to_owned();
    assert!(printed.contains("<Path>*1</Path>"), "{printed}");
    sandbox.write("again.xml", &printed);
    let again = sandbox.plimsoll(&["diskspd", "-Xagain.xml", "-Rpxml"]);
    assert_eq!(again.success(), printed);
}

/// It is read once, for what is run and for what is printed: a pipe gives its text once, and a file
/// may be gone in the end.
#[test]
fn a_profile_may_come_from_a_pipe() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    sandbox.write("p.xml", PROFILE);
    let script = format!(
        "cat p.xml | {} diskspd -X/dev/stdin -Rtext 'F:\\data.dat' --remap F:=/mnt/p30 \
         --on p30.toml --virtual --no-progress",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let outcome = outcome(sandbox.command(Path::new("/bin/sh")).args(["-c", &script]));
    let report = outcome.success();
    assert!(report.contains("\nResults for timespan 2"), "{report}");
}

/// Threads of `-F` work on all targets; those of `-t` on one each.
#[test]
fn threads_stand_as_the_tool_counts_them() {
    let sandbox = Sandbox::new();
    sandbox.write("p30.toml", P30);
    let rows = |threads: &str| {
        let command = ["-d1", "-W0", "-Su", "-c1G", "-r", threads, "F:\\a", "F:\\b"];
        let report = sandbox.plimsoll(&on_p30(&command)).success().to_owned();
        let rows = table(&report, "Total IO");
        let n = rows.len() - 1;
        let of = |row: &Vec<String>| format!("{} {}", row[0], row[5]);
        rows[1..n].iter().map(of).collect::<Vec<_>>()
    };
    let a = |n: u32| format!("{n} F:\\a (1GiB)");
    let b = |n: u32| format!("{n} F:\\b (1GiB)");
    assert_eq!(rows("-t2"), [a(0), a(1), b(2), b(3)]);
    assert_eq!(rows("-F2"), [a(0), b(0), a(1), b(1)]);
}

#[test]
fn a_link_named_diskspd_is_that_program() {
    let sandbox = Sandbox::new();
    let link = sandbox.path("diskspd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_plimsoll"), &link).expect("a link");
    let run = |args: &[&str]| common::outcome(sandbox.command(&link).args(args));
    let outcome = run(&["-b4K", "-d1", "-W0", "-c1M", "-w50", "-r", "it's.dat", "--no-progress"]);
    assert!(outcome.stdout.contains("\nTotal IO\n"), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains(" | it's.dat (1MiB)\n"), "{}", outcome.stdout);
    let refused = run(&["-b4K", "-1", "f.dat"]);
    assert_eq!((refused.code, &*refused.stdout), (2, ""));
    assert!(refused.stderr.contains("no option `-1`"), "{}", refused.stderr);
    assert!(run(&["--help"]).success().contains("diskspd's options and targets"));
}

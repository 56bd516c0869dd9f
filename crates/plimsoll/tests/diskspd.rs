//! Scripts that call diskspd, as a user runs them.

mod common;

use common::Sandbox;
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

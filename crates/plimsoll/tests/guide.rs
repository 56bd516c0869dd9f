//! What a user sees who types what another tool or command takes, names too much, or names what has
//! no end.

mod common;

use common::Sandbox;

/// Runs a command that is wrong, and returns what its user sees.
#[track_caller]
fn reported(args: &[&str]) -> String {
    Sandbox::new().plimsoll(args).mistake()
}

#[test]
fn options_of_other_tools_are_answered_with_ours() {
    let check = |args: &[&str], option: &str, hint: &str| {
        let found = reported(args);
        let command = args[0];
        let head = format!("error: `plimsoll {command}` has no option `--{option}`\n");
        assert!(found.starts_with(&head), "{found}");
        assert!(found.contains(&format!("\nhint: {hint}\n")), "{found}");
    };
    let in_jobs = "sets it in every job";
    check(&["run", "x.fio", "--iodepth=32"], "iodepth", &format!("`--set iodepth=32` {in_jobs}"));
    check(&["run", "x.fio", "--runtime", "5"], "runtime", &format!("`--set runtime=5s` {in_jobs}"));
    let in_steps = "sets it in every step";
    check(&["bench", ".", "--size", "1g"], "size", &format!("`--set size=1g` {in_steps}"));
    check(&["bench", ".", "--runtime", "10s"], "runtime", &format!("`--set time=10s` {in_steps}"));
    check(&["bench", ".", "--bs"], "bs", &format!("`--set bs=VALUE` {in_steps}"));
    check(&["curve", ".", "--runtime", "10"], "runtime", "write `--time 10s`");
    let in_help = "`plimsoll help run` lists its options";
    check(&["run", "x.fio", "--nonsense"], "nonsense", in_help);
    check(&["run", "x.fio", "--remp", "a=b"], "remp", "did you mean `--remap`?");
    let page = "after the run, `plimsoll report last -o x.html` draws its page";
    check(&["run", "x.fio", "--report", "x.html"], "report", page);
    check(&["curve", ".", "--report=x.html"], "report", page);
    let in_bench = "`plimsoll bench` has it: `plimsoll help bench`";
    check(&["run", "x.fio", "--scale", "2"], "scale", in_bench);
}

/// Each command line is answered by an error and a hint, and never by how to pass an option as a
/// value.
#[test]
fn what_is_too_much_is_named() {
    for (args, error, hint) in [
        (&["show", "1", "2"][..], "`plimsoll show` takes no further `2`", "`plimsoll help show`"),
        (&["suite", "list", "x"], "`plimsoll suite list` takes no further `x`", "help suite list"),
        (&["run", "x.fio", "-q"], "`plimsoll run` has no option `-q`", "`plimsoll help run`"),
        (
            &["catalog", "list", "vms", "--cloud", "GCP"],
            "`plimsoll catalog list` has no option `--cloud`",
            "words narrow the list: plimsoll catalog list vms gcp",
        ),
        (&["help", "nosuch"], "`plimsoll` has no command `nosuch`", "`plimsoll help` lists them"),
        (&["rnu", "x.fio"], "`plimsoll` has no command `rnu`", "did you mean `run`?"),
        (&["runs", "nmae", "1"], "`plimsoll runs` has no command `nmae`", "did you mean `name`?"),
        (&["bench", ".", "--scale", "-1"], "invalid value '-1' for '--scale <F>'", "share above"),
        (&["bench", ".", "--seed", "-1"], "invalid value '-1' for '--seed <N>'", "-1"),
    ] {
        let found = reported(args);
        assert!(found.starts_with(&format!("error: {error}")), "{args:?}: {found}");
        assert!(found.contains(hint) && !found.contains("-- -"), "{args:?}: {found}");
    }
}

#[test]
fn help_of_a_command_is_there_under_both_names() {
    let sandbox = Sandbox::new();
    for command in ["run", "compare", "fio"] {
        let one = sandbox.plimsoll(&["help", command]);
        let other = sandbox.plimsoll(&[command, "--help"]);
        assert_eq!((one.code, &one.stdout), (0, &other.stdout), "{}", one.stderr);
    }
    let all = sandbox.plimsoll(&["help"]);
    assert_eq!((all.code, all.stdout), (0, sandbox.plimsoll(&["--help"]).stdout));
    assert_eq!(sandbox.plimsoll(&["help", "rnu"]).code, 2);
}

#[test]
fn a_design_with_single_tables_says_how_lists_are_written() {
    let sandbox = Sandbox::new();
    sandbox.write("one.toml", "[volume]\nmount = \"/data\"\ndisk = \"P30\"\n");
    let found = sandbox.plimsoll(&["limits", "one.toml"]).mistake();
    assert!(found.starts_with("error: line 1 of design `one.toml` is `[volume]`\n"), "{found}");
    assert!(found.contains("hint: write `[[volume]]`: a design has a list of them\n"), "{found}");
    sandbox.write("two.toml", "[[volume]]\nmount = \"/d\"\ndisk = \"gp3\"\nsize = \"500\"\n");
    let found = sandbox.plimsoll(&["limits", "two.toml"]).mistake();
    assert!(found.contains("`500` has no unit, expected such as \"500GiB\""), "{found}");
    let fast = "size = \"500GiB\"\nthroughput = \"125MB/s\"\n";
    sandbox.write("mb.toml", format!("[[volume]]\nmount = \"/d\"\ndisk = \"gp3\"\n{fast}"));
    let found = sandbox.plimsoll(&["limits", "mb.toml"]).mistake();
    assert!(found.contains("write \"125MiB/s\""), "{found}");
}

#[test]
fn a_disk_of_the_catalogue_stands_for_a_design() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "job.fio",
        "[a]\nfilename=/any/where/f\nsize=1g\nrw=randread\nbs=4k\niodepth=64\nioengine=libaio\n\
         direct=1\nruntime=5\ntime_based\n",
    );
    let run = |disk: &str| {
        let args = ["run", "job.fio", "--on", disk, "--virtual", "--json", "--no-progress"];
        let found = sandbox.plimsoll(&args);
        assert!(matches!(found.code, 0 | 3), "{}", found.stderr);
        let record: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
        let n_ios = record["jobs"][0]["dirs"]["read"]["n_ios"].as_f64().unwrap();
        (n_ios / 5.0, found.stderr)
    };
    let (p30, note) = run("p30");
    assert!((4_900.0..5_300.0).contains(&p30), "{p30}");
    assert!(note.contains("note: `P30`: one such disk"), "{note}");
    let (gp3, note) = run("gp3");
    assert!((2_900.0..3_300.0).contains(&gp3), "{gp3}");
    assert!(note.contains("of 1TiB"), "{note}");
    let unknown = sandbox.plimsoll(&["run", "job.fio", "--on", "P31", "--virtual"]).mistake();
    assert!(unknown.contains("cannot read design `P31`"), "{unknown}");
    assert!(unknown.contains("catalog list disks"), "{unknown}");
    // A file of that name is a design.
    sandbox.write("P30", "[[volume]]\nmount = \"/other\"\ndisk = \"P10\"\n");
    let found = sandbox.plimsoll(&["run", "job.fio", "--on", "P30", "--virtual"]).mistake();
    assert!(found.contains("/other"), "{found}");
}

#[test]
fn what_is_to_be_listed_is_named() {
    let found = reported(&["catalog", "list"]);
    assert!(found.contains("hint: disks, vms, volumes or prices: plimsoll catalog list disks\n"));
}

#[test]
fn all_files_of_a_folder_are_checked() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("jobs")).unwrap();
    sandbox.write("jobs/a.fio", "[a]\nsize=1m\nrw=read\n[b]\nsize=1m\nrw=read\n");
    sandbox.write("jobs/b.fio", "[a]\nsize=1m\nrw=raed\n");
    sandbox.write("jobs/README", "What is in here.\n");
    sandbox.write("jobs/d.toml", "[[volume]]\nmount = \"/d\"\ndisk = \"P30\"\n");
    sandbox.write("jobs/.hidden", "x");
    let found = sandbox.plimsoll(&["check", "jobs"]);
    assert_eq!(found.code, 2);
    assert!(found.stderr.contains("raed") && found.stderr.contains("jobs/b.fio:3"));
    let lines: Vec<&str> = found.stdout.lines().collect();
    let expected = [
        "jobs/README: not checked: it does not look like a job file",
        "jobs/a.fio: 2 jobs, no mistake",
        "jobs/b.fio: mistakes, see above",
        "jobs/d.toml: not checked: it is a design; `plimsoll limits` checks it",
    ];
    assert_eq!(lines, expected);
    sandbox.write("jobs/b.fio", "[a]\nsize=1m\nrw=read\n");
    assert_eq!(sandbox.plimsoll(&["check", "jobs"]).code, 0);
}

#[test]
fn mistakes_of_a_benchmark_are_reported_before_it_runs() {
    let sandbox = Sandbox::new();
    sandbox.write("tiny", "abc");
    std::fs::create_dir(sandbox.path("vol")).unwrap();
    let bench = |args: &[&str]| sandbox.plimsoll(&[&["bench"], args].concat()).mistake();
    let found = bench(&["tiny"]);
    assert!(found.starts_with("error: `tiny` has 3 B, and I/Os of 64.0 KiB are"), "{found}");
    let found = bench(&["vol", "nosuchfolder"]);
    let expected = "error: `nosuchfolder` is one too many: suite `quick` takes one target\n";
    assert!(found.starts_with(expected), "{found}");
    let found = bench(&["vol", "--report", "nowhere/page.html"]);
    assert!(found.contains("cannot write to `nowhere/page.html`"), "{found}");
    assert!(std::fs::read_dir(sandbox.path("vol")).unwrap().next().is_none(), "nothing was made");
}

/// Devices have no end: what is no file is refused at once.
#[test]
fn what_has_no_end_is_refused_at_once() {
    let sandbox = Sandbox::new();
    for args in [
        &["import", "/dev/zero"][..],
        &["report", "/dev/zero"],
        &["compare", "/dev/zero", "/dev/zero"],
        &["export", "/dev/zero", "--format", "csv"],
        &["catalog", "import", "/dev/zero"],
    ] {
        let found = sandbox.plimsoll_keeping(args);
        assert_eq!(found.code, 2, "{args:?}: {}", found.stderr);
        assert!(found.stderr.contains("it is a device, not a file"), "{}", found.stderr);
    }
}

/// A few kilobytes that are gigabytes of zeros: not text, and not unpacked to find out.
#[test]
fn a_log_that_is_no_log_is_not_unpacked() {
    let sandbox = Sandbox::new();
    let zeros = vec![0_u8; 8 << 20];
    sandbox.write("bomb.fz", dialects::fio::output::packed_log::pack(&zeros));
    let found = sandbox.fio(&["--inflate-log=bomb.fz"]);
    assert_eq!((found.code, found.stdout.as_str()), (1, ""));
    assert!(found.stderr.contains("holds no text"), "{}", found.stderr);
}

#[test]
fn an_export_says_what_it_wrote_and_holds_no_formula() {
    let sandbox = Sandbox::with_runs("[=1+1]\nioengine=null\nrw=read\nsize=1m\n");
    let found = sandbox.plimsoll_keeping(&["export", "one", "-o", "x.csv"]);
    assert_eq!((found.code, found.stdout.as_str()), (0, ""));
    assert!(found.stderr.starts_with("wrote x.csv ("), "{}", found.stderr);
    let table = std::fs::read_to_string(sandbox.path("x.csv")).unwrap();
    assert!(table.contains(",'=1+1,") && !table.contains(",=1+1,"), "{table}");
    let found =
        sandbox.plimsoll_keeping(&["export", "one", "two", "--format", "json", "-o", "all/"]);
    assert_eq!(found.stderr, "wrote 2 files into all/\n");
}

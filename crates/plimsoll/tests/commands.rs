//! The commands that run nothing.

#[allow(dead_code, clippy::print_stdout, reason = "it runs when the program is built")]
#[path = "../build.rs"]
mod build;
mod common;

use common::Sandbox;
use insta::assert_snapshot;

#[test]
fn no_arguments_say_what_to_try_first() {
    assert_snapshot!(Sandbox::new().plimsoll(&[]).success(), @r#"
    Plimsoll finds out how much I/O a disk, array or cloud volume carries.
    It runs the files of fio, Vdbench, Iometer and diskspd as they are, and says how
    far its figures can be trusted.

    Four commands to try first:

      plimsoll bench DIR        how much a folder's volume carries, in three minutes
      plimsoll curve DIR        the most I/O it carries with p99 < 10ms
      plimsoll check FILE.fio   what a job file means, and every mistake in it
      plimsoll run FILE.fio     run it: live progress, then a table of results

    plimsoll --help lists all commands; plimsoll explain bs explains a parameter.
    "#);
}

#[test]
fn the_version_says_what_was_built() {
    let sandbox = Sandbox::new();
    let first = format!("plimsoll {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(sandbox.plimsoll(&["-V"]).success(), format!("{first}\n"));
    let version = sandbox.plimsoll(&["--version"]);
    let lines: Vec<&str> = version.success().lines().collect();
    let words: Vec<_> = lines.iter().map(|line| line.split_once("  ")).collect();
    assert_eq!(lines[0], first);
    let names: Vec<_> = words[1..].iter().map(|it| it.expect("a name and more").0).collect();
    assert_eq!(names, ["commit", "target", "features", "compiler"], "{}", version.stdout);
    let said = |idx: usize| words[idx].expect("as above").1.trim();
    assert_ne!(said(1), "", "{}", version.stdout);
    let of_target = [std::env::consts::ARCH, std::env::consts::OS];
    assert!(of_target.iter().all(|part| said(2).contains(part)), "{}", version.stdout);
    assert_eq!(said(3).contains("unoptimised"), cfg!(debug_assertions), "{}", version.stdout);
    assert!(said(4).starts_with("rustc 1."), "{}", version.stdout);
}

#[test]
fn a_build_knows_its_commit_and_changes_since() {
    if !testing::has_program("git") {
        return;
    }
    let sandbox = Sandbox::new();
    let package = sandbox.path("crates/plimsoll");
    std::fs::create_dir_all(package.join("src")).expect("a folder");
    for name in ["Cargo.toml", "Cargo.lock", "crates/plimsoll/build.rs", "notes.txt"] {
        sandbox.write(name, "");
    }
    let git = |line: &str| {
        let mut command = sandbox.command(std::path::Path::new("git"));
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.invalid"]);
        common::outcome(command.args(line.split(' '))).success().trim().to_owned()
    };
    let from = || build::from_git(&package).expect("folders are read");
    // The sandbox lies in the repository of this program, if in any.
    assert_eq!(from(), "not known: built without its git repository");
    git("init --quiet");
    assert_eq!(from(), "not known: built without its git repository");
    git("add .");
    git("commit --quiet --no-gpg-sign -m first");
    let commit = git("rev-parse --short=12 HEAD");
    assert_eq!(from(), format!("{commit}, its sources unchanged"));
    // What the program is not made of is no change of it.
    sandbox.write("notes.txt", "more");
    assert_eq!(from(), format!("{commit}, its sources unchanged"));
    sandbox.write("crates/plimsoll/src/new.rs", "");
    assert_eq!(from(), format!("{commit}, with changes that are not in it"));
    git("add .");
    git("commit --quiet --no-gpg-sign -m second");
    git("checkout --quiet --detach");
    let second = git("rev-parse --short=12 HEAD");
    assert_eq!(from(), format!("{second}, its sources unchanged"));
    assert_ne!(commit, second);
}

/// The parser of the arguments alone takes more than such a stack has.
#[test]
fn a_small_stack_is_enough() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nioengine=null\nsize=1m\n");
    for args in ["--version", "run --help", "fio --version", "run --no-progress job.fio"] {
        let script = format!("ulimit -s 64 && exec \"$0\" {args}");
        let mut shell = sandbox.command(std::path::Path::new("sh"));
        let ended = shell.args(["-c", &script, env!("CARGO_BIN_EXE_plimsoll")]).output();
        let ended = ended.expect("there is a shell");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{args}: {:?}, {said}", ended.status);
    }
}

/// A run that Ctrl-C would end at once, and without a result, does not begin.
#[test]
fn nothing_is_measured_where_signals_cannot_be_heard() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nioengine=null\nsize=1m\n");
    let expected = "error: cannot listen to signals, so Ctrl-C would lose what is measured: Too \
                    many open files";
    for args in ["run --no-progress job.fio", "fio job.fio", "capture --for 1s --no-progress"] {
        // Room for one file at a time: a socket has two ends.
        let script =
            format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4 && exec \"$0\" {args}");
        let mut shell = sandbox.command(std::path::Path::new("sh"));
        let said = common::outcome(shell.args(["-c", &script, env!("CARGO_BIN_EXE_plimsoll")]));
        assert_eq!((said.code, &*said.stdout), (1, ""), "{args}: {}", said.stderr);
        assert!(said.stderr.starts_with(expected), "{args}: {}", said.stderr);
        assert!(said.stderr.contains("`ulimit -n`"), "{args}: {}", said.stderr);
    }
}

#[test]
fn help_lists_the_commands() {
    assert_snapshot!(Sandbox::new().plimsoll(&["--help"]).success());
}

#[test]
fn check_says_what_a_job_file_means() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "oltp.fio",
        "[global]\nioengine=io_uring\ndirect=1\nsize=4g\nruntime=600\ntime_based\nramp_time=5\n\
         directory=/mnt/a:/mnt/b\ngroup_reporting\n\
         [data]\ndescription=the tables\nrw=randrw:8\nrwmixread=70\nbssplit=8k/90:64k/10\n\
         iodepth=32\nnumjobs=4\nnrfiles=16\nrate_iops=1000,500\nrandom_distribution=zipf:1.2\n\
         [log]\nstonewall\nrw=write\nbs=16k\nfdatasync=1\nioengine=psync\nthinktime=2ms\n\
         [check]\nstonewall\nrw=randwrite\nbsrange=4k-64k\nverify=crc32c\nend_fsync=1\n\
         write_lat_log=check\nio_size=10%\noffset=1g\nloops=3\n",
    );
    assert_snapshot!(sandbox.plimsoll(&["check", "oltp.fio"]).success(), @r#"
    3 steps, 3 groups, 3 jobs, 6 workers

    step 1

      data (4 workers, group 0)
        targets   /mnt/a/data.0.0, 63 more like it
        job       description="the tables" n_workers=4
        files     directories=/mnt/a:/mnt/b n_files=16 size=4g direct
        access    access=randrw:8 block_size_split=8k/90:64k/10 read_pct=70
                  repeats_allowed distribution=zipf:1.2
        engine    engine=io_uring
        load      queue_depth=32 rate_iops=1000,500,500
        time      runtime=600s time_based ramp_time=5s
        results   group_reporting

    step 2

      log (group 1)
        targets   /mnt/a/log.0.0
        files     directories=/mnt/a:/mnt/b size=4g direct fdatasync_every=1
        access    access=write block_size_bytes=16k
        load      think_time=2ms
        time      runtime=600s time_based ramp_time=5s
        results   group_reporting

    step 3

      check (group 2)
        targets   /mnt/a/check.0.0
        files     directories=/mnt/a:/mnt/b size=4g offset=1g io_size=10% direct
                  end_fsync
        access    access=randwrite block_size_range=4k-64k
        engine    engine=io_uring
        time      runtime=600s time_based loops=3 ramp_time=5s
        verify    verify=crc32c
        results   group_reporting
        logs      latency_log=check

    All else is as usual: `plimsoll explain PARAMETER` says what that is.
    "#);
}

#[test]
fn check_prints_json() {
    let sandbox = Sandbox::new();
    sandbox.write("a.fio", "[a]\nsize=1m\nbs=4k,8k\nrw=randrw\niodeph=3\n");
    let outcome = sandbox.plimsoll(&["check", "a.fio", "--json"]);
    assert_eq!(outcome.code, 2);
    let page: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(page["schema"], "plimsoll.check/1");
    assert_eq!(page["findings"][0]["code"], "unknown-option");
    assert_eq!(page["findings"][0]["line"], 5);
    assert_eq!(page["findings"][0]["file"], "a.fio");
    let job = &page["steps"][0]["jobs"][0];
    assert_eq!(job["targets"][0], "a.0.0");
    let said = &job["parameters"];
    assert_eq!(
        said["block_size_bytes"],
        serde_json::json!({"read": 4096, "write": 8192, "trim": 8192})
    );
    assert_eq!(said["size"]["bytes"], 1 << 20);
    assert_eq!(said["access"], "randrw");
    assert_eq!(page["defaults"]["queue_depth"], 1);
    assert_eq!(said["queue_depth"], serde_json::Value::Null, "as usual");
}

#[test]
fn check_prints_as_json_what_no_parameter_says() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "plan.toml",
        "schema = \"plimsoll.plan/1\"\n\
         [[step]]\nname = \"a\"\npause = \"2s\"\n\
         exec_before = [\"sync\"]\nexec_after = [\"true\"]\n\
         amount_max.read = \"8192B\"\n\
         [[step.job]]\nname = \"a\"\n\
         [step.job.tree]\nanchor = \"t\"\ndepth = 1\nwidth = 2\nfiles = 3\nsizes = \"4096B\"\n\
         [[step.job.tree.task]]\noperation = \"read\"\nio = \"sequential\"\n\
         select = \"poisson 4\"\n\
         [[step]]\nrate_of = { step = 0, pct = 50 }\n\
         [[step.job]]\nname = \"b\"\nfile_names = \"f\"\nsize = \"1MiB\"\n",
    );
    let outcome = sandbox.plimsoll(&["check", "plan.toml", "--json"]);
    let page: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    let (first, second) = (&page["steps"][0], &page["steps"][1]);
    assert_eq!((&first["pause_ns"], &second["pause_ns"]), (&2_000_000_000_u64.into(), &NULL));
    assert_eq!(
        (&first["exec_before"][0], &first["exec_after"][0]),
        (&"sync".into(), &"true".into())
    );
    assert_eq!(first["amount_max"]["read_bytes"], 8192);
    assert_eq!((&first["rate_of"], &second["rate_of"]["pct"]), (&NULL, &50.0.into()));
    let tree = &first["jobs"][0]["tree"];
    assert_eq!((&tree["structure"]["files"], &tree["open"]["direct"]), (&3.into(), &false.into()));
    assert_eq!(tree["structure"]["sizes"]["bytes"], 4096);
    let task = &tree["tasks"][0];
    assert_eq!((&task["io"], &task["select"]), (&"sequential".into(), &"poisson 4".into()));
    assert_eq!(second["jobs"][0]["tree"], NULL);
}

const NULL: serde_json::Value = serde_json::Value::Null;

#[test]
fn explain_speaks_every_dialect() {
    let sandbox = Sandbox::new();
    let ours = sandbox.plimsoll(&["explain", "queue_depth"]);
    let fios = sandbox.plimsoll(&["explain", "iodepth"]);
    assert_eq!(ours.success(), fios.success());
    assert!(ours.stdout.starts_with("queue_depth: "), "{}", ours.stdout);
    // An option, an element of a profile, and words of a window in any case.
    for name in ["-o", "RequestCount", "# of outstanding I/Os", "number of outstanding IOs"] {
        assert_eq!(sandbox.plimsoll(&["explain", name]).success(), ours.stdout, "{name}");
    }
    let several = sandbox.plimsoll(&["explain", "-rs", "Access Specification", "-Sw", "-fr"]);
    for head in ["random_pct: ", "access: ", "sync: ", "fadvise: "] {
        assert!(several.success().contains(head), "{head}: {}", several.stdout);
    }
    assert_eq!(sandbox.plimsoll(&["explain", "--bs"]).code, 2);
    assert!(ours.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ours.stdout);
}

#[test]
fn explain_lists_every_parameter() {
    let sandbox = Sandbox::new();
    let list = sandbox.plimsoll(&["explain", "--all"]);
    let n_params = list.success().lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(n_params, plan::param::all().count());
}

#[test]
fn completion_knows_parameters() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.plimsoll(&["completion", shell]);
        assert!(script.success().contains("iodepth="), "{shell}");
    }
}

#[test]
fn the_reference_is_what_the_program_says() {
    let sandbox = Sandbox::new();
    sandbox.plimsoll(&["reference", "--dir", "."]).success();
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for page in ["parameters.md", "commands.md", "environment.md"] {
        let reported = std::fs::read_to_string(sandbox.path(page)).expect("it was written");
        let kept = std::fs::read_to_string(dir.join(page)).unwrap_or_default();
        let is_current = reported == kept;
        assert!(is_current, "run `cargo run -p plimsoll -- reference --dir docs/reference`");
    }
}

/// One for each command that the reference has, and what its help says is in it.
#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    let written = sandbox.plimsoll(&["man", "--dir", "."]);
    let mut written: Vec<&str> = written.success().lines().collect();
    let reference = sandbox.plimsoll(&["reference", "commands"]);
    let heads = reference.success().lines().filter_map(|line| line.strip_prefix("## "));
    let commands: Vec<&str> = heads.collect();
    let mut pages: Vec<String> =
        commands.iter().map(|command| format!("./{}.1", command.replace(' ', "-"))).collect();
    for (command, page) in commands.iter().zip(&pages) {
        let text = std::fs::read_to_string(sandbox.path(page)).expect("it was written");
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(sandbox.plimsoll(&[&["man"][..], &words].concat()).success(), text);
        let help = sandbox.plimsoll(&[&words[..], &["--help"]].concat());
        // The modes of other tools print the help of that tool.
        let is_ours = !["fio", "vdbench"].contains(words.first().unwrap_or(&""));
        for line in help.success().lines().filter(|_| is_ours) {
            let option = line.trim().split([' ', ',', '=', '[']).find(|it| it.starts_with("--"));
            let option = option.filter(|_| line.trim_start().starts_with('-'));
            let said = option.unwrap_or_default().replace('-', "\\-");
            assert!(text.contains(&said), "{page}: {line}");
        }
    }
    pages.sort_unstable();
    written.sort_unstable();
    assert_eq!(written, pages);
    let missing = sandbox.plimsoll(&["man", "suite", "nosuch"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("no command `plimsoll suite nosuch`"), "{}", missing.stderr);
}

/// The system's own reader has nothing to say against them, and breaks no example.
#[test]
fn manual_pages_are_shown_without_warnings() {
    if !testing::has_program("man") || !testing::has_program("groff") {
        return;
    }
    let sandbox = Sandbox::new();
    let written = sandbox.plimsoll(&["man", "--dir", "."]);
    let mut man = sandbox.command(std::path::Path::new("man"));
    man.args(["--warnings=w", "-E", "UTF-8", "-P", "cat", "-l"]).args(written.success().lines());
    let shown = common::outcome(man.env("MANWIDTH", "100").env("LC_ALL", "C.UTF-8"));
    assert_eq!(shown.stderr, "");
    for line in [
        "plimsoll-suite-show - ",
        "plimsoll man bench | man -l -",
        "ln -s $(which plimsoll) /usr/local/bin/fio",
        "3 measured but not to be trusted, 4 worse than allowed or a need is not met,",
    ] {
        assert!(shown.success().contains(line), "{line}: {}", shown.stdout);
    }
}

//! What a user sees of every kind of bad input.

mod common;

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::{Outcome, Sandbox, outcome};
use insta::assert_snapshot;

/// Runs a job file and returns what its user sees.
#[track_caller]
fn mistake(job: &str) -> String {
    Sandbox::new().run(job).mistake()
}

#[test]
fn an_unknown_option_names_the_nearest() {
    assert_snapshot!(mistake("[a]\nsize=1m\niodeph=8\n"), @r#"
    error[unknown-option]: unknown option `iodeph`
     --> job.fio:3:1
      |
    3 | iodeph=8
      | ^^^^^^
      |
      = help: did you mean `iodepth`?

    exit code 2
    "#);
}

#[test]
fn a_value_out_of_range_names_the_range() {
    assert_snapshot!(mistake("[a]\nsize=1m\nrwmixread=150\n"), @r#"
    error[bad-value]: value `150` of `rwmixread` is out of range: the largest is 100
     --> job.fio:3:11
      |
    3 | rwmixread=150
      |           ^^^
      |
      = help: the default is `rwmixread=50`

    exit code 2
    "#);
}

#[test]
fn a_value_in_a_wrong_unit_is_not_taken() {
    assert_snapshot!(mistake("[a]\nsize=1m\nbs=four\nruntime=2sec\n"), @r#"
    error[bad-value]: value `four` of `bs` is not valid: `four` is not a number
     --> job.fio:3:4
      |
    3 | bs=four
      |    ^^^^
      |
      = help: the default is `bs=4096`

    warning[odd-value]: value `2sec` of `runtime`: `sec` is not a time unit of fio,
                        so the number counts as microseconds
     --> job.fio:4:9
      |
    4 | runtime=2sec
      |         ^^^^

    exit code 2
    "#);
}

#[test]
fn a_queue_depth_of_zero_is_out_of_range() {
    assert_snapshot!(mistake("[a]\nsize=1m\nioengine=libaio\niodepth=0\n"), @r#"
    error[bad-value]: value `0` of `iodepth` is out of range: the smallest is 1
     --> job.fio:4:9
      |
    4 | iodepth=0
      |         ^
      |
      = help: the default is `iodepth=1`

    exit code 2
    "#);
}

#[test]
fn an_engine_that_is_not_built_in_names_the_nearest() {
    assert_snapshot!(mistake("[a]\nsize=1m\nioengine=rbd\n"), @r#"
    error[engine-not-available]: engine `rbd` (Ceph block device by its library) is
                                 not built in
     --> job.fio:3:10
      |
    3 | ioengine=rbd
      |          ^^^
      |
      = help: mount or map it with the kernel's client and use `io_uring`

    exit code 2
    "#);
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let job = "[global]\nnumjobs=none\n[a]\nsize=1m\nrw=randred\n[b]\niodeph=8\nbs=\n";
    assert_snapshot!(mistake(job), @r#"
    error[bad-value]: value `none` of `numjobs` is not valid: `none` is not a number
     --> job.fio:2:9
      |
    2 | numjobs=none
      |         ^^^^
      |
      = help: the default is `numjobs=1`

    error[bad-value]: value `randred` of `rw` is not known; expected one of read,
                      write, trim, randread, randwrite, randtrim, rw, randrw,
                      trimwrite, randtrimwrite
     --> job.fio:5:4
      |
    5 | rw=randred
      |    ^^^^^^^
      |
      = help: did you mean `randread` or `randrw`?
      = help: the default is `rw=read`

    error[unknown-option]: unknown option `iodeph`
     --> job.fio:7:1
      |
    7 | iodeph=8
      | ^^^^^^
      |
      = help: did you mean `iodepth`?

    error[bad-value]: value of `bs` is missing; write a whole number, or one each
                      for reads, writes and trims, such as `4k,64k,4k`
     --> job.fio:8:4
      |
    8 | bs=
      |    ^
      |
      = help: the default is `bs=4096`

    4 errors
    exit code 2
    "#);
}

#[test]
fn an_undefined_variable_is_not_taken_for_nothing() {
    assert_snapshot!(mistake("[a]\nsize=1m\nfilename=${PLIMSOLL_NO_SUCH}/f\n"), @r#"
    error[undefined-variable]: environment variable `PLIMSOLL_NO_SUCH` is not set;
                               it stands for nothing
     --> job.fio:3:10
      |
    3 | filename=${PLIMSOLL_NO_SUCH}/f
      |          ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: set it: `PLIMSOLL_NO_SUCH=... plimsoll ...`
      = help: one that shall be empty must be set, to nothing

    exit code 2
    "#);
}

#[test]
fn an_include_loop_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("other.fio", "include job.fio\n");
    assert_snapshot!(sandbox.run("[a]\ninclude other.fio\n").mistake(), @r#"
    error[include-loop]: include loop: job.fio -> other.fio -> job.fio
     --> other.fio:1:9
      |
    1 | include job.fio
      |         ^^^^^^^

    exit code 2
    "#);
}

#[test]
fn an_empty_file_has_no_job() {
    assert_snapshot!(mistake(""), @r#"
    warning[empty-file]: job file `job.fio` is empty
     --> job.fio:1:1
      |
    1 |
      | ^

    error[no-jobs]: no job is defined
     |
     = help: a job file defines one by `[name]`, a command line by `--name=NAME`

    exit code 2
    "#);
}

#[test]
fn a_binary_file_is_no_job_file() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", b"\x7fELF\x02\x01\x01\0\0\0[a]\n");
    assert_snapshot!(sandbox.plimsoll(&["run", "job.fio"]).mistake(), @r#"
    error[binary-file]: `job.fio` is not text: byte 0 is 0x7f
     |
     = help: name a fio job file: text with `[sections]` and `option=value` lines

    exit code 2
    "#);
}

#[test]
fn a_file_of_another_tool_is_reported() {
    assert_snapshot!(mistake("Version 1.1.0\n'TEST PLAN\n"), @r#"
    error[option-outside-section]: option `Version 1.1.0` stands before the first
                                   section
     --> job.fio:1:1
      |
    1 | Version 1.1.0
      | ^^^^^^^^^^^^^
      |
      = help: write `[global]` or a job's `[name]` above it

    error[option-outside-section]: option `'TEST PLAN` stands before the first
                                   section
     --> job.fio:2:1
      |
    2 | 'TEST PLAN
      | ^^^^^^^^^^
      |
      = help: write `[global]` or a job's `[name]` above it

    note[unknown-dialect]: `job.fio` does not look like a job file of fio
     |
     = help: a job file of fio has a `[section]` for each job, with `option=value`
             lines
     = help: a parameter file of Vdbench has `sd=` or `fsd=` and `rd=` lines
     = help: a test configuration of Iometer has `'TEST SETUP` and `'ACCESS
             SPECIFICATIONS`
     = help: a script that calls diskspd has a line such as `diskspd -b8K -d60
             FILE`
     = help: a plan of our own begins with `schema = "plimsoll.plan/1"`
     = help: a file of needs begins with `schema = "plimsoll.needs/1"`, or has a
             `[[phase]]`
     = help: `--dialect` names the language

    2 errors
    exit code 2
    "#);
}

#[test]
fn a_parameter_file_is_read_as_one_whatever_its_name() {
    assert_snapshot!(mistake("sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1\n"), @r#"
    error[unexpected-end]: unexpected end of the parameter file
     |
     = help: there must be a run definition (`rd=`) at the end

    exit code 2
    "#);
}

#[test]
fn a_missing_job_file_is_reported() {
    assert_snapshot!(Sandbox::new().plimsoll(&["run", "nosuch.fio"]).mistake(), @r#"
    error[file-unreadable]: cannot read job file `nosuch.fio`: no such file
     |
     = help: an argument that is no option and no option's value names a job file

    exit code 2
    "#);
}

#[test]
fn a_folder_is_no_job_file() {
    assert_snapshot!(Sandbox::new().plimsoll(&["run", "."]).mistake(), @r#"
    error[file-unreadable]: cannot read job file `.`: is a directory

    exit code 2
    "#);
}

#[test]
fn a_large_job_file_parses() {
    let mut job = "; a comment that is long enough to fill ten megabytes soon\n".repeat(180_000);
    job.push_str("[a]\nsize=1m\nioengine=null\n");
    assert!(job.len() > 10_000_000);
    let outcome = Sandbox::new().run(&job);
    outcome.success();
}

#[test]
fn a_large_file_of_mistakes_ends_in_few_words() {
    let job = format!("[a]\n{}", "no such option here\n".repeat(500_000));
    assert!(job.len() > 9_000_000);
    let outcome = Sandbox::new().run(&job);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.len() < 100_000, "{} bytes", outcome.stderr.len());
}

#[test]
fn a_missing_target_is_reported() {
    assert_snapshot!(mistake("[a]\nsize=1m\nfilename=data\nallow_file_create=0\n"), @r#"
    error[target-missing]: job `a` needs `data`, which does not exist
     |
     = help: check the name, or remove `allow_file_create=0` to let it be made

    exit code 2
    "#);
}

#[test]
fn a_missing_folder_is_reported() {
    assert_snapshot!(mistake("[a]\nsize=1m\ndirectory=nosuch\n"), @r#"
    error[target-unreadable]: cannot find `nosuch/a.0.0`: No such file or directory
     |
     = help: the directory `nosuch` does not exist: create it

    exit code 2
    "#);
}

#[test]
fn a_folder_is_no_target() {
    assert_snapshot!(mistake("[a]\nsize=1m\nfilename=.\n"), @r#"
    error[target-is-directory]: job `a` names `.`, which is a directory
     |
     = help: name a file, or set `directory=.` to make files in it

    exit code 2
    "#);
}

#[test]
fn a_target_without_size_is_reported() {
    assert_snapshot!(mistake("[a]\nrw=read\n"), @r#"
    error[size-unknown]: job `a` gives no size, and `a.0.0` does not exist or is
                         empty
     |
     = help: set `size=`, for example `size=1g`, or name an existing file or device

    exit code 2
    "#);
}

#[test]
fn a_size_below_one_block_is_reported() {
    assert_snapshot!(mistake("[a]\nsize=1k\nbs=4k\n"), @r#"
    error[size-too-small]: job `a` has a size of 1024 B, less than its smallest
                           block of 4096 B
     --> job.fio:2:6
      |
    2 | size=1k
      |      ^^
      |
      = help: raise `size` or lower `bs`

    exit code 2
    "#);
}

#[test]
fn direct_io_takes_whole_blocks_of_the_device_only() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run("[a]\nfilename=f\nsize=1m\nbs=1000\ndirect=1\n");
    // How large the device's blocks are is the device's own.
    assert!(outcome.stderr.contains("job `a` uses blocks of 1000 B"), "{}", outcome.stderr);
    assert_eq!(outcome.code, 2);
}

#[test]
fn a_file_system_that_refuses_direct_io_is_reported() {
    // Files of sysfs have a size, and take no direct I/O on any kernel.
    let target = "/sys/kernel/uevent_seqnum";
    let job = format!("[a]\nfilename={target}\nsize=4k\nrw=read\ndirect=1\n");
    assert_snapshot!(failure(&Sandbox::new().run(&job)), @r#"
    failed    cannot open `/sys/kernel/uevent_seqnum` for direct I/O: its file
              system refuses O_DIRECT; set `direct=0`, or name a directory on a
              disk (tmpfs is memory)
    "#);
}

/// Returns why a job failed that could start, as its user sees it.
#[track_caller]
fn failure(outcome: &Outcome) -> String {
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    let lines = outcome.stdout.lines().skip_while(|line| !line.starts_with("  failed "));
    let lines = lines.take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_size_beyond_the_device_is_reported() {
    let Some(device) = readable_block_device() else {
        testing::skipped!("no block device that this user may read");
        return;
    };
    let outcome = Sandbox::new().run(&format!("[a]\nfilename={device}\nsize=4000t\nrw=read\n"));
    let reported = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(reported.contains(&format!("but `{device}` holds")), "{reported}");
    assert_eq!(outcome.code, 2);
}

fn readable_block_device() -> Option<String> {
    let devices = std::fs::read_dir("/sys/block").ok()?;
    let size = |name: &str| std::fs::read_to_string(format!("/sys/block/{name}/size")).ok();
    let names = devices.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut sized = names.filter(|name| size(name).is_some_and(|size| size.trim() != "0"));
    let device = sized.find(|name| std::fs::File::open(format!("/dev/{name}")).is_ok())?;
    Some(format!("/dev/{device}"))
}

#[test]
fn a_target_without_permission_is_reported() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nfilename=data\nsize=1m\nrw=randwrite\n");
    sandbox.write("data", vec![0; 1 << 20]);
    let forbidden = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(sandbox.path("data"), forbidden).expect("the file is ours");
    let mut command = match as_unprivileged_user(&sandbox) {
        Some(command) => command,
        None if std::fs::File::open(sandbox.path("data")).is_err() => {
            sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")))
        }
        None => {
            testing::skipped!("this user may read everything, and cannot become another");
            return;
        }
    };
    let outcome = outcome(command.args(["run", "--no-progress", "job.fio"]));
    assert_snapshot!(failure(&outcome), @r#"
    failed    cannot open `data`: Permission denied; this user may not do that:
              change the permissions, or run as another user
    "#);
}

/// Returns a command of a user without rights, where this one may become such a user.
fn as_unprivileged_user(sandbox: &Sandbox) -> Option<Command> {
    let readable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("."), readable).ok()?;
    let program = sandbox.path("plimsoll");
    std::fs::copy(env!("CARGO_BIN_EXE_plimsoll"), &program).ok()?;
    let mut command = sandbox.command(&program);
    command.uid(65534).gid(65534);
    let works = command.arg("--version").output().is_ok_and(|output| output.status.success());
    works.then(|| {
        let mut command = sandbox.command(&program);
        command.uid(65534).gid(65534);
        command
    })
}

#[test]
fn a_job_runs_without_io_uring_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nfilename=f\nsize=64k\nioengine=io_uring\n");
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("PLIMSOLL_FORBID_URING", "1").args(["run", "--no-progress", "job.fio"]);
    let outcome = outcome(&mut command);
    let table = outcome.success();
    assert!(table.contains("libaio (in place of io_uring: "), "{table}");
}

#[test]
fn wrong_arguments_are_reported() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.plimsoll(&["run", "--remap", "x", "job.fio"]).mistake(), @r#"
    error: invalid value 'x' for '--remap <A=B>': write OLD=NEW, for example /mnt/data=./scratch

    For more information, try '--help'.
    exit code 2
    "#);
    assert_snapshot!(sandbox.plimsoll(&["explain", "iodeph"]).mistake(), @r#"
    error: unknown parameter `iodeph`

    hint: did you mean `iodepth`?
    exit code 2
    "#);
    assert_snapshot!(sandbox.plimsoll(&["rnu", "job.fio"]).mistake(), @r#"
    error: `plimsoll` has no command `rnu`

    hint: did you mean `run`?
    exit code 2
    "#);
}

#[test]
fn an_output_that_cannot_be_written_is_reported_before_the_run() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[a]\nsize=64k\nioengine=null\n");
    let outcome = sandbox.plimsoll(&["run", "job.fio", "--output", "nosuch/result.json"]);
    assert_snapshot!(outcome.mistake(), @r#"
    error: cannot write to `nosuch/result.json`: No such file or directory

    hint: make the folder, or name one that is there
    exit code 2
    "#);
}

#[test]
fn fio_mode_says_mistakes_with_fios_exit_code() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.fio(&["--name=a", "--size=1m", "--iodeph=8"]).mistake(), @r#"
    error[unknown-option]: unknown option `--iodeph`
     --> <command line>:1:20
      |
    1 | --name=a --size=1m --iodeph=8
      |                    ^^^^^^^^^^
      |
      = help: did you mean `--iodepth`?

    exit code 1
    "#);
    let args = ["--readonly", "--name=a", "--rw=write", "--size=4k"];
    assert_snapshot!(sandbox.fio(&args).mistake(), @r#"
    error[readonly]: job `a` writes or trims, but `--readonly` is given
     --> <command line>:1:26
      |
    1 | --readonly --name=a --rw=write --size=4k
      |                          ^^^^^
      |
      = help: leave `--readonly` out, or make the job read

    exit code 1
    "#);
    assert_snapshot!(sandbox.fio(&["nosuch.fio"]).mistake(), @r#"
    error[file-unreadable]: cannot read job file `nosuch.fio`: no such file
     |
     = help: an argument that is no option and no option's value names a job file

    exit code 1
    "#);
}

#[test]
fn too_many_workers_are_refused_before_they_take_memory() {
    assert_snapshot!(mistake("[crowd]\nsize=1m\nnumjobs=4000000000\n"), @r#"
    error[too-many-workers]: job `crowd` has 4000000000 workers, but a run takes
                             65536 at most
     |
     = help: lower `numjobs`, or split the jobs over several runs

    exit code 2
    "#);
}

/// Runs a job of these lines with no more than so many KiB of addresses.
fn within(limit_kib: u32, job: &str) -> Outcome {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", format!("[crowd]\nioengine=null\nnumber_ios=1\n{job}"));
    let run = format!("ulimit -v {limit_kib}; exec \"$0\" run --no-progress job.fio");
    let mut command = sandbox.command(Path::new("sh"));
    outcome(command.args(["-c", &run, env!("CARGO_BIN_EXE_plimsoll")]))
}

/// Numbers that ask for more memory than the process may have: refused, with what would take less.
#[test]
fn too_much_memory_is_refused_before_it_is_taken() {
    let check = |job: &str, what: &str, remedy: &str| {
        let outcome = within(3_000_000, job);
        let text = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((outcome.code, text.matches("error").count()), (1, 1), "{}", outcome.stderr);
        assert!(text.starts_with("error[not-enough-memory]: the plan takes about"), "{text}");
        assert!(text.contains(what) && text.contains("(raise `ulimit -v`)"), "{text}");
        assert!(text.ends_with(&format!("= help: {remedy}")), "{text}");
    };
    check("size=1m\nnumjobs=20000\n", "for 20000 workers of job `crowd`", "lower `numjobs`");
    check(
        "size=100g\nnrfiles=16000000\n",
        "for 16000000 files of job `crowd`",
        "lower `nrfiles` or `numjobs`",
    );
    check(
        "size=1g\niodepth=1000000\nbs=64k\n",
        "for 1000000 buffers of 65536 B of job `crowd`",
        "lower `iodepth`, `bs` or `numjobs`",
    );
}

/// Whatever little a process may have: it works, or says why not.
#[test]
fn a_process_short_of_memory_never_aborts() {
    for job in ["size=8g\nnrfiles=200000\nrw=randread\n", "size=1m\nnumjobs=300\n"] {
        // glibc and the start of a thread find nothing at some of them, when each thread may take
        // 64 MiB of addresses.
        for limit_kib in
            [60_000, 90_000, 120_000, 150_000, 200_000, 300_000, 500_000, 768_000, 816_000, 900_000]
        {
            let Outcome { code, stderr, .. } = within(limit_kib, job);
            let has_message = stderr.contains("error") && !stderr.contains("memory allocation of");
            let is_fine = [0, 3].contains(&code) || (code == 1 && has_message);
            // The loader itself may find no room, and says so.
            let is_started = !stderr.contains("error while loading shared libraries");
            assert!(is_fine || !is_started, "{limit_kib} KiB: {code}, {stderr}");
        }
    }
}

#[test]
fn files_of_other_tools_are_known_wherever_jobs_may_stand() {
    let sandbox = Sandbox::new();
    sandbox.write("a.icf", "Version 2006.07.27 \n'TEST SETUP ====\n");
    let commands = "diskspd.exe -b8K -d300 -w30 F:\\testfile.dat\n";
    sandbox.write("a.cmd", commands);
    let wide = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    sandbox.write("wide.icf", wide("Version 2006.07.27 \n'TEST SETUP ====\n"));
    sandbox.write("wide.cmd", wide(commands));
    sandbox.write("wide.fio", wide("[a]\nrw=read\nsize=1m\n"));
    sandbox.write("a.csv", "'Test Type,Test Description\n0,nightly\n");
    for (name, expected) in [
        ("a.icf", "configuration of Iometer"),
        ("a.csv", "result of Iometer"),
        ("a.cmd", "lines of diskspd"),
        ("wide.icf", "configuration of Iometer"),
        ("wide.cmd", "lines of diskspd"),
        ("wide.fio", "is text in UTF-16, not in UTF-8"),
    ] {
        let reported = |outcome: Outcome| {
            assert_eq!(outcome.code, 2, "{}", outcome.stdout);
            assert!(outcome.stderr.starts_with("error[foreign-file]"), "{}", outcome.stderr);
            assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
            assert_eq!(outcome.stderr.matches("error").count(), 1, "{}", outcome.stderr);
        };
        // Those of Iometer and of diskspd are run.
        let is_read = ["configuration of Iometer", "lines of diskspd"].contains(&expected);
        for command in ["check", "run", "curve"].into_iter().filter(|_| !is_read) {
            reported(sandbox.plimsoll(&[command, name]));
            let mut piped = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
            let text = File::open(sandbox.path(name)).expect("it was written");
            reported(outcome(piped.args([command, "-"]).stdin(text)));
        }
        let fio = sandbox.plimsoll(&["fio", name]);
        assert_eq!(fio.code, 1, "{}", fio.stdout);
        assert!(fio.stderr.contains(expected), "{}", fio.stderr);
        assert_eq!(fio.stderr.matches("error").count(), 1, "{}", fio.stderr);
        let vdbench = sandbox.plimsoll(&["vdbench", "-f", name]);
        let of_vdbench = if name == "wide.fio" { "it is UTF-16" } else { expected };
        let words: Vec<&str> = vdbench.stderr.split_whitespace().collect();
        assert_eq!(vdbench.code, 157, "{}", vdbench.stdout);
        assert!(words.join(" ").contains(of_vdbench), "{}", vdbench.stderr);
        for (command, wanted) in [
            (&["bench", ".", "--suite", name][..], ", not a suite"),
            (&["suite", "show", name], ", not a suite"),
            (&["limits", name], ", not a design"),
            (&["needs", name], ", not a file of needs"),
            (&["design", name], ", not a file of needs"),
            (&["import", name], ", not a result that is read"),
        ] {
            let refused = sandbox.plimsoll(command);
            assert_eq!(refused.code, 2, "{command:?}: {}", refused.stdout);
            assert!(refused.stderr.contains(expected), "{command:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(wanted), "{command:?}: {}", refused.stderr);
            let next = if is_read { "runs it" } else { "`plimsoll check" };
            assert!(refused.stderr.contains(next), "{command:?}: {}", refused.stderr);
        }
        if is_read {
            continue;
        }
        let measured = sandbox.plimsoll(&["bench", name]);
        assert_eq!(measured.code, 2, "{}", measured.stdout);
        let stderr = measured.stderr;
        assert!(stderr.starts_with("error: `") && stderr.contains(expected), "{stderr}");
        assert!(stderr.contains("`plimsoll bench` measures a folder, a device"), "{stderr}");
        assert!(stderr.contains("`plimsoll curve JOB`"), "{stderr}");
    }
}

#[test]
fn a_benchmark_of_a_job_file_or_design_says_what_to_write() {
    let sandbox = Sandbox::new();
    sandbox.write("a.fio", "[a]\nrw=read\nsize=1m\n");
    sandbox.write("a.toml", "[[volume]]\nmount = \"/m\"\ndisk = \"P30\"\n");
    for (name, hint) in [
        ("a.fio", "hint: `plimsoll curve a.fio` finds their load line"),
        ("a.toml", "hint: `plimsoll bench --on a.toml` measures its volume"),
    ] {
        let outcome = sandbox.plimsoll(&["bench", name]);
        assert_eq!(outcome.code, 2, "{}", outcome.stdout);
        assert!(outcome.stderr.contains(hint), "{}", outcome.stderr);
    }
}

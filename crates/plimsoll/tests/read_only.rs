//! `--readonly`: nothing is changed, whichever way the job came in.

mod common;
#[path = "common/iometer.rs"]
mod iometer;

use common::{Outcome, Sandbox};
use iometer::CONFIG;

/// Makes a file `data` of 13 bytes, runs the command, and checks that it is refused with this and
/// has changed nothing.
#[track_caller]
fn refused(expected: &str, code: i32, run: impl FnOnce(&Sandbox) -> Outcome) {
    let sandbox = Sandbox::new();
    sandbox.write("data", "thirteen byte");
    let outcome = run(&sandbox);
    let said = outcome.stdout + &outcome.stderr;
    assert!(said.contains(expected), "{said}");
    assert_eq!(outcome.code, code, "{said}");
    assert_eq!(std::fs::read(sandbox.path("data")).expect("it is there"), b"thirteen byte");
    for name in ["new", "new.f", "ran"] {
        assert!(!sandbox.path(name).exists(), "`{name}` was made");
    }
}

#[test]
fn fio_mode_deletes_extends_and_creates_nothing() {
    let fio = |args: &'static [&str]| {
        move |sandbox: &Sandbox| {
            let common = ["--readonly", "--name=x", "--rw=read", "--bs=4k"];
            sandbox.fio(&[&common, args].concat())
        }
    };
    let refuses = |expected, args| refused(expected, 1, fio(args));
    refuses("removes `data`", &["--ioengine=filedelete", "--filename=data", "--size=4k"]);
    refuses("removes `data`", &["--filename=data", "--unlink=1", "--size=4k", "--bs=1"]);
    refuses("creates `new`", &["--ioengine=filecreate", "--filename=new", "--size=4k"]);
    let in_words = "fio: refusing extend of file due to read-only\n";
    refuses(in_words, &["--filename=data", "--size=64k"]);
    refuses("extends `data` from 13 to 65536 B", &["--filename=data", "--size=64k"]);
    refuses(in_words, &["--filename=new", "--size=64k"]);
    refuses("makes `new`", &["--filename=new", "--size=64k", "--create_only=1"]);
    refuses("runs `touch ran`", &["--filename=data", "--bs=1", "--exec_prerun=touch ran"]);
    refuses("writes or trims", &["--filename=data", "--bs=1", "--rw=write"]);
}

/// What is written, not what the option says, is what must not be there.
#[test]
fn logs_replace_nothing_that_is_there() {
    let logs = "write_bw_log=lg\nwrite_lat_log=lg\nwrite_hist_log=lg\nwrite_iops_log=\n";
    let job = format!("[x]\nfilename=data\nrw=read\nbs=1\nnumjobs=2\n{logs}");
    for (settings, options, name) in [
        ("", "", "lg_bw.1.log"),
        ("", "", "lg_bw.2.log"),
        ("", "", "lg_slat.1.log"),
        ("", "", "lg_clat.2.log"),
        ("", "", "lg_lat.1.log"),
        ("", "", "lg_clat_hist.1.log"),
        ("", "", "x_iops.2.log"),
        ("log_store_compressed=1\n", "", "lg_bw.1.log.fz"),
        ("per_job_logs=0\n", "", "lg_bw.log"),
        ("", "--bandwidth-log", "agg-read_bw.log"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("data", "thirteen byte");
        sandbox.write("job.fio", format!("{job}{settings}"));
        sandbox.write(name, "precious");
        let options: Vec<&str> =
            [options, "job.fio"].into_iter().filter(|it| !it.is_empty()).collect();
        let mut outcomes = vec![sandbox.fio(&[&["--readonly"], &options[..]].concat())];
        if options.len() == 1 {
            outcomes.push(sandbox.plimsoll(&["run", "--readonly", "--no-progress", "job.fio"]));
        }
        for outcome in outcomes {
            let said = outcome.stdout + &outcome.stderr;
            assert_ne!(outcome.code, 0, "{name}: {said}");
            assert!(said.contains(&format!(" `{name}` ")), "{name}: {said}");
        }
        let there = std::fs::read(sandbox.path(name)).expect("it is there");
        assert_eq!(there, b"precious", "{name}");
    }
}

#[test]
fn results_replace_nothing_that_is_there() {
    let sandbox = Sandbox::new();
    sandbox.write("data", vec![b'x'; 2 << 20]);
    sandbox.write("job.fio", "[x]\nfilename=data\nrw=read\nbs=4k\nsize=64k\n");
    sandbox.write("result", "precious");
    let fio = sandbox.fio(&["--readonly", "--output=result", "job.fio"]);
    let mut found = vec![(fio, 1)];
    for args in [
        &["run", "job.fio", "--output", "result"][..],
        &["curve", "data", "--output", "result"],
        &["bench", "data", "--output", "result"],
        &["bench", "data", "--report", "result"],
    ] {
        found.push((sandbox.plimsoll(&[args, &["--readonly"]].concat()), 2));
    }
    for (outcome, code) in found {
        let mistake = outcome.mistake();
        let expected = "`result` is there already, and `--readonly` replaces nothing";
        assert!(mistake.contains(expected), "{mistake}");
        assert_eq!(outcome.code, code, "{mistake}");
    }
    let text = |name| std::fs::read_to_string(sandbox.path(name)).expect("it is there");
    assert_eq!(text("result"), "precious");
    // New ones are written, and so are empty ones, which `mktemp` makes.
    sandbox.write("empty", "");
    for name in ["new", "empty"] {
        sandbox.plimsoll(&["run", "job.fio", "--readonly", "--output", name]).success();
        assert!(text(name).contains("data"), "{}", text(name));
    }
}

#[test]
fn results_of_iometer_are_added_to_no_file_that_is_there() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("vol")).expect("a folder");
    sandbox.write("vol/iobw.tst", vec![b'x'; 1 << 20]);
    sandbox.write("config.icf", CONFIG);
    let row = "'Test Type,Test Description\n";
    sandbox.write("results.csv", row);
    // Of a run that is refused for what it would write, no file is made, either.
    for (results, expected) in [
        ("results.csv", "`results.csv` is there already, and `--readonly` adds nothing to it"),
        ("new.csv", "writes to `vol/iobw.tst`"),
    ] {
        let args = ["iometer", "config.icf", results, "--remap", "C:=vol", "--readonly"];
        let outcome = sandbox.plimsoll(&args);
        let mistake = outcome.mistake();
        assert!(mistake.contains(expected), "{mistake}");
        assert_eq!(outcome.code, 2, "{mistake}");
    }
    assert_eq!(std::fs::read(sandbox.path("results.csv")).expect("it is there"), row.as_bytes());
    assert!(!sandbox.path("new.csv").exists());
}

#[test]
fn earlier_results_of_vdbench_mode_stay() {
    let sandbox = Sandbox::new();
    let page = "<title>Vdbench out/summary.html</title>";
    std::fs::create_dir(sandbox.path("out")).expect("a folder");
    sandbox.write("out/summary.html", page);
    sandbox.write("p", "sd=a,lun=data,size=1m\nwd=w,sd=a\nrd=r,wd=w,iorate=max,elapsed=2\n");
    let mistake = sandbox.plimsoll(&["vdbench", "--readonly", "-f", "p", "-o", "out"]).mistake();
    let expected = "`out/summary.html` is there already, and `--readonly` removes nothing";
    assert!(mistake.contains(expected), "{mistake}");
    let there = std::fs::read_to_string(sandbox.path("out/summary.html")).expect("it is there");
    assert_eq!(there, page);
}

#[test]
fn a_monitored_file_is_neither_made_nor_emptied() {
    let sandbox = Sandbox::new();
    sandbox.write("data", vec![b'x'; 1 << 20]);
    sandbox.write(
        "p",
        "monitor=mon\nsd=a,lun=data,size=1m\nwd=w,sd=a,xfersize=4k,rdpct=100\n\
         rd=r,wd=w,iorate=50,elapsed=2,interval=1\n",
    );
    let run = |out| sandbox.plimsoll(&["vdbench", "--readonly", "-f", "p", "-o", out]);
    run("out").success();
    assert!(!sandbox.path("mon").exists());
    sandbox.write("mon", "end_rd\n");
    let refused = run("other");
    let mistake = refused.mistake();
    let expected = "monitor=`mon` cannot be watched: it asks for an end already, and `--readonly` \
                    empties nothing";
    assert!(mistake.contains(expected), "{mistake}");
    assert_eq!(refused.code, 157);
    assert_eq!(std::fs::read(sandbox.path("mon")).expect("it is there"), b"end_rd\n");
    assert!(!sandbox.path("other").exists());
}

#[test]
fn results_do_not_go_where_the_plan_measures() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("vol")).expect("a folder");
    sandbox.write("vol/data", vec![b'x'; 1 << 20]);
    sandbox.write("job.fio", "[x]\ndirectory=vol\nfilename=data\nrw=read\nbs=4k\nsize=64k\n");
    sandbox.write(
        "p",
        "fsd=f,anchor=vol,depth=1,width=1,files=1,size=4k\nfwd=w,fsd=f,operation=getattr\n\
         rd=r,fwd=w,fwdrate=max,format=no,elapsed=2,interval=1\n",
    );
    for (args, code) in [
        (&["run", "--readonly", "job.fio", "--output", "vol/result"][..], 2),
        (&["fio", "--readonly", "job.fio", "--output=vol/result"], 1),
        (&["vdbench", "--readonly", "-f", "p", "-o", "vol/result/of/today"], 157),
        (&["vdbench", "-s", "--readonly", "-f", "p", "-o", "vol/result"], 157),
    ] {
        let outcome = sandbox.plimsoll(args);
        let mistake = outcome.mistake();
        let expected = "would lie in a target, and `--readonly` writes nothing there";
        assert!(mistake.contains(expected), "{mistake}");
        assert_eq!(outcome.code, code, "{mistake}");
        assert!(!sandbox.path("vol/result").exists(), "{args:?}");
    }
}

#[test]
fn a_log_beside_a_file_of_its_prefix_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("data", "thirteen byte");
    sandbox.write("job.fio", "[x]\nfilename=data\nrw=read\nbs=1\nwrite_bw_log=data\n");
    let outcome = sandbox.fio(&["--readonly", "job.fio"]);
    outcome.success();
    assert!(sandbox.path("data_bw.1.log").exists());
}

#[test]
fn run_and_vdbench_mode_do_the_same() {
    let run = |job: &'static str| {
        move |sandbox: &Sandbox| {
            sandbox.write("job.fio", job);
            sandbox.plimsoll(&["run", "--readonly", "--no-progress", "job.fio"])
        }
    };
    refused("removes `data`", 2, run("[x]\nfilename=data\nrw=read\nbs=1\nunlink=1\n"));
    refused("extends `data`", 2, run("[x]\nfilename=data\nrw=read\nsize=64k\n"));
    let record = "[x]\nioengine=null\nrw=read\nsize=64k\nwrite_iolog=data\n";
    refused("adds to `data` what `write_iolog` writes", 2, run(record));
    refused(
        "runs `touch ran`",
        2,
        run("[x]\nfilename=data\nrw=read\nbs=1\nexec_prerun=touch ran\n"),
    );
    let vdbench = |text: &'static str| {
        move |sandbox: &Sandbox| {
            sandbox.write("p", text);
            sandbox.plimsoll(&["vdbench", "--readonly", "-f", "p", "-o", "out"])
        }
    };
    let sd = "sd=a,lun=data,size=12k\nwd=w,sd=a,xfersize=4k,rdpct=100\n\
              rd=r,wd=w,iorate=max,elapsed=2,interval=1\n";
    refused("writes to `data`", 157, vdbench(sd));
    refused("extends `data`", 157, vdbench(sd));
    let fsd = "fsd=f,anchor=new,depth=1,width=1,files=1,size=4k\nfwd=w,fsd=f,operation=read\n\
               rd=r,fwd=w,fwdrate=max,format=yes,elapsed=2,interval=1\n";
    refused("does `format` below", 157, vdbench(fsd));
}

#[test]
fn commands_of_a_fio_file_need_permission_but_in_fio_mode() {
    let sandbox = Sandbox::new();
    let job = "[x]\nfilename=data\nrw=write\nsize=4k\nexec_prerun=touch ran\n";
    let outcome = sandbox.run(job);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("job `x` runs a command: `touch ran`"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`--allow-commands`"), "{}", outcome.stderr);
    assert!(!sandbox.path("ran").exists() && !sandbox.path("data").exists());
    sandbox.plimsoll(&["run", "--allow-commands", "--no-progress", "job.fio"]).success();
    std::fs::remove_file(sandbox.path("ran")).expect("it ran");
    sandbox.fio(&["job.fio"]).success();
    assert!(sandbox.path("ran").exists());
}

/// Permission to write and its refusal are one mistake, of which nothing is run.
#[test]
fn options_that_contradict_it_are_refused() {
    for (command, other) in [
        ("bench", "--overwrite"),
        ("curve", "--overwrite"),
        ("run", "--overwrite-filesystem"),
        ("curve", "--allow-mounted-write"),
    ] {
        let found = Sandbox::new().plimsoll(&[command, "data", "--readonly", other]).mistake();
        assert!(found.contains("cannot be used with"), "{found}");
        assert!(found.contains("--readonly") && found.contains(other), "{found}");
        assert_eq!(found.matches("error").count(), 1, "{found}");
    }
    let args = ["vdbench", "-f", "p", "--readonly", "--overwrite-filesystem"];
    let found = Sandbox::new().plimsoll(&args).mistake();
    assert!(found.contains("`--readonly` cannot be used with `--overwrite-filesystem`"), "{found}");
}

/// A scratch folder that is made and removed leaves its trace in the time of the folder's last
/// change.
#[test]
fn a_search_and_a_suite_make_no_scratch_folder() {
    for command in ["curve", "bench"] {
        let sandbox = Sandbox::new();
        std::fs::create_dir(sandbox.path("volume")).expect("it is made");
        let changed = || {
            std::fs::metadata(sandbox.path("volume"))
                .expect("it is there")
                .modified()
                .expect("a time")
        };
        let before = changed();
        let outcome = sandbox.plimsoll(&[command, "volume", "--readonly"]);
        assert_eq!(outcome.code, 2, "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("has to be written before it is read"),
            "{}",
            outcome.stderr
        );
        assert_eq!(changed(), before, "{command}");
    }
}

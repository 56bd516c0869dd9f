//! The surroundings of workers: what the kernel shows of their threads, and what users see of
//! commands and of what they may not do.

use std::collections::BTreeMap;

use crate::bench::{Bench, n_ios};
use record::Outcome;
use runner::{Control, RunEvent, RunOptions};

/// Runs a job that waits, and returns what `look` makes of its threads, by their number.
fn threads<T>(bench: &Bench, job: &str, look: impl Fn(&str) -> T) -> BTreeMap<String, T> {
    let name = job.split(['[', ']']).nth(1).expect("a section").to_owned();
    let mut seen = BTreeMap::new();
    let control = Control::new();
    bench.run_with(job, &control, &mut |event| {
        if !matches!(event, RunEvent::Status(_)) {
            return;
        }
        for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
            let folder = task.path();
            let of = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
            if let Some(number) = of.trim().strip_prefix(&format!("{name}.")) {
                seen.insert(number.to_owned(), look(folder.to_str().unwrap()));
            }
        }
        control.request_stop();
    });
    seen
}

fn status(folder: &str, key: &str) -> String {
    let text = std::fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}:")));
    line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

const WAITS: &str = "ioengine=null\nsize=1g\nruntime=20\ntime_based\nthinktime=10ms\n";

#[test]
fn workers_run_on_the_cpus_given() {
    let n_cpus = std::thread::available_parallelism().unwrap().get();
    let cpus = |folder: &str| status(folder, "Cpus_allowed_list");
    let bench = Bench::new();
    let seen = threads(&bench, &format!("[one]\n{WAITS}cpus_allowed=0\n"), cpus);
    assert_eq!(seen["0"], "0");
    let seen = threads(&bench, &format!("[mask]\n{WAITS}cpumask=1\n"), cpus);
    assert_eq!(seen["0"], "0");
    let seen = threads(&bench, &format!("[node]\n{WAITS}numa_cpu_nodes=0\n"), cpus);
    assert!(seen["0"].starts_with('0'), "{seen:?}");
    if n_cpus < 2 {
        testing::skipped!("one CPU cannot be split");
        return;
    }
    let job = format!("[split]\n{WAITS}cpus_allowed=0-1\ncpus_allowed_policy=split\nnumjobs=3\n");
    let seen = threads(&bench, &job, cpus);
    assert_eq!(seen.values().collect::<Vec<_>>(), ["0", "1", "0"]);
}

#[test]
fn priorities_are_those_of_the_thread() {
    let bench = Bench::new();
    let nice = |folder: &str| {
        let stat = std::fs::read_to_string(format!("{folder}/stat")).unwrap_or_default();
        let words: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        words[16].parse::<i32>().unwrap()
    };
    let own = nice("/proc/self");
    let seen = threads(&bench, &format!("[nice]\n{WAITS}nice=5\n"), nice);
    assert_eq!(seen["0"], (own + 5).min(19));
    assert_eq!(nice("/proc/self"), own, "only the worker's thread");
    let priority = |folder: &str| {
        let tid: i64 = folder.rsplit('/').next().unwrap().parse().unwrap();
        // SAFETY: the call takes two numbers and no memory.
        unsafe { libc::syscall(libc::SYS_ioprio_get, 1, tid) }
    };
    let seen = threads(&bench, &format!("[idle]\n{WAITS}prioclass=3\n"), priority);
    assert_eq!(seen["0"], 3 << 13);
    let seen = threads(&bench, &format!("[level]\n{WAITS}prio=6\n"), priority);
    assert_eq!(seen["0"], 2 << 13 | 6);
    let seen = threads(&bench, &format!("[given]\n{WAITS}prio=0\n"), priority);
    assert_eq!(seen["0"], 2 << 13);
}

#[test]
fn memory_is_taken_by_the_policy() {
    let bench = Bench::new();
    let policy =
        |folder: &str| std::fs::read_to_string(format!("{folder}/numa_maps")).unwrap_or_default();
    let seen = threads(&bench, &format!("[numa]\n{WAITS}numa_mem_policy=bind:0\n"), policy);
    match seen.get("0") {
        Some(maps) if maps.is_empty() => testing::skipped!("this kernel has no memory nodes"),
        Some(maps) => assert!(maps.contains(" bind"), "{maps}"),
        None => testing::skipped!("this kernel has no memory nodes"),
    }
    let record = bench.run(&format!("[numa]\n{WAITS}numa_mem_policy=nearest:0\n"));
    let message = &record.jobs[0].error_message;
    assert!(message.contains("`nearest:0` is not a memory policy; write `default`"), "{message}");
}

#[test]
fn memory_is_locked() {
    let bench = Bench::new();
    let locked = |folder: &str| {
        status(folder, "VmLck").split(' ').next().unwrap().parse::<u64>().unwrap_or(0)
    };
    let job = format!("[lock]\n{WAITS}lockmem=4m\nnumjobs=2\n");
    let seen = threads(&bench, &job, locked);
    assert!(seen["0"] >= 8 << 10, "{seen:?}");
    let record = bench.run("[a]\nioengine=null\nsize=1m\nlockmem=1000t\n");
    let message = &record.jobs[0].error_message;
    assert!(message.contains("cannot lock") && message.contains("lower `lockmem`"), "{message}");
}

#[test]
fn commands_run_before_and_after() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run(
        "[a]\nfilename=@/f\nexec_prerun=echo to && echo and >&2\nexec_postrun=echo fro && false\n",
    );
    assert_eq!(record.outcome, Outcome::Complete);
    assert_eq!(std::fs::read_to_string(bench.path("a.prerun.txt")).unwrap(), "to\nand\n");
    assert_eq!(std::fs::read_to_string(bench.path("a.postrun.txt")).unwrap(), "fro\n");
    let note = record.notes.iter().find(|note| note.code == "after-job").expect("a note");
    assert!(note.message.contains("`echo fro && false` failed: exit status: 1"), "{note:?}");
}

#[test]
fn a_failing_command_keeps_its_job_from_starting_and_no_other() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nexec_prerun=exit 3\n[b]\nfilename=@/f\n");
    assert_eq!(record.outcome, Outcome::Failed);
    assert_eq!((n_ios(&record.jobs[0]), n_ios(&record.jobs[1])), (0, 16));
    let message = &record.jobs[0].error_message;
    assert!(message.contains("`exit 3` failed: exit status: 3"), "{message}");
    assert!(message.contains("a.prerun.txt"), "{message}");
}

#[test]
fn a_job_may_run_as_another_user() {
    if !rustix::process::geteuid().is_root() {
        testing::skipped!("only root may become another user");
        return;
    }
    let bench = Bench::new();
    let job = format!("[user]\n{WAITS}uid=65534\ngid=65534\n");
    let seen = threads(&bench, &job, |folder| (status(folder, "Uid"), status(folder, "Groups")));
    assert_eq!(seen["0"], ("65534 65534 65534 65534".to_owned(), String::new()));
    assert!(rustix::process::geteuid().is_root(), "only the worker's thread");
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nrw=write\nuid=65534\n[b]\nfilename=@/f\n");
    assert_eq!((record.jobs[0].error_errno, record.jobs[1].error_errno), (libc::EACCES, 0));
    let message = &record.jobs[0].error_message;
    assert!(message.contains("this user may not do that"), "{message}");
}

#[test]
fn an_io_scheduler_needs_a_device() {
    let bench = Bench::new();
    bench.file("f", 64);
    let record = bench.run("[a]\nfilename=@/f\nioscheduler=nonsense\n");
    let message = &record.jobs[0].error_message;
    assert!(message.contains("cannot set the I/O scheduler `nonsense`"), "{message}");
    assert!(message.contains("; "), "a next step: {message}");
}

#[test]
fn a_cpu_that_is_not_there_is_an_error_of_its_job() {
    let bench = Bench::new();
    let mut plan = bench.plan("[a]\nioengine=null\nsize=1m\ncpus_allowed=0\n");
    plan.jobs_mut().for_each(|job| job.process.cpus = vec![1023]);
    let record = runner::run(&plan, &RunOptions::default(), &Control::new(), &mut |_| {}).unwrap();
    let message = &record.jobs[0].error_message;
    assert!(message.contains("cannot run on the CPUs [1023]"), "{message}");
    assert!(message.contains("lscpu"), "{message}");
}

#[test]
fn a_command_before_a_job_ends_with_the_run() {
    let bench = Bench::new();
    bench.file("f", 64);
    let control = Control::new();
    let began = bench.path("began");
    let text =
        "[a]\nfilename=@/f\nexec_prerun=touch @/began && sleep 1000\nexec_postrun=touch @/behind\n";
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !began.exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            control.request_stop();
        });
        bench.run_with(text, &control, &mut |_| {})
    });
    assert_eq!(record.outcome, Outcome::Interrupted);
    let message = &record.jobs[0].error_message;
    assert!(message.contains("was ended, as the run was"), "{message}");
    assert!(!bench.exists("behind"), "nothing of the job was run");
}

#[test]
fn a_command_before_a_step_ends_with_the_run() {
    let bench = Bench::new();
    bench.file("f", 64);
    let mut plan = bench.plan("[a]\nfilename=@/f\n");
    plan.steps[0].exec_before =
        vec![format!("touch {}; sleep 1000", bench.path("began").display())];
    let control = Control::new();
    let began = bench.path("began");
    let options = RunOptions { allow_commands: true, ..RunOptions::default() };
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !began.exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            control.request_stop();
        });
        runner::run(&plan, &options, &control, &mut |_| {}).expect("it can run")
    });
    assert_eq!((record.outcome, record.jobs.len()), (Outcome::Interrupted, 0));
    assert!(record.notes.iter().any(|note| note.message.contains("it was ended, as the run was")));
}

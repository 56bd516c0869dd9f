//! Surroundings of workers (CPUs, memory nodes, priorities, commands) and what happens on errors.

use super::entry::{Param, Support, Value, ValueKind};
use super::error::ValueError;
use super::fields::{
    BASE, COUNT, Codec, Plain, Word, choice, choices, field, meaning, put, word, word_for, words,
};
use crate::errno::Errno;
use crate::job::CpuPolicy;
use crate::{Job, job_field};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "thread",
        fio: &["thread"],
        kind: ValueKind::Flag,
        short: "threads instead of processes",
        long: "In fio, workers are processes unless this is set.",
        support: Support::NoEffect("workers are always threads"),
        ..field!(process.thread)
    },
    Param {
        name: "cpus",
        fio: &["cpus_allowed"],
        diskspd: &["-a", "Affinity"],
        kind: ValueKind::NumberList,
        short: "CPUs to run on",
        long: "Pins workers to these CPUs: numbers and ranges separated by commas (`0,5,8-15`). \
               `cpu_policy` says who gets which.",
        ..field!(process.cpus)
    },
    Param {
        name: "cpu_mask",
        fio: &["cpumask"],
        kind: ValueKind::Int { min: 0, max: u32::MAX as i64 },
        short: "CPUs to run on, as a bit mask",
        long: "As `cpus`, for the CPUs 0 to 31: bit n stands for CPU n. The later of the two \
               wins.",
        // `cpus` says them.
        lower: |job, v| {
            let mask: u32 = v.int()?;
            job.process.cpus = (0..u32::BITS).filter(|cpu| mask & (1 << cpu) != 0).collect();
            Ok(())
        },
        field: Some(job_field!(process.cpus)),
        ..BASE
    },
    Param {
        name: "cpu_policy",
        fio: &["cpus_allowed_policy"],
        default: "shared",
        short: "which worker runs on which CPU",
        long: "`shared` lets every worker run on all the CPUs, `split` gives each worker one of \
               them, in turn.",
        ..choice!(process.cpu_policy, CPU_POLICIES)
    },
    Param {
        name: "numa_cpu_nodes",
        fio: &["numa_cpu_nodes"],
        kind: ValueKind::NumberList,
        short: "memory nodes whose CPUs to run on",
        long: "Pins workers to the CPUs of these NUMA nodes: numbers and ranges separated by \
               commas.",
        ..field!(process.numa_cpu_nodes)
    },
    Param {
        name: "numa_memory",
        fio: &["numa_mem_policy"],
        kind: ValueKind::Str,
        short: "memory nodes that buffers come from",
        long: "`default`, `prefer:NODE`, `bind:NODES`, `interleave:NODES` or `local`: where the \
               kernel takes the workers' memory from.",
        ..field!(process.numa_mem_policy)
    },
    Param {
        name: "nice",
        fio: &["nice"],
        kind: ValueKind::Int { min: -20, max: 19 },
        default: "0",
        short: "CPU priority, -20 is the highest",
        long: "Nice value of the workers. Negative values need privileges.",
        ..field!(process.nice)
    },
    Param {
        name: "io_priority",
        fio: &["prio"],
        kind: ValueKind::Int { min: 0, max: 7 },
        default: "0",
        short: "I/O priority within its class, 0 is the highest",
        long: "Applies to all I/O of the job and only matters to I/O schedulers that use it. \
               See `io_priority_class`.",
        lower: |job, v| {
            job.process.sets_io_priority = true;
            put::<Plain, _>(&mut job.process.io_priority, v)
        },
        get: |job| Plain::get(&job.process.io_priority).filter(|_| job.process.sets_io_priority),
        field: Some(job_field!(process.io_priority)),
        ..BASE
    },
    Param {
        name: "io_priority_class",
        fio: &["prioclass"],
        diskspd: &["-I", "IOPriority"],
        kind: ValueKind::Int { min: 0, max: 3 },
        default: "0",
        short: "I/O priority class",
        long: "1 is real time, which needs privileges, 2 best effort, 3 idle; 0 is best effort, \
               too, as there is no level without a class. Left out with level and hint, the \
               kernel's default stays.",
        lower: |job, v| {
            job.process.sets_io_priority = true;
            put::<Plain, _>(&mut job.process.io_priority_class, v)
        },
        get: |job| {
            Plain::get(&job.process.io_priority_class).filter(|_| job.process.io_priority_class > 0)
        },
        field: Some(job_field!(process.io_priority_class)),
        ..BASE
    },
    Param {
        name: "io_priority_hint",
        fio: &["priohint"],
        kind: ValueKind::Int { min: 0, max: 1023 },
        default: "0",
        short: "hint sent with the I/O priority",
        long: "Further bits of the priority, such as command duration limits. Needs Linux 6.5, \
               and a device that uses them.",
        lower: |job, v| {
            job.process.sets_io_priority = true;
            put::<Plain, _>(&mut job.process.io_priority_hint, v)
        },
        get: |job| {
            Plain::get(&job.process.io_priority_hint).filter(|_| job.process.io_priority_hint > 0)
        },
        field: Some(job_field!(process.io_priority_hint)),
        ..BASE
    },
    Param {
        name: "exec_before",
        fio: &["exec_prerun"],
        vdbench: "rd.startcmd",
        kind: ValueKind::Str,
        short: "shell command before the job",
        long: "Runs before the job starts and may take as long as it likes. Its output goes to \
               `JOB.prerun.txt`.",
        ..field!(process.exec_before)
    },
    Param {
        name: "exec_after",
        fio: &["exec_postrun"],
        vdbench: "rd.endcmd",
        kind: ValueKind::Str,
        short: "shell command after the job",
        long: "Runs after the job has ended. Its output goes to `JOB.postrun.txt`.",
        ..field!(process.exec_after)
    },
    Param {
        name: "user_id",
        fio: &["uid"],
        kind: COUNT,
        short: "user to run as",
        long: "Workers change to this user id before they open files. Needs privileges.",
        ..field!(process.uid)
    },
    Param {
        name: "group_id",
        fio: &["gid"],
        kind: COUNT,
        short: "group to run as",
        long: "Workers change to this group id before they open files. Needs privileges.",
        ..field!(process.gid)
    },
    Param {
        name: "io_scheduler",
        fio: &["ioscheduler"],
        kind: ValueKind::Str,
        short: "I/O scheduler to set on the devices",
        long: "Switches the devices below the targets to this scheduler (`none`, `mq-deadline`, \
               `bfq`) during the run. Needs privileges.",
        ..field!(process.io_scheduler)
    },
    Param {
        name: "control_group",
        fio: &["cgroup"],
        kind: ValueKind::Str,
        short: "control group to run in",
        long: "fio puts the job into this group of the first control group version.",
        support: Support::Later(
            "start the whole command in a group, for instance with \
                                  systemd-run",
        ),
        ..BASE
    },
    Param {
        name: "control_group_weight",
        fio: &["cgroup_weight"],
        kind: ValueKind::Int { min: 100, max: 1000 },
        short: "I/O weight of the control group",
        long: "Share of the group in the device's time.",
        support: Support::Later("set the weight with systemd-run -p IOWeight"),
        ..BASE
    },
    Param {
        name: "control_group_keep",
        fio: &["cgroup_nodelete"],
        kind: ValueKind::Bool,
        default: "0",
        short: "keep the control group after the job",
        long: "fio removes a group that it has made unless this is set.",
        support: Support::Hint("belongs to cgroup, which is not supported yet"),
        ..BASE
    },
];

pub(super) static ERRORS: &[Param] = &[
    Param {
        name: "continue_on_error",
        fio: &["continue_on_error"],
        kind: ValueKind::Enum(const { &choices(&CONTINUE) }),
        default: "none",
        short: "kinds of I/O that may fail without ending the job",
        long: "Counts failed I/O and goes on, for EIO and EILSEQ only: reads, writes, both \
               (`io`), failed verification, or all. Other errors, such as a full disk, still end \
               the job.",
        lower: |job, v| {
            let errors = &mut job.errors;
            (errors.continue_read, errors.continue_write, errors.continue_verify) =
                meaning(&CONTINUE, v)?;
            Ok(())
        },
        get: |job| {
            let errors = &job.errors;
            let which = (errors.continue_read, errors.continue_write, errors.continue_verify);
            word_for(&CONTINUE, &which)
        },
        field: Some(job_field!(errors.continue_read)),
        ..BASE
    },
    Param {
        name: "ignore_errors",
        fio: &["ignore_error"],
        kind: ValueKind::Str,
        short: "error numbers that are not errors",
        long: "Lists for reads, writes and verification, joined by colons, each of names or \
               numbers joined by commas: `EAGAIN,ENOSPC:122`. Such an I/O counts as done. An \
               empty list ignores nothing.",
        lower: lower_ignore_error,
        get: get_ignore_error,
        field: Some(job_field!(errors.ignored_errno)),
        ..BASE
    },
    Param {
        name: "error_dump",
        is_load: false,
        fio: &["error_dump"],
        kind: ValueKind::Bool,
        default: "0",
        short: "print each error that does not end the job",
        long: "With `continue_on_error` or `ignore_errors`: shows every one. The first few are \
               part of the results in any case.",
        ..field!(errors.dump)
    },
    Param {
        name: "exit_all_on_error",
        fio: &["exitall_on_error"],
        kind: ValueKind::Flag,
        short: "the first failing job ends all",
        long: "A job that ends with an error ends the whole run. Without it the others go on.",
        ..field!(errors.exit_all_on_error)
    },
    Param {
        name: "allow_mounted",
        is_load: false,
        fio: &["allow_mounted_write"],
        kind: ValueKind::Bool,
        default: "0",
        short: "permit writing to a mounted device",
        long: "Writing to a device that is mounted destroys its file system and is refused \
               unless this is set.",
        ..field!(safety.allow_mounted)
    },
    Param {
        name: "overwrite_filesystem",
        is_load: false,
        fio: &[],
        kind: ValueKind::Bool,
        default: "0",
        short: "permit writing over a partition table or file system",
        long: "Writing to a raw device that holds a partition table or a file system is refused \
               unless this is set, even when it is not mounted. fio has no such guard.",
        ..field!(safety.overwrite_filesystem)
    },
];

const CPU_POLICIES: [Word<CpuPolicy>; 2] = words!(CpuPolicy {
    Shared => ("shared", &[], "every worker on all CPUs"),
    Split => ("split", &[], "one CPU per worker, in turn"),
});

/// Which of reads, writes and verification may fail.
const CONTINUE: [Word<(bool, bool, bool)>; 6] = [
    word("none", &["0"], "every error ends the job", (false, false, false)),
    word("read", &[], "reads may fail", (true, false, false)),
    word("write", &[], "writes and trims may fail", (false, true, false)),
    word("io", &[], "reads, writes and trims may fail", (true, true, false)),
    word("verify", &[], "verification may fail", (false, false, true)),
    word("all", &["1"], "all of these may fail", (true, true, true)),
];

fn lower_ignore_error(job: &mut Job, value: &Value) -> Result<(), ValueError> {
    let text = value.text()?;
    let lists: Vec<&str> = text.split(':').collect();
    if lists.len() > job.errors.ignored_errno.len() {
        let parts = "lists: reads, writes, verification";
        return Err(ValueError::TooMany { parts, n_max: job.errors.ignored_errno.len() });
    }
    let mut ignored: [Vec<i32>; 3] = Default::default();
    for (slot, list) in ignored.iter_mut().zip(lists) {
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            slot.push(errno(word)?);
        }
    }
    job.errors.ignored_errno = ignored;
    Ok(())
}

fn get_ignore_error(job: &Job) -> Option<Value> {
    let list = |codes: &Vec<i32>| codes.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
    let lists = job.errors.ignored_errno.iter().map(list).collect::<Vec<_>>().join(":");
    let text = lists.trim_end_matches(':');
    (!text.is_empty()).then(|| Value::Str(text.to_owned()))
}

fn errno(word: &str) -> Result<i32, ValueError> {
    if let Some(errno) = Errno::of_name(word) {
        return Ok(errno.number);
    }
    match word.parse::<i32>() {
        Ok(code) if code > 0 => Ok(code),
        _ => Err(ValueError::unfit(
            &format!("`{word}`"),
            "an error",
            "its name (`EIO`) or its number",
        )),
    }
}

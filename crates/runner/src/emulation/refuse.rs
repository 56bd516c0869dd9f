//! What a job asks for that an emulated volume cannot do, or that means nothing there.
//!
//! Pure.

use std::collections::HashSet;

use plan::files::SyncMode;
use plan::op::OpKind;
use plan::tree::{Activity, TreeTask, TreeWork};
use plan::{Diagnostic, EngineWork, Job, Plan};

/// Returns what stands against the plan, each finding once.
pub(crate) fn of(plan: &Plan, is_virtual: bool) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let of_job = |job| {
        let always = [contents(job), engine(job, is_virtual), folder(job)];
        let in_virtual_time = [commands(job), surroundings(job)];
        always.into_iter().chain(in_virtual_time.into_iter().filter(move |_| is_virtual))
    };
    let mut findings: Vec<Diagnostic> = plan.jobs().flat_map(of_job).flatten().collect();
    findings.extend(page_cache(plan));
    findings.retain(|finding| seen.insert(finding.message.clone()));
    findings
}

/// Nothing that is written is kept, so there is nothing to verify.
fn contents(job: &Job) -> Option<Diagnostic> {
    job.verify.method.as_ref()?;
    let text = format!(
        "job `{}` verifies what it wrote, but the volume of `--on` keeps no data",
        job.name
    );
    Some(
        Diagnostic::error("emulated-no-data", text)
            .help("`plimsoll rehearse mount DESIGN FOLDER` keeps it: run the job on that folder")
            .help("or run without: `--set verify=0`"),
    )
}

/// Engines that do not read and write blocks of a volume.
fn engine(job: &Job, is_virtual: bool) -> Option<Diagnostic> {
    if let Some(work) = &job.tree {
        return tree(job, work, is_virtual);
    }
    let why = match job.engine.kind.traits().work {
        EngineWork::Nothing => "completes at once and never reaches a volume",
        EngineWork::MappedBytes => "works on the page cache, which is not emulated",
        EngineWork::Space(_) => "works on a file system, not on blocks",
        EngineWork::ServerBytes => "needs a server, and an emulated volume is not one",
        EngineWork::Names(_) => "works on whole files, and a volume has only blocks",
        EngineWork::Bytes => return None,
    };
    let text = format!("job `{}`: engine `{}` {why}", job.name, job.engine.name);
    Some(
        Diagnostic::error("emulated-engine", text)
            .help("use an engine that reads and writes, such as `libaio` or `psync`")
            .help("`plimsoll rehearse mount DESIGN FOLDER` has files: run the job on that folder"),
    )
}

/// Trees are kept as what is there of them, and each operation is its calls or I/Os.
fn tree(job: &Job, work: &TreeWork, is_virtual: bool) -> Option<Diagnostic> {
    let is_of_two = |task: &TreeTask| matches!(task.operation, OpKind::Copy | OpKind::Move);
    let is_of_two = match &work.activity {
        Activity::Operations(tasks) => tasks.iter().any(is_of_two),
        Activity::Format(_) => false,
    };
    let why = if !is_virtual {
        "works on a tree of files, which is emulated in virtual time only"
    } else if is_of_two {
        "copies or moves files, which is not emulated"
    } else {
        return None;
    };
    let finding = Diagnostic::error("emulated-engine", format!("job `{}` {why}", job.name));
    let finding = if is_virtual { finding } else { finding.help("add `--virtual`") };
    Some(
        finding
            .help("`plimsoll rehearse mount DESIGN FOLDER` has files: run the job on that folder"),
    )
}

/// What is in a folder of this host says nothing about a volume.
fn folder(job: &Job) -> Option<Diagnostic> {
    let folder = job.files.open_dir.as_ref()?;
    let text = format!(
        "job `{}` takes the files that are in `{folder}` (`opendir`), but nothing is on an \
         emulated volume yet",
        job.name
    );
    Some(
        Diagnostic::error("emulated-no-files", text)
            .help("name files, or set `directory` and `nrfiles`"),
    )
}

/// Commands of the host take real time, and the volume stands still meanwhile.
fn commands(job: &Job) -> Option<Diagnostic> {
    let given = [
        ("exec_prerun", job.process.exec_before.is_some()),
        ("exec_postrun", job.process.exec_after.is_some()),
    ];
    let (name, _) = given.into_iter().find(|(_, given)| *given)?;
    let text = format!(
        "job `{}` runs a command of this host (`{name}`), which virtual time cannot hold",
        job.name
    );
    Some(
        Diagnostic::error("virtual-command", text)
            .help(format!("remove it with `--set {name}=`, or run without `--virtual`")),
    )
}

/// Jobs that a note names; of the others it says how many there are.
const NAMED_MAX: usize = 3;

/// Buffered I/O mostly ends in the page cache, which is the host's and not the volume's. Noted once
/// for all jobs.
fn page_cache(plan: &Plan) -> Option<Diagnostic> {
    let is_buffered = |job: &&Job| {
        let of_tree = job.tree.as_ref().is_some_and(|work| work.open.direct || work.open.dsync);
        let is_through = of_tree || job.files.direct || job.files.sync != SyncMode::None;
        !is_through && !job.engine.kind.is_of_names()
    };
    let mut names: Vec<&str> =
        plan.jobs().filter(is_buffered).map(|job| job.name.as_str()).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(*name));
    let what = match names.as_slice() {
        [] => return None,
        [only] => format!("job `{only}` is"),
        several => {
            let n_named = several.len().min(NAMED_MAX);
            let mut words: Vec<String> =
                several[..n_named].iter().map(|name| format!("`{name}`")).collect();
            if several.len() > n_named {
                words.push(format!("{} more", several.len() - n_named));
            }
            let last = words.pop().unwrap_or_default();
            format!("jobs {} and {last} are", words.join(", "))
        }
    };
    let text = format!(
        "{what} buffered: the page cache is not emulated, every I/O goes to the volume as with \
         direct=1"
    );
    Some(Diagnostic::note("emulated-page-cache", text))
}

/// What concerns this host's threads and devices.
fn surroundings(job: &Job) -> Option<Diagnostic> {
    let process = &job.process;
    let given = [
        ("cpus_allowed", !process.cpus.is_empty()),
        ("numa_cpu_nodes", !process.numa_cpu_nodes.is_empty()),
        ("numa_mem_policy", process.numa_mem_policy.is_some()),
        ("nice", process.nice != 0),
        ("uid", process.uid.is_some()),
        ("gid", process.gid.is_some()),
        ("ioscheduler", process.io_scheduler.is_some()),
        ("pre_read", job.files.pre_read),
    ];
    let names: Vec<_> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    if names.is_empty() {
        return None;
    }
    let text = format!("job `{}`: {} means nothing in virtual time", job.name, names.join(" and "));
    Some(Diagnostic::warning("virtual-without-effect", text))
}

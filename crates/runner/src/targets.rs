//! What the plan's targets are on this host, and whether a job may touch them.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use engine::mounts::{KernelUse, Process, UnreadTable};
use engine::{
    ContentsKind, EngineError, FileInUse, FileKind, FileUse, TargetFacts, WriteRisk, devices,
};
use plan::{Diagnostic, Job, Plan, change};
use units::system_text;

use crate::bind::{self, BoundFile, BoundPlan};
use crate::control::Control;
use crate::exports;
use crate::facts::Facts;
use crate::findings::Findings;
use crate::folders::Folders;
use crate::options::RunOptions;
use crate::{outputs, tree};

/// Looks at every target of the plan, those that are changed first. A target that cannot be looked
/// at is a diagnostic, unless it only lacks a folder that the run may make. Not all are looked at
/// once the run is to end.
pub(crate) fn probe(
    plan: &Plan,
    options: &RunOptions,
    control: &Control,
) -> (Facts, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let here = || plan.jobs().filter(|job| !job.engine.kind.is_remote());
    let folders = Folders::of(here().flat_map(bind::job_paths), control);
    let mut facts = Facts::in_folders(folders);
    exports::probe(plan, control, &mut facts, &mut findings);
    let mut unknown: HashSet<PathBuf> = HashSet::new();
    // A job that only reads holds nothing: others may format or mount the device at this moment.
    for (changes, inspect) in [(true, engine::probe as fn(&Path) -> _), (false, engine::inspect)] {
        let jobs = here().filter(|job| change::changes_targets(job) == changes);
        let paths = jobs.flat_map(|job| bind::job_paths(job).map(move |path| (job, path)));
        for (job, path) in paths.take_while(|_| !control.is_stopped()) {
            if facts.get(&path).is_some() || unknown.contains(&path) {
                continue;
            }
            let error = match inspect(&path) {
                Ok(of_path) => {
                    facts.insert(path, of_path);
                    continue;
                }
                Err(error) => error,
            };
            let may_be_made = options.create_parents && may_make_parents(job);
            let is_made = may_be_made && lacks_only_parents(plan, &path, &error);
            if is_made && let Ok(above) = engine::probe(&below_nearest_folder(&path)) {
                facts.insert_with_folder(path.clone(), TargetFacts { path, ..above });
                continue;
            }
            if !is_made {
                let finding = Diagnostic::error("target-unreadable", error.to_string());
                let finding = match error.hint() {
                    Some(hint) => finding.help(hint),
                    None => finding,
                };
                findings.add_of_file(&job.name, finding);
                facts.note_unreadable(path.clone());
            }
            unknown.insert(path);
        }
    }
    (facts, findings.into_shown())
}

/// Returns whether missing folders above the files of a job may be made with them. A job that makes
/// one name per operation makes nothing else: fio's `filecreate` wants the folder to be there, too.
pub(crate) fn may_make_parents(job: &Job) -> bool {
    job.files.allow_create && !job.engine.kind.makes_names()
}

/// Returns a path that is missing in the nearest folder above a target that is there.
fn below_nearest_folder(path: &Path) -> PathBuf {
    let mut at = path;
    while let Some(folder) = at.parent() {
        if folder.as_os_str().is_empty() || folder.exists() {
            break;
        }
        at = folder;
    }
    at.to_owned()
}

/// Returns whether a target is missing together with folders above it. The folders that a job gives
/// as `directory` are not made: fio wants them to exist, too.
fn lacks_only_parents(plan: &Plan, path: &Path, error: &EngineError) -> bool {
    let EngineError::File { source, .. } = error else { return false };
    let mut directories = plan.jobs().flat_map(|job| &job.files.directories).map(Path::new);
    source.kind() == ErrorKind::NotFound
        && !directories.any(|directory| path.starts_with(directory) && !directory.is_dir())
}

/// Returns what forbids the bound plan to run here. Each target and reason once, however many
/// workers share it; not all of them once the run is to end.
pub(crate) fn check(
    bound: &BoundPlan,
    facts: &Facts,
    options: &RunOptions,
    control: &Control,
) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    findings.extend(check_records(bound, options, control));
    findings.extend(outputs::among_devices(bound, options));
    let in_use = engine::files_in_use();
    let dev = devices::file_system();
    for worker in bound.workers() {
        let job = worker.job.as_ref();
        if job.engine.kind.is_idle() {
            continue;
        }
        let trees = job.tree.iter().filter(|_| options.emulation.is_none());
        for finding in trees.flat_map(tree::among_devices) {
            findings.add_of_file(&job.name, finding);
        }
        for file in worker.files.iter().take_while(|_| !control.is_stopped()) {
            let Some(facts) = facts.get(&file.path) else { continue };
            let is_in_dev =
                file.path.parent() == Some(Path::new(devices::FOLDER)) || dev == Some(facts.device);
            let of_file = [
                check_risk(job, facts, options),
                check_file(job, facts, &in_use, options),
                check_alignment(job, file, facts),
                check_presence(job, file, is_in_dev),
                check_names(job, facts),
            ];
            for finding in of_file.into_iter().flatten() {
                findings.add_of_file(&job.name, finding);
            }
        }
    }
    findings.into_shown()
}

/// Refuses records of I/O (`write_iolog`) in the place of a target or of a block device: what that
/// holds would be lost. Other logs have names of their own.
fn check_records(bound: &BoundPlan, options: &RunOptions, control: &Control) -> Vec<Diagnostic> {
    let workers = || bound.workers();
    let named: HashSet<(&str, &str)> = workers()
        .filter_map(|worker| Some((&*worker.job.name, worker.job.logs.write_replay.as_deref()?)))
        .collect();
    let log_dir = options.log_dir.as_deref().unwrap_or(Path::new(""));
    let of_name = |(job, name): (&str, &str)| {
        let path = log_dir.join(name);
        let facts = std::fs::metadata(&path).ok();
        let is_device = facts.as_ref().is_some_and(|facts| facts.file_type().is_block_device());
        let is_target = |file: &BoundFile| {
            let of_target = std::fs::metadata(&file.path).ok();
            let id = |facts: &std::fs::Metadata| (facts.dev(), facts.ino());
            file.path == path || facts.as_ref().zip(of_target).is_some_and(|(a, b)| id(a) == id(&b))
        };
        // What there is of devices is a device.
        let is_file = facts.as_ref().is_none_or(std::fs::Metadata::is_file);
        let mut targets = workers().flat_map(|it| &it.files).take_while(|_| !control.is_stopped());
        let is_lost = is_device || is_file && targets.any(is_target);
        let what = if is_device { "a block device" } else { "a target" };
        is_lost.then(|| {
            let message = format!(
                "job `{job}` writes its record (`write_iolog`) to `{name}`, {what}, whose contents \
                 would be lost"
            );
            Diagnostic::error("record-on-target", message).help("name another file")
        })
    };
    named.into_iter().filter_map(of_name).collect()
}

/// Refuses to write where something would be destroyed.
pub(crate) fn check_risk(
    job: &Job,
    facts: &TargetFacts,
    options: &RunOptions,
) -> Option<Diagnostic> {
    if !change::changes_targets(job) {
        return None;
    }
    let may_be_in_use = job.safety.allow_mounted || options.allow_mounted;
    let risk = match facts.write_risk()? {
        WriteRisk::Stacked(_) | WriteRisk::MountsUnknown(_) if may_be_in_use => {
            facts.contents_risk()?
        }
        risk => risk,
    };
    let writes_to = format!("job `{}` writes to `{}`", job.name, facts.path.display());
    let may_be_lost = job.safety.overwrite_filesystem || options.overwrite_filesystem;
    match risk {
        WriteRisk::InUse(_) | WriteRisk::Held if may_be_in_use => None,
        WriteRisk::Contents(..) | WriteRisk::Unreadable { .. } if may_be_lost => None,
        WriteRisk::InUse(usage) => {
            Some(in_use(format!("{writes_to}, which is {usage}"), &remedy_of(usage)))
        }
        WriteRisk::Held => Some(held(&writes_to, facts)),
        WriteRisk::MountsUnknown(unread) => Some(mounts_unknown(&writes_to, unread)),
        WriteRisk::Stacked(above) => {
            let message =
                format!("{writes_to}, which is in use: `{}` lies over it", above.display());
            Some(in_use(message, "detach that device, or name another target"))
        }
        WriteRisk::Contents(name, kind) => {
            let message = format!("{writes_to}, which holds {}", contents_text(name, kind));
            Some(has_contents(message, "name another device: what is on this one would be lost"))
        }
        WriteRisk::Unreadable { offset, errno } => {
            let why = system_text(std::io::Error::from_raw_os_error(errno));
            let message = format!(
                "{writes_to}, but what that holds is not known: reading at byte {offset} gives: \
                 {why}"
            );
            Some(has_contents(message, "name another device: this one fails, or is locked"))
        }
    }
}

/// Returns how what a device or a file is in use for is ended.
fn remedy_of(usage: &KernelUse) -> String {
    match usage {
        KernelUse::Mounted(_) => "unmount it, or name another target".to_owned(),
        KernelUse::Swap(path) => format!("`swapoff {}`, or name another target", path.display()),
    }
}

/// Refuses to write to a file that is swap, or whose contents are in use by way of a loop device.
fn check_file(
    job: &Job,
    facts: &TargetFacts,
    in_use_now: &[FileInUse],
    options: &RunOptions,
) -> Option<Diagnostic> {
    let may_be_in_use = job.safety.allow_mounted || options.allow_mounted;
    let is_file = facts.kind == FileKind::Regular;
    if in_use_now.is_empty() || !is_file || may_be_in_use || !change::changes_targets(job) {
        return None;
    }
    let of_file = std::fs::metadata(&facts.path).ok()?;
    let found = in_use_now.iter().find(|it| it.id == (of_file.dev(), of_file.ino()))?;
    let writes_to = format!("job `{}` writes to `{}`", job.name, facts.path.display());
    Some(match &found.usage {
        FileUse::Itself(usage) => {
            in_use(format!("{writes_to}, which is {usage}"), &remedy_of(usage))
        }
        FileUse::ByLoop(usage) => {
            let message = format!("{writes_to}, which is {usage} by way of a loop device");
            in_use(message, &remedy_of(usage))
        }
        FileUse::Stacked(above) => {
            let above = above.display();
            let message =
                format!("{writes_to}, which is in use: `{above}` lies over its loop device");
            in_use(message, "detach that device, or name another target")
        }
        FileUse::Unknown(unread) => {
            mounts_unknown(&format!("{writes_to}, which a loop device lies over"), unread)
        }
    })
}

/// Reports that a target may be mounted, since the kernel's tables cannot be read.
fn mounts_unknown(writes_to: &str, UnreadTable { path, errno }: &UnreadTable) -> Diagnostic {
    let why = system_text(std::io::Error::from_raw_os_error(*errno));
    let message = format!(
        "{writes_to}, but whether that is mounted is not known: reading `{}` gives: {why}",
        path.display()
    );
    let remedy = "make /proc readable (`mount -t proc proc /proc`), or run where it is";
    in_use(message, remedy)
}

/// Returns what a device holds, in words for a reader who does not know the format.
fn contents_text(name: &str, kind: ContentsKind) -> String {
    match kind {
        ContentsKind::FileSystem => format!("a file system: {name}"),
        ContentsKind::Array => format!("{name}: it is a part of an array"),
        ContentsKind::Volume => format!("{name}: it is a part of volumes or replicas"),
        ContentsKind::Crypto => format!("{name}: data behind a key or checksums"),
        // Their names say it.
        ContentsKind::Partitions | ContentsKind::Other => name.to_owned(),
    }
}

fn has_contents(message: String, remedy: &str) -> Diagnostic {
    Diagnostic::error("target-has-contents", message)
        .help(remedy)
        .help("to overwrite it anyway, pass `--overwrite-filesystem`")
}

/// Names who holds a device, where that shows.
fn held(writes_to: &str, facts: &TargetFacts) -> Diagnostic {
    let users = engine::device_users(facts.device);
    let is_ours = |user: &&Process| OUR_NAMES.contains(&user.name.as_str());
    if let Some(Process { pid, .. }) = users.iter().find(is_ours) {
        let message = format!("{writes_to}, which another run (process {pid}) works on");
        return in_use(message, "wait until that has ended, or put the jobs of both into one run");
    }
    let message = match users.first() {
        Some(Process { pid, name }) => {
            format!("{writes_to}, which another program holds (`{name}`, process {pid})")
        }
        None => format!("{writes_to}, which another program holds"),
    };
    in_use(message, "release it, or name another target")
}

/// Names that this program runs under.
const OUR_NAMES: [&str; 3] = ["plimsoll", "fio", "vdbench"];

fn in_use(message: String, remedy: &str) -> Diagnostic {
    Diagnostic::error("target-mounted", message).help(remedy).help(
        "to overwrite it anyway, pass `--allow-mounted-write` or set `allow_mounted_write=1` on \
         the job",
    )
}

/// Direct I/O must fit the device's blocks.
fn check_alignment(job: &Job, file: &BoundFile, facts: &TargetFacts) -> Option<Diagnostic> {
    if !job.files.direct || job.engine.kind.is_of_names() {
        return None;
    }
    let align_bytes = facts.direct.map_or(facts.logical_block_bytes, |align| align.offset_bytes);
    let align_bytes = u64::from(align_bytes.max(1));
    let (name, path) = (&job.name, file.path.display());
    let block_bytes = u64::from(job.block_size_min());
    if !block_bytes.is_multiple_of(align_bytes) {
        let message = format!(
            "job `{name}` uses blocks of {block_bytes} B, which direct I/O to `{path}` cannot \
             take: its blocks are {align_bytes} B"
        );
        return Some(
            Diagnostic::error("block-size-unaligned", message)
                .help(format!("use a multiple of {align_bytes}, or `direct=0`")),
        );
    }
    if !file.region.offset_bytes.is_multiple_of(align_bytes) {
        let offset = file.region.offset_bytes;
        let message = format!(
            "job `{name}` starts at byte {offset} of `{path}`, whose blocks are {align_bytes} B"
        );
        return Some(
            Diagnostic::error("offset-unaligned", message)
                .help(format!("use an `offset` that is a multiple of {align_bytes}")),
        );
    }
    None
}

/// A target that must be there and is not: a file of a device's name would be made in memory.
fn check_presence(job: &Job, file: &BoundFile, is_in_dev: bool) -> Option<Diagnostic> {
    let (name, path) = (&job.name, file.path.display());
    if file.kind != FileKind::Missing {
        return None;
    }
    if is_in_dev {
        let message = format!("job `{name}` needs `{path}`, and there is no such device");
        let finding = Diagnostic::error("target-missing", message);
        return Some(finding.help("see what there is with `lsblk`"));
    }
    if job.files.allow_create {
        return None;
    }
    let message = format!("job `{name}` needs `{path}`, which does not exist");
    Some(
        Diagnostic::error("target-missing", message)
            .help("check the name, or remove `allow_file_create=0` to let it be made"),
    )
}

/// The name of a device is no file that a job may make or remove.
fn check_names(job: &Job, facts: &TargetFacts) -> Option<Diagnostic> {
    let is_device = matches!(facts.kind, FileKind::Block | FileKind::Character);
    if !is_device || !job.engine.kind.is_of_names() {
        return None;
    }
    let (name, engine, path) = (&job.name, &job.engine.name, facts.path.display());
    let message = format!(
        "job `{name}` works on names of files (`ioengine={engine}`), and `{path}` is a device"
    );
    Some(Diagnostic::error("target-is-device", message).help("name a file, or another engine"))
}

#[cfg(test)]
mod tests {
    use engine::Contents;
    use engine::mounts::MountPoint;
    use plan::Step;
    use plan::workload::Access;

    use super::*;

    const DEVICE: &str = "/dev/made-up";

    /// An empty block device that is not in use.
    fn device() -> TargetFacts {
        TargetFacts {
            path: PathBuf::from(DEVICE),
            kind: FileKind::Block,
            size_bytes: 1 << 30,
            allocated_bytes: 0,
            written_bytes: 0,
            logical_block_bytes: 512,
            direct: None,
            discards: false,
            read_only: false,
            free_bytes: None,
            uses: Vec::new(),
            unread: None,
            stacked: Vec::new(),
            is_held: false,
            contents: Contents::Nothing,
            device: (8, 16),
        }
    }

    fn mounted() -> TargetFacts {
        // The kernel holds what is mounted, and the file system shows, too.
        let uses = vec![KernelUse::Mounted(MountPoint::here("/data"))];
        TargetFacts { uses, is_held: true, ..with_contents() }
    }

    fn swap() -> TargetFacts {
        let uses = vec![KernelUse::Swap(PathBuf::from("/dev/made-up2"))];
        TargetFacts { uses, is_held: true, ..device() }
    }

    fn held() -> TargetFacts {
        TargetFacts { is_held: true, ..device() }
    }

    fn stacked() -> TargetFacts {
        TargetFacts { stacked: vec![PathBuf::from("/dev/loop7")], ..device() }
    }

    fn with_contents() -> TargetFacts {
        let contents = Contents::Known { name: "XFS", kind: ContentsKind::FileSystem };
        TargetFacts { contents, ..device() }
    }

    fn unreadable() -> TargetFacts {
        let contents = Contents::Unreadable { offset: 4096, errno: libc::EIO };
        TargetFacts { contents, ..device() }
    }

    fn writes() -> Job {
        let mut job = Job { name: "oltp".to_owned(), ..Job::default() };
        job.files.names = vec![DEVICE.to_owned()];
        job.workload.access = Access { read: false, write: true, ..job.workload.access };
        job
    }

    /// Returns what is said of a run of this job on a target like that.
    fn said(job: Job, facts: TargetFacts, options: &RunOptions) -> Vec<String> {
        let plan =
            Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() };
        let facts = Facts::from_iter([(PathBuf::from(DEVICE), facts)]);
        let (bound, unbound) = bind::bind(&plan, &facts, 0, &Control::new());
        assert_eq!(unbound, []);
        let line = |it: Diagnostic| format!("{} {}", it.code, it.message);
        check(&bound, &facts, options, &Control::new()).into_iter().map(line).collect()
    }

    const MOUNTED: &str =
        "target-mounted job `oltp` writes to `/dev/made-up`, which is mounted at `/data`";
    const SWAP: &str =
        "target-mounted job `oltp` writes to `/dev/made-up`, which is in use as swap";
    const HELD: &str =
        "target-mounted job `oltp` writes to `/dev/made-up`, which another program holds";
    const STACKED: &str = "target-mounted job `oltp` writes to `/dev/made-up`, which is in use: \
                           `/dev/loop7` lies over it";
    const CONTENTS: &str =
        "target-has-contents job `oltp` writes to `/dev/made-up`, which holds a file system: XFS";
    const UNREADABLE: &str = "target-has-contents job `oltp` writes to `/dev/made-up`, but what \
                              that holds is not known: reading at byte 4096 gives: Input/output \
                              error";

    #[test]
    fn a_device_in_use_or_with_contents_is_refused() {
        let options = RunOptions::default();
        assert_eq!(said(writes(), mounted(), &options), [MOUNTED]);
        assert_eq!(said(writes(), swap(), &options), [SWAP]);
        assert_eq!(said(writes(), held(), &options), [HELD]);
        assert_eq!(said(writes(), stacked(), &options), [STACKED]);
        assert_eq!(said(writes(), with_contents(), &options), [CONTENTS]);
        assert_eq!(said(writes(), unreadable(), &options), [UNREADABLE]);
        let mut trims = writes();
        trims.workload.access = Access { write: false, trim: true, ..trims.workload.access };
        assert_eq!(said(trims, mounted(), &options), [MOUNTED]);
    }

    #[test]
    fn swap_is_ended_by_the_name_that_the_kernel_has_for_it() {
        let refused = check_risk(&writes(), &swap(), &RunOptions::default()).expect("it is swap");
        assert_eq!(refused.help[0], "`swapoff /dev/made-up2`, or name another target");
    }

    #[test]
    fn only_the_permission_for_it_lets_a_device_be_written() {
        let mounts = RunOptions { allow_mounted: true, ..RunOptions::default() };
        let contents = RunOptions { overwrite_filesystem: true, ..RunOptions::default() };
        let nothing: [&str; 0] = [];
        for facts in [mounted(), swap(), held(), stacked()] {
            assert_eq!(said(writes(), facts.clone(), &mounts), nothing);
            assert_eq!(said(writes(), facts.clone(), &contents).len(), 1);
            let mut job = writes();
            job.safety.allow_mounted = true;
            assert_eq!(said(job, facts, &RunOptions::default()), nothing);
        }
        assert_eq!(said(writes(), with_contents(), &contents), nothing);
        assert_eq!(said(writes(), unreadable(), &contents), nothing);
        assert_eq!(said(writes(), unreadable(), &mounts), [UNREADABLE]);
        assert_eq!(said(writes(), with_contents(), &mounts), [CONTENTS]);
        let both = TargetFacts { stacked: stacked().stacked, ..with_contents() };
        assert_eq!(said(writes(), both.clone(), &RunOptions::default()), [STACKED]);
        assert_eq!(said(writes(), both, &mounts), [CONTENTS]);
        let mut job = writes();
        job.safety.overwrite_filesystem = true;
        assert_eq!(said(job, with_contents(), &RunOptions::default()), nothing);
    }

    #[test]
    fn reading_and_empty_devices_need_no_permission() {
        let nothing: [&str; 0] = [];
        let options = RunOptions::default();
        assert_eq!(said(writes(), device(), &options), nothing);
        for facts in [mounted(), swap(), held(), stacked(), with_contents(), unreadable()] {
            let mut job = writes();
            job.workload.access = Access { read: true, write: false, ..job.workload.access };
            assert_eq!(said(job, facts, &options), nothing);
        }
    }

    #[test]
    fn a_device_that_is_not_there_is_not_made_as_a_file() {
        let missing = TargetFacts { kind: FileKind::Missing, size_bytes: 0, ..device() };
        let mut job = writes();
        job.files.size = Some(plan::files::Size::Bytes(1 << 20));
        assert_eq!(
            said(job, missing, &RunOptions::default()),
            ["target-missing job `oltp` needs `/dev/made-up`, and there is no such device"]
        );
    }

    #[test]
    fn the_name_of_a_device_is_not_removed() {
        let mut job = writes();
        job.engine.kind = plan::EngineKind::Names(plan::NameOp::FileDelete);
        job.engine.name = "filedelete".to_owned();
        assert_eq!(
            said(job, device(), &RunOptions::default()),
            ["target-is-device job `oltp` works on names of files (`ioengine=filedelete`), and \
              `/dev/made-up` is a device"]
        );
    }

    /// Returns first byte and length of what a job in blocks of 8 KiB uses of a target.
    fn region_of(spares: bool, offset_bytes: u64, facts: TargetFacts) -> (u64, u64) {
        let mut job = writes();
        job.workload.block_size = plan::PerDir::all(plan::workload::BlockSize::Fixed(8192));
        job.files.spares_first_block = spares;
        job.files.offset = plan::files::Size::Bytes(offset_bytes);
        let plan =
            Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() };
        let facts = Facts::from_iter([(PathBuf::from(DEVICE), facts)]);
        let (bound, unbound) = bind::bind(&plan, &facts, 0, &Control::new());
        assert_eq!(unbound, []);
        let region = bound.steps[0].workers[0].files[0].region;
        (region.offset_bytes, region.len_bytes)
    }

    #[test]
    fn the_first_block_of_a_device_is_spared_where_asked() {
        let gib = 1 << 30;
        let file = || TargetFacts { kind: FileKind::Regular, ..device() };
        assert_eq!(region_of(false, 0, device()), (0, gib));
        assert_eq!(region_of(true, 0, device()), (8192, gib - 8192));
        assert_eq!(region_of(true, 4096, device()), (8192, gib - 8192));
        assert_eq!(region_of(true, 16_384, device()), (16_384, gib - 16_384));
        assert_eq!(region_of(true, 0, file()), (0, gib));
    }
}

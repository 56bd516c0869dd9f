//! A tree below a temporary folder, and steps on it.

use std::path::{Path, PathBuf};

use plan::op::OpKind;
use plan::tree::{
    Activity, FileIo, FileSizes, Format, Mixing, TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::workload::{Access, BlockSize};
use plan::{Job, PerDir, Plan, Step};
use record::{JobRecord, Record};
use runner::{Control, RunError, RunOptions};

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) spec: TreeSpec,
}

/// What lies below an anchor: folders, files, and the bytes of all files; not the control file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnDisk {
    pub(crate) n_folders: usize,
    pub(crate) n_files: usize,
    pub(crate) bytes: u64,
}

pub(crate) const FORMAT: Format =
    Format { clean: true, create: true, folders_only: false, block_bytes: 4096 };

impl Bench {
    /// Makes a bench with the tree of the real Vdbench's run: 6 folders, 32 files.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spec = TreeSpec {
            name: "fsd1".into(),
            anchor: dir.path().join("root").display().to_string(),
            depth: 2,
            width: 2,
            files: 8,
            sizes: FileSizes::Split(vec![(8192, 50.0), (16_384, 50.0)]),
            ..TreeSpec::default()
        };
        Bench { dir, spec }
    }

    pub(crate) fn anchor(&self) -> PathBuf {
        PathBuf::from(&self.spec.anchor)
    }

    pub(crate) fn job(&self, name: &str, n_workers: u32, activity: Activity) -> Job {
        let mut job = Job { name: name.into(), n_workers, ..Job::default() };
        job.workload.access = Access { write: true, random: true, ..Access::READ };
        job.workload.block_size = PerDir::all(BlockSize::Fixed(4096));
        job.reporting.group_reporting = true;
        job.errors.exit_all_on_error = true;
        job.tree = Some(TreeWork {
            tree: self.spec.clone(),
            target: None,
            open: TreeOpen::default(),
            activity,
            mixing: Mixing::default(),
        });
        job
    }

    /// Makes a job of one task with two workers that ends after `n_ios` operations in all.
    pub(crate) fn task(&self, task: TreeTask, n_ios: u64) -> Job {
        let mut job = self.job(task.operation.name(), 2, Activity::Operations(vec![task]));
        job.limits.n_ios_max = Some(n_ios / 2);
        job
    }

    pub(crate) fn format(&self, format: Format) -> Record {
        self.run(vec![self.job("format", 3, Activity::Format(format))])
    }

    pub(crate) fn run(&self, jobs: Vec<Job>) -> Record {
        assert!(self.dir.path().is_dir(), "the folder lives as long as the bench");
        run(jobs).unwrap()
    }

    pub(crate) fn on_disk(&self) -> OnDisk {
        on_disk(&self.anchor())
    }
}

pub(crate) fn plan(jobs: Vec<Job>) -> Plan {
    let group = |(idx, job): (usize, Job)| Job { group_id: idx as u32, ..job };
    let jobs = jobs.into_iter().enumerate().map(group).collect();
    Plan { steps: vec![Step { jobs, ..Step::default() }], ..Plan::default() }
}

pub(crate) fn run(jobs: Vec<Job>) -> Result<Record, RunError> {
    runner::run(&plan(jobs), &RunOptions::default(), &Control::new(), &mut |_| {})
}

pub(crate) fn on_disk(anchor: &Path) -> OnDisk {
    let mut all = OnDisk { n_folders: 0, n_files: 0, bytes: 0 };
    for entry in std::fs::read_dir(anchor).unwrap() {
        let entry = entry.unwrap();
        let facts = std::fs::symlink_metadata(entry.path()).unwrap();
        if facts.is_dir() {
            let below = on_disk(&entry.path());
            all.n_folders += 1 + below.n_folders;
            all.n_files += below.n_files;
            all.bytes += below.bytes;
        } else if entry.file_name() != "vdb_control.file" {
            all.n_files += 1;
            all.bytes += facts.len();
        }
    }
    all
}

/// Returns how many operations of a kind a job completed.
#[track_caller]
pub(crate) fn n_done(job: &JobRecord, kind: OpKind) -> u64 {
    let series = job.series.iter().filter(|series| series.op == kind.name());
    series.map(|series| series.n_ios).sum()
}

/// Fails unless a job ended without error.
#[track_caller]
pub(crate) fn fine(record: &Record) -> &JobRecord {
    for job in &record.jobs {
        assert_eq!((job.error_errno, job.error_message.as_str()), (0, ""), "{}", job.name);
    }
    &record.jobs[0]
}

pub(crate) fn task(operation: OpKind) -> TreeTask {
    TreeTask { operation, ..TreeTask::default() }
}

pub(crate) fn sequential(operation: OpKind) -> TreeTask {
    TreeTask { io: FileIo::Sequential { nonzero: false, delete: false }, ..task(operation) }
}

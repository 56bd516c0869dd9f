//! Runs job files on designs made for a test.

use std::sync::Arc;

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::fio::parse_text;
use plan::{Diagnostic, Plan};
use record::{JobRecord, Record};
use runner::{Control, DesignChange, EmulatedTime, Emulation, RunError, RunEvent, RunOptions};
use volume::design::{
    Backing, Disk, Latency, Merging, Stripe, Vm, Volume, VolumeBuild, WriteCosts,
};
use volume::{CacheMode, Cap, Design, Limit};

const GIB: u64 = 1 << 30;

#[track_caller]
pub(crate) fn plan(text: &str) -> Plan {
    let parsed = parse_text("test.fio", text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.plan
}

pub(crate) fn cap(iops: u64, bytes_per_s: u64) -> Cap {
    let limit = |per_s| Some(Limit { per_s, burst: None, origin: "a test".to_owned() });
    Cap { iops: limit(iops), bytes: limit(bytes_per_s) }
}

/// Equal P30 disks (5,000 IOPS, 200 MiB/s, 256 KiB per I/O) with a constant latency of 1 ms.
pub(crate) fn p30(mount: &str, n_disks: usize, cache: CacheMode) -> Volume {
    let disk = Disk {
        sku: "P30".to_owned(),
        cap: cap(5000, 200 << 20),
        write_iops: None,
        write_costs: WriteCosts::default(),
        io_unit_bytes: Some(256 << 10),
        merging: Merging::None,
        size_bytes: 1024 * GIB,
        cache,
    };
    let stripe = Stripe {
        disks: vec![disk; n_disks],
        chunk_bytes: 64 << 10,
        columns: n_disks as u32,
        is_local: false,
        has_machine_base: false,
    };
    Volume {
        mount: mount.to_owned(),
        capacity_bytes: n_disks as u64 * 1024 * GIB,
        backing: Backing::Disks(stripe),
        latency: Latency { mean_ns: 1_000_000, spread: 0.0 },
        cache_latency: Latency { mean_ns: 100_000, spread: 0.0 },
        build: VolumeBuild::default(),
    }
}

pub(crate) fn design(vm: Option<Vm>, volumes: Vec<Volume>) -> Design {
    Design {
        name: "a test".to_owned(),
        edition: "2018".to_owned(),
        catalog: volume::design::Catalog::built_in().clone(),
        cloud: None,
        region: None,
        vm,
        volumes,
        clients: Vec::new(),
        pools: Vec::new(),
        promises: Vec::new(),
        seed: 1,
        mb_bytes: volume::design::MB_BYTES_DEFAULT,
        bucket_window_ns: volume::design::BUCKET_WINDOW_NS_DEFAULT,
    }
}

/// One P30 without a machine before it.
pub(crate) fn one_p30() -> Design {
    design(None, vec![p30("/mnt/p30", 1, CacheMode::None)])
}

/// The machine of the documents' example: DS14.
pub(crate) fn ds14() -> Vm {
    Vm {
        size: "DS14".to_owned(),
        uncached: cap(51_200, 524_288_000),
        cached: cap(64_000, 524_288_000),
        cache_bytes: Some(576 * GIB),
        max_data_disks: Some(32),
        ..Vm::default()
    }
}

/// How a test runs a plan.
pub(crate) struct Bench {
    pub(crate) design: Design,
    pub(crate) is_warm: bool,
    pub(crate) time: EmulatedTime,
    pub(crate) changes: Vec<DesignChange>,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(design: Design) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Bench { design, is_warm: false, time: EmulatedTime::Virtual, changes: Vec::new(), folder }
    }

    pub(crate) fn warm(design: Design) -> Self {
        Bench { is_warm: true, ..Bench::new(design) }
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn try_run(&self, text: &str) -> Result<Record, RunError> {
        self.try_plan(&plan(text), |_| {})
    }

    /// Runs a plan, with what `change` changes of the options.
    pub(crate) fn try_plan(
        &self,
        plan: &Plan,
        change: impl FnOnce(&mut RunOptions),
    ) -> Result<Record, RunError> {
        self.try_plan_with(plan, change, &Control::new(), &mut |_| {})
    }

    /// The same, steered from outside.
    pub(crate) fn try_plan_with(
        &self,
        plan: &Plan,
        change: impl FnOnce(&mut RunOptions),
        control: &Control,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Record, RunError> {
        let emulation = Emulation {
            design: Arc::new(self.design.clone()),
            design_hash: "0".to_owned(),
            is_warm: self.is_warm,
            time: self.time,
            changes: self.changes.clone(),
            notes: Vec::new(),
        };
        let mut options = RunOptions {
            emulation: Some(emulation),
            aux_dir: Some(self.folder.path().to_owned()),
            log_dir: Some(self.folder.path().to_owned()),
            ..RunOptions::default()
        };
        change(&mut options);
        runner::run(plan, &options, control, on_event)
    }

    #[track_caller]
    pub(crate) fn run(&self, text: &str) -> Record {
        self.try_run(text).expect("it can run")
    }

    /// Returns why a job file is refused: the errors, as `code: message`.
    #[track_caller]
    pub(crate) fn refusal(&self, text: &str) -> Vec<String> {
        match self.try_run(text) {
            Err(RunError::Refused { findings, .. }) => {
                let is_error = |finding: &&Diagnostic| finding.severity == plan::Severity::Error;
                let errors = findings.iter().filter(is_error);
                errors.map(|finding| format!("{}: {}", finding.code, finding.message)).collect()
            }
            Ok(record) => panic!("it ran: {:?}", record.outcome),
        }
    }
}

/// I/Os per second of a job in all directions.
pub(crate) fn iops(job: &JobRecord) -> f64 {
    job.dirs.iter().map(|(_, dir)| dir.rate_iops()).sum()
}

/// Checks that a figure is within a share of what it should be.
#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, share: f64) {
    let off = (found - expected).abs();
    assert!(off <= expected * share, "{what}: {found:.3}, expected {expected} within {share}");
}

//! A mounted volume for tests.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serve::backing::Backing as Folder;
use serve::machine::{Machine, MachineOptions};
use serve::mount::{self, CacheInvalidator, Mount, MountError, UnmountError};
use tempfile::TempDir;
use volume::design::{
    Backing, Disk, Latency, Merging, Stripe, Vm, Volume, VolumeBuild, WriteCosts,
};
use volume::{CacheMode, Cap, Design, Limit};

/// A limit without bursting.
pub(crate) fn limit(per_s: u64) -> Limit {
    Limit { per_s, burst: None, origin: "test".to_owned() }
}

/// A volume of one disk.
pub(crate) fn disk(iops: u64, bytes_per_s: u64, capacity_bytes: u64, cache: CacheMode) -> Volume {
    let disk = Disk {
        sku: "test".to_owned(),
        cap: Cap { iops: Some(limit(iops)), bytes: Some(limit(bytes_per_s)) },
        io_unit_bytes: Some(256 << 10),
        write_iops: None,
        write_costs: WriteCosts::default(),
        merging: Merging::None,
        size_bytes: capacity_bytes,
        cache,
    };
    Volume {
        mount: "/data".to_owned(),
        capacity_bytes,
        backing: Backing::Disks(Stripe {
            disks: vec![disk],
            chunk_bytes: 64 << 10,
            columns: 1,
            is_local: false,
            has_machine_base: false,
        }),
        latency: Latency { mean_ns: 100_000, spread: 0.0 },
        cache_latency: Latency { mean_ns: 20_000, spread: 0.0 },
        build: VolumeBuild::default(),
    }
}

/// A machine with volumes, and caps of its own that are out of the way.
pub(crate) fn design(volumes: Vec<Volume>) -> Design {
    let wide = Cap { iops: Some(limit(1_000_000)), bytes: Some(limit(10 << 30)) };
    Design {
        name: "test".to_owned(),
        edition: "current".to_owned(),
        catalog: volume::design::Catalog::built_in().clone(),
        cloud: None,
        region: None,
        vm: Some(Vm {
            size: "test".to_owned(),
            uncached: wide.clone(),
            cached: wide,
            cached_write: None,
            cache_bytes: Some(1 << 30),
            egress: None,
            max_data_disks: None,
            interface: None,
        }),
        volumes,
        clients: Vec::new(),
        pools: Vec::new(),
        promises: Vec::new(),
        seed: 1,
        mb_bytes: volume::design::MB_BYTES_DEFAULT,
        bucket_window_ns: volume::design::BUCKET_WINDOW_NS_DEFAULT,
    }
}

/// A disk that is nowhere in the way of a test.
pub(crate) fn fast(capacity_bytes: u64, cache: CacheMode) -> Design {
    design(vec![disk(100_000, 4 << 30, capacity_bytes, cache)])
}

/// A machine, mounted. Unmounted when dropped.
pub(crate) struct Mounted {
    pub(crate) machine: Arc<Machine>,
    pub(crate) forgetter: CacheInvalidator,
    mount: Option<Mount>,
    folder: Arc<TempDir>,
}

impl Mounted {
    /// Mounts a design over a new backing; says why it cannot.
    pub(crate) fn new(design: Design) -> Option<Self> {
        Self::over(design, Arc::new(tempfile::tempdir().expect("a folder")))
    }

    /// Mounts a design over the backing of another.
    pub(crate) fn over(design: Design, folder: Arc<TempDir>) -> Option<Self> {
        let backing = Folder::open(&folder.path().join("backing")).expect("a backing");
        let options =
            MachineOptions { design_text: String::new(), design, only: None, is_cache_warm: false };
        let machine = Machine::start(options, backing).expect("a machine");
        let point = folder.path().join("mnt");
        std::fs::create_dir_all(&point).expect("a mount point");
        match mount::mount(&machine, &point) {
            Ok(mount) => {
                let forgetter = mount.forgetter();
                Some(Mounted { machine, forgetter, mount: Some(mount), folder })
            }
            Err(error @ (MountError::NoFuse | MountError::Denied(_) | MountError::NoHelper)) => {
                testing::skipped!("{error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The mount point.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mnt")
    }

    /// The folder of backing and mount point, to mount again.
    pub(crate) fn folder(&self) -> Arc<TempDir> {
        Arc::clone(&self.folder)
    }

    /// A path below the mount point.
    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let mut unmounted = mount::unmount(&self.path(), std::thread::panicking());
        // A program that another test starts holds all open files until it is really begun.
        for _ in 0..200 {
            if !matches!(unmounted, Err(UnmountError::Busy { .. })) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            unmounted = mount::unmount(&self.path(), std::thread::panicking());
        }
        assert!(unmounted.is_ok() || std::thread::panicking(), "{unmounted:?}");
        if let Some(mount) = self.mount.take() {
            let ended = mount.wait();
            assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
        }
    }
}

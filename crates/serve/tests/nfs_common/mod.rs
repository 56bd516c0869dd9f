//! Exports in this process, of volumes made for the test.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod raw;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serve::backing::Backing;
use serve::machine::{Machine, MachineOptions};
use serve::nfs::{Export, RootAccess};
use tempfile::TempDir;
use volume::design::{
    Backing as Medium, Ceiling, Client, Design, Latency, Limit, NetworkVolume, Pool, Volume,
    VolumeBuild,
};

/// Where the only volume of most tests is mounted.
pub(crate) const MOUNT: &str = "/mnt/anf";

/// More than any test reaches, per second.
pub(crate) const PLENTY: u64 = 100_000_000_000;

pub(crate) fn limit(per_s: u64) -> Limit {
    Limit { per_s, burst: None, origin: "the test".to_owned() }
}

pub(crate) fn volume(mount: &str, bytes_per_s: u64, iops: Option<u64>) -> Volume {
    Volume {
        mount: mount.to_owned(),
        capacity_bytes: 1 << 30,
        backing: Medium::Network(NetworkVolume {
            level: "Premium".to_owned(),
            quota: Some(limit(bytes_per_s)),
            ceiling: Ceiling { read_iops: iops, write_iops: iops, ..Ceiling::default() },
            pool: None,
            transfer_bytes: 256 << 10,
        }),
        latency: Latency { mean_ns: 100_000, spread: 0.0 },
        cache_latency: Latency { mean_ns: 0, spread: 0.0 },
        build: VolumeBuild::default(),
    }
}

pub(crate) fn client(connections: u16, slots_per_connection: u16) -> Client {
    let name = "the test".to_owned();
    Client { name, connections, slots_per_connection, ..Client::default() }
}

pub(crate) fn design(volumes: Vec<Volume>, clients: Vec<Client>, pools: Vec<Pool>) -> Design {
    Design {
        name: "test".to_owned(),
        edition: "current".to_owned(),
        catalog: volume::design::Catalog::built_in().clone(),
        cloud: None,
        region: None,
        vm: None,
        volumes,
        clients,
        pools,
        promises: Vec::new(),
        seed: 1,
        mb_bytes: volume::design::MB_BYTES_DEFAULT,
        bucket_window_ns: volume::design::BUCKET_WINDOW_NS_DEFAULT,
    }
}

/// A volume without caps that a test would reach.
pub(crate) fn free_volume() -> Design {
    design(vec![volume(MOUNT, PLENTY, None)], vec![client(16, 128)], Vec::new())
}

/// A machine over a folder of its own.
pub(crate) struct Served {
    pub(crate) export: Export,
    pub(crate) machine: Arc<Machine>,
    pub(crate) scratch: TempDir,
}

impl Served {
    pub(crate) fn start(design: Design) -> Served {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        Served::over(design, scratch)
    }

    /// Serves the data of another.
    pub(crate) fn over(design: Design, scratch: TempDir) -> Served {
        Served::trusting(design, scratch, RootAccess::Root)
    }

    /// Serves to clients whose users are taken for who they say, or not.
    pub(crate) fn trusting(design: Design, scratch: TempDir, trust: RootAccess) -> Served {
        let backing = Backing::open(&scratch.path().join("backing")).expect("a backing");
        let options =
            MachineOptions { design_text: String::new(), design, only: None, is_cache_warm: false };
        let machine = Machine::start(options, backing).expect("a machine");
        let export = Export::start(Arc::clone(&machine), anywhere(), trust).expect("an export");
        Served { export, machine, scratch }
    }

    pub(crate) fn port(&self) -> u16 {
        self.export.address().port()
    }

    /// Returns the address of a mount path for our engine.
    pub(crate) fn url(&self, mount: &str) -> String {
        format!("nfs://127.0.0.1:{}{mount}", self.port())
    }
}

pub(crate) fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

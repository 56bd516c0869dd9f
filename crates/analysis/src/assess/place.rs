//! Checks of what lies between the load and the media: caches, mounts, the network.

use record::{EmulationRecord, JobRecord, PlaceRecord};

use super::{NOTHING_MEASURED, Rules, Step};
use crate::gate::{Gate, GateName};
use crate::gates::{
    CacheSize, FootprintInputs, PageCacheInputs, SocketInputs, footprint, mount_remarks,
    page_cache, shared_disk, socket_buffers,
};

impl Step<'_> {
    /// Judges whether others used the disks; none where what this process did is not counted.
    pub(super) fn shared_disk(&self) -> Option<Gate> {
        let has_io = !self.has_no_io();
        self.conditions?.disk_use.as_ref().filter(|_| has_io).map(shared_disk)
    }

    fn touched_bytes(&self) -> Option<u64> {
        self.conditions.and_then(|conditions| conditions.touched_bytes)
    }

    /// Judges whether more was touched than caches on the way hold.
    pub(super) fn footprint(&self, rules: &Rules) -> Option<Gate> {
        if self.is_null() {
            return None;
        }
        let storage = CacheSize { name: "storage's own cache", bytes: rules.cache_bytes };
        let caches = match &self.record.emulation {
            Some(emulation) => {
                // An emulated volume has no cache of its own but for one that the user names.
                let holds = emulation.host_cache_bytes;
                let is_there = holds > 0 && self.is_cached(emulation);
                if is_there && emulation.cache == "warm" && rules.cache_bytes.is_none() {
                    let reason = "the host cache was warm, as was asked for";
                    return Some(Gate::passed(GateName::Footprint, reason));
                }
                let host = CacheSize { name: "host cache", bytes: is_there.then_some(holds) };
                let mut caches = vec![host, storage];
                caches.retain(|cache| cache.bytes.is_some());
                caches
            }
            None => vec![storage],
        };
        if self.has_no_io() {
            return Some(Gate::unknown(GateName::Footprint, NOTHING_MEASURED));
        }
        let touched_bytes = self.touched_bytes();
        Some(footprint(&FootprintInputs { touched_bytes, caches: &caches }))
    }

    /// Returns whether a job works on a volume that uses the host cache, as far as that is known.
    fn is_cached(&self, emulation: &EmulationRecord) -> bool {
        let mut targets = self.jobs.iter().flat_map(|job| &job.targets).peekable();
        let is_below = |target: &str, mount: &str| {
            let rest = target.strip_prefix(mount.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mounts = &emulation.cached_mounts;
        let is_unknown = mounts.is_empty() || targets.peek().is_none();
        is_unknown || targets.any(|target| mounts.iter().any(|mount| is_below(target, mount)))
    }

    /// Judges whether this host's page cache answered. Emulated volumes are behind none.
    pub(super) fn page_cache(&self) -> Option<Gate> {
        if self.record.emulation.is_some() || self.is_null() {
            return None;
        }
        if self.has_no_io() {
            return Some(Gate::unknown(GateName::PageCache, NOTHING_MEASURED));
        }
        let direct: Option<Vec<bool>> = self.jobs.iter().map(|job| job.is_direct).collect();
        let is_buffered = self.jobs.iter().any(|job| job.is_direct == Some(false));
        Some(page_cache(&PageCacheInputs {
            is_direct: if is_buffered { Some(false) } else { direct.map(|_| true) },
            touched_bytes: self.touched_bytes(),
            memory_bytes: self.record.host.memory_bytes,
        }))
    }

    /// Judges the socket buffers of network storage; the worst network counts.
    pub(super) fn socket_buffers(&self) -> Option<Gate> {
        let sysctl = |name: &str| self.record.host.sysctls.get(name);
        let number = |name| sysctl(name)?.parse().ok();
        let three = |name| {
            let words: Vec<u64> =
                sysctl(name)?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            <[u64; 3]>::try_from(words).ok()
        };
        let networks = self.record.places.iter().filter_map(|place| place.network.as_ref());
        let gates = networks.map(|network| {
            socket_buffers(&SocketInputs {
                bandwidth_bytes_s: network.link_bytes_s.unwrap_or(0.0),
                round_trip_ns: network.round_trip_ns.unwrap_or(0.0),
                n_connections: network.n_connections,
                tcp_rmem: three("net.ipv4.tcp_rmem"),
                tcp_wmem: three("net.ipv4.tcp_wmem"),
                rmem_max: number("net.core.rmem_max"),
                wmem_max: number("net.core.wmem_max"),
                is_set_by_program: network.sets_buffers,
            })
        });
        gates.max_by_key(|gate| gate.verdict.rank())
    }

    /// Returns what mount options cost. Only those fail that make writes look durable which are
    /// not: of all others the cost is part of what was measured.
    pub(super) fn mount_options(&self) -> Option<Gate> {
        let mounted = |place: &&PlaceRecord| !place.mount_options.is_empty();
        let mut places = self.record.places.iter().filter(mounted).peekable();
        places.peek()?;
        let moved: u64 = self.jobs.iter().map(|job| job.io_bytes()).sum();
        let n_ios: u64 = self.jobs.iter().map(|job| job.n_ios()).sum();
        let block_bytes = moved.checked_div(n_ios).unwrap_or(0);
        let writes = self.jobs.iter().any(|job: &&JobRecord| job.dirs.write.n_ios > 0);
        let mut costs = Vec::new();
        let mut is_kept = true;
        for place in places {
            for remark in mount_remarks(&place.file_system, &place.mount_options, block_bytes) {
                is_kept &= !(remark.fakes_durability && writes);
                costs.push(format!("{}: `{}`: {}", place.path, remark.option, remark.cost));
            }
        }
        let reason = match costs.as_slice() {
            [] => "no mount option that costs".to_owned(),
            costs => costs.join("; "),
        };
        let figures = [("n_remarks", costs.len() as f64)];
        Some(Gate::judged(GateName::MountOptions, is_kept, reason).with(&figures))
    }
}

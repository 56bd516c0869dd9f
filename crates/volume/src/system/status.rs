//! What a system is doing, for people and for programs that watch it.

use serde::Serialize;

use super::System;
use crate::cap::{CapCount, CapId, CapInfo, CapUsage};

/// A look at a system.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// The caller's time, nanoseconds.
    pub now_ns: u64,
    /// Operations submitted and not done.
    pub n_waiting: usize,
    /// Every cap.
    pub caps: Vec<CapStatus>,
    /// The machine's host cache; `None` where no disk uses one.
    pub cache: Option<CacheStatus>,
    /// Every volume.
    pub volumes: Vec<VolumeStatus>,
}

/// The host cache of a machine.
#[derive(Clone, Debug, Serialize)]
pub struct CacheStatus {
    /// How much it can hold.
    pub size_bytes: u64,
    /// How much it holds.
    pub held_bytes: u64,
    /// Blocks are held or not as a whole.
    pub block_bytes: u64,
    /// How much of it has not reached a disk yet.
    pub dirty_bytes: u64,
    /// Reads that it answered, counted per piece.
    pub n_hits: u64,
    /// Reads that went on to a disk.
    pub n_misses: u64,
    /// Whether it began with what will be asked for, which counts as held from its first read on.
    pub is_warm: bool,
}

/// One volume.
#[derive(Clone, Debug, Serialize)]
pub struct VolumeStatus {
    /// Where it is mounted.
    pub mount: String,
    /// How much of it is in a write-back cache only.
    pub dirty_bytes: u64,
    /// How much of that goes to the disks at once because its cache was changed.
    pub leaving_bytes: u64,
    /// Flushes that wait for writes to reach the disks.
    pub n_flushes: u32,
    /// The cap that holds most of what waits for the volume's disks now, by its position.
    pub disks_held_by: Option<CapId>,
}

/// One cap, what it has carried, and who waits for it.
#[derive(Clone, Debug, Serialize)]
pub struct CapStatus {
    /// The cap.
    #[serde(flatten)]
    pub info: CapInfo,
    /// What it has carried.
    #[serde(flatten)]
    pub usage: CapUsage,
    /// Whether the design has it; one that a change took away keeps its position.
    pub in_force: bool,
    /// Pieces of operations in lines that it holds at the moment.
    pub n_waiting: u64,
}

impl System {
    /// Returns what the system is doing now.
    pub fn status(&self, now_ns: u64) -> Status {
        let usage = self.usage(now_ns);
        let n_waiting = self.n_waiting_per_cap();
        let caps = self.layout.infos.iter().zip(usage).zip(n_waiting).zip(&self.layout.in_force);
        Status {
            now_ns,
            n_waiting: self.n_waiting(),
            caps: caps
                .map(|(((info, usage), n_waiting), in_force)| CapStatus {
                    info: info.clone(),
                    usage,
                    in_force: *in_force,
                    n_waiting,
                })
                .collect(),
            cache: self.cache_status(),
            volumes: self.volume_status(),
        }
    }

    fn cache_status(&self) -> Option<CacheStatus> {
        let blocks = &self.host.blocks;
        let (n_hits, n_misses) = blocks.hits_and_misses();
        let status = CacheStatus {
            size_bytes: blocks.size_bytes(),
            held_bytes: blocks.held_bytes(),
            block_bytes: blocks.block_bytes(),
            dirty_bytes: self.host.dirty.n_bytes(),
            n_hits,
            n_misses,
            is_warm: blocks.is_warm(),
        };
        (status.size_bytes > 0).then_some(status)
    }

    fn volume_status(&self) -> Vec<VolumeStatus> {
        let volumes = self.design.volumes.iter().enumerate();
        volumes
            .map(|(idx, volume)| VolumeStatus {
                mount: volume.mount.clone(),
                dirty_bytes: self.host.dirty.n_bytes_of(idx as u16),
                leaving_bytes: self.host.n_bytes_to_leave(idx as u16),
                n_flushes: self.orders[idx].n_flushes(),
                disks_held_by: self.disks_held_by(idx),
            })
            .collect()
    }

    fn disks_held_by(&self, volume: usize) -> Option<CapId> {
        let disks = &self.layout.disks[self.layout.disks_of(volume)];
        let lines = disks.iter().map(|disk| self.lanes.waiting_at(disk.lane));
        let held = lines.filter(|&(cap, n_waiting)| n_waiting > 0 && cap != CapId::NONE);
        held.max_by_key(|&(_, n_waiting)| n_waiting).map(|(cap, _)| cap)
    }

    fn n_waiting_per_cap(&self) -> Vec<u64> {
        let mut n_waiting = vec![0; self.layout.infos.len()];
        for lane in 0..self.lanes.all.len() as u32 {
            let (held_by, n) = self.lanes.waiting_at(lane);
            if let Some(sum) = n_waiting.get_mut(usize::from(held_by.0)) {
                *sum += u64::from(n);
            }
        }
        for (idx, client) in self.layout.clients.iter().enumerate() {
            if let Some((_, cap)) = client.slots {
                n_waiting[usize::from(cap.0)] += u64::from(self.slots.n_waiting(idx));
            }
        }
        n_waiting
    }

    pub(crate) fn usage_of(&self, idx: usize, now_ns: u64) -> CapUsage {
        let (info, cap) = (&self.layout.infos[idx], &self.lanes.caps[CapId(idx as u16)]);
        let start_ns = self.start_ns.unwrap_or(now_ns);
        let elapsed_ns = (now_ns - start_ns).max(1);
        let counts = info.kind.traits().counts;
        let capacity_share = match counts {
            CapCount::Slots => self.slots.share(CapId(idx as u16), start_ns, now_ns),
            CapCount::Units | CapCount::Weighed | CapCount::Bytes => {
                cap.n_tokens() as f64 / cap.capacity(now_ns).max(1.0)
            }
        };
        CapUsage {
            used: match counts {
                CapCount::Weighed => cap.n_ops(),
                CapCount::Units | CapCount::Bytes | CapCount::Slots => cap.n_tokens(),
            },
            capacity_share,
            held_share: cap.held_ns() as f64 / elapsed_ns as f64,
            credits: cap.credits(now_ns),
        }
    }
}

//! The machine dies and starts again, and what was bought changes.

use super::host::Host;
use super::{Start, System};
use crate::cache::GroupSpot;
use crate::design::{Backing, Design};

/// Why a running system cannot become another design.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// Volumes came or went, or one is mounted elsewhere.
    #[error("{}; volumes and their mount paths stay", moved(*position, old.as_ref(), new.as_ref()))]
    Mount {
        /// Position of the volume, from 0.
        position: usize,
        /// Where it is mounted; `None` if there is none.
        old: Option<String>,
        /// Where it would be mounted; `None` if there would be none.
        new: Option<String>,
    },
    /// A volume would be made of something else: other stripes, or another kind of service.
    #[error("`{mount}` is {old}, and {new} in the new design; what it is made of stays")]
    Backing {
        /// Where it is mounted.
        mount: String,
        /// What it is made of.
        old: String,
        /// What it would be made of.
        new: String,
    },
    /// Clients or pools came or went.
    #[error("there {} now and {new} in the new design; their number stays", there(*old, what))]
    Count {
        /// `client` or `pool`.
        what: &'static str,
        /// How many there are.
        old: usize,
        /// How many there would be.
        new: usize,
    },
}

/// Returns which volume is another one.
fn moved(position: usize, old: Option<&String>, new: Option<&String>) -> String {
    let number = position + 1;
    match (old, new) {
        (Some(old), Some(new)) => {
            format!("volume {number} is `{old}`, and `{new}` in the new design")
        }
        (Some(old), None) => format!("volume `{old}` is missing in the new design"),
        (None, new) => {
            format!("volume `{}` comes with the new design", new.map_or("", String::as_str))
        }
    }
}

fn there(n: usize, what: &str) -> String {
    if n == 1 { format!("is 1 {what}") } else { format!("are {n} {what}s") }
}

/// Returns how many there are of something.
fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Returns what a volume is made of, as far as it must stay.
fn shape(backing: &Backing) -> String {
    match backing {
        Backing::Disks(stripe) => format!(
            "{} in {} with chunks of {} KiB",
            count(stripe.disks.len(), if stripe.is_local { "local disk" } else { "disk" }),
            count(stripe.columns as usize, "column"),
            stripe.chunk_bytes >> 10
        ),
        Backing::Network(network) => match network.pool {
            Some(pool) => format!("a network volume in pool {}", pool + 1),
            None => "a network volume without a pool".to_owned(),
        },
    }
}

/// Checks that a design can take another one's place under way.
fn check(old: &Design, new: &Design) -> Result<(), ChangeError> {
    for position in 0..old.volumes.len().max(new.volumes.len()) {
        let mount =
            |design: &Design| design.volumes.get(position).map(|volume| volume.mount.clone());
        let (old, new) = (mount(old), mount(new));
        if old != new {
            return Err(ChangeError::Mount { position, old, new });
        }
    }
    for (old, new) in old.volumes.iter().zip(&new.volumes) {
        let shapes = (shape(&old.backing), shape(&new.backing));
        if shapes.0 != shapes.1 {
            let (old, new, mount) = (shapes.0, shapes.1, new.mount.clone());
            return Err(ChangeError::Backing { mount, old, new });
        }
    }
    for (what, old, new) in [
        ("client", old.clients.len(), new.clients.len()),
        ("pool", old.pools.len(), new.pools.len()),
    ] {
        if old != new {
            return Err(ChangeError::Count { what, old, new });
        }
    }
    Ok(())
}

impl System {
    /// Puts another design in force: other tiers, sizes, levels, quotas, latencies, cache modes.
    ///
    /// What waits goes on waiting under the new caps, in its order. Credits stay as they are, as
    /// far as they fit; tokens that were borrowed are paid back. Caps keep their positions, and
    /// new ones come after the old. A volume whose cache mode changes begins with nothing in the
    /// cache, and what was dirty goes to its disks at once; so does what is dirty anywhere when the
    /// machine gets a cache of another size. [`VolumeStatus::leaving_bytes`] tells how much of it
    /// is left. A write to a range that is left is dirty as well, until it is on the disk.
    ///
    /// [`VolumeStatus::leaving_bytes`]: crate::VolumeStatus::leaving_bytes
    ///
    /// # Errors
    /// Where the design has other volumes, clients or pools, or volumes made of something else.
    ///
    /// # Panics
    /// If `now_ns` is before a time given earlier, or as for [`System::new`].
    pub fn change(&mut self, now_ns: u64, new: &Design) -> Result<(), ChangeError> {
        check(&self.design, new)?;
        super::check(new);
        self.must_not_go_back(now_ns);
        self.advance(now_ns);
        let modes: Vec<_> = self.layout.disks.iter().map(|disk| disk.cache).collect();
        let (n_caps, n_waiting) = (self.layout.infos.len(), self.n_waiting());
        self.layout.apply(new, &mut self.lanes, self.now_ns);
        assert!(self.layout.infos.len() >= n_caps, "caps keep their positions");
        for (volume, media) in new.volumes.iter().zip(&mut self.media) {
            media.disk.change(volume.latency);
            media.cache.change(volume.cache_latency);
        }
        let is_another_cache = self.renew_host(new);
        self.host.reserve_caps(self.layout.infos.len());
        for volume in 0..new.volumes.len() {
            let disks = self.layout.disks_of(volume);
            let is_changed = disks.clone().any(|disk| self.layout.disks[disk].cache != modes[disk]);
            if is_changed {
                self.host.blocks.forget(volume as u16);
            }
            if is_changed || is_another_cache {
                let number = self.orders[volume].next_number();
                self.host.let_all_leave(volume as u16, number);
            }
        }
        // The blocks of what is under way may stand elsewhere now.
        self.lanes.pieces.iter_mut().for_each(|piece| piece.spot = GroupSpot::UNKNOWN);
        self.design = new.clone();
        self.lanes.look_again(self.now_ns);
        for gate in 0..self.lanes.gates.len() as u32 {
            self.open(gate);
        }
        for volume in 0..new.volumes.len() as u16 {
            self.write_behind(volume);
        }
        assert_eq!(self.n_waiting(), n_waiting, "what waits goes on waiting");
        self.slots.change(&self.layout.clients);
        for client in 0..self.layout.clients.len() as u16 {
            while let Some(piece) = self.slots.next(&mut self.lanes, client, self.now_ns) {
                self.call(piece);
            }
        }
        Ok(())
    }

    /// Asserts that the caller's time has not gone back.
    fn must_not_go_back(&self, now_ns: u64) {
        let known_ns = self.now_ns;
        assert!(now_ns >= known_ns, "the time was {known_ns} ns, and is said to be {now_ns} ns");
    }

    /// Makes a new cache where its size is another one, or where there was no use for one. Says
    /// whether its size is another one.
    fn renew_host(&mut self, new: &Design) -> bool {
        let host = Host::new(new, Start::Cold);
        let is_as_large = host.blocks.size_bytes() == self.host.blocks.size_bytes();
        if !is_as_large || host.dirty.n_max() > self.host.dirty.n_max() {
            let old = std::mem::replace(&mut self.host, host);
            self.host.adopt(old, is_as_large);
        }
        !is_as_large
    }

    /// The machine dies at `now_ns`: the cache with all that is dirty is gone, and so is every
    /// operation that is not done by then.
    ///
    /// # Panics
    /// If `now_ns` is before a time given earlier.
    pub fn crash(&mut self, now_ns: u64) {
        self.must_not_go_back(now_ns);
        self.advance(now_ns);
        self.lanes.clear(self.now_ns);
        self.operations.clear();
        self.n_whole = 0;
        self.ends.clear();
        self.break_promises();
        self.slots.clear(self.now_ns);
        for order in &mut self.orders {
            order.clear();
        }
        self.host.clear();
        assert_eq!(self.n_waiting(), 0, "no operation outlives the machine");
        assert_eq!(self.dirty_level().bytes, 0, "nothing is dirty in a cache that is gone");
    }

    /// The machine starts at `now_ns`, after a crash or an orderly stop: the cache is cold, credits
    /// are as they are. An orderly stop has written what was dirty before; what is left is lost.
    ///
    /// # Panics
    /// As [`System::crash`].
    pub fn restart(&mut self, now_ns: u64) {
        self.crash(now_ns);
    }
}

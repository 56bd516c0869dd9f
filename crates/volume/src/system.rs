//! The system: operations in, completions out, in virtual time.
//!
//! An operation is split into pieces, one per disk chunk or network call. A piece waits in lanes
//! until the caps before it let it go, then takes the latency of its medium. The operation is done
//! when its last piece is.

pub(crate) mod host;
mod lifecycle;
mod operation;
mod promise;
mod status;

use units::mix64;

use crate::cache::GroupSpot;
use crate::cap::{CapId, CapInfo, CapUsage, Demand};
use crate::design::{Backing, CacheMode, Design, Latency, Stripe};
use crate::io::{Done, Io, IoKind, Stations};
use crate::lanes::{LaneResult, Lanes, Piece, Role, Task, WHOLE};
use crate::latency::Sampler;
use crate::layout::{Layout, VolumePlace};
use crate::network::SlotTable;
use crate::queue::TimeQueue;
use crate::slab::{NIL, Slab};
use crate::unit::units;
use host::Host;
use operation::{Operation, Order};
use promise::Promises;

pub use host::DirtyLevel;
pub use lifecycle::ChangeError;
pub use promise::Promise;
pub use status::{CacheStatus, CapStatus, Status, VolumeStatus};

/// Pieces for which memory is reserved beyond one per operation. More of them, of large operations
/// over small chunks, grow it once.
const N_PIECES_MORE: usize = 1 << 16;
/// Length of an operation for which all pieces are reserved.
const RESERVED_BYTES: u32 = 1 << 20;
/// How long a file system on disks takes for a name that it has in memory: about a system call with
/// a look-up. An assumption, as the model has no file system.
const NAME_NS: u64 = 5_000;

/// How a system begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemOptions {
    /// Operations submitted and not done at one time; memory is reserved for as many.
    pub n_waiting_max: usize,
    /// What the host cache holds.
    pub start: Start,
    /// Seed of the latency samples, together with the design's.
    pub seed: u64,
}

/// What the host cache holds at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Nothing, as after every start of a machine.
    #[default]
    Cold,
    /// Whatever will be asked for first, as far as it fits.
    Warm,
}

/// Media of one volume.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    pub(crate) disk: Sampler,
    pub(crate) cache: Sampler,
}

/// Where a piece goes.
struct Route {
    /// The disk, or the client.
    disk: u16,
    len_bytes: u32,
    unit_bytes: Option<u64>,
    merges: bool,
    cache: CacheMode,
    cached_lane: u32,
    lane: u32,
    station: Stations,
}

/// Marks, among the ends of pieces, the time at which a volume's dirty data is due.
pub(crate) const TIMER: u32 = 1 << 31;

/// A design at work: a pure function of the operations submitted and the times given.
///
/// Times are the caller's, in nanoseconds, and never go back. Results do not depend on how often
/// it is polled. It allocates nothing per operation, as long as no more than
/// [`SystemOptions::n_waiting_max`] operations are under way.
#[derive(Clone, Debug)]
pub struct System {
    pub(crate) design: Design,
    pub(crate) layout: Layout,
    pub(crate) lanes: Lanes,
    pub(crate) operations: Slab<Operation>,
    /// Operations under way that are a piece and no more; see [`WHOLE`].
    pub(crate) n_whole: usize,
    pub(crate) orders: Vec<Order>,
    pub(crate) slots: SlotTable,
    pub(crate) host: Host,
    pub(crate) media: Vec<Media>,
    /// Ends of pieces.
    pub(crate) ends: TimeQueue,
    /// Completions that no poll has returned yet, in order of time.
    finished: Vec<Done>,
    pub(crate) promises: Promises,
    pub(crate) now_ns: u64,
    /// `None` before the first call that has a time.
    pub(crate) start_ns: Option<u64>,
}

/// Asserts what positions of 16 bits can name, and that what is named is there.
pub(crate) fn check(design: &Design) {
    let most = usize::from(u16::MAX);
    let (n_volumes, n_clients) = (design.volumes.len(), design.clients.len());
    assert!(n_volumes < most, "{n_volumes} volumes are more than can be numbered");
    assert!(n_clients < most, "{n_clients} clients are more than can be numbered");
    let mut n_disks = 0;
    for volume in &design.volumes {
        match &volume.backing {
            Backing::Disks(stripe) => {
                check_stripe(&volume.mount, stripe);
                n_disks += stripe.disks.len();
            }
            Backing::Network(network) => {
                let is_there = |pool: u16| usize::from(pool) < design.pools.len();
                let mount = &volume.mount;
                assert!(
                    network.pool.is_none_or(is_there),
                    "`{mount}` is in a pool that is missing"
                );
            }
        }
        for Latency { spread, .. } in [volume.latency, volume.cache_latency] {
            assert!(spread.is_finite() && spread >= 0.0, "a latency spreads by {spread}");
        }
    }
    assert!(n_disks < most, "{n_disks} disks are more than can be numbered");
}

/// Asserts that every byte of a stripe has a disk.
fn check_stripe(mount: &str, stripe: &Stripe) {
    let Stripe { disks, chunk_bytes, columns, .. } = stripe;
    let n_disks = disks.len() as u64;
    let is_whole = *columns > 0 && n_disks.is_multiple_of((*columns).into());
    assert!(n_disks > 0, "`{mount}` is a stripe without disks");
    assert!(is_whole, "`{mount}` has {n_disks} disks in {columns} columns");
    assert!(chunk_bytes.is_power_of_two(), "`{mount}` has chunks of {chunk_bytes} B");
}

impl System {
    /// Builds a system at rest.
    ///
    /// # Panics
    /// Where a design has more volumes, disks, clients or caps than 65,535, a volume in a pool that
    /// is not there or whose latency spreads by no number, or a stripe that leaves bytes without a
    /// disk: see [`Stripe`].
    pub fn new(design: &Design, options: &SystemOptions) -> System {
        check(design);
        let n_waiting = options.n_waiting_max.max(1);
        let mut lanes = Lanes::new(0);
        let layout = Layout::new(design, &mut lanes);
        let more = n_waiting.saturating_mul(layout.n_pieces_max(RESERVED_BYTES) - 1);
        let n_pieces = n_waiting + more.min(N_PIECES_MORE);
        lanes.pieces = Slab::with_capacity(n_pieces);
        let seed = mix64(options.seed) ^ design.seed;
        let media = design.volumes.iter().enumerate().map(|(idx, volume)| {
            let seed = mix64(seed.wrapping_add(idx as u64));
            Media {
                disk: Sampler::new(volume.latency, seed),
                cache: Sampler::new(volume.cache_latency, mix64(seed)),
            }
        });
        let mut host = Host::new(design, options.start);
        host.reserve_caps(layout.infos.len());
        System {
            design: design.clone(),
            host,
            slots: SlotTable::new(&layout.clients),
            media: media.collect(),
            orders: vec![Order::new(); design.volumes.len()],
            layout,
            lanes,
            operations: Slab::with_capacity(n_waiting),
            n_whole: 0,
            ends: TimeQueue::with_capacity(n_pieces + design.volumes.len()),
            finished: Vec::with_capacity(n_waiting),
            promises: Promises::default(),
            now_ns: 0,
            start_ns: None,
        }
    }

    /// Takes an operation in. `now_ns` is not before any time given earlier, and `io` names a
    /// volume and a client of the design.
    pub fn submit(&mut self, now_ns: u64, io: Io) {
        self.advance(now_ns);
        if io.kind == IoKind::Read && !self.promises.are_kept {
            let route = self.route(&io, io.offset_bytes, io.len_bytes);
            if route.len_bytes == io.len_bytes {
                self.n_whole += 1;
                self.send_off(&io, io.offset_bytes, &route, WHOLE, Task::Plain);
                return;
            }
        }
        let operation = self.operations.insert(Operation::new(&io));
        self.open_promise(operation);
        match io.kind {
            IoKind::Flush => self.submit_flush(operation, io.volume),
            IoKind::Call => self.submit_call(operation, io.volume),
            IoKind::Read => self.submit_pieces(operation, &io),
            IoKind::Write | IoKind::WriteThrough | IoKind::Trim => {
                if io.kind == IoKind::Trim {
                    let end = io.offset_bytes.saturating_add(u64::from(io.len_bytes));
                    self.discard(io.volume, io.offset_bytes..end);
                }
                self.note_write(operation, io.volume);
                self.submit_pieces(operation, &io);
            }
        }
    }

    /// Returns the earliest time at which [`System::poll`] can return something, or the state can
    /// change by itself.
    pub fn next_event_ns(&self) -> Option<u64> {
        if let Some(done) = self.finished.first() {
            return Some(done.at_ns);
        }
        let next_ns = self.ends.next_ns().min(self.lanes.next_ns());
        (next_ns != u64::MAX).then_some(next_ns)
    }

    /// Appends everything that completed at or before `now_ns`, in order of time.
    pub fn poll(&mut self, now_ns: u64, done: &mut Vec<Done>) {
        self.advance(now_ns);
        self.hand_out(done);
    }

    /// Lets time pass from `now_ns` to the first moment at which something has completed, but not
    /// beyond `until_ns`. Appends what has completed by then, and returns the moment.
    ///
    /// The same as polling at each of [`System::next_event_ns`] in turn, for a caller whose time
    /// is virtual.
    pub fn poll_next(&mut self, now_ns: u64, until_ns: u64, done: &mut Vec<Done>) -> u64 {
        self.begin_if_new(now_ns);
        let until_ns = until_ns.max(now_ns);
        let at_ns = loop {
            // What completes at the same moment belongs to it.
            let at_ns = if self.finished.is_empty() { until_ns } else { self.now_ns.max(now_ns) };
            if !self.do_next(at_ns) {
                break at_ns;
            }
        };
        self.now_ns = self.now_ns.max(at_ns);
        self.hand_out(done);
        at_ns
    }

    /// Returns an empty list for [`System::poll`] and [`System::poll_next`]. If it is empty at each
    /// call, what has completed is handed over without being copied.
    pub fn done_list(&self) -> Vec<Done> {
        Vec::with_capacity(self.finished.capacity())
    }

    #[inline]
    fn hand_out(&mut self, done: &mut Vec<Done>) {
        if done.is_empty() && done.capacity() >= self.finished.capacity() {
            std::mem::swap(done, &mut self.finished);
        } else {
            done.append(&mut self.finished);
        }
    }

    /// Returns how many operations were submitted and are not done.
    pub fn n_waiting(&self) -> usize {
        self.operations.len() + self.n_whole
    }

    /// Returns the caps, in the order of their [`CapId`].
    pub fn caps(&self) -> &[CapInfo] {
        &self.layout.infos
    }

    /// Returns what each cap has carried until now, in the order of [`System::caps`].
    pub fn usage(&self, now_ns: u64) -> Vec<CapUsage> {
        let now_ns = now_ns.max(self.now_ns);
        (0..self.layout.infos.len()).map(|idx| self.usage_of(idx, now_ns)).collect()
    }

    /// Lets time pass until `now_ns`.
    #[inline]
    pub(crate) fn advance(&mut self, now_ns: u64) {
        self.begin_if_new(now_ns);
        if self.ends.next_ns().min(self.lanes.next_ns()) <= now_ns {
            self.catch_up(now_ns);
        }
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// Lets all happen that is due by `now_ns`.
    #[inline(never)]
    fn catch_up(&mut self, now_ns: u64) {
        while self.do_next(now_ns) {}
    }

    /// Lets the next thing happen, if that is not after `until_ns`. Returns false if nothing did.
    #[expect(clippy::inline_always, reason = "a call costs a tenth of what it does, twice per I/O")]
    #[inline(always)]
    fn do_next(&mut self, until_ns: u64) -> bool {
        let (end_ns, timer_ns) = (self.ends.next_ns(), self.lanes.next_ns());
        let next_ns = end_ns.min(timer_ns);
        if next_ns > until_ns || next_ns == u64::MAX {
            return false;
        }
        self.now_ns = next_ns;
        // Ends come first: what they give back is there for those who wait.
        if end_ns <= timer_ns {
            self.end_next();
        } else {
            self.time_lane();
        }
        true
    }

    /// The next of the ends has come.
    #[expect(clippy::inline_always, reason = "as for what comes next")]
    #[inline(always)]
    fn end_next(&mut self) {
        match self.ends.pop_until(self.now_ns) {
            Some(name) if name & TIMER != 0 => {
                self.write_behind_due((name & !TIMER) as u16);
            }
            Some(piece) => self.end(piece),
            None => {}
        }
    }

    /// The next timer of a lane or a gate has come.
    #[expect(clippy::inline_always, reason = "as for what comes next")]
    #[inline(always)]
    fn time_lane(&mut self) {
        let Some((gate, first)) = self.lanes.due(self.now_ns) else { return };
        if let Some((piece, role)) = first {
            self.passed(piece, role);
        }
        if self.lanes.has_waiting(gate) {
            self.open(gate);
        }
    }

    /// Counts time from the first call on, whatever the caller's clock says then.
    #[inline]
    fn begin_if_new(&mut self, now_ns: u64) {
        if self.start_ns.is_none() {
            self.begin(now_ns);
        }
    }

    #[cold]
    fn begin(&mut self, now_ns: u64) {
        self.start_ns = Some(now_ns);
        self.now_ns = now_ns;
        self.lanes.caps.begin(now_ns);
    }

    /// Splits an operation and sends its pieces off.
    fn submit_pieces(&mut self, operation: u32, io: &Io) {
        let is_trim = io.kind == IoKind::Trim;
        // A trim is one operation of each disk, however many of its chunks: RAID 0 puts them
        // together (Linux, since 4.12).
        let n_pieces_max = match &self.layout.volumes[usize::from(io.volume)] {
            _ if !is_trim => u32::MAX,
            VolumePlace::Disks { map, .. } => map.n_columns(),
            VolumePlace::Network { .. } => 1,
        };
        let mut offset_bytes = io.offset_bytes;
        let mut left = io.len_bytes;
        loop {
            let route = self.route(io, offset_bytes, left);
            let len_bytes = route.len_bytes;
            left -= len_bytes;
            let task = match route.cache {
                CacheMode::ReadWrite => self.task(io, offset_bytes, len_bytes, operation),
                CacheMode::None | CacheMode::ReadOnly => {
                    self.task_uncached(io, offset_bytes, len_bytes, operation)
                }
            };
            let n_pieces = &mut self.operations[operation].n_left;
            *n_pieces += 1;
            let is_last = left == 0 || *n_pieces >= n_pieces_max;
            self.widen_promise(operation);
            self.send_off(io, offset_bytes, &route, operation, task);
            if is_last {
                self.settle_promise(operation, 0);
                return;
            }
            offset_bytes = offset_bytes.wrapping_add(u64::from(len_bytes));
        }
    }

    /// Sends a piece off on its way.
    #[expect(clippy::inline_always, reason = "a route that is known costs a third of it")]
    #[inline(always)]
    fn send_off(&mut self, io: &Io, offset_bytes: u64, route: &Route, parent: u32, task: Task) {
        // A trim has no bytes that a cache could hold.
        let bytes = if io.kind == IoKind::Trim { 0 } else { route.len_bytes };
        let is_cached = route.cache != CacheMode::None && bytes > 0;
        let units = if route.merges {
            self.units_after_merging(io, offset_bytes, route)
        } else {
            units(bytes, route.unit_bytes)
        };
        let piece = self.lanes.pieces.insert(Piece {
            next: NIL,
            parent,
            id: io.id,
            offset_bytes,
            len_bytes: route.len_bytes,
            demand: Demand { bytes, units, writes: io.kind != IoKind::Read },
            since_ns: self.now_ns,
            held_ns: 0,
            held_by: CapId::NONE,
            stations: if is_cached { Stations::CACHE } else { route.station },
            disk: route.disk,
            volume: io.volume,
            task,
            spot: GroupSpot::UNKNOWN,
        });
        if route.station == Stations::NETWORK {
            self.send(piece);
        } else {
            self.join(if is_cached { route.cached_lane } else { route.lane }, piece);
        }
    }

    /// Returns what a piece counts for on a disk that merges: nothing if it lies within the unit
    /// that the one before it began.
    #[cold]
    fn units_after_merging(&mut self, io: &Io, offset_bytes: u64, route: &Route) -> u32 {
        let VolumePlace::Disks { map, .. } = &self.layout.volumes[usize::from(io.volume)] else {
            return 1;
        };
        let on_disk = map.on_disk(offset_bytes);
        match &mut self.layout.disks[usize::from(route.disk)].streams {
            Some(streams) if io.kind != IoKind::Trim => {
                streams.units(on_disk, route.len_bytes, io.kind != IoKind::Read)
            }
            _ => 1,
        }
    }

    /// Returns where the first piece of what is left of an operation goes.
    #[expect(clippy::inline_always, reason = "a call would pass its result through memory")]
    #[inline(always)]
    fn route(&self, io: &Io, offset_bytes: u64, left: u32) -> Route {
        match &self.layout.volumes[usize::from(io.volume)] {
            VolumePlace::Disks { first, map } => {
                let disk = first + map.disk(offset_bytes) as u16;
                let place = &self.layout.disks[usize::from(disk)];
                Route {
                    disk,
                    len_bytes: map.piece_bytes(offset_bytes, left),
                    unit_bytes: place.io_unit_bytes,
                    merges: place.streams.is_some(),
                    cache: place.cache,
                    cached_lane: place.cached_lane,
                    lane: place.lane,
                    station: Stations::DISKS,
                }
            }
            VolumePlace::Network { lane, transfer_bytes } => Route {
                disk: io.client,
                len_bytes: left.min(*transfer_bytes),
                unit_bytes: None,
                merges: false,
                cache: CacheMode::None,
                cached_lane: *lane,
                lane: *lane,
                station: Stations::NETWORK,
            },
        }
    }

    /// Sends a new call off, once it has a slot.
    fn send(&mut self, piece: u32) {
        self.lanes.pieces[piece].stations = Stations::NETWORK;
        if self.slots.take(&mut self.lanes, piece, self.now_ns) {
            self.call(piece);
        }
    }

    /// Sends a call that has a slot.
    pub(crate) fn call(&mut self, piece: u32) {
        let Piece { disk: client, volume, .. } = self.lanes.pieces[piece];
        self.join(self.layout.clients[usize::from(client)].lane(volume), piece);
    }

    #[inline]
    pub(crate) fn join(&mut self, lane: u32, piece: u32) {
        match self.lanes.join(lane, piece, self.now_ns) {
            LaneResult::Passed(role) => self.passed(piece, role),
            LaneResult::First => self.open(self.lanes.all[lane].gate),
            LaneResult::Behind => {}
        }
    }

    /// Lets everything through a gate that may go now.
    #[inline]
    pub(crate) fn open(&mut self, gate: u32) {
        while let Some((piece, role)) = self.lanes.leave(gate, self.now_ns) {
            self.passed(piece, role);
        }
    }

    /// Sends a piece on that has left a lane.
    #[inline]
    fn passed(&mut self, piece: u32, role: Role) {
        match role {
            Role::Disk => self.end_from_disk(piece),
            Role::Cache => self.serve_cached(piece),
            Role::Egress | Role::Service => self.passed_network(piece, role),
        }
    }

    /// Sends a call on that has left a lane.
    fn passed_network(&mut self, piece: u32, role: Role) {
        let volume = self.lanes.pieces[piece].volume;
        match role {
            Role::Disk | Role::Cache => {}
            Role::Egress if self.lanes.pieces[piece].task == Task::Commit => {
                self.answer_call(piece);
            }
            Role::Egress => {
                if let VolumePlace::Network { lane, .. } = self.layout.volumes[usize::from(volume)]
                {
                    self.join(lane, piece);
                }
            }
            Role::Service => self.answer_call(piece),
        }
    }

    /// Completes a call after the latency of its volume and the way there and back.
    #[inline]
    fn answer_call(&mut self, piece: u32) {
        let Piece { volume, disk, .. } = self.lanes.pieces[piece];
        let latency_ns = self.media[usize::from(volume)].disk.next_ns();
        let distance_ns = self.layout.clients[usize::from(disk)].round_trip_ns;
        let wait_ns = latency_ns.saturating_add(distance_ns);
        self.end_at(self.now_ns.saturating_add(wait_ns), piece);
    }

    /// Completes a piece after the latency of its volume's disks.
    #[inline]
    fn end_from_disk(&mut self, piece: u32) {
        let volume = self.lanes.pieces[piece].volume;
        let latency_ns = self.media[usize::from(volume)].disk.next_ns();
        self.end_at(self.now_ns.saturating_add(latency_ns), piece);
    }

    /// Completes a piece after the latency of the cache.
    pub(crate) fn end_from_cache(&mut self, piece: u32) {
        let volume = self.lanes.pieces[piece].volume;
        let latency_ns = self.media[usize::from(volume)].cache.next_ns();
        self.end_at(self.now_ns.saturating_add(latency_ns), piece);
    }

    /// Completes a piece, and its operation with its last piece.
    #[expect(clippy::inline_always, reason = "as for what comes next")]
    #[inline(always)]
    fn end(&mut self, piece_idx: u32) {
        // What stands there is read before anything else can take the place.
        self.lanes.pieces.remove(piece_idx);
        let piece = &self.lanes.pieces[piece_idx];
        let (parent, task, disk) = (piece.parent, piece.task, piece.disk);
        if parent == WHOLE {
            self.n_whole -= 1;
            self.finished.push(Done {
                id: piece.id,
                at_ns: self.now_ns,
                held_by: piece.held_by,
                held_ns: piece.held_ns,
                stations: piece.stations,
            });
        } else if parent != NIL {
            let operation = &mut self.operations[parent];
            if piece.held_ns > operation.held_ns {
                operation.held_ns = piece.held_ns;
                operation.held_by = piece.held_by;
            }
            operation.stations = operation.stations.and(piece.stations);
            operation.n_left -= 1;
        }
        if piece.stations == Stations::NETWORK {
            self.slots.give_back(disk, self.now_ns);
            if let Some(next) = self.slots.next(&mut self.lanes, disk, self.now_ns) {
                self.call(next);
            }
        } else if task != Task::Plain {
            self.do_task(piece_idx);
        }
        if parent < WHOLE && self.operations[parent].n_left == 0 {
            self.finish(parent);
        }
    }

    /// Reports an operation as done.
    #[inline]
    fn finish(&mut self, idx: u32) {
        let operation = &self.operations[idx];
        let (volume, is_write) = (operation.volume, operation.is_write);
        self.finished.push(Done {
            id: operation.id,
            at_ns: self.now_ns,
            held_by: operation.held_by,
            held_ns: operation.held_ns,
            stations: operation.stations,
        });
        if is_write {
            self.forget_write(idx, volume);
        }
        self.operations.remove(idx);
    }

    /// Completes a flush that has nothing left to wait for, after its volume's latency. It takes
    /// nothing of any disk's caps: those count reads and writes. To a network volume it is a call
    /// of its client (COMMIT), with a slot, the request that is sent, and the way there and back.
    pub(crate) fn end_flush(&mut self, operation: u32, volume: u16) {
        self.send_call(operation, volume, None);
    }

    /// Takes a call in, which waits for nothing before it.
    fn submit_call(&mut self, operation: u32, volume: u16) {
        self.send_call(operation, volume, Some(NAME_NS));
    }

    /// Sends what has no bytes to a network volume. On disks it takes a time of its own, or the
    /// volume's latency.
    fn send_call(&mut self, operation: u32, volume: u16, own_ns: Option<u64>) {
        let is_call =
            matches!(self.layout.volumes[usize::from(volume)], VolumePlace::Network { .. });
        let Operation { client, .. } = self.operations[operation];
        self.operations[operation].n_left = 1;
        let piece = self.lanes.pieces.insert(Piece {
            next: NIL,
            parent: operation,
            id: 0,
            offset_bytes: 0,
            len_bytes: 0,
            demand: Demand { bytes: 0, units: 0, writes: true },
            since_ns: self.now_ns,
            held_ns: 0,
            held_by: CapId::NONE,
            stations: Stations::default(),
            disk: client,
            volume,
            task: if is_call { Task::Commit } else { Task::Plain },
            spot: GroupSpot::UNKNOWN,
        });
        self.widen_promise(operation);
        self.settle_promise(operation, 0);
        if is_call {
            self.send(piece);
            return;
        }
        let disk = &mut self.media[usize::from(volume)].disk;
        let latency_ns = own_ns.unwrap_or_else(|| disk.next_ns());
        self.end_at(self.now_ns.saturating_add(latency_ns), piece);
    }
}

//! From a design to lanes, gates and caps.
//!
//! What there is (volumes, disks, clients, pools) is laid out once; what it carries may be set
//! again at any time ([`Layout::apply`]). A cap keeps its position for the life of the system.

use crate::cap::{Cap, CapId, CapInfo, CapKind, Measure};
use crate::caps::CapSet;
use crate::design::{
    Backing, Burst, CacheMode, Client, Design, Limit, Merging, NetworkVolume, Stripe, Volume,
    WriteCost,
};
use crate::lanes::{Gate, Lane, Lanes, Role};
use crate::stripe::StripeMap;
use crate::unit::Streams;

/// What a call takes on the wire beside its data, bytes: headers of Ethernet, IP and TCP, the call
/// with the caller's credential, a file handle, an offset and a length.
const CALL_BYTES: u64 = 200;

/// Gate without caps, for lanes that share nothing.
const GATE_OPEN: u32 = 0;
/// The machine's caps of the cached path.
const GATE_CACHED: u32 = 1;
/// The machine's caps of traffic to its disks.
const GATE_UNCACHED: u32 = 2;
/// Gate of the first capacity pool.
const GATE_POOLS: u32 = 3;

/// Where one disk's operations wait.
#[derive(Clone, Debug)]
pub(crate) struct DiskPlace {
    pub(crate) cached_lane: u32,
    pub(crate) lane: u32,
    pub(crate) cache: CacheMode,
    pub(crate) io_unit_bytes: Option<u64>,
    /// Where the disk merges I/Os that follow each other: what it could merge the next ones with.
    pub(crate) streams: Option<Box<Streams>>,
}

/// Where one volume's operations go.
#[derive(Clone, Debug)]
pub(crate) enum VolumePlace {
    /// To disks, from this position on.
    Disks { first: u16, map: StripeMap },
    /// Over the network, in calls of this size.
    Network { lane: u32, transfer_bytes: u32 },
}

/// Where one client's calls wait.
#[derive(Clone, Debug)]
pub(crate) struct ClientPlace {
    /// Lane of its calls to the first volume; those to the others follow.
    first_lane: u32,
    gate: u32,
    pub(crate) round_trip_ns: u64,
    /// Calls at once, and the cap that says so; `None` is not limited.
    pub(crate) slots: Option<(u32, CapId)>,
}

impl ClientPlace {
    /// Makes the place of a client without distance or limit to its calls.
    pub(crate) fn at(first_lane: u32, gate: u32) -> Self {
        ClientPlace { first_lane, gate, round_trip_ns: 0, slots: None }
    }

    /// Returns where calls to a volume wait for the card.
    #[inline]
    pub(crate) fn lane(&self, volume: u16) -> u32 {
        self.first_lane + u32::from(volume)
    }
}

/// What a cap belongs to: kind, owner, disk, and which of several alike.
type Key = (CapKind, usize, usize, u8);

/// The plan of a system.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) infos: Vec<CapInfo>,
    keys: Vec<Key>,
    /// By position: whether the design still has the cap.
    pub(crate) in_force: Vec<bool>,
    pub(crate) disks: Vec<DiskPlace>,
    pub(crate) volumes: Vec<VolumePlace>,
    pub(crate) clients: Vec<ClientPlace>,
    window_ns: u64,
}

impl Layout {
    /// Lays a design out.
    pub(crate) fn new(design: &Design, lanes: &mut Lanes) -> Layout {
        let n_clients = design.clients.len().max(1);
        let first_card = GATE_POOLS as usize + design.pools.len();
        let n_gates = first_card + n_clients;
        lanes.gates = vec![Gate::new(); n_gates];
        let mut layout = Layout {
            infos: Vec::new(),
            keys: Vec::new(),
            in_force: Vec::new(),
            disks: Vec::new(),
            volumes: Vec::new(),
            clients: Vec::new(),
            window_ns: design.bucket_window_ns,
        };
        for volume in &design.volumes {
            let place = match &volume.backing {
                Backing::Disks(stripe) => layout.place_disks(stripe, lanes),
                Backing::Network(network) => {
                    let gate = network.pool.map_or(GATE_OPEN, |pool| GATE_POOLS + u32::from(pool));
                    let lane = lanes.all.insert(Lane::new(Role::Service, gate));
                    VolumePlace::Network { lane, transfer_bytes: network.transfer_bytes.max(1) }
                }
            };
            layout.volumes.push(place);
        }
        for client in 0..n_clients {
            let gate = (first_card + client) as u32;
            let first_lane = lanes.all.insert(Lane::new(Role::Egress, gate));
            for _ in 1..design.volumes.len() {
                lanes.all.insert(Lane::new(Role::Egress, gate));
            }
            layout.clients.push(ClientPlace::at(first_lane, gate));
        }
        lanes.reserve_timers();
        layout.apply(design, lanes, 0);
        layout
    }

    /// Returns the positions of a volume's disks.
    pub(crate) fn disks_of(&self, volume: usize) -> std::ops::Range<usize> {
        match &self.volumes[volume] {
            VolumePlace::Disks { first, map } => {
                usize::from(*first)..usize::from(*first) + map.n_disks()
            }
            VolumePlace::Network { .. } => 0..0,
        }
    }

    /// Returns how many pieces an I/O of `len_bytes` falls into at most, on any volume.
    pub(crate) fn n_pieces_max(&self, len_bytes: u32) -> usize {
        let n_pieces = self.volumes.iter().map(|volume| match volume {
            VolumePlace::Disks { map, .. } => map.n_pieces_max(len_bytes),
            VolumePlace::Network { transfer_bytes, .. } => {
                len_bytes.div_ceil(*transfer_bytes) as usize
            }
        });
        n_pieces.max().unwrap_or(1).max(1)
    }

    fn place_disks(&mut self, stripe: &Stripe, lanes: &mut Lanes) -> VolumePlace {
        let first = self.disks.len() as u16;
        let gate = match stripe.is_local {
            false => GATE_UNCACHED,
            true if stripe.shares_cached_path() => GATE_CACHED,
            true => GATE_OPEN,
        };
        for _ in &stripe.disks {
            self.disks.push(DiskPlace {
                cached_lane: lanes.all.insert(Lane::new(Role::Cache, GATE_CACHED)),
                lane: lanes.all.insert(Lane::new(Role::Disk, gate)),
                cache: CacheMode::None,
                io_unit_bytes: None,
                streams: None,
            });
        }
        VolumePlace::Disks { first, map: StripeMap::new(stripe) }
    }

    /// Sets every cap to what a design of the same shape says.
    pub(crate) fn apply(&mut self, design: &Design, lanes: &mut Lanes, now_ns: u64) {
        self.check_shape(design);
        lanes.all.iter_mut().for_each(|lane| lane.own = CapSet::EMPTY);
        lanes.gates.iter_mut().for_each(|gate| gate.shared = CapSet::EMPTY);
        self.window_ns = design.bucket_window_ns;
        self.in_force.fill(false);
        let mut setter = Setter { layout: self, lanes, now_ns };
        setter.set_vm(design);
        let mut first = 0;
        for (idx, volume) in design.volumes.iter().enumerate() {
            match &volume.backing {
                Backing::Disks(stripe) => {
                    setter.set_disks(design, idx, stripe, first);
                    first += stripe.disks.len();
                }
                Backing::Network(network) => setter.set_network(idx, &volume.mount, network),
            }
        }
        for (idx, pool) in design.pools.iter().enumerate() {
            let name = format!("pool {}", pool.name);
            let gate = CapSite::Gate(GATE_POOLS + idx as u32);
            let key = (CapKind::Pool, idx, 0, 0);
            let iops_name = format!("{name} iops");
            setter.set(gate, key, Some(&pool.throughput), Measure::BYTES, None, name);
            let key = (CapKind::PoolIops, idx, 0, 0);
            setter.set(gate, key, pool.iops.as_ref(), Measure::OPS, None, iops_name);
        }
        setter.set_clients(design);
        lanes.line_up_caps();
    }

    /// Asserts that a design has what was laid out.
    fn check_shape(&self, design: &Design) {
        let n_disks = |volume: &Volume| match &volume.backing {
            Backing::Disks(stripe) => stripe.disks.len(),
            Backing::Network(_) => 0,
        };
        for (what, there, asked) in [
            ("volumes", self.volumes.len(), design.volumes.len()),
            ("disks", self.disks.len(), design.volumes.iter().map(n_disks).sum()),
            ("clients", self.clients.len(), design.clients.len().max(1)),
        ] {
            assert_eq!(there, asked, "{there} {what} were laid out for a design with {asked}");
        }
    }
}

/// What a cap stands before.
#[derive(Clone, Copy)]
enum CapSite {
    Lane(u32),
    Gate(u32),
    /// Nothing that waits for a rate.
    Apart,
}

struct Setter<'a> {
    layout: &'a mut Layout,
    lanes: &'a mut Lanes,
    now_ns: u64,
}

impl Setter<'_> {
    /// Sets one cap, or none if there is no limit.
    fn set(
        &mut self,
        place: CapSite,
        key: Key,
        limit: Option<&Limit>,
        measure: Measure,
        volume: Option<u16>,
        name: String,
    ) -> Option<CapId> {
        let limit = limit?;
        let direction = measure.direction();
        let (per_s, origin) = (limit.per_s, limit.origin.clone());
        let burst_per_s = limit.burst.map(|burst| burst.per_s).filter(|burst| *burst > per_s);
        let (kind, client) = (key.0, None);
        let info = CapInfo { name, kind, volume, client, direction, per_s, burst_per_s, origin };
        let cap = Cap::new(limit, measure, self.layout.window_ns, self.now_ns);
        let id = if let Some(idx) = self.layout.keys.iter().position(|known| *known == key) {
            let id = CapId(idx as u16);
            self.lanes.caps[id].become_like(cap, self.now_ns);
            self.layout.infos[idx] = info;
            self.layout.in_force[idx] = true;
            id
        } else {
            let n_caps = self.layout.infos.len();
            assert!(n_caps < usize::from(u16::MAX), "{n_caps} caps are more than can be numbered");
            self.layout.keys.push(key);
            self.layout.infos.push(info);
            self.layout.in_force.push(true);
            self.lanes.caps.push(cap)
        };
        match place {
            CapSite::Lane(lane) => self.lanes.all[lane].own.push(id),
            CapSite::Gate(gate) => self.lanes.gates[gate as usize].shared.push(id),
            CapSite::Apart => {}
        }
        Some(id)
    }

    fn set_vm(&mut self, design: &Design) {
        let Some(vm) = &design.vm else { return };
        let (ops, bytes, units) = (Measure::OPS, Measure::BYTES, Measure::UNITS);
        let gate = CapSite::Gate(GATE_UNCACHED);
        let name = |what: &str| format!("vm {} {what}", vm.size);
        let uncached = &vm.uncached;
        let key = (CapKind::VmUncachedIops, 0, 0, 0);
        self.set(gate, key, uncached.iops.as_ref(), units, None, name("uncached iops"));
        let key = (CapKind::VmUncachedBytes, 0, 0, 0);
        self.set(gate, key, uncached.bytes.as_ref(), bytes, None, name("uncached bytes"));
        let gate = CapSite::Gate(GATE_CACHED);
        let caps = match &vm.cached_write {
            None => vec![(&vm.cached, ops, bytes, 0, "cached")],
            Some(write) => vec![
                (&vm.cached, ops.only(0), bytes.only(0), 0, "cached read"),
                (write, ops.only(1), bytes.only(1), 1, "cached write"),
            ],
        };
        for (cap, ops, bytes, which, what) in caps {
            let key = (CapKind::VmCachedIops, 0, 0, which);
            self.set(gate, key, cap.iops.as_ref(), ops, None, name(&format!("{what} iops")));
            let key = (CapKind::VmCachedBytes, 0, 0, which);
            self.set(gate, key, cap.bytes.as_ref(), bytes, None, name(&format!("{what} bytes")));
        }
    }

    fn set_disks(&mut self, design: &Design, volume: usize, stripe: &Stripe, first: usize) {
        // Without a machine, or without a cache in it, there is nothing to keep blocks in.
        let has_cache = design.vm.as_ref().is_some_and(|vm| vm.cache_bytes.unwrap_or(0) > 0);
        let mount = &design.volumes[volume].mount;
        for (idx, disk) in stripe.disks.iter().enumerate() {
            let place = &mut self.layout.disks[first + idx];
            place.cache = if has_cache { disk.cache } else { CacheMode::None };
            place.io_unit_bytes = disk.io_unit_bytes.filter(|&unit| unit > 0);
            let unit = place.io_unit_bytes.filter(|_| disk.merging != Merging::None);
            place.streams = unit.map(|unit| Box::new(Streams::new(unit)));
            let (lane, place_unit) = (CapSite::Lane(place.lane), place.io_unit_bytes);
            let owner = Some(volume as u16);
            let name = |what: &str| format!("disk {mount}[{idx}] {} {what}", disk.sku);
            let iops = disk.cap.iops.as_ref();
            if let Some(writes) = &disk.write_iops {
                let key = |which| (CapKind::DiskIops, volume, idx, which);
                let only = |direction| Measure::UNITS.only(direction);
                self.set(lane, key(1), iops, only(0), owner, name("read iops"));
                self.set(lane, key(2), Some(writes), only(1), owner, name("write iops"));
            } else {
                let key = (CapKind::DiskIops, volume, idx, 0);
                let measure = (Measure::UNITS, disk.write_costs.op);
                self.set_weighed(lane, key, iops, measure, owner, name("iops"));
            }
            let key = (CapKind::DiskBytes, volume, idx, 0);
            let bytes = disk.cap.bytes.as_ref();
            let whole_units = place_unit.filter(|_| disk.merging == Merging::Units);
            let measure = whole_units.map_or(Measure::BYTES, Measure::whole_units);
            let measure = (measure, disk.write_costs.byte);
            self.set_weighed(lane, key, bytes, measure, owner, name("bytes"));
        }
    }

    /// Sets a limit that reads and writes share, where a write may take more of it than a read.
    fn set_weighed(
        &mut self,
        place: CapSite,
        key: Key,
        limit: Option<&Limit>,
        (measure, cost): (Measure, WriteCost),
        volume: Option<u16>,
        name: String,
    ) {
        let Some(limit) = limit else { return };
        let parts = cost.parts();
        let times = |value: u64| value.saturating_mul(parts[0]);
        let burst = limit
            .burst
            .map(|burst| Burst { per_s: times(burst.per_s), bucket: burst.bucket.map(times) });
        let counted = Limit { per_s: times(limit.per_s), burst, origin: limit.origin.clone() };
        let id = self.set(place, key, Some(&counted), measure.weighed(parts), volume, name);
        if let Some(id) = id {
            // Shown in reads.
            let info = &mut self.layout.infos[usize::from(id.0)];
            info.per_s = limit.per_s;
            info.burst_per_s = limit.burst.map(|it| it.per_s).filter(|it| *it > limit.per_s);
        }
    }

    fn set_network(&mut self, volume: usize, mount: &str, network: &NetworkVolume) {
        let VolumePlace::Network { lane, transfer_bytes } = &mut self.layout.volumes[volume] else {
            return;
        };
        *transfer_bytes = network.transfer_bytes.max(1);
        let lane = CapSite::Lane(*lane);
        let owner = Some(volume as u16);
        let name = |what: &str| format!("volume {mount} {} {what}", network.level);
        let key = (CapKind::VolumeQuota, volume, 0, 0);
        self.set(lane, key, network.quota.as_ref(), Measure::BYTES, owner, name("quota"));
        let ceiling = &network.ceiling;
        let measured = |per_s: u64| Limit {
            per_s,
            burst: None,
            origin: "measured ceiling of one volume".to_owned(),
        };
        let key = (CapKind::VolumeIops, volume, 0, 0);
        let of_operations = match (ceiling.read_iops, ceiling.write_iops) {
            (Some(reads), Some(writes)) => {
                Some((reads, (Measure::OPS, WriteCost::between(reads, writes))))
            }
            // What a mix carries falls towards writes, wherever both were measured.
            (Some(reads), None) => Some((reads, (Measure::OPS, WriteCost::default()))),
            (None, Some(writes)) => Some((writes, (Measure::OPS.only(1), WriteCost::default()))),
            (None, None) => None,
        };
        if let Some((per_s, measure)) = of_operations {
            let limit = measured(per_s.max(1));
            self.set_weighed(lane, key, Some(&limit), measure, owner, name("random iops"));
        }
        for (which, per_s, measure, what) in [
            (0, ceiling.read_bytes_per_s, Measure::BYTES.only(0), "read ceiling"),
            (1, ceiling.write_bytes_per_s, Measure::BYTES.only(1), "write ceiling"),
            (2, ceiling.total_bytes_per_s, Measure::BYTES, "ceiling"),
        ] {
            let limit = per_s.map(measured);
            let key = (CapKind::VolumeCeiling, volume, 0, which);
            self.set(lane, key, limit.as_ref(), measure, owner, name(what));
        }
    }

    fn set_clients(&mut self, design: &Design) {
        // Requests go out as well, reads among them; what is read comes in, and is not metered.
        let sent = Measure { op: [CALL_BYTES; 2], unit: [0; 2], byte: [0, 1] };
        let key = |idx| (CapKind::VmEgress, idx, 0, 0);
        if design.clients.is_empty() {
            let card = CapSite::Gate(self.layout.clients[0].gate);
            if let Some(vm) = &design.vm {
                let name = format!("vm {} egress", vm.size);
                self.set(card, key(0), vm.egress.as_ref(), sent, None, name);
            }
        }
        for (idx, client) in design.clients.iter().enumerate() {
            let card = CapSite::Gate(self.layout.clients[idx].gate);
            let name = format!("client {} egress", client.name);
            let egress = self.set(card, key(idx), client.egress.as_ref(), sent, None, name);
            let slots = self.set_slots(idx, client);
            for id in egress.into_iter().chain(slots) {
                self.layout.infos[usize::from(id.0)].client = Some(idx as u16);
            }
        }
    }

    fn set_slots(&mut self, idx: usize, client: &Client) -> Option<CapId> {
        let per_connection = u32::from(client.slots_per_connection).max(1);
        let n_slots = u32::from(client.connections).max(1) * per_connection;
        let limit = Limit {
            per_s: u64::from(n_slots),
            burst: None,
            origin: format!("{} connections x {per_connection}", client.connections.max(1)),
        };
        let key = (CapKind::NfsSlots, idx, 0, 0);
        let name = format!("client {} slots", client.name);
        let id = self.set(CapSite::Apart, key, Some(&limit), Measure::OPS, None, name);
        let place = &mut self.layout.clients[idx];
        place.round_trip_ns = client.round_trip_ns;
        place.slots = id.map(|id| (n_slots, id));
        id
    }
}

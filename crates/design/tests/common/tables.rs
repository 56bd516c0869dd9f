//! Random small catalogues with a need, and every design of them.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::cost::{self, Purchase};
use catalog::{Catalog, Cloud};
use design::{
    CHUNKS_BYTES, ChosenDisks, Demand, Market, Need, Options, Period, PhaseNeed, Price, Ranked,
    Terms, VolumeNeed, VolumeUse, bill, judge, search,
};
use volume::design::LOCAL;
use volume::{CacheMode, Design};

use super::dice::Dice;

const GIB: u64 = 1 << 30;
const MB: u64 = 1_000_000;

/// A type of disk.
#[derive(Clone, Debug)]
pub(crate) struct DiskRow {
    pub(crate) name: String,
    /// Size of a tier, GiB; `None` where the size is chosen.
    size_gib: Option<u64>,
    /// Operations and throughput are chosen, too, and do not follow from the size.
    are_limits_chosen: bool,
    can_cache: bool,
}

/// A machine size.
#[derive(Clone, Debug)]
pub(crate) struct MachineRow {
    pub(crate) name: String,
    n_disks_max: u64,
    has_cache: bool,
    /// The limits of cached disks are known.
    has_cached_path: bool,
    is_open: bool,
    /// Disks in the machine itself, and whether they have limits of their own.
    local: Option<(u32, bool)>,
}

/// A catalogue and a need.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) tables: Vec<(String, String)>,
    catalog: Arc<Catalog>,
    pub(crate) machines: Vec<MachineRow>,
    pub(crate) disks: Vec<DiskRow>,
    pub(crate) need: Need,
    pub(crate) options: Options,
}

/// Largest size, operations and MB/s of a type whose limits are chosen.
const CHOSEN_MAX: (u64, u64, u64) = (3, 7, 3);

const DISK_HEAD: &str = "name,cloud,family,limits,size_gib,iops,mb_s*1000000,size_min_gib,\
                         size_max_gib,iops_base,iops_per_gib,iops_max,mb_s_base*1000000,\
                         mb_s_max*1000000,mb_s_per_iops*1000000,io_unit_kib,\
                         iops_max_without_nitro,mib_s_per_gib,machine_iops_base,machine_mib_s_base,\
                         cache,source\n";
const MACHINE_HEAD: &str = "name,cloud,vcpus,max_data_disks,uncached_iops,uncached_mb_s*1000000,\
                            cached_iops,cached_mb_s*1000000,cache_gib,local_disks,\
                            local_gib,local_iops,local_mb_s*1000000,refuses,nitro,premium,\
                            source\n";
const PRICE_HEAD: &str = "name,cloud,part,above,usd,per,currency,source\n";

/// How catalogues and needs are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    /// What rates are multiplied by.
    pub(crate) scale: u64,
    /// Percent of the types of disk whose limits are chosen.
    pub(crate) chosen_percent: u64,
    /// Percent of the others whose limits follow from the size, with a base for each machine.
    pub(crate) base_percent: u64,
    /// Mixes of I/Os at random places with others, and two phases.
    pub(crate) has_mixes: bool,
    /// Machines that do not take some disks, or not with so many operations.
    pub(crate) has_refusals: bool,
}

impl Case {
    pub(crate) fn new(dice: &mut Dice, draw: Draw) -> Case {
        let mut prices = PRICE_HEAD.to_owned();
        let mut disk_rows = DISK_HEAD.to_owned();
        let n_disks = dice.whole(1, 3);
        let disks =
            (0..n_disks).map(|idx| disk((dice, draw), idx, &mut disk_rows, &mut prices)).collect();
        let mut machine_rows = MACHINE_HEAD.to_owned();
        let n_machines = dice.whole(1, 3);
        let machines: Vec<MachineRow> = (0..n_machines)
            .map(|idx| machine((dice, draw), idx, &mut machine_rows, &mut prices))
            .collect();
        let tables = vec![
            ("2018/disks-test.csv".to_owned(), disk_rows),
            ("2018/vms-test.csv".to_owned(), machine_rows),
            ("2018/prices-test.csv".to_owned(), prices),
        ];
        let catalog = Catalog::with(tables.clone()).unwrap_or_else(|errors| panic!("{errors:?}"));
        let need = need(dice, draw);
        let headroom = if dice.happens(30) { 0.25 } else { 0.0 };
        let allows_write_back = dice.happens(20);
        let options = Options { headroom, n_kept: 1, allows_write_back, ..Options::default() };
        Case { tables, catalog: Arc::new(catalog), machines, disks, need, options }
    }

    /// Gives tiers and machines bursts on credits, and the need a series that asks for its loads
    /// now and then.
    pub(crate) fn with_credits(mut self, dice: &mut Dice) -> Case {
        let mut lines = self.tables[0].1.lines();
        let head = lines.next().expect("a head");
        let mut disks = format!("{head},burst_iops,burst_mb_s*1000000,burst_s\n");
        for (line, row) in lines.zip(&self.disks) {
            let fields: Vec<&str> = line.split(',').collect();
            let mut more = |field: usize, most: u64| {
                fields[field].parse::<u64>().map_or(0, |base| base + dice.whole(1, most))
            };
            let (iops, mb) = (more(5, 10), more(6, 4));
            let bursts = match row.size_gib {
                Some(_) => format!("{iops},{mb},{}", dice.whole(1, 8)),
                None => ",,".to_owned(),
            };
            disks.push_str(&format!("{line},{bursts}\n"));
        }
        self.tables[0].1 = disks;
        let mut lines = self.tables[1].1.lines();
        let head = lines.next().expect("a head");
        let mut machines = format!(
            "{head},uncached_burst_iops,uncached_burst_mb_s*1000000,cached_burst_iops,\
             cached_burst_mb_s*1000000\n"
        );
        for line in lines {
            let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
            let mut bursts = String::new();
            // Operations and bytes of the uncached path, and of the cached one.
            for field in &mut fields[4..8] {
                let most = field.parse::<u64>().ok().filter(|_| dice.happens(60));
                if let Some(most) = most {
                    // What it carried before is its burst, of which it sustains a part.
                    *field = (most / dice.one_of(&[2, 3, 5])).max(1).to_string();
                    let burst = most.max(2) + dice.whole(0, 4);
                    bursts.push_str(&format!(",{burst}"));
                } else {
                    bursts.push(',');
                }
            }
            machines.push_str(&format!("{}{bursts}\n", fields.join(",")));
        }
        self.tables[1].1 = machines;
        let catalog = Catalog::with(self.tables.clone());
        self.catalog = Arc::new(catalog.unwrap_or_else(|errors| panic!("{errors:?}")));
        let loads = self.need.volumes.iter().map(|volume| {
            let first = volume.phases.first().filter(|first| first.iops > 0.0);
            first.map(|first| PhaseNeed { iops: 1.0, ..first.clone() })
        });
        let loads = loads.collect();
        let most: Vec<f64> = self.need.volumes.iter().map(|it| it.phases[0].iops).collect();
        let n_periods = dice.whole(2, 8);
        // Credits of machines last for half an hour, those of disks for seconds.
        let unit_s = dice.one_of(&[1.0, 1.0, 400.0]);
        let periods = (0..n_periods).map(|at| Period {
            span_s: dice.one_of(&[1.0, 2.0, 5.0]) * unit_s,
            // All of it once at least.
            iops: most.iter().map(|most| most * if at == 1 { 1.0 } else { part(dice) }).collect(),
        });
        let periods = periods.collect();
        let short_s_max = dice.one_of(&[0.0, 0.0, 2.0, 5.0]) * unit_s;
        self.need.series = Some(Demand { loads, periods, short_s_max, n_again: 0 });
        self
    }

    /// Takes the bursts from its machines again.
    pub(crate) fn without_bursts_of_machines(mut self) -> Case {
        let bursts_from = MACHINE_HEAD.trim_end().split(',').count();
        let plain = |line: &str| {
            let fields: Vec<&str> = line.split(',').take(bursts_from).collect();
            format!("{}\n", fields.join(","))
        };
        self.tables[1].1 = self.tables[1].1.lines().map(plain).collect();
        let catalog = Catalog::with(self.tables.clone());
        self.catalog = Arc::new(catalog.unwrap_or_else(|errors| panic!("{errors:?}")));
        self
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms {
            edition: "2018".to_owned(),
            machines: self.machines.iter().map(|row| row.name.clone()).collect(),
            disks: self.disks.iter().map(|row| &*row.name).chain([LOCAL]).map(Into::into).collect(),
            ..Terms::new(Cloud::Azure, None)
        }
    }

    /// Prints tables and need, where a case fails.
    pub(crate) fn shown(&self) -> String {
        let tables: String =
            self.tables.iter().map(|(name, text)| format!("{name}\n{text}")).collect();
        format!("{tables}{:#?}\n{:?}", self.need, self.options)
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns the same with so many times the I/Os, and no more than that.
    pub(crate) fn times(&self, factor: f64) -> Case {
        let mut case = self.clone();
        for phase in case.need.volumes.iter_mut().flat_map(|volume| &mut volume.phases) {
            phase.iops *= factor;
        }
        case.options.headroom = 0.0;
        case
    }

    pub(crate) fn search(&self, n_kept: usize) -> Vec<Ranked> {
        let market = Market::new(&self.catalog, self.terms()).expect("a market");
        let options = Options { n_kept, ..self.options };
        search(&market, &self.need, &options).expect("a need").designs
    }
}

/// Part of the load of the first phase that a volume asks for.
fn part(dice: &mut Dice) -> f64 {
    dice.one_of(&[0.0, 0.25, 0.5, 1.0, 1.5])
}

fn price(name: &str, usd: u64, per: &str) -> String {
    format!("{name},Azure,,,{usd},{per},USD,guide-2018\n")
}

fn disk(
    (dice, draw): (&mut Dice, Draw),
    idx: u64,
    rows: &mut String,
    prices: &mut String,
) -> DiskRow {
    let name = format!("T{idx}x");
    // Standard HDD bills operations only where they have a price, and here they have none.
    let family = dice.one_of(&["Premium SSD", "Premium SSD v2", "Standard HDD"]);
    let is_chosen = dice.happens(draw.chosen_percent);
    if !is_chosen && draw.base_percent > 0 && dice.happens(draw.base_percent) {
        return disk_of_base((dice, draw), name, rows, prices);
    }
    let can_cache = !is_chosen && dice.happens(70);
    let unit = dice.one_of(&["", "256"]);
    let cache = if can_cache { "yes" } else { "no" };
    let (size, iops, mb) = (dice.whole(1, 4), dice.whole(2, 9), dice.whole(1, 4));
    let (iops, mb) = (iops * draw.scale, mb * draw.scale);
    if is_chosen {
        let (size, iops, mb) = CHOSEN_MAX;
        let limits = format!("1,{size},2,3,{iops},1,{mb},1");
        let without_nitro = if draw.has_refusals { dice.one_of(&["", "3", "4"]) } else { "" };
        rows.push_str(&format!(
            "{name},Azure,{family},chosen,,,,{limits},{unit},{without_nitro},,,,{cache},\
             guide-2018\n"
        ));
    } else {
        rows.push_str(&format!(
            "{name},Azure,{family},,{size},{iops},{mb},,,,,,,,,{unit},,,,,{cache},guide-2018\n"
        ));
    }
    if is_chosen {
        prices.push_str(&price(&name, dice.whole(1, 3), "GiB-month"));
        prices.push_str(&format!("{name},Azure,iops,2,1,IOPS-month,USD,guide-2018\n"));
        prices.push_str(&format!("{name},Azure,throughput,1,2,MB/s-month,USD,guide-2018\n"));
    } else if dice.happens(85) {
        prices.push_str(&price(&name, dice.whole(1, 8), "month"));
    }
    let size_gib = (!is_chosen).then_some(size);
    DiskRow { name, size_gib, are_limits_chosen: is_chosen, can_cache }
}

/// Draws a type whose limits follow from its size, beside what each machine has once for all disks
/// of the type.
fn disk_of_base(
    (dice, draw): (&mut Dice, Draw),
    name: String,
    rows: &mut String,
    prices: &mut String,
) -> DiskRow {
    let size = CHOSEN_MAX.0;
    let (iops, mib) = (dice.whole(1, 4) * draw.scale, dice.whole(1, 2) * draw.scale);
    let (iops_base, mib_base) = (dice.whole(1, 9) * draw.scale, dice.whole(1, 4) * draw.scale);
    rows.push_str(&format!(
        "{name},Azure,Standard HDD,size,,,,1,{size},,{iops},,,,,,,{mib},{iops_base},{mib_base},no,\
         guide-2018\n"
    ));
    prices.push_str(&price(&name, dice.whole(1, 3), "GiB-month"));
    DiskRow { name, size_gib: None, are_limits_chosen: false, can_cache: false }
}

fn machine(
    (dice, draw): (&mut Dice, Draw),
    idx: u64,
    rows: &mut String,
    prices: &mut String,
) -> MachineRow {
    let name = format!("Standard_X{idx}q");
    let n_disks_max = dice.whole(1, 4);
    let is_open = dice.happens(15);
    let has_cache = dice.happens(60);
    let vcpus = dice.whole(1, 4);
    let (iops, mb) = (dice.whole(4, 30) * draw.scale, dice.whole(2, 12) * draw.scale);
    let mb = if is_open { String::new() } else { mb.to_string() };
    let (cached_iops, cached_mb) = (dice.whole(4, 40), dice.whole(2, 16));
    let (cached_iops, cached_mb) = (cached_iops * draw.scale, cached_mb * draw.scale);
    let cache_gib = dice.whole(1, 4);
    let cached = if has_cache {
        format!("{cached_iops},{cached_mb},{cache_gib}")
    } else {
        dice.one_of(&[",,", "30,,2", "30,9,"]).to_owned()
    };
    let has_cached_path = !cached.starts_with(',') && !cached.contains(",,");
    let local = dice.happens(50).then(|| (dice.whole(1, 2) as u32, dice.happens(60)));
    let local_figures = local.map_or(",,,".to_owned(), |(n_disks, has_limits)| {
        let n = u64::from(n_disks);
        let (gib, iops, mb) = (dice.whole(1, 4), dice.whole(2, 12), dice.whole(1, 4));
        let (iops, mb) = (iops * draw.scale * n, mb * draw.scale * n);
        let limits = if has_limits { format!("{iops},{mb}") } else { ",".to_owned() };
        format!("{n_disks},{},{limits}", gib * n)
    });
    let (refuses, nitro) = if draw.has_refusals {
        let families = ["", "", "", "Premium SSD", "Premium SSD v2", "Standard HDD;Premium SSD"];
        (dice.one_of(&families), dice.one_of(&["", "yes", "no", "no"]))
    } else {
        ("", "")
    };
    rows.push_str(&format!(
        "{name},Azure,{vcpus},{n_disks_max},{iops},{mb},{cached},{local_figures},{refuses},{nitro},\
         yes,guide-2018\n"
    ));
    if dice.happens(85) {
        prices.push_str(&price(&name, dice.whole(1, 10), "month"));
    }
    MachineRow { name, n_disks_max, has_cache, has_cached_path, is_open, local }
}

fn need(dice: &mut Dice, draw: Draw) -> Need {
    let n_volumes = dice.one_of(&[1, 1, 1, 2, 2]);
    let is_one = dice.happens(50) || !draw.has_mixes;
    let names = if is_one { vec!["all"] } else { vec!["day", "night"] };
    let volume = |dice: &mut Dice, idx: u64| VolumeNeed {
        mount: format!("/mnt/v{idx}"),
        usage: dice.one_of(&[VolumeUse::Data, VolumeUse::Data, VolumeUse::Log, VolumeUse::Temp]),
        capacity_gib: dice.whole(0, 5) as f64,
        working_set_gib: dice.happens(60).then(|| dice.whole(1, 6) as f64),
        hit_share: dice.happens(10).then(|| dice.one_of(&[0.5, 1.0])),
        latency_ms_max: dice.happens(15).then(|| dice.one_of(&[0.5, 1.0, 4.0])),
        is_shared: false,
        phases: names.iter().map(|name| phase(dice, draw, name)).collect(),
    };
    let volumes = (0..n_volumes).map(|idx| volume(dice, idx)).collect();
    let vcpus = dice.happens(20).then(|| dice.whole(1, 4) as f64);
    Need { volumes, vcpus, memory_gib: None, series: None }
}

fn phase(dice: &mut Dice, draw: Draw, name: &str) -> PhaseNeed {
    // One size, or sizes of a mean between pages.
    let (size_bytes, step_bytes) = match dice.one_of(&[4, 8, 64, 64, 128, 256, 512]) << 10 {
        bytes if draw.has_mixes && dice.happens(25) => (bytes + 3000, Some(4096)),
        bytes => (bytes, None),
    };
    let random_shares: &[f64] = if draw.has_mixes { &[1.0, 1.0, 0.5, 0.0] } else { &[1.0] };
    PhaseNeed {
        phase: name.to_owned(),
        iops: (dice.whole(0, 24) * draw.scale) as f64 / 2.0,
        size_bytes,
        step_bytes,
        read_share: dice.one_of(&[0.0, 0.5, 0.7, 1.0]),
        random_share: dice.one_of(random_shares),
        queue_depth: None,
    }
}

/// A machine, or equal disks: name, number, size, and what is chosen of each.
type Bought = (String, u32, u64, Option<u64>, Option<u64>);

/// Every design of a catalogue that carries its need.
pub(crate) struct EveryDesign<'a> {
    case: &'a Case,
    /// What was found: dearer designs of the same machine and types of disk are left out.
    found: &'a [Ranked],
    /// All others above this price are left out.
    most: Option<Price>,
    /// Prices of machines and of disks, by what is bought.
    prices: HashMap<Bought, Option<Price>>,
    carried: Vec<Ranked>,
    /// How many were written.
    pub(crate) n_tried: usize,
    /// Those that do not carry it, with their prices.
    pub(crate) rejected: Vec<(Price, Design)>,
}

impl<'a> EveryDesign<'a> {
    /// Tries every design.
    pub(crate) fn of(case: &'a Case) -> Self {
        Self::up_to(case, &[], None)
    }

    /// Tries every design that could stand among those that were found: no dearer one of the same
    /// machine and types of disk could, nor one dearer than all, if they are as many as were asked
    /// for.
    pub(crate) fn against(case: &'a Case, found: &'a [Ranked], n_asked: usize) -> Self {
        let worst = found.last().filter(|_| found.len() >= n_asked);
        Self::up_to(case, found, worst.map(|worst| worst.price))
    }

    fn up_to(case: &'a Case, found: &'a [Ranked], most: Option<Price>) -> Self {
        let mut every = EveryDesign {
            case,
            found,
            most,
            prices: HashMap::new(),
            carried: Vec::new(),
            n_tried: 0,
            rejected: Vec::new(),
        };
        for machine in &case.machines {
            let options: Vec<Vec<ChosenDisks>> =
                case.need.volumes.iter().map(|need| every.options(machine, need)).collect();
            every.combine(machine, &options, &mut Vec::new());
        }
        every
    }

    /// Returns the best, each the best of its machine and types of disk.
    pub(crate) fn best(mut self, n_kept: usize) -> Vec<Ranked> {
        self.carried.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let mut kept: Vec<Ranked> = Vec::new();
        for design in self.carried {
            let is_kin = |known: &&Ranked| {
                let names = |it: &Ranked| {
                    it.volumes.iter().map(|volume| volume.disk.clone()).collect::<Vec<_>>()
                };
                known.machine == design.machine && names(known) == names(&design)
            };
            if !kept.iter().any(|known| is_kin(&known)) {
                kept.push(design);
            }
        }
        kept.truncate(n_kept);
        kept
    }

    /// Tries every design that differs from one in one thing: the machine; type, number, size or
    /// limits of the disks of a volume; a host cache; a stripe unit. Returns those that carry the
    /// need.
    pub(crate) fn single_changes(case: &'a Case, of: &Ranked) -> Vec<Ranked> {
        let mut every = EveryDesign {
            case,
            found: &[],
            most: None,
            prices: HashMap::new(),
            carried: Vec::new(),
            n_tried: 0,
            rejected: Vec::new(),
        };
        let own = case.machines.iter().find(|row| row.name == of.machine).expect("a machine");
        let is_cached = of.volumes.iter().any(|it| it.cache != CacheMode::None);
        for machine in case.machines.iter().filter(|row| row.name != of.machine) {
            let fits = u64::from(n_attached(&of.volumes)) <= machine.n_disks_max;
            if fits && (machine.has_cache || !is_cached) {
                every.single_change(machine, &of.volumes);
            }
        }
        for (idx, need) in case.need.volumes.iter().enumerate() {
            let was = &of.volumes[idx];
            let units = (0..5).map(|doublings| (64 << 10) << doublings);
            for chunk_bytes in units.filter(|_| was.n_disks > 1) {
                let mut volumes = of.volumes.clone();
                volumes[idx].chunk_bytes = chunk_bytes;
                every.single_change(own, &volumes);
            }
            for option in every.options(own, need) {
                let with_cache = ChosenDisks { cache: option.cache, ..was.clone() };
                let of_disks = ChosenDisks { cache: was.cache, ..option };
                for chosen in [with_cache, of_disks] {
                    let mut volumes = of.volumes.clone();
                    volumes[idx] = chosen;
                    if u64::from(n_attached(&volumes)) <= own.n_disks_max {
                        every.single_change(own, &volumes);
                    }
                }
            }
        }
        every.carried
    }

    fn single_change(&mut self, machine: &MachineRow, volumes: &[ChosenDisks]) {
        if let Some((ranked, _, true)) = self.tried(machine, volumes) {
            self.carried.push(ranked);
        }
    }

    /// Returns every way to make a volume.
    fn options(&self, machine: &MachineRow, need: &VolumeNeed) -> Vec<ChosenDisks> {
        let mut all = Vec::new();
        for disk in &self.case.disks {
            let may_cache = disk.can_cache
                && machine.has_cache
                && need.usage != VolumeUse::Log
                && (need.working_set_gib.is_some() || need.hit_share.is_some());
            let modes: &[CacheMode] = match (may_cache, self.case.options.allows_write_back) {
                (false, _) => &[CacheMode::None],
                (true, false) => &[CacheMode::None, CacheMode::ReadOnly],
                (true, true) => &[CacheMode::None, CacheMode::ReadOnly, CacheMode::ReadWrite],
            };
            for n_disks in 1..=machine.n_disks_max as u32 {
                for &cache in modes {
                    self.of_disk(disk, n_disks, cache, &mut all);
                }
            }
        }
        if let Some((n_local, _)) = machine.local.filter(|_| need.usage == VolumeUse::Temp) {
            let row = DiskRow {
                name: LOCAL.to_owned(),
                size_gib: Some(0),
                are_limits_chosen: false,
                can_cache: false,
            };
            for n_disks in 1..=n_local {
                self.of_disk(&row, n_disks, CacheMode::None, &mut all);
            }
        }
        all
    }

    fn of_disk(&self, disk: &DiskRow, n_disks: u32, cache: CacheMode, all: &mut Vec<ChosenDisks>) {
        // Both stripe units where it does not take too long.
        let chunks: &[u64] =
            if self.case.need.volumes.len() == 1 { &CHUNKS_BYTES } else { &CHUNKS_BYTES[1..] };
        let chunks = if n_disks > 1 { chunks } else { &chunks[..1] };
        let one = |size_gib: u64, chosen: Option<(u64, u64)>, chunk_bytes: u64| ChosenDisks {
            disk: disk.name.clone(),
            n_disks,
            cache,
            chunk_bytes,
            size_bytes: size_gib * GIB,
            is_sized: disk.size_gib.is_none(),
            iops: chosen.map(|(iops, _)| iops),
            throughput: chosen.map(|(_, mb)| mb * MB),
            price: Price::default(),
        };
        for &chunk in chunks {
            let Some(size_gib) = disk.size_gib else {
                for size_gib in 1..=CHOSEN_MAX.0 {
                    if !disk.are_limits_chosen {
                        all.push(one(size_gib, None, chunk));
                        continue;
                    }
                    for iops in 2..=CHOSEN_MAX.1 {
                        let of_mb = |mb| one(size_gib, Some((iops, mb)), chunk);
                        all.extend((1..=CHOSEN_MAX.2).map(of_mb));
                    }
                }
                continue;
            };
            all.push(one(size_gib, None, chunk));
        }
    }

    fn combine(
        &mut self,
        machine: &MachineRow,
        options: &[Vec<ChosenDisks>],
        taken: &mut Vec<ChosenDisks>,
    ) {
        let Some((first, rest)) = options.split_first() else {
            if self.is_too_dear(machine, taken) {
                return;
            }
            self.n_tried += 1;
            match self.tried(machine, taken) {
                Some((ranked, _, true)) => self.carried.push(ranked),
                Some((ranked, design, false)) => self.rejected.push((ranked.price, design)),
                None => {}
            }
            return;
        };
        for option in first {
            taken.push(option.clone());
            let n_disks = n_attached(taken);
            if u64::from(n_disks) <= machine.n_disks_max {
                self.combine(machine, rest, taken);
            }
            taken.pop();
        }
    }

    /// Says whether a design is left out for its price, which is the sum of its parts'.
    fn is_too_dear(&mut self, machine: &MachineRow, volumes: &[ChosenDisks]) -> bool {
        let names = |it: &[ChosenDisks]| it.iter().map(|it| it.disk.clone()).collect::<Vec<_>>();
        let kin = self
            .found
            .iter()
            .find(|it| it.machine == machine.name && names(&it.volumes) == names(volumes));
        let Some(most) = kin.map(|kin| kin.price).or(self.most) else { return false };
        let mut price = Price { is_open: is_open(machine, volumes), ..Price::default() };
        let mut is_known = true;
        let mut add = |part: Option<Price>| match part {
            Some(part) => price = price + part,
            None => is_known = false,
        };
        let bought = (machine.name.clone(), 0, 0, None, None);
        add(self.part(bought, machine, &volumes[0], 0));
        for chosen in volumes.iter().filter(|it| !it.is_local()) {
            let name = chosen.disk.clone();
            let bought = (name, chosen.n_disks, chosen.size_bytes, chosen.iops, chosen.throughput);
            add(self.part(bought, machine, chosen, 1));
        }
        is_known && price > most
    }

    /// Returns the price of a part: of the machine of a design with one volume, or of its disks.
    fn part(
        &mut self,
        bought: Bought,
        machine: &MachineRow,
        chosen: &ChosenDisks,
        idx: usize,
    ) -> Option<Price> {
        if let Some(known) = self.prices.get(&bought) {
            return *known;
        }
        let ranked = ranked(machine, std::slice::from_ref(chosen));
        let text = design::toml(&self.case.terms(), &self.case.need, &ranked, "part");
        let (design, _) = volume::design::parse_with(&text, &self.case.catalog);
        let order = design.map(|design| bill::order(&design, None, 0.0).expect("an order"));
        let price = order.and_then(|order| {
            let parts = parts(&order);
            parts.get(idx).map(|part| of_part(&self.case.catalog, part))
        });
        self.prices.insert(bought, price);
        price
    }

    /// Judges one design as a user would have written it: whether it carries the need. `None` where
    /// it is no design, or is too small in what no run shows.
    fn tried(
        &self,
        machine: &MachineRow,
        volumes: &[ChosenDisks],
    ) -> Option<(Ranked, Design, bool)> {
        let case = self.case;
        let mut ranked = ranked(machine, volumes);
        let text = design::toml(&case.terms(), &case.need, &ranked, "tried");
        let (design, _) = volume::design::parse_with(&text, &case.catalog);
        let design = design?;
        let size = design.rows()?.vm(&machine.name)?;
        if case.need.vcpus.is_some_and(|least| size.vcpus().is_none_or(|has| has.value < least)) {
            return None;
        }
        let judged = judge(&design, &case.need);
        ranked.headroom = judged.headroom();
        let has_reserve = judged.headroom() >= case.options.headroom - 1e-9;
        if !judged.too_small.is_empty() || !judged.too_slow.is_empty() {
            return None;
        }
        let order = bill::order(&design, None, 0.0).expect("an order");
        let mut price = Price { is_open: is_open(machine, volumes), ..Price::default() };
        for bought in parts(&order) {
            price = price + of_part(&case.catalog, &bought);
        }
        ranked.price = price;
        Some((ranked, design, judged.is_met() && has_reserve))
    }
}

/// Makes a design, of which only what it is made of is known.
fn ranked(machine: &MachineRow, volumes: &[ChosenDisks]) -> Ranked {
    Ranked {
        machine: machine.name.clone(),
        interface: None,
        machine_price: Price::default(),
        volumes: volumes.to_vec(),
        price: Price::default(),
        headroom: 0.0,
        n_parts: 1 + n_attached(volumes),
    }
}

/// Returns whether a limit that a design needs is not known.
fn is_open(machine: &MachineRow, volumes: &[ChosenDisks]) -> bool {
    let is_on_local = volumes.iter().any(ChosenDisks::is_local);
    let has_remote = volumes.iter().any(|it| !it.is_local());
    let lacks_local =
        machine.local.is_some_and(|(_, has_limits)| !has_limits) && !machine.has_cached_path;
    machine.is_open && has_remote || is_on_local && lacks_local
}

/// Returns how many disks are attached to the machine.
fn n_attached(volumes: &[ChosenDisks]) -> u32 {
    volumes.iter().filter(|it| !it.is_local()).map(|it| it.n_disks).sum()
}

/// Returns an order for each machine and each volume.
fn parts(order: &Purchase) -> Vec<Purchase> {
    let none = Purchase { machines: Vec::new(), storage: Vec::new(), ..order.clone() };
    let machines = order.machines.iter();
    let machines = machines.map(|it| Purchase { machines: vec![it.clone()], ..none.clone() });
    let storage = order.storage.iter();
    let storage = storage.map(|it| Purchase { storage: vec![it.clone()], ..none.clone() });
    machines.chain(storage).collect()
}

fn of_part(catalog: &Catalog, order: &Purchase) -> Price {
    let edition = catalog.edition("2018").expect("an edition");
    if let Ok(cost) = cost::cost(edition, order) {
        let micro_usd = (cost.usd() * 1e6).round() as u64;
        return Price { micro_usd, ..Price::default() };
    }
    let gib = |it: &cost::Storage| f64::from(it.count) * it.capacity_gib;
    let unpriced_gib = order.storage.iter().map(gib).sum::<f64>().ceil() as u64;
    let vcpus = |it: &cost::Machine| edition.vm(&it.name).and_then(|size| size.vcpus());
    let unpriced_vcpus = order.machines.iter().filter_map(vcpus);
    let unpriced_vcpus = unpriced_vcpus.map(|figure| figure.value as u64).sum();
    Price { is_unpriced: true, unpriced_vcpus, unpriced_gib, ..Price::default() }
}

//! The search against a mixed-integer program, on catalogues too large to try every design.
//!
//! The program is written down from the rules of docs/design.md, and solved by a library: it has no
//! line of code in common with the search but the tables that both are made of.
//!
//! The solver branches on whole numbers and cuts nothing off by itself. So that it ends, each
//! constraint is there a second time as what it comes to in whole numbers: at least three disks
//! where 2.1 would do. No design is lost by that, and parts of disks, of which there are many ways,
//! no longer look cheaper than whole ones.

mod common;

use std::sync::Arc;

use catalog::{Catalog, Cloud};
use common::dice::{Dice, check_all, seeds};
use design::{Market, Need, Options, PhaseNeed, Terms, VolumeNeed, VolumeUse, search};
use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, microlp, variable,
};

/// Catalogues that an ordinary test run looks at.
const N_CASES: u64 = 12;

/// Catalogues that are looked at with `PLIMSOLL_LONG_TESTS`.
const N_CASES_LONG: u64 = 200;

/// Part of a price by which both may differ: rounding.
const ROUNDING: f64 = 1e-6;

const KIB: u64 = 1 << 10;
const MB: f64 = 1e6;

struct Tier {
    name: String,
    gib: u64,
    iops: u64,
    mb: u64,
    usd: u64,
    can_cache: bool,
}

/// Least and most of what is chosen of the one type without tiers: GiB, IOPS, MB/s. The least IOPS
/// and MB/s are free.
const CHOSEN: [(u64, u64); 3] = [(1, 64), (20, 160), (5, 40)];

/// What more of each costs, US dollars.
const CHOSEN_USD: [f64; 3] = [0.75, 0.25, 0.5];

struct Machine {
    name: String,
    vcpus: u64,
    n_disks_max: u64,
    uncached: (u64, u64),
    /// IOPS and MB/s of disks with host cache, if it has one.
    cached: Option<(u64, u64)>,
    usd: u64,
}

struct Case {
    catalog: Arc<Catalog>,
    tiers: Vec<Tier>,
    machines: Vec<Machine>,
    need: Need,
    headroom: f64,
}

impl Case {
    fn new(dice: &mut Dice) -> Case {
        let tiers: Vec<Tier> = (0..dice.whole(5, 8)).map(|idx| tier(dice, idx)).collect();
        let machines: Vec<Machine> = (0..dice.whole(6, 10)).map(|idx| machine(dice, idx)).collect();
        let n_volumes = dice.whole(2, 3);
        let need = Need {
            volumes: (0..n_volumes).map(|idx| volume(dice, idx)).collect(),
            vcpus: dice.happens(50).then(|| dice.whole(1, 6) as f64),
            memory_gib: None,
            series: None,
        };
        let catalog = Catalog::with(tables(&tiers, &machines));
        let catalog = Arc::new(catalog.unwrap_or_else(|errors| panic!("{errors:?}")));
        let headroom = if dice.happens(30) { 0.25 } else { 0.0 };
        Case { catalog, tiers, machines, need, headroom }
    }

    /// Returns the least price that the search finds.
    fn searched(&self) -> Option<f64> {
        let names = self.tiers.iter().map(|tier| tier.name.clone()).chain(["V2x".to_owned()]);
        let terms = Terms {
            edition: "2018".to_owned(),
            machines: self.machines.iter().map(|machine| machine.name.clone()).collect(),
            disks: names.collect(),
            ..Terms::new(Cloud::Azure, None)
        };
        let market = Market::new(&self.catalog, terms).expect("a market");
        let options = Options { headroom: self.headroom, n_kept: 1, ..Options::default() };
        let found = search(&market, &self.need, &options).expect("a need");
        found.designs.first().map(|best| best.price.usd())
    }
}

fn tier(dice: &mut Dice, idx: u64) -> Tier {
    Tier {
        name: format!("T{idx}x"),
        gib: dice.one_of(&[16, 32, 64, 128]),
        iops: dice.whole(10, 120),
        mb: dice.whole(2, 30),
        usd: dice.whole(3, 60),
        can_cache: dice.happens(70),
    }
}

fn machine(dice: &mut Dice, idx: u64) -> Machine {
    let pair = |dice: &mut Dice| (dice.whole(100, 900), dice.whole(20, 200));
    Machine {
        name: format!("Standard_X{idx}q"),
        vcpus: dice.whole(1, 8),
        n_disks_max: dice.whole(3, 10),
        uncached: pair(dice),
        cached: dice.happens(60).then(|| pair(dice)),
        usd: dice.whole(10, 200),
    }
}

fn volume(dice: &mut Dice, idx: u64) -> VolumeNeed {
    let phase = |dice: &mut Dice, name: &str| PhaseNeed {
        phase: name.to_owned(),
        iops: dice.whole(10, 250) as f64,
        size_bytes: dice.one_of(&[4, 8, 64]) * KIB,
        step_bytes: None,
        read_share: dice.one_of(&[0.0, 0.5, 0.75, 1.0]),
        random_share: dice.one_of(&[1.0, 1.0, 0.5]),
        queue_depth: None,
    };
    VolumeNeed {
        mount: format!("/mnt/v{idx}"),
        usage: dice.one_of(&[VolumeUse::Data, VolumeUse::Data, VolumeUse::Log]),
        capacity_gib: dice.whole(4, 150) as f64,
        hit_share: dice.happens(70).then(|| dice.one_of(&[0.25, 0.5, 1.0])),
        phases: ["day", "night"].map(|name| phase(dice, name)).to_vec(),
        ..VolumeNeed::default()
    }
}

fn tables(tiers: &[Tier], machines: &[Machine]) -> Vec<(String, String)> {
    let mut disks = "name,cloud,family,limits,size_gib,iops,mb_s*1000000,size_min_gib,\
                     size_max_gib,iops_base,iops_max,mb_s_base*1000000,mb_s_max*1000000,cache,\
                     source\n"
        .to_owned();
    let mut prices = "name,cloud,part,above,usd,per,currency,source\n".to_owned();
    for Tier { name, gib, iops, mb, usd, can_cache } in tiers {
        let cache = if *can_cache { "yes" } else { "no" };
        disks.push_str(&format!(
            "{name},Azure,Premium SSD,,{gib},{iops},{mb},,,,,,,{cache},guide-2018\n"
        ));
        prices.push_str(&format!("{name},Azure,,,{usd},month,USD,guide-2018\n"));
    }
    let [(gib_min, gib_max), (iops_min, iops_max), (mb_min, mb_max)] = CHOSEN;
    disks.push_str(&format!(
        "V2x,Azure,Premium SSD v2,chosen,,,,{gib_min},{gib_max},{iops_min},{iops_max},{mb_min},\
         {mb_max},no,guide-2018\n"
    ));
    let [gib_usd, iops_usd, mb_usd] = CHOSEN_USD;
    prices.push_str(&format!("V2x,Azure,,,{gib_usd},GiB-month,USD,guide-2018\n"));
    prices.push_str(&format!(
        "V2x,Azure,iops,{iops_min},{iops_usd},IOPS-month,USD,guide-2018\n\
         V2x,Azure,throughput,{mb_min},{mb_usd},MB/s-month,USD,guide-2018\n"
    ));
    let mut vms = "name,cloud,vcpus,max_data_disks,uncached_iops,uncached_mb_s*1000000,\
                   cached_iops,cached_mb_s*1000000,cache_gib,premium,source\n"
        .to_owned();
    for Machine { name, vcpus, n_disks_max, uncached: (iops, mb), cached, usd } in machines {
        let cached = cached.map_or(",,".to_owned(), |(iops, mb)| format!("{iops},{mb},10"));
        vms.push_str(&format!(
            "{name},Azure,{vcpus},{n_disks_max},{iops},{mb},{cached},yes,guide-2018\n"
        ));
        prices.push_str(&format!("{name},Azure,,,{usd},month,USD,guide-2018\n"));
    }
    vec![
        ("2018/disks-test.csv".to_owned(), disks),
        ("2018/vms-test.csv".to_owned(), vms),
        ("2018/prices-test.csv".to_owned(), prices),
    ]
}

/// A way to make a volume, as variables of the program.
struct Way {
    is_chosen: Variable,
    is_cached: bool,
    /// Places for disks, capacity, IOPS, MB/s and price.
    n_disks: Expression,
    gib: Expression,
    iops: Expression,
    mb: Expression,
    usd: Expression,
}

/// What the disks of a volume must carry at least, cached or not.
struct Least {
    is_cached: bool,
    gib: f64,
    iops: f64,
    mb: f64,
}

/// Returns the next whole number; what is above one by rounding alone is that one.
fn whole_up(number: f64) -> f64 {
    (number * (1.0 - 1e-9)).ceil()
}

/// Returns how much of something the machine has that is taken.
type Has<'a> = &'a dyn Fn(&dyn Fn(&Machine) -> u64) -> Expression;

/// Writes the program down, one part after the other.
struct Program<'a> {
    case: &'a Case,
    variables: ProblemVariables,
    constraints: Vec<good_lp::Constraint>,
    n_disks_max: u64,
}

impl Program<'_> {
    fn whole(&mut self, most: u64) -> Variable {
        self.variables.add(variable().integer().min(0).max(most as f64))
    }

    fn yes_or_no(&mut self) -> Variable {
        self.variables.add(variable().binary())
    }

    /// Some disks of a tier.
    fn of_tier(&mut self, tier: &Tier, least: &Least) -> Way {
        let (is_chosen, n_disks) = (self.yes_or_no(), self.whole(self.n_disks_max));
        self.constraints.push(constraint!(n_disks <= self.n_disks_max as f64 * is_chosen));
        let limits = [(least.gib, tier.gib), (least.iops, tier.iops), (least.mb, tier.mb)];
        let n_least = limits.map(|(asked, of_disk)| whole_up(asked / of_disk as f64));
        for n_least in n_least {
            self.constraints.push(constraint!(n_disks >= n_least * is_chosen));
        }
        let times = |number: u64| number as f64 * n_disks;
        Way {
            is_chosen,
            is_cached: least.is_cached,
            n_disks: n_disks.into(),
            gib: times(tier.gib),
            iops: times(tier.iops),
            mb: times(tier.mb),
            usd: times(tier.usd),
        }
    }

    /// So many disks of the type whose limits are chosen.
    fn of_chosen(&mut self, n_disks: u64, asked: &Least) -> Way {
        let is_chosen = self.yes_or_no();
        let n = n_disks as f64;
        let asked = [asked.gib, asked.iops, asked.mb].into_iter();
        let [gib, iops, mb] = CHOSEN.map(|(least, most)| {
            let chosen = self.whole(most);
            self.constraints.push(constraint!(chosen <= most as f64 * is_chosen));
            self.constraints.push(constraint!(chosen >= least as f64 * is_chosen));
            chosen
        });
        for (chosen, asked) in [gib, iops, mb].into_iter().zip(asked) {
            self.constraints.push(constraint!(chosen >= whole_up(asked / n) * is_chosen));
        }
        let [_, (iops_free, _), (mb_free, _)] = CHOSEN;
        let [gib_usd, iops_usd, mb_usd] = CHOSEN_USD;
        let usd = n * gib_usd * gib
            + n * iops_usd * (iops - iops_free as f64 * is_chosen)
            + n * mb_usd * (mb - mb_free as f64 * is_chosen);
        Way {
            is_chosen,
            is_cached: false,
            n_disks: n * is_chosen,
            gib: n * gib,
            iops: n * iops,
            mb: n * mb,
            usd,
        }
    }

    fn ways(&mut self, need: &VolumeNeed) -> Vec<Way> {
        let case = self.case;
        let may_cache = need.usage != VolumeUse::Log && need.hit_share.is_some();
        let mut ways = Vec::new();
        let [uncached, cached] = [false, true].map(|is_cached| self.least(need, is_cached));
        for tier in &case.tiers {
            ways.push(self.of_tier(tier, &uncached));
            if may_cache && tier.can_cache {
                ways.push(self.of_tier(tier, &cached));
            }
        }
        for n_disks in 1..=self.n_disks_max {
            ways.push(self.of_chosen(n_disks, &uncached));
        }
        let one: Expression = ways.iter().map(|way| way.is_chosen).sum();
        self.constraints.push(constraint!(one == 1));
        ways
    }

    /// What the disks of a volume must carry in any phase.
    fn least(&self, need: &VolumeNeed, is_cached: bool) -> Least {
        let mut least = Least { is_cached, gib: need.capacity_gib, iops: 0.0, mb: 0.0 };
        for phase in &need.phases {
            let share = Self::share(need, phase, is_cached);
            let iops = phase.iops * (1.0 + self.case.headroom) * share;
            least.iops = least.iops.max(iops);
            least.mb = least.mb.max(iops * phase.size_bytes as f64 / MB);
        }
        least
    }

    /// What a way asks of the disks, in parts of all I/Os: cached reads at random places ask less.
    fn share(need: &VolumeNeed, phase: &PhaseNeed, is_cached: bool) -> f64 {
        let hits = if is_cached { need.hit_share.unwrap_or(0.0) } else { 0.0 };
        1.0 - hits * phase.read_share * phase.random_share
    }

    /// Returns the least price; `None` where nothing carries the need.
    fn solve(mut self) -> Option<f64> {
        let case = self.case;
        let mut usd = Expression::default();
        // Machine: one, large enough, with what it has of each.
        let fits =
            |machine: &&Machine| case.need.vcpus.is_none_or(|least| machine.vcpus as f64 >= least);
        let machines: Vec<(&Machine, Variable)> = case
            .machines
            .iter()
            .filter(fits)
            .map(|it| (it, self.variables.add(variable().binary())))
            .collect();
        let has = |of: &dyn Fn(&Machine) -> u64| -> Expression {
            machines.iter().map(|(machine, is_taken)| of(machine) as f64 * *is_taken).sum()
        };
        usd += has(&|machine| machine.usd);
        self.constraints.push(constraint!(has(&|_| 1) == 1));
        let of_volumes: Vec<Vec<Way>> =
            case.need.volumes.iter().map(|need| self.ways(need)).collect();
        let all = || of_volumes.iter().flatten();
        let places: Expression = all().map(|way| way.n_disks.clone()).sum();
        self.constraints.push(constraint!(places <= has(&|machine| machine.n_disks_max)));
        usd += all().map(|way| way.usd.clone()).sum::<Expression>();
        for (need, ways) in case.need.volumes.iter().zip(&of_volumes) {
            let gib: Expression = ways.iter().map(|way| way.gib.clone()).sum();
            self.constraints.push(constraint!(gib >= need.capacity_gib));
        }
        for phase_idx in 0..2 {
            self.phase(phase_idx, &of_volumes, &has);
        }
        let mut model = self.variables.minimise(usd.clone()).using(microlp);
        for constraint in self.constraints {
            model = model.with(constraint);
        }
        match model.solve() {
            Ok(solution) => Some(solution.eval(usd)),
            Err(good_lp::ResolutionError::Infeasible) => None,
            Err(error) => panic!("the program cannot be solved: {error}"),
        }
    }

    /// Adds what disks and machine must carry in a phase.
    fn phase(&mut self, phase_idx: usize, of_volumes: &[Vec<Way>], has: Has<'_>) {
        let case = self.case;
        let [mut uncached, mut uncached_mb] = [Expression::default(), Expression::default()];
        let [mut cached, mut cached_mb] = [Expression::default(), Expression::default()];
        for (need, ways) in case.need.volumes.iter().zip(of_volumes) {
            let phase = &need.phases[phase_idx];
            let iops = phase.iops * (1.0 + case.headroom);
            let mb = iops * phase.size_bytes as f64 / MB;
            for way in ways {
                let share = Self::share(need, phase, way.is_cached);
                let asked = iops * share * way.is_chosen;
                let asked_mb = mb * share * way.is_chosen;
                self.constraints.push(constraint!(way.iops.clone() >= asked.clone()));
                self.constraints.push(constraint!(way.mb.clone() >= asked_mb.clone()));
                uncached += asked;
                uncached_mb += asked_mb;
                if way.is_cached {
                    cached += iops * way.is_chosen;
                    cached_mb += mb * way.is_chosen;
                }
            }
        }
        let of_cache = |machine: &Machine| machine.cached.unwrap_or((0, 0));
        self.constraints.push(constraint!(uncached <= has(&|machine| machine.uncached.0)));
        self.constraints.push(constraint!(uncached_mb <= has(&|machine| machine.uncached.1)));
        self.constraints.push(constraint!(cached <= has(&|machine| of_cache(machine).0)));
        self.constraints.push(constraint!(cached_mb <= has(&|machine| of_cache(machine).1)));
    }
}

/// Returns the price of the best design, or what differs.
fn check_seed(seed: u64) -> Result<Option<f64>, String> {
    let case = Case::new(&mut Dice(seed ^ 0x311b));
    let n_disks_max = case.machines.iter().map(|machine| machine.n_disks_max).max().unwrap_or(0);
    let program = Program {
        case: &case,
        variables: ProblemVariables::new(),
        constraints: Vec::new(),
        n_disks_max,
    };
    let (solved, searched) = (program.solve(), case.searched());
    let is_alike = match (solved, searched) {
        (Some(solved), Some(searched)) => (solved - searched).abs() <= ROUNDING * searched,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if is_alike {
        return Ok(searched);
    }
    Err(format!("seed {seed}: the program says {solved:?}, the search {searched:?}"))
}

#[test]
fn what_is_found_costs_what_a_mixed_integer_program_says() {
    let seeds = seeds(N_CASES, N_CASES_LONG);
    let n_cases = seeds.end - seeds.start;
    let looked: Vec<Result<Option<f64>, String>> = check_all(seeds, check_seed);
    let wrong: Vec<&String> = looked.iter().filter_map(|it| it.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {n_cases} differ: {wrong:#?}", wrong.len());
    let n_carried = looked.iter().filter(|it| matches!(it, Ok(Some(_)))).count() as u64;
    assert!(n_carried >= n_cases / 2, "{n_carried} of {n_cases} are carried: too few");
}

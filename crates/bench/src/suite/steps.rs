//! The steps of a suite: lists multiply, repeats are mixed.

use std::time::Duration;

use super::labels::{block, durable, label};
use super::{Access, CurvePart, Durable, End, Part, Settings, Suite};

/// One measured period.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its part, from 0.
    pub part_idx: usize,
    /// What it is called, unique in the suite but for repeats.
    pub label: String,
    /// It makes ready for what follows.
    pub is_preparation: bool,
    /// Which of its repeats, from 0.
    pub repeat_idx: u32,
    /// What runs, together.
    pub loads: Vec<StepLoad>,
    /// What its part's lists were here.
    pub at: Settings,
    /// Not measured.
    pub ramp_ns: u64,
    /// Measured; with another end the longest time.
    pub time_ns: u64,
    /// What ends it.
    pub end: End,
}

/// One of the loads of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLoad {
    /// What it is called; empty where there is one.
    pub name: String,
    /// Kind of I/O.
    pub access: Access,
    /// Bytes per I/O.
    pub block_bytes: u64,
    /// Share of reads of a mix, percent.
    pub read_pct: f64,
    /// I/Os in flight per worker.
    pub depth: u32,
    /// Workers.
    pub workers: u32,
    /// Connections, where the part says.
    pub connections: Option<u32>,
    /// Past the page cache.
    pub is_direct: bool,
    /// When what it writes is made durable.
    pub durable: Durable,
    /// Name of the place.
    pub place: String,
    /// I/Os per second at most, of each worker.
    pub rate_iops: Option<u64>,
    /// Bytes at the beginning of the place that are worked on; `None` is all of it.
    pub size_bytes: Option<u64>,
}

impl StepLoad {
    /// Returns the share of reads, percent: of a mix what it says, else all or none.
    pub fn read_share_pct(&self) -> f64 {
        match (self.access.is_mixed(), self.access.is_read()) {
            (true, _) => self.read_pct,
            (false, true) => 100.0,
            (false, false) => 0.0,
        }
    }

    fn in_words(&self) -> String {
        let mut text = format!("{} {}", self.access.as_str(), block(self.block_bytes));
        if self.access.is_mixed() {
            text.push_str(&format!(", {}% read", self.read_pct));
        }
        text.push_str(&format!(", {} x {}", self.workers, self.depth));
        if let Some(rate) = self.rate_iops {
            text.push_str(&format!(", {rate}/s each"));
        }
        if let Some(bytes) = self.size_bytes {
            text.push_str(&format!(", the first {}", block(bytes)));
        }
        if let Some(n) = self.connections {
            text.push_str(&format!(", {n} connections"));
        }
        if !self.is_direct {
            text.push_str(", buffered");
        }
        if let Some(durable) = durable(self.durable) {
            text.push_str(", ");
            text.push_str(&durable);
        }
        text
    }
}

/// How often steps are taken, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Measurements of each step that is no preparation.
    pub n_repeats: u32,
    /// Seed of the order, where there are repeats.
    pub seed: u64,
}

impl Default for Order {
    fn default() -> Self {
        Order { n_repeats: 1, seed: 1 }
    }
}

impl Step {
    /// Returns the longest time of the step.
    pub fn time_max_ns(&self) -> u64 {
        self.ramp_ns.saturating_add(self.time_ns)
    }

    /// Returns whether it writes.
    pub fn writes(&self) -> bool {
        self.loads.iter().any(|load| !load.access.is_read())
    }

    /// Returns what it does in words, such as `randrw 8k, 75% read, 4 jobs x depth 32`.
    pub fn in_words(&self) -> String {
        let loads: Vec<String> = self.loads.iter().map(StepLoad::in_words).collect();
        loads.join(" + ")
    }
}

impl Suite {
    /// Returns the time of everything, each measured once and as long as its step may last, but for
    /// what is not known: a fill without a limit.
    pub fn time_max_ns(&self, steps: &[Step]) -> u64 {
        let steps_ns = steps.iter().map(Step::time_max_ns).fold(0, u64::saturating_add);
        let n_rounds = self.rounds.as_ref().map_or(1, |rounds| u64::from(rounds.n_max));
        let curve_ns = self.curve.as_ref().map_or(0, CurvePart::time_max_ns);
        let fill_ns = self.prepare.fill_time_ns.filter(|_| self.prepare.n_fills > 0).unwrap_or(0);
        let n_places = self.places.len().max(1) as u64;
        steps_ns
            .saturating_mul(n_rounds)
            .saturating_add(curve_ns)
            .saturating_add(fill_ns.saturating_mul(n_places))
    }

    /// Returns how long it takes in words. It is no bound: what does not decide is measured again,
    /// with more workers where a core was the limit, and a point of the curve lasts until it has
    /// enough operations.
    pub fn time_words(&self, steps: &[Step], has_needs: bool) -> String {
        let mut time = Duration::from_nanos(self.time_max_ns(steps));
        if time > Duration::from_secs(10) {
            time = Duration::from_secs(time.as_secs_f64().ceil() as u64);
        }
        let mut text = format!("about {}", units::format_duration(time));
        if self.prepare.n_fills > 0 && self.prepare.fill_time_ns.is_none() {
            text.push_str(", and the fill");
        }
        let has_targets = self.parts.iter().any(|part| !part.targets.is_empty());
        if has_needs || has_targets || self.curve.is_some() {
            text.push_str(", more with repeats");
        }
        text
    }
}

/// Returns how many steps a part makes.
pub fn n_steps(part: &Part) -> usize {
    let lists = [
        part.block_bytes.len(),
        part.read_pct.len(),
        part.depths.len(),
        part.workers.len(),
        part.connections.len().max(1),
    ];
    lists.into_iter().fold(1, usize::saturating_mul)
}

/// Returns the steps in the order in which they are taken. Repeats of the steps between two
/// preparations are mixed: what warms up or fills up over time meets all of them alike.
pub fn steps(suite: &Suite, order: &Order) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut between: Vec<Step> = Vec::new();
    for (part_idx, part) in suite.parts.iter().enumerate() {
        if part.is_preparation {
            steps.append(&mut repeated(std::mem::take(&mut between), order));
            steps.extend(of_part(suite, part_idx, part));
        } else {
            between.extend(of_part(suite, part_idx, part));
        }
    }
    steps.append(&mut repeated(between, order));
    steps
}

fn repeated(once: Vec<Step>, order: &Order) -> Vec<Step> {
    if order.n_repeats <= 1 {
        return once;
    }
    let repeats = 0..order.n_repeats;
    let mut all: Vec<Step> = repeats
        .flat_map(|repeat_idx| once.iter().map(move |step| Step { repeat_idx, ..step.clone() }))
        .collect();
    shuffle(&mut all, order.seed);
    // The first of each is taken before the second: an interrupted run has all of a few.
    let mut taken = std::collections::BTreeMap::new();
    for step in &mut all {
        let n: &mut u32 = taken.entry(step.label.clone()).or_default();
        step.repeat_idx = *n;
        *n += 1;
    }
    all
}

/// Fisher and Yates, with a generator of its own (xorshift64*): the order is stored as its seed.
fn shuffle<T>(list: &mut [T], seed: u64) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for last in (1..list.len()).rev() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let random = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        list.swap(last, (random % (last as u64 + 1)) as usize);
    }
}

fn of_part(suite: &Suite, part_idx: usize, part: &Part) -> Vec<Step> {
    let connections: Vec<Option<u32>> = match part.connections.as_slice() {
        [] => vec![None],
        list => list.iter().copied().map(Some).collect(),
    };
    let mut steps = Vec::new();
    for block_bytes in &part.block_bytes {
        for read_pct in &part.read_pct {
            for workers in &part.workers {
                for depth in &part.depths {
                    for connections in &connections {
                        let at = Settings {
                            block_bytes: *block_bytes,
                            read_pct: *read_pct,
                            depth: *depth,
                            workers: *workers,
                            connections: *connections,
                        };
                        steps.push(step(suite, part_idx, part, at));
                    }
                }
            }
        }
    }
    steps
}

fn step(suite: &Suite, part_idx: usize, part: &Part, at: Settings) -> Step {
    let whole = StepLoad {
        name: String::new(),
        access: part.access,
        block_bytes: at.block_bytes,
        read_pct: at.read_pct,
        depth: at.depth,
        workers: at.workers,
        connections: at.connections,
        is_direct: part.is_direct,
        durable: part.durable,
        place: suite.place_of(&part.place).to_owned(),
        rate_iops: part.rate_iops,
        size_bytes: part.size_bytes,
    };
    let loads = part.loads.iter().map(|load| StepLoad {
        name: load.name.clone(),
        access: load.access,
        block_bytes: load.block_bytes,
        depth: load.depth,
        workers: load.workers,
        durable: load.durable,
        place: suite.place_of(&load.place).to_owned(),
        rate_iops: load.rate_iops,
        size_bytes: load.size_bytes,
        ..whole.clone()
    });
    let loads: Vec<StepLoad> = loads.collect();
    Step {
        part_idx,
        label: label(part, &at),
        is_preparation: part.is_preparation,
        repeat_idx: 0,
        loads: if loads.is_empty() { vec![whole] } else { loads },
        at,
        ramp_ns: part.ramp_ns,
        time_ns: part.time_ns,
        end: part.end,
    }
}

//! The questions about a design, and the answer as numbers.

use ::design::advice::{Advice, advice};
use ::design::explain::{Change, Explained, changes, explain};
use ::design::{Need, PhaseNeed, VolumeNeed, judge};
use volume::Design;
use volume::design::{Backing, CacheMode};
use volume::limits::{Done, Flow, Load, Remedy, alone, remedies, together};

use super::demand::{Question, meets};
use super::notes;
use crate::exit::Failure;

/// Most changes that are proposed for one cap.
const REMEDIES_MAX: usize = 3;

/// Most changes that are proposed for a need, with their prices.
const CHANGES_MAX: usize = 5;

/// One load and what comes of it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) load: Load,
    pub(super) done: Done,
}

/// One volume by itself.
#[derive(Clone, Debug)]
pub(super) struct VolumeAnswer {
    pub(super) volume: u16,
    pub(super) has_cache: bool,
    pub(super) rows: Vec<Row>,
    /// What lifts a cap, by the first row that it binds.
    pub(super) lifts: Vec<(usize, Vec<Remedy>)>,
    pub(super) notes: Vec<String>,
}

/// A need and what comes of it.
#[derive(Clone, Debug)]
pub(super) struct DemandAnswer {
    pub(super) volume: u16,
    pub(super) flow: Flow,
    pub(super) need: f64,
    pub(super) explained: Explained,
    pub(super) changes: Vec<Change>,
    /// I/Os per second by the bytes of a published MB, where some meet the need and some do not.
    pub(super) readings: Vec<(u64, f64)>,
    pub(super) notes: Vec<String>,
}

impl DemandAnswer {
    /// Returns whether the need is met.
    pub(super) fn is_met(&self) -> bool {
        meets(self.explained.done.iops, self.need)
    }
}

/// The whole answer.
#[derive(Clone, Debug)]
pub(super) struct LimitsAnswer {
    pub(super) volumes: Vec<VolumeAnswer>,
    /// All volumes at once, under the same load.
    pub(super) together: Vec<(Load, Vec<Done>)>,
    pub(super) demands: Vec<DemandAnswer>,
    /// Rules that apply under the needs.
    pub(super) rules: Vec<Advice>,
    /// Limits that the catalogue lacks, a sentence for each: a need that is met may meet them.
    pub(super) not_known: Vec<String>,
}

/// Answers a question.
pub(super) fn answer(
    design: &Design,
    question: &Question,
    not_known: Vec<String>,
) -> Result<LimitsAnswer, Failure> {
    if !question.demands.is_empty() {
        let demands = of_demands(design, question)?;
        let rules = rules(design, &demands);
        let (volumes, together) = (Vec::new(), Vec::new());
        return Ok(LimitsAnswer { volumes, together, demands, rules, not_known });
    }
    let n_volumes = design.volumes.len() as u16;
    let volumes: Vec<VolumeAnswer> =
        (0..n_volumes).map(|volume| of_volume(design, volume, question)).collect();
    let has_cache = volumes.iter().any(|volume| volume.has_cache);
    let at_once = |load: Load| {
        let flow = |volume| Flow { volume, load, demand: None };
        let flows: Vec<Flow> = (0..n_volumes).map(flow).collect();
        (load, together(design, &flows))
    };
    let several = n_volumes > 1;
    let loads = if several { loads(question, has_cache) } else { Vec::new() };
    let together = loads.into_iter().map(at_once).collect();
    let (demands, rules) = (Vec::new(), Vec::new());
    Ok(LimitsAnswer { volumes, together, demands, rules, not_known })
}

/// Returns every load to ask for. Hits make a difference only to reads from a cache.
fn loads(question: &Question, has_cache: bool) -> Vec<Load> {
    let mut loads = Vec::new();
    for &size_bytes in &question.sizes {
        for &read_share in &question.read_shares {
            let matters = has_cache && read_share > 0.0;
            let hit_ratios = if matters { question.hit_ratios.as_slice() } else { &[0.0] };
            for &hit_ratio in hit_ratios {
                loads.push(Load {
                    hit_ratio,
                    queue_depth: question.queue_depth,
                    with_credits: question.with_credits,
                    is_sequential: question.is_sequential,
                    ..Load::new(size_bytes, read_share)
                });
            }
        }
    }
    loads
}

fn of_volume(design: &Design, volume: u16, question: &Question) -> VolumeAnswer {
    let has_cache = has_cache(design, volume);
    let row = |load: Load| Row { load, done: alone(design, volume, &load) };
    let rows: Vec<Row> = loads(question, has_cache).into_iter().map(row).collect();
    let mut lifts: Vec<(usize, Vec<Remedy>)> = Vec::new();
    let mut listed: Vec<String> = Vec::new();
    for (idx, row) in rows.iter().enumerate() {
        let binds = row.done.binds_label();
        if !listed.contains(&binds) {
            listed.push(binds);
            lifts.push((idx, some_of(remedies(design, volume, &row.load))));
        }
    }
    let mut notes = notes::of_volume(design, volume);
    notes.extend(notes::of_depth(design, volume, question.queue_depth));
    notes.extend(notes::of_working_set(design, volume, question));
    VolumeAnswer { volume, has_cache, rows, lifts, notes }
}

/// Returns whether a volume asks for the host cache.
fn has_cache(design: &Design, volume: u16) -> bool {
    match &design.volumes[usize::from(volume)].backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    }
}

fn some_of(mut remedies: Vec<Remedy>) -> Vec<Remedy> {
    // Stable: what meets a need stands before what only comes nearer.
    remedies.sort_by_key(|remedy| remedy.is_enough == Some(false));
    remedies.truncate(REMEDIES_MAX);
    remedies
}

/// Asks for all needs at once.
fn of_demands(design: &Design, question: &Question) -> Result<Vec<DemandAnswer>, Failure> {
    let mut flows = Vec::new();
    for demand in &question.demands {
        let volume = find(design, demand.on.as_deref())?;
        let load = Load {
            queue_depth: question.queue_depth,
            with_credits: question.with_credits,
            is_sequential: question.is_sequential,
            ..demand.load
        };
        flows.push(Flow { volume, load, demand: Some(demand.iops) });
    }
    let read_as = |reading: &Design| (reading.mb_bytes, together(reading, &flows));
    let all_readings: Vec<(u64, Vec<Done>)> = question.readings.iter().map(read_as).collect();
    let answers = flows.iter().zip(&question.demands);
    Ok(answers
        .enumerate()
        .map(|(idx, (flow, demand))| {
            let explained = explain(design, &flows, idx);
            let mut changes = changes(design, &flows, idx, &question.terms);
            changes.truncate(CHANGES_MAX);
            let done = &explained.done;
            let readings = disputed(demand.iops, done, idx, &all_readings);
            let mut notes = Vec::new();
            if demand.is_without_cache(has_cache(design, flow.volume)) {
                notes.push("`hit=` has no effect: the volume has no host cache".to_owned());
            }
            notes.extend(notes::of_readings(demand.iops, &readings));
            notes.extend(notes::of_depth(design, flow.volume, question.queue_depth));
            DemandAnswer {
                volume: flow.volume,
                flow: *flow,
                need: demand.iops,
                readings,
                notes,
                explained,
                changes,
            }
        })
        .collect())
}

/// Returns what each reading of a published MB carries, if one of them gives another verdict.
fn disputed(
    need: f64,
    done: &Done,
    idx: usize,
    all_readings: &[(u64, Vec<Done>)],
) -> Vec<(u64, f64)> {
    let of = |(mb_bytes, all): &(u64, Vec<Done>)| (*mb_bytes, all[idx].iops);
    let readings: Vec<(u64, f64)> = all_readings.iter().map(of).collect();
    let is_met = meets(done.iops, need);
    let is_other = |(_, iops): &(u64, f64)| meets(*iops, need) != is_met;
    if readings.iter().any(is_other) { readings } else { Vec::new() }
}

/// Returns the rules that apply to the volumes with needs. What a volume holds is not said here:
/// data.
fn rules(design: &Design, demands: &[DemandAnswer]) -> Vec<Advice> {
    let phase = |of: &DemandAnswer| PhaseNeed {
        iops: of.need,
        size_bytes: of.flow.load.size_bytes,
        read_share: of.flow.load.read_share,
        random_share: if of.flow.load.is_sequential { 0.0 } else { 1.0 },
        ..PhaseNeed::default()
    };
    let volumes = design.volumes.iter().enumerate().map(|(idx, volume)| {
        let on_it = || demands.iter().filter(|of| usize::from(of.volume) == idx);
        let hits = on_it().map(|of| of.flow.load.hit_ratio).fold(0.0, f64::max);
        VolumeNeed {
            mount: volume.mount.clone(),
            hit_share: Some(hits).filter(|hits| *hits > 0.0),
            phases: on_it().map(phase).collect(),
            ..VolumeNeed::default()
        }
    });
    let need = Need { volumes: volumes.collect(), ..Need::default() };
    advice(design, &need, &judge(design, &need))
}

/// Finds the volume of a need.
fn find(design: &Design, on: Option<&str>) -> Result<u16, Failure> {
    let mounts: Vec<&str> = design.volumes.iter().map(|volume| volume.mount.as_str()).collect();
    let Some(on) = on else {
        if mounts.len() == 1 {
            return Ok(0);
        }
        let text = format!("`--demand` must say which of {} volumes it is about", mounts.len());
        let hint = format!("add on=MOUNT: {}", mounts.join(", "));
        return Err(Failure::wrong_use(text).hint(hint));
    };
    let path = |text: &str| text.trim_end_matches('/').to_owned();
    let found = mounts.iter().position(|mount| path(mount) == path(on));
    found.map(|idx| idx as u16).ok_or_else(|| {
        let near = catalog::nearest(on, mounts.iter().copied());
        let known = if near.is_empty() { mounts.clone() } else { near };
        Failure::wrong_use(format!("no volume of the design is mounted at `{on}`"))
            .hint(format!("it has {}", known.join(", ")))
    })
}

//! Which cap explains a rate that is below what is promised.

use record::Record;
use volume::design::{Backing, Design, Promised};
use volume::limits::{Bound, Done, Flow, together};
use volume::{CacheMode, Cap, Limit};

use super::Subject;
use super::lasting;
use super::measured::Measured;

/// By how much the rate of a changed design may differ from the measured one to explain it.
const NEAR: f64 = 0.03;

/// Explanations that are given at most.
const EXPLANATIONS_MAX: usize = 3;

/// Returns the cap that held the rate, and what else would explain it.
pub(super) fn explain(
    subject: &Subject<'_>,
    promised: &Promised,
    measured: &Measured,
    record: &Record,
) -> (Option<String>, Vec<String>) {
    let flows = subject.flows(promised);
    let Some(done) = carried(subject.design, &flows) else { return (None, Vec::new()) };
    if done.binds != Bound::Nothing && done.iops < promised.iops * (1.0 - 1e-9) {
        let cap = done.first().map(|cap| named(&done, &cap.name, &cap.origin));
        let carries = format!("the design itself carries {:.0} IOPS of this load", done.iops);
        return (cap, vec![carries]);
    }
    if let Some(cap) = of_record(measured, record) {
        return (Some(cap), Vec::new());
    }
    let not_full = lasting::not_full(subject, promised, measured, record);
    let mut found: Vec<String> = not_full.into_iter().collect();
    for (what, design) in variants(subject.design, &promised.volume) {
        let most = carried_at_most(&design, &flows);
        let is_near = most.is_some_and(|iops| (iops / measured.iops - 1.0).abs() <= NEAR);
        if is_near && !found.contains(&what) {
            found.push(what);
        }
    }
    found.truncate(EXPLANATIONS_MAX);
    if found.is_empty() {
        found.push(match done.first() {
            Some(cap) => format!(
                "no cap of the design explains it: the nearest, {} of {}, carries {:.0}",
                cap.bound,
                cap.name,
                cap.rate()
            ),
            None => "no cap of the design explains it: it has none".to_owned(),
        });
    }
    (None, found)
}

fn named(done: &Done, name: &str, origin: &str) -> String {
    format!("{} of {name} ({origin})", done.binds)
}

/// Returns the cap that held the jobs of a measurement on emulated volumes.
fn of_record(measured: &Measured, record: &Record) -> Option<String> {
    let of_step = |job: &&record::JobRecord| job.step_idx == measured.step_idx;
    let mut jobs = record.jobs.iter().filter(of_step);
    let job = jobs.find(|job| measured.jobs.contains(&job.name) && job.caps.is_some())?;
    let cap = job.caps.as_ref()?.binding_cap()?;
    Some(format!("{}, used to {}", cap.name, cap.used_words(units::format_percent_whole)))
}

/// Returns what the design carries of a promise, beside the others of its phase, while its host
/// cache answers none of its reads.
pub(super) fn carried_unwarmed(subject: &Subject<'_>, promised: &Promised) -> Option<f64> {
    let mut flows = subject.flows(promised);
    flows.first_mut()?.load.hit_ratio = 0.0;
    carried(subject.design, &flows).map(|done| done.iops)
}

fn carried(design: &Design, flows: &[Flow]) -> Option<Done> {
    (!flows.is_empty()).then(|| together(design, flows).swap_remove(0))
}

/// Returns the most that a design would carry of the first flow beside the others.
fn carried_at_most(design: &Design, flows: &[Flow]) -> Option<f64> {
    let mut flows = flows.to_vec();
    flows.first_mut()?.demand = None;
    carried(design, &flows).map(|done| done.iops)
}

/// Returns designs that are easily built in place of the one meant, and what would be wrong then.
fn variants(design: &Design, mount: &str) -> Vec<(String, Design)> {
    let mut variants = Vec::new();
    let Some(position) = design.volumes.iter().position(|volume| volume.mount == mount) else {
        return variants;
    };
    let Backing::Disks(stripe) = &design.volumes[position].backing else { return variants };
    let n_disks = stripe.disks.len();
    let Some(disk) = stripe.disks.first() else { return variants };
    let mut vary = |what: String, change: &dyn Fn(&mut volume::design::Stripe)| {
        let mut design = design.clone();
        if let Backing::Disks(stripe) = &mut design.volumes[position].backing {
            change(stripe);
        }
        variants.push((what, design));
    };
    if disk.cache != CacheMode::None {
        vary("no host cache on the disks would explain it".to_owned(), &|stripe| {
            stripe.disks.iter_mut().for_each(|disk| disk.cache = CacheMode::None);
        });
    }
    for n in (1..n_disks).rev() {
        vary(format!("{n} of the {n_disks} disks in the stripe would explain it"), &|stripe| {
            stripe.disks.truncate(n);
            stripe.columns = n as u32;
        });
    }
    for (name, cap) in other_disks(design, &disk.sku) {
        vary(format!("disks of {name} would explain it"), &|stripe| {
            stripe.disks.iter_mut().for_each(|disk| disk.cap = cap.clone());
        });
    }
    variants
}

/// Returns the other tiers of a disk's family; of a type whose limits are chosen what it has for
/// nothing.
fn other_disks(design: &Design, sku: &str) -> Vec<(String, Cap)> {
    let Some(edition) = design.rows() else { return Vec::new() };
    let Some(own) = edition.disk(sku) else { return Vec::new() };
    let limit = |figure: Option<&catalog::Figure>| {
        figure.map(|figure| Limit {
            per_s: figure.per_s.max(1),
            burst: None,
            origin: figure.to_string(),
        })
    };
    let is_like = |other: &&catalog::Disk| {
        other.family() == own.family() && other.cloud() == own.cloud() && other.name != own.name
    };
    let tiers = edition.disks().iter().filter(is_like).filter(|other| !other.is_free());
    let mut all: Vec<(String, Cap)> = tiers
        .map(|other| {
            let cap = Cap { iops: limit(other.iops()), bytes: limit(other.throughput()) };
            (other.name.clone(), cap)
        })
        .collect();
    if own.is_free() && own.iops_base().is_some() {
        let cap = Cap { iops: limit(own.iops_base()), bytes: limit(own.throughput_base()) };
        all.push((format!("{} with what is free, nothing provisioned,", own.name), cap));
    }
    all
}

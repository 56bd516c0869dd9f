//! How a suite's steps grow with the number of hosts: speed-up, fairness, and what binds.

use analysis::GateName;
use record::{
    Binds, Figure, Figures, HostShareRecord, JobRecord, Record, ScaleOutPointRecord,
    ScaleOutRecord, SuiteRowRecord, Verdict,
};
use units::plural;

/// Share of what a link carries from which on it binds: headers of Ethernet, IP and TCP take a
/// twentieth, and what is sent besides the data some more.
const LINK_FULL_SHARE: f64 = 0.9;

/// Share of the growth of the hosts from which on the rate grows with them. Half: below it, more
/// than half of what each further host does is taken from the others.
const GROWS_SHARE: f64 = 0.5;

/// Share of the rate that is asked for from which on it is what limits.
const OFFERED_SHARE: f64 = 0.95;

/// A step that so many hosts measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The step.
    pub label: String,
    /// Hosts.
    pub n_hosts: u32,
    /// Operations per second that all hosts together are to do; `None` where they do what they can.
    pub rate_iops: Option<f64>,
}

impl Point {
    /// Returns the label of the point's row.
    pub fn row(&self) -> String {
        format!("{}, {}", self.label, plural(u64::from(self.n_hosts), "host"))
    }
}

/// Returns how each step grew, in the order of the points, from the rows of a record.
pub fn recorded(record: &Record, rows: &[SuiteRowRecord], points: &[Point]) -> Vec<ScaleOutRecord> {
    let mut labels: Vec<&str> = points.iter().map(|point| &*point.label).collect();
    let mut seen = std::collections::BTreeSet::new();
    labels.retain(|label| seen.insert(*label));
    let of_label = |label: &str| {
        let own = points.iter().filter(|point| point.label == label);
        let mut measured: Vec<Measured> =
            own.filter_map(|point| Measured::of(record, rows, point)).collect();
        measured.sort_by_key(|it| it.point.n_hosts);
        let points = (0..measured.len()).map(|idx| recorded_point(&measured, idx));
        ScaleOutRecord { label: label.to_owned(), points: points.collect() }
    };
    labels.into_iter().map(of_label).filter(|it| !it.points.is_empty()).collect()
}

/// What a point came to.
struct Measured {
    point: Point,
    row: String,
    iops: f64,
    /// Rates of the hosts, the slowest first.
    of_hosts: Vec<f64>,
    first_done_ns: u64,
    last_done_ns: u64,
    /// Hosts whose load generator was the limit, and those whose link was full.
    n_busy: usize,
    n_full: usize,
}

impl Measured {
    fn of(record: &Record, rows: &[SuiteRowRecord], point: &Point) -> Option<Self> {
        let label = point.row();
        let row = rows.iter().find(|row| row.label == label)?;
        let n_steps = row.steps.len().max(1) as f64;
        let mut of_hosts = Vec::new();
        let (mut n_busy, mut n_full) = (0, 0);
        for host in &record.hosts {
            let parts: Vec<Part> =
                row.steps.iter().filter_map(|step_idx| Part::of(host, *step_idx)).collect();
            if parts.is_empty() {
                continue;
            }
            of_hosts.push(parts.iter().map(|part| part.iops).sum::<f64>() / n_steps);
            n_busy += usize::from(parts.iter().any(|part| part.is_busy));
            n_full += usize::from(parts.iter().any(|part| part.fills_link));
        }
        of_hosts.sort_by(f64::total_cmp);
        let dones = row.steps.iter().filter_map(|step_idx| done_ns(record, *step_idx));
        let (first_done_ns, last_done_ns) = dones.max_by_key(|(first, last)| last - first)?;
        let iops = row.medians().iops();
        let point = point.clone();
        Some(Measured {
            point,
            row: label,
            iops,
            of_hosts,
            first_done_ns,
            last_done_ns,
            n_busy,
            n_full,
        })
    }

    /// Returns whether so many hosts are those that the whole depends on: half of them.
    fn are_most(&self, n_hosts: usize) -> bool {
        n_hosts > 0 && 2 * n_hosts >= self.of_hosts.len()
    }
}

/// What a host did of a step.
struct Part {
    iops: f64,
    is_busy: bool,
    fills_link: bool,
}

impl Part {
    fn of(host: &HostShareRecord, step_idx: u32) -> Option<Self> {
        let run = &host.record;
        let jobs: Vec<&JobRecord> =
            run.jobs.iter().filter(|job| job.step_idx == step_idx).collect();
        if jobs.is_empty() {
            return None;
        }
        let figures = Figures::of_step(&jobs);
        let judged = run.validity.iter().find(|it| it.step_idx == step_idx);
        let generator = judged.and_then(|it| it.gate(GateName::Generator.as_str()));
        let links = run.places.iter().filter_map(|place| place.network.as_ref()?.link_bytes_s);
        let link_bytes_s = links.reduce(f64::max);
        let bytes_per_s = figures.get(Figure::BytesPerS).unwrap_or(0.0);
        Some(Part {
            iops: figures.iops(),
            is_busy: generator.is_some_and(|gate| gate.verdict == Verdict::Failed),
            fills_link: link_bytes_s.is_some_and(|link| bytes_per_s >= LINK_FULL_SHARE * link),
        })
    }
}

/// Returns when the first host had done its part of a step, and the last one, from the start that
/// all were given.
fn done_ns(record: &Record, step_idx: u32) -> Option<(u64, u64)> {
    let done = |host: &HostShareRecord| {
        let jobs = host.record.jobs.iter().filter(|job| job.step_idx == step_idx);
        let dirs = jobs.flat_map(|job| job.dirs.iter().map(|(_, dir)| dir.runtime_ns));
        let start = host.starts.iter().find(|start| start.step_idx == step_idx);
        let late_ns = start.map_or(0, |start| start.start_error_ns);
        dirs.max().map(|ns| ns.saturating_add_signed(late_ns))
    };
    let all: Vec<u64> = record.hosts.iter().filter_map(done).collect();
    Some((*all.iter().min()?, *all.iter().max()?))
}

fn recorded_point(measured: &[Measured], idx: usize) -> ScaleOutPointRecord {
    let it = &measured[idx];
    let first_iops = measured[0].iops;
    let (binds, why) = binds(measured, idx);
    ScaleOutPointRecord {
        n_hosts: it.point.n_hosts,
        row: it.row.clone(),
        speed_up: (first_iops > 0.0).then(|| it.iops / first_iops),
        host_iops_min: it.of_hosts.first().copied().unwrap_or(0.0),
        host_iops_median: analysis::series::median(&it.of_hosts).unwrap_or(0.0),
        host_iops_max: it.of_hosts.last().copied().unwrap_or(0.0),
        first_done_ns: it.first_done_ns,
        last_done_ns: it.last_done_ns,
        binds,
        why,
    }
}

/// Returns what was the limit of a point, and why.
///
/// What a host says of itself comes first. Else it is what more hosts carried: as they come, the
/// rate grows with them where each is held by its own load, and does not where all share a limit.
fn binds(measured: &[Measured], idx: usize) -> (Binds, String) {
    let it = &measured[idx];
    let n_hosts = plural(it.of_hosts.len() as u64, "host");
    let own = own_limit(it);
    if own != Binds::Unknown {
        let why = match own {
            Binds::Clients => {
                format!("of {} of {n_hosts} the load generator was the limit", it.n_busy)
            }
            Binds::Links | Binds::Volume | Binds::Load | Binds::Unknown => {
                format!("the links of {} of {n_hosts} were full", it.n_full)
            }
        };
        return (own, why);
    }
    if let Some(rate_iops) = it.point.rate_iops
        && it.iops >= OFFERED_SHARE * rate_iops
    {
        return (Binds::Load, "the rate was kept that all hosts together are to do".to_owned());
    }
    // The first one is judged by what follows.
    let (fewer, more) = match (idx.checked_sub(1), measured.get(idx + 1)) {
        (Some(before), _) => (&measured[before], it),
        (None, Some(next)) => (it, next),
        (None, None) => {
            return (Binds::Unknown, "one number of hosts does not show how it grows".to_owned());
        }
    };
    let times = more.iops / fewer.iops;
    if !times.is_finite() {
        return (Binds::Unknown, "nothing was done to compare with".to_owned());
    }
    let hosts_times = f64::from(more.point.n_hosts) / f64::from(fewer.point.n_hosts);
    let share = (times - 1.0) / (hosts_times - 1.0);
    let why = format!(
        "{} did {times:.2} times what {} did",
        plural(u64::from(more.point.n_hosts), "host"),
        plural(u64::from(fewer.point.n_hosts), "host")
    );
    if share >= GROWS_SHARE {
        (Binds::Load, why)
    } else if own_limit(more) == Binds::Unknown {
        (Binds::Volume, why)
    } else {
        (Binds::Unknown, format!("{why}, held by their {}", own_limit(more).word()))
    }
}

/// Returns the limit that hosts say of themselves; `Unknown` where they do not.
fn own_limit(it: &Measured) -> Binds {
    if it.are_most(it.n_busy) {
        Binds::Clients
    } else if it.are_most(it.n_full) {
        Binds::Links
    } else {
        Binds::Unknown
    }
}

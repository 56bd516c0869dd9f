//! Is a load line that of the volume, or of the I/Os that were allowed in flight?

use record::{CurveRecord, JobRecord, Lever, Record};

/// From this share on, the I/Os allowed in flight count as used up: random arrivals never fill them
/// all the time.
const USED_MIN: f64 = 0.9;

/// Up to this multiple of its best service time a volume is not busy and would take more.
const SLOWER_MAX: f64 = 1.1;

/// Reports that the I/Os allowed in flight, and not the volume, are the limit of an open load line
/// (Little: their number over the time of each): all are in use at the line or where it broke, and
/// none of them takes longer than under little load. None where more in flight would only wait in
/// the volume.
pub(crate) fn bound(record: &Record, curve: &CurveRecord) -> Option<String> {
    if curve.lever != Lever::Rate {
        return None;
    }
    let line = &curve.line;
    let is_end = |load: f64| [line.load, line.first_fail].contains(&Some(load));
    let ends = curve.points.iter().filter(|point| is_end(point.load));
    let jobs = ends.flat_map(|point| jobs(record, point.step_idx)).filter_map(|(idx, job)| {
        let service = Service::of(job)?;
        let of_same = curve.points.iter().filter_map(|point| {
            let (_, same) = jobs(record, point.step_idx).nth(idx)?;
            Service::of(same).map(|it| it.mean_s)
        });
        let best_s = of_same.fold(f64::INFINITY, f64::min);
        let is_bound = service.in_flight >= USED_MIN * service.in_flight_max
            && service.mean_s <= SLOWER_MAX * best_s;
        is_bound.then_some((job, service))
    });
    let (job, service) = jobs.last()?;
    let Service { mean_s, in_flight_max, .. } = service;
    let rate = in_flight_max / mean_s;
    Some(format!(
        "the {in_flight_max:.0} I/Os allowed in flight limit the load line, not the volume: at \
         {:.3} ms each they make {rate:.0} IOPS in job `{}`; allow more in flight to see what the \
         volume carries",
        mean_s * 1e3,
        job.name
    ))
}

/// What a job had in flight, and for how long.
#[derive(Clone, Copy, Debug)]
struct Service {
    mean_s: f64,
    /// By Little's law, over all its workers.
    in_flight: f64,
    in_flight_max: f64,
}

impl Service {
    fn of(job: &JobRecord) -> Option<Self> {
        let (mut rate_iops, mut in_flight) = (0.0, 0.0);
        for (_, dir) in job.dirs.iter().filter(|(_, dir)| dir.n_ios > 0) {
            let service = if dir.clat.is_empty() { &dir.lat } else { &dir.clat };
            rate_iops += dir.rate_iops();
            in_flight += dir.rate_iops() * service.mean_ns()? / 1e9;
        }
        let in_flight_max = f64::from(job.queue_depth) * f64::from(job.n_workers);
        (rate_iops > 0.0).then_some(Service {
            mean_s: in_flight / rate_iops,
            in_flight,
            in_flight_max,
        })
    }
}

/// Returns the jobs of a step with their places in it.
fn jobs(record: &Record, step_idx: u32) -> impl Iterator<Item = (usize, &JobRecord)> {
    record.jobs.iter().filter(move |job| job.step_idx == step_idx).enumerate()
}

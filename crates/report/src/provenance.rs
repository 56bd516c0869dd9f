//! Everything that is known about where a run's figures come from.

use export::Run;
use record::{JobRecord, Outcome, Record};
use units::{format_bytes, format_percent, plural};

use crate::words::{duration_ns, moment};

/// Lines of one heading: (name, value).
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) title: String,
    pub(crate) rows: Vec<(String, String)>,
}

/// Most jobs whose options are listed.
const JOBS_MAX: usize = 12;

/// Returns all that is known.
pub(crate) fn of(run: &Run) -> Vec<Facts> {
    let record = &run.record;
    let mut all = vec![measurement(run), host(record)];
    if let Some(emulation) = &record.emulation {
        let time = match emulation.time.as_str() {
            "virtual" => "virtual: it jumped from event to event".to_owned(),
            time => format!("{time}, {} s for one", emulation.time_scale),
        };
        let mounts = emulation.mounts.join(", ");
        let mut rows = vec![
            ("design", emulation.designs()),
            ("hash of the design", emulation.design_hash.clone()),
            ("edition of the catalogue", emulation.edition.clone()),
            ("host cache at the start", emulation.cache.clone()),
            ("time", time),
            ("mounts", mounts),
        ];
        if let Some(constant) = emulation.constant_latency() {
            rows.push(("latency", constant));
        }
        if !emulation.catalog_hash.is_empty() {
            rows.insert(3, ("hash of own tables", emulation.catalog_hash.clone()));
        }
        all.push(facts("Emulated volume", &rows));
    }
    for job in distinct_jobs(record).into_iter().take(JOBS_MAX) {
        all.push(of_job(job, record));
    }
    if !record.disks.is_empty() {
        let names = record
            .disks
            .iter()
            .map(|disk| format!("{} ({} busy)", disk.name, format_percent(disk.util_pct / 100.0)));
        all.push(facts(
            "Block devices",
            &[("below the targets", names.collect::<Vec<_>>().join(", "))],
        ));
    }
    all
}

/// Returns one line for beneath a chart.
pub(crate) fn line(run: &Run) -> String {
    let record = &run.record;
    let mut parts = vec![crate::subject::called(run)];
    parts.push(moment(record.started_unix_ms));
    parts.push(duration_ns(record.elapsed_ns));
    let all = record.jobs.iter().flat_map(|job| job.dirs.iter()).filter(|(_, dir)| dir.n_ios > 0);
    let loads: Vec<bool> = all.map(|(_, dir)| dir.response.is_some()).collect();
    parts.extend(match (loads.contains(&true), loads.contains(&false)) {
        (true, false) => Some("open load".to_owned()),
        (false, true) => Some("closed load".to_owned()),
        (true, true) => Some("closed and open load".to_owned()),
        (false, false) => None,
    });
    if let Some(emulation) = &record.emulation {
        parts.push(format!("emulated {}, {} time", emulation.designs(), emulation.time));
        // It stands beneath every chart, and so beside every percentile.
        if emulation.constant_latency().is_some() {
            parts.push("latency assumed constant".to_owned());
        }
    }
    parts.push(program(record));
    parts.join(" · ")
}

fn program(record: &Record) -> String {
    let version = &record.plimsoll_version;
    let is_number = version.starts_with(|c: char| c.is_ascii_digit());
    if is_number { format!("plimsoll {version}") } else { version.clone() }
}

fn measurement(run: &Run) -> Facts {
    let record = &run.record;
    let outcome = match record.outcome {
        Outcome::Complete => "complete",
        Outcome::Interrupted => "interrupted",
        Outcome::Failed => "failed",
        Outcome::Partial => "partial",
    };
    let number = run.id.map_or_else(String::new, |id| id.to_string());
    facts(
        "Measurement",
        &[
            ("run", number),
            ("name", run.name.clone()),
            ("command", record.command.join(" ")),
            ("started", moment(record.started_unix_ms)),
            ("length with preparation", duration_ns(record.elapsed_ns)),
            ("outcome", outcome.to_owned()),
            ("measured by", program(record)),
            ("form", record.schema.clone()),
        ],
    )
}

fn host(record: &Record) -> Facts {
    let host = &record.host;
    let clock = &record.clock;
    let memory =
        if host.memory_bytes > 0 { format_bytes(host.memory_bytes) } else { String::new() };
    let cpus = if host.n_cpus > 0 { plural(host.n_cpus, "CPU") } else { String::new() };
    let stamping = clock.stamping.replace('_', " ");
    facts(
        "Host",
        &[
            ("name", host.name.clone()),
            ("kernel", format!("{} {}", host.kernel, host.architecture).trim().to_owned()),
            ("processor", host.cpu_model.clone()),
            ("processors online", cpus),
            ("memory", memory),
            ("clock", format!("{} {stamping}", clock.source).trim().to_owned()),
            ("cost of reading it", duration_or_nothing(clock.read_cost_ns)),
        ],
    )
}

fn duration_or_nothing(ns: u64) -> String {
    if ns == 0 { String::new() } else { units::format_latency_ns(ns) }
}

/// Returns jobs of different name or options: the points of a curve are one job.
fn distinct_jobs(record: &Record) -> Vec<&JobRecord> {
    let mut found: Vec<&JobRecord> = Vec::new();
    for job in &record.jobs {
        let is_known = |known: &&JobRecord| {
            known.name == job.name && (record.curve.is_some() || known.options == job.options)
        };
        if !found.iter().any(is_known) {
            found.push(job);
        }
    }
    found
}

fn of_job(job: &JobRecord, record: &Record) -> Facts {
    let mut rows = vec![
        ("targets".to_owned(), job.targets.join(", ")),
        ("engine".to_owned(), job.engine.clone()),
        ("engine that ran".to_owned(), job.engine_used.clone()),
        ("workers".to_owned(), job.n_workers.to_string()),
        ("queue depth".to_owned(), job.queue_depth.to_string()),
        ("seed".to_owned(), job.seed.to_string()),
    ];
    let options = record.global_options.iter().chain(&job.options);
    rows.extend(options.map(|(key, value)| (key.clone(), value.clone())));
    let mut facts = Facts { title: format!("Job {}", job.name), rows };
    tidy(&mut facts);
    facts
}

fn facts(title: &str, rows: &[(&str, String)]) -> Facts {
    let rows = rows.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let mut facts = Facts { title: title.to_owned(), rows };
    tidy(&mut facts);
    facts
}

fn tidy(facts: &mut Facts) {
    facts.rows.retain(|(_, value)| !value.trim().is_empty());
    facts.rows.dedup();
}

//! Published set-ups as suites of the product write them, read back as jobs; and what is made of
//! needs.

use bench::suite::jobs::{Site, job_file};
use bench::suite::steps::Order;
use bench::suite::{Size, Suite, built_in, parse, steps, vdbench};
use dialects::{FilesOnly, LoadError, Overrides, Request, find_dialect};
use plan::files::Size as FileSize;
use plan::{Job, Plan};
use serde_json::Value;

use crate::answer::{Answer, Outcome};
use crate::table::Case;

const GIB: f64 = (1_u64 << 30) as f64;

fn suite(name: &str) -> Suite {
    parse(built_in(name).expect("it is ours")).0.expect("it has no mistakes")
}

/// Reads a text as a language has it.
fn read(language: &str, text: &str) -> Plan {
    let file = |path: &str| match path {
        "jobs" => Ok(text.as_bytes().to_vec()),
        _ => Err(LoadError::NotFound),
    };
    let request = Request {
        files: &["jobs".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: true,
        is_to_run: false,
    };
    let dialect = find_dialect(language).expect("a language");
    let parsed = dialect.read(&request, &FilesOnly(file)).parsed;
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.plan
}

/// The set-up of 2019 as `suite show anf-2019 --as vdbench` has it.
fn published_2019() -> Plan {
    let suite = suite("anf-2019");
    let layout = suite.layout.expect("machines and files");
    let all = steps(&suite, &Order::default());
    read("vdbench", &vdbench::parameter_file(&layout, &suite.prepare, &all))
}

/// The steps of a suite as `suite show --as fio` has them.
fn published_fio(name: &str) -> Plan {
    let suite = suite(name);
    let size_bytes = match suite.prepare.size {
        Size::Bytes(bytes) | Size::Auto { max_bytes: bytes } => bytes,
    };
    let site = Site {
        place: String::new(),
        file: "f".to_owned(),
        export: None,
        size_bytes,
        takes_direct: true,
    };
    read("fio", &job_file(&steps(&suite, &Order::default()), &[site]))
}

fn size_bytes(job: &Job) -> f64 {
    match job.files.size {
        Some(FileSize::Bytes(bytes)) => bytes as f64,
        other => panic!("{other:?}"),
    }
}

/// Files of the fill, their sizes, and what lies on each of a machine's mounts.
pub(crate) fn fill(case: &Case) -> Outcome {
    let plan = published_2019();
    let jobs: Vec<&Job> = plan.steps[0].jobs.iter().collect();
    let n_files = jobs.iter().flat_map(|job| &job.files.names).count();
    let total_gib: f64 =
        jobs.iter().map(|job| size_bytes(job) * job.files.names.len() as f64 / GIB).sum();
    let on_first: f64 = jobs
        .iter()
        .map(|job| {
            let names = job.files.names.iter().filter(|name| name.starts_with("/mnt/vdb1/"));
            names.count() as f64 * size_bytes(job) / GIB
        })
        .sum();
    Outcome::said(
        Answer::new()
            .with("sds", n_files)
            .with("total_gib", total_gib)
            .with("total_tib", total_gib / 1024.0)
            .with("gib_per_mount", on_first)
            .with("fits", total_gib / 1024.0 <= case.num("volume_tib"))
            .named("capacity"),
    )
}

/// Warm-up, length and rate of every run after the fill.
pub(crate) fn run_defaults() -> Answer {
    let plan = published_2019();
    let runs: Vec<&Job> = plan.steps[1..].iter().flat_map(|step| &step.jobs).collect();
    let one = runs[0];
    let limits = |job: &Job| (job.limits.ramp_ns, job.limits.runtime_ns);
    assert!(runs.iter().all(|job| limits(job) == limits(one)), "{runs:?}");
    let is_max = runs.iter().all(|job| job.load.rate_total_iops.is_none());
    Answer::new()
        .with("warmup_s", one.limits.ramp_ns / 1_000_000_000)
        .with("elapsed_s", one.limits.runtime_ns.expect("a length") / 1_000_000_000)
        .with("iorate", if is_max { "max" } else { "limited" })
}

/// Sizes, mixes and walks of the runs after the fill, each once, in the order of the source.
pub(crate) fn matrix() -> Answer {
    let plan = published_2019();
    let of = |job: &Job| {
        let access = job.workload.access;
        let read_pct = match (access.read, access.write) {
            (true, true) => job.workload.read_pct as u32,
            (is_read, _) => u32::from(is_read) * 100,
        };
        let size = job.workload.block_size_max() / 1024;
        (size, [100, 0, 50].iter().position(|pct| *pct == read_pct), read_pct, access.random)
    };
    let runs = plan.steps[1..].iter().flat_map(|step| &step.jobs);
    let mut tests: Vec<_> = runs.map(of).collect();
    tests.sort_unstable();
    tests.dedup();
    let seek = tests.iter().map(|test| u32::from(test.3) * 100);
    Answer::new()
        .with("tests", tests.len())
        .with("xfersize_kib", tests.iter().map(|test| test.0).collect::<Vec<_>>())
        .with("rdpct", tests.iter().map(|test| test.2).collect::<Vec<_>>())
        .with("seekpct", seek.collect::<Vec<_>>())
}

/// What the fio jobs of both documents work on, and how long.
pub(crate) fn presets() -> Answer {
    let (regular, large) = (published_fio("anf-regular"), published_fio("anf-large"));
    let jobs: Vec<&Job> = regular.jobs().chain(large.jobs()).collect();
    let runtime_ns = jobs[0].limits.runtime_ns;
    assert!(jobs.iter().all(|job| job.limits.runtime_ns == runtime_ns));
    let is_direct = jobs.iter().all(|job| job.files.direct);
    // All jobs of a random step work on one file; those of a walk have a part of it each.
    let set_gib = |plan: &Plan| {
        let random = plan.jobs().find(|job| job.workload.access.random).expect("a random step");
        size_bytes(random) / GIB
    };
    Answer::new()
        .with("file_set_gib", set_gib(&regular))
        .with("large_working_set_tib", set_gib(&large) / 1024.0)
        .with("runtime_s", runtime_ns.expect("a length") / 1_000_000_000)
        .with("direct", u32::from(is_direct))
}

const NEEDS: &str = "[[volume]]\nname = 'v'\n[[phase]]\nname = 'normal'\n[[phase.volume]]\n\
                     name = 'v'\niops = 1000\nio_size_kib = 8\n";

/// The peak that a design must carry where only normal load is stated.
pub(crate) fn peak_factor() -> Answer {
    let needs = needs::parse(NEEDS).0.expect("needs");
    let required = needs::requirements(&needs);
    let rate = |phase: needs::PhaseName| {
        let load = required.volumes[0].loads.iter().find(|load| load.phase == phase);
        load.and_then(|load| load.iops.as_ref()).expect("a rate").value
    };
    let (peak, normal) = (rate(needs::PhaseName::Peak), rate(needs::PhaseName::Normal));
    Answer::new().with("factor", peak / normal)
}

/// The checklist: its rows, and the percentiles that are filled where a figure has them.
pub(crate) fn checklist() -> Answer {
    let needs = needs::parse(NEEDS).0.expect("needs");
    let list = &needs::checklists(&needs)[0];
    let first = serde_json::to_value(&list.rows[0]).expect("plain data");
    let percentiles = [50, 90, 99].into_iter().filter(|at| first[format!("p{at}")].is_number());
    Answer::new()
        .with("rows", list.rows.len())
        .with("percentiles", percentiles.map(Value::from).collect::<Vec<_>>())
}

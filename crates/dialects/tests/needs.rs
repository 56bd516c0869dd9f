//! Files of needs as workloads: a step per phase, a job per volume, and the samples beside them.

use dialects::{
    Dialect, FilesOnly, LoadError, Overrides, ReadPlan, Request, find_dialect, likeliest,
};
use plan::Job;
use plan::workload::BlockSize;

const NEEDS: &str = "\
schema = 'plimsoll.needs/1'
series = 'n.series.csv'
growth = { load = 1.5 }
[[volume]]
name = 'data'
capacity_gib = 100
working_set_gib = 10
[[volume]]
name = '/mnt/log'
[[phase]]
name = 'normal'
[[phase.volume]]
name = 'data'
iops = 2000
read_percent = 70
random_percent = 80
io_size_kib = { p50 = 8, p90 = 64, p99 = 64, mean = 24.8, min = 8, max = 64 }
queue_depth = 4
[[phase.volume]]
name = '/mnt/log'
iops = { p99 = 100, label = 'measured' }
throughput_mb_s = { p99 = 0.43, label = 'measured' }
read_percent = 0
random_percent = 0
";

const SERIES: &str = "\
volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight
data,1,1,100,75,25,614400,204800,0.1
data,2,1,0,0,0,0,0,0
data,4,2,400,300,100,2457600,819200,0.1
idle,1,1,0,0,0,0,0,0
";

fn read(needs: &str, series: &str, sections: &[&str]) -> ReadPlan {
    let file = |path: &str| match path {
        "a/n.toml" => Ok(needs.as_bytes().to_vec()),
        "a/n.series.csv" => Ok(series.as_bytes().to_vec()),
        _ => Err(LoadError::NotFound),
    };
    let sections: Vec<String> = sections.iter().map(|name| (*name).to_owned()).collect();
    let names = ["a/n.toml".to_owned()];
    let request = Request {
        files: &names,
        sections: &sections,
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    };
    dialect().read(&request, &FilesOnly(file))
}

fn dialect() -> &'static dyn Dialect {
    find_dialect("needs").expect("it is one of ours")
}

#[track_caller]
fn jobs(found: &ReadPlan) -> Vec<(&str, &Job)> {
    let parsed = &found.parsed;
    let is_fine = !parsed.has_errors() && parsed.refusals.is_empty();
    assert!(is_fine, "{:?} {:?}", parsed.diagnostics, parsed.refusals);
    let steps = parsed.plan.steps.iter();
    steps.flat_map(|step| step.jobs.iter().map(|job| (step.name.as_str(), job))).collect()
}

#[test]
fn a_step_per_phase_and_a_job_per_volume() {
    let found = read(NEEDS, SERIES, &[]);
    let jobs = jobs(&found);
    let names: Vec<(&str, &str)> = jobs.iter().map(|(step, job)| (*step, &*job.name)).collect();
    let data_and_log = |phase: &'static str, data, log| [(phase, data), (phase, log)];
    assert_eq!(
        names,
        [
            data_and_log("normal", "normal data", "normal /mnt/log"),
            data_and_log("peak", "peak data", "peak /mnt/log"),
        ]
        .concat()
    );
    let data = jobs[0].1;
    // 2,000 with growth, as many in flight as were written with growth, on the working set.
    assert_eq!(data.load.rate_total_iops, Some(3000.0));
    assert_eq!((data.load.queue_depth, data.limits.time_based), (6, true));
    assert_eq!(data.files.names, ["/data/plimsoll.load"]);
    assert_eq!((data.workload.read_pct, data.workload.random_pct.read), (70.0, 80.0));
    // 70 of 100 at 8 KiB and 30 at 64 have those percentiles and that mean.
    let sizes = BlockSize::Split(vec![(8192, 70), (65_536, 30)]);
    assert_eq!(data.workload.block_size.read, sizes);
    let log = jobs[1].1;
    assert_eq!(log.files.names, ["/mnt/log/plimsoll.load"]);
    assert!(!log.workload.access.read && !log.workload.access.random);
    // 430,000 / 100 = 4,300 bytes: between one page and two.
    let BlockSize::Weighted(sizes) = &log.workload.block_size.write else {
        panic!("{:?}", log.workload.block_size)
    };
    let mean = log.workload.block_size.write.mean();
    assert_eq!((sizes[0].0, sizes[1].0, mean.round()), (4096, 8192, 4300.0));
    // The number in flight is not written: there is room for 10 ms at 150 a second, and a stripe.
    assert_eq!(log.load.queue_depth, 1026);
    assert_eq!(jobs[2].1.load.rate_total_iops, Some(6000.0));
    let notes: Vec<&str> = found.parsed.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(notes, ["capacity-assumed", "series-beside"]);
}

/// A capture counts fractions of a percent, and 74.9998 is not 74.
#[test]
fn shares_are_run_as_fine_as_they_are_written() {
    let shares = "read_percent = 74.9998\nrandom_percent = 12.5";
    let found = read(&NEEDS.replace("read_percent = 70\nrandom_percent = 80", shares), SERIES, &[]);
    for idx in [0, 2] {
        let workload = &jobs(&found)[idx].1.workload;
        let random = &workload.random_pct;
        assert_eq!((workload.read_pct, random.read, random.write), (74.9998, 12.5, 12.5));
    }
    let notes: Vec<&str> = found.parsed.diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(notes, ["capacity-assumed", "series-beside"]);
}

/// A mean of 3.9999 KiB, as two decimals of a log make it, is 4 KiB: I/Os of 3.5 KiB, however rare,
/// would have all others begin at any sector.
#[test]
fn a_size_that_is_a_multiple_of_sectors_but_for_rounding_is_that() {
    for (kib, bytes) in [("3.9999", 4096), ("8.005", 8192), ("0.496", 512)] {
        let sizes = "io_size_kib = { p50 = 8, p90 = 64, p99 = 64, mean = 24.8, min = 8, max = 64 }";
        let needs = NEEDS.replace(sizes, &format!("io_size_kib = {kib}"));
        let found = read(&needs, SERIES, &[]);
        let size = &jobs(&found)[0].1.workload.block_size.read;
        assert_eq!(*size, BlockSize::Fixed(bytes), "{kib}");
    }
}

/// Places are multiples of what all sizes are multiples of, which need not be one of them.
#[test]
fn mixed_sizes_begin_at_multiples_of_what_they_have_in_common() {
    let sizes = "io_size_kib = { p50 = 8, p90 = 64, p99 = 64, mean = 24.8, min = 8, max = 64 }";
    for (kib, align) in [("4.3", None), ("8.3", Some(4096)), ("3.8", Some(512)), ("24", None)] {
        let needs = NEEDS.replace(sizes, &format!("io_size_kib = {kib}"));
        let found = read(&needs, SERIES, &[]);
        assert_eq!(jobs(&found)[0].1.workload.block_align.read, align, "{kib}");
    }
}

/// 90 % of the 60 % of reads that are at random places hit; of the other 46 % 6 are at random
/// places, and 40 follow one another.
#[test]
fn reads_that_a_cache_answers_go_to_a_small_area() {
    let needs = NEEDS.replace("working_set_gib = 10", "hit_percent = 90");
    let needs = needs.replace("random_percent = 80", "random_percent = 60");
    let needs = needs.replace(
        "io_size_kib = { p50 = 8, p90 = 64, p99 = 64, mean = 24.8, min = 8, max = 64 }",
        "io_size_kib = 8",
    );
    let found = read(&needs, SERIES, &["normal", "series"]);
    let jobs = jobs(&found);
    let data = jobs[0].1;
    let area = data.workload.hit_area.expect("an area");
    assert_eq!((area.read_pct, area.write_pct), (54.0, 0.0));
    // 3,000 IOPS, of which 70 % are reads and 54 % of these hit: 0.05 s of them, 8 KiB each.
    assert_eq!(area.len_bytes, 57 * 8192);
    let random = &data.workload.random_pct;
    assert_eq!((random.read, random.write), (13.0, 60.0));
    assert_eq!(data.files.size, Some(plan::files::Size::Bytes(100 << 30)));
    let series = jobs.iter().find(|(step, _)| *step == "series").expect("a series").1;
    assert_eq!(series.workload.hit_area.map(|area| area.read_pct), Some(54.0));
    assert!(found.parsed.diagnostics.iter().all(|it| it.code != "hits-not-run"));
}

/// Without writes and without order, nothing of the walk is left to change.
#[test]
fn hits_of_reads_at_random_places_are_stated_as_they_are() {
    let needs = NEEDS.replace("working_set_gib = 10", "hit_percent = 90");
    let needs = needs.replace("random_percent = 80", "random_percent = 100");
    let found = read(&needs, SERIES, &["normal"]);
    let data = jobs(&found)[0].1.workload.clone();
    assert_eq!(data.hit_area.map(|area| area.read_pct), Some(90.0));
    assert_eq!((data.random_pct.read, data.random_pct.write), (100.0, 100.0));
    let none = NEEDS.replace("working_set_gib = 10", "hit_percent = 0");
    let found = read(&none, SERIES, &["normal"]);
    assert_eq!(jobs(&found)[0].1.workload.hit_area, None);
}

#[test]
fn a_phase_is_chosen_by_its_name() {
    let found = read(NEEDS, SERIES, &["peak"]);
    assert!(jobs(&found).iter().all(|(step, _)| *step == "peak"));
    let wrong = read(NEEDS, SERIES, &["noon"]);
    let refusal = &wrong.parsed.refusals[0];
    assert_eq!(refusal.message, "there is no phase `noon` in `a/n.toml`");
    assert_eq!(refusal.help, ["there are: normal, peak; and `series`"]);
}

#[test]
fn samples_are_replayed_period_after_period() {
    let found = read(NEEDS, SERIES, &["series"]);
    let jobs = jobs(&found);
    let [("series", job)] = jobs[..] else { panic!("{jobs:?}") };
    let periods = job.load.rate_periods.as_ref().expect("a rate that changes");
    let rates: Vec<(f64, u64)> =
        periods.periods.iter().map(|it| (it.rate, it.duration_ns / 1_000_000_000)).collect();
    // With growth; 400 in two seconds.
    assert_eq!(rates, [(150.0, 1), (0.0, 1), (300.0, 2)]);
    assert!((job.workload.read_pct - 75.0).abs() < 1e-9);
    // 4,096,000 bytes of 500 I/Os.
    assert_eq!(job.workload.block_size.read, BlockSize::Fixed(8192));
    assert_eq!(job.limits.runtime_ns, Some(4_000_000_000));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let refusal = |needs: &str, series: &str, sections: &[&str]| {
        let found = read(needs, series, sections);
        let refusals: Vec<String> =
            found.parsed.refusals.iter().map(|it| it.message.clone()).collect();
        refusals.join("\n")
    };
    let without = |line: &str| NEEDS.lines().filter(|it| !it.starts_with(line)).collect::<Vec<_>>();
    let text = refusal(&without("io_size_kib").join("\n"), "", &["normal"]);
    assert_eq!(text, "data, normal: the size of I/Os is not known");
    let text = refusal(&without("read_percent").join("\n"), "", &["normal"]);
    assert!(text.contains("data, normal: the share of reads is not known"), "{text}");
    let text = refusal("[[volume]]\nname = 'a'\n[[phase]]\nname = 'peak'\n", "", &[]);
    assert_eq!(text, "`a/n.toml` asks for no I/O");
    for (series, part) in [
        ("x,y\n", "line 1: it is not a series of samples"),
        (&SERIES.replace("100,75", "many,75"), "line 2: `many` is not a number"),
        (&SERIES.replace("data,2,1,0,", "data,2,1,"), "line 3: it has not as many columns"),
        (&SERIES.replace("data,", "other,"), "no I/O of a volume of the needs"),
        (
            &SERIES.replace("75,25,", ",,").replace("300,100,", ",,"),
            "reads and writes of data were not counted apart",
        ),
    ] {
        let text = refusal(NEEDS, series, &["series"]);
        assert!(text.contains(part), "{text}");
    }
    let text = refusal(&without("series").join("\n"), "", &["series"]);
    assert_eq!(text, "`a/n.toml` names no series of samples");
}

#[test]
fn needs_are_known_by_what_only_they_have() {
    for text in [NEEDS, "[[volume]]\nname = 'a'\n[[phase]]\nname = 'peak'\n"] {
        assert_eq!(likeliest(text).map(Dialect::name), Some("needs"), "{text}");
    }
    let design = "[[volume]]\nmount = '/data'\ndisk = 'P30'\n";
    assert_ne!(likeliest(design).map(Dialect::name), Some("needs"));
    let written = dialect().write(&plan::Plan::default());
    assert!(written.is_empty() && written.losses.len() == 1);
}

/// What other tools can say of it: the same rates, sizes and mix.
#[test]
fn a_phase_is_written_for_other_tools() {
    let found = read(NEEDS, SERIES, &["normal"]);
    let fio = find_dialect("fio").expect("fio").write(&found.parsed.plan);
    for line in ["rate_iops=2100,900,", "bssplit=8k/70:64k/30", "percentage_random=80"] {
        assert!(fio.text.contains(line), "{line}\n{}", fio.text);
    }
    let vdbench = find_dialect("vdbench").expect("Vdbench").write(&found.parsed.plan);
    assert!(vdbench.text.contains("rdpct=70,xfersize=(8192,70,65536,30)"), "{}", vdbench.text);
}

//! Vdbench's raw runs as steps of a plan: targets, shares of rates, limits, contents.

mod support;

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::run::{Rate, Run, SdFormat, Work};
use dialects::vdbench::{Options, parse_text};
use dialects::{FilesOnly, Overrides, Request, find_dialect};
use plan::files::{Size, SyncMode};
use plan::job::{Part, PartRegion};
use plan::load::Arrivals;
use plan::verify::{FlipFlop, PatternPart, SetCount};
use plan::workload::{BlockSize, Distribution, HitArea};
use plan::{Diagnostic, Job, Severity, Step};
use support::{MapHost, all_shown};

/// Returns a host with one file.
fn host() -> MapHost {
    MapHost::of_files(&[("/tmp/pattern", "abcd")])
}

#[track_caller]
fn runs(text: &str) -> Vec<Run> {
    let parsed = parse_text("parmfile", text, &Options::default(), &host());
    let is_error = |it: &Diagnostic| it.severity == Severity::Error;
    assert!(!parsed.diagnostics.iter().any(is_error), "{:?}", parsed.diagnostics);
    parsed.runs
}

fn lower(run: &Run, curve_step_idx: Option<u32>) -> (Step, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let context = Context { curve_step_idx, first_group_id: 5, loader: &host(), sources: &[] };
    let step = step(run, context, &mut findings);
    (step, findings)
}

/// Lowers the runs of a file without findings.
#[track_caller]
fn steps(text: &str) -> Vec<Step> {
    let lowered = runs(text).iter().map(|run| lower(run, Some(0))).collect::<Vec<_>>();
    lowered
        .into_iter()
        .map(|(step, findings)| {
            assert_eq!(findings, []);
            step
        })
        .collect()
}

/// Lowers a run of one workload definition on one storage definition.
#[track_caller]
fn job(sd: &str, wd: &str, rd: &str) -> Job {
    let text = format!(
        "sd=sd1,lun=/tmp/a,size=1g{sd}\nwd=wd1,sd=sd1{wd}\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1{rd}\n"
    );
    let mut steps = steps(&text);
    assert_eq!((steps.len(), steps[0].jobs.len()), (1, 1));
    steps.remove(0).jobs.remove(0)
}

fn part(wd: &str) -> Part {
    job("", wd, "").parts.remove(0)
}

/// Returns codes and messages of what is found in a file's first run.
fn found(text: &str) -> Vec<String> {
    let (_, findings) = lower(&runs(text)[0], None);
    findings.into_iter().map(|it| format!("{}: {}", it.code, it.message)).collect()
}

fn rates(step: &Step) -> Vec<Option<f64>> {
    step.jobs.iter().map(|job| job.load.rate_total_iops).collect()
}

fn weights(step: &Step) -> Vec<Option<u32>> {
    step.jobs.iter().map(|job| job.load.flow.map(|flow| flow.weight)).collect()
}

#[test]
fn a_job_is_a_storage_definition_and_its_parts_are_workloads() {
    let text = "sd=sd1,lun=/tmp/a,size=1g,threads=4\nsd=sd2,lun=/tmp/b,size=1g,threads=16\n\
                wd=wd1,sd=*,rdpct=70\nwd=wd2,sd=sd2,rdpct=100\n\
                rd=rd1,wd=*,iorate=max,elapsed=10,interval=1,warmup=5\n";
    let step = &steps(text)[0];
    let jobs: Vec<_> = step.jobs.iter().map(|job| (&*job.name, job.load.queue_depth)).collect();
    assert_eq!(jobs, [("sd1", 4), ("sd2", 16)]);
    assert_eq!(step.jobs.iter().map(|job| job.group_id).collect::<Vec<_>>(), [5, 6]);
    let names = |job: &Job| job.parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (names(&step.jobs[0]), names(&step.jobs[1])),
        (vec!["wd1".to_owned()], vec!["wd1".to_owned(), "wd2".to_owned()],)
    );
    let limits = &step.jobs[0].limits;
    assert_eq!((limits.runtime_ns, limits.ramp_ns), (Some(10_000_000_000), 5_000_000_000));
    assert!(limits.time_based && step.jobs[0].modifies());
    assert_ne!(step.jobs[0].workload.seed, step.jobs[1].workload.seed);
    assert_eq!(rates(step), [None, None]);
    assert_eq!(weights(step), [None, None], "nothing holds an uncontrolled run");
}

#[test]
fn rates_are_divided_by_share() {
    let text = "sd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size=1g\n\
                wd=wd1,sd=sd1,skew=60\nwd=wd2,sd=*,skew=40\n\
                rd=rd1,wd=*,iorate=(1000,max),elapsed=10,interval=1,distribution=uniform\n";
    let steps = steps(text);
    assert_eq!(rates(&steps[0]), [Some(800.0), Some(200.0)]);
    assert_eq!(weights(&steps[0]), [Some(1000), Some(250)]);
    assert_eq!(steps[0].jobs[0].load.arrivals, Arrivals::Uniform);
    let shares: Vec<f64> = steps[0].jobs[0].parts.iter().map(|part| part.weight).collect();
    assert!((shares[0] - 0.6).abs() < 1e-9 && (shares[1] - 0.2).abs() < 1e-9, "{shares:?}");
    // The maximum is controlled too: a workload has a skew.
    assert_eq!(rates(&steps[1]), [None, None]);
    assert_eq!(weights(&steps[1]), [Some(1000), Some(250)]);
    assert_eq!(steps[1].jobs[0].load.flow.map(|flow| flow.slack_ios), Some(2000));
}

/// Rates and seconds of a job.
fn periods(job: &Job) -> Vec<(f64, u64)> {
    let rates = job.load.rate_periods.as_ref().expect("a rate that changes");
    rates.periods.iter().map(|it| (it.rate, it.duration_ns / 1_000_000_000)).collect()
}

#[test]
fn rates_and_seconds_in_turn_are_periods_of_one_run() {
    let text = |distribution: &str, rates: &str| {
        format!(
            "sd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size=1g\nwd=wd1,sd=sd1,skew=75\n\
             wd=wd2,sd=sd2\nrd=rd1,wd=*,iorate={rates},elapsed=100,interval=1,\
             distribution={distribution}\n"
        )
    };
    let rates = "(100,10,1000,5,0,2)";
    let steps = steps(&text("(d,variable)", rates));
    assert_eq!(self::rates(&steps[0]), [Some(750.0), Some(250.0)], "the largest rate, by shares");
    let jobs = &steps[0].jobs;
    assert!(jobs.iter().all(|job| periods(job) == [(100.0, 10), (1000.0, 5), (0.0, 2)]));
    assert!(jobs.iter().all(|job| job.load.arrivals == Arrivals::Linear));
    let in_spikes = |job: &Job| job.load.rate_periods.as_ref().is_some_and(|it| it.in_spikes);
    assert!(!jobs.iter().any(in_spikes));

    let run = &runs(&text("spike", rates))[0];
    assert_eq!(run.announced, "RD=rd1; I/O rate: Variable; elapsed=100; For loops: None");
    assert_eq!(run.rate, Rate::Iops(1000.0));
    let jobs = lower(run, None).0.jobs;
    assert!(jobs.iter().all(in_spikes));
    assert_eq!(jobs[0].load.arrivals, Arrivals::Linear, "nothing is drawn");

    // Percentages: of the largest rate, and of the elapsed time in whole seconds.
    let shares = self::steps(&text("variable", "(50%,10%,400,2.5%)"));
    assert_eq!(periods(&shares[0].jobs[0]), [(200.0, 10), (400.0, 2)]);
    assert_eq!(shares[0].jobs[0].load.arrivals, Arrivals::Poisson);
}

#[test]
fn a_curve_is_shares_of_its_maximum() {
    let text = "sd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size=1g\nwd=wd1,sd=*\n\
                rd=rd1,wd=*,iorate=curve,curve=(50,100),stopcurve=2.5,elapsed=10,interval=1\n";
    let steps = steps(text);
    assert_eq!(steps.len(), 3);
    assert_eq!((steps[0].rate_of, rates(&steps[0])), (None, vec![None, None]));
    let rate_of = steps[1].rate_of.expect("a point");
    assert_eq!((rate_of.step_idx, rate_of.pct, rate_of.round_up), (0, 50.0, (1000, 100, 10)));
    assert_eq!((rate_of.rate_min_iops, rate_of.stop_above_ns), (10, Some(2_500_000)));
    assert_eq!(rate_of.after_ns, 1_000_000_000, "the first interval, as in averages");
    let warmed = text.replace("elapsed=10", "elapsed=10,warmup=2");
    let steps_after_warmup = self::steps(&warmed);
    assert_eq!(steps_after_warmup[1].rate_of.map(|of| of.after_ns), Some(1));
    assert_eq!(rates(&steps[1]), [Some(50.0), Some(50.0)], "in proportion");
    let (_, findings) = lower(&runs(text)[1], None);
    assert_eq!(findings[0].code, "curve-without-maximum");
}

#[test]
fn workloads_may_have_rates_and_priorities() {
    let text = "sd=sd1,lun=/tmp/a,size=1g\n\
                wd=wd1,sd=sd1,iorate=300,priority=1\nwd=wd2,sd=sd1,iorate=100,priority=2\n\
                wd=wd3,sd=sd1,priority=3\n\
                rd=rd1,wd=*,iorate=1000,elapsed=10,interval=1\n";
    let step = &steps(text)[0];
    assert_eq!(rates(step), [Some(1000.0)]);
    let parts: Vec<_> =
        step.jobs[0].parts.iter().map(|part| (part.rate_iops, part.priority)).collect();
    assert_eq!(parts, [(Some(300.0), 1), (Some(100.0), 2), (None, 3)]);
    let shares: Vec<f64> = step.jobs[0].parts.iter().map(|part| part.weight).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
}

#[test]
fn the_rate_of_a_run_bounds_those_of_its_workloads() {
    let text = |rate: &str| {
        format!(
            "sd=default,size=1g\nsd=sd1,lun=/tmp/a\nsd=sd2,lun=/tmp/b\nsd=sd3,lun=/tmp/c\n\
             wd=wd1,sd=sd1,iorate=300,priority=1\nwd=wd2,sd=sd2,iorate=100,priority=2\n\
             wd=wd3,sd=sd3,priority=3\nrd=rd1,wd=*,iorate={rate},elapsed=10,interval=1\n"
        )
    };
    let first = |rate: &str| steps(&text(rate)).swap_remove(0);
    let idle = Some(plan::rates::IDLE_RATE_IOPS);
    assert_eq!(rates(&first("1000")), [Some(300.0), Some(100.0), Some(600.0)]);
    assert_eq!(rates(&first("350")), [Some(300.0), Some(50.0), idle]);
    assert_eq!(rates(&first("200")), [Some(200.0), idle, idle]);
    // A worker with its own rate, or without work, does not wait, and others do not wait for it.
    assert_eq!(weights(&first("200")), [Some(1000), None, None]);
    assert_eq!(weights(&first("max")), [None, None, Some(1000)]);
}

#[test]
fn seeks_are_walks() {
    let walk = |wd: &str| part(wd).workload;
    let plain = walk("");
    assert!(plain.access.random && plain.one_cursor && plain.aligned_to_length);
    assert!(!plain.no_repeats && plain.random_pct.read >= 100.0);
    assert_eq!(walk(",seekpct=30").random_pct.write as u8, 30);
    // Vdbench cuts fractions off the `rdpct` of a definition, and only there.
    let fractions = walk(",seekpct=12.5,rdpct=33.3");
    assert_eq!((fractions.random_pct.read, fractions.read_pct), (12.5, 33.0));
    let looped = job("", "", ",forrdpct=33.3");
    assert_eq!(Some(looped.parts[0].workload.read_pct), Some(33.3));
    for seq in [",seekpct=0", ",seekpct=seq", ",seekpct=sequential"] {
        assert!(!walk(seq).access.random && !walk(seq).ends_with_region);
    }
    assert!(walk(",seekpct=eof").ends_with_region && walk(",seekpct=-1").ends_with_region);
    assert!(walk(",seekpct=seqnz").starts_anywhere);
    let poisson = walk(",seekpct=(poisson,4)").distribution.read;
    assert_eq!(poisson, Distribution::Exponential { mean: 0.25 });
    assert_eq!(walk(",seekpct=100,stride=(8k,16k)").skip_bytes, Some((8192, 16_384)));
    assert_eq!(walk(",seekpct=0,streams=4").n_streams, 4);
}

#[test]
fn sizes_keep_their_shares() {
    let size = |wd: &str| part(wd).workload.block_size.read;
    assert_eq!(size(",xfersize=12288"), BlockSize::Fixed(12_288));
    assert_eq!(size(",xfersize=(4k,25,8k,75)"), BlockSize::Split(vec![(4096, 25), (8192, 75)]));
    assert_eq!(
        size(",xfersize=(4k,0.5,8k,99.5)"),
        BlockSize::Weighted(vec![(4096, 5000), (8192, 995_000)])
    );
    let range = job(",align=1k", ",xfersize=(4k,16k,1k)", "").parts.remove(0).workload;
    assert_eq!(range.block_size.write, BlockSize::Stepped { min: 4096, max: 16_384, step: 1024 });
    assert_eq!(range.block_align.read, Some(1024));
}

#[test]
fn parts_of_a_target() {
    let region = |wd: &str| part(wd).region;
    assert_eq!(region(""), PartRegion::Whole);
    assert_eq!(region(",range=(90,110)"), PartRegion::Pct(90.0, 110.0));
    assert_eq!(region(",range=(90,110),seekpct=eof"), PartRegion::Pct(90.0, 100.0));
    assert_eq!(region(",range=(1m,2m)"), PartRegion::Bytes(1 << 20, 2 << 20));
    assert_eq!(region(",hotband=(10,20)"), PartRegion::Pct(10.0, 20.0));
    assert_eq!(region(",hotband=(1m,2m)"), PartRegion::Bytes(1 << 20, 2 << 20));
    let of_both = job(",range=(10,20)", ",range=(30,40)", "").parts.remove(0).region;
    assert_eq!(of_both, PartRegion::Pct(30.0, 40.0), "the workload's goes first");
    let hits = job(",hitarea=4m", ",rhpct=50,whpct=10", "").parts.remove(0).workload.hit_area;
    assert_eq!(hits, Some(HitArea { len_bytes: 4 << 20, read_pct: 50.0, write_pct: 10.0 }));
    assert_eq!(part(",rhpct=0").workload.hit_area, None);
}

#[test]
fn how_targets_are_opened() {
    let plain = job("", "", "").files;
    assert_eq!((plain.direct, plain.sync, plain.allow_create), (false, SyncMode::None, false));
    assert!(!plain.invalidate && !plain.spares_first_block);
    let offset = job(",offset=4096", "", "").files;
    assert_eq!(
        (offset.offset, offset.size),
        (Size::Bytes(4096), Some(Size::Bytes((1 << 30) - 4096)),)
    );
    let flags = |words: &str| job(&format!(",openflags={words}"), "", "").files;
    assert!(flags("o_direct").direct && flags("directio").direct && flags("0x4000").direct);
    for word in ["o_sync", "o_dsync", "o_rsync", "0x1000"] {
        assert_eq!(flags(word).sync, SyncMode::Dsync);
    }
    assert_eq!(flags("0x101000").sync, SyncMode::Sync);
    assert!(flags("(o_direct,fsync)").fsync_on_close);
    assert_eq!(flags("0x8000").open_flag_bits, 0x8000);
    let truncates = "sd=sd1,lun=/tmp/a,size=1g,openflags=0x200\nwd=wd1,sd=sd1\n\
                     rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";
    assert_eq!(
        found(truncates),
        ["unknown-open-bits: sd=sd1: openflags= has bits that are not passed on: 0x200"]
    );
}

#[test]
fn a_definition_that_two_workloads_open_differently_is_opened_as_both_want_it() {
    let text = "sd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size=1g\n\
                wd=wd1,sd=sd*,openflags=o_direct\nwd=wd2,sd=sd1,openflags=o_dsync\n\
                wd=wd3,sd=sd2,openflags=o_direct\n\
                rd=rd1,wd=wd*,iorate=max,elapsed=10,interval=1\n";
    let opened = |text: &str| {
        let step = steps(text).remove(0);
        let of = |job: &Job| (job.name.clone(), job.files.direct, job.files.sync);
        step.jobs.iter().map(of).collect::<Vec<_>>()
    };
    let expected =
        [("sd1".to_owned(), true, SyncMode::Dsync), ("sd2".to_owned(), true, SyncMode::None)];
    assert_eq!(opened(text), expected);
    let found = parse_text("parmfile", text, &Options::default(), &host()).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    let said = "wd=wd1 and wd=wd2 want sd=sd1 opened in two ways: it is opened once";
    assert!(found[0].message.starts_with(said), "{found:?}");
    // One that says nothing is opened as the storage definition is.
    let half = text.replace("wd=wd1,sd=sd*,openflags=o_direct", "wd=wd1,sd=sd1");
    assert_eq!(opened(&half)[0], ("sd1".to_owned(), false, SyncMode::Dsync));
}

#[test]
fn devices_are_used_past_the_cache_and_not_at_their_first_block() {
    let text = |flags: &str| {
        format!(
            "sd=sd1,lun=/dev/sdx{flags}\nwd=wd1,sd=sd1\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n"
        )
    };
    let files = &steps(&text(",openflags=o_direct"))[0].jobs[0].files;
    assert!(files.direct && files.spares_first_block && !files.allow_create);
    assert_eq!(files.size, None);
    assert_eq!(
        found(&text("")),
        ["device-without-direct: sd=sd1: `/dev/sdx` is a device, and a device is used with \
          direct I/O only"]
    );
}

#[test]
fn files_in_shared_memory_are_used_as_files() {
    let text = "sd=sd1,lun=/dev/shm/f,size=1m\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";
    assert_eq!(found(text), [""; 0]);
    let files = &steps(text)[0].jobs[0].files;
    assert!(!files.direct && !files.spares_first_block);
    // Other languages have no run that makes them first.
    let request = Request {
        files: &["parmfile".to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: false,
        is_to_run: false,
    };
    let host = FilesOnly(|_: &str| Ok(text.as_bytes().to_vec()));
    let read = find_dialect("vdbench").expect("a language").read(&request, &host).parsed;
    assert!(read.plan.jobs().all(|job| job.files.allow_create), "{}", all_shown(&read.refusals));
}

#[test]
fn volumes_of_several_storage_definitions() {
    let text = |size: &str| {
        format!(
            "concatenatesds=yes\nsd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size={size}\n\
             wd=wd1,sd=*,threads=6\nrd=rd1,wd=wd1,iorate=500,elapsed=10,interval=1\n"
        )
    };
    let step = &steps(&text("1g"))[0];
    assert_eq!(step.jobs.len(), 1);
    let job = &step.jobs[0];
    assert_eq!((&*job.name, job.load.queue_depth), ("wd1", 6));
    assert_eq!((job.files.concatenate, job.files.size), (true, Some(Size::Bytes(2 << 30))));
    assert_eq!((job.files.names.len(), rates(step)), (2, vec![Some(500.0)]));
    assert_eq!(found(&text("2g")).len(), 1);
}

#[test]
fn limits_errors_and_commands() {
    let text = "data_errors=7\nsd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1,maxdata=5g,pause=3,\
                startcmd=(\"sync\",log),endcmd=\"date\"\n";
    let step = &steps(text)[0];
    assert_eq!((step.amount_max.total_bytes, step.pause_ns), (5 << 30, 3_000_000_000));
    assert_eq!(
        (&step.exec_before[..], &step.exec_after[..]),
        (&["sync".to_owned()][..], &["date".to_owned()][..],)
    );
    let errors = &step.jobs[0].errors;
    assert_eq!(errors.n_errors_max, Some(7));
    assert!(errors.continue_read && errors.continue_write && errors.exit_all_on_error);
    assert_eq!(job("", "", "").errors.n_errors_max, Some(50));
}

#[test]
fn commands_around_everything_are_before_the_first_run_and_after_the_last() {
    let text = "startcmd=\"first\"\nendcmd=\"last\"\nsd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1,startcmd=\"own\"\n\
                rd=rd2,wd=wd1,iorate=max,elapsed=10,interval=1\n";
    let parsed = parse_text("text", text, &Options::default(), &host());
    let (plan, _) = dialects::vdbench::plan_of(&parsed.runs, &parsed, &host());
    let found = plan.steps;
    let commands: Vec<(&[String], &[String])> =
        found.iter().map(|step| (&step.exec_before[..], &step.exec_after[..])).collect();
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let (before, after) = (texts(&["first", "own"]), texts(&["last"]));
    assert_eq!(commands, [(&before[..], &[][..]), (&[][..], &after[..])]);
}

#[test]
fn contents_of_writes() {
    let of = |general: &str| {
        let text = format!(
            "{general}\nsd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1,rdpct=0\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n"
        );
        steps(&text)[0].jobs[0].buffers.clone()
    };
    let plain = of("compratio=1");
    assert_eq!((plain.compress_ratio, &plain.dedupe_sets), (None, &None));
    assert_eq!(of("compratio=4").compress_ratio, Some(4.0));
    let sets = of("dedupratio=2,dedupunit=8k,dedupsets=10").dedupe_sets.expect("asked for");
    assert_eq!((sets.ratio, sets.unit_bytes, sets.sets), (2.0, 8192, SetCount::Count(10)));
    let by_pct = of("dedupratio=2,dedupunit=8k").dedupe_sets.expect("asked for");
    assert_eq!((by_pct.sets, by_pct.flip_flop), (SetCount::Pct(5.0), FlipFlop::None));
    for (word, expected) in [("yes", FlipFlop::All), ("no", FlipFlop::None), ("hot", FlipFlop::Hot)]
    {
        let general =
            format!("dedupratio=2,dedupunit=8k,dedupflipflop={word},deduphotsets=(2,10,1,30)");
        let sets = of(&general).dedupe_sets.expect("asked for");
        assert_eq!((sets.flip_flop, &sets.hot_sets[..]), (expected, &[(2, 10), (1, 30)][..]));
    }
    let pattern = of("pattern=/tmp/pattern").pattern;
    assert_eq!(pattern, [PatternPart::Bytes(b"abcd".to_vec())]);
}

#[test]
fn files_are_formatted_in_sequence() {
    let mut run = runs(
        "dedupratio=2,dedupunit=4k,compratio=2\nsd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n",
    )
    .remove(0);
    let Work::Raw(raw) = run.work.clone() else { panic!("raw work") };
    let mut sds = raw.sds;
    sds[0].threads = 2;
    run.work = Work::SdFormat(SdFormat { sds, xfersize_bytes: 131_072 });
    run.name = "SD_format".to_owned();
    (run.elapsed_ns, run.rate, run.warmup_ns) = (None, Rate::Max, 0);
    run.contents.dedupflipflop = FlipFlop::All;
    let (step, findings) = lower(&run, None);
    assert_eq!((findings, step.jobs.len()), (vec![], 1));
    let job = &step.jobs[0];
    assert_eq!((job.load.queue_depth, job.limits.runtime_ns), (2, None));
    assert!(!job.limits.time_based && job.files.allow_create && job.parts.is_empty());
    assert!(job.load.last_io_waits, "its size says whether it is whole");
    assert!(job.modifies() && !job.workload.access.read && !job.workload.access.random);
    assert_eq!(job.workload.block_size.write, BlockSize::Fixed(131_072));
    let sets = job.buffers.dedupe_sets.as_ref().expect("asked for");
    assert_eq!((sets.flip_flop, job.buffers.compress_ratio), (FlipFlop::None, Some(2.0)));
}

/// Every raw file of our own, and of the folder of real ones where it is present, becomes jobs
/// whose parts fit together.
#[test]
#[expect(clippy::print_stdout, reason = "a test says how much it compared")]
fn files_become_jobs() {
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vdbench-micro");
    let real = testing::corpus("vdbench", "index.tsv");
    let n_files_min = if real.is_some() { 20 } else { 8 };
    let (mut n_files, mut n_jobs) = (0, 0);
    for folder in std::iter::once(own).chain(real) {
        let entries = std::fs::read_dir(folder).expect("it is there");
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        for path in paths.filter(|path| path.extension().is_some_and(|ext| ext == "parm")) {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let parsed = parse_text("parmfile", &text, &Options::compat(), &host());
            let raw = parsed.runs.iter().filter(|run| matches!(run.work, Work::Raw(_)));
            let before = n_jobs;
            for run in raw.take(50) {
                let (step, _) = lower(run, Some(0));
                for job in &step.jobs {
                    assert!(!job.parts.is_empty(), "{}", path.display());
                    let weights = job.parts.iter().map(|part| part.weight);
                    assert!(weights.clone().all(|weight| weight > 0.0 && weight <= 1.0 + 1e-9));
                    n_jobs += 1;
                }
                let sum: f64 =
                    step.jobs.iter().flat_map(|job| &job.parts).map(|part| part.weight).sum();
                assert!(step.jobs.is_empty() || (sum - 1.0).abs() < 0.01, "{sum}");
            }
            n_files += u32::from(n_jobs > before);
        }
    }
    println!("{n_jobs} jobs of {n_files} files");
    assert!(n_files >= n_files_min, "{n_files}");
}

#[test]
fn errors_end_a_run_by_number_by_silence_and_in_the_end() {
    let of = |general: &str| {
        let text = format!(
            "{general}\nsd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n"
        );
        let errors = steps(&text)[0].jobs[0].errors.clone();
        assert!(errors.fails_in_the_end);
        (errors.n_errors_max, errors.quiet_ns)
    };
    assert_eq!(of("data_errors=50"), (Some(50), None));
    assert_eq!(of("data_errors=(7,3)"), (Some(7), Some(3_000_000_000)));
    assert_eq!(of("data_errors=0"), (Some(1), None));
    assert_eq!(of("data_errors=stop"), (Some(1), None));
}

#[test]
fn a_storage_definition_may_have_duplicates_of_its_own() {
    let text = "dedupratio=2,dedupunit=8k\nsd=sd1,lun=/tmp/a,size=1g\n\
                sd=sd2,lun=/tmp/b,size=1g,dedupratio=4,dedupsets=10,dedupflipflop=yes\n\
                wd=wd1,sd=sd*,rdpct=0\nrd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";
    let jobs = steps(text).swap_remove(0).jobs;
    let sets = jobs.iter().map(|job| job.buffers.dedupe_sets.clone().expect("asked for"));
    let found: Vec<_> = sets.map(|it| (it.ratio, it.unit_bytes, it.sets, it.flip_flop)).collect();
    let of_all = (2.0, 8192, SetCount::Pct(5.0), FlipFlop::None);
    assert_eq!(found, [of_all, (4.0, 8192, SetCount::Count(10), FlipFlop::All)]);
}

/// Returns name, queue depth and rate of the jobs of a file's first run on two storage definitions,
/// behind a line that says how many processes there are.
fn dealt(processes: &str, rest: &str) -> Vec<String> {
    let text = format!(
        "{processes}sd=default,threads=8\nsd=sd1,lun=/tmp/a,size=1g\nsd=sd2,lun=/tmp/b,size=1g\n\
         {rest},elapsed=10,interval=1\n"
    );
    let shown = |job: &Job| {
        let parts: Vec<&str> = job.parts.iter().map(|part| part.name.as_str()).collect();
        let rate = job.load.rate_total_iops.map_or_else(String::new, |rate| format!(" at {rate}"));
        format!("{} {} {}{rate}", job.name, job.load.queue_depth, parts.join("+"))
    };
    steps(&text)[0].jobs.iter().map(shown).collect()
}

const TWO: &str = "hd=localhost,jvms=2\n";

#[test]
fn processes_share_storage_definitions() {
    let random = "wd=wd1,sd=sd*\nrd=rd1,wd=wd1,iorate=400";
    let whole = ["sd1 8 wd1 at 200", "sd2 8 wd1 at 200"];
    assert_eq!(dealt("", random), whole);
    // Those that Vdbench adds by itself change nothing.
    assert_eq!(dealt("", &random.replace("400", "max")), ["sd1 8 wd1", "sd2 8 wd1"]);
    let halves = [
        "sd1/localhost-0 4 wd1 at 100",
        "sd1/localhost-1 4 wd1 at 100",
        "sd2/localhost-0 4 wd1 at 100",
        "sd2/localhost-1 4 wd1 at 100",
    ];
    assert_eq!(dealt(TWO, random), halves);
    // As the real program does: a single thread is the first one's, an odd one too.
    assert_eq!(
        dealt(TWO, &format!("{random},threads=1")),
        ["sd1 1 wd1 at 200", "sd2 1 wd1 at 200"]
    );
    let odd = dealt(TWO, &format!("{random},threads=3"));
    assert_eq!(odd[..2], ["sd1/localhost-0 2 wd1 at 100", "sd1/localhost-1 1 wd1 at 100"]);
}

#[test]
fn sequential_work_stays_in_one_process() {
    let alone = "wd=wd1,sd=sd*,seekpct=seq\nrd=rd1,wd=wd1,iorate=400";
    assert_eq!(dealt(TWO, alone), ["sd1 8 wd1 at 200", "sd2 8 wd1 at 200"]);
    let mixed = "wd=wd1,sd=sd1\nwd=wd2,sd=sd1,seekpct=seq\nrd=rd1,wd=wd*,iorate=400";
    let expected = ["sd1/localhost-0 4 wd1+wd2 at 300", "sd1/localhost-1 4 wd1 at 100"];
    assert_eq!(dealt(TWO, mixed), expected);
    // A single thread goes to who alone may do it.
    assert_eq!(dealt(TWO, &format!("{mixed},threads=1")), ["sd1 1 wd1+wd2 at 400"]);
    let volume = "wd=wd1,sd=sd*,threads=5\nrd=rd1,wd=wd1,iorate=400";
    let of_volume = dealt(&format!("concatenatesds=yes\n{TWO}"), volume);
    assert_eq!(of_volume, ["wd1/localhost-0 3 wd1 at 200", "wd1/localhost-1 2 wd1 at 200"]);
}

#[test]
fn sizes_between_two_are_aligned_by_their_step() {
    let text = "sd=sd1,lun=/tmp/a,size=1g\nwd=wd1,sd=sd1,xf=(4k,64k,4k)\n\
                rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";
    let part = &steps(text)[0].jobs[0].parts[0];
    assert_eq!(part.workload.block_align.read, Some(4096));
}

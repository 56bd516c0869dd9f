//! Runs on file systems become steps: jobs, trees, tasks, rates and shares.

mod support;

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::run::Work;
use dialects::vdbench::{Options, parse_text};
use plan::Step;
use plan::job::RateOf;
use plan::op::OpKind;
use plan::tree::{Activity, FileIo, FileSizes, Format, SelectOrder, StopAfter, TreeTask};
use plan::workload::BlockSize;
use support::{MapHost, all_shown};

const FSD: &str = "fsd=fsd1,anchor=/a,depth=2,width=2,files=8,sizes=(32k,50,64k,50)\n";

/// Returns the steps of a parameter file that has no mistakes.
#[track_caller]
fn steps(text: &str) -> Vec<Step> {
    let parsed = parse_text("t", text, &Options::default(), &MapHost::default());
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let mut findings = Vec::new();
    let context = Context {
        curve_step_idx: Some(0),
        first_group_id: 7,
        loader: &MapHost::default(),
        sources: &[],
    };
    let steps = parsed.runs.iter().map(|run| step(run, context, &mut findings)).collect();
    assert_eq!(findings, []);
    steps
}

fn task(step: &Step, job_idx: usize) -> &TreeTask {
    match &step.jobs[job_idx].tree.as_ref().unwrap().activity {
        Activity::Operations(tasks) => &tasks[0],
        Activity::Format(_) => panic!("not a format"),
    }
}

#[test]
fn a_run_and_its_format_are_two_steps() {
    let steps = steps(&format!(
        "{FSD}fwd=format,threads=2,xfersize=64k\n\
         fwd=default,xfersize=4k,fileio=random,fileselect=random,threads=2,stopafter=20\n\
         fwd=fwd1,fsd=fsd1,operation=read,skew=60\nfwd=fwd2,fsd=fsd1,operation=write,skew=40\n\
         rd=rd1,fwd=fwd*,fwdrate=200,format=yes,elapsed=4,interval=1\n"
    ));
    let [format, run] = &steps[..] else { panic!("{} steps", steps.len()) };
    let job = &format.jobs[0];
    let work = job.tree.as_ref().unwrap();
    assert_eq!((format.name.as_str(), job.n_workers), ("format_for_rd1", 2));
    assert_eq!((work.tree.n_folders(), work.tree.n_files()), (Some(6), Some(32)));
    assert_eq!(work.tree.sizes, FileSizes::Split(vec![(32_768, 50.0), (65_536, 50.0)]));
    let whole = Format { clean: true, create: true, folders_only: false, block_bytes: 65_536 };
    assert_eq!((&work.activity, job.limits.runtime_ns), (&Activity::Format(whole), None));
    let rates: Vec<_> = run.jobs.iter().map(|job| job.load.rate_total_iops).collect();
    assert_eq!(rates, [Some(120.0), Some(80.0)]);
    assert_eq!(run.jobs[1].name, "fwd2");
    assert_eq!(run.jobs[1].limits.runtime_ns, Some(4_000_000_000));
    let read = task(run, 0);
    assert_eq!((read.operation, read.stop_after), (OpKind::Read, Some(StopAfter::Ios(20))));
    assert_eq!(
        (read.io, &read.block_size),
        (FileIo::Random { shared: false }, &BlockSize::Fixed(4096))
    );
    assert!(run.jobs[1].modifies() && !run.jobs[0].modifies());
    assert_eq!(run.jobs.iter().map(|job| job.group_id).collect::<Vec<_>>(), [7, 8]);
}

#[test]
fn structures_in_one_anchor_are_formatted_once() {
    let steps = steps(
        "fsd=a,anchor=/a,files=8,totalsize=8k\nfsd=b,anchor=/a,files=8,totalsize=16k\n\
         fsd=c,anchor=/c,files=8\nfwd=fwd1,fsd=(a,b),operation=read,threads=2\n\
         fwd=fwd2,fsd=a,operation=copy,target=c\n\
         rd=rd1,fwd=fwd*,fwdrate=max,format=yes,elapsed=4,interval=1\n",
    );
    let trees = |step: &Step| -> Vec<(String, u64)> {
        let trees = step.jobs.iter().filter_map(|job| job.tree.as_ref());
        trees.map(|work| (work.tree.name.clone(), work.tree.total_bytes)).collect()
    };
    assert_eq!(trees(&steps[0]), [("a".to_owned(), 16_384), ("c".to_owned(), 0)]);
    let folders_only = |job: &plan::Job| match job.tree.as_ref().unwrap().activity {
        Activity::Format(format) => format.folders_only,
        Activity::Operations(_) => panic!("not a format"),
    };
    assert_eq!(steps[0].jobs.iter().map(folders_only).collect::<Vec<_>>(), [false, true]);
    assert_eq!(trees(&steps[1]).len(), 3);
}

#[test]
fn shares_are_kept_without_a_rate() {
    let steps = steps(&format!(
        "{FSD}fwd=a,fsd=fsd1,operation=getattr,skew=75,threads=3\n\
         fwd=b,fsd=fsd1,operation=access,skew=25,threads=1,fileselect=(poisson,5)\n\
         rd=rd1,fwd=(a,b),fwdrate=max,format=no,elapsed=4,interval=1\n"
    ));
    let flows = steps[0].jobs.iter().map(|job| job.load.flow.unwrap());
    let weights: Vec<u32> = flows.map(|flow| flow.weight).collect();
    assert_eq!(weights, [250_000, 250_000]);
    assert_eq!(task(&steps[0], 0).operation, OpKind::Stat);
    assert_eq!(task(&steps[0], 1).select.order, SelectOrder::Poisson(5.0));
}

#[test]
fn points_of_a_curve_refer_to_its_maximum() {
    let steps = steps(&format!(
        "{FSD}fwd=a,fsd=fsd1,operation=read\n\
         rd=rd1,fwd=a,fwdrate=curve,curve=(50,100),stopcurve=5,format=no,elapsed=4,interval=1\n"
    ));
    let [maximum, half, _] = &steps[..] else { panic!("{} steps", steps.len()) };
    assert_eq!(maximum.rate_of, None);
    let expected = RateOf {
        step_idx: 0,
        pct: 50.0,
        round_up: (1000, 100, 10),
        rate_min_iops: 10,
        stop_above_ns: Some(5_000_000),
        after_ns: 1_000_000_000,
    };
    assert_eq!(half.rate_of, Some(expected));
}

#[test]
fn jobs_of_one_workload_are_kept_apart() {
    let steps = steps(&format!(
        "{FSD}fsd=fsd2,anchor=/b\nfwd=a,fsd=fsd*,operation=read,threads=2\n\
         rd=rd1,fwd=a,fwdrate=max,format=yes,elapsed=4,interval=1\n"
    ));
    let names = |step: &Step| step.jobs.iter().map(|job| job.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&steps[0]), ["format/fsd1", "format/fsd2"]);
    assert_eq!(names(&steps[1]), ["a/fsd1", "a/fsd2"]);
}

#[test]
fn contents_and_errors_are_those_of_raw_runs() {
    let of = |general: &str| {
        let text = format!(
            "{general}\nfsd=fsd1,anchor=/tmp/a,depth=1,width=1,files=10,size=64k\n\
             fwd=fwd1,fsd=fsd1,operation=write\n\
             rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=10,interval=1\n"
        );
        let jobs = steps(&text).into_iter().flat_map(|step| step.jobs);
        jobs.map(|job| (job.buffers, job.errors)).collect::<Vec<_>>()
    };
    let [format, run] = of("dedupratio=2,dedupunit=8k,dedupflipflop=yes").try_into().unwrap();
    let sets = |buffers: &plan::verify::Buffers| buffers.dedupe_sets.clone().unwrap();
    assert_eq!((sets(&format.0).ratio, sets(&run.0).ratio), (2.0, 2.0));
    // What is made first is one version of each set.
    assert_eq!(sets(&format.0).flip_flop, plan::verify::FlipFlop::None);
    assert_eq!(sets(&run.0).flip_flop, plan::verify::FlipFlop::All);
    for (buffers, errors) in of("compratio=4,data_errors=(7,3)") {
        assert_eq!(buffers.compress_ratio, Some(4.0));
        assert_eq!((errors.n_errors_max, errors.quiet_ns), (Some(7), Some(3_000_000_000)));
        assert!(errors.fails_in_the_end && errors.exit_all_on_error);
    }
}

/// What 5.04.07 takes and makes no sense: such a plan can be made all the same.
#[test]
fn what_makes_no_sense_is_brought_into_range() {
    let text = "fsd=fsd1,anchor=/a,depth=0,width=0,files=8,size=4k\n\
                fwd=fwd1,fsd=fsd1,operation=read,fileio=random,rdpct=150\n\
                rd=rd1,fwd=fwd1,fwdrate=200,format=no,elapsed=4,interval=1\n";
    let host = MapHost::default();
    let parsed = parse_text("t", text, &Options::compat(), &host);
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let context = Context { curve_step_idx: None, first_group_id: 0, loader: &host, sources: &[] };
    let step = step(&parsed.runs[0], context, &mut Vec::new());
    assert_eq!(task(&step, 0).read_pct, Some(100.0));
    let tree = &step.jobs[0].tree.as_ref().unwrap().tree;
    assert_eq!(tree.n_files(), Some(8));
}

#[test]
fn a_run_has_the_jobs_that_its_pages_name() {
    let text = format!(
        "{FSD}fwd=fwd1,fsd=fsd1,operation=read\n\
         rd=rd1,fwd=fwd1,fwdrate=100,elapsed=4,interval=1\n"
    );
    let parsed = parse_text("t", &text, &Options::default(), &MapHost::default());
    let mut run = parsed.runs.last().expect("a run").clone();
    let Work::Files(files) = &mut run.work else { panic!("work on files") };
    files.fwds[0].fsd = 1;
    let loader = &MapHost::default();
    let context = Context { curve_step_idx: None, first_group_id: 0, loader, sources: &[] };
    testing::check_wrong_calls(&[("no such structure", "rd1: 0 jobs, [\"fwd1\"]", &|| {
        drop(step(&run, context, &mut Vec::new()));
    })]);
}

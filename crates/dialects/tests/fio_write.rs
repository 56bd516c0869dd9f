//! A plan written as a fio job file reads as the same plan.

mod support;

use dialects::LowerOptions;
use dialects::fio::{parse_text, write};
use plan::job::{Part, PartRegion};
use plan::load::{Rate, RatePeriod, RatePeriods};
use plan::{Job, Plan, Step};
use support::{MapHost, all_shown, difference};

/// What a file says, without how it was written.
fn meaning(plan: &Plan) -> Vec<Vec<Job>> {
    let plain = |job: &Job| Job { options: Vec::new(), ..job.clone() };
    plan.steps.iter().map(|step| step.jobs.iter().map(plain).collect()).collect()
}

#[track_caller]
fn check_round_trip(text: &str) {
    let host = MapHost::default();
    let first = parse_text("job.fio", text, &LowerOptions::default(), &host);
    assert!(!first.has_errors(), "{}", all_shown(&first.diagnostics));
    let written = write(&first.plan);
    let second = parse_text("written.fio", &written.text, &LowerOptions::default(), &host);
    assert!(!second.has_errors(), "{}\n{}", written.text, all_shown(&second.diagnostics));
    let (after, before) = (meaning(&second.plan), meaning(&first.plan));
    assert!(after == before, "{}\n{}", written.text, difference(&before, &after));
    assert_eq!(written.losses, Vec::<String>::new());
}

#[test]
fn plain_jobs_come_back() {
    check_round_trip("[a]\nrw=randread:8\nbs=4k,8k,\nsize=1g\niodepth=32\ndirect=1\n");
    check_round_trip("[a]\nrw=randrw\nrwmixread=70\nbsrange=4k-16k,8k-8k,\nsize=50%\noffset=1z\n");
    check_round_trip("[a]\nbssplit=4k/50:64k/50,8k/100,\nrw=rw\nsize=10m\nrate=1m,2m,\n");
    check_round_trip("[a]\nrw=write:-8k\nsize=1m\nrate_iops=,500,\nrate_process=poisson\n");
    check_round_trip("[a]\nrandom_distribution=normal:20\nrw=randread\nsize=1g\nrandseed=7\n");
    check_round_trip("[a]\nrandom_distribution=zoned:50/5:30/15:20/\nrw=randwrite\nsize=1g\n");
    check_round_trip("[a]\nfilename=/x\\:y:/z\nfile_service_type=zipf:1.3\nnrfiles=2\nsize=1m\n");
    check_round_trip("[a]\nverify=crc32c\nverify_pattern=0xff%o\"ab\"\nrw=write\nsize=1m\n");
    check_round_trip("[a]\nkb_base=1000\nsize=100k\nbs=4k\n");
    check_round_trip("[a]\nsteadystate=lat_slope:0.3%\nss_dur=10\nsize=1m\nruntime=90s\n");
    check_round_trip("[a]\nexitall\nexit_what=stonewall\nsize=1m\n[b]\nsize=1m\n");
    check_round_trip(
        "[a]\nlatency_target=500\nlatency_window=2s\nlatency_percentile=99.5\nsize=1m\n",
    );
    check_round_trip("[a]\nthinktime=100\nthinktime_spin=10\nthinktime_blocks=4\nsize=1m\n");
    check_round_trip("[a]\nioengine=nfs\nnfs_url=nfs://h:2049/x?uid=3&rsize=65536\nsize=1m\n");
    check_round_trip("[a]\nsync_file_range=wait_before,write:8\nignore_error=EIO:28,5\nsize=1m\n");
    check_round_trip("[a]\nzonemode=strided\nzonesize=1m\nzoneskip=3m\nsize=1g\n");
    check_round_trip("[a]\nprio=0\nnice=-5\ncpus_allowed=0,2-3\nmem=mmap:/tmp/x\nsize=1m\n");
    check_round_trip("[a]\nwrite_bw_log\nlog_avg_msec=500\nflow=3\nflow_sleep=9\nsize=1m\n");
}

#[test]
fn steps_and_groups_come_back() {
    check_round_trip(
        "[a]\nsize=1m\n[b]\nsize=1m\n[c]\nstonewall\nsize=1m\n[d]\nnew_group\nsize=1m\n",
    );
    check_round_trip(
        "[a]\nsize=1m\ngroup_reporting\nnumjobs=4\n[b]\nstonewall\nsize=2m\nwait_for=a\n",
    );
}

/// fio has jobs wait for ever for those of an earlier step with the same `flow_id`.
#[test]
fn each_step_has_flows_of_its_own() {
    let flow = |name: &str, id: u32| format!("[{name}]\nsize=1m\nflow=2\nflow_id={id}\n");
    let next = |name: &str, id: u32| flow(name, id).replace("size", "stonewall\nsize");
    let steps = [flow("a", 1), flow("b", 1), next("c", 1), flow("d", 1), next("e", 2)];
    let text = {
        let read =
            parse_text("job.fio", &steps.concat(), &LowerOptions::default(), &MapHost::default());
        write(&read.plan).text
    };
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("flow_id=")).collect();
    assert_eq!(ids, ["1", "1", "2", "2", "3"], "{text}");
}

#[test]
fn mixed_workloads_become_jobs_and_are_reported() {
    let workload = plan::workload::Workload::default();
    let part = |name: &str, weight, region| Part {
        name: name.to_owned(),
        weight,
        workload: workload.clone(),
        region,
        ..Part::default()
    };
    let mut job = Job { name: "sd1".to_owned(), ..Job::default() };
    job.load.queue_depth = 8;
    job.load.rate_total_iops = Some(400.0);
    job.parts =
        vec![part("a", 3.0, PartRegion::Whole), part("b", 1.0, PartRegion::Pct(20.0, 60.0))];
    let step = Step { jobs: vec![job], pause_ns: 2_000_000_000, ..Step::default() };
    let written = write(&Plan { steps: vec![step], ..Plan::default() });
    let host = MapHost::default();
    let read = parse_text("written.fio", &written.text, &LowerOptions::default(), &host);
    let jobs: Vec<&Job> = read.plan.jobs().collect();
    let [a, b] = jobs[..] else { panic!("{}", written.text) };
    assert_eq!((a.name.as_str(), a.load.queue_depth), ("sd1-a", 6));
    assert_eq!(
        (a.load.rate.read, b.load.rate.read),
        (Some(Rate::Iops(300)), Some(Rate::Iops(100)))
    );
    assert_eq!(b.files.offset, plan::files::Size::Percent(20));
    assert_eq!(b.files.size, Some(plan::files::Size::Percent(40)));
    assert_eq!(b.limits.start_delay_ns, (2_000_000_000, 2_000_000_000));
    assert_eq!(written.losses.len(), 1, "{:?}", written.losses);
}

#[test]
fn rates_beside_one_over_all_directions_are_reported() {
    let mut job = Job { name: "a".to_owned(), ..Job::default() };
    job.files.names = vec!["/dev/a".to_owned()];
    job.load.rate_total_iops = Some(400.0);
    job.load.rate.read = Some(Rate::Bytes(1 << 20));
    let step = Step { jobs: vec![job], ..Step::default() };
    let written = write(&Plan { steps: vec![step], ..Plan::default() });
    assert!(written.text.contains("rate_iops=400,,\n"), "{}", written.text);
    assert!(!written.text.contains("rate="), "{}", written.text);
    let [loss] = &written.losses[..] else { panic!("{:?}", written.losses) };
    assert!(loss.starts_with("rates of single directions beside one over all"), "{loss}");
    assert!(written.lost.contains("rate"), "{:?}", written.lost);
}

#[test]
fn a_rate_that_changes_is_its_mean_and_reported() {
    let mut job = Job { name: "a".to_owned(), ..Job::default() };
    job.files.names = vec!["/dev/a".to_owned()];
    job.load.rate_total_iops = Some(400.0);
    let period = |(rate, duration_ns)| RatePeriod { rate, duration_ns };
    let periods = vec![period((1.0, 3)), period((5.0, 1))];
    job.load.rate_periods = Some(RatePeriods { periods, in_spikes: false });
    let step = Step { jobs: vec![job], ..Step::default() };
    let plan = Plan { steps: vec![step], ..Plan::default() };
    let written = write(&plan);
    assert!(written.text.contains("rate_iops=160,,\n"), "{}", written.text);
    assert_eq!(written.losses, ["a rate that changes within a step: its mean is written"]);
    // And Vdbench says it.
    let written = dialects::vdbench::write(&plan);
    assert!(written.text.contains("iorate=(80,1,400,1)"), "{}", written.text);
    assert!(written.text.contains("distribution=(deterministic,variable)"), "{}", written.text);
}

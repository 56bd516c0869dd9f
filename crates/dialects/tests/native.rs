//! Plans of our own: what is written is read, and mistakes have their place.

mod support;

use dialects::native::{SCHEMA, declares, parse_text, write};
use dialects::{LowerOptions, Parsed};
use plan::job::{AmountMax, Part, PartRegion, RateOf};
use plan::load::{Arrivals, Flow, RatePeriod, RatePeriods};
use plan::op::OpKind;
use plan::tree::{
    Activity, Before, ENGINE_NAME, FileIo, FileSizes, Format, Locality, Mixing, OwnTrees, Select,
    SelectFilter, SelectOrder, StopAfter, TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::verify::{DedupeSets, FlipFlop, SetCount};
use plan::workload::{Access, BlockSize, Distribution, HitArea, Workload};
use plan::{EngineSpec, Job, PerDir, Plan, Step};
use support::{MapHost, all_shown, difference};

fn parse(text: &str) -> Parsed {
    parse_text("plan.toml", text, &LowerOptions::default(), &MapHost::default())
}

#[track_caller]
fn check_round_trip(plan: &Plan) {
    let text = write(plan).text;
    let mut read = parse(&text);
    assert!(!read.has_errors(), "{text}\n{}", all_shown(&read.diagnostics));
    read.plan.sources.clear();
    for job in read.plan.jobs_mut() {
        job.options.clear();
    }
    assert!(read.plan == *plan, "{text}\n{}", difference(plan, &read.plan));
}

fn job(name: &str) -> Job {
    let mut job = Job { name: name.to_owned(), ..Job::default() };
    job.files.names = vec!["/dev/a:b".to_owned(), "c".to_owned()];
    job
}

fn of(steps: Vec<Step>) -> Plan {
    Plan { steps, ..Plan::default() }
}

#[test]
fn steps_come_back() {
    let first = Step {
        name: "max \"fast\"".to_owned(),
        jobs: vec![job("a"), Job { group_id: 1, ..job("b") }],
        pause_ns: 1_500_000_000,
        exec_before: vec!["echo \\ 1".to_owned(), "true".to_owned()],
        exec_after: vec!["sync".to_owned()],
        rate_of: None,
        amount_max: AmountMax { total_bytes: 5, read_bytes: 0, write_bytes: 1 << 40 },
    };
    let rate_of = RateOf {
        step_idx: 0,
        pct: 12.5,
        round_up: (1000, 100, 10),
        rate_min_iops: 10,
        stop_above_ns: Some(2_000_000),
        after_ns: 1_000_000_000,
    };
    let second = Step {
        jobs: vec![Job { group_id: 2, ..job("c") }],
        rate_of: Some(rate_of),
        ..Step::default()
    };
    check_round_trip(&of(vec![first, second]));
}

/// Options of an engine stand beside `engine`, our name for it.
#[test]
fn options_belong_to_the_engine_of_their_job() {
    for param in plan::param::all() {
        for engine in param.engines {
            let text = format!(
                "schema = \"plimsoll.plan/1\"\n[[step]]\n[[step.job]]\nname = \"a\"\n\
                 engine = \"{engine}\"\n{} = \"1\"\n",
                param.name
            );
            let codes: Vec<&str> = parse(&text).diagnostics.iter().map(|it| it.code).collect();
            assert!(!codes.contains(&"option-of-other-engine"), "{text}\n{codes:?}");
        }
    }
}

#[test]
fn mixed_workloads_come_back() {
    let mut mixed = job("sd1");
    mixed.load.queue_depth = 32;
    mixed.load.rate_total_iops = Some(1000.5);
    let period = |(rate, duration_ns)| RatePeriod { rate, duration_ns };
    let periods = [(10.0, 500_000_000), (0.25, 7_000_000_000), (0.0, 1)].map(period).to_vec();
    mixed.load.rate_periods = Some(RatePeriods { periods, in_spikes: true });
    mixed.load.arrivals = Arrivals::Uniform;
    mixed.load.flow = Some(Flow { id: 1, weight: 70, sleep_ns: 0, slack_ios: 2000 });
    mixed.errors.n_errors_max = Some(50);
    mixed.buffers.compress_ratio = Some(2.5);
    mixed.buffers.dedupe_sets = Some(DedupeSets {
        ratio: 3.5,
        unit_bytes: 8192,
        sets: SetCount::Count(20),
        flip_flop: FlipFlop::Hot,
        hot_sets: vec![(12, 100), (8, 200)],
    });
    mixed.files.spares_first_block = true;
    mixed.files.open_flag_bits = 0x1000;
    let random = Access { write: true, random: true, ..Access::READ };
    mixed.workload.access = random;
    mixed.workload.no_repeats = false;
    let first = Workload {
        access: random,
        read_pct: 70.25,
        no_repeats: false,
        block_size: PerDir::all(BlockSize::Weighted(vec![(4096, 125), (65_536, 875)])),
        aligned_to_length: true,
        one_cursor: true,
        random_pct: PerDir::all(12.5),
        hit_area: Some(HitArea { len_bytes: 1 << 20, read_pct: 12.5, write_pct: 0.0 }),
        ..Workload::default()
    };
    let second = Workload {
        access: Access { random: true, ..Access::READ },
        no_repeats: false,
        block_size: PerDir::all(BlockSize::Stepped { min: 512, max: 4096, step: 1024 }),
        distribution: PerDir::all(Distribution::Exponential { mean: 0.25 }),
        skip_bytes: Some((4096, 8192)),
        ..Workload::default()
    };
    let third = Workload { n_streams: 4, starts_anywhere: true, ..Workload::default() };
    mixed.parts = vec![
        Part { name: "wd1".to_owned(), weight: 33.3, workload: first, ..Part::default() },
        Part {
            name: "wd2".to_owned(),
            rate_iops: Some(20.0),
            priority: 2,
            workload: second,
            region: PartRegion::Pct(12.5, 150.0),
            ..Part::default()
        },
        Part {
            name: "wd3".to_owned(),
            workload: third,
            region: PartRegion::Bytes(512, 1 << 30),
            ..Part::default()
        },
    ];
    check_round_trip(&of(vec![Step { jobs: vec![mixed], ..Step::default() }]));
}

#[test]
fn trees_come_back() {
    let tree = TreeSpec {
        name: "fsd1".to_owned(),
        anchor: "/mnt/x".to_owned(),
        create_parents: true,
        depth: 2,
        width: 3,
        files: 100,
        bottom_only: false,
        sizes: FileSizes::Split(vec![(4096, 60.5), (1 << 20, 39.5)]),
        total_bytes: 1 << 30,
        working_set_bytes: 1 << 20,
        share: (1, 4),
        seed: 7,
        bare_folders: 3,
        used_files: 90,
        own: Some(OwnTrees {
            unit: "jobset".to_owned(),
            component: "frontend".to_owned(),
            n_per_unit: 3,
        }),
        ..TreeSpec::default()
    };
    let target = TreeSpec {
        anchor: "/mnt/y".to_owned(),
        sizes: FileSizes::Average(10_000),
        ..TreeSpec::default()
    };
    let task = TreeTask {
        name: "fwd1".to_owned(),
        weight: 2.5,
        operation: OpKind::Write,
        read_pct: Some(30.0),
        io: FileIo::Sequential { nonzero: false, delete: true },
        select: Select {
            order: SelectOrder::Poisson(5.0),
            once: true,
            filter: SelectFilter::NotFull,
        },
        hot_places: Some(Locality { ops_pct: 62.5, of_pct: 0.5 }),
        block_size: BlockSize::Weighted(vec![(4096, 1), (8192, 3)]),
        stop_after: Some(StopAfter::Pct(12.5)),
        before: Before::CutsEnd,
        recycles: true,
    };
    let order = SelectOrder::Hot(Locality { ops_pct: 90.0, of_pct: 12.5 });
    let select = Select { order, ..Select::default() };
    let copy = TreeTask { operation: OpKind::Copy, select, ..TreeTask::default() };
    let open = TreeOpen { direct: true, dsync: true, fsync_on_close: true, raw_bits: 3 };
    let engine = EngineSpec { name: ENGINE_NAME.to_owned(), ..EngineSpec::default() };
    let with = |activity| Job {
        name: "t".to_owned(),
        engine: engine.clone(),
        tree: Some(TreeWork {
            tree: tree.clone(),
            target: Some(target.clone()),
            open,
            activity,
            mixing: Mixing::Dealt,
        }),
        ..Job::default()
    };
    let format = Format { clean: true, create: true, folders_only: false, block_bytes: 1 << 17 };
    let jobs = vec![with(Activity::Format(format)), with(Activity::Operations(vec![task, copy]))];
    check_round_trip(&of(vec![Step { jobs, ..Step::default() }]));
}

#[test]
fn a_plan_is_known_by_its_first_key() {
    assert!(declares(&format!("# a comment\n\nschema = \"{SCHEMA}\"\n")));
    assert!(!declares("[job]\nrw=read\n"));
    assert!(!declares(""));
}

/// Checks the first finding: its place and a part of its text.
/// A line that is no TOML is one mistake: what seems to be missing may stand in it.
#[test]
fn a_line_that_cannot_be_read_is_one_mistake() {
    let text = format!("schema = \"{SCHEMA}\"\n[[step]]\n[[step.job]\nname = \"j\"\n");
    let codes: Vec<&str> = parse(&text).diagnostics.iter().map(|it| it.code).collect();
    assert_eq!(codes, ["syntax"]);
}

#[track_caller]
fn check_mistake(text: &str, line: u32, column: u32, expected: &str) {
    let text = text.replace("SCHEMA", &format!("schema = \"{SCHEMA}\""));
    let parsed = parse(&text);
    let findings: Vec<_> = parsed.diagnostics.iter().chain(&parsed.refusals).collect();
    let found = findings.iter().find(|finding| finding.message.contains(expected));
    let Some(found) = found else {
        panic!("no `{expected}` in {}", all_shown(&parsed.diagnostics));
    };
    let span = found.span.clone().unwrap();
    assert_eq!((span.line, span.column), (line, column), "{expected}");
}

#[test]
fn mistakes_have_their_place() {
    check_mistake("[[step]]\n", 1, 1, "begins with `schema");
    check_mistake("schema = \"x\"\n", 1, 10, "this version reads");
    check_mistake("SCHEMA\n[[step]]\n", 2, 1, "at least one [[step.job]]");
    let head = "SCHEMA\n[[step]]\n[[step.job]]\nname = \"a\"\n";
    check_mistake(&format!("{head}queue_dept = 3\n"), 5, 1, "queue_dept");
    check_mistake(&format!("{head}queue_depth = \"many\"\n"), 5, 15, "many");
    check_mistake(&format!("{head}iodepth = 3\n"), 5, 1, "iodepth");
    check_mistake(
        &format!("{head}[[step.job.part]]\nname = \"p\"\nweight = 0\n"),
        7,
        10,
        "above 0",
    );
    let rates = format!("{head}rate_total_iops = 100\nrate_iops = 10\n");
    check_mistake(&rates, 6, 13, "`rate_iops` is not used");
    check_mistake(&format!("{head}dedupe_hot_sets = \"0:100\"\n"), 5, 19, "a number of sets");
    check_mistake("SCHEMA\n[[step]]\npause = 5\n", 3, 9, "pause");
    check_mistake("SCHEMA\n[[step]\n", 2, 8, "");
    check_mistake(&format!("{head}[step.job.tree]\ndepth = 1\n"), 5, 1, "anchor");
    let tree = format!("{head}[step.job.tree]\nanchor = \"/t\"\n");
    check_mistake(&format!("{tree}depth = 0\n"), 7, 9, "`depth` is 0, expected 1 or more");
    check_mistake(&format!("{tree}width = 0\n"), 7, 9, "`width` is 0, expected 1 or more");
    check_mistake(&format!("{tree}share = [-1, 2]\n"), 5, 1, "[position from 0, hosts]");
    check_mistake(&format!("{tree}share = [0.5, 2]\n"), 5, 1, "[position from 0, hosts]");
    check_mistake(&format!("{tree}sizes = \"4KiB/60 8KiB/30\"\n"), 7, 9, "add up to 90 percent");
    check_mistake(
        &format!("{tree}sizes = \"4KiB/130 8KiB/-30\"\n"),
        7,
        9,
        "`130` is not a share from 0 to 100 percent",
    );
    let task = format!("{tree}[[step.job.tree.task]]\n");
    check_mistake(&format!("{task}weight = 0\n"), 8, 10, "`weight` is 0, expected above 0");
    check_mistake(
        &format!("{task}read_pct = 150\n"),
        8,
        12,
        "`read_pct` is 150, expected 0 to 100",
    );
    check_mistake(&format!("{task}stop_after_pct = -5\n"), 8, 18, "expected above 0");
    check_mistake(&format!("{task}select = \"poisson nan\"\n"), 8, 10, "a midpoint above 0");
    check_mistake(&format!("{task}select = \"skewed -3\"\n"), 8, 10, "a midpoint above 0");
    check_mistake("SCHEMA\n[[step]]\nrate_of = { step = 0, pct = 50 }\n", 3, 20, "not before");
}

#[test]
fn a_rate_that_changes_has_its_largest_as_total() {
    let rates = |line: &str| {
        let head = "[[step]]\n[[step.job]]\nname = \"a\"\nfile_names = \"/tmp/a\"";
        parse(&format!("schema = \"{SCHEMA}\"\n{head}\nsize = \"1m\"\n{line}\n"))
    };
    let read = rates("rate_periods = \"100:10,1000.5:5,0:2\"");
    assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
    let load = &read.plan.jobs().next().expect("a job").load;
    assert_eq!(load.rate_total_iops, Some(1000.5));
    let periods = load.rate_periods.as_ref().expect("periods");
    assert_eq!((periods.cycle_ns(), periods.in_spikes), (17_000_000_000, false));
    for wrong in ["100", "100:0", "0:5", "-1:5", "a:5", "100:x", ""] {
        let read = rates(&format!("rate_periods = \"{wrong}\""));
        assert!(read.has_errors(), "{wrong:?}: {}", all_shown(&read.diagnostics));
    }
}

//! `[unit]` of a plan: composite workloads.

mod support;

use dialects::native::{parse_text, write};
use dialects::{LowerOptions, Overrides, Parsed};
use plan::op::OpKind;
use plan::tree::{Activity, Locality, Mixing, SelectOrder, StopAfter, TreeTask};
use plan::{Job, Plan};
use support::{MapHost, all_shown, difference};

const EDA: &str = include_str!("../../../docs/workloads/eda.toml");

fn parse_with(text: &str, overrides: &Overrides) -> Parsed {
    let wishes = LowerOptions { overrides: Some(overrides), ..LowerOptions::default() };
    parse_text("plan.toml", text, &wishes, &MapHost::default())
}

#[track_caller]
fn plan_of(text: &str, overrides: &Overrides) -> Plan {
    let parsed = parse_with(text, overrides);
    let shown = all_shown(&parsed.diagnostics);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{shown}");
    parsed.plan
}

fn tasks(job: &Job) -> &[TreeTask] {
    let work = job.tree.as_ref().expect("a job of a component works on trees");
    assert_eq!(work.mixing, Mixing::Dealt);
    match &work.activity {
        Activity::Operations(tasks) => tasks,
        Activity::Format(_) => panic!("a measured job"),
    }
}

/// Shares, rates and processes as published; see the head of the file.
#[test]
fn the_look_alike_of_eda_says_what_is_published() {
    let plan = plan_of(EDA, &Overrides { load: Some(10), ..Overrides::default() });
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["layout", "load 10"]);
    let [frontend, backend] = &plan.steps[1].jobs[..] else { panic!("two components") };
    assert_eq!((&*frontend.name, &*backend.name), ("frontend", "backend"));
    assert_eq!((frontend.n_workers, backend.n_workers), (30, 20));
    let rates = [frontend, backend].map(|job| job.load.rate_total_iops);
    assert_eq!(rates, [Some(3000.0), Some(1500.0)]);
    assert_eq!(frontend.limits.runtime_ns, Some(300_000_000_000));
    assert_eq!(frontend.limits.ramp_ns, 60_000_000_000);
    let shares: Vec<(&str, f64)> =
        tasks(frontend).iter().map(|task| (&*task.name, task.weight)).collect();
    let published = [
        ("stat", 39.0),
        ("access", 15.0),
        ("random_write", 15.0),
        ("write_file", 10.0),
        ("random_read", 8.0),
        ("read_file", 7.0),
        ("create", 2.0),
        ("chmod", 1.0),
        ("mkdir", 1.0),
        ("unlink", 1.0),
        ("unlink2", 1.0),
    ];
    assert_eq!(shares, published);
    let shares: Vec<_> = tasks(backend).iter().map(|task| (&*task.name, task.weight)).collect();
    assert_eq!(shares, [("read", 50.0), ("write", 50.0)]);
    // 10.8 GiB of a job set.
    let bytes = plan.steps[0].jobs.iter().map(|job| {
        let tree = &job.tree.as_ref().expect("a tree").tree;
        tree.used_files as f64 * tree.sizes.mean_bytes() * f64::from(job.n_workers) / 10.0
    });
    let gib = bytes.sum::<f64>() / f64::from(1 << 30);
    assert!((10.75..10.85).contains(&gib), "{gib}");
}

#[test]
fn what_a_component_does_becomes_tasks() {
    let plan = plan_of(EDA, &Overrides::default());
    let frontend = tasks(&plan.steps[1].jobs[0]);
    let of = |name: &str| frontend.iter().find(|task| task.name == name).expect("a task");
    assert_eq!(of("unlink2").operation, OpKind::Delete);
    assert_eq!(of("random_read").stop_after, Some(StopAfter::Ios(1)));
    assert_eq!(of("write_file").block_size.max(), 16 << 10, "the whole file at once");
    assert!(of("mkdir").recycles);
    let layout = &plan.steps[0].jobs[0];
    assert_eq!((layout.limits.runtime_ns, layout.load.rate_total_iops), (None, None));
    let trees = |job: &Job| {
        let tree = &job.tree.as_ref().expect("a tree").tree;
        let anchors: Vec<String> =
            (0..job.n_workers).map(|idx| tree.of_worker(idx).anchor).collect();
        anchors
    };
    let anchors = ["1", "2", "3"].map(|n| format!("/mnt/vol/eda/jobset-0001/frontend-{n}"));
    assert_eq!(trees(layout), anchors);
    assert_eq!(trees(&plan.steps[1].jobs[0]), anchors);
}

#[test]
fn load_and_paths_are_replaced() {
    let remap = vec![("/mnt/vol".to_owned(), "/scratch".to_owned())];
    let plan = plan_of(EDA, &Overrides { remap, load: Some(2), ..Overrides::default() });
    let job = &plan.steps[1].jobs[1];
    let tree = &job.tree.as_ref().expect("a tree").tree;
    assert_eq!(job.n_workers, 4);
    assert_eq!(tree.of_worker(3).anchor, "/scratch/eda/jobset-0002/backend-2");
}

/// Files as `locality` says, random places in them as `locality_in_files` does.
#[test]
fn locality_is_that_of_all_operations() {
    let text = with_locality("locality = \"90/10\"\nlocality_in_files = \"75/12.5\"\n");
    let plan = plan_of(&text, &Overrides::default());
    let frontend = tasks(&plan.steps[1].jobs[0]);
    let hot = Locality { ops_pct: 90.0, of_pct: 10.0 };
    assert!(frontend.iter().all(|task| task.select.order == SelectOrder::Hot(hot)));
    let places = Locality { ops_pct: 75.0, of_pct: 12.5 };
    let with_places = frontend.iter().filter(|task| task.hot_places == Some(places));
    let names: Vec<&str> = with_places.map(|task| &*task.name).collect();
    assert_eq!(names, ["random_write", "random_read"]);
    let backend = tasks(&plan.steps[1].jobs[1]);
    assert!(backend.iter().all(|task| task.select.order == SelectOrder::Random));
    // Vdbench has no words for it.
    let losses = dialects::vdbench::write(&plan).losses;
    for loss in ["90 % of the operations on 10 % of the files", "75 % of random places in 12.5 %"] {
        assert!(losses.iter().any(|it| it.contains(loss)), "{losses:?}");
    }
    check_comes_back(&text);
}

/// Puts keys into the first component.
fn with_locality(keys: &str) -> String {
    let name = "name = \"frontend\"";
    assert!(EDA.contains(name));
    EDA.replacen(name, &format!("{keys}{name}"), 1)
}

#[test]
fn a_locality_that_means_nothing_is_a_mistake() {
    for (keys, words) in [
        ("locality = \"90\"\n", "is not two shares in percent"),
        ("locality = \"0/10\"\n", "is not two shares in percent"),
        ("locality = \"90/101\"\n", "is not two shares in percent"),
        ("locality_in_files = \"90/0\"\n", "is not two shares in percent"),
        ("locality = \"90/10\"\nselect = \"skewed 3\"\n", "both say which file is next"),
    ] {
        let parsed = parse_with(&with_locality(keys), &Overrides::default());
        let shown = all_shown(&parsed.diagnostics);
        assert!(parsed.has_errors() && shown.contains(words), "{keys}: {shown}");
    }
    let text =
        EDA.replacen("name = \"backend\"", "locality_in_files = \"9/1\"\nname = \"backend\"", 1);
    let parsed = parse_with(&text, &Overrides::default());
    let shown = all_shown(&parsed.diagnostics);
    assert!(shown.contains("`locality_in_files` has no effect"), "{shown}");
}

#[test]
fn a_unit_comes_back_as_steps() {
    check_comes_back(EDA);
}

#[track_caller]
fn check_comes_back(text: &str) {
    let plan = plan_of(text, &Overrides::default());
    let text = write(&plan).text;
    let mut read = plan_of(&text, &Overrides::default());
    let mut plan = plan;
    for plan in [&mut plan, &mut read] {
        plan.sources.clear();
        plan.jobs_mut().for_each(|job| job.options.clear());
    }
    assert!(read == plan, "{}", difference(&plan, &read));
}

/// A unit with these lines, and all mistakes of it with their places.
#[track_caller]
fn check_mistakes(text: &str, load: Option<u32>, expected: &[&str]) {
    let parsed = parse_with(text, &Overrides { load, ..Overrides::default() });
    let shown = parsed.diagnostics.iter().map(|finding| {
        let place = finding.span.as_ref().map_or((0, 0), |span| (span.line, span.column));
        format!("{}:{} {}", place.0, place.1, finding.message)
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn all_mistakes_are_reported_at_once() {
    check_mistakes(
        "schema = \"plimsoll.plan/1\"\n\
         [unit]\n\
         name = \"a b\"\n\
         load = 0\n\
         [[unit.component]]\n\
         name = \"x\"\n\
         instances = 0\n\
         rate = 0\n\
         [unit.component.mix]\n\
         stat = 60\n\
         readfile = 20\n\
         random_read = 10\n\
         [unit.component.files]\n\
         folders = 0\n\
         sizes = \"0B\"\n\
         [[unit.component]]\n\
         name = \"x\"\n",
        None,
        &[
            "2:1 a unit needs `anchor`, the folder that holds its files",
            "2:1 a unit needs `runtime`, such as \"300s\": its load has no end of its own",
            "3:8 `name` is `a b`: it names folders, so that it consists of letters, digits, `-` \
             and `_`",
            "4:8 `load` is 0, expected 1 or more",
            "7:13 `instances` is 0, expected 1 or more",
            "8:8 `rate` is 0, expected above 0",
            "9:1 the shares of the mix add up to 90 percent, expected 100",
            "11:1 unknown operation `readfile`",
            "12:1 `random_read` needs `read_sizes` of its component, such as \"4KiB\"",
            "13:1 [unit.component.files] needs `files_per_folder`",
            "14:11 `folders` is 0, expected 1 or more",
            "15:9 `sizes` leaves all files empty, and the mix reads or writes them",
            "16:1 a component needs [unit.component.mix], operations with their percent",
            "16:1 a component needs [unit.component.files], the files that it works on",
            "17:8 two components are named `x`",
        ],
    );
}

#[test]
fn files_and_folders_neither_run_out_nor_pile_up() {
    let text = "schema = \"plimsoll.plan/1\"\n\
         [unit]\n\
         name = \"u\"\n\
         anchor = \"/mnt\"\n\
         runtime = \"1s\"\n\
         [[unit.component]]\n\
         name = \"x\"\n\
         [unit.component.mix]\n\
         create = 50\n\
         unlink = 30\n\
         rmdir = 20\n\
         [unit.component.files]\n\
         files_per_folder = 10\n\
         sizes = \"4KiB\"\n";
    check_mistakes(
        text,
        None,
        &[
            "8:1 `create` is 50 percent, `unlink` and `unlink2` are 30: they must be equal, or the \
             files run out or pile up",
            "8:1 `rmdir` is 20 percent, `mkdir` 0: folders would run out; lower `rmdir`",
        ],
    );
}

#[test]
fn operations_need_what_they_work_on() {
    let text = "schema = \"plimsoll.plan/1\"\n\
         [unit]\n\
         name = \"u\"\n\
         anchor = \"/mnt\"\n\
         runtime = \"1s\"\n\
         [[unit.component]]\n\
         name = \"x\"\n\
         [unit.component.mix]\n\
         mmap_read = 30\n\
         append = 30\n\
         rename = 20\n\
         custom1 = 20\n\
         custom2 = 0\n\
         [unit.component.files]\n\
         files_per_folder = 10\n\
         sizes = \"average 4KiB\"\n";
    check_mistakes(
        text,
        None,
        &[
            "9:1 `mmap_read` needs `read_sizes` of its component, such as \"4KiB\"",
            "10:1 `append` needs `write_sizes` of its component, such as \"4KiB\"",
            "12:1 what `custom1` does is not public: its share can only be 0, expected one of the \
             other operations instead",
            "16:9 `rename` and `copyfile` need several files of the same size: at least two files, \
             and `sizes` without `average`",
        ],
    );
}

#[test]
fn a_component_is_paced_open_or_closed() {
    let text = |keys: &str| {
        format!(
            "schema = \"plimsoll.plan/1\"\n[unit]\nname = \"u\"\nanchor = \"/mnt\"\nruntime = \
             \"1s\"\n[[unit.component]]\nname = \"x\"\n{keys}[unit.component.mix]\nstat = 100\n\
             [unit.component.files]\nfiles_per_folder = 10\nsizes = \"4KiB\"\n"
        )
    };
    let closed = |keys: &str| {
        let plan = plan_of(&text(keys), &Overrides::default());
        let [layout, measured] = [0, 1].map(|idx: usize| plan.steps[idx].jobs[0].load.rate_closed);
        assert!(!layout, "files are laid out as fast as can be");
        measured
    };
    assert!(closed("rate = 10\npacing = \"closed\"\n"));
    assert!(!closed("rate = 10\npacing = \"open\"\n"));
    assert!(!closed("rate = 10\n"));
    assert!(!closed("pacing = \"closed\"\nthink_time = \"10ms\"\n"));
    check_mistakes(
        &text("rate = 10\npacing = \"ajar\"\n"),
        None,
        &["9:10 `pacing` is `ajar`, expected `open` or `closed`"],
    );
    check_mistakes(
        &text("pacing = \"open\"\n"),
        None,
        &["8:10 `pacing` is `open`, and there is no `rate` at which operations are due"],
    );
}

#[test]
fn a_load_needs_a_unit() {
    let text = "schema = \"plimsoll.plan/1\"\n[[step]]\n[[step.job]]\nname = \"j\"\n";
    check_mistakes(text, Some(2), &["1:1 `--load` counts units, and this plan has no [unit]"]);
}

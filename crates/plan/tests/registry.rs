//! Walks the parameter table: an entry cannot be undocumented, ambiguous, or without effect, and
//! what it makes of a job is got back.

mod samples;

use std::collections::{HashMap, HashSet};
use std::process::Command;

use plan::files::Size;
use plan::load::Rate;
use plan::param::{
    AccessValue, Category, ENGINES, Field, Names, Param, Setting, Support, Value, ValueKind, all,
    apply_rank, cmdhelp, completion_words, engine_note, explain, find, find_engine, find_fio,
    finish, reference_markdown, settings, suggest,
};
use plan::verify::PatternPart;
use plan::workload::{Access, BlockSize, Distribution};
use plan::{EngineKind, Job, PerDir, job_field};
use samples::samples;

// --- The table ----------------------------------------------------------------------------------

#[test]
fn names_are_unique_over_dialects() {
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for param in all() {
        let others = param.diskspd.iter().chain(param.iometer);
        let names = param.fio.iter().chain([&param.name, &param.vdbench]).chain(others);
        for name in names.copied().filter(|name| !name.is_empty()) {
            let owner = owners.insert(name, param.name);
            assert!(
                owner.is_none_or(|owner| owner == param.name),
                "`{name}` names both `{}` and `{}`",
                param.name,
                owner.unwrap_or_default(),
            );
        }
    }
    let ours: HashSet<&str> = all().map(|param| param.name).collect();
    assert_eq!(ours.len(), all().count(), "two entries share one of our names");
}

#[test]
fn every_entry_is_documented() {
    for param in all() {
        let name = param.name;
        assert!(!name.is_empty() && !param.short.is_empty(), "`{name}`: no text");
        assert!(param.short.chars().count() < 80, "`{name}`: short text is long");
        assert!(!param.short.ends_with('.'), "`{name}`: short text ends with a stop");
        assert!(param.long.len() > param.short.len(), "`{name}`: long text is short");
        assert!(param.long.ends_with('.'), "`{name}`: long text does not end with a stop");
        assert!(!param.long.contains("  "), "`{name}`: two blanks in `{}`", param.long);
        let is_ours =
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(is_ours, "`{name}`: our names are lower case with underscores");
        let words: HashSet<&str> = choices(param).iter().copied().collect();
        assert_eq!(words.len(), choices(param).len(), "`{name}`: a word stands twice");
    }
}

#[test]
fn results_and_logs_are_no_load() {
    for param in all().filter(|it| matches!(it.category(), Category::Report | Category::Logs)) {
        // What `k` stands for changes all sizes.
        assert_eq!(param.is_load, param.name == "kb_base", "{}", param.name);
    }
}

/// Words of values that no list of choices holds.
const OTHER_WORDS: &[&str] = &["_slope", "wait_before", "working_set", "zoned_abs"];

#[test]
fn texts_name_parameters_that_exist() {
    let words: HashSet<&str> = completion_words().into_iter().collect();
    for param in all() {
        for word in quoted(param.long).filter(|word| word.contains('_')) {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            let is_value = choices(param).contains(&name)
                || find_engine(name).is_some()
                || OTHER_WORDS.contains(&name);
            assert!(
                !is_plain || is_value || words.contains(name),
                "`{}` mentions `{name}`, which does not exist",
                param.name
            );
        }
    }
}

#[test]
fn defaults_lie_within_their_range() {
    for param in all().filter(|param| !param.default.is_empty()) {
        let (name, default) = (param.name, param.default);
        let is_valid = match param.kind {
            ValueKind::Bool | ValueKind::Flag => matches!(default, "0" | "1"),
            ValueKind::Int { min, max } | ValueKind::IntPerDir { min, max } => {
                integer(default).is_some_and(|number| (min..=max).contains(&number))
            }
            ValueKind::Float { min, max } | ValueKind::FloatList { min, max, .. } => default
                .split(':')
                .all(|part| part.parse::<f64>().is_ok_and(|x| (min..=max).contains(&x))),
            ValueKind::Enum(_) => choices(param).contains(&default),
            _ => true,
        };
        assert!(is_valid, "`{name}`: default `{default}` does not fit {:?}", param.kind);
    }
}

#[test]
fn default_percentiles_are_those_of_the_job() {
    let default = find("percentiles").unwrap().default;
    let listed: Vec<f64> = default.split(':').map(|part| part.parse().unwrap()).collect();
    assert_eq!(listed, Job::default().reporting.percentiles);
}

// --- Lowering -----------------------------------------------------------------------------------

/// Parameters that only count once another was set, with what comes first.
const PREREQUISITES: &[(&str, &str, &str)] = &[
    ("dedupe_working_set_pct", "dedupe_mode", "working_set"),
    ("dedupe_global", "dedupe_mode", "working_set"),
    ("exit_what", "exit_all", ""),
];

/// Parameters that shape the plan rather than one job: the dialect applies them.
const STRUCTURAL: [&str; 4] = ["barrier", "include", "name", "new_group"];

#[test]
fn every_supported_parameter_changes_the_field_that_it_names() {
    for param in all() {
        let Some(field) = param.field else {
            let changes = param.support == Support::Full && !STRUCTURAL.contains(&param.name);
            assert!(!changes, "`{}` names no field", param.name);
            continue;
        };
        let mut before = Job::default();
        if param.name == "block_size_step_bytes" {
            before.workload.block_size.read = BlockSize::Range { min: 4096, max: 65_536 };
        }
        for (_, needed, word) in PREREQUISITES.iter().filter(|(name, ..)| *name == param.name) {
            let needed = find(needed).unwrap();
            let value = choices(needed).into_iter().find(|choice| choice == word);
            let value = value.map_or(Value::Bool(true), Value::Choice);
            (needed.lower)(&mut before, &value).unwrap();
        }
        let changes = samples(param).iter().any(|value| {
            let mut job = before.clone();
            (param.lower)(&mut job, value)
                .unwrap_or_else(|error| panic!("`{}` refuses {value:?}: {error}", param.name));
            !(field.is_same)(&job, &before)
        });
        assert!(changes, "`{}` does not change {field:?}", param.name);
    }
}

#[test]
fn a_field_is_said_by_all_parameters_that_name_it() {
    let names = |field: Field| field.params().map(|param| param.name).collect::<Vec<_>>();
    assert_eq!(names(job_field!(files.direct)), ["direct", "buffered"]);
    assert_eq!(names(job_field!(load.flow?.weight)), ["flow_weight"]);
    let flow = ["flow_id", "flow_weight", "flow_sleep_us", "flow_slack_ios"];
    assert_eq!(names(job_field!(load.flow)), flow);
    assert_eq!(names(job_field!(group_id)), [""; 0]);
}

/// Lowers settings into a job of the same name.
fn made_of(settings: &[Setting], like: &Job) -> Job {
    let mut job = Job { name: like.name.clone(), ..Job::default() };
    for it in settings {
        (it.param.lower)(&mut job, &it.value)
            .unwrap_or_else(|error| panic!("`{}={}`: {error}", it.param.name, it.text));
    }
    job
}

#[test]
fn what_parameters_make_of_a_job_is_got_back() {
    let mut n_checked = 0;
    for param in all().filter(|param| param.support == Support::Full) {
        for value in samples(param) {
            let mut job = Job::default();
            for (_, needed, word) in PREREQUISITES.iter().filter(|(name, ..)| *name == param.name) {
                let needed = find(needed).unwrap();
                let value = choices(needed).into_iter().find(|choice| choice == word);
                let value = value.map_or(Value::Bool(true), Value::Choice);
                (needed.lower)(&mut job, &value).unwrap();
            }
            if (param.lower)(&mut job, &value).is_ok() {
                let settings = settings(&job);
                assert_eq!(made_of(&settings, &job), job, "`{}`: {value:?}", param.name);
                // A value is said where it is asked for, too.
                let got = (param.get)(&job);
                let mut again = job.clone();
                if let Some(got) = got {
                    (param.lower)(&mut again, &got).unwrap();
                }
                assert_eq!(again, job, "`{}`: {value:?}", param.name);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 400, "{n_checked}");
    assert!(settings(&Job::default()).is_empty());
}

#[test]
fn every_word_of_a_choice_is_understood() {
    for param in all().filter(|param| param.support == Support::Full) {
        for word in choices(param) {
            let result = (param.lower)(&mut Job::default(), &Value::Choice(word));
            let is_refused = (param.name, word) == ("zone_mode", "zbd");
            assert_eq!(result.is_err(), is_refused, "`{}={word}`: {result:?}", param.name);
        }
    }
}

#[test]
fn structural_parameters_exist_and_change_nothing() {
    for name in STRUCTURAL {
        let param = find(name).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        let mut job = Job::default();
        (param.lower)(&mut job, &Value::Str("x".to_owned())).unwrap();
        assert_eq!(job, Job::default(), "`{name}`");
    }
}

#[test]
fn no_value_makes_a_lowering_panic() {
    let values: Vec<Value> = all().flat_map(samples).chain(odd_values()).collect();
    let mut seen: Vec<&Value> = Vec::new();
    for value in &values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    for param in all() {
        for value in &seen {
            // A wrong kind is an error or, where nothing is lowered, ignored; both are fine here.
            let _ = (param.lower)(&mut Job::default(), value);
        }
    }
}

/// Lowers fio options in the order that a dialect must use, then finishes.
#[track_caller]
fn lower(options: &[(&str, Value)]) -> Job {
    let mut pairs: Vec<(&Param, &Value)> =
        options.iter().map(|(name, value)| (find_fio(name).expect(name), value)).collect();
    pairs.sort_by_key(|(param, _)| apply_rank(param));
    let mut job = Job { name: "job".to_owned(), ..Job::default() };
    for (param, value) in pairs {
        (param.lower)(&mut job, value).unwrap_or_else(|error| panic!("{}: {error}", param.name));
    }
    finish(&mut job);
    let mut again = job.clone();
    finish(&mut again);
    assert_eq!(again, job, "finishing twice changes the job");
    job
}

#[track_caller]
fn refuse(name: &str, value: &Value, expected: &str) {
    let param = find_fio(name).expect(name);
    let error = (param.lower)(&mut Job::default(), value).unwrap_err().to_string();
    assert!(error.contains(expected), "`{error}` does not say `{expected}`");
}

#[test]
fn postfix_of_access_depends_on_the_walk() {
    let random = Access { random: true, ..Access::READ };
    let drawn = Value::Access(AccessValue { access: random, postfix: Some(8) });
    assert_eq!(lower(&[("rw", drawn)]).workload.ios_per_draw, 8);
    let step = Value::Access(AccessValue { access: Access::READ, postfix: Some(-8192) });
    assert_eq!(lower(&[("rw", step)]).workload.sequential_step_bytes, -8192);
    let never = AccessValue { access: random, postfix: Some(0) };
    refuse("rw", &Value::Access(never), "has 0 as the I/Os between two draws; write 1 or more");
}

#[test]
fn later_of_two_opposites_wins() {
    let job = lower(&[("direct", Value::Bool(true)), ("buffered", Value::Bool(true))]);
    assert!(!job.files.direct);
    let job = lower(&[("buffered", Value::Bool(true)), ("direct", Value::Bool(true))]);
    assert!(job.files.direct);
    let job = lower(&[("rwmixread", Value::Int(70)), ("rwmixwrite", Value::Int(40))]);
    assert_eq!(Some(job.workload.read_pct), Some(60.0));
}

#[test]
fn one_option_can_imply_another_wherever_it_stands() {
    let job = lower(&[("pre_read", Value::Bool(true)), ("invalidate", Value::Bool(true))]);
    assert!(!job.files.invalidate);
    let job = lower(&[("atomic", Value::Bool(true)), ("direct", Value::Bool(false))]);
    assert!(job.files.direct);
    let job = lower(&[("cmdprio_percentage", Value::IntPerDir(PerDir::all(Some(10))))]);
    assert_eq!(job.engine.priority_class, PerDir::all(1));
}

#[test]
fn most_detailed_block_size_wins_in_any_order() {
    let split = BlockSize::Split(vec![(4096, 60), (65536, 40)]);
    let range = BlockSize::Range { min: 4096, max: 8192 };
    let options = |first: usize| {
        let mut options = vec![
            ("bssplit", Value::BlockSizes(PerDir::all(Some(split.clone())))),
            ("bs", Value::IntPerDir(PerDir::all(Some(512)))),
            ("bsrange", Value::BlockSizes(PerDir::all(Some(range.clone())))),
        ];
        options.rotate_left(first);
        options
    };
    for first in 0..3 {
        assert_eq!(lower(&options(first)).workload.block_size, PerDir::all(split.clone()));
    }
}

#[test]
fn empty_place_keeps_a_direction() {
    let given = PerDir { read: None, write: Some(8192), trim: Some(8192) };
    let sizes = lower(&[("bs", Value::IntPerDir(given))]).workload.block_size;
    assert_eq!((sizes.read, sizes.write), (BlockSize::Fixed(4096), BlockSize::Fixed(8192)));
    let given = PerDir { read: None, write: Some(500), trim: Some(0) };
    let rate = lower(&[("rate_iops", Value::IntPerDir(given))]).load.rate;
    assert_eq!(rate, PerDir { read: None, write: Some(Rate::Iops(500)), trim: None });
}

#[test]
fn reduced_clock_cannot_be_undone_by_zero() {
    let job = lower(&[("gtod_reduce", Value::Bool(true)), ("gtod_reduce", Value::Bool(false))]);
    assert!(job.reporting.reduce_clock && job.reporting.disable_clat);
    assert!(!job.reporting.clat_percentiles);
}

#[test]
fn what_was_not_switched_on_is_taken_away() {
    let plain = Job { name: "job".to_owned(), ..Job::default() };
    let job = lower(&[
        ("flow_id", Value::Int(3)),
        ("latency_window", Value::TimeNs(1)),
        ("ss_ramp", Value::TimeNs(1)),
        ("zoneskip", Value::Size(Size::Bytes(4096))),
    ]);
    assert_eq!(job, plain);
}

#[test]
fn steady_state_keeps_its_parts_in_any_order() {
    let criterion = vec![("bw_slope".to_owned(), Some("0.3%".to_owned()))];
    let job = lower(&[("ss_dur", Value::TimeNs(9)), ("ss", Value::Words(criterion))]);
    let steady = job.limits.steady.unwrap();
    assert_eq!((steady.window_ns, steady.limit, steady.limit_is_pct), (9, 0.3, true));
    refuse("ss", &Value::Words(vec![("iops".to_owned(), None)]), "iops:5%");
}

#[test]
fn zone_size_alone_makes_strided_zones() {
    let zones = lower(&[("zonesize", Value::Int(1 << 20))]).workload.strided.unwrap();
    assert_eq!((zones.zone_size_bytes, zones.zone_range_bytes), (1 << 20, 1 << 20));
    refuse("zonemode", &Value::Choice("zbd"), "not supported yet");
}

#[test]
fn repeats_follow_from_spread_and_alignment() {
    let zipf = Distribution::Zipf { theta: 1.2, centre: None };
    let job = lower(&[("random_distribution", Value::Distribution(PerDir::all(zipf)))]);
    assert!(!job.workload.no_repeats);
    assert!(!lower(&[("ba", Value::IntPerDir(PerDir::all(Some(512))))]).workload.no_repeats);
    assert!(lower(&[("ba", Value::IntPerDir(PerDir::all(Some(4096))))]).workload.no_repeats);
}

#[test]
fn log_without_prefix_is_named_after_the_job() {
    let job = lower(&[("write_bw_log", Value::Absent)]);
    assert_eq!(job.logs.bandwidth.as_deref(), Some("job"));
}

#[test]
fn pattern_alone_verifies_by_pattern_but_keeps_a_method() {
    let pattern = || ("verify_pattern", Value::Pattern(vec![PatternPart::Offset]));
    let method = |job: Job| format!("{:?}", job.verify.method);
    assert_eq!(method(lower(&[pattern()])), "Some(Pattern)");
    assert_eq!(method(lower(&[pattern(), ("verify", Value::Choice("md5"))])), "Some(Md5)");
}

#[test]
fn words_with_arguments_are_checked() {
    let word = |name: &str, argument: &str| {
        Value::Words(vec![(name.to_owned(), Some(argument.to_owned()))])
    };
    refuse(
        "file_service_type",
        &word("fastest", "1"),
        "unknown word `fastest`; expected one of random, roundrobin,",
    );
    refuse(
        "file_service_type",
        &word("zipf", "nan"),
        "as the parameter of the distribution; write 0 or more",
    );
    refuse("sync_file_range", &word("write", "often"), "`often`, which is no number");
    refuse("mem", &word("cudamalloc", ""), "memory of a GPU");
    refuse("replay_align", &Value::Int(3), "power of two");
    refuse("ignore_error", &Value::Str("EIO,EWRONG".to_owned()), "has `EWRONG` as an error");
    refuse("ignore_error", &Value::Str("1:2:3:4".to_owned()), "more than 3 lists");
    let job = lower(&[("ignore_error", Value::Str("EAGAIN,ENOSPC::122".to_owned()))]);
    assert_eq!(job.errors.ignored_errno, [vec![11, 28], vec![], vec![122]]);
}

#[test]
fn cpu_mask_lists_its_bits() {
    assert_eq!(lower(&[("cpumask", Value::Int(0x8005))]).process.cpus, [0, 2, 15]);
}

// --- Engines ------------------------------------------------------------------------------------

#[track_caller]
fn check_engine(name: &str, expected: Option<EngineKind>) {
    let param = find("engine").unwrap();
    let mut job = Job::default();
    let result = (param.lower)(&mut job, &Value::Str(name.to_owned()));
    if let Some(kind) = expected {
        assert_eq!((result, job.engine.kind), (Ok(()), kind), "{name}");
    } else {
        let engine = name.split(':').next().expect("a name");
        assert!(result.unwrap_err().to_string().contains(engine), "{name}");
    }
}

#[test]
fn engines_map_onto_ours() {
    check_engine("libaio", Some(EngineKind::Aio));
    check_engine("io_uring", Some(EngineKind::Uring));
    check_engine("sync", Some(EngineKind::Sync));
    check_engine("psync", Some(EngineKind::Sync));
    check_engine("vsync", Some(EngineKind::VectoredSync));
    check_engine("pvsync", Some(EngineKind::VectoredSync));
    check_engine("pvsync2", Some(EngineKind::VectoredSync2));
    check_engine("posixaio", Some(EngineKind::Aio));
    check_engine("rbd", None);
    check_engine("external:./engine.so", None);
    check_engine("io_urnig", None);
    assert!(engine_note("posixaio").is_some());
    assert_eq!(engine_note("libaio"), None);
    assert_eq!(engine_note("rbd"), None);
}

#[test]
fn every_absent_engine_says_what_to_use() {
    let mut names = HashSet::new();
    for engine in ENGINES {
        assert!(names.insert(engine.name), "`{}` stands twice", engine.name);
        assert!(!engine.doc.is_empty() && !engine.doc.ends_with('.'), "`{}`", engine.name);
        assert!(engine.kind.is_some() || !engine.note.is_empty(), "`{}`", engine.name);
    }
}

// --- Looking up ---------------------------------------------------------------------------------

#[test]
fn aliases_lead_to_their_entry() {
    for (alias, name) in [
        ("blocksize", "block_size_bytes"),
        ("readwrite", "access"),
        ("timeout", "runtime"),
        ("wait_for_previous", "barrier"),
        ("ss_dur", "steady_window"),
        ("allrandrepeat", "seed_repeats"),
    ] {
        assert_eq!(find_fio(alias).map(|param| param.name), Some(name), "{alias}");
    }
    assert!(find_fio("BS").is_none() && find_fio("").is_none() && find("bs").is_none());
}

#[track_caller]
fn check_suggestion(typed: &str, accepted: Names, expected: &str) {
    let near = suggest(typed, accepted);
    assert_eq!(near.first().copied(), Some(expected), "`{typed}` suggests {near:?}");
}

#[test]
fn near_misses_are_suggested() {
    check_suggestion("direcotry", Names::Fio, "directory");
    check_suggestion("iodetph", Names::Fio, "iodepth");
    check_suggestion("blocksise", Names::Fio, "blocksize");
    check_suggestion("group-reporting", Names::Fio, "group_reporting");
    check_suggestion("BS", Names::Fio, "bs");
    check_suggestion("num_jobs", Names::Fio, "numjobs");
    check_suggestion("queuedepth", Names::Ours, "queue_depth");
    check_suggestion("queuedepth", Names::Both, "queue_depth");
    check_suggestion("rum_time", Names::Fio, "runtime");
    for typed in ["", "___", "colour", &"x".repeat(10_000)] {
        assert_eq!(suggest(typed, Names::Both), Vec::<&str>::new(), "{typed:.20}");
    }
}

#[test]
fn a_suggestion_is_never_the_word_itself_and_always_one_that_is_accepted() {
    for typed in completion_words() {
        for near in suggest(typed, Names::Fio) {
            assert!(near != typed && find_fio(near).is_some(), "`{typed}`: `{near}`");
        }
        for near in suggest(typed, Names::Ours) {
            assert!(near != typed && find(near).is_some(), "`{typed}`: `{near}`");
        }
        assert!(!suggest(typed, Names::Both).contains(&typed), "`{typed}`");
    }
}

#[test]
fn units_come_before_sizes_and_the_engine_before_its_switches() {
    let order = ["kb_base", "ioengine", "bs", "bsrange", "bssplit", "size"];
    let ranks = order.map(|name| apply_rank(find_fio(name).unwrap()));
    assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
    assert_eq!(apply_rank(find("direct").unwrap()), apply_rank(find("buffered").unwrap()));
}

// --- Texts --------------------------------------------------------------------------------------

#[test]
fn explanations_fit_80_columns() {
    for param in all() {
        let text = explain(param.name).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "`{}`: {line}", param.name);
            assert_eq!(line, line.trim_end(), "`{}`: blanks at the end", param.name);
        }
    }
    assert_eq!(explain("no_such_parameter"), None);
    assert_eq!(explain(""), None);
}

#[test]
fn explanation_of_queue_depth() {
    let text = explain("iodepth").unwrap();
    assert_eq!(explain("queue_depth").as_ref(), Some(&text));
    assert_eq!(explain("sd.threads").as_ref(), Some(&text));
    assert_eq!(explain("threads").as_ref(), Some(&text));
    let expected = "\
queue_depth: I/Os in flight per worker

  fio      iodepth
  Vdbench  sd.threads
  diskspd  -o, -O, RequestCount
  Iometer  # of Outstanding I/Os, Number of outstanding IOs
  type     a whole number
  default  1
  range    1 to 1048576

Keeps this many I/Os in flight per worker, whatever the number of files.
Synchronous engines hold one at a time and ignore it; use more workers there.
The load on the target is the depth times the workers.

Example (fio job file):
    iodepth=8
";
    assert_eq!(text, expected);
}

#[test]
fn cmdhelp_has_the_layout_of_fio() {
    let expected = "                  bs: bytes per I/O, per direction
               alias: blocksize
                type: a whole number, or one each for reads, writes and trims (opt=4k,64k,4k)
             default: 4096
               range: min=1, max=4294967295

";
    assert_eq!(cmdhelp("bs"), expected);
    assert!(cmdhelp("sync").contains("        valid values: none       writes may stay"));
    assert_eq!(cmdhelp("bogus"), "No such command: bogus\n");
    assert!(cmdhelp("iodepht").contains("Did you mean: iodepth"));
    assert!(cmdhelp("all").lines().any(|line| line.starts_with("bs                      : ")));
}

#[test]
fn reference_and_completion_hold_every_parameter() {
    let page = reference_markdown();
    let words: HashSet<&str> = completion_words().into_iter().collect();
    for param in all() {
        assert!(page.contains(&format!("`{}`", param.name)), "`{}`", param.name);
        assert!(words.contains(param.name), "`{}`", param.name);
        assert!(param.fio.iter().all(|name| words.contains(name)), "`{}`", param.name);
    }
}

// --- fio itself ---------------------------------------------------------------------------------

/// Runs fio with one argument; `None` where it is not installed.
fn fio(argument: &str) -> Option<String> {
    let output = Command::new("fio").arg(argument).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the names in front of the colons of fio's lists of options.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim())
}

#[test]
fn every_option_of_the_installed_fio_is_known() {
    let (Some(options), Some(engines)) = (fio("--cmdhelp=all"), fio("--enghelp")) else {
        testing::skipped!("fio is not installed");
        return;
    };
    let mut unknown: Vec<String> = Vec::new();
    let mut check = |text: &str| {
        let names = listed(text).filter(|name| find_fio(name).is_none());
        unknown.extend(names.map(str::to_owned));
    };
    check(&options);
    let engines: Vec<&str> = engines.lines().skip(1).map(str::trim).collect();
    for engine in &engines {
        assert!(find_engine(engine).is_some(), "engine `{engine}` is not in the table");
        check(&fio(&format!("--enghelp={engine}")).unwrap_or_default());
    }
    assert!(engines.len() > 5 && options.lines().count() > 150, "fio's lists look different");
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn aliases_defaults_and_words_are_those_of_the_installed_fio() {
    if fio("--version").is_none() {
        testing::skipped!("fio is not installed");
        return;
    }
    let mut differences: Vec<String> = Vec::new();
    let table = fio("--cmdhelp=all").unwrap_or_default();
    for name in listed(&table) {
        let Some(param) = find_fio(name) else { continue };
        let help = fio(&format!("--cmdhelp={name}")).unwrap_or_default();
        for line in help.lines() {
            let Some((label, text)) = line.split_once(':') else { continue };
            let text = text.trim();
            let word = text.split_whitespace().next().unwrap_or_default();
            let agrees = match label.trim() {
                "alias" => param.fio.contains(&text),
                // An alias may be an option of its own in an older release, with another default.
                "default" if param.fio.first() == Some(&name) => {
                    text == "no default" || same_default(param, text)
                }
                "valid values" | "" if matches!(param.kind, ValueKind::Enum(_)) => {
                    accepted(param).any(|known| known == word)
                }
                _ => true,
            };
            if !agrees {
                differences.push(format!("{name}: {}: {text}", label.trim()));
            }
        }
    }
    assert_eq!(differences, Vec::<String>::new());
}

// --- Values to try ------------------------------------------------------------------------------

/// Returns whether a default of fio's means ours.
fn same_default(param: &Param, theirs: &str) -> bool {
    let (ours, kind) = (param.default, param.kind);
    let is_off = |text: &str| matches!(text, "" | "0" | "none");
    ours == theirs
        || (is_off(ours) && is_off(theirs))
        || matches!(kind, ValueKind::IntPerDir { .. }) && theirs.split(',').all(|part| part == ours)
}

fn accepted(param: &Param) -> impl Iterator<Item = &'static str> {
    let choices = if let ValueKind::Enum(choices) = param.kind { choices } else { &[] };
    choices.iter().flat_map(|choice| choice.aliases.iter().copied().chain([choice.name]))
}

fn choices(param: &Param) -> Vec<&'static str> {
    let choices = if let ValueKind::Enum(choices) = param.kind { choices } else { &[] };
    choices.iter().map(|choice| choice.name).collect()
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns values at the edges that a dialect would normally not hand over.
fn odd_values() -> Vec<Value> {
    vec![
        Value::Int(i64::MIN),
        Value::Int(i64::MAX),
        Value::IntPerDir(PerDir::all(Some(i64::MIN))),
        Value::IntPerDir(PerDir::default()),
        Value::Size(Size::Percent(0)),
        Value::Size(Size::Zones(u64::MAX)),
        Value::TimeNs(u64::MAX),
        Value::Float(f64::NAN),
        Value::Floats(vec![f64::NAN, -1.0]),
        Value::Words(Vec::new()),
        Value::Words(vec![("write".to_owned(), Some("-1".to_owned())); 3]),
        Value::Choice("no such word"),
        Value::Str(String::new()),
        Value::Str(":,:,::".to_owned()),
    ]
}

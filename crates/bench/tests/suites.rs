//! Suites: what ours say, what they come to, and what is said of mistakes.

use analysis::Limits;
use bench::suite::change::Changes;
use bench::suite::jobs::{self, Site};
use bench::suite::rounds::{Verdict, judge};
use bench::suite::steps::{Order, steps};
use bench::suite::{BUILT_IN, PublishedFigure, Rounds, Size, Step, Suite, built_in, parse};

const S: u64 = 1_000_000_000;

#[track_caller]
fn suite(name: &str) -> Suite {
    let (suite, findings) = parse(built_in(name).expect("it is ours"));
    assert!(findings.is_empty(), "{name}: {findings:?}");
    suite.expect("no mistakes, so a suite")
}

#[test]
fn every_suite_of_ours_reads_without_a_remark() {
    for (name, text) in BUILT_IN {
        let suite = suite(name);
        assert_eq!(suite.name, name);
        assert!(!suite.title.is_empty() && suite.title.len() <= 72, "{name}");
        for part in &suite.parts {
            assert!(part.published.iter().all(|it| !it.on.is_empty()), "{name}: {}", part.name);
        }
        let all = steps(&suite, &Order::default());
        // They must fit the first column of a table.
        let longest = all.iter().map(|step| step.label.chars().count()).max().unwrap_or(0);
        assert!(longest <= 30, "{name}: {longest}");
        let fits = |line: &str| line.chars().count() <= 110 || line.starts_with("url = ");
        assert!(text.lines().all(fits), "{name}");
    }
}

/// Steps and their time with ramps, without fill and curve.
#[track_caller]
fn check_plan(name: &str, n_steps: usize, total_s: u64) {
    let suite = suite(name);
    let all = steps(&suite, &Order::default());
    let total: u64 = all.iter().map(bench::suite::Step::time_max_ns).sum();
    assert_eq!((all.len(), total / S), (n_steps, total_s), "{name}");
}

#[test]
fn plans_are_as_long_as_their_procedures_say() {
    check_plan("quick", 6, 6 * 7);
    check_plan("io-size", 2 * 9, 18 * 35);
    // Two patterns, four numbers of jobs, four depths, two of connections.
    check_plan("scale-up", 2 * 4 * 4 * 2, 64 * 35);
    // Warm-up 60, elapsed 600; sequential writes with three thread counts, the mix with two.
    check_plan("anf-2019", 9, 9 * 660);
    // Mixes in steps of 10 % (11) and of 25 % (5), and eight depths of four patterns.
    check_plan("anf-linux-regular", 2 * 11 + 4 * 5 + 4 * 8, 74 * 70);
    check_plan("anf-regular", 4, 4 * 600);
    check_plan("anf-large", 4, 4 * 600);
    // Six measurements of 30 s after two warm-ups of two hours at most.
    check_plan("premium-storage", 8, 6 * 30 + 2 * 7200);
    check_plan("snia-iops", 56, 56 * 60);
    check_plan("postgresql", 2 + 3 + 1 + 1 + 1, 8 * 35);
    check_plan("mysql", 1 + 3 + 1 + 1 + 1 + 1, 8 * 35);
    check_plan("sqlserver", 1 + 1 + 2 + 1 + 2 + 1, 8 * 35);
    check_plan("etcd", 2, 2 * 32);
}

#[test]
fn the_quick_suite_takes_three_minutes_at_most() {
    let suite = suite("quick");
    let all = steps(&suite, &Order::default());
    assert!(suite.time_max_ns(&all) <= 180 * S, "{}", suite.time_max_ns(&all) / S);
    assert!(suite.is_indicative);
    let patterns: Vec<String> = all.iter().map(Step::in_words).collect();
    assert_eq!(
        patterns,
        [
            "randread 8k, 1 x 32",
            "randwrite 8k, 1 x 32",
            "randrw 8k, 50% read, 1 x 32",
            "read 64k, 1 x 32",
            "write 64k, 1 x 32",
            "rw 64k, 50% read, 1 x 32"
        ]
    );
}

/// What may be measured again takes longer than once: no time is called the most.
#[test]
fn a_time_is_no_bound() {
    let words = |name: &str, has_needs| {
        let suite = suite(name);
        suite.time_words(&steps(&suite, &Order::default()), has_needs)
    };
    for name in ["etcd", "quick"] {
        let time = words(name, false);
        assert!(time.starts_with("about "), "{time}");
        assert!(time.ends_with(", more with repeats"), "{time}");
    }
    assert!(words("snia-iops", false).starts_with("about 23h20m"), "{}", words("snia-iops", false));
}

#[test]
fn snia_s_rounds_are_seven_mixes_of_eight_sizes() {
    let suite = suite("snia-iops");
    assert_eq!(suite.parts[0].read_pct, [100.0, 95.0, 65.0, 50.0, 35.0, 5.0, 0.0]);
    assert_eq!(suite.parts[0].block_bytes.len(), 8);
    let rounds = suite.rounds.expect("it has");
    assert_eq!((rounds.n_max, rounds.window), (25, 5));
    assert!(suite.prepare.purge && suite.prepare.n_fills == 2);
}

/// Figures as the source documents print them: suite, label, value, unit.
#[track_caller]
fn check_published(name: &str, label: &str, value: f64, figure: PublishedFigure) {
    let suite = suite(name);
    let all = steps(&suite, &Order::default());
    let running = bench::suite::rows::Running::new(suite, Changes::default(), Order::default());
    let listed = bench::suite::published::recorded(&running.suite, &all, &[]);
    let is_it = |it: &&record::PublishedRecord| it.label == label && it.unit == figure.unit();
    let found: Vec<f64> = listed.iter().filter(is_it).map(|it| it.value).collect();
    assert_eq!(found, [value], "{name}: {label}");
}

/// The document's own files: 24 machines of six files of 693 GiB, and threads per file.
#[test]
fn a_set_up_of_many_machines_is_a_file_of_vdbench() {
    let suite = suite("anf-2019");
    let layout = suite.layout.expect("it has one");
    let all = steps(&suite, &Order::default());
    let text = bench::suite::vdbench::parameter_file(&layout, &suite.prepare, &all);
    let n_lines = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((n_lines("hd=vm"), n_lines("sd=sd-"), n_lines("rd=")), (24, 144, 10));
    for line in [
        "sd=default,size=693g,openflags=o_direct",
        "sd=sd-24-6,host=vm24,lun=/mnt/vdb6/file-24-6",
        "wd=Fill,sd=sd*,rdpct=0,seekpct=eof,xfersize=64k",
        "wd=RndMix,sd=sd*,rdpct=50,seekpct=100,xfersize=8k",
        "rd=Fill,wd=Fill,sd=sd*,iorate=max,interval=1,threads=1,elapsed=259200",
        "rd=SeqWrite-depth-40,wd=SeqWrite-depth-40,sd=sd*,iorate=max,threads=40,warmup=60,\
         elapsed=600,interval=1",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
}

#[test]
fn published_figures_stand_beside_their_steps() {
    use PublishedFigure::{Iops, MbPerS, MibPerS};
    check_published("anf-2019", "RndRead", 300_000.0, Iops);
    check_published("anf-2019", "SeqRead", 4_500.0, MibPerS);
    check_published("anf-regular", "8k random read", 200_000.0, Iops);
    check_published("anf-regular", "8k random write", 135_000.0, Iops);
    check_published("anf-regular", "64k sequential read", 4_500.0, MibPerS);
    check_published("anf-large", "256k sequential write", 8_518.0, MibPerS);
    check_published("anf-large", "256k sequential read", 9_970.0, MibPerS);
    check_published("anf-large", "8k random write", 474_000.0, Iops);
    check_published("anf-large", "8k random read", 709_000.0, Iops);
    check_published("anf-linux-regular", "4k random cached, 0% read", 130_000.0, Iops);
    check_published("anf-linux-regular", "4k random cached, 100% read", 460_000.0, Iops);
    check_published("anf-linux-regular", "4k random, 0% read", 120_000.0, Iops);
    check_published("anf-linux-regular", "4k random, 100% read", 388_000.0, Iops);
    check_published("anf-linux-regular", "8k random, 0% read", 111_000.0, Iops);
    check_published("anf-linux-regular", "8k random, 100% read", 293_000.0, Iops);
    check_published("anf-linux-regular", "64k seq cached, 100% read", 4_500.0, MibPerS);
    check_published("anf-linux-regular", "64k seq cached, 0% read", 1_600.0, MibPerS);
    check_published("anf-linux-regular", "64k seq, 100% read", 3_600.0, MibPerS);
    check_published("anf-linux-regular", "64k seq, 0% read", 2_400.0, MibPerS);
    check_published("anf-linux-regular", "256k seq, 100% read", 3_500.0, MibPerS);
    check_published("anf-linux-regular", "256k seq, 0% read", 2_500.0, MibPerS);
    check_published("premium-storage", "most random writes 8k", 50_000.0, Iops);
    check_published("premium-storage", "most random reads 8k", 64_000.0, Iops);
    check_published("premium-storage", "reads and writes 4k", 100_000.0, Iops);
    check_published("premium-storage", "most read 64k", 524.0, MbPerS);
    check_published("premium-storage", "most written 64k", 524.0, MbPerS);
    check_published("premium-storage", "read and written 64k", 1_000.0, MbPerS);
    check_published("io-size", "random read, 8k", 5_000.0, Iops);
    check_published("io-size", "random read, 64k", 3_200.0, Iops);
    check_published("io-size", "random read, 1m", 200.0, Iops);
}

#[test]
fn repeats_are_mixed_and_preparations_stay_where_they_are() {
    let suite = suite("premium-storage");
    let order = Order { n_repeats: 6, seed: 3 };
    let all = steps(&suite, &order);
    assert_eq!(all.len(), 2 + 6 * 6);
    assert!(all[0].is_preparation && all[1].is_preparation);
    let measured = &all[2..];
    assert!(measured.windows(2).filter(|pair| pair[0].label == pair[1].label).count() < 15);
    for label in measured.iter().map(|step| &step.label) {
        let own = measured.iter().filter(|step| step.label == *label);
        let repeats: Vec<u32> = own.map(|step| step.repeat_idx).collect();
        assert_eq!(repeats, [0, 1, 2, 3, 4, 5], "{label}");
    }
    assert_eq!(steps(&suite, &order), all, "the seed is the order");
    assert_ne!(steps(&suite, &Order { seed: 4, ..order }), all);
}

fn changes(set: &[(&str, &str)], scale: Option<f64>) -> Changes {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Changes { set, scale }
}

#[test]
fn a_scale_shortens_everything_alike() {
    let whole = suite("premium-storage");
    let short = changes(&[], Some(0.1)).apply(whole.clone()).expect("it can be");
    assert_eq!(short.prepare.size, Size::Bytes(12 << 30));
    for (part, before) in short.parts.iter().zip(&whole.parts) {
        assert_eq!(part.time_ns, before.time_ns / 10);
        assert_eq!(part.depths, before.depths);
    }
    let quick = changes(&[], Some(0.5)).apply(suite("quick")).expect("it can be");
    assert_eq!(quick.prepare.fill_time_ns, Some(10 * S));
    assert_eq!(quick.curve.map(|curve| curve.time.measured_ns), Some(1_250_000_000));
}

#[test]
fn parameters_can_be_set() {
    let set = [("size", "20g"), ("time", "10s"), ("iodepth", "1:8"), ("limit", "p50 < 1ms")];
    let suite = changes(&set, None).apply(suite("quick")).expect("it can be");
    assert_eq!(suite.prepare.size, Size::Bytes(20 << 30));
    assert_eq!(steps(&suite, &Order::default()).len(), 12);
    let limits = suite.curve.map(|curve| curve.limits);
    assert_eq!(limits, "p50 < 1ms".parse::<Limits>().ok());
}

#[track_caller]
fn check_refused(name: &str, value: &str, expected: &str) {
    let reported =
        changes(&[(name, value)], None).apply(suite("anf-large")).expect_err("a mistake");
    assert!(reported.to_string().contains(expected), "{reported}");
}

#[test]
fn what_cannot_be_set_is_reported() {
    check_refused("speed", "1", "there are size, time, ramp");
    check_refused("time", "0s", "the shortest is 10ms");
    check_refused("iodepth", "0", "expected 1 to 32768");
    check_refused("limit", "p99 < 1ms", "the suite `anf-large` has none");
    check_refused("bs", "7", "expected 512 to 1g");
}

#[track_caller]
fn check_mistake(text: &str, expected: &[&str]) {
    let whole = format!("schema = \"plimsoll.suite/1\"\nname = \"mine\"\n{text}");
    let (suite, findings) = parse(&whole);
    assert_eq!(suite, None);
    let reported: Vec<String> = findings
        .iter()
        .map(|it| {
            let line = it.span.as_ref().map_or(0, |span| span.line);
            format!("{line}: {} {}", it.message, it.help.join(" "))
        })
        .collect();
    assert_eq!(reported.len(), expected.len(), "{reported:?}");
    for (reported, expected) in reported.iter().zip(expected) {
        assert!(reported.contains(expected), "`{reported}` and not `{expected}`");
    }
}

/// A line that is no TOML is one mistake: what seems to be missing may stand in it.
#[test]
fn a_line_that_cannot_be_read_is_one_mistake() {
    let (suite, findings) = parse("schema = \"plimsoll.suite/1\"\nname = \"mine\n");
    let codes: Vec<&str> = findings.iter().map(|it| it.code).collect();
    assert_eq!((suite, codes), (None, vec!["syntax"]));
}

#[test]
fn all_mistakes_are_reported_with_their_places() {
    check_mistake("", &["at least one [[part]]"]);
    check_mistake(
        "[[part]]\nname = \"a\"\nrw = \"randraed\"\nbs = \"8q\"\niodepht = 3\nread_pct = 120\n",
        &[
            "5: `rw` is `randraed`, expected one of read, write",
            "6: `bs`",
            "7: unknown key `iodepht` did you mean `iodepth`?",
            "8: `read_pct` is 0 to 100",
        ],
    );
    check_mistake(
        "[[part]]\nname = \"a\"\nrw = \"read\"\n[[part]]\nname = \"a\"\nrw = \"write\"\n",
        &["6: two steps are called `a`"],
    );
    check_mistake(
        "[rounds]\ntracked = \"b\"\n[[part]]\nname = \"a\"\nrw = \"read\"\nplace = \"x\"\n",
        &["3: `tracked`: no step is called `b`", "5: no [[place]] is called `x`"],
    );
    check_mistake("[[part]]\nname = \"a\"\nrw = \"read\"\nuntil = \"dawn\"", &["6: `until`"]);
    let (suite, findings) = parse("name = 3\n[[part");
    assert!(suite.is_none() && !findings.is_empty());
}

#[test]
fn no_text_makes_the_reader_panic() {
    let text = built_in("premium-storage").expect("it is ours");
    for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
        let _ = parse(&text[..end]);
        let _ = parse(&text[end..]);
    }
}

fn site(place: &str, file: &str) -> Site {
    let (place, file) = (place.to_owned(), file.to_owned());
    Site { place, file, export: None, size_bytes: 1 << 30, takes_direct: true }
}

#[test]
fn steps_become_sections_of_a_job_file() {
    let suite = suite("premium-storage");
    let all = steps(&suite, &Order::default());
    let sites = [site("uncached", "/mnt/a:b/x"), site("cached", "/mnt/c/x")];
    let text = jobs::job_file(&all, &sites);
    assert_eq!(text.matches("\nstonewall\n").count(), 8);
    assert_eq!(text.matches("\nnew_group=1\n").count(), 2, "{text}");
    assert!(text.contains("filename=/mnt/a\\:b/x\nrw=randwrite\nbs=8k\niodepth=256\nnumjobs=4\n"));
    assert!(
        text.contains("steadystate=iops_slope:0.006689%\nsteadystate_duration=300\n"),
        "{text}"
    );
    // Workers of a walk have a region each.
    let sequential = steps(&self::suite("anf-large"), &Order::default());
    let text = jobs::job_file(&sequential[..1], &[site("", "/dev/x")]);
    assert!(text.contains("size=268435456\noffset_increment=268435456\n"), "{text}");
}

#[test]
fn connections_count_only_on_an_export() {
    let suite = suite("scale-up");
    let all = steps(&suite, &Order::default());
    let plain = jobs::job_file(&all, &[site("", "/mnt/x")]);
    assert!(!plain.contains("nconnect"));
    let export = Site { export: Some("nfs://server/a".to_owned()), ..site("", "x") };
    let over = jobs::job_file(&all, &[export]);
    assert_eq!(over.matches("nfs_nconnect=8\n").count(), 32);
}

#[test]
fn rounds_end_when_they_are_steady_or_too_many() {
    let rounds = Rounds { n_max: 7, window: 5, tracked: String::new() };
    assert_eq!(judge(&rounds, &[100.0, 102.0, 98.0, 101.0]), Verdict::GoOn);
    assert_eq!(judge(&rounds, &[100.0, 102.0, 98.0, 101.0, 99.0]), Verdict::Steady(0));
    let falling = [200.0, 150.0, 120.0, 101.0, 100.0, 99.0];
    assert_eq!(judge(&rounds, &falling), Verdict::GoOn);
    let wild = [10.0, 50.0, 10.0, 50.0, 10.0, 50.0, 10.0];
    assert_eq!(judge(&rounds, &wild), Verdict::GiveUp);
}

/// Targets as their sources publish them: suite, label, what must hold.
#[track_caller]
fn check_target(name: &str, label: &str, expected: &str) {
    let suite = suite(name);
    let asked = bench::suite::need::targets(&suite, &steps(&suite, &Order::default()));
    let found: Vec<&str> =
        asked.iter().filter(|it| it.label == label).map(|it| it.text.as_str()).collect();
    assert_eq!(found, [expected], "{name}: {label}");
}

#[test]
fn published_targets_are_asked_of_their_steps() {
    check_target("etcd", "log 2300 B", "sync p99 < 10ms");
    check_target("etcd", "log 8000 B", "IOPS >= 50");
    check_target("sqlserver", "page read 8k", "mean < 15ms");
    check_target("sqlserver", "log, 4k", "mean < 15ms");
    check_target("sqlserver", "log, 60k", "mean < 15ms");
}

#[test]
fn suites_say_when_writes_are_made_durable() {
    let job_file = |name: &str| {
        let suite = suite(name);
        jobs::job_file(&steps(&suite, &Order::default()), &[site("", "/mnt/f")])
    };
    assert_eq!(job_file("etcd").matches("\nfdatasync=1\n").count(), 2);
    assert_eq!(job_file("postgresql").matches("\nfdatasync=1\n").count(), 3);
    assert_eq!(job_file("postgresql").matches("\nfsync=256\n").count(), 1);
    assert_eq!(job_file("mysql").matches("\nfsync=1\n").count(), 2);
    assert_eq!(job_file("sqlserver").matches("\nsync=dsync\n").count(), 3);
}

#[test]
fn mistakes_about_durability_and_targets_are_reported() {
    let text = "schema = \"plimsoll.suite/1\"\nname = \"x\"\n\
                [[part]]\nname = \"p\"\nrw = \"write\"\n\
                fsync = 1\nfdatasync = 1\nsync = \"often\"\n[[part.target]]\nlimit = \"p99 > 3\"\n\
                source = \"nobody\"\n";
    let (_, findings) = parse(text);
    let reported: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
    for expected in [
        "`sync` is `often`, expected `none`, `sync` or `dsync`",
        "one of `fsync`, `fdatasync` and `sync` says when writes are made durable",
        "`limit`: column 5: `>` would ask for a latency above a value; write `p99 < 3`",
        "no [[source]] has the id `nobody`",
    ] {
        assert!(reported.contains(&expected), "{expected}: {reported:?}");
    }
}

//! Parsing is total: any bytes give a plan and findings, in time that grows with their number.

mod support;

use dialects::fio::{parse_args, parse_file, parse_text, sniff};
use dialects::{LowerOptions, Overrides};
use plan::{Diagnostic, Severity};
use proptest::prelude::*;
use support::MapHost;
use support::fio::parse;

/// Words of the language, to get beyond the first mistake.
fn word() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> =
        plan::param::all().flat_map(|param| param.fio.iter().copied()).collect();
    let fragments = prop::sample::select(vec![
        "[a]",
        "[global]",
        "\n",
        "\n",
        "=",
        "=",
        ":",
        ",",
        "/",
        "-",
        "%",
        "(",
        ")",
        "0x",
        "4k",
        "8k",
        "50%",
        "1",
        "0",
        "99999999999999999999",
        "${A}",
        "$ncpus",
        "$pagesize*2",
        "include self",
        "\"",
        "'",
        "#",
        ";",
        "zipf:1.2",
        "zoned:50/50:50/50",
        "randrw",
        "libaio",
        "io_uring",
        "ü",
        "\\:",
        "verify",
        "2sec",
        "z",
        " ",
    ]);
    prop_oneof![
        2 => prop::sample::select(names).prop_map(|name| format!("\n{name}=")),
        5 => fragments.prop_map(str::to_owned),
    ]
}

/// Checks what holds for every text: places lie within their source.
fn check(bytes: &[u8]) {
    let mut host = MapHost::with(&[], &[("A", "1")]);
    host.files.insert("self".to_owned(), bytes.to_vec());
    let parsed = parse_file("self", &LowerOptions::default(), &host);
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        assert!(!finding.message.is_empty());
        let Some(span) = &finding.span else { continue };
        let source = &parsed.plan.sources[span.source_idx.unwrap() as usize];
        assert!(source.text.get(span.bytes.clone()).is_some(), "{finding:?}");
        assert!(span.line >= 1 && span.column >= 1);
    }
    for job in parsed.plan.jobs() {
        assert!(job.n_workers >= 1 && job.load.queue_depth >= 1 && job.block_size_min() >= 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn any_words(words in prop::collection::vec(word(), 0..40)) {
        let text = format!("[a]\n{}", words.concat());
        check(text.as_bytes());
        sniff(&text);
    }

    #[test]
    fn any_arguments(words in prop::collection::vec(word(), 0..12)) {
        let args: Vec<String> = words.iter().map(|word| format!("--{}", word.trim())).collect();
        parse_args(&args, &MapHost::default());
        parse_args(&words, &MapHost::default());
    }

    /// A value never changes which later lines are read.
    #[test]
    fn one_bad_value_does_not_hide_the_next(value in "[a-z0-9:,/%.()-]{0,12}") {
        let parsed = parse(&format!("[a]\nbs={value}\nnosuchoption=1\n"));
        prop_assert!(parsed.diagnostics.iter().any(|finding| finding.code == "unknown-option"));
    }
}

#[test]
fn ten_megabytes_parse() {
    let about = "x".repeat(130);
    let options = "rw=randread\nbs=4k\niodepth=32\nfilename=/dev/sdb\n";
    let section = format!("[job]\n{options}description={about}\n; {about}\n");
    let text = section.repeat(10_000_000 / section.len());
    let parsed = parse_text("large", &text, &LowerOptions::default(), &MapHost::default());
    assert!(!parsed.has_errors());
    assert_eq!(parsed.plan.jobs().count(), text.len() / section.len());
}

#[test]
fn a_megabyte_of_mistakes_ends_early() {
    for line in
        ["nosuchoption=1\n", "[a]\nbs=x\n", "include self\n", "[a\n", "bs=4k\n", "${\n", "((((((\n"]
    {
        let mut host = MapHost::default();
        let text = "[first]\n".to_owned() + &line.repeat(1_000_000 / line.len());
        host.files.insert("self".to_owned(), text.into_bytes());
        let parsed = parse_file("self", &LowerOptions::default(), &host);
        let (errors, others): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
            parsed.diagnostics.iter().partition(|it| it.severity == Severity::Error);
        assert!(errors.len() <= 201 && others.len() <= 201);
        assert!(parsed.refusals.len() <= 200);
    }
}

/// What is doubtful runs, however much of it there is; and what is wrong with a value that is set
/// for all jobs counts once.
#[test]
fn many_warnings_stop_no_run() {
    let text = "[a]\nfilename=/f\nsize=1m\ndirect=1\nbs=1000\n".repeat(300);
    let mut host = MapHost::default();
    host.files.insert("jobs".to_owned(), text.into_bytes());
    let parsed = parse_file("jobs", &LowerOptions::default(), &host);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty());
    assert_eq!(parsed.plan.jobs().count(), 300);
    assert_eq!(parsed.diagnostics.len(), 201);
    let last = parsed.diagnostics.last().expect("the last finding");
    assert_eq!(
        (last.code, last.message.as_str()),
        ("more-warnings", "100 more warnings are not shown")
    );
    let set = vec![("iodepth".to_owned(), "many".to_owned())];
    let overrides = Overrides { set, ..Overrides::default() };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    let parsed = parse_file("jobs", &wishes, &host);
    let errors = parsed.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    assert_eq!(errors.count(), 1);
}

#[test]
fn many_globals_and_jobs_do_not_multiply() {
    let text = "[global]\n".to_owned() + &"bs=4k\n".repeat(100_000) + &"[a]\n".repeat(20_000);
    let parsed = parse(&text);
    assert!(!parsed.has_errors());
    assert_eq!(parsed.plan.jobs().count(), 20_000);
}

#[test]
fn too_many_jobs_are_refused() {
    let parsed = parse(&"[a]\n".repeat(70_000));
    assert_eq!(parsed.diagnostics.last().unwrap().code, "too-many-jobs");
}

#[test]
fn include_bombs_are_refused() {
    let files: Vec<(String, String)> = (0..40)
        .map(|level| (format!("f{level}"), format!("include f{0}\ninclude f{0}\n", level + 1)))
        .collect();
    let mut host = MapHost::with(&[("main", "[a]\ninclude f0\n")], &[]);
    for (path, text) in files {
        host.files.insert(path, text.into_bytes());
    }
    assert!(parse_file("main", &LowerOptions::default(), &host).has_errors());
}

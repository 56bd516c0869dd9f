//! Verdicts of fio 3.33 on job files from the field, where the corpus is present.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use dialects::LowerOptions;
use dialects::fio::{parse_file, parse_text, write};
use dialects::native;
use plan::{Job, Plan, Step};
use support::{FolderHost, MapHost, all_shown, difference, rows};

#[test]
fn verdicts_agree_with_fio() {
    let Some(path) = testing::corpus("fio", "index.tsv") else { return };
    let host = MapHost { env_all: Some("1m".to_owned()), ..MapHost::default() };
    let corpus = FolderHost { path, host };
    let (mut n_accept, mut n_accepted, mut n_reject, mut n_rejected) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    for columns in rows(&corpus.path, "index.tsv") {
        let (file, verdict) = (columns[0].as_str(), columns[1].as_str());
        let n_jobs: usize = columns[2].parse().unwrap();
        let parsed = parse_file(file, &LowerOptions::default(), &corpus);
        let accepted = !parsed.has_errors();
        if verdict == "ok" {
            n_accept += 1;
            n_accepted += usize::from(accepted);
            if accepted {
                assert_eq!(parsed.plan.jobs().count(), n_jobs, "number of jobs of {file}");
                check_written(file, &parsed.plan, &corpus);
            }
        } else {
            n_reject += 1;
            n_rejected += usize::from(!accepted);
        }
        if accepted != (verdict == "ok") {
            differences
                .push(format!("{file}: fio says {verdict}\n{}", all_shown(&parsed.diagnostics)));
        }
    }
    println!("accepted {n_accepted} of {n_accept}, rejected {n_rejected} of {n_reject}");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What is written of a plan reads as the same plan.
#[track_caller]
fn check_written(file: &str, plan: &Plan, corpus: &FolderHost) {
    let written = write(plan);
    let read = parse_text(file, &written.text, &LowerOptions::default(), corpus);
    assert!(!read.has_errors(), "{file}:\n{}\n{}", written.text, all_shown(&read.diagnostics));
    for (before, after) in plan.jobs().zip(read.plan.jobs()) {
        let after = Job { options: before.options.clone(), ..after.clone() };
        assert!(after == *before, "{file}:\n{}\n{}", written.text, difference(before, &after));
    }
    assert_eq!(read.plan.steps.len(), plan.steps.len(), "{file}:\n{}", written.text);
    check_native(file, plan, corpus);
}

/// The same for a plan of our own.
#[track_caller]
fn check_native(file: &str, plan: &Plan, corpus: &FolderHost) {
    let text = native::write(plan).text;
    let read = native::parse_text(file, &text, &LowerOptions::default(), corpus);
    assert!(!read.has_errors(), "{file}:\n{text}\n{}", all_shown(&read.diagnostics));
    let plain = |plan: &Plan| Plan {
        sources: Vec::new(),
        global_options: Vec::new(),
        steps: plan.steps.iter().map(without_options).collect(),
    };
    let (before, after) = (plain(plan), plain(&read.plan));
    assert!(before == after, "{file}:\n{text}\n{}", difference(&before, &after));
}

fn without_options(step: &Step) -> Step {
    let plain = |job: &Job| Job { options: Vec::new(), ..job.clone() };
    Step { jobs: step.jobs.iter().map(plain).collect(), ..step.clone() }
}

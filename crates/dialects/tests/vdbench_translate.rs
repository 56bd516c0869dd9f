//! Parameter files from the field in other words: what is written is accepted and means the same,
//! or what cannot be said is listed. Skipped where the corpus is absent.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use dialects::fio::{self, Wishes};
use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::run::Rate;
use dialects::vdbench::{self, Options, Parsed, parse_files, parse_text};
use dialects::{Loader, native};
use plan::{Diagnostic, Plan, Severity};
use support::{FolderHost, MapHost, all_shown, difference, rows};

/// Returns the plan of a file's runs, and what stands against it.
fn plan_of(parsed: &Parsed, loader: &dyn Loader) -> (Plan, Vec<Diagnostic>) {
    let (mut findings, mut steps, mut curve_step_idx, mut n_groups) = (vec![], vec![], None, 0);
    for (idx, run) in parsed.runs.iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(idx as u32);
        }
        let context = Context { curve_step_idx, first_group_id: n_groups, loader };
        let step = step(run, context, &mut findings);
        n_groups += step.jobs.len() as u32;
        steps.push(step);
    }
    let mut plan = Plan { steps, ..Plan::default() };
    plan.jobs_mut().for_each(|job| job.options.clear());
    (plan, findings)
}

/// Calls it for every accepted file of one host that runs, with its plan. Returns how many.
fn each(check: impl Fn(&str, &Parsed, &Plan)) -> usize {
    let Some(path) = support::corpus("vdbench", "index.tsv") else { return usize::MAX };
    let folder = FolderHost { path, host: MapHost::default() };
    let mut n_files = 0;
    for columns in rows(&folder.path, "index.tsv") {
        let parsed = parse_files(&[&columns[0]], &Options::default(), &folder);
        if parsed.has_errors() || parsed.remote_hosts().count() > 0 {
            continue;
        }
        let (plan, findings) = plan_of(&parsed, &folder);
        let is_fine = findings.iter().all(|found| found.severity != Severity::Error);
        if is_fine && parsed.refusals.is_empty() {
            check(&columns[0], &parsed, &plan);
            n_files += 1;
        }
    }
    println!("{n_files} files");
    n_files
}

#[test]
fn plans_of_our_own_are_the_same_plan() {
    let n_files = each(|file, _, plan| {
        let text = native::write(plan).text;
        let mut read = native::parse_text("t", &text, &Wishes::default(), &MapHost::default());
        assert!(!read.has_errors(), "{file}: {text}\n{}", all_shown(&read.diagnostics));
        read.plan.jobs_mut().for_each(|job| job.options.clear());
        read.plan.sources.clear();
        assert!(read.plan == *plan, "{file}: {}", difference(plan, &read.plan));
    });
    assert!(n_files > 50);
}

#[test]
fn job_files_of_fio_are_accepted_or_nothing_is_said() {
    let n_files = each(|file, _, plan| {
        let written = fio::write(plan);
        if written.is_empty() {
            assert!(!written.losses.is_empty(), "{file}");
            return;
        }
        let read = fio::parse_text("t", &written.text, &Wishes::default(), &MapHost::default());
        let found = all_shown(&read.diagnostics);
        assert!(!read.has_errors(), "{file}: {}\n{found}", written.text);
        let has_curve = plan.steps.iter().any(|step| step.rate_of.is_some());
        assert!(!has_curve || written.losses.iter().any(|loss| loss.contains("curve")), "{file}");
    });
    assert!(n_files > 50);
}

/// Plans are not only made of parameter files: what is written of a plan alone is accepted, too.
#[test]
fn parameter_files_of_plans_are_accepted() {
    let n_files = each(|file, parsed, plan| {
        let written = vdbench::write(plan);
        let again = parse_text("t", &written.text, &Options::default(), &MapHost::default());
        let (text, found) = (&written.text, all_shown(&again.diagnostics));
        assert!(!again.has_errors(), "{file}: {text}\n{found}\n{:?}", written.losses);
        let is_listed = !written.losses.is_empty();
        assert!(again.runs.len() == parsed.runs.len() || is_listed, "{file}: {text}");
    });
    assert!(n_files > 50);
}

#[test]
fn threads_are_the_ios_that_a_job_has_in_flight() {
    for (engine, threads, no_map) in
        [("psync", 2, 0), ("mmap", 2, 0), ("io_uring", 64, 0), ("libaio", 64, 1)]
    {
        let text = format!(
            "[j]\nfilename=/mnt/a/f\nsize=1g\nrw=randread\nbs=4k\niodepth=32\nnumjobs=2\n\
             ioengine={engine}\nnorandommap={no_map}\ntime_based\nruntime=5\n"
        );
        let read = fio::parse_text("t", &text, &Wishes::default(), &MapHost::default());
        assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
        let written = vdbench::write(&read.plan);
        assert!(written.text.contains(&format!(",threads={threads},")), "{}", written.text);
        let told = written.losses.iter().any(|loss| loss.starts_with("every random block once"));
        assert_eq!(told, no_map == 0, "{:?}", written.losses);
    }
}

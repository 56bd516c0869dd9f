//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use plan::{Direction, Job, job_field, job_fields};

use crate::Likeness;
use crate::fio::output::log::histogram_line;
use crate::fio::output::{EtaStatus, JobState, eta_line};
use crate::translation::{Translation, Values};

fn bins(n_bins: usize) {
    let mut text = String::new();
    _ = histogram_line(&mut text, 0, Direction::Read, 4096, &vec![0; n_bins]).is_ok();
}

fn status(kb_base: u32) {
    let states = [JobState::Done, JobState::Done];
    _ = eta_line(&EtaStatus {
        n_running: 1,
        n_files_open: 0,
        states: &states,
        rate_limits_bytes: None,
        rate_limits_iops: None,
        done_pct: None,
        rate_bytes: plan::PerDir::default(),
        rate_iops: plan::PerDir::default(),
        left_s: None,
        kb_base,
        unit_base: 0,
        last_length: 0,
        columns: None,
    });
}

#[test]
fn a_wrong_call_panics() {
    let values = || Values::of(&Job::default());
    testing::check_wrong_calls(&[
        ("a field without a parameter, answered", "no parameter says `parts`", &|| {
            values().answered(job_fields![load.queue_depth, parts]);
        }),
        ("a field without a parameter, asked about", "no parameter says `parts`", &|| {
            _ = values().is_open(job_field!(parts));
        }),
        ("a field without a parameter, lost", "no parameter says `parts`", &|| {
            Translation::default().lose_fields(job_fields![parts], "it has none");
        }),
        ("a loss without words", "a loss beside [] is not said", &|| {
            Translation::default().lose("");
        }),
        ("more lines than all", "101 % of the lines are known", &|| _ = Likeness::of_pct(101)),
        ("bins of no coarseness", "a histogram log has 57 bins", &|| bins(57)),
        ("no bins", "a histogram log has 0 bins", &|| bins(0)),
        ("a k of neither 1000 nor 1024", "a k of 1", &|| status(1)),
    ]);
    bins(29);
    status(1000);
    values().answered(job_fields![load.queue_depth]);
}

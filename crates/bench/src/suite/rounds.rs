//! Rounds until steady: SNIA's two tests on what is watched.

use analysis::steady::{Steadiness, SteadyRule, assess};
use record::SuiteRoundsRecord;

use super::Rounds;

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Another round.
    GoOn,
    /// Steady since this round, from 0.
    Steady(u32),
    /// As many rounds as there may be, and not steady.
    GiveUp,
}

/// Judges the rounds so far by the I/Os per second of the step that is watched.
pub fn judge(rounds: &Rounds, iops: &[f64]) -> Verdict {
    let rule = SteadyRule { n_rounds: rounds.window as usize, ..SteadyRule::default() };
    match assess(&[iops], &rule) {
        Steadiness::Steady { from_round, .. } => Verdict::Steady(from_round as u32),
        _ if iops.len() >= rounds.n_max as usize => Verdict::GiveUp,
        Steadiness::NotSteady { .. } | Steadiness::NotAssessed { .. } => Verdict::GoOn,
    }
}

/// Returns the rounds for the record.
pub fn recorded(rounds: &Rounds, iops: &[f64]) -> SuiteRoundsRecord {
    SuiteRoundsRecord {
        tracked: rounds.tracked.clone(),
        iops: iops.to_vec(),
        steady_from: match judge(rounds, iops) {
            Verdict::Steady(from) => Some(from),
            Verdict::GoOn | Verdict::GiveUp => None,
        },
        window: rounds.window,
    }
}

//! Did operations fail?

use crate::gate::{Gate, GateName};

/// What errors are judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorInputs {
    /// Operations completed.
    pub n_ios: u64,
    /// Operations that failed.
    pub n_errors: u64,
    /// Share of failed operations that is accepted; 0 unless the user says so.
    pub share_max: f64,
}

/// Judges whether operations failed. A failed operation is never a latency sample, so a volume that
/// fails fast looks fast.
///
/// # Panics
/// If what is accepted is no share.
pub fn errors(inputs: &ErrorInputs) -> Gate {
    let accepted = inputs.share_max;
    assert!((0.0..=1.0).contains(&accepted), "{accepted} of the operations may fail");
    let name = GateName::Errors;
    let n_all = inputs.n_ios.saturating_add(inputs.n_errors);
    if n_all == 0 {
        return Gate::unknown(name, "no operation was completed");
    }
    let share = inputs.n_errors as f64 / n_all as f64;
    let is_kept = share <= inputs.share_max && inputs.n_ios > 0;
    let reason = match inputs.n_errors {
        0 => "no operation failed".to_owned(),
        n => format!("{n} of {n_all} operations failed"),
    };
    let figures = [("error_share", share), ("n_errors", inputs.n_errors as f64)];
    Gate::judged(name, is_kept, reason).with(&figures)
}

//! One load from several hosts: what each of them did.

use serde::{Deserialize, Serialize};

use super::Record;

/// What one host of several did.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct HostShareRecord {
    /// Its name as the user wrote it.
    pub name: String,
    /// What its clock read more than the controller's, nanoseconds, when they were last compared.
    pub clock_offset_ns: i64,
    /// How far that may be off, nanoseconds, either way.
    pub clock_error_ns: u64,
    /// Longest time in which nothing came from it although something was due, nanoseconds; 0 where
    /// it was never suspected to be gone.
    #[serde(default)]
    pub silence_ns_max: u64,
    /// How its steps began, one entry for each that did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<StartRecord>,
    /// From when on nothing came from it any more; `None` where it ended as it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LossRecord>,
    /// Its own record; what came of it, where it was lost.
    pub record: Record,
}

/// When the workers of a step began on a host, beside the moment that all hosts were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StartRecord {
    /// Step, from 0.
    pub step_idx: u32,
    /// How much later its first worker began, nanoseconds; negative where it began too early.
    pub start_error_ns: i64,
}

/// A host that was lost.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LossRecord {
    /// End of the last interval that came from it, milliseconds after the start of the run.
    pub since_ms: u64,
    /// What happened, in words.
    pub reason: String,
}

impl HostShareRecord {
    /// Says until when it was there: after how much of what was measured. What came before the
    /// start, such as the wait for the other hosts, is no part of that. None where it was not lost.
    pub fn lost_words(&self) -> Option<String> {
        self.lost.as_ref()?;
        let lengths = self.record.intervals.iter().map(|interval| interval.length_ms);
        Some(match lengths.fold(0, u64::saturating_add) {
            0 => "before anything of it was measured".to_owned(),
            measured_ms => format!("after {:.1} s", measured_ms as f64 / 1000.0),
        })
    }
}

impl Record {
    /// Returns which hosts were lost, when and why; empty where none was.
    pub fn losses_text(&self) -> String {
        let lost = self.hosts.iter().filter_map(|host| {
            let (LossRecord { reason, .. }, when) = (host.lost.as_ref()?, host.lost_words()?);
            Some(format!("`{}` was lost {when}: {reason}", host.name))
        });
        lost.collect::<Vec<_>>().join("; ")
    }
}

//! A record on its way from an agent: what is new since the frame before, and how it is added up.

use std::collections::BTreeMap;

use hist::{DecodeError, Histogram};
use record::{Interval, JobRecord, Record};
use serde::{Deserialize, Serialize};

use crate::wire::{Frame, HistogramDelta};

/// What a frame says beside its histograms.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    /// The record without jobs and intervals.
    head: Record,
    /// Jobs there are.
    n_jobs: usize,
    /// Those that changed, without their histograms, with their positions.
    jobs: Vec<(usize, JobRecord)>,
    /// How many of the intervals sent before still stand.
    n_intervals_kept: usize,
    /// Those behind them.
    intervals: Vec<Interval>,
}

/// The name of a histogram within a record: the position of its job, and the job's name for it.
fn key_of(job_idx: usize, name: &str) -> String {
    format!("{job_idx}/{name}")
}

/// Makes frames of a record that grows: the agent's side.
#[derive(Debug, Default)]
pub struct FrameMaker {
    next_seq: u64,
    jobs: Vec<JobRecord>,
    histograms: BTreeMap<String, Histogram>,
    intervals: Vec<Interval>,
}

impl FrameMaker {
    /// Returns what is new in `record` since the call before.
    pub fn frame(&mut self, mut record: Record) -> Frame {
        let mut histograms = Vec::new();
        let mut jobs = std::mem::take(&mut record.jobs);
        for (idx, job) in jobs.iter_mut().enumerate() {
            job.each_histogram(&mut |name, of| {
                let now = std::mem::take(of);
                if let Some(delta) = self.delta(key_of(idx, name), now) {
                    histograms.push(delta);
                }
            });
        }
        let is_new = |(idx, job): &(usize, &JobRecord)| self.jobs.get(*idx) != Some(*job);
        let changed = jobs.iter().enumerate().filter(is_new);
        let changed = changed.map(|(idx, job)| (idx, job.clone())).collect();
        let intervals = std::mem::take(&mut record.intervals);
        let mut n_kept = intervals.len().min(self.intervals.len());
        while n_kept > 0 && intervals[n_kept - 1] != self.intervals[n_kept - 1] {
            n_kept -= 1;
        }
        let facts = Facts {
            head: record,
            n_jobs: jobs.len(),
            jobs: changed,
            n_intervals_kept: n_kept,
            intervals: intervals[n_kept..].to_vec(),
        };
        self.jobs = jobs;
        self.intervals = intervals;
        let seq = self.next_seq;
        self.next_seq += 1;
        let facts_json = serde_json::to_vec(&facts)
            .expect("every map key is a number or text, and writing to memory does not fail");
        Frame { seq, facts_json, histograms }
    }

    /// Returns the number of frames so far.
    pub fn n_frames(&self) -> u64 {
        self.next_seq
    }

    /// Returns what is new in a histogram; `None` where nothing is.
    fn delta(&mut self, key: String, now: Histogram) -> Option<HistogramDelta> {
        let before = self.histograms.entry(key.clone()).or_default();
        if *before == now {
            return None;
        }
        let added = now.delta_since(before);
        before.merge(&added);
        // It counts less than before: a record was taken while a worker counted on.
        let is_whole = *before != now;
        let values = if is_whole { now.encode() } else { added.encode() };
        *before = now;
        Some(HistogramDelta { key, values, is_whole })
    }
}

/// Why a frame cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// Frames before it are missing.
    #[error("frame {found} came where frame {wanted} was due")]
    Gap {
        /// The frame that is due.
        wanted: u64,
        /// The one that came.
        found: u64,
    },
    /// Its facts are not those of a record.
    #[error("frame {seq} has no record in it: {source}")]
    Facts {
        /// The frame.
        seq: u64,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A histogram is damaged.
    #[error("frame {seq}: histogram `{key}`: {source}")]
    Histogram {
        /// The frame.
        seq: u64,
        /// The histogram.
        key: String,
        /// What is wrong.
        source: DecodeError,
    },
    /// Numbers in it contradict each other.
    #[error("frame {seq} contradicts itself: {what}")]
    Inconsistent {
        /// The frame.
        seq: u64,
        /// What does not fit.
        what: &'static str,
    },
}

/// Adds frames up to a record again: the controller's side.
#[derive(Debug, Default)]
pub struct FrameSum {
    next_seq: u64,
    record: Record,
    histograms: BTreeMap<String, Histogram>,
}

impl FrameSum {
    /// Adds a frame. One that was added before changes nothing, and false is returned.
    ///
    /// # Errors
    /// Where it does not follow on the one before, or is damaged: then nothing has changed.
    pub fn add(&mut self, frame: &Frame) -> Result<bool, FrameError> {
        let seq = frame.seq;
        if seq < self.next_seq {
            return Ok(false);
        }
        if seq > self.next_seq {
            return Err(FrameError::Gap { wanted: self.next_seq, found: seq });
        }
        let facts: Facts = serde_json::from_slice(&frame.facts_json)
            .map_err(|source| FrameError::Facts { seq, source })?;
        self.check(&facts).map_err(|what| FrameError::Inconsistent { seq, what })?;
        let mut decoded = Vec::with_capacity(frame.histograms.len());
        for HistogramDelta { key, values, is_whole } in &frame.histograms {
            let of = Histogram::decode(values).map_err(|source| FrameError::Histogram {
                seq,
                key: key.clone(),
                source,
            })?;
            decoded.push((key, of, *is_whole));
        }
        for (key, of, is_whole) in decoded {
            let known = self.histograms.entry(key.clone()).or_default();
            if is_whole {
                *known = of;
            } else {
                known.merge(&of);
            }
        }
        let Facts { head, n_jobs, jobs, n_intervals_kept, intervals } = facts;
        let known = std::mem::replace(&mut self.record, head);
        self.record.jobs = known.jobs;
        self.record.jobs.resize_with(n_jobs, JobRecord::default);
        for (idx, job) in jobs {
            self.record.jobs[idx] = job;
        }
        self.record.intervals = known.intervals;
        self.record.intervals.truncate(n_intervals_kept);
        self.record.intervals.extend(intervals);
        self.next_seq = seq + 1;
        Ok(true)
    }

    /// Checks that the facts fit to what is known.
    fn check(&self, facts: &Facts) -> Result<(), &'static str> {
        if facts.n_jobs > JOBS_MAX {
            return Err("more jobs than a run can have");
        }
        if facts.jobs.iter().any(|(idx, _)| *idx >= facts.n_jobs) {
            return Err("a job behind the last one");
        }
        let n_new = facts.n_jobs.saturating_sub(self.record.jobs.len());
        if facts.jobs.iter().filter(|(idx, _)| *idx >= self.record.jobs.len()).count() < n_new {
            return Err("a job that never came");
        }
        if facts.n_intervals_kept > self.record.intervals.len() {
            return Err("intervals that never came");
        }
        Ok(())
    }

    /// Returns the number of the frame that is due.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Returns the intervals so far.
    pub fn intervals(&self) -> &[Interval] {
        &self.record.intervals
    }

    /// Returns the record as it stands.
    pub fn record(&self) -> Record {
        let mut record = self.record.clone();
        for (idx, job) in record.jobs.iter_mut().enumerate() {
            job.each_histogram(&mut |name, of| {
                if let Some(known) = self.histograms.get(&key_of(idx, name)) {
                    of.clone_from(known);
                }
            });
        }
        record
    }
}

/// Most jobs of a record: more than one host has workers.
const JOBS_MAX: usize = 1 << 20;

//! `dedup..=` parameters, general or of one storage definition.

use super::findings::{Findings, SourceRange};
use super::known::Dedup;
use super::params::Param;
use super::run::SetCount;
use super::scan::Scan;
use plan::verify::FlipFlop;

/// Reads one value, and says whether it is allowed.
type Read = fn(&mut Dedup, &Param, &mut Findings) -> bool;

impl Dedup {
    /// Reads the value of a parameter.
    pub(super) fn put(&mut self, read: Read, param: &Param, scan: &mut Scan<'_>) {
        self.is_on = true;
        self.place.get_or_insert(param.key_place);
        if !read(self, param, &mut scan.findings) {
            let message = format!("`{}=` is not allowed here, or not with this value", param.key);
            let help = "dedupratio is at least 1; dedupsets and deduphotsets have no zeros; \
                        dedupunit is a general parameter";
            scan.findings.error_help(param.place, "wrong-value", message, help);
        }
    }

    pub(super) fn ratio(&mut self, param: &Param, findings: &mut Findings) -> bool {
        self.ratio = param.number(findings);
        self.ratio.is_none_or(|ratio| ratio >= 1.0)
    }

    pub(super) fn unit(&mut self, param: &Param, findings: &mut Findings) -> bool {
        self.unit_bytes = param.int(findings).unwrap_or_default().max(0) as u64;
        true
    }

    pub(super) fn n_sets(&mut self, param: &Param, _: &mut Findings) -> bool {
        match param.values.numbers.as_slice() {
            [0.0] => return false,
            [sets] if *sets < 0.0 => self.sets = Some(SetCount::Pct((-sets).min(100.0))),
            [sets] => self.sets = Some(SetCount::Count(*sets as u64)),
            _ => {}
        }
        true
    }

    pub(super) fn hot_sets(&mut self, param: &Param, _: &mut Findings) -> bool {
        let numbers = &param.values.numbers;
        let pairs = numbers.chunks_exact(2).map(|pair| (pair[0] as u32, pair[1] as u32));
        self.hot_sets = pairs.collect();
        numbers.len().is_multiple_of(2) && numbers.iter().all(|number| *number >= 1.0)
    }

    pub(super) fn flip_flop(&mut self, param: &Param, findings: &mut Findings) -> bool {
        let Some(word) = param.word(findings) else { return true };
        self.flip_flop = match word {
            word if word.starts_with("hot") => Some(FlipFlop::Hot),
            word if word.starts_with('y') => Some(FlipFlop::All),
            word if word.starts_with('n') => Some(FlipFlop::None),
            _ => None,
        };
        self.flip_flop.is_some()
    }

    /// Reads what changes nothing here.
    pub(super) fn nothing(_: &mut Self, _: &Param, _: &mut Findings) -> bool {
        true
    }

    /// Reads what is no parameter, or none here.
    pub(super) fn unknown(_: &mut Self, _: &Param, _: &mut Findings) -> bool {
        false
    }

    /// Checks what is asked for, once it is complete, with the general size of blocks.
    pub(super) fn check(&self, unit_bytes: u64, findings: &mut Findings) {
        if !self.is_on {
            return;
        }
        let message = if unit_bytes == 0 {
            "requesting dedup without specifying dedupunit=nnn"
        } else if !unit_bytes.is_multiple_of(512) {
            "dedupunit= value must be a multiple of 512"
        } else if self.ratio.is_none() {
            "dedupratio= parameter is required"
        } else {
            return;
        };
        let place = self.place.unwrap_or(SourceRange::NONE);
        let help = "write such as `dedupratio=2,dedupunit=4k`";
        findings.error_help(place, "incomplete-dedup", message, help);
    }
}

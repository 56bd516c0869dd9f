//! What a suite says, in words: the same on the terminal, in Markdown and on a page.
//!
//! A sentence begins small and has no full stop.

use units::{format_iops, format_latency_ns, format_mib_s, format_percent_exact};

use crate::{
    ConditionUnit, Figures, NeedConditionRecord, NeedRecord, NeedVerdict, PublishedRecord,
    PublishedUnit, SuiteFigureRecord, SuiteRecord, SuiteRowRecord, SuiteSourceRecord,
};

/// Measurements from which on their median has an interval of 95 %.
const N_FOR_INTERVAL: u32 = 6;

impl SuiteRecord {
    /// Returns the verdict of a row: what is valid in a suite that is too short for more is
    /// indicative.
    pub fn verdict_of<'a>(&self, row: &'a SuiteRowRecord) -> &'a str {
        if self.indicative && row.is_fine() { "indicative" } else { &row.verdict }
    }

    /// Returns how it was run, sentence by sentence: in what it differs from the suite as it is
    /// written, how often it was measured, and whether it became steady.
    pub fn run_words(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(scale) = self.scale {
            // 0.05 % is no 0.1 %.
            let share = format_percent_exact(scale, 5);
            sentences.push(format!(
                "shortened to {share} of its sizes and times: compare with runs of the same \
                 scale only"
            ));
        }
        if !self.changed.is_empty() {
            let set = self.changed.iter().map(|(name, value)| format!("{name}={value}"));
            sentences.push(format!("changed: {}", set.collect::<Vec<_>>().join(", ")));
        }
        if self.n_repeats > 1 {
            let is_few = self.n_repeats < N_FOR_INTERVAL;
            let few = if is_few { "; six make an interval of 95 %" } else { "" };
            let n = self.n_repeats;
            sentences.push(format!("medians of {n} measurements, in mixed order{few}"));
        }
        if let Some(rounds) = &self.rounds {
            let (n, tracked) = (rounds.iops.len(), &rounds.tracked);
            sentences.push(match rounds.steady_from {
                Some(from) => {
                    format!("steady from round {} on, of {n}, by `{tracked}`", u64::from(from) + 1)
                }
                None => format!("not steady after {n} rounds, by `{tracked}`"),
            });
        }
        sentences
    }
}

impl SuiteRowRecord {
    /// Returns whether nothing is known against it.
    pub fn is_fine(&self) -> bool {
        matches!(self.verdict.as_str(), "valid" | "not assessed")
    }

    /// Returns the medians of its figures.
    pub fn medians(&self) -> Figures {
        medians(&self.figures)
    }

    /// Returns the latencies of what made writes durable; none where nothing did.
    pub fn sync_figures(&self) -> Option<Figures> {
        (!self.sync.is_empty()).then(|| medians(&self.sync))
    }
}

fn medians(of: &Figures<SuiteFigureRecord>) -> Figures {
    Figures::each(|figure| of.get(figure).map(|it| it.median))
}

impl NeedRecord {
    /// Returns what was asked, and the answer: `need p99 < 2ms: met`.
    pub fn headline(&self) -> String {
        let NeedRecord { need, label, source, .. } = self;
        let verdict = self.verdict.words();
        if source.is_empty() {
            format!("need {need}: {verdict}")
        } else {
            format!("published target {need} of {label}: {verdict}")
        }
    }

    /// Returns what the answer rests on, sentence by sentence: each condition with what was
    /// measured, why, and how often it was measured.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> =
            self.conditions.iter().map(NeedConditionRecord::words).collect();
        match (self.reason.as_str(), self.verdict) {
            ("", _) => {}
            (reason, NeedVerdict::Met) => sentences.push(reason.to_owned()),
            (reason, NeedVerdict::NotMet | NeedVerdict::CannotTell) => {
                sentences.push(format!("because {reason}"));
            }
        }
        sentences.push(self.measured_words());
        sentences
    }

    /// Says of how many measurements the answer is, how many of them broke a condition, and which
    /// of them is shown: the row of a suite has medians of all.
    pub fn measured_words(&self) -> String {
        let NeedRecord { n_measured, n_failed, .. } = self;
        let shown = match self.verdict {
            NeedVerdict::Met | NeedVerdict::NotMet => "the one that decided is shown",
            NeedVerdict::CannotTell => "the last is shown",
        };
        match (n_measured, n_failed) {
            (0, _) => "not measured".to_owned(),
            (1, 0) => "measured once".to_owned(),
            (1, _) => "measured once, which broke a condition".to_owned(),
            (n, 0) => format!("measured {n} times; {shown}"),
            (n, n_failed) => {
                format!("measured {n} times, {n_failed} of them broke a condition; {shown}")
            }
        }
    }
}

impl NeedConditionRecord {
    /// Returns what must hold, what was measured, and whether it holds.
    fn words(&self) -> String {
        let shown = self.shown().unwrap_or("nothing".to_owned());
        format!("{}: {shown}, {}", self.condition, self.kept_words())
    }

    /// Returns what was measured with its unit; none where nothing was.
    pub fn shown(&self) -> Option<String> {
        let value = self.value?;
        Some(match self.unit {
            ConditionUnit::Nanoseconds => format_latency_ns(value.round() as u64),
            ConditionUnit::BytesPerS => format!("{:.1} MB/s", value / 1e6),
            ConditionUnit::Iops => format!("{} IOPS", format_iops(value)),
        })
    }

    /// Returns whether it holds, in words.
    pub fn kept_words(&self) -> &'static str {
        let is_rate = self.unit != ConditionUnit::Nanoseconds;
        let share = self.value.filter(|_| is_rate).map(|value| value / self.bound);
        let is_near = share.is_some_and(|share| share < 1.0);
        // The rule of random arrivals allows for less where few of them were due.
        let is_few = share.is_some_and(|share| share < 0.95);
        match self.is_kept {
            Some(true) if is_few => {
                "kept: so few random arrivals are within three standard deviations"
            }
            Some(true) if is_near => "kept: at least 95 % of it",
            Some(true) => "kept",
            Some(false) => "broken",
            None => "cannot tell",
        }
    }
}

impl PublishedRecord {
    /// Returns what was published, with its unit.
    pub fn published_words(&self) -> String {
        format!("{}{}", if self.above { "more than " } else { "" }, self.shown(self.value))
    }

    /// Returns the same figure as it was measured here; `-` where it was not.
    pub fn here_words(&self) -> String {
        self.here.map_or("-".to_owned(), |here| self.shown(here))
    }

    fn shown(&self, value: f64) -> String {
        let number = match self.unit {
            PublishedUnit::Iops => format_iops(value),
            // A number of its own megabytes, with as many digits as one of ours.
            PublishedUnit::MibPerS | PublishedUnit::MbPerS => {
                format_mib_s(value * f64::from(1 << 20))
            }
        };
        format!("{number} {}", self.unit.words())
    }
}

impl SuiteSourceRecord {
    /// Returns what is known of the document: title, date, part, address.
    pub fn words(&self) -> String {
        let parts = [&self.document, &self.date, &self.section, &self.url];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SuiteRoundsRecord;

    #[test]
    fn a_suite_says_how_it_was_run() {
        let mut suite = SuiteRecord { n_repeats: 1, ..SuiteRecord::default() };
        assert_eq!(suite.run_words(), [""; 0]);
        suite.scale = Some(0.0005);
        suite.changed = vec![("bs".to_owned(), "8k".to_owned()), ("a".to_owned(), "1".to_owned())];
        suite.n_repeats = 5;
        let rounds = SuiteRoundsRecord {
            tracked: "write 4k".to_owned(),
            iops: vec![1.0; 7],
            steady_from: Some(2),
            window: 5,
        };
        suite.rounds = Some(rounds);
        let expected = [
            "shortened to 0.05 % of its sizes and times: compare with runs of the same scale only",
            "changed: bs=8k, a=1",
            "medians of 5 measurements, in mixed order; six make an interval of 95 %",
            "steady from round 3 on, of 7, by `write 4k`",
        ];
        assert_eq!(suite.run_words(), expected);
    }

    #[test]
    fn a_need_says_what_it_rests_on() {
        let condition = NeedConditionRecord {
            condition: "p99 < 2ms".to_owned(),
            unit: ConditionUnit::Nanoseconds,
            bound: 2e6,
            value: Some(3e6),
            is_kept: Some(false),
        };
        let mut need = NeedRecord {
            need: "1000 IOPS with p99 < 2ms".to_owned(),
            label: "reads".to_owned(),
            verdict: NeedVerdict::NotMet,
            conditions: vec![condition],
            figures: Figures::default(),
            reason: "it broke twice".to_owned(),
            n_measured: 2,
            n_failed: 2,
            source: String::new(),
        };
        assert_eq!(need.headline(), "need 1000 IOPS with p99 < 2ms: not met");
        let rests_on = [
            "p99 < 2ms: 3.00 ms, broken",
            "because it broke twice",
            "measured 2 times, 2 of them broke a condition; the one that decided is shown",
        ];
        assert_eq!(need.sentences(), rests_on);
        need.source = "etcd".to_owned();
        let target = "published target 1000 IOPS with p99 < 2ms of reads: not met";
        assert_eq!(need.headline(), target);
    }

    #[test]
    fn published_figures_are_in_their_own_unit() {
        let published = |value, unit, here| PublishedRecord {
            label: String::new(),
            unit,
            value,
            above: true,
            here,
            on: String::new(),
            source: String::new(),
        };
        let of_rate = published(25_000.0, PublishedUnit::Iops, None);
        assert_eq!(
            (of_rate.published_words(), of_rate.here_words()),
            ("more than 25.0 k IOPS".to_owned(), "-".to_owned())
        );
        let of_bytes = published(256.0, PublishedUnit::MbPerS, Some(1.5));
        assert_eq!(
            (of_bytes.published_words(), of_bytes.here_words()),
            ("more than 256 MB/s".to_owned(), "1.50 MB/s".to_owned())
        );
    }
}

//! Questions and their defaults, and the file to be filled in by hand.

use ::needs::{
    Amount, Figure, Growth, NeedLoad, NeedPhase, NeedVolume, Needs, PEAK_FACTOR, PhaseName,
    VolumeUse,
};

use crate::summary::wrap;

/// A file with every key that a person may write.
pub(super) const TEMPLATE: &str = include_str!("template.toml");

/// Asks until the last question is answered; none if an answer is not given.
///
/// `ask` shows a text and returns the line that was typed; nothing is the default.
pub(super) fn interview(ask: &mut dyn FnMut(&str) -> Option<String>) -> Option<Needs> {
    let mut needs = Needs {
        name: words(ask, "Which application are these needs for?", "application", "any name")?,
        ..Needs::default()
    };
    let mut phase = NeedPhase { name: PhaseName::Normal, ..NeedPhase::default() };
    loop {
        let (volume, load) = volume(ask, needs.volumes.len(), &needs.volumes)?;
        needs.volumes.push(volume);
        phase.volumes.push(load);
        let why = "yes, if logs or other data have their own volume";
        if !yes_or_no(ask, "Another volume?", "no", why)? {
            break;
        }
    }
    needs.phases.push(phase);
    let why = "a peak is at least twice the normal load; 1 if your figures are the peak";
    let peak = number(ask, "Peak, times the normal load?", Some(PEAK_FACTOR), 1.0..=100.0, why)?;
    needs.peak_factor = peak;
    let why = "1 is no growth, 1.5 is half as much again; of capacity and of load";
    let growth = number(ask, "Growth, as a factor?", Some(1.0), 0.01..=100.0, why)?;
    needs.growth = growth.map(|factor| Growth { capacity: factor, load: factor });
    let why = "empty: any number of processors";
    let any = 0.0..=1e6;
    needs.machine.cpus = number(ask, "Processors?", None, any.clone(), why)?.map(Amount::by_hand);
    let why = "empty: any amount of memory";
    needs.machine.memory_gib = number(ask, "Memory, GiB?", None, any, why)?.map(Amount::by_hand);
    Some(needs)
}

/// Asks for a volume and what it is asked for.
fn volume(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    n_before: usize,
    before: &[NeedVolume],
) -> Option<(NeedVolume, NeedLoad)> {
    let usual = VolumeUse::ALL.get(n_before).copied().unwrap_or_default();
    let why = "as your system calls it";
    let name = until(ask, "Name of the volume?", usual.word(), why, |name| {
        if before.iter().any(|known| known.name == name) {
            return Err(format!("`{name}` exists already"));
        }
        Ok(name.to_owned())
    })?;
    let why = "data, log or temp: its use decides about caches";
    let lower = name.to_lowercase();
    let of_name = VolumeUse::ALL.into_iter().find(|usage| lower.contains(usage.word()));
    let usage = until(ask, "Use?", of_name.unwrap_or(usual).word(), why, |word| {
        let known = VolumeUse::ALL.into_iter().find(|usage| usage.word() == word);
        known.ok_or_else(|| format!("`{word}`: write data, log or temp"))
    })?;
    let any = 0.001..=1e9;
    let why = "what it must hold; empty: not known, and any disk is large enough";
    let capacity = number(ask, "Capacity, GiB?", None, any.clone(), why)?;
    let why = "I/Os per second at normal load; empty: not known, then throughput is asked for";
    let iops = number(ask, "IOPS?", None, any.clone(), why)?;
    let why = "8 is usual for transactions, 1024 for reports; empty: computed from both rates";
    let size = number(ask, "I/O size, KiB?", None, any.clone(), why)?;
    let throughput = match (iops, size) {
        (Some(_), Some(_)) => None,
        (Some(_), None) => Some(needed(ask, any.clone(), "since the I/O size is not known")?),
        (None, Some(_) | None) => Some(needed(ask, any.clone(), "since IOPS are not known")?),
    };
    let why = "of all I/Os; 70 is a guess that suits many databases; empty: not known";
    let read = number(ask, "Reads, percent?", None, 0.0..=100.0, why)?;
    let why = "100 is the safer side where you do not know";
    let random = number(ask, "Random, percent?", Some(100.0), 0.0..=100.0, why)?;
    let why = "the longest that is acceptable; empty: no limit";
    let latency = number(ask, "Latency, ms?", None, any, why)?;
    let volume = NeedVolume {
        name: name.clone(),
        usage: Some(usage),
        capacity_gib: capacity.map(Amount::by_hand),
        latency_ms_max: latency.map(Amount::by_hand),
        ..NeedVolume::default()
    };
    let load = NeedLoad {
        name,
        iops: iops.map(Figure::by_hand),
        throughput_mb_s: throughput.map(Figure::by_hand),
        io_size_kib: size.map(Figure::by_hand),
        read_percent: read.map(Figure::by_hand),
        random_percent: random.map(Figure::by_hand),
        ..NeedLoad::default()
    };
    Some((volume, load))
}

/// Columns of a question: on a terminal of 80 there is room for an answer behind it.
const COLUMNS: usize = 64;

/// Asks until an answer is understood, each time with the default, the reason for it, and what was
/// wrong with the answer before; none if there are no more answers.
fn until<T>(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    question: &str,
    usual: &str,
    why: &str,
    understand: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    // The default stays with the last words.
    let asked = wrap(&format!("{question} ({why})"), 2, COLUMNS);
    let asked = match usual {
        "" => format!("{} ", asked.trim_end()),
        usual => format!("{} [{usual}] ", asked.trim_end()),
    };
    let mut complaint = String::new();
    loop {
        let line = ask(&format!("{complaint}{asked}"))?;
        match understand(if line.is_empty() { usual } else { &line }) {
            Ok(answer) => return Some(answer),
            Err(why) => complaint = wrap(&format!("  {why}"), 4, COLUMNS),
        }
    }
}

fn words(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    question: &str,
    usual: &str,
    why: &str,
) -> Option<String> {
    until(ask, question, usual, why, |answer| Ok(answer.to_owned()))
}

/// What stands for an answer that is not known.
const NOT_KNOWN: &str = "not known";

/// Asks for a number: of the answers an inner none is that it is not known, an outer one that there
/// are no more answers.
#[expect(clippy::option_option, reason = "so that the end of the answers is handed on by `?`")]
fn number(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    question: &str,
    usual: Option<f64>,
    range: std::ops::RangeInclusive<f64>,
    why: &str,
) -> Option<Option<f64>> {
    let shown = usual.map_or(NOT_KNOWN.to_owned(), ::needs::number);
    until(ask, question, &shown, why, |answer| {
        if answer == NOT_KNOWN && usual.is_none() {
            return Ok(None);
        }
        value(answer, &range).map(Some)
    })
}

/// Reads a number.
fn value(answer: &str, range: &std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let digits = answer.trim_end_matches('%').trim();
    let value = digits.parse::<f64>().ok().filter(|value| range.contains(value));
    let (least, most) = (::needs::number(*range.start()), ::needs::number(*range.end()));
    value.ok_or_else(|| format!("`{answer}`: write a number from {least} to {most}"))
}

/// Asks for the throughput, which a volume cannot do without for this reason.
fn needed(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    range: std::ops::RangeInclusive<f64>,
    reason: &str,
) -> Option<f64> {
    let why = format!("10^6 bytes per second at normal load; needed, {reason}");
    until(ask, "Throughput, MB/s?", "", &why, |answer| value(answer, &range))
}

/// Asks what is yes or no.
fn yes_or_no(
    ask: &mut dyn FnMut(&str) -> Option<String>,
    question: &str,
    usual: &str,
    why: &str,
) -> Option<bool> {
    until(ask, question, usual, why, |answer| match answer.to_lowercase().as_str() {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err(format!("`{answer}`: write yes or no")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers questions in order; each answer stands behind the words that its question begins
    /// with.
    fn answered(answers: &[(&str, &str)]) -> Option<Needs> {
        let mut left = answers.iter();
        let needs = interview(&mut |question| {
            let (start, answer) = left.next()?;
            assert!(question.trim_start().starts_with(start), "{question} instead of {start}");
            Some((*answer).to_owned())
        });
        assert_eq!(left.next(), None, "every answer was asked for");
        needs
    }

    #[test]
    fn answers_become_a_file_that_reads_again() {
        let needs = answered(&[
            ("Which", "shop"),
            ("Name", ""),
            ("Use", ""),
            ("Capacity", "500"),
            ("IOPS", "many"),
            ("`many`: write a number", "4000"),
            ("I/O size", "8"),
            ("Reads", "70%"),
            ("Random", ""),
            ("Latency", "5"),
            ("Another", "maybe"),
            ("`maybe`: write yes or no", "yes"),
            ("Name", "data"),
            ("`data` exists", ""),
            ("Use", "swap"),
            ("`swap`: write data, log or temp", ""),
            ("Capacity", ""),
            ("IOPS", ""),
            ("I/O size", "64"),
            ("Throughput", ""),
            ("``: write a number", "20"),
            ("Reads", "0"),
            ("Random", "0"),
            ("Latency", ""),
            ("Another", ""),
            ("Peak", "3"),
            ("Growth", "1.5"),
            ("Processors", "16"),
            ("Memory", ""),
        ]);
        let needs = needs.expect("all is answered");
        let (again, findings) = ::needs::parse(&needs.to_toml());
        assert_eq!(again.as_ref(), Some(&needs), "{findings:?}");
        let [data, log] = &needs.volumes[..] else { panic!("{needs:?}") };
        assert_eq!((data.name.as_str(), log.name.as_str()), ("data", "log"));
        assert_eq!(log.usage, Some(VolumeUse::Log));
        let load = needs.phases[0].load("log").expect("a load");
        assert_eq!((&load.iops, &load.read_percent), (&None, &Some(Figure::by_hand(0.0))));
        assert_eq!((needs.peak_factor, needs.machine.memory_gib), (Some(3.0), None));
    }

    /// A volume that is called after its use is for that, wherever it stands; without a size of
    /// I/Os both rates are asked for.
    #[test]
    fn what_is_usual_follows_from_the_answers() {
        let needs = answered(&[
            ("Which", ""),
            ("Name", "redolog1"),
            ("Use", ""),
            ("Capacity", ""),
            ("IOPS", "500"),
            ("I/O size", ""),
            ("Throughput", "4"),
            ("Reads", ""),
            ("Random", ""),
            ("Latency", ""),
            ("Another", "N"),
            ("Peak", ""),
            ("Growth", ""),
            ("Processors", ""),
            ("Memory", ""),
        ]);
        let needs = needs.expect("all is answered");
        assert_eq!(needs.volumes[0].usage, Some(VolumeUse::Log));
        let load = needs.phases[0].load("redolog1").expect("a load");
        assert_eq!(load.throughput_mb_s, Some(Figure::by_hand(4.0)));
    }

    #[test]
    fn nothing_is_written_of_half_an_interview() {
        assert_eq!(answered(&[("Which", "shop"), ("Name", "data")]), None);
    }

    #[test]
    fn the_template_is_a_file_of_needs() {
        let (needs, findings) = ::needs::parse(TEMPLATE);
        assert!(needs.is_some() && findings.is_empty(), "{findings:?}");
    }
}

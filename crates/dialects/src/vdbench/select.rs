//! Run definitions completed: overrides, checks of times, clones for storage definitions.

use super::findings::{Findings, SourceRange};
use super::loops::{Loop, LoopKind};
use super::options::Options;
use super::rd::{NO_ELAPSED_S, RdEntry};
use super::sd::SdEntry;
use super::sections::Sections;
use super::values::MAX_RATE;

/// Longest that rates may vary, seconds.
const VARIABLE_MAX_S: f64 = 3600.0;

/// Returns the run definitions with what the command line changes, clones among them.
pub(super) fn run_definitions(
    sections: &Sections,
    options: &Options,
    findings: &mut Findings,
) -> Vec<RdEntry> {
    let known = &sections.known;
    let mut rds = sections.rds.clone();
    for rd in &mut rds {
        if rd.format.is_once && rd.loops.is_empty() {
            let message = format!("rd={}: 'format=once' can only be used with loops", rd.head.name);
            let help = "write `format=yes`";
            findings.error_help(rd.head.place, "wrong-format", message, help);
        }
        finish_rates(rd, known.is_files, findings);
        override_times(rd, known.is_replay, options);
        check_times(rd, findings);
        if known.is_files && rd.fwdrate == 0.0 {
            let message = format!("no fwdrate= specified for rd={}", rd.head.name);
            let help = "write `fwdrate=max`, or operations per second";
            findings.error_help(rd.head.place, "missing-rate", message, help);
        }
    }
    let rds = repeat_singles(rds, &sections.sds, findings);
    let Some(first) = &options.restart_rd else { return rds };
    let Some(idx) = rds.iter().position(|rd| rd.head.name == *first || rd.rd == *first) else {
        let message = format!("-r: there is no rd={first}");
        let help = "name a run definition of the file";
        findings.error_help(SourceRange::NONE, "unknown-name", message, help);
        return rds;
    };
    rds[idx..].to_vec()
}

fn finish_rates(rd: &mut RdEntry, is_files: bool, findings: &mut Findings) {
    if !rd.is_variable {
        if !rd.rates.is_empty() {
            rd.loops.retain(|other| other.kind != LoopKind::Rate);
            let values = rd.rates.clone();
            rd.loops.push(Loop { kind: LoopKind::Rate, values, place: rd.head.place });
        }
        if !is_files {
            // Wherever it was written: iorate= is the innermost loop. fwdrate= stands where it was
            // written, as any other.
            rd.loops.sort_by_key(|looped| looped.kind == LoopKind::Rate);
        }
        return;
    }
    let seconds: f64 = rd.rates.iter().skip(1).step_by(2).map(|second| second.trunc()).sum();
    let message = if rd.rates.is_empty() {
        "'distribution=variable' needs an iorate= list"
    } else if !rd.rates.len().is_multiple_of(2) {
        "the iorate= list of 'distribution=variable' needs an even number of values"
    } else if seconds > VARIABLE_MAX_S {
        "the iorate= list of 'distribution=variable' covers more than 3600 seconds"
    } else if rd.rates.iter().step_by(2).any(|rate| *rate == MAX_RATE) {
        "'distribution=variable' and 'iorate=max' are mutually exclusive"
    } else {
        rd.iorate = rd.rates.iter().step_by(2).fold(0.0, |max, rate| rate.max(max));
        if is_files {
            let message = "work on file structures has no rate that varies within a run";
            findings.refuse(rd.head.place, "no-variable-rate", message);
        }
        return;
    };
    let message = format!("rd={}: {message}", rd.head.name);
    let help = "write rates and seconds in turn: `iorate=(100,5,500,1)`";
    findings.error_help(rd.head.place, "wrong-rates", message, help);
}

fn override_times(rd: &mut RdEntry, is_replay: bool, options: &Options) {
    let set = |time: &mut i64, seconds: Option<u64>| {
        if let Some(seconds) = seconds.filter(|seconds| *seconds > 0) {
            *time = seconds.min(i64::MAX as u64) as i64;
        }
    };
    if is_replay && rd.elapsed_s == 30 {
        rd.elapsed_s = NO_ELAPSED_S;
    }
    set(&mut rd.elapsed_s, options.elapsed_s);
    set(&mut rd.interval_s, options.interval_s);
    set(&mut rd.warmup_s, options.warmup_s);
    if rd.interval_s == 0 {
        rd.interval_s = (rd.elapsed_s / 2).min(60);
    }
}

fn check_times(rd: &RdEntry, findings: &mut Findings) {
    let (elapsed_s, interval_s, warmup_s) = (rd.elapsed_s, rd.interval_s, rd.warmup_s);
    let message = if interval_s == 0 || elapsed_s.wrapping_div(interval_s) < 2 {
        format!("'elapsed={elapsed_s}' must be at least twice the 'interval={interval_s}' value")
    } else if elapsed_s != NO_ELAPSED_S && elapsed_s % interval_s != 0 {
        format!("'elapsed={elapsed_s}' must be multiple of 'interval={interval_s}'")
    } else if warmup_s % interval_s != 0 {
        format!("'warmup={warmup_s}' must be multiple of 'interval={interval_s}'")
    } else {
        return;
    };
    let message = format!("rd={}: {message}", rd.head.name);
    let help = "elapsed and warmup are multiples of the interval; -e, -i and -w change them";
    findings.error_help(rd.head.place, "wrong-times", message, help);
}

/// Carries `sd=single`, `sd=range` and `sd=setsofN` out: a run definition for each.
fn repeat_singles(rds: Vec<RdEntry>, sds: &[SdEntry], findings: &mut Findings) -> Vec<RdEntry> {
    let names: Vec<String> = sds.iter().map(|sd| sd.head.name.clone()).collect();
    let mut repeated = Vec::with_capacity(rds.len());
    for rd in rds {
        let [word] = rd.sds.as_deref().unwrap_or_default() else {
            repeated.push(rd);
            continue;
        };
        let size = word.strip_prefix("setsof").or((word == "single").then_some("1"));
        if size.is_none() && word != "range" {
            repeated.push(rd);
            continue;
        }
        if names.is_empty() {
            let message =
                format!("rd={}: `sd={word}`, and there is no storage definition", rd.head.name);
            let help = "define one by `sd=NAME,lun=..`, or leave `sd=` out of the run definition";
            findings.error_help(rd.head.place, "unknown-name", message, help);
            continue;
        }
        let Some(size) = size else {
            for end in 1..=names.len() {
                let suffix = format!("{}-{}", names[0], names[end - 1]);
                repeated.push(rd.on_sds(&suffix, &names[..end]));
            }
            continue;
        };
        match size.parse::<usize>() {
            Ok(size) if size > 0 => {
                let shuffled;
                let list = if size == 1 {
                    &names
                } else {
                    shuffled = shuffled_as_java(&names);
                    &shuffled
                };
                repeated.extend(list.chunks(size).map(|sds| rd.on_sds(&sds.join("_"), sds)));
            }
            _ => {
                let message = format!("rd={}: `sd={word}` has no number", rd.head.name);
                let help = "write such as `sd=setsof2`";
                findings.error_help(rd.head.place, "wrong-value", message, help);
            }
        }
    }
    repeated
}

/// Swaps names about as Vdbench does: so often as 8 times their number, drawn by Java's generator
/// with the seed 0.
fn shuffled_as_java(names: &[String]) -> Vec<String> {
    let mut list = names.to_vec();
    let mut random = JavaRandom::new(0);
    for _ in 0..list.len() * 8 {
        let (one, other) = (random.below(list.len()), random.below(list.len()));
        list.swap(one, other);
    }
    list
}

/// The generator of `java.util.Random`, as its documentation defines it.
struct JavaRandom {
    state: u64,
}

impl JavaRandom {
    const MULTIPLIER: u64 = 0x5_DEEC_E66D;
    const MASK: u64 = (1 << 48) - 1;

    fn new(seed: u64) -> Self {
        JavaRandom { state: (seed ^ Self::MULTIPLIER) & Self::MASK }
    }

    fn bits(&mut self, n_bits: u32) -> i32 {
        self.state = self.state.wrapping_mul(Self::MULTIPLIER).wrapping_add(0xB) & Self::MASK;
        (self.state >> (48 - n_bits)) as i32
    }

    /// Draws a number below a bound, which is above 0.
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound.min(i32::MAX as usize) as i32;
        if bound & (bound - 1) == 0 {
            return ((i64::from(bound) * i64::from(self.bits(31))) >> 31) as usize;
        }
        loop {
            let bits = self.bits(31);
            let value = bits % bound;
            if bits.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                return value as usize;
            }
        }
    }
}

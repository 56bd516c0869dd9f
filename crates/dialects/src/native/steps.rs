//! What a step says besides its jobs.

use std::fmt::Write;

use plan::Step;
use plan::job::{AmountMax, RateOf};
use plan::keys::{Findings, Keys, quoted};

use super::text::{time_text, value};

/// Reads the keys of a step, but not its jobs.
pub(super) fn read(keys: &mut Keys<'_>, step_idx: u32, findings: &mut Findings<'_>) -> Step {
    let name = keys.text("name", findings).map_or("", |(name, _)| name).to_owned();
    let pause = keys.duration("pause", findings);
    let texts = |keys: &mut Keys<'_>, name, findings: &mut Findings<'_>| {
        keys.texts(name, findings).into_iter().map(|(text, _)| text.to_owned()).collect()
    };
    let exec_before = texts(keys, "exec_before", findings);
    let exec_after = texts(keys, "exec_after", findings);
    let amount_max = keys.table("amount_max", findings).map(|mut keys| {
        let mut bytes = |name| value(keys.bytes(name, findings)).unwrap_or(0);
        let amount_max = AmountMax {
            total_bytes: bytes("total"),
            read_bytes: bytes("read"),
            write_bytes: bytes("write"),
        };
        keys.finish(findings);
        amount_max
    });
    let rate_of = keys.table("rate_of", findings);
    Step {
        name,
        pause_ns: value(pause).map_or(0, |pause| pause.as_nanos() as u64),
        exec_before,
        exec_after,
        rate_of: rate_of.and_then(|keys| read_rate_of(keys, step_idx, findings)),
        amount_max: amount_max.unwrap_or_default(),
        ..Step::default()
    }
}

fn read_rate_of(mut keys: Keys<'_>, step_idx: u32, findings: &mut Findings<'_>) -> Option<RateOf> {
    let at = keys.at.clone();
    let of = keys.count("step", findings);
    let pct = keys.number("pct", findings);
    let round_up = keys.numbers("round_up", findings);
    let rate_min = value(keys.count("rate_min_iops", findings)).unwrap_or(0);
    let stop_above = value(keys.duration("stop_above", findings));
    let after = value(keys.duration("after", findings)).unwrap_or_default();
    keys.finish(findings);
    let (Some((of, of_at)), Some((pct, pct_at))) = (of, pct) else {
        findings.error("missing-key", &at, "`rate_of` needs `step` and `pct`");
        return None;
    };
    if of >= u64::from(step_idx) {
        let text = format!("step {of} is not before this one, which is step {step_idx}");
        findings.error("out-of-range", &of_at, text);
        return None;
    }
    if pct <= 0.0 {
        findings.error("out-of-range", &pct_at, "`pct` is above 0");
        return None;
    }
    let round_up = match round_up.as_deref() {
        None => (u64::MAX, 1, 1),
        Some([above, coarse, fine]) if *coarse >= 1.0 && *fine >= 1.0 => {
            (*above as u64, *coarse as u64, *fine as u64)
        }
        Some(_) => {
            let text = "`round_up` is three numbers: above the first, up to a multiple of the \
                        second, else of the third";
            findings.error("out-of-range", &at, text);
            return None;
        }
    };
    Some(RateOf {
        step_idx: of as u32,
        pct,
        round_up,
        rate_min_iops: rate_min,
        stop_above_ns: stop_above.map(|time| time.as_nanos() as u64),
        after_ns: after.as_nanos() as u64,
    })
}

/// Writes the keys of a step behind its `[[step]]`.
pub(super) fn write(step: &Step, text: &mut String) {
    // All fields are named here, so that none is forgotten; the jobs follow the keys.
    let Step { name, jobs: _, pause_ns, exec_before, exec_after, rate_of, amount_max } = step;
    if !name.is_empty() {
        let _ = writeln!(text, "name = {}", quoted(name));
    }
    if *pause_ns > 0 {
        let _ = writeln!(text, "pause = {}", quoted(&time_text(*pause_ns)));
    }
    for (key, commands) in [("exec_before", exec_before), ("exec_after", exec_after)] {
        if !commands.is_empty() {
            let list: Vec<String> = commands.iter().map(|command| quoted(command)).collect();
            let _ = writeln!(text, "{key} = [{}]", list.join(", "));
        }
    }
    let AmountMax { total_bytes, read_bytes, write_bytes } = *amount_max;
    let amounts = [("total", total_bytes), ("read", read_bytes), ("write", write_bytes)];
    for (key, bytes) in amounts.into_iter().filter(|(_, bytes)| *bytes > 0) {
        let _ = writeln!(text, "amount_max.{key} = \"{bytes}B\"");
    }
    if let Some(rate_of) = *rate_of {
        let RateOf { step_idx, pct, round_up, rate_min_iops, stop_above_ns, after_ns } = rate_of;
        let _ = writeln!(text, "rate_of.step = {step_idx}");
        let _ = writeln!(text, "rate_of.pct = {pct:?}");
        let (above, coarse, fine) = round_up;
        if round_up != (u64::MAX, 1, 1) {
            let _ = writeln!(text, "rate_of.round_up = [{above}, {coarse}, {fine}]");
        }
        if rate_min_iops > 0 {
            let _ = writeln!(text, "rate_of.rate_min_iops = {rate_min_iops}");
        }
        if let Some(ns) = stop_above_ns {
            let _ = writeln!(text, "rate_of.stop_above = {}", quoted(&time_text(ns)));
        }
        if after_ns > 0 {
            let _ = writeln!(text, "rate_of.after = {}", quoted(&time_text(after_ns)));
        }
    }
}

//! `vmstat`: the whole host, columns by their names.

use std::io::BufRead;

use crate::context::{Context, Spans, quote};
use crate::lines::{Lines, ReadError};
use crate::number::decimal;
use crate::sample::{ClockKind, Event, HostSample, NS_PER_S, Rates, WHOLE_HOST};
use crate::time::Stamps;

/// vmstat counts blocks of 1,024 bytes.
const BLOCK_BYTES: f64 = 1024.0;

#[derive(Default)]
struct State {
    stamps: Stamps,
    spans: Spans,
    names: Vec<String>,
    /// Lines of figures since the first header.
    n_lines: u64,
    leaves_out_first: bool,
}

/// Reads `vmstat`.
pub(super) fn read(
    input: &mut dyn BufRead,
    leaves_out_first: bool,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut state = State { leaves_out_first, ..State::default() };
    while let Some(line) = lines.next()? {
        let line = String::from_utf8_lossy(line).into_owned();
        if let Err(message) = state.line(&line, lines.number(), context) {
            context.bad_line(&lines, message);
        }
        context.check_length()?;
    }
    context.check_end(&lines);
    Ok(())
}

impl State {
    fn line(&mut self, line: &str, number: u64, context: &mut Context<'_>) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_banner = words.first().is_some_and(|word| word.contains("procs"));
        if words.is_empty() || is_banner {
            return Ok(());
        }
        if words.contains(&"swpd") {
            self.names = words.iter().map(|word| (*word).to_owned()).collect();
            return Ok(());
        }
        // A moment takes two words below one name, its zone.
        let n_names = self.names.len();
        if n_names == 0 || !(words.len() == n_names || words.len() == n_names + 1) {
            return Err(format!("{} is not a line of vmstat", quote(line)));
        }
        self.n_lines += 1;
        let moment = self.moment(&words, number, context)?;
        let of = |name: &str| -> Result<Option<f64>, String> {
            let Some(idx) = self.names.iter().position(|of| of == name) else { return Ok(None) };
            let number = decimal(words[idx]).filter(|number| *number >= 0.0);
            number.map(Some).ok_or_else(|| format!("{} is not a number", quote(words[idx])))
        };
        let (idle, waiting, stolen) = (of("id")?, of("wa")?, of("st")?);
        let mut rates = Rates::default();
        rates.read.bytes = of("bi")?.map(|blocks| blocks * BLOCK_BYTES);
        rates.write.bytes = of("bo")?.map(|blocks| blocks * BLOCK_BYTES);
        if self.n_lines == 1 && self.leaves_out_first {
            context.left_out_first();
            return Ok(());
        }
        let (clock, end_ns, span_ns) = moment;
        context.clock(clock)?;
        let not_busy = idle.map(|idle| idle + waiting.unwrap_or(0.0) + stolen.unwrap_or(0.0));
        let cpu_share = not_busy.map(|percent| (1.0 - percent / 100.0).max(0.0));
        context.put(Event::Host(HostSample { end_ns, span_ns, cpu_share, ..Default::default() }));
        context.put(Event::Device { name: WHOLE_HOST, sample: rates.over(end_ns, span_ns) });
        Ok(())
    }

    /// Returns when a line was printed, by which clock, and its span. Without `-t` lines stand for
    /// moments.
    fn moment(
        &mut self,
        words: &[&str],
        number: u64,
        context: &mut Context<'_>,
    ) -> Result<(ClockKind, i64, u64), String> {
        if words.len() == self.names.len() {
            return Ok((ClockKind::Absent, self.n_lines as i64 * NS_PER_S as i64, 0));
        }
        let text = words[words.len() - 2..].join(" ");
        let stamp = self.stamps.stamp(&text);
        let stamp = stamp.ok_or_else(|| format!("{} is not a time", quote(&text)))?;
        let (span_ns, note) = self.spans.next(stamp.unix_ns, None);
        if let Some(note) = note {
            context.remark(Some(number), note);
        }
        let is_utc = self.names.last().is_some_and(|zone| zone == "UTC");
        let clock = if is_utc { ClockKind::Utc } else { ClockKind::Local };
        Ok((clock, stamp.unix_ns, span_ns))
    }
}

//! How many lines of a trace one core reads in a second: at least 1 million.
//!
//! `cargo bench -p capture`. The text is made in memory, so that no disk is measured.
//!
//! `cargo bench -q -p capture -- blkparse 10g` writes so much of a form to the standard output
//! instead: a trace of any length, for `plimsoll capture --from -` at the other end of a pipe.
#![expect(clippy::print_stdout, reason = "figures for people")]

#[path = "../tests/all/texts.rs"]
mod texts;

use std::io::{self, BufReader, Write};
use std::time::{Duration, Instant};

use capture::{Collector, Format, Options, read};
use texts::{TEXTS, Text};

/// I/Os of a text that is measured, or reports.
const N_PARTS: u64 = 400_000;
const N_ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [name, size] = &args[..] else {
        TEXTS.iter().for_each(best);
        return;
    };
    let text = TEXTS.iter().find(|text| text.name == name);
    let text = text.unwrap_or_else(|| panic!("no form `{name}`"));
    let n_bytes = units::parse_bytes(size).unwrap_or_else(|error| panic!("`{size}`: {error}"));
    // Who reads may end first.
    let _ = write(text, n_bytes, &mut io::stdout().lock());
}

/// Writes at least so many bytes of a form.
fn write(text: &Text, n_bytes: u64, output: &mut dyn Write) -> io::Result<()> {
    let (mut n_written, mut idx, mut lines) = (0, 0, text.head.to_owned());
    while n_written < n_bytes {
        while lines.len() < 1 << 20 {
            (text.part)(idx, &mut lines);
            idx += 1;
        }
        output.write_all(lines.as_bytes())?;
        n_written += lines.len() as u64;
        lines.clear();
    }
    Ok(())
}

/// Prints the best of several rounds.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn best(form: &Text) {
    let mut text = form.head.to_owned();
    let n_parts = if form.format == Format::Iostat { N_PARTS / 20 } else { N_PARTS };
    (0..n_parts).for_each(|idx| (form.part)(idx, &mut text));
    let n_lines = text.lines().count();
    let mut best = Duration::MAX;
    for _ in 0..N_ROUNDS {
        let mut collector = Collector::new();
        collector.begin("bench", form.format.name());
        let start = Instant::now();
        let mut input = BufReader::with_capacity(1 << 20, text.as_bytes());
        read(form.format, &mut input, Options::default(), &mut |event| collector.take(event))
            .expect("the text is a trace");
        best = best.min(start.elapsed());
    }
    let per_s = n_lines as f64 / best.as_secs_f64() / 1e6;
    let mb_s = text.len() as f64 / best.as_secs_f64() / 1e6;
    let name = form.name;
    println!("{name:<10} {n_lines:>9} lines {per_s:>7.2} million lines/s {mb_s:>7.0} MB/s");
}

//! The table: a line per case, on the screen and in `docs/rehearse.md`.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::Bench;
use super::cases::Case;
use super::forms::{FORMS, Form};
use crate::process;

/// The document, relative to the workspace root. The table stands between the two marks.
const DOCUMENT: &str = "docs/rehearse.md";
const BEGIN: &str = "<!-- rehearsal: begin -->\n";
const END: &str = "<!-- rehearsal: end -->\n";

/// What came out of a case, form by form.
pub(crate) struct Line {
    case: &'static Case,
    found: Vec<FormResult>,
}

struct FormResult {
    form: &'static str,
    iops: f64,
    /// How far from what is printed, as a share of it.
    off: f64,
    is_near: bool,
}

impl Line {
    /// Makes a line without figures.
    pub(crate) fn new(case: &'static Case) -> Self {
        Line { case, found: Vec::new() }
    }

    /// Adds what a form gave, and says it.
    pub(crate) fn add(&mut self, form: &Form, iops: f64) -> String {
        let off = iops / self.case.printed_iops - 1.0;
        let found = FormResult { form: form.name, iops, off, is_near: off.abs() <= form.tolerance };
        let said = format!("{:<10} {:<24} {}", form.name, self.case.name(), found.text());
        self.found.push(found);
        said
    }

    /// Returns how many forms are out of their tolerance.
    pub(crate) fn n_missed(&self) -> usize {
        self.found.iter().filter(|found| !found.is_near).count()
    }

    fn cells(&self, forms: &[&Form]) -> Vec<String> {
        let mut cells = vec![self.case.name(), grouped(self.case.printed_iops)];
        for form in forms {
            let found = self.found.iter().find(|found| found.form == form.name);
            cells.push(found.map_or("-".to_owned(), FormResult::text));
        }
        cells.push(if self.n_missed() == 0 { "yes" } else { "**no**" }.to_owned());
        cells
    }
}

impl FormResult {
    fn text(&self) -> String {
        let mark = if self.is_near { "" } else { " !" };
        format!("{} ({:+.1} %){mark}", grouped(self.iops), self.off * 100.0)
    }
}

/// Prints a rate in whole numbers, thousands apart.
fn grouped(iops: f64) -> String {
    let whole = format!("{iops:.0}");
    let (head, tail) = whole.split_at(whole.len().saturating_sub(3));
    if head.is_empty() { tail.to_owned() } else { format!("{head},{tail}") }
}

fn heading(forms: &[&Form]) -> Vec<String> {
    let mut cells = vec!["reads".to_owned(), "printed".to_owned()];
    cells
        .extend(forms.iter().map(|form| format!("{} ±{:.0} %", form.name, form.tolerance * 100.0)));
    cells.push("met".to_owned());
    cells
}

/// Returns the table as a terminal shows it.
pub(crate) fn text(forms: &[&Form], lines: &[Line]) -> String {
    let aligned = |cells: Vec<String>| {
        let mut line = String::new();
        for (idx, cell) in cells.iter().enumerate() {
            let _ = if idx == 0 { write!(line, "{cell:<22}") } else { write!(line, " {cell:>17}") };
        }
        line + "\n"
    };
    let rows = lines.iter().map(|line| aligned(line.cells(forms)));
    std::iter::once(aligned(heading(forms))).chain(rows).collect()
}

/// Puts the table and the facts of the machine into the document.
pub(crate) fn write(forms: &[&Form], lines: &[Line], bench: &Bench) -> Result<()> {
    anyhow::ensure!(forms.len() == FORMS.len(), "not all forms were measured: nothing is written");
    let path = process::root().join(DOCUMENT);
    let document = fs::read_to_string(&path).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let (before, rest) = document.split_once(BEGIN).context("no begin mark in the document")?;
    let (_, after) = rest.split_once(END).context("no end mark in the document")?;
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = heading(forms);
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let mut text = facts(bench)? + "\n" + &row(head) + &rule;
    for line in lines {
        text.push_str(&row(line.cells(forms)));
    }
    fs::write(&path, format!("{before}{BEGIN}{text}{END}{after}"))?;
    println!("wrote {DOCUMENT}");
    Ok(())
}

/// Returns what the figures depend on.
fn facts(bench: &Bench) -> Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let fio = process::output(Command::new("fio").arg("--version"))?;
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let first = if bench.is_first { ", all programs with a real-time priority" } else { "" };
    Ok(format!(
        "Linux {}, {n_cores} cores, {}; {} s each after 2 s of ramp{first}.\n",
        release.trim(),
        fio.trim(),
        bench.seconds
    ))
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    #[test]
    fn a_figure_is_judged_by_its_forms_tolerance() {
        let mut line = Line::new(&CASES[0]);
        assert!(line.add(&FORMS[2], 4_800.0).ends_with("4,800 (-4.0 %)"));
        assert_eq!(line.n_missed(), 0);
        assert!(line.add(&FORMS[0], 4_800.0).ends_with("4,800 (-4.0 %) !"));
        assert_eq!(line.n_missed(), 1);
        let forms: Vec<&Form> = FORMS.iter().collect();
        let cells = line.cells(&forms);
        assert_eq!(cells[3], "-");
        assert_eq!(cells.last().map(String::as_str), Some("**no**"));
    }

    #[test]
    fn the_document_has_room_for_the_table() {
        let text = fs::read_to_string(process::root().join(DOCUMENT)).unwrap();
        let begin = text.find(BEGIN).expect("a begin mark");
        assert!(text.find(END).is_some_and(|end| end > begin));
    }
}

//! The mistakes found in a plan, each once: all those about jobs, and a few of each kind about the
//! files of a job.

use std::collections::{HashMap, HashSet};

use plan::Diagnostic;

/// Findings of one kind about the files of one job that are shown. A job may name millions of
/// files, all with the same fault.
pub(crate) const FILES_SHOWN_MAX: usize = 16;

/// Collects findings.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    shown: Vec<Diagnostic>,
    messages: HashSet<String>,
    /// By job and code.
    of_files: HashMap<(String, &'static str), FileFindings>,
}

/// Findings of one kind about the files of one job.
#[derive(Debug, Default)]
struct FileFindings {
    n_shown: usize,
    /// Position of the last one.
    last_idx: usize,
    /// There are others, which are not shown.
    has_more: bool,
}

impl Findings {
    /// Adds a finding, unless it is there.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        if self.messages.insert(finding.message.clone()) {
            self.shown.push(finding);
        }
    }

    /// Adds a finding about a file of a job, unless it is there, or enough of its kind are.
    pub(crate) fn add_of_file(&mut self, job: &str, finding: Diagnostic) {
        let of_files = self.of_files.entry((job.to_owned(), finding.code)).or_default();
        if of_files.has_more || self.messages.contains(&finding.message) {
            return;
        }
        if of_files.n_shown == FILES_SHOWN_MAX {
            of_files.has_more = true;
            return;
        }
        (of_files.n_shown, of_files.last_idx) = (of_files.n_shown + 1, self.shown.len());
        self.add(finding);
    }

    /// Returns the findings in the order in which they were added.
    pub(crate) fn into_shown(mut self) -> Vec<Diagnostic> {
        for of_files in self.of_files.into_values().filter(|of_files| of_files.has_more) {
            let help = &mut self.shown[of_files.last_idx].help;
            help.push("there are more of this kind, which are not listed".to_owned());
        }
        self.shown
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, findings: T) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &'static str, number: usize) -> Diagnostic {
        Diagnostic::error(code, format!("{code} {number}"))
    }

    #[test]
    fn every_mistake_of_a_job_is_shown_once() {
        let mut findings = Findings::default();
        findings.extend((0..100).chain(0..100).map(|number| of("job", number)));
        let all: Vec<Diagnostic> = (0..100).map(|number| of("job", number)).collect();
        assert_eq!(findings.into_shown(), all);
    }

    #[test]
    fn of_many_files_with_the_same_fault_a_few_are_shown_for_each_job() {
        let mut findings = Findings::default();
        for number in 0..100_000 {
            findings.add_of_file("a", of("many", number));
            findings.add_of_file("b", of("enough", number % 16));
        }
        findings.add_of_file("b", of("many", 100_000));
        findings.add_of_file("c", of("many", 3));
        let shown = findings.into_shown();
        let messages: Vec<&str> = shown.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages.len(), 33, "{messages:?}");
        assert_eq!(
            (messages[30], messages[31], messages[32]),
            ("many 15", "enough 15", "many 100000")
        );
        let helped: Vec<&str> =
            shown.iter().filter(|it| !it.help.is_empty()).map(|it| &*it.message).collect();
        assert_eq!(helped, ["many 15"]);
    }
}

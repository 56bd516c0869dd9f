//! What stands against a plan: each finding once, and of one kind no more than anybody reads.

use std::collections::{BTreeMap, HashSet};

use plan::Diagnostic;

/// Findings of one kind that are told. A plan may name millions of files, all with the same fault.
pub(crate) const TOLD_MAX: usize = 16;

/// Collects findings.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    told: Vec<Diagnostic>,
    messages: HashSet<String>,
    n_of_code: BTreeMap<&'static str, usize>,
}

impl Findings {
    /// Adds a finding, unless the same, or enough of its kind, were told.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        let n = self.n_of_code.entry(finding.code).or_default();
        if *n > TOLD_MAX || self.messages.contains(&finding.message) {
            return;
        }
        *n += 1;
        if *n <= TOLD_MAX {
            self.messages.insert(finding.message.clone());
            self.told.push(finding);
        }
    }

    /// Returns what is to be told, in the order in which it was found.
    pub(crate) fn into_told(mut self) -> Vec<Diagnostic> {
        for (code, _) in self.n_of_code.into_iter().filter(|(_, n)| *n > TOLD_MAX) {
            let last = self.told.iter_mut().rfind(|finding| finding.code == code);
            if let Some(last) = last {
                last.help.push("there are more of this kind, which are not listed".to_owned());
            }
        }
        self.told
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, findings: T) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }
}

/// Returns each finding once, and of one kind no more than is told.
pub(crate) fn told(findings: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut all = Findings::default();
    all.extend(findings);
    all.into_told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_and_of_many_a_few() {
        let of = |code, k: usize| Diagnostic::error(code, format!("{code} {k}"));
        let alone = told([of("b", 0), of("a", 0), of("b", 0)]);
        assert_eq!(alone, [of("b", 0), of("a", 0)]);
        let many = (0..100_000).map(|k| of("many", k));
        let told = told([of("few", 1)].into_iter().chain(many).chain([of("few", 2)]));
        assert_eq!(told.len(), TOLD_MAX + 2);
        assert_eq!((&told[0], &told[TOLD_MAX + 1]), (&of("few", 1), &of("few", 2)));
        let more =
            of("many", TOLD_MAX - 1).help("there are more of this kind, which are not listed");
        assert_eq!((&told[1], &told[TOLD_MAX]), (&of("many", 0), &more));
    }
}

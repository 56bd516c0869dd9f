//! The languages that there are, and which of them a text is in.

use crate::dialect::Dialect;
use crate::diskspd::Diskspd;
use crate::fio::Fio;
use crate::iometer::Iometer;
use crate::likeness::Likeness;
use crate::native::Native;
use crate::needs::NeedsFile;
use crate::vdbench::Vdbench;

/// All languages. What looks like several of them equally is taken for the first of these; what
/// names one of them is that one's, wherever it stands ([`Likeness::Declared`]).
pub static DIALECTS: &[&dyn Dialect] = &[&Fio, &Vdbench, &Iometer, &Diskspd, &Native, &NeedsFile];

/// Finds a language by the word that chooses it.
pub fn find_dialect(name: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|it| it.name() == name)
}

/// Returns the language that a text looks most like; `None` where it looks like none.
pub fn likeliest(text: &str) -> Option<&'static dyn Dialect> {
    let likeness = DIALECTS.iter().map(|it| (it.likeness(text), *it));
    let best = likeness.reduce(|best, it| if it.0 > best.0 { it } else { best });
    best.filter(|(likeness, _)| *likeness > Likeness::None).map(|(_, it)| it)
}

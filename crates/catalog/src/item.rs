//! A named thing with its figures: a disk or a machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::column::COLUMNS;
use crate::figure::{Figure, Source};

/// What a source says about an item besides figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// A clause.
    pub text: String,
    /// Who says so.
    pub source: Arc<Source>,
}

/// A named thing with all figures that any source gives for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Its name as the cloud spells it.
    pub name: String,
    /// Words by column.
    pub(crate) words: BTreeMap<&'static str, String>,
    /// Figures by property, those that count first.
    pub(crate) figures: BTreeMap<&'static str, Vec<Figure>>,
    /// Remarks of its sources.
    pub notes: Vec<Note>,
}

impl Item {
    /// Returns the figure of a property, such as `uncached_iops`; `None` if it is unknown.
    pub fn figure(&self, property: &str) -> Option<&Figure> {
        self.figures.get(property)?.first()
    }

    /// Returns all figures of a property, the one that counts first.
    pub fn figures_of(&self, property: &str) -> &[Figure] {
        self.figures.get(property).map_or(&[], Vec::as_slice)
    }

    /// Returns every property with its figures, in the order of the columns that tables may have.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, &[Figure])> {
        let mut properties: Vec<&'static str> = Vec::new();
        for column in COLUMNS.iter().filter(|column| self.figures.contains_key(column.property)) {
            if !properties.contains(&column.property) {
                properties.push(column.property);
            }
        }
        properties.into_iter().map(|property| (property, self.figures_of(property)))
    }

    /// Returns a word, such as that of `family`.
    pub fn word(&self, column: &str) -> Option<&str> {
        self.words.get(column).map(String::as_str)
    }

    /// Returns the sources of its figures, each once, in the order in which they count.
    pub fn sources(&self) -> Vec<&Arc<Source>> {
        let mut sources: Vec<&Arc<Source>> = Vec::new();
        let of_figures =
            self.figures().flat_map(|(_, figures)| figures).map(|figure| &figure.source);
        for source in of_figures.chain(self.notes.iter().map(|note| &note.source)) {
            if !sources.iter().any(|seen| seen.key == source.key) {
                sources.push(source);
            }
        }
        sources
    }

    /// Adds what a lower-ranking row says: what is known already stays first.
    pub(crate) fn add(&mut self, row: Item) {
        for (column, word) in row.words {
            self.words.entry(column).or_insert(word);
        }
        for (property, figures) in row.figures {
            self.figures.entry(property).or_default().extend(figures);
        }
        self.notes.extend(row.notes);
    }
}

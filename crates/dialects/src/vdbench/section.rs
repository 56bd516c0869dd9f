//! A section of a parameter file as data: its keywords, how the value of each is read, what it sets
//! and what it means. One reader serves all kinds of definitions: [`Section::read`].

use super::head::Head;
use super::number_rule::{FREE, NumberRule};
use super::params::{DEFINITIONS, Param};
use super::scan::Scan;

/// A section: general parameters, or the definitions of one kind.
pub(super) struct Section<T: 'static> {
    /// The keyword that begins a definition, or `general`.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) what: &'static str,
    /// Keywords of later sections, which end this one.
    pub(super) ends: &'static [&'static str],
    /// What stands before most examples.
    pub(super) lead: &'static str,
    /// Its keywords in Vdbench's order, which takes the first that an abbreviation fits.
    pub(super) rows: &'static [Row<T>],
}

/// One keyword.
pub(super) struct Row<T: 'static> {
    name: Name,
    meaning: Meaning<T>,
    set: Set,
    /// What may stand behind the sign, and what it is where nothing does; empty of what is not
    /// explained.
    values: &'static str,
    /// One or two sentences.
    text: &'static str,
    example: &'static str,
}

/// A keyword, or other names of the same one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    /// May be abbreviated.
    Any(&'static str),
    /// Must be written in full.
    Full(&'static str),
    /// Every keyword that begins so.
    Stem(&'static str),
    /// Stands on a line of its own, which is read before all sections.
    Line(&'static str),
}

impl Name {
    fn fits(self, written: &str) -> bool {
        match self {
            Name::Any(name) => name.starts_with(written),
            Name::Full(name) => name == written,
            Name::Stem(stem) => written.starts_with(stem),
            Name::Line(_) => false,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Name::Any(name) | Name::Full(name) | Name::Stem(name) | Name::Line(name) => name,
        }
    }
}

/// How the value of a keyword is read, and what it sets.
pub(super) enum Meaning<T> {
    /// Begins a definition.
    Begin,
    /// It is read, and nothing follows.
    Nothing,
    /// Another name of a keyword of the section.
    Same(&'static str),
    /// The first number, without its fraction, as 32 bits.
    Int(NumberRule, fn(&mut T, i64)),
    /// The same as 64 bits.
    Long(NumberRule, fn(&mut T, i64)),
    /// The first number.
    Number(NumberRule, fn(&mut T, f64)),
    /// The first word.
    Word(fn(&mut T, &str)),
    /// All words.
    Words(fn(&mut T, &[String])),
    /// A value of a grammar of its own, whose first number must make sense.
    Own(NumberRule, fn(&mut T, &Param, &mut Scan<'_>)),
}

/// What `--set` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Everywhere,
    WhereWritten,
    Never,
}

impl<T> Row<T> {
    pub(super) const fn new(name: Name, meaning: Meaning<T>) -> Self {
        Row { name, meaning, set: Set::Everywhere, values: "", text: "", example: "" }
    }

    /// Returns which values it takes and what it means, with an example.
    pub(super) const fn doc(
        mut self,
        values: &'static str,
        text: &'static str,
        example: &'static str,
    ) -> Self {
        (self.values, self.text, self.example) = (values, text, example);
        self
    }

    /// `--set` changes it only where it is written.
    pub(super) const fn set_where_written(mut self) -> Self {
        self.set = Set::WhereWritten;
        self
    }

    /// `--set` does not change it.
    pub(super) const fn never_set(mut self) -> Self {
        self.set = Set::Never;
        self
    }

    /// Returns the name by which definitions keep that it is written.
    pub(super) const fn key(&self) -> &'static str {
        self.name.text()
    }

    /// Returns whether `--set` changes it in a definition that begins so.
    pub(super) fn is_set(&self, head: &Head) -> bool {
        match self.set {
            Set::Everywhere => true,
            Set::WhereWritten => head.has(self.key()),
            Set::Never => false,
        }
    }

    /// Reads a value and sets it.
    pub(super) fn put(&self, entry: &mut T, param: &Param, scan: &mut Scan<'_>) {
        let sense = match self.meaning {
            Meaning::Int(sense, _)
            | Meaning::Long(sense, _)
            | Meaning::Number(sense, _)
            | Meaning::Own(sense, _) => sense,
            Meaning::Begin
            | Meaning::Nothing
            | Meaning::Same(_)
            | Meaning::Word(_)
            | Meaning::Words(_) => FREE,
        };
        if !scan.first_makes_sense(param, sense) {
            return;
        }
        let findings = &mut scan.findings;
        match self.meaning {
            Meaning::Begin | Meaning::Nothing | Meaning::Same(_) => {}
            Meaning::Int(_, set) => {
                param.int(findings).into_iter().for_each(|number| set(entry, number));
            }
            Meaning::Long(_, set) => {
                param.long(findings).into_iter().for_each(|number| set(entry, number));
            }
            Meaning::Number(_, set) => {
                param.number(findings).into_iter().for_each(|number| set(entry, number));
            }
            Meaning::Word(set) => {
                param.word(findings).into_iter().for_each(|word| set(entry, word));
            }
            Meaning::Words(set) => set(entry, &param.values.words),
            Meaning::Own(_, read) => read(entry, param, scan),
        }
    }
}

/// A definition of one kind.
pub(super) trait Definition: Clone + Default + 'static {
    /// Begins one, as a copy of what those have that say nothing else.
    fn begin(default: &Self, head: Head, param: &Param, scan: &mut Scan<'_>) -> Self;

    /// Returns what it has as every definition does.
    fn head(&mut self) -> &mut Head;

    /// Returns the same under another name.
    fn renamed(&self, name: &str) -> Self {
        let mut other = self.clone();
        name.clone_into(&mut other.head().name);
        other
    }

    /// Returns whether `--set` changes a keyword of it.
    fn is_set(&mut self, row: &Row<Self>, _is_files: bool) -> bool {
        row.is_set(self.head())
    }

    /// Forgets the value of a keyword that `--set` gives another one.
    fn forget(&mut self, _key: &str) {}

    /// Takes note of a keyword whose value cannot be read, which is reported.
    fn miss(&mut self, _key: &str) {}

    /// Ends one: all that it has is read.
    fn end(&mut self, _default: &mut Self, _scan: &mut Scan<'_>) {}
}

/// Definitions of one kind: what those have that say nothing else, and all others in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Definitions<T> {
    pub(super) default: T,
    pub(super) all: Vec<T>,
}

impl<T: Definition> Section<T> {
    /// Reads all definitions of the section.
    pub(super) fn read(&self, scan: &mut Scan<'_>) -> Definitions<T> {
        let mut found = Definitions::default();
        let mut current: Option<T> = None;
        while let Some(param) = scan.take(self.ends) {
            let Some(row) = self.row_of(&param, scan) else { continue };
            if matches!(row.meaning, Meaning::Begin) {
                self.keep(current.take(), &mut found, scan);
                scan.plain.begin();
                let (name, place) = (scan.name_of(&param), param.place);
                let head = Head { place, ..Head::named(&name) };
                current = Some(T::begin(&found.default, head, &param, scan));
            } else if let Some(entry) = &mut current {
                if param.is_broken {
                    entry.miss(row.key());
                } else {
                    row.put(entry, &param, scan);
                }
                entry.head().written.push(row.key());
            } else {
                scan.no_definition(&param, self.name);
            }
        }
        self.keep(current, &mut found, scan);
        found
    }

    fn keep(&self, entry: Option<T>, found: &mut Definitions<T>, scan: &mut Scan<'_>) {
        let Some(mut entry) = entry else { return };
        let is_files = scan.known.is_files;
        for (row, param) in self.sets(|row| entry.is_set(row, is_files), scan) {
            entry.forget(row.key());
            row.put(&mut entry, &param, scan);
        }
        entry.end(&mut found.default, scan);
        if entry.head().is_default() {
            found.default = entry;
        } else {
            found.all.push(entry);
        }
    }
}

impl<T> Section<T> {
    /// Returns the row of a parameter; reports a keyword that is unknown.
    pub(super) fn row_of(&self, param: &Param, scan: &mut Scan<'_>) -> Option<&'static Row<T>> {
        let row = self.find(&param.key);
        let in_full = row.and_then(|row| match row.name {
            Name::Any(name) | Name::Full(name) => Some(name),
            Name::Stem(_) | Name::Line(_) => None,
        });
        scan.plain.name(param, in_full);
        if row.is_none() {
            let names = self.rows.iter().map(Row::key);
            scan.unknown_keyword(param, units::nearest(&param.key, names).first().copied());
        }
        row.map(|row| self.meant(row))
    }

    /// Returns the `--set` overrides that fit, as parameters with their rows.
    pub(super) fn sets(
        &self,
        mut is_set: impl FnMut(&Row<T>) -> bool,
        scan: &mut Scan<'_>,
    ) -> Vec<(&'static Row<T>, Param)> {
        let mut sets = Vec::new();
        for (idx, (key, value)) in scan.options.set.iter().enumerate() {
            let Some(row) = self.rows.iter().find(|row| row.key() == key) else { continue };
            let row = self.meant(row);
            if is_set(row)
                && let Some(param) = scan.set(idx, key, value)
            {
                sets.push((row, param));
            }
        }
        sets
    }

    /// Returns the row of a keyword that may be abbreviated.
    pub(super) fn find(&self, written: &str) -> Option<&'static Row<T>> {
        self.rows.iter().find(|row| row.name.fits(written))
    }

    /// Returns the row that another name stands for.
    fn meant(&self, row: &'static Row<T>) -> &'static Row<T> {
        let Meaning::Same(other) = row.meaning else { return row };
        self.rows.iter().find(|row| row.key() == other).unwrap_or(row)
    }

    /// Returns whether the section has a keyword, written in full.
    pub(super) fn has(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.key() == name && row.is_explained())
    }

    /// Returns the keywords that are not explained, and other names of what is no keyword.
    #[cfg(test)]
    pub(super) fn mistakes(&self) -> Vec<&'static str> {
        let is_stem = |row: &Row<T>| matches!(row.name, Name::Stem(_));
        let is_lost = |row: &Row<T>| match row.meaning {
            Meaning::Same(other) => self.rows.iter().all(|row| row.key() != other),
            Meaning::Begin
            | Meaning::Nothing
            | Meaning::Int(..)
            | Meaning::Long(..)
            | Meaning::Number(..)
            | Meaning::Word(_)
            | Meaning::Words(_)
            | Meaning::Own(..) => false,
        };
        let is_wrong = |row: &&Row<T>| is_lost(row) || (!row.is_explained() && !is_stem(row));
        self.rows.iter().filter(is_wrong).map(Row::key).collect()
    }

    /// Returns what its keywords mean, by name; first what begins a definition.
    pub(super) fn words(&self) -> Vec<Word> {
        let mut words: Vec<Word> =
            (self.rows.iter().filter(|row| row.is_explained())).map(|row| self.word(row)).collect();
        words.sort_by_key(|word| (word.name != self.name, word.name));
        words
    }

    fn word(&self, row: &'static Row<T>) -> Word {
        let (section, name) = (self.name, row.key());
        let meant = self.meant(row);
        let begins = DEFINITIONS
            .iter()
            .any(|key| meant.example.strip_prefix(key).is_some_and(|rest| rest.starts_with('=')));
        let example = if self.lead.is_empty() || begins {
            meant.example.to_owned()
        } else {
            format!("{},{}", self.lead, meant.example)
        };
        let mut word =
            Word { section, name, values: meant.values, text: meant.text.to_owned(), example };
        if let Meaning::Same(other) = row.meaning {
            word.text = format!("Another name of {other}=. {}", meant.text);
            word.example = word.example.replace(&format!("{other}="), &format!("{name}="));
        }
        word
    }
}

impl<T> Row<T> {
    fn is_explained(&self) -> bool {
        !self.text.is_empty() || matches!(self.meaning, Meaning::Same(_))
    }
}

/// What one keyword means in one kind of definition.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// `general`, or what begins the definition: `hd`, `rg`, `sd`, `wd`, `fsd`, `fwd`, `rd`.
    pub(super) section: &'static str,
    /// In full.
    pub(super) name: &'static str,
    /// What may stand behind the sign, and what it is where nothing does.
    pub(super) values: &'static str,
    /// One or two sentences.
    pub(super) text: String,
    /// A line of a parameter file that has it.
    pub(super) example: String,
}

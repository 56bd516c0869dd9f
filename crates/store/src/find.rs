//! Runs by the words that a user has for them.

use std::str::FromStr;

use crate::{Filter, RunRow, Store, StoreError};

/// Which run is meant: `last`, `last~2` (the second before the last), a number, or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// So many before the last.
    Last(u32),
    /// By its number.
    Id(i64),
    /// The newest of this name.
    Name(String),
}

impl FromStr for RunSelector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<RunSelector, Self::Err> {
        let back = text.strip_prefix("last");
        Ok(match back.map(|rest| rest.strip_prefix('~').map(u32::from_str)) {
            Some(Some(Ok(n_before))) => RunSelector::Last(n_before),
            _ if text == "last" => RunSelector::Last(0),
            _ => text.parse().map_or_else(|_| RunSelector::Name(text.to_owned()), RunSelector::Id),
        })
    }
}

/// Why no run was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There are no runs, or not as many.
    #[error("the store holds {n_runs} runs; `last~{asked}` asks for one before them")]
    TooFew {
        /// How many there are.
        n_runs: usize,
        /// How many before the last was asked for.
        asked: u32,
    },
    /// There is no run at all.
    #[error("the store {path} holds no runs yet; `plimsoll run FILE` makes one")]
    Empty {
        /// Where the store is.
        path: String,
    },
    /// No run has this number.
    #[error("no run has the number {id}; `plimsoll runs` lists them")]
    NoId {
        /// The number.
        id: i64,
    },
    /// No run has this name.
    #[error("no run is called `{name}`{}; `plimsoll runs` lists them", did_you_mean(nearest))]
    NoName {
        /// The name.
        name: String,
        /// Names like it.
        nearest: Vec<String>,
    },
    /// No run has a tag, a number of a range, or a name of a pattern.
    #[error("no run matches `{what}`; `plimsoll runs` lists them")]
    None {
        /// What was asked for.
        what: String,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!(", but there is `{}`", names.join("`, `")),
    }
}

impl Store {
    /// Finds one run.
    pub fn find(&self, which: &RunSelector) -> Result<RunRow, FindError> {
        let runs = |n_max| self.runs(&Filter { n_max, ..Filter::default() });
        match which {
            RunSelector::Last(asked) => {
                let found = runs(asked.saturating_add(1))?;
                match found.get(*asked as usize) {
                    Some(run) => Ok(run.clone()),
                    None if found.is_empty() => {
                        Err(FindError::Empty { path: self.path().display().to_string() })
                    }
                    None => Err(FindError::TooFew { n_runs: found.len(), asked: *asked }),
                }
            }
            RunSelector::Id(id) => self.run(*id)?.ok_or(FindError::NoId { id: *id }),
            RunSelector::Name(name) => {
                let all = runs(0)?;
                if let Some(run) = all.iter().find(|run| run.name == *name) {
                    return Ok(run.clone());
                }
                let names = all.iter().map(|run| run.name.as_str()).filter(|name| !name.is_empty());
                let nearest = units::nearest(name, names).into_iter().map(str::to_owned).collect();
                Err(FindError::NoName { name: name.clone(), nearest })
            }
        }
    }
}

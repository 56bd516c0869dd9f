//! Several runs at once: the sets that are compared and exported.

use std::str::FromStr;

use crate::{FindError, RunRow, RunSelector, Store};

/// Which runs are meant by a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunsSelector {
    /// One: `last`, `last~2`, a number.
    One(RunSelector),
    /// All from one number to another, `12..17`.
    Range(i64, i64),
    /// All with a tag, `tag:nightly`.
    Tagged(String),
    /// All of a name, or of a pattern with `*` and `?` in it.
    Named(String),
}

impl FromStr for RunsSelector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<RunsSelector, Self::Err> {
        if let Some(tag) = text.strip_prefix("tag:") {
            return Ok(RunsSelector::Tagged(tag.to_owned()));
        }
        if let Some((from, to)) = text.split_once("..")
            && let (Ok(from), Ok(to)) = (from.parse(), to.parse())
        {
            return Ok(RunsSelector::Range(from, to));
        }
        let Ok(which) = text.parse();
        Ok(match which {
            RunSelector::Name(name) => RunsSelector::Named(name),
            which => RunsSelector::One(which),
        })
    }
}

/// Returns whether commands find a run by this name, and do not take it for `last`, a number, a
/// range or a tag. A pattern finds its own name first.
pub fn can_be_found(name: &str) -> bool {
    let Ok(several) = name.parse();
    matches!(several, RunsSelector::Named(_)) && !name.is_empty()
}

/// Returns whether a text can name a run, or be a tag: whether a command would take it for a name,
/// and not for `last`, a number, a range, a tag, or a pattern.
pub fn is_name(text: &str) -> bool {
    can_be_found(text)
        && !text.trim().is_empty()
        && text.trim() == text
        && !text.contains(|c: char| matches!(c, '*' | '?') || c.is_control())
}

impl Store {
    /// Finds runs, the oldest first; at least one.
    pub fn find_several(&self, several: &RunsSelector) -> Result<Vec<RunRow>, FindError> {
        let (found, what) = match several {
            RunsSelector::One(which) => return Ok(vec![self.find(which)?]),
            RunsSelector::Range(from, to) => {
                (self.runs_where("id BETWEEN ?1 AND ?2", [from, to])?, format!("{from}..{to}"))
            }
            RunsSelector::Tagged(tag) => {
                let condition = "id IN (SELECT run_id FROM tags WHERE tag = ?1)";
                (self.runs_where(condition, [tag])?, format!("tag:{tag}"))
            }
            RunsSelector::Named(name) => {
                let found = self.runs_where("name = ?1", [name])?;
                let is_pattern = found.is_empty() && name.contains(['*', '?']);
                if !is_pattern && found.is_empty() {
                    // Tells names like it.
                    return Ok(vec![self.find(&RunSelector::Name(name.clone()))?]);
                }
                let found =
                    if is_pattern { self.runs_where("name GLOB ?1", [name])? } else { found };
                (found, name.clone())
            }
        };
        if found.is_empty() {
            return Err(FindError::None { what });
        }
        Ok(found)
    }
}

//! What a user wants besides what is written: sections, `--set KEY=VALUE` and `--remap FROM=TO`,
//! changes to a file without editing it.

use plan::Span;
use plan::files::Fileset;

use crate::sections::RawOption;

/// What a user wants besides what is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct LowerOptions<'a> {
    /// Sections of job files to run; empty is all.
    pub sections: &'a [String],
    /// Jobs that write or trim are mistakes.
    pub readonly: bool,
    /// Options and paths that replace what is written; `None` changes nothing.
    pub overrides: Option<&'a Overrides>,
}

/// Changes applied to every job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Options and values, as if written last in each job; fio's names or ours.
    pub set: Vec<(String, String)>,
    /// Path prefixes and what replaces them in `filename`, `directory` and `opendir`.
    pub remap: Vec<(String, String)>,
    /// Units of load of a composite workload; `None` is what is written.
    pub load: Option<u32>,
}

impl Overrides {
    /// Makes the option that `--set` stands for. It has no place in any text.
    pub(crate) fn option(key: &str, value: &str) -> RawOption {
        let nowhere = Span { line: 0, column: 0, ..Span::default() };
        RawOption {
            key: key.to_owned(),
            value: (!value.is_empty()).then(|| value.to_owned()),
            key_span: nowhere.clone(),
            value_span: nowhere,
            is_ours: false,
            undefined: Vec::new(),
        }
    }

    /// Returns a path with its prefix replaced; the first pair that matches counts.
    pub(crate) fn remapped(&self, path: &str) -> String {
        let mut pairs = self.remap.iter();
        pairs
            .find_map(|(from, to)| replace_prefix(path, from, to))
            .unwrap_or_else(|| path.to_owned())
    }

    /// Forgets the pairs that are for paths already mapped, `done`, and for none of `targets`.
    pub(crate) fn forget_unless(&mut self, targets: &[String], done: &[String]) {
        let is_for = |paths: &[String], pair: &(String, String)| {
            paths.iter().any(|path| replace_prefix(path, &pair.0, &pair.1).is_some())
        };
        self.remap.retain(|pair| !is_for(done, pair) || is_for(targets, pair));
    }

    /// Replaces path prefixes and counts the changed paths of each pair. Whole components match:
    /// `/mnt` is no prefix of `/mnt2/file`. The first pair that matches a path counts.
    pub(crate) fn remap(&self, files: &mut Fileset, n_changed: &mut [usize]) {
        let paths = files.names.iter_mut().chain(&mut files.directories).chain(&mut files.open_dir);
        for path in paths {
            for ((from, to), count) in self.remap.iter().zip(n_changed.iter_mut()) {
                if let Some(replaced) = replace_prefix(path, from, to) {
                    *path = replaced;
                    *count += 1;
                    break;
                }
            }
        }
    }
}

fn replace_prefix(path: &str, from: &str, to: &str) -> Option<String> {
    let rest = rest_below(path, from)?;
    let replaced = format!("{}{rest}", to.trim_end_matches('/'));
    // Nothing would be the current directory.
    Some(if replaced.is_empty() { "/".to_owned() } else { replaced })
}

/// Returns what follows a folder's path in a path that is the folder, or below it. One that climbs
/// out again by `..` is not.
pub(crate) fn rest_below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?;
    let mut depth = 0_i64;
    let stays_below = rest.split('/').all(|part| {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth >= 0
    });
    ((rest.is_empty() || rest.starts_with('/')) && stays_below).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(replace_prefix(path, "/a/zz", "./scr").as_deref(), expected, "{path}");
    }

    #[test]
    fn only_what_is_below_a_folder_is_mapped() {
        check("/a/zz", Some("./scr"));
        check("/a/zz/b/../c", Some("./scr/b/../c"));
        check("/a/zz/./c", Some("./scr/./c"));
        check("/a/zz2/c", None);
        check("/a/zz/../victim", None);
        check("/a/zz/b/../../victim", None);
        check("/a/zz/..", None);
    }
}

//! `${NAME}` and `$keywords` within the values of a job file.

use units::fio::{SizeRules, parse_integer};

use crate::Loader;

/// A value after substitution.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Substituted {
    pub(super) text: String,
    /// Variables that are not set; they stand for nothing.
    pub(super) undefined: Vec<String>,
    /// Why a computation with a keyword failed.
    pub(super) problem: Option<String>,
}

/// Replaces `${NAME}` by the environment's value and the keywords by facts about the host, then
/// computes the value if a keyword was replaced and it holds one of `+ - * /`.
pub(super) fn substitute(value: &str, loader: &dyn Loader) -> Substituted {
    if !value.contains('$') {
        return Substituted { text: value.to_owned(), ..Substituted::default() };
    }
    let mut done = Substituted::default();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        done.text.push_str(before);
        match loader.env(name) {
            Some(text) => done.text.push_str(&text),
            None => done.undefined.push(name.to_owned()),
        }
        rest = behind;
    }
    done.text.push_str(rest);
    replace_keywords(&mut done, loader);
    done
}

fn replace_keywords(done: &mut Substituted, loader: &dyn Loader) {
    let mut replaced = false;
    let keywords = [
        ("$pagesize", loader.page_size_bytes()),
        ("$mb_memory", loader.memory_mib()),
        ("$ncpus", u64::from(loader.n_cpus())),
    ];
    for (keyword, number) in keywords {
        if done.text.contains(keyword) {
            done.text = done.text.replace(keyword, &number.to_string());
            replaced = true;
        }
    }
    if !replaced || !done.text.contains(['+', '-', '*', '/']) {
        return;
    }
    match compute(&done.text) {
        Ok(number) => done.text = number.to_string(),
        Err(problem) => done.problem = Some(problem),
    }
}

/// Computes a value of plain numbers; fio calls `bc` for it.
fn compute(text: &str) -> Result<i64, String> {
    let is_part = |c: char| c.is_ascii_digit() || "+-*/%^(). ".contains(c);
    if let Some(other) = text.chars().find(|c| !is_part(*c)) {
        return Err(format!("cannot be computed because of its `{other}`"));
    }
    let result = parse_integer(&format!("({text})"), SizeRules::default());
    result.map(|parsed| parsed.value).map_err(|error| format!("cannot be computed: {error}"))
}

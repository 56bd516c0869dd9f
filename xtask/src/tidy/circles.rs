//! Files of a crate import one another in one direction only.
//!
//! What a path names (`crate::a::B`, `super::c::d`, `a::B` beside `mod a;`) is an import of the
//! file that defines it. Names that another file hands on are followed to where they are from, and
//! handing a name on (`pub use`) is no import. What only tests import does not count, nor what a
//! module takes from its own folder, which is a part of it.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use super::scanner::{Source, identifier, is_identifier};
use super::{File, Violation};

/// How often a name may be handed on before it is given up: more than any crate does.
const HANDS_MAX: usize = 16;

/// A module that is a file.
struct Module<'a> {
    file: &'a File,
    /// From the root of its crate.
    path: Vec<&'a str>,
    /// What `use` brings in: the name here, and the path that it stands for.
    names: BTreeMap<&'a str, Vec<&'a str>>,
    /// Every other path, and those of `use` that hand nothing on, with their lines.
    paths: Vec<(usize, Vec<&'a str>)>,
}

/// The modules of one crate by their paths.
type Crate<'a> = BTreeMap<Vec<&'a str>, Module<'a>>;

/// Checks all files, crate by crate.
pub(super) fn check(files: &[File]) -> Vec<Violation> {
    let mut crates: BTreeMap<&Path, Crate<'_>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_test) {
        let Some(source) = &file.source else { continue };
        let Some((dir, path)) = module_path(&file.path) else { continue };
        let (names, paths) = read(source);
        let module = Module { file, path: path.clone(), names, paths };
        crates.entry(dir).or_default().insert(path, module);
    }
    crates.values().flat_map(circles).collect()
}

/// Returns the folder of a source's crate, and its module's path in it.
fn module_path(path: &Path) -> Option<(&Path, Vec<&str>)> {
    let dir = path.ancestors().find(|dir| dir.ends_with("src"))?;
    let inside = path.strip_prefix(dir).ok()?;
    let mut parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
    let stem = parts.pop()?.strip_suffix(".rs")?;
    if !["lib", "main", "mod"].contains(&stem) {
        parts.push(stem);
    }
    Some((dir, parts))
}

/// The names that `use` brings in, and the paths with their lines.
type Read<'a> = (BTreeMap<&'a str, Vec<&'a str>>, Vec<(usize, Vec<&'a str>)>);

fn read(source: &Source) -> Read<'_> {
    let code = source.code();
    let (mut names, mut paths) = (BTreeMap::new(), Vec::new());
    let mut at = 0;
    while let Some(start) = code[at..].find(is_identifier).map(|skipped| at + skipped) {
        let first = identifier(&code[start..]);
        let before = code[..start].trim_end();
        at = start + first.len();
        if first == "use" && code[at..].starts_with(' ') {
            let end = at + code[at..].find(';').unwrap_or(code.len() - at);
            let mut leaves = Vec::new();
            tree(&code[at..end], &[], &mut leaves);
            let hands_on = before.ends_with("pub") || before.ends_with(')');
            for (name, path) in leaves.into_iter().filter(|_| !source.in_test(start)) {
                let is_used =
                    name.starts_with(char::is_uppercase) && source.words(name).count() > 1;
                if !hands_on || is_used {
                    paths.push((source.line_of(start), path.clone()));
                }
                names.insert(name, path);
            }
            at = end;
            continue;
        }
        let mut path = vec![first];
        while let Some(rest) = code[at..].strip_prefix("::")
            && !identifier(rest).is_empty()
        {
            path.push(identifier(rest));
            at += "::".len() + identifier(rest).len();
        }
        let goes_on = before.ends_with("::") || before.ends_with('.');
        if path.len() > 1 && !goes_on && !source.in_test(start) {
            paths.push((source.line_of(start), path));
        }
    }
    (names, paths)
}

/// Takes the tree of a `use` apart: each name that it brings in, and its path.
fn tree<'a>(text: &'a str, prefix: &[&'a str], leaves: &mut Vec<(&'a str, Vec<&'a str>)>) {
    let text = text.trim();
    let (path, group) = text.split_once('{').map_or((text, None), |(path, group)| {
        (path, Some(group.strip_suffix('}').unwrap_or(group)))
    });
    let (path, alias) = path.split_once(" as ").map_or((path, None), |(p, a)| (p, Some(a.trim())));
    let mut full = prefix.to_vec();
    full.extend(path.split("::").map(str::trim).filter(|part| !part.is_empty()));
    let Some(group) = group else {
        if full.len() > 1 {
            full.pop_if(|last| *last == "self");
        }
        if let Some(last) = full.last() {
            leaves.push((alias.unwrap_or(last), full));
        }
        return;
    };
    let (mut start, mut depth) = (0, 0_usize);
    for (offset, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                tree(&group[start..offset], &full, leaves);
                start = offset + 1;
            }
            _ => {}
        }
    }
    tree(&group[start..], &full, leaves);
}

/// Returns the module in which a path ends, and whether it names something there and not the
/// module itself. None for what lies outside of the crate.
fn defines<'a, 'm>(
    modules: &'m Crate<'a>,
    from: &'m Module<'a>,
    path: &[&'a str],
    hands: usize,
) -> Option<(&'m Module<'a>, bool)> {
    let (first, rest) = path.split_first()?;
    let mut at = match *first {
        "crate" => modules.get(&Vec::new())?,
        "self" => from,
        "super" => modules.get(from.path.split_last()?.1)?,
        name => return step(modules, from, name, rest, hands),
    };
    let mut rest = rest;
    while let ["super", after @ ..] = rest {
        at = modules.get(at.path.split_last()?.1)?;
        rest = after;
    }
    match rest.split_first() {
        None => Some((at, false)),
        Some((name, rest)) => step(modules, at, name, rest, hands).or(Some((at, true))),
    }
}

/// Follows a name from a module on. None where the module has neither such a module nor an import.
fn step<'a, 'm>(
    modules: &'m Crate<'a>,
    at: &'m Module<'a>,
    name: &'a str,
    rest: &[&'a str],
    hands: usize,
) -> Option<(&'m Module<'a>, bool)> {
    let child: Vec<&str> = at.path.iter().copied().chain([name]).collect();
    if let Some(child) = modules.get(&child) {
        return match rest.split_first() {
            None => Some((child, false)),
            Some((name, rest)) => step(modules, child, name, rest, hands).or(Some((child, true))),
        };
    }
    let import = at.names.get(name).filter(|_| hands < HANDS_MAX)?;
    let whole: Vec<&str> = import.iter().chain(rest).copied().collect();
    defines(modules, at, &whole, hands + 1)
}

/// Returns a violation for each circle of a crate, at an import of its first file.
fn circles(modules: &Crate<'_>) -> Vec<Violation> {
    let mut imports: BTreeMap<&[&str], BTreeMap<&[&str], usize>> = BTreeMap::new();
    for module in modules.values() {
        let of_file = imports.entry(&module.path).or_default();
        for (line, path) in &module.paths {
            let Some((other, true)) = defines(modules, module, path, 0) else { continue };
            if !other.path.starts_with(&module.path) {
                of_file.entry(&other.path).or_insert(*line);
            }
        }
    }
    let mut violations = Vec::new();
    let mut seen: Vec<&[&str]> = Vec::new();
    for module in modules.values() {
        let first = module.path.as_slice();
        if seen.contains(&first) {
            continue;
        }
        let Some(circle) = shortest_circle(&imports, first) else { continue };
        let names: Vec<String> =
            circle.iter().map(|path| format!("`{}`", modules[*path].file.path.display())).collect();
        violations.push(module.file.violation(
            imports[first][circle[0]],
            format!(
                "imports {}, which imports it: move what they share to the file below both",
                names[..names.len() - 1].join(", which imports ")
            ),
        ));
        seen.extend(circle);
    }
    violations
}

/// Returns the shortest way from a file over its imports back to it, without its start.
fn shortest_circle<'a>(
    imports: &BTreeMap<&'a [&'a str], BTreeMap<&'a [&'a str], usize>>,
    first: &'a [&'a str],
) -> Option<Vec<&'a [&'a str]>> {
    let mut came_from: BTreeMap<&[&str], &[&str]> = BTreeMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front() {
        for next in imports[at].keys() {
            if !came_from.contains_key(next) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    let mut circle = vec![first];
    let mut at = *came_from.get(first)?;
    while at != first {
        circle.push(at);
        at = came_from[at];
    }
    circle.reverse();
    Some(circle)
}

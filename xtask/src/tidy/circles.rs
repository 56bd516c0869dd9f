//! Files of a crate import one another in one direction only.
//!
//! What a path names (`crate::a::B`, `super::c::d`, `a::B` beside `mod a;`), in code or in an
//! attribute of serde, is an import of the file that defines it. Names that another file hands on
//! are followed to where they are from, and handing a name on (`pub use`) is no import. What only
//! tests import does not count.
//!
//! A module and the files in its folder count as one file for all outside of the folder. What they
//! take from one another is looked at among the files of the folder alone.

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
    for (start, text) in source.serde_texts().filter(|(start, _)| !source.in_test(*start)) {
        let mut path: Vec<&str> = text.split("::").collect();
        if path.len() > 1 && path.iter().all(|part| !part.is_empty() && identifier(part) == *part) {
            // Of a module its functions are called.
            path.push("serialize");
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

/// An import: where it stands, and the file that defines what it names.
struct Import<'m, 'a> {
    from: &'m Module<'a>,
    line: usize,
    of: &'m Module<'a>,
}

/// The imports among the modules of one folder, each with its own folder, by their paths: one for
/// every two modules.
type Folder<'m, 'a> = BTreeMap<&'m [&'a str], BTreeMap<&'m [&'a str], Import<'m, 'a>>>;

/// Returns a violation for each circle of a crate, at an import of its first file.
fn circles(modules: &Crate<'_>) -> Vec<Violation> {
    let mut folders: BTreeMap<&[&str], Folder<'_, '_>> = BTreeMap::new();
    for module in modules.values() {
        for (line, path) in &module.paths {
            let Some((of, true)) = defines(modules, module, path, 0) else { continue };
            let same = module.path.iter().zip(&of.path).take_while(|(one, other)| one == other);
            let depth = same.count();
            // A module and what lies in its folder are one.
            if depth == module.path.len() || depth == of.path.len() {
                continue;
            }
            let folder = folders.entry(&module.path[..depth]).or_default();
            folder.entry(&of.path[..=depth]).or_default();
            let of_module = folder.entry(&module.path[..=depth]).or_default();
            let import = || Import { from: module, line: *line, of };
            of_module.entry(&of.path[..=depth]).or_insert_with(import);
        }
    }
    folders.values().flat_map(circles_of_folder).collect()
}

fn circles_of_folder(imports: &Folder<'_, '_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut seen: Vec<&[&str]> = Vec::new();
    for first in imports.keys() {
        if seen.contains(first) {
            continue;
        }
        let Some(circle) = shortest_circle(imports, first) else { continue };
        let starts = std::iter::once(first).chain(&circle);
        let steps: Vec<&Import<'_, '_>> =
            starts.zip(&circle).map(|(from, to)| &imports[from][to]).collect();
        violations.push(steps[0].from.file.violation(steps[0].line, words(&steps)));
        seen.extend(circle);
    }
    violations
}

/// Says which file of a circle imports which.
fn words(circle: &[&Import<'_, '_>]) -> String {
    let name = |module: &Module<'_>| format!("`{}`", module.file.path.display());
    let mut text = String::new();
    for (idx, import) in circle.iter().enumerate() {
        let follows = idx > 0 && circle[idx - 1].of.path == import.from.path;
        match (idx, follows) {
            (0, _) => {}
            (_, true) => text += ", which ",
            (_, false) => text = format!("{text}, and {} of its folder ", name(import.from)),
        }
        let is_first = follows && import.of.path == circle[0].from.path;
        text += "imports ";
        text += &if is_first { "it".to_owned() } else { name(import.of) };
    }
    text + ": move what they share to the file below both"
}

/// Returns the shortest way from a module over its imports back to it, without its start.
fn shortest_circle<'m, 'a>(
    imports: &Folder<'m, 'a>,
    first: &'m [&'a str],
) -> Option<Vec<&'m [&'a str]>> {
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

//! Calls that belong to some crates only, and macros that belong to none.

use super::layers::is_pure;
use super::{File, Violation};

/// Names a rule refuses, where, and what to do instead.
struct Rule {
    /// Paths, methods or macros, as the code spells them.
    names: &'static [&'static str],
    /// Modules of the standard library, by path or by `use`.
    std_modules: &'static [&'static str],
    /// Whether code that exists only in tests must obey as well.
    binds_tests: bool,
    /// Whether a file need not obey.
    is_exempt: fn(&File) -> bool,
    instead: &'static str,
}

const RULES: [Rule; 6] = [
    Rule {
        names: &["todo!", "unimplemented!", "dbg!", "#[ignore"],
        std_modules: &[],
        binds_tests: true,
        is_exempt: |_| false,
        instead: "unfinished work does not go into the main branch",
    },
    Rule {
        names: &[".unwrap()"],
        std_modules: &[],
        binds_tests: false,
        is_exempt: |_| false,
        instead: "return a typed error, or say in `expect` why it cannot happen",
    },
    Rule {
        names: &["Instant::now", "SystemTime::now"],
        std_modules: &[],
        binds_tests: false,
        is_exempt: |file| file.package == "xtask" || file.path.ends_with("clock.rs"),
        instead: "take a `Clock`: one module reads time, so that a run can be simulated",
    },
    Rule {
        names: &[],
        std_modules: &["env"],
        binds_tests: false,
        is_exempt: |file| is_command(file) || is_build_script(file) || is_generator(file),
        instead: "only the command reads the environment: pass the value in",
    },
    Rule {
        names: &["println!", "print!", "eprintln!", "eprint!"],
        std_modules: &[],
        binds_tests: false,
        is_exempt: |file| is_command(file) || is_build_script(file) || is_generator(file),
        instead: "only the command prints: return the text, or a diagnostic",
    },
    Rule {
        names: &["io::stdin", "io::stdout", "io::stderr"],
        std_modules: &["fs", "net", "os", "process", "thread"],
        binds_tests: false,
        is_exempt: |file| !is_pure(&file.package) || is_build_script(file),
        instead: "a pure crate does no I/O and starts no threads: let the caller do it",
    },
];

fn is_command(file: &File) -> bool {
    ["plimsoll", "xtask", ""].contains(&file.package.as_str())
}

/// A build script runs where the program is built, and is no part of it.
fn is_build_script(file: &File) -> bool {
    file.path.ends_with("build.rs")
}

/// What makes code runs beside the build, and is no part of the program.
fn is_generator(file: &File) -> bool {
    file.path.ends_with("codegen/src/main.rs")
}

/// Checks one Rust source.
pub(super) fn check(file: &File) -> Vec<Violation> {
    let Some(source) = &file.source else { return Vec::new() };
    let mut violations = Vec::new();
    for rule in RULES.iter().filter(|rule| !(rule.is_exempt)(file)) {
        let mut report = |offset: usize, name: &str| {
            if rule.binds_tests || !file.in_test(offset) {
                let message = format!("`{name}`: {}", rule.instead);
                violations.push(file.violation(source.line_of(offset), message));
            }
        };
        for name in rule.names {
            source.words(name).for_each(|offset| report(offset, name));
        }
        for (offset, module) in source.std_modules() {
            if rule.std_modules.contains(&module) {
                report(offset, &format!("std::{module}"));
            }
        }
    }
    for (offset, attribute) in source.lint_attributes() {
        if !attribute.contains("reason") {
            let message = "a lint is switched off without a reason: use \
                           `#[expect(lint, reason = \"...\")]`";
            violations.push(file.violation(source.line_of(offset), message));
        }
    }
    violations
}

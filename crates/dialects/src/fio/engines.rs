//! What names of engines stand for, and which options they have.

use plan::param::{self, ENGINES, EngineName, find_engine, find_fio};

/// What a name behind `ioengine=` stands for.
pub(super) enum Engine {
    /// One of ours.
    Ours,
    /// fio has it, we do not; says what to use instead.
    Missing(&'static EngineName),
    /// Neither, or only in fio that is built for it.
    Unknown(Option<&'static EngineName>),
}

/// Finds out what the engine's name stands for.
pub(super) fn engine(name: &str) -> Engine {
    match find_engine(name) {
        Some(found) if found.kind.is_some() => Engine::Ours,
        // As distributions build it: such files parse, and are refused when they are to run.
        Some(found) if !found.is_rare => Engine::Missing(found),
        found => Engine::Unknown(found),
    }
}

/// Returns what `--enghelp=WHAT` prints: all engines, an engine's options, or one of them.
///
/// The error is a message: the engine, or its option, is not known.
pub fn enghelp(what: &str) -> Result<String, String> {
    use std::fmt::Write;
    let mut text = String::new();
    let (name, option) = what.split_once(',').unwrap_or((what, ""));
    if name.is_empty() {
        text.push_str("Available IO engines:\n");
        for engine in ENGINES.iter().filter(|engine| engine.kind.is_some()) {
            let _ = writeln!(text, "\t{}", engine.name);
        }
        return Ok(text);
    }
    let Some(engine) = find_engine(name) else {
        return Err(format!("IO engine {name} not found"));
    };
    if engine.kind.is_none() {
        return Err(format!("IO engine {name} is not built in: {}", engine.note));
    }
    if !option.is_empty() {
        if !find_fio(option).is_some_and(|param| param.engines.contains(&engine.name)) {
            return Err(format!("engine {name} has no option {option}"));
        }
        return Ok(param::cmdhelp(option));
    }
    let _ = writeln!(text, "{}: {}", engine.name, engine.doc);
    for param in param::all().filter(|param| param.engines.contains(&engine.name)) {
        let option = param.fio_name();
        let _ = writeln!(text, "{option:<24}: {}", param.short);
    }
    Ok(text)
}

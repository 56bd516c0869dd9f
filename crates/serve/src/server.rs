//! A machine that obeys commands while it is served at some place.

use std::sync::Arc;

use plan::Severity;
use serde_json::{Value, json};
use volume::Design;
use volume::design::Catalog;

use crate::control::{self, Command, Refusal};
use crate::machine::{ChangeError, Machine};
use crate::status::{ExportReport, MachineStatus};

/// The place where a machine is served: a mount point, or an address.
pub trait Endpoint: Send + 'static {
    /// Returns its name.
    fn name(&self) -> String;

    /// Returns where clients of the network reach it, and which are there; `None` for a mount.
    fn export(&self) -> Option<ExportReport> {
        None
    }

    /// Ends the service. The process ends when nothing is served any more.
    fn close(&self, is_lazy: bool) -> Result<(), Refusal>;

    /// Makes clients drop what they have cached: a crash undid some of it.
    fn forget(&self, machine: &Machine);
}

/// Starts to obey commands for a machine.
pub fn obey(machine: &Arc<Machine>, place: impl Endpoint) -> std::io::Result<()> {
    let backing = machine.backing().dir().to_owned();
    let machine = Arc::clone(machine);
    control::listen(&backing, move |command| answer(&machine, &place, command))
}

/// Reads the text of a design.
fn read(text: &str, catalog: &Arc<Catalog>) -> Result<Design, Refusal> {
    let (design, findings) = volume::design::parse_with(text, catalog);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<&str> = errors.map(|finding| &*finding.message).collect();
    design.ok_or_else(|| Refusal::new(errors.join("; ")))
}

/// Returns the catalogue with a user's tables on top.
fn catalog_with(tables: Vec<(String, String)>) -> Result<Arc<Catalog>, Refusal> {
    Catalog::with(tables).map(Arc::new).map_err(|mistakes| {
        let all: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Refusal::new(all.join("; "))
    })
}

/// Returns why a design does not take the place of another, and what to do.
fn unchanged(error: &ChangeError, machine: &Machine, place: &impl Endpoint) -> Refusal {
    let refusal = Refusal::new(error.to_string());
    let (name, backing) = (place.name(), machine.backing().dir().display().to_string());
    let again = format!("to use it: plimsoll rehearse unmount {name}, then mount the new design");
    match error {
        ChangeError::Space { .. } => refusal.hint("delete files first, or name a larger size"),
        ChangeError::Shape(volume::ChangeError::Mount { .. }) => refusal
            .hint("the new design must have the same mount paths in the same order")
            .hint(format!("{again} with another --backing: {backing} has these volumes")),
        ChangeError::Shape(_) => refusal.hint(format!("{again} with --backing {backing} --resize")),
    }
}

fn answer(machine: &Machine, place: &impl Endpoint, command: Command) -> Result<Value, Refusal> {
    let broken = |error: serde_json::Error| Refusal::new(format!("cannot answer: {error}"));
    match command {
        Command::Status => {
            let report = MachineStatus { export: place.export(), ..machine.report(&place.name()) };
            serde_json::to_value(report).map_err(broken)
        }
        Command::Design => {
            let in_force = machine.in_force();
            let tables = in_force.design.catalog.own_tables();
            Ok(json!({ "design": in_force.text, "tables": tables, "only": machine.only() }))
        }
        Command::Change { design: text, tables } => {
            let catalog = match tables {
                None => machine.in_force().design.catalog,
                Some(tables) => catalog_with(tables)?,
            };
            let design = read(&text, &catalog)?;
            machine.change(text, design).map_err(|error| unchanged(&error, machine, place))?;
            Ok(Value::Null)
        }
        Command::Crash => {
            if machine.is_crashed() {
                let start = format!("start it again: plimsoll rehearse restart {}", place.name());
                return Err(Refusal::new("the machine has crashed already").hint(start));
            }
            let report = machine.crash();
            place.forget(machine);
            serde_json::to_value(report).map_err(broken)
        }
        Command::Restart => {
            if !machine.is_crashed() {
                let crash = format!("crash it first: plimsoll rehearse crash {}", place.name());
                return Err(Refusal::new("the machine is running").hint(crash));
            }
            machine.restart();
            place.forget(machine);
            Ok(Value::Null)
        }
        Command::Unmount { is_lazy } => place.close(is_lazy).map(|()| Value::Null),
    }
}

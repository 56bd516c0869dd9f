//! Network volumes: service levels, limits of volumes and pools, measured ceilings.

use std::sync::Arc;

use crate::column::Unit;
use crate::error::CatalogError;
use crate::figure::Figure;
use crate::table::{self, Sources, TableFile};

/// One figure about network volumes.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFact {
    /// What it is about: `level.premium`, `volume.large`, `surface.regular.random-8k`, `pool`.
    pub scope: String,
    /// What of it: `throughput_per_tib`, `size_min`, `read_iops`.
    pub parameter: String,
    /// The number.
    pub figure: Figure,
    /// What the source adds; may be empty.
    pub note: String,
}

/// Two kinds of volume, with limits of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// Up to 100 TiB.
    Regular,
    /// From 50 TiB on.
    Large,
}

impl VolumeKind {
    /// Returns its word in scopes.
    pub fn as_str(self) -> &'static str {
        match self {
            VolumeKind::Regular => "regular",
            VolumeKind::Large => "large",
        }
    }
}

/// What one volume was measured to carry, under one kind of load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface<'a> {
    /// The load: `random-8k`, `sequential-64k-cached`.
    pub name: &'a str,
    /// Reads per second.
    pub read_iops: Option<&'a Figure>,
    /// Writes per second.
    pub write_iops: Option<&'a Figure>,
    /// Bytes read per second.
    pub read_bytes: Option<&'a Figure>,
    /// Bytes written per second.
    pub write_bytes: Option<&'a Figure>,
    /// Bytes per second of a mix of both.
    pub mixed_bytes: Option<&'a Figure>,
}

/// Returns the surfaces of one kind of volume, in the order of the tables.
pub(crate) fn surfaces(facts: &[NetworkFact], kind: VolumeKind) -> Vec<Surface<'_>> {
    let prefix = format!("surface.{}.", kind.as_str());
    let mut surfaces: Vec<Surface<'_>> = Vec::new();
    for fact in facts {
        let Some(name) = fact.scope.strip_prefix(&prefix) else { continue };
        let idx = surfaces.iter().position(|surface| surface.name == name).unwrap_or_else(|| {
            surfaces.push(Surface { name, ..Surface::default() });
            surfaces.len() - 1
        });
        let slot = match fact.parameter.as_str() {
            "read_iops" => &mut surfaces[idx].read_iops,
            "write_iops" => &mut surfaces[idx].write_iops,
            "read_mib_s" => &mut surfaces[idx].read_bytes,
            "write_mib_s" => &mut surfaces[idx].write_bytes,
            "mixed_mib_s" => &mut surfaces[idx].mixed_bytes,
            _ => continue,
        };
        slot.get_or_insert(&fact.figure);
    }
    surfaces
}

/// Reads a table of facts.
pub(crate) fn facts(
    file: TableFile<'_>,
    sources: &Sources,
    errors: &mut Vec<CatalogError>,
) -> Vec<NetworkFact> {
    let read = table::lines(file, errors);
    let mut facts = Vec::new();
    for (line, cells) in &read.lines {
        let cell = |name: &str| read.cell(cells, name).unwrap_or("");
        let fact = || -> Result<NetworkFact, String> {
            let source = table::source_of(&read, cells, sources)?;
            let unit = cell("unit");
            let unit = Unit::from_text(unit).ok_or_else(|| format!("unknown unit `{unit}`"))?;
            let (scope, parameter) = (cell("scope").to_owned(), cell("parameter").to_owned());
            if scope.is_empty() || parameter.is_empty() {
                return Err("a fact needs scope and parameter".to_owned());
            }
            let figure = Figure::read(cell("value"), unit, None, &Arc::clone(source))?;
            Ok(NetworkFact { scope, parameter, figure, note: cell("note").to_owned() })
        };
        match fact() {
            Ok(fact) => facts.push(fact),
            Err(what) => errors.push(CatalogError::new(file.path, *line, what)),
        }
    }
    facts
}

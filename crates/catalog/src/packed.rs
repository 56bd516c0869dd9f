//! The tables that the program carries, and a user's own, which count before them.

use std::sync::Arc;

use crate::error::CatalogError;
use crate::table::{self, Sources, TableFile, TableSchema};

/// An edition's name and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditionInfo {
    /// Its name.
    pub name: &'static str,
    /// Another name for it.
    pub alias: Option<&'static str>,
    /// The edition that answers what this one does not say.
    pub based_on: Option<&'static str>,
    /// What it is.
    pub title: &'static str,
}

const fn info(
    name: &'static str,
    alias: Option<&'static str>,
    based_on: Option<&'static str>,
    title: &'static str,
) -> EditionInfo {
    EditionInfo { name, alias, based_on, title }
}

/// All editions.
pub const EDITIONS: [EditionInfo; 5] = [
    info("current", Some("today"), None, "the newest figure of every source"),
    info("2018", None, None, "what the Premium Storage design guide prints, errata marked"),
    info("2019", None, Some("current"), "Azure NetApp Files as benchmarked in 2019"),
    info("2023", Some("eda-module"), Some("current"), "Azure NetApp Files in the EDA module"),
    info("2024", Some("benchmarks-linux"), Some("current"), "Azure NetApp Files on Linux, 2024"),
];

impl EditionInfo {
    /// Returns whether this is its name, or the other name for it.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

/// A built-in table, compressed when the program was built.
pub(crate) struct Packed {
    pub(crate) path: &'static str,
    deflated: &'static [u8],
}

impl Packed {
    pub(crate) fn text(&self) -> String {
        let bytes = miniz_oxide::inflate::decompress_to_vec(self.deflated);
        let bytes = bytes.expect("the build compressed it");
        String::from_utf8(bytes).expect("tables are text")
    }
}

macro_rules! packed {
    ($path:literal) => {
        Packed {
            path: $path,
            deflated: include_bytes!(concat!(env!("OUT_DIR"), "/", $path, ".deflate")),
        }
    };
}

macro_rules! tables {
    ($($path:literal)*) => { &[$(packed!($path)),*] };
}

pub(crate) const SOURCES: Packed = packed!("sources.csv");

/// The tables, those whose figures count first coming first: an interface's own answers, then
/// published pages, then maps made from them. Of prices those of a list come before others.
pub(crate) const FILES: &[Packed] = tables!(
    "current/disks-azure.csv"
    "current/disks-azure-types.csv"
    "current/disks-azure-burst.csv"
    "current/disks-azure-free.csv"
    "current/disks-aws.csv"
    "current/disks-gcp.csv"
    "current/disks-gcp-machine.csv"
    "current/vms-azure-sku.csv"
    "current/vms-azure-series.csv"
    "current/vms-azure-series-2.csv"
    "current/vms-azure-memory.csv"
    "current/vms-azure-map.csv"
    "current/vms-azure-map-vcpus.csv"
    "current/vms-azure-ultra.csv"
    "current/vms-aws.csv"
    "current/vms-aws-more.csv"
    "current/vms-aws-local.csv"
    "current/vms-aws-nitro.csv"
    "current/vms-gcp.csv"
    "current/vms-gcp-slots.csv"
    "current/vms-gcp-limits.csv"
    "current/vms-gcp-limits-ha.csv"
    "current/vms-gcp-disks.csv"
    "current/network-azure-netapp.csv"
    "current/network-aws-fsx.csv"
    "current/network-gcp-netapp.csv"
    "current/prices-azure.csv"
    "current/prices-aws-ebs.csv"
    "current/prices-aws-fsx.csv"
    "current/prices-gcp.csv"
    "current/prices-storage.csv"
    "current/hourly-azure.csv"
    "current/hourly-aws.csv"
    "current/hourly-aws-regions.csv"
    "current/hourly-gcp.csv"
    "current/reserved-aws.csv"
    "current/reserved-gcp.csv"
    "current/sustained-gcp.csv"
    "2018/disks-azure.csv"
    "2018/disks-azure-unit.csv"
    "2018/vms-azure.csv"
    "2018/vms-azure-cached.csv"
    "2018/prices-guide.csv"
    "2019/network-azure-netapp.csv"
    "2023/network-azure-netapp.csv"
    "2023/disks-aws.csv"
    "2024/network-azure-netapp.csv"
    "2024/disks-aws.csv"
);

/// A user's own tables: pairs of path and text.
pub(crate) type OwnTables = Arc<[(String, String)]>;

/// Returns the sources, with those that a user's tables add.
pub(crate) fn sources(own: &OwnTables, errors: &mut Vec<CatalogError>) -> Sources {
    let text = SOURCES.text();
    let mut sources = table::sources(TableFile { path: SOURCES.path, text: &text }, errors);
    for (path, text) in own.iter().filter(|(path, _)| path == SOURCES.path) {
        sources.extend(table::sources(TableFile { path, text }, errors));
    }
    sources
}

/// Hands the tables of an edition's own folder to `read`, by their kinds, those that count first
/// coming first: a user's own, then the built-in ones. Only tables of the kinds wanted are
/// decompressed.
pub(crate) fn each_table(
    own: &OwnTables,
    edition: &str,
    is_wanted: impl Fn(TableSchema) -> bool,
    mut read: impl FnMut(TableSchema, TableFile<'_>),
) {
    let kind = |path: &str| {
        let (folder, name) = path.split_once('/')?;
        TableSchema::of(name).filter(|kind| folder == edition && is_wanted(*kind))
    };
    for (path, text) in own.iter() {
        if let Some(kind) = kind(path) {
            read(kind, TableFile { path, text });
        }
    }
    for packed in FILES {
        if let Some(kind) = kind(packed.path) {
            read(kind, TableFile { path: packed.path, text: &packed.text() });
        }
    }
}

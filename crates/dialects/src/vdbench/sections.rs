//! All that a parameter file says, section by section.
//!
//! General parameters, hosts, replay groups, file system definitions, storage definitions,
//! workloads of both kinds, runs. Each section takes parameters until a keyword of a later one; a
//! keyword of an earlier one is unknown to it.

use super::findings::SourceRange;
use super::fsd::FsdEntry;
use super::fwd::Fwds;
use super::known::Known;
use super::names;
use super::rd::RdEntry;
use super::scan::Scan;
use super::sd::SdEntry;
use super::section::Definitions;
use super::wd::WdEntry;
use super::{fsd, fwd, general, hosts, rd, sd, wd};

/// What all sections say.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// General parameters and hosts, and what is in use.
    pub(super) known: Known,
    pub(super) fsds: Vec<FsdEntry>,
    pub(super) sds: Vec<SdEntry>,
    /// By default they are what workloads of runs without `wd=` are.
    pub(super) wds: Definitions<WdEntry>,
    pub(super) fwds: Fwds,
    pub(super) rds: Vec<RdEntry>,
}

/// Reads all sections.
pub(super) fn read(scan: &mut Scan<'_>) -> Sections {
    scan.advance();
    if scan.is_at_end() {
        let message = "there is no parameter: nothing but comments and empty lines";
        scan.findings.error(SourceRange::NONE, "empty-file", message);
        return Sections::default();
    }
    scan.known.general = general::read(scan);
    scan.known.hosts = hosts::read(scan);
    hosts::replicate(scan);
    hosts::GROUPS.read(scan);
    let fsds = fsd::read(scan);
    let sds = sd::read(scan);
    let wds = wd::SECTION.read(scan);
    let fwds = fwd::read(scan);
    let rds = rd::read(scan);
    let known = std::mem::take(&mut scan.known);
    let sections = Sections { known, fsds, sds, wds, fwds, rds };
    if scan.is_kind() {
        let hosts = sections.known.hosts.iter();
        let hosts = hosts.map(|it| ("hd", it.host.label.as_str(), it.head.place));
        let sds = sections.sds.iter().map(|it| ("sd", &it.head));
        let wds = sections.wds.all.iter().map(|it| ("wd", &it.head));
        let fsds = sections.fsds.iter().map(|it| ("fsd", &it.head));
        let fwds = sections.fwds.all.iter().map(|it| ("fwd", &it.head));
        let others = sds.chain(wds).chain(fsds).chain(fwds);
        let others = others.map(|(kind, head)| (kind, head.name.as_str(), head.place));
        names::check(hosts.chain(others), &mut scan.findings);
    }
    scan.check_options();
    sections
}

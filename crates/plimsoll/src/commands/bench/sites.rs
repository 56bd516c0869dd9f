//! Where a suite works: scratch files in folders, files, devices, exports, emulated volumes.

use std::path::{Path, PathBuf};

use bench::suite::jobs::Site;
use bench::suite::{Size, Suite, SuitePlace};
use runner::Emulation;
use volume::Design;
use volume::design::{Backing, CacheMode, Volume};

use super::super::existing::{self, ExistingTarget, ReadOnly};
use super::super::scratch::{EMULATED_BYTES, Purpose, Scratch};
use super::super::subject;
use super::Args;
use crate::exit::Failure;
use crate::stream;

/// What is done with a scratch folder.
const PURPOSE: Purpose = Purpose {
    command: "bench",
    file_name: "plimsoll-bench.scratch",
    other_folder: "plimsoll bench DIR",
    size_option: "plimsoll bench DIR --set size=",
};

/// Smallest scratch file that says anything.
const AUTO_BYTES_MIN: u64 = 64 << 20;
/// Bytes worked on of an export, whose free space is not known.
const EXPORT_BYTES: u64 = 1 << 30;
/// Share of the free space that a scratch file takes unless its size is given.
const FREE_SHARE: u64 = 4;

/// What kind of target a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteKind {
    /// A scratch file of our own.
    Scratch,
    /// A file that was there before.
    File,
    /// A block device.
    Device,
    /// A file of our own on an NFS export.
    Export,
    /// On an emulated volume.
    Emulated,
}

/// The places of a suite. Scratch files are removed when it is dropped.
#[derive(Debug)]
pub(super) struct Sites {
    pub(super) list: Vec<Site>,
    pub(super) kinds: Vec<SiteKind>,
    pub(super) scratch: Vec<Scratch>,
    /// Why some of them may not be written to; none where all may.
    pub(super) read_only: Option<ReadOnly>,
}

impl Sites {
    /// Finds a target for each place, and makes the scratch files' folders.
    pub(super) fn find(
        suite: &Suite,
        args: &Args,
        emulation: Option<&Emulation>,
    ) -> Result<Self, Failure> {
        let unnamed = SuitePlace { name: String::new(), what: String::new(), is_cached: None };
        let places = if suite.places.is_empty() { vec![unnamed] } else { suite.places.clone() };
        let read_only = args.safety.readonly.then_some(ReadOnly::Asked);
        let mut found =
            Sites { list: Vec::new(), kinds: Vec::new(), scratch: Vec::new(), read_only };
        let targets = targets(&suite.name, &args.target, &places)?;
        for (place, target) in places.iter().zip(targets) {
            let (site, kind) = match (emulation, target) {
                (Some(emulation), target) => (
                    emulated(&emulation.design, place, target.as_deref(), suite)?,
                    SiteKind::Emulated,
                ),
                (None, Some(target)) => found.on_this_host(suite, place, &target, places.len())?,
                (None, None) => {
                    let failure = Failure::wrong_use("no target is given");
                    return Err(failure
                        .hint("name a folder, a device or a file: plimsoll bench DIR")
                        .hint("or an emulated volume: plimsoll bench --on DESIGN --virtual"));
                }
            };
            let is_ours = !matches!(kind, SiteKind::File | SiteKind::Device);
            if !existing::may_write(is_ours, args.overwrite) {
                found.read_only.get_or_insert(ReadOnly::Kept);
            }
            found.list.push(site);
            found.kinds.push(kind);
        }
        if found.read_only.is_some() {
            found.check_fill()?;
        }
        Ok(found)
    }

    /// A scratch file cannot be read that may not be written.
    fn check_fill(&self) -> Result<(), Failure> {
        let ours = [SiteKind::Scratch, SiteKind::Export];
        if self.kinds.iter().any(|kind| ours.contains(kind)) {
            return Err(Scratch::refused());
        }
        Ok(())
    }

    fn on_this_host(
        &mut self,
        suite: &Suite,
        place: &SuitePlace,
        target: &str,
        n_places: usize,
    ) -> Result<(Site, SiteKind), Failure> {
        if target.starts_with("nfs://") {
            return Ok((export(suite, place, target), SiteKind::Export));
        }
        subject::refuse_job_file(target, "bench")?;
        let blocks = suite.parts.iter().flat_map(|part| &part.block_bytes);
        let largest = blocks.copied().max().unwrap_or(0);
        let (there_bytes, kind) = match existing::find(target, largest, "")? {
            ExistingTarget::Folder if self.read_only.is_some() => return Err(Scratch::refused()),
            ExistingTarget::Folder => {
                let site = self.in_folder(suite, place, Path::new(target), n_places)?;
                return Ok((site, SiteKind::Scratch));
            }
            ExistingTarget::File(bytes) => (bytes, SiteKind::File),
            ExistingTarget::Device(bytes) => (bytes, SiteKind::Device),
        };
        let site = Site {
            place: place.name.clone(),
            file: target.to_owned(),
            export: None,
            size_bytes: match suite.prepare.size {
                Size::Auto { max_bytes } => there_bytes.min(max_bytes),
                Size::Bytes(bytes) => bytes.min(there_bytes),
            },
            takes_direct: true,
        };
        Ok((site, kind))
    }

    fn in_folder(
        &mut self,
        suite: &Suite,
        place: &SuitePlace,
        dir: &Path,
        n_places: usize,
    ) -> Result<Site, Failure> {
        // Two places may be in one folder.
        let known = self.scratch.iter().position(|it| it.dir().parent() == Some(dir));
        let idx = known.unwrap_or(self.scratch.len());
        if known.is_none() {
            self.scratch.push(Scratch::make(&[PathBuf::from(dir)], PURPOSE)?);
        }
        let scratch = &self.scratch[idx];
        let size_bytes = match suite.prepare.size {
            Size::Bytes(bytes) => bytes,
            Size::Auto { max_bytes } => auto_bytes(scratch, max_bytes, n_places),
        };
        scratch.check_space(size_bytes, n_places as u64)?;
        let takes_direct = scratch.takes_direct();
        if !takes_direct {
            stream::print_message(
                "note: the file system refuses direct I/O: these numbers are those of the page \
                 cache\n",
            );
        }
        let file = scratch.file(&place.name).to_string_lossy().into_owned();
        Ok(Site { place: place.name.clone(), file, export: None, size_bytes, takes_direct })
    }
}

/// Returns the target of each place: the one with its name (`PLACE=TARGET`), else those without a
/// name in their order, of which an only one is for all. One that nothing takes is refused.
fn targets(
    suite: &str,
    named: &[String],
    places: &[SuitePlace],
) -> Result<Vec<Option<String>>, Failure> {
    let own = |place: &SuitePlace| {
        let of = |target: &String| {
            let rest = target.strip_prefix(place.name.as_str())?.strip_prefix('=')?;
            (!place.name.is_empty()).then(|| rest.to_owned())
        };
        named.iter().find_map(of)
    };
    let of_place: Vec<Option<String>> = places.iter().map(own).collect();
    let is_named = |target: &&String| {
        let name = target.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && places.iter().any(|place| place.name == name)
    };
    let plain: Vec<&String> = named.iter().filter(|target| !is_named(target)).collect();
    let n_open = of_place.iter().filter(|target| target.is_none()).count();
    if let Some(extra) = plain.get(n_open) {
        let takes = match places.len() {
            1 => "one target".to_owned(),
            n => format!("{n} targets"),
        };
        let message = format!("`{extra}` is one too many: suite `{suite}` takes {takes}");
        return Err(Failure::wrong_use(message).hint("measure the others with separate commands"));
    }
    let mut next = plain.iter();
    let only = plain.first().filter(|_| plain.len() == 1);
    let fill = |target: Option<String>| {
        let plain = || next.next().or(only).map(|target| (*target).clone());
        target.or_else(plain)
    };
    Ok(of_place.into_iter().map(fill).collect())
}

/// Returns the place of a suite on other hosts, whose files and devices are not looked at from
/// here: an export, a device, or a folder, in which they make a file together.
pub(super) fn on_hosts(suite: &Suite, target: &str) -> Result<(Site, SiteKind), Failure> {
    let unnamed = SuitePlace { name: String::new(), what: String::new(), is_cached: None };
    let [place] = &suite.places.first().map_or([unnamed], |place| [place.clone()]);
    if target.starts_with("nfs://") {
        return Ok((export(suite, place, target), SiteKind::Export));
    }
    let is_device = subject::is_device_path(Path::new(target));
    let size_bytes = match suite.prepare.size {
        Size::Bytes(bytes) => bytes,
        Size::Auto { .. } if is_device => {
            let message = format!("the size of `{target}` is not known on this host");
            return Err(Failure::wrong_use(message).hint("give a size: --set size=100g"));
        }
        Size::Auto { max_bytes } => max_bytes.min(EXPORT_BYTES),
    };
    let (file, kind) = if is_device {
        (target.to_owned(), SiteKind::Device)
    } else {
        let file = Path::new(target).join(PURPOSE.file_name);
        (file.to_string_lossy().into_owned(), SiteKind::Scratch)
    };
    let place = place.name.clone();
    Ok((Site { place, file, export: None, size_bytes, takes_direct: true }, kind))
}

/// Returns a size that leaves most of the free space alone, and is larger than memory where that
/// can be.
fn auto_bytes(scratch: &Scratch, max_bytes: u64, n_places: usize) -> u64 {
    let memory_bytes = {
        let info = rustix::system::sysinfo();
        let unit = u64::from(info.mem_unit).max(1);
        (info.totalram as u64).saturating_mul(unit)
    };
    let wanted = memory_bytes.saturating_mul(2).max(1 << 30).min(max_bytes);
    let free = scratch.free_bytes().unwrap_or(wanted * FREE_SHARE);
    let share = free / FREE_SHARE / n_places.max(1) as u64;
    (wanted.min(share) >> 20 << 20).max(AUTO_BYTES_MIN.min(max_bytes))
}

fn export(suite: &Suite, place: &SuitePlace, url: &str) -> Site {
    Site {
        place: place.name.clone(),
        file: format!("plimsoll-bench-{}{}.scratch", std::process::id(), place.name),
        export: Some(url.to_owned()),
        size_bytes: match suite.prepare.size {
            Size::Auto { max_bytes } => max_bytes.min(EXPORT_BYTES),
            Size::Bytes(bytes) => bytes,
        },
        takes_direct: true,
    }
}

/// Returns a file on an emulated volume: the one that is named, else one that fits the place.
fn emulated(
    design: &Design,
    place: &SuitePlace,
    target: Option<&str>,
    suite: &Suite,
) -> Result<Site, Failure> {
    let named = target.and_then(|target| volume_of(design, target));
    let fits = |volume: &&Volume| place.is_cached.is_none_or(|it| it == is_cached(volume));
    let Some(volume) = named.or_else(|| design.volumes.iter().find(fits)) else {
        let what = &place.what;
        let message = format!("`{}` has no volume for `{}`: {what}", design.name, place.name);
        return Err(Failure::wrong_use(message)
            .hint(format!("name one: plimsoll bench {}=/mnt/a ...", place.name)));
    };
    let dir = match target {
        Some(target) if named.is_some() => target.trim_end_matches('/').to_owned(),
        Some(target) => {
            let mounts: Vec<&str> = design.volumes.iter().map(|it| it.mount.as_str()).collect();
            let message = format!("`{target}` is not on a volume of `{}`", design.name);
            return Err(Failure::wrong_use(message)
                .hint(format!("its volumes are at {}", mounts.join(", "))));
        }
        None => {
            note_choice(design, place, volume);
            volume.mount.trim_end_matches('/').to_owned()
        }
    };
    let wanted = match suite.prepare.size {
        Size::Auto { max_bytes } => max_bytes.min(EMULATED_BYTES),
        Size::Bytes(bytes) => bytes,
    };
    let size_bytes = wanted.min(volume.capacity_bytes >> 20 << 20);
    if size_bytes < wanted {
        let (size, wanted) = (units::format_bytes(size_bytes), units::format_bytes(wanted));
        stream::print_message(&format!(
            "note: `{}` has {size} instead of the suite's {wanted}\n",
            volume.mount
        ));
    }
    Ok(Site {
        place: place.name.clone(),
        file: format!("{dir}/plimsoll-bench{}.scratch", place.name),
        export: None,
        size_bytes,
        takes_direct: true,
    })
}

/// Says which of several volumes is measured where none was named.
fn note_choice(design: &Design, place: &SuitePlace, volume: &Volume) {
    let others = design.volumes.iter().map(|it| it.mount.as_str());
    let others: Vec<&str> = others.filter(|mount| *mount != volume.mount).collect();
    let [other, ..] = others[..] else { return };
    let name = if place.name.is_empty() { String::new() } else { format!("{}=", place.name) };
    stream::print_message(&format!(
        "note: `{}` is measured, not `{}`; another one is `plimsoll bench {name}{other}`\n",
        volume.mount,
        others.join("` or `"),
    ));
}

fn volume_of<'a>(design: &'a Design, path: &str) -> Option<&'a Volume> {
    let is_below = |volume: &&Volume| {
        let mount = volume.mount.trim_end_matches('/');
        path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    design.volumes.iter().filter(is_below).max_by_key(|volume| volume.mount.len())
}

fn is_cached(volume: &Volume) -> bool {
    match &volume.backing {
        Backing::Disks(stripe) => stripe.disks.iter().any(|disk| disk.cache != CacheMode::None),
        Backing::Network(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(places: &[&str], named: &[&str], expected: Result<&[Option<&str>], &str>) {
        let place = |name: &&str| SuitePlace {
            name: (*name).to_owned(),
            what: String::new(),
            is_cached: None,
        };
        let places: Vec<SuitePlace> = places.iter().map(place).collect();
        let named: Vec<String> = named.iter().map(|&it| it.to_owned()).collect();
        match (targets("s", &named, &places), expected) {
            (Ok(found), Ok(expected)) => {
                let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
                assert_eq!(found, expected);
            }
            (Err(found), Err(expected)) => {
                let found = format!("{found:?}");
                assert!(found.contains(expected), "{found}");
            }
            (found, expected) => panic!("{found:?} for {expected:?}"),
        }
    }

    #[test]
    fn every_target_has_its_place_or_is_refused() {
        check(&[""], &["/a"], Ok(&[Some("/a")]));
        check(&[""], &["/a=b"], Ok(&[Some("/a=b")]));
        check(&[""], &["/a", "/b"], Err("`/b` is one too many: suite `s` takes one target"));
        check(&["x", "y"], &[], Ok(&[None, None]));
        check(&["x", "y"], &["/a"], Ok(&[Some("/a"), Some("/a")]));
        check(&["x", "y"], &["/a", "/b"], Ok(&[Some("/a"), Some("/b")]));
        check(&["x", "y"], &["y=/b", "/a"], Ok(&[Some("/a"), Some("/b")]));
        check(&["x", "y"], &["y=/b", "x=/a"], Ok(&[Some("/a"), Some("/b")]));
        check(&["x", "y"], &["/a", "/b", "/c"], Err("`/c` is one too many"));
        check(&["x", "y"], &["y=/b", "/a", "/c"], Err("`/c` is one too many"));
    }
}

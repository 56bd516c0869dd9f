//! What a job of a run works on: one storage definition, or several as one volume.

use plan::Diagnostic;
use plan::files::{Fadvise, Fileset, Size, SyncMode};
use plan::job::Source;
use plan::verify::DedupeSets;

use super::super::run::{OpenFlags, Sd, Span, Wd, Xfersize};
use crate::devices::is_device;

/// `O_DIRECT` on Linux, x86.
const O_DIRECT: u32 = 0x4000;
/// `O_DSYNC`.
const O_DSYNC: u32 = 0x1000;
/// The bit that makes `O_SYNC` of `O_DSYNC`.
const O_SYNC_BIT: u32 = 0x10_0000;
/// `O_NONBLOCK`, `O_LARGEFILE`, `O_NOFOLLOW`, `O_CLOEXEC`: harmless, and passed on.
const O_PASSED_ON: u32 = 0x0800 | 0x8000 | 0x2_0000 | 0x8_0000;
/// `O_NOATIME`: always tried.
const O_NOATIME: u32 = 0x4_0000;
/// All bits that mean something here.
const O_KNOWN: u32 = O_DIRECT | O_DSYNC | O_SYNC_BIT | O_PASSED_ON | O_NOATIME;

/// The files of one job, and how they are used.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Name of the storage definition, or of the workload definition that uses a volume.
    pub(super) name: String,
    pub(super) files: Fileset,
    /// I/Os at a time.
    pub(super) threads: u32,
    pub(super) range: Option<Span>,
    pub(super) hitarea_bytes: u64,
    pub(super) align_bytes: u64,
    /// Duplicates of its own; those of all where there are none.
    pub(super) dedup: Option<DedupeSets>,
    /// The same in every run, so that what is a duplicate stays one.
    pub(super) seed: u64,
}

impl Target {
    /// Returns a storage definition as a target.
    pub(super) fn of_sd(sd: &Sd, sources: &[Source], findings: &mut Vec<Diagnostic>) -> Target {
        let mut add = |finding| add(findings, sd.place.of(finding, sources));
        let is_device = is_device(&sd.lun);
        if is_device && !sd.open.direct && sd.open.raw_bits & O_DIRECT == 0 {
            let message = format!(
                "sd={}: `{}` is a device, and a device is used with direct I/O only",
                sd.name, sd.lun
            );
            add(Diagnostic::error("device-without-direct", message)
                .help("write `openflags=o_direct` into the storage definition"));
        }
        if sd.size_bytes.is_some_and(|size| size <= sd.offset_bytes) {
            let message = format!(
                "sd={}: offset={} is not within size={}",
                sd.name,
                sd.offset_bytes,
                sd.size_bytes.unwrap_or(0)
            );
            add(Diagnostic::error("offset-beyond-size", message));
        }
        let mut files = Fileset {
            names: vec![sd.lun.clone()],
            size: sd.size_bytes.map(|size| Size::Bytes(size.saturating_sub(sd.offset_bytes))),
            offset: Size::Bytes(sd.offset_bytes),
            spares_first_block: is_device,
            ..plain_files()
        };
        open_flags(sd.open, &mut files);
        // Commands that only list or translate the runs get what would run.
        files.direct |= is_device;
        let unknown = sd.open.raw_bits & !O_KNOWN;
        if unknown != 0 {
            let message =
                format!("sd={}: openflags= has bits that are not passed on: {unknown:#x}", sd.name);
            add(Diagnostic::error("unknown-open-bits", message).help(
                "write o_direct (0x4000), o_dsync (0x1000) or their bits, or 0x101000 for O_SYNC",
            ));
        }
        Target {
            name: sd.name.clone(),
            files,
            threads: sd.threads.max(1),
            range: sd.range,
            hitarea_bytes: sd.hitarea_bytes,
            align_bytes: sd.align_bytes,
            dedup: sd.dedup.clone(),
            seed: seed_of(&sd.name),
        }
    }

    /// Returns the volume that a workload definition makes of its storage definitions; `None`
    /// where there is none, or where they do not fit together.
    pub(super) fn of_volume<'a>(
        wd: &Wd,
        sds: impl Iterator<Item = &'a Sd>,
        sources: &[Source],
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Target> {
        let members: Vec<Target> = sds.map(|sd| Target::of_sd(sd, sources, findings)).collect();
        let first = members.first()?;
        let alike = |other: &Target| {
            other.files.size == first.files.size
                && (other.files.direct, other.files.sync) == (first.files.direct, first.files.sync)
        };
        if !members.iter().all(alike) {
            let message = format!(
                "wd={}: the storage definitions of one volume need the same size and the same \
                 openflags",
                wd.name
            );
            add(
                findings,
                Diagnostic::error("uneven-volume", message)
                    .help("leave `size=` out to use each file as long as it is"),
            );
            return None;
        }
        let n_members = members.len() as u64;
        let size = match first.files.size {
            Some(Size::Bytes(bytes)) => Some(Size::Bytes(bytes.saturating_mul(n_members))),
            other => other,
        };
        let names = members.iter().flat_map(|member| member.files.names.clone()).collect();
        let threads = members.iter().fold(0, |sum: u32, member| sum.saturating_add(member.threads));
        Some(Target {
            name: wd.name.clone(),
            files: Fileset { names, size, concatenate: true, ..first.files.clone() },
            threads: wd.threads.unwrap_or(threads).max(1),
            range: None,
            hitarea_bytes: 0,
            align_bytes: 0,
            dedup: first.dedup.clone(),
            seed: seed_of(&wd.name),
        })
    }

    /// Returns what a report shows of a job: its target, and each workload definition on it.
    pub(super) fn options<'a>(&self, wds: impl Iterator<Item = &'a Wd>) -> Vec<(String, String)> {
        let named = |key: &str, value: String| (key.to_owned(), value);
        let mut options = vec![
            named("sd", self.name.clone()),
            named("lun", self.files.names.join(",")),
            named("threads", self.threads.to_string()),
        ];
        if self.files.direct {
            options.push(named("openflags", "o_direct".to_owned()));
        }
        options.extend(wds.map(|wd| named("wd", wd_words(wd))));
        options
    }
}

/// Returns a workload definition in short: `wd1,rdpct=50,xfersize=4096,skew=100`.
fn wd_words(wd: &Wd) -> String {
    let xfersize = match &wd.xfersize {
        Xfersize::Fixed(bytes) => bytes.to_string(),
        Xfersize::Split(parts) => {
            let pairs: Vec<String> =
                parts.iter().map(|(bytes, pct)| format!("{bytes},{pct}")).collect();
            format!("({})", pairs.join(","))
        }
        Xfersize::Range { min, max, align } => format!("({min},{max},{align})"),
    };
    format!("{},rdpct={},xfersize={xfersize},skew={}", wd.name, wd.rdpct, wd.skew_pct)
}

/// Files as Vdbench uses them: nothing is dropped from caches, no advice, no file is made but by
/// the formatting that comes first.
fn plain_files() -> Fileset {
    Fileset { invalidate: false, fadvise: Fadvise::None, allow_create: false, ..Fileset::default() }
}

/// Applies `openflags=`.
fn open_flags(open: OpenFlags, files: &mut Fileset) {
    let bits = open.raw_bits;
    files.direct = open.direct || bits & O_DIRECT != 0;
    files.fsync_on_close = open.fsync_on_close;
    files.sync = match (bits & O_SYNC_BIT != 0, open.dsync || bits & O_DSYNC != 0) {
        (true, _) => SyncMode::Sync,
        (_, true) => SyncMode::Dsync,
        _ => SyncMode::None,
    };
    files.open_flag_bits = bits & O_PASSED_ON;
}

/// Adds a finding once: each run of a file would repeat it.
pub(super) fn add(findings: &mut Vec<Diagnostic>, finding: Diagnostic) {
    if !findings.contains(&finding) {
        findings.push(finding);
    }
}

/// Returns a seed made from a name (FNV-1a): the same in every run of every file. It has 63 bits,
/// as many as the parameter `seed` takes.
pub(in crate::vdbench) fn seed_of(name: &str) -> u64 {
    units::fnv1a(name.bytes()) >> 1
}

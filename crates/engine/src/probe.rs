//! What there is to know about a target before a job touches it.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, SeekFrom, StatVfsMountFlags, StatxFlags};
use rustix::io::Errno;

use crate::files::FileKind;
use crate::mounts::{
    self, DeviceNumber, KernelUse, Mount, MountPoint, Namespace, Process, UnreadTable,
};
use crate::signatures::{self, Contents, ContentsKind};
use crate::{EngineError, call};

/// `BLKSSZGET` of `linux/fs.h`, `_IO(0x12, 104)`: bytes of a logical block.
const BLKSSZGET: u32 = 0x1268;

/// `BLKROGET` of `linux/fs.h`, `_IO(0x12, 94)`: whether a device is read-only.
const BLKROGET: u32 = 0x125e;

/// `LOOP_GET_STATUS64` of `linux/loop.h`: what a loop device lies over.
const LOOP_GET_STATUS64: u32 = 0x4c05;

/// The smallest sector there is, for files whose file system says nothing.
const SECTOR_BYTES: u32 = 512;

/// Devices below a device that are looked at: partitions and what is stacked on them. A limit of
/// ours against a cycle in /sys.
const DEPENDENTS_MAX: usize = 1024;

/// Pieces of a file that are looked at for holes. A limit of ours: a file that is written at random
/// places may have a million.
const EXTENTS_MAX: usize = 4096;

/// What direct I/O asks of memory and offsets, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlign {
    /// Of the memory.
    pub memory_bytes: u32,
    /// Of offsets and lengths.
    pub offset_bytes: u32,
}

/// What there is to know about a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetFacts {
    /// The path that was looked at.
    pub path: PathBuf,
    /// What it leads to; [`FileKind::Missing`] when there is nothing yet.
    pub kind: FileKind,
    /// Bytes it holds: the size of a file, the capacity of a device.
    pub size_bytes: u64,
    /// Bytes it occupies on its file system; 0 for a device.
    pub allocated_bytes: u64,
    /// Bytes of a file that were written, as far as its file system tells: space that is only
    /// reserved is answered for without the device. 0 for what is no file.
    pub written_bytes: u64,
    /// Bytes of a logical block: of the device, or what direct I/O to the file needs.
    pub logical_block_bytes: u32,
    /// What direct I/O needs; `None` when it is refused, or nothing is there to ask.
    pub direct: Option<DirectAlign>,
    /// The device takes discards, as far as /sys says. Files: whether holes can be punched shows
    /// when one is.
    pub discards: bool,
    /// The device, or the file system of the file, is read-only.
    pub read_only: bool,
    /// Bytes that this user may still use on the file system of the file; `None` for a device.
    pub free_bytes: Option<u64>,
    /// What the device, a partition of it, or what is stacked on it is in use for: where it is
    /// mounted, in this or, as far as this user may see, in another mount namespace, and swap.
    pub uses: Vec<KernelUse>,
    /// The table that would tell whether it is mounted or used as swap, and could not be read.
    pub unread: Option<UnreadTable>,
    /// The devices that lie over it or over a part of it, mounted or not: loop devices, and what
    /// /sys calls holders. Its partitions are none.
    pub stacked: Vec<PathBuf>,
    /// The kernel or another program holds the device for itself: it is mounted, or a part of an
    /// array or volume. Not looked for by [`inspect`].
    pub is_held: bool,
    /// The file system, partition table or the like that the device holds; where it shows none,
    /// that of a device over it, which may begin further in.
    pub contents: Contents,
    /// Major and minor number: of the device itself, or of the one that the file is on.
    pub device: DeviceNumber,
}

impl TargetFacts {
    /// Returns why the target is not to be written without the user's word, or `None`. Only block
    /// devices are guarded: a plan names files on purpose.
    pub fn write_risk(&self) -> Option<WriteRisk<'_>> {
        if self.kind != FileKind::Block {
            return None;
        }
        if let Some(first) = self.uses.first() {
            return Some(WriteRisk::InUse(first));
        }
        if self.is_held {
            return Some(WriteRisk::Held);
        }
        if let Some(unread) = &self.unread {
            return Some(WriteRisk::MountsUnknown(unread));
        }
        match self.stacked.first() {
            Some(above) => Some(WriteRisk::Stacked(above)),
            None => self.contents_risk(),
        }
    }

    /// Returns the same, where the user allows to write to a device in use: what it holds.
    pub fn contents_risk(&self) -> Option<WriteRisk<'static>> {
        if self.kind != FileKind::Block {
            return None;
        }
        match self.contents {
            Contents::Nothing => None,
            Contents::Known { name, kind } => Some(WriteRisk::Contents(name, kind)),
            Contents::Unreadable { offset, errno } => Some(WriteRisk::Unreadable { offset, errno }),
        }
    }
}

/// Why a device is not to be written without the user's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRisk<'a> {
    /// It, or a part of it, is mounted or used as swap.
    InUse(&'a KernelUse),
    /// The kernel or another program holds it.
    Held,
    /// Whether it is mounted is not known, since this table cannot be read.
    MountsUnknown(&'a UnreadTable),
    /// This device lies over it, or over a part of it.
    Stacked(&'a Path),
    /// It holds this.
    Contents(&'static str, ContentsKind),
    /// What it holds is not known, since this byte cannot be read.
    Unreadable {
        /// Counted from the start.
        offset: u64,
        /// Why.
        errno: i32,
    },
}

/// Looks at a target without changing it. A path that leads nowhere is not an error: the facts then
/// say so, and tell about the directory it would be in.
///
/// # Errors
/// When the path, or for a missing file its directory, cannot be looked at.
pub fn probe(path: &Path) -> Result<TargetFacts, EngineError> {
    claim(path).map(|(facts, _)| facts)
}

/// Looks at a target as [`probe`] does, but does not try to hold a block device, not for a moment:
/// for a job that only reads. Whether another program holds it is not checked.
///
/// # Errors
/// As [`probe`].
pub fn inspect(path: &Path) -> Result<TargetFacts, EngineError> {
    look_at(path, false).map(|(facts, _)| facts)
}

/// Looks at a target, and holds it for this process if it is a block device: while the descriptor
/// lives, no other program mounts it or makes it part of an array. None is returned for what is no
/// device, and for one that is held already, as the facts then say.
///
/// # Errors
/// As [`probe`].
pub fn claim(path: &Path) -> Result<(TargetFacts, Option<OwnedFd>), EngineError> {
    look_at(path, true)
}

fn look_at(path: &Path, holds: bool) -> Result<(TargetFacts, Option<OwnedFd>), EngineError> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN;
    let facts = match rustix::fs::statx(CWD, path, AtFlags::empty(), mask) {
        Ok(facts) => facts,
        Err(Errno::NOENT) => return Ok((probe_missing(path)?, None)),
        Err(errno) => return Err(EngineError::file("look at", path, errno)),
    };
    let kind = FileKind::from_mode(u32::from(facts.stx_mode));
    let is_device = matches!(kind, FileKind::Block | FileKind::Character);
    let direct = (facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0
        && facts.stx_dio_offset_align > 0)
        .then_some(DirectAlign {
            memory_bytes: facts.stx_dio_mem_align,
            offset_bytes: facts.stx_dio_offset_align,
        });
    let mut target = TargetFacts {
        path: path.to_owned(),
        kind,
        size_bytes: facts.stx_size,
        allocated_bytes: facts.stx_blocks * 512,
        written_bytes: 0,
        logical_block_bytes: direct.map_or(SECTOR_BYTES, |direct| direct.offset_bytes),
        direct,
        discards: false,
        read_only: false,
        free_bytes: None,
        uses: Vec::new(),
        unread: None,
        stacked: Vec::new(),
        is_held: false,
        contents: Contents::Nothing,
        device: if is_device {
            (facts.stx_rdev_major, facts.stx_rdev_minor)
        } else {
            (facts.stx_dev_major, facts.stx_dev_minor)
        },
    };
    let mut held = None;
    match kind {
        FileKind::Block => held = probe_device(&mut target, holds)?,
        FileKind::Regular | FileKind::Directory => {
            probe_file_system(&mut target, path)?;
            if kind == FileKind::Regular {
                target.written_bytes = written_bytes(path, target.size_bytes);
                target.direct = target.direct.or_else(|| try_direct(path));
            }
        }
        FileKind::Character | FileKind::Missing | FileKind::Other => {}
    }
    Ok((target, held))
}

/// Returns how much of a file is neither hole nor reserved space. What the file system does not
/// tell counts as written.
fn written_bytes(path: &Path, size_bytes: u64) -> u64 {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else { return size_bytes };
    let (mut at, mut written_bytes) = (0, 0);
    for _ in 0..EXTENTS_MAX {
        let start = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(start) => start,
            Err(Errno::NXIO) => return written_bytes,
            Err(_) => break,
        };
        let Ok(end) = rustix::fs::seek(&file, SeekFrom::Hole(start)) else { break };
        written_bytes += end.saturating_sub(start);
        at = end;
        if at >= size_bytes {
            return written_bytes;
        }
    }
    written_bytes + size_bytes.saturating_sub(at)
}

/// Describes the directory that a missing file would be in.
fn probe_missing(path: &Path) -> Result<TargetFacts, EngineError> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let facts = rustix::fs::stat(parent).map_err(|errno| EngineError::file("find", path, errno))?;
    let mut target = TargetFacts {
        path: path.to_owned(),
        kind: FileKind::Missing,
        size_bytes: 0,
        allocated_bytes: 0,
        written_bytes: 0,
        logical_block_bytes: SECTOR_BYTES,
        direct: None,
        discards: false,
        read_only: false,
        free_bytes: None,
        uses: Vec::new(),
        unread: None,
        stacked: Vec::new(),
        is_held: false,
        contents: Contents::Nothing,
        device: (rustix::fs::major(facts.st_dev), rustix::fs::minor(facts.st_dev)),
    };
    probe_file_system(&mut target, parent)?;
    Ok(target)
}

fn probe_file_system(target: &mut TargetFacts, on: &Path) -> Result<(), EngineError> {
    let facts = rustix::fs::statvfs(on).map_err(|errno| EngineError::file("look at", on, errno))?;
    target.free_bytes = Some(facts.f_bavail.saturating_mul(facts.f_frsize));
    target.read_only = facts.f_flag.contains(StatVfsMountFlags::RDONLY);
    Ok(())
}

/// Finds out by opening it whether a file takes direct I/O, on kernels before 6.1.
fn try_direct(path: &Path) -> Option<DirectAlign> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok()?;
    // What all devices with sectors of up to 4 KiB take.
    Some(DirectAlign { memory_bytes: 4096, offset_bytes: 4096 })
}

/// Time between two attempts to hold a device, and how many there are. Another program that only
/// looks at it holds it for a moment.
const CLAIM_PAUSE: Duration = Duration::from_millis(50);
const N_CLAIMS: u32 = 10;

/// Opens a device so that no other program may hold it, or returns `None` where one does.
fn hold(path: &Path, is_in_use: bool) -> rustix::io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::EXCL;
    let mut n_left = if is_in_use { 1 } else { N_CLAIMS };
    loop {
        n_left -= 1;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::BUSY) if n_left == 0 => return Ok(None),
            Err(Errno::BUSY) => std::thread::sleep(CLAIM_PAUSE),
            other => return other.map(Some),
        }
    }
}

fn probe_device(target: &mut TargetFacts, holds: bool) -> Result<Option<OwnedFd>, EngineError> {
    let fail = |errno: Errno| EngineError::file("open", &target.path, errno);
    let family = Family::of(target.device, &loops());
    match InUse::now() {
        Ok(in_use) => target.uses = in_use.of(&family),
        Err(unread) => target.unread = Some(unread),
    }
    target.stacked = family.stacked.iter().filter_map(|above| device_path(*above)).collect();
    let mut held = None;
    if holds {
        held = hold(&target.path, !target.uses.is_empty()).map_err(fail)?;
        target.is_held = held.is_none();
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&target.path, flags, Mode::empty()).map_err(fail)?;
    target.size_bytes = rustix::fs::seek(&fd, SeekFrom::End(0)).map_err(fail)?;
    let mut number: libc::c_int = 0;
    let mut ask = |request: u32| {
        use std::os::fd::AsRawFd;
        // SAFETY: both requests write one `int`, which outlives the call.
        let result = call::retry(|| unsafe {
            libc::ioctl(fd.as_raw_fd(), request as _, &raw mut number) as isize
        });
        (result >= 0).then_some(number)
    };
    if let Some(bytes) = ask(BLKSSZGET).and_then(|bytes| u32::try_from(bytes).ok()) {
        target.logical_block_bytes = bytes.max(SECTOR_BYTES);
    }
    target.read_only = ask(BLKROGET).is_some_and(|flag| flag != 0);
    let block_bytes = target.logical_block_bytes;
    target.direct = target
        .direct
        .or(Some(DirectAlign { memory_bytes: block_bytes, offset_bytes: block_bytes }));
    target.discards = sys_number(target.device, "queue/discard_max_bytes")
        .or_else(|| sys_number(target.device, "../queue/discard_max_bytes"))
        .is_some_and(|bytes| bytes > 0);
    target.contents = contents(&File::from(fd), target.size_bytes);
    if target.contents == Contents::Nothing {
        let mut over = family.above.iter().filter_map(|above| contents_over(*above));
        target.contents = over.find(|it| *it != Contents::Nothing).unwrap_or(Contents::Nothing);
    }
    Ok(held)
}

fn contents(device: &File, size_bytes: u64) -> Contents {
    signatures::identify(size_bytes, &mut |offset, bytes| device.read_at(bytes, offset))
}

/// Returns what a device holds that lies over another. `None` where it cannot be opened: one that
/// has just gone, or that is not ready.
fn contents_over(device: DeviceNumber) -> Option<Contents> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(device_path(device)?, flags, Mode::empty()).ok()?;
    let size_bytes = rustix::fs::seek(&fd, SeekFrom::End(0)).ok()?;
    Some(contents(&File::from(fd), size_bytes))
}

/// What is in use, and where.
struct InUse {
    /// Devices by their numbers. A mount has that of its file system and, where that is over
    /// several devices, that of the one that was named.
    devices: Vec<(Vec<DeviceNumber>, KernelUse)>,
}

impl InUse {
    /// Looks at all mounts, and at swap.
    ///
    /// # Errors
    /// When a table of the kernel cannot be read.
    fn now() -> Result<InUse, UnreadTable> {
        let proc = Path::new("/proc");
        let mut sources: HashMap<PathBuf, Option<DeviceNumber>> = HashMap::new();
        let mut devices = Vec::new();
        for Namespace { seen_by, mounts: table } in mounts::namespaces(proc)? {
            for Mount { device, at, source, .. } in table {
                let named = *sources.entry(source).or_insert_with_key(|path| device_number(path));
                let numbers = [device].into_iter().chain(named).collect();
                let mount_point = MountPoint { at, seen_by: seen_by.clone() };
                devices.push((numbers, KernelUse::Mounted(mount_point)));
            }
        }
        for path in mounts::swaps(proc)? {
            if let Some(number) = device_number(&path) {
                devices.push((vec![number], KernelUse::Swap(path)));
            }
        }
        Ok(InUse { devices })
    }

    /// Finds what a device, its partitions, and what is stacked on any of them are in use for.
    fn of(&self, family: &Family) -> Vec<KernelUse> {
        let is_in = |(numbers, _): &&(Vec<DeviceNumber>, KernelUse)| {
            numbers.iter().any(|number| family.contains(*number))
        };
        self.devices.iter().filter(is_in).map(|(_, usage)| usage.clone()).collect()
    }
}

/// The devices that a write to one of them may reach.
#[derive(Debug, Default)]
struct Family {
    /// All that consist of the device: partitions, devices stacked on them, and loop devices over
    /// any of them.
    above: Vec<DeviceNumber>,
    /// Those of them that are no partitions.
    stacked: Vec<DeviceNumber>,
    /// The device, and where it is a loop device, what it lies over. What is written to it is
    /// written to that, and to that alone: what is beside it there is another's.
    below: Vec<DeviceNumber>,
}

impl Family {
    fn of(device: DeviceNumber, loops: &[Loop]) -> Family {
        let mut family = Family { below: vec![device], ..Family::default() };
        let mut next = Some(device);
        let mut n_seen = 0;
        while let Some(at) = next {
            let over = loops.iter().filter(|it| it.below == Some(at)).map(|it| it.device);
            let holders = numbers_in(&sys_folder(at).join("holders"), "dev");
            for number in over.chain(holders) {
                family.add(number);
                if !family.stacked.contains(&number) {
                    family.stacked.push(number);
                }
            }
            // A file of that name tells partitions from the other folders of a device.
            for number in numbers_in(&sys_folder(at), "partition") {
                family.add(number);
            }
            next = family.above.get(n_seen).copied();
            n_seen += 1;
        }
        let mut above = device;
        while let Some(below) = loops.iter().find(|it| it.device == above).and_then(|it| it.below) {
            if family.contains(below) || family.below.len() >= DEPENDENTS_MAX {
                break;
            }
            family.below.push(below);
            above = below;
        }
        family
    }

    fn add(&mut self, number: DeviceNumber) {
        if !self.contains(number) && self.above.len() < DEPENDENTS_MAX {
            self.above.push(number);
        }
    }

    fn contains(&self, number: DeviceNumber) -> bool {
        self.above.contains(&number) || self.below.contains(&number)
    }
}

/// Returns the numbers of the devices whose folders of /sys lie in this one, and have a file of
/// this name.
fn numbers_in(folder: &Path, with: &str) -> Vec<DeviceNumber> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let of_entry = |folder: PathBuf| {
        let text = folder.join(with).exists().then(|| std::fs::read_to_string(folder.join("dev")));
        mounts::parse_device(&text?.ok()?)
    };
    entries.flatten().filter_map(|entry| of_entry(entry.path())).collect()
}

/// Returns the path of a device by the name that the kernel gives it.
fn device_path(device: DeviceNumber) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(sys_folder(device)).ok()?;
    // /sys writes `!` for the slash of names such as `cciss/c0d0`.
    let name = folder.file_name()?.to_str()?.replace('!', "/");
    Some(Path::new("/dev").join(name))
}

/// A loop device that is set up.
struct Loop {
    device: DeviceNumber,
    /// The block device that it lies over, if it is one.
    below: Option<DeviceNumber>,
    /// What it lies over, as [`FileInUse::id`].
    id: (u64, u64),
}

/// Returns the loop devices that are set up.
fn loops() -> Vec<Loop> {
    let Ok(entries) = std::fs::read_dir("/sys/block") else { return Vec::new() };
    let of_entry = |folder: PathBuf| {
        let backing = std::fs::read_to_string(folder.join("loop/backing_file")).ok()?;
        let number = std::fs::read_to_string(folder.join("dev")).ok()?;
        let device = mounts::parse_device(&number)?;
        let by_path = || Loop::by_path(device, Path::new(backing.trim_end_matches('\n')));
        Loop::asked(device).or_else(by_path)
    };
    entries.flatten().filter_map(|entry| of_entry(entry.path())).collect()
}

impl Loop {
    /// Asks the device what it lies over, which needs the right to open it. That is right also
    /// where the path is one of another mount namespace, or has gone.
    fn asked(device: DeviceNumber) -> Option<Loop> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(device_path(device)?, flags, Mode::empty()).ok()?;
        let mut info = LoopInfo { device: 0, inode: 0, rdevice: 0, rest: [0; 26] };
        // SAFETY: the request writes one `loop_info64`, which is as long as this and outlives the
        // call.
        let result = call::retry(|| unsafe {
            use std::os::fd::AsRawFd;
            libc::ioctl(fd.as_raw_fd(), LOOP_GET_STATUS64 as _, &raw mut info) as isize
        });
        let rdevice = (rustix::fs::major(info.rdevice), rustix::fs::minor(info.rdevice));
        let below = (info.rdevice != 0).then_some(rdevice);
        (result >= 0).then_some(Loop { device, below, id: (info.device, info.inode) })
    }

    /// Looks at what the path of /sys leads to.
    fn by_path(device: DeviceNumber, path: &Path) -> Option<Loop> {
        let facts = std::fs::metadata(path).ok()?;
        Some(Loop { device, below: device_number(path), id: (facts.dev(), facts.ino()) })
    }
}

/// `struct loop_info64` of `linux/loop.h`: what lies below a loop device, and more.
#[repr(C)]
struct LoopInfo {
    /// Number of the device that the file lies on.
    device: u64,
    /// The file's own number there.
    inode: u64,
    /// Number of the device that the file is; 0 of a regular file.
    rdevice: u64,
    rest: [u64; 26],
}

/// A file that the kernel has in use by itself, or of which that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInUse {
    /// Number of the device that it lies on, and its own there, as of `stat`.
    pub id: (u64, u64),
    /// What for.
    pub usage: FileUse,
}

/// What the kernel has a file in use for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// That, itself.
    Itself(KernelUse),
    /// It is the contents of a loop device, and that, or a part of it, is in use for this.
    ByLoop(KernelUse),
    /// It is the contents of a loop device, and this device lies over that.
    Stacked(PathBuf),
    /// It is the contents of a loop device, and this table would tell whether that is in use, and
    /// could not be read.
    Unknown(UnreadTable),
}

/// Finds all of them, as far as /sys and /proc tell. A loop device that nothing uses leaves its
/// file free. Where the table of swap cannot be read, the kernel still refuses to open such a file.
pub fn files_in_use() -> Vec<FileInUse> {
    let of_swap = |path: PathBuf| {
        let facts = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
        let usage = FileUse::Itself(KernelUse::Swap(path));
        Some(FileInUse { id: (facts.dev(), facts.ino()), usage })
    };
    let swaps = mounts::swaps(Path::new("/proc")).unwrap_or_default();
    let mut found: Vec<FileInUse> = swaps.into_iter().filter_map(of_swap).collect();
    let loops = loops();
    let over_files: Vec<&Loop> = loops.iter().filter(|it| it.below.is_none()).collect();
    if over_files.is_empty() {
        return found;
    }
    let in_use = InUse::now();
    let of_loop = |over: &Loop| {
        let family = Family::of(over.device, &loops);
        let usage = match &in_use {
            Ok(in_use) => in_use.of(&family).into_iter().next().map(FileUse::ByLoop),
            Err(unread) => Some(FileUse::Unknown(unread.clone())),
        };
        let above = || family.stacked.first().and_then(|above| device_path(*above));
        Some(FileInUse { id: over.id, usage: usage.or_else(|| above().map(FileUse::Stacked))? })
    };
    found.extend(over_files.into_iter().filter_map(of_loop));
    found
}

/// Finds the programs that have a device open, as far as this user may see them; not this one.
pub fn device_users(device: DeviceNumber) -> Vec<Process> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let of_process = |folder: PathBuf| {
        let process = Process::of_folder(&folder)?;
        let mut fds = std::fs::read_dir(folder.join("fd")).ok()?.flatten();
        let is_it = process.pid != std::process::id()
            && fds.any(|fd| device_number(&fd.path()).is_some_and(|number| number == device));
        is_it.then_some(process)
    };
    processes.flatten().filter_map(|entry| of_process(entry.path())).collect()
}

/// Returns the number of the block device that a path leads to.
fn device_number(path: &Path) -> Option<DeviceNumber> {
    let facts = path.is_absolute().then(|| rustix::fs::stat(path).ok()).flatten()?;
    (FileKind::from_mode(facts.st_mode) == FileKind::Block)
        .then(|| (rustix::fs::major(facts.st_rdev), rustix::fs::minor(facts.st_rdev)))
}

fn sys_folder((major, minor): DeviceNumber) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))
}

fn sys_number(device: DeviceNumber, name: &str) -> Option<u64> {
    std::fs::read_to_string(sys_folder(device).join(name)).ok()?.trim().parse().ok()
}

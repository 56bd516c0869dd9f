//! What a crash takes: exactly what only a ReadWrite cache had, and nothing that an fsync covered.

mod common;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use common::{Mounted, design, disk, fast};
use serve::machine::{CrashReport, LostRange};
use volume::{CacheMode, Design};

const SECTORS: usize = 256;
const N_FILES: u64 = 3;

/// A small generator, so that a seed repeats a test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// What a file's sectors have held since they were last known to be lasting, oldest first. The
/// last `n_unsure` of them were written by a call that failed.
#[derive(Clone, Debug, Default)]
struct History {
    versions: Vec<u64>,
    n_unsure: usize,
}

/// What was cut off, or is of a new file.
static ZERO: LazyLock<History> = LazyLock::new(|| History { versions: vec![0], n_unsure: 0 });

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

/// A program that writes a file, and knows what it wrote.
struct Writer {
    path: PathBuf,
    file: File,
    /// Length of what is written at once at least, bytes.
    sector: usize,
    dice: Dice,
    next: u64,
    sectors: Vec<History>,
}

impl Writer {
    fn new(path: &Path, sector: usize, seed: u64) -> Self {
        let (dice, next) = (Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), 0);
        let (path, file) = (path.to_owned(), open(path).unwrap());
        Writer { path, file, sector, dice, next, sectors: vec![ZERO.clone(); SECTORS] }
    }

    /// Writes and flushes until an access fails.
    fn run(&mut self) {
        while self.step().is_ok() {}
    }

    fn step(&mut self) -> io::Result<()> {
        if self.dice.below(24) == 0 {
            self.file.sync_data()?;
            for sector in &mut self.sectors {
                sector.versions.drain(..sector.versions.len() - 1);
            }
            return Ok(());
        }
        match self.dice.below(24) {
            0..=1 => return self.truncate(),
            2..=3 => return self.rename_over(),
            4..=6 => return self.delete_another(),
            _ => {}
        }
        let start = self.dice.below(SECTORS as u64 - 32) as usize;
        let end = start + 1 + self.dice.below(32) as usize;
        self.next += 1;
        let version = self.dice.0 | 1;
        let bytes = version.to_le_bytes().repeat((end - start) * self.sector / 8);
        let written = self.file.write_all_at(&bytes, (start * self.sector) as u64);
        for sector in &mut self.sectors[start..end] {
            sector.versions.push(version);
            sector.n_unsure = usize::from(written.is_err());
        }
        written
    }

    /// Cuts the file off within a sector's block. That lasts at once.
    fn truncate(&mut self) -> io::Result<()> {
        let start = self.dice.below(SECTORS as u64) as usize;
        let cut = self.file.set_len((start * self.sector) as u64);
        for sector in &mut self.sectors[start..] {
            if cut.is_ok() {
                *sector = ZERO.clone();
            } else {
                sector.versions.push(0);
                sector.n_unsure = 1;
            }
        }
        cut
    }

    /// Puts a new file in the place of this one.
    fn rename_over(&mut self) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let file = open(&new)?;
        file.set_len(0)?;
        std::fs::rename(new, &self.path)?;
        (self.file, self.sectors) = (file, vec![ZERO.clone(); SECTORS]);
        Ok(())
    }

    /// Writes a file that is removed soon.
    fn delete_another(&mut self) -> io::Result<()> {
        let other = self.path.with_extension("other");
        let file = open(&other)?;
        file.write_all_at(&[1; 5000], self.dice.below(9000))?;
        std::fs::remove_file(other)
    }

    /// Reads the file, and zeros after its end.
    #[track_caller]
    fn contents(&self, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; SECTORS * self.sector];
        let mut n_read = 0;
        loop {
            match self.file.read_at(&mut bytes[n_read..], n_read as u64) {
                Ok(0) => return bytes,
                Ok(n) => n_read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => panic!("cannot read at {n_read}, seed {seed}: {error}"),
            }
        }
    }

    /// Checks every sector against what the crash is said to have taken.
    #[track_caller]
    fn check(&mut self, dirty: &[LostRange], seed: u64) {
        let bytes = self.contents(seed);
        let ino = self.file.metadata().unwrap().ino();
        for (idx, history) in self.sectors.iter_mut().enumerate() {
            let sector = &bytes[idx * self.sector..][..self.sector];
            let found = u64::from_le_bytes(sector[..8].try_into().unwrap());
            let at = (idx * self.sector) as u64;
            let end = at + self.sector as u64;
            let touching = || dirty.iter().filter(|r| r.offset < end && at < r.offset + r.len);
            assert!(
                sector.chunks(8).all(|word| word == found.to_le_bytes()),
                "sector {idx} at {at} is torn, seed {seed}: it holds {sector:x?} of {history:x?}, \
                 and these were dirty: {:?}",
                touching().filter(|range| range.ino == ino).collect::<Vec<_>>()
            );
            let is_dirty = touching().any(|range| range.ino == ino);
            let position = history.versions.iter().rposition(|&version| version == found);
            let position = position.unwrap_or_else(|| {
                panic!("sector {idx} lost what an fsync had returned for, seed {seed}")
            });
            let newest = history.versions.len() - 1;
            let is_newest = position + history.n_unsure >= newest;
            if is_dirty {
                // Zeros may be what was cut off, and what was there at first.
                let is_older = history.versions[..newest].contains(&found);
                assert!(is_older, "sector {idx} was dirty and is there, seed {seed}");
            } else {
                assert!(is_newest, "sector {idx} was not dirty and is lost, seed {seed}");
            }
            *history = History { versions: vec![found], n_unsure: 0 };
        }
    }
}

/// A disk that is slow enough for dirty data to gather, behind a cache that is small enough for
/// some of it to leave.
fn small_cache(cache_bytes: u64) -> Design {
    let mut slow = disk(2_000, 100 << 20, 64 << 20, CacheMode::ReadWrite);
    slow.latency.mean_ns = 500_000;
    let mut design = design(vec![slow]);
    design.vm.as_mut().unwrap().cache_bytes = Some(cache_bytes);
    design
}

fn crash(mounted: &Mounted) -> CrashReport {
    let report = mounted.machine.crash();
    mounted.forgetter.forget(&mounted.machine);
    report
}

/// Three programs write whole sectors until the machine dies under them, a hundred times.
fn crash_often(cache_bytes: u64, sector: usize) {
    let Some(mounted) = Mounted::new(small_cache(cache_bytes)) else { return };
    let path = |idx| mounted.join(format!("f{idx}"));
    let mut writers: Vec<Writer> =
        (0..N_FILES).map(|idx| Writer::new(&path(idx), sector, idx + 1)).collect();
    let mut n_lost = 0;
    for seed in 0..100 {
        let report = std::thread::scope(|scope| {
            for writer in &mut writers {
                scope.spawn(|| writer.run());
            }
            std::thread::sleep(Duration::from_millis(5 + seed * 7 % 23));
            crash(&mounted)
        });
        assert_eq!(report.error, None);
        assert_eq!(report.lost, report.dirty, "seed {seed}");
        n_lost += report.lost.len();
        assert_eq!(File::open(mounted.join("f0")).unwrap_err().raw_os_error(), Some(5));
        mounted.machine.restart();
        for writer in &mut writers {
            writer.check(&report.dirty, seed);
        }
    }
    assert!(n_lost > 100, "only {n_lost} ranges were ever lost: nothing was tested");
}

#[test]
fn a_hundred_crashes_lose_exactly_what_was_dirty() {
    crash_often(512 << 10, 512);
}

/// The cache notes 32 ranges, fewer than are dirty: writes go through beside dirty neighbours.
#[test]
fn a_hundred_crashes_of_a_full_list_lose_exactly_what_was_dirty() {
    crash_often(32 << 10, 16);
}

#[test]
fn open_files_fail_until_the_restart_and_then_go_on() {
    let Some(mounted) = Mounted::new(fast(64 << 20, CacheMode::None)) else { return };
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(true).read(true).write(true);
    let file = options.open(mounted.join("f")).unwrap();
    file.write_all_at(b"kept", 0).unwrap();
    let report = crash(&mounted);
    assert_eq!((report.lost.len(), report.dirty.len()), (0, 0));
    let mut bytes = [0; 4];
    for outcome in [
        file.read_at(&mut bytes, 0),
        file.write_at(b"no", 0),
        file.sync_all().map(|()| 0),
        std::fs::read_dir(mounted.path()).map(|_| 0),
    ] {
        assert_eq!(outcome.unwrap_err().raw_os_error(), Some(5));
    }
    mounted.machine.restart();
    file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(&bytes, b"kept");
}

#[test]
fn who_goes_on_after_a_crash_is_reported_once_that_it_took_something() {
    let Some(mounted) = Mounted::new(fast(64 << 20, CacheMode::ReadWrite)) else { return };
    let open = |name: &str| File::create(mounted.join(name)).unwrap();
    let [lost, synced] = ["lost", "synced"].map(open);
    synced.write_all_at(&[1; 4096], 0).unwrap();
    synced.sync_all().unwrap();
    lost.write_all_at(&[1; 4096], 0).unwrap();
    assert_eq!(crash(&mounted).lost.len(), 1);
    mounted.machine.restart();
    // A synced write is there: no error is due. The other one must not be taken for synced.
    synced.sync_all().unwrap();
    assert_eq!(lost.sync_all().unwrap_err().raw_os_error(), Some(5));
    lost.sync_all().unwrap();
    // A process that opens it now sees what there is.
    OpenOptions::new().write(true).open(mounted.join("lost")).unwrap().sync_all().unwrap();
}

/// A pipe waits until its other end is opened: a crash does not.
#[test]
fn a_crash_passes_over_what_is_no_file() {
    let Some(mounted) = Mounted::new(small_cache(512 << 10)) else { return };
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let pipe = mounted.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(mounted.join("socket")).unwrap();
    std::os::unix::fs::symlink("nowhere", mounted.join("link")).unwrap();
    assert_eq!(crash(&mounted).error, None);
    mounted.machine.restart();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&pipe.symlink_metadata().unwrap().file_type()));
    drop(socket);
}

/// A length that writes brought about goes with them; one that was set stays.
#[test]
fn a_file_is_as_long_as_what_lasted() {
    let Some(mounted) = Mounted::new(small_cache(512 << 10)) else { return };
    let file = File::create(mounted.join("grown")).unwrap();
    file.write_all_at(&[1; 4096], 0).unwrap();
    file.sync_all().unwrap();
    file.write_all_at(&[2; 4096], 4096).unwrap();
    let set = File::create(mounted.join("set")).unwrap();
    set.write_all_at(&[3; 8192], 0).unwrap();
    set.set_len(100).unwrap();
    set.set_len(200).unwrap();
    let sync = std::os::unix::fs::OpenOptionsExt::custom_flags(
        OpenOptions::new().create(true).truncate(true).write(true),
        rustix::fs::OFlags::SYNC.bits() as i32,
    )
    .open(mounted.join("sync"))
    .unwrap();
    sync.write_all_at(&[4; 700], 0).unwrap();
    let report = crash(&mounted);
    assert_eq!(report.lost.len(), 2, "{report:?}");
    mounted.machine.restart();
    assert_eq!(std::fs::read(mounted.join("grown")).unwrap(), [1; 4096]);
    assert_eq!(std::fs::read(mounted.join("set")).unwrap(), [0; 200]);
    assert_eq!(std::fs::read(mounted.join("sync")).unwrap(), [4; 700]);
}

/// What the volume has no room for is refused, and so was never there to be lost.
#[test]
fn what_was_refused_is_not_lost() {
    // Some room is left for what the host's file system counts beside the data.
    let capacity_bytes = (4 << 20) + (64 << 10);
    let full = design(vec![disk(100_000, 1 << 20, capacity_bytes, CacheMode::ReadWrite)]);
    let Some(mounted) = Mounted::new(full) else { return };
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(true).read(true).write(true);
    let file = file.open(mounted.join("f")).unwrap();
    let taken = 4 << 20;
    file.write_all_at(&vec![1; taken as usize], 0).unwrap();
    for offset in [taken, taken + (2 << 20)] {
        let refused = file.write_all_at(&vec![2; 1 << 20], offset).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(28), "{refused}");
    }
    let report = crash(&mounted);
    assert_eq!(report.lost, report.dirty);
    assert!(!report.lost.is_empty());
    let within = |range: &LostRange| range.offset + range.len <= taken;
    assert!(report.lost.iter().all(within), "{report:?}");
    mounted.machine.restart();
}

/// A cache is taken away while it has 2 MiB that the disk takes a quarter of a second for.
#[test]
fn what_is_written_after_a_cache_was_switched_off_is_not_taken_back_with_what_it_had() {
    let with = |mode| design(vec![disk(100_000, 8 << 20, 1 << 30, mode)]);
    let Some(mounted) = Mounted::new(with(CacheMode::ReadWrite)) else { return };
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(true).read(true).write(true);
    let file = file.open(mounted.join("f")).unwrap();
    file.write_all_at(&vec![1; 4 << 20], 0).unwrap();
    file.sync_all().unwrap();
    file.write_all_at(&vec![2; 2 << 20], 0).unwrap();
    mounted.machine.change(String::new(), with(CacheMode::None)).unwrap();
    let report = mounted.machine.report("/mnt");
    assert!(report.volumes[0].leaving_bytes > 0, "{report:?}");
    // Over what the cache has left, and where it has nothing.
    file.write_all_at(&[3; 4096], (2 << 20) - 4096).unwrap();
    file.write_all_at(&[4; 4096], 3 << 20).unwrap();
    let lost = mounted.machine.crash().lost;
    mounted.machine.restart();
    let mut byte = [0];
    file.read_exact_at(&mut byte, (2 << 20) - 1).unwrap();
    assert_eq!(byte, [3], "{lost:?}");
    file.read_exact_at(&mut byte, 3 << 20).unwrap();
    assert_eq!(byte, [4], "{lost:?}");
}

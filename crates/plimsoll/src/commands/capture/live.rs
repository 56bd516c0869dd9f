//! Looks at this host: what files of the kernel are read, and when.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ::capture::live::{Cgroup, Live, Moment, Scope as Asked, Texts};
use ::capture::{Capacity, Collector, Event, Note, NoteKind};
use runner::Control;
use rustix::fs::{major, minor, statvfs};
use rustix::io::Errno;

use super::Args;
use super::shown::Shown;
use crate::clock::{self, Stopwatch};
use crate::exit::Failure;
use crate::signals::Signals;

/// What is asked about, found on this host.
pub(super) struct Scope {
    asked: Asked,
    /// Files of the control group.
    cgroup: Option<CgroupFiles>,
    /// How much volumes hold before the watch, by their names.
    capacities: BTreeMap<String, Capacity>,
    /// Folders of the mounts, with the names of their volumes.
    folders: Vec<Folder>,
}

/// The folder of a mount.
struct Folder {
    /// Of the volume.
    name: String,
    path: PathBuf,
    /// Number of its file system: another one, or none, may be mounted there later.
    device: u64,
}

impl Folder {
    /// Returns how much it holds now; none where it is gone.
    fn capacity(&self) -> Option<Capacity> {
        let facts = fs::metadata(&self.path).ok()?;
        if facts.dev() == self.device { capacity_of(&self.path).ok() } else { None }
    }
}

/// Returns how much a file system holds.
fn capacity_of(path: &Path) -> Result<Capacity, Errno> {
    let space = statvfs(path)?;
    let unit = space.f_frsize as f64;
    Ok(Capacity {
        size_bytes: Some(space.f_blocks as f64 * unit),
        used_bytes: Some(space.f_blocks.saturating_sub(space.f_bfree) as f64 * unit),
    })
}

enum CgroupFiles {
    V2(PathBuf),
    V1(PathBuf, PathBuf),
}

impl Scope {
    /// Finds devices, mounts and the control group.
    pub(super) fn find(
        devices: &[String],
        mounts: &[PathBuf],
        cgroup: Option<&Path>,
    ) -> Result<Scope, Failure> {
        let mut scope = Scope {
            asked: Asked::default(),
            cgroup: None,
            capacities: BTreeMap::new(),
            folders: Vec::new(),
        };
        for name in devices {
            scope.add_device(name)?;
        }
        let text = fs::read_to_string("/proc/self/mountstats").unwrap_or_default();
        for mount in mounts {
            scope.add_mount(mount, &text)?;
        }
        scope.cgroup = cgroup.map(find_cgroup).transpose()?;
        if let (Some(_), Some(mount)) = (&scope.cgroup, scope.asked.mounts.first()) {
            let text = format!("`--cgroup` counts the I/O of disks, and `{mount}` is of NFS");
            let hint = "leave it out: an NFS mount is counted with all processes of this host; or \
                        trace the program, and capture with `--as workload`";
            return Err(Failure::wrong_use(text).hint(hint));
        }
        Ok(scope)
    }

    /// Returns the names of volumes that were asked for.
    pub(super) fn names(&self) -> Vec<String> {
        [&self.asked.devices[..], &self.asked.mounts].concat()
    }

    /// Adds a device by its name or a path to it.
    fn add_device(&mut self, named: &str) -> Result<(), Failure> {
        let path = if named.contains('/') { named.into() } else { Path::new("/dev").join(named) };
        // A link such as those in /dev/disk/by-id has another name than the kernel.
        let real = fs::canonicalize(&path).unwrap_or(path);
        let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| named.to_owned());
        let facts = fs::read_to_string(format!("/sys/class/block/{name}/size"));
        let Ok(sectors) = facts else {
            let there = disks();
            let hint = format!("devices found: {}", there.join(", "));
            let text = format!("no device is called `{named}`");
            return Err(Failure::wrong_use(text).hint(hint));
        };
        let size_bytes = sectors.trim().parse::<u64>().ok().map(|sectors| sectors as f64 * 512.0);
        self.capacities.entry(name.clone()).or_default().size_bytes = size_bytes;
        self.asked.devices.push(name);
        Ok(())
    }

    /// Adds a mount of NFS, or the device below a folder.
    fn add_mount(&mut self, mount: &Path, mountstats: &str) -> Result<(), Failure> {
        let bad = |why: String| Failure::wrong_use(format!("`{}`: {why}", mount.display()));
        let path = fs::canonicalize(mount).map_err(|error| bad(units::system_text(error)))?;
        let facts = fs::metadata(&path).map_err(|error| bad(units::system_text(error)))?;
        let capacity = capacity_of(&path).map_err(|error| bad(units::system_text(error)))?;
        let escaped = path.to_string_lossy().replace(' ', "\\040");
        let is_nfs = mountstats
            .lines()
            .any(|line| line.contains(&format!(" mounted on {escaped} with fstype nfs")));
        if is_nfs {
            let name = path.to_string_lossy().into_owned();
            self.add_folder(&name, path, facts.dev(), capacity);
            self.asked.mounts.push(name);
            return Ok(());
        }
        let number = format!("/sys/dev/block/{}:{}", major(facts.dev()), minor(facts.dev()));
        let device = fs::canonicalize(number).ok();
        let name = device.as_deref().and_then(Path::file_name);
        let name = name.map(|name| name.to_string_lossy().into_owned()).ok_or_else(|| {
            bad("no block device and no NFS mount lies below it".to_owned())
                .hint("name its devices with `--device`")
        })?;
        self.add_folder(&name, path, facts.dev(), capacity);
        self.asked.devices.push(name);
        Ok(())
    }

    fn add_folder(&mut self, name: &str, path: PathBuf, device: u64, capacity: Capacity) {
        self.capacities.insert(name.to_owned(), capacity);
        self.folders.push(Folder { name: name.to_owned(), path, device });
    }

    /// Hands on how much volumes hold: before the watch, and now that it is over.
    fn put_capacities(&self, put: &mut dyn FnMut(Event<'_>)) {
        for (name, capacity) in &self.capacities {
            put(Event::Capacity { name, capacity: *capacity });
        }
        for folder in &self.folders {
            if let Some(capacity) = folder.capacity() {
                put(Event::Capacity { name: &folder.name, capacity });
                continue;
            }
            let path = folder.path.display();
            let text = format!(
                "`{path}` is no longer there: the space in use is what it was before the watch"
            );
            put(Event::Note(Note { kind: NoteKind::Remark, line: None, text }));
        }
    }
}

/// Returns the names of whole disks.
fn disks() -> Vec<String> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Finds the files that count the I/O of a control group.
fn find_cgroup(named: &Path) -> Result<CgroupFiles, Failure> {
    let root = Path::new("/sys/fs/cgroup");
    let relative = named.strip_prefix("/").unwrap_or(named);
    let folders = [named.to_owned(), root.join(relative), root.join("blkio").join(relative)];
    for folder in &folders {
        let v2 = folder.join("io.stat");
        if v2.is_file() {
            return Ok(CgroupFiles::V2(v2));
        }
        let of = |name: &str| folder.join(format!("blkio.throttle.{name}"));
        let (bytes, ios) = (of("io_service_bytes"), of("io_serviced"));
        if bytes.is_file() && ios.is_file() {
            return Ok(CgroupFiles::V1(bytes, ios));
        }
    }
    let text = format!("`{}` is not a control group that counts I/O", named.display());
    let there = folders.iter().find(|folder| folder.is_dir());
    Err(Failure::wrong_use(text).hint(why_none(there.map(PathBuf::as_path))))
}

/// Says what a control group lacks to count I/O, and how it gets that; of none, how to find one.
fn why_none(folder: Option<&Path>) -> String {
    let Some(folder) = folder else {
        return "name a folder below /sys/fs/cgroup: `systemctl show -P ControlGroup NAME` prints \
                that of a service, /proc/PID/cgroup that of a process"
            .to_owned();
    };
    if !folder.join("cgroup.controllers").is_file() {
        return "it is of version 1, and of a controller other than blkio: name the group's folder \
                below /sys/fs/cgroup/blkio"
            .to_owned();
    }
    let parent = folder.parent().unwrap_or(folder).display();
    let controllers = fs::read_to_string(format!("{parent}/cgroup.controllers"));
    if controllers.is_ok_and(|all| all.split_ascii_whitespace().any(|word| word == "io")) {
        return format!("as root, `echo +io > {parent}/cgroup.subtree_control` lets it count");
    }
    format!(
        "no `io` is in {parent}/cgroup.controllers: its groups above do not hand it down, or the \
         kernel has it off or under version 1 (`cat /proc/cgroups`, line blkio)"
    )
}

/// The texts of one look.
struct CounterTexts {
    diskstats: String,
    stat: String,
    meminfo: String,
    vmstat: String,
    mountstats: String,
    cgroup: Option<(String, Option<String>)>,
}

impl CounterTexts {
    fn take(scope: &Scope) -> Result<CounterTexts, Failure> {
        let diskstats = fs::read_to_string("/proc/diskstats").map_err(|error| {
            Failure::wrong_use(format!(
                "cannot read /proc/diskstats: {}",
                units::system_text(error)
            ))
        })?;
        let of = |path: &str| fs::read_to_string(path).unwrap_or_default();
        // A control group goes with the last of its processes: its counters stay as they were.
        let group = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        Ok(CounterTexts {
            diskstats,
            stat: of("/proc/stat"),
            meminfo: of("/proc/meminfo"),
            vmstat: of("/proc/vmstat"),
            mountstats: match scope.asked.mounts[..] {
                [] => String::new(),
                _ => of("/proc/self/mountstats"),
            },
            cgroup: scope.cgroup.as_ref().map(|files| match files {
                CgroupFiles::V2(path) => (group(path), None),
                CgroupFiles::V1(bytes, ios) => (group(bytes), Some(group(ios))),
            }),
        })
    }

    fn texts(&self) -> Texts<'_> {
        Texts {
            diskstats: &self.diskstats,
            stat: &self.stat,
            meminfo: &self.meminfo,
            vmstat: &self.vmstat,
            mountstats: &self.mountstats,
            cgroup: self.cgroup.as_ref().map(|(one, other)| match other {
                None => Cgroup::V2(one),
                Some(ios) => Cgroup::V1(one, ios),
            }),
        }
    }
}

/// Time between two looks unless another is asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// Longest sleep: a signal is heard after it.
const NAP: Duration = Duration::from_millis(50);

/// Looks at the host until the time is over or a signal comes. Returns whether one came.
pub(super) fn watch(
    scope: &Scope,
    length: Duration,
    args: &Args,
    collector: &mut Collector,
) -> Result<bool, Failure> {
    collector.begin("live", "live");
    let control = Arc::new(Control::new());
    let signals = Signals::listen(&control)?;
    let mut shown = Shown::new(args.no_progress);
    let mut live = Live::new(scope.asked.clone());
    let clock = Stopwatch::start();
    let mut due = Duration::ZERO;
    loop {
        let is_stopped = control.is_stopped();
        let elapsed = clock.elapsed();
        // The last look counts what came since the one before, however short that was.
        let is_last = elapsed >= length || is_stopped;
        if elapsed >= due || is_last {
            let is_first = due.is_zero();
            let looked = CounterTexts::take(scope)?;
            let monotonic_ns = clock.elapsed().as_nanos() as u64;
            let moment = Moment { local_ns: clock::local_ns(), monotonic_ns };
            let mut latest = Latest::default();
            live.take(moment, &looked.texts(), &mut |event| {
                latest.see(&event);
                collector.take(event);
            });
            if is_first {
                shown.begin(length);
            } else {
                shown.host(elapsed, length, &latest.text());
            }
            while due <= elapsed {
                due += args.every.unwrap_or(INTERVAL);
            }
        }
        if is_last {
            break;
        }
        thread::sleep(NAP.min(due.min(length).saturating_sub(clock.elapsed())));
    }
    live.finish(&mut |event| collector.take(event));
    scope.put_capacities(&mut |event| collector.take(event));
    Ok(signals.last().is_some())
}

/// What the latest look showed, of all devices that do anything.
#[derive(Default)]
struct Latest {
    texts: Vec<String>,
}

impl Latest {
    fn see(&mut self, event: &Event<'_>) {
        let Event::Device { name, sample } = event else { return };
        if sample.is_idle() {
            return;
        }
        let rate = |count: Option<f64>| count.unwrap_or(0.0) / sample.span_s();
        let iops = units::format_iops(rate(sample.n_ios())).replace(' ', "");
        let rate = units::format_rate_mb_s(rate(sample.bytes()));
        self.texts.push(format!("{name} {iops} IOPS {rate}"));
    }

    fn text(&self) -> String {
        if self.texts.is_empty() { "no I/O".to_owned() } else { self.texts.join("  ") }
    }
}

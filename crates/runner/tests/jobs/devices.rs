//! Block devices in a run: asked about again when a step opens them, and held while it works.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use record::Outcome;
use runner::{Control, RunError, RunEvent, RunOptions};

use super::bench::{Bench, command, n_ios};

/// A loop device over a new file, while it lives.
struct LoopDevice(PathBuf);

impl LoopDevice {
    /// `None`, and a word about it, where this user, or this machine, has none.
    fn new(bench: &Bench) -> Option<LoopDevice> {
        let image = bench.file("image", 0);
        let made =
            std::fs::File::options().write(true).open(&image).and_then(|it| it.set_len(32 << 20));
        made.expect("ours");
        let device = command(&["losetup", "--find", "--show", image.to_str()?]);
        if device.is_none() {
            testing::skipped!("no loop devices here");
        }
        device.map(|name| LoopDevice(PathBuf::from(name)))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("text")
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

fn is_held(device: &Path) -> bool {
    engine::probe(device).expect("it is there").is_held
}

const STEPS: &str = "[global]\nbs=4k\nsize=1m\n[first]\nfilename=@/f\nrw=write\n\
                     [second]\nstonewall\nrw=randwrite\nfilename=DEVICE\n";

#[test]
fn a_device_that_was_mounted_since_is_refused_and_the_record_says_so() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let mount_point = bench.path("at");
    std::fs::create_dir(&mount_point).expect("ours");
    let at = mount_point.to_str().expect("text").to_owned();
    let mut is_mounted = false;
    let text = STEPS.replace("DEVICE", device.path());
    let record = bench.run_with(&text, &Control::new(), &mut |event| {
        if matches!(event, RunEvent::StepEnded { step_idx: 0, .. }) {
            is_mounted = command(&["mkfs.ext4", "-q", device.path()]).is_some()
                && command(&["mount", device.path(), &at]).is_some();
        }
    });
    if !is_mounted {
        testing::skipped!("nothing can be mounted here");
        return;
    }
    command(&["umount", &at]).expect("it was mounted");
    let checked = command(&["fsck.ext4", "-f", "-n", device.path()]);
    assert_eq!(record.outcome, Outcome::Failed);
    let [first, second] = &record.jobs[..] else { panic!("two jobs") };
    assert_eq!((first.error_message.as_str(), n_ios(first)), ("", 256));
    assert_eq!((second.error_errno, n_ios(second)), (libc::EBUSY, 0));
    let expected =
        format!("job `second` writes to `{}`, which is mounted at `{at}`", device.path());
    assert!(second.error_message.starts_with(&expected), "{}", second.error_message);
    assert!(checked.is_some(), "the file system is damaged");
}

#[test]
fn a_device_that_was_formatted_since_is_refused() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let mut is_made = false;
    let text = STEPS.replace("DEVICE", device.path());
    let record = bench.run_with(&text, &Control::new(), &mut |event| {
        if matches!(event, RunEvent::StepEnded { step_idx: 0, .. }) {
            is_made = command(&["mkswap", device.path()]).is_some();
        }
    });
    if is_made {
        let message = &record.jobs[1].error_message;
        assert!(message.contains("which holds swap"), "{message}");
    }
}

#[test]
fn a_device_is_held_while_a_step_writes_to_it_and_free_before_and_behind() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    // Several workers and two paths to the same device.
    let link = bench.path("link");
    std::os::unix::fs::symlink(&device.0, &link).expect("ours");
    let text = format!(
        "[global]\nbs=4k\nsize=1m\nioengine=psync\ntime_based\nruntime=2\nrate_iops=100\n\
         [a]\nnumjobs=3\nrw=randwrite\nfilename={}\n[b]\nrw=randwrite\nfilename={}\n\
         [c]\nstonewall\nrw=randread\nfilename={}\n",
        device.path(),
        link.display(),
        device.path()
    );
    let mut seen = Vec::new();
    let record = bench.run_with(&text, &Control::new(), &mut |event| match event {
        RunEvent::StepStarted { .. } | RunEvent::StepEnded { .. } => {
            assert!(!is_held(&device.0));
        }
        RunEvent::Status(status)
            if status.n_running > 0 && seen.len() <= status.step_idx as usize =>
        {
            seen.push(is_held(&device.0));
        }
        _ => {}
    });
    assert_eq!(record.outcome, Outcome::Complete, "{:?}", record.jobs[0].error_message);
    assert_eq!(seen, [true, false], "who only reads leaves it free");
}

/// A device that is to be shared is checked, and not held; one that another program holds is
/// refused.
#[test]
fn a_shared_device_is_asked_about_and_not_held() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let text = format!(
        "[a]\nbs=4k\nsize=1m\nioengine=psync\ntime_based\nruntime=1\nrate_iops=100\n\
         rw=randwrite\nfilename={}\n",
        device.path()
    );
    let mut seen = Vec::new();
    let share = |options: &mut RunOptions| options.shares_devices = true;
    let plan = bench.plan(&text);
    let record = bench.run_plan(&plan, share, &mut |event| {
        if matches!(&event, RunEvent::Status(status) if status.n_running > 0) {
            seen.push(is_held(&device.0));
        }
    });
    assert_eq!(record.outcome, Outcome::Complete, "{:?}", record.jobs[0].error_message);
    assert!(!seen.is_empty() && seen.iter().all(|is_held| !is_held), "{seen:?}");
    let (_, held) = engine::claim(&device.0).expect("it is there");
    assert!(held.is_some());
    let options = RunOptions { shares_devices: true, ..RunOptions::default() };
    let refused = runner::run(&plan, &options, &Control::new(), &mut |_| {});
    assert!(matches!(refused, Err(RunError::Refused { .. })), "{refused:?}");
    // A job that only reads needs no hold, not even for a moment.
    let reads = bench.run(&text.replace("randwrite", "randread"));
    assert_eq!(reads.outcome, Outcome::Complete, "{:?}", reads.jobs[0].error_message);
}

/// A worker that waits has opened its device long before it writes.
#[test]
fn a_shared_device_is_asked_about_again_when_a_worker_has_waited() {
    let bench = Bench::new();
    for waiting in ["startdelay=2\n", "wait_for=first\n"] {
        let Some(device) = LoopDevice::new(&bench) else { return };
        let text = format!(
            "[global]\nbs=4k\nsize=1m\nioengine=psync\n[first]\nfilename=@/f\nrw=randread\n\
             time_based\nruntime=2\nrate_iops=100\n[late]\nrw=randwrite\nfilename={}\n{waiting}",
            device.path()
        );
        let plan = bench.plan(&text);
        let share = |options: &mut RunOptions| options.shares_devices = true;
        let mut is_made = None;
        let record = bench.run_plan(&plan, share, &mut |event| {
            if matches!(event, RunEvent::Status(_)) && is_made.is_none() {
                is_made = Some(command(&["mkswap", device.path()]).is_some());
            }
        });
        if is_made != Some(true) {
            testing::skipped!("no mkswap here");
            return;
        }
        let late = &record.jobs[1];
        assert_eq!((late.error_errno, n_ios(late)), (libc::EBUSY, 0), "{waiting}");
        assert!(late.error_message.contains("which holds swap"), "{}", late.error_message);
        assert_eq!(record.outcome, Outcome::Failed);
    }
}

/// A write to the file changes the file system below the kernel that has it mounted.
#[test]
fn a_file_that_is_mounted_by_a_loop_device_is_refused() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let at = bench.path("at");
    std::fs::create_dir(&at).expect("ours");
    let at = at.to_str().expect("text");
    if command(&["mkfs.ext4", "-q", device.path()]).is_none()
        || command(&["mount", device.path(), at]).is_none()
    {
        testing::skipped!("nothing can be mounted here");
        return;
    }
    std::os::unix::fs::symlink(bench.path("image"), bench.path("link")).expect("ours");
    let job = |name: &str, rw: &str| format!("[a]\nrw={rw}\nsize=64k\nfilename=@/{name}\n");
    let refused: Vec<_> = ["image", "link"].map(|it| bench.plan(&job(it, "write"))).into();
    let refused = refused.iter().map(|plan| {
        match runner::run(plan, &RunOptions::default(), &Control::new(), &mut |_| {}) {
            Err(RunError::Refused { findings, .. }) => findings[0].message.clone(),
            Ok(record) => format!("{:?}", record.outcome),
        }
    });
    let refused: Vec<String> = refused.collect();
    let reads = bench.run(&job("image", "read")).outcome;
    command(&["umount", at]).expect("it was mounted");
    let checked = command(&["fsck.ext4", "-f", "-n", device.path()]);
    for message in refused {
        assert!(message.contains(&format!("which is mounted at `{at}`")), "{message}");
    }
    assert_eq!(reads, Outcome::Complete);
    assert!(checked.is_some(), "the file system is damaged");
    assert_eq!(bench.run(&job("image", "write")).outcome, Outcome::Complete);
}

/// Swap on a device or file, while it lives.
struct Swap(PathBuf);

impl Swap {
    /// `None`, and a word about it, where this user may not.
    fn on(path: &Path) -> Option<Swap> {
        let name = path.to_str()?;
        let is_on = command(&["mkswap", name]).is_some() && command(&["swapon", name]).is_some();
        if !is_on {
            testing::skipped!("this user may not swap to a file");
        }
        is_on.then(|| Swap(path.to_owned()))
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(&self.0).status();
    }
}

/// Returns how the refusal to write to swap reads, with what to do first.
fn refused_as_swap(bench: &Bench, name: &str) -> String {
    let plan = bench.plan(&format!("[a]\nrw=write\nsize=64k\nfilename={name}\n"));
    match runner::run(&plan, &RunOptions::default(), &Control::new(), &mut |_| {}) {
        Err(RunError::Refused { findings, .. }) => {
            format!("{}: {}", findings[0].message, findings[0].help[0])
        }
        Ok(record) => format!("{:?}", record.outcome),
    }
}

#[test]
fn what_is_in_use_as_swap_is_refused() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let (image, file) = (bench.path("image"), bench.file("swap", 1024));
    let texts = |path: &Path| path.to_str().expect("text").to_owned();
    let (image, file) = (texts(&image), texts(&file));
    let said = |name: &str, how: &str, swap: &str| {
        format!(
            "job `a` writes to `{name}`, which is in use as swap{how}: `swapoff {swap}`, or name \
             another target"
        )
    };
    let Some(on_device) = Swap::on(&device.0) else { return };
    assert_eq!(refused_as_swap(&bench, device.path()), said(device.path(), "", device.path()));
    let by_loop = said(&image, " by way of a loop device", device.path());
    assert_eq!(refused_as_swap(&bench, &image), by_loop);
    drop(on_device);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("ours");
    let Some(on_file) = Swap::on(Path::new(&file)) else { return };
    assert_eq!(refused_as_swap(&bench, &file), said(&file, "", &file));
    drop(on_file);
    assert_eq!(refused_as_swap(&bench, &file), "Complete");
}

/// The loop device holds nothing that is mounted; another one lies over it.
#[test]
fn a_file_whose_loop_device_has_another_over_it_is_refused() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let image = bench.path("image");
    let image = image.to_str().expect("text");
    let Some(over) = command(&["losetup", "--find", "--show", device.path()]) else {
        testing::skipped!("loop devices do not stack here");
        return;
    };
    let over = LoopDevice(PathBuf::from(over));
    let message = refused(&bench, image, false);
    let expected = format!("which is in use: `{}` lies over its loop device", over.path());
    assert!(message.ends_with(&expected), "{message}");
    drop(over);
    assert_eq!(refused(&bench, image, false), "Complete");
}

/// A shell in a mount namespace of its own, which nothing of what it mounts leaves.
struct OtherNamespace(Child);

impl OtherNamespace {
    /// Runs a script, and waits until it has said what there is to know. `None`, and a word about
    /// it, where this user may not.
    fn new(script: &str) -> Option<(OtherNamespace, String)> {
        let shell = format!("set -e; {{ {script}; }} >&2; echo \"$said\"; read wait");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", &shell]);
        let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
        let shell = command.stdin(stdin).stdout(stdout).stderr(Stdio::null()).spawn();
        let mut shell = OtherNamespace(shell.ok()?);
        let mut said = String::new();
        BufReader::new(shell.0.stdout.take()?).read_line(&mut said).ok()?;
        if said.is_empty() {
            testing::skipped!("nothing can be mounted in a namespace here");
            return None;
        }
        Some((shell, said.trim().to_owned()))
    }
}

impl Drop for OtherNamespace {
    fn drop(&mut self) {
        // It waits for the end of its input.
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// What the table of mounts of this process does not show: the kernel of this host has it mounted
/// all the same.
#[test]
fn what_another_mount_namespace_has_mounted_is_refused() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let at = bench.path("at");
    std::fs::create_dir(&at).expect("ours");
    let (device, at) = (device.path(), at.to_str().expect("text"));
    let script = format!("mkfs.ext4 -q {device}; mount {device} {at}; said=yes");
    let Some((elsewhere, _)) = OtherNamespace::new(&script) else { return };
    let image = bench.path("image");
    let refused = [device, image.to_str().expect("text")].map(|name| refused(&bench, name, false));
    let pid = elsewhere.0.id();
    drop(elsewhere);
    let checked = command(&["fsck.ext4", "-f", "-n", device]);
    let expected = format!("`{at}` (in another mount namespace: process {pid}, `sh`)");
    for message in refused {
        assert!(message.contains(&expected), "{message}");
    }
    assert!(checked.is_some(), "the file system is damaged");
}

/// A loop device over a device, which was given to it by a path that leads nowhere here.
#[test]
fn a_device_below_one_of_another_mount_namespace_is_in_use() {
    let bench = Bench::new();
    let Some(device) = LoopDevice::new(&bench) else { return };
    let hidden = bench.path("hidden");
    std::fs::create_dir(&hidden).expect("ours");
    let (below, hidden) = (device.path(), hidden.to_str().expect("text"));
    let script = format!(
        "mount -t tmpfs none {hidden}; cp -a {below} {hidden}/disk; \
         said=$(losetup --find --show {hidden}/disk)"
    );
    let Some((elsewhere, over)) = OtherNamespace::new(&script) else { return };
    let over = LoopDevice(PathBuf::from(over));
    let message = refused(&bench, below, true);
    drop(elsewhere);
    let expected = format!("which is in use: `{}` lies over it", over.path());
    assert!(message.contains(&expected), "{message}");
}

/// Returns why writing to a target is refused; how the run ended where it is not.
fn refused(bench: &Bench, name: &str, overwrite_filesystem: bool) -> String {
    let plan = bench.plan(&format!("[a]\nrw=write\nsize=64k\nfilename={name}\n"));
    let options = RunOptions { overwrite_filesystem, ..RunOptions::default() };
    match runner::run(&plan, &options, &Control::new(), &mut |_| {}) {
        Err(RunError::Refused { findings, .. }) => findings[0].message.clone(),
        Ok(record) => format!("{:?}", record.outcome),
    }
}

/// A small file system in memory, while it lives.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn new(bench: &Bench, size: &str) -> Option<Tmpfs> {
        let at = bench.path("tmpfs");
        std::fs::create_dir(&at).expect("ours");
        let options = format!("size={size}");
        let is_mounted = command(&["mount", "-t", "tmpfs", "-o", &options, "none", at.to_str()?]);
        if is_mounted.is_none() {
            testing::skipped!("this user may not mount");
        }
        is_mounted.map(|_| Tmpfs(at))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A device whose cached data can no longer be written back, since what is below it is full.
/// A folder below /dev, while it lives.
struct FolderOfDevices(PathBuf);

impl Drop for FolderOfDevices {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn no_file_is_made_where_devices_have_their_names() {
    let folder = PathBuf::from(format!("/dev/plimsoll-{}", std::process::id()));
    let device_of = |path: &str| std::fs::metadata(path).expect("it is there").dev();
    if device_of("/dev") == device_of("/") || std::fs::create_dir(&folder).is_err() {
        testing::skipped!("/dev is no file system of its own, or this user may not write to it");
        return;
    }
    let folder = FolderOfDevices(folder);
    let device = folder.0.join("by-id");
    let expected = format!("job `a` needs `{}`, and there is no such device", device.display());
    assert_eq!(refused(&Bench::new(), device.to_str().expect("text"), true), expected);
    assert!(!device.exists());
    // Nor is a folder made there, where those above a file are.
    let below = device.join("disk").join("x");
    let text = format!("[a]\nrw=write\nsize=64k\nfilename={}\n", below.display());
    let options = RunOptions { create_parents: true, ..RunOptions::default() };
    let plan = Bench::new().plan(&text);
    match runner::run(&plan, &options, &Control::new(), &mut |_| {}) {
        Err(RunError::Refused { findings, .. }) => assert_eq!(findings[0].code, "target-missing"),
        Ok(record) => panic!("it ran: {:?}", record.outcome),
    }
    assert!(!device.exists());
}

#[test]
fn what_is_lost_at_closing_fails_the_job() {
    for engine in ["psync", "io_uring", "libaio", "mmap"] {
        let bench = Bench::new();
        let Some(full) = Tmpfs::new(&bench, "4m") else { return };
        let image = full.0.join("image");
        std::fs::File::create(&image).and_then(|it| it.set_len(32 << 20)).expect("ours");
        let Some(name) = command(&["losetup", "--find", "--show", image.to_str().expect("text")])
        else {
            testing::skipped!("no loop devices here");
            return;
        };
        let device = LoopDevice(PathBuf::from(name));
        let text = format!(
            "[j]\nioengine={engine}\nfilename={}\nrw=write\nbs=1m\nsize=32m\ndirect=0\n\
             invalidate=0\nfsync_on_close=1\n",
            device.path()
        );
        let record = bench.run(&text);
        let job = &record.jobs[0];
        assert_eq!(record.outcome, Outcome::Failed, "{engine}");
        assert!(
            matches!(job.error_errno, libc::EIO | libc::ENOSPC),
            "{engine}: {} {}",
            job.error_errno,
            job.error_message
        );
    }
}

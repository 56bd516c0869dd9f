//! The export under the kernel's own NFS client, captures of a mount and of control groups, and
//! stripes as `plimsoll provision` prints them, in an emulated machine.
//!
//! Boots Debian's kernel in qemu without hardware virtualisation, mounts an export of this build
//! with eight connections, and uses it as programs do: writes, syncs, reads back, lists, renames,
//! removes, unmounts. It says so and succeeds where qemu or the packages cannot be had; what was
//! downloaded stays in the target folder.

mod captures;
mod disks;
mod programs;
mod ram_disk;
mod stripes;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};
use ram_disk::{Archive, Modules};

/// The machine's programs and its kernel. The first names the second's current version.
const KERNEL_META: &str = "linux-image-cloud-amd64";
const BUSYBOX: &str = "busybox-static";

/// Drivers of the emulated network card, and the client.
const MODULES: [&str; 3] = ["virtio_pci", "virtio_net", "nfsv3"];

/// Connections of the mount.
const CONNECTIONS: u32 = 8;

/// Users of the machine: root, and one that is not.
const USERS: &str = "root:x:0:0::/:/bin/sh\napp:x:12:34::/:/bin/sh\n";

/// User and group that root of a client is taken for, where root is squashed.
const SQUASHED: u32 = 65_534;
/// Provisioned size of the volume, KiB: what the design below says.
const SIZE_KIB: u64 = 1 << 30;
const EXPORT: &str = "/mnt/anf";
const DESIGN: &str = "\
edition = \"current\"

[[volume]]
mount = \"/mnt/anf\"
service = \"Premium\"
quota = \"1TiB\"
";

/// Longest run of the machine, seconds. It takes half a minute on two slow cores.
const LIMIT_S: u64 = 300;

/// Runs the test.
pub(crate) fn run() -> Result<()> {
    for program in ["qemu-system-x86_64", "apt-get", "dpkg-deb", "rustc"] {
        if !process::on_path(program) {
            skipped(&format!("`{program}` is not installed"));
            return Ok(());
        }
    }
    let cache = workspace::target_dir()?.join("kernel-test");
    fs::create_dir_all(&cache)?;
    let Some(unpacked) = packages(&cache)? else {
        skipped("the kernel's package cannot be downloaded");
        return Ok(());
    };
    workspace::build_program()?;
    let kernel = find(&unpacked.join("boot"), "vmlinuz-")?;
    {
        let (open, squashed) = (free_port()?, free_port()?);
        let disk = cache.join("initrd");
        fs::write(&disk, ram_disk(&cache, &unpacked, (open, squashed))?)?;
        let _open = Export::start(&cache, open, &["--no-root-squash"])?;
        let _squashed = Export::start(&cache, squashed, &[])?;
        boot(&kernel, &disk, &[], "the kernel's client")?;
    }
    match programs::find(captures::MKFS) {
        None => skipped(&format!("`{}` is not installed: no captures", captures::MKFS)),
        Some(_) => captures::run(&cache, &unpacked, &kernel)?,
    }
    match stripes::missing() {
        Some(program) => skipped(&format!("`{program}` is not installed: no stripes")),
        None => stripes::run(&cache, &unpacked, &kernel)?,
    }
    Ok(())
}

fn skipped(why: &str) {
    println!("skipped: {why}");
}

/// Downloads and unpacks the packages once. `None` where they cannot be had.
fn packages(cache: &Path) -> Result<Option<PathBuf>> {
    let unpacked = cache.join("unpacked");
    if unpacked.join("complete").is_file() {
        return Ok(Some(unpacked));
    }
    let show = process::output(Command::new("apt-cache").args(["show", KERNEL_META]));
    let Some(kernel) = show.ok().and_then(|text| kernel_package(&text)) else { return Ok(None) };
    for package in [kernel.as_str(), BUSYBOX] {
        let mut download = Command::new("apt-get");
        download.args(["download", package]).current_dir(cache);
        if process::output(&mut download).is_err() {
            return Ok(None);
        }
        let archive = find(cache, &format!("{package}_"))?;
        process::run(Command::new("dpkg-deb").arg("-x").args([&archive, &unpacked]))?;
        fs::remove_file(archive)?;
    }
    fs::write(unpacked.join("complete"), "")?;
    Ok(Some(unpacked))
}

/// Returns the package that a kernel's meta package depends on.
fn kernel_package(description: &str) -> Option<String> {
    let depends = description.lines().find_map(|line| line.strip_prefix("Depends: "))?;
    let name = depends.split([',', ' ']).find(|word| word.starts_with("linux-image-"))?;
    Some(name.to_owned())
}

/// Returns the entry of a folder whose name begins so.
fn find(folder: &Path, prefix: &str) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let fits = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let found = entries.find(fits);
    found.with_context(|| format!("no `{prefix}*` in {}", folder.display()))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Makes the RAM disk for two exports: one where root is root, and one where it is not.
fn ram_disk(cache: &Path, unpacked: &Path, (open, squashed): (u16, u16)) -> Result<Vec<u8>> {
    let mut archive = Archive::default();
    for folder in ["bin", "dev", "proc", "sys", "modules", "etc"] {
        archive.folder(folder);
    }
    archive.file("etc/passwd", USERS.as_bytes(), false);
    archive.file("bin/busybox", &fs::read(unpacked.join("bin/busybox"))?, true);
    add_mount_program(&mut archive, cache)?;
    let modules = Modules::find(&unpacked.join("lib/modules"))?.in_order(&MODULES)?;
    add_modules(&mut archive, &modules)?;
    let init = include_str!("kernel_test/init.sh")
        .replace("@EXPORT@", EXPORT)
        .replace("@PORT@", &open.to_string())
        .replace("@PORT_HEX@", &format!("{open:04X}"))
        .replace("@PORT_SQUASHED@", &squashed.to_string())
        .replace("@SQUASHED@", &SQUASHED.to_string())
        .replace("@CONNECTIONS@", &CONNECTIONS.to_string())
        .replace("@SIZE_KIB@", &SIZE_KIB.to_string());
    archive.file("init", init.as_bytes(), true);
    Ok(archive.finish())
}

/// Adds kernel modules, and the order in which they are loaded.
fn add_modules(archive: &mut Archive, modules: &[PathBuf]) -> Result<()> {
    let mut order = String::new();
    for path in modules {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        archive.file(&format!("modules/{name}"), &fs::read(path)?, false);
        order.push_str(&name);
        order.push('\n');
    }
    archive.file("modules/order", order.as_bytes(), false);
    Ok(())
}

/// Compiles and adds the program that mounts.
fn add_mount_program(archive: &mut Archive, cache: &Path) -> Result<()> {
    let source = process::root().join("xtask/src/kernel_test/mount_nfs.rs");
    let program = cache.join("mount_nfs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "-O", "-C", "target-feature=+crt-static", "-o"]);
    process::run(rustc.arg(&program).arg(source))?;
    archive.file("bin/mount_nfs", &fs::read(program)?, true);
    Ok(())
}

/// The export, as a process of its own.
struct Export {
    process: Child,
    backing: PathBuf,
}

impl Export {
    /// Starts one with these options beside its place.
    fn start(cache: &Path, port: u16, options: &[&str]) -> Result<Export> {
        let design = cache.join("design.toml");
        fs::write(&design, DESIGN)?;
        let backing = cache.join(format!("backing-{port}"));
        let program = workspace::program()?;
        let mut command = Command::new(program);
        command.args(["rehearse", "export", "--foreground"]).args(options).arg("--listen");
        command.arg(format!("127.0.0.1:{port}")).arg("--backing").args([&backing, &design]);
        command.stderr(Stdio::piped());
        let mut export = Export { process: command.spawn()?, backing };
        let mut says = String::new();
        if let Some(stderr) = export.process.stderr.take() {
            let mut lines = BufReader::new(stderr);
            while !says.contains("exported at") && lines.read_line(&mut says)? > 0 {}
        }
        if !says.contains("exported at") {
            bail!("the export does not start: {}", says.trim_end());
        }
        Ok(export)
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.backing);
    }
}

/// Boots the machine and judges by what it says. `what` is tested; `args` are more of its parts.
fn boot(kernel: &Path, disk: &Path, args: &[String], what: &str) -> Result<()> {
    let mut qemu = Command::new("timeout");
    qemu.arg(Duration::from_secs(LIMIT_S).as_secs().to_string()).arg("qemu-system-x86_64");
    qemu.args(["-accel", "tcg,thread=multi", "-m", "1024", "-nographic", "-no-reboot"]);
    qemu.arg("-kernel").arg(kernel).arg("-initrd").arg(disk);
    qemu.args(["-append", "console=ttyS0 panic=-1 quiet rdinit=/init"]);
    qemu.args(["-nic", "user,model=virtio-net-pci"]).args(args);
    let mut machine = qemu.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let stdout = machine.stdout.take().context("the machine has a console")?;
    let (mut n_ok, mut failed, mut is_complete) = (0, Vec::new(), false);
    let mut console = String::new();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).trim_end().to_owned();
        // The console mixes in control characters of the boot loader.
        let said = line.find("TEST ").map(|at| &line[at + 5..]);
        match said {
            Some(said) if said.starts_with("ok: ") => {
                n_ok += 1;
                println!("{said}");
            }
            Some("END") => is_complete = true,
            Some(said) => {
                println!("{said}");
                failed.push(said.to_owned());
            }
            None => {
                console.push_str(&line);
                console.push('\n');
            }
        }
    }
    let _ = machine.wait();
    if !is_complete {
        bail!("the machine did not come to its end; its console:\n{console}");
    }
    if !failed.is_empty() {
        bail!("{} of {} steps failed; the console:\n{console}", failed.len(), failed.len() + n_ok);
    }
    println!("{what}: {n_ok} steps, all well");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_what_its_meta_package_depends_on() {
        let text = "Package: linux-image-cloud-amd64\nDepends: linux-image-6.1.0-50-cloud-amd64 \
                    (= 6.1.192-2), x\n";
        assert_eq!(kernel_package(text).as_deref(), Some("linux-image-6.1.0-50-cloud-amd64"));
        assert_eq!(kernel_package("Package: x\n"), None);
    }
}

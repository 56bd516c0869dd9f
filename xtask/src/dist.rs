//! What a release consists of: a static binary for each kind of machine (`target.rs`), packed for
//! each way to get it.
//!
//! All is reproducible: the same sources at the same commit give the same bytes. Nothing but the
//! system's `dpkg` is run on the packages, and only to try one out.

mod deb;
mod elf;
mod oci;
mod rpm;
mod sbom;
mod target;
mod tree;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::{process, workspace};
use target::{TARGETS, Target};
use tree::{Entry, Stamp, Tree, gzip};

/// What lies beside the binary.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Most bytes of a program. 3 MB are the tables for unwinding, by which a worker that panics ends
/// its job and not the run.
const PROGRAM_BYTES_MAX: usize = 22_000_000;

/// What package managers say it is.
const ABOUT: &str = "finds out how much I/O a disk, array or cloud volume carries";

/// Shells whose completions are packed, and where a system looks for them; Debian for those of zsh.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/plimsoll"),
    ("zsh", "usr/share/zsh/vendor-completions/_plimsoll"),
    ("fish", "usr/share/fish/vendor_completions.d/plimsoll.fish"),
];

/// Where other systems look for those of zsh.
const ZSH_ELSEWHERE: &str = "usr/share/zsh/site-functions/_plimsoll";

/// Builds, checks, tries out and packs for every kind of machine or for one (`--target NAME`), or
/// packs programs that are there (`--program FILE`). Prints what lies in `dist`, and how large it
/// is.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    let (mut targets, mut programs) = (Vec::new(), Vec::new());
    for pair in args.chunks(2) {
        match *pair {
            ["--target", name] => targets.push(Target::of_name(name)?),
            ["--program", path] => programs.push(PathBuf::from(path)),
            _ => bail!("`cargo xtask dist` takes `--target NAME` and `--program FILE`"),
        }
    }
    if targets.is_empty() && programs.is_empty() {
        targets.extend(&TARGETS);
    }
    for target in &targets {
        target.check()?;
    }
    for target in targets {
        programs.push(build(target)?);
    }
    let dist = process::root().join("dist");
    fs::create_dir_all(&dist)?;
    let lock = fs::read_to_string(process::root().join("Cargo.lock"))?.parse()?;
    let mut files = Vec::new();
    for program in programs {
        let parts = Parts::of(&program)?;
        try_demo(parts.target, &program)?;
        let platform = ["--locked", "--filter-platform", parts.target.triple];
        let bill = sbom::bill(&workspace::metadata(&platform)?, &lock)?;
        let packed = parts.packed(bill, stamp()?)?;
        for file in &packed {
            put(&dist, file, Some(parts.target))?;
        }
        files.extend(packed);
    }
    put(&dist, &sums(&files), None)
}

/// Writes a file, and tries it out if it is a package for a kind of machine.
fn put(dist: &Path, (name, bytes): &(String, Vec<u8>), target: Option<&Target>) -> Result<()> {
    let path = dist.join(name);
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}: {} B", path.display(), bytes.len());
    let is_package = path.extension().is_some_and(|extension| extension == "deb");
    if let Some(target) = target.filter(|_| is_package) {
        if let Some(why) = deb::missing() {
            println!("  not tried out: {why}");
        } else {
            let said = deb::try_out(&path, target)?;
            println!("  installed, run, removed: {}", said.trim_end());
        }
    }
    Ok(())
}

/// Builds the binary and returns its path.
fn build(target: &Target) -> Result<PathBuf> {
    let triple = target.triple;
    if process::on_path("rustup") {
        process::run(Command::new("rustup").args(["target", "add", triple]))?;
    }
    let args = ["build", "--profile", "dist", "--locked", "--target", triple, "-p", "plimsoll"];
    let target_dir = workspace::target_dir()?;
    let mut build = process::cargo(&args);
    let (rust, c) = without_paths(&target_dir)?;
    target.set_up(&mut build, &rust, &c);
    process::run(&mut build)?;
    let program = target_dir.join(triple).join("dist").join("plimsoll");
    let image = fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    ensure!(elf::is_static(&image)?, "{} needs libraries of its host", program.display());
    let n_bytes = image.len();
    ensure!(
        n_bytes <= PROGRAM_BYTES_MAX,
        "{} has {n_bytes} B, more than {PROGRAM_BYTES_MAX}: what has grown, and need it be so?",
        program.display()
    );
    print!("{}", process::output(target.command(&program).arg("--version"))?);
    Ok(program)
}

/// Runs the demo with a program, for a moment: it measures, and prints its table.
fn try_demo(target: &Target, program: &Path) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut demo = target.command(program);
    demo.args(["demo", "--size", "16m", "--runtime", "1s", "--no-store", "--dir"]).arg(dir.path());
    let output = process::unstored(&mut demo).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    // 3: so short a run may be in doubt.
    ensure!(
        matches!(output.status.code(), Some(0 | 3)) && said.contains("database-mix"),
        "the demo on {} ended with {}:\n{said}{}",
        target.name,
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// Returns the sums of files, as a file.
fn sums(files: &[(String, Vec<u8>)]) -> (String, Vec<u8>) {
    let mut sums = String::new();
    for (name, bytes) in files {
        let _ = writeln!(sums, "{}  {name}", hex(&Sha256::digest(bytes)));
    }
    ("SHA256SUMS".to_owned(), sums.into_bytes())
}

/// Returns options of the Rust and the C compiler that keep the folders of this host out of the
/// program.
fn without_paths(target_dir: &Path) -> Result<(Vec<String>, Vec<String>)> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let home = home.context("no home folder, where cargo keeps the sources of others")?;
    // Where several fit, the last one counts.
    let names = [(process::root(), "/plimsoll"), (target_dir, "/target"), (&home, "/cargo")];
    let options = |option: &str| {
        names.map(|(path, name)| format!("{option}={}={name}", path.display())).to_vec()
    };
    Ok((options("--remap-path-prefix"), options("-ffile-prefix-map")))
}

/// Returns the time that all files get: `SOURCE_DATE_EPOCH`, or else that of the commit.
fn stamp() -> Result<Stamp> {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok();
    let from_git = || {
        let mut git = Command::new("git");
        git.args(["log", "-1", "--format=%ct"]).current_dir(process::root());
        process::output(&mut git).ok()
    };
    let Some(seconds) = said.or_else(from_git) else { return Ok(Stamp(0)) };
    let seconds = seconds.trim();
    let stamp = seconds.parse().map(Stamp);
    stamp.with_context(|| format!("SOURCE_DATE_EPOCH is `{seconds}`: not a number of seconds"))
}

/// All that is packed.
struct Parts {
    target: &'static Target,
    program: Vec<u8>,
    documents: Vec<(&'static str, Vec<u8>)>,
    /// In the order of `SHELLS`.
    completions: Vec<Vec<u8>>,
    /// Manual pages, with their names.
    pages: Vec<(String, Vec<u8>)>,
}

impl Parts {
    /// Reads the documents, and has the program make the rest.
    fn of(path: &Path) -> Result<Self> {
        let image = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::made_by(path, Target::of_elf(elf::machine(&image)?)?)
    }

    /// As [`Parts::of`], of a program for a kind of machine.
    fn made_by(path: &Path, target: &'static Target) -> Result<Self> {
        let read =
            |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let mut documents = Vec::new();
        for name in DOCUMENTS {
            documents.push((name, read(&process::root().join(name))?));
        }
        let mut completions = Vec::new();
        for (shell, _) in SHELLS {
            let script = process::output(target.command(path).args(["completion", shell]))?;
            completions.push(script.into_bytes());
        }
        let dir = tempfile::tempdir()?;
        process::output(target.command(path).args(["man", "--dir"]).arg(dir.path()))?;
        let mut pages = Vec::new();
        for entry in fs::read_dir(dir.path())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            pages.push((name, read(&entry.path())?));
        }
        Ok(Parts { target, program: read(path)?, documents, completions, pages })
    }

    /// Returns every file of the release for this kind of machine, with its name.
    fn packed(&self, bill: String, stamp: Stamp) -> Result<Vec<(String, Vec<u8>)>> {
        let version = workspace::version();
        let Target { machine, debian, .. } = self.target;
        let top = format!("plimsoll-{version}-{machine}-linux");
        let tar = gzip(&self.archive().tar(&format!("{top}/"), stamp)?);
        let deb = deb::pack(&self.installed(true), self.target, stamp)?;
        let rpm = rpm::pack(&self.installed(false), self.target, stamp)?;
        let image = oci::pack(&self.program, self.target, stamp)?;
        Ok(vec![
            (format!("{top}.tar.gz"), tar),
            (format!("plimsoll_{version}_{debian}.deb"), deb),
            (format!("plimsoll-{version}-1.{machine}.rpm"), rpm),
            (format!("plimsoll-{version}-{machine}-oci.tar"), image),
            (format!("plimsoll-{version}-{machine}.cdx.json"), bill.into_bytes()),
        ])
    }

    /// Returns what is unpacked anywhere.
    fn archive(&self) -> Tree {
        let mut tree = Tree::default();
        tree.put("plimsoll", Entry::Program(self.program.clone()));
        tree.put("fio", Entry::Link("plimsoll".to_owned()));
        for (name, bytes) in &self.documents {
            tree.put(name, Entry::File(bytes.clone()));
        }
        for ((shell, _), script) in SHELLS.iter().zip(&self.completions) {
            tree.put(&format!("completions/plimsoll.{shell}"), Entry::File(script.clone()));
        }
        for (name, bytes) in &self.pages {
            tree.put(&format!("man/man1/{name}"), Entry::File(bytes.clone()));
        }
        tree
    }

    /// Returns what a package manager installs below `/`. The name `fio` is left to fio's package.
    fn installed(&self, is_debian: bool) -> Tree {
        let mut tree = Tree::default();
        tree.put("usr/bin/plimsoll", Entry::Program(self.program.clone()));
        for (name, bytes) in &self.documents {
            tree.put(&format!("usr/share/doc/plimsoll/{name}"), Entry::File(bytes.clone()));
        }
        for ((shell, path), script) in SHELLS.into_iter().zip(&self.completions) {
            let path = if shell == "zsh" && !is_debian { ZSH_ELSEWHERE } else { path };
            tree.put(path, Entry::File(script.clone()));
        }
        for (name, bytes) in &self.pages {
            tree.put(&format!("usr/share/man/man1/{name}.gz"), Entry::File(gzip(bytes)));
        }
        tree
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does what packing asks of the program.
    const SCRIPT: &str = "#!/bin/sh\n\
        case \"$1\" in\n\
        --version) echo plimsoll 9 ;;\n\
        completion) echo \"complete in $2\" ;;\n\
        man) for name in plimsoll-run plimsoll; do echo .TH > \"$3/$name.1\"; done ;;\n\
        esac\n";

    fn pack() -> Vec<(String, Vec<u8>)> {
        let dir = tempfile::tempdir().expect("a folder");
        let program = dir.path().join("program");
        let mut tree = Tree::default();
        tree.put("program", Entry::Program(SCRIPT.into()));
        // Unpacked, the file was never open for writing here: another test's child cannot hold it.
        let tar = dir.path().join("program.tar");
        fs::write(&tar, tree.tar("", Stamp(0)).expect("a short name")).expect("written");
        let mut unpack = Command::new("tar");
        process::run(unpack.arg("-xf").arg(&tar).arg("-C").arg(dir.path())).expect("unpacked");
        let parts = Parts::made_by(&program, &TARGETS[0]).expect("the program does it");
        let mut files = parts.packed("{}\n".to_owned(), Stamp(1_000_000_000)).expect("packed");
        files.push(sums(&files));
        files
    }

    /// Returns the file whose name ends so.
    fn packed(end: &str) -> Vec<u8> {
        let found = pack().into_iter().find(|(name, _)| name.ends_with(end));
        found.expect("there is one").1
    }

    #[test]
    fn packed_twice_is_the_same() {
        let (first, second) = (pack(), pack());
        let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
        let ends = [".tar.gz", "_amd64.deb", "_64.rpm", "-oci.tar", ".cdx.json", "SHA256SUMS"];
        assert!(names.iter().zip(ends).all(|(name, end)| name.ends_with(end)), "{names:?}");
        assert_eq!(names.len(), ends.len());
        for ((name, one), (_, other)) in first.iter().zip(&second) {
            assert!(one == other, "{name} differs");
        }
    }

    /// Whatever was packed here last: an archive is unpacked, and measures on this host.
    #[test]
    fn programs_of_all_machines_run_the_demo() {
        for target in &TARGETS {
            let top = format!("plimsoll-{}-{}-linux", workspace::version(), target.machine);
            let archive = process::root().join("dist").join(format!("{top}.tar.gz"));
            if !archive.exists() {
                testing::skipped!("`cargo xtask dist` has packed nothing for {}", target.name);
                continue;
            }
            if let Some(why) = target.cannot_run() {
                testing::skipped!("{why}");
                continue;
            }
            let dir = tempfile::tempdir().expect("a folder");
            let mut unpack = Command::new("tar");
            process::run(unpack.arg("-xzf").arg(&archive).arg("-C").arg(dir.path()))
                .expect("unpacked");
            try_demo(target, &dir.path().join(top).join("plimsoll")).expect("it measures");
        }
    }

    #[test]
    fn a_target_is_found_by_its_name_and_by_its_programs() {
        assert_eq!(Target::of_name("arm64").expect("known").machine, "aarch64");
        let refused = Target::of_name("riscv64").expect_err("unknown").to_string();
        assert_eq!(refused, "no target `riscv64`: x86-64 or arm64");
        assert_eq!(Target::of_elf(183).expect("known").name, "arm64");
        assert!(Target::of_elf(243).is_err());
    }

    /// `sha256sum` reads the sums, and finds them right.
    #[test]
    fn the_sums_are_those_of_the_files() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, bytes) in pack() {
            fs::write(dir.path().join(name), bytes).expect("written");
        }
        let mut check = Command::new("sha256sum");
        check.args(["--check", "--quiet", "--strict", "SHA256SUMS"]).current_dir(dir.path());
        assert_eq!(process::output(&mut check).expect("all are right"), "");
    }

    #[test]
    fn a_debian_package_is_installed_and_removed() {
        if let Some(why) = deb::missing() {
            testing::skipped!("{why}");
            return;
        }
        let dir = tempfile::tempdir().expect("a folder");
        let package = dir.path().join("plimsoll.deb");
        fs::write(&package, packed("_amd64.deb")).expect("written");
        assert_eq!(deb::try_out(&package, &TARGETS[0]).expect("it works"), "plimsoll 9\n");
        let mut list = Command::new("dpkg-deb");
        let list = process::output(list.arg("--contents").arg(&package)).expect("a package");
        for path in ["bin/plimsoll", "share/man/man1/plimsoll-run.1.gz", "doc/plimsoll/README.md"] {
            assert!(list.contains(path), "{path}: {list}");
        }
    }

    #[test]
    fn an_rpm_is_whole_installed_and_removed() {
        if !testing::has_program("rpm") {
            return;
        }
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("x.rpm"), packed("x86_64.rpm")).expect("written");
        let rpm = |args: &[&str]| {
            let mut rpm = Command::new("rpm");
            rpm.args(args).current_dir(dir.path()).env("LC_ALL", "C").env("TZ", "UTC");
            process::output(&mut rpm).expect("rpm takes it")
        };
        assert_eq!(rpm(&["--checksig", "--nosignature", "x.rpm"]), "x.rpm: digests OK\n");
        let format = "%{NVRA} %{SIZE} %{LICENSE} [%{=NAME} %{FILENAMES} %{FILEMODES:perms};]";
        let said = rpm(&["-qp", "--nosignature", "--qf", format, "x.rpm"]);
        let name = format!("plimsoll-{}-1.x86_64 ", workspace::version());
        assert!(said.starts_with(&name), "{said}");
        for file in [
            "/usr/bin/plimsoll -rwxr-xr-x;",
            "/usr/share/zsh/site-functions/_plimsoll -rw-r--r--;",
            "/usr/share/doc/plimsoll drwxr-xr-x;",
        ] {
            assert!(said.contains(file), "{file}: {said}");
        }
        let root = dir.path().join("root");
        let into = format!("--root={}", root.display());
        if deb::missing().is_some() {
            testing::skipped!("only root may install with rpm");
            return;
        }
        rpm(&[&into, "--install", "--nodeps", "--nosignature", "x.rpm"]);
        let program = root.join("usr/bin/plimsoll");
        let said = process::output(Command::new(&program).arg("--version")).expect("it runs");
        assert_eq!(said, "plimsoll 9\n");
        assert_eq!(rpm(&[&into, "--verify", "--nodeps", "plimsoll"]), "");
        rpm(&[&into, "--erase", "plimsoll"]);
        assert!(!program.exists() && !root.join("usr/share/doc/plimsoll").exists());
    }

    /// Each part of an image is found by the sum of its bytes, down to the one file.
    #[test]
    fn an_image_is_one_file_in_one_layer() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("image.tar"), packed("-oci.tar")).expect("written");
        let run = |args: &[&str]| {
            let mut tar = Command::new("tar");
            process::output(tar.args(args).current_dir(dir.path())).expect("tar reads it")
        };
        run(&["-xf", "image.tar"]);
        let part = |reference: &serde_json::Value| {
            let digest = reference["digest"].as_str().expect("a sum").replace("sha256:", "");
            let path = format!("blobs/sha256/{digest}");
            let bytes = fs::read(dir.path().join(&path)).expect("it is there");
            assert_eq!(hex(&Sha256::digest(&bytes)), digest);
            assert_eq!(reference["size"], bytes.len());
            (path, bytes)
        };
        let json =
            |bytes: &[u8]| -> serde_json::Value { serde_json::from_slice(bytes).expect("JSON") };
        let index = json(&fs::read(dir.path().join("index.json")).expect("an index"));
        let manifest = json(&part(&index["manifests"][0]).1);
        let config = json(&part(&manifest["config"]).1);
        assert_eq!(config["config"]["Entrypoint"][0], "/plimsoll");
        let (layer, _) = part(&manifest["layers"][0]);
        assert_eq!(run(&["-tzf", &layer]), "plimsoll\n");
        assert_eq!(run(&["-xzOf", &layer]), SCRIPT);
        let unpacked = Command::new("gzip").arg("-dc").arg(dir.path().join(&layer)).output();
        let sum = hex(&Sha256::digest(unpacked.expect("gzip reads it").stdout));
        assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{sum}"));
    }
}

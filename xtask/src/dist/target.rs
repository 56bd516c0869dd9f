//! The machines that a release runs on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;

/// A kind of machine, by the names that each way to pack has for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// What is typed.
    pub(super) name: &'static str,
    /// Links the C library in, so that the binary runs on every distribution.
    pub(super) triple: &'static str,
    /// Of archives and of rpm.
    pub(super) machine: &'static str,
    /// Of Debian and of images.
    pub(super) debian: &'static str,
    /// What rpm calls a package's own name on it.
    pub(super) rpm_isa: &'static str,
    /// `e_machine` of its ELF files.
    elf: u16,
    /// The compiler for C, which the allocator needs.
    compiler: &'static str,
    /// What the compiler is told to build with musl, where it does not by itself.
    specs: Option<&'static str>,
    /// What the linker is told besides: relocations of a static program take 1 MB unless they are
    /// packed, which the linker of Debian 12 does for x86-64 alone.
    link: &'static [&'static str],
    /// What brings the compiler, in Debian's words.
    install: &'static str,
    /// Runs its programs on a host of another kind.
    emulator: &'static str,
    is_of_host: bool,
}

/// All that are released.
pub(super) static TARGETS: [Target; 2] = [
    Target {
        name: "x86-64",
        triple: "x86_64-unknown-linux-musl",
        machine: "x86_64",
        debian: "amd64",
        rpm_isa: "x86-64",
        elf: 62,
        compiler: "musl-gcc",
        specs: None,
        link: &["-Clink-arg=-Wl,-z,pack-relative-relocs"],
        install: "apt-get install musl-tools",
        emulator: "qemu-x86_64-static",
        is_of_host: cfg!(target_arch = "x86_64"),
    },
    Target {
        name: "arm64",
        triple: "aarch64-unknown-linux-musl",
        machine: "aarch64",
        debian: "arm64",
        rpm_isa: "aarch-64",
        elf: 183,
        compiler: "aarch64-linux-gnu-gcc",
        specs: Some("/usr/lib/aarch64-linux-musl/musl-gcc.specs"),
        link: &[],
        install: "dpkg --add-architecture arm64; apt-get update; apt-get install \
                  gcc-aarch64-linux-gnu musl-dev:arm64 qemu-user-static",
        emulator: "qemu-aarch64-static",
        is_of_host: cfg!(target_arch = "aarch64"),
    },
];

impl Target {
    /// Finds the one of this name.
    pub(super) fn of_name(name: &str) -> Result<&'static Target> {
        let names = TARGETS.each_ref().map(|target| target.name).join(" or ");
        let found = TARGETS.iter().find(|target| target.name == name);
        found.with_context(|| format!("no target `{name}`: {names}"))
    }

    /// Finds the one whose programs have this `e_machine`.
    pub(super) fn of_elf(elf: u64) -> Result<&'static Target> {
        let found = TARGETS.iter().find(|target| u64::from(target.elf) == elf);
        found.with_context(|| format!("no release is made for ELF machine {elf}"))
    }

    /// Fails if nothing here builds for it, or runs what was built.
    pub(super) fn check(&self) -> Result<()> {
        let (name, install) = (self.name, self.install);
        let has_compiler =
            process::on_path(self.compiler) || std::env::var_os(self.variable("CC")).is_some();
        let has_specs = self.specs.is_none_or(|specs| Path::new(specs).exists());
        if !has_compiler || !has_specs {
            bail!(
                "no C compiler for {name} with musl, which the allocator needs: `{install}`; \
                 `--target` builds for one kind of machine"
            );
        }
        match self.cannot_run() {
            Some(why) => bail!("{why}: `{install}`"),
            None => Ok(()),
        }
    }

    /// Returns the variable that a C build reads for it.
    fn variable(&self, name: &str) -> String {
        format!("{name}_{}", self.triple.replace('-', "_"))
    }

    /// Has a build of cargo made for it, with these options of both compilers.
    pub(super) fn set_up(&self, build: &mut Command, rust: &[String], c: &[String]) {
        let config = |key: &str, value: &str| format!("target.{}.{key} = {value}", self.triple);
        let rust: Vec<&str> =
            rust.iter().map(String::as_str).chain(self.link.iter().copied()).collect();
        build.args(["--config", &config("rustflags", &format!("{rust:?}"))]);
        let mut c = c.to_vec();
        if let Some(specs) = self.specs {
            c.push(format!("-specs={specs}"));
            build.args(["--config", &config("linker", &format!("{:?}", self.compiler))]);
            if std::env::var_os(self.variable("CC")).is_none() {
                build.env(self.variable("CC"), self.compiler);
            }
        }
        build.env(self.variable("CFLAGS"), c.join(" "));
    }

    /// Returns a command that runs one of its programs here.
    pub(super) fn command(&self, program: &Path) -> Command {
        if self.is_of_host {
            return Command::new(program);
        }
        let mut command = Command::new(self.emulator);
        command.arg(program);
        command
    }

    /// Returns why its programs do not run here.
    pub(super) fn cannot_run(&self) -> Option<String> {
        let runs = self.is_of_host || process::on_path(self.emulator);
        (!runs).then(|| format!("no {}, which runs programs for {} here", self.emulator, self.name))
    }
}

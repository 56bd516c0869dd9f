//! What a curve or a benchmark measures: a folder, a device, a file, or jobs of a file.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use bench::workers::Workers;
use clap::ValueEnum;
use dialects::{Loader, LowerOptions, ReadPlan, fio, likeliest};
use plan::Plan;
use runner::Emulation;

use super::existing::{self, ExistingTarget};
use super::input::{self, InputArgs};
use super::on;
use super::scratch::{EMULATED_BYTES, Purpose, Scratch};
use super::seed;
use crate::exit::Failure;
use crate::loader::{HostLoader, ReadOnce};
use crate::stream;

/// What is measured, and with which I/O.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SubjectArgs {
    /// A folder (a scratch file is made in it and removed), a device, a file, a job file of one
    /// step, or a composite workload with --load-max. With --on, a path on one of the design's
    /// volumes; its only volume unless given.
    #[arg(value_name = "TARGET", required_unless_present = "on")]
    target: Option<String>,

    /// Kind of I/O.
    #[arg(long, value_enum, default_value = "randread")]
    rw: Access,

    /// Share of reads of a mix, percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=100))]
    read_pct: u8,

    /// Bytes per I/O.
    #[arg(long, value_name = "SIZE", default_value = "8k", value_parser = block)]
    bs: u64,

    /// Bytes to work on; 1g in a folder, all of a device or file, 16g with --on.
    #[arg(long, value_name = "SIZE", value_parser = units::parse_bytes)]
    size: Option<u64>,

    /// Workers. Unless given it is one, and more where a core and not the volume is the limit.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,

    /// Write to an existing file or device, also to a device that a job file names. Its contents
    /// are lost.
    #[arg(long, conflicts_with = "readonly")]
    overwrite: bool,

    /// Of a job file: replace the path prefix A by B in every job; may be repeated.
    #[arg(long, value_name = "A=B", value_parser = input::pair)]
    remap: Vec<(String, String)>,

    /// Of a job file: set a parameter in every job; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = input::setting)]
    set: Vec<(String, String)>,
}

/// Kinds of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Access {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential reads and writes.
    Rw,
    /// Random reads.
    Randread,
    /// Random writes.
    Randwrite,
    /// Random reads and writes.
    Randrw,
}

impl Access {
    fn as_str(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Rw => "rw",
            Access::Randread => "randread",
            Access::Randwrite => "randwrite",
            Access::Randrw => "randrw",
        }
    }

    fn writes(self) -> bool {
        !matches!(self, Access::Read | Access::Randread)
    }
}

fn block(text: &str) -> Result<u64, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 || bytes > 1 << 30 {
        return Err("expected 512 to 1g".to_owned());
    }
    Ok(bytes)
}

/// Pairs that replace paths, and settings of parameters.
pub(super) type Changes<'a> = (&'a [(String, String)], &'a [(String, String)]);

/// What is done with a scratch folder.
const PURPOSE: Purpose = Purpose {
    command: "curve",
    file_name: "plimsoll-curve.scratch",
    other_folder: "plimsoll curve DIR",
    size_option: "plimsoll curve DIR --size ",
};

/// Size of a scratch file unless given.
const SCRATCH_BYTES: u64 = 1 << 30;

/// Where the load comes from, or what carries it.
#[derive(Clone, Copy, Debug)]
pub(super) enum RunsOn<'a> {
    /// This host.
    ThisHost,
    /// Other hosts, whose files and devices are not looked at from here.
    Hosts,
    /// An emulated volume.
    Emulated(&'a Emulation),
}

/// What is measured. Scratch files on this host are removed when it is dropped.
#[derive(Debug)]
pub(super) struct Subject {
    plan: Plan,
    /// What it is, with which I/O.
    about: String,
    _scratch: Option<Scratch>,
    /// A scratch file that other hosts make, and have to remove.
    hosts_scratch: Option<String>,
}

impl Subject {
    /// Makes the plan for a target, or takes that of a job file. In a folder a scratch file is
    /// made, unless nothing may be changed: then a folder is refused.
    pub(super) fn new(
        args: &SubjectArgs,
        on: RunsOn<'_>,
        is_read_only: bool,
    ) -> Result<Self, Failure> {
        let emulation = match on {
            RunsOn::Emulated(emulation) => Some(emulation),
            RunsOn::ThisHost | RunsOn::Hosts => None,
        };
        let target = &*args.target(emulation)?;
        if let Some(read) = job_file(target) {
            let input = InputArgs {
                files: vec![target.to_owned()],
                remap: args.remap.clone(),
                set: args.set.clone(),
                ..InputArgs::default()
            };
            // Where no file is touched, none is made by a step of its own first.
            let makes_files = !matches!(on, RunsOn::Emulated(_));
            let ReadPlan { mut parsed, draws_anew, .. } = input.parse_read(&read, makes_files);
            match on {
                RunsOn::ThisHost if !is_read_only => args.check_devices(&parsed.plan)?,
                RunsOn::ThisHost => {}
                RunsOn::Emulated(_) => input::leave_out(&mut parsed, &input::ABOUT_FOLDERS),
                RunsOn::Hosts => {
                    input::leave_out(&mut parsed, &input::ABOUT_THIS_HOST);
                    args.check_devices_there(&parsed.plan)?;
                }
            }
            input::print_findings(&parsed)?;
            if draws_anew {
                seed::set(&mut parsed.plan, seed::drawn());
            }
            let file = Path::new(target).file_name().unwrap_or(target.as_ref());
            let about = file.to_string_lossy().into_owned();
            return Ok(Subject { plan: parsed.plan, about, _scratch: None, hosts_scratch: None });
        }
        if let Some((key, _)) = args.set.first().or(args.remap.first()) {
            let message = format!("`{key}` is set, but `{target}` is no job file");
            return Err(Failure::wrong_use(message).hint("name a job file"));
        }
        if let Some(size) = args.size.filter(|size| *size < args.bs) {
            let (size, bs) = (units::format_bytes(size), units::format_bytes(args.bs));
            let message = format!("`--size` {size} is less than an I/O of {bs} (`--bs`)");
            return Err(Failure::wrong_use(message));
        }
        match on {
            RunsOn::ThisHost => args.on_this_host(target, is_read_only),
            RunsOn::Hosts => args.on_hosts(target, is_read_only),
            RunsOn::Emulated(_) => {
                let place = ("directory", target.to_owned());
                let plan = args.plan(place, args.size.unwrap_or(EMULATED_BYTES), true)?;
                let about = args.about(target);
                Ok(Subject { plan, about, _scratch: None, hosts_scratch: None })
            }
        }
    }

    /// Returns what is measured, and with which I/O, for a list of runs.
    pub(super) fn about(&self) -> &str {
        &self.about
    }

    /// Returns the plan.
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the plan that removes what other hosts made; `None` where they made nothing.
    pub(super) fn removal(&self) -> Option<Plan> {
        let path = plan::escape_path(self.hosts_scratch.as_deref()?);
        // A host that finds it gone makes a small one, so that none fails.
        let text = format!("[remove]\nfilename={path}\nrw=read\nbs=4k\nsize=4k\nunlink=1\n");
        Some(fio::parse_text("<remove>", &text, &LowerOptions::default(), &HostLoader).plan)
    }
}

impl SubjectArgs {
    /// Returns who issues the load: as many workers as it takes, unless the number is given.
    pub(super) fn issuers(&self) -> Workers {
        if self.workers.is_some() { Workers::fixed() } else { Workers::default() }
    }

    /// Returns what is named.
    pub(super) fn named(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Returns the pairs that replace paths in a job file, and the settings of its parameters.
    pub(super) fn changes(&self) -> Changes<'_> {
        (&self.remap, &self.set)
    }

    /// Refuses jobs that write to a device, unless they may. Files of theirs are made by the first
    /// of them, and are there when the next begins.
    fn check_devices(&self, plan: &Plan) -> Result<(), Failure> {
        let is_device = |path: &PathBuf| {
            std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_block_device())
        };
        let mut devices = runner::changed_paths(plan).filter(is_device);
        devices
            .try_for_each(|path| existing::check_overwrite(&path.to_string_lossy(), self.overwrite))
    }

    /// The same of devices of other hosts, as far as their names say.
    fn check_devices_there(&self, plan: &Plan) -> Result<(), Failure> {
        let mut devices = runner::changed_paths(plan).filter(|path| is_device_path(path));
        devices
            .try_for_each(|path| existing::check_overwrite(&path.to_string_lossy(), self.overwrite))
    }

    /// Returns what is named, or the only volume of the design.
    fn target(&self, on: Option<&Emulation>) -> Result<String, Failure> {
        if let Some(target) = &self.target {
            return Ok(target.clone());
        }
        let volumes = on.map_or(&[][..], |emulation| &emulation.design.volumes);
        let [only] = volumes else {
            let mounts: Vec<&str> = volumes.iter().map(|volume| &*volume.mount).collect();
            let text = format!("the design has {} volumes: name one of them", mounts.len());
            return Err(Failure::wrong_use(text).hint(format!("it has {}", mounts.join(", "))));
        };
        Ok(only.mount.clone())
    }

    fn on_this_host(&self, target: &str, is_read_only: bool) -> Result<Subject, Failure> {
        let there_bytes = match existing::find(target, self.bs, "or smaller I/Os: --bs SIZE")? {
            ExistingTarget::Folder if is_read_only => return Err(Scratch::refused()),
            ExistingTarget::Folder => return self.in_folder(Path::new(target)),
            ExistingTarget::File(bytes) | ExistingTarget::Device(bytes) => bytes,
        };
        if let Some(bytes) = self.size.filter(|bytes| *bytes > there_bytes) {
            let (there, size) = (units::format_bytes(there_bytes), units::format_bytes(bytes));
            let message = format!("`{target}` has {there}, and `--size` says {size}");
            return Err(Failure::wrong_use(message).hint("without `--size` all of it is used"));
        }
        if self.rw.writes() {
            existing::check_overwrite(target, self.overwrite)?;
        }
        let size_bytes = self.size.unwrap_or(0);
        let plan = self.plan(("filename", target.to_owned()), size_bytes, true)?;
        Ok(Subject { plan, about: self.about(target), _scratch: None, hosts_scratch: None })
    }

    fn in_folder(&self, dir: &Path) -> Result<Subject, Failure> {
        let scratch = Scratch::make(&[PathBuf::from(dir)], PURPOSE)?;
        let size_bytes = self.size.unwrap_or(SCRATCH_BYTES);
        scratch.check_space(size_bytes, 1)?;
        let is_direct = scratch.takes_direct();
        if !is_direct {
            stream::print_message(
                "note: the file system refuses direct I/O: these numbers are those of the page \
                 cache\n",
            );
        }
        let file = scratch.dir().join(PURPOSE.file_name).to_string_lossy().into_owned();
        let plan = self.plan(("filename", file), size_bytes, is_direct)?;
        let about = self.about(&dir.to_string_lossy());
        Ok(Subject { plan, about, _scratch: Some(scratch), hosts_scratch: None })
    }

    /// Returns a plan for a device or a folder of other hosts. In a folder they make the file
    /// together, so it has to be one that they share.
    fn on_hosts(&self, target: &str, is_read_only: bool) -> Result<Subject, Failure> {
        let is_device = is_device_path(Path::new(target));
        if !is_device && is_read_only {
            return Err(Scratch::refused());
        }
        if is_device && self.rw.writes() {
            existing::check_overwrite(target, self.overwrite)?;
        }
        let about = self.about(target);
        if is_device {
            let size_bytes = self.size.unwrap_or(0);
            let plan = self.plan(("filename", target.to_owned()), size_bytes, true)?;
            return Ok(Subject { plan, about, _scratch: None, hosts_scratch: None });
        }
        let file = Path::new(target).join(PURPOSE.file_name).to_string_lossy().into_owned();
        let size_bytes = self.size.unwrap_or(SCRATCH_BYTES);
        let plan = self.plan(("filename", file.clone()), size_bytes, true)?;
        Ok(Subject { plan, about, _scratch: None, hosts_scratch: Some(file) })
    }

    fn about(&self, target: &str) -> String {
        let mix = match self.rw {
            Access::Rw | Access::Randrw => format!(" {} % reads", self.read_pct),
            Access::Read | Access::Write | Access::Randread | Access::Randwrite => String::new(),
        };
        let bs = units::format_bytes(self.bs);
        format!("{}: {}{mix} {bs}", shown(target), self.rw.as_str())
    }

    /// Returns a plan of one job. A size of 0 is all there is.
    fn plan(&self, place: (&str, String), bytes: u64, is_direct: bool) -> Result<Plan, Failure> {
        let (key, path) = place;
        let path = plan::escape_path(&path);
        let mut text = format!(
            "[curve]\nioengine=io_uring\ndirect={}\nrw={}\nrwmixread={}\n\
             bs={}\nnumjobs={}\ngroup_reporting=1\nrandrepeat=1\n{key}={path}\n",
            u8::from(is_direct),
            self.rw.as_str(),
            self.read_pct,
            self.bs,
            self.workers.unwrap_or(1),
        );
        if bytes > 0 {
            text.push_str(&format!("size={bytes}\n"));
        }
        let mut parsed = fio::parse_text("<curve>", &text, &LowerOptions::default(), &HostLoader);
        input::print_findings(&parsed)?;
        parsed.plan.engines_give_way();
        Ok(parsed.plan)
    }
}

/// Returns whether a path of another host is that of a device, as far as its name says: links of
/// that host are not known here.
pub(super) fn is_device_path(path: &Path) -> bool {
    runner::whole_path(path).starts_with("/dev")
}

/// Returns a target with its whole path, where it is on this host.
pub(super) fn shown(target: &str) -> String {
    let path = Path::new(target);
    let whole = std::path::absolute(path).ok().filter(|_| path.exists());
    whole.map_or(target.to_owned(), |path| path.display().to_string())
}

/// Reads a target that is a file of jobs: a short text that looks like one, the standard input, or
/// a pipe. None is read of what is measured itself.
pub(super) fn job_file(target: &str) -> Option<ReadOnce> {
    if target == "-" {
        return Some(ReadOnce::default());
    }
    let facts = std::fs::metadata(target).ok()?;
    let is_pipe = facts.file_type().is_fifo();
    let is_short_file = facts.is_file() && facts.len() <= JOB_FILE_BYTES_MAX;
    if !(is_pipe || is_short_file) {
        return None;
    }
    let read = ReadOnce::default();
    let bytes = read.read(target).ok()?;
    let is_text = || !bytes.contains(&0) && std::str::from_utf8(&bytes).is_ok_and(is_of_jobs);
    // A file of another tool is not to be measured either: read as jobs, it is named.
    (is_pipe || input::foreign(target, &bytes).is_some() || is_text()).then_some(read)
}

fn is_of_jobs(text: &str) -> bool {
    likeliest(text).is_some()
}

/// Refuses a file of jobs where a target is named: `command` has jobs of its own.
pub(super) fn refuse_job_file(target: &str, command: &str) -> Result<(), Failure> {
    let Some(read) = (target != "-").then(|| job_file(target)).flatten() else { return Ok(()) };
    let bytes = read.read(target).unwrap_or_default();
    let measures = format!("`plimsoll {command}` measures a folder, a device or a file");
    let Some(foreign) = input::foreign(target, &bytes) else {
        let message = format!("`{target}` is a job file: {measures}, with jobs of its own");
        return Err(Failure::wrong_use(message)
            .hint(format!("`plimsoll run {target}` runs its jobs"))
            .hint(format!("`plimsoll curve {target}` finds their load line")));
    };
    let failure = Failure::wrong_use(format!("{}; {measures}", foreign.message));
    Err(match foreign.code {
        on::DESIGN_NOT_JOB => {
            failure.hint(format!("`plimsoll {command} --on {target}` measures its volume"))
        }
        _ => failure
            .hint(format!("`plimsoll check {target}` says what to write in its place"))
            .hint("`plimsoll run JOB` runs that, `plimsoll curve JOB` finds its load line"),
    })
}

/// Longest text that is taken for jobs.
const JOB_FILE_BYTES_MAX: u64 = 1 << 20;

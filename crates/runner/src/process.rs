//! The surroundings of a worker: CPUs, memory nodes, priorities, user, locked memory, I/O
//! scheduler, and the commands before and after it. All on the worker's own thread, before its
//! engine is built.
//!
//! A thread has its own affinity, priorities and, by the system calls themselves, its own user: the
//! library's wrappers would change all threads.

mod error;
mod memory;
mod scheduler;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use plan::job::CpuPolicy;
use plan::{IoPriority, Job};
use rustix::thread::CpuSet;

use crate::shell::{self, Ended};
use crate::worker_event::Signals;
use error::ProcessError;
pub(crate) use memory::LockedMemory;

/// `IOPRIO_WHO_PROCESS` of `linux/ioprio.h`; with id 0 the calling thread.
const PRIORITY_OF_THREAD: i32 = 1;

/// What a worker's thread makes of its surroundings.
pub(crate) struct Surroundings {
    pub(crate) job: Arc<Job>,
    /// Position of the worker in the plan, for the CPU of its own.
    pub(crate) number: u32,
    /// The worker's first target, for the I/O scheduler of its device.
    pub(crate) target: Option<PathBuf>,
    /// Folder for the output of commands.
    pub(crate) output_dir: PathBuf,
}

impl Surroundings {
    /// Prepares the calling thread. What needs rights comes before they are given up. Returns the
    /// memory to hold while the worker runs.
    pub(crate) fn apply(&self, signals: &Signals) -> Result<Option<LockedMemory>, ProcessError> {
        let process = &self.job.process;
        self.set_cpus()?;
        if let Some(text) = &process.numa_mem_policy {
            memory::set_policy(text)?;
        }
        if process.nice != 0 {
            let nice = process.nice;
            rustix::process::nice(i32::from(nice))
                .map_err(|errno| ProcessError::Nice { nice, source: errno.into() })?;
        }
        set_io_priority(process.priority())?;
        if let (Some(name), Some(target)) = (&process.io_scheduler, &self.target) {
            scheduler::set(name, target)?;
        }
        let locked = match self.job.buffers.lock_memory_bytes {
            0 => None,
            size_bytes => Some(LockedMemory::new(size_bytes)?),
        };
        become_user(process.uid, process.gid)?;
        if let Some(command) = &process.exec_before {
            self.execute(command, "prerun", &|| signals.stop.load(Relaxed))?;
        }
        Ok(locked)
    }

    /// Runs the command that comes after the worker: after one that was interrupted, too, since it
    /// may clean up. An interruption while it runs ends it.
    pub(crate) fn after(&self, signals: &Signals) -> Result<(), ProcessError> {
        let n_before = signals.n_interrupts.load(Relaxed);
        let stops = || signals.n_interrupts.load(Relaxed) > n_before;
        match &self.job.process.exec_after {
            Some(command) => self.execute(command, "postrun", &stops),
            None => Ok(()),
        }
    }

    fn set_cpus(&self) -> Result<(), ProcessError> {
        let process = &self.job.process;
        let mut cpus = process.cpus.clone();
        if cpus.is_empty() {
            for node in &process.numa_cpu_nodes {
                cpus.append(&mut memory::cpus_of_node(*node)?);
            }
        }
        if cpus.is_empty() {
            return Ok(());
        }
        if process.cpu_policy == CpuPolicy::Split {
            cpus = vec![cpus[self.number as usize % cpus.len()]];
        }
        let mut set = CpuSet::new();
        let refused = |cpus, source| ProcessError::Cpus { cpus, source };
        if cpus.iter().any(|cpu| *cpu as usize >= CpuSet::MAX_CPU) {
            return Err(refused(cpus, io::Error::from_raw_os_error(libc::EINVAL)));
        }
        for cpu in &cpus {
            set.set(*cpu as usize);
        }
        rustix::thread::sched_setaffinity(None, &set).map_err(|errno| refused(cpus, errno.into()))
    }

    /// Runs a shell command and keeps its output as `<job>.<when>.txt`.
    fn execute(
        &self,
        command: &str,
        when: &str,
        stops: &dyn Fn() -> bool,
    ) -> Result<(), ProcessError> {
        let name = format!("{}.{when}.txt", self.job.name.replace('/', "_"));
        let output = self.output_dir.join(name);
        let start = |source| ProcessError::Start { command: command.to_owned(), source };
        let command = command.to_owned();
        match run_shell(&command, &output, stops).map_err(start)? {
            Ended::Itself(status) if status.success() => Ok(()),
            Ended::Itself(status) => Err(ProcessError::Failed { command, output, status }),
            Ended::Stopped => Err(ProcessError::Stopped { command }),
        }
    }
}

fn run_shell(command: &str, output: &Path, stops: &dyn Fn() -> bool) -> io::Result<Ended> {
    let stdout = File::create(output)?;
    let stderr = stdout.try_clone()?;
    let mut child = shell::start(command, stdout.into(), stderr.into())?;
    shell::wait(&mut child, &|| true, stops)
}

fn set_io_priority(priority: IoPriority) -> Result<(), ProcessError> {
    if priority == IoPriority::NONE {
        return Ok(());
    }
    let (class, level, hint) = (priority.class(), priority.level(), priority.hint());
    let value = i32::from(priority.bits());
    // SAFETY: the call takes three numbers and no memory.
    if unsafe { libc::syscall(libc::SYS_ioprio_set, PRIORITY_OF_THREAD, 0, value) } == 0 {
        return Ok(());
    }
    Err(ProcessError::Priority { class, level, hint, source: io::Error::last_os_error() })
}

/// Changes the user and group of the calling thread, for good.
fn become_user(uid: Option<u32>, gid: Option<u32>) -> Result<(), ProcessError> {
    let refused =
        |what, id| ProcessError::Identity { what, id, source: io::Error::last_os_error() };
    if uid.is_some() || gid.is_some() {
        // Other groups would leave rights behind. A process that may not drop them has none to
        // drop.
        // SAFETY: the empty list is never read.
        unsafe { libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) };
    }
    if let Some(gid) = gid {
        // SAFETY: the call takes three numbers and no memory.
        if unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) } != 0 {
            return Err(refused("group", gid));
        }
    }
    if let Some(uid) = uid {
        // SAFETY: as above.
        if unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) } != 0 {
            return Err(refused("user", uid));
        }
    }
    Ok(())
}

//! The processes of a trace: which files they have open, where they are, and which program they
//! run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::Scope;
use super::call::{Answer, Call, descriptor, unquoted};
use super::files::{FileIdx, Files, joined};
use super::open_file::{Manner, OpenFile};
use super::program::Program;

/// An open file; several descriptors may lead to it.
pub(super) type Open = Rc<RefCell<OpenFile>>;

/// Descriptors of a process, or of several that share them.
#[derive(Clone, Debug, Default)]
struct Table {
    /// With whether `exec` closes it.
    opens: HashMap<i32, (Open, bool)>,
}

/// A process or thread.
#[derive(Debug)]
struct Process {
    program: usize,
    table: Rc<RefCell<Table>>,
    folder: Rc<RefCell<String>>,
    since_ns: u64,
    last_ns: u64,
}

/// All processes, and what their programs did.
#[derive(Debug, Default)]
pub(super) struct Processes {
    pub(super) scope: Scope,
    pub(super) files: Files,
    pub(super) programs: Vec<Program>,
    by_name: HashMap<String, usize>,
    by_pid: HashMap<u32, Process>,
    /// First and last moment of the trace.
    pub(super) span_ns: Option<(u64, u64)>,
    /// Calls on descriptors whose opening the trace does not show.
    pub(super) n_unknown: u64,
}

/// What a program is called before the trace shows what it runs.
const UNNAMED: &str = "program";

impl Processes {
    /// Returns the process of a call; a new one has what its parent has. `parent` is the one that
    /// makes a process at this moment, with the call.
    pub(super) fn enter(&mut self, call: &Call<'_>, parent: Option<(u32, &str)>) {
        let (first, last) = self.span_ns.get_or_insert((call.at_ns, call.at_ns));
        (*first, *last) = ((*first).min(call.at_ns), (*last).max(call.at_ns));
        if !self.by_pid.contains_key(&call.pid) {
            if let Some((parent, text)) = parent {
                self.begin(call.pid, parent, text, call.at_ns);
            } else {
                let program = self.program(UNNAMED);
                let (table, folder) = (Rc::default(), Rc::default());
                let (since_ns, last_ns) = (call.at_ns, call.at_ns);
                let process = Process { program, table, folder, since_ns, last_ns };
                self.by_pid.insert(call.pid, process);
            }
        }
        if let Some(process) = self.by_pid.get_mut(&call.pid) {
            process.last_ns = process.last_ns.max(call.at_ns);
        }
    }

    /// Notes that a process made another one; `text` holds the flags.
    pub(super) fn begin(&mut self, pid: u32, parent: u32, text: &str, at_ns: u64) {
        let Some(parent) = self.by_pid.get(&parent) else { return };
        let shared = |flag: &str| text.contains(flag);
        let table = if shared("CLONE_FILES") {
            Rc::clone(&parent.table)
        } else {
            Rc::new(RefCell::new(parent.table.borrow().clone()))
        };
        let folder = if shared("CLONE_FS") {
            Rc::clone(&parent.folder)
        } else {
            Rc::new(RefCell::new(parent.folder.borrow().clone()))
        };
        let program = parent.program;
        let known = self.by_pid.get_mut(&pid);
        if let Some(known) = known {
            // It came before the answer that names it.
            if known.table.borrow().opens.is_empty() {
                known.table = table;
            }
            if known.folder.borrow().is_empty() {
                known.folder = folder;
            }
            return;
        }
        let process = Process { program, table, folder, since_ns: at_ns, last_ns: at_ns };
        self.by_pid.insert(pid, process);
    }

    /// Notes that a process runs another program from now on.
    pub(super) fn exec(&mut self, call: &Call<'_>) {
        let path = call.args.first().and_then(|arg| unquoted(arg)).unwrap_or_default();
        let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(UNNAMED);
        let program = self.program(name);
        let Some(process) = self.by_pid.get_mut(&call.pid) else { return };
        let lived_ns = call.at_ns.saturating_sub(process.since_ns);
        let before = std::mem::replace(&mut process.program, program);
        process.since_ns = call.at_ns;
        let table = Rc::clone(&process.table);
        self.programs[before].live(lived_ns);
        self.programs[before].n_processes += 1;
        let mut table = table.borrow_mut();
        let is_closed = |(_, (_, closes)): &(i32, (Open, bool))| *closes;
        let (closed, kept) = table.opens.drain().partition(is_closed);
        table.opens = kept;
        drop(table);
        let closed: HashMap<i32, (Open, bool)> = closed;
        for (open, _) in closed.into_values() {
            self.end(open);
        }
    }

    /// Notes that a process ended.
    pub(super) fn exit(&mut self, pid: u32) {
        let Some(process) = self.by_pid.remove(&pid) else { return };
        let program = &mut self.programs[process.program];
        program.live(process.last_ns.saturating_sub(process.since_ns));
        program.n_processes += 1;
        if let Ok(table) = Rc::try_unwrap(process.table) {
            let opens = table.into_inner().opens;
            for (open, _) in opens.into_values() {
                self.end(open);
            }
        }
    }

    /// Ends the process of a source whose lines do not name one.
    pub(super) fn end_source(&mut self) {
        self.exit(0);
    }

    /// Ends all that is left when a trace ends.
    pub(super) fn end_all(&mut self) {
        let mut pids: Vec<u32> = self.by_pid.keys().copied().collect();
        pids.sort_unstable();
        for pid in pids {
            self.exit(pid);
        }
    }

    fn program(&mut self, name: &str) -> usize {
        if let Some(idx) = self.by_name.get(name) {
            return *idx;
        }
        self.programs.push(Program { name: name.to_owned(), ..Program::default() });
        self.by_name.insert(name.to_owned(), self.programs.len() - 1);
        self.programs.len() - 1
    }

    /// Returns the program that a process runs.
    pub(super) fn program_of(&mut self, pid: u32) -> Option<&mut Program> {
        let idx = self.by_pid.get(&pid)?.program;
        self.programs.get_mut(idx)
    }

    /// Returns the whole path of a name, as a process sees it: from its folder, or from that of a
    /// descriptor.
    pub(super) fn path(&self, pid: u32, at: Option<&str>, name: &str) -> Option<String> {
        let name = unquoted(name)?;
        let process = self.by_pid.get(&pid)?;
        let from = match at.map(descriptor) {
            Some((_, Some(shown))) => shown.to_owned(),
            Some((Some(fd), None)) if !name.starts_with('/') => {
                process.table.borrow().opens.get(&fd)?.0.borrow().path.clone()
            }
            Some((_, None)) | None => process.folder.borrow().clone(),
        };
        Some(joined(&from, &name))
    }

    /// Returns the file of a name that counts; it is one of the program's from now on.
    pub(super) fn named(&mut self, pid: u32, path: &str) -> Option<FileIdx> {
        let idx = self.files.find(path, &self.scope)?;
        self.program_of(pid)?.files.insert(idx);
        Some(idx)
    }

    /// Changes the folder of a process.
    pub(super) fn change_folder(&mut self, pid: u32, folder: String) {
        if let Some(process) = self.by_pid.get(&pid) {
            *process.folder.borrow_mut() = folder;
        }
    }

    /// Notes that a process opened a file.
    pub(super) fn open(&mut self, call: &Call<'_>, path: String, manner: Manner, closes: bool) {
        let Answer::Value(fd, _) = call.answer else { return };
        let file = self.files.find(&path, &self.scope);
        let Some(process) = self.by_pid.get(&call.pid) else { return };
        let program = process.program;
        let opened = OpenFile::new(file, path, program, manner);
        let open = Rc::new(RefCell::new(opened));
        let table = Rc::clone(&process.table);
        let before = table.borrow_mut().opens.insert(fd as i32, (open, closes));
        if let Some((before, _)) = before {
            self.end(before);
        }
    }

    /// Returns what a descriptor of a process leads to. What was opened before the trace is found
    /// by the path that `-y` shows.
    pub(super) fn opened(&mut self, pid: u32, arg: &str) -> Option<Open> {
        let (fd, shown) = descriptor(arg);
        let fd = fd?;
        let process = self.by_pid.get(&pid)?;
        if let Some((open, _)) = process.table.borrow().opens.get(&fd) {
            return Some(Rc::clone(open));
        }
        let Some(path) = shown.filter(|path| path.starts_with('/')) else {
            // The standard streams are there from the start.
            self.n_unknown += u64::from(fd > 2);
            return None;
        };
        let file = self.files.find(path, &self.scope);
        let opened = OpenFile::new(file, path.to_owned(), process.program, Manner::default());
        let open = Rc::new(RefCell::new(opened));
        process.table.borrow_mut().opens.insert(fd, (Rc::clone(&open), false));
        Some(open)
    }

    /// Gives a descriptor a second number.
    pub(super) fn duplicate(&mut self, pid: u32, from: &str, to: i64, closes: bool) {
        let Some(process) = self.by_pid.get(&pid) else { return };
        let Some(from) = descriptor(from).0 else { return };
        let mut table = process.table.borrow_mut();
        let open = table.opens.get(&from).map(|(open, _)| Rc::clone(open));
        let before = match open {
            Some(open) => table.opens.insert(to as i32, (open, closes)),
            // What is not known takes its place.
            None => table.opens.remove(&(to as i32)),
        };
        drop(table);
        if let Some((before, _)) = before {
            self.end(before);
        }
    }

    /// Notes that a process closed a descriptor.
    pub(super) fn close(&mut self, pid: u32, arg: &str) {
        let Some(fd) = descriptor(arg).0 else { return };
        let Some(process) = self.by_pid.get(&pid) else { return };
        let closed = process.table.borrow_mut().opens.remove(&fd);
        if let Some((open, _)) = closed {
            self.end(open);
        }
    }

    /// Counts an open file, unless another descriptor leads to it.
    fn end(&mut self, open: Open) {
        let Ok(opened) = Rc::try_unwrap(open) else { return };
        let opened = opened.into_inner();
        let Some(file) = opened.file else { return };
        let size_bytes = self.files.at(file).size_bytes;
        let program = &mut self.programs[opened.program];
        program.files.insert(file);
        opened.count(program, size_bytes);
    }
}

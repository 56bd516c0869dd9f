//! What each call does: to the processes and files of the trace, and to the counts.

use dialects::MixOp;

use super::call::{Answer, Call, MAKE_PROCESSES, descriptor};
use super::files::FileIdx;
use super::open_file::{MAPPED_BYTES_MAX, Manner};
use super::processes::{Open, Processes};

/// Calls that were seen and are no part of a workload, with their numbers.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// `link`, `symlink` and others for which a mix has no operation.
    pub(super) n_without_op: u64,
    /// I/O that is handed over in bulk, which the calls do not show.
    pub(super) n_hidden: u64,
}

/// Takes a call.
pub(super) fn take(call: &Call<'_>, processes: &mut Processes, left_out: &mut LeftOut) {
    let on = &mut On { call, processes, left_out };
    match call.name {
        "open" => on.open(None, 0, on.arg(1)),
        "creat" => on.open(None, 0, "O_WRONLY|O_CREAT|O_TRUNC"),
        "openat" | "openat2" => on.open(on.some_arg(0), 1, on.arg(2)),
        "close" => on.processes.close(call.pid, on.arg(0)),
        "dup" | "dup2" | "dup3" => on.duplicate(on.arg(2).contains("O_CLOEXEC")),
        "fcntl" | "fcntl64" => on.fcntl(),
        "read" | "readv" | "pread64" | "preadv" | "preadv2" => on.read(),
        "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" => on.write(),
        "lseek" | "_llseek" => on.seek(),
        "fstat" | "fstat64" => on.shown_of_open(1),
        "stat" | "stat64" | "lstat" | "lstat64" => on.name(None, 0, MixOp::Stat, Some(1)),
        "newfstatat" | "fstatat64" if on.arg(1) == "\"\"" => on.shown_of_open(2),
        "newfstatat" | "fstatat64" => on.name(on.some_arg(0), 1, MixOp::Stat, Some(2)),
        "statx" if on.arg(1) == "\"\"" => on.shown_of_open(4),
        "statx" => on.name(on.some_arg(0), 1, MixOp::Stat, Some(4)),
        "access" => on.name(None, 0, MixOp::Access, None),
        "faccessat" | "faccessat2" => on.name(on.some_arg(0), 1, MixOp::Access, None),
        "chmod" | "chown" | "lchown" | "utime" | "utimes" => on.name(None, 0, MixOp::Chmod, None),
        "fchmodat" | "fchmodat2" | "fchownat" | "utimensat" if on.arg(1) != "NULL" => {
            on.name(on.some_arg(0), 1, MixOp::Chmod, None);
        }
        "fchmod" | "fchown" | "utimensat" => on.on_open(MixOp::Chmod),
        "unlink" => on.name(None, 0, MixOp::Unlink, None),
        "unlinkat" if on.arg(2).contains("AT_REMOVEDIR") => {
            on.name(on.some_arg(0), 1, MixOp::Rmdir, None);
        }
        "unlinkat" => on.name(on.some_arg(0), 1, MixOp::Unlink, None),
        "rmdir" => on.name(None, 0, MixOp::Rmdir, None),
        "mkdir" => on.name(None, 0, MixOp::Mkdir, None),
        "mkdirat" => on.name(on.some_arg(0), 1, MixOp::Mkdir, None),
        "rename" => on.rename([None, None], [0, 1]),
        "renameat" | "renameat2" => on.rename([on.some_arg(0), on.some_arg(2)], [1, 3]),
        "truncate" | "truncate64" => on.name(None, 0, MixOp::Trunc, None),
        "ftruncate" | "ftruncate64" => on.cut(),
        "statfs" | "statfs64" => on.name(None, 0, MixOp::Statfs, None),
        "fstatfs" | "fstatfs64" => on.on_open(MixOp::Statfs),
        "getdents" | "getdents64" => on.with_open(|open| open.borrow_mut().is_listed = true),
        "fsync" | "fdatasync" => on.with_open(|open| open.borrow_mut().is_synced = true),
        "flock" if !on.arg(1).contains("LOCK_UN") => on.on_open(MixOp::Lock),
        "mmap" | "mmap2" => on.map(),
        "copy_file_range" => on.copy(0, 2),
        "sendfile" | "sendfile64" => on.copy(1, 0),
        "chdir" => on.change_folder(),
        "fchdir" => on.change_folder_to_open(),
        "execve" | "execveat" if call.answer.value() == Some(0) => on.processes.exec(call),
        "exit" | "exit_group" => on.processes.exit(call.pid),
        "link" | "readlink" => on.no_op(None, 0),
        "linkat" | "readlinkat" => on.no_op(on.some_arg(0), 1),
        "symlink" => on.no_op(None, 1),
        "symlinkat" => on.no_op(on.some_arg(1), 2),
        "io_submit" | "io_uring_enter" => on.left_out.n_hidden += 1,
        name if MAKE_PROCESSES.contains(&name) => on.begin(),
        // All others leave files alone.
        _ => {}
    }
}

/// A call, and what it changes.
struct On<'a> {
    call: &'a Call<'a>,
    processes: &'a mut Processes,
    left_out: &'a mut LeftOut,
}

impl<'a> On<'a> {
    fn some_arg(&self, idx: usize) -> Option<&'a str> {
        self.call.args.get(idx).copied()
    }

    /// Returns an argument, without text where there is none.
    fn arg(&self, idx: usize) -> &'a str {
        self.some_arg(idx).unwrap_or_default()
    }

    fn number(&self, idx: usize) -> Option<u64> {
        self.arg(idx).parse().ok()
    }

    /// Returns the file that an argument names.
    fn file(&mut self, at: Option<&str>, idx: usize) -> Option<FileIdx> {
        let path = self.processes.path(self.call.pid, at, self.arg(idx))?;
        self.processes.named(self.call.pid, &path)
    }

    fn count(&mut self, op: MixOp) {
        if let Some(program) = self.processes.program_of(self.call.pid) {
            program.count(op, 1);
        }
    }

    /// An operation on a name. `shown_idx` is the argument that holds what was found.
    fn name(&mut self, at: Option<&str>, idx: usize, op: MixOp, shown_idx: Option<usize>) {
        let Some(file) = self.file(at, idx) else { return };
        match self.call.answer {
            Answer::Value(..) => {}
            Answer::Failed("ENOENT" | "ENOTDIR") => {
                self.processes.files.at(file).exists = Some(false);
                return self.count(MixOp::NegStat);
            }
            Answer::Failed(_) | Answer::Unknown => return,
        }
        self.count(op);
        let facts = self.processes.files.at(file);
        facts.exists = Some(!matches!(op, MixOp::Unlink | MixOp::Rmdir));
        facts.is_folder |= matches!(op, MixOp::Mkdir | MixOp::Rmdir);
        if op == MixOp::Trunc {
            facts.size_bytes = self.call.args.get(1).and_then(|arg| arg.parse().ok());
        }
        if let Some(shown_idx) = shown_idx {
            let shown = self.arg(shown_idx);
            self.processes.files.note_shown(file, shown);
        }
    }

    /// A call on an open file that shows what it is, and is answered from what its opening brought.
    fn shown_of_open(&mut self, shown_idx: usize) {
        let shown = self.arg(shown_idx);
        if let Some(file) = self.opened(0).and_then(|open| open.borrow().file) {
            self.processes.files.note_shown(file, shown);
        }
    }

    fn opened(&mut self, idx: usize) -> Option<Open> {
        let arg = self.some_arg(idx)?;
        self.processes.opened(self.call.pid, arg)
    }

    /// Does something with an open file, where the call was answered without error.
    fn with_open(&mut self, then: impl Fn(&Open)) {
        if self.call.answer.value().is_some()
            && let Some(open) = self.opened(0)
        {
            then(&open);
        }
    }

    /// Counts an operation on an open file that counts.
    fn on_open(&mut self, op: MixOp) {
        let Some(open) = self.opened(0).filter(|_| self.call.answer.value().is_some()) else {
            return;
        };
        if open.borrow().file.is_some() {
            open.borrow_mut().n_others += 1;
            self.count(op);
        }
    }

    fn open(&mut self, at: Option<&str>, idx: usize, flags: &str) {
        let pid = self.call.pid;
        let Some(path) = self.processes.path(pid, at, self.arg(idx)) else { return };
        let has = |flag: &str| flags.contains(flag);
        let shown = match self.call.answer {
            Answer::Value(_, shown) => shown,
            Answer::Failed("ENOENT" | "ENOTDIR") => {
                if let Some(file) = self.processes.named(pid, &path) {
                    self.processes.files.at(file).exists = Some(false);
                    self.count(MixOp::NegStat);
                }
                return;
            }
            Answer::Failed(_) | Answer::Unknown => return,
        };
        let path = shown.filter(|shown| shown.starts_with('/')).map_or(path, str::to_owned);
        let mut manner = Manner {
            is_append: has("O_APPEND"),
            is_direct: has("O_DIRECT") && !has("O_DIRECTORY"),
            is_dsync: has("O_DSYNC") || has("O_SYNC"),
            is_new: has("O_TRUNC"),
        };
        if let Some(file) = self.processes.files.find(&path, &self.processes.scope) {
            let facts = self.processes.files.at(file);
            let is_made = has("O_CREAT")
                && match facts.exists {
                    Some(exists) => !exists,
                    // A file that is cut to nothing was most likely not there.
                    None => has("O_EXCL") || has("O_TRUNC"),
                };
            manner.is_new |= is_made;
            facts.exists = Some(true);
            facts.is_folder |= has("O_DIRECTORY");
            if manner.is_new {
                facts.size_bytes = Some(0);
            }
            if is_made {
                self.count(MixOp::Create);
            }
        }
        self.processes.open(self.call, path, manner, has("O_CLOEXEC"));
    }

    fn duplicate(&mut self, closes: bool) {
        if let Some(to) = self.call.answer.value() {
            self.processes.duplicate(self.call.pid, self.arg(0), to, closes);
        }
    }

    fn fcntl(&mut self) {
        match self.arg(1) {
            "F_DUPFD" => self.duplicate(false),
            "F_DUPFD_CLOEXEC" => self.duplicate(true),
            "F_SETLK" | "F_SETLKW" | "F_SETLK64" | "F_SETLKW64" | "F_OFD_SETLK"
            | "F_OFD_SETLKW"
                if !self.arg(2).contains("F_UNLCK") =>
            {
                self.on_open(MixOp::Lock);
            }
            _ => {}
        }
    }

    /// Returns where a transfer begins; one that names no place moves the place.
    fn place(&self, open: &Open, len_bytes: u64) -> u64 {
        let named = match self.call.name {
            "pread64" | "pwrite64" | "preadv" | "pwritev" | "preadv2" | "pwritev2" => {
                self.number(3)
            }
            _ => None,
        };
        named.unwrap_or_else(|| {
            let mut opened = open.borrow_mut();
            let at_bytes = opened.at_bytes;
            opened.at_bytes = at_bytes.saturating_add(len_bytes);
            at_bytes
        })
    }

    fn moved(&mut self) -> Option<(Open, FileIdx, u64)> {
        let len_bytes = u64::try_from(self.call.answer.value()?).ok()?;
        let open = self.opened(0)?;
        let file = open.borrow().file?;
        Some((open, file, len_bytes))
    }

    fn read(&mut self) {
        let Some((open, file, len_bytes)) = self.moved() else { return };
        let at_bytes = self.place(&open, len_bytes);
        // Of vectors, the lengths stand in the text.
        let asked_bytes = matches!(self.call.name, "read" | "pread64").then(|| self.number(2));
        open.borrow_mut().read(at_bytes, len_bytes, asked_bytes.flatten());
        let facts = self.processes.files.at(file);
        facts.end_bytes = facts.end_bytes.max(at_bytes.saturating_add(len_bytes));
    }

    fn write(&mut self) {
        let Some((open, file, len_bytes)) = self.moved() else { return };
        let size_bytes = self.processes.files.at(file).size_bytes;
        let is_append = open.borrow().manner.is_append;
        if let (true, Some(size_bytes)) = (is_append, size_bytes) {
            open.borrow_mut().at_bytes = size_bytes;
        }
        let at_bytes = self.place(&open, len_bytes);
        open.borrow_mut().write(at_bytes, len_bytes, size_bytes);
        let end_bytes = at_bytes.saturating_add(len_bytes);
        let facts = self.processes.files.at(file);
        facts.end_bytes = facts.end_bytes.max(end_bytes);
        facts.size_bytes = facts.size_bytes.map(|size| size.max(end_bytes));
    }

    fn seek(&mut self) {
        let Some(at_bytes) = self.call.answer.value().and_then(|at| u64::try_from(at).ok()) else {
            return;
        };
        let Some(open) = self.opened(0) else { return };
        open.borrow_mut().at_bytes = at_bytes;
        let file = open.borrow().file;
        if let (Some(file), "0", "SEEK_END") = (file, self.arg(1), self.arg(2)) {
            self.processes.files.at(file).size_bytes = Some(at_bytes);
        }
    }

    fn rename(&mut self, at: [Option<&str>; 2], idx: [usize; 2]) {
        let [from, to] = [0, 1].map(|it| self.file(at[it], idx[it]));
        let Some((from, to)) = from.zip(to) else { return };
        match self.call.answer {
            Answer::Value(..) => {
                self.count(MixOp::Rename);
                self.processes.files.rename(from, to);
            }
            Answer::Failed("ENOENT") => self.count(MixOp::NegStat),
            Answer::Failed(_) | Answer::Unknown => {}
        }
    }

    fn cut(&mut self) {
        let size_bytes = self.number(1);
        if let Some((open, file, _)) = self.moved() {
            self.processes.files.at(file).size_bytes = size_bytes;
            open.borrow_mut().n_others += 1;
            self.count(MixOp::Trunc);
        }
    }

    /// A file that is mapped. Libraries are, too: what may be executed is no data.
    fn map(&mut self) {
        let (protection, flags, fd) = (self.arg(2), self.arg(3), self.arg(4));
        let is_data =
            !protection.contains("PROT_EXEC") && descriptor(fd).0.is_some_and(|fd| fd >= 0);
        if !is_data || self.call.answer.value().is_none() {
            return;
        }
        let Some(open) = self.opened(4) else { return };
        let Some(file) = open.borrow().file else { return };
        open.borrow_mut().n_others += 1;
        let writes = protection.contains("PROT_WRITE") && flags.contains("MAP_SHARED");
        let bytes = self.number(1).unwrap_or(0);
        let facts = self.processes.files.at(file);
        let bytes = bytes.min(facts.size_bytes.unwrap_or(bytes)).clamp(1, MAPPED_BYTES_MAX);
        facts.end_bytes = facts.end_bytes.max(bytes);
        let Some(program) = self.processes.program_of(self.call.pid) else { return };
        let (op, sizes) = if writes {
            (MixOp::MmapWrite, &mut program.write_sizes)
        } else {
            (MixOp::MmapRead, &mut program.read_sizes)
        };
        *sizes.entry(bytes).or_default() += 1;
        program.count(op, 1);
    }

    /// Bytes that the kernel copies from one open file to another.
    fn copy(&mut self, from_idx: usize, to_idx: usize) {
        let copied_bytes = self.call.answer.value().and_then(|n| u64::try_from(n).ok());
        let Some(copied_bytes) = copied_bytes.filter(|n| *n > 0) else { return };
        let Some((from, to)) = self.opened(from_idx).zip(self.opened(to_idx)) else { return };
        let files = from.borrow().file.zip(to.borrow().file);
        let Some((from_file, to_file)) = files else { return };
        from.borrow_mut().n_others += 1;
        to.borrow_mut().is_copied_to = true;
        // Where it began is not looked at: each has that much at least.
        for file in [from_file, to_file] {
            let facts = self.processes.files.at(file);
            facts.end_bytes = facts.end_bytes.max(copied_bytes);
        }
    }

    fn change_folder(&mut self) {
        let pid = self.call.pid;
        if self.call.answer.value() == Some(0)
            && let Some(path) = self.processes.path(pid, None, self.arg(0))
        {
            self.processes.change_folder(pid, path);
        }
    }

    fn change_folder_to_open(&mut self) {
        if let Some(open) = self.opened(0) {
            let path = open.borrow().path.clone();
            self.processes.change_folder(self.call.pid, path);
        }
    }

    /// A call on a link.
    fn no_op(&mut self, at: Option<&str>, idx: usize) {
        let path = self.processes.path(self.call.pid, at, self.arg(idx));
        if path.is_some_and(|path| self.processes.scope.holds(&path)) {
            self.left_out.n_without_op += 1;
        }
    }

    fn begin(&mut self) {
        let child = self.call.answer.value().and_then(|pid| u32::try_from(pid).ok());
        if let Some(child) = child {
            let text = self.call.args.join(",");
            self.processes.begin(child, self.call.pid, &text, self.call.at_ns);
        }
    }
}

//! Work on structures of files, in Vdbench's words.

use std::collections::BTreeMap;
use std::fmt::Write;

use plan::files::SyncMode;
use plan::op::OpKind;
use plan::tree::{
    Activity, Before, DEFAULT_MASKS, DEFAULT_SEED, FileIo, FileSizes, Format, Locality, Mixing,
    SelectFilter, SelectOrder, StopAfter, TreeOpen, TreeSpec, TreeTask, TreeWork,
};
use plan::{Job, job_fields};

use super::run_words::{RunWords, WrittenJob};
use super::shares::{flow_weight, rate_iops};
use super::words::{io_word, is_exact, open_flags, rounded, select_words, size_words, value};
use super::writer::Writer;

/// Threads and bytes per write of a format that says neither.
const FORMAT_USUAL: (u32, u32) = (8, 131_072);

impl Writer {
    pub(super) fn tree_job<'a>(&mut self, job: &'a Job, work: &TreeWork, words: &mut RunWords<'a>) {
        words.is_tree = true;
        let tasks = match &work.activity {
            Activity::Operations(tasks) => tasks,
            Activity::Format(format) => {
                self.format(job.n_workers, *format, work);
                return;
            }
        };
        let fsd = self.structure(work);
        words.structures.insert(fsd.clone(), formatted(&work.tree));
        let target = work.target.as_ref().map(|target| {
            let work = TreeWork { tree: target.clone(), target: None, ..work.clone() };
            let fsd = self.structure(&work);
            words.structures.insert(fsd.clone(), formatted(target));
            fsd
        });
        if words.is_rate_of_some {
            self.lose(
                job_fields![load.rate, load.rate_total_iops],
                "rates of some jobs on structures of files: `fwdrate` counts for all",
            );
        }
        let own = rate_iops(job).filter(|_| !words.is_rate_of_some);
        let own = own.or(flow_weight(job)).unwrap_or(1.0);
        let mut workloads = Vec::new();
        let total: f64 = tasks.iter().map(|task| task.weight).sum();
        // What is one job here is one workload with several operations there: equal threads each.
        let n_tasks = tasks.len().max(1) as u32;
        let n_threads = (job.n_workers / n_tasks).max(1);
        for task in tasks {
            let mut body = format!("fsd={fsd},threads={n_threads}");
            if let Some(target) = &target {
                let _ = write!(body, ",target={target}");
            }
            self.task(task, &mut body);
            let title = if task.name.is_empty() { &job.name } else { &task.name };
            workloads.push(words.add(title, body, &[], own * task.weight / total));
        }
        if tasks.len() > 1 {
            self.lose(
                job_fields![n_workers],
                format!("operations mixed by the same threads (`{}`): each has its own", job.name),
            );
        }
        let has_all_threads = n_threads * n_tasks == job.n_workers.max(1);
        self.works_out(job_fields![n_workers, load.queue_depth], has_all_threads);
        words.written.push(WrittenJob { job, at: self.at.clone(), storage: Vec::new(), workloads });
    }

    fn task(&mut self, task: &TreeTask, body: &mut String) {
        // All fields are named here, so that none is forgotten; a run says names and weights.
        let TreeTask {
            name: _,
            weight: _,
            operation,
            read_pct,
            io,
            select,
            hot_places: _,
            block_size,
            stop_after,
            before: _,
            recycles: _,
        } = task;
        self.lose_of_task(task);
        let is_sequential = matches!(io, FileIo::Sequential { .. });
        match *read_pct {
            Some(pct) if is_sequential => {
                let is_mixed = pct > 0.0 && pct < 100.0;
                if is_mixed {
                    self.to.lose("a mix of reads and writes from start to end of a file");
                }
                let operation = if pct >= 50.0 { "read" } else { "write" };
                let _ = write!(body, ",operation={operation}");
            }
            Some(pct) => {
                let _ = write!(body, ",rdpct={}", rounded(pct));
            }
            None => {
                let _ = write!(body, ",operation={}", operation.name());
            }
        }
        if task.moves_bytes() {
            let size = size_words(block_size);
            let _ = write!(body, ",xfersize={size},fileio={}", io_word(*io));
        }
        let _ = write!(body, ",fileselect={}", select_words(select));
        match *stop_after {
            Some(StopAfter::Ios(n)) => {
                let _ = write!(body, ",stopafter={n}");
            }
            Some(StopAfter::Pct(pct)) => {
                if !is_exact(pct) {
                    self.to.lose(format!("`stopafter={pct}%`: two decimals are written"));
                }
                let _ = write!(body, ",stopafter={}%", rounded(pct));
            }
            None => {}
        }
    }

    /// Lists what Vdbench has no words for.
    fn lose_of_task(&mut self, task: &TreeTask) {
        if task.recycles {
            self.to.lose("folders that are removed to be made again");
        }
        match task.before {
            Before::Nothing => {}
            Before::ReadsPlace => self.to.lose("reads before writes to the same place"),
            Before::ReadsOther => self.to.lose("reads of another file before each is written"),
            Before::CutsEnd => self.to.lose("files that are cut before they are written there"),
        }
        if !is_known(task.operation) {
            self.to.lose(format!("operation {}", task.operation.name()));
        }
        if task.select.filter == SelectFilter::Present {
            self.to.lose("files that are written only where they are there");
        }
        if let SelectOrder::Hot(Locality { ops_pct, of_pct }) = task.select.order {
            self.to.lose(format!("{ops_pct} % of the operations on {of_pct} % of the files"));
        }
        if let Some(Locality { ops_pct, of_pct }) = task.hot_places {
            self.to.lose(format!("{ops_pct} % of random places in {of_pct} % of a file"));
        }
    }

    /// Keeps a format for the run behind it.
    fn format(&mut self, n_threads: u32, format: Format, work: &TreeWork) {
        let Format { clean, create, folders_only, block_bytes } = format;
        let words = match (clean, create, folders_only) {
            (true, true, false) => "yes",
            (true, true, true) => "directories",
            (false, true, false) => "restart",
            (false, true, true) => "(restart,directories)",
            (true, false, _) => "(clean,only)",
            (false, false, _) => {
                let anchor = &work.tree.anchor;
                self.to.lose(format!("the format of `{anchor}`, which removes and makes nothing"));
                return;
            }
        };
        if work.tree.working_set_bytes > 0 {
            self.to.lose(format!("a format of a part of `{}`: all of it", work.tree.anchor));
        }
        self.format_workload(n_threads, block_bytes);
        let fsd = self.structure(work);
        // What was removed alone is not part of another format.
        if self.format.as_ref().is_some_and(|(other, _)| *other != words) {
            self.lone_format();
        }
        let (_, structures) = self.format.get_or_insert_with(|| (words, BTreeMap::new()));
        structures.insert(fsd, formatted(&work.tree));
    }

    /// Says with how many threads and bytes per write formats are done: all alike, in Vdbench.
    fn format_workload(&mut self, n_threads: u32, bytes: u32) {
        let line = format!("fwd=format,threads={n_threads},xfersize={bytes}\n");
        match &self.format_workload {
            Some(other) if *other != line => {
                self.to.lose("threads or sizes that differ between formats: `fwd=format` is one");
            }
            Some(_) => {}
            None => {
                if (n_threads, bytes) != FORMAT_USUAL {
                    self.workloads.insert_str(0, &line);
                }
                self.format_workload = Some(line);
            }
        }
    }

    /// Returns the format that a run on these structures says, or writes it before that run:
    /// `format=` is about all structures of a run and no other.
    pub(super) fn format_of(&mut self, words: &RunWords<'_>) -> Option<&'static str> {
        let is_of_run = |(text, structures): &(&str, BTreeMap<String, TreeSpec>)| {
            let all = |one: &BTreeMap<String, TreeSpec>, other: &BTreeMap<String, TreeSpec>| {
                one.values().all(|it| other.values().any(|other| it == other))
            };
            !text.contains("only")
                && all(structures, &words.structures)
                && all(&words.structures, structures)
        };
        if let Some((text, _)) = self.format.take_if(|format| is_of_run(format)) {
            return Some(text);
        }
        self.lone_format();
        None
    }

    /// Writes a run that is nothing but a format.
    pub(super) fn lone_format(&mut self) {
        let Some((words, structures)) = self.format.take() else { return };
        let fsds: Vec<String> = structures.into_keys().collect();
        self.n_runs += 1;
        let inner = words.trim_matches(['(', ')']);
        let words =
            if inner.contains("only") { words.to_owned() } else { format!("({inner},only)") };
        let _ = writeln!(
            self.runs,
            "rd=rd{},fsd=({}),operations=read,fwdrate=max,elapsed=30,interval=1,format={words}",
            self.n_runs,
            fsds.join(",")
        );
    }

    /// Writes the definition of a tree and returns its name.
    fn structure(&mut self, work: &TreeWork) -> String {
        // All fields are named here, so that none is forgotten.
        let TreeSpec {
            name,
            anchor,
            create_parents,
            depth,
            width,
            files,
            bottom_only,
            bare_folders,
            sizes,
            file_mask,
            folder_mask,
            used_files,
            total_bytes,
            working_set_bytes,
            share,
            seed,
            own,
        } = &work.tree;
        self.composite(own.is_some(), *bare_folders > 0 || *used_files > 0, work.mixing);
        let sizes = match sizes {
            FileSizes::Fixed(bytes) => bytes.to_string(),
            FileSizes::Average(bytes) => format!("({bytes},0)"),
            FileSizes::Split(parts) => {
                if !parts.iter().all(|(_, pct)| is_exact(*pct)) {
                    self.to.lose("shares of file sizes finer than a hundredth of a percent");
                }
                let words: Vec<String> =
                    parts.iter().map(|(bytes, pct)| format!("{bytes},{}", rounded(*pct))).collect();
                format!("({})", words.join(","))
            }
        };
        let mut line = format!(
            "anchor={},depth={depth},width={width},files={files},sizes={sizes}",
            value(anchor)
        );
        if !bottom_only {
            line.push_str(",distribution=all");
        }
        for (key, bytes) in [("totalsize", total_bytes), ("workingsetsize", working_set_bytes)] {
            if *bytes > 0 {
                let _ = write!(line, ",{key}={bytes}");
            }
        }
        if share.1 > 1 {
            line.push_str(",shared=yes");
        }
        let TreeOpen { direct, dsync, fsync_on_close, raw_bits } = work.open;
        if raw_bits != 0 {
            self.to.lose(format!("further flags of open(2) for files in `{anchor}`"));
        }
        if *seed != DEFAULT_SEED {
            self.to.lose(format!("the seed of the structure in `{anchor}`, {seed}"));
        }
        let sync = if dsync { SyncMode::Dsync } else { SyncMode::None };
        line.push_str(&open_flags(direct, sync, fsync_on_close));
        self.masks(file_mask, folder_mask, &mut line);
        if *create_parents && !self.general.contains("create_anchors") {
            self.general.push_str("create_anchors=yes\n");
        }
        let (name, is_new) = self.named("fsd", name, &line);
        if is_new {
            let _ = writeln!(self.targets, "fsd={name},{line}");
        }
        name
    }

    /// Lists what structures of composite workloads have that Vdbench has not.
    fn composite(&mut self, is_own: bool, leaves_out: bool, mixing: Mixing) {
        if is_own {
            self.to.lose("a structure of each worker's own");
        }
        if leaves_out {
            self.to.lose("folders without files, and files that are not made");
        }
        match mixing {
            Mixing::Drawn => {}
            Mixing::Dealt => self.to.lose("shares of operations that are exact at any time"),
        }
    }

    /// Says how files and folders of a tree are named.
    fn masks(&mut self, file: &str, folder: &str, line: &mut String) {
        if (file, folder) == DEFAULT_MASKS {
            return;
        }
        let is_fine = file.starts_with("vdb")
            && file.strip_suffix(".file").is_some()
            && folder.starts_with("vdb")
            && folder.strip_suffix(".dir").is_some();
        if is_fine {
            let _ = write!(line, ",mask=({file},{folder})");
        } else {
            self.to.lose("names of files that do not begin with vdb and end in .file");
        }
    }
}

/// Returns what of a structure a format makes.
fn formatted(tree: &TreeSpec) -> TreeSpec {
    TreeSpec { name: String::new(), working_set_bytes: 0, share: (0, 1), ..tree.clone() }
}

/// Returns whether Vdbench has such an operation.
fn is_known(operation: OpKind) -> bool {
    match operation {
        OpKind::Read
        | OpKind::Write
        | OpKind::Mkdir
        | OpKind::Rmdir
        | OpKind::Create
        | OpKind::Delete
        | OpKind::Open
        | OpKind::Close
        | OpKind::Access
        | OpKind::Stat
        | OpKind::Setattr
        | OpKind::Copy
        | OpKind::Move => true,
        OpKind::Chmod
        | OpKind::NegStat
        | OpKind::Lock
        | OpKind::Truncate
        | OpKind::Rename
        | OpKind::Readdir
        | OpKind::Statfs
        | OpKind::Pathconf
        | OpKind::MapRead
        | OpKind::MapWrite
        | OpKind::Trim
        | OpKind::Fsync
        | OpKind::Fdatasync
        | OpKind::SyncFileRange => false,
    }
}

//! What a command line of diskspd says, in its own words, and what it may not say together.

use plan::{Diagnostic, Span};

use crate::windows;

/// Longest time, seconds: 100 years.
pub(super) const SECONDS_MAX: u64 = 100 * 365 * 24 * 3600;

/// The most of what is counted.
pub(super) const COUNT_MAX: u64 = u32::MAX as u64;

/// Largest size, bytes: 4 EiB, as far as offsets are counted without care.
pub(super) const BYTES_MAX: u64 = 1 << 62;

/// Largest number of a processor.
pub(super) const CPU_MAX: u64 = 65_535;

/// Most jobs of a plan, over all time spans.
pub(super) const JOBS_MAX: u64 = 65_536;

/// A value with the place where it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given<T> {
    pub(super) value: T,
    pub(super) span: Span,
}

/// What runs at one time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TimeSpan {
    /// The options of a command line as written; of a profile, which of its time spans it is.
    pub(super) name: String,
    /// A number that stands for it: that of its line, in a profile that of the time span.
    pub(super) number: u32,
    /// Its targets by what is done to them, at least one; a command line has one for all of them.
    /// What holds for the whole time span is the same in each.
    pub(super) commands: Vec<Command>,
}

/// What is done to targets, as options say it. What is not written is `None`: the defaults are what
/// its methods return.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Command {
    /// Where it begins.
    pub(super) span: Span,
    /// All of it, without quotes, a blank between two words.
    pub(super) line: String,
    /// Its options as written, a blank between two.
    pub(super) options: String,
    pub(super) targets: Vec<Target>,
    /// Something that only the program for Linux has is written.
    pub(super) is_of_linux: bool,
    /// `-a`, processors of the first group.
    pub(super) cpus: Vec<Given<u32>>,
    /// `-n`.
    pub(super) is_unbound: Option<Span>,
    /// `-b`, bytes.
    pub(super) block: Option<Given<u64>>,
    /// `-B`, bytes.
    pub(super) base: Option<Given<u64>>,
    /// `-B` with a length, or `-f`: where I/O ends, bytes from the start of the target.
    pub(super) end: Option<Given<u64>>,
    /// `-c`, bytes.
    pub(super) file_size: Option<Given<u64>>,
    /// `-C`, seconds.
    pub(super) cool_down_s: Option<Given<u64>>,
    /// `-d`, seconds.
    pub(super) duration_s: Option<Given<u64>>,
    /// `-W`, seconds.
    pub(super) warm_up_s: Option<Given<u64>>,
    /// `-D`, milliseconds.
    pub(super) sample_ms: Option<Given<u64>>,
    /// `-fr` or `-fs`: reads are expected to be random.
    pub(super) hint_is_random: Option<Given<bool>>,
    /// `-F`.
    pub(super) n_threads: Option<Given<u64>>,
    /// `-t`.
    pub(super) n_threads_each: Option<Given<u64>>,
    /// `-o`.
    pub(super) queue_depth: Option<Given<u64>>,
    /// `-O`.
    pub(super) queue_depth_of_all: Option<Given<u64>>,
    /// `-g`.
    pub(super) rate: Option<Given<Rate>>,
    /// `-i`.
    pub(super) burst: Option<Given<u64>>,
    /// `-j`, milliseconds.
    pub(super) pause_ms: Option<Given<u64>>,
    /// `-I`: 1 very low, 2 low, 3 normal.
    pub(super) priority: Option<Given<u64>>,
    /// `-l`.
    pub(super) has_large_pages: Option<Span>,
    /// `-L`.
    pub(super) has_latency: Option<Span>,
    /// `-N`.
    pub(super) flush: Option<Given<Flush>>,
    /// `-p`.
    pub(super) is_parallel: Option<Span>,
    /// `-r` with its alignment, bytes.
    pub(super) random: Option<Given<Option<u64>>>,
    /// `-rs`.
    pub(super) random_pct: Option<Given<u64>>,
    /// `-rd`.
    pub(super) spread: Option<Given<Spread>>,
    /// `-s`.
    pub(super) stride: Option<Given<Stride>>,
    /// `-T`, bytes.
    pub(super) thread_stride: Option<Given<u64>>,
    pub(super) caching: Caching,
    /// `-w`.
    pub(super) write_pct: Option<Given<u64>>,
    /// `-x`.
    pub(super) completion: Option<Given<Completion>>,
    /// `-z`; none is drawn for each run.
    pub(super) seed: Option<Given<Option<u64>>>,
    /// `-Z`.
    pub(super) contents: Option<Given<Contents>>,
    /// `-X`, a path.
    pub(super) profile: Option<Given<String>>,
    /// `-Rxml` or `-Rtext`: results and profiles are in XML, or in text.
    pub(super) is_xml: Option<bool>,
    /// `-Rp`: it prints the profile, and runs nothing.
    pub(super) is_profile_only: Option<Span>,
}

/// A file or device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    /// As written.
    pub(super) name: String,
    pub(super) span: Span,
}

impl Target {
    /// Returns the path that it stands for, before anything is mapped.
    pub(super) fn path(&self) -> String {
        windows::path(&self.name)
    }

    /// Returns the number of the target that it stands for, from 1 on: `*1` in a profile.
    pub(super) fn template(&self) -> Option<usize> {
        let digits = self.name.strip_prefix('*')?;
        let is_number = digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|number| is_number && *number > 0)
    }

    /// Returns whether it is a whole disk or partition of Windows: `#1`, `X:`.
    pub(super) fn is_disk(&self) -> bool {
        self.name.starts_with('#') || (self.name.len() == 2 && windows::has_drive(&self.name))
    }
}

/// The most that a thread does to a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rate {
    BytesPerMs(u64),
    Iops(u64),
}

/// Where in the target random I/O goes: shares of the I/O in percent, each with a part of the
/// target, one behind the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    /// The parts are bytes, not percent.
    pub(super) is_absolute: bool,
    pub(super) parts: Vec<(u64, u64)>,
}

/// Where sequential I/O goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stride {
    /// The threads share one walk.
    pub(super) is_interlocked: bool,
    /// From the start of an I/O to that of the next, bytes; none is the block size.
    pub(super) bytes: Option<u64>,
}

/// What caches may do, as letters of `-S` and `-h` say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Caching {
    pub(super) mode: Option<Given<CacheMode>>,
    /// Writes go through to the device.
    pub(super) write_through: Option<Span>,
    pub(super) is_mapped: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheMode {
    Cached,
    /// The cache of this host is passed by, that of the server is not.
    Remote,
    Uncached,
}

/// How memory-mapped I/O is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    View,
    Memory,
    MemoryNoDrain,
}

impl Flush {
    pub(super) const ALL: [Flush; 3] = units::all_of!(Flush: View, Memory, MemoryNoDrain);

    /// Returns what stands behind `-N`.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Flush::View => "v",
            Flush::Memory => "n",
            Flush::MemoryNoDrain => "i",
        }
    }

    /// Returns the word of profiles.
    pub(super) fn element(self) -> &'static str {
        match self {
            Flush::View => "ViewOfFile",
            Flush::Memory => "NonVolatileMemory",
            Flush::MemoryNoDrain => "NonVolatileMemoryNoDrain",
        }
    }
}

/// How completions are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    Routines,
    KernelAio,
    PosixAio,
}

/// What is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Contents {
    Zeros,
    /// Random bytes, made for each I/O; on Linux made once.
    Random,
    /// A part of so many bytes, which are random or those of a file.
    Source {
        bytes: u64,
        file: Option<String>,
    },
    /// As without the option: a count from 0 to 255, over and over.
    Counted,
}

/// Bytes per I/O that are not written.
pub(super) const BLOCK_BYTES: u64 = 64 << 10;

impl TimeSpan {
    /// Returns the name of the step that it is.
    pub(super) fn step_name(&self) -> &str {
        if self.name.is_empty() { "defaults" } else { &self.name }
    }

    /// Returns what holds for all of its targets.
    pub(super) fn whole(&self) -> &Command {
        &self.commands[0]
    }

    /// Returns how many threads there are.
    pub(super) fn n_threads(&self) -> u64 {
        let own = |command: &Command| {
            let n_targets = command.targets.len() as u64;
            command.n_threads_per_target().saturating_mul(n_targets)
        };
        match &self.whole().n_threads {
            Some(all) => all.value,
            None => self.commands.iter().map(own).fold(0, u64::saturating_add),
        }
    }
}

impl Command {
    pub(super) fn block_bytes(&self) -> u64 {
        self.block.as_ref().map_or(BLOCK_BYTES, |it| it.value)
    }

    pub(super) fn write_pct(&self) -> u64 {
        self.write_pct.as_ref().map_or(0, |it| it.value)
    }

    pub(super) fn duration_s(&self) -> u64 {
        self.duration_s.as_ref().map_or(10, |it| it.value)
    }

    pub(super) fn warm_up_s(&self) -> u64 {
        self.warm_up_s.as_ref().map_or(5, |it| it.value)
    }

    pub(super) fn queue_depth(&self) -> u64 {
        self.queue_depth.as_ref().map_or(2, |it| it.value)
    }

    /// Returns how many threads work on each target.
    pub(super) fn n_threads_per_target(&self) -> u64 {
        let each = self.n_threads_each.as_ref().map_or(1, |it| it.value);
        self.n_threads.as_ref().map_or(each, |it| it.value)
    }

    /// Returns whether some of the I/O is random.
    pub(super) fn is_random(&self) -> bool {
        self.random.is_some() || self.random_pct.is_some()
    }

    /// Returns the share of random I/O, percent.
    pub(super) fn random_pct(&self) -> u64 {
        match (&self.random_pct, &self.random) {
            (Some(pct), _) => pct.value,
            (None, Some(_)) => 100,
            (None, None) => 0,
        }
    }

    /// Returns the file that what is written comes from, before anything is mapped; none where
    /// nothing is written.
    pub(super) fn source_file(&self) -> Option<String> {
        let given = self.contents.as_ref().filter(|_| self.write_pct() > 0)?;
        match &given.value {
            Contents::Source { bytes: _, file } => file.as_deref().map(windows::path),
            Contents::Zeros | Contents::Random | Contents::Counted => None,
        }
    }

    /// Returns whether random bytes are made for each I/O.
    pub(super) fn is_random_each(&self) -> bool {
        self.contents.as_ref().is_some_and(|it| it.value == Contents::Random)
    }

    /// Returns what random places are multiples of, and how far apart sequential ones are, bytes.
    pub(super) fn step_bytes(&self) -> u64 {
        let random = self.random.as_ref().and_then(|it| it.value);
        let stride = self.stride.as_ref().and_then(|it| it.value.bytes);
        random.or(stride).unwrap_or_else(|| self.block_bytes())
    }

    pub(super) fn is_interlocked(&self) -> bool {
        self.stride.as_ref().is_some_and(|it| it.value.is_interlocked)
    }

    pub(super) fn is_uncached(&self) -> bool {
        match self.caching.mode.as_ref().map(|it| it.value) {
            Some(CacheMode::Uncached | CacheMode::Remote) => true,
            Some(CacheMode::Cached) | None => false,
        }
    }

    /// Returns the number of I/Os that a thread has in flight over all targets, where it counts.
    pub(super) fn shared_depth(&self) -> Option<u64> {
        self.n_threads.as_ref()?;
        self.queue_depth_of_all.as_ref().map(|it| it.value)
    }

    /// Returns where I/O ends, bytes from the start of the target, as far as that is written.
    pub(super) fn end_bytes(&self) -> Option<u64> {
        let end = self.end.as_ref().map(|it| it.value);
        let size = self.file_size.as_ref().map(|it| it.value);
        end.into_iter().chain(size).min()
    }

    pub(super) fn base_bytes(&self) -> u64 {
        self.base.as_ref().map_or(0, |it| it.value)
    }

    /// Returns options that are not there together in the tool, and what it warns of.
    pub(super) fn conflicts(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        self.conflicts_of_threads(&mut found);
        self.conflicts_of_pace(&mut found);
        if self.is_random() {
            self.conflicts_of_random(&mut found);
        } else {
            self.conflicts_of_sequence(&mut found);
        }
        self.conflicts_of_places(&mut found);
        self.conflicts_of_buffers(&mut found);
        found
    }

    fn conflicts_of_threads(&self, found: &mut Vec<Diagnostic>) {
        if let (Some(_), Some(each)) = (&self.n_threads, &self.n_threads_each)
            && each.value > 1
        {
            let text = "`-F` is the number of all threads, `-t` that of each target";
            found.push(conflict(text, &each.span).help("leave one of them out"));
        }
        if let (Some(_), Some(cpu)) = (&self.is_unbound, self.cpus.first()) {
            let text = "`-n` binds no thread to a processor, `-a` does";
            found.push(conflict(text, &cpu.span).help("leave one of them out"));
        }
        if let (None, Some(depth)) = (&self.n_threads, &self.queue_depth_of_all) {
            let text = "`-O` has no effect without `-F`";
            let finding = Diagnostic::warning("no-effect", text).at(depth.span.clone());
            found.push(finding.help("`-o` is the number in flight per thread and target"));
        }
    }

    fn conflicts_of_pace(&self, found: &mut Vec<Diagnostic>) {
        let routines = self.completion.as_ref().filter(|it| it.value == Completion::Routines);
        if let (Some(rate), Some(_)) = (&self.rate, routines) {
            found.push(conflict("`-g` limits no I/O with completion routines, `-x`", &rate.span));
        }
        match (&self.burst, &self.pause_ms) {
            (Some(burst), None) => {
                let text = "`-i` is a burst without a pause";
                found.push(conflict(text, &burst.span).help("`-j` is the pause, milliseconds"));
            }
            (None, Some(pause)) => {
                let text = "`-j` is a pause without a burst";
                found.push(conflict(text, &pause.span).help("`-i` is the burst, I/Os"));
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        if self.shared_depth().is_none() {
            return;
        }
        let rate = self.rate.as_ref().map(|it| ("-g", &it.span));
        let pause = self.pause_ms.as_ref().map(|it| ("-j", &it.span));
        let parallel = self.is_parallel.as_ref().map(|it| ("-p", it));
        for (option, span) in rate.into_iter().chain(pause).chain(parallel) {
            let text = format!("`{option}` is for each target, and `-O` is for all of them");
            found.push(conflict(text, span).help("write `-o` in place of `-O`"));
        }
    }

    fn conflicts_of_random(&self, found: &mut Vec<Diagnostic>) {
        if let Some(stride) = &self.stride {
            let option = if self.is_interlocked() { "-si" } else { "-s" };
            let text = format!("`{option}` is sequential I/O, `-r` and `-rs` are random");
            let finding = conflict(text, &stride.span);
            found.push(finding.help("with `-rs`, write `-r` for what places are multiples of"));
        }
        let stride = self.thread_stride.as_ref().map(|it| ("-T", &it.span));
        let parallel = self.is_parallel.as_ref().map(|it| ("-p", it));
        for (option, span) in stride.into_iter().chain(parallel) {
            let text = format!("`{option}` is for sequential I/O, `-r` and `-rs` are random");
            found.push(conflict(text, span).help("leave one of them out"));
        }
    }

    fn conflicts_of_sequence(&self, found: &mut Vec<Diagnostic>) {
        let n_threads = self.n_threads_per_target();
        if let Some(spread) = &self.spread {
            let text = "`-rd` spreads random I/O, and this is sequential";
            found.push(conflict(text, &spread.span).help("write `-r`, too"));
        }
        if let Some(stride) = self.stride.as_ref().filter(|it| it.value.is_interlocked) {
            let thread_stride = self.thread_stride.as_ref().map(|it| ("-T", &it.span));
            let parallel = self.is_parallel.as_ref().map(|it| ("-p", it));
            for (option, span) in thread_stride.into_iter().chain(parallel) {
                let text = format!("`-si` is one walk of all threads, `{option}` several");
                found.push(conflict(text, span).help("leave one of them out"));
            }
            if n_threads == 1 {
                let text = "`-si` has no effect with one thread";
                found.push(Diagnostic::warning("no-effect", text).at(stride.span.clone()));
            }
        } else if let Some(stride) = self.thread_stride.as_ref().filter(|_| n_threads == 1) {
            let text = "`-T` is for several threads per target, and there is one";
            found.push(conflict(text, &stride.span).help("`-t` is their number"));
        } else if n_threads > 1 && self.thread_stride.is_none() {
            let at = self.stride.as_ref().map_or(&self.span, |it| &it.span);
            let text = format!("{n_threads} threads go through each target, each by itself");
            let finding = Diagnostic::note("several-walks", text).at(at.clone());
            let finding = finding.help("`-si` has them share one walk");
            found.push(finding.help("`-T` has them begin at different places"));
        }
        if let (Some(at), 1) = (&self.is_parallel, self.queue_depth()) {
            let text = "`-p` has no effect with one I/O in flight";
            found.push(Diagnostic::warning("no-effect", text).at(at.clone()));
        }
    }

    fn conflicts_of_places(&self, found: &mut Vec<Diagnostic>) {
        let (base, block) = (self.base_bytes(), self.block_bytes());
        let end = self.end.as_ref().map(|it| (it.value, &it.span));
        let size = self.file_size.as_ref().map(|it| (it.value, &it.span));
        let ends = end.into_iter().chain(size);
        if let Some((end, at)) = ends.min_by_key(|(end, _)| *end)
            && end.saturating_sub(base) < block
        {
            let text = if base == 0 {
                format!("no I/O of {block} bytes fits into {end} bytes")
            } else {
                format!("no I/O of {block} bytes fits between byte {base} and byte {end}")
            };
            found.push(Diagnostic::error("too-small", text).at(at.clone()));
        }
        if let (Some(end), Some(stride)) = (self.end_bytes(), &self.thread_stride) {
            let n_before = self.n_threads_per_target() - 1;
            let last = stride.value.saturating_mul(n_before).saturating_add(base);
            if end.saturating_sub(last) < block {
                let text =
                    format!("the last thread begins at byte {last}, the target ends at {end}");
                found.push(conflict(text, &stride.span).help("make `-T` smaller"));
            }
        }
        for target in self.targets.iter().filter(|target| target.is_disk()) {
            if self.file_size.is_some() {
                let text = format!("`-c` makes files, and `{}` is a disk", target.name);
                found.push(conflict(text, &target.span).help("leave `-c` out"));
            }
        }
        if let Some(spread) = &self.spread {
            self.spread_fits(&spread.value, &spread.span, found);
        }
    }

    fn spread_fits(&self, spread: &Spread, at: &Span, found: &mut Vec<Diagnostic>) {
        let mut report = |text: String| {
            found.push(Diagnostic::error("bad-value", text).at(at.clone()));
        };
        let share: u64 = spread.parts.iter().map(|(share, _)| share).sum();
        if share > 100 {
            report(format!("the shares of I/O add up to {share} %, which is more than 100"));
        }
        if spread.is_absolute {
            let block = self.block_bytes();
            if let Some((_, bytes)) = spread.parts.iter().find(|(_, bytes)| *bytes < block) {
                report(format!("no I/O of {block} bytes fits into a part of {bytes} bytes"));
            }
            return;
        }
        let of_target: u64 = spread.parts.iter().map(|(_, part)| part).sum();
        if of_target > 100 {
            report(format!("the parts of the target add up to {of_target} %, more than 100"));
        } else if share < 100 && of_target == 100 {
            report(format!("{} % of the I/O has no part of the target", 100 - share));
        } else if share == 100 && of_target < 100 {
            let rest = 100 - of_target;
            report(format!("{rest} % of the target is left out; write it as a part of 0 % I/O"));
        }
    }

    fn conflicts_of_buffers(&self, found: &mut Vec<Diagnostic>) {
        if let Some(Given { value: Contents::Source { bytes, .. }, span }) = &self.contents
            && *bytes < self.block_bytes()
        {
            let block = self.block_bytes();
            let text = format!("a buffer of {bytes} bytes is smaller than an I/O of {block}");
            found.push(conflict(text, span).help("`-Z` wants the block size of `-b` or more"));
        }
        if let (Some(flush), None) = (&self.flush, &self.caching.is_mapped) {
            let text = "`-N` is for memory-mapped I/O, `-Sm`";
            found.push(conflict(text, &flush.span));
        }
        let mode = self.caching.mode.as_ref();
        let uncached = mode.filter(|it| it.value == CacheMode::Uncached);
        if let (Some(uncached), Some(_)) = (uncached, &self.caching.is_mapped) {
            let text = "memory-mapped I/O, `-Sm`, goes through the cache";
            let finding = conflict(text, &uncached.span);
            found.push(finding.help("leave out `-Sm`, or `-Su`, `-Sh` and `-h`"));
        }
        if let (Some(at), Some(_)) = (&self.caching.is_mapped, &self.completion) {
            found.push(conflict("`-Sm` maps memory, which has no completions, `-x`", at));
        }
    }
}

/// Makes the error that options are which do not go together.
pub(super) fn conflict(text: impl Into<String>, at: &Span) -> Diagnostic {
    Diagnostic::error("conflict", text).at(at.clone())
}

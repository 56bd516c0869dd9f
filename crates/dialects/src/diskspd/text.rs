//! Results as diskspd 2.2 prints them. Programs that read them go by words and columns, so lines,
//! columns and their widths are those of the tool.

use std::fmt::Write as _;

use record::Record;

use super::command::{
    CacheMode, Command, Completion, Contents, Given, Rate, Spread, Target, TimeSpan,
};
use super::measured::{Measured, OfTarget, Section, Sum};

/// Prints a command line and what it asks for, itself or by a profile.
pub(super) fn profile(time_spans: &[TimeSpan]) -> String {
    let line = time_spans.first().map_or("", |it| &it.whole().line);
    let mut text = format!("\nCommand Line: {line}\n\nInput parameters:\n\n");
    for (idx, it) in time_spans.iter().enumerate() {
        let _ = writeln!(text, "\ttimespan: {:3}\n\t-------------", idx + 1);
        time_span(it.whole(), &mut text);
        for command in &it.commands {
            for item in &command.targets {
                target(command, item, &mut text);
            }
        }
        text.push('\n');
    }
    text
}

/// Prints all of it with what came out. `stamp` prints a moment, milliseconds since 1970, as
/// `2026/11/27 02:49:00`, in UTC.
pub(super) fn results(
    time_spans: &[TimeSpan],
    all: &[Measured<'_>],
    stamp: &dyn Fn(u64) -> String,
) -> String {
    let mut text = profile(time_spans);
    if let Some(first) = all.first() {
        system(first.record, stamp, &mut text);
    }
    for (idx, (time_span, measured)) in time_spans.iter().zip(all).enumerate() {
        let _ = writeln!(text, "\nResults for timespan {}:\n{}", idx + 1, "*".repeat(79));
        of_time_span(time_span, measured, &mut text);
    }
    if all.len() > 1 {
        totals(all, &mut text);
    }
    text
}

fn of_time_span(time_span: &TimeSpan, measured: &Measured<'_>, text: &mut String) {
    if measured.seconds <= 0.0 {
        text.push_str("The test was interrupted before the measurements began. ");
        text.push_str("No results are displayed.\n");
        return;
    }
    let _ = writeln!(text, "\nactual test time:\t{:.2}s", measured.seconds);
    let _ = writeln!(text, "thread count:\t\t{}", time_span.n_threads());
    if let Some(depth) = time_span.whole().shared_depth() {
        let _ = writeln!(text, "request count:\t\t{depth}");
    }
    cpu(measured, text);
    let columns = Columns::of(time_span.whole());
    for section in Section::ALL {
        let title = match section {
            Section::Total => "Total IO",
            Section::Read => "Read IO",
            Section::Write => "Write IO",
        };
        let _ = writeln!(text, "\n{title}");
        columns.table(section, measured, text);
    }
    if columns.has_latency {
        distributions(measured, text);
    }
}

/// Prints what all time spans came to.
fn totals(all: &[Measured<'_>], text: &mut String) {
    let border = "-".repeat(79);
    let _ = writeln!(text, "\n\nTotals:\n{}\n", "*".repeat(79));
    text.push_str("type   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n");
    let _ = writeln!(text, "{border}");
    let seconds: f64 = all.iter().map(|it| it.seconds).sum();
    let mut row = |name: &str, section: Section| {
        let sums: Vec<Sum> = all.iter().map(|it| it.sum(section)).collect();
        let n_bytes: u64 = sums.iter().map(|it| it.n_bytes).sum();
        let n_ios: u64 = sums.iter().map(|it| it.n_ios).sum();
        let mib_s = n_bytes as f64 / 1_048_576.0 / seconds.max(f64::MIN_POSITIVE);
        let iops = n_ios as f64 / seconds.max(f64::MIN_POSITIVE);
        let line = format!("{name} | {n_bytes:15} | {n_ios:12} | {mib_s:10.2} | {iops:10.2}");
        if section == Section::Total {
            let _ = writeln!(text, "{border}");
        }
        let _ = writeln!(text, "{line}");
    };
    row("write ", Section::Write);
    row("read  ", Section::Read);
    row("total ", Section::Total);
    let _ = writeln!(text, "\ntotal test time:\t{seconds:.2}s");
}

/// Prints a size in the largest unit that it fills.
pub(super) fn size(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        let unit_bytes = 1_u64 << shift;
        if bytes >= unit_bytes {
            return if bytes.is_multiple_of(unit_bytes) {
                format!("{}{unit}", bytes >> shift)
            } else {
                format!("{:.2}{unit}", bytes as f64 / unit_bytes as f64)
            };
        }
    }
    bytes.to_string()
}

fn value<T: Copy>(given: Option<&Given<T>>) -> Option<T> {
    given.map(|it| it.value)
}

fn time_span(command: &Command, text: &mut String) {
    let mut line = |it: String| {
        let _ = writeln!(text, "\t{it}");
    };
    line(format!("duration: {}s", command.duration_s()));
    line(format!("warm up time: {}s", command.warm_up_s()));
    line(format!("cool down time: {}s", value(command.cool_down_s.as_ref()).unwrap_or(0)));
    if command.is_unbound.is_some() {
        line("affinity disabled".to_owned());
    }
    if command.has_latency.is_some() {
        line("measuring latency".to_owned());
    }
    if let Some(given) = &command.sample_ms {
        line(format!("gathering IOPS at intervals of {}ms", given.value));
    }
    line(format!("random seed: {}", value(command.seed.as_ref()).unwrap_or(Some(0)).unwrap_or(0)));
    if let Some(given) = &command.n_threads {
        line(format!("thread pool with {} threads", given.value));
        let depth = value(command.queue_depth_of_all.as_ref()).unwrap_or(0);
        line(format!("number of outstanding I/O operations per thread: {depth}"));
    }
    if !command.cpus.is_empty() {
        let cpus: Vec<String> = command.cpus.iter().map(|it| format!("0/{}", it.value)).collect();
        line(format!("advanced affinity round robin (group/core): {}", cpus.join(", ")));
    }
    if command.is_random_each() {
        line("generating random data for each write IO".to_owned());
        line("  WARNING: this increases the CPU cost of issuing writes and should only".to_owned());
        line("           be compared to other results using the -Zr flag".to_owned());
    }
}

fn value_of_contents(command: &Command) -> Option<&Contents> {
    command.contents.as_ref().map(|it| &it.value)
}

fn target(command: &Command, target: &Target, text: &mut String) {
    let _ = writeln!(text, "\tpath: '{}'", target.name);
    let mut lines = vec![
        format!("think time: {}ms", value(command.pause_ms.as_ref()).unwrap_or(0)),
        format!("burst size: {}", value(command.burst.as_ref()).unwrap_or(0)),
    ];
    caches(command, &mut lines);
    contents(command, &mut lines);
    access(command, &mut lines);
    threads(command, &mut lines);
    for line in lines {
        let _ = writeln!(text, "\t\t{line}");
    }
}

fn caches(command: &Command, lines: &mut Vec<String>) {
    let mode = value(command.caching.mode.as_ref()).unwrap_or(CacheMode::Cached);
    let is_through = command.caching.write_through.is_some();
    lines.push(
        match mode {
            CacheMode::Cached => "using software cache",
            CacheMode::Remote => "local software cache disabled, remote cache enabled",
            CacheMode::Uncached => "software cache disabled",
        }
        .to_owned(),
    );
    lines.push(
        match (is_through, mode) {
            (false, _) => "using hardware write cache, writethrough off",
            (true, CacheMode::Uncached) => "hardware write cache disabled, writethrough on",
            (true, CacheMode::Cached | CacheMode::Remote) => {
                "hardware and software write caches disabled, writethrough on"
            }
        }
        .to_owned(),
    );
    if command.caching.is_mapped.is_some() {
        lines.push("memory mapped I/O enabled".to_owned());
    }
}

fn contents(command: &Command, lines: &mut Vec<String>) {
    match value_of_contents(command) {
        Some(Contents::Zeros) => lines.push("zeroing write buffers".to_owned()),
        Some(Contents::Source { bytes, file }) => {
            lines.push(format!("write buffer size: {}", size(*bytes)));
            lines.push(match file {
                Some(file) => format!("write buffer source: '{file}'"),
                None => "write buffer source: random fill".to_owned(),
            });
        }
        Some(Contents::Random | Contents::Counted) | None => {}
    }
    if command.is_parallel.is_some() {
        lines.push("using parallel async I/O".to_owned());
    }
}

fn access(command: &Command, lines: &mut Vec<String>) {
    let write_pct = command.write_pct();
    lines.push(match write_pct {
        0 => "performing read test".to_owned(),
        100 => "performing write test".to_owned(),
        _ => format!("performing mix test (read/write ratio: {}/{write_pct})", 100 - write_pct),
    });
    lines.push(format!("block size: {}", size(command.block_bytes())));
    let step = size(command.step_bytes());
    lines.push(match command.random_pct() {
        100 => format!("using random I/O (alignment: {step})"),
        0 if command.is_interlocked() => {
            format!("using interlocked sequential I/O (stride: {step})")
        }
        0 => format!("using sequential I/O (stride: {step})"),
        pct => {
            format!("using mixed random/sequential I/O ({pct}% random) (alignment/stride: {step})")
        }
    });
    lines.push(match command.shared_depth() {
        None => {
            format!("number of outstanding I/O operations per thread: {}", command.queue_depth())
        }
        Some(_) => "relative IO weight in thread pool: 1".to_owned(),
    });
    if command.base_bytes() > 0 {
        lines.push(format!("base file offset: {}", size(command.base_bytes())));
    }
    if let Some(given) = &command.end {
        lines.push(format!("max file size: {}", size(given.value)));
    }
    if let Some(given) = &command.thread_stride {
        lines.push(format!("thread stride size: {}", size(given.value)));
    }
    match value(command.hint_is_random.as_ref()) {
        Some(false) => lines.push("using FILE_FLAG_SEQUENTIAL_SCAN hint".to_owned()),
        Some(true) => lines.push("using FILE_FLAG_RANDOM_ACCESS hint".to_owned()),
        None => {}
    }
}

fn threads(command: &Command, lines: &mut Vec<String>) {
    if command.n_threads.is_none() {
        lines.push(format!("threads per file: {}", command.n_threads_per_target()));
        if command.queue_depth() > 1 {
            let routines = value(command.completion.as_ref()) == Some(Completion::Routines);
            lines.push(if routines {
                "using completion routines (ReadFileEx/WriteFileEx)".to_owned()
            } else {
                "using I/O Completion Ports".to_owned()
            });
        }
    }
    let priority = match value(command.priority.as_ref()) {
        Some(1) => "very low",
        Some(2) => "low",
        _ => "normal",
    };
    lines.push(format!("IO priority: {priority}"));
    match value(command.rate.as_ref()) {
        Some(Rate::Iops(iops)) => lines.push(format!("throughput rate-limited to {iops} IOPS")),
        Some(Rate::BytesPerMs(bytes)) => {
            lines.push(format!("throughput rate-limited to {bytes} B/ms"));
        }
        None => {}
    }
    if let Some(given) = &command.spread {
        lines.push("IO Distribution:".to_owned());
        spread(&given.value, lines);
    }
}

fn spread(spread: &Spread, lines: &mut Vec<String>) {
    let mut start = 0;
    for (share, part) in &spread.parts {
        let end = start + part;
        lines.push(if spread.is_absolute {
            let start = if start == 0 { "     0   ".to_owned() } else { size(start) };
            format!("   {share:3}% of IO => [{start} - {})", size(end))
        } else {
            format!("   {share:3}% of IO => [{start:2}% - {end:3}%) of target")
        });
        start = end;
    }
}

fn system(record: &Record, stamp: &dyn Fn(u64) -> String, text: &mut String) {
    let host = &record.host;
    let _ = writeln!(text, "System information:\n\n\tcomputer name: {}", host.name);
    let _ = writeln!(text, "\tstart time: {} UTC\n", stamp(record.started_unix_ms));
    let _ = writeln!(text, "\tcpu count:\t\t{}", host.n_cpus);
    let _ = writeln!(text, "\tgroup count:\t\t1");
    let _ = writeln!(text, "\tkernel:\t\t\t{} {}", host.kernel, host.architecture);
}

/// Prints the processor time of the workers as a share of all processors; single ones are not
/// counted.
fn cpu(measured: &Measured<'_>, text: &mut String) {
    let (user, kernel) = measured.cpu_pct();
    let used = user + kernel;
    let border = "-".repeat(40);
    let _ = writeln!(text, "\nCPU |  Usage |  User  | Kernel |  Idle\n{border}\n{border}");
    let idle = (100.0 - used).max(0.0);
    let _ = writeln!(text, "avg.| {used:6.2}%| {user:6.2}%| {kernel:6.2}%| {idle:6.2}%");
}

/// Which columns a table has.
struct Columns {
    has_latency: bool,
    has_deviation: bool,
}

impl Columns {
    fn of(command: &Command) -> Self {
        Columns {
            has_latency: command.has_latency.is_some(),
            has_deviation: command.sample_ms.is_some(),
        }
    }

    fn table(&self, section: Section, measured: &Measured<'_>, text: &mut String) {
        let latency = |it: &'static str| if self.has_latency { it } else { "" };
        let deviation = |it: &'static str| if self.has_deviation { it } else { "" };
        let _ = writeln!(
            text,
            "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s {}{}{}|  file",
            latency("|  AvgLat  "),
            deviation("| IopsStdDev "),
            latency("| LatStdDev ")
        );
        let n_latency = if self.has_latency { 11 + 12 } else { 0 };
        let n_deviation = if self.has_deviation { 13 } else { 0 };
        let border = "-".repeat(66 + n_latency + n_deviation + 12);
        let _ = writeln!(text, "{border}");
        for (thread_idx, targets) in measured.threads.iter().enumerate() {
            for target in targets {
                let OfTarget { path, size_bytes, .. } = target;
                let _ = write!(text, "{thread_idx:6} | ");
                self.cells(&target.sum(section), measured.seconds, text);
                let _ = writeln!(text, " | {path} ({})", size(*size_bytes));
            }
        }
        let _ = writeln!(text, "{border}");
        text.push_str("total:   ");
        self.cells(&measured.sum(section), measured.seconds, text);
        text.push('\n');
    }

    fn cells(&self, sum: &Sum, seconds: f64, text: &mut String) {
        let mib_s = sum.n_bytes as f64 / 1_048_576.0 / seconds;
        let iops = sum.n_ios as f64 / seconds;
        let _ = write!(text, "{:15} | {:12} | {mib_s:10.2} | {iops:10.2}", sum.n_bytes, sum.n_ios);
        if self.has_latency {
            let _ = write!(text, " | {:8.3}", sum.mean_ms());
        }
        if self.has_deviation {
            let _ = match sum.iops_stdev {
                Some(stdev) => write!(text, " | {stdev:10.2}"),
                None if sum.n_ios == 0 => write!(text, " | {:10.2}", 0.0),
                None => write!(text, " | {:>10}", "N/A"),
            };
        }
        if self.has_latency {
            let _ = match sum.stdev_ms() {
                Some(stdev) => write!(text, " |  {stdev:8.3}"),
                None => write!(text, " |       N/A"),
            };
        }
    }
}

/// Shares of the I/Os, and what the tool calls them.
const SHARES: [(f64, &str); 13] = [
    (0.25, "25th"),
    (0.5, "50th"),
    (0.75, "75th"),
    (0.9, "90th"),
    (0.95, "95th"),
    (0.99, "99th"),
    (0.999, "3-nines"),
    (0.9999, "4-nines"),
    (0.99999, "5-nines"),
    (0.999_999, "6-nines"),
    (0.999_999_9, "7-nines"),
    (0.999_999_99, "8-nines"),
    (0.999_999_999, "9-nines"),
];

/// Prints a table of latencies for each target, where there are several, and for all.
fn distributions(measured: &Measured<'_>, text: &mut String) {
    let mut paths: Vec<&str> = Vec::new();
    for target in measured.targets() {
        if !paths.contains(&&*target.path) {
            paths.push(&target.path);
        }
    }
    let of = |section: Section, path: Option<&str>| {
        let own = measured.targets().filter(|it| path.is_none_or(|path| it.path == path));
        own.fold(Sum::default(), |mut all, it| {
            all.latency.merge(&it.sum(section).latency);
            all
        })
    };
    for path in paths.iter().copied().filter(|_| paths.len() > 1) {
        let _ = writeln!(text, "\nLatency distribution: {path}");
        distribution(&|section| of(section, Some(path)), text);
    }
    text.push_str("\nTotal latency distribution:\n");
    distribution(&|section| of(section, None), text);
}

fn distribution(of: &dyn Fn(Section) -> Sum, text: &mut String) {
    let sums = [of(Section::Read), of(Section::Write), of(Section::Total)];
    text.push_str("  %-ile |  Read (ms) | Write (ms) | Total (ms)\n");
    let _ = writeln!(text, "{}", "-".repeat(46));
    let ends = |share, name| std::iter::once((share, name));
    for (share, name) in ends(0.0, "min").chain(SHARES).chain(ends(1.0, "max")) {
        let cells = sums.each_ref().map(|sum| match sum.quantile_ms(share) {
            Some(ms) => format!("{ms:.3}"),
            None => "N/A".to_owned(),
        });
        let [read, write, total] = cells;
        let _ = writeln!(text, "{name:>7} | {read:>10} | {write:>10} | {total:>10}");
    }
}

//! Profiles and results as diskspd 2.2 writes them in XML: elements and their order are those of
//! the tool.

use std::fmt::Display;

use record::Record;

use super::command::{CacheMode, Command, Completion, Contents, Flush, Given, Rate, TimeSpan};
use super::measured::{Measured, OfTarget, Section, Sum};

/// Writes what a command line asks for, itself or by a profile.
pub(super) fn profile(time_spans: &[TimeSpan]) -> String {
    let mut xml = Xml::default();
    xml.profile(time_spans);
    xml.text
}

/// Writes what is said of a target, but its path.
pub(super) fn said_of_target(command: &Command) -> String {
    let mut xml = Xml::default();
    xml.what_is_done(command);
    xml.text
}

/// Writes what it came to. `stamp` prints a moment, milliseconds since 1970, as
/// `2026/11/27 02:49:00`, in UTC.
pub(super) fn results(
    time_spans: &[TimeSpan],
    all: &[Measured<'_>],
    stamp: &dyn Fn(u64) -> String,
) -> String {
    let mut xml = Xml::default();
    xml.within("Results", "", |xml| {
        if let Some(first) = all.first() {
            xml.system(first.record, stamp);
        }
        xml.profile(time_spans);
        for (time_span, measured) in time_spans.iter().zip(all) {
            xml.within("TimeSpan", "", |xml| xml.time_span(time_span, measured));
        }
    });
    xml.text
}

/// The version of the tool whose form it is, with its date.
const VERSION: (&str, &str) = ("2.2.0", "2024/6/3");

#[derive(Default)]
struct Xml {
    text: String,
    depth: usize,
}

/// Replaces what has a meaning of its own in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn value<T: Copy>(given: Option<&Given<T>>) -> Option<T> {
    given.map(|it| it.value)
}

impl Xml {
    fn line(&mut self, line: &str) {
        self.text.push_str(&" ".repeat(2 * self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn within(&mut self, name: &str, attributes: &str, inner: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}{attributes}>"));
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line(&format!("</{name}>"));
    }

    fn element(&mut self, name: &str, content: impl Display) {
        let content = escaped(&content.to_string());
        self.line(&format!("<{name}>{content}</{name}>"));
    }

    fn decimals(&mut self, name: &str, number: f64) {
        self.element(name, format!("{number:.3}"));
    }

    fn system(&mut self, record: &Record, stamp: &dyn Fn(u64) -> String) {
        self.within("System", "", |xml| {
            xml.element("ComputerName", &record.host.name);
            xml.within("Tool", "", |xml| {
                xml.element("Version", VERSION.0);
                xml.element("VersionDate", VERSION.1);
            });
            xml.element("RunTime", format!("{} UTC", stamp(record.started_unix_ms)));
            let n_cpus = record.host.n_cpus;
            xml.within("ProcessorTopology", " Heterogeneous=\"false\"", |xml| {
                xml.line(&format!(
                    "<Group Group=\"0\" MaximumProcessors=\"{n_cpus}\" \
                     ActiveProcessors=\"{n_cpus}\"/>"
                ));
            });
        });
    }

    fn profile(&mut self, time_spans: &[TimeSpan]) {
        let is_xml = time_spans.iter().any(|it| it.whole().is_xml == Some(true));
        self.within("Profile", "", |xml| {
            xml.element("Progress", 0);
            xml.element("ResultFormat", if is_xml { "xml" } else { "text" });
            xml.element("Verbose", false);
            xml.within("TimeSpans", "", |xml| {
                for time_span in time_spans {
                    xml.within("TimeSpan", "", |xml| xml.time_span_of_profile(time_span));
                }
            });
        });
    }

    fn time_span_of_profile(&mut self, time_span: &TimeSpan) {
        let command = time_span.whole();
        let routines = value(command.completion.as_ref()) == Some(Completion::Routines);
        self.element("CompletionRoutines", routines);
        self.element("MeasureLatency", command.has_latency.is_some());
        self.element("CalculateIopsStdDev", command.sample_ms.is_some());
        self.element("DisableAffinity", command.is_unbound.is_some());
        self.element("Duration", command.duration_s());
        self.element("Warmup", command.warm_up_s());
        self.element("Cooldown", value(command.cool_down_s.as_ref()).unwrap_or(0));
        self.element("ThreadCount", value(command.n_threads.as_ref()).unwrap_or(0));
        self.element("RequestCount", command.shared_depth().unwrap_or(0));
        self.element("IoBucketDuration", value(command.sample_ms.as_ref()).unwrap_or(1000));
        self.element("RandSeed", value(command.seed.as_ref()).unwrap_or(Some(0)).unwrap_or(0));
        if command.is_random_each() {
            // The tool reads it, and does not write it.
            self.element("RandomWriteData", true);
        }
        if !command.cpus.is_empty() {
            self.within("Affinity", "", |xml| {
                for cpu in &command.cpus {
                    let cpu = cpu.value;
                    xml.line(&format!(
                        "<AffinityGroupAssignment Group=\"0\" Processor=\"{cpu}\"/>"
                    ));
                }
            });
        }
        self.within("Targets", "", |xml| {
            for command in &time_span.commands {
                for target in &command.targets {
                    xml.within("Target", "", |xml| {
                        xml.element("Path", &target.name);
                        xml.what_is_done(command);
                    });
                }
            }
        });
    }

    fn what_is_done(&mut self, command: &Command) {
        let hint = value(command.hint_is_random.as_ref());
        self.element("BlockSize", command.block_bytes());
        self.element("BaseFileOffset", command.base_bytes());
        self.element("SequentialScan", hint == Some(false));
        self.element("RandomAccess", hint == Some(true));
        self.element("TemporaryFile", false);
        self.element("UseLargePages", command.has_large_pages.is_some());
        match value(command.caching.mode.as_ref()) {
            Some(CacheMode::Remote) => self.element("DisableLocalCache", true),
            Some(CacheMode::Uncached) => self.element("DisableOSCache", true),
            Some(CacheMode::Cached) | None => {}
        }
        if command.caching.write_through.is_some() {
            self.element("WriteThrough", true);
        }
        if command.caching.is_mapped.is_some() {
            self.element("MemoryMappedIo", true);
        }
        if let Some(flush) = value(command.flush.as_ref()) {
            self.element("FlushType", Flush::element(flush));
        }
        self.contents(command.contents.as_ref().map(|it| &it.value));
        self.element("ParallelAsyncIO", command.is_parallel.is_some());
        if let Some(burst) = value(command.burst.as_ref()) {
            self.element("BurstSize", burst);
        }
        if let Some(pause_ms) = value(command.pause_ms.as_ref()) {
            self.element("ThinkTime", pause_ms);
        }
        if let Some(bytes) = value(command.file_size.as_ref()) {
            self.element("FileSize", bytes);
        }
        self.places(command);
        self.element("ThreadStride", value(command.thread_stride.as_ref()).unwrap_or(0));
        self.element("MaxFileSize", value(command.end.as_ref()).unwrap_or(0));
        self.element("RequestCount", command.queue_depth());
        self.element("WriteRatio", command.write_pct());
        match value(command.rate.as_ref()) {
            Some(Rate::Iops(iops)) => {
                self.line(&format!("<Throughput unit=\"IOPS\">{iops}</Throughput>"));
            }
            Some(Rate::BytesPerMs(bytes)) => self.element("Throughput", bytes),
            None => self.element("Throughput", 0),
        }
        let each = value(command.n_threads_each.as_ref()).unwrap_or(1);
        self.element("ThreadsPerFile", each);
        self.element("IOPriority", value(command.priority.as_ref()).unwrap_or(3));
        self.element("Weight", 1);
    }

    fn contents(&mut self, contents: Option<&Contents>) {
        self.within("WriteBufferContent", "", |xml| match contents {
            Some(Contents::Zeros) => xml.element("Pattern", "zero"),
            Some(Contents::Source { bytes, file }) => {
                xml.element("Pattern", "random");
                xml.within("RandomDataSource", "", |xml| {
                    xml.element("SizeInBytes", bytes);
                    if let Some(file) = file {
                        xml.element("FilePath", file);
                    }
                });
            }
            Some(Contents::Random | Contents::Counted) | None => {
                xml.element("Pattern", "sequential");
            }
        });
    }

    fn places(&mut self, command: &Command) {
        let step = command.step_bytes();
        if !command.is_random() {
            self.element("StrideSize", step);
            self.element("InterlockedSequential", command.is_interlocked());
            return;
        }
        self.element("Random", step);
        if command.random_pct() < 100 {
            self.element("RandomRatio", command.random_pct());
        }
        let Some(Given { value: spread, .. }) = &command.spread else { return };
        let kind = if spread.is_absolute { "Absolute" } else { "Percent" };
        self.within("Distribution", "", |xml| {
            xml.within(kind, "", |xml| {
                for (share, part) in &spread.parts {
                    xml.line(&format!("<Range IO=\"{share}\">{part}</Range>"));
                }
            });
        });
    }

    fn time_span(&mut self, time_span: &TimeSpan, measured: &Measured<'_>) {
        let command = time_span.whole();
        if measured.seconds <= 0.0 {
            self.element("Error", "The test was interrupted before the measurements began");
            return;
        }
        self.element("TestTimeSeconds", format!("{:.2}", measured.seconds));
        self.element("ThreadCount", time_span.n_threads());
        self.element("RequestCount", command.shared_depth().unwrap_or(0));
        self.element("ProcCount", measured.record.host.n_cpus);
        self.cpu(measured);
        if command.has_latency.is_some() {
            self.latency(measured);
        }
        if let Some(given) = &command.sample_ms {
            self.within("Iops", "", |xml| {
                xml.deviations(&Section::ALL.map(|it| measured.sum(it)));
                xml.intervals(measured, given.value);
            });
        }
        for (thread_idx, targets) in measured.threads.iter().enumerate() {
            self.within("Thread", "", |xml| {
                xml.element("Id", thread_idx);
                for target in targets {
                    xml.within("Target", "", |xml| xml.of_target(command, target));
                }
            });
        }
    }

    /// Writes the processor time of the workers as a share of all processors.
    fn cpu(&mut self, measured: &Measured<'_>) {
        let (user, kernel) = measured.cpu_pct();
        let used = user + kernel;
        self.within("CpuUtilization", "", |xml| {
            xml.within("Average", "", |xml| {
                xml.element("UsagePercent", format!("{used:.2}"));
                xml.element("UserPercent", format!("{user:.2}"));
                xml.element("KernelPercent", format!("{kernel:.2}"));
                xml.element("IdlePercent", format!("{:.2}", (100.0 - used).max(0.0)));
            });
        });
    }

    fn latency(&mut self, measured: &Measured<'_>) {
        let sums = Section::ALL.map(|it| measured.sum(it));
        let [total, read, write] = &sums;
        self.within("Latency", "", |xml| {
            for (sum, mean, stdev) in [
                (read, "AverageReadMilliseconds", "ReadLatencyStdev"),
                (write, "AverageWriteMilliseconds", "WriteLatencyStdev"),
                (total, "AverageTotalMilliseconds", "LatencyStdev"),
            ] {
                xml.moments(sum, mean, stdev);
            }
            let whole = (0..=99).map(|pct| (f64::from(pct) / 100.0, pct.to_string()));
            let nines = (1..=7).map(|n| (1.0 - 10_f64.powi(-2 - n), "9".repeat(n as usize)));
            let nines = nines.map(|(share, digits)| (share, format!("99.{digits}")));
            let all = whole.chain(nines).chain([(1.0, "100".to_owned())]);
            for (share, name) in all {
                xml.within("Bucket", "", |xml| {
                    xml.element("Percentile", name);
                    for (sum, name) in [
                        (read, "ReadMilliseconds"),
                        (write, "WriteMilliseconds"),
                        (total, "TotalMilliseconds"),
                    ] {
                        if let Some(ms) = sum.quantile_ms(share) {
                            xml.decimals(name, ms);
                        }
                    }
                });
            }
        });
    }

    fn moments(&mut self, sum: &Sum, mean: &str, stdev: &str) {
        if let Some(stdev_ms) = sum.stdev_ms() {
            self.decimals(mean, sum.mean_ms());
            self.decimals(stdev, stdev_ms);
        }
    }

    /// Writes how rates vary, of what is known: all I/O, reads, writes.
    fn deviations(&mut self, [total, read, write]: &[Sum; 3]) {
        for (sum, name) in
            [(read, "ReadIopsStdDev"), (write, "WriteIopsStdDev"), (total, "IopsStdDev")]
        {
            if let Some(stdev) = sum.iops_stdev.filter(|_| sum.n_ios > 0) {
                self.decimals(name, stdev);
            }
        }
    }

    /// Writes the rates of the intervals that the record has, the first of them ending after so
    /// many milliseconds.
    fn intervals(&mut self, measured: &Measured<'_>, sample_ms: u64) {
        let mut end_ms = 0;
        for it in measured.intervals() {
            // The tool numbers them by their length.
            end_ms += if it.length_ms.abs_diff(sample_ms) < 10 { sample_ms } else { it.length_ms };
            let per_s = |n_ios: u64| n_ios as f64 * 1000.0 / it.length_ms as f64;
            let (read, write) = (per_s(it.dirs.read.n_ios), per_s(it.dirs.write.n_ios));
            self.line(&format!(
                "<Bucket SampleMillisecond=\"{end_ms}\" Read=\"{read:.0}\" Write=\"{write:.0}\" \
                 Total=\"{:.0}\"/>",
                read + write
            ));
        }
    }

    fn of_target(&mut self, command: &Command, target: &OfTarget) {
        let OfTarget { path, size_bytes, read, write } = target;
        let total = target.sum(Section::Total);
        self.element("Path", path);
        self.element("BytesCount", total.n_bytes);
        self.element("FileSize", size_bytes);
        self.element("IOCount", total.n_ios);
        self.element("ReadBytes", read.n_bytes);
        self.element("ReadCount", read.n_ios);
        self.element("WriteBytes", write.n_bytes);
        self.element("WriteCount", write.n_ios);
        if command.has_latency.is_some() {
            self.moments(read, "AverageReadLatencyMilliseconds", "ReadLatencyStdev");
            self.moments(write, "AverageWriteLatencyMilliseconds", "WriteLatencyStdev");
            self.moments(&total, "AverageLatencyMilliseconds", "LatencyStdev");
        }
        if command.sample_ms.is_some() {
            let sums = [total, read.clone(), write.clone()];
            self.within("Iops", "", |xml| xml.deviations(&sums));
        }
    }
}

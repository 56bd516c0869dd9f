//! Counters of Windows as CSV (`relog -f csv`): LogicalDisk, PhysicalDisk, Processor, Memory.

use std::collections::BTreeSet;
use std::io::BufRead;

use crate::context::{Context, Spans, quote};
use crate::lines::{Lines, ReadError};
use crate::number::decimal;
use crate::read::perfmon_names::{Counter, Object, counter, is_left_out, object};
use crate::sample::{Capacity, ClockKind, Event, HostSample, Rates};
use crate::time::{Doubt, Stamps};

/// A column that is read.
#[derive(Clone, Debug)]
struct Column {
    idx: usize,
    counter: Counter,
    /// Which of `names` it is of; none for the host.
    device: Option<usize>,
}

/// The header, read.
#[derive(Debug, Default)]
struct Header {
    n_columns: usize,
    separator: char,
    columns: Vec<Column>,
    names: Vec<String>,
}

/// A counter's path, taken apart and in lower case but for the instance.
#[derive(Debug, PartialEq)]
struct Path {
    host: String,
    object: Object,
    instance: String,
    counter: String,
}

/// Reads the counters.
pub(super) fn read(
    input: &mut dyn BufRead,
    stamps: Stamps,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let Some(line) = lines.next()? else { return Ok(()) };
    let header = Header::read(&text_of(line), context)?;
    context.put(Event::Clock(ClockKind::Local));
    let mut state = State { stamps, ..State::default() };
    while let Some(line) = lines.next()? {
        let line = text_of(line);
        if line.trim().is_empty() {
            continue;
        }
        if let Err(message) = state.row(&header, &line, lines.number(), context) {
            context.bad_line(&lines, message);
        }
        // Windows writes the month first, in every language.
        let doubt = state.stamps.doubt().filter(|doubt| matches!(doubt, Doubt::Contradicted(_)));
        context.check_dates(doubt, Some(lines.number()))?;
    }
    context.check_end(&lines);
    for (name, capacity) in header.names.iter().zip(state.held) {
        if let Some(capacity) = capacity {
            context.put(Event::Capacity { name, capacity });
        }
    }
    Ok(())
}

/// Returns the text of a line, in UTF-8 or the code page of western Windows.
fn text_of(line: &[u8]) -> String {
    match std::str::from_utf8(line) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(_) => line.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Takes a line of quoted fields apart.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("there is always one");
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

impl Path {
    /// Takes `\\HOST\Object(Instance)\Counter` apart.
    fn read(text: &str) -> Option<Path> {
        let (host, rest) = match text.strip_prefix(r"\\") {
            Some(rest) => rest.split_once('\\')?,
            None => ("", text.strip_prefix('\\')?),
        };
        // An instance may hold a backslash: the counter is what follows the last one.
        let (thing, counter) = rest.rsplit_once('\\')?;
        let (name, instance) = match thing.split_once('(') {
            Some((name, instance)) => (name, instance.strip_suffix(')')?),
            None => (thing, ""),
        };
        // Windows prints a dash of either length.
        let counter = counter.trim().to_lowercase().replace('\u{2013}', "-");
        Some(Path {
            host: host.to_owned(),
            object: object(&name.trim().to_lowercase())?,
            instance: instance.to_owned(),
            counter,
        })
    }

    fn is_disk(&self) -> bool {
        matches!(self.object, Object::Logical | Object::Physical)
    }

    fn is_total(&self) -> bool {
        self.instance.eq_ignore_ascii_case("_Total")
    }
}

impl Header {
    fn read(line: &str, context: &mut Context<'_>) -> Result<Header, ReadError> {
        // What follows the first field sets all of them apart.
        let after = line.get(1..).and_then(|rest| rest.split_once('"')).map(|(_, rest)| rest);
        let separator = after.and_then(|rest| rest.chars().next()).unwrap_or(',');
        let fields = fields(line, separator);
        let paths: Vec<Option<Path>> = fields.iter().map(|field| Path::read(field)).collect();
        let known = || paths.iter().flatten();
        // Volumes are what the application sees; under striping disks are parts of them.
        let is_logical = known().any(|path| path.object == Object::Logical && !path.is_total());
        let has_parts = known().any(|path| path.is_disk() && !path.is_total());
        if is_logical && known().any(|path| path.object == Object::Physical) {
            context.remark(Some(1), "PhysicalDisk is left out: LogicalDisk has the same I/O");
        }
        let hosts: BTreeSet<&str> = known().map(|path| path.host.as_str()).collect();
        let mut header = Header { n_columns: fields.len(), separator, ..Header::default() };
        let mut unknown = BTreeSet::new();
        let first_host = known().next().map(|path| path.host.clone());
        for (idx, path) in paths.iter().enumerate().skip(1) {
            let Some(path) = path else { continue };
            let Some(counter) = counter(&path.counter) else {
                if path.is_disk() && !is_left_out(&path.counter) {
                    unknown.insert(path.counter.as_str());
                }
                continue;
            };
            if !path.is_disk() {
                let is_whole = path.object == Object::Memory || path.is_total();
                if is_whole && Some(&path.host) == first_host.as_ref() {
                    header.columns.push(Column { idx, counter, device: None });
                }
                continue;
            }
            let is_wanted = if has_parts { !path.is_total() } else { true };
            if is_wanted && (path.object == Object::Logical) == is_logical {
                let name = match hosts.len() {
                    1 => path.instance.clone(),
                    _ => format!("{} {}", path.host, path.instance),
                };
                let device = Some(header.device(name));
                header.columns.push(Column { idx, counter, device });
            }
        }
        if hosts.len() > 1 {
            context.remark(Some(1), "processor and memory are those of the first host");
        }
        if !unknown.is_empty() {
            let names: Vec<String> = unknown.into_iter().map(quote).collect();
            context.remark(Some(1), format!("counters that are not read: {}", names.join(", ")));
        }
        if header.columns.iter().any(|column| column.device.is_some()) {
            return Ok(header);
        }
        let others: Vec<_> = fields.iter().zip(&paths).skip(1).collect();
        header.without_disks(&others, context)?;
        Ok(header)
    }

    /// Says that no counter of a disk is known, with the first of the `others`, unless there is
    /// none and another source may have the disks.
    ///
    /// # Errors
    /// Where there is no counter beside those of disks.
    fn without_disks(
        &self,
        others: &[(&String, &Option<Path>)],
        context: &mut Context<'_>,
    ) -> Result<(), ReadError> {
        let is_of_disk = |path: &Option<Path>| path.as_ref().is_some_and(Path::is_disk);
        let of_disk = others.iter().find(|(_, path)| is_of_disk(path));
        let of_unknown =
            others.iter().find(|(field, path)| field.starts_with('\\') && path.is_none());
        let message = match of_disk.or(of_unknown) {
            // Processor and memory alone are what another source has disks for.
            None if !self.columns.is_empty() => return Ok(()),
            None => r"there is no counter in it: record `LogicalDisk(*)\*`".to_owned(),
            Some((first, _)) => format!(
                "no column is the I/O of a disk under a name that is known; the first of the \
                 others is {}. Names are read in English, those of disks in Swedish too: record \
                 `LogicalDisk(*)\\*` with a Windows whose language is English, or write English \
                 names into the first line, such as `\\LogicalDisk(D:)\\Disk Reads/sec`",
                quote(first)
            ),
        };
        // Beside processor and memory there may be anything else.
        if of_disk.is_none() && !self.columns.is_empty() {
            context.remark(Some(1), message);
            return Ok(());
        }
        Err(ReadError::Line { line: 1, message })
    }

    /// Returns the place of a device.
    fn device(&mut self, name: String) -> usize {
        let found = self.names.iter().position(|known| *known == name);
        found.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

#[derive(Default)]
struct State {
    stamps: Stamps,
    spans: Spans,
    /// Last values of free space in percent and bytes, by device.
    free: Vec<(Option<f64>, Option<f64>)>,
    /// What each device holds: its size by the last row, and the most that was in use in any.
    held: Vec<Option<Capacity>>,
}

impl State {
    fn row(
        &mut self,
        header: &Header,
        line: &str,
        number: u64,
        context: &mut Context<'_>,
    ) -> Result<(), String> {
        let fields = fields(line, header.separator);
        if fields.len() != header.n_columns {
            let (n_found, n_due) = (fields.len(), header.n_columns);
            return Err(format!("{n_found} fields where the header has {n_due}"));
        }
        let stamp = self.stamps.stamp(&fields[0]);
        let stamp = stamp.ok_or_else(|| format!("{} is not a time", quote(&fields[0])))?;
        let (span_ns, note) = self.spans.next(stamp.unix_ns, None);
        if let Some(note) = note {
            context.remark(Some(number), note);
        }
        let end_ns = stamp.unix_ns;
        let mut host = HostSample { end_ns, span_ns, ..HostSample::default() };
        let mut rates: Vec<Option<Rates>> = vec![None; header.names.len()];
        self.free.resize(header.names.len(), (None, None));
        self.held.resize(header.names.len(), None);
        for column in &header.columns {
            let text = fields[column.idx].trim();
            // A counter that was not there at that moment is blank.
            if text.is_empty() {
                continue;
            }
            let value = decimal(text).filter(|value| *value >= -1.0);
            let value = value.ok_or_else(|| format!("{} is not a number", quote(text)))?.max(0.0);
            match column.device {
                None => put_host(&mut host, column.counter, value),
                Some(idx) => {
                    let rates = rates[idx].get_or_insert_default();
                    put_disk(rates, &mut self.free[idx], column.counter, value)
                        .map_err(|what| format!("{} is no {what}", quote(text)))?;
                }
            }
        }
        for (held, free) in self.held.iter_mut().zip(&self.free) {
            hold(held, *free);
        }
        if host.cpu_share.is_some() || host.memory_share.is_some() || host.memory_bytes.is_some() {
            context.put(Event::Host(host));
        }
        for (name, rates) in header.names.iter().zip(rates) {
            if let Some(rates) = rates {
                context.put(Event::Device { name, sample: rates.over(end_ns, span_ns) });
            }
        }
        Ok(())
    }
}

/// Takes in how much a device holds, from what is free of it in percent and bytes.
fn hold(held: &mut Option<Capacity>, free: (Option<f64>, Option<f64>)) {
    let (Some(percent), Some(free_bytes)) = free else { return };
    if percent <= 0.0 {
        return;
    }
    let size_bytes = free_bytes / (percent / 100.0);
    let before = held.and_then(|held| held.used_bytes).unwrap_or(0.0);
    let used_bytes = Some((size_bytes - free_bytes).max(before));
    *held = Some(Capacity { size_bytes: Some(size_bytes), used_bytes });
}

fn put_host(host: &mut HostSample, counter: Counter, value: f64) {
    match counter {
        Counter::CpuPercent => host.cpu_share = Some((value / 100.0).min(1.0)),
        Counter::CommittedPercent => host.memory_share = Some(value / 100.0),
        Counter::CommittedBytes => host.memory_bytes = Some(value),
        // Of disks.
        Counter::ReadIops
        | Counter::WriteIops
        | Counter::AllIops
        | Counter::ReadBytes
        | Counter::WriteBytes
        | Counter::AllBytes
        | Counter::ReadSeconds
        | Counter::WriteSeconds
        | Counter::AllSeconds
        | Counter::QueueMean
        | Counter::QueueNow
        | Counter::FreePercent
        | Counter::FreeMegabytes => {}
    }
}

/// Keeps a figure of a disk, or returns what it is not.
fn put_disk(
    rates: &mut Rates,
    free: &mut (Option<f64>, Option<f64>),
    counter: Counter,
    value: f64,
) -> Result<(), &'static str> {
    let (place, value) = match counter {
        Counter::ReadIops => (&mut rates.read.iops, value),
        Counter::WriteIops => (&mut rates.write.iops, value),
        Counter::AllIops => (&mut rates.all.iops, value),
        Counter::ReadBytes => (&mut rates.read.bytes, value),
        Counter::WriteBytes => (&mut rates.write.bytes, value),
        Counter::AllBytes => (&mut rates.all.bytes, value),
        Counter::ReadSeconds => (&mut rates.read.latency_ms, value * 1e3),
        Counter::WriteSeconds => (&mut rates.write.latency_ms, value * 1e3),
        Counter::AllSeconds => (&mut rates.all.latency_ms, value * 1e3),
        Counter::QueueMean => (&mut rates.queue, value),
        // The mean of the interval says more than one moment of it.
        Counter::QueueNow => {
            let mean = rates.queue.unwrap_or(value);
            (&mut rates.queue, mean)
        }
        Counter::FreePercent if value > 100.0 => return Err("percentage of a disk"),
        Counter::FreePercent => (&mut free.0, value),
        Counter::FreeMegabytes => (&mut free.1, value * 1024.0 * 1024.0),
        Counter::CpuPercent | Counter::CommittedPercent | Counter::CommittedBytes => return Ok(()),
    };
    *place = Some(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_counters() {
        let path =
            |text: &str| Path::read(text).map(|path| (path.object, path.instance, path.counter));
        let disk = (Object::Logical, "D:".to_owned(), "disk reads/sec".to_owned());
        assert_eq!(path(r"\\SQL01\LogicalDisk(D:)\Disk Reads/sec"), Some(disk.clone()));
        assert_eq!(path(r"\LogicalDisk(D:)\Disk Reads/sec"), Some(disk));
        let mounted = (Object::Logical, r"C:\Mnt\a".to_owned(), "% free space".to_owned());
        assert_eq!(path(r"\\H\LogicalDisk(C:\Mnt\a)\% Free Space"), Some(mounted));
        let memory = (Object::Memory, String::new(), "committed bytes".to_owned());
        assert_eq!(path(r"\\H\Memory\Committed Bytes"), Some(memory));
        let swedish = (Object::Physical, "0 C:".to_owned(), "disk - lästa byte/sek".to_owned());
        assert_eq!(path("\\\\H\\Fysisk disk(0 C:)\\Disk – lästa byte/sek"), Some(swedish));
        for text in ["", "x", r"\\H", r"\\H\Thread(0)\x", r"\\H\LogicalDisk(D:\x"] {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn fields_are_quoted() {
        let expected = ["1,5", "a\"b", "", "x"];
        assert_eq!(fields("\"1,5\",\"a\"\"b\",\"\",x", ','), expected);
        assert_eq!(fields("\"1,5\";\"a\"\"b\";\"\";x", ';'), expected);
    }
}

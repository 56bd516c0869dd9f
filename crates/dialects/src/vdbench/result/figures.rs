//! What a row says, whichever of the two kinds of flatfiles it is of.

use record::CpuShares;

use super::ResultError;
use super::table::{Cells, Table};

/// The kinds of flatfiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlatfileKind {
    /// Of storage definitions: rates and times of reads and writes together, and apart.
    Raw,
    /// Of files: columns for each operation.
    Files,
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// An interval, by its number.
    Interval(u32),
    /// The average of intervals.
    Average { first: u32, last: u32 },
}

/// Operations of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    /// Operations per second.
    pub(super) iops: f64,
    /// Mean bytes of one.
    pub(super) size_bytes: f64,
    pub(super) mean_ms: Option<f64>,
    pub(super) stdev_ms: Option<f64>,
    pub(super) max_ms: Option<f64>,
}

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) run: String,
    pub(super) label: Label,
    pub(super) label_text: String,
    /// Time of day at the end of the interval.
    pub(super) of_day_ms: u64,
    /// The same with its day; `None` where the page has none.
    pub(super) unix_ms: Option<u64>,
    /// Zone of the times, where it is one whose distance from UTC is not known.
    pub(super) zone_unknown: Option<String>,
    /// Reads, and operations on whole files.
    pub(super) read: Flow,
    pub(super) write: Flow,
    /// Reads and writes are there, and their sizes are not known apart.
    pub(super) has_sizes_mixed: bool,
    /// Other operations on files, by name, per second.
    pub(super) others: Vec<(String, f64)>,
    pub(super) cpu: Option<CpuShares>,
    /// What was asked for, where one value holds.
    pub(super) asked: RequestedLoad,
}

/// What a run was asked for, as far as columns say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RequestedLoad {
    /// Operations per second; `None` as fast as it goes.
    pub(super) rate_iops: Option<f64>,
    pub(super) threads: Option<u32>,
    pub(super) size_bytes: Option<u64>,
    /// Percent of I/Os that go somewhere else.
    pub(super) seek_pct: Option<f64>,
}

/// Rates that mean "as fast as it goes" and "the maximum of a curve", of versions old and new.
const RATES_WITHOUT_NUMBER: [f64; 4] = [9_999_988.0, 9_999_977.0, 999_988.0, 999_977.0];

const MIB: f64 = 1024.0 * 1024.0;

impl Label {
    pub(super) fn is_average(self) -> bool {
        matches!(self, Label::Average { .. })
    }

    fn of(text: &str) -> Option<Label> {
        let Some(range) = text.strip_prefix("avg_") else {
            return text.parse().ok().map(Label::Interval);
        };
        let (first, last) = range.split_once('-')?;
        Some(Label::Average { first: first.parse().ok()?, last: last.parse().ok()? })
    }
}

impl FlatfileKind {
    pub(super) fn of(table: &Table<'_>) -> Result<Self, ResultError> {
        if table.has("Read_rate") {
            table.need(&[
                "tod",
                "Rate",
                "Resp",
                "Xfersize",
                "Write_rate",
                "MB_read",
                "MB_write",
            ])?;
            return Ok(FlatfileKind::Files);
        }
        table.need(&["tod", "rate", "bytes/io", "read%", "resp"])?;
        Ok(FlatfileKind::Raw)
    }
}

impl Line {
    pub(super) fn new(kind: FlatfileKind, cells: &Cells<'_, '_>) -> Result<Self, ResultError> {
        let text = |column| cells.text(column).unwrap_or_default();
        let label = Label::of(text("Interval"))
            .ok_or_else(|| cells.wrong("Interval", "a number, or a range such as `avg_2-5`"))?;
        let of_day_ms = of_day_ms(text("tod"))
            .ok_or_else(|| cells.wrong("tod", "a time of day such as `01:15:24.273`"))?;
        let stamp = cells.text("timestamp").map(|text| {
            let wanted = "a moment such as `11/21/2026-01:15:24-UTC`";
            Stamp::of(text).ok_or_else(|| cells.wrong("timestamp", wanted))
        });
        let stamp = stamp.transpose()?;
        let mut line = Line {
            run: text("Run").to_owned(),
            label,
            label_text: text("Interval").to_owned(),
            of_day_ms,
            unix_ms: stamp.as_ref().map(|stamp| stamp.unix_s * 1000),
            zone_unknown: stamp.and_then(|stamp| stamp.zone_unknown),
            read: Flow::default(),
            write: Flow::default(),
            has_sizes_mixed: false,
            others: Vec::new(),
            cpu: cpu(cells)?,
            asked: RequestedLoad::default(),
        };
        match kind {
            FlatfileKind::Raw => line.raw(cells)?,
            FlatfileKind::Files => line.files(cells)?,
        }
        Ok(line)
    }

    fn raw(&mut self, cells: &Cells<'_, '_>) -> Result<(), ResultError> {
        let (iops, read_share) = (cells.amount("rate")?, cells.share("read%")?);
        let size_bytes = cells.amount("bytes/io")?;
        let of = |share: f64, own: [&'static str; 3]| {
            // Older versions have largest values and deviations of both together only.
            let all = ["resp", "resp_max", "resp_std"];
            let figure = |idx: usize| match cells.number(own[idx])? {
                None if share >= 1.0 => cells.number(all[idx]),
                known => Ok(known),
            };
            let (mean_ms, max_ms, stdev_ms) = (figure(0)?, figure(1)?, figure(2)?);
            Ok(Flow { iops: iops * share, size_bytes, mean_ms, stdev_ms, max_ms })
        };
        self.read = of(read_share, ["read_resp", "read_max", "read_std"])?;
        self.write = of(1.0 - read_share, ["write_resp", "write_max", "write_std"])?;
        let asked_bytes = cells.number("xfersize")?;
        let is_one_size = asked_bytes.is_some_and(|asked| (asked - size_bytes).abs() < 1.0);
        self.has_sizes_mixed = !is_one_size && self.read.iops > 0.0 && self.write.iops > 0.0;
        self.asked = RequestedLoad {
            rate_iops: rate(cells.number("reqrate")?),
            // Threads that differ are a negative number.
            threads: cells.text("threads").and_then(|text| text.parse().ok()),
            size_bytes: asked_bytes.filter(|_| is_one_size).map(|bytes| bytes as u64),
            seek_pct: cells.text("seekpct").and_then(|text| text.parse().ok()),
        };
        Ok(())
    }

    fn files(&mut self, cells: &Cells<'_, '_>) -> Result<(), ResultError> {
        let flow = |[iops, mean, stdev, max]: [&'static str; 4]| {
            Ok::<Flow, ResultError>(Flow {
                iops: cells.amount(iops)?,
                size_bytes: 0.0,
                mean_ms: cells.number(mean)?,
                stdev_ms: cells.number(stdev)?,
                max_ms: cells.number(max)?,
            })
        };
        let all = flow(["Rate", "Resp", "Resp_std", "Resp_max"])?;
        self.read = flow(["Read_rate", "Read_resp", "Read_resp_std", "Read_resp_max"])?;
        self.write = flow(["Write_rate", "Write_resp", "Write_resp_std", "Write_resp_max"])?;
        let size = |mib: f64, iops: f64| if iops > 0.0 { mib * MIB / iops } else { 0.0 };
        self.read.size_bytes = size(cells.amount("MB_read")?, self.read.iops);
        self.write.size_bytes = size(cells.amount("MB_write")?, self.write.iops);
        if self.read.iops <= 0.0 && self.write.iops <= 0.0 {
            self.read = all;
        }
        for name in cells.table.names() {
            let Some(operation) = name.strip_suffix("_rate") else { continue };
            let iops = cells.amount(name)?;
            if iops > 0.0 && !["Read", "Write"].contains(&operation) {
                self.others.push((operation.to_ascii_lowercase(), iops));
            }
        }
        self.asked =
            RequestedLoad { rate_iops: rate(cells.number("Reqrate")?), ..RequestedLoad::default() };
        Ok(())
    }
}

fn rate(asked: Option<f64>) -> Option<f64> {
    asked.filter(|rate| *rate > 0.0 && !RATES_WITHOUT_NUMBER.contains(rate))
}

fn cpu(cells: &Cells<'_, '_>) -> Result<Option<CpuShares>, ResultError> {
    let shares = ["cpu_user", "cpu_kernel", "cpu_wait", "cpu_idle"].map(|name| cells.number(name));
    let [user, system, wait, idle] = shares;
    Ok(match (user?, system?, wait?, idle?) {
        (Some(user_pct), Some(system_pct), Some(wait_pct), Some(idle_pct)) => {
            Some(CpuShares { user_pct, system_pct, wait_pct, idle_pct })
        }
        (_, _, _, _) => None,
    })
}

/// Reads `01:15:24.273`.
fn of_day_ms(text: &str) -> Option<u64> {
    let (clock, ms) = text.split_once('.')?;
    let ms: u64 = ms.parse().ok().filter(|ms| *ms < 1000)?;
    Some(of_day_s(clock)? * 1000 + ms)
}

/// Reads `01:15:24`.
fn of_day_s(clock: &str) -> Option<u64> {
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let is_time = hour < 24 && minute < 60 && second < 61 && parts.next().is_none();
    is_time.then_some((hour * 60 + minute) * 60 + second)
}

/// A moment with the name of its zone.
struct Stamp {
    unix_s: u64,
    zone_unknown: Option<String>,
}

impl Stamp {
    /// Reads `11/21/2026-01:15:24-UTC`. A zone without a name of its own is `GMT-03:00`.
    fn of(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (date, clock, zone) = (parts.next()?, parts.next()?, parts.next()?);
        let mut date = date.split('/').map(|part| part.parse::<i64>().ok());
        let (month, day, year) = (date.next()??, date.next()??, date.next()??);
        let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
        let is_date = is_date && (1970..=9999).contains(&year) && date.next().is_none();
        let days = is_date.then(|| units::days_since_1970(year, month, day))?.unsigned_abs();
        let local_s = days * 86_400 + of_day_s(clock)?;
        let offset_s = offset_s(zone);
        Some(Stamp {
            unix_s: local_s.saturating_add_signed(-offset_s.unwrap_or(0)),
            zone_unknown: offset_s.is_none().then(|| zone.to_owned()),
        })
    }
}

/// Returns by how much a zone is ahead of UTC; `None` of names that stand for several.
fn offset_s(zone: &str) -> Option<i64> {
    let rest = zone.strip_prefix("GMT").or_else(|| zone.strip_prefix("UTC"))?;
    if rest.is_empty() {
        return Some(0);
    }
    let sign = match rest.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = rest[1..].split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (i64::from(hours) * 60 + i64::from(minutes)) * 60)
}

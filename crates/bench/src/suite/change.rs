//! What a user sets: parameters of all parts, and the scale of sizes and times.

use std::time::Duration;

use analysis::Limits;

use super::{BYTES_MAX, End, Size, Suite};
use crate::lever::IN_FLIGHT_MAX;

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// No such parameter.
    #[error("a suite has no parameter `{name}`; there are {}", PARAMETERS.join(", "))]
    Unknown {
        /// As typed.
        name: String,
    },
    /// A value that cannot be.
    #[error("`{name}`: {what}")]
    Value {
        /// The parameter.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// A suite without a curve.
    #[error("`{name}` is about the load curve, and the suite `{suite}` has none")]
    NoCurve {
        /// The parameter.
        name: String,
        /// The suite.
        suite: String,
    },
}

/// What can be set.
pub const PARAMETERS: [&str; 13] = [
    "size",
    "time",
    "ramp",
    "bs",
    "read_pct",
    "iodepth",
    "jobs",
    "connections",
    "warm_up_time",
    "fill_time",
    "fills",
    "limit",
    "point_time",
];

/// What a user sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Parameters and their values, as typed.
    pub set: Vec<(String, String)>,
    /// Share of all sizes and times.
    pub scale: Option<f64>,
}

impl Changes {
    /// Returns the suite with the changes: first what is set, then the scale of all of it.
    pub fn apply(&self, mut suite: Suite) -> Result<Suite, ChangeError> {
        for (name, value) in &self.set {
            set(&mut suite, name, value)?;
        }
        if let Some(scale) = self.scale {
            put_scale(&mut suite, scale);
        }
        Ok(suite)
    }
}

fn set(suite: &mut Suite, name: &str, value: &str) -> Result<(), ChangeError> {
    let wrong = |what: String| ChangeError::Value { name: name.to_owned(), what };
    let time = || time(value).map_err(wrong);
    let measured = |suite: &mut Suite, change: &dyn Fn(&mut super::Part)| {
        suite.parts.iter_mut().filter(|part| !part.is_preparation).for_each(change);
    };
    match name {
        "size" => suite.prepare.size = size(value).map_err(wrong)?,
        "fills" => suite.prepare.n_fills = list(value, 0, 10).map_err(wrong)?[0] as u32,
        "fill_time" => suite.prepare.fill_time_ns = Some(time()?),
        "time" => {
            let ns = time()?;
            measured(suite, &|part| part.time_ns = ns);
        }
        "ramp" => {
            let ns = units::nanoseconds(duration(value).map_err(wrong)?);
            measured(suite, &|part| part.ramp_ns = ns);
        }
        "warm_up_time" => {
            let ns = time()?;
            suite.parts.iter_mut().filter(|it| it.is_preparation).for_each(|it| it.time_ns = ns);
        }
        "bs" => {
            let blocks = value.split(':').map(block).collect::<Result<Vec<u64>, _>>();
            let blocks = blocks.map_err(wrong)?;
            measured(suite, &|part| {
                part.block_bytes.clone_from(&blocks);
                part.loads.iter_mut().for_each(|load| load.block_bytes = blocks[0]);
            });
        }
        "read_pct" => {
            let list = list(value, 0, 100).map_err(wrong)?;
            let pct: Vec<f64> = list.iter().map(|pct| *pct as f64).collect();
            measured(suite, &|part| {
                if part.access.is_mixed() {
                    part.read_pct.clone_from(&pct);
                }
            });
        }
        "iodepth" | "jobs" | "connections" => set_counts(suite, name, value)?,
        "limit" | "point_time" => set_curve(suite, name, value)?,
        _ => return Err(ChangeError::Unknown { name: name.to_owned() }),
    }
    Ok(())
}

fn set_counts(suite: &mut Suite, name: &str, value: &str) -> Result<(), ChangeError> {
    let wrong = |what: String| ChangeError::Value { name: name.to_owned(), what };
    let max = match name {
        "iodepth" => u64::from(IN_FLIGHT_MAX),
        "jobs" => 1024,
        _ => 64,
    };
    let list = list(value, 1, max).map_err(wrong)?;
    let list: Vec<u32> = list.into_iter().map(|n| n as u32).collect();
    for part in suite.parts.iter_mut().filter(|part| !part.is_preparation) {
        match name {
            "iodepth" => {
                part.loads.iter_mut().for_each(|load| load.depth = list[0]);
                part.depths.clone_from(&list);
            }
            "jobs" => {
                part.loads.iter_mut().for_each(|load| load.workers = list[0]);
                part.workers.clone_from(&list);
            }
            _ => part.connections.clone_from(&list),
        }
    }
    Ok(())
}

fn set_curve(suite: &mut Suite, name: &str, value: &str) -> Result<(), ChangeError> {
    let wrong = |what: String| ChangeError::Value { name: name.to_owned(), what };
    let Some(curve) = &mut suite.curve else {
        return Err(ChangeError::NoCurve { name: name.to_owned(), suite: suite.name.clone() });
    };
    if name == "point_time" {
        curve.time.measured_ns = time(value).map_err(wrong)?;
        return Ok(());
    }
    curve.limits = value.parse::<Limits>().map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        wrong(errors.join("; "))
    })?;
    Ok(())
}

fn duration(text: &str) -> Result<Duration, String> {
    units::parse_duration(text).map_err(|error| error.to_string())
}

/// Shortest time of a step that is set.
const TIME_NS_MIN: u64 = 10_000_000;

fn time(text: &str) -> Result<u64, String> {
    match units::nanoseconds(duration(text)?) {
        ns if ns >= TIME_NS_MIN => Ok(ns),
        _ => Err("the shortest is 10ms".to_owned()),
    }
}

fn size(text: &str) -> Result<Size, String> {
    if text == "auto" {
        return Ok(Size::Auto { max_bytes: 8 << 30 });
    }
    match units::parse_bytes(text).map_err(|error| error.to_string())? {
        bytes @ 4096..=BYTES_MAX => Ok(Size::Bytes(bytes)),
        _ => Err("expected 4k to 1 EiB".to_owned()),
    }
}

fn block(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|error| error.to_string())? {
        bytes @ 512..=0x4000_0000 => Ok(bytes),
        _ => Err("expected 512 to 1g".to_owned()),
    }
}

/// Reads numbers with colons between them.
fn list(text: &str, least: u64, most: u64) -> Result<Vec<u64>, String> {
    let expected = || format!("expected {least} to {most}, or several with colons between");
    let number = |word: &str| {
        let n = units::parse_count(word.trim()).map_err(|_| expected())?;
        if (least..=most).contains(&n) { Ok(n) } else { Err(expected()) }
    };
    text.split(':').map(number).collect()
}

/// Smallest size that is left of one that is scaled.
const SIZE_BYTES_MIN: u64 = 1 << 20;

fn put_scale(suite: &mut Suite, scale: f64) {
    let time = |ns: &mut u64, least: u64| {
        let scaled = (*ns as f64 * scale).round() as u64;
        // What was off stays off.
        *ns = if *ns == 0 { 0 } else { scaled.max(least) };
    };
    let bytes = |bytes: u64| {
        let scaled = (bytes as f64 * scale).round() as u64;
        (scaled.max(SIZE_BYTES_MIN) >> 20) << 20
    };
    suite.prepare.size = match suite.prepare.size {
        Size::Bytes(of) => Size::Bytes(bytes(of)),
        Size::Auto { max_bytes } => Size::Auto { max_bytes: bytes(max_bytes) },
    };
    if let Some(ns) = &mut suite.prepare.fill_time_ns {
        time(ns, TIME_NS_MIN);
    }
    for part in &mut suite.parts {
        time(&mut part.ramp_ns, 1);
        time(&mut part.time_ns, TIME_NS_MIN);
        if let End::Steady { window_ns, .. } = &mut part.end {
            time(window_ns, TIME_NS_MIN);
        }
    }
    if let Some(curve) = &mut suite.curve {
        time(&mut curve.time.ramp_ns, 1);
        time(&mut curve.time.measured_ns, TIME_NS_MIN);
    }
}

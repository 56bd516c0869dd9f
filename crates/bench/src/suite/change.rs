//! What a user sets: parameters of all parts, and the scale of sizes and times.

use std::time::Duration;

use analysis::Limits;

use super::{BYTES_MAX, End, Part, Size, Suite};
use crate::lever::IN_FLIGHT_MAX;

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// No such parameter.
    #[error("a suite has no parameter `{name}`; there are {}", parameters().join(", "))]
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

/// What sets a parameter of a suite, or says what is wrong with the value.
type Set = fn(&mut Suite, &str) -> Result<(), Wrong>;

/// What is wrong with a parameter of a suite.
enum Wrong {
    /// Its value, and how.
    Value(String),
    /// The suite has no load curve.
    NoCurve,
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Wrong::Value(what)
    }
}

/// What can be set, and how.
const PARAMETERS: [(&str, Set); 14] = [
    ("size", |suite, value| {
        suite.prepare.size = size(value)?;
        Ok(())
    }),
    ("time", |suite, value| {
        let ns = time(value)?;
        measured(suite, |part| part.time_ns = ns);
        Ok(())
    }),
    ("ramp", |suite, value| {
        let ns = units::nanoseconds(duration(value)?);
        measured(suite, |part| part.ramp_ns = ns);
        Ok(())
    }),
    ("bs", |suite, value| {
        let blocks = value.split(':').map(block).collect::<Result<Vec<u64>, _>>()?;
        measured(suite, |part| {
            part.block_bytes.clone_from(&blocks);
            part.loads.iter_mut().for_each(|load| load.block_bytes = blocks[0]);
        });
        Ok(())
    }),
    ("read_pct", |suite, value| {
        let pct: Vec<f64> = list(value, 0, 100)?.into_iter().map(|pct| pct as f64).collect();
        measured(suite, |part| {
            if part.access.is_mixed() {
                part.read_pct.clone_from(&pct);
            }
        });
        Ok(())
    }),
    ("iodepth", |suite, value| {
        let depths = counts(value, IN_FLIGHT_MAX)?;
        measured(suite, |part| {
            part.loads.iter_mut().for_each(|load| load.depth = depths[0]);
            part.depths.clone_from(&depths);
        });
        Ok(())
    }),
    ("jobs", |suite, value| {
        let workers = counts(value, 1024)?;
        measured(suite, |part| {
            part.loads.iter_mut().for_each(|load| load.workers = workers[0]);
            part.workers.clone_from(&workers);
        });
        Ok(())
    }),
    ("connections", |suite, value| {
        let connections = counts(value, 64)?;
        measured(suite, |part| part.connections.clone_from(&connections));
        Ok(())
    }),
    ("warm_up_time", |suite, value| {
        let ns = time(value)?;
        suite.parts.iter_mut().filter(|it| it.is_preparation).for_each(|it| it.time_ns = ns);
        Ok(())
    }),
    ("fill_time", |suite, value| {
        suite.prepare.fill_time_ns = Some(time(value)?);
        Ok(())
    }),
    ("fills", |suite, value| {
        suite.prepare.n_fills = list(value, 0, 10)?[0] as u32;
        Ok(())
    }),
    ("limit", |suite, value| {
        let curve = suite.curve.as_mut().ok_or(Wrong::NoCurve)?;
        curve.limits = value.parse::<Limits>().map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            errors.join("; ")
        })?;
        Ok(())
    }),
    ("point_time", |suite, value| {
        let curve = suite.curve.as_mut().ok_or(Wrong::NoCurve)?;
        curve.time.measured_ns = time(value)?;
        Ok(())
    }),
    ("probes_max", |suite, value| {
        let n_probes_max = list(value, 1, 10_000)?[0] as u32;
        suite.curve.as_mut().ok_or(Wrong::NoCurve)?.n_probes_max = n_probes_max;
        Ok(())
    }),
];

/// Returns the names of what can be set.
fn parameters() -> [&'static str; PARAMETERS.len()] {
    PARAMETERS.map(|(name, _)| name)
}

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
    let known = PARAMETERS.iter().find(|(known, _)| *known == name);
    let (_, set) = known.ok_or_else(|| ChangeError::Unknown { name: name.to_owned() })?;
    set(suite, value).map_err(|wrong| match wrong {
        Wrong::Value(what) => ChangeError::Value { name: name.to_owned(), what },
        Wrong::NoCurve => ChangeError::NoCurve { name: name.to_owned(), suite: suite.name.clone() },
    })
}

/// Changes the parts that are measured.
fn measured(suite: &mut Suite, change: impl FnMut(&mut Part)) {
    suite.parts.iter_mut().filter(|part| !part.is_preparation).for_each(change);
}

/// Reads counts from 1 on with colons between them.
fn counts(text: &str, most: u32) -> Result<Vec<u32>, String> {
    Ok(list(text, 1, most.into())?.into_iter().map(|n| n as u32).collect())
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

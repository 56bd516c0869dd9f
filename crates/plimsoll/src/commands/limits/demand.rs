//! A need, as `--demand` takes it.

use ::design::Terms;
use volume::Design;
use volume::limits::Load;

use super::{percent, share, size};

/// What is needed of a volume.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Demand {
    /// Mount point of the volume; `None` where the design has one.
    pub(super) on: Option<String>,
    /// I/O size, mix and hits.
    pub(super) load: Load,
    /// I/Os per second.
    pub(super) iops: f64,
    /// A share of hits was given.
    has_hits: bool,
}

impl Demand {
    /// Returns whether hits were given for a volume that has no cache.
    pub(super) fn is_without_cache(&self, has_cache: bool) -> bool {
        self.has_hits && !has_cache
    }
}

/// Parses `iops=16000,size=8k,read=70,hit=0.9,on=/mnt/a`.
pub(super) fn parse(text: &str) -> Result<Demand, String> {
    let load = Load::new(8 << 10, 1.0);
    let mut demand = Demand { on: None, load, iops: 0.0, has_hits: false };
    let (mut iops, mut bytes_per_s) = (None, None);
    let mut seen: Vec<&str> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| stray(part, seen.last()))?;
        let (key, value) = (key.trim(), value.trim());
        let at = |message: String| format!("`{key}={value}`: {message}");
        // All of the first say how much is needed, both of the others of what size.
        let role = match key {
            "iops" | "mb_s" | "mib_s" | "rate" => "iops",
            "bs" | "size" => "bs",
            _ => key,
        };
        if seen.contains(&role) {
            return Err(at(twice(role)));
        }
        seen.push(role);
        match key {
            "iops" => {
                let count = units::parse_count(value).map_err(|error| at(error.to_string()))?;
                iops = Some(count as f64);
            }
            "mb_s" | "mib_s" => {
                let number: Option<f64> = value.parse().ok().filter(|number| *number >= 0.0);
                let (unit, unit_bytes) =
                    if key == "mb_s" { ("MB/s", 1e6) } else { ("MiB/s", f64::from(1 << 20)) };
                let hint =
                    || at(format!("expected a number of {unit}, or with a unit `rate=200MiB/s`"));
                bytes_per_s = Some(number.ok_or_else(hint)? * unit_bytes);
            }
            "rate" => {
                let rate = units::parse_rate(value).map_err(|error| at(error.to_string()))?;
                bytes_per_s = Some(rate as f64);
            }
            "bs" | "size" => demand.load.size_bytes = size(value).map_err(at)?,
            "read" => demand.load.read_share = percent(value).map_err(at)? / 100.0,
            "hit" => {
                demand.load.hit_ratio = share(value).map_err(at)?;
                demand.has_hits = true;
            }
            "on" => demand.on = Some(value.to_owned()),
            _ => return Err(usage(part)),
        }
    }
    let by_bytes = bytes_per_s.map(|rate| rate / demand.load.size_bytes as f64);
    let need = iops.or(by_bytes).unwrap_or(0.0);
    if need.is_nan() || need <= 0.0 {
        return Err("a need has `iops=` or `mb_s=`, more than 0".to_owned());
    }
    demand.iops = need;
    Ok(demand)
}

/// Returns why a key may stand once.
fn twice(role: &str) -> String {
    match role {
        "iops" => {
            "a need has one of iops=, mb_s=, mib_s= and rate=; give each its own `--demand`".into()
        }
        "bs" => "a need has one of bs= and size=, which mean the same".to_owned(),
        _ => format!("{role}= stands twice"),
    }
}

/// A part without a key is most often the rest of a number with commas in it.
fn stray(part: &str, before: Option<&&str>) -> String {
    let is_digits = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    match before {
        Some(_) if is_digits => {
            format!(
                "`{part}`: a comma begins the next key; write numbers without commas: 16000 \
                     or 16k"
            )
        }
        _ => usage(part),
    }
}

fn usage(part: &str) -> String {
    let hint = "write iops=N, mb_s=N, mib_s=N or rate=RATE, and bs=SIZE, read=PERCENT, hit=SHARE, \
                on=MOUNT";
    match part.split_once(['<', '>']) {
        Some(_) => format!("`{part}`: `limits` has no percentiles of latency; {hint}"),
        None => format!("`{part}`: {hint}"),
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) sizes: Vec<u64>,
    pub(super) read_shares: Vec<f64>,
    pub(super) hit_ratios: Vec<f64>,
    /// Bytes that are read at random places, where they say what hits.
    pub(super) working_set: Option<u64>,
    pub(super) queue_depth: Option<u32>,
    pub(super) with_credits: bool,
    pub(super) is_sequential: bool,
    pub(super) demands: Vec<Demand>,
    /// Where and on which terms changes are priced.
    pub(super) terms: Terms,
    /// The design by the ways to read a published MB whose bytes the source does not state.
    pub(super) readings: Vec<Design>,
}

/// Returns whether a rate meets a need, but for rounding.
pub(super) fn meets(iops: f64, need: f64) -> bool {
    iops >= need * (1.0 - 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_has_a_rate() {
        let demand = parse("mb_s=250,size=64k,read=70,on=/a").expect("a need");
        assert_eq!(parse("mb_s=250,bs=64k,read=70,on=/a"), Ok(demand.clone()));
        assert!((demand.iops - 250e6 / 65536.0).abs() < 1e-6);
        assert_eq!(demand.on.as_deref(), Some("/a"));
        assert_eq!(demand.load.size_bytes, 65536);
        let by_rate = parse("rate=1MiB/s,size=4k").expect("a need");
        assert!((by_rate.iops - 256.0).abs() < 1e-9);
        assert_eq!(parse("mib_s=1,bs=4k"), Ok(by_rate));
        assert!(parse("iops=1,hit=0").expect("a need").is_without_cache(false));
    }

    #[test]
    fn a_mistake_says_what_to_write() {
        for (text, part) in [
            ("size=8k", "more than 0"),
            ("iops=x", "`iops=x`"),
            ("iops=1,read=101", "0 to 100"),
            ("iops=1,mbps=3", "`mbps=3`"),
            ("mb_s=250MB/s", "rate="),
            ("iops=1,hit=2", "0 to 1"),
            ("iops=16k,mb_s=3", "one of iops=, mb_s=, mib_s= and rate="),
            ("iops=16k,bs=4k,size=8k", "one of bs= and size="),
            ("iops=16k,p99<2ms", "has no percentiles of latency"),
            ("iops=1,iops=50000", "its own `--demand`"),
            ("iops=1,read=1,read=2", "read= stands twice"),
            ("iops=1,000", "without commas: 16000 or 16k"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

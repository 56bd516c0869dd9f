//! A need, as `--demand` takes it.

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
    /// Says whether hits were given for a volume that has no cache.
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
        // All of these say how much is needed.
        let role = if matches!(key, "iops" | "mb_s" | "rate") { "iops" } else { key };
        if seen.contains(&role) {
            return Err(at(twice(role)));
        }
        seen.push(role);
        match key {
            "iops" => {
                let count = units::parse_count(value).map_err(|error| at(error.to_string()))?;
                iops = Some(count as f64);
            }
            "mb_s" => {
                let mb_s: Option<f64> = value.parse().ok().filter(|mb_s| *mb_s >= 0.0);
                let hint = "expected a number of MB/s; for other units write `rate=200MiB/s`";
                bytes_per_s = Some(mb_s.ok_or_else(|| at(hint.to_owned()))? * 1e6);
            }
            "rate" => {
                let rate = units::parse_rate(value).map_err(|error| at(error.to_string()))?;
                bytes_per_s = Some(rate as f64);
            }
            "size" => demand.load.size_bytes = size(value).map_err(at)?,
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

/// Says why a key may stand once.
fn twice(role: &str) -> String {
    if role == "iops" {
        return "a need has one of iops=, mb_s= and rate=; give each its own `--demand`".to_owned();
    }
    format!("{role}= stands twice")
}

/// A part without a key is most often the rest of a number with commas in it.
fn stray(part: &str, before: Option<&&str>) -> String {
    let is_digits = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    match before {
        Some(_) if is_digits => {
            format!("`{part}`: a comma begins the next key; write numbers without: 16000 or 16k")
        }
        _ => usage(part),
    }
}

fn usage(part: &str) -> String {
    format!("`{part}`: write iops=N, mb_s=N or rate=RATE, and size=, read=, hit=, on=MOUNT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_has_a_rate() {
        let demand = parse("mb_s=250,size=64k,read=70,on=/a").expect("a need");
        assert!((demand.iops - 250e6 / 65536.0).abs() < 1e-6);
        assert_eq!(demand.on.as_deref(), Some("/a"));
        assert_eq!(demand.load.size_bytes, 65536);
        let by_rate = parse("rate=1MiB/s,size=4k").expect("a need");
        assert!((by_rate.iops - 256.0).abs() < 1e-9);
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
            ("iops=16k,mb_s=3", "one of iops=, mb_s= and rate="),
            ("iops=1,iops=50000", "its own `--demand`"),
            ("iops=1,read=1,read=2", "read= stands twice"),
            ("iops=1,000", "without: 16000 or 16k"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

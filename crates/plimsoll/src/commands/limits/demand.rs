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
}

/// Parses `iops=16000,mb_s=250,size=8k,read=70,hit=0.9,on=/mnt/a`.
pub(super) fn parse(text: &str) -> Result<Demand, String> {
    let mut demand = Demand { on: None, load: Load::new(8 << 10, 1.0), iops: 0.0 };
    let (mut iops, mut bytes_per_s) = (None, None);
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| usage(part))?;
        let (key, value) = (key.trim(), value.trim());
        let at = |message: String| format!("`{key}={value}`: {message}");
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
            "hit" => demand.load.hit_ratio = share(value).map_err(at)?,
            "on" => demand.on = Some(value.to_owned()),
            _ => return Err(usage(part)),
        }
    }
    let by_bytes = bytes_per_s.map(|rate| rate / demand.load.size_bytes as f64);
    let need = iops.into_iter().chain(by_bytes).fold(0.0, f64::max);
    if need <= 0.0 {
        return Err("a need has `iops=` or `mb_s=`, more than 0".to_owned());
    }
    demand.iops = need;
    Ok(demand)
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
        let larger = parse("iops=100,rate=1MiB/s,size=4k").expect("a need");
        assert!((larger.iops - 256.0).abs() < 1e-9, "the larger of two needs counts");
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
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

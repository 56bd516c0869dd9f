//! Directions, block sizes and distributions of offsets.

use plan::PerDir;
use plan::param::{ACCESS_WORDS, AccessValue, find_access};
use plan::workload::{BlockSize, Distribution, fio_normal_deviation_pct};
use units::fio;

use super::Reading;
use super::number::float;
use super::text::choice_names;

/// Most sizes of one `bssplit` list, as in fio.
pub(super) const SPLITS_MAX: usize = 64;
/// Most zones of one distribution, as in fio.
const ZONES_MAX: usize = 256;
/// Most block numbers of a sequence, as in fio.
const SEQUENCE_MAX: usize = 64;

impl Reading<'_> {
    /// `randread`, `read:8k`, `randrw:4`.
    pub(super) fn access(&mut self, text: &str) -> Result<AccessValue, String> {
        let (word, postfix) = text.split_once(':').unwrap_or((text, ""));
        let word = word.trim();
        let Some(access) = find_access(word) else {
            return Err(format!("is not known; expected one of {}", choice_names(ACCESS_WORDS)));
        };
        let postfix = match postfix.trim() {
            "" => None,
            number => Some(self.int(number, i64::MIN, i64::MAX)?),
        };
        Ok(AccessValue { access, postfix })
    }

    /// `4k-64k`, perhaps another range for writes and trims behind a comma or slash.
    pub(super) fn block_ranges(&mut self, text: &str) -> Result<PerDir<Option<BlockSize>>, String> {
        let mut given = Vec::new();
        for part in text.split([',', '/']).map(str::trim).take(3) {
            if part.is_empty() {
                given.push(None);
                continue;
            }
            let range = fio::parse_range(part, self.rules());
            let range = range.map_err(|error| format!("is not valid: {error}"))?;
            let (min, max) = self.take(range);
            let (min, max) = (block_bytes(min)?, block_bytes(max)?);
            given.push(Some(if min == max {
                BlockSize::Fixed(min)
            } else {
                BlockSize::Range { min, max }
            }));
        }
        spread(given)
    }

    /// `4k/60:64k/40`, perhaps another list for writes and trims behind a comma.
    pub(super) fn block_splits(&mut self, text: &str) -> Result<PerDir<Option<BlockSize>>, String> {
        let mut given = Vec::new();
        for list in text.split(',').map(str::trim).take(3) {
            given.push(if list.is_empty() { None } else { Some(self.block_split(list)?) });
        }
        spread(given)
    }

    fn block_split(&mut self, list: &str) -> Result<BlockSize, String> {
        let mut sizes = Vec::new();
        let mut shares = Vec::new();
        for entry in list.split(':').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (size, share) = entry.split_once('/').unwrap_or((entry, ""));
            let size = fio::parse_size(size.trim(), self.rules());
            let size = size.map_err(|error| format!("is not valid: {error}"))?;
            sizes.push(block_bytes(self.take(size))?);
            shares.push(percent(share)?);
        }
        if sizes.is_empty() {
            return Err("holds no block size".to_owned());
        }
        if sizes.len() > SPLITS_MAX {
            return Err(format!("lists {} sizes; the most is {SPLITS_MAX}", sizes.len()));
        }
        let shares = self.complete_shares(&shares)?;
        Ok(BlockSize::Split(sizes.into_iter().zip(shares).collect()))
    }

    /// Makes shares add up to 100: empty places take the rest in equal parts, else the last does.
    fn complete_shares(&mut self, shares: &[Option<u8>]) -> Result<Vec<u8>, String> {
        let sum: u32 = shares.iter().flatten().map(|share| u32::from(*share)).sum();
        let Some(mut rest) = 100_u32.checked_sub(sum) else {
            return Err(format!("has shares that add up to {sum}; the most is 100"));
        };
        let mut n_empty = shares.iter().filter(|share| share.is_none()).count() as u32;
        if n_empty == 0 && rest > 0 {
            self.warnings.push(format!("has shares that add up to {sum}; the last takes the rest"));
        }
        let mut complete = Vec::with_capacity(shares.len());
        for share in shares {
            complete.push(share.unwrap_or_else(|| {
                let part = rest / n_empty.max(1);
                rest -= part;
                n_empty = n_empty.saturating_sub(1);
                part as u8
            }));
        }
        if let Some(last) = complete.last_mut() {
            *last += rest as u8;
        }
        Ok(complete)
    }

    /// `random`, `zipf:1.2:0.5`, `zoned:60/10:40/90`, ...
    pub(super) fn distribution(&mut self, text: &str) -> Result<PerDir<Distribution>, String> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        match word.trim() {
            "zoned" => self.zones(rest, |entries, _| zoned(entries)),
            "zoned_abs" => self.zones(rest, zoned_abs),
            "sequence" => sequence(rest).map(PerDir::all),
            word => skewed(word, rest).map(PerDir::all),
        }
    }

    fn zones(
        &mut self,
        text: &str,
        one: impl Fn(&[(u8, Option<&str>)], &mut Self) -> Result<Distribution, String>,
    ) -> Result<PerDir<Distribution>, String> {
        let mut given = Vec::new();
        for list in text.split(',').map(str::trim).take(3) {
            // fio takes the word once; behind a comma it may be repeated.
            let list = list.trim_start_matches("zoned_abs:").trim_start_matches("zoned:");
            let mut entries = Vec::new();
            for entry in list.split(':').map(str::trim).filter(|entry| !entry.is_empty()) {
                let (access, size) = entry.split_once('/').unwrap_or((entry, ""));
                let access = percent(access)?.ok_or_else(|| {
                    format!("has a zone without a share of the accesses: `{entry}`")
                })?;
                entries.push((access, Some(size.trim()).filter(|size| !size.is_empty())));
            }
            if entries.is_empty() {
                return Err("lists no zone; write shares as `zoned:60/10:40/90`".to_owned());
            }
            if entries.len() > ZONES_MAX {
                return Err(format!("lists {} zones; the most is {ZONES_MAX}", entries.len()));
            }
            let sum: u32 = entries.iter().map(|(access, _)| u32::from(*access)).sum();
            if sum != 100 {
                return Err(format!(
                    "has accesses that add up to {sum} %; they must add up to 100"
                ));
            }
            given.push(one(&entries, self)?);
        }
        let mut given = given.into_iter();
        let read = given.next().ok_or("lists no zone")?;
        let write = given.next().unwrap_or_else(|| read.clone());
        let trim = given.next().unwrap_or_else(|| write.clone());
        Ok(PerDir { read, write, trim })
    }
}

pub(super) fn block_bytes(bytes: u64) -> Result<u32, String> {
    match u32::try_from(bytes) {
        Ok(0) => Err("holds a block size of 0; the smallest is 1".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(format!("holds a block size of {bytes} B; the largest is {} B", u32::MAX)),
    }
}

/// One list for all directions, or one each; two give trims the second.
pub(super) fn spread<T: Clone>(mut given: Vec<Option<T>>) -> Result<PerDir<Option<T>>, String> {
    if given.iter().all(Option::is_none) {
        return Err("gives no block size".to_owned());
    }
    let third = if given.len() > 2 { given.pop() } else { None };
    let second = if given.len() > 1 { given.pop() } else { None };
    let read = given.pop().flatten();
    let write = second.unwrap_or_else(|| read.clone());
    let trim = third.unwrap_or_else(|| write.clone());
    Ok(PerDir { read, write, trim })
}

/// A share in percent; nothing where nothing is written.
fn percent(text: &str) -> Result<Option<u8>, String> {
    let text = text.trim();
    let number = text.strip_suffix('%').unwrap_or(text);
    if number.is_empty() {
        return Ok(None);
    }
    let share = number.parse::<u8>().ok().filter(|share| *share <= 100);
    share.map(Some).ok_or_else(|| format!("holds the share `{text}`; expected 0 to 100"))
}

fn zoned(entries: &[(u8, Option<&str>)]) -> Result<Distribution, String> {
    let mut sizes = Vec::with_capacity(entries.len());
    for (_, size) in entries {
        sizes.push(percent(size.unwrap_or_default())?);
    }
    let sum: u32 = sizes.iter().flatten().map(|size| u32::from(*size)).sum();
    let Some(mut rest) = 100_u32.checked_sub(sum) else {
        return Err(format!("has zones that add up to {sum} % of the region; the most is 100"));
    };
    let mut n_empty = sizes.iter().filter(|size| size.is_none()).count() as u32;
    let zones = entries.iter().zip(sizes).map(|((access, _), size)| {
        let size = size.unwrap_or_else(|| {
            let part = rest / n_empty.max(1);
            rest -= part;
            n_empty = n_empty.saturating_sub(1);
            part as u8
        });
        (*access, size)
    });
    Ok(Distribution::Zoned(zones.collect()))
}

fn zoned_abs(
    entries: &[(u8, Option<&str>)],
    reading: &mut Reading<'_>,
) -> Result<Distribution, String> {
    let mut zones = Vec::with_capacity(entries.len());
    for (access, size) in entries {
        let size = size.ok_or("has a zone without a size; write `zoned_abs:60/20g:...`")?;
        let size = fio::parse_size(size, reading.rules());
        let size = size.map_err(|error| format!("is not valid: {error}"))?;
        zones.push((*access, reading.take(size)));
    }
    Ok(Distribution::ZonedAbs(zones))
}

fn sequence(text: &str) -> Result<Distribution, String> {
    let blocks: Result<Vec<u64>, _> = text.split(',').map(|block| block.trim().parse()).collect();
    let blocks =
        blocks.map_err(|_| "is not a sequence of block numbers such as `sequence:2,0,1`")?;
    if blocks.len() > SEQUENCE_MAX {
        return Err(format!("lists {} blocks; the most is {SEQUENCE_MAX}", blocks.len()));
    }
    Ok(Distribution::Sequence(blocks))
}

/// Distributions with one parameter and a centre. fio's own values count where none is written.
fn skewed(word: &str, rest: &str) -> Result<Distribution, String> {
    let (parameter, centre) = rest.split_once(':').unwrap_or((rest, ""));
    let centre = match centre.trim() {
        "" => None,
        text => {
            Some(float(text, 0.0, 1.0).map_err(|problem| format!("has a centre that {problem}"))?)
        }
    };
    let parameter = |default: f64| match parameter.trim() {
        "" => Ok(default),
        text => float(text, f64::MIN, f64::MAX),
    };
    match word {
        "random" => Ok(Distribution::Uniform),
        "zipf" => match parameter(1.1)? {
            1.0 => {
                Err("has the exponent 1.0, which zipf cannot have; write 0.99 or 1.01".to_owned())
            }
            theta if theta <= 0.0 => Err("has an exponent that is not above 0".to_owned()),
            theta => Ok(Distribution::Zipf { theta, centre }),
        },
        "pareto" => match parameter(0.2)? {
            h if h <= 0.0 || h >= 1.0 => Err("has a skew that is not between 0 and 1".to_owned()),
            h => Ok(Distribution::Pareto { h, centre }),
        },
        "normal" | "gauss" => match parameter(0.0)? {
            share if !(0.0..100.0).contains(&share) => {
                Err("has a deviation that is not in 0 to 100 (percent, 100 left out)".to_owned())
            }
            share => {
                let deviation_pct = fio_normal_deviation_pct(share);
                Ok(Distribution::Normal { deviation_pct, centre })
            }
        },
        _ => Err("is not known; expected one of random, zipf, pareto, normal, zoned, zoned_abs, \
                  sequence"
            .to_owned()),
    }
}

//! Shares of raised priority by block size (`cmdprio_bssplit`).

use plan::{IoPriority, PerDir, PriorityShare};
use units::fio;

use super::Reading;
use super::workload::{SPLITS_MAX, block_bytes, spread};

/// What an entry looks like.
const FORM: &str = "expected SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, perhaps with a /HINT";

impl Reading<'_> {
    /// `64k/25/1/1:64k/75/3/2`, perhaps another list for writes behind a comma.
    pub(super) fn priority_splits(
        &mut self,
        text: &str,
    ) -> Result<PerDir<Option<Vec<PriorityShare>>>, String> {
        let mut given = Vec::new();
        for list in text.split(',').map(str::trim).take(3) {
            given.push(if list.is_empty() { None } else { Some(self.priority_split(list)?) });
        }
        spread(given)
    }

    /// Reads one list. Entries without a share say nothing and are dropped, as in fio.
    fn priority_split(&mut self, list: &str) -> Result<Vec<PriorityShare>, String> {
        let entries: Vec<&str> =
            list.split(':').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        if entries.len() > SPLITS_MAX {
            return Err(format!("lists {} sizes; the most is {SPLITS_MAX}", entries.len()));
        }
        let mut shares = Vec::with_capacity(entries.len());
        for entry in entries {
            shares.push(self.priority_share(entry)?);
        }
        shares.retain(|share| share.pct > 0);
        Ok(shares)
    }

    fn priority_share(&mut self, entry: &str) -> Result<PriorityShare, String> {
        let mut fields = entry.split('/').map(str::trim);
        let size = fio::parse_size(fields.next().unwrap_or_default(), self.rules());
        let size = size.map_err(|error| format!("is not valid: {error}"))?;
        let block_bytes = Some(block_bytes(self.take(size))?);
        let mut numbers = Vec::new();
        for field in fields {
            let digits = if numbers.is_empty() { field.trim_end_matches('%') } else { field };
            if digits.is_empty() && numbers.is_empty() {
                continue;
            }
            let number: u32 =
                digits.parse().map_err(|_| format!("holds the entry `{entry}`; {FORM}"))?;
            numbers.push(number);
        }
        let pct = |reading: &mut Self, pct| reading.at_most("share", pct, 100_u8);
        let (pct, priority) = match *numbers.as_slice() {
            [] => (0, IoPriority::NONE),
            [share] => (pct(self, share), IoPriority::NONE),
            [share, class, level] => (pct(self, share), self.explicit_priority(class, level, 0)),
            [share, class, level, hint] => {
                (pct(self, share), self.explicit_priority(class, level, hint))
            }
            _ => return Err(format!("holds the entry `{entry}`; {FORM}")),
        };
        Ok(PriorityShare { block_bytes, pct, priority })
    }

    fn explicit_priority(&mut self, class: u32, level: u32, hint: u32) -> IoPriority {
        let class = self.at_most("class", class, IoPriority::CLASS_MAX);
        let level = self.at_most("level", level, IoPriority::LEVEL_MAX);
        IoPriority::new(class, level, self.at_most("hint", hint, IoPriority::HINT_MAX))
    }

    /// Takes the largest possible number in place of a larger one, as fio does, and says so.
    fn at_most<T: Copy + Into<u32> + TryFrom<u32>>(
        &mut self,
        what: &str,
        number: u32,
        max: T,
    ) -> T {
        let most: u32 = max.into();
        if number > most {
            self.warnings.push(format!("the {what} {number} is too large, {most} is taken"));
        }
        T::try_from(number.min(most)).unwrap_or(max)
    }
}

//! What prices are for and per: a part of a thing; `hour`, `GiB-month`, `10000 operations`.

/// What of a thing a price is for: many things are billed by several meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The machine, the tier, or the capacity.
    Whole,
    /// Operations per second that are provisioned.
    Iops,
    /// Throughput that is provisioned.
    Throughput,
    /// Operations done.
    Operations,
    /// Capacity of the second, slower tier of a file service.
    Pool,
    /// Reads from that tier.
    PoolReads,
    /// Writes to that tier.
    PoolWrites,
    /// Processors of a machine that may have Ultra Disk and has none.
    Vcpus,
}

impl Part {
    const ALL: [Part; 8] = units::all_of!(
        Part: Whole, Iops, Throughput, Operations, Pool, PoolReads, PoolWrites, Vcpus
    );

    /// Returns its word in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Whole => "capacity",
            Part::Iops => "iops",
            Part::Throughput => "throughput",
            Part::Operations => "operations",
            Part::Pool => "pool",
            Part::PoolReads => "pool reads",
            Part::PoolWrites => "pool writes",
            Part::Vcpus => "vcpus",
        }
    }

    /// Reads the cells `part` and `per`. An empty part is what the price is per: of `IOPS-month`
    /// the operations, of `month` the whole.
    pub(crate) fn read(part: &str, per: &str) -> Result<Self, String> {
        let counted = PricePer::read(per);
        if part.is_empty() {
            return Ok(counted.map_or(Part::Whole, PricePer::part));
        }
        let part = Part::from_text(part)?;
        if counted.is_some_and(|per| !per.counts(part)) {
            return Err(format!("a price of {} cannot be per `{per}`", part.as_str()));
        }
        Ok(part)
    }

    fn from_text(text: &str) -> Result<Self, String> {
        Part::ALL.into_iter().find(|part| part.as_str() == text).ok_or_else(|| {
            let words = Part::ALL.map(Part::as_str).join(", ");
            format!("unknown part `{text}`, expected {words}")
        })
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Things.
    One,
    /// GiB, which price lists also call GB.
    Gib,
    /// Operations per second.
    Iops,
    /// 2^20 bytes per second.
    MibPerS,
    /// 10^6 bytes per second.
    MbPerS,
    /// Operations or requests.
    Operations,
    /// Processors.
    Vcpus,
}

/// How often in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BillingTime {
    Hour,
    Month,
    Year,
    /// What was done is paid once.
    Once,
}

impl BillingTime {
    /// Returns how often that is in a month of so many hours.
    pub(crate) fn in_month(self, hours: f64) -> f64 {
        match self {
            BillingTime::Hour => hours,
            BillingTime::Month | BillingTime::Once => 1.0,
            BillingTime::Year => 1.0 / 12.0,
        }
    }
}

/// What a price is per.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PricePer {
    pub(crate) measure: Measure,
    /// So many of the measure: prices are per 10,000 operations.
    pub(crate) of: f64,
    pub(crate) time: BillingTime,
}

impl PricePer {
    /// Reads the word of a table; `None` for one that cannot be counted.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let once =
            |of: f64| Some(PricePer { measure: Measure::Operations, of, time: BillingTime::Once });
        if text == "request" || text == "operation" {
            return once(1.0);
        }
        if let Some(of) = text.strip_suffix(" operations") {
            return of.parse().ok().filter(|of| *of >= 1.0).and_then(once);
        }
        let (measure, time) = text.rsplit_once('-').unwrap_or(("", text));
        let time = match time {
            "hour" => BillingTime::Hour,
            "month" => BillingTime::Month,
            "year" => BillingTime::Year,
            _ => return None,
        };
        let measure = match measure {
            "" => Measure::One,
            "GiB" | "GB" => Measure::Gib,
            "IOPS" => Measure::Iops,
            "MiB/s" => Measure::MibPerS,
            "MB/s" => Measure::MbPerS,
            "vCPU" => Measure::Vcpus,
            _ => return None,
        };
        Some(PricePer { measure, of: 1.0, time })
    }

    /// Returns the part that a price is for where its table does not say.
    pub(crate) fn part(self) -> Part {
        match self.measure {
            Measure::One | Measure::Gib => Part::Whole,
            Measure::Iops => Part::Iops,
            Measure::MibPerS | Measure::MbPerS => Part::Throughput,
            Measure::Operations => Part::Operations,
            Measure::Vcpus => Part::Vcpus,
        }
    }

    /// Returns whether so much of a part can be counted in this measure.
    pub(crate) fn counts(self, part: Part) -> bool {
        match part {
            Part::Pool => self.measure == Measure::Gib,
            Part::PoolReads | Part::PoolWrites => self.measure == Measure::Operations,
            Part::Whole | Part::Iops | Part::Throughput | Part::Operations | Part::Vcpus => {
                self.part() == part
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let per = PricePer::read(text).map(|per| (per.measure, per.of, per.time));
        assert_eq!(format!("{per:?}"), expected);
    }

    #[test]
    fn words_of_price_lists_are_counted() {
        check("hour", "Some((One, 1.0, Hour))");
        check("GB-month", "Some((Gib, 1.0, Month))");
        check("MB/s-hour", "Some((MbPerS, 1.0, Hour))");
        check("10000 operations", "Some((Operations, 10000.0, Once))");
        check("request", "Some((Operations, 1.0, Once))");
        check("year", "Some((One, 1.0, Year))");
        check("week", "None");
        check("GiB-", "None");
        check("0 operations", "None");
    }
}

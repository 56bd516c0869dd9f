//! Disks whose size and limits are chosen.

use std::ops::{Range, RangeInclusive};

use catalog::{Disk as Sku, Edition, Figure};
use plan::Diagnostic;
use plan::keys::{Findings, Keys, Located};

use super::parser::{Parser, per_s};
use super::{Burst, Cap, Design, Limit, Merging, Stripe};

const GIB: f64 = (1_u64 << 30) as f64;
const TIB: f64 = (1_u64 << 40) as f64;

/// Largest size that is tried of a type without a published one, bytes: 64 TiB, which no type with
/// a published one exceeds.
const SIZE_TRIED_MAX: u64 = 64 << 40;

/// Reads size and limits of a disk, and returns its caps and its size in bytes. `base` is among how
/// many disks the machine's base of the type is divided, where they have it.
pub(super) fn disk(
    sku: &Sku,
    base: Option<u32>,
    keys: &mut Keys<'_>,
    parser: &mut Parser<'_, '_>,
) -> Option<(Cap, Option<Limit>, u64)> {
    let size = size(sku, keys, parser);
    let iops = keys.count("iops", parser.findings);
    let bytes = keys.rate("throughput", parser.findings);
    let burst = keys.text("burst", parser.findings);
    if let Some(value) = keys.get("performance_plus") {
        let text = format!("{} has no performance plus", sku.name);
        parser.findings.error("bad-value", &value.span(), text);
    }
    let size_bytes = size?;
    let rules = Rules::of(sku);
    let disk = Free { rules: &rules, size_gib: size_bytes as f64 / GIB, base, at: keys.at.clone() };
    let write_iops = disk.write_iops(parser);
    Some((disk.cap(iops, bytes, burst, parser), write_iops, size_bytes))
}

fn size(sku: &Sku, keys: &mut Keys<'_>, parser: &mut Parser<'_, '_>) -> Option<u64> {
    let Some((bytes, at)) = keys.bytes("size", parser.findings) else {
        if keys.get("size").is_none() {
            let text = format!("{} needs `size`", sku.name);
            parser.findings.error("missing-key", &keys.at, text);
        }
        return None;
    };
    let typed = keys.get("size").and_then(|value| value.get_ref().as_str()).unwrap_or("");
    if !typed.is_empty() && typed.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        let text = format!("`size`: `{typed}` has no unit, expected such as \"{typed}GiB\"");
        parser.findings.error("bad-value", &at, text);
        return None;
    }
    let least = sku.size_min().map_or(1 << 30, |figure| figure.per_s);
    let most = sku.size_max().map_or(u64::MAX >> 1, |figure| figure.per_s);
    if !(least..=most).contains(&bytes) {
        let range = match sku.size_max() {
            Some(_) => format!("{} to {} GiB", least >> 30, most >> 30),
            None => format!("at least {} GiB", least >> 30),
        };
        let gib = (bytes as f64 / GIB * 1000.0).round() / 1000.0;
        let text = format!("{} has {range}, not {gib}", sku.name);
        parser.findings.error("out-of-range", &at, text);
        return None;
    }
    Some(bytes)
}

/// Says on which types of the same provider a key that another type fixes can be chosen.
pub(super) fn where_open(key: &str, sku: &Sku, parser: &Parser<'_, '_>) -> String {
    let is_open = |other: &&Sku| {
        let is_chosen = || other.word("limits").is_some_and(|word| word == "chosen" || word == key);
        other.cloud() == sku.cloud() && other.is_free() && (key == "size" || is_chosen())
    };
    let open: Vec<&str> =
        parser.edition.disks().iter().filter(is_open).map(|open| &*open.name).collect();
    let leave = format!("leave `{key}` out");
    match open.as_slice() {
        [] => format!("{leave}, or give a disk figures of your own"),
        _ => format!("{leave}, or take a disk that leaves it open: {}", open.join(", ")),
    }
}

/// A type whose size and limits are chosen, to try other ones.
#[derive(Clone)]
pub struct Provisioned<'p> {
    rules: Rules<'p>,
    /// Among how many disks the machine's base of the type is divided; `None` where they have none.
    base: Option<u32>,
    edition: &'p Edition,
    mb_bytes: u64,
}

impl<'p> Provisioned<'p> {
    /// Makes one for the type of a stripe of a design; `None` for a tier, whose limits are fixed.
    pub(crate) fn new(design: &'p Design, stripe: &Stripe) -> Option<Self> {
        let edition = design.rows()?;
        let sku = edition.disk(&stripe.disks.first()?.sku)?;
        let kit = Self::of(edition, design.mb_bytes, sku)?;
        let base = stripe.has_machine_base.then_some(stripe.disks.len() as u32);
        Some(Provisioned { base, ..kit })
    }

    /// Makes one for a type of the catalogue, with so many bytes to a published MB whose size the
    /// source does not state; `None` for a tier, whose limits are fixed.
    pub fn of(edition: &'p Edition, mb_bytes: u64, sku: &'p Sku) -> Option<Self> {
        let new = || Provisioned { rules: Rules::of(sku), base: None, edition, mb_bytes };
        sku.is_free().then(new)
    }

    /// Returns the same for disks of a volume that has what the machine has once for all disks of
    /// the type: each of `n_disks` gets its part.
    #[must_use]
    pub fn with_machine_base(&self, n_disks: u32) -> Self {
        Provisioned { base: Some(n_disks), ..self.clone() }
    }

    /// Returns the same for another number of disks.
    pub(crate) fn of_disks(&self, n_disks: usize) -> Self {
        Provisioned { base: self.base.map(|_| n_disks as u32), ..self.clone() }
    }

    fn free(&self, size_bytes: u64) -> Free<'_, 'p> {
        let size_gib = size_bytes as f64 / GIB;
        Free { rules: &self.rules, size_gib, base: self.base, at: 0..0 }
    }

    /// Returns the smallest size, bytes; 1 GiB where none is published.
    pub fn size_min(&self) -> u64 {
        self.rules.sku.size_min().map_or(1 << 30, |figure| figure.per_s)
    }

    /// Returns the largest size, bytes, or the largest worth a try where none is published.
    pub fn size_max(&self) -> u64 {
        self.rules.sku.size_max().map_or(SIZE_TRIED_MAX, |figure| figure.per_s)
    }

    /// Returns the operations per second that can be chosen; `None` if they are not chosen.
    pub fn iops_range(&self, size_bytes: u64) -> Option<RangeInclusive<u64>> {
        let free = self.free(size_bytes);
        let rules = &self.rules;
        let range = free.iops_range(rules.iops_per_gib, |figure| per_s(figure, self.mb_bytes));
        rules.is_iops_chosen.then_some(range)
    }

    /// Returns the most operations per second that can be chosen; `None` if they are not chosen.
    pub(crate) fn iops_max(&self, size_bytes: u64) -> Option<u64> {
        self.iops_range(size_bytes).map(|range| *range.end())
    }

    /// Returns the throughput that can be chosen beside so many operations, bytes per second;
    /// `None` if it is not chosen.
    pub fn throughput_range(
        &self,
        size_bytes: u64,
        iops: Option<u64>,
    ) -> Option<RangeInclusive<u64>> {
        let free = self.free(size_bytes);
        let range = free.throughput_range(iops, |figure| per_s(figure, self.mb_bytes));
        self.rules.is_throughput_chosen.then_some(range)
    }

    /// Returns the most throughput that can be chosen beside so many operations; `None` if it is
    /// not chosen, or has no bound.
    pub(crate) fn throughput_max(&self, size_bytes: u64, iops: Option<u64>) -> Option<u64> {
        let range = self.throughput_range(size_bytes, iops);
        range.map(|range| *range.end()).filter(|most| *most < u64::MAX)
    }

    /// Returns the unit in which throughput is chosen, bytes per second.
    pub fn throughput_unit(&self) -> u64 {
        self.free(0).throughput_unit().scale()
    }

    /// Returns the fewest operations that allow a throughput, where they bound it.
    pub fn iops_for(&self, bytes_per_s: u64) -> Option<u64> {
        let per_iops = per_s(self.rules.throughput_per_iops?, self.mb_bytes);
        Some(bytes_per_s.div_ceil(per_iops))
    }

    /// Returns those limits of a disk that were chosen.
    pub(crate) fn asked(&self, cap: &Cap) -> (Option<u64>, Option<u64>) {
        let per_s = |limit: &Option<Limit>| limit.as_ref().map(|limit| limit.per_s);
        (
            per_s(&cap.iops).filter(|_| self.rules.is_iops_chosen),
            per_s(&cap.bytes).filter(|_| self.rules.is_throughput_chosen),
        )
    }

    /// Returns the limit of writes at a size, where they have one of their own.
    pub fn write_iops(&self, size_bytes: u64) -> Option<Limit> {
        let mut findings = Findings::new("");
        let parser = Parser::again(self.edition, self.mb_bytes, &mut findings);
        self.free(size_bytes).write_iops(&parser)
    }

    /// Returns the limits of a size with what is chosen; `None` if that cannot be.
    pub fn cap(&self, size_bytes: u64, iops: Option<u64>, bytes: Option<u64>) -> Option<Cap> {
        let mut findings = Findings::new("");
        let mut parser = Parser::again(self.edition, self.mb_bytes, &mut findings);
        self.cap_by(&mut parser, size_bytes, iops, bytes)
    }

    /// Returns the same limits, and that of writes, without their origins: for many tries.
    pub fn figures(
        &self,
        size_bytes: u64,
        iops: Option<u64>,
        bytes: Option<u64>,
    ) -> Option<(Cap, Option<Limit>)> {
        let mut findings = Findings::new("");
        let mut parser = Parser::figures_alone(self.edition, self.mb_bytes, &mut findings);
        let cap = self.cap_by(&mut parser, size_bytes, iops, bytes)?;
        Some((cap, self.free(size_bytes).write_iops(&parser)))
    }

    fn cap_by(
        &self,
        parser: &mut Parser<'_, '_>,
        size_bytes: u64,
        iops: Option<u64>,
        bytes: Option<u64>,
    ) -> Option<Cap> {
        let at = |per_s: u64| (per_s, 0..0);
        let cap = self.free(size_bytes).cap(iops.map(at), bytes.map(at), None, parser);
        (!parser.findings.has_error()).then_some(cap)
    }
}

/// By which figures the limits of a type follow from its size and what is chosen.
#[derive(Clone)]
struct Rules<'p> {
    sku: &'p Sku,
    /// Operations and throughput that a machine has once for all disks of the type.
    machine_base: [Option<&'p Figure>; 2],
    is_iops_chosen: bool,
    is_throughput_chosen: bool,
    iops_base: Option<&'p Figure>,
    iops_min: Option<&'p Figure>,
    iops_max: Option<&'p Figure>,
    iops_per_gib: Option<&'p Figure>,
    /// Size above which operations follow from the size.
    iops_per_gib_above: Option<&'p Figure>,
    iops_per_throughput: Option<&'p Figure>,
    /// Operations per GiB of reads and of writes, where each has a limit of its own.
    each_way: Option<(&'p Figure, &'p Figure)>,
    throughput_base: Option<&'p Figure>,
    /// Size up to which throughput is the base.
    throughput_base_up_to: Option<&'p Figure>,
    throughput_min: Option<&'p Figure>,
    throughput_max: Option<&'p Figure>,
    throughput_per_iops: Option<&'p Figure>,
    throughput_per_gib: Option<&'p Figure>,
    throughput_per_tib: Option<&'p Figure>,
    throughput_per_1000_iops: Option<&'p Figure>,
    /// Credits for operations, and their rate meanwhile.
    credits: Option<(&'p Figure, &'p Figure)>,
    /// Credits for throughput by size, and its rate meanwhile.
    credits_per_tib: Option<(&'p Figure, &'p Figure)>,
}

impl<'p> Rules<'p> {
    /// Looks them up.
    fn of(sku: &'p Sku) -> Self {
        let figure = |property| sku.figure(property);
        let is_chosen = |what| sku.word("limits").is_some_and(|it| it == "chosen" || it == what);
        Rules {
            sku,
            machine_base: sku.machine_base(),
            is_iops_chosen: is_chosen("iops"),
            is_throughput_chosen: is_chosen("throughput"),
            iops_base: sku.iops_base(),
            iops_min: sku.iops_min(),
            iops_max: sku.iops_max(),
            iops_per_gib: sku.iops_per_gib(),
            iops_per_gib_above: figure("iops_per_gib_above"),
            iops_per_throughput: figure("iops_per_throughput"),
            each_way: figure("read_iops_per_gib").zip(figure("write_iops_per_gib")),
            throughput_base: sku.throughput_base(),
            throughput_base_up_to: figure("throughput_base_up_to"),
            throughput_min: sku.throughput_min(),
            throughput_max: sku.throughput_max(),
            throughput_per_iops: sku.throughput_per_iops(),
            throughput_per_gib: figure("throughput_per_gib"),
            throughput_per_tib: figure("throughput_per_tib"),
            throughput_per_1000_iops: figure("throughput_per_1000_iops"),
            credits: figure("burst_credits_io").zip(sku.burst_iops()),
            credits_per_tib: figure("burst_credits_per_tib")
                .zip(figure("burst_throughput_per_tib")),
        }
    }
}

struct Free<'r, 'p> {
    rules: &'r Rules<'p>,
    size_gib: f64,
    /// Among how many disks the machine's base of the type is divided; `None` where they have none.
    base: Option<u32>,
    at: Range<usize>,
}

impl<'p> Free<'_, 'p> {
    fn cap(
        &self,
        iops: Option<Located<u64>>,
        bytes: Option<Located<u64>>,
        burst: Option<Located<&str>>,
        parser: &mut Parser<'_, '_>,
    ) -> Cap {
        let iops = self.iops(iops, parser);
        let bytes = self.throughput(bytes, iops.as_ref(), parser);
        let iops = iops.or_else(|| self.iops_of_throughput(bytes.as_ref(), parser));
        let cap = Cap { iops, bytes };
        self.warn_unknown(&cap, parser);
        self.burst(cap, burst, parser)
    }

    /// Returns the operations that can be chosen at this size.
    fn iops_range(
        &self,
        per_gib: Option<&Figure>,
        per_s: impl Fn(&Figure) -> u64,
    ) -> RangeInclusive<u64> {
        let rules = self.rules;
        let of_size = per_gib.map(|figure| figure.value * self.size_gib);
        let most = rules.iops_max.map(|figure| per_s(figure) as f64);
        let free = rules.iops_base.map(|figure| figure.value);
        // Small disks get what is free and no more.
        let is_small = rules.iops_per_gib_above.is_some_and(|gib| self.size_gib <= gib.value);
        let of_size = if is_small { free } else { of_size };
        let most = [of_size, most].into_iter().flatten().fold(f64::MAX, f64::min);
        let most = most.max(free.unwrap_or(0.0)) as u64;
        let least = rules.iops_min.or(rules.iops_base).map_or(1, |figure| figure.per_s).min(most);
        least..=most
    }

    /// Returns the throughput that can be chosen beside so many operations.
    fn throughput_range(
        &self,
        iops: Option<u64>,
        per_s: impl Fn(&Figure) -> u64,
    ) -> RangeInclusive<u64> {
        let rules = self.rules;
        let per_iops = rules.throughput_per_iops.zip(iops);
        let of_iops = per_iops.map(|(figure, iops)| per_s(figure).saturating_mul(iops));
        let free = rules.throughput_base.map(&per_s);
        let most = rules.throughput_max.map(&per_s);
        let most = [of_iops, most].into_iter().flatten().min().unwrap_or(u64::MAX);
        let most = most.max(free.unwrap_or(0));
        let least = rules.throughput_min.or(rules.throughput_base);
        least.map_or(1, per_s).min(most)..=most
    }

    fn iops(&self, asked: Option<Located<u64>>, parser: &mut Parser<'_, '_>) -> Option<Limit> {
        let (rules, sku) = (self.rules, self.rules.sku);
        let per_gib = rules.iops_per_gib.or_else(|| rules.each_way.map(|(read, _)| read));
        let of_size = per_gib.map(|figure| figure.value * self.size_gib);
        let most = rules.iops_max.map(|figure| parser.per_s(figure) as f64);
        if !rules.is_iops_chosen {
            self.refuse("iops", asked, parser);
            let least = rules.iops_min.map_or(1.0, |figure| figure.value);
            let figure = per_gib?;
            let of_size = of_size? + self.part_of_base(0);
            let per_s = of_size.max(least).min(most.unwrap_or(f64::MAX)) as u64;
            return Some(limit(per_s, self.origin(figure, 0, parser)));
        }
        let range = self.iops_range(per_gib, |figure| parser.per_s(figure));
        match asked {
            Some((per_s, at)) => {
                if !range.contains(&per_s) {
                    let what = format!("IOPS of {} at {:.0} GiB", sku.name, self.size_gib);
                    out_of_range(&what, (per_s, at), range, ChosenUnit::Iops, None, parser);
                }
                Some(limit(per_s, provisioned(sku, rules.iops_max, parser)))
            }
            None => match rules.iops_base {
                Some(base) => Some(parser.limit(&sku.name, base, None)),
                None => self.missing("iops", parser),
            },
        }
    }

    fn throughput(
        &self,
        asked: Option<Located<u64>>,
        iops: Option<&Limit>,
        parser: &mut Parser<'_, '_>,
    ) -> Option<Limit> {
        let (rules, sku) = (self.rules, self.rules.sku);
        if !rules.is_throughput_chosen {
            self.refuse("throughput", asked, parser);
            return self.throughput_of_size(iops, parser);
        }
        let now = iops.map(|iops| iops.per_s);
        let range = self.throughput_range(now, |figure| parser.per_s(figure));
        match asked {
            Some((per_s, at)) => {
                if !range.contains(&per_s) {
                    let (what, help) = self.throughput_bound(per_s, now, &range, parser);
                    let unit = self.throughput_unit();
                    out_of_range(&what, (per_s, at), range, unit, help, parser);
                }
                Some(limit(per_s, provisioned(sku, rules.throughput_max, parser)))
            }
            None => match rules.throughput_base {
                Some(base) => Some(parser.limit(&sku.name, base, None)),
                None => self.missing("throughput", parser),
            },
        }
    }

    /// Returns what bounds the throughput that can be chosen, and, where that is the operations,
    /// how many of them allow so much.
    fn throughput_bound(
        &self,
        per_s: u64,
        iops: Option<u64>,
        range: &RangeInclusive<u64>,
        parser: &Parser<'_, '_>,
    ) -> (String, Option<String>) {
        let (rules, sku) = (self.rules, self.rules.sku);
        let per_iops = rules.throughput_per_iops.map(|figure| parser.per_s(figure));
        let most = self.throughput_range(None, |figure| parser.per_s(figure));
        let Some((per_iops, iops)) = per_iops.zip(iops).filter(|_| range.end() < most.end()) else {
            return (format!("throughput of {} at {:.0} GiB", sku.name, self.size_gib), None);
        };
        let enough = per_s.div_ceil(per_iops);
        let all_iops = self.iops_range(rules.iops_per_gib, |figure| parser.per_s(figure));
        let is_possible = rules.is_iops_chosen && all_iops.contains(&enough);
        let help = is_possible && per_s <= *most.end() && per_s > *range.end();
        let help = help.then(|| format!("`iops = {enough}` allows that much"));
        (format!("throughput of {} with {iops} IOPS", sku.name), help)
    }

    /// Returns the throughput that follows from the size, or from the operations.
    fn throughput_of_size(&self, iops: Option<&Limit>, parser: &Parser<'_, '_>) -> Option<Limit> {
        let (rules, sku) = (self.rules, self.rules.sku);
        let most = rules.throughput_max.map_or(u64::MAX, |figure| parser.per_s(figure));
        let per_s = |figure: &Figure, size: f64| figure.value * size * f64::from(1 << 20);
        let scaled = |figure: Option<&'p Figure>, size: f64| Some((figure?, per_s(figure?, size)));
        let per_1000_iops = iops.map_or(0.0, |iops| iops.per_s as f64 / 1000.0);
        let by_rule = scaled(rules.throughput_per_gib, self.size_gib)
            .or_else(|| scaled(rules.throughput_per_tib, self.size_gib * GIB / TIB))
            .or_else(|| scaled(rules.throughput_per_1000_iops, per_1000_iops));
        if let Some((figure, per_s)) = by_rule {
            let per_s = per_s + self.part_of_base(1);
            return Some(limit((per_s as u64).min(most), self.origin(figure, 1, parser)));
        }
        let base = rules.throughput_base;
        let up_to = rules.throughput_base_up_to;
        let is_small = up_to.is_some_and(|gib| self.size_gib <= gib.value);
        let figure = if is_small { base } else { rules.throughput_max.or(base) };
        figure.map(|figure| parser.limit(&sku.name, figure, None))
    }

    /// Returns a disk's part of the machine's operations (0) or bytes per second (1) for its type.
    fn part_of_base(&self, which: usize) -> f64 {
        let figure = self.rules.machine_base[which].map_or(0.0, |figure| figure.per_s as f64);
        self.base.map_or(0.0, |n_disks| figure / f64::from(n_disks.max(1)))
    }

    /// Returns where a limit comes from that follows from the size, with its part of the base.
    fn origin(&self, figure: &Figure, which: usize, parser: &Parser<'_, '_>) -> String {
        let name = &self.rules.sku.name;
        let of_size = parser.origin(name, figure);
        let base = self.base.zip(self.rules.machine_base[which]);
        let Some((n_disks, base)) = base else { return of_size };
        parser.origin_of(|| {
            let part = if n_disks > 1 { format!("1/{n_disks} of ") } else { String::new() };
            let of_base = parser.origin("base of the machine", base);
            format!("{of_size}; {part}the {of_base}")
        })
    }

    /// Returns the operations that follow from the throughput.
    fn iops_of_throughput(&self, bytes: Option<&Limit>, parser: &Parser<'_, '_>) -> Option<Limit> {
        let figure = self.rules.iops_per_throughput?;
        let mib_s = bytes?.per_s as f64 / f64::from(1 << 20);
        let origin = parser.origin_of(|| format!("{}: {figure}", self.rules.sku.name));
        Some(limit((mib_s * figure.value) as u64, origin))
    }

    /// Returns the limit of writes, where they have one of their own. It follows from the size.
    fn write_iops(&self, parser: &Parser<'_, '_>) -> Option<Limit> {
        let rules = self.rules;
        let (_, figure) = rules.each_way.filter(|_| rules.iops_per_gib.is_none())?;
        let origin = parser.origin(&rules.sku.name, figure);
        Some(limit((figure.value * self.size_gib) as u64, origin))
    }

    fn burst(
        &self,
        mut cap: Cap,
        asked: Option<Located<&str>>,
        parser: &mut Parser<'_, '_>,
    ) -> Cap {
        let (rules, sku) = (self.rules, self.rules.sku);
        let kind = asked.as_ref().map_or("credit", |(kind, _)| *kind);
        let (credits, per_tib) = (rules.credits, rules.credits_per_tib);
        let has_credits = credits.is_some() || per_tib.is_some();
        let is_possible = kind == "none" || (kind == "credit" && (asked.is_none() || has_credits));
        if let Some((kind, at)) = asked.filter(|_| !is_possible) {
            let text = format!("{} has no `{kind}` bursting", sku.name);
            parser.findings.error("no-such-burst", &at, text);
        }
        if kind != "credit" {
            return cap;
        }
        if let (Some((bucket, burst)), Some(iops)) = (credits, &mut cap.iops) {
            let burst = Burst { per_s: burst.per_s, bucket: Some(bucket.per_s) };
            iops.burst = Some(burst).filter(|burst| burst.per_s > iops.per_s);
        }
        if let (Some((bucket, burst)), Some(bytes)) = (per_tib, &mut cap.bytes) {
            let size_tib = self.size_gib * GIB / TIB;
            let most = rules.throughput_max.map_or(u64::MAX, |figure| figure.per_s);
            let per_s = ((burst.per_s as f64 * size_tib) as u64).min(most);
            let bucket = Some((bucket.per_s as f64 * size_tib) as u64);
            bytes.burst = Some(Burst { per_s, bucket }).filter(|burst| burst.per_s > bytes.per_s);
        }
        cap
    }

    fn refuse(&self, what: &str, asked: Option<Located<u64>>, parser: &mut Parser<'_, '_>) {
        if let Some((_, at)) = asked {
            let text = format!("`{what}` of {} follows from its size", self.rules.sku.name);
            let help = where_open(what, self.rules.sku, parser);
            parser.findings.add(Diagnostic::error("bad-value", text).help(help), &at);
        }
    }

    /// Reports of a limit that follows from the size by a rule which is not known. One that was to
    /// be chosen and is not there is a mistake that was reported already.
    fn warn_unknown(&self, cap: &Cap, parser: &mut Parser<'_, '_>) {
        let (is_iops_chosen, is_throughput_chosen) =
            (self.rules.is_iops_chosen, self.rules.is_throughput_chosen);
        for (what, is_chosen, limit) in
            [("IOPS", is_iops_chosen, &cap.iops), ("throughput", is_throughput_chosen, &cap.bytes)]
        {
            if limit.is_some() || is_chosen {
                continue;
            }
            let is_counted_in_bytes = what == "IOPS" && merging(self.rules.sku) == Merging::Units;
            if !is_counted_in_bytes {
                let (name, edition) = (&self.rules.sku.name, parser.edition.info.name);
                let text = format!(
                    "the {what} limit of {name} is unknown in edition {edition}: it is left out"
                );
                parser.findings.warn("unknown-figure", &self.at, text);
            }
        }
    }

    fn missing(&self, what: &str, parser: &mut Parser<'_, '_>) -> Option<Limit> {
        let text = format!("{} needs `{what}`", self.rules.sku.name);
        parser.findings.error("missing-key", &self.at, text);
        None
    }

    /// Returns the unit in which the type's throughput is published.
    fn throughput_unit(&self) -> ChosenUnit {
        let figure = self.rules.throughput_max.or(self.rules.throughput_base);
        let bytes = figure.map(|figure| (figure.per_s as f64 / figure.value).round() as u64);
        match bytes {
            Some(MIB_BYTES) => ChosenUnit::MibPerS,
            // Without limits of its own it is counted as operations are derived from it.
            None if self.rules.iops_per_throughput.is_some() => ChosenUnit::MibPerS,
            Some(bytes) => ChosenUnit::MbPerS { bytes: bytes.max(1) },
            None => ChosenUnit::MbPerS { bytes: MB_BYTES },
        }
    }
}

/// In what a limit is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChosenUnit {
    Iops,
    /// Units that are published as "MB/s", each of so many bytes per second.
    MbPerS {
        bytes: u64,
    },
    /// 2^20 bytes per second.
    MibPerS,
}

const MB_BYTES: u64 = 1_000_000;
const MIB_BYTES: u64 = 1 << 20;

impl ChosenUnit {
    /// Returns what one of it is, per second.
    fn scale(self) -> u64 {
        match self {
            ChosenUnit::Iops => 1,
            ChosenUnit::MbPerS { bytes } => bytes,
            ChosenUnit::MibPerS => MIB_BYTES,
        }
    }

    /// Returns what stands behind a number of them.
    fn suffix(self) -> &'static str {
        match self {
            ChosenUnit::Iops => "",
            ChosenUnit::MbPerS { .. } => " MB/s",
            ChosenUnit::MibPerS => " MiB/s",
        }
    }
}

/// Reports a limit that cannot be chosen: of what, in which unit, and perhaps what else to write.
fn out_of_range(
    what: &str,
    (per_s, at): Located<u64>,
    range: RangeInclusive<u64>,
    unit: ChosenUnit,
    help: Option<String>,
    parser: &mut Parser<'_, '_>,
) {
    let number = |per_s: u64| (per_s as f64 / unit.scale() as f64 * 1000.0).round() / 1000.0;
    let text = format!(
        "{what} is from {} to {}{}, not {}",
        number(*range.start()),
        number(*range.end()),
        unit.suffix(),
        number(per_s),
    );
    let mut finding = Diagnostic::error("out-of-range", text);
    if let Some(help) = help {
        finding = finding.help(help);
    } else if unit == ChosenUnit::MibPerS && per_s.is_multiple_of(MB_BYTES) {
        let meant = per_s / MB_BYTES;
        finding = finding.help(format!("this cloud counts MiB: write \"{meant}MiB/s\""));
    }
    parser.findings.add(finding, &at);
}

fn limit(per_s: u64, origin: String) -> Limit {
    Limit { per_s: per_s.max(1), burst: None, origin }
}

/// Returns where a limit comes from that was chosen, of at most so much.
fn provisioned(sku: &Sku, most: Option<&Figure>, parser: &Parser<'_, '_>) -> String {
    parser.origin_of(|| match most {
        Some(most) => format!("provisioned; {}", parser.origin(&sku.name, most)),
        None => format!("provisioned; {}", sku.name),
    })
}

/// Returns how a disk counts I/Os that follow each other: without a limit of operations, only
/// throughput counts them.
pub(super) fn merging(sku: &Sku) -> Merging {
    match sku.word("merges") {
        Some("yes") if sku.iops_max().is_none() && sku.iops().is_none() => Merging::Units,
        Some("yes") => Merging::Operations,
        _ => Merging::None,
    }
}

//! Workload definitions.

use super::findings::SourceRange;
use super::head::Head;
use super::number_rule::{FREE, PERCENT, RATE, SECTORS, SEEK, THREADS};
use super::openflags::open_flags;
use super::params::Param;
use super::run::{OpenFlags, Seek, Xfersize};
use super::scan::Scan;
use super::section::Meaning::{Begin, Number, Own, Same, Words};
use super::section::Name::{Any, Full};
use super::section::{self, Definition, Section};
use super::values::java_number;

type Row = section::Row<WdEntry>;

with_defaults! {
    /// A workload definition as written.
    #[derive(Clone, Debug)]
    pub(super) struct WdEntry {
        pub(super) head: Head = Head::default(),
        pub(super) sds: Vec<String> = Vec::new(),
        pub(super) sds_place: SourceRange = SourceRange::NONE,
        pub(super) hosts: Vec<String> = vec!["*".to_owned()],
        pub(super) threads: i64 = 0,
        pub(super) streams: i64 = 0,
        pub(super) priority: Option<i64> = None,
        /// 0 is none.
        pub(super) iorate: f64 = 0.0,
        /// 0 is an equal part of what is left.
        pub(super) skew: f64 = 0.0,
        pub(super) is_hotband: bool = false,
        pub(super) range: Option<(f64, f64)> = None,
        pub(super) seek: Seek = Seek::Pct(100.0),
        pub(super) stride: Option<(i64, i64)> = None,
        pub(super) rhpct: f64 = 0.0,
        pub(super) whpct: f64 = 0.0,
        /// One size; sizes and percentages; or smallest, largest, alignment.
        pub(super) xfersizes: Vec<f64> = vec![4096.0],
        pub(super) rdpct: f64 = 100.0,
        pub(super) open: Option<OpenFlags> = None,
        pub(super) has_user: bool = false,
    }
}

pub(super) static SECTION: Section<WdEntry> = Section {
    name: "wd",
    what: "a workload definition: what the I/O on storage definitions looks like",
    ends: &["fwd", "rd"],
    lead: "wd=wd1,sd=sd1",
    rows: &[
        Row::new(Full("wd"), Begin).set_where_written().doc(
            "name or default",
            "Begins a workload definition; wd=default sets what later ones have.",
            "wd=wd1,sd=sd*,xfersize=4k",
        ),
        Row::new(Full("sd"), Own(FREE, sds)).set_where_written().doc(
            "names, a range or a wildcard",
            "The storage definitions that it works on.",
            "wd=wd1,sd=(sd1-sd4)",
        ),
        Row::new(Any("skew"), Number(PERCENT, |it, pct| it.skew = pct)).set_where_written().doc(
            "percent; an equal part of what is left",
            "Share of the run's I/Os. All of a run add up to 100.",
            "skew=40",
        ),
        Row::new(Any("xfersize"), Own(FREE, xfersize)).doc(
            "bytes; (bytes,pct,..); (least,most,step); 4k",
            "Bytes of one I/O: one size, sizes with their percentages, or any multiple of the \
             step between two.",
            "xfersize=(4k,70,64k,30)",
        ),
        Row::new(Any("readpct"), Same("rdpct")),
        Row::new(Any("rdpct"), Own(PERCENT, rdpct)).doc(
            "percent; 100",
            "Share of reads; the rest are writes.",
            "rdpct=70",
        ),
        Row::new(Any("writepct"), Same("wrpct")),
        Row::new(Any("wrpct"), Own(PERCENT, wrpct)).doc(
            "percent; 0",
            "Share of writes; the rest are reads.",
            "wrpct=30",
        ),
        Row::new(Any("range"), Own(FREE, range)).doc(
            "as sd.range",
            "The part of each storage definition that is used.",
            "range=(0,50)",
        ),
        Row::new(Any("hotband"), Own(FREE, hot_band)).doc(
            "(low,high) in percent",
            "The part that is used, most at its low end: the first tenth of it gets 46 % of the \
             I/Os. Vdbench's own curve differs.",
            "hotband=(0,20)",
        ),
        Row::new(Any("seekpct"), Own(FREE, seekpct)).doc(
            "percent; 100; seq, seqnz, eof, random, (poisson,n)",
            "How many of the I/Os go somewhere else: 100 is random, 0 or seq sequential. seqnz \
             does not start at the beginning, eof ends at the end, poisson favours low addresses.",
            "seekpct=seq",
        ),
        Row::new(Any("stride"), Own(FREE, stride)).doc(
            "(least,most) in bytes",
            "Goes forward by a random distance after each I/O.",
            "stride=(64k,128k)",
        ),
        Row::new(Any("priority"), Own(FREE, priority)).set_where_written().doc(
            "1, 2, 3 and so on",
            "1 goes first where not everything can. All workloads of a run have one, or none.",
            "priority=1",
        ),
        Row::new(Any("iorate"), Own(RATE, iorate)).set_where_written().doc(
            "I/Os per second",
            "A rate of its own, whatever the run's. Needs priority=.",
            "iorate=100,priority=1",
        ),
        Row::new(Any("rhpct"), Own(PERCENT, |it, p, s| it.rhpct = hit_pct(p, s))).doc(
            "percent; 0",
            "Share of the reads that go to the hit area, sd.hitarea.",
            "rhpct=20",
        ),
        Row::new(Any("whpct"), Own(PERCENT, |it, p, s| it.whpct = hit_pct(p, s))).doc(
            "percent; 0",
            "Share of the writes that go to the hit area, sd.hitarea.",
            "whpct=20",
        ),
        Row::new(Any("host"), Words(|it, names| names.clone_into(&mut it.hosts)))
            .set_where_written()
            .doc("names or wildcards; *", "The hosts that do it.", "wd=wd1,sd=sd*,host=host1"),
        Row::new(Full("hd"), Same("host")),
        Row::new(Any("openflags"), Own(FREE, |it, p, s| it.open = Some(open_flags(p, s)))).doc(
            "as sd.openflags",
            "How its storage definitions are opened.",
            "openflags=o_direct",
        ),
        Row::new(Full("user"), Own(FREE, user)).set_where_written().doc(
            "name",
            "Classes of the user. They do not run.",
            "user=x",
        ),
        Row::new(Any("threads"), Own(THREADS, threads)).set_where_written().doc(
            "count",
            "I/Os at a time, with concatenatesds=yes only.",
            "wd=wd1,sd=sd*,threads=64",
        ),
        Row::new(Any("streams"), Own(FREE, streams)).set_where_written().doc(
            "count, 2 or more",
            "So many sequential streams at once, each on its own part.",
            "seekpct=0,streams=4",
        ),
    ],
};

impl Definition for WdEntry {
    fn begin(default: &Self, head: Head, _: &Param, scan: &mut Scan<'_>) -> Self {
        if !head.is_default() && !scan.is_new("wd", &head.name) {
            let message = format!("duplicate WD names not allowed: {}", head.name);
            scan.findings.error(head.place, "duplicate-name", message);
        }
        WdEntry { head, ..default.clone() }
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn end(&mut self, _: &mut Self, scan: &mut Scan<'_>) {
        if self.skew != 0.0 && self.iorate != 0.0 && !self.head.is_default() {
            let name = &self.head.name;
            let message = format!("wd={name}: 'iorate=' and 'skew=' are mutually exclusive");
            scan.findings.error(self.head.place, "exclusive-parameters", message);
        }
    }
}

impl WdEntry {
    /// Returns its transfer sizes: one, a distribution, or a range with its alignment.
    pub(super) fn xfersize(&self) -> Xfersize {
        match self.xfersizes.as_slice() {
            [min, max, align] => {
                Xfersize::Range { min: *min as u32, max: *max as u32, align: *align as u32 }
            }
            sizes => Xfersize::of(sizes),
        }
    }

    /// Reports that a parameter takes the place of another one that the definition has as well, as
    /// one of `--set` is meant to.
    fn replaces(&self, rival: &str, param: &Param, scan: &mut Scan<'_>) {
        let is_set = param.key_place == SourceRange::NONE;
        if self.head.has(rival) && !is_set {
            let message = format!(
                "wd={}: `{}=` takes the place of the `{rival}=` before it",
                self.head.name, param.key
            );
            scan.findings.warning(param.key_place, "overridden", message, "write one of them");
        }
    }
}

fn sds(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    if param.word(&mut scan.findings).is_some() {
        entry.sds.clone_from(&param.values.words);
        entry.sds_place = param.place;
    }
}

fn rdpct(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.rdpct = param.int(&mut scan.findings).unwrap_or_default() as f64;
    entry.replaces("wrpct", param, scan);
}

fn wrpct(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.rdpct = 100.0 - param.int(&mut scan.findings).unwrap_or_default() as f64;
    entry.replaces("rdpct", param, scan);
}

fn range(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.range = scan.range(param);
    entry.replaces("hotband", param, scan);
}

fn hot_band(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.range = scan.range(param);
    entry.is_hotband = true;
    entry.replaces("range", param, scan);
}

fn stride(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    match param.values.numbers.as_slice() {
        [min, max] if max >= min => entry.stride = Some((*min as i64, *max as i64)),
        _ => scan.wrong(param, "a smallest and a largest number: stride=(min,max)"),
    }
}

fn priority(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    let priority = param.int(&mut scan.findings).unwrap_or(1);
    if priority == 0 {
        scan.wrong(param, "1 for the highest priority, and so on");
    }
    entry.priority = Some(priority);
}

fn iorate(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.iorate = param.number(&mut scan.findings).unwrap_or_default();
    if param.values.numbers.len() > 1 {
        scan.wrong(param, "one rate: a workload definition takes no list");
    }
}

fn hit_pct(param: &Param, scan: &mut Scan<'_>) -> f64 {
    scan.not_concatenated(param);
    param.number(&mut scan.findings).unwrap_or_default()
}

fn user(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.has_user = true;
    let message = "classes of the user (`user=`) do not run";
    scan.findings.refuse(param.key_place, "no-user-class", message);
}

fn threads(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.threads = param.int(&mut scan.findings).unwrap_or_default();
    if !scan.known.general.settings.concatenate_sds {
        let message = "workload definition (WD) level thread= parameter may only be used together \
             with 'concatenatesds=yes'";
        let help = "write `threads=` into the storage or the run definition";
        scan.findings.error_help(param.key_place, "wd-threads", message, help);
    }
}

fn streams(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.streams = param.int(&mut scan.findings).unwrap_or(2);
    if entry.streams < 2 {
        scan.wrong(param, "at least two streams");
    }
}

/// Reads a size, a distribution, or a range with its alignment.
fn xfersize(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    let sizes = &param.values.numbers;
    let help = "write one size, sizes and their percentages such as (4k,70,8k,30), or \
                smallest, largest and alignment";
    let message = match sizes.as_slice() {
        [] => {
            param.number(&mut scan.findings);
            return;
        }
        [min, max, _] if min >= max => {
            Some("xfersize=(min,max,align): min must be below max".to_owned())
        }
        [_, _, align] if *align == 0.0 || align % 512.0 != 0.0 => {
            Some("xfersize=(min,max,align): align must be a multiple of 512".to_owned())
        }
        [_] | [_, _, _] => None,
        _ if !sizes.len().is_multiple_of(2) => {
            Some("xfersize distribution list must be in pairs".to_owned())
        }
        _ => distribution_mistake(sizes),
    };
    if let Some(message) = message {
        scan.findings.error_help(param.place, "wrong-xfersize", message, help);
    } else if let [size] = sizes.as_slice() {
        scan.makes_sense(param, *size, SECTORS);
    }
    entry.xfersizes.clone_from(sizes);
}

fn seekpct(entry: &mut WdEntry, param: &Param, scan: &mut Scan<'_>) {
    for word in &param.values.raw {
        let is = |name: &str| name.starts_with(word.as_str());
        entry.seek = if is("sequential") {
            Seek::Seq
        } else if is("sequentialnz") || is("seqnz") {
            Seek::SeqNz
        } else if word.eq_ignore_ascii_case("eof") {
            Seek::Eof
        } else if is("random") {
            Seek::Pct(100.0)
        } else if is("poisson") {
            Seek::Poisson(3.0)
        } else {
            match (java_number(word), entry.seek) {
                (Some(midpoint), Seek::Poisson(_)) if midpoint.is_finite() => {
                    Seek::Poisson(midpoint)
                }
                (Some(pct), _) => {
                    scan.makes_sense(param, pct, SEEK);
                    seek_of(pct)
                }
                (None, _) => {
                    scan.wrong(param, "0 to 100, seq, seqnz, eof, random or (poisson,3)");
                    return;
                }
            }
        };
    }
}

/// Returns what a percentage of seeks means.
pub(super) fn seek_of(pct: f64) -> Seek {
    if pct < 0.0 {
        Seek::Eof
    } else if pct == 0.0 {
        Seek::Seq
    } else {
        Seek::Pct(pct)
    }
}

/// Returns what is wrong with sizes and percentages.
fn distribution_mistake(sizes: &[f64]) -> Option<String> {
    for size in sizes.iter().step_by(2) {
        if size % 512.0 != 0.0 {
            return Some(format!("data transfer size not multiple of 512 bytes: {}", *size as i32));
        }
    }
    let total = (sizes.iter().skip(1).step_by(2).sum::<f64>() + 0.5).floor() as i64;
    (total != 100).then(|| format!("xfersize distribution does not add up to 100: {total}"))
}

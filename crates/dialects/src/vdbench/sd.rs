//! Storage definitions.

use std::collections::HashSet;

use super::findings::{Findings, SourceRange};
use super::head::Head;
use super::hosts;
use super::known::Dedup;
use super::number_rule::{BYTES, FREE, SIZE, THREADS};
use super::openflags::open_flags;
use super::params::Param;
use super::parsed::Host;
use super::repeat::{self, DEFINITIONS_MAX};
use super::run::{OpenFlags, Sd, Span};
use super::scan::Scan;
use super::section::Meaning::{Begin, Nothing, Own, Same, Word, Words};
use super::section::Name::{Any, Full, Stem};
use super::section::{self, Definition, Section};

type Row = section::Row<SdEntry>;

/// Most pairs of storage definitions and hosts. Real clusters have a thousandth.
const LUNS_MAX: usize = 1_000_000;

with_defaults! {
    /// A storage definition as written.
    #[derive(Clone, Debug)]
    pub(super) struct SdEntry {
        pub(super) head: Head = Head::default(),
        /// Positions of the hosts that have it, and its path there.
        pub(super) luns: Vec<(usize, String)> = Vec::new(),
        pub(super) size_bytes: i64 = 0,
        pub(super) threads: i64 = 8,
        pub(super) range: Option<(f64, f64)> = None,
        pub(super) hitarea_bytes: i64 = 1024 * 1024,
        offset_bytes: i64 = 0,
        pub(super) align_bytes: i64 = 0,
        pub(super) open: OpenFlags = OpenFlags::default(),
        journal: Option<String> = None,
        dedup: Option<Dedup> = None,
        hosts: Vec<String> = vec!["*".to_owned()],
        count: Option<(i64, i64)> = None,
        /// Every `lun=`, until those of `host=` are known; then none.
        lun_list: Vec<String> = Vec::new(),
        /// Every `host=` until then. Vdbench keeps those of `sd=default` for the next definition.
        host_lists: Vec<Vec<String>> = Vec::new(),
    }
}

impl SdEntry {
    /// Returns the definition as one host has it.
    pub(super) fn on_host(&self, host: &Host, lun: &str) -> Sd {
        Sd {
            name: self.head.name.clone(),
            host: host.label.clone(),
            n_slaves: host.jvms,
            is_shared: false,
            lun: lun.to_owned(),
            size_bytes: (self.size_bytes > 0).then_some(self.size_bytes as u64),
            threads: self.threads.clamp(1, i64::from(u32::MAX)) as u32,
            range: self.range.map(span),
            hitarea_bytes: self.hitarea_bytes.max(0) as u64,
            offset_bytes: self.offset_bytes.max(0) as u64,
            align_bytes: self.align_bytes.max(0) as u64,
            dedup: self.dedup.as_ref().map(Dedup::sets),
            open: self.open,
            journal: self.journal.clone(),
            place: self.head.place,
        }
    }
}

/// Reads a range: up to 200 percent, else bytes.
pub(super) fn span((low, high): (f64, f64)) -> Span {
    if high > 200.0 { Span::Bytes(low.max(0.0) as u64, high as u64) } else { Span::Pct(low, high) }
}

pub(super) static SECTION: Section<SdEntry> = Section {
    name: "sd",
    what: "a storage definition: a file or device",
    ends: &["wd", "rd", "fwd"],
    lead: "sd=sd1,lun=/data/f",
    rows: &[
        Row::new(Full("sd"), Begin).set_where_written().doc(
            "name or default",
            "Begins a storage definition; sd=default sets what later ones have.",
            "sd=sd1,lun=/data/file,size=1g",
        ),
        Row::new(Any("host"), Words(|it, names| it.host_lists.push(names.to_vec())))
            .set_where_written()
            .doc(
                "names or wildcards; *",
                "The hosts that have it; pairs of lun= and host= give it another path on each.",
                "sd=sd1,host=(host1,host2),lun=/data/f",
            ),
        Row::new(Full("hd"), Same("host")),
        Row::new(Any("lun"), Own(FREE, lun)).set_where_written().doc(
            "path; required",
            "The file or device. A file that is missing or shorter than size= is written first; a \
             device needs openflags=o_direct.",
            "sd=sd1,lun=/dev/sdb,openflags=o_direct",
        ),
        Row::new(Any("count"), Own(FREE, |it, p, s| it.count = repeat::count(p, s)))
            .set_where_written()
            .doc(
                "(first,how many)",
                "Makes so many definitions: the number goes to the end of name and lun, or to %d \
                 in them.",
                "sd=sd,lun=/data/f%02d,count=(1,8)",
            ),
        Row::new(Any("size"), Own(SIZE, |it, p, s| it.size_bytes = s.divided(p))).doc(
            "bytes, or (bytes,divisor); what is there",
            "How much of it is used. A file that is not there is made of this size.",
            "size=100g",
        ),
        Row::new(Any("threads"), Own(THREADS, threads)).doc(
            "count, or (count,divisor); 8",
            "I/Os at a time, for all workloads on it together; spread over its hosts.",
            "threads=32",
        ),
        Row::new(Any("hitarea"), Own(BYTES, hit_area)).doc(
            "bytes; 1m",
            "The bytes from the start that cache hits go to: wd.rhpct and wd.whpct.",
            "hitarea=10m",
        ),
        Row::new(Any("offset"), Own(BYTES, |it, p, s| it.offset_bytes = sectors(p, s))).doc(
            "bytes, a multiple of 512; 0",
            "Added to every place.",
            "offset=1m",
        ),
        Row::new(Any("align"), Own(BYTES, |it, p, s| it.align_bytes = sectors(p, s))).doc(
            "bytes, a multiple of 512; the transfer size",
            "Random places are multiples of this.",
            "align=4k",
        ),
        Row::new(Any("kstat"), Nothing).doc(
            "name",
            "Statistics of Solaris; without effect here.",
            "kstat=sd0",
        ),
        Row::new(Any("instance"), Nothing).doc(
            "name",
            "Statistics of Solaris; without effect here.",
            "instance=sd0",
        ),
        Row::new(Any("replay"), Own(FREE, |_, p, s| s.refuse_replay(p.key_place)))
            .set_where_written()
            .doc(
                "(group,..)",
                "Devices of a trace that go to it. Traces are not replayed.",
                "replay=g1",
            ),
        Row::new(Any("journal"), Word(|it, folder| it.journal = Some(folder.to_owned()))).doc(
            "folder",
            "Where the journal of data validation lies. The first one that is written is that of \
             all.",
            "journal=/tmp",
        ),
        Row::new(Any("resetlun"), Own(FREE, no_reset)).doc(
            "seconds",
            "Resets of the device, which are not done.",
            "resetlun=60",
        ),
        Row::new(Any("resetbus"), Own(FREE, no_reset)).doc(
            "seconds",
            "Resets of the bus, which are not done.",
            "resetbus=60",
        ),
        Row::new(Any("openflags"), Own(FREE, |it, p, s| it.open = open_flags(p, s))).doc(
            "o_direct (directio), o_dsync, o_rsync, o_sync, fsync, 0xBITS; none",
            "How it is opened. o_dsync, o_rsync and o_sync all mean O_DSYNC, as for Vdbench on \
             Linux; 0x101000 is a true O_SYNC. fsync is one at the end.",
            "openflags=(o_direct,o_dsync)",
        ),
        Row::new(Any("range"), Own(FREE, range)).doc(
            "(low,high) in percent, above 200 bytes; all",
            "The part that is used. Above 100 percent it goes on at the start.",
            "range=(10,20)",
        ),
        Row::new(Full("dedupratio"), Own(FREE, |it, p, s| it.dedup(s).put(Dedup::ratio, p, s)))
            .set_where_written()
            .doc("ratio", DEDUP, "dedupratio=3"),
        Row::new(Full("dedupsets"), Own(FREE, |it, p, s| it.dedup(s).put(Dedup::n_sets, p, s)))
            .set_where_written()
            .doc("count or percent", DEDUP, "dedupsets=10%"),
        Row::new(
            Full("deduphotsets"),
            Own(FREE, |it, p, s| it.dedup(s).put(Dedup::hot_sets, p, s)),
        )
        .set_where_written()
        .doc("(sets,blocks,..)", DEDUP, "deduphotsets=(2,100)"),
        Row::new(
            Full("dedupflipflop"),
            Own(FREE, |it, p, s| it.dedup(s).put(Dedup::flip_flop, p, s)),
        )
        .set_where_written()
        .doc("yes, no or hot", DEDUP, "dedupflipflop=hot"),
        Row::new(Full("dedupacross"), Own(FREE, |it, p, s| it.dedup(s).put(Dedup::nothing, p, s)))
            .set_where_written()
            .doc("yes or no", "Undocumented; without effect here.", "dedupacross=yes"),
        Row::new(Full("dedupmaxkey"), Own(FREE, |it, p, s| it.dedup(s).put(Dedup::nothing, p, s)))
            .set_where_written()
            .doc("number", "Undocumented; without effect here.", "dedupmaxkey=1"),
        Row::new(Stem("dedup"), Own(FREE, |it, p, s| it.dedup(s).put(Dedup::unknown, p, s)))
            .set_where_written(),
        Row::new(Any("streams"), Own(FREE, moved)).set_where_written().doc(
            "count",
            "Moved to wd.streams, and a mistake here.",
            "wd=wd1,sd=sd1,streams=4",
        ),
    ],
};

/// What dedup parameters mean in a storage definition.
const DEDUP: &str = "As the general parameter, for this one alone.";

/// Reads the storage definitions.
pub(super) fn read(scan: &mut Scan<'_>) -> Vec<SdEntry> {
    let mut sds = SECTION.read(scan).all;
    repeat_all(&mut sds, scan.known.n_luns, &mut scan.findings);
    for dedup in sds.iter().filter_map(|entry| entry.dedup.as_ref()) {
        dedup.check(scan.known.general.dedup.unit_bytes, &mut scan.findings);
    }
    sds
}

fn too_many(place: SourceRange, findings: &mut Findings) {
    findings.too_many(place, "storage definitions at hosts", LUNS_MAX);
}

impl Definition for SdEntry {
    fn begin(default: &Self, head: Head, _: &Param, scan: &mut Scan<'_>) -> Self {
        if head.name.eq_ignore_ascii_case("concat") {
            let message = "creating an SD named 'concat' is not allowed";
            scan.findings.error(head.place, "wrong-name", message);
        }
        scan.check_length("an SD", &head);
        SdEntry { head, lun_list: Vec::new(), ..default.clone() }
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn is_set(&mut self, row: &Row, _: bool) -> bool {
        !self.head.is_default() && row.is_set(&self.head)
    }

    fn miss(&mut self, key: &str) {
        // What is missing because of it is no mistake of its own.
        if key == "lun" {
            self.lun_list.push(String::new());
        }
    }

    fn end(&mut self, default: &mut Self, scan: &mut Scan<'_>) {
        if !self.head.is_default() {
            self.pair(scan);
            default.host_lists.clear();
        } else if let Some(first) = self.host_lists.first() {
            self.hosts.clone_from(first);
        }
    }
}

impl SdEntry {
    /// Returns its own dedup parameters, which begin as the general ones.
    fn dedup(&mut self, scan: &Scan<'_>) -> &mut Dedup {
        self.dedup.get_or_insert_with(|| scan.known.general.dedup.clone())
    }

    /// Brings `lun=` and `host=` together.
    fn pair(&mut self, scan: &mut Scan<'_>) {
        let luns = std::mem::take(&mut self.lun_list);
        let mut hosts = std::mem::take(&mut self.host_lists);
        let findings = &mut scan.findings;
        if luns.is_empty() {
            let message = format!("no lun name specified for sd={}", self.head.name);
            let help = "write `lun=` with a file or device, and no blank behind a comma";
            findings.error_help(self.head.place, "missing-lun", message, help);
            return;
        }
        if luns.len() == 1 && hosts.is_empty() {
            hosts.push(self.hosts.clone());
        }
        if luns.len() != hosts.len() {
            let message =
                format!("'host=' and 'lun=' must be defined in pairs for sd={}", self.head.name);
            let help = format!("there are {} lun= and {} host=", luns.len(), hosts.len());
            findings.error_help(self.head.place, "unpaired-lun", message, help);
            return;
        }
        for (lun, names) in luns.iter().zip(hosts) {
            let found = hosts::select(&names, self.head.place, &scan.known, findings);
            scan.known.n_luns += found.len();
            if scan.known.n_luns > LUNS_MAX {
                return too_many(self.head.place, findings);
            }
            self.luns.extend(found.into_iter().map(|host| (host, lun.clone())));
        }
    }

    /// Returns a copy of a definition with `count=`.
    fn counted(&self, number: i64, findings: &mut Findings) -> SdEntry {
        let mut copy = SdEntry { count: None, ..self.clone() };
        let name = counted_name(&self.head.name, number);
        let luns: Option<Vec<(usize, String)>> = (self.luns.iter())
            .map(|(host, lun)| Some((*host, counted_name(lun, number)?)))
            .collect();
        match (name, luns) {
            (Some(name), Some(luns)) => (copy.head.name, copy.luns) = (name, luns),
            _ => findings.error_help(
                self.head.place,
                "wrong-mask",
                format!("the mask of sd={} takes no number", self.head.name),
                "write one such as `%d` or `%04d`",
            ),
        }
        copy
    }
}

fn lun(entry: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    if entry.head.is_default() {
        let message = "you may not specify the 'lun=' parameter for sd=default";
        let help = "write it into each storage definition";
        scan.findings.error_help(param.key_place, "not-in-default", message, help);
        return;
    }
    let lun = param.word(&mut scan.findings).unwrap_or_default();
    entry.lun_list.push(scan.remap(lun));
}

fn threads(entry: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    let divisor = param.values.numbers.get(1).map_or(1, |divisor| (*divisor as i64).max(1));
    entry.threads = param.int(&mut scan.findings).unwrap_or(1) / divisor;
}

fn hit_area(entry: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.hitarea_bytes = param.long(&mut scan.findings).unwrap_or_default();
    scan.not_concatenated(param);
}

fn range(entry: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.range = scan.range(param);
    scan.not_concatenated(param);
}

/// Reads an offset or alignment.
fn sectors(param: &Param, scan: &mut Scan<'_>) -> i64 {
    scan.not_concatenated(param);
    let bytes = param.long(&mut scan.findings).unwrap_or_default();
    if bytes % 512 != 0 {
        let message = format!("SD {}= parameter must be multiple of 512 bytes", param.key);
        scan.findings.error(param.place, "wrong-value", message);
    }
    if scan.known.general.settings.validate {
        let message = format!("data validation and {}= are mutually exclusive", param.key);
        scan.findings.error(param.key_place, "exclusive-parameters", message);
    }
    bytes
}

fn no_reset(_: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = format!("resets of devices (`{}=`) are not done", param.key);
    scan.findings.refuse(param.key_place, "no-reset", message);
}

fn moved(_: &mut SdEntry, param: &Param, scan: &mut Scan<'_>) {
    let message = "'streams=' is no storage definition parameter any more";
    let help = "write it into the workload definition: `wd=wd1,streams=4`";
    scan.findings.error_help(param.key_place, "moved-parameter", message, help);
}

/// Carries `count=` out, all copies of a definition or none, and looks for equal names.
fn repeat_all(sds: &mut Vec<SdEntry>, mut n_luns: usize, findings: &mut Findings) {
    repeat::carry_out(
        sds,
        |entry| entry.count,
        |entry, numbers, n_others| {
            let n_copies = (numbers.end - numbers.start) as usize;
            n_luns = n_luns.saturating_add(entry.luns.len().saturating_mul(n_copies));
            if n_luns > LUNS_MAX || n_others + n_copies > DEFINITIONS_MAX {
                too_many(entry.head.place, findings);
                return Vec::new();
            }
            numbers.map(|number| entry.counted(number, findings)).collect()
        },
    );
    let mut names = HashSet::new();
    for entry in sds.iter() {
        let mut hosts = HashSet::new();
        let is_double = !names.insert(&entry.head.name)
            || !entry.luns.iter().all(|(host, _)| hosts.insert(*host));
        if is_double {
            let message = format!("duplicate SD names not allowed: {}", entry.head.name);
            let help = "give each storage definition a name of its own, and each of its hosts once";
            findings.error_help(entry.head.place, "duplicate-name", message, help);
        }
    }
}

/// Puts a number into a name: at a `printf` mask, at `*`, or at the end.
fn counted_name(name: &str, number: i64) -> Option<String> {
    if !name.contains('%') {
        return Some(if name.contains('*') {
            name.replace('*', &number.to_string())
        } else {
            format!("{name}{number}")
        });
    }
    let mut made = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        made.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (width, kind) = rest.split_at(digits);
        let wide = width.parse::<usize>().unwrap_or(0).min(100);
        match (kind.chars().next()?, width.starts_with('0')) {
            ('%', _) => made.push('%'),
            ('d', true) => made.push_str(&format!("{number:0wide$}")),
            ('d', false) => made.push_str(&format!("{number:wide$}")),
            ('x', true) => made.push_str(&format!("{number:0wide$x}")),
            ('x', false) => made.push_str(&format!("{number:wide$x}")),
            _ => return None,
        }
        rest = &kind[1..];
    }
    made.push_str(rest);
    Some(made)
}

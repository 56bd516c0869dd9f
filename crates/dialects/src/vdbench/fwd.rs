//! File system workload definitions.

use super::file_words::{FILE_IO, N_SELECT_SHORT, SELECT, SelectWord};
use super::findings::Findings;
use super::head::Head;
use super::known::fits;
use super::number_rule::{FREE, PERCENT, THREADS, XFERSIZE};
use super::openflags::open_flags;
use super::params::Param;
use super::run::{FileIo, FileOperation, OpenFlags, Select, SelectFilter, SelectOrder};
use super::scan::Scan;
use super::section::Meaning::{Begin, Int, Number, Own, Same, Word, Words};
use super::section::Name::{Any, Full};
use super::section::{self, Definition, Section};
use super::values::java_number;

type Row = section::Row<FwdEntry>;

with_defaults! {
    /// A file system workload definition as written.
    #[derive(Clone, Debug)]
    pub(super) struct FwdEntry {
        pub(super) head: Head = Head::default(),
        pub(super) fsds: Vec<String> = Vec::new(),
        pub(super) hosts: Vec<String> = vec!["*".to_owned()],
        pub(super) target: Option<String> = None,
        pub(super) xfersizes: Vec<f64> = vec![4096.0],
        pub(super) select: Select =
            Select { order: SelectOrder::Seq, once: false, filter: SelectFilter::Any },
        pub(super) is_sequential: bool = true,
        pub(super) is_nonzero: bool = false,
        pub(super) is_delete: bool = false,
        pub(super) is_shared: bool = false,
        /// Below 0 it is a percentage.
        pub(super) stopafter: Option<f64> = None,
        /// 0 is an equal part of what is left.
        pub(super) skew: f64 = 0.0,
        pub(super) threads: i64 = 1,
        pub(super) rdpct: Option<f64> = None,
        pub(super) open: Option<OpenFlags> = None,
        pub(super) operation: FileOperation = FileOperation::Read,
    }
}

with_defaults! {
    /// What formats are done with: `fwd=format`.
    #[derive(Clone, Debug)]
    pub(super) struct FormatFwd {
        pub(super) threads: i64 = 8,
        pub(super) xfersize: f64 = 131_072.0,
        pub(super) open: Option<OpenFlags> = None,
    }
}

/// Operations and their names, in the order in which Vdbench numbers them.
pub(super) const OPERATIONS: [(&str, FileOperation); 13] = units::all_of!(
    FileOperation:
    "read" => Read,
    "write" => Write,
    "mkdir" => Mkdir,
    "rmdir" => Rmdir,
    "copy" => Copy,
    "move" => Move,
    "create" => Create,
    "delete" => Delete,
    "getattr" => Getattr,
    "setattr" => Setattr,
    "access" => Access,
    "open" => Open,
    "close" => Close,
);

/// Returns the name of an operation, in parameter files and in results.
pub fn operation_name(operation: FileOperation) -> &'static str {
    let known = OPERATIONS.iter().find(|(_, known)| *known == operation);
    known.expect("the list has them all").0
}

/// Returns the operation of a name.
pub(super) fn operation(name: &str) -> Option<FileOperation> {
    let name = name.to_lowercase();
    OPERATIONS.iter().find(|(known, _)| *known == name).map(|(_, operation)| *operation)
}

pub(super) static SECTION: Section<FwdEntry> = Section {
    name: "fwd",
    what: "a file system workload definition: operations on a structure",
    ends: &["rd", "wd"],
    lead: "fwd=fwd1,fsd=fsd1",
    rows: &[
        Row::new(Full("fwd"), Begin).set_where_written().doc(
            "name, default or format",
            "Begins a file system workload definition. fwd=format sets threads=, xfersize= and \
             openflags= of formats.",
            "fwd=fwd1,fsd=fsd1,operation=read",
        ),
        Row::new(Full("fsd"), Words(|it, names| names.clone_into(&mut it.fsds)))
            .set_where_written()
            .doc(
                "names or a wildcard; required",
                "The structures that it works on.",
                "fwd=fwd1,fsd=fsd*",
            ),
        Row::new(Any("readpct"), Same("rdpct")),
        Row::new(Any("rdpct"), Own(PERCENT, |it, p, s| it.rdpct = p.number(&mut s.findings)))
            .set_where_written()
            .doc(
                "percent",
                "A mix of reads and writes of each file, in place of operation=. Needs \
                 fileio=random.",
                "fileio=random,rdpct=70",
            ),
        Row::new(Any("stopafter"), Number(FREE, |it, after| it.stopafter = Some(after))).doc(
            "count, or percent such as 5%; 100%",
            "Leaves a file after this many I/Os, or this share of its size; without it, after as \
                many bytes as the file has.",
            "fileio=random,stopafter=10",
        ),
        Row::new(Any("operation"), Own(FREE, set_operation)).doc(
            "read, write, mkdir, rmdir, create, delete, open, close, access, getattr, setattr, \
             copy, move; read",
            "What is done, one operation. rd.operations takes several.",
            "operation=getattr",
        ),
        Row::new(Any("fileselect"), Own(FREE, fileselect)).doc(
            "random, seq, seqnz, (poisson,n), empty, full, notfull, once; seq",
            "Which file a thread takes next.",
            "fileselect=random",
        ),
        Row::new(Full("fileio"), Own(FREE, fileio)).doc(
            "random, (random,shared), sequential, sequentialnz, (seq,delete); sequential",
            "How a file is read or written. shared lets several threads use one file; delete \
             removes it behind.",
            "fileio=random",
        ),
        Row::new(Any("xfersizes"), Own(XFERSIZE, xfersizes)).doc(
            "bytes, or (bytes,pct,..); 4k",
            "Bytes of one read or write.",
            "xfersizes=(4k,70,64k,30)",
        ),
        Row::new(Any("skew"), Own(PERCENT, skew)).set_where_written().doc(
            "percent; an equal part of what is left",
            "Share of the run's operations.",
            "skew=40",
        ),
        Row::new(Any("threads"), Int(THREADS, |it, n_threads| it.threads = n_threads)).doc(
            "count; 1",
            "Threads over all its structures and operations together.",
            "threads=8",
        ),
        Row::new(Any("target"), Word(|it, name| it.target = Some(name.to_owned())))
            .set_where_written()
            .doc(
                "name of an fsd",
                "Where operation=copy and operation=move go: a structure of the same form.",
                "target=fsd2,operation=copy",
            ),
        Row::new(Any("host"), Own(FREE, host)).set_where_written().doc(
            "names; all",
            "The hosts that do it. Several need fsd.shared=yes.",
            "host=(host1,host2)",
        ),
        Row::new(Full("hd"), Same("host")),
        Row::new(Any("openflags"), Own(FREE, |it, p, s| it.open = Some(open_flags(p, s)))).doc(
            "as sd.openflags; none",
            "How files are opened, beside what the structure says.",
            "openflags=o_dsync",
        ),
        // For `--set`, which wants keywords in full.
        Row::new(Full("xfersize"), Same("xfersizes")),
    ],
};

/// File system workload definitions, and what formats are done with.
#[derive(Clone, Debug, Default)]
pub(super) struct Fwds {
    pub(super) default: FwdEntry,
    pub(super) all: Vec<FwdEntry>,
    pub(super) format: FormatFwd,
}

/// Reads the file system workload definitions.
pub(super) fn read(scan: &mut Scan<'_>) -> Fwds {
    let read = SECTION.read(scan);
    let mut fwds = Fwds { default: read.default, ..Fwds::default() };
    for entry in read.all {
        match entry.head.name.as_str() {
            "format" => {
                fwds.format = FormatFwd {
                    threads: entry.threads,
                    xfersize: entry.xfersizes.first().copied().unwrap_or(fwds.format.xfersize),
                    open: entry.open,
                };
            }
            // The workload of a recovery from journals.
            "journal_recovery" => {}
            _ => fwds.all.push(entry),
        }
    }
    for entry in &fwds.all {
        check(entry, scan.is_kind(), &mut scan.findings);
    }
    fwds
}

impl Definition for FwdEntry {
    fn begin(default: &Self, head: Head, _: &Param, scan: &mut Scan<'_>) -> Self {
        scan.known.is_files = true;
        let name = head.name.as_str();
        let is_special = matches!(name, "default" | "format" | "journal_recovery");
        if !is_special && !scan.is_new("fwd", &name.to_ascii_lowercase()) {
            let message = format!("duplicate FWD name: {name}");
            scan.findings.error(head.place, "duplicate-name", message);
        }
        if operation(name).is_some() {
            let message = format!("fwd name may not match a valid operation: fwd={name}");
            let help = "give it another name";
            scan.findings.error_help(head.place, "wrong-name", message, help);
        }
        let mut entry = FwdEntry { head, ..default.clone() };
        if entry.head.name == "format" {
            entry.xfersizes = vec![FormatFwd::default().xfersize];
        }
        entry
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }
}

fn xfersizes(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    if param.number(&mut scan.findings).is_none() {
        return;
    }
    let sizes = &param.values.numbers;
    let total: f64 = sizes.iter().skip(1).step_by(2).sum();
    if sizes.len() > 1 && total as i64 != 100 {
        let message = format!("xfersize distribution does not add up to 100: {total}");
        let help = "write sizes and their percentages, such as (4k,70,8k,30)";
        scan.findings.error_help(param.place, "wrong-xfersize", message, help);
    }
    entry.xfersizes.clone_from(sizes);
}

fn skew(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    entry.skew = param.number(&mut scan.findings).unwrap_or_default();
    if scan.known.hosts.iter().any(|host| host.host.jvms > 1) {
        let message = "no multi-JVM supported for FWD skew";
        let help = "write several hosts, or `clients=`, instead of `jvms=`";
        scan.findings.error_help(param.key_place, "skew-with-jvms", message, help);
    }
}

fn set_operation(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    let Some(word) = param.word(&mut scan.findings) else { return };
    match operation(word) {
        Some(operation) if param.values.words.len() == 1 => entry.operation = operation,
        Some(_) => scan.findings.error_help(
            param.place,
            "too-many-values",
            format!("fwd={}: operation= accepts only one value", entry.head.name),
            "list operations in the run definition: `operations=(read,write)`",
        ),
        None => {
            let message = format!("unknown operation: {word}");
            let names: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
            let help = format!("write one of {}", names.join(", "));
            scan.findings.error_help(param.place, "unknown-operation", message, help);
        }
    }
}

/// Vdbench has no wildcards here.
fn host(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    for name in &param.values.words {
        if scan.known.hosts.iter().any(|host| host.host.label == *name) {
            continue;
        }
        let is_fitting = scan.known.hosts.iter().any(|host| fits(name, &host.host.label));
        if scan.is_kind() && is_fitting {
            let message = format!("Vdbench takes no wildcard here, and would end with host={name}");
            let help = "list the hosts";
            scan.findings.warning(param.place, "host-wildcard", message, help);
            continue;
        }
        let message = format!("unable to locate host {name} (no wildcards allowed)");
        let help = "define it with `hd=`, before the file system definitions";
        scan.findings.error_help(param.place, "unknown-name", message, help);
    }
    entry.hosts.clone_from(&param.values.words);
}

fn fileio(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    let Some(first) = param.word(&mut scan.findings) else { return };
    let second = param.values.words.get(1).map(String::as_str);
    let mut rows = FILE_IO.iter().filter(|(word, _, _)| word.starts_with(first)).peekable();
    let wanted = match rows.peek() {
        Some((_, _, FileIo::Random { .. })) => "random or (random,shared)",
        Some((_, _, FileIo::Sequential { .. })) => "sequential or (sequential,delete)",
        None => "random, (random,shared), sequential or sequentialnz",
    };
    let found = rows.find(|(_, word, _)| match second {
        Some(second) => !word.is_empty() && word.starts_with(second),
        None => word.is_empty(),
    });
    let Some((_, _, io)) = found else { return scan.wrong(param, wanted) };
    // What a second word said by default stays.
    match *io {
        FileIo::Random { shared } => {
            entry.is_sequential = false;
            entry.is_shared |= shared;
            if shared && scan.known.general.settings.validate {
                let message = "'fileio=(random,shared)' may not be used with validation";
                scan.findings.error(param.place, "exclusive-parameters", message);
            }
        }
        FileIo::Sequential { nonzero, delete } => {
            entry.is_sequential = true;
            entry.is_nonzero = nonzero;
            entry.is_delete |= delete;
        }
    }
}

fn fileselect(entry: &mut FwdEntry, param: &Param, scan: &mut Scan<'_>) {
    let select = &mut entry.select;
    for word in &param.values.raw {
        let is = |(idx, (known, _)): &(usize, &(&str, _))| {
            *known == word || *idx < N_SELECT_SHORT && known.starts_with(word.as_str())
        };
        if let Some((_, (_, meaning))) = SELECT.iter().enumerate().find(is) {
            match *meaning {
                SelectWord::Order(order) => select.order = order,
                SelectWord::Once => select.once = true,
                SelectWord::Filter(filter) => select.filter = filter,
            }
            continue;
        }
        let midpoint = word.strip_prefix("midpoint=").unwrap_or(word);
        match (midpoint.parse::<i64>(), java_number(word)) {
            (Ok(number), _) if midpoint.len() < word.len() && number > 0 => {
                select.order = SelectOrder::Skewed(number as f64);
            }
            (_, Some(number)) if number.is_finite() => {
                select.order = match select.order {
                    SelectOrder::Skewed(_) => SelectOrder::Skewed(number),
                    SelectOrder::Random
                    | SelectOrder::Seq
                    | SelectOrder::SeqNz
                    | SelectOrder::Hot(_)
                    | SelectOrder::Poisson(_) => SelectOrder::Poisson(number),
                };
            }
            _ => {
                let wanted = "random, seq, seqnz, (poisson,3), (skewed,midpoint=3), empty, \
                              full, notfull, and once beside them";
                scan.wrong(param, wanted);
                return;
            }
        }
    }
}

fn check(entry: &FwdEntry, is_kind: bool, findings: &mut Findings) {
    let is_copy = matches!(entry.operation, FileOperation::Copy | FileOperation::Move);
    let mistakes = [
        (
            entry.is_sequential && entry.is_delete && entry.rdpct.is_some(),
            "'rdpct=' and 'fileio=(sequential,delete)' are mutually exclusive",
            "leave one of them out",
        ),
        (
            entry.fsds.is_empty(),
            "fwd parameter requires at least one 'fsd='",
            "write `fsd=` with a name or a wildcard",
        ),
        (
            entry.target.is_some() && !is_copy,
            "'target=' may only be specified together with operation=move or copy",
            "leave it out, or write `operation=copy`",
        ),
    ];
    for (_, message, help) in mistakes.into_iter().filter(|(is_wrong, _, _)| *is_wrong) {
        let message = format!("fwd={}: {message}", entry.head.name);
        findings.error_help(entry.head.place, "exclusive-parameters", message, help);
    }
    if is_kind && is_copy && entry.target.is_none() {
        let message = format!("fwd={}: copy and move need a target", entry.head.name);
        let help = "write `target=` with a file system definition of the same structure";
        findings.error_help(entry.head.place, "missing-target", message, help);
    }
}

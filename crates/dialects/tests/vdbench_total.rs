//! Parsing is total: any bytes give runs or findings, in time that grows with their number.

mod support;

use dialects::vdbench::run::Work;
use dialects::vdbench::{
    Mode, Options, Parsed, announced_with_rate, parse_args, parse_files, simulation, sniff,
};
use proptest::prelude::*;
use support::MapHost;
use support::vdbench::{compat, kind};

/// Words of the language, to get beyond the first mistake.
const WORDS: &[&str] = &[
    "\nhd=",
    "\nsd=",
    "\nwd=",
    "\nrd=",
    "\nfsd=",
    "\nfwd=",
    "\nrg=",
    "default",
    "sd1",
    "sd*",
    "*",
    ",lun=/a",
    ",lun=",
    ",count=(1,3)",
    ",size=1g",
    ",sd=sd1",
    ",wd=wd1",
    ",fsd=f1",
    ",fwd=w1",
    ",anchor=/a",
    ",iorate=",
    "max",
    "curve",
    ",fwdrate=",
    ",format=",
    "yes",
    "(clean,only)",
    ",elapsed=4",
    ",interval=1",
    ",xf=",
    "4k",
    "(4k,50,8k,50)",
    "(1-64,d)",
    "(1-10,1)",
    "(1-10)",
    ",th=",
    ",forrdpct=",
    "(0-100,10)",
    ",seekpct=",
    "eof",
    "random",
    "(poisson,3)",
    ",skew=50",
    ",host=",
    "$host",
    "#host",
    "#hosts",
    "\"",
    "\" a,b=c-d\"",
    " ",
    "\t",
    ",",
    "(",
    ")",
    "=",
    "-",
    "\n",
    "\n*",
    "\neof",
    "\ninclude=self",
    "$x",
    "!x",
    "%d",
    "%05x",
    "5220h",
    "1e3",
    "4600d",
    "99999999999999999999",
    "-1",
    "50%",
    "0",
    "ü",
    ",depth=3",
    ",width=",
    ",files=",
    ",sizes=",
    ",totalsize=",
    ",wss=",
    ",shared=yes",
    ",operations=",
    "(read,write)",
    ",foroperations=",
    ",clients=3",
    ",system=h",
    ",streams=2",
    ",priority=1",
    ",range=(1,50)",
    ",hotband=(1,5)",
    ",openflags=",
    "o_direct",
    "setsof2",
    "single",
    ",curve=(1-100,1)",
    ",histogram=",
    "\nconcatenatesds=yes",
    "\nvalidate=yes",
    "\ndedupratio=2,dedupunit=4k",
    ",journal=recover",
    ",fileio=",
    "(random,shared)",
    ",fileselect=",
    "(skewed,midpoint=4)",
    ",mask=",
    ",maxdata=1",
    ",distribution=",
    "uniform",
    "variable",
    ",startcmd=(\"ls\",cons)",
    "\nloop=3m",
];

fn options(mode: Mode) -> Options {
    Options {
        mode,
        substitutions: vec![("x".into(), "4k".into())],
        rd_additions: "el=6".into(),
        set: vec![("threads".into(), "2".into()), ("size".into(), "1m".into())],
        remap: vec![("/a".into(), "/b".into())],
        ..Options::default()
    }
}

/// A run for each storage definition where there is none was no run, and no mistake.
#[test]
fn runs_on_each_of_no_storage_definitions_are_refused() {
    for word in ["single", "range", "setsof2"] {
        let files = "fsd=f,anchor=/a,depth=1,width=1,files=1\nfwd=w,fsd=f\n";
        let text = format!("{files}rd=r,fwd=w,fwdrate=9,elapsed=4,sd={word}\n");
        let parsed = compat(&text);
        assert!(parsed.has_errors() && parsed.runs.is_empty(), "{word}");
        let messages: Vec<&str> = parsed.diagnostics.iter().map(|it| &*it.message).collect();
        assert!(messages[0].contains("there is no storage definition"), "{messages:?}");
    }
}

/// Checks what holds for every text.
fn check(bytes: &[u8]) {
    let mut host = MapHost::default();
    host.files.insert("self".to_owned(), bytes.to_vec());
    for mode in [Mode::Kind, Mode::Compat] {
        check_parsed(&parse_files(&["self"], &options(mode), &host));
        check_parsed(&parse_files(&["self"], &Options { mode, ..Options::default() }, &host));
    }
    sniff(&String::from_utf8_lossy(bytes));
}

fn check_parsed(parsed: &Parsed) {
    for finding in parsed.diagnostics.iter().chain(&parsed.refusals) {
        assert!(!finding.message.is_empty());
        let Some(span) = &finding.span else { continue };
        let source = &parsed.sources[span.source_idx.unwrap() as usize];
        assert!(source.text.get(span.bytes.clone()).is_some(), "{finding:?}");
        assert!(span.line >= 1 && span.column >= 1);
    }
    assert!(parsed.runs.is_empty() || !parsed.has_errors());
    assert!(!parsed.runs.is_empty() || parsed.has_errors(), "nothing, and nothing wrong");
    assert!(simulation(parsed).contains("Total amount"));
    for run in &parsed.runs {
        assert!(announced_with_rate(run, 9).starts_with("RD="));
        match &run.work {
            Work::Raw(work) => {
                for wd in &work.wds {
                    assert!(!wd.sds.is_empty() && wd.sds.iter().all(|idx| *idx < work.sds.len()));
                }
                assert!(work.sds.iter().all(|sd| sd.threads >= 1));
            }
            Work::Files(work) => {
                assert!(work.fwds.iter().all(|fwd| fwd.fsd < work.fsds.len() && fwd.threads >= 1));
            }
            Work::Format(work) => assert!(!work.fsds.is_empty() && work.threads >= 1),
            Work::SdFormat(_) => panic!("only made when files are looked at"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        check(words.concat().as_bytes());
    }

    /// Pieces put into a file that is fine reach the parts behind the parser.
    #[test]
    fn any_change(
        is_files in any::<bool>(),
        changes in prop::collection::vec((0_usize..400, prop::sample::select(WORDS)), 0..6),
    ) {
        let mut text = if is_files {
            "hd=h1\nfsd=f1,anchor=/a,depth=2,width=2,files=3,shared=yes\n\
             fwd=w1,fsd=f1,fileio=random\nfwd=w2,fsd=f*,operation=write\n\
             rd=r1,fwd=w*,fwdrate=(1,2),format=restart,elapsed=4,interval=1,th=(1,2)\n"
        } else {
            "hd=h1\nsd=sd,lun=/a,size=1g,count=(1,3)\nwd=wd1,sd=sd*,xf=(4k,50,8k,50)\n\
             wd=wd2,sd=sd1,skew=30\nrd=r1,wd=wd*,iorate=curve,elapsed=4,interval=1,th=(1,2)\n\
             rd=r2,sd=single,iorate=(1,2),elapsed=4\n"
        }.to_owned();
        for (at, word) in changes {
            let at = at.min(text.len());
            if text.is_char_boundary(at) {
                text.insert_str(at, word);
            }
        }
        check(text.as_bytes());
    }

    #[test]
    fn any_arguments(
        args in prop::collection::vec("[-+a-z0-9= ]{0,5}|-f|self|-jro|--set|a=b", 0..8),
    ) {
        let mut host = MapHost::default();
        host.files.insert("self".to_owned(), b"sd=s,lun=/a\nrd=r,sd=s,io=9".to_vec());
        let line = parse_args(&args, &host);
        if line.utility.is_none() {
            check_parsed(&line.parsed);
        }
    }
}

#[test]
fn megabytes_parse() {
    let mut text = String::new();
    for idx in 0..30_000 {
        text.push_str(&format!(
            "sd=sd{idx},lun=/dev/a_rather_long_name/of_a_device_{idx},size=1g\n"
        ));
    }
    text.push_str("wd=wd1,sd=sd1\nrd=r1,wd=wd1,iorate=9,elapsed=4\n");
    for parsed in [compat(&text), kind(&text)] {
        assert_eq!((parsed.runs.len(), parsed.sds.len()), (1, 30_000));
    }
}

#[test]
fn a_megabyte_of_mistakes_ends_early() {
    for line in ["nosuch=1\n", "sd=s\n", "prose\n", "sd=s,lun=(((((\n", "x,,,,\n", "sd=s, \n"] {
        let text = "sd=first,lun=/a\n".to_owned() + &line.repeat(1_000_000 / line.len());
        for parsed in [compat(&text), kind(&text)] {
            assert!(parsed.diagnostics.len() <= 402);
        }
    }
}

#[test]
fn too_many_runs_are_refused() {
    let loops = ",th=(1-100,1),rdpct=(1-100,1),seekpct=5,rhpct=(1-100,1),whpct=(1-100,1)";
    let parsed = compat(&format!("sd=s,lun=/a\nrd=r,sd=s,io=9,el=4{loops}\n"));
    assert_eq!(parsed.diagnostics.last().unwrap().code, "too-many-runs");
}

#[test]
fn products_of_definitions_are_refused() {
    let hosts = "hd=h,clients=9000\n";
    for text in [
        format!("{hosts}{hosts}sd=s,lun=/a\nrd=r,sd=s,io=9\n").replacen("hd=h", "hd=g", 1),
        format!("{hosts}sd=s,lun=/a,count=(1,9000)\nrd=r,sd=*,io=9\n"),
        format!("{hosts}fsd=f,anchor=/a,shared=yes,count=(1,9000)\nrd=r,fsd=f*,fwdrate=9\n"),
        "sd=s,lun=/a,count=(1,9000)\nrd=r,sd=*,io=9,el=4,rdpct=(1-100,1),rhpct=(1-100,1)\n"
            .to_owned(),
    ] {
        let parsed = kind(&text);
        let last = parsed.diagnostics.last().unwrap();
        assert_eq!(last.code, "too-many", "{text}: {}", last.message);
    }
}

#[test]
fn include_bombs_are_refused() {
    let mut host = MapHost::of_files(&[("main", "include=f0\nsd=s,lun=/a\nrd=r,sd=s,io=9\n")]);
    for level in 0..40 {
        let text = format!("include=f{0}\ninclude=f{0}\n", level + 1);
        host.files.insert(format!("f{level}"), text.into_bytes());
    }
    assert!(parse_files(&["main"], &Options::default(), &host).has_errors());
}

//! Runs that parameter files come to: one rule per test, as 5.04.07 lists them.

mod support;

use dialects::vdbench::run::{Rate, Seek, Span, Work, Xfersize};
use dialects::vdbench::{
    Lun, Options, Parsed, announced_with_rate, parse_files, parse_text, sd_format, simulation,
};
use support::vdbench::{compat, kind, runs};
use support::{MapHost, all_shown};

/// A file with one storage definition, one workload and this run definition.
fn raw(rd: &str) -> String {
    format!("sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\nrd=r1,wd=wd1,elapsed=4,interval=1,{rd}\n")
}

/// A file with one structure, one workload and this run definition.
fn files(rd: &str) -> String {
    format!(
        "fsd=fsd1,anchor=/a,depth=2,width=2,files=10,size=1m\nfwd=fwd1,fsd=fsd1,fileio=random\n\
         rd=r1,fwd=fwd1,elapsed=4,interval=1,{rd}\n"
    )
}

/// Both modes list these runs.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    for parsed in [compat(text), kind(text)] {
        assert_eq!(runs(&parsed), expected.join("\n"));
    }
}

const EL: &str = "elapsed=4; For loops:";

#[test]
fn rates() {
    check(&raw("iorate=max"), &[&format!("r1; I/O rate: Uncontrolled MAX; {EL} None")]);
    check(&raw("io=MAX"), &[&format!("r1; I/O rate: Uncontrolled MAX; {EL} None")]);
    check(&raw("iorate=100.7"), &[&format!("r1; I/O rate: 100; {EL} None")]);
    check(
        &raw("iorate=(100,max)"),
        &[
            &format!("r1; I/O rate: 100; {EL} iorate=100"),
            &format!("r1; I/O rate: 100; {EL} iorate=max"),
        ],
    );
    check(
        &raw("iorate=curve,curve=(10-30,10)"),
        &[
            &format!("r1; I/O rate: Uncontrolled curve; {EL} None"),
            &format!("r1_(10%); I/O rate: 1000; {EL} None"),
            &format!("r1_(20%); I/O rate: 2000; {EL} None"),
            &format!("r1_(30%); I/O rate: 3000; {EL} None"),
        ],
    );
}

#[test]
fn the_announced_rate_is_the_runs_own() {
    let parsed = compat(&raw("iorate=(100,200)"));
    assert_eq!(parsed.runs[1].rate, Rate::Iops(200.0));
    assert_eq!(parsed.runs[1].announced, format!("RD=r1; I/O rate: 200; {EL} iorate=200"));
    let parsed = compat(&raw("iorate=curve"));
    assert_eq!(
        announced_with_rate(&parsed.runs[2], 420),
        format!("RD=r1_(50%); I/O rate: 420; {EL} None")
    );
    assert!(!parsed.runs[0].controlled && parsed.runs[1].controlled);
}

#[test]
fn loops_nest_in_order_of_appearance() {
    check(
        &raw("forth=(1,2),iorate=(10,20),rdpct=50,xf=(1k,1536),threads=4"),
        &[
            &format!("r1; I/O rate: 10; {EL} rdpct=50 xfersize=1k threads=4 iorate=10"),
            &format!("r1; I/O rate: 10; {EL} rdpct=50 xfersize=1k threads=4 iorate=20"),
            &format!("r1; I/O rate: 10; {EL} rdpct=50 xfersize=1.500k threads=4 iorate=10"),
            &format!("r1; I/O rate: 10; {EL} rdpct=50 xfersize=1.500k threads=4 iorate=20"),
        ],
    );
    check(
        &raw("iorate=max,compression=30,hitarea=2m,seekpct=100,rhpct=0.5"),
        &[&format!("r1; I/O rate: Uncontrolled MAX; {EL} comp=3 hitarea=2m seekpct=100 rhpct=0")],
    );
}

#[test]
fn a_default_is_for_what_follows() {
    check(
        "sd=sd1,lun=/a\nrd=default,sd=sd1,elapsed=4,interval=1,iorate=max,threads=1\nrd=r1\n\
         rd=default,elapsed=8\nrd=r2,xf=4k,threads=2",
        &[
            &format!("r1; I/O rate: Uncontrolled MAX; {EL} threads=1"),
            "r2; I/O rate: Uncontrolled MAX; elapsed=8; For loops: xfersize=4k threads=2",
        ],
    );
}

#[test]
fn shares_make_the_maximum_controlled() {
    check(
        "sd=sd1,lun=/a\nwd=w1,sd=sd1,skew=60\nwd=w2,sd=sd1\nrd=r1,wd=*,el=4,io=max",
        &[&format!("r1; I/O rate: Controlled MAX; {EL} None")],
    );
    let parsed = compat(
        "sd=sd1,lun=/a\nwd=w1,sd=sd1,skew=60\nwd=w2,sd=sd1\nwd=w3,sd=sd1\nrd=r1,wd=w*,io=9,el=4",
    );
    let Work::Raw(work) = &parsed.runs[0].work else { panic!() };
    let shares: Vec<f64> = work.wds.iter().map(|wd| wd.skew_pct).collect();
    assert_eq!(shares, [60.0, 20.0, 20.0]);
}

#[test]
fn clones_for_storage_definitions() {
    let head = "sd=sd,lun=/a,count=(1,3)\nrd=default,iorate=9,el=4\n";
    check(
        &format!("{head}rd=r,sd=single"),
        &[
            &format!("r_sd1; I/O rate: 9; {EL} None"),
            &format!("r_sd2; I/O rate: 9; {EL} None"),
            &format!("r_sd3; I/O rate: 9; {EL} None"),
        ],
    );
    check(
        &format!("{head}rd=r,sd=range"),
        &[
            &format!("r_sd1-sd1; I/O rate: 9; {EL} None"),
            &format!("r_sd1-sd2; I/O rate: 9; {EL} None"),
            &format!("r_sd1-sd3; I/O rate: 9; {EL} None"),
        ],
    );
    let parsed = compat(&format!("{head}rd=r,sd=setsof2"));
    let names: Vec<&str> = parsed.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names.iter().map(|name| name.matches("_sd").count()).sum::<usize>(), 3);
}

#[test]
fn times() {
    check(
        "sd=s,lun=/a\nrd=r,sd=s,io=9,el=2m,in=1m,wa=1m,pa=30",
        &["r; I/O rate: 9; elapsed=120 warmup=60; For loops: None"],
    );
    let parsed = compat("sd=s,lun=/a\nrd=r,sd=s,io=9,el=1h,in=0,pa=30");
    let run = &parsed.runs[0];
    assert_eq!((run.interval_ns, run.pause_ns), (60_000_000_000, 30_000_000_000));
    assert!(simulation(&parsed).ends_with(
        "Total amount of Run Definitions: 1; total elapsed time 3600 seconds, or 1.0000 hours, \
         plus a format if requested.\n"
    ));
}

#[test]
fn formats() {
    let run = |rate: &str| format!("r1; {EL} None").replace("For", &format!("fwdrate={rate} For"));
    check(&files("fwdrate=max,format=yes"), &["format_for_r1", &run("max.")]);
    check(&files("fwdrate=100,format=no"), &[&run("100;")]);
    check(&files("fwdrate=100,format=(yes,no)"), &[&run("100;")]);
    check(&files("fwdrate=max,format=only"), &["format_for_r1"]);
    check(&files("fwdrate=max,format=(clean,only)"), &["format_for_r1"]);
    let rate = |n: u32| format!("r1; elapsed=4; fwdrate={n}; For loops: fwdrate={n}");
    check(
        &files("fwdrate=(1,2),format=yes"),
        &["format_for_r1", &rate(1), "format_for_r1", &rate(2)],
    );
    check(&files("fwdrate=(1,2),format=once"), &["format_for_r1", &rate(1), &rate(2)]);
    let loops = |what: &str| format!("r1; elapsed=4; fwdrate=max. For loops: {what}");
    check(
        &files("fwdrate=max,foroperations=(read,write),fordepth=(1,2)"),
        &[
            &loops("operation=read depth=1"),
            &loops("operation=read depth=2"),
            &loops("operation=write depth=1"),
            &loops("operation=write depth=2"),
        ],
    );
}

#[test]
fn rates_of_files_are_a_loop_at_their_place() {
    let run = |depth: u32, rate: u32| {
        format!("r1; elapsed=4; fwdrate={rate}; For loops: fwdrate={rate} depth={depth}")
    };
    check(
        &files("fwdrate=(1,2),fordepth=(1,2)"),
        &[&run(1, 1), &run(2, 1), &run(1, 2), &run(2, 2)],
    );
}

#[test]
fn what_a_format_does() {
    for (format, clean, create, restart) in [
        ("yes", true, true, false),
        ("restart", false, true, true),
        ("(clean,only)", true, false, false),
        ("(restart,only)", false, true, true),
    ] {
        let parsed = compat(&files(&format!("fwdrate=max,format={format}")));
        let Work::Format(work) = &parsed.runs[0].work else { panic!() };
        assert_eq!((work.clean, work.create, work.restart), (clean, create, restart), "{format}");
        assert_eq!((work.threads, work.xfersize_bytes), (8, 131_072));
    }
}

#[test]
fn operations_split_threads_and_keep_at_least_one() {
    let text = files("fwdrate=max,operations=(read,getattr,open)")
        .replace("fileio=random", "fileio=random,threads=6");
    let parsed = compat(&text);
    let Work::Files(work) = &parsed.runs[0].work else { panic!() };
    let threads: Vec<u32> = work.fwds.iter().map(|fwd| fwd.threads).collect();
    assert_eq!(threads, [2, 2, 2]);
    let parsed = compat(&text.replace("threads=6", "threads=2"));
    let Work::Files(work) = &parsed.runs[0].work else { panic!() };
    assert_eq!(work.fwds.iter().map(|fwd| fwd.threads).sum::<u32>(), 3);
    assert!(all_shown(&parsed.diagnostics).contains("uneven-threads"));
}

#[test]
fn lines_comments_continuation_and_quotes() {
    check(
        "* a comment\n/ another\n# a third\n\n  sd=sd1,lun=\"/a b,c=d-e\",size=1g  comment\n\
         wd=wd1,\n* between\n  sd=sd1,\n rdpct=50\nRD=r1,WD=wd1,IORATE=9,ELAPSED=4\neof\nprose",
        &[&format!("r1; I/O rate: 9; {EL} None")],
    );
    let parsed = compat("sd=sd1,lun=\"/a b,c=d-e\"\nrd=r1,sd=sd1,io=9,el=4");
    assert_eq!(parsed.sds[0].lun, "/a b,c=d-e");
}

#[test]
fn names_of_count() {
    for (name, lun, expected) in [
        ("sd", "/dev/x", "/dev/x8 /dev/x9 /dev/x10"),
        ("sd", "/dev/x%03dp", "/dev/x008p /dev/x009p /dev/x010p"),
        ("sd", "/dev/*p", "/dev/8p /dev/9p /dev/10p"),
    ] {
        let text = format!("sd={name},lun={lun},count=(8,3)\nrd=r,sd=*,io=9,el=4");
        let parsed = compat(&text);
        let luns: Vec<&str> = parsed.sds.iter().map(|sd| sd.lun.as_str()).collect();
        assert_eq!(luns.join(" "), expected);
        assert_eq!(parsed.sds[2].name, "sd10");
    }
}

#[test]
fn workload_values() {
    let parsed = compat(
        "sd=default,threads=3,range=(10,40),openflags=o_direct\nsd=sd1,lun=/a,size=(1g,4)\n\
         wd=default,rdpct=70\nwd=w1,sd=sd1,xf=(4k,50,8k,50),seekpct=(poisson,5),range=(1m,2m)\n\
         wd=w2,sd=sd1,wrpct=70,xf=8k,seekpct=eof,hotband=(5,9),stride=(1k,2k),streams=2\n\
         rd=r1,wd=w1,io=9,el=4\nrd=r2,wd=w2,io=9,el=4,maxdata=2,threads=4,openflags=fsync",
    );
    let Work::Raw(first) = &parsed.runs[0].work else { panic!() };
    assert_eq!(first.sds[0].size_bytes, Some(1 << 28));
    assert_eq!((first.sds[0].threads, first.sds[0].range), (3, Some(Span::Pct(10.0, 40.0))));
    assert!(first.sds[0].open.direct);
    let wd = &first.wds[0];
    assert_eq!(wd.xfersize, Xfersize::Split(vec![(4096, 50.0), (8192, 50.0)]));
    assert_eq!((wd.rdpct, wd.seek), (70.0, Seek::Poisson(5.0)));
    assert_eq!(wd.range, Some(Span::Bytes(1 << 20, 2 << 20)));
    let Work::Raw(second) = &parsed.runs[1].work else { panic!() };
    assert_eq!((second.sds[0].threads, second.sds[0].open.fsync_on_close), (4, true));
    assert!(!second.sds[0].open.direct);
    let wd = &second.wds[0];
    assert_eq!((wd.rdpct, wd.seek, wd.streams), (30.0, Seek::Eof, Some(2)));
    assert_eq!((wd.hotband_pct, wd.range), (Some((5.0, 9.0)), None));
    assert_eq!(parsed.runs[1].maxdata.total_bytes, 2 << 28);
}

#[test]
fn hosts_share_threads_and_definitions_repeat() {
    let text = "hd=default,user=me,shell=ssh\nhd=a,system=ha\nhd=b,system=hb,clients=2\n\
                sd=sd_$host,lun=/x_#host_of_#hosts,host=$host,\nthreads=4\n\
                sd=all,host=*,lun=/all,threads=7\n\
                wd=w1,sd=sd_*\nrd=r1,wd=w1,io=9,el=4\nrd=r2,sd=all,io=9,el=4\n";
    let parsed = compat(text);
    assert_eq!(runs(&parsed).lines().count(), 2);
    let labels: Vec<&str> = parsed.hosts.iter().map(|host| host.label.as_str()).collect();
    assert_eq!(labels, ["a", "b_cl0", "b_cl1"]);
    assert_eq!(parsed.remote_hosts().count(), 3);
    assert_eq!(parsed.hosts[0].user.as_deref(), Some("me"));
    let luns = |parsed: &Parsed| -> Vec<String> {
        parsed.sds.iter().map(|sd| format!("{}:{}:{}", sd.name, sd.host, sd.lun)).collect()
    };
    assert_eq!(luns(&parsed)[0], "sd_a:a:/x_0_of_3");
    assert_eq!(luns(&parsed)[2], "sd_b_cl1:b_cl1:/x_2_of_3");
    let threads = |parsed: &Parsed| -> Vec<u32> {
        let Work::Raw(work) = &parsed.runs[1].work else { panic!() };
        work.sds.iter().map(|sd| sd.threads).collect()
    };
    assert_eq!(threads(&parsed), [3, 2, 2]);
    let options = Options { all_hosts_local: true, ..Options::default() };
    let local = parse_text("t", text, &options, &MapHost::default());
    assert_eq!(local.remote_hosts().count(), 0);
    assert_eq!(threads(&local), [3, 2, 2], "every host gets its part");
    assert!(local.runs.iter().all(|run| match &run.work {
        Work::Raw(work) => work.wds[0].sds.len() == 3,
        _ => false,
    }));
    // What all of them share is written once.
    let text = text.replace("lun=/all", "lun=/all,size=1m");
    let local = parse_text("t", &text, &options, &MapHost::default());
    let format = sd_format(&local, &|_| Lun::Missing).unwrap();
    let Work::SdFormat(work) = &format.work else { panic!() };
    assert_eq!(work.sds.iter().filter(|sd| sd.lun == "/all").count(), 1);
}

#[test]
fn substitution_and_additions() {
    let options = Options {
        substitutions: vec![("x".into(), "4k".into()), ("xl".into(), "8k".into())],
        rd_additions: "elapsed=8,iorate=55".into(),
        ..Options::compat()
    };
    let text = "sd=s,lun=/a\nwd=w,sd=s,xf=$x\nwd=v,sd=s,xf=!xl\nrd=r,wd=w,io=9,el=4\n\
                rd=q,wd=v,io=9,\nel=4\n";
    let parsed = parse_text("t", text, &options, &MapHost::default());
    assert_eq!(
        runs(&parsed),
        "r; I/O rate: 55; elapsed=8; For loops: None\nq; I/O rate: 9; elapsed=4; For loops: None"
    );
    let Work::Raw(work) = &parsed.runs[1].work else { panic!() };
    assert_eq!(work.wds[0].xfersize, Xfersize::Fixed(8192));
    assert!(parsed.copied.contains(&"    variable substitution: wd=w,sd=s,xf=4k".to_owned()));
}

#[test]
fn includes_in_both_orders() {
    let main = "include=sds.inc\nrd=r,sd=*,io=9,el=4\n";
    let host = MapHost::of_files(&[
        ("dir/sub/main", main),
        ("dir/sub/sds.inc", "sd=beside,lun=/a\n"),
        ("dir/sds.inc", "sd=above,lun=/a\n"),
        ("sds.inc", "sd=here,lun=/a\n"),
    ]);
    let compat = parse_files(&["dir/sub/main"], &Options::compat(), &host);
    assert_eq!(compat.sds[0].name, "above");
    let kind = parse_files(&["dir/sub/main"], &Options::default(), &host);
    assert_eq!(kind.sds[0].name, "beside");
    assert!(all_shown(&kind.diagnostics).contains("warning include-order 1:9"));
    let nested = MapHost::of_files(&[
        ("main", "include=one\nrd=r,sd=*,io=9,el=4\n"),
        ("one", "include=two\n"),
        ("two", "sd=s,lun=/a\n"),
    ]);
    assert!(parse_files(&["main"], &Options::compat(), &nested).has_errors());
    assert_eq!(parse_files(&["main"], &Options::default(), &nested).runs.len(), 1);
}

#[test]
fn several_files_are_one() {
    let host = MapHost::of_files(&[("one", "sd=s,lun=/a\neof\nx"), ("two", "rd=r,sd=s,io=9,el=4")]);
    assert_eq!(parse_files(&["one", "two"], &Options::compat(), &host).runs.len(), 1);
}

#[test]
fn changes_without_editing() {
    let options = Options {
        set: vec![
            ("elapsed".into(), "10".into()),
            ("threads".into(), "4".into()),
            ("size".into(), "64m".into()),
        ],
        remap: vec![("/mnt".into(), "./v".into())],
        ..Options::default()
    };
    let text = "sd=s,lun=/mnt/x,size=1g,threads=9\nsd=t,lun=/mnt2/x\nwd=w,sd=*\n\
                rd=r,wd=w,io=9,el=4\nrd=q,wd=w,io=9,el=4,forthreads=(1,2)\n";
    let parsed = parse_text("t", text, &options, &MapHost::default());
    assert_eq!(
        runs(&parsed),
        "r; I/O rate: 9; elapsed=10; For loops: None\n\
         q; I/O rate: 9; elapsed=10; For loops: threads=4"
    );
    let sd = &parsed.sds[0];
    assert_eq!((sd.lun.as_str(), sd.size_bytes, sd.threads), ("./v/x", Some(64 << 20), 4));
    assert_eq!(parsed.sds[1].lun, "/mnt2/x");
    let unused = Options { set: vec![("nosuch".into(), "1".into())], ..Options::default() };
    assert!(parse_text("t", text, &unused, &MapHost::default()).has_errors());
}

#[test]
fn any_keyword_can_be_set() {
    let set = |pairs: &[(&str, &str)], text: &str| {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let options = Options { set: pairs.iter().map(pair).collect(), ..Options::default() };
        parse_text("t", text, &options, &MapHost::default())
    };
    let text = raw("iorate=9").replace("sd=sd1\n", "sd=sd1,rdpct=50\n");
    let parsed = set(&[("maxdataread", "1g"), ("wrpct", "30")], &text);
    assert_eq!(all_shown(&parsed.diagnostics), "");
    assert_eq!(parsed.runs[0].maxdata.read_bytes, 1 << 30);
    let Work::Raw(work) = &parsed.runs[0].work else { panic!() };
    assert_eq!(Some(work.wds[0].rdpct), Some(70.0));
    let dedup = "dedupratio=2,dedupunit=4k\nsd=sd1,lun=/a,size=1g,dedupratio=3\nwd=wd1,sd=sd1\n\
                 rd=r1,wd=wd1,iorate=9,elapsed=4\n";
    let parsed = set(&[("dedupratio", "5")], dedup);
    assert_eq!(all_shown(&parsed.diagnostics), "");
    assert_eq!(parsed.sds[0].dedup.as_ref().map(|sets| sets.ratio), Some(5.0));
    assert_eq!(Some(parsed.settings.contents.dedupratio), Some(2.0));
}

#[test]
fn files_are_written_before_the_first_run() {
    let parsed = compat(
        "sd=sd1,lun=/a,size=40m\nsd=sd2,lun=/b,size=40m\nsd=sd3,lun=/dev/c,size=1g\n\
         wd=w,sd=*\nrd=r,wd=w,io=9,el=4\n",
    );
    let run = sd_format(&parsed, &|sd| match sd.name.as_str() {
        "sd1" => Lun::File(40 << 20),
        "sd2" => Lun::File(39 << 20),
        _ => Lun::Missing,
    })
    .unwrap();
    assert_eq!(
        run.announced,
        "RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); \
         For loops: threads=2 iorate=max"
    );
    let Work::SdFormat(work) = &run.work else { panic!() };
    let names: Vec<&str> = work.sds.iter().map(|sd| sd.name.as_str()).collect();
    assert_eq!((names.as_slice(), work.xfersize_bytes), (&["sd2"][..], 131_072));
    let shared = "sd=sd1,lun=/dev/shm/f,size=1m\nwd=w,sd=*\nrd=r,wd=w,io=9,el=4\n";
    let run = sd_format(&compat(shared), &|_| Lun::Missing).unwrap();
    let Work::SdFormat(work) = &run.work else { panic!() };
    assert_eq!(work.sds[0].lun, "/dev/shm/f");
    assert!(sd_format(&parsed, &|_| Lun::File(1 << 30)).is_none());
}

#[test]
fn the_scan_lists_lines_keywords_and_values_as_often_as_they_are_looked_at() {
    let parsed = compat("sd=sd1,lun=/a,size=1g\nwd=w,sd=sd1,xf=(4k,50,8k,50)\nrd=r,wd=w,io=9,el=4");
    let count = |line: &str| parsed.scanned.iter().filter(|other| *other == line).count();
    assert_eq!(count("line: sd=sd1,lun=/a,size=1g"), 1);
    // General, hosts, replay, file systems, and its own section.
    assert_eq!(count("keyw: sd=sd1"), 5 + 1);
    assert_eq!(count("keyw: wd=w"), 2 + 1);
    assert_eq!(count("keyw: rd=r"), 3);
    assert_eq!(count("parm: 50"), 2);
    assert_eq!(parsed.scanned[0], "line: sd=sd1,lun=/a,size=1g");
}

#[test]
fn a_kind_reader_reads_what_was_meant() {
    for (text, code) in [
        ("sd=sd1, lun=/a, size=1g\nrd=r,sd=sd1,io=9,el=4", "warning blank-in-line 1:8"),
        (
            "sd=sd1,lun=/a\nwd=w,sd=sd1,xf=(4k, 50, 8k, 50)\nrd=r,wd=w,io=9,el=4",
            "blank-in-line 2:20",
        ),
        ("sd=sd1,lun=/a\nwd=w,sd=sd1,\nrd=r,wd=w,io=9,el=4", "warning joined-definitions 3:1"),
        ("sd=sd1,lun=/a\t* a comment\nrd=r,sd=sd1,io=9,el=4\t# another", ""),
        ("sd=sd1,lun=\"/a\nrd=r,sd=sd1,io=9,el=4", "unclosed-quotes 1:12"),
        ("sd=sd1,lun=/a\nrd=r,sd=(sd1,io=9,el=4", "unclosed-parenthesis"),
    ] {
        let parsed = kind(text);
        let found = all_shown(&parsed.diagnostics);
        assert!(found.contains(code), "{text}\n{found}");
        if !code.starts_with("unclosed-p") {
            assert_eq!(runs(&parsed), format!("r; I/O rate: 9; {EL} None"), "{text}");
        }
    }
    let parsed = kind(&files("fwdrate=max,xfersize=(512,50,1k,50)"));
    assert!(all_shown(&parsed.diagnostics).contains("warning distribution-in-rd 3:"));
}

#[test]
fn skews_of_files_are_checked_before_the_run() {
    let text = "fsd=f,anchor=/a\nfwd=w1,fsd=f,skew=60\nfwd=w2,fsd=f,skew=40\n\
                rd=r1,fwd=w*,fwdrate=9,el=4\nrd=r2,fwd=w1,fwdrate=9,el=4\n";
    assert_eq!(
        all_shown(&kind(text).diagnostics),
        "error wrong-skew 5:4 rd=r2: total skew must add up to 100: 60.0 | change the `skew=` of \
         its workloads: Vdbench finds this only during the run"
    );
    let parsed = compat(text);
    assert_eq!(parsed.runs.len(), 2);
    assert_eq!(parsed.refusals.len(), 1);
}

/// As a script for many machines writes them: included hosts and luns, quoted wildcards.
#[test]
fn generated_workloads() {
    let (mut sds, mut hds) = ("sd=default,size=693g\n".to_owned(), String::new());
    hds.push_str("hd=default,jvms=1,shell=ssh\n");
    for vm in 1..=24 {
        hds.push_str(&format!("hd=vm{vm},system=vdbench-vnet1-{vm},user=me\n"));
        for vol in 1..=6 {
            let lun = format!("lun=/mnt/vdb{vol}/file-{vm}-{vol}");
            sds.push_str(&format!("sd=sd-{vm}-{vol},host=vm{vm},{lun},openflags=o_direct\n"));
        }
    }
    let main = "include=hosts\ninclude=luns\n\
                wd=SeqMix,sd=sd*,rdpct=50,seekpct=0,xfersize=64k\n* Run Defaults\n\
                rd=default,warmup=60,elapsed=600,iorate=max\n* Run Definitions\n\
                rd=SeqMix-6,wd=SeqMix,sd=(\"sd*\"),threads=6\n\
                rd=SeqMix-7,wd=SeqMix,sd=(\"sd*\"),threads=7\n";
    let host = MapHost::of_files(&[("main", main), ("hosts", &hds), ("luns", &sds)]);
    let remote = parse_files(&["main"], &Options::compat(), &host);
    let run = |n: u32, elapsed: &str| {
        format!("SeqMix-{n}; I/O rate: Uncontrolled MAX; {elapsed}; For loops: threads={n}")
    };
    let usual = "elapsed=600 warmup=60";
    assert_eq!(runs(&remote), format!("{}\n{}", run(6, usual), run(7, usual)));
    assert_eq!(remote.remote_hosts().count(), 24);
    let options = Options {
        all_hosts_local: true,
        remap: vec![("/mnt".into(), "/v".into())],
        set: [("elapsed", "2"), ("warmup", "0"), ("size", "16m")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .to_vec(),
        ..Options::default()
    };
    let local = parse_files(&["main"], &options, &host);
    assert_eq!(runs(&local), format!("{}\n{}", run(6, "elapsed=2"), run(7, "elapsed=2")));
    let Work::Raw(work) = &local.runs[1].work else { panic!() };
    assert_eq!((work.sds.len(), work.wds[0].sds.len()), (144, 144));
    assert_eq!(work.sds[7].lun, "/v/vdb2/file-2-2");
    assert!(work.sds.iter().all(|sd| sd.size_bytes == Some(16 << 20) && sd.threads == 7));
}

#[test]
fn a_hundred_thousand_runs_are_listed() {
    let loops = "forthreads=(1-100,1),forxfersize=(512-51200,512),forrdpct=(1-10,1)";
    let parsed = kind(&raw(&format!("iorate=max,{loops}")));
    let list = simulation(&parsed);
    assert_eq!(list.lines().count(), 100_001);
    let last = "rd=r1; I/O rate: Uncontrolled MAX; elapsed=4; For loops: threads=100 xfersize=50k \
                rdpct=10";
    assert_eq!(
        list.lines().nth(99_999),
        Some(&*format!("Simulating {}", last.replace("rd=", "RD=")))
    );
    let parsed = kind(&raw(&format!("iorate=max,{}", loops.replace("1-10,1", "1-100,1"))));
    assert_eq!(all_shown(&parsed.diagnostics).lines().count(), 1, "a million are too many");
}

#[test]
fn validation_is_listed_and_refused() {
    for text in ["validate=yes\n", "journal=yes\n"] {
        let parsed = compat(&(text.to_owned() + &raw("io=9")));
        assert_eq!(parsed.runs.len(), 1);
        assert_eq!(parsed.refusals[0].code, "no-validation");
    }
    for (words, expected) in [
        ("no", (false, false, false, false, false)),
        ("yes", (true, false, false, false, false)),
        ("noflush", (true, false, false, true, false)),
        ("(recover,only)", (true, true, true, false, false)),
        ("(rec,maponly)", (true, true, false, true, false)),
        ("(max=5m,recover,skip_read_all)", (true, true, false, false, true)),
        ("(recover,ignore_pending)", (true, true, false, false, false)),
    ] {
        let settings = compat(&format!("journal={words}\n{}", raw("io=9"))).settings;
        let it = settings.journaling;
        let found =
            (settings.journal, it.recovers, it.only_recovers, it.is_unflushed, it.skips_reading);
        assert_eq!(found, expected, "{words}");
    }
}

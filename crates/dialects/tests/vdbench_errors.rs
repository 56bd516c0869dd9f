//! What is rejected, and where: one line of a table per rule, for both modes unless it says so.

mod support;

use dialects::vdbench::{Options, parse_text};
use plan::Severity;
use support::vdbench::{compat, kind};
use support::{MapHost, all_shown, shown};

const SD: &str = "sd=sd1,lun=/a,size=1g\n";
const WD: &str = "sd=sd1,lun=/a,size=1g\nwd=wd1,sd=sd1\n";
const RD: &str = "rd=r1,sd=sd1,iorate=9,elapsed=4,interval=1\n";
const FSD: &str = "fsd=f1,anchor=/a,size=1m\n";
const FWD: &str = "fsd=f1,anchor=/a,size=1m\nfwd=w1,fsd=f1,fileio=random\n";

/// The only mistakes are these, `code line:column`, one per line.
#[track_caller]
fn check(text: &str, expected: &str) {
    for (mode, parsed) in [("compat", compat(text)), ("kind", kind(text))] {
        let errors = parsed.diagnostics.iter().filter(|f| f.severity == Severity::Error);
        let found: Vec<String> = errors
            .map(|finding| shown(finding).split(' ').skip(1).take(2).collect::<Vec<_>>().join(" "))
            .collect();
        let all = all_shown(&parsed.diagnostics);
        assert_eq!(found.join("\n"), expected, "{mode}: {text}\n{all}");
        assert!(parsed.runs.is_empty());
        assert!(parsed.diagnostics.iter().all(|f| f.message.len() > 10));
    }
}

#[track_caller]
fn check_rd(rest: &str, expected: &str) {
    check(&format!("{WD}rd=r1,wd=wd1,elapsed=4,interval=1,{rest}\n"), expected);
}

/// The kind mode has words of its own for it: `vdbench_sense`.
#[track_caller]
fn check_compat_only(rest: &str, expected: &str) {
    let parsed = compat(&format!("{WD}rd=r1,wd=wd1,elapsed=4,interval=1,{rest}\n"));
    let found = all_shown(&parsed.diagnostics);
    assert!(found.starts_with(&format!("error {expected} ")), "{found}");
}

#[track_caller]
fn check_fwd_rd(rest: &str, expected: &str) {
    check(&format!("{FWD}rd=r1,fwd=w1,elapsed=4,interval=1,{rest}\n"), expected);
}

#[test]
fn files_that_end_early() {
    check("", "empty-file -");
    check("* nothing\n", "empty-file -");
    check(SD, "unexpected-end -");
    check(WD, "unexpected-end -");
    check(FSD, "unexpected-end -");
    check(FWD, "unexpected-end -");
    check("hd=h1\n", "unexpected-end -");
    check("messagescan=no\n", "unexpected-end -");
    check(&format!("{SD}rd=default,io=9\n"), "unexpected-end -");
}

#[test]
fn lines() {
    check(&format!("{SD}prose without a sign\n{RD}"), "no-keyword 2:1");
    check(&format!("{SD}wd=w,sd=sd1,,xf=4k\n{RD}"), "no-keyword 2:13");
    check(&format!("{SD}wd=w,sd=\n{RD}"), "no-keyword 2:6");
    check(&format!("{SD}wd=w,sd=sd1,x=4k\n{RD}"), "short-keyword 2:13");
    check(&format!("{SD}wd=w,sd=sd1),xf=4k\n{RD}"), "unmatched-parenthesis 2:12");
    check(&format!("{SD}wd=w,sd=sd1,xf=$size\n{RD}"), "unknown-substitution 2:16");
    check(&format!("include=nosuch\n{SD}{RD}"), "no-such-file 1:9");
}

#[test]
fn values() {
    check(&format!("{SD}wd=w,sd=sd1,xf=(4k,x)\n{RD}"), "mixed-values 2:16");
    check(&format!("{SD}wd=w,sd=sd1,xf=big\n{RD}"), "wrong-value 2:16");
    check(&format!("{SD}wd=5,sd=sd1\n{RD}"), "wrong-value 2:4");
    check_rd("io=9,forth=(1-10)", "endless-range 3:46");
    check_rd("io=9,sd=(sd3-sd1)", "bad-range 3:43");
}

#[test]
fn general_parameters() {
    let all = format!("{SD}{RD}");
    check(&format!("swat=yes\n{all}"), "removed-parameter 1:1");
    check(&format!("nosuch=1\n{all}"), "unknown-keyword 1:1");
    check(&format!("report=everything\n{all}"), "wrong-value 1:8");
    check(&format!("formatsds=perhaps\n{all}"), "wrong-value 1:11");
    check(&format!("messagescan=no\nmessagescan=yes\n{all}"), "repeated-parameter 2:1");
    check(&format!("pattern=a\npattern=b\n{all}"), "repeated-parameter 2:1");
    check(&format!("histogram=(default,0,20)\n{all}"), "wrong-value 1:11");
    let two = |files: &str| {
        format!(
            "fsd=f1,anchor=/a,depth=1,width=1,files=3,sizes=8k\n\
             fsd=f2,anchor=/a,depth=1,width=1,files={files},sizes=8k\n\
             fwd=w1,fsd=f*,operation=read,threads=2\n\
             rd=r1,fwd=w1,fwdrate=20,format=yes,elapsed=4,interval=1\n"
        )
    };
    let found = kind(&two("5"));
    assert!(shown(&found.diagnostics[0]).starts_with("error different-structures 4:4 "));
    assert!(!kind(&two("3")).has_errors() && !compat(&two("5")).has_errors());
    let warned = |text: &str| {
        let parsed = kind(text);
        assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
        let codes: Vec<_> = parsed.diagnostics.iter().map(|found| found.code).collect();
        codes.join(" ")
    };
    assert_eq!(warned(&format!("histogram=(100u,1m)\n{all}")), "unnamed-histogram");
    assert_eq!(warned(&format!("histogram=(default,1,5,3)\n{all}")), "falling-limits");
    assert_eq!(warned(&format!("histogram=(default,1,3,7)\n{all}")), "");
    let rates = format!("{FWD}rd=r1,fwd=w1,fwdrate=(max,100),elapsed=4,interval=1\n");
    assert_eq!(warned(&rates), "rate-beside-word");
    assert_eq!(warned(&rates.replace("(max,100)", "max")), "");
    // What one parameter says, another one takes back.
    for (more, expected) in [
        ("rdpct=30,wrpct=60", "overridden"),
        ("hotband=(10,30),range=(10,20)", "overridden"),
        ("rdpct=30,range=(10,20)", ""),
    ] {
        let text = format!("sd=s,lun=/dev/x,size=1m\nwd=w,sd=s,{more}\nrd=r,wd=w,iorate=1\n");
        assert_eq!(warned(&text), expected, "{more}");
    }
    check(&format!("dedupratio=0.5,dedupunit=4k\n{all}"), "wrong-value 1:12");
    check(&format!("dedupratio=2\n{all}"), "incomplete-dedup 1:1");
    check(&format!("validate=perhaps\n{all}"), "wrong-value 1:10");
    check(&format!("concatenatesds=yes,formatsds=yes\n{all}"), "exclusive-parameters -");
    check(&format!("loop=often\n{all}"), "wrong-value 1:6");
}

#[test]
fn sections_out_of_order() {
    check(&format!("{SD}messagescan=no\n{RD}"), "unknown-keyword 2:1");
    check(&format!("{SD}rg=g1\n{RD}"), "unknown-keyword 2:1");
}

#[test]
fn hosts() {
    let mut host = MapHost::default();
    host.unknown_hosts.push("nowhere".to_owned());
    let text = format!("hd=h1,system=nowhere\n{SD}{RD}");
    let parsed = parse_text("t", &text, &Options::compat(), &host);
    assert_eq!(
        all_shown(&parsed.diagnostics),
        "error unknown-host 1:14 Host 'nowhere' does not exist | write an address, or a name \
         that this machine can resolve; with `--all-hosts-local` everything runs on this host"
    );
    let local = Options { all_hosts_local: true, ..Options::compat() };
    assert!(!parse_text("t", &text, &local, &host).has_errors());
    check(&format!("hd=h1\nhd=h1\n{SD}{RD}"), "duplicate-name 2:4");
    check(&format!("hd=h1,vdbench=tool\n{SD}{RD}"), "wrong-value 1:4");
    check(&format!("hd=h1,jvms=many\n{SD}{RD}"), "wrong-value 1:12");
}

#[test]
fn storage_definitions() {
    check(&format!("sd=s\n{SD}{RD}"), "missing-lun 1:4");
    check(&format!("{SD}{SD}{RD}"), "duplicate-name 2:4");
    check(&format!("sd=concat,lun=/a\n{SD}{RD}"), "wrong-name 1:4");
    check(&format!("sd=default,lun=/a\n{SD}{RD}"), "not-in-default 1:12");
    check(&format!("sd=s,lun=/a,lun=/b\n{SD}{RD}"), "unpaired-lun 1:4");
    check(&format!("sd=s,lun=/a,host=nosuch\n{SD}{RD}"), "unknown-name 1:4");
    check(&format!("sd=s,lun=/a,align=100\n{SD}{RD}"), "wrong-value 1:19");
    check(&format!("sd=s,lun=/a,streams=4\n{SD}{RD}"), "moved-parameter 1:13");
    check(&format!("sd=s,lun=/a,count=5\n{SD}{RD}"), "wrong-value 1:19");
    check(&format!("sd=s,lun=/a,range=5\n{SD}{RD}"), "wrong-value 1:19");
    check(&format!("sd=s,lun=/a,nosuch=5\n{SD}{RD}"), "unknown-keyword 1:13");
    check(&format!("lun=/a\n{SD}{RD}"), "unknown-keyword 1:1");
    check(&format!("validate=yes\nsd=ninechars,lun=/a\n{SD}{RD}"), "wrong-name 2:4");
}

#[test]
fn workload_definitions() {
    let wd = |rest: &str| format!("{SD}wd=w,sd=sd1,{rest}\nrd=r,wd=w,io=9,el=4\n");
    check(&wd("xf=(4k,50,8k,40)"), "wrong-xfersize 2:16");
    check(&wd("xf=(512-4k,d)"), "wrong-xfersize 2:16");
    check(&wd("xf=(4k,8k,100)"), "wrong-xfersize 2:16");
    check(&wd("xf=(4000,50,8k,50)"), "wrong-xfersize 2:16");
    let unaligned = compat(&wd("xf=(4k,8k,4k)"));
    assert!(all_shown(&unaligned.diagnostics).starts_with("error wrong-alignment 2:4"));
    let aligned = all_shown(&kind(&wd("xf=(4k,8k,4k)")).diagnostics);
    assert!(aligned.starts_with("warning missing-alignment 2:4"), "{aligned}");
    check(&wd("threads=4"), "wd-threads 2:13");
    check(&wd("streams=1"), "wrong-value 2:21");
    check(&wd("streams=100"), "streams 3:4");
    check(&wd("stride=(2,1)"), "wrong-value 2:20");
    check(&wd("seekpct=sometimes"), "wrong-value 2:21");
    check(&wd("priority=0"), "wrong-value 2:22");
    check(&wd("iorate=5"), "wrong-priority 3:4");
    check(&wd("iorate=5,skew=9,priority=1"), "exclusive-parameters 2:4");
    check(&wd("skew=90"), "wrong-skew 3:4");
    check(&wd("host=nosuch"), "unknown-name 2:4");
    check(&format!("{WD}wd=wd1,sd=sd1\n{RD}"), "duplicate-name 3:4");
    check(&format!("{SD}wd=w,sd=sd9\nrd=r,wd=w,io=9,el=4"), "unknown-name 2:9");
    check(&format!("{SD}wd=w,sd=(sd1,sd*)\nrd=r,wd=w,io=9,el=4"), "duplicate-name 2:9");
    check(&format!("{SD}wd=w,xf=4k\nrd=r,wd=w,io=9,el=4"), "missing-sd 3:4");
}

#[test]
fn run_definitions() {
    check_rd("threads=1", "missing-rate 3:4");
    check_compat_only("iorate=0", "missing-rate 3:4");
    check_rd("io=9,xf=(4k,50,8k,50)", "wrong-xfersize 3:43");
    check_rd("io=9,seekpct=random", "empty-loop 3:48");
    check_compat_only("io=9,seekpct=(0,100)", "empty-loop 3:48");
    check_rd("io=9,seekpct=(0,random)", "empty-loop 3:48");
    let seeks = kind(&format!("{WD}rd=r1,wd=wd1,elapsed=4,interval=1,io=9,seekpct=(0,50)\n"));
    assert_eq!(seeks.runs.len(), 2);
    let said = all_shown(&seeks.diagnostics);
    assert!(said.starts_with("warning list-of-words 3:"), "{said}");
    check_rd("io=9,wd=wd1", "repeated-parameter 3:40");
    check_rd("io=9,duration=5", "unknown-keyword 3:40");
    check_rd("io=9,maxdataever=5", "unknown-keyword 3:40");
    check_rd("io=9,el=5,in=3", "wrong-times 3:4");
    check_rd("io=9,el=1", "wrong-times 3:4");
    check_rd("io=9,in=2,wa=3", "wrong-times 3:4");
    check_rd("io=9,dist=often", "wrong-value 3:45");
    check_rd("io=often", "wrong-value 3:38");
    check_rd("io=9,format=sometimes", "wrong-value 3:47");
    check_rd("io=9,mount=x", "missing-mount 3:40");
    check_rd("io=9,replay=nosuch", "no-such-file 3:47");
    check(&format!("{WD}rd=r,io=9,el=4\n"), "missing-wd 3:4");
    check(&format!("{WD}rd=r,wd=w9,io=9,el=4\n"), "unknown-name 3:9");
    check(&format!("{SD}{RD}{RD}"), "duplicate-name 3:4");
    check(&format!("{SD}rd=default,format=yes\n{RD}"), "not-in-default 2:12");
}

#[test]
fn file_system_definitions() {
    let fsd = |rest: &str| {
        format!("fsd=f1,anchor=/a,{rest}\nfwd=w1,fsd=f1\nrd=r,fwd=w1,fwdrate=9,el=4\n")
    };
    check("fsd=f1\nfwd=w1,fsd=f1\nrd=r,fwd=w1,fwdrate=9,el=4\n", "missing-anchor 1:5");
    check(&fsd("sizes=(1k,50,2k,40)"), "wrong-sizes 1:5");
    check(&fsd("files=20000000"), "too-many-files 1:5");
    check(&fsd("width=100,depth=5"), "wrong-structure 1:5");
    check(&fsd("totalsize=1g"), "wrong-structure 1:5");
    check(&fsd("wss=1g"), "wrong-structure 1:5");
    check(&fsd("totalsize=50%"), "wrong-value 1:28");
    check(&fsd("distribution=middle"), "wrong-value 1:31");
    check(&fsd("mask=(a,b)"), "wrong-value 1:23");
    check(&fsd("host=h1"), "not-in-fsd 1:18");
    check(&fsd("dedupratio=2"), "not-in-fsd 1:18");
    check(&fsd("size=1m\nfsd=f1,anchor=/b"), "duplicate-name 2:5");
    check(&fsd("size=1m\nfsd=f2,anchor=/a/b"), "nested-anchors 2:5");
}

#[test]
fn file_system_workloads() {
    let fwd = |rest: &str| format!("{FSD}fwd=w1,fsd=f1,{rest}\nrd=r,fwd=w1,fwdrate=9,el=4\n");
    check(&fwd("rdpct=50"), "sequential-rdpct 2:5");
    check(&fwd("operation=juggle"), "unknown-operation 2:25");
    check(&fwd("operation=(read,write)"), "too-many-values 2:25");
    check(&fwd("fileio=sometimes"), "wrong-value 2:22");
    check(&fwd("fileselect=sometimes"), "wrong-value 2:26");
    check(&fwd("xfersize=(4k,50,8k,40)"), "wrong-xfersize 2:24");
    check(&fwd("target=f1"), "exclusive-parameters 2:5");
    check(&fwd("operation=copy,target=f9"), "wrong-target 2:5");
    check(&fwd("host=nosuch"), "unknown-name 2:20");
    check(&format!("{FSD}fwd=read,fsd=f1\nrd=r,fwd=*,fwdrate=9,el=4"), "wrong-name 2:5");
    check(&format!("{FSD}fwd=w1,fsd=f9\nrd=r,fwd=*,fwdrate=9,el=4"), "unknown-name 2:5");
    check(&format!("{FSD}fwd=w1,xf=4k\nrd=r,fwd=*,fwdrate=9,el=4"), "exclusive-parameters 2:5");
}

#[test]
fn file_system_runs() {
    check_fwd_rd("threads=1", "missing-rate 3:4");
    check_fwd_rd("fwdrate=9,format=once", "wrong-format 3:4");
    check_fwd_rd("fwdrate=9,format=limited", "wrong-format 3:52");
    check_fwd_rd("fwdrate=9,format=complete", "wrong-format 3:52");
    check_fwd_rd("fwdrate=9,operations=(read,juggle)", "unknown-operation 3:56");
    check_fwd_rd("fwdrate=9,maxdata=5", "wrong-value 3:53");
    check_fwd_rd("fwdrate=9,totalsize=50%", "missing-totalsize 3:4");
    check(&format!("{FWD}rd=r,fwdrate=9,el=4\n"), "missing-fwd 3:4");
    check(&format!("{FWD}rd=r,fwd=w9,fwdrate=9,el=4\n"), "unknown-name 3:4");
    check(
        "hd=a,system=x\nhd=b,system=y\nfsd=f1,anchor=/a\nfwd=w1,fsd=f1\n\
         rd=r,fwd=w1,fwdrate=9,el=4\n",
        "not-shared 5:4",
    );
    check(
        "fsd=f1,anchor=/a,shared=yes\nfwd=w1,fsd=f1\nrd=r,fwd=w1,fwdrate=9,el=4,format=yes\n",
        "shared-format 3:4",
    );
    check(
        "fsd=f1,anchor=/a\nfwd=w1,fsd=f1,fileio=random,rdpct=50\n\
         rd=r,fwd=w1,fwdrate=9,el=4,operations=(read,write)\n",
        "exclusive-parameters 3:4",
    );
    check(
        "fwd_thread_adjust=no\nfsd=f1,anchor=/a\nfwd=w1,fsd=f1,threads=2\n\
         rd=r,fwd=w1,fwdrate=9,el=4,operations=(read,getattr,open)\n",
        "uneven-threads 4:4",
    );
}

#[test]
fn a_blank_is_fatal_only_to_the_real_one() {
    let text = "sd=sd1, lun=/a, size=10g\nwd=wd1,sd=sd1\nrd=r1,wd=wd1,io=max,el=4\n";
    assert!(all_shown(&compat(text).diagnostics).contains("missing-lun 1:4"));
    assert!(!kind(text).has_errors());
}

#[test]
fn a_tab_is_fatal_only_to_the_real_one() {
    let text = "sd=sd1,lun=/a\nrd=r1,sd=sd1,io=max,el=4\t* four seconds\n";
    assert!(compat(text).has_errors());
    assert!(!kind(text).has_errors());
}

#[test]
fn all_mistakes_at_once() {
    let text = "nosuch=1\nsd=s\nsd=sd1,lun=/a,align=100\nwd=w,sd=sd1,xf=(4k,50,8k,40),x=1\n\
                rd=r,wd=w,duration=5,el=4\n";
    check(
        text,
        "unknown-keyword 1:1\nmissing-lun 2:4\nwrong-value 3:21\nwrong-xfersize 4:16\n\
         short-keyword 4:30\nunknown-keyword 5:11",
    );
}

#[test]
fn unknown_words_come_with_the_nearest_known() {
    let parsed = kind(&format!("{SD}wd=w,sd=sd1,xfersise=4k\n{RD}"));
    assert_eq!(parsed.diagnostics[0].help, ["write `xfersize=`?"]);
}

#[test]
fn unknown_open_flags_are_found_now_or_when_it_runs() {
    let text = format!("sd=s,lun=/a,openflags=o_fast\n{SD}{RD}");
    assert!(all_shown(&kind(&text).diagnostics).contains("unknown-openflag 1:23"));
    let parsed = compat(&text);
    assert!(!parsed.has_errors());
    assert_eq!(parsed.refusals[0].code, "unknown-openflag");
}

/// What the real tool finds when it runs is found now.
#[test]
fn a_kind_reader_finds_what_would_fail_during_the_run() {
    for (rest, expected) in [
        ("range=(50,10)", "error wrong-range 1:4"),
        ("range=(50,160)", "error wrong-range 1:4"),
        ("range=(1m,2g)", "error wrong-range 1:4"),
        ("range=(50,120)", ""),
        ("range=(1m,2m)", ""),
    ] {
        let text = format!("sd=s,lun=/a,size=1g,{rest}\nrd=r,sd=s,io=9,el=4\n");
        let found = all_shown(&kind(&text).diagnostics);
        assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{found}");
        assert!(!compat(&text).has_errors());
    }
}

//! Vdbench's command line.

mod support;

use dialects::vdbench::{CommandLine, FormatOverride, Mode, Repeat, Utility, parse_args};
use support::vdbench::runs;
use support::{MapHost, all_shown};

fn line(args: &str) -> CommandLine {
    let host = MapHost::of_files(&[
        ("a", "sd=sd1,lun=/mnt/a,size=1g\nwd=wd1,sd=sd1\n"),
        ("b", "rd=r1,wd=wd1,iorate=9,elapsed=4\nrd=r2,wd=wd1,iorate=9,elapsed=6\n"),
        ("f", "fsd=f1,anchor=/mnt/a\nfwd=w1,fsd=f1\nrd=r1,fwd=w1,fwdrate=9,elapsed=4\n"),
        ("x", "sd=sd1,lun=$lun\nrd=r1,sd=sd1,iorate=9,elapsed=4\n"),
    ]);
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    parse_args(&args, &host)
}

/// The runs, or the mistakes, of a command line.
#[track_caller]
fn check(args: &str, expected: &str) {
    assert_eq!(runs(&line(args).parsed), expected, "{args}");
}

const R1: &str = "r1; I/O rate: 9; elapsed=4; For loops: None";
const R2: &str = "r2; I/O rate: 9; elapsed=6; For loops: None";

#[test]
fn files_in_every_way() {
    for args in ["-f a b", "-fa b", "-f a -f b", "-fa -fb", "-f a b -o out", "-s -f a b"] {
        check(args, &format!("{R1}\n{R2}"));
    }
    let parsed = line("-f a b -oout+ -s -mb -k -d27 -p 5571");
    assert_eq!((parsed.output_dir.as_str(), parsed.is_simulation), ("out+", true));
    assert!(parsed.decimal_megabytes && parsed.kstat);
    assert_eq!((parsed.debug.as_slice(), parsed.parsed.settings.port), (&[27][..], 5571));
    assert_eq!(parsed.arguments, ["-fa", "b", "-oout+", "-s", "-mb", "-k", "-d27", "-p5571"]);
    assert_eq!(line("-f a b").output_dir, "output");
}

#[test]
fn overrides_of_times() {
    check(
        "-f a b -e 20 -i2 -w 4",
        "r1; I/O rate: 9; elapsed=20 warmup=4; For loops: None\n\
         r2; I/O rate: 9; elapsed=20 warmup=4; For loops: None",
    );
    check("-f a b -r r2", R2);
    check("-f a b -r r3", "error unknown-name - -r: there is no rd=r3");
}

#[test]
fn formats() {
    let run = "r1; elapsed=4; fwdrate=9; For loops: None";
    check("-f f", run);
    check("-f f -cy", &format!("format_for_r1\n{run}"));
    check("-f f -co", "format_for_r1");
    assert_eq!(line("-f f -cn").options.format, Some(FormatOverride::No));
    assert!(line("-f f -c").options.clean_first);
}

#[test]
fn substitution_and_additions() {
    check("-f x lun=/a", R1);
    check("lun=/a -f x", R1);
    check("-f a b lun=/a", "error unused-substitution - unused parameter substitution: lun=/a");
    check("-f x lun=/a + elapsed=8,iorate=55", "r1; I/O rate: 55; elapsed=8; For loops: None");
    check("-f x lun=/a +elapsed=8", "r1; I/O rate: 9; elapsed=8; For loops: None");
    assert!(line("-f x lun=/a + elapsed=8 iorate=5").parsed.has_errors());
}

#[test]
fn repeats() {
    for (args, expected) in [
        ("-l", Repeat::Forever),
        ("-l 10", Repeat::For(10_000_000_000)),
        ("-l2m", Repeat::For(120_000_000_000)),
        ("-l 1h", Repeat::For(3_600_000_000_000)),
    ] {
        assert_eq!(line(&format!("-f a b {args}")).parsed.settings.repeat, expected, "{args}");
    }
}

#[test]
fn validation_and_journals() {
    for (args, list) in [("-v", R1), ("-vrt", R1), ("-j", R1)] {
        let parsed = line(&format!("-f a b {args}")).parsed;
        assert!(runs(&parsed).starts_with(list));
        assert_eq!(parsed.refusals[0].code, "no-validation");
        assert!(parsed.settings.validate);
    }
    assert!(runs(&line("-f a b -jr").parsed).starts_with(
        "journal_recovery; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: None\nr1;"
    ));
    for (args, is_journal, how) in [
        ("-v", false, ""),
        ("-j", true, ""),
        ("-v -jn", true, "unflushed"),
        ("-jm", true, "unflushed"),
        ("-jr", true, "recovers"),
        ("-jron", true, "recovers only unflushed"),
        ("-jrs", true, "recovers skips"),
        ("-j2i", true, ""),
    ] {
        let settings = line(&format!("-f a b {args}")).parsed.settings;
        assert_eq!(settings.journal, is_journal, "{args}");
        let it = settings.journaling;
        let found = [
            (it.recovers, "recovers"),
            (it.only_recovers, "only"),
            (it.is_unflushed, "unflushed"),
            (it.skips_reading, "skips"),
        ];
        let found = found.into_iter().filter(|(is, _)| *is).map(|(_, word)| word);
        assert_eq!(found.collect::<Vec<_>>().join(" "), how, "{args}");
    }
}

#[test]
fn options_of_our_own() {
    let parsed =
        line("-f a b --compat 5.04.07 --remap /mnt=./v --set elapsed=10 --all-hosts-local");
    assert_eq!(parsed.options.mode, Mode::Compat);
    assert_eq!(parsed.parsed.sds[0].lun, "./v/a");
    assert!(runs(&parsed.parsed).starts_with("r1; I/O rate: 9; elapsed=10;"));
    assert!(line("-f a b --compat=5.03").parsed.has_errors());
    let other = line("-f a b --vdbench-layout=503 --allow-commands");
    assert_eq!(other.other, ["--vdbench-layout=503", "--allow-commands"]);
}

#[test]
fn demonstrations_and_utilities() {
    for demo in ["-t", "-t1", "-t2", "-td", "-tf"] {
        let parsed = line(demo).parsed;
        assert!(!parsed.has_errors(), "{demo}: {}", all_shown(&parsed.diagnostics));
        assert!(!parsed.runs.is_empty());
    }
    let parse = line("parseflat -i flatfile.html -o out.csv -c Run rate");
    assert_eq!(parse.utility.as_ref().map(|(utility, _)| *utility), Some(Utility::ParseFlat));
    assert_eq!(parse.utility.map(|(_, args)| args.len()), Some(7));
    assert_eq!(line("compare old new").utility.unwrap().0, Utility::Compare);
}

#[test]
fn mistakes() {
    check("", "error no-file - no input parameters specified");
    check("-s", "error no-file - no input parameters specified");
    check("-f a b -s -z", "error unknown-option - invalid execution parameter: '-z'");
    check("-f a b -e soon", "error wrong-value - '-esoon' needs a whole number");
    for (written, range) in [
        ("-e1000000000000", "1 to 315360000"),
        ("-e0", "1 to 315360000"),
        ("-m0", "1 to 2147483647"),
        ("-i0", "1 to 315360000"),
        ("-w99999999999999999999999", "0 to 315360000"),
        ("-m3000000000", "1 to 2147483647"),
    ] {
        let expected = format!("error wrong-value - '{written}' needs a whole number from {range}");
        check(&format!("-f a b {written}"), &expected);
    }
    check("-f nosuch", "error no-such-file - parameter file `nosuch` cannot be read: no such file");
}

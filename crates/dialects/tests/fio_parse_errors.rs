//! Messages: what a user sees for each mistake, all of a file at once, with line and column.

mod support;

use dialects::LowerOptions;
use dialects::fio::parse_file;
use plan::Diagnostic;
use support::fio::parse;
use support::{MapHost, all_shown};

/// Checks all findings of a text.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(all_shown(&parse(text).diagnostics), expected);
}

/// Checks why a job with these lines parses, but cannot run.
#[track_caller]
fn check_refused(lines: &str, expected: &str) {
    let parsed = parse(&format!("[a]\nioengine=null\nsize=1m\n{lines}\n"));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    assert_eq!(all_shown(&parsed.refusals), expected);
}

/// Checks what is said of a job that parses and runs.
#[track_caller]
fn check_warned(lines: &str, expected: &str) {
    let parsed = parse(&format!("[a]\nioengine=null\nsize=1m\n{lines}\n"));
    assert_eq!(all_shown(&parsed.refusals), "");
    assert_eq!(all_shown(&parsed.diagnostics), expected);
}

#[test]
fn all_mistakes_at_once() {
    check(
        "; nightly\n[global]\nioengin=libaio\ndirect=2\n\
         \n[oltp]\n  bs = 0\niodepth=many\nrw=random\n\
         direct\n",
        "error unknown-option 3:1 unknown option `ioengin` | did you mean `ioengine`?\n\
         error bad-value 4:8 value `2` of `direct` is out of range: the largest is 1 | the default \
         is `direct=0`\n\
         error bad-value 7:8 value `0` of `bs` is out of range: the smallest is 1 | the default is \
         `bs=4096`\n\
         error bad-value 8:9 value `many` of `iodepth` is not valid: `many` is not a number | the \
         default is `iodepth=1`\n\
         error bad-value 9:4 value `random` of `rw` is not known; expected one of read, write, \
         trim, \
         randread, randwrite, randtrim, rw, randrw, trimwrite, randtrimwrite | did \
         you mean `randrw`? | the default is `rw=read`\n\
         error bad-value 10:1 value of `direct` is missing; write 1 or 0 | the default is \
         `direct=0`",
    );
}

#[test]
fn priorities_that_contradict_one_another() {
    check_refused(
        "ioengine=libaio\ncmdprio_percentage=10\ncmdprio_bssplit=4k/20",
        "error priority-twice 6:17 job `a` has both `cmdprio_percentage` and `cmdprio_bssplit` | \
         keep one: both say which I/Os get the priority",
    );
    check_refused(
        "ioengine=io_uring\ncmdprio_bssplit=4k/60:8k/50:4k/50/2/1",
        "error priority-above-100 5:17 job `a` gives priorities to 110 % of its reads of 4096 B | \
         shares of one block size add up to 100 at most",
    );
    check(
        "[a]\nioengine=libaio\ncmdprio_class=4\ncmdprio=8\ncmdprio_hint=1024\n\
         cmdprio_percentage=101\n",
        "error bad-value 3:15 value `4` of `cmdprio_class` is out of range: the largest is 3 | the \
         default is `cmdprio_class=1`\n\
         error bad-value 4:9 value `8` of `cmdprio` is out of range: the largest is 7 | the \
         default is `cmdprio=0`\n\
         error bad-value 5:14 value `1024` of `cmdprio_hint` is out of range: the largest is 1023 \
         | the default is `cmdprio_hint=0`\n\
         error bad-value 6:20 value `101` of `cmdprio_percentage` is out of range: the largest is \
         100 | the default is `cmdprio_percentage=0`",
    );
    check(
        "[a]\nioengine=psync\ncmdprio_percentage=10\n",
        "error option-of-other-engine 3:1 option `cmdprio_percentage` belongs to engine \
         `io_uring` or `io_uring_cmd` or `libaio`; this section's engine is `psync` | an engine \
         and its options stand together, in `[global]` too",
    );
}

#[test]
fn spans_point_at_bytes_of_the_text() {
    let text = "[a]\ndescription=Grüße ; x\n\tbs = 4q # ü\n";
    let parsed = parse(text);
    let span = parsed.diagnostics[0].span.clone().unwrap();
    assert_eq!(&text[span.bytes.clone()], "4q");
    assert_eq!((span.line, span.column, span.source_idx), (3, 7, Some(0)));
    assert_eq!(parsed.plan.sources[0].text, text);
}

#[test]
fn unknown_options() {
    check("[a]\nBS=8k\n", "error unknown-option 2:1 unknown option `BS` | did you mean `bs`?");
    check(
        "[a]\noutput-format=json\n",
        "error unknown-option 2:1 unknown option `output-format` | `--output-format` is a switch \
         of \
         the command line, not a job's option",
    );
    check(
        "[a]\nbs 4k\n",
        "error unknown-option 2:1 unknown option `bs 4k` | write `option=value`, one per line",
    );
    check("[a]\nzzzzzzzz=1\n", "error unknown-option 2:1 unknown option `zzzzzzzz`");
}

#[test]
fn removed_and_engine_options() {
    let removed = all_shown(&parse("[a]\nrwmixcycle=1\n").diagnostics);
    assert!(
        removed.starts_with("error removed-option 2:1 option `rwmixcycle` was removed"),
        "{removed}"
    );
    check(
        "[a]\nioengine=spdk_bdev\nspdk_json_conf=x\n",
        "error engine-not-available 3:1 option `spdk_json_conf` may belong to engine `spdk_bdev`, \
         which is not built in",
    );
    let misspelt = all_shown(&parse("[a]\nioengine=foo\niodepht=3\n").diagnostics);
    assert!(misspelt.contains("which is not built in | did you mean `iodepth`?"), "{misspelt}");
    check(
        "[a]\nspdk_json_conf=x\n",
        "error option-of-other-engine 2:1 option `spdk_json_conf` belongs to engine `spdk_bdev` \
         or `spdk`; this section's engine is `psync` | an engine and its options stand together, \
         in `[global]` too",
    );
}

#[test]
fn files_that_are_no_job_files() {
    let mut host = MapHost::with(&[("empty.fio", ""), ("blank.fio", "\n \n")], &[]);
    host.files.insert("elf".to_owned(), b"\x7fELF\x02\x01\x00\x00".to_vec());
    host.files.insert("latin.fio".to_owned(), b"[a]\n; gr\xfc\xdfe\nbs=8k\n".to_vec());
    let said = |path: &str| {
        let parsed = parse_file(path, &LowerOptions::default(), &host);
        all_shown(&parsed.diagnostics) + "\n" + &all_shown(&parsed.refusals)
    };
    let no_jobs = "error no-jobs - no job is defined | a job file defines one by `[name]`, a \
         command \
                   line by `--name=NAME`";
    assert_eq!(
        said("empty.fio"),
        format!("warning empty-file 1:1 job file `empty.fio` is empty\n{no_jobs}")
    );
    assert_eq!(
        said("blank.fio"),
        format!("warning empty-file 1:1 job file `blank.fio` is empty\n{no_jobs}")
    );
    assert_eq!(
        said("elf"),
        "error binary-file - `elf` is not text: byte 0 is 0x7f | name a fio job file: text with \
         `[sections]` and `option=value` lines\n"
    );
    assert_eq!(
        said("latin.fio"),
        "warning not-utf8 - `latin.fio` is not UTF-8; it is read as Latin-1\n"
    );
    assert_eq!(
        said("nowhere"),
        "error file-unreadable - cannot read job file `nowhere`: no such file | an argument that \
         is \
         no option and no option's value names a job file\n"
    );
}

#[test]
fn contradictions_stop_a_run() {
    check_refused(
        "rate=1m\nrate_iops=10",
        "error rate-twice 5:11 job `a` has both `rate` and `rate_iops` | keep one: `rate` counts \
         bytes per second, `rate_iops` I/Os",
    );
    check_refused(
        "rate=1m\nrate_min=2m",
        "error rate-min-above-rate 5:10 job `a` must reach a read rate of 2097152/s, but is \
         limited \
         to 1048576/s",
    );
    check_refused(
        "bs=2m",
        "error size-too-small 3:6 job `a` has a size of 1048576 B, less than its smallest block of \
         2097152 B | raise `size` or lower `bs`",
    );
    check_refused(
        "zonemode=none\nzonesize=64k",
        "error zones-off 4:10 job `a` has a `zonesize`, but `zonemode=none` | write \
         `zonemode=strided`, or leave `zonesize` out",
    );
    check_refused(
        "zonemode=strided",
        "error zones-without-size 4:10 job `a` has `zonemode=strided` but no `zonesize` | give \
         `zonesize`, the bytes worked in a zone",
    );
    check_refused(
        "zonemode=zbd",
        "error not-supported-yet 4:10 zoned devices are not supported yet | `zonemode=strided` \
         works \
         zone by zone on other devices",
    );
    check_refused(
        "rw=write\nverify=md5\nbs=16",
        "error verify-header-too-large 6:4 job `a` verifies blocks of 16 B, too small for a header \
         of 64 B and contents | raise the size, or use `verify=pattern`, which writes no header",
    );
    check_refused(
        "rw=write\ndedupe_percentage=60\ndedupe_mode=working_set\ndedupe_working_set_percentage=50",
        "error dedupe-above-100 5:19 job `a` wants 60 % duplicates, but 50 % of its size is a \
         working set of unique blocks",
    );
}

#[test]
fn waiting_for_another_job() {
    let waits = |text: &str| all_shown(&parse(text).refusals);
    let help = " | name one job that stands above, and give it a name of its own";
    assert_eq!(waits("[a]\n[b]\nwait_for=a\n"), "");
    assert_eq!(
        waits("[a]\nwait_for=b\n[b]\n"),
        format!(
            "error bad-wait-for 2:10 job `a` waits for `b`, but no job above has that name{help}"
        )
    );
    assert_eq!(
        waits("[a]\nwait_for=a\n"),
        format!("error bad-wait-for 2:10 job `a` waits for itself{help}")
    );
    assert_eq!(
        waits("[a]\n[a]\n[b]\nwait_for=a\n"),
        format!(
            "error bad-wait-for 4:10 job `b` waits for `a`, but 2 jobs above have that name{help}"
        )
    );
}

#[test]
fn time_based_is_dropped_without_a_runtime() {
    let parsed = parse("[a]\ntime_based\n[b]\ntime_based\nruntime=1\n");
    let kept: Vec<bool> = parsed.plan.jobs().map(|job| job.limits.time_based).collect();
    assert_eq!(kept, [false, true]);
}

#[test]
fn doubtful_jobs_run_with_a_warning() {
    check_warned(
        "runtime=5\nss=iops:10%\nss_dur=10",
        "warning steady-beyond-runtime 6:8 job `a` ends before the steady state can be judged",
    );
    check_warned(
        "time_based",
        "warning time-based-without-runtime 4:1 job `a` is time_based without a runtime; \
         time_based \
         is dropped",
    );
    check_warned(
        "rw=write\nverify=crc32c\ntime_based\nruntime=5\nioengine=psync",
        "warning verify-never 5:8 job `a` never verifies: its engine has one I/O in \
         flight, and writes until the time is over | use ioengine=io_uring or libaio, which read \
         each pass back before the next one, or set verify_backlog",
    );
    check_warned(
        "direct=1\nbs=1000",
        "warning block-size-unaligned 5:4 job `a` has direct=1 and a block size that is not a \
        multiple of 512 B, which devices refuse",
    );
}

/// Checks how a job with these lines and the null engine is refused, by code and place.
#[track_caller]
fn check_header(lines: &str, expected: &[(&str, u32)]) {
    let parsed = parse(&format!("[a]\nioengine=null\nrw=write\n{lines}"));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let place = |finding: &Diagnostic| finding.span.as_ref().map_or(0, |span| span.line);
    let found: Vec<(&str, u32)> = parsed.refusals.iter().map(|it| (it.code, place(it))).collect();
    assert_eq!(found, expected, "{lines}");
}

/// fio, too, wants a byte of contents behind the header: 3.33 fails on blocks of 44 B with CRC-32C
/// behind its header of 40 B, and takes larger ones.
#[test]
fn a_verified_block_holds_its_header_and_a_byte() {
    let too_large: &[(&str, u32)] = &[("verify-header-too-large", 5)];
    for (method, header_bytes) in [
        ("meta", 48),
        ("crc7", 49),
        ("crc32c", 52),
        ("crc64", 56),
        ("md5", 64),
        ("sha1", 68),
        ("sha256", 112),
        ("sha512", 176),
    ] {
        let blocks = |bytes: u32| format!("verify={method}\nbs={bytes}\n");
        check_header(&blocks(header_bytes), too_large);
        check_header(&blocks(header_bytes + 1), &[]);
    }
    for method in ["pattern", "null"] {
        check_header(&format!("verify={method}\nbs=1\nverify_pattern=0x11\n"), &[]);
    }
    check_header("verify=sha512\nverify_interval=128\nbs=4k\n", too_large);
}

#[test]
fn a_header_lies_within_its_interval() {
    let placed =
        |offset: u32| format!("verify=crc32c\nverify_interval=128\nverify_offset={offset}\n");
    check_header(&placed(76), &[]);
    check_header(&placed(77), &[("verify-offset", 6)]);
}

/// fio reads `-` and writes it as a stream, where its own engines open files.
#[test]
fn the_standard_streams_are_no_targets() {
    let refusal = |at: &str| {
        format!(
            "error target-is-stream {at} job `a` works on `-`, the standard input or output, which \
             is not supported | for a file of that name write `filename=./-`"
        )
    };
    check_refused("ioengine=psync\nfilename=-", &refusal("5:10"));
    check_refused("ioengine=libaio\nfilename=x:-:y", &refusal("5:10"));
    check_refused("ioengine=psync\nfilename=./-", "");
    check_refused("ioengine=psync\ndirectory=/tmp\nfilename=-", "");
    check_refused("filename=-", "");
}

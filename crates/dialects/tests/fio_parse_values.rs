//! Values: numbers, times, lists, distributions and patterns, and the job they make.

mod support;

use dialects::LowerOptions;
use dialects::fio::parse_text;
use plan::files::Size;
use plan::load::Rate;
use plan::verify::PatternPart;
use plan::workload::{BlockSize, Distribution};
use plan::{Direction, Job, PerDir};
use support::fio::parse;
use support::{MapHost, all_shown};

#[track_caller]
fn job(lines: &str) -> Job {
    let parsed = parse(&format!("[a]\n{lines}\n"));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    parsed.plan.jobs().next().unwrap().clone()
}

/// Checks what is said about a job's only line.
#[track_caller]
fn check_said(line: &str, expected: &str) {
    let parsed = parse(&format!("[a]\nsize=1m\n{line}\n"));
    let findings: Vec<_> = parsed.diagnostics.into_iter().chain(parsed.refusals).collect();
    assert_eq!(all_shown(&findings), expected);
}

#[track_caller]
fn check_block_sizes(line: &str, read: BlockSize, write: BlockSize, trim: BlockSize) {
    assert_eq!(job(line).workload.block_size, PerDir { read, write, trim }, "{line}");
}

#[test]
fn block_sizes_per_direction() {
    use BlockSize::Fixed;
    check_block_sizes("bs=8k", Fixed(8192), Fixed(8192), Fixed(8192));
    check_block_sizes("bs=8k,32k", Fixed(8192), Fixed(32768), Fixed(32768));
    check_block_sizes("bs=8k,32k,1k", Fixed(8192), Fixed(32768), Fixed(1024));
    check_block_sizes("bs=,8k", Fixed(4096), Fixed(8192), Fixed(8192));
    check_block_sizes("bs=8k,", Fixed(8192), Fixed(4096), Fixed(4096));
    check_block_sizes("bs=,,8k", Fixed(4096), Fixed(4096), Fixed(8192));
    check_block_sizes("bs=4k:8k", Fixed(4096), Fixed(8192), Fixed(8192));
    check_block_sizes("bs=4kib", Fixed(4000), Fixed(4000), Fixed(4000));
    check_block_sizes("bs=4ki", Fixed(4096), Fixed(4096), Fixed(4096));
    check_block_sizes("kb_base=1000\nbs=4kib", Fixed(4096), Fixed(4096), Fixed(4096));
    check_block_sizes("bs=(2*2)k", Fixed(4096), Fixed(4096), Fixed(4096));
    let small = || BlockSize::Range { min: 1024, max: 4096 };
    check_block_sizes("bsrange=1k-4k", small(), small(), small());
    check_block_sizes("bsrange=4k:1k", small(), small(), small());
    check_block_sizes("bsrange=1k-4k,8k-8k", small(), Fixed(8192), Fixed(8192));
    check_block_sizes("bsrange=1k-4k/8k-8k", small(), Fixed(8192), Fixed(8192));
}

/// Compares the shares of reads and writes: block size, percent, packed priority.
#[track_caller]
fn check_priorities(lines: &str, read: &[(u32, u8, u16)], write: &[(u32, u8, u16)]) {
    let job = job(&format!("ioengine=libaio\nrw=randrw\n{lines}"));
    let shares = |dir| -> Vec<(u32, u8, u16)> {
        let all = job.priority_shares(dir).into_iter();
        all.map(|of| (of.block_bytes.unwrap_or(0), of.pct, of.priority.bits())).collect()
    };
    assert_eq!(shares(Direction::Read), read, "{lines}");
    assert_eq!(shares(Direction::Write), write, "{lines}");
    assert!(shares(Direction::Trim).is_empty());
}

#[test]
fn priorities_of_shares() {
    let check = check_priorities;
    check("cmdprio_percentage=50", &[(0, 50, 0x2000)], &[(0, 50, 0x2000)]);
    check("cmdprio_percentage=10,20", &[(0, 10, 0x2000)], &[(0, 20, 0x2000)]);
    check("cmdprio_percentage=,20\ncmdprio_class=1,3", &[], &[(0, 20, 0x6000)]);
    check(
        "cmdprio_percentage=5\ncmdprio=7\ncmdprio_class=2\ncmdprio_hint=1,3",
        &[(0, 5, 0x400f)],
        &[(0, 5, 0x401f)],
    );
    check("cmdprio_class=2\ncmdprio=3", &[], &[]);
    check("rw=read\ncmdprio_percentage=5", &[(0, 5, 0x2000)], &[]);
    check("ioengine=io_uring\ncmdprio_percentage=5,0", &[(0, 5, 0x2000)], &[]);
    let both: &[_] = &[(65536, 25, 0x2001), (65536, 75, 0x6002)];
    check("cmdprio_bssplit=64k/25/1/1:64k/75/3/2:1024k/0", both, both);
    check(
        "cmdprio_bssplit=4k/20:8k/30%/0/1/2,4k/,16k/9\ncmdprio_class=3",
        &[(4096, 20, 0x6000), (8192, 30, 0x4011)],
        &[],
    );
    check("cmdprio_bssplit=64k:4k/", &[], &[]);
}

#[test]
fn odd_shares_of_priorities_are_reported() {
    let check = |value: &str, said: &str| {
        let line = format!("ioengine=libaio\ncmdprio_bssplit={value}");
        check_said(&line, said);
    };
    check(
        "4k/120/4/8/1024",
        "warning odd-value 4:17 value `4k/120/4/8/1024` of `cmdprio_bssplit`: the share 120 is \
         too large, 100 is taken\n\
         warning odd-value 4:17 value `4k/120/4/8/1024` of `cmdprio_bssplit`: the class 4 is too \
         large, 3 is taken\n\
         warning odd-value 4:17 value `4k/120/4/8/1024` of `cmdprio_bssplit`: the level 8 is too \
         large, 7 is taken\n\
         warning odd-value 4:17 value `4k/120/4/8/1024` of `cmdprio_bssplit`: the hint 1024 is \
         too large, 1023 is taken",
    );
    for entry in ["4k/20/1", "4k/x", "4k/1/2/3/4/5", "4k/-1", "4k/20//3"] {
        check(
            entry,
            &format!(
                "error bad-value 4:17 value `{entry}` of `cmdprio_bssplit` holds the entry \
                 `{entry}`; expected SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, perhaps with a \
                 /HINT"
            ),
        );
    }
    check(
        "x/20",
        "error bad-value 4:17 value `x/20` of `cmdprio_bssplit` is not valid: `x` is not a number",
    );
}

#[test]
fn block_splits_add_up() {
    let split = |line: &str| job(line).workload.block_size;
    let list = |sizes: &[(u32, u8)]| BlockSize::Split(sizes.to_vec());
    assert_eq!(
        split("bssplit=4k/10:64k/50:32k/40").read,
        list(&[(4096, 10), (65536, 50), (32768, 40)])
    );
    assert_eq!(split("bssplit=4k/:64k/:32k").read, list(&[(4096, 33), (65536, 33), (32768, 34)]));
    assert_eq!(split("bssplit=4k/50:64k/20:8k").read, list(&[(4096, 50), (65536, 20), (8192, 30)]));
    assert_eq!(split("bssplit=4k/50:8k/20").write, list(&[(4096, 50), (8192, 50)]));
    let sizes = split("bssplit=4k,8k/50:16k/50");
    assert_eq!(sizes.read, list(&[(4096, 100)]));
    assert_eq!(sizes.trim, list(&[(8192, 50), (16384, 50)]));
}

#[test]
fn walks() {
    let walk = |line: &str| job(line).workload;
    assert_eq!(walk("rw=read:8k").sequential_step_bytes, 8192);
    assert_eq!(walk("rw=read:-8k").sequential_step_bytes, -8192);
    assert_eq!(walk("rw=randread:8").ios_per_draw, 8);
    assert!(walk("rw=randtrimwrite").access.trim_then_write);
    assert!(walk("readwrite=rw").access.is_mixed());
    assert_eq!(walk("rwmixread=70\nrwmixwrite=60").read_pct as u8, 40);
    assert_eq!(walk("rwmixwrite=60\nrwmixread=70").read_pct as u8, 70);
    assert_eq!(walk("rwmixread=30%").read_pct as u8, 30);
}

#[test]
fn rates() {
    let load = job("rate=,500k").load;
    assert_eq!(
        load.rate,
        PerDir { read: None, write: Some(Rate::Bytes(512_000)), trim: Some(Rate::Bytes(512_000)) }
    );
    assert_eq!(job("rate_iops=10,20,30").load.rate.trim, Some(Rate::Iops(30)));
}

#[test]
fn sizes_and_times() {
    assert_eq!(job("size=50%").files.size, Some(Size::Percent(50)));
    assert_eq!(job("size=1g").files.size, Some(Size::Bytes(1 << 30)));
    assert_eq!(job("filesize=1k-4k").files.file_size_bytes, Some((1024, 4096)));
    assert_eq!(job("runtime=90").limits.runtime_ns, Some(90_000_000_000));
    assert_eq!(job("runtime=2m").limits.runtime_ns, Some(120_000_000_000));
    assert_eq!(job("thinktime=5").load.think.pause_ns, 5_000);
    assert_eq!(job("startdelay=1-5").limits.start_delay_ns, (1_000_000_000, 5_000_000_000));
    assert_eq!(job("startdelay=3").limits.start_delay_ns, (3_000_000_000, 3_000_000_000));
    assert_eq!(job("log_avg_msec=250").logs.window_ms, 250);
}

#[test]
fn distributions() {
    let spread = |text: &str| job(&format!("random_distribution={text}")).workload.distribution;
    assert_eq!(spread("zipf").read, Distribution::Zipf { theta: 1.1, centre: None });
    assert_eq!(spread("zipf:1.2:0.5").write, Distribution::Zipf { theta: 1.2, centre: Some(0.5) });
    assert_eq!(spread("pareto:0.3").read, Distribution::Pareto { h: 0.3, centre: None });
    let Distribution::Normal { deviation_pct, centre: None } = spread("normal:20").read else {
        panic!("normal, around the middle");
    };
    assert!((deviation_pct - 10.14).abs() < 0.01, "as wide as fio's: {deviation_pct} %");
    assert_eq!(
        spread("zoned:60/10:30/20:10/70").read,
        Distribution::Zoned(vec![(60, 10), (30, 20), (10, 70)])
    );
    assert_eq!(spread("zoned:60/10:40/").read, Distribution::Zoned(vec![(60, 10), (40, 90)]));
    let both = spread("zoned:60/10:40/90,20/50:80/50");
    assert_eq!(both.trim, Distribution::Zoned(vec![(20, 50), (80, 50)]));
    assert_ne!(both.read, both.write);
    assert_eq!(
        spread("zoned_abs:60/20k:40/1m").read,
        Distribution::ZonedAbs(vec![(60, 20480), (40, 1 << 20)])
    );
    assert_eq!(spread("sequence:2,0,1").read, Distribution::Sequence(vec![2, 0, 1]));
    assert!(!job("rw=randread\nrandom_distribution=zipf:1.2").workload.no_repeats);
}

#[test]
fn patterns() {
    let host = MapHost::with(&[("seed.bin", "xyz")], &[]);
    let pattern = |key: &str, text: &str| {
        let text = format!("[a]\n{key}={text}\n");
        let parsed = parse_text("t", &text, &LowerOptions::default(), &host);
        assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
        let job = parsed.plan.jobs().next().unwrap().clone();
        if key == "buffer_pattern" { job.buffers.pattern } else { job.verify.pattern }
    };
    let bytes = |text: &str, expected: &[u8]| {
        let parts = pattern("buffer_pattern", text);
        assert_eq!(parts, [PatternPart::Bytes(expected.to_vec())], "{text}");
    };
    // The bytes that fio 3.33 writes.
    bytes("0xdead", &[0xde, 0xad]);
    bytes("0xdea", &[0x0d, 0xea]);
    bytes("0x00ab", &[0x00, 0xab]);
    bytes("12345", &[0x39, 0x30]);
    bytes("70000", &[0x70, 0x11, 0x01]);
    bytes("0", &[0]);
    bytes("+5", &[5]);
    bytes("-12", &[0xf4, 0xff, 0xff, 0xff]);
    bytes("12-3", &[12, 0xfd, 0xff, 0xff, 0xff]);
    bytes("\"abcd\"-12", b"abcd\xf4\xff\xff\xff");
    bytes("\"abcd\"-120xdeadface", b"abcd\xf4\xff\xff\xff\xde\xad\xfa\xce");
    bytes("'seed.bin'\"!\"", b"xyz!");
    let parts = pattern("verify_pattern", "0xff%o\"ab\"");
    let expected =
        [PatternPart::Bytes(vec![0xff]), PatternPart::Offset, PatternPart::Bytes(b"ab".to_vec())];
    assert_eq!(parts, expected);
}

#[test]
fn lists_and_texts() {
    assert_eq!(job("filename=a:b\\:c:/dev/sdb").files.names, ["a", "b:c", "/dev/sdb"]);
    assert_eq!(job("filename=\"a b\"").files.names, ["a b"]);
    assert_eq!(job("cpus_allowed=0,5,8-10").process.cpus, [0, 5, 8, 9, 10]);
    // As fio 3.33 prints them.
    for text in ["\"x y\"", "'x y'", "x\"y\""] {
        assert_eq!(job(&format!("description={text}")).description.as_deref(), Some(text));
    }
    assert_eq!(job("name='b c'").name, "'b c'");
    assert_eq!(job("percentile_list=50:99:99.9").reporting.percentiles, [50.0, 99.0, 99.9]);
    assert_eq!(job("write_bw_log").logs.bandwidth.as_deref(), Some("a"));
    assert_eq!(job("write_bw_log=x").logs.bandwidth.as_deref(), Some("x"));
    assert!(!job("norandommap=1").workload.no_repeats);
    assert!(job("norandommap=0").workload.no_repeats);
}

#[test]
fn odd_numbers_are_pointed_out() {
    check_said(
        "runtime=2sec",
        "warning odd-value 3:9 value `2sec` of `runtime`: `sec` is not a time unit of fio, so the \
         number counts as microseconds",
    );
    check_said(
        "runtime=1m30s",
        "warning odd-value 3:9 value `1m30s` of `runtime`: `m30s` is not a time unit of fio, so \
         the \
         number counts as microseconds",
    );
    check_said(
        "runtime=0.5",
        "warning odd-value 3:9 value `0.5` of `runtime`: `.5` is ignored: the number ends at its \
         decimal point",
    );
    check_said(
        "bs=4kib",
        "warning odd-value 3:4 value `4kib` of `bs`: `kib` counts in powers of 1000 with \
         kb_base=1024; write `k` for 1024",
    );
    check_said(
        "bs=4k-8k",
        "warning odd-value 3:4 value `4k-8k` of `bs`: gives reads the first number and writes and \
         trims the second; write a comma between them, or bsrange for a range of block sizes",
    );
    check_said(
        "bssplit=4k/40:8k/50",
        "warning odd-value 3:9 value `4k/40:8k/50` of `bssplit`: has shares that add up to 90; the \
         last takes the rest",
    );
}

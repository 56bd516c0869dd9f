//! Verdicts compared with the fio that is installed: what it accepts parses, what it rejects does
//! not. Where we differ on purpose, the list says why.

mod support;

use std::process::{Command, Stdio};

use support::all_shown;
use support::fio::parse;

/// Lines of a job that fio 3.33 accepts, and we too.
const ACCEPTED: &[&str] = &[
    "threads=1",
    "ioengine=nulll",
    "ioengine=libaio,foo",
    "norandommap",
    "norandommap=0",
    "norandommap=2",
    "direct=0x1",
    "stonewall=0",
    "group_reporting=-1",
    "thread=1",
    "iodepth=4k",
    "iodepth=4,8",
    "iodepth=4:8",
    "iodepth=1.5",
    "iodepth=4 k",
    "iodepth= 4",
    "iodepth=0x10",
    "iodepth=10x",
    "iodepth=4kfoo",
    "iodepth=+4",
    "rwmixread=50%",
    "numjobs=1m",
    "log_avg_msec=1000",
    "latency_percentile=99.9",
    "size=50%",
    "size=0%",
    "size=10z",
    "size=1mx",
    "size=1xm",
    "offset=10%",
    "filesize=1k-4k",
    "filesize=4k",
    "filesize=4k:1k",
    "zoneskip=5z",
    "bs=4k,8k,16k,32k",
    "bs=,8k",
    "bs=8k,",
    "bs=4k:8k",
    "bs=4k,,",
    "bs=4k;5",
    "bs=4k-8k",
    "bsrange=1k-4k,8k-16k",
    "bsrange=1k-4k/8k-16k",
    "bsrange=4k-1k",
    "bsrange=1k:4k",
    "bssplit=4k",
    "bssplit=4k/",
    "bssplit=4k/50:8k",
    "bssplit=4k/50,8k/50:4k/50",
    "bssplit=4k/50:",
    "bssplit=4k/40:8k/50",
    "bssplit=,4k/50:8k/50",
    "rate=1m,2m",
    "rate=,500k",
    "rate=1m,",
    "rate=1m/s",
    "rate=1MiB",
    "rate_iops=10.5",
    "kb_base=1000",
    "runtime=2sec",
    "runtime=1m30s",
    "runtime=0.5",
    "runtime=5us",
    "runtime=5msec",
    "runtime=5D",
    "runtime=5 s",
    "runtime=5k",
    "startdelay=1-5",
    "startdelay=1s:5s",
    "startdelay=1-",
    "thinktime=5",
    "max_latency=1s",
    "latency_target=5ms",
    "rw=read:8k",
    "rw=read:-8k",
    "rw=read:",
    "rw=randread:8",
    "rw=randread:1m",
    "rw=randtrimwrite",
    "ioengine=null",
    "random_distribution=zipf",
    "random_distribution=zipf:1.2",
    "random_distribution=zipf:1.2:0.5",
    "random_distribution=pareto:0.2",
    "random_distribution=normal:20",
    "random_distribution=normal",
    "random_distribution=random",
    "random_distribution=zoned:60/10:40/90",
    "random_distribution=zoned:60/10:30/20:10/70",
    "random_distribution=zoned:60/10:40",
    "random_distribution=zoned_abs:60/20k:40/1m",
    "verify=md5",
    "verify=0",
    "verify=crc32c-intel",
    "verify=sha3-256",
    "fallocate=0",
    "fallocate=1",
    "fallocate=keep",
    "sync=sync",
    "sync=1",
    "sync=dsync",
    "continue_on_error=all",
    "continue_on_error=1",
    "clocksource=cpu",
    "unified_rw_reporting=both",
    "unified_rw_reporting=2",
    "exit_what=all",
    "exitall",
    "zonemode=strided",
    "zonemode=zbd",
    "file_service_type=random",
    "file_service_type=random:8",
    "file_service_type=zipf:1.2",
    "sync_file_range=write:8",
    "sync_file_range=wait_before,write:8",
    "mem=mmap:/tmp/x",
    "mem=malloc",
    "ignore_error=EIO,ENOSPC:122",
    "ignore_error=EIO",
    "ss=iops:10%",
    "ss=iops_slope:0.1%",
    "numa_mem_policy=bind:0",
    "write_hint=short",
    "description=\"a=b\"",
    "name=x y",
    "write_bw_log",
    "write_bw_log=x",
    "filename=a:b",
    "filename=a\\:b",
    "filename=\"a b\"",
    "directory=/nonexist",
    "opendir=/nonexist",
    "filename_format=$jobnum.$foo",
    "percentile_list=1:2:3",
    "percentile_list=99.9999999",
    "cpumask=3",
    "numa_cpu_nodes=0",
    "cpus_allowed=0",
    "buffer_pattern=0xdead",
    "buffer_pattern=0xdea",
    "buffer_pattern=-12",
    "buffer_pattern=12345",
    "buffer_pattern=\"abcd\"-12",
    "buffer_pattern=\"abcd\"-120xdeadface",
    "verify_pattern=%o",
    "verify_pattern=0xff%o",
    "ioengine=libaio\nuserspace_reap",
    "ioengine=io_uring\nhipri\nfixedbufs",
    "hipri\nioengine=pvsync2",
    "ioengine=rbd\npool=x\nrbdname=y",
    "ioengine=posixaio",
    "ioengine=net\nhostname=localhost\nport=8888\nlisten",
    "ioengine=cpuio\ncpuload=50",
    "size=$pagesize*4",
    "[global2]\nbs=8k\n[b]\nsize=8k",
    "rate=1m\nrate_iops=10",
    "wait_for=b",
    "rate_min=2m\nrate=1m",
    "size=1k",
    "time_based",
    "verify=md5\nbs=16\nrw=write",
    "zonemode=none\nzonesize=4k",
    "ss=iops:10%\nss_dur=5\nruntime=1",
];

/// Lines of a job that fio 3.33 rejects, and we too.
const REJECTED: &[&str] = &[
    "norandommap=",
    "norandommap=foo",
    "direct",
    "direct=",
    "direct=2",
    "direct=x",
    "direct=\"1\"",
    "iodepth=0",
    "iodepth=4z",
    "iodepth=foo",
    "iodepth=k",
    "iodepth=",
    "iodepth=4%",
    "iodepth=\"4\"",
    "rwmixread=110",
    "rwmixread=50k",
    "prioclass=4",
    "prio=8",
    "nice=20",
    "invalidate=on",
    "exec_prerun=",
    "prio=",
    "randseed=18446744073709551615",
    "latency_percentile=101",
    "size=foo",
    "io_size=200%",
    "zonesize=5z",
    "bs=0",
    "bs=,",
    "bsrange=1k",
    "bsrange=1k-",
    "bssplit=foo",
    "kb_base=1",
    "runtime=foo",
    "startdelay=x",
    "rw=READ",
    "rw=rad",
    "rw=reads",
    "rw=\"read\"",
    "random_distribution=zipf:1",
    "random_distribution=zipf:1.2:2",
    "random_distribution=zipf:abc",
    "random_distribution=pareto:1.2",
    "random_distribution=pareto:1.0",
    "random_distribution=pareto:0",
    "random_distribution=normal:101",
    "random_distribution=foo",
    "random_distribution=zoned:60/10:40/100",
    "random_distribution=zoned:60/10:/90",
    "random_distribution=zoned:60/10:30/20",
    "random_distribution=zoned",
    "random_distribution=zoned_abs:60/20k:30/1m",
    "random_distribution=zipf:1.2,1.3",
    "verify=foo",
    "verify=1",
    "sync=2",
    "clocksource=foo",
    "zonemode=foo",
    "file_service_type=foo",
    "sync_file_range=foo:8",
    "mem=foo",
    "ss=iops",
    "ss=foo",
    "ss_dur=x",
    "thinktime_blocks_type=foo",
    "description=",
    "wait_for=",
    "filename=",
    "percentile_list=a",
    "percentile_list=101",
    "buffer_pattern=\"abc",
    "buffer_pattern='nofile'",
    "buffer_pattern=%o",
    "buffer_pattern=abc",
    "buffer_pattern=12x",
    "buffer_pattern=0xzz",
    "buffer_pattern=99999999999999999999",
    "buffer_pattern=\"a#b\"",
    "foo=1",
    "size 1m",
    "=5",
    "blocksizee=4k",
    "BS=8k",
    "output-format=json",
    "rwmixcycle=1",
    "percentage_sequential=1",
    "hipri",
    "userspace_reap",
    "spdk_json_conf=x",
    "ioengine=spdk\nspdk_json_conf=x",
    "verify=md5\nverify_interval=16",
    "filename=/x-$ncpus",
    "size=$size",
    "size=${HOME",
    "size=${NOT_SET_HERE}",
];

/// What fio 3.33 takes and we refuse, with the reason.
const STRICTER: &[(&str, &str)] = &[
    ("size=-1", "a size below zero"),
    ("size=150%", "more than the whole"),
    ("rw=read,write", "fio reads and does not write"),
    ("rw=read:x", "not a number"),
    ("rw=randread:0", "has 0 as the I/Os between two draws"),
    ("bsrange=0-4k", "a block of 0 bytes"),
    ("bssplit=4k/101", "shares above 100"),
    ("bssplit=4k/60:8k/50", "shares above 100"),
    ("bssplit=4k/x", "not a share"),
    ("bssplit=:", "no size"),
    ("bssplit=0/50:4k/50", "a block of 0 bytes"),
    ("random_distribution=zipf:0", "no exponent"),
    ("percentile_list=1,2", "only the first number would count"),
    ("cpus_allowed=a", "not a number"),
    ("cpus_allowed=1-0", "an empty list"),
    ("runtime=-1", "a time below zero"),
    ("filename=:", "no file"),
    ("iodepth=-4", "fio says so too, but goes on"),
    ("percentile_list=1:", "the same"),
    ("percentile_list=1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21", "the same"),
    ("include /nonexist/file", "the same"),
];

/// What fio 3.33 refuses and we take, with the reason.
const LAXER: &[(&str, &str)] = &[
    ("size=(2*1024)k", "expressions are documented, but Debian's build lacks them"),
    ("runtime=(2*3)", "the same"),
    ("random_distribution=sequence:1,2", "newer than 3.33"),
    ("random_distribution=gauss:20", "the name other tools use"),
    ("random_distribution=zoned:50/50:50/50,zoned:20/50:80/50", "documented"),
];

fn job(lines: &str) -> String {
    format!("[a]\nioengine=null\nsize=1m\n{lines}\n")
}

/// Asks the installed fio whether it accepts all of these texts; `None` without fio.
fn fio_accepts(texts: &[String]) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let mut fio = Command::new("/usr/bin/fio");
    fio.arg("--parse-only").env("HOME", "/root").env_remove("NOT_SET_HERE");
    for (idx, text) in texts.iter().enumerate() {
        let path = folder.path().join(format!("{idx}.fio"));
        std::fs::write(&path, text).unwrap();
        fio.arg(path);
    }
    let status = fio.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.ok().map(|status| status.success())
}

fn we_accept(text: &str) -> bool {
    !parse(text).has_errors()
}

#[test]
fn accepts_what_fio_accepts() {
    for lines in ACCEPTED {
        let parsed = parse(&job(lines));
        assert!(!parsed.has_errors(), "{lines:?}: {}", all_shown(&parsed.diagnostics));
    }
}

#[test]
fn rejects_what_fio_rejects() {
    for lines in REJECTED {
        assert!(!we_accept(&job(lines)), "{lines:?} parses");
    }
}

#[test]
fn the_installed_fio_accepts_the_accepted() {
    let texts: Vec<String> = ACCEPTED.iter().map(|lines| job(lines)).collect();
    match fio_accepts(&texts) {
        None => testing::skipped!("no /usr/bin/fio"),
        Some(true) => {}
        Some(false) => {
            let differ = ACCEPTED.iter().filter(|lines| fio_accepts(&[job(lines)]) == Some(false));
            panic!("fio rejects {:?}", differ.collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_installed_fio_rejects_the_rejected() {
    for lines in REJECTED {
        match fio_accepts(&[job(lines)]) {
            None => return testing::skipped!("no /usr/bin/fio"),
            Some(accepted) => assert!(!accepted, "fio accepts {lines:?}"),
        }
    }
}

#[test]
fn differences_are_those_listed() {
    for (lines, why) in STRICTER {
        assert!(!we_accept(&job(lines)), "{lines} should be refused: {why}");
    }
    for (lines, why) in LAXER {
        let findings = all_shown(&parse(&job(lines)).diagnostics);
        assert!(we_accept(&job(lines)), "{lines} should be taken: {why}; {findings}");
    }
}

//! Parameter files from the field in other words: what is written is accepted and means the same,
//! or what cannot be said is listed. Skipped where the corpus is absent.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use dialects::vdbench::lower::{Context, step};
use dialects::vdbench::run::Rate;
use dialects::vdbench::{self, Options, Parsed, parse_files, parse_text};
use dialects::{Loader, LowerOptions, fio, native};
use plan::{Diagnostic, Plan, Severity};
use support::{FolderHost, MapHost, all_shown, difference, rows};

/// Returns the plan of a file's runs, and what stands against it.
fn plan_of(parsed: &Parsed, loader: &dyn Loader) -> (Plan, Vec<Diagnostic>) {
    let (mut findings, mut steps, mut curve_step_idx, mut n_groups) = (vec![], vec![], None, 0);
    for (idx, run) in parsed.runs.iter().enumerate() {
        if run.rate == Rate::CurveMax {
            curve_step_idx = Some(idx as u32);
        }
        let context = Context { curve_step_idx, first_group_id: n_groups, loader, sources: &[] };
        let step = step(run, context, &mut findings);
        n_groups += step.jobs.len() as u32;
        steps.push(step);
    }
    let mut plan = Plan { steps, ..Plan::default() };
    plan.jobs_mut().for_each(|job| job.options.clear());
    (plan, findings)
}

/// Calls it for every accepted file of one host that runs, with its plan. Returns how many.
fn each(check: impl Fn(&str, &Parsed, &Plan)) -> usize {
    let Some(path) = testing::corpus("vdbench", "index.tsv") else { return usize::MAX };
    let folder = FolderHost { path, host: MapHost::default() };
    let mut n_files = 0;
    for columns in rows(&folder.path, "index.tsv") {
        let parsed = parse_files(&[&columns[0]], &Options::default(), &folder);
        if parsed.has_errors() || parsed.remote_hosts().count() > 0 {
            continue;
        }
        let (plan, findings) = plan_of(&parsed, &folder);
        let is_fine = findings.iter().all(|found| found.severity != Severity::Error);
        if is_fine && parsed.refusals.is_empty() {
            check(&columns[0], &parsed, &plan);
            n_files += 1;
        }
    }
    println!("{n_files} files");
    n_files
}

#[test]
fn plans_of_our_own_are_the_same_plan() {
    let n_files = each(|file, _, plan| {
        let text = native::write(plan).text;
        let mut read =
            native::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
        assert!(!read.has_errors(), "{file}: {text}\n{}", all_shown(&read.diagnostics));
        read.plan.jobs_mut().for_each(|job| job.options.clear());
        read.plan.sources.clear();
        assert!(read.plan == *plan, "{file}: {}", difference(plan, &read.plan));
    });
    assert!(n_files > 50);
}

#[test]
fn job_files_of_fio_are_accepted_or_nothing_is_said() {
    let n_files = each(|file, _, plan| {
        let written = fio::write(plan);
        if written.is_empty() {
            assert!(!written.losses.is_empty(), "{file}");
            return;
        }
        let read =
            fio::parse_text("t", &written.text, &LowerOptions::default(), &MapHost::default());
        let found = all_shown(&read.diagnostics);
        assert!(!read.has_errors(), "{file}: {}\n{found}", written.text);
        let has_curve = plan.steps.iter().any(|step| step.rate_of.is_some());
        assert!(!has_curve || written.losses.iter().any(|loss| loss.contains("curve")), "{file}");
    });
    assert!(n_files > 50);
}

/// Plans are not only made of parameter files: what is written of a plan alone is accepted, too.
#[test]
fn parameter_files_of_plans_are_accepted() {
    let n_files = each(|file, parsed, plan| {
        let written = vdbench::write(plan);
        let again = parse_text("t", &written.text, &Options::default(), &MapHost::default());
        let (text, found) = (&written.text, all_shown(&again.diagnostics));
        assert!(!again.has_errors(), "{file}: {text}\n{found}\n{:?}", written.losses);
        let is_listed = !written.losses.is_empty();
        assert!(again.runs.len() == parsed.runs.len() || is_listed, "{file}: {text}");
    });
    assert!(n_files > 50);
}

#[test]
fn threads_are_the_ios_that_a_job_has_in_flight() {
    for (engine, threads, no_map) in
        [("psync", 2, 0), ("mmap", 2, 0), ("io_uring", 64, 0), ("libaio", 64, 1)]
    {
        let text = format!(
            "[j]\nfilename=/mnt/a/f\nsize=1g\nrw=randread\nbs=4k\niodepth=32\nnumjobs=2\n\
             ioengine={engine}\nnorandommap={no_map}\ntime_based\nruntime=5\n"
        );
        let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
        assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
        let written = vdbench::write(&read.plan);
        assert!(written.text.contains(&format!(",threads={threads},")), "{}", written.text);
        let reported =
            written.losses.iter().any(|loss| loss.starts_with("every random block once"));
        assert_eq!(reported, no_map == 0, "{:?}", written.losses);
    }
}

/// Parts of a text.
type Parts = &'static [&'static str];

#[test]
fn what_jobs_ask_for_is_said_or_listed() {
    let cases: &[Case<'_>] = &[
        (
            "[a]\nrw=write\nbs=64k\nrate_iops=100\n[b]\nrw=randread\nbs=4k\n",
            &[
                "xfersize=65536,seekpct=0,iorate=100,priority=1\n",
                "seekpct=100,priority=2\n",
                "iorate=max",
            ],
            &["skew="],
            &[],
        ),
        (
            "[a]\nrw=write\nbs=64k\nrate_iops=100\n[b]\nrw=randread\nbs=4k\nrate=1200k\n",
            &["skew=25\n", "skew=75\n", "iorate=400,"],
            &[],
            &["jobs that keep their rates when another falls behind its own"],
        ),
        (
            "[a]\nrw=randread\nbssplit=4k/50:8k/50\nrate=1m\n",
            &["iorate="],
            &[],
            &["a rate in bytes where sizes differ"],
        ),
        (
            "[t]\nrw=trim\nbs=4k\n[r]\nrw=randread\nbs=4k\n",
            &["wd=r,"],
            &["wd=t,", "sd=t,"],
            &["trims: Vdbench has none, and `t` is left out"],
        ),
        (
            "[w]\nrw=randwrite\nbs=4k\ndedupe_percentage=30\n",
            &[],
            &["dedup"],
            &["share of duplicate blocks, percent (`dedupe_percentage=30`)"],
        ),
        (
            "[s]\nrw=write\nbs=4k\nnumjobs=2\n",
            &["threads=2,"],
            &[],
            &["a pass of its own for each of 2 workers (`s`)"],
        ),
        (
            "[c]\nrw=randwrite\nbs=4k\nbuffer_compress_percentage=50\n[r]\nrw=randread\nbs=4k\n",
            &["compratio=2\n"],
            &[],
            &[],
        ),
        (
            "[c]\nrw=randwrite\nbs=4k\nbuffer_compress_percentage=50\n[p]\nrw=randwrite\nbs=4k\n",
            &["compratio=2\n"],
            &[],
            &["compression that differs between jobs"],
        ),
    ];
    for case in cases {
        check_words(case);
    }
}

#[test]
fn where_and_in_which_order_jobs_go_is_said_or_listed() {
    let cases: &[Case<'_>] = &[
        (
            "[o]\nrw=randwrite\nbs=8k\noffset=2m\nsize=4m\n",
            &["size=6291456,offset=2097152"],
            &[],
            &[],
        ),
        (
            "[m]\nrw=randrw\nrwmixread=50\nbs=4k\nrate_iops=300,100\n",
            &["rdpct=75,", "iorate=400,"],
            &[],
            &[],
        ),
        ("[d]\nrw=randread:4\nbs=4k\n", &["seekpct=25\n"], &[], &[]),
        (
            "[d]\nrw=read:4k\nbs=4k\n",
            &["seekpct=0\n"],
            &[],
            &["a distance between sequential I/Os"],
        ),
        (
            "[f]\nfilename=/mnt/a/f:/mnt/a/g\nrw=randread\nbs=4k\nnumjobs=3\n",
            &["threads=1,"],
            &[],
            &["3 I/Os in flight over 2 files (`f`): threads=1 is for each of them"],
        ),
    ];
    for case in cases {
        check_words(case);
    }
}

/// What would write where the job does not, or make what it does not, is left out or listed.
#[test]
fn no_byte_that_a_job_leaves_alone_is_written() {
    let of_device: &[Case<'_>] = &[
        (
            "[d]\ndirect=0\nrw=write\nbs=4k\n",
            &["lun=/dev/sdx,", "openflags=o_direct"],
            &[],
            &["the page cache: Vdbench takes `/dev/sdx` with direct I/O only", "the first block"],
        ),
        (
            "[d]\ndirect=0\nrw=write\nbs=4k\noffset=512m\nverify=crc32c\n",
            &["size=1610612736,offset=536870912", "openflags=o_direct"],
            &[],
            &["the page cache", "the first block", "how blocks prove their contents"],
        ),
    ];
    for case in of_device {
        check_words_of("/dev/sdx", case);
    }
    let of_files: &[Case<'_>] = &[
        (
            "[g]\nrw=write:4k\nbs=4k\n[r]\nrw=read\nbs=4k\n",
            &["wd=r,"],
            &["wd=g,"],
            &["`g` is left out: it leaves bytes between its writes alone"],
        ),
        (
            "[c]\nrw=write\nbs=4k\nallow_file_create=0\n",
            &["wd=c,"],
            &[],
            &["missing files may be created (`allow_file_create=0`)"],
        ),
    ];
    for case in of_files {
        check_words(case);
    }
}

/// Jobs of fio, what stands in the parameter file, what does not, and what is listed as lost.
type Case<'a> = (&'a str, Parts, Parts, Parts);

/// Vdbench aligns by storage definition, and wants it for sizes between two.
#[test]
fn alignment_stands_at_the_storage() {
    let cases: &[Case<'_>] = &[
        (
            "[r]\nrw=randread\nbsrange=4k-16k\n",
            &["align=4096,openflags=o_direct\n", "xfersize=(4096,16384,4096)"],
            &[],
            &[],
        ),
        (
            "[r]\nrw=randread\nbs=4k\nblockalign=64k\n",
            &["align=65536,openflags=o_direct\n"],
            &[],
            &[],
        ),
    ];
    for case in cases {
        check_words(case);
    }
}

#[track_caller]
fn check_words(case: &Case<'_>) {
    check_words_of("/mnt/a/f", case);
}

/// Checks a job that ends everything when it fails, as in Vdbench.
#[track_caller]
fn check_words_of(target: &str, (jobs, said, unsaid, lost): &Case<'_>) {
    let jobs = format!("exitall_on_error=1\n{jobs}");
    check_words_alone(target, &(&jobs, said, unsaid, lost));
}

#[track_caller]
fn check_words_alone(target: &str, (jobs, said, unsaid, lost): &Case<'_>) {
    let text = format!(
        "[global]\nfilename={target}\nsize=1g\nioengine=io_uring\nnorandommap\ntime_based\n\
         runtime=5\ndirect=1\n{jobs}"
    );
    let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
    assert!(!read.has_errors(), "{jobs}: {}", all_shown(&read.diagnostics));
    let written = vdbench::write(&read.plan);
    let text = &written.text;
    said.iter().for_each(|part| assert!(text.contains(part), "{jobs}: {part}: {text}"));
    unsaid.iter().for_each(|part| assert!(!text.contains(part), "{jobs}: {part}: {text}"));
    let losses = &written.losses;
    assert_eq!(losses.len(), lost.len(), "{jobs}: {losses:?}");
    losses.iter().zip(*lost).for_each(|(loss, part)| assert!(loss.starts_with(part), "{loss}"));
    let again = parse_text("t", text, &Options::default(), &MapHost::default());
    assert!(!again.has_errors(), "{text}: {}", all_shown(&again.diagnostics));
}

/// What lies in `/dev/shm` is a file: it may be in the page cache, and is made where it is missing.
#[test]
fn files_in_shared_memory_are_files() {
    let buffered = "[a]\nrw=randread\nbs=4k\ndirect=0\ninvalidate=0\nfadvise_hint=0\n";
    check_words_of("/dev/shm/f", &(buffered, &["lun=/dev/shm/f,"], &["o_direct"], &[]));
    let of_device = &["lun=/dev/sdx,", "o_direct"];
    let lost = &[
        "the page cache: Vdbench takes `/dev/sdx` with direct I/O only",
        "the first block of a device",
    ];
    check_words_of("/dev/sdx", &(buffered, of_device, &[], lost));
}

/// What has words of its own in Vdbench comes back from a plan of our own, and is not reported as
/// lost.
#[test]
fn what_came_from_vdbench_comes_back_and_is_not_lost() {
    let raw = "sd=sd1,lun=/mnt/a/f,size=1g,hitarea=1m,align=8k\n\
               wd=wd1,sd=sd1,rdpct=50,rhpct=50,whpct=20,xfersize=(8k,64k,8k)\n\
               rd=rd1,wd=wd1,iorate=500,elapsed=5,interval=1\n";
    let said = ["hitarea=1048576", "align=8192", "rhpct=50,whpct=20", "iorate=500"];
    check_return(raw, &said);
    let shared = "hd=localhost,jvms=4\nsd=sd1,lun=/mnt/a/f,size=1g,threads=8\n\
                  wd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=5,interval=1\n";
    let text = check_return(shared, &["hd=localhost,jvms=4\n", "threads=8,", "sd=(sd1)"]);
    assert_eq!(text.matches("lun=").count(), 1, "{text}");
    let files = "fsd=fsd1,anchor=/mnt/a,depth=1,width=2,files=10,sizes=64k\n\
                 fwd=format,threads=2,xfersize=64k\n\
                 fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,threads=2\n\
                 rd=r1,fwd=fwd1,fwdrate=100,elapsed=2,interval=1,format=yes\n";
    check_return(files, &["fwd=format,threads=2,xfersize=65536\n", "format=yes"]);
    let usual = files.replace("fwd=format,threads=2,xfersize=64k\n", "");
    assert!(!check_return(&usual, &["format=yes"]).contains("fwd=format"));
    for io in ["random", "(random,shared)", "sequential", "sequentialnz", "(seq,delete)"] {
        let written = usual.replace("read,xfersize", &format!("write,fileio={io},xfersize"));
        check_return(&written, &[&format!("fileio={io}")]);
    }
    let nonzero = usual.replace("read,xfersize", "write,fileio=(seqnz,delete),xfersize");
    let parsed = parse_text("t", &nonzero, &Options::default(), &MapHost::default());
    let written = vdbench::write(&plan_of(&parsed, &MapHost::default()).0).text;
    assert!(written.contains("fileio=(sequentialnz,delete)"), "{written}");
    for select in ["seq", "seqnz", "(poisson,4)", "(skewed,2)", "(random,once,notfull)"] {
        let selected =
            usual.replace("read,xfersize", &format!("read,fileselect={select},xfersize"));
        check_return(&selected, &[&format!("fileselect={select}")]);
    }
}

/// Returns what is written of a file whose plan was written as one of ours before.
#[track_caller]
fn check_return(text: &str, said: &[&str]) -> String {
    let parse = |text: &str| parse_text("t", text, &Options::default(), &MapHost::default());
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let own = native::write(&plan_of(&parsed, &MapHost::default()).0).text;
    let read = native::parse_text("t", &own, &LowerOptions::default(), &MapHost::default());
    let written = vdbench::write(&read.plan);
    let words = ["hit_area", "rate_total", "block_align", "compress", "format", "randseed", "flow"];
    for word in words.into_iter().chain(["an end by amount"]) {
        let is_lost = written.losses.iter().any(|loss| loss.contains(word));
        assert!(!is_lost, "{word}: {:?}", written.losses);
    }
    for part in said {
        assert!(written.text.contains(part), "{part}: {}", written.text);
    }
    let again = parse(&written.text);
    assert!(!again.has_errors(), "{}: {}", written.text, all_shown(&again.diagnostics));
    assert_eq!(again.runs.len(), parsed.runs.len(), "{}", written.text);
    written.text
}

/// `format=` of a run removes what is in all its structures.
#[test]
fn a_format_never_goes_to_another_structure() {
    let text = "fsd=fsd1,anchor=/mnt/a,depth=1,width=1,files=10,sizes=64k\n\
                fsd=fsd2,anchor=/mnt/b,depth=1,width=1,files=10,sizes=64k\n\
                fwd=fwd1,fsd=fsd1,operation=read\nfwd=fwd2,fsd=fsd2,operation=read\n\
                rd=r0,fwd=fwd1,fwdrate=max,elapsed=2,interval=1,format=(yes,only)\n\
                rd=r1,fwd=fwd2,fwdrate=max,elapsed=2,interval=1\n";
    let written = check_return(text, &["fsd=(fsd1),", ",format=(yes,only)\n"]);
    let run = written.lines().find(|line| line.starts_with("rd=r1,")).expect("a run");
    assert!(!run.contains("format="), "{written}");
}

/// Many equal shares are each as near as two decimals say.
#[test]
fn no_share_takes_what_the_rounding_of_others_leaves() {
    let mut text = String::new();
    for idx in 0..64 {
        text +=
            &format!("[j{idx}]\nfilename=/mnt/a/f{idx}\nsize=1g\nrw=randread\nflow=1\nflow_id=1\n");
    }
    let read = fio::parse_text("t", &text, &LowerOptions::default(), &MapHost::default());
    let written = vdbench::write(&read.plan);
    let skews = written.text.lines().filter_map(|line| line.split_once("skew=")?.1.parse().ok());
    let skews: Vec<f64> = skews.collect();
    assert_eq!((skews.len(), skews.iter().sum::<f64>().round()), (64, 100.0));
    assert!(skews.iter().all(|pct| (pct - 100.0 / 64.0).abs() < 0.01), "{skews:?}");
}

#[test]
fn hot_bands_and_even_gaps_come_back() {
    let text = "sd=sd1,lun=/mnt/a/f,size=1g\nwd=wd1,sd=sd1,hotband=(10,30)\n\
                rd=rd1,wd=wd1,iorate=50,elapsed=5,interval=1,distribution=uniform\n";
    let parsed = parse_text("t", text, &Options::default(), &MapHost::default());
    let own = native::write(&plan_of(&parsed, &MapHost::default()).0).text;
    let read = native::parse_text("t", &own, &LowerOptions::default(), &MapHost::default());
    let written = vdbench::write(&read.plan);
    for part in [",hotband=(10,30)", ",distribution=uniform"] {
        assert!(written.text.contains(part), "{part}: {}", written.text);
    }
    let is_about = |loss: &&String| loss.contains("spread") || loss.contains("gaps");
    assert_eq!(written.losses.iter().find(is_about), None);
}

#[test]
fn ratios_of_contents_become_shares() {
    let text = "compratio=2\ndedupratio=4\ndedupunit=4k\nsd=sd1,lun=/mnt/a/f,size=1g\n\
                wd=wd1,sd=sd1,rdpct=0,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=5,interval=1\n";
    let parsed = parse_text("t", text, &Options::default(), &MapHost::default());
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let written = fio::write(&plan_of(&parsed, &MapHost::default()).0);
    assert!(written.text.contains("buffer_compress_percentage=50\n"), "{}", written.text);
    assert!(written.text.contains("dedupe_percentage=50\n"), "no more than is left");
    let unsaid = |loss: &&String| loss.contains("_ratio=");
    assert_eq!(written.losses.iter().find(unsaid), None);
    let read = fio::parse_text("t", &written.text, &LowerOptions::default(), &MapHost::default());
    assert!(!read.has_errors(), "{}", all_shown(&read.diagnostics));
}

/// Losses that nothing reported before values were read back.
#[test]
fn what_the_written_file_does_otherwise_is_listed() {
    let cases: &[Case<'_>] = &[
        // Reads from memory and from the disk are not the same load.
        (
            "[b]\nrw=randread\nbs=4k\ndirect=0\n",
            &["seekpct=100"],
            &[],
            &["pages of the files are dropped from the cache first", "advice to the kernel"],
        ),
        (
            "[e]\nrw=randread\nbs=4k\nioengine=libaio\n",
            &[],
            &[],
            &["how I/O is issued (`ioengine=libaio`)"],
        ),
        (
            "[g]\nrw=randread\nbs=4k\ngroup_reporting=1\n",
            &[],
            &[],
            &["one result per group instead of per worker (`group_reporting=1`)"],
        ),
        (
            "[f]\nrw=randread\nbs=4k\nfadvise_hint=random\n",
            &[],
            &[],
            &["advice to the kernel about buffered access (`fadvise_hint=random`)"],
        ),
        // Progress in proportion comes back as shares.
        (
            "[a]\nrw=randread\nbs=4k\nflow=3\nflow_id=1\n\
             [b]\nrw=randread\nbs=8k\nflow=1\nflow_id=1\n",
            &["skew=75\n", "skew=25\n"],
            &[],
            &["how far a job may be ahead of its share: Vdbench lets it be 2000 I/Os"],
        ),
        (
            "[a]\nrw=rw\nbs=4k\n",
            &["rdpct=50"],
            &[],
            &["a place of its own that each of reads and writes goes on from"],
        ),
    ];
    for case in cases {
        check_words(case);
    }
}

/// What happens at a failed I/O is another thing in each tool, also where a job says nothing of it.
#[test]
fn what_becomes_of_failed_ios_is_said_or_listed() {
    const OTHERS: &str = "jobs that go on when another has failed";
    const RUNS: &str = "jobs that have met failed I/Os and are as good as others";
    const DIFFER: &str = "how many failed I/Os each job survives";
    let cases: &[Case<'_>] = &[
        ("[a]\nrw=randread\n", &["data_errors=1\n"], &[], &[]),
        ("[a]\nrw=randread\nnumjobs=2\n", &["data_errors=1\n"], &[], &[OTHERS]),
        ("[a]\nrw=randread\nnumjobs=2\nexitall_on_error=1\n", &["data_errors=1\n"], &[], &[]),
        ("[a]\nrw=randread\ncontinue_on_error=read\n", &["data_errors=2147483647\n"], &[], &[RUNS]),
        ("[a]\nrw=randrw\ncontinue_on_error=all\n", &["data_errors=2147483647\n"], &[], &[RUNS]),
        (
            "[a]\nrw=randrw\ncontinue_on_error=read\n",
            &["data_errors=1\n"],
            &[],
            &["failed reads that are survived and writes that are not"],
        ),
        (
            "[a]\nrw=randread\n[b]\nrw=randread\nbs=8k\ncontinue_on_error=all\n",
            &["data_errors=1\n"],
            &[],
            &[OTHERS, DIFFER],
        ),
    ];
    for case in cases {
        check_words_alone("/mnt/a/f", case);
    }
}

/// `data_errors=` comes back, and fio has none for one that ends a job.
#[test]
fn data_errors_come_back_and_end_jobs_of_fio() {
    for (line, of_fio) in [
        ("", "continue_on_error=io"),
        ("data_errors=7\n", "continue_on_error=io"),
        ("data_errors=(7,3)\n", "continue_on_error=io"),
        ("data_errors=1\n", "exitall_on_error=1"),
    ] {
        let text = format!(
            "{line}sd=sd1,lun=/mnt/a/f,size=1g\nwd=wd1,sd=sd1\n\
             rd=rd1,wd=wd1,iorate=max,elapsed=5,interval=1\n"
        );
        let back = check_return(&text, &[line]);
        assert_eq!(back.contains("data_errors"), !line.is_empty(), "{back}");
        let parsed = parse_text("t", &text, &Options::default(), &MapHost::default());
        let written = fio::write(&plan_of(&parsed, &MapHost::default()).0);
        assert!(written.text.contains(of_fio), "{line}{}", written.text);
        let goes_on = line != "data_errors=1\n";
        assert_eq!(written.text.contains("continue_on_error"), goes_on, "{}", written.text);
        let is_lost = written.losses.iter().any(|loss| loss.starts_with("an end after so many"));
        assert_eq!(is_lost, goes_on, "{:?}", written.losses);
    }
}

/// A job on a million files would be a text of as many lines, and minutes of reading it back.
#[test]
fn a_job_on_too_many_files_is_left_out() {
    let text = "[j]\ndirectory=/mnt/a\nrw=read\nbs=64k\nfilesize=64k\nnrfiles=20000\nnumjobs=50\n";
    let read = fio::parse_text("t", text, &LowerOptions::default(), &MapHost::default());
    let written = vdbench::write(&read.plan);
    assert!(written.is_empty(), "{}", written.text);
    let [loss] = &written.losses[..] else { panic!("{:?}", written.losses) };
    assert!(loss.starts_with("`j` is left out: it has 1000000 files"), "{loss}");
}

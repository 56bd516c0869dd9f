//! Composite workloads on emulated volumes.

use dialects::native::parse_text;
use dialects::{LowerOptions, NO_HOST, Overrides};
use plan::Plan;
use record::{JobRecord, Record};

use crate::bench::{Bench, design, one_p30, p30};

/// The look-alike of EDA, for as many job sets, with files that are laid out within a second.
fn eda(load: u32, runtime: &str) -> Plan {
    let text = include_str!("../../../../docs/workloads/eda.toml");
    let text = text.replace("folders = 137", "folders = 2").replace("300s", runtime);
    let text = text.replace("\"60s\"", "\"0s\"");
    let remap = vec![("/mnt/vol".to_owned(), "/mnt/p30".to_owned())];
    let overrides = Overrides { remap, load: Some(load), ..Overrides::default() };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    let parsed = parse_text("eda.toml", &text, &wishes, &NO_HOST);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{:?}", parsed.diagnostics);
    parsed.plan
}

fn measured(record: &Record) -> Vec<&JobRecord> {
    for job in &record.jobs {
        assert_eq!((job.error_errno, &*job.error_message), (0, ""), "{}", job.name);
    }
    record.jobs.iter().filter(|job| job.step_idx == 1).collect()
}

fn seconds(job: &JobRecord) -> f64 {
    job.runtime_ns as f64 / 1e9
}

/// What is published: 450 operations per second of a job set, each process at its rate, the shares
/// of both components, 3.78 MB/s read and 3.45 MB/s written.
#[test]
fn a_job_set_of_eda_comes_to_what_is_published() {
    let bench = Bench::new(one_p30());
    let record = bench.try_plan(&eda(1, "600s"), |_| {}).expect("it runs");
    let jobs = measured(&record);
    assert_eq!(jobs.len(), 5);
    for job in &jobs {
        let rate = job.n_ios() as f64 / seconds(job);
        let asked = if job.name == "frontend" { 100.0 } else { 75.0 };
        assert!((rate / asked - 1.0).abs() < 0.01, "{}: {rate}", job.name);
    }
    let of = |name: &str, part: &str| -> f64 {
        let jobs = jobs.iter().filter(|job| job.name == name);
        let series = jobs.flat_map(|job| &job.series).filter(|series| series.part == part);
        let asked = series.filter(|series| !matches!(&*series.op, "open" | "close" | "rmdir"));
        asked.map(|series| series.n_ios as f64).sum()
    };
    for (name, shares) in [
        (
            "frontend",
            &[
                ("stat", 39.0),
                ("access", 15.0),
                ("random_write", 15.0),
                ("write_file", 10.0),
                ("random_read", 8.0),
                ("read_file", 7.0),
                ("create", 2.0),
                ("chmod", 1.0),
                ("mkdir", 1.0),
                ("unlink", 1.0),
                ("unlink2", 1.0),
            ][..],
        ),
        ("backend", &[("read", 50.0), ("write", 50.0)][..]),
    ] {
        let all: f64 = shares.iter().map(|(part, _)| of(name, part)).sum();
        for (part, expected) in shares {
            let pct = of(name, part) / all * 100.0;
            assert!((pct - expected).abs() < 0.5, "{name} {part}: {pct}");
        }
    }
    let s = seconds(jobs[0]);
    let sum = |bytes: &dyn Fn(&JobRecord) -> u64| {
        jobs.iter().map(|job| bytes(job)).sum::<u64>() as f64 / s / 1e6
    };
    let n_ios = jobs.iter().map(|job| job.n_ios()).sum::<u64>() as f64 / s;
    assert!((n_ios / 450.0 - 1.0).abs() < 0.005, "{n_ios}");
    let (read, written) = (sum(&|job| job.dirs.read.io_bytes), sum(&|job| job.dirs.write.io_bytes));
    assert!((7.2..7.3).contains(&(read + written)), "{read} + {written}");
    assert!((read - 3.78).abs() < 0.03 && (written - 3.45).abs() < 0.03, "{read} + {written}");
}

/// The number of files stays within a hundredth over an hour: as many are made as removed. A front
/// end has 2 folders of 12 files of which 10 are there at first, too few to hide a drift.
#[test]
fn files_of_eda_neither_grow_nor_shrink() {
    let bench = Bench::new(one_p30());
    let record = bench.try_plan(&eda(1, "3600s"), |_| {}).expect("it runs");
    let frontend = measured(&record).into_iter().filter(|job| job.name == "frontend");
    let series: Vec<_> = frontend.flat_map(|job| &job.series).collect();
    let n_done = |part: &str, op: &str| -> u64 {
        let found = series.iter().filter(|series| series.part == part && series.op == op);
        found.map(|series| series.n_ios).sum()
    };
    let n_made = n_done("create", "create");
    let n_removed = n_done("unlink", "delete") + n_done("unlink2", "delete");
    // 2 % of 300 operations a second.
    assert!((21_500..21_700).contains(&n_made), "{n_made}");
    let n_files = 3 * 240 * 10 + 2 * 137 * 12;
    assert!(n_made.abs_diff(n_removed) * 100 <= n_files, "{n_made} made, {n_removed} removed");
}

/// Each operation has its share in virtual time, too.
#[test]
fn every_operation_is_emulated() {
    let text = include_str!("../every_operation.toml");
    let wishes = LowerOptions::default();
    let parsed = parse_text("every.toml", text, &wishes, &NO_HOST);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{:?}", parsed.diagnostics);
    let bench = Bench::new(one_p30());
    let record = bench.try_plan(&parsed.plan, |_| {}).expect("it runs");
    let job = measured(&record)[0];
    assert_eq!(job.n_ios(), 500);
    let n_done = |part: &str, op: &str| {
        let found = job.series.iter().find(|series| series.part == part && series.op == op);
        found.map_or(0, |series| series.n_ios)
    };
    for (part, op) in [
        ("append", "write"),
        ("trunc", "truncate"),
        ("copyfile", "read"),
        ("copyfile", "write"),
        ("rename", "rename"),
        ("readdir", "readdir"),
        ("statfs", "statfs"),
        ("pathconf", "pathconf"),
        ("mmap_read", "mmap_read"),
        ("mmap_write", "mmap_write"),
    ] {
        assert_eq!(n_done(part, op), 20, "{part}: {op}");
    }
}

/// Reads 1,000 times a second at random places of 80 files of 128 KiB, with this locality, from as
/// many disks as there are chunks of this size in turn. Returns the share of the reads that the
/// busiest disk carried, by the account of its own cap.
fn busiest_share(locality: &str, n_disks: usize, chunk_bytes: u64) -> f64 {
    let text = format!(
        "schema = \"plimsoll.plan/1\"\n[unit]\nname = \"set\"\nanchor = \"/mnt/p30\"\n\
         runtime = \"60s\"\n[[unit.component]]\nname = \"hot\"\nrate = 1000\n\
         read_sizes = \"4KiB\"\n{locality}[unit.component.mix]\nrandom_read = 100\n\
         [unit.component.files]\nfolders = 10\nfiles_per_folder = 8\nsizes = \"128KiB\"\n\
         spare_pct = 0\n"
    );
    let parsed = parse_text("hot.toml", &text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{:?}", parsed.diagnostics);
    let mut volume = p30("/mnt/p30", n_disks, volume::CacheMode::None);
    let volume::design::Backing::Disks(stripe) = &mut volume.backing else { panic!("disks") };
    stripe.chunk_bytes = chunk_bytes;
    let record = Bench::new(design(None, vec![volume])).try_plan(&parsed.plan, |_| {});
    let record = record.expect("it runs");
    let jobs = measured(&record);
    let caps = &jobs[0].caps.as_ref().expect("caps").caps;
    let cap = caps.iter().find(|cap| cap.kind == "disk_iops").expect("disks have one");
    cap.busiest_used_share * 5000.0 / 1000.0
}

/// Where operations go is what the disks of a volume count: the hot files are those of the first
/// folder, on the first of ten disks; the hot part of a file is on the first of eight.
#[test]
fn locality_is_what_disks_count() {
    for (locality, n_disks, chunk_bytes, expected) in [
        ("", 10, 1 << 20, 0.1),
        ("locality = \"90/10\"\n", 10, 1 << 20, 0.9),
        ("locality = \"60/20\"\n", 10, 1 << 20, 0.3),
        ("", 8, 16 << 10, 0.125),
        ("locality_in_files = \"75/12.5\"\n", 8, 16 << 10, 0.75),
        ("locality = \"90/10\"\nlocality_in_files = \"50/25\"\n", 8, 16 << 10, 0.25),
    ] {
        let share = busiest_share(locality, n_disks, chunk_bytes);
        assert!((share - expected).abs() < 0.012, "{locality}: {share}, not {expected}");
    }
}

/// A volume without room for the files of all units is refused, with what it takes.
#[test]
fn a_unit_has_files_of_its_own() {
    let mut volume = p30("/mnt/p30", 1, volume::CacheMode::None);
    volume.capacity_bytes = 1 << 28;
    let bench = Bench::new(design(None, vec![volume]));
    assert!(bench.try_plan(&eda(1, "1s"), |_| {}).is_ok());
    let refused = bench.try_plan(&eda(2, "1s"), |_| {}).expect_err("no room");
    assert!(format!("{refused:?}").contains("volume-full"), "{refused:?}");
}

/// Without `--virtual` trees are refused.
#[test]
fn real_time_has_no_trees() {
    let mut bench = Bench::new(one_p30());
    bench.time = runner::EmulatedTime::Real(1.0);
    let refused = bench.try_plan(&eda(1, "1s"), |_| {}).expect_err("it is refused");
    assert!(format!("{refused:?}").contains("in virtual time only"), "{refused:?}");
}

//! Composite workloads on disk: a tree for each process, and shares that hold.

use dialects::LowerOptions;
use dialects::NO_HOST;
use dialects::native::parse_text;
use plan::Plan;
use record::{JobRecord, Record};
use runner::{Control, RunOptions};

use crate::bench::on_disk;

/// Two processes of one component and one of another.
fn plan(anchor: &str, load: u32) -> Plan {
    let text = format!(
        "schema = \"plimsoll.plan/1\"\n\
         [unit]\n\
         name = \"set\"\n\
         anchor = \"{anchor}\"\n\
         load = {load}\n\
         runtime = \"60s\"\n\
         [[unit.component]]\n\
         name = \"front\"\n\
         instances = 2\n\
         read_sizes = \"512B/1 4KiB/3\"\n\
         write_sizes = \"4KiB\"\n\
         n_ios_max = 2000\n\
         [unit.component.mix]\n\
         stat = 39\n\
         access = 15\n\
         random_write = 15\n\
         write_file = 10\n\
         random_read = 8\n\
         read_file = 7\n\
         create = 2\n\
         chmod = 1\n\
         mkdir = 1\n\
         unlink = 1\n\
         unlink2 = 1\n\
         [unit.component.files]\n\
         folders = 4\n\
         files_per_folder = 10\n\
         sizes = \"16KiB/50 0B/50\"\n\
         [[unit.component]]\n\
         name = \"back\"\n\
         read_sizes = \"32KiB\"\n\
         write_sizes = \"64KiB\"\n\
         n_ios_max = 200\n\
         [unit.component.mix]\n\
         read = 50\n\
         write = 50\n\
         [unit.component.files]\n\
         folders = 2\n\
         files_per_folder = 2\n\
         sizes = \"256KiB\"\n"
    );
    parsed(&text)
}

#[track_caller]
fn parsed(text: &str) -> Plan {
    let parsed = parse_text("unit.toml", text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors() && parsed.refusals.is_empty(), "{:?}", parsed.diagnostics);
    parsed.plan
}

#[track_caller]
fn run(plan: &Plan) -> Record {
    let record = runner::run(plan, &RunOptions::default(), &Control::new(), &mut |_| {}).unwrap();
    for job in &record.jobs {
        assert_eq!((job.error_errno, &*job.error_message), (0, ""), "{}", job.name);
    }
    record
}

/// Returns how many operations of a task a process did.
fn n_done(job: &JobRecord, part: &str, op: &str) -> u64 {
    let of_it = job.series.iter().filter(|series| series.part == part && series.op == op);
    of_it.map(|series| series.n_ios).sum()
}

/// A volume that is not mounted, or whose name is mistyped, is not measured as a folder of another
/// disk.
#[test]
fn a_unit_makes_its_folder_and_none_above_it() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("volume/load").display().to_string();
    let none = &mut |_: runner::RunEvent<'_>| {};
    let plan = plan(&anchor, 1);
    let refused = runner::run(&plan, &RunOptions::default(), &Control::new(), none).unwrap();
    let message = &refused.jobs[0].error_message;
    let expected = "does not exist: mount the volume there, or create it";
    assert!(message.contains(expected), "{message}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    std::fs::create_dir(dir.path().join("volume")).unwrap();
    run(&plan);
}

#[test]
fn each_process_works_on_files_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("load").display().to_string();
    let record = run(&plan(&anchor, 2));
    let measured: Vec<&JobRecord> = record.jobs.iter().filter(|job| job.step_idx == 1).collect();
    let names: Vec<&str> = measured.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["front", "front", "front", "front", "back", "back"]);
    for job in &measured[..4] {
        let done = |part, op| n_done(job, part, op);
        // 20 whole decks of 100.
        let shares = [
            done("stat", "getattr"),
            done("access", "access"),
            done("random_write", "write"),
            done("write_file", "write"),
            done("random_read", "read"),
            done("read_file", "read"),
            done("create", "create"),
            done("chmod", "chmod"),
            done("mkdir", "mkdir"),
            done("unlink", "delete"),
            done("unlink2", "delete"),
        ];
        assert_eq!(shares, [780, 300, 300, 200, 160, 140, 40, 20, 20, 20, 20]);
        // Folders are made anew, and files opened for each operation and closed after it.
        assert_eq!(done("mkdir", "rmdir"), 20);
        assert_eq!((done("read_file", "open"), done("read_file", "close")), (140, 140));
        assert_eq!(job.n_ios(), 2000, "what leads to an operation is none of its own");
    }
    for job in &measured[4..] {
        assert_eq!((n_done(job, "read", "read"), n_done(job, "write", "write")), (100, 100));
        assert_eq!(job.dirs.read.io_bytes, 100 * (32 << 10));
        assert_eq!(job.dirs.write.io_bytes, 100 * (64 << 10));
    }
    for unit in ["set-0001", "set-0002"] {
        for instance in ["front-1", "front-2"] {
            let there = on_disk(&dir.path().join("load").join(unit).join(instance));
            // 4 folders with files, 16 without; as many files were made as removed.
            assert_eq!((there.n_folders, there.n_files), (20, 40), "{unit}/{instance}");
        }
        let there = on_disk(&dir.path().join("load").join(unit).join("back-1"));
        assert_eq!((there.n_files, there.bytes), (4, 1 << 20));
    }
    // A further run finds what is there, and goes on with it.
    let record = run(&plan(&anchor, 1));
    let layout = record.jobs.iter().find(|job| job.name == "layout-back").unwrap();
    assert_eq!(layout.dirs.write.io_bytes, 0, "nothing is laid out twice");
}

/// What a process does for each operation of a mix, and how often of 500 operations.
const EVERY_OPERATION: [(&str, &[(&str, u64)]); 26] = [
    ("read", &[("read", 20)]),
    ("write", &[("write", 20)]),
    ("random_read", &[("open", 20), ("read", 20), ("close", 20)]),
    ("random_write", &[("open", 20), ("write", 20), ("close", 20)]),
    ("mmap_read", &[("open", 20), ("mmap_read", 20), ("close", 20)]),
    ("mmap_write", &[("open", 20), ("mmap_write", 20), ("close", 20)]),
    ("rmw", &[("open", 20), ("read", 20), ("write", 20), ("close", 20)]),
    ("append", &[("open", 20), ("truncate", 20), ("write", 20), ("close", 20)]),
    ("trunc", &[("open", 20), ("truncate", 20), ("write", 20), ("close", 20)]),
    ("read_file", &[("open", 20), ("read", 20), ("close", 20)]),
    ("write_file", &[("open", 20), ("write", 20), ("close", 20)]),
    ("copyfile", &[("open", 40), ("read", 20), ("write", 20), ("close", 40)]),
    ("create", &[("create", 20), ("open", 20), ("close", 20)]),
    ("unlink", &[("delete", 10)]),
    ("unlink2", &[("delete", 10)]),
    ("rename", &[("rename", 20)]),
    ("mkdir", &[("mkdir", 20)]),
    ("rmdir", &[("rmdir", 20)]),
    ("readdir", &[("readdir", 20)]),
    ("stat", &[("getattr", 20)]),
    ("neg_stat", &[("neg_stat", 20)]),
    ("access", &[("access", 20)]),
    ("chmod", &[("chmod", 20)]),
    ("lock", &[("open", 20), ("lock", 20), ("close", 20)]),
    ("statfs", &[("statfs", 20)]),
    ("pathconf", &[("pathconf", 20)]),
];

/// Each operation is carried out as often as its share says, and files keep number and size.
#[test]
fn every_operation_is_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_str!("../every_operation.toml");
    let text = text.replace("/mnt/p30", &dir.path().display().to_string());
    let record = run(&parsed(&text));
    let job = &record.jobs[1];
    assert_eq!((job.n_ios(), job.error_errno, &*job.error_message), (500, 0, ""));
    for (part, counts) in EVERY_OPERATION {
        for (op, expected) in counts {
            assert_eq!(n_done(job, part, op), *expected, "{part}: {op}");
        }
    }
    let sizes: Vec<u64> = walk(dir.path()).into_iter().collect();
    assert_eq!(sizes.len(), 40, "{sizes:?}");
    assert!(sizes.iter().all(|bytes| *bytes <= 16_384 && bytes % 4096 == 0), "{sizes:?}");
    let n_whole = sizes.iter().filter(|bytes| **bytes == 16_384).count();
    assert!(n_whole > 20, "{sizes:?}");
}

/// Returns the sizes of the files of trees.
fn walk(folder: &std::path::Path) -> Vec<u64> {
    let mut sizes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let facts = entry.metadata().unwrap();
        if facts.is_dir() {
            sizes.extend(walk(&entry.path()));
        } else if entry.file_name().to_string_lossy().starts_with("vdb_f") {
            sizes.push(facts.len());
        }
    }
    sizes
}

/// What is read before it is written, locks, and names that are not there.
#[test]
fn operations_of_published_mixes_are_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("load").display().to_string();
    let text = format!(
        "schema = \"plimsoll.plan/1\"\n\
         [unit]\n\
         name = \"set\"\n\
         anchor = \"{anchor}\"\n\
         runtime = \"60s\"\n\
         [[unit.component]]\n\
         name = \"x\"\n\
         write_sizes = \"4KiB\"\n\
         n_ios_max = 200\n\
         [unit.component.mix]\n\
         rmw = 50\n\
         lock = 30\n\
         neg_stat = 20\n\
         [unit.component.files]\n\
         files_per_folder = 10\n\
         sizes = \"16KiB\"\n"
    );
    let record = run(&parsed(&text));
    let job = &record.jobs[1];
    let done = |part, op| n_done(job, part, op);
    assert_eq!([done("rmw", "read"), done("rmw", "write")], [100, 100]);
    assert_eq!([done("lock", "open"), done("lock", "lock"), done("lock", "close")], [60, 60, 60]);
    assert_eq!(done("neg_stat", "neg_stat"), 40);
    assert_eq!(job.n_ios(), 200);
    assert_eq!(job.dirs.write.io_bytes, 100 * 4096);
}

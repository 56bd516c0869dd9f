//! A replay obeys the rules of any job that writes. The devices here exist only as facts.

use std::fs;
use std::path::PathBuf;

use engine::mounts::{KernelUse, MountPoint};
use engine::{FileKind, TargetFacts};
use plan::{Job, Plan, Step};

use crate::bind::{bind, paths};
use crate::control::Control;
use crate::facts::Facts;
use crate::options::RunOptions;
use crate::replay::load;
use crate::targets;

const DEVICE: &str = "/no/such/device";

fn device() -> TargetFacts {
    let folder = tempfile::tempdir().unwrap();
    TargetFacts {
        path: PathBuf::from(DEVICE),
        kind: FileKind::Block,
        size_bytes: 1 << 30,
        ..engine::probe(&folder.path().join("nothing")).unwrap()
    }
}

/// Replays one operation on the device. Returns the codes of what speaks against it.
#[track_caller]
fn check(operation: &str, device: TargetFacts, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    fs::write(&record, format!("fio version 2 iolog\n{DEVICE} {operation}\n")).unwrap();
    let mut job = Job { name: "again".to_owned(), ..Job::default() };
    job.logs.read_replay = vec![record.to_str().unwrap().to_owned()];
    let plan = Plan { steps: vec![Step { jobs: vec![job], ..Step::default() }], ..Plan::default() };
    let (plan, found) = load(&plan, false, &Control::new());
    assert_eq!(found, []);
    let mut findings = Vec::new();
    assert_eq!(
        paths(&plan).collect::<Vec<_>>(),
        [PathBuf::from(DEVICE)],
        "nothing but what the record names"
    );
    let facts = Facts::from_iter([(PathBuf::from(DEVICE), device)]);
    let (bound, mut unbound) = bind(&plan, &facts, 0, &Control::new());
    findings.append(&mut unbound);
    findings.append(&mut targets::check(&bound, &facts, &RunOptions::default(), &Control::new()));
    let codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, expected, "{operation}: {findings:?}");
    assert!(findings.iter().all(|finding| finding.message.contains(DEVICE)), "{findings:?}");
}

#[test]
fn a_replay_that_writes_is_refused_like_any_job() {
    let mounted =
        || TargetFacts { uses: vec![KernelUse::Mounted(MountPoint::here("/"))], ..device() };
    check("write 0 4096", device(), &[]);
    check("write 0 4096", mounted(), &["target-mounted"]);
    check("trim 0 4096", mounted(), &["target-mounted"]);
    check("read 0 4096", mounted(), &[]);
    check("write 0 4096", TargetFacts { is_held: true, ..device() }, &["target-mounted"]);
    check(
        "write 0 4096",
        TargetFacts {
            contents: engine::Contents::Known {
                name: "ext4",
                kind: engine::ContentsKind::FileSystem,
            },
            ..device()
        },
        &["target-has-contents"],
    );
}

#[test]
fn a_record_larger_than_its_device_is_refused() {
    check("read 1073737728 4096", device(), &[]);
    check("read 1073737729 4096", device(), &["target-too-small"]);
}

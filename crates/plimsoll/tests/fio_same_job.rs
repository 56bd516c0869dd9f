//! The same job file, run by fio 3.33 and by us: the same number of I/Os and bytes per job and
//! direction, the same error of each job, the same exit status. Skipped where fio is not installed.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// What must be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    /// Exit status, and of each job its error, I/Os and bytes per direction.
    Counts,
    /// The same with the directions added up. For mixed jobs, whose draws differ.
    Sums,
    /// Exit status and the error of each job. For jobs that end by time.
    Errors,
    /// Exit status. For what we refuse as a whole and fio only where it stumbles.
    Status,
}
use Same::{Counts, Errors, Status, Sums};

/// Name, what is compared, job file. `f` and `g` are files of 1 MiB that exist before.
const CASES: &[(&str, Same, &str)] = &[
    ("read", Counts, "[a]\nfilename=f\n"),
    ("a part of a file", Counts, "[a]\nfilename=f\nsize=300k\n"),
    ("percent of a file", Counts, "[a]\nfilename=f\nsize=30%\n"),
    ("offset", Counts, "[a]\nfilename=f\noffset=512k\n"),
    ("offset in percent", Counts, "[a]\nfilename=f\noffset=30%\nbs=4k\n"),
    ("offset increment", Counts, "[a]\nfilename=f\nsize=256k\noffset_increment=128k\nnumjobs=3\n"),
    ("size beyond the end", Counts, "[a]\nfilename=f\noffset=512k\nsize=1m\n"),
    ("size not a multiple", Counts, "[a]\nfilename=n\nsize=1000001\nbs=4k\n"),
    ("write", Counts, "[a]\nfilename=n\nsize=512k\nrw=write\nbs=64k\n"),
    ("write over", Counts, "[a]\nfilename=f\nsize=2m\nrw=write\nbs=64k\noverwrite=1\n"),
    ("generated names", Counts, "[a]\nnrfiles=5\nsize=1m\nnumjobs=2\nrw=randwrite\n"),
    ("hundreds of files", Counts, "[a]\nnrfiles=300\nsize=3m\nrw=randread\nopenfiles=20\n"),
    ("file size", Counts, "[a]\nnrfiles=4\nfilesize=128k\n"),
    ("file size and size", Counts, "[a]\nnrfiles=4\nfilesize=128k\nsize=256k\n"),
    ("more I/O than size", Counts, "[a]\nfilename=f\nsize=256k\nio_size=1m\n"),
    ("less I/O than size", Counts, "[a]\nfilename=f\nsize=1m\nio_size=100k\nrw=randread\n"),
    ("I/O in percent", Counts, "[a]\nfilename=f\nsize=1m\nio_size=50%\n"),
    ("loops", Counts, "[a]\nfilename=f\nloops=3\n"),
    ("number of I/Os", Counts, "[a]\nfilename=f\nnumber_ios=10\n"),
    ("number of I/Os beyond", Counts, "[a]\nfilename=f\nnumber_ios=1000\nsize=64k\n"),
    ("number of I/Os and loops", Counts, "[a]\nfilename=f\nnumber_ios=10\nloops=2\n"),
    ("stonewall", Counts, "[a]\nfilename=n\nrw=write\nsize=64k\n[b]\nstonewall\nfilename=n\n"),
    ("wait for", Counts, "[a]\nfilename=n\nrw=write\nsize=64k\n[b]\nwait_for=a\nfilename=f\n"),
    ("list of names", Counts, "[a]\nfilename=f:g\nsize=512k\n"),
    ("list of names in a folder", Counts, "[a]\ndirectory=d\nfilename=x:y\nsize=64k\n"),
    ("folders", Counts, "[a]\ndirectory=d:e\nsize=64k\nnumjobs=4\n"),
    (
        "files one after another",
        Counts,
        "[a]\nnrfiles=3\nsize=192k\nfile_service_type=sequential\n",
    ),
    ("files at random", Counts, "[a]\nnrfiles=3\nsize=192k\nfile_service_type=random\n"),
    ("unlink", Counts, "[a]\nfilename=n\nsize=64k\nunlink=1\n"),
    (
        "unlink each loop",
        Counts,
        "[a]\nfilename=n\nsize=64k\nrw=write\nunlink_each_loop=1\nloops=2\n",
    ),
    ("create only", Counts, "[a]\nfilename=n\nsize=64k\ncreate_only=1\n"),
    ("create on open", Counts, "[a]\nfilename=n\nsize=64k\nrw=write\ncreate_on_open=1\n"),
    ("no creation", Status, "[a]\nfilename=n\nsize=64k\nallow_file_create=0\n"),
    ("append", Counts, "[a]\nfilename=f\nsize=64k\nrw=write\nfile_append=1\n"),
    ("pre-read", Counts, "[a]\nfilename=f\npre_read=1\n"),
    ("locked", Sums, "[a]\nfilename=f\nrw=randrw\nlockfile=readwrite\nnumjobs=3\nsize=64k\n"),
    ("share of a size", Counts, "[a]\nfilename=n\nrw=write\nfilesize=512k\nsize=50%\n"),
    ("found files", Counts, "[a]\nopendir=d\nsize=64k\n"),
    ("sizes of a range", Counts, "[a]\nfilename=f\nrw=read\nbsrange=4k-4k\n"),
    ("fsync", Counts, "[a]\nfilename=n\nrw=write\nsize=64k\nfsync=4\nend_fsync=1\n"),
    ("prerun", Counts, "[a]\nfilename=f\nexec_prerun=echo hello\nexec_postrun=echo bye\n"),
    ("continue on error", Counts, "[a]\nfilename=f\ncontinue_on_error=all\n"),
    ("missing folders above a file", Counts, "[a]\nfilename=new/x/n\nsize=64k\nrw=write\n"),
    ("the same to read", Counts, "[a]\nfilename=new/x/n\nsize=64k\n"),
    (
        "no creation in a missing folder",
        Status,
        "[a]\nfilename=new/x/n\nsize=64k\nallow_file_create=0\n",
    ),
    (
        "names in a missing folder",
        Status,
        "[a]\nfilename=new/x/n\nfilesize=64k\nioengine=filecreate\n",
    ),
    ("missing folder", Counts, "[a]\ndirectory=nowhere\nsize=64k\n"),
    ("one job fails", Status, "[a]\nfilename=n\nsize=64k\nallow_file_create=0\n[b]\nfilename=f\n"),
    (
        "two jobs of three cannot start",
        Status,
        "[global]\nsize=64k\n[a]\nfilename=f/n\n[b]\nfilename=f/n\n[c]\nfilename=f\n",
    ),
    (
        "three jobs of a group cannot start",
        Status,
        "[global]\nsize=64k\ngroup_reporting\nallow_file_create=0\n[a]\nfilename=n\n\
         [b]\nfilename=n\n[c]\nstonewall\nfilename=n\n",
    ),
    (
        "three clones cannot start",
        Status,
        "[a]\nfilename=n\nsize=64k\nallow_file_create=0\nnumjobs=3\n",
    ),
    ("two without a size", Status, "[global]\nioengine=null\n[a]\n[b]\n[c]\nsize=4k\n"),
    ("missing folders of two", Status, "[global]\nsize=64k\n[a]\ndirectory=x\n[b]\ndirectory=y\n"),
    ("replays that are not there", Status, "[a]\nread_iolog=x.log\n[b]\nread_iolog=y.log\n"),
    (
        "exit with the first",
        Errors,
        "[a]\nfilename=f\nexitall\n[b]\nioengine=null\nsize=1g\nruntime=20\ntime_based\n",
    ),
    ("largest latency", Errors, "[a]\nfilename=f\nmax_latency=1\n"),
    (
        "least rate",
        Errors,
        "[a]\nioengine=null\nsize=1m\nthinktime=20ms\nrate_iops_min=1000\nrate_cycle=100\n",
    ),
    ("runtime", Errors, "[a]\nioengine=null\nsize=1g\nruntime=1\ntime_based\n"),
    ("mmap", Sums, "[a]\nfilename=f\nioengine=mmap\nrw=randrw\n"),
    ("deep queue", Counts, "[a]\nfilename=f\nioengine=libaio\niodepth=16\nrw=randread\n"),
    ("ring", Counts, "[a]\nfilename=f\nioengine=io_uring\niodepth=16\nrw=randwrite\n"),
    ("mixed", Sums, "[a]\nfilename=f\nrw=randrw\nrwmixread=70\n"),
    ("sequential mixed", Sums, "[a]\nfilename=f\nrw=rw\n"),
    ("another user", Errors, "[a]\nfilename=n\nsize=64k\nrw=write\nuid=65534\n"),
    ("commands", Counts, "[a]\nfilename=f\nnice=1\nprioclass=2\nprio=7\ncpus_allowed=0\n"),
    ("removed and read", Errors, "[a]\nfilename=f\nunlink_each_loop=1\nloops=2\n"),
    ("short runtime", Errors, "[a]\nfilename=f\nrate_iops=10\nruntime=1\n"),
    ("ramp", Errors, "[a]\nioengine=null\nsize=1g\nramp_time=1\nruntime=1\ntime_based\n"),
    ("flow", Errors, "[g]\nflow=1\nfilename=f\n[h]\nflow=1\nfilename=g\n"),
];

/// What came of a command.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a job file in a folder of its own.
fn run(program: &str, args: &[&str], job: &str) -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let make = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("the folder is ours");
    };
    for name in ["d", "e"] {
        std::fs::create_dir(folder.path().join(name)).expect("the folder is ours");
    }
    for name in ["f", "g", "d/h"] {
        make(name, &vec![7; 1 << 20]);
    }
    make("job.fio", job.as_bytes());
    let mut command = Command::new(program);
    command.args(args).args(["--output-format=json", "job.fio"]);
    let output = command.current_dir(folder.path()).stdin(Stdio::null()).output();
    let output = output.expect("the program is there");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Returns what is compared, as text.
fn shape(outcome: &Outcome, same: Same) -> String {
    let mut shape = format!("exit {:?}\n", outcome.code);
    // fio mixes its messages with the JSON.
    let json = outcome.stdout.find("{\n").map_or("", |at| &outcome.stdout[at..]);
    let page: Value = serde_json::from_str(json).unwrap_or_default();
    for job in page["jobs"].as_array().into_iter().flatten().filter(|_| same != Status) {
        let dirs = ["read", "write", "trim"];
        let n = |dir: &str, key: &str| job[dir][key].as_u64().unwrap_or_default();
        let sum = |key: &str| dirs.iter().map(|dir| n(dir, key)).sum::<u64>();
        shape += &format!("{} error {}", job["jobname"], job["error"]);
        match same {
            Counts => dirs.iter().for_each(|dir| {
                shape += &format!(", {dir} {} {}", n(dir, "total_ios"), n(dir, "io_bytes"));
            }),
            Sums => shape += &format!(", {} {}", sum("total_ios"), sum("io_bytes")),
            Errors | Status => {}
        }
        shape.push('\n');
    }
    shape
}

/// Returns what fio says beside its JSON.
fn words(outcome: &Outcome) -> &str {
    &outcome.stdout[..outcome.stdout.find("{\n").unwrap_or(outcome.stdout.len())]
}

#[test]
fn the_same_job_does_the_same() {
    let fio = "/usr/bin/fio";
    if Command::new(fio).arg("--version").output().is_err() {
        testing::skipped!("there is no fio here to compare with");
        return;
    }
    let differences = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let compare = || {
        while let Some((name, same, job)) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let theirs = run(fio, &[], job);
            let ours = run(env!("CARGO_BIN_EXE_plimsoll"), &["fio"], job);
            let shapes = (shape(&theirs, *same), shape(&ours, *same));
            if shapes.0 != shapes.1 {
                let text = format!(
                    "{name}:\n{job}fio: {}{}{}\nours: {}{}",
                    shapes.0,
                    theirs.stderr,
                    words(&theirs),
                    shapes.1,
                    ours.stderr
                );
                differences.lock().expect("no thread panics").push(text);
            }
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(compare))));
    let differences = differences.into_inner().expect("no thread panics");
    assert!(differences.is_empty(), "{}", differences.join("\n----\n"));
}

//! `plimsoll run --validate --journal` and `plimsoll verify`: what became of blocks after a kill
//! and after the crash of a machine, judged by a reader of our own.

#[path = "common/apart.rs"]
mod apart;
mod common;
#[path = "common/journal_reader.rs"]
mod journal_reader;
#[allow(dead_code, reason = "a part is used here")]
#[path = "common/rehearsal.rs"]
mod rehearsal;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Child, Stdio};

use apart::apart;
use common::Sandbox;
use journal_reader::{Journal, said, word_of};
use rehearsal::Rehearsal;

/// Begins a run that writes until it is ended.
fn begin(sandbox: &Sandbox, file: &str, options: &str, args: &[&str]) -> Child {
    let job = format!(
        "[w]\nfilename={file}\nrw=randwrite\nbs=4k\nsize=4m\ntime_based\nruntime=100\n{options}"
    );
    sandbox.write("job.fio", job);
    let _none_yet = fs::remove_file(sandbox.path("j"));
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["run", "--no-progress", "job.fio", "--validate", "--journal", "j"]).args(args);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the journal of a run has grown to so many bytes.
#[track_caller]
fn await_journal(sandbox: &Sandbox, run: &mut Child, len: u64) {
    let journal = sandbox.path("j");
    while fs::metadata(&journal).map_or(0, |facts| facts.len()) < len {
        assert!(run.try_wait().unwrap().is_none(), "the run has ended");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Verifies, and checks that what is said is what our own reader finds. Returns it.
#[track_caller]
fn verified(sandbox: &Sandbox, file: &str, context: &str) -> BTreeMap<u64, &'static str> {
    let outcome = sandbox.plimsoll(&["verify", "j", "--json"]);
    let own = Journal::read(&sandbox.path("j")).judge(&sandbox.path(file));
    assert_eq!(said(&outcome.stdout), own, "{context}: {}", outcome.stderr);
    let is_bad = own.values().any(|word| ["lost", "torn"].contains(word));
    assert_eq!(outcome.code, if is_bad { 4 } else { 0 }, "{context}: {own:?}");
    own
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let options = [
        ("ioengine=libaio\niodepth=16\n", "on"),
        ("ioengine=psync\nnumjobs=3\nthread\n", "on"),
        ("ioengine=io_uring\niodepth=8\nnumjobs=2\nbsrange=4k-32k\n", "off"),
    ];
    for (idx, (options, sync)) in options.into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let mut run = begin(&sandbox, "f", options, &["--journal-sync", sync]);
        await_journal(&sandbox, &mut run, 30_000 + 11_111 * idx as u64);
        run.kill().unwrap();
        run.wait().unwrap();
        let found = verified(&sandbox, "f", options);
        let is_in_flight = |word: &&'static str| word.ends_with("in flight");
        assert!(found.values().all(is_in_flight), "{options}: {found:?}");
        // A block that was acknowledged is overwritten by somebody else.
        let journal = Journal::read(&sandbox.path("j"));
        let mut blocks = journal.blocks.iter().filter(|(_, state)| state.1.is_empty());
        let (block, _) = blocks.next().unwrap();
        let file = fs::File::options().write(true).open(sandbox.path("f")).unwrap();
        file.write_all_at(&[0; 4096], block * 4096).unwrap();
        assert_eq!(verified(&sandbox, "f", options)[&(block * 4096)], "lost");
        let text = sandbox.plimsoll(&["verify", "j"]).stdout;
        let expected =
            format!("lost: `{}` at offset {}: expected", sandbox.path("f").display(), block * 4096);
        assert!(text.contains(" 1 LOST") && text.contains(&expected), "{text}");
        assert!(text.contains("nothing that was written with a journal"), "{text}");
    }
}

/// Files that are written as a whole, in part and at their end, made and removed.
const UNIT: &str = "schema = \"plimsoll.plan/1\"\n[unit]\nname = \"set\"\nanchor = \"t\"\n\
    runtime = \"100s\"\n[[unit.component]]\nname = \"w\"\ninstances = 2\nwrite_sizes = \"4KiB\"\n\
    [unit.component.mix]\nread_file = 20\nwrite_file = 20\nrandom_write = 20\nrmw = 10\n\
    append = 10\ncreate = 10\nunlink = 10\n[unit.component.files]\nfolders = 4\n\
    files_per_folder = 10\nsizes = \"8KiB/50 16KiB/50\"\n";

/// Returns what `plimsoll verify --json` says of the blocks of several targets.
fn said_of_all(json: &str) -> BTreeMap<(u32, u64), &'static str> {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    let place = |block: &serde_json::Value| {
        (block["target_idx"].as_u64().unwrap() as u32, block["offset"].as_u64().unwrap())
    };
    value["blocks"].as_array().unwrap().iter().map(|block| (place(block), word_of(block))).collect()
}

/// Every block of every file of a tree is new or old after a kill, by a reader of our own; what
/// somebody else changes or removes then is lost, and a run goes on with the journal.
#[test]
fn a_kill_loses_nothing_of_a_tree() {
    let args = ["run", "--no-progress", "unit.toml", "--validate", "--journal", "j"];
    for (kept_len, sync) in [(40_000, "on"), (90_000, "off"), (300_000, "off")] {
        let sandbox = Sandbox::new();
        sandbox.write("unit.toml", UNIT);
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.args(args).args(["--journal-sync", sync]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        await_journal(&sandbox, &mut run, kept_len);
        run.kill().unwrap();
        run.wait().unwrap();
        let verified = |code: i32| {
            let outcome = sandbox.plimsoll(&["verify", "j", "--json"]);
            let own = Journal::read(&sandbox.path("j")).judge_all();
            assert_eq!(said_of_all(&outcome.stdout), own, "{kept_len}: {}", outcome.stderr);
            assert_eq!(outcome.code, code, "{kept_len}: {own:?}");
            own
        };
        let found = verified(0);
        assert!(found.values().all(|word| word.ends_with("in flight")), "{kept_len}: {found:?}");
        let journal = Journal::read(&sandbox.path("j"));
        assert!(journal.targets.len() >= 80 && journal.n_forgotten > 20, "{}", journal.n_forgotten);
        // The next run goes on with it, whatever of the tree it makes anew.
        let again = [&args[..], &["--journal-recover", "--set", "runtime=1s"]].concat();
        let outcome = sandbox.plimsoll(&again);
        // 3 is that of a busy host.
        assert!([0, 3].contains(&outcome.code), "{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(verified(0), BTreeMap::new());
        let journal = Journal::read(&sandbox.path("j"));
        let mut whole = journal.others.iter().filter(|(_, blocks)| blocks.contains_key(&1));
        let path = |target: &u32| Path::new(&journal.targets[*target as usize].0).to_owned();
        let (changed, removed) = (whole.next().unwrap().0, whole.next().unwrap());
        let file = fs::File::options().write(true).open(path(changed)).unwrap();
        file.write_all_at(&[0; 512], 4096).unwrap();
        fs::remove_file(path(removed.0)).unwrap();
        let found = verified(4);
        assert_eq!(found[&(*changed, 4096)], "torn");
        assert_eq!(found.len(), 1 + removed.1.len(), "{found:?}");
        assert!(removed.1.keys().all(|block| found[&(*removed.0, block * 4096)] == "lost"));
    }
}

const READ_WRITE: &str = "[vm]\nsize = \"DS14\"\n[[volume]]\nmount = \"/mnt/data\"\n\
                          disk = \"P30\"\ncache = \"ReadWrite\"\n";

/// Exactly what the machine's ReadWrite cache lost is reported, over a hundred crashes: judged by
/// the bytes on the volume, and by what the crash itself says it took.
#[test]
fn a_hundred_crashes_lose_exactly_what_is_reported() {
    let Some(rehearsal) = Rehearsal::mount(READ_WRITE) else { return };
    let sandbox = &rehearsal.0;
    let (mut n_lost, mut n_kept, mut n_in_flight) = (0, 0, 0);
    for seed in 0..100_u64 {
        let options = match seed % 4 {
            0 => "ioengine=psync\nfsync=40\n",
            1 => "ioengine=psync\nnumjobs=2\nthread\nfdatasync=64\nbsrange=4k-16k\n",
            2 => "ioengine=libaio\ndirect=1\niodepth=8\nfsync=100\n",
            _ => "ioengine=psync\nnumjobs=3\nthread\n",
        };
        let options = format!("{options}randseed={}\n", seed + 1);
        let sync = if seed % 10 == 0 { "on" } else { "off" };
        let mut run = begin(sandbox, "mnt/f", &options, &["--journal-sync", sync]);
        await_journal(sandbox, &mut run, 8_000 + seed * 173 % 20_000);
        let crash = rehearsal.rehearse(&["crash", "mnt", "--json"]);
        let lost = taken(crash.success());
        run.wait().unwrap();
        rehearsal.rehearse(&["restart", "mnt"]).success();
        let found = verified(sandbox, "mnt/f", &options);
        let ino = fs::metadata(sandbox.path("mnt/f")).unwrap().ino();
        let lost: Vec<(u64, u64)> =
            lost.iter().filter(|it| it.0 == ino).map(|it| (it.1, it.2)).collect();
        for (block, (_, begun)) in Journal::read(&sandbox.path("j")).blocks {
            let at = block * 4096;
            let is_bad = found.get(&at).is_some_and(|word| ["lost", "torn"].contains(word));
            if begun.is_empty() {
                let is_taken = lost.iter().any(|(from, len)| *from < at + 4096 && at < from + len);
                assert_eq!(is_bad, is_taken, "seed {seed}, offset {at}: {:?}", found.get(&at));
                *(if is_bad { &mut n_lost } else { &mut n_kept }) += 1;
            } else {
                n_in_flight += 1;
            }
        }
    }
    assert!(n_lost > 1000 && n_kept > 1000 && n_in_flight > 50, "{n_lost} {n_kept} {n_in_flight}");
}

/// Returns what a crash says that it took, as inode, offset and length.
fn taken(crash: &str) -> Vec<(u64, u64, u64)> {
    let crash: serde_json::Value = serde_json::from_str(crash).unwrap();
    let number = |range: &serde_json::Value, name: &str| range[name].as_u64().unwrap();
    let range =
        |it: &serde_json::Value| (number(it, "ino"), number(it, "offset"), number(it, "len"));
    crash["lost"].as_array().unwrap().iter().map(range).collect()
}

/// The same of trees of files that are made, written, cut and removed all the while: in each file
/// that is there, exactly the blocks of which the crash took something are reported.
#[test]
fn a_hundred_crashes_of_trees_lose_exactly_what_is_reported() {
    let Some(rehearsal) = Rehearsal::mount(READ_WRITE) else { return };
    let sandbox = &rehearsal.0;
    let (mut n_lost, mut n_kept, mut n_in_flight, mut n_files) = (0, 0, 0, 0);
    for seed in 0..100_u64 {
        let how = ["", "fsync_on_close = true\n", "instances = 3\n", "dsync = true\n"];
        let how = how[(seed % 4) as usize];
        let one = UNIT.replace("instances = 2\n", "");
        let unit = one.replace("write_sizes", &format!("seed = {}\n{how}write_sizes", seed + 1));
        sandbox.write("unit.toml", unit.replace("anchor = \"t\"", "anchor = \"mnt/t\""));
        let _none_yet = fs::remove_dir_all(sandbox.path("mnt/t"));
        let _none_yet = fs::remove_file(sandbox.path("j"));
        let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
        command.args(["run", "--no-progress", "unit.toml", "--validate", "--journal", "j"]);
        command.args(["--journal-sync", if seed % 10 == 0 { "on" } else { "off" }]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        await_journal(sandbox, &mut run, 30_000 + seed * 773 % 60_000);
        let crash = rehearsal.rehearse(&["crash", "mnt", "--json"]);
        let lost = taken(crash.success());
        run.wait().unwrap();
        rehearsal.rehearse(&["restart", "mnt"]).success();
        let outcome = sandbox.plimsoll(&["verify", "j", "--json"]);
        let journal = Journal::read(&sandbox.path("j"));
        let found = journal.judge_all();
        assert_eq!(said_of_all(&outcome.stdout), found, "seed {seed}: {}", outcome.stderr);
        let first = std::iter::once((&0, &journal.blocks));
        for (target, blocks) in first.chain(&journal.others) {
            let (path, block_bytes) = &journal.targets[*target as usize];
            let Ok(facts) = fs::metadata(path) else {
                // The journal gave up its blocks before it was removed.
                assert!(blocks.is_empty(), "seed {seed}: {path} has {}", blocks.len());
                continue;
            };
            n_files += 1;
            for (block, (_, begun)) in blocks {
                let (at, end) = (block * block_bytes, (block + 1) * block_bytes);
                let word = found.get(&(*target, at));
                let is_bad = word.is_some_and(|word| ["lost", "torn"].contains(word));
                if begun.is_empty() {
                    let is_own = |ino: u64| ino == facts.ino();
                    let is_taken =
                        |it: &&(u64, u64, u64)| is_own(it.0) && it.1 < end && at < it.1 + it.2;
                    let is_taken = lost.iter().find(is_taken).is_some();
                    assert_eq!(is_bad, is_taken, "seed {seed}, {path}, offset {at}: {word:?}");
                    *(if is_bad { &mut n_lost } else { &mut n_kept }) += 1;
                } else {
                    n_in_flight += 1;
                }
            }
        }
    }
    let n = (n_lost, n_kept, n_in_flight, n_files);
    assert!(n_lost > 1000 && n_kept > 1000 && n_in_flight > 20 && n_files > 4000, "{n:?}");
}

/// The disk fills where an entry ends, and within one: after its head, and within that. Where it
/// does depends on the length of the target's path alone, which the journal begins with.
#[test]
fn a_full_disk_under_the_journal_ends_the_run() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("small")).unwrap();
    // 88 bytes and the path, then 56 bytes for each entry, up to 65536.
    let folder_len = fs::canonicalize(sandbox.path("")).unwrap().as_os_str().len() + 1;
    let first_len = (1..=56).find(|len| (88 + folder_len + len) % 56 == 16).unwrap();
    for (more, n_bytes_torn) in [(0, 0), (56 - 43, 43), (56 - 1, 1)] {
        let name = "f".repeat(first_len + more);
        let job = format!("filename={name}\nrw=randwrite\nbs=4k\nsize=1m\ntime_based\nruntime=100");
        sandbox.write("job.fio", format!("[w]\n{job}\n"));
        let script = format!(
            "mount -t tmpfs -o size=64k none small || exit 77\n\
             {0} run --no-progress job.fio --validate --journal small/j >out 2>&1 && exit 3\n\
             echo $?; cat out; cp small/j j; {0} verify small/j",
            env!("CARGO_BIN_EXE_plimsoll")
        );
        let Some(outcome) = apart(&sandbox, &script) else { return };
        let text = outcome.stdout + &outcome.stderr;
        assert!(text.contains("cannot write the journal `small/j`: No space left"), "{text}");
        assert!(text.starts_with("1\n") && outcome.code == 0, "{text}");
        assert_eq!(Journal::read(&sandbox.path("j")).n_bytes_torn, n_bytes_torn, "{text}");
        let torn = format!("ends within an entry ({n_bytes_torn} B)");
        assert_eq!(text.contains(&torn), n_bytes_torn > 0, "{text}");
        verified(&sandbox, &name, "the disk is full");
    }
}

/// Where there is no room for its first entry, nothing runs, and no empty journal is left to stand
/// in the way.
#[test]
fn a_disk_that_is_full_before_keeps_no_journal() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("small")).unwrap();
    sandbox.write("job.fio", "[w]\nfilename=f\nrw=write\nsize=64k\n");
    let script = format!(
        "mount -t tmpfs -o size=64k none small || exit 77\n\
         cat /dev/zero >small/full || true\n\
         {0} run --no-progress job.fio --validate --journal small/j 2>&1 || echo $?; ls small\n\
         rm small/full; {0} run --no-progress job.fio --validate --journal small/j",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let Some(outcome) = apart(&sandbox, &script) else { return };
    let text = outcome.stdout + &outcome.stderr;
    assert!(text.contains("cannot keep the journal `small/j`: No space left"), "{text}");
    assert!(text.contains("\n2\nfull\n") && outcome.code == 0, "{text}");
}

/// Returns a message as one line.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run that was killed is gone on with, until a block is not what its journal says.
#[test]
fn an_earlier_journal_is_gone_on_with() {
    let sandbox = Sandbox::new();
    let mut run = begin(&sandbox, "f", "ioengine=libaio\niodepth=16\n", &[]);
    await_journal(&sandbox, &mut run, 40_000);
    run.kill().unwrap();
    run.wait().unwrap();
    let before = Journal::read(&sandbox.path("j"));
    // Larger blocks, twice: what each of them is counts on.
    sandbox.write("job.fio", "[w]\nfilename=f\nrw=randrw\nbs=8k\nsize=2m\nloops=2\n");
    let again = ["run", "--no-progress", "job.fio", "--validate", "--journal", "j"];
    let recover = [&again[..], &["--journal-recover"]].concat();
    for n_runs in [2, 3] {
        let outcome = sandbox.plimsoll(&recover);
        outcome.success();
        assert!(outcome.stderr.contains("blocks of 4096 B were written"), "{}", outcome.stderr);
        let found = verified(&sandbox, "f", "gone on with");
        assert!(found.values().all(|word| word.ends_with("in flight")), "{found:?}");
        let now = Journal::read(&sandbox.path("j"));
        assert_eq!((now.runs.len(), now.block_bytes), (n_runs, 4096));
        assert!(before.blocks.iter().all(|(block, state)| now.blocks[block].0 >= state.0));
        assert!(now.blocks.len() >= 512);
    }
    assert_eq!(sandbox.plimsoll(&again).code, 2, "it is not written over");
    let other = sandbox.plimsoll(&[&recover[..], &["--set", "bs=2k"]].concat());
    let said = unwrapped(&other.stderr);
    assert!(other.code == 2 && said.contains("has blocks of 4096 B in the journal `j`"), "{said}");
    let other = sandbox.plimsoll(&[&recover[..], &["--set", "filename=g"]].concat());
    let said = unwrapped(&other.stderr);
    assert!(other.code == 2 && said.contains("the journal `j` is of another run: it"), "{said}");
    assert!(!sandbox.path("g").exists());
    let file = fs::File::options().write(true).open(sandbox.path("f")).unwrap();
    file.write_all_at(&[0; 512], 8192).unwrap();
    let outcome = sandbox.plimsoll(&recover);
    assert!(outcome.code == 4 && outcome.stderr.contains("1 TORN"), "{}", outcome.stderr);
}

/// Without a journal, what a run wrote is read when it has ended.
#[test]
fn what_a_run_wrote_is_read_back() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[w]\nfilename=f\nrw=write\nbs=4k\nsize=64k\nnumjobs=2\nthread\n");
    let run = ["run", "--no-progress", "job.fio", "--validate"];
    let outcome = sandbox.plimsoll(&run);
    let expected = "blocks read and validated: 16; blocks marked in error: 0";
    assert!(outcome.success().contains(expected), "{}", outcome.stdout);
    let spoil = "exec_postrun=dd if=/dev/zero of=f bs=512 seek=5 count=1 conv=notrunc\n";
    sandbox.write("job.fio", format!("[w]\nfilename=f\nrw=write\nbs=4k\nsize=64k\n{spoil}"));
    let outcome = sandbox.plimsoll(&[&run[..], &["--allow-commands"]].concat());
    let said = outcome.stdout + &outcome.stderr;
    assert_eq!(outcome.code, 1, "{said}");
    assert!(said.contains("validated: 16; blocks marked in error: 1"), "{said}");
    assert!(said.contains("offset 0 is torn"), "{said}");
}

#[test]
fn mistakes_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("job.fio", "[w]\nfilename=f\nrw=write\nsize=64k\n");
    let check = |args: &[&str], part: &str| {
        let outcome = sandbox.plimsoll(args);
        assert!(outcome.code == 2 && outcome.stderr.contains(part), "{}", outcome.stderr);
    };
    check(&["verify", "none"], "cannot read the journal `none`: No such file");
    check(&["verify", "job.fio"], "`job.fio` is not a journal of Plimsoll");
    check(&["verify", "."], "`.` is not a journal of Plimsoll");
    check(&["run", "job.fio", "--journal", "j"], "--validate");
    check(&["run", "job.fio", "--validate", "--journal", "job.fio"], "is there already");
    check(&["run", "job.fio", "--validate", "--readonly"], "`--readonly` forbids that");
    check(&["run", "job.fio", "--validate", "--hosts", "a", "--split"], "leave out `--split`");
    assert!(!sandbox.path("f").exists());
}

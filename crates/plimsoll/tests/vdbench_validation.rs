//! `plimsoll vdbench` with `-v` and `-j`: what is written is validated, and journals are recovered.

#[path = "common/apart.rs"]
mod apart;
mod common;
#[allow(dead_code, reason = "a part is used here")]
#[path = "common/journal_reader.rs"]
mod journal_reader;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use apart::apart;
use common::{Outcome, Sandbox};
use journal_reader::Journal;

const PARM: &str = "formatxfersize=4096\nsd=sd1,lun=f,size=1m,journal=jnl,threads=4\n\
                    wd=wd1,sd=sd1,xf=4k,rdpct=40\n\
                    rd=rd1,wd=wd1,iorate=500,elapsed=2,interval=1\n";

fn vdbench(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    sandbox.plimsoll(&[&["vdbench", "-f", "parm", "-o", "out"], args].concat())
}

fn with(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("parm", text);
    fs::create_dir(sandbox.path("jnl")).unwrap();
    sandbox
}

#[test]
fn what_is_written_is_validated() {
    for (text, args) in [(PARM.to_owned(), &["-v"][..]), (format!("validate=yes\n{PARM}"), &[])] {
        let sandbox = with(&text);
        let outcome = vdbench(&sandbox, args);
        let expected = "Total amount of key blocks read and validated: 256; \
                        key blocks marked in error: 0";
        assert!(outcome.code == 0 && outcome.stdout.contains(expected), "{}", outcome.stdout);
        assert_eq!(fs::read_dir(sandbox.path("jnl")).unwrap().count(), 0, "no journal is kept");
    }
}

#[test]
fn a_journal_is_recovered_and_gone_on_with() {
    let sandbox = with(PARM);
    assert_eq!(vdbench(&sandbox, &["-j"]).code, 0);
    let journal = sandbox.path("jnl/plimsoll.jnl");
    let begun = fs::read(&journal).unwrap();
    let total = "Total amount of key blocks read and validated:      256; key blocks marked in \
                 error:    0";
    let only = vdbench(&sandbox, &["-jro"]);
    assert!(only.code == 0 && only.stdout.contains(total), "{}", only.stdout);
    assert!(only.stdout.contains("'journal=(recover,only)' requested. Terminating execution."));
    assert!(!only.stdout.contains("Starting RD=rd1"), "{}", only.stdout);
    assert_eq!(fs::read(&journal).unwrap(), begun, "it is only read");
    let again = vdbench(&sandbox, &["-jrn"]);
    assert!(again.code == 0 && again.stdout.contains(total), "{}", again.stdout);
    assert!(again.stdout.contains("Starting RD=rd1"), "{}", again.stdout);
    sandbox.plimsoll(&["verify", "jnl/plimsoll.jnl"]).success();
    // Somebody else writes there.
    let file = fs::File::options().write(true).open(sandbox.path("f")).unwrap();
    file.write_all_at(&[7; 4096], 40_960).unwrap();
    for letters in ["-jro", "-jr"] {
        let outcome = vdbench(&sandbox, &[letters]);
        let said = outcome.stdout + &outcome.stderr;
        assert!(outcome.code == 157 && said.contains("offset 40960 is lost"), "{said}");
        assert!(said.contains("key blocks marked in error:    1"), "{said}");
        assert!(!said.contains("Starting RD=rd1"), "{said}");
    }
    // Without recovery the journal begins anew.
    assert_eq!(vdbench(&sandbox, &["-jm"]).code, 0);
    sandbox.plimsoll(&["verify", "jnl/plimsoll.jnl"]).success();
}

/// Structures of files: what was written is read back, and a journal of them is gone on with.
#[test]
fn files_are_validated_and_their_journal_is_recovered() {
    let text = "fsd=fsd1,anchor=t,depth=1,width=2,files=5,size=(8k,50,16k,50),journal=jnl\n\
                fwd=fwd1,fsd=fsd1,rdpct=50,xfersize=4k,fileio=random,fileselect=random,threads=2\n\
                rd=rd1,fwd=fwd1,fwdrate=200,format=yes,elapsed=2,interval=1\n";
    let sandbox = with(text);
    let first = vdbench(&sandbox, &["-j"]);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    let verified = sandbox.plimsoll(&["verify", "jnl/plimsoll.jnl", "--json"]);
    let found: serde_json::Value = serde_json::from_str(verified.success()).unwrap();
    let targets = found["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 10, "{found}");
    let total = |name: &str| targets.iter().map(|it| it[name].as_u64().unwrap()).sum::<u64>();
    // All blocks of 4 KiB were written: those of the files, from 20 to 40.
    assert!((20..=40).contains(&total("n_known")), "{found}");
    assert_eq!(total("n_new"), total("n_known"), "{found}");
    // As Vdbench has it, without a format.
    sandbox.write("parm", text.replace("format=yes", "format=no"));
    let again = vdbench(&sandbox, &["-jr"]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    // Somebody else writes there.
    let name = "t/vdb.1_1.dir/vdb_f0001.file";
    let file = fs::File::options().write(true).open(sandbox.path(name)).unwrap();
    file.write_all_at(&[7; 512], 4096).unwrap();
    let outcome = vdbench(&sandbox, &["-jro"]);
    let said = outcome.stdout + &outcome.stderr;
    assert!(outcome.code == 157 && said.contains("key blocks marked in error:    1"), "{said}");
}

#[test]
fn what_is_not_validated_is_refused() {
    let sandbox = with(
        "fsd=fsd1,anchor=t,depth=1,width=1,files=2,size=4k\n\
                        fsd=fsd2,anchor=u,depth=1,width=1,files=2,size=4k\n\
                        fwd=fwd1,fsd=fsd1,target=fsd2,operation=copy\n\
                        rd=rd1,fwd=fwd1,fwdrate=10,format=yes,elapsed=2,interval=1\n",
    );
    let outcome = vdbench(&sandbox, &["-v"]);
    let said = outcome.stdout + &outcome.stderr;
    assert!(outcome.code == 157 && said.contains("copies or moves files"), "{said}");
    let sandbox = with(PARM);
    let outcome = vdbench(&sandbox, &["-jro"]);
    assert!(outcome.code == 157, "{}", outcome.stdout);
    sandbox.write("jnl/plimsoll.jnl", "mine");
    let outcome = vdbench(&sandbox, &["-j"]);
    let said = outcome.stdout + &outcome.stderr;
    assert!(outcome.code == 157 && said.contains("is there already"), "{said}");
    assert_eq!(fs::read(sandbox.path("jnl/plimsoll.jnl")).unwrap(), b"mine");
}

/// A run of its own that is ended by SIGKILL, with the journal not flushed.
#[test]
fn what_a_kill_left_is_recovered_and_what_is_lost_then_is_told() {
    let sandbox = with(&PARM.replace("iorate=500,elapsed=2", "iorate=max,elapsed=100"));
    let mut command = sandbox.command(Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.args(["vdbench", "-f", "parm", "-o", "out", "-v", "-jn"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let journal = sandbox.path("jnl/plimsoll.jnl");
    // Past the format, which is some 30 kB of entries.
    while fs::metadata(&journal).map_or(0, |facts| facts.len()) < 100_000 {
        assert!(run.try_wait().unwrap().is_none(), "the run has ended");
        std::thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(Journal::read(&journal).blocks.len(), 256);
    sandbox.write("parm", PARM);
    let total = "validated:      256; key blocks marked in error:    0";
    let outcome = vdbench(&sandbox, &["-jrn"]);
    assert!(outcome.code == 0 && outcome.stdout.contains(total), "{}", outcome.stdout);
    let at_end = "validated: 256; key blocks marked in error: 0";
    assert!(outcome.stdout.contains(at_end), "{}", outcome.stdout);
    // Two blocks that were acknowledged are overwritten, one of them in part.
    let blocks = Journal::read(&journal).blocks;
    let mut known = blocks.iter().filter(|(_, state)| state.1.is_empty()).map(|it| it.0 * 4096);
    let (lost, torn) = (known.next().unwrap(), known.next().unwrap());
    let file = fs::File::options().write(true).open(sandbox.path("f")).unwrap();
    file.write_all_at(&[0; 4096], lost).unwrap();
    file.write_all_at(&[0; 512], torn + 1024).unwrap();
    for letters in ["-jr", "-jro"] {
        let outcome = vdbench(&sandbox, &[letters]);
        let said = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.code, 157, "{said}");
        assert!(said.contains("key blocks marked in error:    2"), "{said}");
        for (offset, word) in [(lost, "lost"), (torn, "torn")] {
            assert!(said.contains(&format!("offset {offset} is {word}: expected")), "{said}");
        }
        assert!(!said.contains("Starting RD=rd1"), "{said}");
    }
}

/// Journals that are torn, damaged, or of something else.
#[test]
fn a_journal_that_does_not_fit_is_refused_before_anything_runs() {
    let sandbox = with(PARM);
    assert_eq!(vdbench(&sandbox, &["-jn"]).code, 0);
    let path = sandbox.path("jnl/plimsoll.jnl");
    let whole = fs::read(&path).unwrap();
    let check = |parm: &str, journal: &[u8], code: i32, part: &str| {
        sandbox.write("parm", parm);
        fs::write(&path, journal).unwrap();
        let before = fs::read(sandbox.path("f")).unwrap();
        let outcome = vdbench(&sandbox, &["-jro"]);
        let said = outcome.stdout + &outcome.stderr;
        assert!(outcome.code == code && said.contains(part), "{part}: {said}");
        if code != 0 {
            let outcome = vdbench(&sandbox, &["-jr"]);
            let said = outcome.stdout + &outcome.stderr;
            assert!(outcome.code == code && said.contains(part), "{part}: {said}");
        }
        assert_eq!(fs::read(&path).unwrap(), journal, "{part}: it stays as it is");
        assert_eq!(fs::read(sandbox.path("f")).unwrap(), before, "{part}: nothing ran");
    };
    check(PARM, &whole[..whole.len() - 10], 0, "ends within an entry (");
    check(PARM, &whole[..60], 157, "is not a journal of Plimsoll");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    check(PARM, &damaged, 157, "is damaged at byte");
    check(&PARM.replace("lun=f", "lun=g"), &whole, 157, "/f`, and this run has `");
    assert!(!sandbox.path("g").exists());
    let larger = PARM.replace("size=1m", "size=2m");
    check(&larger, &whole, 157, "/f` has 1048576 B in the journal `jnl/plimsoll.jnl`, and 2097152");
    let smaller = PARM.replace("size=1m", "size=512k");
    check(&smaller, &whole, 0, "validated:      256; key blocks marked in error:    0");
    check(&PARM.replace("xf=4k", "xf=2k"), &whole, 157, "has blocks of 4096 B");
}

#[test]
fn a_full_disk_under_the_journal_ends_the_runs() {
    let sandbox = with(&PARM.replace("iorate=500,elapsed=2", "iorate=max,elapsed=100"));
    let script = format!(
        "mount -t tmpfs -o size=64k none jnl || exit 77\n\
         {0} vdbench -f parm -o out -v -j 2>&1 && exit 3\n\
         echo $?; {0} vdbench -f parm -o out -jro",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    let Some(outcome) = apart(&sandbox, &script) else { return };
    let text = outcome.stdout + &outcome.stderr;
    assert!(text.contains("cannot write the journal `jnl/plimsoll.jnl`: No space left"), "{text}");
    assert!(text.contains("\n157\n") && outcome.code == 0, "{text}");
    assert!(text.contains("key blocks marked in error:    0"), "{text}");
}

//! Records of I/O, as read and as written.

use dialects::fio::iolog::{self, FileAction, HEADER, IologError, LINE_BYTES_MAX, Reader};
use plan::op::OpKind;
use plan::report::{Logs, Replay};
use proptest::prelude::*;

fn replay() -> Replay {
    Logs::default().replay
}

/// (due in microseconds, file, kind, offset, length) of every operation.
#[track_caller]
fn check(text: &str, replay: &Replay, expected: &[(u64, &str, OpKind, u64, u32)]) {
    let recording = iolog::parse(text, replay).unwrap();
    let ops: Vec<_> = recording
        .ops
        .iter()
        .map(|op| {
            let file = recording.files[op.file_idx as usize].name.as_str();
            (op.due_ns / 1000, file, op.kind, op.offset, op.len)
        })
        .collect();
    assert_eq!(ops, expected);
}

const V3: &str = "fio version 3 iolog\n5 a add\n6 b add\n9 a open\n1000 a read 4096 512\n\
                  1100 b write 8192 1024\n1100 a sync 0 0\n1050 a datasync 0 0\n\
                  1150 b trim 0 2147483648\n2000 a close\n";

#[test]
fn version_3_counts_from_its_first_line() {
    use OpKind::{Fdatasync, Fsync, Read, Trim, Write};
    let all = [
        (995, "a", Read, 4096, 512),
        (1095, "b", Write, 8192, 1024),
        (1095, "a", Fsync, 0, 0),
        // Time does not run backwards.
        (1095, "a", Fdatasync, 0, 0),
        (1195, "b", Trim, 0, 2_147_483_648),
    ];
    check(V3, &replay(), &all);
    let cut = format!("{V3}2100 a read 0 40");
    check(&cut, &replay(), &all);
    check(&format!("{V3}{HEADER}"), &replay(), &all);
}

#[test]
fn a_replay_may_scale_move_and_leave_out() {
    use OpKind::{Read, Trim, Write};
    let half = Replay { time_scale_pct: 50, skip: [false, false, true, true], ..replay() };
    check(V3, &half, &[(1990, "a", Read, 4096, 512), (2190, "b", Write, 8192, 1024)]);
    let redirected = Replay {
        no_stall: true,
        redirect: Some("c".to_owned()),
        scale: 4,
        align_bytes: 2048,
        skip: [true, false, false, true],
        ..replay()
    };
    check(V3, &redirected, &[(0, "c", Write, 2048, 1024), (0, "c", Trim, 0, 2_147_483_648)]);
}

#[test]
fn version_2_waits() {
    use OpKind::{Read, Write};
    let text = "fio version 2 iolog\na add\na open\na read 0 4096\na wait 250\na wait 99 0\n\
                a write 4096 4096\n\na close\n";
    check(text, &replay(), &[(0, "a", Read, 0, 4096), (250, "a", Write, 4096, 4096)]);
}

#[test]
fn what_cannot_be_replayed_says_why() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(iolog::parse(text, &replay()).unwrap_err().to_string(), expected);
    }
    let no_record = IologError::NotARecord.to_string();
    check("", &no_record);
    check("\n", &no_record);
    check("fio version 4 iolog\n", &no_record);
    check("[job]\nrw=read\n", &no_record);
    let version_1 = IologError::Version1.to_string();
    check("read 0 4096\n", &version_1);
    check("0 4096 4096\n1 0 4096\n", &version_1);
    check("fio version 1 iolog\nread 0 4096\n", &version_1);
    check("fio version 3 iolog\n1 a add\n", "it holds no operation to replay");
    let bytes = "expected a number of bytes";
    check("fio version 3 iolog\n1 a read 0\n", &format!("line 2 gives no length; {bytes}"));
    check("fio version 2 iolog\n\na read x 1\n", &format!("line 3 gives no offset; {bytes}"));
    check(
        "fio version 3 iolog\n1 a read 0 1\na read 0 1\n",
        "line 3 starts with no time; expected microseconds, then file and action",
    );
    check(
        "fio version 3 iolog\n1 a fold 0 1\n",
        "line 2 names an unknown action; expected add, open, close, read, write, trim, sync, \
         datasync or (version 2) wait",
    );
    check(
        "fio version 3 iolog\n1 a read 0 5000000000\n",
        "line 2 is 4 GiB long or more; expected less",
    );
    check(
        "fio version 3 iolog\n1 a wait 5\n",
        "line 2 waits, which version 3 does not know: its lines have times",
    );
    let long = format!("fio version 2 iolog\n{} read 0 1\n", "a".repeat(LINE_BYTES_MAX));
    check(&long, "line 2 is longer than 8 KiB");
}

#[test]
fn what_is_not_text_is_refused() {
    let options = replay();
    // Traces of either byte order, as `blktrace` writes them: a magic number with a version.
    for magic in [0x6561_7407_u32.to_le_bytes(), 0x6561_7407_u32.to_be_bytes()] {
        let error = Reader::new(&options).line(&[&magic[..], &[0; 44]].concat()).unwrap_err();
        assert_eq!(error, IologError::BlockTrace);
    }
    let mut reader = Reader::new(&options);
    assert_eq!(Reader::new(&options).line(b"\xff\xfe\n"), Err(IologError::NotARecord));
    reader.line(HEADER.as_bytes()).unwrap();
    let reason = "is not text in UTF-8";
    assert_eq!(reader.line(b"1 \xff read 0 1\n"), Err(IologError::Line { line: 2, reason }));
}

proptest! {
    /// Whatever a file holds, it is read or refused.
    #[test]
    fn no_input_is_fatal(lines in prop::collection::vec(
        prop_oneof![
            "[0-9]{0,20} [a-z]{0,2} (read|write|trim|sync|wait|add)? ?[0-9]{0,21} ?[0-9]{0,11}\n",
            "[ -~\\t]{0,30}\n",
        ],
        0..20,
    ), version in 1..4) {
        let text = format!("fio version {version} iolog\n{}", lines.concat());
        if let Ok(recording) = iolog::parse(&text, &replay()) {
            let fits = recording.ops.iter().all(|op| {
                let end_bytes = op.offset.saturating_add(u64::from(op.len));
                end_bytes <= recording.files[op.file_idx as usize].size_bytes
            });
            prop_assert!(fits);
            prop_assert!(recording.ops.is_sorted_by_key(|op| op.due_ns));
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    let mut text = HEADER.to_owned();
    iolog::write_file(&mut text, 0, "a", FileAction::Add).unwrap();
    iolog::write_file(&mut text, 0, "a", FileAction::Open).unwrap();
    iolog::write_op(&mut text, 7, "a", OpKind::Write, 4096, 512).unwrap();
    iolog::write_op(&mut text, 9, "a", OpKind::Fsync, 0, 0).unwrap();
    iolog::write_op(&mut text, 9, "a", OpKind::Stat, 0, 0).unwrap();
    iolog::write_file(&mut text, 10, "a", FileAction::Close).unwrap();
    let expected = "fio version 3 iolog\n0 a add\n0 a open\n7 a write 4096 512\n9 a sync 0 0\n\
                    10 a close\n";
    assert_eq!(text, expected);
    check(&text, &replay(), &[(7, "a", OpKind::Write, 4096, 512), (9, "a", OpKind::Fsync, 0, 0)]);
}

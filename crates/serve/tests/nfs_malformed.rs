//! Calls that no client makes: none ends the server, and none is answered with nonsense.

mod nfs_common;

use std::io::Write;

use engine::nfs::xdr::XdrError;
use nfs_common::raw::{MOUNT_PROGRAM, NFS, answer, ask, call, connect, opaque, root, send, words};
use nfs_common::{MOUNT, Served, free_volume};
use serve::nfs::{Decoded, Refusal, decode_call, read_record};

/// Seed of the changes to calls; a failure names the change.
const SEED: u64 = 20_260_101;
/// Changed calls.
const N_CHANGES: u64 = 250;

/// The server still answers.
#[track_caller]
fn check_alive(served: &Served) {
    let answer = ask(served, &call(NFS, 0, &[])).expect("an answer");
    assert_eq!(answer, words(&[77, 1, 0, 0, 0, 0]));
}

/// Asks for the port of NFS, by version 2 of the portmapper's program.
fn portmap_call() -> Vec<u8> {
    let mut message = call(100_000, 3, &words(&[NFS, 3, 6, 0]));
    message[19] = 2;
    message
}

/// One call of each procedure that takes arguments, well-formed.
fn calls(root: &[u8]) -> Vec<Vec<u8>> {
    let name = opaque(b"name");
    let place = [root, &name].concat();
    let attributes = words(&[1, 0o644, 0, 0, 1, 0, 9, 1, 1]);
    let some = |procedure, parts: &[&[u8]]| call(NFS, procedure, &parts.concat());
    vec![
        some(1, &[root]),
        some(2, &[root, &attributes, &words(&[0])]),
        some(3, &[&place]),
        some(4, &[root, &words(&[0x3f])]),
        some(5, &[root]),
        some(6, &[root, &words(&[0, 0, 4096])]),
        some(7, &[root, &words(&[0, 0, 4, 2]), &opaque(b"data")]),
        some(8, &[&place, &words(&[0]), &attributes]),
        some(8, &[&place, &words(&[2, 1, 2])]),
        some(9, &[&place, &attributes]),
        some(10, &[&place, &attributes, &opaque(b"target")]),
        some(11, &[&place, &words(&[7]), &attributes]),
        some(12, &[&place]),
        some(13, &[&place]),
        some(14, &[&place, &place]),
        some(15, &[root, &place]),
        some(16, &[root, &words(&[0, 0, 0, 0, 4096])]),
        some(17, &[root, &words(&[0, 0, 0, 0, 4096, 8192])]),
        some(18, &[root]),
        some(19, &[root]),
        some(20, &[root]),
        some(21, &[root, &words(&[0, 0, 0])]),
        call(MOUNT_PROGRAM, 1, &opaque(MOUNT.as_bytes())),
        portmap_call(),
    ]
}

#[test]
fn versions_programs_and_procedures_that_are_not_there_are_refused() {
    let served = Served::start(free_volume());
    let check = |message: &[u8], expected: &[u32]| {
        assert_eq!(ask(&served, message).expect("an answer"), words(expected));
    };
    let mut other_version = call(NFS, 0, &[]);
    other_version[19] = 4;
    check(&other_version, &[77, 1, 0, 0, 0, 2, 3, 3]);
    let mut other_rpc = call(NFS, 0, &[]);
    other_rpc[11] = 9;
    check(&other_rpc, &[77, 1, 1, 0, 2, 2]);
    check(&call(100_227, 0, &[]), &[77, 1, 0, 0, 0, 1]);
    check(&call(NFS, 22, &[]), &[77, 1, 0, 0, 0, 3]);
    check(&call(NFS, u32::MAX, &[]), &[77, 1, 0, 0, 0, 3]);
    // No arguments where some are due, and a handle that is too long.
    check(&call(NFS, 1, &[]), &[77, 1, 0, 0, 0, 4]);
    check(&call(NFS, 1, &words(&[u32::MAX])), &[77, 1, 0, 0, 0, 4]);
    // A handle that was never given out is stale (70).
    check(&call(NFS, 1, &opaque(&[7; 16])), &[77, 1, 0, 0, 0, 0, 70]);
    check_alive(&served);
}

#[test]
fn every_procedure_answers_and_a_cut_call_is_refused() {
    let served = Served::start(free_volume());
    let root = root(&served);
    for message in calls(&root) {
        let whole = ask(&served, &message).expect("an answer");
        assert_eq!(whole[..24], words(&[77, 1, 0, 0, 0, 0]), "{message:?}");
        let mut stream = connect(&served);
        // From behind the credential on, each cut is one of the arguments.
        for len in (60..message.len()).step_by(8) {
            send(&mut stream, &message[..len]).expect("sent");
            let refused = answer(&mut stream).expect("an answer");
            assert_eq!(refused, words(&[77, 1, 0, 0, 0, 4]), "cut at {len}: {message:?}");
        }
    }
    check_alive(&served);
}

#[test]
fn calls_are_read_to_their_last_word_without_a_server() {
    let handle = opaque(&[7; 16]);
    // But the portmapper's, of whose last word nothing is read.
    for message in calls(&handle).into_iter().rev().skip(1) {
        let decoded = decode_call(&message).expect("a call");
        assert_eq!(decoded, Decoded { xid: 77, len: message.len(), refusal: None });
        let longer = [&message[..], &[0xff; 8]].concat();
        assert_eq!(decode_call(&longer), Ok(decoded), "what follows is ignored");
        let cut = decode_call(&message[..message.len() - 1]).expect("a call");
        assert_eq!(cut.refusal, Some(Refusal::Arguments));
    }
    assert_eq!(decode_call(&[0; 7]), Err(XdrError::Incomplete));
    let mut stream: &[u8] = b"\0\0\0\x02ab\0\0\0\0\x80\0\0\x01c\xff\xff\xff\xff";
    assert_eq!(read_record(&mut stream).expect("a record"), b"abc");
    assert!(read_record(&mut stream).is_err(), "longer than any");
}

#[test]
fn streams_that_make_no_sense_end_their_connection_only() {
    let served = Served::start(free_volume());
    let streams: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xff; 64],
        &[0x80, 0, 0, 0],
        &[0x80, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 1],
        // A length that is never filled, and a call that ends in its credential.
        &[0x80, 0x10, 0, 0, 1, 2, 3],
        &[0x80, 0, 0, 4, 0, 0, 0, 1],
    ];
    for bytes in streams {
        let mut stream = connect(&served);
        stream.write_all(bytes).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("the end is sent");
        assert_eq!(answer(&mut stream), None, "{bytes:?}");
        check_alive(&served);
    }
    // Groups beyond what a credential may name: nothing is reserved for them.
    let mut message = call(NFS, 0, &[]);
    message[48..52].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(ask(&served, &message), None);
    check_alive(&served);
}

#[test]
fn changed_calls_never_end_the_server() {
    let served = Served::start(free_volume());
    let calls = calls(&root(&served));
    let mut random = SEED;
    let mut draw = |below: usize| {
        // xorshift64*: any generator does, as long as it is the same in every run.
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % below
    };
    let mut stream = connect(&served);
    for n in 0..N_CHANGES {
        let mut message = calls[draw(calls.len())].clone();
        for _ in 0..=draw(4) {
            // Not the number of the call: it would look like that of another.
            let at = 4 + draw(message.len() - 4);
            message[at] = match draw(3) {
                0 => 0xff,
                1 => 0,
                _ => draw(256) as u8,
            };
        }
        if draw(4) == 0 {
            message.truncate(4 + draw(message.len() - 4));
        }
        let answered = send(&mut stream, &message).ok().and_then(|()| answer(&mut stream));
        match answered {
            Some(answered) => assert_eq!(answered[..8], words(&[77, 1]), "change {n}"),
            None => stream = connect(&served),
        }
    }
    check_alive(&served);
}

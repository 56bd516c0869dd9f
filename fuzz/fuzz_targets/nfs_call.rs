//! What the NFS export reads: no stream makes it panic, records come out the same however the
//! stream is cut, and a call says the same whatever follows its arguments.

#![no_main]

use std::io::{self, Read};

use engine::nfs::xdr::XdrError;
use libfuzzer_sys::fuzz_target;
use serve::nfs::{Decoded, decode_call, read_record};

/// A stream of which each read brings at most `n` bytes.
struct SlowStream<'a> {
    rest: &'a [u8],
    n: usize,
}

impl Read for SlowStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.n);
        self.rest.read(&mut buffer[..len])
    }
}

fn records(stream: &[u8], n: usize) -> Vec<Vec<u8>> {
    let mut stream = SlowStream { rest: stream, n };
    std::iter::from_fn(|| read_record(&mut stream).ok()).collect()
}

fn check(message: &[u8]) {
    match decode_call(message) {
        Ok(decoded @ Decoded { refusal: None, len, .. }) => {
            assert_eq!(decode_call(&message[..len]), Ok(decoded), "without what follows");
            // One byte less is too little, wherever it is missing.
            match decode_call(&message[..len - 1]) {
                Ok(cut) => assert!(cut.refusal.is_some(), "cut at {} of {len}", len - 1),
                Err(flaw) => assert_eq!(flaw, XdrError::Incomplete),
            }
        }
        Ok(_) | Err(XdrError::Incomplete) => {}
        Err(XdrError::Malformed(what)) => assert!(!what.is_empty()),
    }
}

/// Brings the words of a head that is accepted, so that more inputs reach the arguments: the first
/// byte chooses program and procedure.
fn check_arguments(bytes: &[u8]) {
    const PROGRAMS: [(u32, u32); 3] = [(100_003, 3), (100_005, 3), (100_000, 2)];
    let Some((choice, arguments)) = bytes.split_first() else { return };
    let (program, version) = PROGRAMS[usize::from(*choice) % PROGRAMS.len()];
    let procedure = u32::from(*choice) / PROGRAMS.len() as u32 % 24;
    let head = [1, 0, 2, program, version, procedure, 0, 0, 0, 0];
    let mut message: Vec<u8> = head.into_iter().flat_map(u32::to_be_bytes).collect();
    message.extend_from_slice(arguments);
    check(&message);
}

fuzz_target!(|bytes: &[u8]| {
    let whole = records(bytes, usize::MAX);
    for n in [1, 3, 7] {
        assert_eq!(records(bytes, n), whole, "in reads of {n}");
    }
    for record in whole.iter().map(Vec::as_slice).chain([bytes]) {
        check(record);
    }
    check_arguments(bytes);
});

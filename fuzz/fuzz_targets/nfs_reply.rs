//! The NFS client's decoder: no stream makes it panic, records come out the same however the stream
//! is cut, and the head of a reply lies within it.

#![no_main]

use engine::nfs::record::{RECORD_BYTES_MAX, Records};
use engine::nfs::reply::{Answer, HEAD_BYTES_MAX, Question, decode, xid};
use engine::nfs::xdr::XdrError;
use libfuzzer_sys::fuzz_target;

/// Takes a stream apart that comes in chunks of `n` bytes. Returns the records before the first
/// flaw, and the flaw.
fn records(stream: &[u8], n: usize) -> (Vec<Vec<u8>>, Option<XdrError>) {
    let mut reader = Records::default();
    let (mut found, mut record) = (Vec::new(), Vec::new());
    for chunk in stream.chunks(n) {
        let mut input = chunk;
        loop {
            match reader.next(&mut input) {
                Ok(None) => break,
                Ok(Some(part)) => {
                    record.extend_from_slice(part.bytes);
                    if part.is_end {
                        found.push(std::mem::take(&mut record));
                    }
                }
                Err(flaw) => return (found, Some(flaw)),
            }
        }
        assert!(input.is_empty(), "every byte belongs to a part");
    }
    (found, None)
}

fuzz_target!(|bytes: &[u8]| {
    let whole = records(bytes, bytes.len().max(1));
    for n in [1, 3, 7] {
        assert_eq!(records(bytes, n), whole, "in chunks of {n}");
    }
    for record in whole.0.iter().map(Vec::as_slice).chain([bytes]) {
        assert!(record.len() <= RECORD_BYTES_MAX as usize || record.len() == bytes.len());
        let _ = xid(record);
        let questions =
            [Question::Read, Question::Write, Question::Commit, Question::GetAttr, Question::Other];
        for question in questions {
            match decode(question, record) {
                Ok(head) => {
                    assert!(head.len <= record.len() && head.len <= HEAD_BYTES_MAX);
                    assert!(!matches!(head.answer, Answer::Refused { errno } if errno <= 0));
                    // The head says the same however much follows it.
                    assert_eq!(decode(question, &record[..head.len]), Ok(head));
                }
                // More bytes are asked for only within the longest head.
                Err(XdrError::Incomplete) => assert!(record.len() < HEAD_BYTES_MAX),
                Err(XdrError::Malformed(what)) => assert!(!what.is_empty()),
            }
        }
    }
});

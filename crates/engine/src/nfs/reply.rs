//! What a server answers, as a pure function of bytes.
//!
//! A reply is read in two steps, because what follows depends on the question: first the number of
//! the call ([`xid`]), then the rest by what was asked ([`decode`]). The data of a read are no part
//! of it: they follow where the head ends, and go straight to where they belong.

use super::xdr::{Reader, XdrError};

/// Longest head of a reply in bytes: verifier and attributes at their largest, rounded up.
pub const HEAD_BYTES_MAX: usize = 1024;

/// Longest body of an authentication field (RFC 5531, section 8.2).
const AUTH_BYTES_MAX: usize = 400;
/// Bytes of a file's attributes.
const ATTRIBUTES_BYTES: usize = 84;
/// Bytes of the few attributes from before an operation.
const BEFORE_BYTES: usize = 24;

/// What was asked, and so what the reply holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Bytes of a file.
    Read,
    /// To store bytes.
    Write,
    /// To make what was stored durable.
    Commit,
    /// The attributes.
    GetAttr,
    /// Something whose reply is of the caller's own format: only that it was accepted is read.
    Other,
}

/// What was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Bytes follow the head.
    Read {
        /// How many.
        count: u32,
        /// The file ends behind them.
        eof: bool,
    },
    /// Bytes were stored.
    Write {
        /// How many.
        count: u32,
        /// They are in a cache of the server: [`Answer::Commit`] must show the same verifier.
        is_unstable: bool,
        /// A number that changes when the server loses its cache.
        verifier: u64,
    },
    /// What was stored is durable, if the verifier is that of the writes.
    Commit {
        /// As in [`Answer::Write`].
        verifier: u64,
    },
    /// The attributes.
    GetAttr {
        /// Size of the file in bytes.
        size_bytes: u64,
    },
    /// Accepted; the results follow the head.
    Accepted,
    /// Refused: by the server's file system, or before it.
    Refused {
        /// The error number that says it best.
        errno: i32,
    },
}

/// The head of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its length in bytes.
    pub len: usize,
    /// What it says.
    pub answer: Answer,
}

/// Reads the number of the call that a reply belongs to.
///
/// # Errors
/// `Incomplete` below four bytes.
pub fn xid(bytes: &[u8]) -> Result<u32, XdrError> {
    Reader::new(bytes).u32()
}

/// Reads the head of the reply to `question`.
///
/// # Errors
/// `Incomplete` when more bytes are needed; `Malformed` for what no reply may say.
pub fn decode(question: Question, bytes: &[u8]) -> Result<Head, XdrError> {
    let mut reader = Reader::new(bytes);
    let answer = body(question, &mut reader)?;
    Ok(Head { len: bytes.len() - reader.rest().len(), answer })
}

fn body(question: Question, reader: &mut Reader<'_>) -> Result<Answer, XdrError> {
    let _xid = reader.u32()?;
    if reader.u32()? != 1 {
        return Err(XdrError::Malformed("a call where a reply is due"));
    }
    match reader.u32()? {
        0 => {}
        1 => return denied(reader),
        _ => return Err(XdrError::Malformed("status of a reply")),
    }
    let _flavor = reader.u32()?;
    reader.opaque(AUTH_BYTES_MAX, "verifier of a reply")?;
    match reader.u32()? {
        0 if question == Question::Other => return Ok(Answer::Accepted),
        0 => {}
        // No such program, version or procedure.
        1 | 3 => return Ok(Answer::Refused { errno: libc::EOPNOTSUPP }),
        2 => {
            reader.bytes(8)?;
            return Ok(Answer::Refused { errno: libc::EPROTONOSUPPORT });
        }
        4 => return Ok(Answer::Refused { errno: libc::EINVAL }),
        5 => return Ok(Answer::Refused { errno: libc::EIO }),
        _ => return Err(XdrError::Malformed("status of an accepted call")),
    }
    let status = reader.u32()?;
    if status != 0 {
        // Attributes may follow, which are not needed.
        return Ok(Answer::Refused { errno: errno_of(status) });
    }
    Ok(match question {
        Question::Read => {
            attributes_after(reader)?;
            let count = reader.u32()?;
            let eof = reader.bool("end of file")?;
            if reader.u32()? != count {
                return Err(XdrError::Malformed("count of bytes read"));
            }
            Answer::Read { count, eof }
        }
        Question::Write => {
            changes(reader)?;
            let count = reader.u32()?;
            let is_unstable = match reader.u32()? {
                0 => true,
                1 | 2 => false,
                _ => return Err(XdrError::Malformed("stability of a write")),
            };
            Answer::Write { count, is_unstable, verifier: reader.u64()? }
        }
        Question::Commit => {
            changes(reader)?;
            Answer::Commit { verifier: reader.u64()? }
        }
        Question::GetAttr => {
            Answer::GetAttr { size_bytes: size_of(reader.bytes(ATTRIBUTES_BYTES)?) }
        }
        Question::Other => Answer::Accepted,
    })
}

fn denied(reader: &mut Reader<'_>) -> Result<Answer, XdrError> {
    match reader.u32()? {
        0 => {
            reader.bytes(8)?;
            Ok(Answer::Refused { errno: libc::EPROTONOSUPPORT })
        }
        1 => {
            reader.u32()?;
            Ok(Answer::Refused { errno: libc::EACCES })
        }
        _ => Err(XdrError::Malformed("reason of a refusal")),
    }
}

/// Reads attributes that may be absent. Returns the size of the file.
pub(super) fn attributes_after(reader: &mut Reader<'_>) -> Result<Option<u64>, XdrError> {
    if !reader.bool("attributes follow")? {
        return Ok(None);
    }
    Ok(Some(size_of(reader.bytes(ATTRIBUTES_BYTES)?)))
}

/// Reads the attributes before and after a change.
fn changes(reader: &mut Reader<'_>) -> Result<(), XdrError> {
    if reader.bool("attributes before follow")? {
        reader.bytes(BEFORE_BYTES)?;
    }
    attributes_after(reader)?;
    Ok(())
}

/// Returns the size in a file's attributes: behind type, mode, links, user and group.
fn size_of(attributes: &[u8]) -> u64 {
    Reader::new(&attributes[20..]).u64().unwrap_or(0)
}

/// Returns the error number of an NFS status (RFC 1813, section 2.6).
///
/// Most numbers are those of Unix; the others are mapped as the Linux client does.
pub fn errno_of(status: u32) -> i32 {
    match status {
        63 => libc::ENAMETOOLONG,
        66 => libc::ENOTEMPTY,
        69 => libc::EDQUOT,
        // A stale or bad handle.
        70 | 10001 => libc::ESTALE,
        71 => libc::EREMOTE,
        10004 => libc::EOPNOTSUPP,
        10005 | 10007 => libc::EINVAL,
        10006 => libc::EREMOTEIO,
        // The server asks to come back later.
        10008 => libc::EAGAIN,
        1..=31 => status as i32,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of a reply, big-endian.
    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// An accepted reply without verifier.
    fn accepted(rest: &[u32]) -> Vec<u8> {
        words(&[&[7, 1, 0, 0, 0, 0], rest].concat())
    }

    #[track_caller]
    fn check(question: Question, bytes: &[u8], expected: Answer) {
        let head = decode(question, bytes).expect("a reply");
        assert_eq!(head, Head { len: bytes.len(), answer: expected });
        for len in 0..bytes.len() {
            assert_eq!(decode(question, &bytes[..len]), Err(XdrError::Incomplete), "at {len}");
        }
    }

    #[test]
    fn reads() {
        let answer = Answer::Read { count: 5, eof: true };
        check(Question::Read, &accepted(&[0, 0, 5, 1, 5]), answer);
        let attributes = [&[0, 1][..], &[9; 21], &[5, 1, 5]].concat();
        check(Question::Read, &accepted(&attributes), answer);
    }

    #[test]
    fn writes_and_commits() {
        let answer = Answer::Write { count: 8, is_unstable: true, verifier: 1 << 32 | 2 };
        check(Question::Write, &accepted(&[0, 0, 0, 8, 0, 1, 2]), answer);
        let before = [&[0, 1][..], &[3; 6], &[0, 8, 2, 1, 2]].concat();
        let answer = Answer::Write { count: 8, is_unstable: false, verifier: 1 << 32 | 2 };
        check(Question::Write, &accepted(&before), answer);
        check(Question::Commit, &accepted(&[0, 0, 0, 0, 9]), Answer::Commit { verifier: 9 });
    }

    #[test]
    fn the_size_of_a_file() {
        let mut attributes = [0; 22];
        attributes[6] = 3;
        attributes[7] = 4;
        let answer = Answer::GetAttr { size_bytes: 3 << 32 | 4 };
        check(Question::GetAttr, &accepted(&attributes), answer);
    }

    #[test]
    fn refusals() {
        for (status, errno) in [(2, libc::ENOENT), (28, libc::ENOSPC), (69, libc::EDQUOT)] {
            check(Question::Write, &accepted(&[status]), Answer::Refused { errno });
        }
        let refused = |errno| Answer::Refused { errno };
        check(Question::Read, &words(&[7, 1, 1, 1, 5]), refused(libc::EACCES));
        check(Question::Read, &words(&[7, 1, 1, 0, 2, 2]), refused(libc::EPROTONOSUPPORT));
        check(Question::Read, &words(&[7, 1, 0, 0, 0, 5]), refused(libc::EIO));
    }

    #[test]
    fn nonsense() {
        let check = |words_: &[u32], what| {
            assert_eq!(decode(Question::Read, &words(words_)), Err(XdrError::Malformed(what)));
        };
        check(&[7, 0], "a call where a reply is due");
        check(&[7, 1, 2], "status of a reply");
        check(&[7, 1, 0, 0, 401], "verifier of a reply");
        check(&[7, 1, 0, 0, 0, 9], "status of an accepted call");
        check(&[7, 1, 0, 0, 0, 0, 0, 2], "attributes follow");
        check(&[7, 1, 0, 0, 0, 0, 0, 0, 5, 1, 6], "count of bytes read");
    }

    /// What `fuzz/fuzz_targets/nfs_reply.rs` looks for at length, for a moment.
    #[test]
    fn no_reply_makes_it_panic_and_no_head_depends_on_what_follows() {
        let questions =
            [Question::Read, Question::Write, Question::Commit, Question::GetAttr, Question::Other];
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let mut n_heads = 0;
        for _ in 0..20_000 {
            // Mostly small words, so that many replies get far.
            let n_words = draw(64);
            let mut reply = accepted(&[]);
            for _ in 0..n_words {
                let word = if draw(8) == 0 { draw(1 << 32) as u32 } else { draw(3) as u32 };
                reply.extend_from_slice(&word.to_be_bytes());
            }
            if draw(2) == 0 {
                let at = draw(reply.len() as u64) as usize;
                reply[at] = draw(256) as u8;
            }
            for question in questions {
                if let Ok(head) = decode(question, &reply) {
                    n_heads += 1;
                    assert_eq!(decode(question, &reply[..head.len]), Ok(head), "{reply:?}");
                }
            }
        }
        assert!(n_heads > 10_000, "{n_heads} replies were read");
    }
}

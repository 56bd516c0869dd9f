//! What a connection reads, without a server behind it: to see what becomes of
//! bytes before anything is carried out.

use std::io::{self, Read};

use engine::nfs::xdr::XdrError;

use super::call;
use super::record::record;
use super::refusal::Refusal;

/// A call as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Its number.
    pub xid: u32,
    /// Bytes that were read of it, head and arguments; what follows them is ignored. 0 where it is
    /// refused.
    pub len: usize,
    /// Why it is refused; `None` is carried out.
    pub refusal: Option<Refusal>,
}

/// Reads a call and all its arguments as a connection does.
///
/// # Errors
/// When the message is no call at all: that ends its connection.
pub fn decode_call(message: &[u8]) -> Result<Decoded, XdrError> {
    let call = call::read(message)?;
    let mut arguments = call.arguments;
    Ok(match call.question(&mut arguments) {
        Ok(_) => {
            let len = message.len() - arguments.rest().len();
            Decoded { xid: call.xid, len, refusal: None }
        }
        Err(refusal) => Decoded { xid: call.xid, len: 0, refusal: Some(refusal) },
    })
}

/// Reads one record, of any number of fragments, as a connection does.
///
/// # Errors
/// At the end of the stream, and for a record beyond the longest that a connection takes.
pub fn read_record(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    record(stream)
}

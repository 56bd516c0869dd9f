//! Records: how calls and answers are separated on a connection (RFC 5531, section 11).

use std::io::{self, Read};

use engine::nfs::record::RECORD_BYTES_MAX;

/// Bit of a fragment's mark that says that it is the record's last.
pub(super) const LAST: u32 = 1 << 31;

/// Reads one record, of any number of fragments.
pub(super) fn record(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut mark = [0; 4];
        input.read_exact(&mut mark)?;
        let mark = u32::from_be_bytes(mark);
        let len = mark & !LAST;
        if message.len() as u64 + u64::from(len) > u64::from(RECORD_BYTES_MAX) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let n_read = input.by_ref().take(u64::from(len)).read_to_end(&mut message)?;
        if n_read < len as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if mark & LAST != 0 {
            return Ok(message);
        }
    }
}

//! Reading and writing XDR (RFC 4506) on plain bytes: all numbers big-endian, all lengths padded to
//! four bytes. Nothing here allocates what a length on the wire asks for.

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdrError {
    /// They end too early; more of them may help.
    Incomplete,
    /// They say what no reply may say; the name of the field.
    Malformed(&'static str),
}

/// Reads from the front of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the front of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Returns what was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads `len` bytes as they are, without padding.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], XdrError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(XdrError::Incomplete)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Reads a 32-bit number.
    pub fn u32(&mut self) -> Result<u32, XdrError> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a 64-bit number.
    pub fn u64(&mut self) -> Result<u64, XdrError> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    /// Reads a truth value; `what` names it where it is neither 0 nor 1.
    pub fn bool(&mut self, what: &'static str) -> Result<bool, XdrError> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(XdrError::Malformed(what)),
        }
    }

    /// Reads bytes with their length in front, at most `len_max` of them, and the padding.
    pub fn opaque(&mut self, len_max: usize, what: &'static str) -> Result<&'a [u8], XdrError> {
        let len = self.u32()? as usize;
        if len > len_max {
            return Err(XdrError::Malformed(what));
        }
        let bytes = self.bytes(len)?;
        self.bytes(padding(len))?;
        Ok(bytes)
    }
}

/// Returns the bytes that fill `len` up to a multiple of four.
pub const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// Writes to the front of a buffer of fixed size. What does not fit is a programmer error.
pub(super) struct Writer<'a> {
    buffer: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(buffer: &'a mut [u8]) -> Self {
        Writer { buffer, len: 0 }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.buffer[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }

    pub(super) fn opaque(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes(bytes);
        self.bytes(&[0; 3][..padding(bytes.len())]);
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Overwrites the number at `at`, which was written before.
    pub(super) fn set_u32(&mut self, at: usize, value: u32) {
        self.buffer[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }
}

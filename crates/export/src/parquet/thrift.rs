//! As much of Thrift's compact protocol as Parquet's metadata need.
//!
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct in the making; fields are put in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last_id: u8,
}

impl Struct {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn i32(self, id: u8, value: i64) -> Self {
        assert!(i32::try_from(value).is_ok(), "field {id} holds {value} in 32 bits");
        let mut this = self.field(id, I32);
        put_zigzag(&mut this.bytes, value);
        this
    }

    pub(super) fn i64(self, id: u8, value: i64) -> Self {
        let mut this = self.field(id, I64);
        put_zigzag(&mut this.bytes, value);
        this
    }

    pub(super) fn text(self, id: u8, text: &str) -> Self {
        let mut this = self.field(id, BINARY);
        put_text(&mut this.bytes, text);
        this
    }

    pub(super) fn nested(self, id: u8, of: &Struct) -> Self {
        let mut this = self.field(id, STRUCT);
        this.bytes.extend_from_slice(&of.clone().finish());
        this
    }

    pub(super) fn structs(self, id: u8, all: &[Struct]) -> Self {
        let mut this = self.list(id, STRUCT, all.len());
        for of in all {
            this.bytes.extend_from_slice(&of.clone().finish());
        }
        this
    }

    pub(super) fn i32s(self, id: u8, all: &[i64]) -> Self {
        let mut this = self.list(id, I32, all.len());
        for value in all {
            put_zigzag(&mut this.bytes, *value);
        }
        this
    }

    pub(super) fn texts(self, id: u8, all: &[&str]) -> Self {
        let mut this = self.list(id, BINARY, all.len());
        for text in all {
            put_text(&mut this.bytes, text);
        }
        this
    }

    /// Ends the struct and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// Puts a field's head. The distance to the last one is at most 15 in all that is written.
    fn field(mut self, id: u8, kind: u8) -> Self {
        let last_id = self.last_id;
        assert!((1..16).contains(&id.wrapping_sub(last_id)), "field {id} comes behind {last_id}");
        self.bytes.push((id - last_id) << 4 | kind);
        self.last_id = id;
        self
    }

    fn list(self, id: u8, kind: u8, len: usize) -> Self {
        let mut this = self.field(id, LIST);
        if len < 15 {
            this.bytes.push((len as u8) << 4 | kind);
        } else {
            this.bytes.push(0xf0 | kind);
            put_varint(&mut this.bytes, len as u64);
        }
        this
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

/// Appends seven bits a byte, least first.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

//! The table as a Parquet file.
//!
//! Written here, in 250 lines: plain values, one page per column, compressed with gzip. The crates
//! that do it bring fifteen others and 74 s of CPU time to every build.
//!
//! Format: <https://parquet.apache.org/docs/file-format/>, parquet.thrift. Read back by DuckDB and
//! pyarrow in `crates/plimsoll/tests/export.rs`.

#[cfg(test)]
mod misuse;
mod thrift;

use crate::columns::{COLUMNS, Column, ColumnKind, Value};
use crate::table::Table;
use thrift::Struct;

/// At the start and the end of every file.
const MAGIC: &[u8] = b"PAR1";

/// Rows of one group: its pages stay far below the 2 GiB that their sizes can say.
const GROUP_ROWS: usize = 100_000;

/// Values of `parquet.thrift`.
const BOOLEAN: i64 = 0;
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const OPTIONAL: i64 = 1;
const CONVERTED_UTF8: i64 = 0;
const ENCODING_PLAIN: i64 = 0;
const ENCODING_RLE: i64 = 3;
const CODEC_GZIP: i64 = 2;
const DATA_PAGE: i64 = 0;
const VERSION: i64 = 1;

/// Returns the table as a file. Every column may be null.
///
/// # Panics
/// If a row has more or fewer cells than there are columns, or one of another kind.
pub fn parquet(table: &Table) -> Vec<u8> {
    table.must_be_whole();
    let mut file = MAGIC.to_vec();
    let groups: Vec<Struct> =
        table.rows.chunks(GROUP_ROWS).map(|rows| put_group(&mut file, rows)).collect();
    let mut schema = vec![Struct::new().text(4, "plimsoll").i32(5, COLUMNS.len() as i64)];
    schema.extend(COLUMNS.iter().map(schema_element));
    let footer = Struct::new()
        .i32(1, VERSION)
        .structs(2, &schema)
        .i64(3, table.rows.len() as i64)
        .structs(4, &groups)
        .text(6, concat!("plimsoll version ", env!("CARGO_PKG_VERSION")))
        .finish();
    file.extend_from_slice(&footer);
    file.extend_from_slice(&(size(footer.len()) as u32).to_le_bytes());
    file.extend_from_slice(MAGIC);
    file
}

fn physical_type(kind: ColumnKind) -> i64 {
    match kind {
        ColumnKind::Flag => BOOLEAN,
        ColumnKind::Whole => INT64,
        ColumnKind::Number => DOUBLE,
        ColumnKind::Text => BYTE_ARRAY,
    }
}

fn schema_element(column: &Column) -> Struct {
    let element =
        Struct::new().i32(1, physical_type(column.kind)).i32(3, OPTIONAL).text(4, column.name);
    match column.kind {
        // As old readers and as new ones know it.
        ColumnKind::Text => {
            let string = Struct::new().nested(1, &Struct::new());
            element.i32(6, CONVERTED_UTF8).nested(10, &string)
        }
        ColumnKind::Whole | ColumnKind::Number | ColumnKind::Flag => element,
    }
}

/// Appends the columns of some rows, and returns their `RowGroup`.
fn put_group(file: &mut Vec<u8>, rows: &[Vec<Value>]) -> Struct {
    let mut chunks = Vec::new();
    let mut total_bytes = 0_i64;
    for (idx, column) in COLUMNS.iter().enumerate() {
        let offset = file.len();
        let plain = page(rows.iter().map(|row| &row[idx]), rows.len());
        let packed = gzip(&plain);
        let header = Struct::new()
            .i32(1, DATA_PAGE)
            .i32(2, size(plain.len()))
            .i32(3, size(packed.len()))
            .nested(
                5,
                &Struct::new()
                    .i32(1, rows.len() as i64)
                    .i32(2, ENCODING_PLAIN)
                    .i32(3, ENCODING_RLE)
                    .i32(4, ENCODING_RLE),
            )
            .finish();
        file.extend_from_slice(&header);
        file.extend_from_slice(&packed);
        let n_bytes = (header.len() + plain.len()) as i64;
        total_bytes += n_bytes;
        let meta = Struct::new()
            .i32(1, physical_type(column.kind))
            .i32s(2, &[ENCODING_PLAIN, ENCODING_RLE])
            .texts(3, &[column.name])
            .i32(4, CODEC_GZIP)
            .i64(5, rows.len() as i64)
            .i64(6, n_bytes)
            .i64(7, (header.len() + packed.len()) as i64)
            .i64(9, offset as i64);
        chunks.push(Struct::new().i64(2, offset as i64).nested(3, &meta));
    }
    Struct::new().structs(1, &chunks).i64(2, total_bytes).i64(3, rows.len() as i64)
}

/// Returns a size as the format has it, in 31 bits.
fn size(n_bytes: usize) -> i64 {
    assert!(n_bytes < 1 << 31, "{n_bytes} B in one piece, and Parquet takes 2 GiB");
    n_bytes as i64
}

/// Returns a page before compression: which values there are, then these.
fn page<'a>(values: impl Iterator<Item = &'a Value> + Clone, n_values: usize) -> Vec<u8> {
    let levels = levels(values.clone().map(|value| *value != Value::None), n_values);
    let mut page = (levels.len() as u32).to_le_bytes().to_vec();
    page.extend_from_slice(&levels);
    let mut flags: Vec<bool> = Vec::new();
    for value in values {
        match value {
            Value::None => {}
            Value::Text(text) => {
                page.extend_from_slice(&(text.len() as u32).to_le_bytes());
                page.extend_from_slice(text.as_bytes());
            }
            // No count or time comes near 2^63.
            Value::Whole(whole) => {
                page.extend_from_slice(&i64::try_from(*whole).unwrap_or(i64::MAX).to_le_bytes());
            }
            Value::Number(number) => page.extend_from_slice(&number.to_le_bytes()),
            Value::Flag(flag) => flags.push(*flag),
        }
    }
    for eight in flags.chunks(8) {
        let bits = eight.iter().enumerate().map(|(bit, flag)| u8::from(*flag) << bit);
        page.push(bits.fold(0, |byte, bit| byte | bit));
    }
    page
}

/// Returns the definition levels, 1 bit each, as runs of equal ones.
fn levels(is_there: impl Iterator<Item = bool>, n_values: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut run = (false, 0_u64);
    let mut n_seen = 0;
    for (idx, is_there) in is_there.enumerate() {
        n_seen = idx + 1;
        if run.1 > 0 && run.0 != is_there {
            put_run(&mut out, run);
            run.1 = 0;
        }
        run = (is_there, run.1 + 1);
        if n_seen == n_values {
            put_run(&mut out, run);
        }
    }
    assert!(n_seen == n_values, "a page of {n_values} values has {n_seen}");
    out
}

fn put_run(out: &mut Vec<u8>, (level, length): (bool, u64)) {
    thrift::put_varint(out, length << 1);
    out.push(u8::from(level));
}

/// Returns bytes as a gzip member (RFC 1952).
fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    out.extend_from_slice(&miniz_oxide::deflate::compress_to_vec(plain, 6));
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(plain);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    out
}

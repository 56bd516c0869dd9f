//! fio's job files: no text makes the parser panic or hang, and each finding has a place in it.

#![no_main]

mod common;

use common::{FILE_NAME, OneFile, check};
use dialects::LowerOptions;
use dialects::fio::parse_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    check(&parse_file(FILE_NAME, &LowerOptions::default(), &OneFile(bytes)));
});

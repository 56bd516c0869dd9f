//! Traces of blkparse: no bytes make the reader panic or hang,
//! and what comes of them is a file of needs.

#![no_main]

mod capture_common;

use capture::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| capture_common::check(Format::Blkparse, bytes));

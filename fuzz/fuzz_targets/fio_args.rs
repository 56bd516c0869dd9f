//! fio's command line: one argument per line. Arguments may name a job file, which reads the same.

#![no_main]

mod common;

use common::{OneFile, check};
use dialects::fio::parse_args;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let args: Vec<String> = text.lines().map(str::to_owned).collect();
    check(&parse_args(&args, &OneFile(text.as_bytes())).parsed);
});

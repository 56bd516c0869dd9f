//! Verification: how a block proves its contents, when it is read back, what happens to a bad one.

use super::entry::{Param, Support, ValueKind};
use super::fields::{BASE, COUNT, Codec, Plain, Word, choice, field, word, words};
use crate::job_field;
use crate::verify::{VerifyMethod, VerifyPolicy};

/// Whether anything is written.
pub(super) static PLACES: &[Param] = &[Param {
    name: "verify_only",
    fio: &["verify_only"],
    kind: ValueKind::Flag,
    short: "only verify what an earlier run wrote",
    long: "Repeats the sequence of the write job without writing and checks each block. The \
               settings must be those of the run that wrote; it cannot be combined with \
               `time_based`.",
    ..field!(verify.verify_only)
}];

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "verify",
        fio: &["verify"],
        default: "0",
        short: "how blocks prove their contents",
        long: "Writes blocks that can be checked when they are read back. A checksum method \
               stores a header with the checksum, offset, time and sequence number every \
               `verify_interval_bytes`; `pattern` fills the whole block with `verify_pattern`; \
               `pattern_hdr` has both; `meta` only the header; `null` does the work without \
               judging. A write job reads back after each pass, a read job checks what an earlier \
               run wrote. One that is `time_based` on an engine without a queue never gets there.",
        ..choice!(verify.method, METHODS)
    },
    Param {
        name: "verify_read_back",
        fio: &["do_verify"],
        kind: ValueKind::Bool,
        default: "1",
        short: "read back after writing",
        long: "With 0 a write job leaves verifiable blocks behind and does not read them; a read \
               job with the same settings can check them later.",
        ..field!(verify.do_verify)
    },
    Param {
        name: "verify_policy",
        fio: &["verify_policy"],
        default: "completed",
        short: "which writes a saved state counts as written",
        long: "After a crash, `completed` expects every write that had completed, `fsynced` only \
               those before the last successful fsync. Used with `verify_state_load`.",
        ..choice!(verify.policy, POLICIES)
    },
    Param {
        name: "verify_sort",
        fio: &["verifysort"],
        kind: ValueKind::Bool,
        short: "order of the read-back",
        long: "Older releases of fio could sort the blocks by offset before reading back.",
        support: Support::NoEffect(
            "fio itself ignores it; blocks are read back in the order of \
                                     writing",
        ),
        ..BASE
    },
    Param {
        name: "verify_sort_n",
        fio: &["verifysort_nr"],
        kind: COUNT,
        short: "blocks sorted at once",
        long: "Belonged to `verify_sort` in older releases of fio.",
        support: Support::NoEffect("fio itself ignores it"),
        ..BASE
    },
    Param {
        name: "verify_interval_bytes",
        fio: &["verify_interval"],
        kind: ValueKind::Int { min: 80, max: u32::MAX as i64 },
        short: "a header every this many bytes",
        long: "Divides each block into parts that are checked for themselves, which finds the \
               damaged part of a large block. It is reduced to a common divisor of the block \
               sizes. Left out, a block has one header.",
        ..field!(verify.interval_bytes)
    },
    Param {
        name: "verify_header_offset_bytes",
        fio: &["verify_offset"],
        kind: ValueKind::Int { min: 40, max: u32::MAX as i64 },
        short: "where the header lies in its interval, in bytes",
        long: "Moves the header away from the start of the interval, where some file systems \
               keep data of their own. It must fit before the interval's end.",
        ..field!(verify.header_offset_bytes)
    },
    Param {
        name: "verify_pattern",
        fio: &["verify_pattern"],
        kind: ValueKind::Pattern { offset: true },
        short: "bytes that verified blocks hold",
        long: "Contents of verified blocks behind the header, written as for `pattern`; `%o` \
               stands for the block's offset as eight bytes, lowest first. Without a method it \
               means `verify=pattern`. It must not be longer than a block.",
        lower: |job, v| {
            job.verify.pattern = v.pattern()?;
            job.verify.method.get_or_insert(VerifyMethod::Pattern);
            Ok(())
        },
        get: |job| Plain::get(&job.verify.pattern),
        field: Some(job_field!(verify.pattern)),
        ..BASE
    },
    Param {
        name: "verify_pattern_interval_bytes",
        fio: &["verify_pattern_interval"],
        kind: COUNT,
        default: "0",
        short: "the pattern starts over every this many bytes",
        long: "Length after which `verify_pattern` begins anew, with `%o` counted from there. 0 \
               is the block.",
        ..field!(verify.pattern_interval_bytes)
    },
    Param {
        name: "verify_fatal",
        fio: &["verify_fatal"],
        kind: ValueKind::Bool,
        default: "0",
        short: "stop at the first bad block",
        long: "Ends the job with EILSEQ at the first block that fails. Otherwise it goes on and \
               counts them all.",
        ..field!(verify.fatal)
    },
    Param {
        name: "verify_dump",
        fio: &["verify_dump"],
        kind: ValueKind::Bool,
        default: "0",
        short: "save expected and received block of a failure",
        long: "Writes both versions of a bad block next to the file, named after its offset, \
               with the endings `.expected` and `.received`.",
        ..field!(verify.dump)
    },
    Param {
        name: "n_verify_threads",
        fio: &["verify_async"],
        kind: COUNT,
        default: "0",
        short: "threads that verify",
        long: "Checks blocks in this many extra threads, while the worker keeps the queue \
               full. 0 checks in the worker.",
        ..field!(verify.n_threads)
    },
    Param {
        name: "verify_cpus",
        fio: &["verify_async_cpus"],
        kind: ValueKind::NumberList,
        short: "CPUs of the verifying threads",
        long: "Pins the threads of `n_verify_threads` to these CPUs: numbers and ranges \
               separated by commas.",
        ..field!(verify.thread_cpus)
    },
    Param {
        name: "verify_backlog",
        fio: &["verify_backlog"],
        kind: COUNT,
        short: "verify after this many blocks were written",
        long: "Reads back in between instead of at the end: after every so many blocks. It keeps \
               the memory for remembering blocks small, and finds damage early. 0 is at the end.",
        ..field!(verify.backlog)
    },
    Param {
        name: "verify_backlog_batch",
        fio: &["verify_backlog_batch"],
        kind: COUNT,
        short: "blocks verified before writing goes on",
        long: "With `verify_backlog`: how many blocks are read back at a time. 0 is the whole \
               backlog.",
        ..field!(verify.backlog_batch)
    },
    Param {
        name: "verify_regenerate",
        fio: &["experimental_verify"],
        kind: ValueKind::Bool,
        short: "generate the order again instead of remembering it",
        long: "Reads back by repeating the random sequence rather than from a list of written \
               blocks, so that memory does not grow with their number.",
        ..field!(verify.regenerate)
    },
    Param {
        name: "verify_state_load",
        fio: &["verify_state_load"],
        kind: ValueKind::Bool,
        short: "verify only what a saved state says was written",
        long: "Reads the state that an interrupted run saved, and expects only the blocks that \
               it lists.",
        ..field!(verify.state_load)
    },
    Param {
        name: "verify_state_save",
        fio: &["verify_state_save"],
        kind: ValueKind::Bool,
        default: "1",
        short: "save what was written when a run ends early",
        long: "Writes `local-JOB-N-verify.state` into the current folder when the run is \
               interrupted, for `verify_state_load`.",
        ..field!(verify.state_save)
    },
    Param {
        name: "verify_sequence",
        fio: &["verify_write_sequence"],
        kind: ValueKind::Bool,
        default: "1",
        short: "check the sequence number in the header",
        long: "Finds blocks of an older write that a newer one should have replaced. Left out, \
               it is switched off where the order is not certain, such as repeated blocks at a \
               depth over 1.",
        ..field!(verify.check_write_sequence)
    },
    Param {
        name: "verify_seed",
        fio: &["verify_header_seed"],
        kind: ValueKind::Bool,
        default: "1",
        short: "check the seed in the header",
        long: "Finds blocks that belong to another place or another run. Left out, it is \
               switched off where the seed cannot be known, such as in pure read jobs.",
        ..field!(verify.check_header_seed)
    },
    Param {
        name: "trimmed_is_zero",
        fio: &["trim_verify_zero"],
        kind: ValueKind::Bool,
        default: "1",
        short: "trimmed blocks must read as zeros",
        long: "With `trim_pct`: fails when a trimmed block holds anything but zeros. Not every \
               device promises zeros.",
        ..field!(verify.trimmed_is_zero)
    },
];

const METHODS: [Word<Option<VerifyMethod>>; 19] = [
    word("0", &["none"], "no verification", None),
    word("md5", &[], "MD5", Some(VerifyMethod::Md5)),
    word("crc64", &[], "CRC-64", Some(VerifyMethod::Crc64)),
    word("crc32c", &["crc32c-intel"], "CRC-32C, the fastest checksum", Some(VerifyMethod::Crc32c)),
    word("crc32", &[], "CRC-32", Some(VerifyMethod::Crc32)),
    word("crc16", &[], "CRC-16", Some(VerifyMethod::Crc16)),
    word("crc7", &[], "CRC-7", Some(VerifyMethod::Crc7)),
    word("xxhash", &[], "xxHash, 32 bits", Some(VerifyMethod::XxHash)),
    word("sha1", &[], "SHA-1", Some(VerifyMethod::Sha1)),
    word("sha256", &[], "SHA-256", Some(VerifyMethod::Sha256)),
    word("sha512", &[], "SHA-512", Some(VerifyMethod::Sha512)),
    word("sha3-224", &[], "SHA3-224", Some(VerifyMethod::Sha3_224)),
    word("sha3-256", &[], "SHA3-256", Some(VerifyMethod::Sha3_256)),
    word("sha3-384", &[], "SHA3-384", Some(VerifyMethod::Sha3_384)),
    word("sha3-512", &[], "SHA3-512", Some(VerifyMethod::Sha3_512)),
    word("meta", &[], "the header alone", Some(VerifyMethod::Meta)),
    word("pattern", &[], "the whole block is the pattern", Some(VerifyMethod::Pattern)),
    word("pattern_hdr", &[], "header, then the pattern", Some(VerifyMethod::PatternHeader)),
    word("null", &[], "all the work, no judgement", Some(VerifyMethod::Null)),
];

impl VerifyMethod {
    /// Returns the word for it, in job files and in messages.
    pub fn name(self) -> &'static str {
        let word = METHODS.iter().find(|word| word.meaning() == Some(self));
        word.expect("each method has a word").name()
    }
}

const POLICIES: [Word<VerifyPolicy>; 2] = words!(VerifyPolicy {
    Completed => ("completed", &[], "all writes that completed"),
    Fsynced => ("fsynced",
    &[],
    "writes completed before the last successful fsync"),
});

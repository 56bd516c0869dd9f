//! Blocks as they are made and as they are proved.

use pattern::verify::{
    BlockFacts, Expected, HeaderLayout, Mismatch, MismatchKind, Verifier, VerifyConfigError,
    WriteFacts, checksum, effective_checks, fill_random, write_seed,
};
use plan::EngineKind;
use plan::files::Size;
use plan::verify::{PatternPart, Verify, VerifyMethod};
use plan::workload::BlockSize;
use plan::{Job, PerDir};
use proptest::prelude::*;

const FACTS: WriteFacts =
    WriteFacts { offset: 8192, seed: 77, number_io: 70_003, time_s: 5, time_ns: 6, worker: 1 };

const EXPECTED: Expected = Expected { offset: 8192, seed: Some(77), number_io: Some(70_003) };

fn blocks(bytes: u32) -> BlockFacts {
    BlockFacts {
        write_min_bytes: bytes,
        write_max_bytes: bytes,
        read_min_bytes: None,
        unaligned: false,
    }
}

fn settings(method: VerifyMethod) -> Verify {
    let pattern = match method {
        VerifyMethod::Pattern | VerifyMethod::PatternHeader => vec![
            PatternPart::Bytes(b"abcd".to_vec()),
            PatternPart::Offset,
            PatternPart::Bytes(vec![0xde, 0xad, 0xfa]),
        ],
        _ => Vec::new(),
    };
    Verify { method: Some(method), pattern, ..Verify::default() }
}

fn stamped(verifier: &Verifier, bytes: usize) -> Vec<u8> {
    let mut block = vec![0; bytes];
    verifier.stamp(&mut block, &FACTS);
    block
}

#[track_caller]
fn check_sum(method: VerifyMethod, want: &str) {
    assert_eq!(checksum(method, &[b"123456789"]).to_string(), want);
    assert_eq!(checksum(method, &[b"1234", b"", b"56789"]).to_string(), want, "in parts");
}

/// Published check values; those of CRC-32 and CRC-32C without their final inversion, SHA-1 with
/// each word turned round, as fio stores them.
#[test]
fn checksums_have_their_published_values() {
    check_sum(VerifyMethod::Crc7, "75");
    check_sum(VerifyMethod::Crc16, "3dbb");
    check_sum(VerifyMethod::Crc32, &hex(&(!0x765e_7680_u32).to_le_bytes()));
    check_sum(VerifyMethod::Crc32c, &hex(&(!0xe306_9283_u32).to_le_bytes()));
    check_sum(VerifyMethod::Crc64, &hex(&0xe9c6_d914_c4b8_d9ca_u64.to_le_bytes()));
    check_sum(VerifyMethod::Md5, "25f9e794323b453885f5181f1b624d0b");
    check_sum(VerifyMethod::Sha1, "1dbcc3f773048e809967df2a4cc3cc654134aea7");
    check_sum(VerifyMethod::Sha3_224, "5795c3d628fd638c9835a4c79a55809f265068c88729a1a3fcdf8522");
    check_sum(
        VerifyMethod::Sha3_256,
        "87cd084d190e436f147322b90e7384f6a8e0676c99d21ef519ea718e51d45f9c",
    );
}

/// fio's `sha512` is the digest, then the second half of the last padded block.
#[test]
fn sha512_stores_digest_and_padding() {
    let sum = checksum(VerifyMethod::Sha512, &[b"123456789"]).to_string();
    let digest = "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274a\
                  d27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85";
    assert_eq!(&sum[..128], digest);
    assert_eq!(sum[128..], format!("{}48", "00".repeat(63)), "72 bits of data");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[test]
fn every_method_accepts_its_own_blocks_in_both_layouts() {
    for method in VerifyMethod::ALL {
        for layout in [HeaderLayout::Compact, HeaderLayout::Versioned] {
            let verifier = Verifier::new(&settings(method), blocks(4096)).unwrap();
            let block = stamped(&verifier.clone().with_layout(layout), 4096);
            assert_eq!(verifier.check(&block, &EXPECTED), Ok(()), "{method:?} {layout:?}");
        }
    }
}

#[test]
fn equal_facts_make_equal_blocks_and_other_seeds_others() {
    let verifier = Verifier::new(&settings(VerifyMethod::Crc32c), blocks(512)).unwrap();
    assert_eq!(stamped(&verifier, 512), stamped(&verifier, 512));
    let (mut one, mut two) = ([0; 67], [0; 67]);
    fill_random(write_seed(1, 1), &mut one);
    fill_random(write_seed(1, 2), &mut two);
    assert!(one.iter().zip(two).filter(|(a, b)| **a == *b).count() < 8);
    assert!(one[64..].iter().any(|byte| *byte != 0), "the rest of a word is filled too");
}

/// Chi-squared over the bytes of 64 KiB, 255 degrees of freedom: 255 on average, deviation 23.
#[test]
fn random_contents_do_not_compress() {
    for seed in [0, 1, 2, u64::MAX, 0_u64.wrapping_sub(0x9E37_79B9_7F4A_7C15)] {
        let mut block = vec![0; 65_536];
        fill_random(seed, &mut block);
        for stride in [1, 8] {
            let mut counts = [0_f64; 256];
            let bytes = block.iter().step_by(stride);
            bytes.for_each(|byte| counts[usize::from(*byte)] += 1.0);
            let mean = 256.0 / stride as f64;
            let chi2: f64 = counts.iter().map(|n| (n - mean).powi(2) / mean).sum();
            assert!((140.0..400.0).contains(&chi2), "seed {seed}, stride {stride}: {chi2}");
        }
    }
}

#[track_caller]
fn check_fault(change: impl FnOnce(&mut Vec<u8>, &mut Expected), want: &str) {
    let verifier = Verifier::new(&settings(VerifyMethod::Crc32c), blocks(4096)).unwrap();
    let mut block = stamped(&verifier, 4096);
    let mut expected = EXPECTED;
    change(&mut block, &mut expected);
    let fault = verifier.check(&block, &expected).unwrap_err();
    let text = fault.of_file("vf").to_string();
    assert_eq!(text.lines().next().unwrap(), want);
}

#[test]
fn messages_are_the_fields() {
    let at = "at file vf offset 8192, length 4096 (requested block: offset=8192, length=4096)";
    check_fault(
        |block, _| block[4000] ^= 1,
        "crc32c: verify failed at file vf offset 8192, length 4096 \
         (requested block: offset=8192, length=4096, flags=8)",
    );
    check_fault(
        |block, _| block[..2].fill(0),
        &format!("verify: bad magic header 0, wanted acca {at}"),
    );
    check_fault(
        |block, _| block[2] = 0x82,
        &format!("verify: unsupported header version 82, wanted 81 {at}"),
    );
    check_fault(
        |block, _| block[4] = 9,
        &format!("verify: bad header length 4105, wanted 4096 {at}"),
    );
    check_fault(
        |_, expected| expected.seed = Some(1),
        &format!("verify: bad header rand_seed 77, wanted 1 {at}"),
    );
    check_fault(
        |_, expected| expected.number_io = Some(70_004),
        &format!("verify: bad header numberio 70003, wanted 70004 {at}"),
    );
    check_fault(
        |_, expected| expected.offset = 0,
        "verify: bad header offset 8192, wanted 0 at file vf offset 0, length 4096 \
         (requested block: offset=0, length=4096)",
    );
}

#[test]
fn a_pattern_fault_names_byte_and_bits() {
    let verifier = Verifier::new(&settings(VerifyMethod::Pattern), blocks(512)).unwrap();
    let mut block = stamped(&verifier, 512);
    assert_eq!(block[..15], *b"abcd\x00\x20\0\0\0\0\0\0\xde\xad\xfa");
    block[16] = b'b' ^ 3;
    let fault = verifier.check(&block, &EXPECTED).unwrap_err();
    assert_eq!(fault.kind, MismatchKind::Pattern { got: b'a', want: b'b', at: 16 });
    assert_eq!(
        fault.of_file("vf").to_string(),
        "got pattern '61', wanted '62'. Bad bits 2\nbad pattern block offset 16\n\
         pattern: verify failed at file vf offset 8192, length 512 \
         (requested block: offset=8192, length=512, flags=8)"
    );
}

#[test]
fn a_pattern_interval_restarts_pattern_and_offset() {
    let verify = Verify { pattern_interval_bytes: 512, ..settings(VerifyMethod::Pattern) };
    let verifier = Verifier::new(&verify, blocks(2048)).unwrap();
    let block = stamped(&verifier, 2048);
    assert_eq!(block[512..518], *b"abcd\x00\x22");
    assert_eq!(verifier.check(&block, &EXPECTED), Ok(()));
}

#[test]
fn a_stale_block_is_found_by_its_number() {
    let verifier = Verifier::new(&settings(VerifyMethod::Meta), blocks(512)).unwrap();
    let block = stamped(&verifier, 512);
    let stale = |number_io| verifier.check(&block, &Expected { number_io, ..EXPECTED });
    assert!(stale(Some(70_003 + 65_536)).is_err(), "numbers are compared in full");
    let compact = stamped(&verifier.clone().with_layout(HeaderLayout::Compact), 512);
    assert_eq!(verifier.check(&compact, &EXPECTED), Ok(()), "or as far as the layout holds them");
}

#[test]
fn trimmed_blocks_are_zeros() {
    for bytes in [0, 1, 63, 64, 65, 4096] {
        assert_eq!(Verifier::check_trimmed(&vec![0; bytes], 0), Ok(()));
    }
    let mut block = vec![0; 4097];
    block[4096] = 1;
    let fault = Verifier::check_trimmed(&block, 512).unwrap_err();
    assert_eq!(
        fault.of_file("vf").to_string(),
        "verify failed for zeroed data at file vf offset 512, length 4097, block offset 4096"
    );
}

#[track_caller]
fn check_config(verify: &Verify, facts: BlockFacts, want: Result<(), VerifyConfigError>) {
    assert_eq!(Verifier::new(verify, facts).map(|_| ()), want);
}

#[test]
fn a_header_must_fit() {
    let crc32c = || settings(VerifyMethod::Crc32c);
    let at = |header_offset_bytes| Verify { header_offset_bytes, ..crc32c() };
    let too_large = |header_offset_bytes, interval_bytes| {
        Err(VerifyConfigError::HeaderTooLarge {
            header_bytes: 52,
            header_offset_bytes,
            interval_bytes,
        })
    };
    check_config(&Verify::default(), blocks(512), Err(VerifyConfigError::NoMethod));
    check_config(&crc32c(), blocks(53), Ok(()));
    check_config(&crc32c(), blocks(52), too_large(0, 52));
    check_config(&at(460), blocks(512), Ok(()));
    check_config(&at(461), blocks(512), too_large(461, 512));
    check_config(&at(u32::MAX), blocks(512), too_large(u32::MAX, 512));
    check_config(&crc32c(), blocks(0), Err(VerifyConfigError::EmptyBlock));
    let pattern = Verify { pattern: Vec::new(), ..settings(VerifyMethod::Pattern) };
    check_config(&pattern, blocks(512), Err(VerifyConfigError::PatternMissing));
    check_config(&settings(VerifyMethod::Pattern), blocks(1), Ok(()));
}

#[track_caller]
fn check_interval(asked: u32, write: (u32, u32), read_min_bytes: Option<u32>, want: u32) {
    let (write_min_bytes, write_max_bytes) = write;
    let facts = BlockFacts { write_min_bytes, write_max_bytes, read_min_bytes, unaligned: false };
    assert_eq!(facts.interval_bytes(asked), want);
}

#[test]
fn the_interval_divides_every_block() {
    check_interval(0, (4096, 4096), None, 4096);
    check_interval(0, (4096, 16384), None, 4096);
    check_interval(512, (4096, 16384), None, 512);
    check_interval(8192, (4096, 4096), None, 4096);
    check_interval(4096, (8192, 8192), Some(1024), 1024);
    check_interval(1000, (4096, 8192), None, 4096);
    check_interval(0, (4096, 6144), None, 2048);
    check_interval(7, (0, 0), Some(0), 0);
}

fn job(change: impl FnOnce(&mut Job)) -> Job {
    let mut job = Job::default();
    job.workload.access.read = false;
    job.workload.access.write = true;
    job.verify.method = Some(VerifyMethod::Crc32c);
    change(&mut job);
    job
}

#[track_caller]
fn check_checks(change: impl FnOnce(&mut Job), seed: bool, sequence: bool) {
    let checks = effective_checks(&job(change));
    assert_eq!((checks.header_seed, checks.write_sequence), (seed, sequence));
}

#[test]
fn checks_follow_the_workload() {
    check_checks(|_| (), true, true);
    check_checks(|job| job.workload.access = plan::workload::Access::READ, false, false);
    check_checks(|job| job.verify.verify_only = true, false, false);
    check_checks(|job| job.verify.backlog = 8, false, true);
    check_checks(|job| job.workload.no_repeats = false, false, true);
    check_checks(|job| job.workload.sequential_step_bytes = 4096, false, true);
    check_checks(|job| job.workload.ios_per_draw = 8, false, true);
    check_checks(|job| job.limits.time_based = true, true, false);
    check_checks(
        |job| {
            job.workload.no_repeats = false;
            job.engine.kind = EngineKind::Uring;
            job.load.queue_depth = 2;
        },
        false,
        false,
    );
    check_checks(
        |job| job.workload.block_size = PerDir::all(BlockSize::Range { min: 512, max: 1024 }),
        true,
        false,
    );
    check_checks(
        |job| {
            job.files.size = Some(Size::Bytes(1 << 20));
            job.files.io_size = Some(Size::Bytes(2 << 20));
            job.verify.regenerate = true;
        },
        false,
        false,
    );
}

#[test]
fn explicit_checks_win() {
    let only = |job: &mut Job| {
        job.verify.verify_only = true;
        job.verify.check_header_seed = Some(true);
        job.verify.check_write_sequence = Some(true);
    };
    check_checks(only, true, true);
    let off = |job: &mut Job| {
        job.verify.check_header_seed = Some(false);
        job.verify.check_write_sequence = Some(false);
    };
    check_checks(off, false, false);
}

#[test]
fn a_dump_shows_what_was_written() {
    for method in VerifyMethod::ALL {
        let verify = Verify { interval_bytes: 512, header_offset_bytes: 64, ..settings(method) };
        let verifier = Verifier::new(&verify, blocks(2048)).unwrap();
        let good = stamped(&verifier, 2048);
        let mut bad = good.clone();
        bad[1535] ^= 0x10;
        let Err(fault) = verifier.check(&bad, &EXPECTED) else { continue };
        let dumped = verifier.expected_interval(&bad, &fault, &EXPECTED);
        let start = (fault.at_offset - EXPECTED.offset) as usize;
        assert_eq!(dumped, good[start..start + fault.len as usize], "{method:?}");
    }
}

#[test]
fn dumping_never_panics() {
    let verifier = Verifier::new(&settings(VerifyMethod::Md5), blocks(512)).unwrap();
    let kind = MismatchKind::Short;
    let (at_offset, request_offset) = (u64::MAX, 0);
    let fault = Mismatch { kind, at_offset, len: u32::MAX, request_offset, request_len: 0 };
    assert_eq!(verifier.expected_interval(&[0; 512], &fault, &EXPECTED), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Header offsets before, in and behind the place of an unmoved header; rests of blocks.
    #[test]
    fn any_flipped_bit_is_found(
        method in 0..14_usize,
        compact: bool,
        interval_idx in 0..3_usize,
        header_offset_bytes in 0..300_u32,
        n_intervals in 1..4_usize,
        bit: prop::sample::Index,
    ) {
        let interval = [512, 1000, 4096][interval_idx];
        let mut verify = settings(VerifyMethod::ALL[method]);
        verify.header_offset_bytes = header_offset_bytes;
        let Ok(verifier) = Verifier::new(&verify, blocks(interval)) else { return Ok(()) };
        let layout = if compact { HeaderLayout::Compact } else { HeaderLayout::Versioned };
        let verifier = verifier.with_layout(layout);
        let mut block = vec![0; interval as usize * n_intervals];
        verifier.stamp(&mut block, &FACTS);
        prop_assert_eq!(verifier.check(&block, &EXPECTED), Ok(()));
        let bit = bit.index(block.len() * 8);
        block[bit / 8] ^= 1 << (bit % 8);
        let fault = verifier.check(&block, &EXPECTED).expect_err("a flipped bit");
        let interval_idx = (fault.at_offset - EXPECTED.offset) / u64::from(interval);
        prop_assert_eq!(interval_idx, bit as u64 / 8 / u64::from(interval));
    }

    /// With patterns as well, whose contents and headers are compared byte by byte.
    #[test]
    fn any_flipped_bit_of_a_pattern_is_found(
        with_header: bool,
        pattern_interval_bytes in 0..700_u32,
        header_offset_bytes in 0..200_u32,
        bit in 0..2048 * 8_usize,
    ) {
        let method = if with_header { VerifyMethod::PatternHeader } else { VerifyMethod::Pattern };
        let verify = Verify {
            interval_bytes: 1024,
            pattern_interval_bytes,
            header_offset_bytes,
            ..settings(method)
        };
        let verifier = Verifier::new(&verify, blocks(2048)).unwrap();
        let mut block = stamped(&verifier, 2048);
        prop_assert_eq!(verifier.check(&block, &EXPECTED), Ok(()));
        block[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(verifier.check(&block, &EXPECTED).is_err());
    }

    #[test]
    fn garbage_is_an_error_and_never_a_panic(
        method in 0..18_usize,
        garbage in prop::collection::vec(any::<u8>(), 0..1200),
        header_offset_bytes in 0..300_u32,
        headed: bool,
    ) {
        let verify = Verify { header_offset_bytes, ..settings(VerifyMethod::ALL[method]) };
        let Ok(verifier) = Verifier::new(&verify, blocks(512)) else { return Ok(()) };
        let mut garbage = garbage;
        let at = header_offset_bytes as usize;
        if headed && garbage.len() > at + 4 {
            garbage[at..at + 2].copy_from_slice(&[0xca, 0xac]);
        }
        if let Err(fault) = verifier.check(&garbage, &EXPECTED) {
            prop_assert!(!fault.of_file("f").to_string().is_empty());
            verifier.expected_interval(&garbage, &fault, &EXPECTED);
        }
        let mut block = garbage;
        verifier.stamp(&mut block, &FACTS);
        prop_assert_eq!(verifier.check(&block, &EXPECTED), Ok(()));
    }
}

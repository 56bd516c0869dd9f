//! States of interrupted runs.

use pattern::verify::{StateError, VerifyState, WriteFate, WriteProgress, state_file_name};
use plan::verify::VerifyPolicy;
use proptest::prelude::*;

#[test]
fn the_file_is_named_as_fios() {
    assert_eq!(state_file_name("v", 0), "local-v-0-verify.state");
    assert_eq!(state_file_name("a/b c", 12), "local-a.b c-12-verify.state");
}

fn state(policy: VerifyPolicy, progress: &WriteProgress) -> VerifyState {
    progress.state(policy, "v", 1, 2)
}

#[track_caller]
fn check_fates(state: &VerifyState, want: &str) {
    let fates: String = (0..want.len() as u64)
        .map(|number_io| match state.fate(number_io) {
            WriteFate::Written => 'w',
            WriteFate::Unknown => '?',
            WriteFate::Never => '-',
        })
        .collect();
    assert_eq!(fates, want);
}

#[test]
fn completed_covers_what_completed() {
    let mut progress = WriteProgress::new(2);
    check_fates(&state(VerifyPolicy::Completed, &progress), "--");
    for _ in 0..5 {
        progress.issue();
    }
    for (number_io, ok) in [(0, true), (2, false), (3, true), (9, true)] {
        progress.complete(number_io, ok);
    }
    check_fates(&state(VerifyPolicy::Completed, &progress), "w??w?--");
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "?????--");
}

#[test]
fn fsynced_covers_what_completed_before_the_sync() {
    let mut progress = WriteProgress::new(4);
    (0..3).for_each(|_| _ = progress.issue());
    progress.complete(0, true);
    progress.complete(1, false);
    progress.sync_issued();
    progress.complete(2, true);
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "???-");
    let four = progress.issue();
    progress.complete(four, true);
    progress.sync_completed(true);
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "w???-");
    progress.sync_issued();
    progress.sync_issued();
    progress.sync_completed(false);
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "w???-");
    progress.sync_completed(true);
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "w???-");
    progress.sync_issued();
    progress.sync_completed(true);
    check_fates(&state(VerifyPolicy::Fsynced, &progress), "w?ww-");
    check_fates(&state(VerifyPolicy::Completed, &progress), "w?ww-");
}

#[test]
fn a_job_that_fails_always_keeps_a_bounded_state() {
    let mut progress = WriteProgress::new(1);
    for _ in 0..300_000 {
        let number_io = progress.issue();
        progress.complete(number_io, false);
    }
    let number_io = progress.issue();
    progress.complete(number_io, true);
    let state = state(VerifyPolicy::Completed, &progress);
    assert_eq!(state.unfinished.len(), 1 << 18);
    assert_eq!(state.fate(number_io), WriteFate::Unknown);
    assert_eq!(VerifyState::decode(&state.encode()), Ok(state));
}

#[track_caller]
fn check_error(file: &[u8], want: &str) {
    assert_eq!(VerifyState::decode(file).unwrap_err().to_string(), want);
}

#[test]
fn other_files_are_kept_apart() {
    let good = VerifyState { n_issued: 3, n_covered: 3, ..VerifyState::default() }.encode();
    let mut fio = good.clone();
    fio[..8].copy_from_slice(&3_u64.to_le_bytes());
    check_error(
        &fio,
        "the verify state was written by fio (version 3); its order of writes cannot be repeated \
         here, so verify without a state or write again",
    );
    check_error(b"", "not a verify state, or of a later version");
    check_error(&[0xff; 200], "not a verify state, or of a later version");
    check_error(&good[..12], "the verify state is 12 B long instead of 24 B");
    check_error(&good[..40], "the verify state is 40 B long instead of 64 B");
    let mut damaged = good.clone();
    damaged[30] ^= 1;
    check_error(&damaged, "the verify state is damaged: its checksum does not match");
    let more_covered_than_issued = with_word(&good, N_ISSUED_AT, 2);
    assert_eq!(VerifyState::decode(&more_covered_than_issued), Err(StateError::Contradiction));
    let sorted =
        VerifyState { n_issued: 9, n_covered: 9, unfinished: vec![1, 2], ..VerifyState::default() };
    let unsorted = with_word(&sorted.encode(), UNFINISHED_AT, 5);
    assert_eq!(VerifyState::decode(&unsorted), Err(StateError::Contradiction));
}

/// Where the checksum stands, what it is of, and where two of its words are in a state without a
/// name.
const CRC_AT: usize = 16;
const BODY_AT: usize = 24;
const N_ISSUED_AT: usize = BODY_AT + 16;
const UNFINISHED_AT: usize = BODY_AT + 40;

/// Puts another word into a file, with the checksum that belongs to it.
fn with_word(file: &[u8], at: usize, word: u64) -> Vec<u8> {
    let mut file = file.to_vec();
    file[at..at + 8].copy_from_slice(&word.to_le_bytes());
    let crc = u64::from(crc32c::crc32c(&file[BODY_AT..]));
    file[CRC_AT..BODY_AT].copy_from_slice(&crc.to_le_bytes());
    file
}

proptest! {
    #[test]
    fn states_survive_the_file(
        job_name in "\\PC{0,80}",
        worker_idx: u64,
        seed: u64,
        numbers in prop::collection::btree_set(0..1000_u64, 0..40),
        more in 0..5_u64,
    ) {
        let n_covered = numbers.last().map_or(0, |last| last + 1);
        let unfinished = numbers.into_iter().collect();
        let n_issued = n_covered + more;
        let state = VerifyState { job_name, worker_idx, seed, n_issued, n_covered, unfinished };
        prop_assert_eq!(VerifyState::decode(&state.encode()), Ok(state));
    }

    #[test]
    fn garbage_is_an_error(
        file in prop::collection::vec(any::<u8>(), 0..200),
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        prop_assert!(VerifyState::decode(&file).is_err());
        // With a good prefix, so that the body is reached.
        let mut sound = VerifyState::default().encode()[..8].to_vec();
        sound.extend((body.len() as u64).to_le_bytes());
        sound.extend(u64::from(crc32c::crc32c(&body)).to_le_bytes());
        sound.extend(&body);
        let _ = VerifyState::decode(&sound);
    }
}

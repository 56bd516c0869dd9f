//! Which file is next.

use pattern::{FilePicker, PatternError};
use plan::files::FileService;
use proptest::prelude::*;

#[track_caller]
fn check(service: FileService, ios_per_file: u32, finish_after: &[(usize, u32)], expected: &[u32]) {
    let mut files = FilePicker::new(service, ios_per_file, 3, 1).unwrap();
    let mut got = Vec::new();
    for k in 0..=expected.len() {
        for &(_, file) in finish_after.iter().filter(|(after, _)| *after == k) {
            files.finish(file);
        }
        got.extend(files.next());
    }
    got.truncate(expected.len());
    assert_eq!(got, expected);
}

#[test]
fn round_robin() {
    check(FileService::RoundRobin, 1, &[], &[0, 1, 2, 0, 1, 2, 0]);
    check(FileService::RoundRobin, 2, &[], &[0, 0, 1, 1, 2, 2, 0]);
    check(FileService::RoundRobin, 2, &[(3, 1)], &[0, 0, 1, 2, 2, 0, 0, 2]);
}

#[test]
fn sequential_stays_until_the_file_is_done() {
    check(FileService::Sequential, 1, &[(3, 0), (5, 1)], &[0, 0, 0, 1, 1, 2, 2]);
}

#[test]
fn ends_when_all_are_done_and_restarts() {
    let mut files = FilePicker::new(FileService::RoundRobin, 1, 2, 1).unwrap();
    files.finish(0);
    files.finish(0);
    assert_eq!((files.n_left(), files.next()), (1, Some(1)));
    files.finish(1);
    assert_eq!((files.n_left(), files.next()), (0, None));
    files.restart();
    assert_eq!((files.n_left(), files.next()), (2, Some(0)));
}

#[test]
fn random_services_have_their_shares() {
    let shares = |service| {
        let mut files = FilePicker::new(service, 1, 100, 7).unwrap();
        let mut n_by_file = vec![0_u32; 100];
        for _ in 0..100_000 {
            n_by_file[files.next().unwrap() as usize] += 1;
        }
        n_by_file.sort_unstable_by(|a, b| b.cmp(a));
        n_by_file
    };
    let random = shares(FileService::Random);
    assert!(random[0] < 1200 && random[99] > 800, "{random:?}");
    // Zipf with exponent 1.2 over 100: the first has 1 of a sum of weights of 3.60.
    let zipf = shares(FileService::Zipf(1.2));
    assert!((26_500..29_000).contains(&zipf[0]), "{zipf:?}");
    // The 80/20 rule.
    let pareto: u32 = shares(FileService::Pareto(0.2))[..20].iter().sum();
    assert!((79_000..81_000).contains(&pareto), "{pareto}");
}

#[test]
fn no_file_is_refused() {
    let error = FilePicker::new(FileService::Random, 1, 0, 1).unwrap_err();
    assert_eq!(error, PatternError::NoFiles);
}

proptest! {
    #[test]
    fn a_finished_file_is_never_chosen(
        service in prop::sample::select(vec![
            FileService::RoundRobin,
            FileService::Random,
            FileService::Sequential,
            FileService::Zipf(1.1),
            FileService::Normal(20.0),
        ]),
        n_files in 1_u32..200,
        ios_per_file in 1_u32..4,
        seed: u64,
    ) {
        let mut files = FilePicker::new(service, ios_per_file, n_files, seed).unwrap();
        let mut is_done = vec![false; n_files as usize];
        let mut n_done = 0;
        while let Some(file) = files.next() {
            prop_assert!(!is_done[file as usize]);
            files.finish(file);
            is_done[file as usize] = true;
            n_done += 1;
        }
        prop_assert_eq!(n_done, n_files);
    }
}

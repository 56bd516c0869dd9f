//! The log of writes against a plain model: one number per byte.

use pattern::verify::{WriteLog, WriteRecord};
use plan::op::FileIdx;
use proptest::prelude::*;

fn write(number_io: u64, file: u32, offset: u64, len: u32) -> WriteRecord {
    WriteRecord { offset, number_io, len, file: FileIdx(file), trimmed: false }
}

fn log(may_overwrite: bool, writes: &[WriteRecord]) -> WriteLog {
    let mut log = WriteLog::new(may_overwrite);
    for record in writes {
        log.record(*record);
    }
    log
}

#[track_caller]
fn check(may_overwrite: bool, writes: &[WriteRecord], want: &[u64]) {
    let mut log = log(may_overwrite, writes);
    let listed: Vec<u64> = log.iter().map(|record| record.number_io).collect();
    assert_eq!(listed, want);
    assert_eq!(log.len(), want.len());
    let taken: Vec<u64> =
        std::iter::from_fn(|| log.take(|_| false)).map(|record| record.number_io).collect();
    assert_eq!(taken, want, "taken as listed");
    assert!(log.is_empty());
}

#[test]
fn blocks_come_back_in_the_order_of_writing() {
    check(false, &[write(0, 0, 8192, 512), write(1, 0, 0, 512), write(5, 1, 0, 512)], &[0, 1, 5]);
    check(false, &[], &[]);
}

#[test]
fn the_last_write_wins() {
    let first = write(0, 0, 0, 8192);
    check(true, &[first, write(1, 0, 0, 8192)], &[1]);
    check(true, &[first, write(1, 0, 4096, 8192)], &[1]);
    check(true, &[write(0, 0, 4096, 8192), write(1, 0, 0, 4097)], &[1]);
    check(true, &[first, write(1, 0, 8192, 4096)], &[0, 1]);
    check(true, &[first, write(1, 1, 0, 4096)], &[0, 1]);
    check(true, &[first, write(1, 0, 8192, 4096), write(2, 0, 0, 65536)], &[2]);
}

#[test]
fn values_out_of_the_packed_range_are_kept() {
    let writes = [
        write(3, 0, 0, 4096),
        write(4, 0, 1 << 48, 4096),
        write(5, 70_000, 0, 4096),
        write(5 + (1 << 33), 70_001, 0, 4096),
        write(6 + (1 << 33), 70_002, u64::MAX - 8, u32::MAX),
    ];
    for may_overwrite in [false, true] {
        let listed: Vec<WriteRecord> = log(may_overwrite, &writes).iter().collect();
        assert_eq!(listed, writes);
    }
}

#[test]
fn a_batch_waits_for_writes_in_flight() {
    let writes = [write(0, 0, 0, 512), write(1, 0, 512, 512), write(2, 0, 1024, 512)];
    let batch = |may_overwrite, n| {
        let mut log = log(may_overwrite, &writes);
        let taken = std::iter::from_fn(|| log.take(|number_io| number_io == 1)).take(n);
        taken.map(|record| record.number_io).collect::<Vec<_>>()
    };
    assert_eq!(batch(false, 9), [0]);
    assert_eq!(batch(true, 9), [0, 2]);
    assert_eq!(batch(true, 1), [0]);
}

#[test]
fn failed_writes_and_trims_are_noted() {
    let writes = [write(0, 0, 0, 512), write(1, 0, 512, 512), write(2, 0, 1024, 512)];
    for may_overwrite in [false, true] {
        let mut log = log(may_overwrite, &writes);
        log.forget(&writes[0]);
        log.forget(&writes[0]);
        log.mark_trimmed(&writes[0]);
        log.mark_trimmed(&writes[2]);
        log.forget(&write(7, 0, 512, 512));
        assert_eq!(log.len(), 2);
        assert_eq!(log.take(|_| false), Some(writes[1]));
        assert_eq!(log.take(|_| false), Some(WriteRecord { trimmed: true, ..writes[2] }));
        assert_eq!(log.take(|_| false), None);
        log.record(write(9, 0, 0, 512));
        assert_eq!(log.len(), 1);
        log.clear();
        assert!(log.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every write that is listed still has all its bytes; every write that lost none is listed.
    #[test]
    fn listed_writes_are_intact(
        writes in prop::collection::vec((0..2_u32, 0..60_u64, 0..12_u32, any::<u8>()), 0..60),
    ) {
        let mut log = WriteLog::new(true);
        let mut bytes = [[None; 80]; 2];
        let mut all = Vec::new();
        for (number_io, (file, offset, len, fate)) in writes.into_iter().enumerate() {
            let record = write(number_io as u64, file, offset, len);
            log.record(record);
            let span = offset as usize..offset as usize + len as usize;
            bytes[file as usize][span].fill(Some(record.number_io));
            all.push((record, fate % 8 != 0));
            if fate % 8 == 0 {
                log.forget(&record);
            }
        }
        let intact: Vec<WriteRecord> = all
            .into_iter()
            .filter(|(record, known)| {
                let span = record.offset as usize..record.offset as usize + record.len as usize;
                let own = &bytes[record.file.0 as usize][span];
                *known && record.len > 0 && own.iter().all(|byte| *byte == Some(record.number_io))
            })
            .map(|(record, _)| record)
            .collect();
        let mut listed: Vec<WriteRecord> = log.iter().collect();
        prop_assert!(listed.is_sorted_by_key(|record| (record.file, record.offset)));
        listed.sort_by_key(|record| record.number_io);
        prop_assert_eq!(listed, intact);
    }

    /// Without overlaps list and tree hold the same.
    #[test]
    fn list_and_tree_agree(order in Just((0..40_u64).collect::<Vec<_>>()).prop_shuffle()) {
        let writes: Vec<WriteRecord> = order
            .iter()
            .enumerate()
            .map(|(number_io, block)| write(number_io as u64, 0, block * 4096, 4096))
            .collect();
        let list: Vec<WriteRecord> = log(false, &writes).iter().collect();
        let mut tree: Vec<WriteRecord> = log(true, &writes).iter().collect();
        tree.sort_by_key(|record| record.number_io);
        prop_assert_eq!(list, tree);
    }
}

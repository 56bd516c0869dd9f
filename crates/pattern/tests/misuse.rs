//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use pattern::FilePicker;
use pattern::verify::{WriteLog, WriteRecord};
use plan::files::FileService;
use plan::op::FileIdx;

#[test]
#[should_panic(expected = "a file that is finished is one of the choice")]
fn a_file_of_others_is_not_finished() {
    FilePicker::new(FileService::RoundRobin, 1, 3, 1).expect("three files").finish(3);
}

#[test]
#[should_panic(expected = "writes are noted in the order of their numbers")]
fn a_write_is_not_noted_before_an_earlier_one() {
    let mut log = WriteLog::new(false);
    let write = |number_io| {
        let file = FileIdx(0);
        WriteRecord { offset: number_io * 4096, number_io, len: 4096, file, trimmed: false }
    };
    log.record(write(5));
    log.record(write(4));
}

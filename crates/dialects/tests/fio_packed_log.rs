//! Compressed logs.

use dialects::fio::output::packed_log::{UnpackError, pack, unpack};

fn lines(n: u32) -> String {
    (0..n).map(|k| format!("{k}, {}, 0, 4096, {}\n", k * 7, k * 4096)).collect()
}

#[test]
fn what_is_packed_in_pieces_is_unpacked_whole() {
    let (first, second) = (lines(10), lines(50_000));
    let packed = [pack(first.as_bytes()), pack(second.as_bytes())].concat();
    assert!(packed.len() < second.len() / 3);
    assert_eq!(unpack(&packed).unwrap(), first + &second);
    assert_eq!(unpack(b"").unwrap(), "");
}

#[test]
fn a_cut_log_keeps_what_is_whole() {
    let packed = [pack(b"1, 2\n"), pack(lines(1000).as_bytes())].concat();
    let text = unpack(&packed[..packed.len() - 20]).unwrap();
    assert!(text.starts_with("1, 2\n0, 0, 0"), "{text}");
}

#[test]
fn other_files_are_refused() {
    assert_eq!(unpack(b"1, 2, 3\n"), Err(UnpackError::Damaged { at_bytes: 0 }));
    let first = pack(b"1, 2\n");
    let spoilt = [first.as_slice(), b"spoilt"].concat();
    assert_eq!(unpack(&spoilt), Err(UnpackError::Damaged { at_bytes: first.len() as u64 }));
    assert_eq!(unpack(&pack(&[0xff, 0xfe])), Err(UnpackError::NotText));
}

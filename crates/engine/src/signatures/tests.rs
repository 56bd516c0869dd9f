use super::*;

/// Large enough for all places that lie apart.
const SIZE_BYTES: usize = 16 << 20;

/// Identifies a device with these bytes in it.
fn of(device: &[u8]) -> Contents {
    of_sparse(device.len() as u64, &[(0, device)])
}

/// Identifies a device of zeros with bytes at some places.
fn of_sparse(size_bytes: u64, places: &[(u64, &[u8])]) -> Contents {
    identify(size_bytes, &mut |offset, bytes| {
        let n = bytes.len().min(usize::try_from(size_bytes - offset).unwrap_or(usize::MAX));
        bytes[..n].fill(0);
        for (at, put) in places {
            let from = offset.max(*at);
            let to = (offset + n as u64).min(at + put.len() as u64);
            if from < to {
                let idx = |base: u64| {
                    usize::try_from(from - base).unwrap()..usize::try_from(to - base).unwrap()
                };
                bytes[idx(offset)].copy_from_slice(&put[idx(*at)]);
            }
        }
        Ok(n)
    })
}

/// Puts bytes into a device of zeros and returns the name of what it holds.
#[track_caller]
fn name_of(places: &[(usize, &[u8])]) -> Option<&'static str> {
    let places: Vec<_> = places.iter().map(|(offset, bytes)| (*offset as u64, *bytes)).collect();
    match of_sparse(SIZE_BYTES as u64, &places) {
        Contents::Known { name, .. } => Some(name),
        Contents::Nothing => None,
        Contents::Unreadable { .. } => panic!("all of it can be read"),
    }
}

#[test]
fn every_mark_is_found_wherever_it_may_lie() {
    // Beyond the last copy of a super block.
    let size_bytes = 2 << 40;
    for signature in SIGNATURES.iter().filter(|signature| signature.test.is_none()) {
        let mut n_places = 0;
        for (offset, _) in signature.offsets(size_bytes) {
            n_places += 1;
            for magic in signature.magics {
                let found = of_sparse(size_bytes, &[(offset, magic)]);
                // The first formats that fit share their marks with later ones.
                assert_ne!(found, Contents::Nothing, "{} at {offset}", signature.name);
            }
        }
        assert!(n_places >= signature.places.len(), "{}", signature.name);
    }
}

#[test]
fn marks_of_their_own_are_reported_by_name() {
    for (offset, magic, name) in [
        (0, &b"XFSB"[..], "XFS"),
        (1 << 20, b"\x0d\xd0\x01\xc0", "VMFS volume"),
        (4 << 20, b"SKUL\xba\xbe", "LUKS encryption (its second header)"),
        (0x1ff6, b"SWAPSPACE2", "swap"),
        (0x7ff6, b"SWAP-SPACE", "swap"),
        (SIZE_BYTES - 512, b"$XIDE$", "LSI MegaRAID"),
        (SIZE_BYTES - 3087 * 512, b"Promise Technology, Inc.", "Promise FastTrak RAID"),
        (SIZE_BYTES - 4096 + 60, b"\x83\x74\x02\x6d", "DRBD"),
        (SIZE_BYTES - 4096, b"EFI PART", "GPT partition table (its backup)"),
        (SIZE_BYTES - 512, b"EFI PART", "GPT partition table (its backup)"),
        (SIZE_BYTES - (64 << 10), b"\xfc\x4e\x2b\xa9", "Linux software RAID"),
        (SIZE_BYTES - (8 << 10), b"\xfc\x4e\x2b\xa9", "Linux software RAID"),
        (SIZE_BYTES - (100 << 10), b"\x0c\xb1\xba\0\0\0\0\0", "ZFS pool"),
        ((16 << 10) + 40, b"\0\0\0\x09pool_guid", "ZFS pool"),
    ] {
        assert_eq!(name_of(&[(offset, magic)]), Some(name), "{offset}");
    }
}

#[test]
fn a_device_of_another_size_ends_where_it_does() {
    // Neither a multiple of 4 KiB nor of 64 KiB.
    let size_bytes = (3 << 20) + 7 * 512;
    for (offset, magic) in [
        (size_bytes - 512, &b"EFI PART"[..]),
        ((3 << 20) - (64 << 10), b"\xfc\x4e\x2b\xa9"),
        ((3 << 20) - (8 << 10), b"\xfc\x4e\x2b\xa9"),
    ] {
        let mut device = vec![0; size_bytes];
        device[offset..offset + magic.len()].copy_from_slice(magic);
        assert!(matches!(of(&device), Contents::Known { .. }), "{offset}");
    }
}

#[test]
fn an_empty_device_holds_nothing() {
    assert_eq!(name_of(&[]), None);
    for size_bytes in [0, 1, 100, 512, 4096, 5000, 65_536, 1 << 20] {
        assert_eq!(of(&vec![0; size_bytes]), Contents::Nothing, "{size_bytes}");
    }
}

/// Random data, which benchmarks leave, must hardly ever be taken for something.
#[test]
fn random_data_is_nothing() {
    // A linear congruential generator (Knuth): what matters is that no byte is special.
    let mut state = 1_u64;
    let mut device = vec![0; 5 << 20];
    let mut n_known = 0;
    for _ in 0..20 {
        for chunk in device.as_chunks_mut::<8>().0 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *chunk = (state ^ state >> 29).to_le_bytes();
        }
        n_known += usize::from(of(&device) != Contents::Nothing);
    }
    assert_eq!(n_known, 0);
}

#[test]
fn short_marks_count_with_a_second_sign() {
    check_short(&[(1080, b"\x53\xef")], "ext2/ext3/ext4");
    assert_eq!(name_of(&[(1080, b"\x53\xef"), (1048, &[9])]), None);
    assert_eq!(name_of(&[(0, b"HM")]), None);
    check_short(&[(0, b"HM\x01\0")], "LVM1 physical volume");
    assert_eq!(name_of(&[(1024, b"BD")]), None);
    check_short(&[(1024, b"BD"), (1044, &[0, 0, 2, 0])], "HFS");
    check_short(&[(1024, b"HX"), (1064, &[0, 0, 16, 0])], "HFS+");
    assert_eq!(name_of(&[(1040, b"\x7f\x13")]), None);
    check_short(&[(1024, &[9]), (1028, &[1]), (1040, b"\x7f\x13")], "Minix");
    check_short(&[(1024, &[9]), (1030, &[1]), (1048, b"\x5a\x4d")], "Minix");
    check_short(&[(SIZE_BYTES - 512, b"JM")], "JMicron RAID");
    check_short(&[(SIZE_BYTES - 512, b"\x55\xaa\x01"), (SIZE_BYTES - 462, b"\0")], "VIA RAID");
    check_short(&[(0, b"ER\x02\0"), (512, b"PM")], "Apple partition map");
    check_short(&[(508, b"\xda\xbe\xda\xbe")], "Sun partition table");
    assert_eq!(name_of(&[(508, b"\xda\xbe")]), None);
    check_short(&[(1030, b"\x34\x34\x18\x01")], "NILFS2");
}

#[track_caller]
fn check_short(places: &[(usize, &[u8])], expected: &str) {
    let is_sum_of_via = expected == "VIA RAID";
    let mut places = places.to_vec();
    let sum = [0x55_u8.wrapping_add(0xaa).wrapping_add(1)];
    if is_sum_of_via {
        places[1].1 = &sum;
    }
    assert_eq!(name_of(&places), Some(expected));
}

#[test]
fn an_empty_dos_table_counts_and_any_two_bytes_do_not() {
    assert_eq!(name_of(&[(510, b"\x55\xaa")]), Some("DOS partition table"));
    let mut entry = [0; 16];
    (entry[0], entry[4], entry[12]) = (0x80, 0x83, 1);
    assert_eq!(name_of(&[(446, &entry), (510, b"\x55\xaa")]), Some("DOS partition table"));
    assert_eq!(name_of(&[(446, &[7]), (510, b"\x55\xaa")]), None);
    assert_eq!(name_of(&[(446, &entry)]), None);
}

#[test]
fn an_atari_table_is_known_by_its_sense() {
    let entry = b"\x01GEM\0\0\0\x02\0\0\0\x10";
    let table = |n_sectors: &'static [u8]| name_of(&[(0x1c2, n_sectors), (0x1c6, entry)]);
    assert_eq!(table(&[0, 0, 0, 0x40]), Some("Atari partition table"));
    assert_eq!(table(&[0, 0, 0, 0x04]), None, "smaller than its entry");
    assert_eq!(table(&[0x40, 0, 0, 0]), None, "larger than the device");
}

#[test]
fn what_cannot_be_read_is_not_empty() {
    let read_until = |end: u64, magic: &'static [u8]| {
        identify(SIZE_BYTES as u64, &mut |offset, bytes| {
            if offset >= end {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
            let n = bytes.len().min(usize::try_from(end - offset).unwrap());
            bytes[..n].fill(0);
            if offset == 0 {
                bytes[..magic.len()].copy_from_slice(magic);
            }
            Ok(n)
        })
    };
    for end in [0, 4096, 65_536, 2 << 20, SIZE_BYTES as u64 - 512] {
        let Contents::Unreadable { offset, errno } = read_until(end, b"") else {
            panic!("unreadable from {end} on");
        };
        assert!(offset >= end && errno == libc::EIO, "{offset}");
    }
    let known = read_until(4096, b"XFSB");
    assert_eq!(known, Contents::Known { name: "XFS", kind: ContentsKind::FileSystem });
}

/// The reads are few and small: a probe is done before every run.
#[test]
fn little_is_read() {
    let runs = runs(1 << 40);
    let n_bytes: u64 = runs.iter().map(|run| run.end - run.start).sum();
    // Copies of super blocks lie apart.
    assert!(runs.len() <= 64 && n_bytes <= 1 << 20, "{} runs, {n_bytes} B", runs.len());
}

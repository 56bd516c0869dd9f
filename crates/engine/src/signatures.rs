//! What a device holds, told from the marks that file systems, volume managers and databases leave
//! on it. A device with any of them is not written without the user's word.
//!
//! Marks lie at fixed places at the start, and for some formats at the end. The places are those of
//! the formats' own definitions, as blkid and wipefs know them.

/// Bytes to read from the start: the last mark there, of ZFS, ends a little above 128 KiB.
pub(crate) const HEAD_BYTES: usize = 136 << 10;

/// Bytes to read from the end: the oldest format of Linux software RAID lies up to 128 KiB before.
pub(crate) const TAIL_BYTES: usize = 128 << 10;

/// Some bytes at a place, and what they are a mark of.
struct Mark {
    offset: usize,
    magic: &'static [u8],
    name: &'static str,
}

const fn mark(offset: usize, magic: &'static [u8], name: &'static str) -> Mark {
    Mark { offset, magic, name }
}

/// Marks at the start. Where one format contains another's mark, the more telling comes first.
const MARKS: &[Mark] = &[
    mark(0, b"LUKS\xba\xbe", "LUKS encryption"),
    mark(512, b"LABELONE", "LVM physical volume"),
    mark(0, b"LABELONE", "LVM physical volume"),
    mark(1024, b"LABELONE", "LVM physical volume"),
    mark(1536, b"LABELONE", "LVM physical volume"),
    mark(0, b"\xfc\x4e\x2b\xa9", "Linux software RAID"),
    mark(4096, b"\xfc\x4e\x2b\xa9", "Linux software RAID"),
    mark(0, b"XFSB", "XFS"),
    mark(65_600, b"_BHRfS_M", "btrfs"),
    mark(1080, b"\x53\xef", "ext2/ext3/ext4"),
    mark(3, b"NTFS    ", "NTFS"),
    mark(3, b"EXFAT   ", "exFAT"),
    mark(3, b"-FVE-FS-", "BitLocker"),
    mark(3, b"ReFS\0\0\0\0", "ReFS"),
    mark(82, b"FAT32   ", "FAT"),
    mark(54, b"FAT16   ", "FAT"),
    mark(54, b"FAT12   ", "FAT"),
    mark(54, b"FAT     ", "FAT"),
    mark(4086, b"SWAPSPACE2", "swap"),
    mark(4086, b"SWAP-SPACE", "swap"),
    mark(16_374, b"SWAPSPACE2", "swap"),
    mark(65_526, b"SWAPSPACE2", "swap"),
    mark(4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", "bcache"),
    mark(4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef", "bcachefs"),
    mark(0, b"bluestore block device", "Ceph BlueStore"),
    mark(32, b"ORCLDISK", "Oracle ASM disk"),
    mark(1024, b"\x10\x20\xf5\xf2", "F2FS"),
    mark(1024, b"\xe2\xe1\xf5\xe0", "EROFS"),
    mark(65_588, b"ReIsErFs", "ReiserFS"),
    mark(65_588, b"ReIsEr2Fs", "ReiserFS"),
    mark(32_768, b"JFS1", "JFS"),
    mark(1024, b"H+", "HFS+"),
    mark(32, b"NXSB", "APFS"),
    mark(0, b"hsqs", "squashfs"),
    mark(32_769, b"CD001", "ISO 9660"),
    mark(65_536, b"\x01\x16\x19\x70", "GFS2"),
    mark(512, b"EFI PART", "GPT partition table"),
    mark(4096, b"EFI PART", "GPT partition table"),
];

/// Where the list of uberblocks of the first ZFS label lies, and how far apart they are at least.
const ZFS_UBERBLOCKS: usize = 128 << 10;
const ZFS_UBERBLOCK_STEP: usize = 1 << 10;

/// The mark of an uberblock, in either byte order.
const ZFS_MAGIC: [[u8; 8]; 2] = [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()];

/// The name-value list of a ZFS label lies here and names the pool; the label of a pool whose
/// first uberblocks are empty is known by it.
const ZFS_NAMES: std::ops::Range<usize> = 16 << 10..17 << 10;

/// The mark of Linux software RAID.
const RAID_MAGIC: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();

/// Returns what the bytes at the start and at the end of a device are a mark of. `tail` ends with
/// the device, which holds `size_bytes`.
pub(crate) fn identify(head: &[u8], tail: &[u8], size_bytes: u64) -> Option<&'static str> {
    let at = |offset: usize, magic: &[u8]| head.get(offset..offset + magic.len()) == Some(magic);
    if let Some(mark) = MARKS.iter().find(|mark| at(mark.offset, mark.magic)) {
        return Some(mark.name);
    }
    let is_zfs = head.get(ZFS_NAMES).is_some_and(|names| contains(names, b"pool_guid"))
        || (ZFS_UBERBLOCKS..HEAD_BYTES)
            .step_by(ZFS_UBERBLOCK_STEP)
            .any(|offset| ZFS_MAGIC.iter().any(|magic| at(offset, magic)));
    if is_zfs {
        return Some("ZFS pool");
    }
    if has_partitions(head) {
        return Some("MBR partition table");
    }
    identify_tail(tail, size_bytes)
}

/// Looks for formats that keep their mark at the end.
fn identify_tail(tail: &[u8], size_bytes: u64) -> Option<&'static str> {
    let start = size_bytes.checked_sub(tail.len() as u64)?;
    let at = |offset: u64, magic: &[u8]| {
        let from = offset.checked_sub(start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| tail.get(from..from + magic.len())) == Some(magic)
    };
    let gpt =
        [512, 4096].into_iter().any(|sector| at(size_bytes.wrapping_sub(sector), b"EFI PART"));
    if gpt {
        return Some("GPT partition table (its backup)");
    }
    // Format 0.90: the last full 64 KiB but one. Format 1.0: 8 KiB before the end, on 4 KiB.
    let raid_090 = (size_bytes & !0xffff).wrapping_sub(0x1_0000);
    let raid_100 = size_bytes.wrapping_sub(0x2000) & !0xfff;
    (at(raid_090, &RAID_MAGIC) || at(raid_100, &RAID_MAGIC)).then_some("Linux software RAID")
}

/// Says whether the first sector is a master boot record with a partition in it. Each of the four
/// entries starts with 0 or 0x80; its type is byte 4, its length in sectors bytes 12 to 15.
fn has_partitions(head: &[u8]) -> bool {
    let Some(sector) = head.get(..512) else { return false };
    let entries = sector[446..510].as_chunks::<16>().0;
    sector[510..] == [0x55, 0xaa]
        && entries.iter().all(|entry| matches!(entry[0], 0 | 0x80))
        && entries.iter().any(|entry| entry[4] != 0 && entry[12..16] != [0; 4])
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE_BYTES: usize = 1 << 20;

    /// Puts bytes into a device of zeros and identifies it.
    #[track_caller]
    fn check(places: &[(usize, &[u8])], expected: Option<&str>) {
        let mut device = vec![0; SIZE_BYTES];
        for (offset, bytes) in places {
            device[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        let (head, tail) = (&device[..HEAD_BYTES], &device[SIZE_BYTES - TAIL_BYTES..]);
        assert_eq!(identify(head, tail, SIZE_BYTES as u64), expected);
    }

    #[test]
    fn every_mark_is_found_where_it_lies() {
        for mark in MARKS {
            check(&[(mark.offset, mark.magic)], Some(mark.name));
        }
    }

    #[test]
    fn an_empty_device_holds_nothing() {
        check(&[], None);
        assert_eq!(identify(&[], &[], 0), None);
        assert_eq!(identify(&[0; 100], &[0; 100], 100), None);
    }

    #[test]
    fn zfs_is_known_by_its_uberblocks_or_its_names() {
        check(&[((128 << 10) + 3072, &ZFS_MAGIC[0])], Some("ZFS pool"));
        check(&[(128 << 10, &ZFS_MAGIC[1])], Some("ZFS pool"));
        check(&[(16 << 10, b"\0\0\0\x09pool_guid")], Some("ZFS pool"));
    }

    #[test]
    fn a_boot_record_counts_when_it_has_a_partition() {
        let mut entry = [0; 16];
        entry[4] = 0x83;
        entry[12] = 1;
        check(&[(446, &entry), (510, &[0x55, 0xaa])], Some("MBR partition table"));
        check(&[(510, &[0x55, 0xaa])], None);
        check(&[(446, &entry)], None);
    }

    #[test]
    fn marks_at_the_end_are_found() {
        let gpt = Some("GPT partition table (its backup)");
        check(&[(SIZE_BYTES - 512, b"EFI PART")], gpt);
        check(&[(SIZE_BYTES - 4096, b"EFI PART")], gpt);
        let raid = Some("Linux software RAID");
        check(&[(SIZE_BYTES - (64 << 10), &RAID_MAGIC)], raid);
        check(&[(SIZE_BYTES - (8 << 10), &RAID_MAGIC)], raid);
    }
}

//! The formats, one row each. Where one format contains another's mark, the more telling comes
//! first.

use super::ContentsKind::{Array, Crypto, FileSystem, Other, Partitions, Volume};
use super::{ContentsKind, MarkPlace, Signature, Test};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const SECTOR: u64 = 512;

/// Returns a row: any of these bytes at any of these places.
const fn row(
    name: &'static str,
    kind: ContentsKind,
    magics: &'static [&'static [u8]],
    places: &'static [MarkPlace],
) -> Signature {
    Signature { name, kind, magics, places, test: None }
}

/// Returns a row whose mark is short and counts with a second sign: bytes from the start of the
/// device.
const fn row_if(
    name: &'static str,
    kind: ContentsKind,
    magics: &'static [&'static [u8]],
    places: &'static [MarkPlace],
    bytes: std::ops::Range<u64>,
    holds: fn(&[u8], u64) -> bool,
) -> Signature {
    let test = Test { bytes, from_mark: false, holds };
    Signature { name, kind, magics, places, test: Some(test) }
}

/// The same with bytes counted from the mark.
const fn row_if_there(
    name: &'static str,
    kind: ContentsKind,
    magics: &'static [&'static [u8]],
    places: &'static [MarkPlace],
    bytes: std::ops::Range<u64>,
    holds: fn(&[u8], u64) -> bool,
) -> Signature {
    let test = Test { bytes, from_mark: true, holds };
    Signature { name, kind, magics, places, test: Some(test) }
}

const fn start(offset: u64) -> MarkPlace {
    MarkPlace::Start(offset)
}

/// So many sectors before the end, and a mark so many bytes into them.
const fn sectors_before_end(n_sectors: u64, offset: u64) -> MarkPlace {
    MarkPlace::End { unit: SECTOR, before: n_sectors * SECTOR - offset }
}

/// Where pages of 4 to 64 KiB end, which hold the mark of swap space in their last ten bytes.
const ENDS_OF_PAGES: &[MarkPlace] = &[
    start(4 * KIB - 10),
    start(8 * KIB - 10),
    start(16 * KIB - 10),
    start(32 * KIB - 10),
    start(64 * KIB - 10),
];

/// Where a copy of the super block of ext2, ext3 and ext4 lies, at the mark: in groups 1, 3, 5 and
/// 7 (`sparse_super`) of as many blocks as a block has bits, up to 65,528 of them.
const EXT_COPIES: &[MarkPlace] = &[
    ext_copy(1, KIB, 8192),
    ext_copy(3, KIB, 8192),
    ext_copy(5, KIB, 8192),
    ext_copy(7, KIB, 8192),
    ext_copy(1, 2 * KIB, 16_384),
    ext_copy(3, 2 * KIB, 16_384),
    ext_copy(5, 2 * KIB, 16_384),
    ext_copy(7, 2 * KIB, 16_384),
    ext_copy(1, 4 * KIB, 32_768),
    ext_copy(3, 4 * KIB, 32_768),
    ext_copy(5, 4 * KIB, 32_768),
    ext_copy(7, 4 * KIB, 32_768),
    ext_copy(1, 8 * KIB, 65_528),
    ext_copy(1, 16 * KIB, 65_528),
    ext_copy(1, 32 * KIB, 65_528),
    ext_copy(1, 64 * KIB, 65_528),
    // `bigalloc` with its usual clusters of 16 blocks.
    ext_copy(1, 4 * KIB, 16 * 32_768),
];

const fn ext_copy(group: u64, block_bytes: u64, n_group_blocks: u64) -> MarkPlace {
    // With blocks of 1 KiB the boot block stands before the first group.
    let first_block = if block_bytes == KIB { 1 } else { 0 };
    start((first_block + group * n_group_blocks) * block_bytes + 56)
}

/// `fs/minix/minix_fs.h`: versions 1 and 2, in either byte order, with names of 14 and 30 bytes.
const MINIX_MAGICS: &[&[u8]] = &[
    b"\x7f\x13",
    b"\x8f\x13",
    b"\x13\x7f",
    b"\x13\x8f",
    b"\x68\x24",
    b"\x78\x24",
    b"\x24\x68",
    b"\x24\x78",
];

/// `fs/ufs/ufs_fs.h`: UFS1, UFS2 and the variants of vendors, in either byte order.
const UFS_MAGICS: &[&[u8]] = &[
    b"\x54\x19\x01\x00",
    b"\x00\x01\x19\x54",
    b"\x19\x01\x54\x19",
    b"\x19\x54\x01\x19",
    b"\x12\x56\x19\x00",
    b"\x00\x19\x56\x12",
    b"\x14\x50\x09\x00",
    b"\x00\x09\x50\x14",
    b"\x95\x21\x61\x00",
    b"\x00\x61\x21\x95",
    b"\x94\x19\x23\x05",
    b"\x05\x23\x19\x94",
];

/// All formats.
pub(super) const SIGNATURES: &[Signature] = &[
    // Arrays. Those of controllers lie in the last sectors of a disk.
    // include/uapi/linux/raid/md_p.h: 0.90 in the last full 64 KiB but one, 1.0 in the last 8 KiB,
    // 1.1 at the start, 1.2 4 KiB behind it.
    row(
        "Linux software RAID",
        Array,
        &[b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"],
        &[
            start(0),
            start(4 * KIB),
            MarkPlace::End { unit: 64 * KIB, before: 64 * KIB },
            MarkPlace::End { unit: 4 * KIB, before: 8 * KIB },
        ],
    ),
    // SNIA Common RAID Disk Data Format: the anchor header.
    row(
        "DDF RAID",
        Array,
        &[b"\xde\x11\xde\x11"],
        &[sectors_before_end(1, 0), sectors_before_end(257, 0)],
    ),
    // Intel Matrix Storage, in the last sector but one of 512 and of 4,096 bytes.
    row(
        "Intel RAID (isw)",
        Array,
        &[b"Intel Raid ISM Cfg Sig. "],
        &[sectors_before_end(2, 0), MarkPlace::End { unit: 4 * KIB, before: 8 * KIB }],
    ),
    row("LSI MegaRAID", Array, &[b"$XIDE$"], &[sectors_before_end(1, 0)]),
    row_if_there("VIA RAID", Array, &[b"\x55\xaa"], &[sectors_before_end(1, 0)], 0..51, |it, _| {
        let sum = it[..50].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        it[2] <= 2 && sum == it[50]
    }),
    row_if_there(
        "Silicon Image RAID",
        Array,
        &[b"\0\0\0\x2f"],
        &[sectors_before_end(1, 0x60)],
        0xb6..0xb7,
        |disk, _| disk[0] < 8,
    ),
    row("NVIDIA RAID", Array, &[b"NVIDIA"], &[sectors_before_end(2, 0)]),
    // At one of the places that its controllers of many years chose.
    row(
        "Promise FastTrak RAID",
        Array,
        &[b"Promise Technology, Inc."],
        &[
            sectors_before_end(63, 0),
            sectors_before_end(255, 0),
            sectors_before_end(256, 0),
            sectors_before_end(16, 0),
            sectors_before_end(399, 0),
            sectors_before_end(591, 0),
            sectors_before_end(675, 0),
            sectors_before_end(735, 0),
            sectors_before_end(911, 0),
            sectors_before_end(974, 0),
            sectors_before_end(991, 0),
            sectors_before_end(951, 0),
            sectors_before_end(3087, 0),
        ],
    ),
    row(
        "HighPoint RAID (45x)",
        Array,
        &[b"\xf3\x16\x78\x5a", b"\xfd\x16\x78\x5a"],
        &[sectors_before_end(11, 0)],
    ),
    row(
        "HighPoint RAID (37x)",
        Array,
        &[b"\xf0\x16\x78\x5a", b"\xfd\x16\x78\x5a"],
        &[start(9 * SECTOR + 32)],
    ),
    row("Adaptec RAID", Array, &[b"\x37\xfc\x4d\x1e"], &[sectors_before_end(1, 0)]),
    // Two bytes, and as blkid no more: a member with a damaged checksum holds data, too.
    row("JMicron RAID", Array, &[b"JM"], &[sectors_before_end(1, 0)]),
    // Volume managers, caches and replication.
    // drivers/md/bcache/bcache_ondisk.h, fs/bcachefs/bcachefs_format.h: 24 bytes into 4 KiB; of
    // bcachefs also into 2 MiB and the last MiB.
    row(
        "bcache",
        Volume,
        &[b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"],
        &[start(4 * KIB + 24)],
    ),
    row(
        "bcachefs",
        FileSystem,
        &[b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"],
        &[
            start(4 * KIB + 24),
            start(2 * MIB + 24),
            MarkPlace::End { unit: SECTOR, before: MIB - 24 },
        ],
    ),
    row("Ceph BlueStore", Volume, &[b"bluestore block device"], &[start(0)]),
    // Linux DRBD, drbd_meta_data.h: 60 bytes into the last 4 KiB; 8.3, 8.4 unclean, 9.
    row(
        "DRBD",
        Volume,
        &[b"\x83\x74\x02\x6b", b"\x83\x74\x02\x6c", b"\x83\x74\x02\x6d"],
        &[
            MarkPlace::End { unit: SECTOR, before: 4 * KIB - 60 },
            MarkPlace::End { unit: 4 * KIB, before: 4 * KIB - 60 },
        ],
    ),
    row("DRBD manage control volume", Volume, &[b"$DRBDmgr=q"], &[start(0)]),
    row("DRBD proxy log", Volume, &[b"DRBDdlh*"], &[start(0)]),
    // LVM2 writes its label into one of the first four sectors.
    row(
        "LVM physical volume",
        Volume,
        &[b"LABELONE"],
        &[start(0), start(512), start(1024), start(1536)],
    ),
    row_if("LVM1 physical volume", Volume, &[b"HM"], &[start(0)], 2..4, |version, _| {
        matches!(version, [1 | 2, 0])
    }),
    row("device-mapper snapshot", Volume, &[b"SnAp"], &[start(0)]),
    row("dm-verity hashes", Crypto, &[b"verity\0\0"], &[start(0)]),
    row("dm-integrity", Crypto, &[b"integrt\0"], &[start(0)]),
    // LUKS2 on-disk format: the second header begins at one of these places.
    row("LUKS encryption", Crypto, &[b"LUKS\xba\xbe"], &[start(0)]),
    row(
        "LUKS encryption (its second header)",
        Crypto,
        &[b"SKUL\xba\xbe"],
        &[
            start(16 * KIB),
            start(32 * KIB),
            start(64 * KIB),
            start(128 * KIB),
            start(256 * KIB),
            start(512 * KIB),
            start(MIB),
            start(2 * MIB),
            start(4 * MIB),
        ],
    ),
    row("VMFS volume", Volume, &[b"\x0d\xd0\x01\xc0"], &[start(MIB)]),
    // include/mtd/ubi-media.h of mtd-utils.
    row("UBI", Volume, &[b"UBI#"], &[start(0)]),
    row("VDO", Volume, &[b"dmvdo001"], &[start(0)]),
    row(
        "Stratis pool",
        Volume,
        &[b"!Stra0tis\x86\xff\x02^\x41rh"],
        &[start(SECTOR + 4), start(9 * SECTOR + 4)],
    ),
    row("BitLocker", Crypto, &[b"-FVE-FS-", b"MSWIN4.1"], &[start(3)]),
    // File systems that lie at the start, and keep a boot sector.
    row("NTFS", FileSystem, &[b"NTFS    "], &[start(3)]),
    row(
        "NTFS (a copy of its boot sector)",
        FileSystem,
        &[b"NTFS    "],
        &[sectors_before_end(1, 3), MarkPlace::End { unit: 4 * KIB, before: 4 * KIB - 3 }],
    ),
    row("exFAT", FileSystem, &[b"EXFAT   "], &[start(3)]),
    // Its twelve boot sectors stand there twice.
    row(
        "exFAT (a copy of its boot sectors)",
        FileSystem,
        &[b"EXFAT   "],
        &[start(12 * SECTOR + 3), start(12 * 4 * KIB + 3)],
    ),
    row("ReFS", FileSystem, &[b"ReFS\0\0\0\0", b"ReFS\0"], &[start(3)]),
    row("FAT", FileSystem, &[b"MSWIN", b"FAT32   "], &[start(82)]),
    row("FAT", FileSystem, &[b"MSDOS", b"FAT16   ", b"FAT12   ", b"FAT     "], &[start(54)]),
    row("FAT (a copy of its boot sector)", FileSystem, &[b"FAT32   "], &[start(6 * SECTOR + 82)]),
    // One without such a name: a jump, and a block of parameters that makes sense.
    row_if("FAT", FileSystem, &[b"\xeb", b"\xe9"], &[start(0)], 0..62, is_fat),
    row_if("FAT", FileSystem, &[b"\x55\xaa"], &[start(510)], 0..62, is_fat),
    // include/linux/swap.h, and what suspends to disk: swsusp, TuxOnIce, uswsusp, FreeBSD's way.
    row(
        "hibernation image",
        Other,
        &[b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND", b"LINHIB0001"],
        ENDS_OF_PAGES,
    ),
    row("hibernation image", Other, &[b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"], &[start(0)]),
    row("swap", Other, &[b"SWAP-SPACE", b"SWAPSPACE2"], ENDS_OF_PAGES),
    // fs/xfs/libxfs: the super block; a log on a device of its own, whose head moves through it.
    row("XFS", FileSystem, &[b"XFSB"], &[start(0)]),
    // What stands behind the super block in each allocation group, versions of 1.
    row_if_there(
        "XFS (the headers of its first group)",
        FileSystem,
        &[b"XAGF", b"XAGI"],
        &[start(SECTOR), start(2 * SECTOR), start(4 * KIB), start(8 * KIB)],
        4..8,
        |version, _| matches!(version, [0, 0, 0, 1]),
    ),
    // A super block begins each group. mkfs.xfs makes groups of a fourth, on arrays of 1/2 to 1/32,
    // of at most a block less than 1 TiB; small ones were of 16 MiB.
    row_if_there(
        "XFS (a copy of its super block)",
        FileSystem,
        &[b"XFSB"],
        &[
            MarkPlace::Share { n_shares: 2 },
            MarkPlace::Share { n_shares: 4 },
            MarkPlace::Share { n_shares: 8 },
            MarkPlace::Share { n_shares: 16 },
            MarkPlace::Share { n_shares: 32 },
            start(TIB - 4 * KIB),
            start(16 * MIB),
        ],
        4..8,
        |block, _| is_sectors(block),
    ),
    row("EXFS", FileSystem, &[b"EXFS"], &[start(0)]),
    row_if_there(
        "external log of XFS",
        FileSystem,
        &[b"\xfe\xed\xba\xbe"],
        &[MarkPlace::Each { from: 0, to: 256 * KIB, step: SECTOR }],
        8..12,
        |version, _| matches!(version, [0, 0, 0, 1..=3]),
    ),
    // fs/ext4/ext4.h: the mark, and blocks of 1 to 64 KiB.
    row_if(
        "ext2/ext3/ext4",
        FileSystem,
        &[b"\x53\xef"],
        &[start(KIB + 56)],
        KIB + 24..KIB + 28,
        |log_block, _| matches!(log_block, [0..=6, 0, 0, 0]),
    ),
    // Revision 1, inodes of 128 bytes and more, and in which of the groups it stands (0 where a
    // kernel wrote it as the file system grew).
    row_if_there(
        "ext2/ext3/ext4 (a copy of its super block)",
        FileSystem,
        &[b"\x53\xef"],
        EXT_COPIES,
        20..36,
        |block, _| {
            let inode_bytes = u16::from_le_bytes([block[12], block[13]]);
            matches!(block[..4], [1, 0, 0, 0])
                && inode_bytes >= 128
                && inode_bytes.is_power_of_two()
                && matches!(block[14..16], [0 | 1 | 3 | 5 | 7, 0])
        },
    ),
    row(
        "ReiserFS",
        FileSystem,
        &[b"ReIsErFs"],
        &[start(8 * KIB + 52), start(8 * KIB + 20), start(64 * KIB + 52)],
    ),
    row("ReiserFS", FileSystem, &[b"ReIsEr2Fs", b"ReIsEr3Fs"], &[start(64 * KIB + 52)]),
    row("Reiser4", FileSystem, &[b"ReIsEr4"], &[start(64 * KIB)]),
    // fs/jfs/jfs_filsys.h: the second super block behind the table of aggregate inodes.
    row("JFS", FileSystem, &[b"JFS1"], &[start(32 * KIB), start(60 * KIB)]),
    // ECMA-167: a sequence of volume structure descriptors from byte 32,768 on.
    row(
        "UDF",
        FileSystem,
        &[b"BEA01", b"BOOT2", b"CDW02", b"NSR02", b"NSR03", b"TEA01"],
        &[start(32 * KIB + 1)],
    ),
    row("ISO 9660", FileSystem, &[b"CD001"], &[start(32 * KIB + 1)]),
    row("ISO 9660 (High Sierra)", FileSystem, &[b"CDROM"], &[start(32 * KIB + 9)]),
    // ZFS on-disk format: four labels of 256 KiB, two at either end; the names of the pool 16 KiB
    // into a label, uberblocks in its second half.
    row(
        "ZFS pool",
        FileSystem,
        &[b"\x0c\xb1\xba\0\0\0\0\0", b"\0\0\0\0\0\xba\xb1\x0c"],
        &[
            MarkPlace::Each { from: 128 * KIB, to: 256 * KIB, step: KIB },
            MarkPlace::Each { from: 384 * KIB, to: 512 * KIB, step: KIB },
            MarkPlace::EachBeforeEnd { from: 384 * KIB, to: 256 * KIB, step: KIB },
            MarkPlace::EachBeforeEnd { from: 128 * KIB, to: 0, step: KIB },
        ],
    ),
    row_if_there(
        "ZFS pool",
        FileSystem,
        &[b""],
        &[start(16 * KIB), start(272 * KIB)],
        0..KIB,
        |names, _| names.windows(9).any(|it| it == b"pool_guid"),
    ),
    // fs/hfs/hfs.h, fs/hfsplus/hfsplus_raw.h: big-endian; allocation blocks are whole sectors.
    row_if("HFS", FileSystem, &[b"BD"], &[start(KIB)], KIB + 20..KIB + 24, |block, _| {
        is_sectors(block)
    }),
    row_if("HFS+", FileSystem, &[b"H+", b"HX"], &[start(KIB)], KIB + 40..KIB + 44, |block, _| {
        is_sectors(block)
    }),
    // A copy in the last sector but one.
    row_if_there("HFS", FileSystem, &[b"BD"], &[sectors_before_end(2, 0)], 20..24, |block, _| {
        is_sectors(block)
    }),
    row_if_there(
        "HFS+",
        FileSystem,
        &[b"H+", b"HX"],
        &[sectors_before_end(2, 0)],
        40..44,
        |block, _| is_sectors(block),
    ),
    row(
        "UFS",
        FileSystem,
        UFS_MAGICS,
        &[start(0x55c), start(8 * KIB + 0x55c), start(64 * KIB + 0x55c), start(256 * KIB + 0x55c)],
    ),
    row("HPFS", FileSystem, &[b"\x49\xe8\x95\xf9"], &[start(8 * KIB)]),
    // fs/sysv/sysv.h of Linux up to 6.14.
    row(
        "System V file system",
        FileSystem,
        &[b"\x20\x7e\x18\xfd", b"\xfd\x18\x7e\x20"],
        &[
            start(512 + 504),
            start(9 * KIB + 512 + 504),
            start(15 * KIB + 512 + 504),
            start(18 * KIB + 512 + 504),
        ],
    ),
    row("Xenix file system", FileSystem, &[b"\x2b\x55\x44", b"\x44\x55\x2b"], &[start(2 * KIB)]),
    row("cramfs", FileSystem, &[b"\x45\x3d\xcd\x28", b"\x28\xcd\x3d\x45"], &[start(0), start(512)]),
    row("romfs", FileSystem, &[b"-rom1fs-"], &[start(0)]),
    row_if("Minix", FileSystem, MINIX_MAGICS, &[start(KIB + 16)], KIB..KIB + 12, |block, _| {
        is_minix(&block[..2], &block[4..6], &block[10..12])
    }),
    row_if(
        "Minix",
        FileSystem,
        &[b"\x5a\x4d", b"\x4d\x5a"],
        &[start(KIB + 24)],
        KIB..KIB + 14,
        |block, _| is_minix(&block[..4], &block[6..8], &block[12..14]),
    ),
    // include/uapi/linux/gfs2_ondisk.h.
    row("GFS or GFS2", FileSystem, &[b"\x01\x16\x19\x70"], &[start(64 * KIB)]),
    row("ScoutFS", FileSystem, &[b"\x8b\x42\x3c\x10"], &[start(64 * KIB + 4)]),
    row("OCFS", FileSystem, &[b"OracleCFS"], &[start(8 * KIB)]),
    // fs/ocfs2/ocfs2_fs.h: the super block is the third block, of 512 bytes to 4 KiB.
    row(
        "OCFS2",
        FileSystem,
        &[b"OCFSV2"],
        &[start(KIB), start(2 * KIB), start(4 * KIB), start(8 * KIB)],
    ),
    row(
        "OCFS2 (a copy of its super block)",
        FileSystem,
        &[b"OCFSV2"],
        &[start(GIB), start(4 * GIB), start(16 * GIB), start(64 * GIB), start(256 * GIB)],
    ),
    row("Oracle ASM disk", Other, &[b"ORCLDISK"], &[start(32)]),
    row(
        "VxFS",
        FileSystem,
        &[b"\xf5\xfc\x01\xa5", b"\xa5\x01\xfc\xf5"],
        &[start(KIB), start(8 * KIB)],
    ),
    row("squashfs", FileSystem, &[b"hsqs", b"sqsh"], &[start(0)]),
    row("Netware (NSS)", FileSystem, &[b"SPB5"], &[start(4 * KIB)]),
    row("btrfs", FileSystem, &[b"_BHRfS_M"], &[start(64 * KIB + 64)]),
    row(
        "btrfs (a copy of its super block)",
        FileSystem,
        &[b"_BHRfS_M"],
        &[start(64 * MIB + 64), start(256 * GIB + 64)],
    ),
    row("UBIFS", FileSystem, &[b"\x31\x18\x10\x06"], &[start(0)]),
    row("BFS", FileSystem, &[b"\xce\xfa\xad\x1b"], &[start(0)]),
    row("VMFS", FileSystem, &[b"\x5e\xf1\xab\x2f"], &[start(2 * MIB)]),
    row("BeFS", FileSystem, &[b"BFS1", b"1SFB"], &[start(32), start(512 + 32)]),
    // include/uapi/linux/nilfs2_ondisk.h: the second copy in the last 4 KiB; the bytes of the super
    // block are a few hundred.
    row_if_there(
        "NILFS2",
        FileSystem,
        &[b"\x34\x34"],
        &[start(KIB + 6), sectors_before_end(8, 6)],
        2..4,
        |n_bytes, _| n_bytes[1] <= 4,
    ),
    row("F2FS", FileSystem, &[b"\x10\x20\xf5\xf2"], &[start(KIB), start(5 * KIB)]),
    row("mpool", FileSystem, &[b"mpoolDev"], &[start(0)]),
    row("APFS", FileSystem, &[b"NXSB"], &[start(32)]),
    row("zonefs", FileSystem, &[b"SFOZ"], &[start(0)]),
    row("EROFS", FileSystem, &[b"\xe2\xe1\xf5\xe0"], &[start(KIB)]),
    // Partition tables. UEFI: the header in the second block, its backup in the last.
    row("GPT partition table", Partitions, &[b"EFI PART"], &[start(512), start(4 * KIB)]),
    row(
        "GPT partition table (its backup)",
        Partitions,
        &[b"EFI PART"],
        &[sectors_before_end(1, 0), MarkPlace::End { unit: 4 * KIB, before: 4 * KIB }],
    ),
    row("AIX partition table", Partitions, &[b"\xc9\xc2\xd4\xc1"], &[start(0)]),
    row("SGI partition table", Partitions, &[b"\x0b\xe5\xa9\x41"], &[start(0)]),
    // A label whose 256 words, the sum among them, cancel out.
    row_if("Sun partition table", Partitions, &[b"\xda\xbe"], &[start(508)], 0..512, |label, _| {
        let words = label.as_chunks::<2>().0.iter();
        words.fold(0, |all, word| all ^ u16::from_be_bytes(*word)) == 0
    }),
    // A driver descriptor, and behind its block the map's first entry.
    row_if("Apple partition map", Partitions, &[b"ER"], &[start(0)], 0..4 * KIB + 2, |head, _| {
        let block = usize::from(u16::from_be_bytes([head[2], head[3]]));
        head.get(block..block + 2).is_some_and(|it| block >= 512 && (it == b"PM" || it == b"TS"))
    }),
    row("BSD disk label", Partitions, &[b"\x57\x45\x56\x82"], &[start(512), start(64), start(128)]),
    row("Solaris disk label", Partitions, &[b"\xee\xde\x0d\x60"], &[start(512 + 12)]),
    row("UnixWare disk label", Partitions, &[b"\x0d\x60\xe5\xca"], &[start(29 * SECTOR + 4)]),
    row("Ultrix disk label", Partitions, &[b"\x57\x29\x03\0\x01\0\0\0"], &[start(16 * KIB - 72)]),
    // arch/s390: VOL1, LNX1 and CMS1 in EBCDIC, in the third block.
    row(
        "DASD label",
        Partitions,
        &[b"\xe5\xd6\xd3\xf1", b"\xd3\xd5\xe7\xf1", b"\xc3\xd4\xe2\xf1"],
        &[start(KIB), start(2 * KIB), start(4 * KIB), start(8 * KIB)],
    ),
    // Rigid disk block: in any of the first 16 sectors.
    row(
        "Amiga partition table",
        Partitions,
        &[b"RDSK"],
        &[MarkPlace::Each { from: 0, to: 16 * SECTOR, step: SECTOR }],
    ),
    // A root sector has no mark.
    row_if("Atari partition table", Partitions, &[b""], &[start(0)], 0..512, is_atari),
    // Last, since formats above keep a boot sector. An empty table counts: it was made on purpose.
    row_if(
        "DOS partition table",
        Partitions,
        &[b"\x55\xaa"],
        &[start(510)],
        446..510,
        |table, _| table.as_chunks::<16>().0.iter().all(|entry| matches!(entry[0], 0 | 0x80)),
    ),
];

/// Returns whether a field in big-endian order is a whole number of sectors.
fn is_sectors(field: &[u8]) -> bool {
    let [a, b, c, d] = *field else { return false };
    let bytes = u32::from_be_bytes([a, b, c, d]);
    bytes > 0 && bytes.is_multiple_of(512)
}

/// Returns whether there are inodes, a map of them, and zones of one block, in either byte order.
fn is_minix(n_inodes: &[u8], n_map_blocks: &[u8], log_zone: &[u8]) -> bool {
    let is_some = |field: &[u8]| field.iter().any(|byte| *byte != 0);
    is_some(n_inodes) && is_some(n_map_blocks) && !is_some(log_zone)
}

/// Returns whether the block of parameters of a boot sector is one of FAT: sectors of 512 bytes to
/// 4 KiB, clusters of a power of two, some reserved sectors, tables, and a known medium.
fn is_fat(sector: &[u8], _: u64) -> bool {
    let word = |at: usize| u16::from_le_bytes([sector[at], sector[at + 1]]);
    let (sector_bytes, cluster, media) = (word(11), sector[13], sector[21]);
    (512..=4096).contains(&sector_bytes)
        && sector_bytes.is_power_of_two()
        && cluster.is_power_of_two()
        && word(14) > 0
        && sector[16] > 0
        && (media >= 0xf8 || media == 0xf0)
}

/// Returns whether an Atari root sector has a number of sectors that the device holds, a list
/// of bad ones that lies within them, and an entry that does with a name of letters and digits.
fn is_atari(sector: &[u8], size_bytes: u64) -> bool {
    let number = |at: usize| {
        u64::from(u32::from_be_bytes([sector[at], sector[at + 1], sector[at + 2], sector[at + 3]]))
    };
    let n_sectors = number(0x1c2);
    let is_within = |first: u64, n: u64| first > 0 && n > 0 && first + n <= n_sectors;
    let (bad_first, n_bad) = (number(0x1f6), number(0x1fa));
    let is_entry = |at: usize| {
        sector[at] & 1 == 1
            && sector[at + 1..at + 4].iter().all(u8::is_ascii_alphanumeric)
            && is_within(number(at + 4), number(at + 8))
    };
    (2..=size_bytes / SECTOR).contains(&n_sectors)
        && (bad_first == 0 && n_bad == 0 || is_within(bad_first, n_bad))
        && [0x1c6, 0x1d2, 0x1de, 0x1ea].into_iter().any(is_entry)
}

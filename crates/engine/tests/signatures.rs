//! What the guard of devices knows, on images that the formats' own tools make, beside what `blkid`
//! says of them. A tool that is missing is named and left out.

mod common;

use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::scratch;
use engine::{Contents, probe};

/// Makes an image with a command of the shell: `$F` is the file, `$D` a folder with something in
/// it. The first word is the tool.
struct Image {
    mib: u64,
    command: &'static str,
    /// KiB from the start that are lost then.
    lost_kib: usize,
}

const fn image(mib: u64, command: &'static str) -> Image {
    Image { mib, command, lost_kib: 0 }
}

const fn damaged(mib: u64, command: &'static str, lost_kib: usize) -> Image {
    Image { mib, command, lost_kib }
}

const IMAGES: &[Image] = &[
    image(16, "mke2fs -q -t ext2 -F $F"),
    image(16, "mke2fs -q -t ext4 -F $F"),
    image(16, "mke2fs -q -O journal_dev -F $F"),
    image(320, "mkfs.xfs -q -f $F"),
    image(128, "mkfs.btrfs -q -f $F"),
    image(4, "mkfs.fat -F 12 $F"),
    image(32, "mkfs.fat -F 16 $F"),
    image(64, "mkfs.fat -F 32 $F"),
    image(16, "mkfs.exfat $F"),
    image(16, "mkntfs -q -F -Q $F"),
    image(64, "mkfs.f2fs -q $F"),
    image(32, "mkfs.jfs -q $F"),
    image(64, "mkfs.reiserfs -q -f -f $F"),
    image(64, "mkfs.reiser4 -y -f $F"),
    image(160, "mkfs.nilfs2 -q -f $F"),
    image(64, "mkfs.ocfs2 -q -F -M local -b 1K -C 4K $F"),
    image(64, "mkfs.ocfs2 -q -F -M local -b 4K -C 4K $F"),
    image(4, "mkfs.minix -1 $F"),
    image(4, "mkfs.minix -2 $F"),
    image(4, "mkfs.minix -3 $F"),
    image(4, "mkfs.bfs $F"),
    image(1, "mkfs.cramfs $D $F"),
    image(1, "genromfs -d $D -f $F"),
    image(1, "mksquashfs $D $F -noappend -quiet"),
    image(16, "mkudffs $F"),
    image(16, "mkudffs --media-type=hd --blocksize=4096 $F"),
    image(1, "genisoimage -quiet -o $F $D"),
    image(64, "mkfs.gfs2 -q -O -j 1 -J 8 -p lock_nolock $F"),
    image(1, "mkfs.erofs $F $D"),
    image(4, "hformat $F"),
    image(4, "mkswap -p 4096 $F"),
    image(4, "mkswap -p 8192 $F"),
    image(4, "mkswap -p 16384 $F"),
    image(4, "mkswap -p 32768 $F"),
    image(4, "mkswap -p 65536 $F"),
    image(32, "cryptsetup -q luksFormat --type luks1 -i 1 $F $D/key"),
    image(32, "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 -i 1 $F $D/key"),
    // The first header is lost; the second is whole.
    image(
        32,
        "cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 -i 1 $F $D/key && \
         dd if=/dev/zero of=$F bs=4096 count=1 conv=notrunc",
    ),
    // The first super block or boot sector is lost; copies are whole.
    damaged(16, "mke2fs -q -t ext2 -F $F", 4),
    damaged(64, "mke2fs -q -t ext4 -b 1024 -F $F", 8192),
    damaged(128, "mke2fs -q -t ext4 -b 2048 -F $F", 32_768),
    damaged(512, "mke2fs -q -t ext4 -b 4096 -F $F", 65_536),
    damaged(1100, "mke2fs -q -t ext4 -b 8192 -F $F", 65_536),
    damaged(5000, "mke2fs -q -t ext4 -b 65536 -F $F", 65_536),
    damaged(5000, "mke2fs -q -t ext4 -O bigalloc -F $F", 65_536),
    damaged(512, "mke2fs -q -t ext4 -b 4096 -O sparse_super2 -F $F", 65_536),
    damaged(320, "mkfs.xfs -q -f $F", 1),
    damaged(320, "mkfs.xfs -q -f $F", 1024),
    damaged(333, "mkfs.xfs -q -f $F", 1024),
    damaged(800, "mkfs.xfs -q -f -d agcount=8 $F", 1024),
    damaged(320, "mkfs.xfs -q -f -s size=4096 $F", 4),
    damaged(128, "mkfs.btrfs -q -f $F", 1024),
    damaged(16, "mkntfs -q -F -Q $F", 1024),
    damaged(64, "mkfs.fat -F 32 $F", 1),
    damaged(16, "mkfs.exfat $F", 4),
    damaged(32, "mkfs.jfs -q $F", 36),
    damaged(2048, "mkfs.ocfs2 -q -F -M local -b 4K -C 4K $F", 1024),
    damaged(16, "mkfs.hfsplus $F", 1024),
    image(16, "integritysetup -q format $F"),
    image(1, "veritysetup format $D/data $F"),
    image(16, "make-bcache -B $F"),
    image(16, "parted -s $F mklabel msdos"),
    image(16, "parted -s $F mklabel msdos mkpart primary 1MiB 8MiB"),
    image(16, "parted -s $F mklabel gpt"),
    // Only the backup is left.
    image(16, "parted -s $F mklabel gpt && dd if=/dev/zero of=$F bs=32k count=1 conv=notrunc"),
    image(16, "parted -s $F mklabel sun"),
    image(16, "parted -s $F mklabel dvh"),
    image(16, "parted -s $F mklabel mac"),
    image(16, "parted -s $F mklabel mac mkpart a 1MiB 8MiB"),
    image(16, "parted -s $F mklabel bsd"),
    image(16, "parted -s $F mklabel amiga"),
    image(16, "parted -s $F mklabel atari mkpart primary ext2 1MiB 8MiB"),
    image(16, "sfdisk -q $F < $D/dos"),
    image(16, "sfdisk -q $F < $D/sgi"),
    image(16, "sfdisk -q $F < $D/sun"),
    image(1, "ubinize -o $F -m 1 -p 16KiB $D/ubi.ini"),
    image(4, "mkfs.ubifs -q -r $D -m 1 -e 15936 -c 100 -o $F"),
];

/// Formats whose tools only work on devices, with `$F` the device.
const ON_DEVICES: &[Image] = &[
    image(32, "pvcreate -q -ff -y --devicesfile= $F"),
    image(16, "drbdmeta --force 0 v08 $F internal create-md"),
    image(16, "drbdmeta --force 0 v09 $F internal create-md 1"),
];

/// Returns a folder with what the tools want.
fn sources(dir: &Path) -> PathBuf {
    let folder = dir.join("d");
    std::fs::create_dir(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    write("key", b"a key that opens nothing here");
    write("data", &vec![7; 1 << 20]);
    write("dos", b"label: dos\n");
    write("sgi", b"label: sgi\n");
    write("sun", b"label: sun\n");
    let ini = format!(
        "[v]\nmode=ubi\nimage={}\nvol_id=0\nvol_type=static\nvol_name=v\n",
        folder.join("key").display()
    );
    write("ubi.ini", ini.as_bytes());
    folder
}

/// A loop device over a file, while it lives.
struct LoopDevice(PathBuf);

impl LoopDevice {
    fn new(file: &Path) -> Option<LoopDevice> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        let name = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| LoopDevice(PathBuf::from(name.trim())))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

/// Runs a tool. `None` where it is missing; false where it fails.
fn make(image: &Image, target: &Path, folder: &Path) -> Option<bool> {
    let tool = image.command.split(' ').next()?;
    let folders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    folders.iter().map(|dir| Path::new(dir).join(tool)).find(|tool| tool.is_file())?;
    let made = Command::new("sh")
        .args(["-c", image.command])
        .envs([("F", target), ("D", folder)])
        .env("PATH", folders.join(":"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    Some(made.is_ok_and(|status| status.success()))
}

/// Returns what `blkid` says of a device: a type, or that of a partition table.
fn blkid(device: &Path) -> String {
    let values = |tag: &str| {
        let mut command = Command::new("/usr/sbin/blkid");
        let output = command.args(["-p", "-s", tag, "-o", "value"]).arg(device).output();
        output.map_or_else(|_| String::new(), |it| String::from_utf8_lossy(&it.stdout).into())
    };
    format!("{}{}", values("TYPE"), values("PTTYPE")).split_whitespace().collect()
}

/// Makes an image and looks at it. Returns a fault, if there is one.
fn look(image: &Image, on_device: bool) -> Option<String> {
    let dir = scratch();
    let folder = sources(dir.path());
    let file = dir.path().join("image");
    let size = |bytes: u64| {
        let file = std::fs::File::options().create(true).append(true).open(&file).unwrap();
        file.set_len(file.metadata().unwrap().len().max(bytes).next_multiple_of(4096)).unwrap();
    };
    size(image.mib << 20);
    let is_made = if on_device { Some(true) } else { make(image, &file, &folder) };
    size(0);
    if image.lost_kib > 0 {
        let file = std::fs::File::options().write(true).open(&file).unwrap();
        file.write_all_at(&vec![0; image.lost_kib << 10], 0).unwrap();
    }
    let Some(device) = LoopDevice::new(&file) else {
        testing::skipped!("no loop devices here");
        return None;
    };
    let is_made = if on_device { make(image, &device.0, &folder) } else { is_made };
    match is_made {
        None => testing::skipped!("no tool here for: {}", image.command),
        Some(false) => testing::skipped!("failed here: {}", image.command),
        Some(true) => {
            let theirs = blkid(&device.0);
            let ours = probe(&device.0).unwrap().contents;
            if !matches!(ours, Contents::Known { .. }) {
                let Image { command, lost_kib, .. } = image;
                let lost = format!("{lost_kib} KiB lost");
                return Some(format!("{command}, {lost}: {ours:?}, and blkid says `{theirs}`"));
            }
        }
    }
    None
}

#[test]
fn what_the_formats_own_tools_make_is_known() {
    let files = IMAGES.iter().filter_map(|image| look(image, false));
    let devices = ON_DEVICES.iter().filter_map(|image| look(image, true));
    let faults: Vec<String> = files.chain(devices).collect();
    assert_eq!(faults, Vec::<String>::new());
}

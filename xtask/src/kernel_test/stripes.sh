#!/bin/busybox sh
# The first program of the emulated machine: runs the lines that plimsoll printed for its disks, and
# says what came of each step.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin
mount() { /bin/busybox mount "$@"; }
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
unset -f mount

check() {
    name=$1
    shift
    if "$@" > /said 2>&1; then
        echo "TEST ok: $name"
    else
        echo "TEST FAILED: $name: $(tail -n 5 /said)"
    fi
}

load() {
    for module in $(cat /modules/order); do
        insmod "/modules/$module" || return 1
    done
}

same() {
    [ "$1" = "$2" ] || { echo "got '$1' instead of '$2'"; false; }
}

check "load the drivers" load
# Nothing but mdadm itself makes the names of arrays here.
export MDADM_NO_UDEV=1
# The first volume's disks are named, the others' are found: by links of both kinds.
export DATA_DISKS="/dev/vda /dev/vdb /dev/vdc /dev/vdd"
mkdir -p /dev/disk/azure/data/by-lun /dev/disk/azure/scsi1
ln -s /dev/vde /dev/disk/azure/data/by-lun/4
ln -s /dev/vdf /dev/disk/azure/data/by-lun/5
ln -s /dev/vdg /dev/disk/azure/scsi1/lun6
check "too few disks are refused" sh -c '! DATA_DISKS="/dev/vda /dev/vdb" sh /mdadm.sh'
# The magic number of ext2, and with it that of romfs: blkid calls that ambivalent.
printf '\123\357' | dd of=/dev/vda bs=1 seek=1080 conv=notrunc 2> /dev/null
printf -- '-rom1fs-' | dd of=/dev/vda bs=1 conv=notrunc 2> /dev/null
sync
check "a disk with several signatures is left alone" sh -c \
    'sh /mdadm.sh > /out 2>&1; [ $? = 1 ] && grep -q "several formats" /out && [ ! -e /dev/md/data ]'
dd if=/dev/zero of=/dev/vda bs=64k count=1 conv=notrunc 2> /dev/null
sync
check "the lines of --as mdadm" sh /mdadm.sh
check "the lines of --as fstab" sh /fstab.sh
check "level and chunk of the first" sh -c 'mdadm --detail /dev/md/data | grep -q "Chunk Size : 64K" &&
    mdadm --detail /dev/md/data | grep -q "Raid Level : raid0"'
check "chunk of the second" sh -c 'mdadm --detail /dev/md/log | grep -q "Chunk Size : 256K"'
# ext4 counts in blocks of 4 KiB, XFS in sectors of 512 bytes.
check "ext4 knows the stripe" sh -c 'grep " /mnt/data " /proc/mounts | grep -q "stripe=64"'
check "XFS knows the stripe" sh -c 'grep " /mnt/log " /proc/mounts | grep -q "sunit=512,swidth=1024"'
check "a mount whose name has a blank" grep -q '/mnt/data/two\\040words xfs' /proc/mounts
check "three lines" same "$(grep -c '^UUID=' /etc/fstab)" 3

dd if=/dev/urandom of=/tmp/random bs=64k count=100 2> /dev/null
for folder in /mnt/data /mnt/log "/mnt/data/two words"; do
    check "write to $folder" dd if=/tmp/random of="$folder/file" bs=64k conv=fsync
done
check "the lines of --as fstab where all is mounted" sh /fstab.sh
check "disks that hold something are left alone" sh -c '! sh /mdadm.sh'
check "the lines of --as fstab once more, below other mounts" sh -c \
    'umount "/mnt/data/two words" /mnt/log /mnt/data && sh /fstab.sh'
check "no line twice" same "$(grep -c '^UUID=' /etc/fstab)" 3

# As at the next start: the arrays by their file, the mounts by theirs.
check "unmount" umount "/mnt/data/two words" /mnt/log /mnt/data
check "stop the arrays" mdadm --stop /dev/md/data /dev/md/log
check "find them again" mdadm --assemble --scan
check "mount all" mount -a
for folder in /mnt/data /mnt/log "/mnt/data/two words"; do
    check "read back from $folder" cmp /tmp/random "$folder/file"
done
echo "TEST END"
poweroff -f

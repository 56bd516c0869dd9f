#!/bin/busybox sh
# The first program of the emulated machine: runs programs whose I/O is known, captures them, and
# says whether the capture has what they did. @NAME@ is filled in by `cargo xtask`.
/bin/busybox --install -s /bin
export PATH=/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev

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

# Runs `capture` with these options until it watches; its needs go to /tmp/NEEDS.toml.
watch() {
    needs=$1
    shift
    plimsoll capture --for 10m --every 500ms "$@" -o "/tmp/$needs.toml" > "/tmp/$needs" 2>&1 &
    watcher=$!
    until grep -q capturing "/tmp/$needs" 2> /dev/null; do
        kill -0 "$watcher" || return 1
        sleep 0.1
    done
}

# Ends it, as Ctrl-C does.
unwatch() {
    kill -INT "$watcher"
    wait "$watcher"
    [ $? = 130 ] || { cat "/tmp/$needs"; false; }
}

# Adds up a column of the samples: 4 I/Os, 5 reads, 6 writes, 7 and 8 bytes read and written.
sum() {
    awk -F, -v column="$2" 'NR > 1 { sum += $column } END { printf "%d", sum }' "/tmp/$1.series.csv"
}

same() {
    [ "$1" = "$2" ] || { echo "got '$1' instead of '$2'"; cat "/tmp/$needs.series.csv"; false; }
}

# Between 95 % and 105 %.
near() {
    [ $(($1 * 100)) -ge $(($2 * 95)) ] && [ $(($1 * 100)) -le $(($2 * 105)) ] ||
        { echo "got '$1', which is not near '$2'"; cat "/tmp/$needs.series.csv"; false; }
}

says() {
    grep -q "$2" "/tmp/$1.toml" || { cat "/tmp/$1" "/tmp/$1.toml"; false; }
}

check "load the drivers" load
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
mkdir -p "/mnt/two words" /disk

# A mount of NFS: 8 MiB are written, then read with the cache dropped.
check "mount" /bin/mount_nfs 10.0.2.2:@EXPORT@ "/mnt/two words" \
    "addr=10.0.2.2,vers=3,proto=tcp,mountproto=tcp,mountaddr=10.0.2.2,port=@PORT@,mountport=@PORT@,nolock,rsize=65536,wsize=65536"
check "watch the mount" watch nfs --mount "/mnt/two words"
dd if=/dev/urandom of="/mnt/two words/file" bs=64k count=128 conv=fsync 2> /dev/null
echo 3 > /proc/sys/vm/drop_caches
dd if="/mnt/two words/file" of=/dev/null bs=64k 2> /dev/null
check "Ctrl-C ends it" unwatch
check "bytes written over NFS" same "$(sum nfs 8)" 8388608
check "bytes read over NFS" same "$(sum nfs 7)" 8388608
check "calls of 64 KiB" same "$(sum nfs 6)" 128
check "the volume is called by its mount" says nfs 'name = "/mnt/two words"'
check "it says what is counted" says nfs 'on NFS mounts, reads and writes that reach the server'
check "unmount" umount "/mnt/two words"

# The I/O of a group, by itself: 160 writes of 64 KiB, while others do 320 of 32 KiB.
both() {
    (dd if=/dev/zero of=/dev/vda bs=32k count=320 seek=4000 oflag=direct 2> /dev/null) &
    others=$!
    sh -c 'echo $$ > "$0/cgroup.procs"; exec dd if=/dev/zero of=/dev/vda bs=64k count=160 oflag=direct' \
        "$1" 2> /dev/null
    wait "$others"
}

# Version 2.
check "control groups of version 2" mount -t cgroup2 cgroup2 /sys/fs/cgroup
check "with I/O and memory" sh -c 'echo "+io +memory" > /sys/fs/cgroup/cgroup.subtree_control'
mkdir /sys/fs/cgroup/app
check "watch a group" watch v2 --device vda --cgroup app
both /sys/fs/cgroup/app
check "Ctrl-C ends it" unwatch
check "writes of the group" same "$(sum v2 6)" 160
check "bytes of the group" same "$(sum v2 8)" 10485760
check "it says what others did" says v2 'of the I/Os of vda came from other processes'

# What is written through the page cache is the group's, too.
check "a file system" sh -c 'mkfs.ext4 -q /dev/vda && mount -t ext4 /dev/vda /disk'
check "watch a group on a file system" watch cached --mount /disk --cgroup app
sh -c 'echo $$ > /sys/fs/cgroup/app/cgroup.procs; exec dd if=/dev/urandom of=/disk/file bs=1M count=16' \
    2> /dev/null
sync
check "Ctrl-C ends it" unwatch
check "bytes of a file that was cached" near "$(sum cached 8)" 16777216
check "unmount the disk" umount /disk
rmdir /sys/fs/cgroup/app
check "no more version 2" sh -c 'echo "-io -memory" > /sys/fs/cgroup/cgroup.subtree_control &&
    umount /sys/fs/cgroup'

# Version 1.
mount -t tmpfs none /sys/fs/cgroup
mkdir /sys/fs/cgroup/blkio
check "control groups of version 1" mount -t cgroup -o blkio cgroup /sys/fs/cgroup/blkio
mkdir /sys/fs/cgroup/blkio/app
# Kernels since 6.0 count a group's I/O only on devices that it has a limit for.
counts_or_says() {
    [ -e /tmp/free.series.csv ] && [ "$(sum free 6)" = 160 ] ||
        grep -q 'the group counted no I/O of vda, which did some' /tmp/free ||
        { cat /tmp/free; false; }
}
check "watch a group without a limit" watch free --device vda --cgroup app
both /sys/fs/cgroup/blkio/app
kill -INT "$watcher"
wait "$watcher"
check "writes of the group, or why there are none" counts_or_says

# One far above what the disk does.
limit() {
    for direction in read write; do
        echo "$(cat /sys/block/vda/dev) 1000000000000" \
            > "/sys/fs/cgroup/blkio/app/blkio.throttle.${direction}_bps_device" || return 1
    done
}
check "a limit" limit
check "watch a group" watch v1 --device vda --cgroup app
both /sys/fs/cgroup/blkio/app
check "Ctrl-C ends it" unwatch
check "writes of the group" same "$(sum v1 6)" 160
check "bytes of the group" same "$(sum v1 8)" 10485760
check "it says what others did" says v1 'of the I/Os of vda came from other processes'
echo "TEST END"
poweroff -f

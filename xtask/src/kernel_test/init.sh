#!/bin/busybox sh
# The first program of the emulated machine: loads the kernel's NFS client, mounts the export, uses
# it as programs do, and says what came of each step. @NAME@ is filled in by `cargo xtask`.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev

check() {
    name=$1
    shift
    if "$@" > /said 2>&1; then
        echo "TEST ok: $name"
    else
        echo "TEST FAILED: $name: $(cat /said)"
    fi
}

same() {
    [ "$1" = "$2" ] || { echo "got '$1' instead of '$2'"; false; }
}

# What the machine remembers of the files is dropped: the next read asks the server.
forget() {
    sync
    echo 3 > /proc/sys/vm/drop_caches
}

load() {
    for module in $(cat /modules/order); do
        insmod "/modules/$module" || return 1
    done
}

check "load the client" load
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
mkdir -p /mnt /tmp
check "mount" /bin/mount_nfs 10.0.2.2:@EXPORT@ /mnt \
    "addr=10.0.2.2,vers=3,proto=tcp,mountproto=tcp,mountaddr=10.0.2.2,port=@PORT@,mountport=@PORT@,nolock,nconnect=@CONNECTIONS@,rsize=262144,wsize=262144"
check "statfs shows the provisioned size" same "$(df -k /mnt | awk 'END { print $2 }')" @SIZE_KIB@

dd if=/dev/urandom of=/tmp/random bs=64k count=160 2> /dev/null
check "write and fsync" dd if=/tmp/random of=/mnt/file bs=64k conv=fsync
check "open connections" same "$(grep -c ' 0202000A:@PORT_HEX@ 01 ' /proc/net/tcp)" @CONNECTIONS@
forget
check "read back" cmp /tmp/random /mnt/file
check "size" same "$(stat -c %s /mnt/file)" 10485760
check "overwrite in the middle" dd if=/tmp/random of=/mnt/file bs=1000 count=7 seek=333 conv=notrunc,fsync
dd if=/tmp/random of=/tmp/random2 bs=1000 count=7 2> /dev/null
dd if=/mnt/file of=/tmp/back bs=1000 count=7 skip=333 2> /dev/null
forget
check "the middle is back" cmp /tmp/random2 /tmp/back
check "append" sh -c 'echo tail >> /mnt/file && [ "$(tail -c 5 /mnt/file)" = tail ]'
check "truncate" sh -c 'truncate -s 100 /mnt/file && [ "$(stat -c %s /mnt/file)" = 100 ]'

many() {
    mkdir /mnt/many || return 1
    for n in $(seq 300); do
        echo "$n" > "/mnt/many/a-file-with-a-long-name-$n" || return 1
    done
}
check "make 300 files" many
forget
check "list them" same "$(ls /mnt/many | wc -l)" 300
check "list them with attributes" same "$(ls -l /mnt/many | grep -c '^-rw')" 300
check "contents" same "$(cat /mnt/many/* | sort -n | md5sum)" "$(seq 300 | md5sum)"
check "rename" mv /mnt/many/a-file-with-a-long-name-7 /mnt/seven
check "rename over another" mv /mnt/many/a-file-with-a-long-name-8 /mnt/seven
check "the renamed file" same "$(cat /mnt/seven)" 8
check "hard link" ln /mnt/seven /mnt/eight
check "links" same "$(stat -c %h /mnt/seven)" 2
check "symbolic link" ln -s seven /mnt/nine
check "through it" same "$(cat /mnt/nine)" 8
check "permissions" sh -c 'chmod 640 /mnt/seven && [ "$(stat -c %a /mnt/eight)" = 640 ]'
check "owner" sh -c 'chown 12:34 /mnt/seven && [ "$(stat -c %u:%g /mnt/seven)" = 12:34 ]'
check "exclusive creation" sh -c 'set -C; echo x > /mnt/new && ! echo y > /mnt/new'
check "a file in use is removed" sh -c 'exec 3< /mnt/eight; rm /mnt/eight; [ "$(cat <&3)" = 8 ]'
check "a folder in use is kept" sh -c '! rmdir /mnt/many'
check "remove everything" sh -c 'rm -r /mnt/many && rm /mnt/seven /mnt/nine /mnt/new /mnt/file'
check "nothing is left" same "$(ls -A /mnt | grep -v '^\.nfs')" ""
check "unmount" umount /mnt

# Root of a client has no rights on an export without --no-root-squash: what it makes belongs to the
# user @SQUASHED@, and it cannot give it away.
check "mount where root is squashed" /bin/mount_nfs 10.0.2.2:@EXPORT@ /mnt \
    "addr=10.0.2.2,vers=3,proto=tcp,mountproto=tcp,mountaddr=10.0.2.2,port=@PORT_SQUASHED@,mountport=@PORT_SQUASHED@,nolock"
check "make a file" sh -c 'echo own > /mnt/own'
check "it belongs to the squashed user" same "$(stat -c %u:%g /mnt/own)" @SQUASHED@:@SQUASHED@
check "root does not give it away" sh -c '! chown 12:34 /mnt/own'
check "it still does" same "$(stat -c %u:%g /mnt/own)" @SQUASHED@:@SQUASHED@
check "setuid is not set" sh -c 'chmod 4755 /mnt/own; [ "$(stat -c %a /mnt/own)" = 755 ]'
check "write as another user" su -s /bin/sh app -c 'echo theirs > /mnt/theirs'
check "it is that user's" same "$(stat -c %u:%g /mnt/theirs)" 12:34
check "root removes its own file" rm /mnt/own
check "unmount" umount /mnt
echo "TEST END"
poweroff -f

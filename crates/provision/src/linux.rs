//! Linux: stripes and file systems, and their lines of /etc/fstab.

use std::fmt::Write as _;

use catalog::Cloud;
use units::plural;
use volume::CacheMode;
use volume::design::FileSystem;

use crate::form::{Form, Refusal};
use crate::nfs;
use crate::parts::{DiskVolume, Parts};
use crate::quote;
use crate::variable::{TO_BE_FILLED_IN, script_head};

/// File system of a volume whose design names none.
const FILE_SYSTEM: FileSystem = FileSystem::Xfs;

/// Bytes of a block of ext4, which its stride is counted in.
const EXT4_BLOCK_BYTES: u64 = 4096;

fn file_system(volume: &DiskVolume<'_>) -> FileSystem {
    volume.volume.build.file_system.unwrap_or(FILE_SYSTEM)
}

/// Returns the shell variable with a volume's disks.
fn disks_variable(volume: &DiskVolume<'_>) -> String {
    format!("{}_DISKS", volume.slug.to_uppercase().replace('-', "_"))
}

/// Returns what names the disks of a volume in a shell, by their places, or how their names are
/// found where it is not known before.
fn devices(volume: &DiskVolume<'_>, parts: &Parts<'_>) -> Result<String, &'static str> {
    if volume.stripe.is_local {
        return Err("disks of the machine itself: lsblk shows them");
    }
    let join = |names: Vec<String>| names.join(" ");
    match parts.cloud {
        Some(Cloud::Azure) => {
            let luns = join(volume.names().map(|(_, lun)| lun.to_string()).collect());
            Ok(format!("$(by_lun {luns})"))
        }
        Some(Cloud::Gcp) => {
            let link = |(name, _)| format!("/dev/disk/by-id/google-{name}");
            Ok(join(volume.names().map(link).collect()))
        }
        Some(Cloud::Aws) => {
            Err("lsblk -o NAME,SERIAL shows the volumes' ids, without their hyphen")
        }
        None => Err("lsblk shows the disks"),
    }
}

/// Finds disks of Azure by their places. The older links are of SCSI alone.
const BY_LUN: &str = "
# Disks by their places (LUN). The package azure-vm-utils makes the first link, for SCSI and NVMe,
# Azure's agent the second, for SCSI.
by_lun() {
    for lun in \"$@\"; do
        for link in \"/dev/disk/azure/data/by-lun/$lun\" \"/dev/disk/azure/scsi1/lun$lun\"; do
            if [ -e \"$link\" ]; then break; fi
        done
        echo \"$link\"
    done
}
";

/// Returns the device that a volume's file system is on: its array, or its only disk.
fn device(volume: &DiskVolume<'_>) -> String {
    if volume.n_disks() > 1 {
        format!("/dev/md/{}", volume.slug)
    } else {
        format!("\"${}\"", disks_variable(volume))
    }
}

fn must_have_disks(parts: &Parts<'_>) -> Result<(), Refusal> {
    if parts.volumes.is_empty() {
        return Err(Refusal::Nothing { what: "volume of disks" });
    }
    for volume in &parts.volumes {
        let (n_disks, columns) = (volume.n_disks(), volume.stripe.columns);
        if columns as usize != n_disks {
            let mount = volume.volume.mount.clone();
            return Err(Refusal::Columns { mount, n_disks, columns });
        }
    }
    Ok(())
}

/// Returns the lines that say which disks the volumes have, with what finds them.
fn variables<'v>(volumes: &[&DiskVolume<'v>], parts: &Parts<'v>) -> String {
    let mut text = String::new();
    for volume in volumes {
        let name = disks_variable(volume);
        let mount = quote::comment(&volume.volume.mount);
        let _ = match devices(volume, parts) {
            Ok(devices) => {
                writeln!(text, "# {mount}\n: \"${{{name}:={devices}}}\"")
            }
            Err(how) => {
                let devices = plural(volume.n_disks(), "device");
                writeln!(text, "# {mount}; {how}\n: \"${{{name}:?set {name}: {devices}}}\"")
            }
        };
    }
    let by_lun = if text.contains("$(by_lun ") { BY_LUN } else { "" };
    if text.is_empty() { text } else { format!("{by_lun}{TO_BE_FILLED_IN}{text}") }
}

/// What looks before it writes. `blkid -p` ends with 2 where it finds nothing, which is also where
/// it cannot read, and with 8 where there are signatures of several formats.
const CHECK: &str = r#"# Only a disk that is known to be empty is written to: it can be read, and
# nothing is found on it.
left_alone() {
    echo "$1 is left alone: $2" >&2
    echo "see what it is and holds: lsblk -f $1; blkid -p $1" >&2
    [ $# -lt 3 ] || echo "once nothing of it is needed: $3" >&2
    exit 1
}
empty() {
    for program in blkid blockdev dd; do
        command -v $program > /dev/null || {
            echo "$program is missing: it is needed to see whether a disk is empty" >&2
            exit 1
        }
    done
    for disk in "$@"; do
        [ -b "$disk" ] || { echo "$disk is not a block device" >&2; exit 1; }
        # Both ends, where formats have their signatures.
        sectors=$(blockdev --getsz "$disk") || left_alone "$disk" "its size cannot be read"
        [ "$sectors" -ge 8192 ] || left_alone "$disk" "it has $sectors sectors of 512 bytes"
        for skip in 0 $((sectors - 8192)); do
            dd if="$disk" of=/dev/null bs=512 count=8192 skip=$skip 2> /dev/null ||
                left_alone "$disk" "it cannot be read"
        done
        status=0
        found=$(blkid -p "$disk" 2>&1) || status=$?
        case "$status $found" in
            '2 ') ;;
            '0 '*) left_alone "$disk" "it holds something: $found" "wipefs --all $disk" ;;
            '8 '*) left_alone "$disk" "it holds several formats: $found" "wipefs --all $disk" ;;
            *) left_alone "$disk" "blkid cannot tell what it holds (status $status): $found" ;;
        esac
    done
}
"#;

/// Prints what makes the stripes and the file systems.
pub(crate) fn mdadm(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_have_disks(parts)?;
    let title = parts.title(Form::Mdadm);
    let mut text = script_head(&title, Form::Mdadm.checked(), "");
    let all: Vec<&DiskVolume<'_>> = parts.volumes.iter().collect();
    let _ = write!(text, "{}\n{CHECK}", variables(&all, parts));
    for volume in &parts.volumes {
        text.push_str(&volume_lines(volume));
    }
    if parts.volumes.iter().any(|volume| volume.n_disks() > 1) {
        text.push_str(
            "\n# The arrays are found again at the next start.\nconf=/etc/mdadm/mdadm.conf\n\
             [ -d /etc/mdadm ] || conf=/etc/mdadm.conf\n",
        );
        for volume in parts.volumes.iter().filter(|volume| volume.n_disks() > 1) {
            let _ = writeln!(text, "mdadm --detail --brief {} >> \"$conf\"", device(volume));
        }
        text.push_str(
            "if command -v update-initramfs > /dev/null; then update-initramfs -u; fi\n\n\
             # What is there now:\ncat /proc/mdstat\n",
        );
    }
    text.push_str("blkid\n");
    Ok(text)
}

fn volume_lines(volume: &DiskVolume<'_>) -> String {
    let (name, n) = (disks_variable(volume), volume.n_disks());
    let (mount, sku) = (quote::comment(&volume.volume.mount), quote::comment(&volume.disk().sku));
    let device = device(volume);
    let mut text = format!("\n# {mount}: {n} x {sku}");
    if n == 1 {
        let _ = write!(text, "\nempty \"${name}\"\n");
    } else {
        let chunk = volume.chunk_kib();
        let _ = write!(
            text,
            ", {chunk} KiB on one before the next one's turn (the default of mdadm is 512)\n\
             # shellcheck disable=SC2086 # a list\nset -- ${name}\n\
             [ $# = {n} ] || {{ echo \"{name} names $# devices, not {n}\" >&2; exit 1; }}\n\
             empty \"$@\"\n\
             mdadm --create {device} --level=0 --raid-devices={n} --chunk={chunk}K \\\n    \
             --metadata=1.2 --homehost=any --name={slug} \"$@\"\n",
            slug = volume.slug,
        );
    }
    text.push_str(&mkfs(volume, &device));
    text
}

/// Returns the line that formats a volume: the file system gets the size of the stripe.
fn mkfs(volume: &DiskVolume<'_>, device: &str) -> String {
    let n = volume.n_disks() as u64;
    let label = |len: usize| volume.slug[..volume.slug.len().min(len)].trim_end_matches('-');
    match (file_system(volume), n) {
        (FileSystem::Ext4, 1) => format!("mkfs.ext4 -q -L {} {device}\n", label(16)),
        (FileSystem::Xfs, 1) => format!("mkfs.xfs -q -L {} {device}\n", label(12)),
        (FileSystem::Ext4, n) => {
            let stride = volume.stripe.chunk_bytes / EXT4_BLOCK_BYTES;
            format!(
                "mkfs.ext4 -q -b {EXT4_BLOCK_BYTES} -E stride={stride},stripe_width={} -L {} \
                 {device}\n",
                stride * n,
                label(16),
            )
        }
        (FileSystem::Xfs, n) => {
            let chunk = volume.chunk_kib();
            format!("mkfs.xfs -q -d su={chunk}k,sw={n} -L {} {device}\n", label(12))
        }
    }
}

/// Prints what adds the lines of /etc/fstab, and mounts.
pub(crate) fn fstab(parts: &Parts<'_>) -> Result<String, Refusal> {
    if parts.volumes.is_empty() && !parts.networks.is_empty() {
        return nfs::text(parts);
    }
    must_have_disks(parts)?;
    let single: Vec<&DiskVolume<'_>> =
        parts.volumes.iter().filter(|volume| volume.n_disks() == 1).collect();
    let mut text = script_head(&parts.title(Form::Fstab), Form::Fstab.checked(), "");
    text.push_str(&variables(&single, parts));
    text.push_str(
        "\n# By UUID, as names of devices change from start to start; nofail: the machine starts \
         without.\nadd() {\n    uuid=$(blkid -s UUID -o value \"$1\")\n    \
         [ -n \"$uuid\" ] || { echo \"$1 has no file system: --as mdadm makes it\" >&2; exit 1; \
         }\n    \
         mkdir -p \"$2\"\n    \
         grep -q \"^UUID=$uuid \" /etc/fstab 2> /dev/null ||\n        \
         printf 'UUID=%s %s %s defaults,nofail 0 %s\\n' \"$uuid\" \"$3\" \"$4\" \"$5\" >> \
         /etc/fstab\n    \
         mountpoint -q \"$2\" || mount \"$2\"\n}\n",
    );
    let mut volumes: Vec<&DiskVolume<'_>> = parts.volumes.iter().collect();
    // What lies below another one is mounted after it.
    volumes.sort_by_key(|volume| volume.volume.mount.split('/').count());
    for volume in volumes {
        let mount = &volume.volume.mount;
        let system = file_system(volume);
        let _ = write!(
            text,
            "\n# {}{}\nadd {} {} {} {} {}\n",
            quote::comment(mount),
            barriers(volume, parts),
            device(volume),
            quote::shell(mount),
            quote::shell(&quote::fstab(mount)),
            system.as_str(),
            check_pass(system),
        );
    }
    text.push_str("\n# What is there now:\n");
    for volume in &parts.volumes {
        let _ = writeln!(
            text,
            "grep -F {} /proc/mounts",
            quote::shell(&quote::fstab(&volume.volume.mount))
        );
    }
    if !parts.networks.is_empty() {
        text.push_str("# The network volumes: `plimsoll provision DESIGN --as nfs`\n");
    }
    Ok(text)
}

/// Returns when fsck looks at a file system: XFS repairs itself when it is mounted.
fn check_pass(system: FileSystem) -> u8 {
    match system {
        FileSystem::Ext4 => 2,
        FileSystem::Xfs => 0,
    }
}

/// Says of the barriers of a file system on Azure what the host cache makes of them.
fn barriers(volume: &DiskVolume<'_>, parts: &Parts<'_>) -> String {
    if parts.cloud != Some(Cloud::Azure) {
        return String::new();
    }
    match (volume.disk().cache, file_system(volume)) {
        (CacheMode::ReadWrite, _) => ": barriers stay on. The host cache holds writes until they \
                                      are flushed; without barriers they are lost with the host"
            .to_owned(),
        (CacheMode::None | CacheMode::ReadOnly, FileSystem::Ext4) => {
            ": writes go to the disk itself, so Azure's guide lets barriers be off (barrier=0); \
             left on here, as they cost little then"
                .to_owned()
        }
        (CacheMode::None | CacheMode::ReadOnly, FileSystem::Xfs) => {
            ": writes go to the disk itself. XFS has had no option against barriers since Linux \
             4.19"
                .to_owned()
        }
    }
}

//! Windows: Storage Spaces, as PowerShell.

use std::fmt::Write as _;

use catalog::Cloud;
use units::plural;

use crate::form::{Form, Refusal};
use crate::parts::{DiskVolume, Parts};
use crate::quote;

/// What looks before it writes. To Windows a disk is RAW that is empty, and also one with a file
/// system that it does not know. New disks, and those that Clear-Disk has cleared, begin and end
/// with zeros.
const CHECK: &str = r#"
# Only a disk that is known to be empty is written to: without partitions, and with zeros at both
# ends. RAW alone may be a file system or a volume manager of Linux.
Add-Type -Namespace Plimsoll -Name Raw -MemberDefinition @'
[DllImport("kernel32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
public static extern Microsoft.Win32.SafeHandles.SafeFileHandle CreateFile(
    string name, uint access, uint share, IntPtr security, uint how, uint flags, IntPtr template);
'@
function Assert-Empty([object[]] $PhysicalDisks) {
    foreach ($physical in $PhysicalDisks) {
        $disk = $physical | Get-Disk
        if (-not $disk) { throw "disk $($physical.DeviceId) is in a pool, or cannot be read" }
        $look = "Get-Disk $($disk.Number) | Format-List; Get-Partition -DiskNumber $($disk.Number)"
        $what = "disk $($disk.Number) ($($disk.FriendlyName)) is left alone"
        if ($disk.PartitionStyle -ne 'RAW') {
            throw "${what}: it has a table of partitions ($($disk.PartitionStyle)); see $look"
        }
        $handle = [Plimsoll.Raw]::CreateFile("\\.\PhysicalDrive$($disk.Number)", 2147483648, 3,
            [IntPtr]::Zero, 3, 0, [IntPtr]::Zero)
        if ($handle.IsInvalid) { throw "${what}: it cannot be read" }
        $stream = New-Object IO.FileStream($handle, [IO.FileAccess]::Read)
        try {
            $bytes = New-Object byte[] 1MB
            foreach ($at in 0, ($disk.Size - 1MB)) {
                [void] $stream.Seek($at, [IO.SeekOrigin]::Begin)
                if ($stream.Read($bytes, 0, 1MB) -ne 1MB) { throw "${what}: it cannot be read" }
                if ([Convert]::ToBase64String($bytes).Trim('A', '=') -ne '') {
                    throw "${what}: its first or last MiB holds something; see $look"
                }
            }
        } finally { $stream.Dispose() }
    }
}
"#;

/// Prints what makes the volumes.
pub(crate) fn storage_spaces(parts: &Parts<'_>) -> Result<String, Refusal> {
    if parts.volumes.is_empty() {
        return Err(Refusal::Nothing { what: "volume of disks" });
    }
    // Windows counts the places of disks over NVMe otherwise.
    let by_lun = parts.cloud == Some(Cloud::Azure) && !parts.is_nvme();
    let mut text = format!(
        "# {}\n# {}\n\n# To be filled in.\nparam(\n",
        quote::comment(&parts.title(Form::StorageSpaces)),
        Form::StorageSpaces.checked(),
    );
    let mut params = Vec::new();
    for volume in &parts.volumes {
        let name = variable(volume);
        let mount = quote::comment(&volume.volume.mount);
        if letter(volume).is_none() {
            params.push(format!(
                "    # Drive letter of {mount}.\n    [Parameter(Mandatory)] [char] ${name}Letter"
            ));
        }
        if !by_lun || volume.stripe.is_local {
            let disks = plural(volume.n_disks(), "disk");
            params.push(format!(
                "    # {disks} of {mount}: DeviceId as Get-PhysicalDisk shows it.\n    \
                 [Parameter(Mandatory)] [string[]] ${name}Disks"
            ));
        }
    }
    text.push_str(&params.join(",\n"));
    text.push_str("\n)\n$ErrorActionPreference = 'Stop'\n");
    if by_lun {
        text.push_str(
            "\n# Disks by their places at the machine: its system and temporary disks have such \
             numbers too,\n# but cannot be pooled; and those over NVMe have others.\n\
             function Get-ByLun([int[]] $Luns) {\n    \
             Get-PhysicalDisk -CanPool $true | Where-Object {\n        \
             $_.BusType -ne 'NVMe' -and $_.PhysicalLocation -match 'LUN (\\d+)' -and\n        \
             $Luns -contains [int] $Matches[1]\n    }\n}\n",
        );
    }
    text.push_str(CHECK);
    for volume in &parts.volumes {
        text.push_str(&of_volume(volume, by_lun));
    }
    text.push_str(
        "\n# What is there now:\nGet-VirtualDisk | Format-Table FriendlyName, NumberOfColumns, \
         Interleave, Size\nGet-Volume | Format-Table DriveLetter, FileSystemLabel, Size\n",
    );
    Ok(text)
}

/// Returns the drive letter that a mount stands for: `/e` is the drive E.
fn letter(volume: &DiskVolume<'_>) -> Option<char> {
    let mut letters = volume.volume.mount.strip_prefix('/')?.chars();
    let letter = letters.next().filter(char::is_ascii_alphabetic)?;
    letters.next().is_none().then_some(letter.to_ascii_uppercase())
}

/// Returns the beginning of a volume's variables.
fn variable(volume: &DiskVolume<'_>) -> String {
    volume.slug.replace('-', "_")
}

fn of_volume(volume: &DiskVolume<'_>, by_lun: bool) -> String {
    let (name, n) = (variable(volume), volume.n_disks());
    let label = quote::powershell(&volume.slug);
    let drive = letter(volume).map_or(format!("${name}Letter"), |it| format!("'{it}'"));
    let (mount, sku) = (quote::comment(&volume.volume.mount), quote::comment(&volume.disk().sku));
    let disks = if by_lun && !volume.stripe.is_local {
        let luns: Vec<String> = volume.names().map(|(_, lun)| lun.to_string()).collect();
        format!("@(Get-ByLun {})", luns.join(", "))
    } else {
        format!("@(Get-PhysicalDisk | Where-Object {{ ${name}Disks -contains $_.DeviceId }})")
    };
    let mut text = format!(
        "\n# {mount}: {n} x {sku}\n$disks = {disks}\n\
         if ($disks.Count -ne {n}) {{ throw \"$($disks.Count) disks are there, not {n}\" }}\n\
         Assert-Empty $disks\n"
    );
    let disk = if n == 1 {
        // The only disk, by its own number.
        text.push_str("$disk = $disks | Get-Disk\n");
        "$disk"
    } else {
        let _ = write!(
            text,
            "New-StoragePool -FriendlyName {label} -PhysicalDisks $disks `\n    \
             -StorageSubSystemFriendlyName 'Windows Storage*' | Out-Null\n\
             # The dialogs of the Server Manager stop at 8 columns; this does not.\n\
             $disk = New-VirtualDisk -FriendlyName {label} -StoragePoolFriendlyName {label} `\n    \
             -ResiliencySettingName Simple -NumberOfColumns {columns} -Interleave {interleave} \
             `\n    \
             -ProvisioningType Fixed -UseMaximumSize | Get-Disk\n",
            columns = volume.stripe.columns,
            interleave = volume.stripe.chunk_bytes,
        );
        "$disk"
    };
    let _ = write!(
        text,
        "{disk} | Initialize-Disk -PartitionStyle GPT -PassThru |\n    \
         New-Partition -DriveLetter {drive} -UseMaximumSize |\n    \
         Format-Volume -FileSystem NTFS -NewFileSystemLabel {label} | Out-Null\n"
    );
    text
}

//! What only the machine that runs can say of storage definitions.

use std::collections::HashSet;

use plan::Diagnostic;

use super::check_raw::largest_bytes;
use super::parsed::Parsed;
use super::run::{RawWork, Sd, Wd, Work};
use crate::devices::is_device;
use crate::loader::Lun;

/// Returns the storage definitions that cannot run: files without `size=` that are not there, or
/// too short for one transfer, and those in folders that are not there, unless a command may make
/// them. Devices are left alone.
///
/// `lun_of` says what is at the path of a storage definition on its host; `None` where that is not
/// known.
pub fn unsized_luns(parsed: &Parsed, lun_of: &dyn Fn(&Sd) -> Option<Lun>) -> Vec<Diagnostic> {
    let remote: HashSet<&str> = parsed.remote_hosts().map(|host| host.label.as_str()).collect();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut commands = parsed.runs.iter().flat_map(|run| &run.commands);
    let has_commands = commands.next().is_some() || !parsed.settings.commands.is_empty();
    for run in &parsed.runs {
        let Work::Raw(work) = &run.work else { continue };
        for (idx, sd) in work.sds.iter().enumerate() {
            if is_device(&sd.lun) || !seen.insert((&sd.name, &sd.host)) {
                continue;
            }
            let Some(there) = lun_of(sd) else { continue };
            let is_made = sd.size_bytes.is_some() && (there != Lun::NoFolder || has_commands);
            if is_made {
                continue;
            }
            let at = if remote.contains(sd.host.as_str()) {
                format!("{} on host={}", sd.name, sd.host)
            } else {
                sd.name.clone()
            };
            let finding = mistake(&at, (sd, idx), work, there);
            found.extend(finding.map(|finding| sd.place.of(finding, &parsed.sources)));
        }
    }
    found
}

fn mistake(name: &str, (sd, idx): (&Sd, usize), work: &RawWork, there: Lun) -> Option<Diagnostic> {
    let lun = &sd.lun;
    let uses = |wd: &&Wd| wd.sds.contains(&idx);
    match there {
        Lun::Device => None,
        Lun::NoFolder if sd.size_bytes.is_some() => {
            let message = format!("sd={name}: the folder of `{lun}` is not there");
            let folder = lun.rsplit_once('/').map_or("", |(folder, _)| folder);
            let help = format!("mkdir -p '{folder}' makes it; `--remap A=B` names another");
            Some(Diagnostic::error("missing-folder", message).help(help))
        }
        Lun::Missing | Lun::NoFolder => Some(
            Diagnostic::error("missing-size", format!("sd={name}: `{lun}` is not there"))
                .help("write `size=` to have it made, or `--remap A=B` for another folder"),
        ),
        Lun::File(bytes) => {
            let wds = work.wds.iter().filter(uses);
            let (largest, wd) =
                wds.map(|wd| (largest_bytes(&wd.xfersize), &wd.name)).max_by_key(|it| it.0)?;
            let message = format!(
                "sd={name}: `{lun}` has {bytes} bytes, less than one transfer of wd={wd}: {largest}"
            );
            let help = "write `size=` to have it made longer, or a smaller `xfersize=`";
            (bytes < largest).then(|| Diagnostic::error("missing-size", message).help(help))
        }
    }
}

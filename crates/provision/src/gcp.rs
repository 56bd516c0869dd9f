//! Google Cloud: commands of its CLI.

use std::fmt::Write as _;

use crate::azure::{after, must_build};
use crate::form::{Form, Refusal};
use crate::parts::Parts;
use crate::quote;
use crate::variable::{Variable, script_head};

pub(crate) const PROJECT: Variable = Variable::new("project", "project to build in");
pub(crate) const ZONE: Variable =
    Variable::new("zone", "zone of the region of the design, such as europe-west1-b");
pub(crate) const VM_NAME: Variable = Variable::new("vm_name", "name of the machine");
pub(crate) const MACHINE_TYPE: Variable =
    Variable::new("machine_type", "type of the machine, of which the design has figures only");
pub(crate) const IMAGE: Variable =
    Variable::new("image", "image of the system disk, as projects/PROJECT/global/images/NAME");
/// Unless it is named, Google Cloud takes pd-standard, which newer machines refuse.
pub(crate) const BOOT_DISK: Variable = Variable::new(
    "boot_disk_type",
    "type of the system disk: pd-balanced or, for machines such as C4 and N4, hyperdisk-balanced",
);
pub(crate) const SUBNET: Variable = Variable::new("subnetwork", "subnetwork of the machine");

/// Prints commands of the Google Cloud CLI.
pub(crate) fn cli(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_build(parts)?;
    let mut variables = String::new();
    let mut demand = |variable: Variable| variables.push_str(&variable.demanded());
    [PROJECT, ZONE, VM_NAME].into_iter().for_each(&mut demand);
    if parts.has_machine() {
        [IMAGE, BOOT_DISK, SUBNET].into_iter().for_each(&mut demand);
        if parts.size().is_none() {
            demand(MACHINE_TYPE);
        }
    }
    let mut text = script_head(&parts.title(Form::Gcloud), Form::Gcloud.checked(), &variables);
    if let Some(region) = &parts.design.region {
        let _ = write!(
            text,
            "case $ZONE in\n    {region}-*) ;;\n    *) echo \"$ZONE is not of {region}\" >&2; \
             exit 2 ;;\n\
             esac\n"
        );
    }
    let of = "--project \"$PROJECT\" --zone \"$ZONE\"";
    if parts.has_machine() {
        let kind = parts.size().map_or("\"$MACHINE_TYPE\"".to_owned(), quote::shell);
        let _ = write!(
            text,
            "\ngcloud compute instances create \"$VM_NAME\" {of} \\\n    --machine-type {kind} \
             --image \"$IMAGE\" --boot-disk-type \"$BOOT_DISK_TYPE\" \\\n    \
             --subnet \"$SUBNETWORK\" --no-address\n"
        );
    }
    for volume in parts.attached() {
        let bought = volume.bought()?;
        let (mount, sku) = (quote::comment(&volume.volume.mount), &volume.disk().sku);
        let _ = writeln!(text, "\n# {mount}: {} x {}", volume.n_disks(), quote::comment(sku));
        let mut options = String::new();
        if let Some(iops) = bought.iops {
            let _ = write!(options, " --provisioned-iops {iops}");
        }
        if let Some(per_s) = bought.bytes_per_s {
            let _ = write!(options, " --provisioned-throughput {}", per_s.div_ceil(1 << 20));
        }
        for (name, _) in volume.names() {
            let _ = write!(
                text,
                "gcloud compute disks create \"$VM_NAME\"-{name} {of} \\\n    --type {} --size {}GB\
                 {options}\n\
                 gcloud compute instances attach-disk \"$VM_NAME\" {of} \\\n    \
                 --disk \"$VM_NAME\"-{name} --device-name {name}\n",
                quote::shell(bought.product),
                bought.size_gib,
            );
        }
    }
    let _ = write!(
        text,
        "\n# What is there now:\ngcloud compute instances describe \"$VM_NAME\" {of} \\\n    \
         --format 'table(disks[].deviceName,disks[].diskSizeGb)'\n"
    );
    text.push_str(&after("#", parts));
    Ok(text)
}

//! Google Cloud: commands of its CLI.

use std::fmt::Write as _;

use crate::azure::{after, must_build};
use crate::form::{Form, Refusal};
use crate::parts::Parts;
pub(crate) use crate::variable::{
    GCE_BOOT_DISK as BOOT_DISK, GCE_IMAGE as IMAGE, GCE_SUBNET as SUBNET, GCE_ZONE as ZONE,
};
use crate::variable::{Variable, script_head};
use crate::{netapp_volumes, quote};

pub(crate) const PROJECT: Variable = Variable::new("project", "project to build in");
pub(crate) const VM_NAME: Variable = Variable::new("vm_name", "name of the machine");
pub(crate) const MACHINE_TYPE: Variable =
    Variable::new("machine_type", "type of the machine, of which the design has figures only");

/// Returns the lines that ask for what the design does not say of machines and disks.
fn variables(parts: &Parts<'_>, has_zone: bool) -> String {
    let mut wanted = vec![PROJECT];
    if has_zone {
        wanted.push(ZONE);
    }
    if parts.has_disks_or_machine() {
        wanted.push(VM_NAME);
    }
    if parts.makes_machines() {
        wanted.extend([IMAGE, BOOT_DISK, SUBNET]);
    }
    if parts.has_machine() && parts.size().is_none() {
        wanted.push(MACHINE_TYPE);
    }
    wanted.into_iter().map(Variable::demanded).collect()
}

/// Prints commands of the Google Cloud CLI.
pub(crate) fn cli(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_build(parts)?;
    let has_zone = parts.has_disks_or_machine() || parts.makes_machines();
    let mut variables = variables(parts, has_zone);
    variables.push_str(&netapp_volumes::variables(parts));
    let mut text = script_head(&parts.title(Form::Gcloud), Form::Gcloud.checked(), &variables);
    if let Some(region) = parts.design.region.as_ref().filter(|_| has_zone) {
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
    text.push_str(&netapp_volumes::cli(parts));
    if parts.has_disks_or_machine() {
        let _ = write!(
            text,
            "\n# What is there now:\ngcloud compute instances describe \"$VM_NAME\" {of} \\\n    \
             --format 'table(disks[].deviceName,disks[].diskSizeGb)'\n"
        );
    }
    text.push_str(&after("#", parts));
    Ok(text)
}

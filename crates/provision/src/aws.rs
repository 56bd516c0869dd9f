//! Amazon Web Services: commands of its CLI.

use std::fmt::Write as _;

use crate::azure::{after, must_build};
use crate::form::{Form, Refusal};
use crate::parts::Parts;
pub(crate) use crate::variable::{AMI, EC2_SUBNET as SUBNET, KEY};
use crate::variable::{Variable, script_head};
use crate::{fsx, quote};

pub(crate) const REGION: Variable = Variable::new("region", "region to build in");
pub(crate) const ZONE: Variable =
    Variable::new("zone", "availability zone, such as eu-west-1a: volumes are of one");
pub(crate) const INSTANCE: Variable =
    Variable::new("instance_id", "machine that the volumes are attached to");
pub(crate) const TYPE: Variable =
    Variable::new("instance_type", "type of the machine, of which the design has figures only");

/// First letters of the names that volumes are attached under: /dev/sdf to /dev/sdp are what the
/// user guide of EC2 recommends, /dev/xvdba and so on what it allows.
const N_RECOMMENDED: usize = 11;

/// Names there are.
pub(crate) const DEVICES_MAX: usize = N_RECOMMENDED + 2 * 26;

/// Returns the name that a volume is attached under.
pub(crate) fn device(idx: usize) -> String {
    let letter = |first: char, idx: usize| char::from(first as u8 + idx as u8);
    match idx.checked_sub(N_RECOMMENDED) {
        None => format!("/dev/sd{}", letter('f', idx)),
        Some(idx) => format!("/dev/xvd{}{}", letter('b', idx / 26), letter('a', idx % 26)),
    }
}

pub(crate) fn must_have_devices(parts: &Parts<'_>) -> Result<(), Refusal> {
    let n_disks = parts.n_attached();
    if n_disks > DEVICES_MAX {
        return Err(Refusal::TooManyDisks { n_disks, most: DEVICES_MAX });
    }
    Ok(())
}

/// Returns the lines that ask for what the design does not say.
fn variables(parts: &Parts<'_>) -> String {
    let mut variables = match &parts.design.region {
        Some(region) => REGION.with_default(region),
        None => REGION.demanded(),
    };
    let mut demand = |variable: Variable| variables.push_str(&variable.demanded());
    if parts.has_disks_or_machine() {
        demand(ZONE);
    }
    if parts.makes_machines() {
        [AMI, KEY, SUBNET].into_iter().for_each(&mut demand);
    }
    if parts.has_machine() {
        if parts.size().is_none() {
            demand(TYPE);
        }
    } else if parts.n_attached() > 0 {
        demand(INSTANCE);
    }
    fsx::variables(parts).into_iter().for_each(&mut demand);
    variables
}

/// Prints commands of the AWS CLI.
pub(crate) fn cli(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_build(parts)?;
    must_have_devices(parts)?;
    let variables = variables(parts);
    let mut text = script_head(&parts.title(Form::AwsCli), Form::AwsCli.checked(), &variables);
    if parts.has_machine() {
        let kind = parts.size().map_or("\"$INSTANCE_TYPE\"".to_owned(), quote::shell);
        let optimized = if parts.is_ebs_optimized() { " --ebs-optimized" } else { "" };
        let _ = write!(
            text,
            "\nINSTANCE_ID=$(aws ec2 run-instances --region \"$REGION\" --image-id \"$AMI_ID\" \
             \\\n    \
             --instance-type {kind} --key-name \"$KEY_NAME\" --subnet-id \"$SUBNET_ID\" \\\n    \
             --placement \"AvailabilityZone=$ZONE\"{optimized} \\\n    \
             --query 'Instances[0].InstanceId' --output text)\n\
             aws ec2 wait instance-running --region \"$REGION\" --instance-ids \"$INSTANCE_ID\"\n"
        );
    }
    for volume in parts.attached() {
        let bought = volume.bought()?;
        let (mount, sku) = (quote::comment(&volume.volume.mount), &volume.disk().sku);
        let _ = writeln!(text, "\n# {mount}: {} x {}", volume.n_disks(), quote::comment(sku));
        let mut options = String::new();
        if let Some(iops) = bought.iops {
            let _ = write!(options, " --iops {iops}");
        }
        if let Some(per_s) = bought.bytes_per_s {
            let _ = write!(options, " --throughput {}", per_s.div_ceil(1 << 20));
        }
        for (name, lun) in volume.names() {
            let _ = write!(
                text,
                "VOLUME_ID=$(aws ec2 create-volume --region \"$REGION\" --availability-zone \
                 \"$ZONE\" \
                 \\\n    --volume-type {} --size {}{options} \\\n    --tag-specifications \
                 'ResourceType=volume,Tags=[{{Key=Name,Value={name}}}]' \\\n    \
                 --query VolumeId --output text)\n\
                 aws ec2 wait volume-available --region \"$REGION\" --volume-ids \"$VOLUME_ID\"\n\
                 aws ec2 attach-volume --region \"$REGION\" --volume-id \"$VOLUME_ID\" \\\n    \
                 --instance-id \"$INSTANCE_ID\" --device {}\n\
                 echo \"{name} is $VOLUME_ID\"\n",
                quote::shell(bought.product),
                bought.size_gib,
                device(lun),
            );
        }
    }
    text.push_str(&fsx::cli(parts));
    if parts.n_attached() > 0 {
        text.push_str(ATTACHED);
    }
    text.push_str(&after("#", parts));
    Ok(text)
}

/// What shows the volumes of a machine.
const ATTACHED: &str = "
# What is there now:
aws ec2 describe-volumes --region \"$REGION\" \\
    --filters \"Name=attachment.instance-id,Values=$INSTANCE_ID\" \\
    --query 'Volumes[].{id:VolumeId,type:VolumeType,gib:Size,iops:Iops,mib_s:Throughput}' \
--output table
";

//! Terraform, for the design's cloud.

use catalog::Cloud;

use crate::azure::{self, after, caching, mb_s, must_build};
use crate::form::{Form, Refusal};
use crate::hcl::{Block, identifier, or_given, print, var, variable};
use crate::parts::{ClientPart, DiskVolume, Parts};
use crate::quote;
use crate::variable::{CLIENT_PREFIX, Variable};
use crate::{aws, fsx, gcp, netapp_volumes};

const USER_MACHINE: Variable = Variable::new(
    "virtual_machine_id",
    "resource id of the machine that the disks are attached to",
);

const OS_DISK: Variable =
    Variable::new("os_disk_type", "type of the system disk, such as StandardSSD_LRS");

/// Prints a configuration.
pub(crate) fn text(parts: &Parts<'_>) -> Result<String, Refusal> {
    let cloud = parts.cloud.ok_or(Refusal::NoCloud)?;
    must_build(parts)?;
    let blocks = match cloud {
        Cloud::Azure => azurerm(parts)?,
        Cloud::Aws => amazon(parts)?,
        Cloud::Gcp => google(parts)?,
    };
    let head = quote::comment(&parts.title(Form::Terraform));
    let checked = Form::Terraform.checked();
    let tail = after("#", parts);
    Ok(format!("# {head}\n# {checked}\n{}{tail}", print(&blocks)))
}

/// Returns what names the provider.
fn provider(name: &str, source: &str) -> Block {
    let source = format!("{{ source = {} }}", quote::hcl(source));
    Block::new("terraform", &[]).block(Block::new("required_providers", &[]).raw(name, source))
}

fn azurerm(parts: &Parts<'_>) -> Result<Vec<Block>, Refusal> {
    let needs_zone = parts.needs_zone()?;
    let mut blocks = vec![
        provider("azurerm", "hashicorp/azurerm"),
        Block::new("provider", &["azurerm"]).block(Block::new("features", &[])),
        or_given(azure::REGION, parts.design.region.as_deref()),
        variable(azure::RESOURCE_GROUP),
    ];
    if parts.has_machine() || parts.n_attached() > 0 {
        blocks.push(variable(azure::VM_NAME));
    }
    if needs_zone {
        blocks.push(variable(azure::ZONE));
    }
    if parts.makes_machines() {
        blocks.extend(azurerm_machine_variables(parts));
    }
    let machine = if parts.has_machine() {
        blocks.extend(azurerm_machine(parts, needs_zone)?);
        "azurerm_linux_virtual_machine.machine.id".to_owned()
    } else {
        if parts.n_attached() > 0 {
            blocks.push(variable(USER_MACHINE));
        }
        var(USER_MACHINE)
    };
    for volume in parts.attached() {
        blocks.extend(azurerm_disks(volume, &machine, needs_zone)?);
    }
    blocks.extend(azurerm_networks(parts));
    blocks.extend(parts.clients().iter().flat_map(azurerm_clients));
    Ok(blocks)
}

fn azurerm_machine_variables(parts: &Parts<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if parts.has_machine() && parts.size().is_none() {
        blocks.push(variable(azure::VM_SIZE));
    }
    if !parts.clients().is_empty() {
        blocks.push(variable(CLIENT_PREFIX));
    }
    blocks.extend([azure::ADMIN, azure::SSH_KEY, azure::SUBNET, OS_DISK].map(variable));
    let image = "object({ publisher = string, offer = string, sku = string, version = string })";
    let what = "image of the system disk";
    blocks.push(Block::new("variable", &["image"]).raw("type", image).text("description", what));
    blocks
}

/// Returns a resource that begins with how many there are, if more than one may be, and its name.
fn azurerm_named(kind: &str, label: &str, count: Option<usize>, name: &str) -> Block {
    Block::new("resource", &[kind, label])
        .maybe("count", count)
        .raw("name", name)
        .raw("location", var(azure::REGION))
        .raw("resource_group_name", var(azure::RESOURCE_GROUP))
}

fn azurerm_card(card: Block) -> Block {
    let address = Block::new("ip_configuration", &[])
        .text("name", "internal")
        .raw("subnet_id", var(azure::SUBNET))
        .text("private_ip_address_allocation", "Dynamic");
    card.block(address)
}

/// Adds who administers a machine, and its system.
fn azurerm_system(machine: Block) -> Block {
    machine
        .block(
            Block::new("admin_ssh_key", &[])
                .raw("username", var(azure::ADMIN))
                .raw("public_key", var(azure::SSH_KEY)),
        )
        .block(
            // The cache that Azure gives a system disk by itself; the provider wants it stated.
            Block::new("os_disk", &[])
                .text("caching", "ReadWrite")
                .raw("storage_account_type", var(OS_DISK)),
        )
        .block(
            Block::new("source_image_reference", &[])
                .raw("publisher", "var.image.publisher")
                .raw("offer", "var.image.offer")
                .raw("sku", "var.image.sku")
                .raw("version", "var.image.version"),
        )
}

fn azurerm_machine(parts: &Parts<'_>, needs_zone: bool) -> Result<[Block; 2], Refusal> {
    let size = parts.size().map_or(var(azure::VM_SIZE), quote::hcl);
    let card = "azurerm_network_interface";
    let card = azurerm_card(azurerm_named(card, "machine", None, "\"${var.vm_name}-nic\""));
    let machine = "azurerm_linux_virtual_machine";
    let machine = azurerm_named(machine, "machine", None, &var(azure::VM_NAME))
        .raw("size", size)
        .raw("admin_username", var(azure::ADMIN))
        .raw("network_interface_ids", "[azurerm_network_interface.machine.id]")
        .maybe("zone", needs_zone.then(|| var(azure::ZONE)))
        .maybe("disk_controller_type", parts.is_nvme().then(|| quote::hcl("NVMe")));
    let mut machine = azurerm_system(machine);
    if parts.has_ultra()? {
        machine = machine
            .block(Block::new("additional_capabilities", &[]).raw("ultra_ssd_enabled", true));
    }
    Ok([card, machine])
}

/// Returns the machines that mount the network volumes.
fn azurerm_clients(client: &ClientPart<'_>) -> [Block; 2] {
    let label = format!("client_{}", identifier(&client.slug));
    let count = Some(client.count);
    let name = format!("${{var.client_prefix}}-{}-${{count.index + 1}}", client.slug);
    let card = "azurerm_network_interface";
    let card = azurerm_card(azurerm_named(card, &label, count, &format!("\"{name}-nic\"")));
    let machine = "azurerm_linux_virtual_machine";
    let machine = azurerm_named(machine, &label, count, &format!("\"{name}\""))
        .raw("size", quote::hcl(client.size))
        .raw("admin_username", var(azure::ADMIN))
        .raw(
            "network_interface_ids",
            format!("[azurerm_network_interface.{label}[count.index].id]"),
        );
    [card, azurerm_system(machine)]
}

fn azurerm_disks(
    volume: &DiskVolume<'_>,
    machine: &str,
    needs_zone: bool,
) -> Result<[Block; 2], Refusal> {
    let bought = volume.bought()?;
    let id = identifier(&volume.slug);
    let disks = Block::new("resource", &["azurerm_managed_disk", &id])
        .raw("count", volume.n_disks())
        .raw("name", format!("\"${{var.vm_name}}-{}-${{count.index + 1}}\"", volume.slug))
        .raw("location", var(azure::REGION))
        .raw("resource_group_name", var(azure::RESOURCE_GROUP))
        .text("storage_account_type", bought.product)
        .text("create_option", "Empty")
        .raw("disk_size_gb", bought.size_gib)
        .maybe("disk_iops_read_write", bought.iops)
        .maybe("disk_mbps_read_write", mb_s(&bought))
        .maybe("on_demand_bursting_enabled", bought.bursts_on_demand.then_some(true))
        .maybe("performance_plus_enabled", bought.has_performance_plus.then_some(true))
        .maybe("zone", needs_zone.then(|| var(azure::ZONE)));
    let attachment = Block::new("resource", &["azurerm_virtual_machine_data_disk_attachment", &id])
        .raw("count", volume.n_disks())
        .raw("managed_disk_id", format!("azurerm_managed_disk.{id}[count.index].id"))
        .raw("virtual_machine_id", machine)
        .raw("lun", format!("{} + count.index", volume.first_lun))
        .text("caching", caching(volume.disk().cache));
    Ok([disks, attachment])
}

fn azurerm_networks(parts: &Parts<'_>) -> Vec<Block> {
    if parts.networks.is_empty() {
        return Vec::new();
    }
    let placed = |block: Block| {
        block
            .raw("location", var(azure::REGION))
            .raw("resource_group_name", var(azure::RESOURCE_GROUP))
    };
    let account = Block::new("resource", &["azurerm_netapp_account", "account"]);
    let mut blocks = vec![
        variable(azure::ACCOUNT),
        variable(azure::NETAPP_SUBNET),
        placed(account.raw("name", var(azure::ACCOUNT))),
    ];
    let (pools, places) = parts.pools();
    let account = "azurerm_netapp_account.account.name";
    for pool in &pools {
        let block = Block::new("resource", &["azurerm_netapp_pool", &identifier(&pool.slug)]);
        blocks.push(
            placed(block.text("name", &pool.slug))
                .raw("account_name", account)
                .text("service_level", &pool.level)
                .raw("size_in_tb", pool.size_tib())
                .text("qos_type", if pool.is_manual { "Manual" } else { "Auto" })
                .maybe("custom_throughput_mibps", pool.throughput_mib_s),
        );
    }
    for (network, place) in parts.networks.iter().zip(places) {
        let pool = &pools[place];
        let block = Block::new("resource", &["azurerm_netapp_volume", &identifier(&network.slug)]);
        let is_large = network.volume.build.is_large;
        blocks.push(
            placed(block.text("name", &network.slug))
                .raw("account_name", account)
                .raw("pool_name", format!("azurerm_netapp_pool.{}.name", identifier(&pool.slug)))
                .text("volume_path", &network.slug)
                .text("service_level", &pool.level)
                .raw("subnet_id", var(azure::NETAPP_SUBNET))
                .raw("protocols", "[\"NFSv3\"]")
                .raw("storage_quota_in_gb", network.quota_gib())
                .maybe("throughput_in_mibps", network.assigned_mib_s(pool))
                .maybe("large_volume_enabled", is_large.then_some(true)),
        );
    }
    blocks
}

fn amazon(parts: &Parts<'_>) -> Result<Vec<Block>, Refusal> {
    aws::must_have_devices(parts)?;
    let mut blocks = vec![
        provider("aws", "hashicorp/aws"),
        or_given(aws::REGION, parts.design.region.as_deref()),
        Block::new("provider", &["aws"]).raw("region", var(aws::REGION)),
    ];
    if parts.has_disks_or_machine() {
        blocks.insert(2, variable(aws::ZONE));
    }
    if parts.makes_machines() {
        blocks.extend([aws::AMI, aws::KEY, aws::SUBNET].map(variable));
    }
    if !parts.clients().is_empty() {
        blocks.push(variable(CLIENT_PREFIX));
    }
    let machine = if parts.has_machine() {
        if parts.size().is_none() {
            blocks.push(variable(aws::TYPE));
        }
        blocks.push(
            Block::new("resource", &["aws_instance", "machine"])
                .raw("ami", var(aws::AMI))
                .raw("instance_type", parts.size().map_or(var(aws::TYPE), quote::hcl))
                .raw("key_name", var(aws::KEY))
                .raw("subnet_id", var(aws::SUBNET))
                .raw("availability_zone", var(aws::ZONE))
                .maybe("ebs_optimized", parts.is_ebs_optimized().then_some(true)),
        );
        "aws_instance.machine.id".to_owned()
    } else {
        if parts.n_attached() > 0 {
            blocks.push(variable(aws::INSTANCE));
        }
        var(aws::INSTANCE)
    };
    for volume in parts.attached() {
        let bought = volume.bought()?;
        let id = identifier(&volume.slug);
        let name = format!("{{ Name = \"{}-${{count.index + 1}}\" }}", volume.slug);
        blocks.push(
            Block::new("resource", &["aws_ebs_volume", &id])
                .raw("count", volume.n_disks())
                .raw("availability_zone", var(aws::ZONE))
                .text("type", bought.product)
                .raw("size", bought.size_gib)
                .maybe("iops", bought.iops)
                .maybe("throughput", bought.bytes_per_s.map(|per_s| per_s.div_ceil(1 << 20)))
                .raw("tags", name),
        );
        let names = volume.names().map(|(_, lun)| quote::hcl(&aws::device(lun)));
        let names = names.collect::<Vec<_>>().join(", ");
        blocks.push(
            Block::new("resource", &["aws_volume_attachment", &id])
                .raw("count", volume.n_disks())
                .raw("device_name", format!("[{names}][count.index]"))
                .raw("volume_id", format!("aws_ebs_volume.{id}[count.index].id"))
                .raw("instance_id", &machine),
        );
        // The machine's own list of disks shows them by these.
        blocks.push(
            Block::new("output", &[&id])
                .raw("value", format!("aws_ebs_volume.{id}[*].id"))
                .text("description", &format!("volumes of {}", volume.volume.mount)),
        );
    }
    blocks.extend(fsx::blocks(parts));
    Ok(blocks)
}

/// Returns the provider, and the variables of machines and disks.
fn google_head(parts: &Parts<'_>) -> Vec<Block> {
    let mut zone = variable(gcp::ZONE);
    if let Some(region) = &parts.design.region {
        zone = zone.block(
            Block::new("validation", &[])
                .raw(
                    "condition",
                    format!("startswith(var.zone, {})", quote::hcl(&format!("{region}-"))),
                )
                .text("error_message", &format!("the design is for {region}")),
        );
    }
    let has_zone = parts.has_disks_or_machine() || parts.makes_machines();
    let mut blocks = vec![provider("google", "hashicorp/google"), variable(gcp::PROJECT)];
    if has_zone {
        blocks.push(zone);
    }
    if parts.has_disks_or_machine() {
        blocks.push(variable(gcp::VM_NAME));
    }
    blocks.push(
        Block::new("provider", &["google"])
            .raw("project", var(gcp::PROJECT))
            .maybe("zone", has_zone.then(|| var(gcp::ZONE))),
    );
    if parts.makes_machines() {
        blocks.extend([gcp::IMAGE, gcp::BOOT_DISK, gcp::SUBNET].map(variable));
    }
    if !parts.clients().is_empty() {
        blocks.push(variable(CLIENT_PREFIX));
    }
    blocks
}

fn google(parts: &Parts<'_>) -> Result<Vec<Block>, Refusal> {
    let mut blocks = google_head(parts);
    let machine = if parts.has_machine() {
        if parts.size().is_none() {
            blocks.push(variable(gcp::MACHINE_TYPE));
        }
        let image = Block::new("initialize_params", &[]);
        let image = image.raw("image", var(gcp::IMAGE)).raw("type", var(gcp::BOOT_DISK));
        // Disks that are attached by resources of their own are not the machine's to detach.
        let lifecycle = Block::new("lifecycle", &[]).raw("ignore_changes", "[attached_disk]");
        blocks.push(
            Block::new("resource", &["google_compute_instance", "machine"])
                .raw("name", var(gcp::VM_NAME))
                .raw("machine_type", parts.size().map_or(var(gcp::MACHINE_TYPE), quote::hcl))
                .raw("zone", var(gcp::ZONE))
                .block(Block::new("boot_disk", &[]).block(image))
                .block(Block::new("network_interface", &[]).raw("subnetwork", var(gcp::SUBNET)))
                .block(lifecycle),
        );
        "google_compute_instance.machine.id".to_owned()
    } else {
        var(gcp::VM_NAME)
    };
    for volume in parts.attached() {
        let bought = volume.bought()?;
        let id = identifier(&volume.slug);
        let numbered = |prefix: &str| format!("\"{prefix}{}-${{count.index + 1}}\"", volume.slug);
        blocks.push(
            Block::new("resource", &["google_compute_disk", &id])
                .raw("count", volume.n_disks())
                .raw("name", numbered("${var.vm_name}-"))
                .raw("zone", var(gcp::ZONE))
                .text("type", bought.product)
                .raw("size", bought.size_gib)
                .maybe("provisioned_iops", bought.iops)
                .maybe(
                    "provisioned_throughput",
                    bought.bytes_per_s.map(|per_s| per_s.div_ceil(1 << 20)),
                ),
        );
        blocks.push(
            Block::new("resource", &["google_compute_attached_disk", &id])
                .raw("count", volume.n_disks())
                .raw("disk", format!("google_compute_disk.{id}[count.index].id"))
                .raw("instance", &machine)
                .raw("device_name", numbered("")),
        );
    }
    blocks.extend(netapp_volumes::blocks(parts));
    Ok(blocks)
}

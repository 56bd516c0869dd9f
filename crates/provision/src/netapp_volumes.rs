//! Google Cloud NetApp Volumes: pools, their volumes, and the machines that mount these.
//!
//! Names of options: reference of `gcloud netapp`, 2025; arguments of Terraform:
//! `google_netapp_storage_pool` and `google_netapp_volume`.

use std::fmt::Write as _;

use crate::hcl::{Block, identifier, or_given, var, variable};
use crate::parts::{ClientPart, Network, Parts, PoolPart};
use crate::quote;
use crate::variable::{
    CLIENT_PREFIX, GCE_BOOT_DISK as BOOT_DISK, GCE_IMAGE as IMAGE, GCE_SUBNET as SUBNET,
    GCE_ZONE as ZONE, Variable,
};

pub(crate) const REGION: Variable = Variable::new("region", "region of the volumes");
pub(crate) const NETWORK: Variable =
    Variable::new("network", "VPC network that the volumes are reached from");
pub(crate) const ADDRESSES: Variable = Variable::new(
    "client_addresses",
    "range of addresses that may mount the volumes, such as 10.0.0.0/24",
);

/// Returns a pool's level as the API calls it: `STANDARD`.
fn level(parts: &Parts<'_>, pool: &PoolPart) -> String {
    parts.own_level(pool).to_uppercase()
}

/// Returns the lines of a shell script that ask for its variables.
pub(crate) fn variables(parts: &Parts<'_>) -> String {
    if parts.networks.is_empty() {
        return String::new();
    }
    let mut lines = match &parts.design.region {
        Some(region) => REGION.with_default(region),
        None => REGION.demanded(),
    };
    lines.push_str(&[NETWORK, ADDRESSES].map(Variable::demanded).concat());
    if !parts.clients().is_empty() {
        lines.push_str(&CLIENT_PREFIX.demanded());
    }
    lines
}

/// Returns the commands that make pools, volumes and the machines that mount them.
pub(crate) fn cli(parts: &Parts<'_>) -> String {
    let mut text = String::new();
    if parts.networks.is_empty() {
        return text;
    }
    let of = "--project \"$PROJECT\" --location \"$REGION\"";
    let (pools, places) = parts.pools();
    for pool in &pools {
        let _ = write!(
            text,
            "\n# {slug}: {}\ngcloud netapp storage-pools create {slug} {of} \\\n    \
             --service-level {} --capacity {} --network \"name=$NETWORK\"\n",
            quote::comment(&pool.level),
            level(parts, pool).to_lowercase(),
            pool.size_gib(),
            slug = pool.slug,
        );
    }
    for (network, place) in parts.networks.iter().zip(places) {
        let large = if network.volume.build.is_large { " --large-capacity true" } else { "" };
        let _ = write!(
            text,
            "\n# {}\ngcloud netapp volumes create {slug} {of} \\\n    --storage-pool {} \
             --capacity {} --share-name {slug} --protocols nfsv3{large} \\\n    --export-policy \
             \"allowed-clients=$CLIENT_ADDRESSES,access-type=READ_WRITE,has-root-access=true,\
             nfsv3=true\"\n",
            quote::comment(&network.volume.mount),
            pools[place].slug,
            network.quota_gib(),
            slug = network.slug,
        );
    }
    for client in parts.clients() {
        text.push_str(&cli_clients(&client));
    }
    let _ = write!(
        text,
        "\n# What is there now; the volumes are mounted from the address before the colon:\n\
         gcloud netapp volumes list {of} \\\n    \
         --format 'table(name.basename(),capacityGib,mountOptions[0].exportFull)'\n"
    );
    text
}

fn cli_clients(client: &ClientPart<'_>) -> String {
    let ClientPart { slug, size, count } = client;
    let numbers: Vec<String> = (1..=*count).map(|number| number.to_string()).collect();
    format!(
        "\n# {count} x {}, to mount the volumes on\nfor number in {}; do\n    \
         gcloud compute instances create \"$CLIENT_PREFIX-{slug}-$number\" --project \"$PROJECT\" \
         \\\n        --zone \"$ZONE\" --machine-type {} --image \"$IMAGE\" \\\n        \
         --boot-disk-type \"$BOOT_DISK_TYPE\" --subnet \"$SUBNETWORK\" --no-address\ndone\n",
        quote::comment(size),
        numbers.join(" "),
        quote::shell(size),
    )
}

/// Returns the same for Terraform, with its variables but those of machines.
pub(crate) fn blocks(parts: &Parts<'_>) -> Vec<Block> {
    if parts.networks.is_empty() {
        return Vec::new();
    }
    let region = or_given(REGION, parts.design.region.as_deref());
    let mut blocks = vec![region, variable(NETWORK), variable(ADDRESSES)];
    let network = Block::new("data", &["google_compute_network", "network"]);
    blocks.push(network.raw("name", var(NETWORK)));
    let (pools, places) = parts.pools();
    for pool in &pools {
        blocks.push(
            Block::new("resource", &["google_netapp_storage_pool", &identifier(&pool.slug)])
                .text("name", &pool.slug)
                .raw("location", var(REGION))
                .text("service_level", &level(parts, pool))
                .raw("capacity_gib", pool.size_gib())
                .raw("network", "data.google_compute_network.network.id"),
        );
    }
    for (network, place) in parts.networks.iter().zip(places) {
        blocks.push(volume(network, &pools[place]));
    }
    blocks.extend(parts.clients().iter().map(clients));
    blocks
}

fn volume(network: &Network<'_>, pool: &PoolPart) -> Block {
    let is_large = network.volume.build.is_large;
    let pool = identifier(&pool.slug);
    let rule = Block::new("rules", &[])
        .raw("allowed_clients", var(ADDRESSES))
        .text("access_type", "READ_WRITE")
        .text("has_root_access", "true")
        .raw("nfsv3", true);
    Block::new("resource", &["google_netapp_volume", &identifier(&network.slug)])
        .text("name", &network.slug)
        .raw("location", var(REGION))
        .raw("storage_pool", format!("google_netapp_storage_pool.{pool}.name"))
        .raw("capacity_gib", network.quota_gib())
        .text("share_name", &network.slug)
        .raw("protocols", "[\"NFSV3\"]")
        .maybe("large_capacity", is_large.then_some(true))
        .block(Block::new("export_policy", &[]).block(rule))
}

fn clients(client: &ClientPart<'_>) -> Block {
    let label = format!("client_{}", identifier(&client.slug));
    let image = Block::new("initialize_params", &[]);
    let image = image.raw("image", var(IMAGE)).raw("type", var(BOOT_DISK));
    Block::new("resource", &["google_compute_instance", &label])
        .raw("count", client.count)
        .raw("name", format!("\"${{var.client_prefix}}-{}-${{count.index + 1}}\"", client.slug))
        .raw("machine_type", quote::hcl(client.size))
        .raw("zone", var(ZONE))
        .block(Block::new("boot_disk", &[]).block(image))
        .block(Block::new("network_interface", &[]).raw("subnetwork", var(SUBNET)))
}

//! Amazon FSx for NetApp ONTAP: file systems, their volumes, and the machines that mount these.
//!
//! Names of options: user guide of FSx for ONTAP and reference of its API, 2025; arguments of
//! Terraform: `aws_fsx_ontap_file_system` and what belongs to it.

use crate::hcl::{Block, identifier, var, variable};
use crate::parts::{ClientPart, Network, Parts, PoolPart};
use crate::quote;
use crate::variable::{AMI, CLIENT_PREFIX, EC2_SUBNET as SUBNET, KEY, Variable};

pub(crate) const SUBNETS: Variable = Variable::new(
    "fsx_subnet_ids",
    "subnet of the file systems; for Multi-AZ two with a blank between, the preferred one first",
);
pub(crate) const SECURITY_GROUP: Variable = Variable::new(
    "fsx_security_group_id",
    "security group of the file systems, which lets NFS through from the machines",
);

/// Returns how the file servers of a level are deployed, as the API calls it: `SINGLE_AZ_1`.
fn deployment(parts: &Parts<'_>, pool: &PoolPart) -> String {
    parts.own_level(pool).to_uppercase().replace('-', "_").replace("GEN", "")
}

/// Returns the volumes of a pool.
fn volumes_of<'p, 'd>(parts: &'p Parts<'d>, places: &[usize], pool: usize) -> Vec<&'p Network<'d>> {
    let volumes = parts.networks.iter().zip(places);
    volumes.filter(|(_, place)| **place == pool).map(|(network, _)| network).collect()
}

fn is_large(network: &Network<'_>) -> bool {
    network.volume.build.is_large
}

/// Waits for what is being made; the API has no command for that.
const AWAIT: &str = "
# Repeats a command that prints a state until it is the one that is waited for.
await() {
    wanted=$1
    shift
    while :; do
        state=$(\"$@\")
        case $state in
            \"$wanted\") return ;;
            FAILED | MISCONFIGURED) echo \"$* says $state\" >&2; exit 1 ;;
        esac
        sleep 30
    done
}
";

/// Returns the variables of a shell script.
pub(crate) fn variables(parts: &Parts<'_>) -> Vec<Variable> {
    if parts.networks.is_empty() {
        return Vec::new();
    }
    let mut all = vec![SUBNETS, SECURITY_GROUP];
    if !parts.clients().is_empty() {
        all.push(CLIENT_PREFIX);
    }
    all
}

/// Returns the commands that make file systems, volumes and the machines that mount them.
pub(crate) fn cli(parts: &Parts<'_>) -> String {
    if parts.networks.is_empty() {
        return String::new();
    }
    let (pools, places) = parts.pools();
    let mut text = AWAIT.to_owned();
    for (idx, pool) in pools.iter().enumerate() {
        text.push_str(&cli_file_system(parts, pool));
        for network in volumes_of(parts, &places, idx) {
            text.push_str(&cli_volume(network));
        }
    }
    for client in parts.clients() {
        text.push_str(&cli_clients(&client));
    }
    text.push_str(
        "\n# What is there now; the volumes are mounted from the address:\n\
         aws fsx describe-volumes --region \"$REGION\" --query \\\n    \
         'Volumes[].{name:Name,state:Lifecycle,path:OntapConfiguration.JunctionPath}' \
         --output table\n\
         aws fsx describe-storage-virtual-machines --region \"$REGION\" --query \\\n    \
         'StorageVirtualMachines[].{name:Name,address:Endpoints.Nfs.DNSName}' --output table\n",
    );
    text
}

fn cli_file_system(parts: &Parts<'_>, pool: &PoolPart) -> String {
    let server = pool.file_server.map_or(String::new(), |server| {
        format!(
            ",HAPairs=1,ThroughputCapacityPerHAPair={},\\\nDiskIopsConfiguration={{Mode=\
             USER_PROVISIONED,Iops={}}}",
            server.throughput_mb_s, server.iops
        )
    });
    let (slug, size_gib) = (&pool.slug, pool.size_gib());
    format!(
        "\n# {slug}: {}\n\
         FILE_SYSTEM_ID=$(aws fsx create-file-system --region \"$REGION\" --file-system-type ONTAP \
         \\\n    --storage-type SSD --storage-capacity {size_gib} --subnet-ids $FSX_SUBNET_IDS \
         \\\n    --security-group-ids \"$FSX_SECURITY_GROUP_ID\" --tags Key=Name,Value={slug} \
         \\\n    --ontap-configuration \\\n\
         \"DeploymentType={},PreferredSubnetId=${{FSX_SUBNET_IDS%% *}}{server}\" \\\n    \
         --query FileSystem.FileSystemId --output text)\n\
         await AVAILABLE aws fsx describe-file-systems --region \"$REGION\" \\\n    \
         --file-system-ids \"$FILE_SYSTEM_ID\" --query 'FileSystems[0].Lifecycle' --output text\n\
         SVM_ID=$(aws fsx create-storage-virtual-machine --region \"$REGION\" --name {slug} \
         \\\n    \
         --file-system-id \"$FILE_SYSTEM_ID\" --root-volume-security-style UNIX \\\n    \
         --query StorageVirtualMachine.StorageVirtualMachineId --output text)\n\
         await CREATED aws fsx describe-storage-virtual-machines --region \"$REGION\" \\\n    \
         --storage-virtual-machine-ids \"$SVM_ID\" \\\n    \
         --query 'StorageVirtualMachines[0].Lifecycle' --output text\n",
        quote::comment(&pool.level),
        deployment(parts, pool),
    )
}

/// All of a volume stays on SSD, where the design counts on it, and is not made smaller.
fn cli_volume(network: &Network<'_>) -> String {
    let style = if is_large(network) { ",VolumeStyle=FLEXGROUP" } else { "" };
    format!(
        "# {}\naws fsx create-volume --region \"$REGION\" --volume-type ONTAP --name {} \\\n    \
         --ontap-configuration \\\n\
         \"StorageVirtualMachineId=$SVM_ID,JunctionPath=/{},SizeInMegabytes={},\\\n\
         StorageEfficiencyEnabled=false,TieringPolicy={{Name=NONE}}{style}\"\n",
        quote::comment(&network.volume.mount),
        identifier(&network.slug),
        network.slug,
        network.quota_gib() << 10,
    )
}

fn cli_clients(client: &ClientPart<'_>) -> String {
    let ClientPart { slug, size, count } = client;
    format!(
        "\n# {count} x {}, to mount the volumes on\n\
         aws ec2 run-instances --region \"$REGION\" --count {count} --instance-type {} \\\n    \
         --image-id \"$AMI_ID\" --key-name \"$KEY_NAME\" --subnet-id \"$SUBNET_ID\" \\\n    \
         --tag-specifications \"ResourceType=instance,Tags=[{{Key=Name,\
         Value=$CLIENT_PREFIX-{slug}}}]\" \\\n    \
         --query 'Instances[].InstanceId' --output text\n",
        quote::comment(size),
        quote::shell(size),
    )
}

/// Returns the same for Terraform, with its variables but those of machines.
pub(crate) fn blocks(parts: &Parts<'_>) -> Vec<Block> {
    if parts.networks.is_empty() {
        return Vec::new();
    }
    let list = Block::new("variable", &[SUBNETS.name]).raw("type", "list(string)").text(
        "description",
        "subnet of the file systems; for Multi-AZ two, the preferred one first",
    );
    let mut blocks = vec![list, variable(SECURITY_GROUP)];
    let (pools, places) = parts.pools();
    for (idx, pool) in pools.iter().enumerate() {
        let id = identifier(&pool.slug);
        blocks.extend(file_system(parts, pool, &id));
        for network in volumes_of(parts, &places, idx) {
            blocks.push(volume(network, &id));
        }
    }
    blocks.extend(parts.clients().iter().map(clients));
    blocks
}

fn file_system(parts: &Parts<'_>, pool: &PoolPart, id: &str) -> [Block; 3] {
    let mut made = Block::new("resource", &["aws_fsx_ontap_file_system", id])
        .text("deployment_type", &deployment(parts, pool))
        .raw("storage_capacity", pool.size_gib())
        .raw("subnet_ids", var(SUBNETS))
        .raw("preferred_subnet_id", format!("{}[0]", var(SUBNETS)))
        .raw("security_group_ids", format!("[{}]", var(SECURITY_GROUP)))
        .raw("tags", format!("{{ Name = {} }}", quote::hcl(&pool.slug)));
    if let Some(server) = pool.file_server {
        made = made
            .raw("ha_pairs", 1)
            .raw("throughput_capacity_per_ha_pair", server.throughput_mb_s)
            .block(
                Block::new("disk_iops_configuration", &[])
                    .text("mode", "USER_PROVISIONED")
                    .raw("iops", server.iops),
            );
    }
    let machine = Block::new("resource", &["aws_fsx_ontap_storage_virtual_machine", id])
        .raw("file_system_id", format!("aws_fsx_ontap_file_system.{id}.id"))
        .text("name", &pool.slug)
        .text("root_volume_security_style", "UNIX");
    let address = Block::new("output", &[&format!("{id}_address")])
        .raw(
            "value",
            format!("aws_fsx_ontap_storage_virtual_machine.{id}.endpoints[0].nfs[0].dns_name"),
        )
        .text("description", "address that the volumes are mounted from");
    [made, machine, address]
}

fn volume(network: &Network<'_>, pool: &str) -> Block {
    let style = if is_large(network) { "FLEXGROUP" } else { "FLEXVOL" };
    Block::new("resource", &["aws_fsx_ontap_volume", &identifier(&network.slug)])
        .raw(
            "storage_virtual_machine_id",
            format!("aws_fsx_ontap_storage_virtual_machine.{pool}.id"),
        )
        .text("name", &identifier(&network.slug))
        .text("junction_path", &format!("/{}", network.slug))
        .raw("size_in_megabytes", network.quota_gib() << 10)
        .raw("storage_efficiency_enabled", false)
        .text("volume_style", style)
        .block(Block::new("tiering_policy", &[]).text("name", "NONE"))
}

fn clients(client: &ClientPart<'_>) -> Block {
    let label = format!("client_{}", identifier(&client.slug));
    let name = format!("\"${{var.client_prefix}}-{}-${{count.index + 1}}\"", client.slug);
    Block::new("resource", &["aws_instance", &label])
        .raw("count", client.count)
        .raw("ami", var(AMI))
        .raw("instance_type", quote::hcl(client.size))
        .raw("key_name", var(KEY))
        .raw("subnet_id", var(SUBNET))
        .raw("tags", format!("{{ Name = {name} }}"))
}

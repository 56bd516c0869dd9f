//! Azure: a Bicep template, and commands of its CLI.

use std::fmt::Write as _;

use volume::CacheMode;

use crate::form::{Form, Refusal};
use crate::parts::{Bought, ClientPart, DiskVolume, Parts};
use crate::quote;
use crate::variable::{CLIENT_PREFIX, Variable, script_head};

/// Megabytes of Azure's disks are of 10^6 bytes (REST reference of disks: "MBps means millions of
/// bytes per second").
const MB: u64 = 1_000_000;

pub(crate) const VM_NAME: Variable = Variable::new("vm_name", "name of the machine to make");
pub(crate) const VM_SIZE: Variable =
    Variable::new("vm_size", "size of the machine, of which the design has figures only");
pub(crate) const ADMIN: Variable = Variable::new("admin_username", "who administers the machine");
pub(crate) const SSH_KEY: Variable =
    Variable::new("ssh_public_key", "public SSH key of the administrator, its text");
pub(crate) const SUBNET: Variable =
    Variable::new("subnet_id", "resource id of the subnet that the machine is in");
pub(crate) const NETAPP_SUBNET: Variable =
    Variable::new("netapp_subnet_id", "resource id of a subnet delegated to Azure NetApp Files");
pub(crate) const REGION: Variable = Variable::new("region", "region to build in");
pub(crate) const ZONE: Variable =
    Variable::new("zone", "availability zone, such as 1: disks of these types are of one");
pub(crate) const RESOURCE_GROUP: Variable =
    Variable::new("resource_group", "resource group to build in, which must be there");
const IMAGE: Variable =
    Variable::new("image", "image of the system disk, as az vm image list shows it");
const VNET: Variable = Variable::new("netapp_vnet", "virtual network of that subnet");
pub(crate) const ACCOUNT: Variable =
    Variable::new("netapp_account", "name of the NetApp account to make");

/// Returns what a cache mode is called.
pub(crate) fn caching(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::None => "None",
        CacheMode::ReadOnly => "ReadOnly",
        CacheMode::ReadWrite => "ReadWrite",
    }
}

/// Returns the throughput that is chosen, MB/s.
pub(crate) fn mb_s(bought: &Bought<'_>) -> Option<u64> {
    bought.bytes_per_s.map(|per_s| per_s.div_ceil(MB))
}

/// Refuses a design of which there is nothing to build.
pub(crate) fn must_build(parts: &Parts<'_>) -> Result<(), Refusal> {
    if parts.n_attached() == 0 && parts.networks.is_empty() && !parts.has_machine() {
        return Err(Refusal::Nothing { what: "machine, and no disk or volume that is bought" });
    }
    Ok(())
}

/// Prints a Bicep template.
pub(crate) fn bicep(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_build(parts)?;
    let mut text = format!(
        "// {}\n// {}\n\n// To be filled in.\n",
        quote::comment(&parts.title(Form::Bicep)),
        Form::Bicep.checked()
    );
    let needs_zone = parts.needs_zone()?;
    let region = parts.design.region.as_deref();
    let region = region.map_or(String::new(), |region| format!(" = {}", quote::bicep(region)));
    let _ = writeln!(text, "@description('{}')\nparam {} string{region}", REGION.what, REGION.name);
    let mut param = |variable: Variable, kind: &str| {
        let _ = writeln!(text, "@description({})", quote::bicep(variable.what));
        let _ = writeln!(text, "param {} {kind}", variable.name);
    };
    if parts.has_machine() || parts.n_attached() > 0 {
        param(VM_NAME, "string");
    }
    if needs_zone {
        param(ZONE, "string");
    }
    if parts.has_machine() && parts.size().is_none() {
        param(VM_SIZE, "string");
    }
    if !parts.clients().is_empty() {
        param(CLIENT_PREFIX, "string");
    }
    if parts.makes_machines() {
        param(ADMIN, "string");
        param(SSH_KEY, "string");
        param(SUBNET, "string");
        let what = "image of the system disk: publisher, offer, sku and version";
        param(Variable::new("image", what), "object");
    }
    if !parts.networks.is_empty() {
        param(ACCOUNT, "string");
        param(NETAPP_SUBNET, "string");
    }
    for volume in parts.attached() {
        text.push_str(&bicep_disks(volume, needs_zone)?);
    }
    if parts.has_machine() {
        text.push_str(&bicep_machine(parts, needs_zone)?);
    } else if parts.n_attached() > 0 {
        text.push_str("\n// The design has no [vm]: attach the disks to a machine of yours.\n");
    }
    text.push_str(&bicep_networks(parts));
    for client in parts.clients() {
        text.push_str(&bicep_clients(&client));
    }
    text.push_str(&after("//", parts));
    Ok(text)
}

fn bicep_disks(volume: &DiskVolume<'_>, needs_zone: bool) -> Result<String, Refusal> {
    let bought = volume.bought()?;
    let mut properties = String::new();
    let mut property = |name: &str, value: String| {
        let _ = writeln!(properties, "    {name}: {value}");
    };
    let plus = if bought.has_performance_plus { "\n      performancePlus: true" } else { "" };
    let sector =
        if bought.is_v2 || bought.is_ultra { "\n      logicalSectorSize: 4096" } else { "" };
    property("creationData", format!("{{\n      createOption: 'Empty'{plus}{sector}\n    }}"));
    property("diskSizeGB", bought.size_gib.to_string());
    if let Some(iops) = bought.iops {
        property("diskIOPSReadWrite", iops.to_string());
    }
    if let Some(mb_s) = mb_s(&bought) {
        property("diskMBpsReadWrite", mb_s.to_string());
    }
    if bought.bursts_on_demand {
        property("burstingEnabled", "true".to_owned());
    }
    let zones = if needs_zone { "  zones: [zone]\n" } else { "" };
    Ok(format!(
        "\n// {mount}: {n} x {sku}\n\
         resource {id} 'Microsoft.Compute/disks@2024-03-02' = [for i in range(0, {n}): {{\n\
         \x20 name: '${{vm_name}}-{slug}-${{i + 1}}'\n  location: region\n{zones}\
         \x20 sku: {{ name: {product} }}\n  properties: {{\n{properties}  }}\n}}]\n",
        mount = quote::comment(&volume.volume.mount),
        n = volume.n_disks(),
        sku = quote::comment(&volume.disk().sku),
        id = bicep_id(&volume.slug),
        slug = volume.slug,
        product = quote::bicep(bought.product),
    ))
}

/// Returns the symbol of a volume's disks.
fn bicep_id(slug: &str) -> String {
    format!("disks_{}", slug.replace('-', "_"))
}

fn bicep_machine(parts: &Parts<'_>, needs_zone: bool) -> Result<String, Refusal> {
    let size = parts.size().map_or(VM_SIZE.name.to_owned(), quote::bicep);
    let mut disks = String::new();
    for volume in parts.attached() {
        let caching = caching(volume.disk().cache);
        for idx in 0..volume.n_disks() {
            let _ = write!(
                disks,
                "        {{\n          lun: {}\n          createOption: 'Attach'\n          \
                 caching: '{caching}'\n          managedDisk: {{ id: {}[{idx}].id }}\n        }}\n",
                volume.first_lun + idx,
                bicep_id(&volume.slug),
            );
        }
    }
    let zones = if needs_zone { "  zones: [zone]\n" } else { "" };
    let ultra = if parts.has_ultra()? {
        "    additionalCapabilities: { ultraSSDEnabled: true }\n"
    } else {
        ""
    };
    let nvme = if parts.is_nvme() { "      diskControllerType: 'NVMe'\n" } else { "" };
    let system = bicep_system(VM_NAME.name);
    Ok(format!(
        "\nresource nic 'Microsoft.Network/networkInterfaces@2024-01-01' = {{\n  \
         name: '${{vm_name}}-nic'\n  location: region\n  properties: {{\n    ipConfigurations: \
         [\n      \
         {{ name: 'internal', properties: {{ subnet: {{ id: subnet_id }} }} }}\n    ]\n  }}\n}}\n\n\
         resource machine 'Microsoft.Compute/virtualMachines@2024-07-01' = {{\n  name: vm_name\n  \
         location: region\n{zones}  properties: {{\n    hardwareProfile: {{ vmSize: {size} \
         }}\n{ultra}    \
         storageProfile: {{\n{nvme}      imageReference: image\n      \
         osDisk: {{ createOption: 'FromImage' }}\n      dataDisks: [\n{disks}      ]\n    \
         }}\n{system}    \
         networkProfile: {{ networkInterfaces: [{{ id: nic.id }}] }}\n  }}\n}}\n"
    ))
}

/// Returns the set-up of a machine's system, for an expression of its name.
fn bicep_system(name: &str) -> String {
    format!(
        "    osProfile: {{\n      computerName: {name}\n      adminUsername: admin_username\n      \
         linuxConfiguration: {{\n        disablePasswordAuthentication: true\n        \
         ssh: {{\n          publicKeys: [\n            {{\n              \
         path: '/home/${{admin_username}}/.ssh/authorized_keys'\n              \
         keyData: ssh_public_key\n            }}\n          ]\n        }}\n      }}\n    }}\n"
    )
}

fn bicep_clients(client: &ClientPart<'_>) -> String {
    let ClientPart { slug, size, count } = client;
    let id = slug.replace('-', "_");
    let name = format!("'${{client_prefix}}-{slug}-${{i + 1}}'");
    format!(
        "\n// {count} x {comment}, to mount the volumes on\n\
         resource nics_{id} 'Microsoft.Network/networkInterfaces@2024-01-01' = \
         [for i in range(0, {count}): {{\n  name: '${{client_prefix}}-{slug}-${{i + 1}}-nic'\n  \
         location: region\n  properties: {{\n    ipConfigurations: [\n      \
         {{ name: 'internal', properties: {{ subnet: {{ id: subnet_id }} }} }}\n    ]\n  \
         }}\n}}]\n\n\
         resource clients_{id} 'Microsoft.Compute/virtualMachines@2024-07-01' = \
         [for i in range(0, {count}): {{\n  name: {name}\n  location: region\n  \
         properties: {{\n    hardwareProfile: {{ vmSize: {size} }}\n    \
         storageProfile: {{\n      imageReference: image\n      \
         osDisk: {{ createOption: 'FromImage' }}\n    }}\n{system}    \
         networkProfile: {{ networkInterfaces: [{{ id: nics_{id}[i].id }}] }}\n  }}\n}}]\n",
        comment = quote::comment(size),
        size = quote::bicep(size),
        system = bicep_system(&name),
    )
}

fn bicep_networks(parts: &Parts<'_>) -> String {
    if parts.networks.is_empty() {
        return String::new();
    }
    let mut text = "\nresource account 'Microsoft.NetApp/netAppAccounts@2024-07-01' = {\n  \
                    name: netapp_account\n  location: region\n}\n"
        .to_owned();
    let (pools, places) = parts.pools();
    for pool in &pools {
        let made_up = if pool.is_made_up { MADE_UP } else { "" };
        let throughput = pool
            .throughput_mib_s
            .map_or(String::new(), |mib_s| format!("    customThroughputMibps: {mib_s}\n"));
        let qos = if pool.is_manual { "Manual" } else { "Auto" };
        let _ = write!(
            text,
            "\n{made_up}resource pool_{id} \
             'Microsoft.NetApp/netAppAccounts/capacityPools@2024-07-01' \
             = {{\n  parent: account\n  name: {name}\n  location: region\n  properties: {{\n    \
             serviceLevel: {level}\n    size: {bytes}\n    qosType: '{qos}'\n{throughput}  \
             }}\n}}\n",
            id = pool.slug.replace('-', "_"),
            name = quote::bicep(&pool.slug),
            level = quote::bicep(&pool.level),
            bytes = pool.size_tib() << 40,
        );
    }
    for (network, place) in parts.networks.iter().zip(places) {
        let pool = &pools[place];
        let assigned = network
            .assigned_mib_s(pool)
            .map_or(String::new(), |mib_s| format!("    throughputMibps: {mib_s}\n"));
        let large = if network.volume.build.is_large { "    isLargeVolume: true\n" } else { "" };
        let _ = write!(
            text,
            "\n// {mount}\nresource volume_{id} \
             'Microsoft.NetApp/netAppAccounts/capacityPools/volumes@2024-07-01' = {{\n  \
             parent: pool_{pool}\n  name: {name}\n  location: region\n  properties: {{\n    \
             creationToken: {name}\n    serviceLevel: {level}\n    usageThreshold: {bytes}\n    \
             subnetId: netapp_subnet_id\n    protocolTypes: ['NFSv3']\n{assigned}{large}  }}\n}}\n",
            mount = quote::comment(&network.volume.mount),
            id = network.slug.replace('-', "_"),
            pool = pool.slug.replace('-', "_"),
            name = quote::bicep(&network.slug),
            level = quote::bicep(&pool.level),
            bytes = network.quota_gib() << 30,
        );
    }
    text
}

/// What stands before a pool that the design does not have.
const MADE_UP: &str =
    "// The design has these volumes in no pool: this one is as large as they are.\n";

/// Prints commands of the Azure CLI.
pub(crate) fn cli(parts: &Parts<'_>) -> Result<String, Refusal> {
    must_build(parts)?;
    let needs_zone = parts.needs_zone()?;
    let mut variables = RESOURCE_GROUP.demanded();
    variables.push_str(&match &parts.design.region {
        Some(region) => REGION.with_default(region),
        None => REGION.demanded(),
    });
    let mut demand = |variable: Variable| variables.push_str(&variable.demanded());
    if parts.has_machine() || parts.n_attached() > 0 {
        demand(VM_NAME);
    }
    if needs_zone {
        demand(ZONE);
    }
    if parts.has_machine() && parts.size().is_none() {
        demand(VM_SIZE);
    }
    if !parts.clients().is_empty() {
        demand(CLIENT_PREFIX);
    }
    if parts.makes_machines() {
        [ADMIN, SSH_KEY, SUBNET, IMAGE].into_iter().for_each(&mut demand);
    }
    if !parts.networks.is_empty() {
        [ACCOUNT, VNET, NETAPP_SUBNET].into_iter().for_each(&mut demand);
    }
    let mut text = script_head(&parts.title(Form::AzureCli), Form::AzureCli.checked(), &variables);
    if parts.has_machine() {
        text.push_str(&cli_machine(parts, needs_zone)?);
    }
    for volume in parts.attached() {
        text.push_str(&cli_disks(volume, needs_zone)?);
    }
    text.push_str(&cli_networks(parts));
    for client in parts.clients() {
        text.push_str(&cli_clients(&client));
    }
    text.push_str("\n# What is there now:\n");
    if parts.n_attached() > 0 {
        text.push_str(
            "az vm show --resource-group \"$RESOURCE_GROUP\" --name \"$VM_NAME\" \\\n    \
             --query \
             'storageProfile.dataDisks[].{lun:lun,name:name,size:diskSizeGb,cache:caching}' \
             --output table\n\
             az disk list --resource-group \"$RESOURCE_GROUP\" \\\n    \
             --query '[].{name:name,sku:sku.name,gib:diskSizeGB,iops:diskIOPSReadWrite,mb_s:\
             diskMBpsReadWrite}' --output table\n",
        );
    }
    if !parts.clients().is_empty() {
        text.push_str(
            "az vm list --resource-group \"$RESOURCE_GROUP\" \\\n    \
             --query \"[?starts_with(name, '$CLIENT_PREFIX-')].\
             {name:name,size:hardwareProfile.vmSize}\" \\\n    --output table\n",
        );
    }
    for pool in parts.pools().0 {
        let _ = write!(
            text,
            "az netappfiles volume list --resource-group \"$RESOURCE_GROUP\" \\\n    \
             --account-name \"$NETAPP_ACCOUNT\" --pool-name {} --output table\n",
            quote::shell(&pool.slug),
        );
    }
    text.push_str(&after("#", parts));
    Ok(text)
}

fn cli_machine(parts: &Parts<'_>, needs_zone: bool) -> Result<String, Refusal> {
    let size = parts.size().map_or("\"$VM_SIZE\"".to_owned(), quote::shell);
    let zone = if needs_zone { " \\\n    --zone \"$ZONE\"" } else { "" };
    let ultra = if parts.has_ultra()? { " \\\n    --ultra-ssd-enabled true" } else { "" };
    let nvme = if parts.is_nvme() { " \\\n    --disk-controller-type NVMe" } else { "" };
    Ok(format!(
        "\naz vm create --resource-group \"$RESOURCE_GROUP\" --location \"$REGION\" \\\n    \
         --name \"$VM_NAME\" --size {size} {CLI_SYSTEM}{zone}{ultra}{nvme}\n"
    ))
}

/// What every machine is made with: its system, who administers it, and where it is reached.
const CLI_SYSTEM: &str = "--image \"$IMAGE\" \\\n    --admin-username \"$ADMIN_USERNAME\" \
                          --ssh-key-values \"$SSH_PUBLIC_KEY\" \\\n    --subnet \
                          \"$SUBNET_ID\" --public-ip-address '' --nsg ''";

fn cli_clients(client: &ClientPart<'_>) -> String {
    let ClientPart { slug, size, count } = client;
    let numbers: Vec<String> = (1..=*count).map(|number| number.to_string()).collect();
    format!(
        "\n# {count} x {}, to mount the volumes on\nfor number in {}; do\n    \
         az vm create --resource-group \"$RESOURCE_GROUP\" --location \"$REGION\" \\\n    \
         --name \"$CLIENT_PREFIX-{slug}-$number\" --size {} {CLI_SYSTEM}\ndone\n",
        quote::comment(size),
        numbers.join(" "),
        quote::shell(size),
    )
}

fn cli_disks(volume: &DiskVolume<'_>, needs_zone: bool) -> Result<String, Refusal> {
    let bought = volume.bought()?;
    let mut options = String::new();
    let mut option = |name: &str, value: String| {
        let _ = write!(options, " \\\n    --{name} {value}");
    };
    if let Some(iops) = bought.iops {
        option("disk-iops-read-write", iops.to_string());
    }
    if let Some(mb_s) = mb_s(&bought) {
        option("disk-mbps-read-write", mb_s.to_string());
    }
    if bought.bursts_on_demand {
        option("enable-bursting", "true".to_owned());
    }
    if bought.has_performance_plus {
        option("performance-plus", "true".to_owned());
    }
    if needs_zone {
        option("zone", "\"$ZONE\"".to_owned());
    }
    let (mount, sku) = (quote::comment(&volume.volume.mount), quote::comment(&volume.disk().sku));
    let n = volume.n_disks();
    let mut text = format!("\n# {mount}: {n} x {sku}\n");
    for (name, lun) in volume.names() {
        let _ = write!(
            text,
            "az disk create --resource-group \"$RESOURCE_GROUP\" --location \"$REGION\" \\\n    \
             --name \"$VM_NAME\"-{name} --sku {product} --size-gb {gib}{options}\n\
             az vm disk attach --resource-group \"$RESOURCE_GROUP\" --vm-name \"$VM_NAME\" \\\n    \
             --name \"$VM_NAME\"-{name} --lun {lun} --caching {caching}\n",
            product = quote::shell(bought.product),
            gib = bought.size_gib,
            caching = caching(volume.disk().cache),
        );
    }
    Ok(text)
}

fn cli_networks(parts: &Parts<'_>) -> String {
    if parts.networks.is_empty() {
        return String::new();
    }
    let of = "--resource-group \"$RESOURCE_GROUP\" --account-name \"$NETAPP_ACCOUNT\"";
    let mut text = "\naz netappfiles account create --resource-group \"$RESOURCE_GROUP\" \\\n    \
                    --location \"$REGION\" --account-name \"$NETAPP_ACCOUNT\"\n"
        .to_owned();
    let (pools, places) = parts.pools();
    for pool in &pools {
        let made_up = if pool.is_made_up { MADE_UP.replace("//", "#") } else { String::new() };
        let qos = if pool.is_manual { "Manual" } else { "Auto" };
        let throughput = pool
            .throughput_mib_s
            .map_or(String::new(), |mib_s| format!(" --custom-throughput-mibps {mib_s}"));
        let _ = write!(
            text,
            "{made_up}az netappfiles pool create {of} --location \"$REGION\" \\\n    --pool-name \
             {} \
             --size {} --service-level {} --qos-type {qos}{throughput}\n",
            quote::shell(&pool.slug),
            pool.size_tib(),
            quote::shell(&pool.level),
        );
    }
    for (network, place) in parts.networks.iter().zip(places) {
        let pool = &pools[place];
        let assigned = network
            .assigned_mib_s(pool)
            .map_or(String::new(), |mib_s| format!(" --throughput-mibps {mib_s}"));
        let large = if network.volume.build.is_large { " --is-large-volume true" } else { "" };
        let name = quote::shell(&network.slug);
        let _ = write!(
            text,
            "# {}\naz netappfiles volume create {of} --location \"$REGION\" \\\n    --pool-name {} \
             --name {name} --file-path {name} --usage-threshold {} --service-level {} \\\n    \
             --protocol-types NFSv3 --vnet \"$NETAPP_VNET\" --subnet \
             \"$NETAPP_SUBNET_ID\"{assigned}{large}\n",
            quote::comment(&network.volume.mount),
            quote::shell(&pool.slug),
            network.quota_gib(),
            quote::shell(&pool.level),
        );
    }
    text
}

/// Returns what follows on the machine, as comments.
pub(crate) fn after(mark: &str, parts: &Parts<'_>) -> String {
    let mut text = String::new();
    let mut say = |line: String| {
        let _ = writeln!(text, "{mark} {line}");
    };
    let where_to = if parts.clients().is_empty() { "on the machine" } else { "on each machine" };
    say(format!("Then, {where_to}:"));
    if !parts.volumes.is_empty() {
        let forms = "`plimsoll provision DESIGN --as mdadm`, then `--as fstab`";
        say(format!("  {forms} (on Windows `--as storage-spaces`)"));
    }
    if !parts.networks.is_empty() {
        say("  `plimsoll provision DESIGN --as nfs`".to_owned());
    }
    if !parts.local().is_empty() {
        let mounts: Vec<String> = parts.local().into_iter().map(quote::comment).collect();
        let mounts = mounts.join(", ");
        say(format!("  the disks of {mounts} are in the machine itself: nothing is attached"));
    }
    if !parts.design.promises.is_empty() {
        say("  `plimsoll provision DESIGN --as job > promised.fio`, `plimsoll run promised.fio`,"
            .to_owned());
        say("  `plimsoll confirm DESIGN --run last`".to_owned());
    }
    text.insert(0, '\n');
    text
}

//! Network volumes: how Linux mounts them.

use std::fmt::Write as _;

use crate::form::{Form, Refusal};
use crate::parts::Parts;
use crate::quote;
use crate::variable::{Variable, script_head};

const SERVER: Variable = Variable::new(
    "nfs_server",
    "address of the volumes, as the mount instructions of the portal have it",
);

/// Prints the mounts.
pub(crate) fn text(parts: &Parts<'_>) -> Result<String, Refusal> {
    if parts.networks.is_empty() {
        return Err(Refusal::Nothing { what: "network volume" });
    }
    let mut variables = SERVER.demanded();
    if parts.networks.len() > 1 {
        variables.push_str("# of one volume, where its own differs:\n");
        for network in &parts.networks {
            let _ = writeln!(variables, ": \"${{{}:=$NFS_SERVER}}\"", server(&network.slug));
        }
    }
    let mut text = script_head(&parts.title(Form::Nfs), Form::Nfs.checked(), &variables);
    let connections = parts.design.clients.iter().map(|client| client.connections).max();
    text.push_str(&slots(parts));
    let nconnect = connections.filter(|n| *n > 1);
    if nconnect.is_some() {
        text.push_str(
            "\n# nconnect needs RHEL 8.3, SLES 12 SP4, Ubuntu 18.04 or newer; the first mount of \
             an \
             address\n# decides for all others of it.\n",
        );
        text.push_str(&unlike(parts));
    }
    text.push_str(ADD);
    let nconnect = nconnect.map_or(String::new(), |n| format!(",nconnect={n}"));
    for network in &parts.networks {
        let mount = &network.volume.mount;
        let transfer = network.backing.transfer_bytes;
        let server = match parts.networks.len() {
            1 => SERVER.upper(),
            _ => server(&network.slug),
        };
        let _ = write!(
            text,
            "\n# {}\nadd \"${server}:/{}\" {} {} \\\n    \
             rw,hard,tcp,vers=3,rsize={transfer},wsize={transfer}{nconnect}\n",
            quote::comment(mount),
            network.slug,
            quote::shell(mount),
            quote::shell(&quote::fstab(mount)),
        );
    }
    text.push_str(ADVICE);
    text.push_str("\n# What is there now: options as the kernel took them, and its connections.\n");
    text.push_str("grep ' nfs ' /proc/mounts\nss -tn | grep -c ':2049' || true\n");
    Ok(text)
}

/// Returns the shell variable with the address of one of several volumes.
fn server(slug: &str) -> String {
    format!("{}_SERVER", slug.to_uppercase().replace('-', "_"))
}

/// What writes a line of /etc/fstab once, and mounts by it.
const ADD: &str = "
add() {
    mkdir -p \"$2\"
    grep -qF \"$1 $3 nfs \" /etc/fstab 2> /dev/null ||
        printf '%s %s nfs %s,_netdev,nofail 0 0\\n' \"$1\" \"$3\" \"$4\" >> /etc/fstab
    mountpoint -q \"$2\" || mount \"$2\"
}
";

/// Returns how many connections each machine has, where they have not all as many.
fn unlike(parts: &Parts<'_>) -> String {
    let clients = &parts.design.clients;
    if clients.windows(2).all(|pair| pair[0].connections == pair[1].connections) {
        return String::new();
    }
    let of = |client: &volume::design::Client| {
        format!("{} on {}", client.connections, quote::comment(&client.name))
    };
    let all: Vec<String> = clients.iter().map(of).collect();
    format!("# The design has another nconnect on some machines: {}.\n", all.join(", "))
}

/// Returns what limits the calls in flight on a connection to what the design counts on.
fn slots(parts: &Parts<'_>) -> String {
    let slots = parts.design.clients.iter().map(|client| client.slots_per_connection).min();
    let Some(slots) = slots else { return String::new() };
    format!(
        "\n# The service takes so many calls at once on a connection; Linux would send up to \
         65,536, \
         which wait there.\n\
         echo 'options sunrpc tcp_max_slot_table_entries={slots}' > /etc/modprobe.d/sunrpc.conf\n\
         if [ -e /proc/sys/sunrpc/tcp_max_slot_table_entries ]; then\n    \
         echo {slots} > /proc/sys/sunrpc/tcp_max_slot_table_entries\nfi\n"
    )
}

/// What helps some loads and is wrong for others.
const ADVICE: &str = "
# Not set, as it depends on the application:
#   nocto,actimeo=600   many opens and look-ups of files that do not change meanwhile: tools and
#                       libraries of a build: two thirds fewer calls. Wrong where several machines
#                       write what others read.
#   read-ahead          newer kernels read 128 KiB ahead; sequential readers gain by 15 x rsize:
#                       /sys/class/bdi/MAJOR:MINOR/read_ahead_kb of the mount
";

//! Hosts in a network of their own: each is a network namespace with an address, a name and a real
//! ssh server. Everything in it ends with the script that uses it.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::apart::{SKIPPED, apart_by};
use crate::common::{Outcome, Sandbox};

/// Where Debian has it.
const SSHD: &str = "/usr/sbin/sshd";

/// What the script is apart from: processes, so that all end with the first one, too.
const APART: [&str; 7] =
    ["--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child"];

/// Makes the network. `/tmp` is empty in it, and a host's name stands for its address.
const NETWORK: &str = r#"
lacks() { echo "no network namespaces here: $1" >&2; exit SKIPPED; }
mount -t proc proc /proc || lacks proc
mount -t tmpfs none /run && mount -t tmpfs none /tmp || lacks tmpfs
mkdir /run/netns /run/sshd
mount --bind lab_hosts /etc/hosts || lacks hosts
ip link set lo up && ip link add lab type bridge || lacks bridge
ip address add 10.77.0.254/24 dev lab
ip link set lab up
host() {
    ip netns add "h$1" && ip link add "v$1" type veth peer name eth0 netns "h$1" || lacks "h$1"
    ip link set "v$1" master lab up
    ip -n "h$1" address add "10.77.0.$1/24" dev eth0
    ip -n "h$1" link set eth0 up
    ip -n "h$1" link set lo up
    ip netns exec "h$1" unshare --uts \
        sh -c 'hostname "$0"; exec SSHD -D -e -f lab_sshd' "$2" 2>"lab_h$1.log" &
}
is_up() {
    n=0
    until ssh-keyscan -T 2 "$1" 2>/dev/null | grep -q ed25519; do
        n=$((n + 1)); [ $n -lt 300 ] || { echo "$1 does not listen" >&2; exit 1; }
        sleep 0.1
    done
}
"#;

/// Runs a script on a host beside those of these names, which it reaches by [`client`]. Says that
/// the test was skipped where there is no sshd, or no right to make namespaces.
pub(crate) fn in_lab(sandbox: &Sandbox, names: &[String], script: &str) -> Option<Outcome> {
    if !Path::new(SSHD).exists() || !rustix::process::geteuid().is_root() {
        testing::skipped!("no {SSHD} that may be started");
        return None;
    }
    let text = |name: &str| sandbox.path(name).to_string_lossy().into_owned();
    for key in ["lab_host_key", "lab_key"] {
        let keygen = ["-q", "-t", "ed25519", "-N", "", "-f", &text(key)];
        let made = Command::new("ssh-keygen").args(keygen).stdin(Stdio::null()).status();
        assert!(made.expect("it comes with sshd").success());
    }
    let config = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PasswordAuthentication no\nPidFile none\n",
        text("lab_host_key"),
        text("lab_key.pub")
    );
    sandbox.write("lab_sshd", config);
    let key = std::fs::read_to_string(sandbox.path("lab_host_key.pub")).expect("just made");
    let (mut hosts, mut known) = ("127.0.0.1 localhost\n".to_owned(), String::new());
    let mut all = NETWORK.replace("SKIPPED", &SKIPPED.to_string()).replace("SSHD", SSHD);
    let mut awaited = String::new();
    for (idx, name) in names.iter().enumerate() {
        let number = idx + 1;
        let written = [
            writeln!(hosts, "10.77.0.{number} {name}"),
            writeln!(known, "{name} {}", key.trim_end()),
            writeln!(all, "host {number} {name}"),
            writeln!(awaited, "is_up {name}"),
        ];
        assert!(written.iter().all(Result::is_ok), "text takes all");
    }
    sandbox.write("lab_hosts", hosts);
    sandbox.write("lab_known", known);
    apart_by(&APART, sandbox, &format!("{all}{awaited}{script}"))
}

/// Returns the command of an ssh client that has the keys.
pub(crate) fn client(sandbox: &Sandbox) -> String {
    let (key, known) = (sandbox.path("lab_key"), sandbox.path("lab_known"));
    format!(
        "ssh -F none -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=yes",
        key.display(),
        known.display()
    )
}

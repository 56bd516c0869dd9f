//! Which hosts a file's runs need, and whether they are reached.

use std::collections::{BTreeMap, BTreeSet};

use plan::Diagnostic;

use super::output::host_labels;
use super::parsed::{Host, Parsed, few};

/// The shell that other hosts are reached by.
const SSH: &str = "ssh";

/// Returns the hosts on which runs do something, in the order of definition.
pub fn used_hosts(parsed: &Parsed) -> Vec<&Host> {
    let labels: BTreeSet<String> = parsed.runs.iter().flat_map(host_labels).collect();
    parsed.hosts.iter().filter(|host| labels.contains(&host.label)).collect()
}

/// Reports that runs need other hosts, and which command calls them; `None` where all are this one.
pub fn remote_finding(parsed: &Parsed) -> Option<Diagnostic> {
    parsed.remote_hosts().next()?;
    let used = used_hosts(parsed);
    let remote: Vec<&Host> = used.into_iter().filter(|host| !host.is_local).collect();
    let labels: Vec<&str> = remote.iter().map(|host| host.label.as_str()).collect();
    let message = format!("the file runs on other hosts: {}", few(&labels));
    let finding = Diagnostic::error("remote-hosts", message)
        .help("`plimsoll vdbench -f FILE` runs it there, over ssh")
        .help("`--all-hosts-local` runs everything on this host");
    Some(remote.first()?.place.of(finding, &parsed.sources))
}

/// Reports the hosts that runs need and that are not reached as they are written, each shell once.
pub fn unreachable_hosts(parsed: &Parsed) -> Vec<Diagnostic> {
    let mut by_shell: BTreeMap<&str, Vec<&Host>> = BTreeMap::new();
    if parsed.remote_hosts().next().is_none() {
        return Vec::new();
    }
    let is_far = |host: &&Host| !host.is_local && host.shell != SSH;
    for host in used_hosts(parsed).into_iter().filter(is_far) {
        by_shell.entry(&host.shell).or_default().push(host);
    }
    let of_shell = |(shell, hosts): (&str, Vec<&Host>)| {
        let labels: Vec<&str> = hosts.iter().map(|host| host.label.as_str()).collect();
        let why = match shell {
            "rsh" => "which is what Vdbench takes where none is written",
            "vdbench" => "whose port takes commands from whoever reaches it",
            _ => "which Vdbench does not know either",
        };
        let message = format!(
            "other hosts are reached by ssh alone, not by `shell={shell}`, {why}: {}",
            few(&labels)
        );
        let finding = Diagnostic::error("no-ssh", message)
            .help("write `shell=ssh` into `hd=default`; `--set shell=ssh` does as much")
            .help("`--all-hosts-local` runs everything on this host");
        hosts[0].place.of(finding, &parsed.sources)
    };
    by_shell.into_iter().map(of_shell).collect()
}

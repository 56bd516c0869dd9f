//! Host definitions, replay groups, and definitions repeated for every host.

use super::findings::{Findings, SourceRange};
use super::head::Head;
use super::known::{HostEntry, Known};
use super::lines::Line;
use super::number_rule::{COUNT, FREE};
use super::params::Param;
use super::parsed::few;
use super::scan::Scan;
use super::section::Meaning::{Begin, Int, Number, Own, Word};
use super::section::Name::{Any, Full};
use super::section::{self, Definition, Section};

type Row = section::Row<HostEntry>;

/// Most hosts that `clients=` may make. Real clusters have a thousandth.
const HOSTS_MAX: usize = 10_000;

pub(super) static SECTION: Section<HostEntry> = Section {
    name: "hd",
    what: "a host definition: where work runs",
    ends: &["rg", "sd", "fsd", "wd", "fwd", "rd"],
    lead: "hd=host1",
    rows: &[
        Row::new(Full("hd"), Begin).doc(
            "name, default or localhost",
            "Begins a host definition.",
            "hd=host1,system=10.0.0.1",
        ),
        Row::new(Full("host"), Begin).doc(
            "(address,name)",
            "The old form of a host definition.",
            "host=(10.0.0.1,host1)",
        ),
        Row::new(Any("system"), Own(FREE, system)).doc(
            "name or address; the label",
            "Where the host is; NAME:PORT where its ssh server listens elsewhere. One that is not \
             this machine is called over ssh; --all-hosts-local runs everything here.",
            "system=10.0.0.1",
        ),
        Row::new(Any("vdbench"), Word(|it, path| it.host.folder = Some(path.to_owned()))).doc(
            "folder",
            "Where Vdbench is installed there. It is not needed: the program is sent.",
            "vdbench=/opt/vdbench/",
        ),
        Row::new(Any("shell"), Word(|it, shell| shell.clone_into(&mut it.host.shell))).doc(
            "rsh, ssh or vdbench; rsh",
            "How the host is reached. Another machine needs shell=ssh here, and a login without a \
             password.",
            "shell=ssh",
        ),
        Row::new(Any("user"), Word(|it, user| it.host.user = Some(user.to_owned()))).doc(
            "name",
            "The user under whom it is reached.",
            "user=bench",
        ),
        Row::new(Any("jvms"), Int(COUNT, HostEntry::set_jvms)).doc(
            "count; 1",
            "Processes on the host, which are threads here: each has its part of the threads of \
             every storage definition; sequential work stays with one. Vdbench starts up to 8 by \
             itself for large rates; those have pages and divide nothing.",
            "hd=localhost,jvms=4",
        ),
        Row::new(Any("clients"), Int(COUNT, |it, n_clients| it.clients = n_clients)).doc(
            "count",
            "Makes so many hosts of one, named host1_cl0, host1_cl1 and so on.",
            "clients=4",
        ),
        Row::new(Any("mount"), Own(FREE, mount)).doc(
            "\"command\"",
            "How rd.mount= mounts there. Nothing is mounted here.",
            "mount=\"mount srv:/e /mnt\"",
        ),
        Row::new(Any("master"), Word(|it, address| it.host.master = Some(address.to_owned()))).doc(
            "address",
            "This host's address, as the other one sees it.",
            "system=10.0.0.1,master=10.0.0.9",
        ),
    ],
};

/// Reads the hosts: without any there is one, this.
pub(super) fn read(scan: &mut Scan<'_>) -> Vec<HostEntry> {
    let read = SECTION.read(scan);
    if scan.is_at_end() && !scan.findings.is_hopeless() {
        scan.end_of_file("definitions behind the general parameters and hosts");
    }
    warn_of_unresolved(&read, &mut scan.findings);
    let mut hosts = read.all;
    if hosts.is_empty() {
        hosts.push(HostEntry { head: Head::default(), ..read.default });
    }
    finish(&mut hosts, scan);
    hosts
}

impl Definition for HostEntry {
    fn begin(default: &Self, head: Head, param: &Param, scan: &mut Scan<'_>) -> Self {
        let words = &param.values.words;
        let mut entry = HostEntry { head, unresolved: Vec::new(), ..default.clone() };
        if entry.head.is_default() {
            return entry;
        }
        if param.key == "host" || words.len() > 1 {
            let message = "`host=(address,label)` is the old form of a host definition";
            let help = "write `hd=label,system=address`";
            scan.findings.warning(param.key_place, "old-parameter", message, help);
        }
        entry.host.system.clone_from(&entry.head.name);
        entry.host.label = words.get(1).unwrap_or(&entry.head.name).clone();
        entry
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    /// How hosts are reached may be set, who they are may not.
    fn is_set(&mut self, row: &section::Row<Self>, _: bool) -> bool {
        !self.head.is_default() && row.key() == "shell"
    }
}

impl HostEntry {
    fn set_jvms(&mut self, jvms: i64) {
        self.host.jvms = jvms.max(1) as u32;
        self.has_jvms = true;
    }
}

fn system(entry: &mut HostEntry, param: &Param, scan: &mut Scan<'_>) {
    let Some(system) = param.word(&mut scan.findings).map(str::to_owned) else { return };
    let name = if scan.is_kind() { without_port(&system) } else { &system };
    if !scan.options.all_hosts_local
        && !system.starts_with("localhost")
        && !scan.loader.host_exists(name)
    {
        unresolved(entry, param, &system, scan);
    }
    entry.host.system = system;
}

/// Returns a host without the port of its ssh server, where one is written.
fn without_port(system: &str) -> &str {
    match system.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => name,
        _ => system,
    }
}

/// Vdbench ends at the first host that it cannot find. The kind mode lists the runs all the same,
/// and names all of them at once.
fn unresolved(entry: &mut HostEntry, param: &Param, system: &str, scan: &mut Scan<'_>) {
    if scan.is_kind() {
        entry.unresolved.push((system.to_owned(), param.place));
        return;
    }
    let message = format!("Host '{system}' does not exist");
    let help = "write an address, or a name that this machine can resolve; with \
         `--all-hosts-local` everything runs on this host";
    scan.findings.error_help(param.place, "unknown-host", message, help);
}

fn warn_of_unresolved(read: &section::Definitions<HostEntry>, findings: &mut Findings) {
    let of_default = read.default.unresolved.iter();
    let mut all = of_default.chain(read.all.iter().flat_map(|entry| &entry.unresolved)).peekable();
    let Some((_, place)) = all.peek().copied() else { return };
    let mut names: Vec<&str> = all.map(|(system, _)| system.as_str()).collect();
    names.dedup();
    let message = format!("this machine cannot resolve {}: Vdbench would end here", few(&names));
    let help = "write an address, or a name that can be resolved";
    findings.warning(*place, "unknown-host", message, help);
}

fn mount(entry: &mut HostEntry, param: &Param, scan: &mut Scan<'_>) {
    if param.word(&mut scan.findings).is_none() {
        return;
    }
    if param.values.words.iter().any(|line| line.split_whitespace().count() < 2) {
        scan.wrong(param, "a mount command with its device and its folder");
    }
    entry.host.mounts.clone_from(&param.values.words);
}

/// Repeats hosts for `clients=`, and checks them.
fn finish(hosts: &mut Vec<HostEntry>, scan: &mut Scan<'_>) {
    let n_clients = |entry: &HostEntry| entry.clients.clamp(1, HOSTS_MAX as i64) as usize;
    if hosts.iter().map(n_clients).sum::<usize>() > HOSTS_MAX {
        scan.findings.too_many(SourceRange::NONE, "hosts", HOSTS_MAX);
        for entry in hosts.iter_mut() {
            entry.clients = 0;
        }
    }
    let mut extra = Vec::new();
    for entry in hosts.iter_mut() {
        let label = entry.host.label.clone();
        if entry.clients > 0 {
            for client in 1..entry.clients {
                let mut other = entry.clone();
                other.host.label = format!("{label}_cl{client}");
                extra.push(other);
            }
            entry.host.label = format!("{label}_cl0");
        }
    }
    hosts.extend(extra);
    for entry in hosts.iter_mut() {
        if let Some(jvms) = scan.options.jvms {
            entry.host.jvms = jvms;
            entry.has_jvms = true;
        }
        let is_this = matches!(entry.host.system.as_str(), "localhost" | "127.0.0.1" | "::1");
        entry.host.is_local = is_this || scan.options.all_hosts_local;
        entry.host.place = entry.head.place;
    }
    for HostEntry { host, head: Head { place, .. }, .. } in hosts {
        if !scan.is_new("hd", &host.label.to_ascii_lowercase()) {
            let message = format!("using duplicate host names: {}", host.label);
            scan.findings.error(*place, "duplicate-name", message);
        }
        if let Some(folder) = host.folder.as_ref().filter(|path| !path.contains(['/', '\\'])) {
            let message =
                format!("'vdbench=' directory name must end with a file separator: {folder}");
            scan.findings.error(*place, "wrong-value", message);
        }
    }
}

/// Returns the positions of the hosts that patterns fit, by label or address; reports a pattern
/// that fits none.
pub(super) fn select(
    patterns: &[String],
    place: SourceRange,
    known: &Known,
    findings: &mut Findings,
) -> Vec<usize> {
    let mut found = Vec::new();
    for pattern in patterns {
        found.extend(known.hosts_of(pattern));
        if found.is_empty() {
            let message = format!("could not find host={pattern}");
            let help = "define it with `hd=`, before the storage definitions";
            findings.error_help(place, "unknown-name", message, help);
            return found;
        }
    }
    found
}

/// Repeats definitions that name `$host` or `#host` for every host.
pub(super) fn replicate(scan: &mut Scan<'_>) {
    let lines = scan.lines_left();
    let is_asked =
        |line: &Line| ["$host", "!host", "#host"].iter().any(|name| line.text.contains(name));
    if scan.is_at_end() || !lines.iter().any(is_asked) {
        return;
    }
    let hosts = &scan.known.hosts;
    let n_hosts = hosts.len().to_string();
    let mut left: Vec<Line> = Vec::new();
    let lines: Vec<Line> =
        lines.iter().map(|line| line.replaced(&[("#hosts", &n_hosts)])).collect();
    let mut start = 0;
    while start < lines.len() {
        let n_more = lines[start + 1..].iter().take_while(|line| !is_start(line)).count();
        let block = &lines[start..=start + n_more];
        start += block.len();
        let is_rd = block[0].text.to_lowercase().starts_with("rd=");
        if is_rd || !is_start(&block[0]) || !block.iter().any(is_asked) {
            left.extend_from_slice(block);
            continue;
        }
        for (idx, entry) in hosts.iter().enumerate() {
            let (label, idx) = (entry.host.label.as_str(), idx.to_string());
            let names = [("$host", label), ("!host", label), ("#host", idx.as_str())];
            left.extend(block.iter().map(|line| line.replaced(&names)));
        }
    }
    scan.restart_with(left);
}

fn is_start(line: &Line) -> bool {
    let key = line.text.split('=').next().unwrap_or_default().to_lowercase();
    matches!(key.as_str(), "sd" | "fsd" | "wd" | "fwd" | "rd")
}

/// A replay group, of which nothing is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    head: Head,
}

pub(super) static GROUPS: Section<Group> = Section {
    name: "rg",
    what: "a replay group: devices of a recorded trace",
    ends: &["wd", "fwd", "sd", "fsd", "rd"],
    lead: "",
    rows: &[
        section::Row::new(Full("rg"), Begin).doc(
            "name",
            "Begins a replay group. Traces of another tool are not replayed.",
            "rg=g1,devices=(1,2)",
        ),
        section::Row::new(Any("devices"), Number(FREE, |_, _| {})).doc(
            "(number,..)",
            "Devices of the trace that belong to the group.",
            "rg=g1,devices=(1,2)",
        ),
    ],
};

impl Definition for Group {
    fn begin(_: &Self, head: Head, param: &Param, scan: &mut Scan<'_>) -> Self {
        if !scan.is_new("rg", &head.name) {
            let message = format!("adding duplicate replay group: {}", head.name);
            scan.findings.error(head.place, "duplicate-name", message);
        }
        scan.refuse_replay(param.key_place);
        Group { head }
    }

    fn head(&mut self) -> &mut Head {
        &mut self.head
    }

    fn is_set(&mut self, _: &section::Row<Self>, _: bool) -> bool {
        false
    }
}

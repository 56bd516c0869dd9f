//! What was found on hosts, judged: what keeps a run from beginning, what makes its result
//! doubtful, and what differs.

use std::collections::BTreeMap;

use units::{format_bytes, format_latency_ns, format_percent_whole, format_rate_mib_s};

use super::facts::{HostFacts, TargetFacts};
use super::state::HostReport;

/// How well a host's clock must be known for a common start, nanoseconds. Above it a run warns,
/// too.
pub const CLOCK_ERROR_NS_MAX: u64 = 5_000_000;

/// Times of day that differ by more, nanoseconds, make logs of hosts hard to compare.
const WALL_OFFSET_NS_MAX: u64 = 1_000_000_000;

/// Share of the processors' time that other programs may use. A limit of ours: less is what a host
/// does by itself.
const BUSY_SHARE_MAX: f64 = 0.1;

/// Share that a hypervisor may give to others.
const STEAL_SHARE_MAX: f64 = 0.02;

/// Open files that a process should have: workers open targets and logs.
const OPEN_FILES_MIN: u64 = 1024;

/// A transfer that reaches less than this share of the median of all is slow.
const SLOW_SHARE: f64 = 0.25;

/// Options of mounts that differ from host to host and say nothing: addresses of clients.
const OWN_OPTIONS: [&str; 2] = ["clientaddr", "addr"];

/// Names that a finding lists.
const NAMES_MAX: usize = 3;

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No agent runs there.
    Unreachable,
    /// The run would not begin, or would fail there.
    Unfit,
    /// It would run, and its result would not be what it seems to be.
    Doubt,
    /// Worth a look.
    Caution,
}

impl Severity {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Unreachable => "unreachable",
            Severity::Unfit => "unfit",
            Severity::Doubt => "doubt",
            Severity::Caution => "caution",
        }
    }
}

/// What is to be said about hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, in one word for programs.
    pub code: &'static str,
    /// The hosts; empty where it is about all of them.
    pub hosts: Vec<String>,
    /// What was found.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// Judges hosts. What is worst comes first.
pub fn judge(reports: &[HostReport]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for report in reports {
        if let Err(reason) = &report.facts {
            findings.push(Finding {
                severity: Severity::Unreachable,
                code: "unreachable",
                hosts: vec![report.name.clone()],
                message: reason.clone(),
                remedy: format!("run `ssh {} true` to see the error", report.name),
            });
        }
    }
    let known: Vec<Known<'_>> = reports
        .iter()
        .filter_map(|report| {
            Some(Known { name: &report.name, report, facts: report.facts.as_ref().ok()? })
        })
        .collect();
    refusals(&known, &mut findings);
    targets(&known, &mut findings);
    clocks(&known, &mut findings);
    machines(&known, &mut findings);
    limits(&known, &mut findings);
    links(&known, &mut findings);
    loads(&known, &mut findings);
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// A host of which the facts are known.
struct Known<'a> {
    name: &'a str,
    report: &'a HostReport,
    facts: &'a HostFacts,
}

/// Returns the hosts by what they have in common, the largest group first; `None` is left out.
fn groups<'a>(
    known: &[Known<'a>],
    key: impl Fn(&Known<'a>) -> Option<String>,
) -> Vec<(String, Vec<&'a str>)> {
    let mut by_key: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for host in known {
        if let Some(key) = key(host) {
            by_key.entry(key).or_default().push(host.name);
        }
    }
    let mut groups: Vec<(String, Vec<&str>)> = by_key.into_iter().collect();
    groups.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
    groups
}

/// Names hosts, the first of many.
fn names(hosts: &[&str]) -> String {
    match hosts.len().checked_sub(NAMES_MAX) {
        None | Some(0) => hosts.join(", "),
        Some(n_more) => format!("{} and {n_more} more", hosts[..NAMES_MAX].join(", ")),
    }
}

fn owned(hosts: &[&str]) -> Vec<String> {
    hosts.iter().map(|host| (*host).to_owned()).collect()
}

/// Adds a caution where hosts differ in something.
fn differs<'a>(
    (code, what, remedy): (&'static str, &str, &str),
    known: &[Known<'a>],
    key: impl Fn(&Known<'a>) -> Option<String>,
    findings: &mut Vec<Finding>,
) {
    let groups = groups(known, key);
    if groups.len() < 2 {
        return;
    }
    let each: Vec<String> =
        groups.iter().map(|(key, hosts)| format!("{key} on {}", names(hosts))).collect();
    findings.push(Finding {
        severity: Severity::Caution,
        code,
        hosts: Vec::new(),
        message: format!("{what}: {}", each.join("; ")),
        remedy: remedy.to_owned(),
    });
}

/// Adds a finding for each text that hosts have, with all hosts that have it.
fn each_text<'a>(
    (severity, code, remedy): (Severity, &'static str, &str),
    known: &[Known<'a>],
    texts: impl Fn(&Known<'a>) -> Vec<String>,
    findings: &mut Vec<Finding>,
) {
    let mut by_text: Vec<(String, Vec<&str>)> = Vec::new();
    for host in known {
        for text in texts(host) {
            match by_text.iter_mut().find(|(said, _)| *said == text) {
                Some((_, hosts)) if hosts.contains(&host.name) => {}
                Some((_, hosts)) => hosts.push(host.name),
                None => by_text.push((text, vec![host.name])),
            }
        }
    }
    findings.extend(by_text.into_iter().map(|(message, hosts)| Finding {
        severity,
        code,
        hosts: owned(&hosts),
        message,
        remedy: remedy.to_owned(),
    }));
}

fn refusals(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let unfit = (Severity::Unfit, "refused", "a run ends with the same error: correct it first");
    each_text(unfit, known, |host| host.facts.refusals.clone(), findings);
    let remark = (Severity::Caution, "remark", "a run would note the same");
    each_text(remark, known, |host| host.facts.remarks.clone(), findings);
}

fn targets(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let of_targets = |of: fn(&TargetFacts) -> Option<String>| {
        move |host: &Known<'_>| -> Vec<String> { usable(host.facts).filter_map(of).collect() }
    };
    let problem = (Severity::Unfit, "target", "make or mount it there, or name another target");
    let problems = |host: &Known<'_>| -> Vec<String> {
        let problems = host.facts.targets.iter().map(|target| target.problem.clone());
        problems.filter(|problem| !problem.is_empty()).collect()
    };
    each_text(problem, known, problems, findings);
    let space = (Severity::Unfit, "space", "free some, or lower `size`");
    each_text(space, known, of_targets(of_space), findings);
    let in_use = (Severity::Caution, "in-use", "a run would not write to it: name another one");
    each_text(in_use, known, of_targets(of_uses), findings);
    let memory = (Severity::Caution, "memory", "name a target on a disk: this measures none");
    each_text(memory, known, of_targets(of_memory), findings);
    let root = (Severity::Caution, "root", "is the volume mounted there?");
    each_text(root, known, of_targets(of_root), findings);
    let mut paths: Vec<&str> = Vec::new();
    for target in known.iter().flat_map(|host| usable(host.facts)) {
        if !paths.contains(&&*target.path) {
            paths.push(&target.path);
        }
    }
    for path in paths {
        places(path, known, findings);
    }
}

/// Returns the targets of a host that can be worked on.
fn usable(facts: &HostFacts) -> impl Iterator<Item = &TargetFacts> {
    facts.targets.iter().filter(|target| target.problem.is_empty())
}

fn of_space(target: &TargetFacts) -> Option<String> {
    let free_bytes = target.free_bytes?;
    let wanted_bytes = target.layout_bytes;
    (wanted_bytes > free_bytes).then(|| {
        format!(
            "`{}` has {} free, and the files of the job need {} more",
            target.place.path,
            format_bytes(free_bytes),
            format_bytes(wanted_bytes)
        )
    })
}

fn of_uses(target: &TargetFacts) -> Option<String> {
    let uses = target.uses.join(", ");
    (!uses.is_empty()).then(|| format!("`{}` is {uses}", target.path))
}

fn of_memory(target: &TargetFacts) -> Option<String> {
    let file_system = &*target.place.file_system;
    let is_memory = ["tmpfs", "ramfs"].contains(&file_system);
    is_memory.then(|| format!("`{}` lies in memory ({file_system})", target.path))
}

fn of_root(target: &TargetFacts) -> Option<String> {
    let is_root = target.place.path == "/" && target.path != "/";
    is_root.then(|| format!("`{}` lies on the root file system", target.path))
}

/// Types of file systems that several hosts have in common, as the kernel names them.
const SHARED: [&str; 14] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.glusterfs",
    "gfs2",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "smb3",
    "virtiofs",
];

/// Returns whether hosts with the same source have this place in common.
pub fn is_shared(target: &TargetFacts) -> bool {
    let place = &target.place;
    SHARED.contains(&&*place.file_system)
        || (place.file_system.is_empty() && place.network.is_some())
}

/// Compares where a target lies on each host.
fn places(path: &str, known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let target = |host: &Known<'_>| -> Option<TargetFacts> {
        usable(host.facts).find(|target| target.path == path).cloned()
    };
    let shared = groups(known, |host| target(host).map(|it| is_shared(&it).to_string()));
    let described = groups(known, |host| target(host).map(|it| of_place(&it)));
    let each: Vec<String> =
        described.iter().map(|(what, hosts)| format!("{what} on {}", names(hosts))).collect();
    if shared.len() > 1 {
        findings.push(Finding {
            severity: Severity::Doubt,
            code: "not-shared",
            hosts: Vec::new(),
            message: format!("`{path}` is not the same on all hosts: {}", each.join("; ")),
            remedy: "mount the shared one on all of them, or name a target that each has"
                .to_owned(),
        });
    } else if described.len() > 1 {
        findings.push(Finding {
            severity: Severity::Caution,
            code: "place",
            hosts: Vec::new(),
            message: format!("`{path}` differs: {}", each.join("; ")),
            remedy: "hosts of unlike volumes are measured as one: is that meant?".to_owned(),
        });
    }
    let what = format!("mount options of `{path}`");
    let about = ("mount-options", &*what, "mount it in the same way on all hosts");
    let options = common_options(known, &target);
    differs(about, known, |host| target(host).map(|it| own_options(&it, &options)), findings);
}

/// Says what a target lies on.
fn of_place(target: &TargetFacts) -> String {
    let place = &target.place;
    let file_system = if place.file_system.is_empty() { "device" } else { &*place.file_system };
    if is_shared(target) && !place.source.is_empty() {
        return format!("{file_system} of {}", place.source);
    }
    if is_shared(target) {
        return place.path.clone();
    }
    match place.device.as_ref().map(|device| &*device.model) {
        Some(model) if !model.is_empty() => format!("{file_system} on {model}"),
        Some(_) | None => format!("{file_system} of its own"),
    }
}

fn option_words(target: &TargetFacts) -> impl Iterator<Item = &str> {
    let name = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
    let options = target.place.mount_options.split(',').filter(|it| !it.is_empty());
    options.filter(move |option| !OWN_OPTIONS.contains(&&*name(option)))
}

/// Returns the options that the target has on all hosts.
fn common_options(
    known: &[Known<'_>],
    target: &impl Fn(&Known<'_>) -> Option<TargetFacts>,
) -> Vec<String> {
    let mut targets = known.iter().filter_map(target);
    let Some(first) = targets.next() else { return Vec::new() };
    let mut common: Vec<String> = option_words(&first).map(str::to_owned).collect();
    for other in targets {
        common.retain(|option| option_words(&other).any(|it| it == option));
    }
    common
}

/// Returns the options that are not common.
fn own_options(target: &TargetFacts, common: &[String]) -> String {
    let own = option_words(target).filter(|option| !common.iter().any(|it| it == option));
    let own: Vec<&str> = own.collect();
    if own.is_empty() { "none beside those of all".to_owned() } else { own.join(",") }
}

fn clocks(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    for host in known {
        let error_ns = host.report.offset.map_or(u64::MAX, |offset| offset.error_ns);
        if error_ns > CLOCK_ERROR_NS_MAX {
            let how = match host.report.offset {
                Some(offset) => format!("to {}", format_latency_ns(offset.error_ns)),
                None => "not at all".to_owned(),
            };
            findings.push(Finding {
                severity: Severity::Doubt,
                code: "clock",
                hosts: vec![host.name.to_owned()],
                message: format!(
                    "its clock offset is known {how}, but a common start needs {}: the network \
                        delay is too long",
                    format_latency_ns(CLOCK_ERROR_NS_MAX)
                ),
                remedy: "start the run from a host nearer to it, or check the network".to_owned(),
            });
        }
    }
    let off = |host: &Known<'_>| {
        let off_ns = host.report.wall_offset_ns?;
        let is_off = off_ns.unsigned_abs() > WALL_OFFSET_NS_MAX;
        let sign = if off_ns < 0 { "behind" } else { "ahead of" };
        let off = format_latency_ns(off_ns.unsigned_abs());
        is_off.then(|| format!("its time of day is {off} {sign} this host's"))
    };
    let about = (
        Severity::Caution,
        "time-of-day",
        "set it by NTP, so that logs can be compared; a common start does not depend on it",
    );
    each_text(about, known, |host| off(host).into_iter().collect(), findings);
}

fn machines(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let one_kernel = groups(known, |host| {
        Some(host.facts.boot_id.clone()).filter(|boot_id| !boot_id.is_empty())
    });
    for (_, hosts) in one_kernel.iter().filter(|(_, hosts)| hosts.len() > 1) {
        findings.push(Finding {
            severity: Severity::Caution,
            code: "same-machine",
            hosts: owned(hosts),
            message: "they run on one kernel: one machine under several names, or containers of it"
                .to_owned(),
            remedy: "name each machine once, unless that is meant".to_owned(),
        });
    }
    let installed = |host: &Known<'_>| {
        let HostFacts { program_version, was_sent, installed, .. } = host.facts;
        let is_other = *was_sent && !installed.is_empty();
        is_other.then(|| {
            format!(
                "{installed} is installed there, another build than this one, {program_version}, \
                 which is sent for each run"
            )
        })
    };
    let about = (Severity::Caution, "version", "install this one there, or remove that one");
    each_text(about, known, |host| installed(host).into_iter().collect(), findings);
    let same = "results of unlike hosts are added up: is that meant?";
    let versions = ("version", "versions of the program", "use one on all hosts");
    differs(versions, known, |host| Some(host.facts.program_version.clone()), findings);
    let kernel = |host: &Known<'_>| Some(host.facts.host.kernel.clone());
    differs(
        ("kernel", "kernels", "update the others, or expect them to differ"),
        known,
        kernel,
        findings,
    );
    let cores = |host: &Known<'_>| Some(format!("{} cores", host.facts.host.n_cpus));
    differs(("cores", "processors", same), known, cores, findings);
    // The kernel keeps a part that differs a little.
    let memory =
        |host: &Known<'_>| Some(format!("{} GiB", host.facts.host.memory_bytes.div_ceil(1 << 30)));
    differs(("memory", "memory", same), known, memory, findings);
    let sysctls = differing_sysctls(known);
    for name in &sysctls {
        let value = |host: &Known<'_>| {
            Some(host.facts.host.sysctls.get(*name).cloned().unwrap_or_else(|| "none".to_owned()))
        };
        differs(("sysctl", *name, "set it alike with sysctl"), known, value, findings);
    }
}

/// Returns the settings of the kernel that are not the same on all hosts.
fn differing_sysctls<'a>(known: &[Known<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        known.iter().flat_map(|host| host.facts.host.sysctls.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let value = |host: &Known<'_>, name: &str| host.facts.host.sysctls.get(name).cloned();
    names.retain(|name| known.iter().any(|host| value(host, name) != value(&known[0], name)));
    names
}

fn limits(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let uring = |host: &Known<'_>| {
        let refusal = &host.facts.limits.uring_refusal;
        (!refusal.is_empty()).then(|| format!("{refusal}; jobs of io_uring run by libaio there"))
    };
    let about = (
        Severity::Caution,
        "io_uring",
        "allow it on all hosts (sysctl kernel.io_uring_disabled=0, ulimit -l), or name another \
         ioengine",
    );
    each_text(about, known, |host| uring(host).into_iter().collect(), findings);
    let files = |host: &Known<'_>| {
        let n_files = host.facts.limits.open_files?;
        let is_low = n_files < OPEN_FILES_MIN;
        is_low.then(|| format!("a process may open {n_files} files there"))
    };
    let about = (Severity::Caution, "open-files", "raise it (`ulimit -n 65536`)");
    each_text(about, known, |host| files(host).into_iter().collect(), findings);
    let amount = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |it| it.to_string());
    let about = ("limits", "limits on open files", "set them alike in /etc/security/limits.conf");
    differs(about, known, |host| Some(amount(host.facts.limits.open_files)), findings);
    let locked = |host: &Known<'_>| {
        Some(host.facts.limits.locked_bytes.map_or("no limit".to_owned(), format_bytes))
    };
    let about =
        ("limits", "limits on locked memory", "set them alike in /etc/security/limits.conf");
    differs(about, known, locked, findings);
}

fn links(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let speed = |host: &Known<'_>| {
        let bytes_s = host.facts.link.as_ref()?.bytes_s?;
        Some(format!("{} Gbit/s", bytes_s * 8.0 / 1e9))
    };
    let about = ("link", "network links", "the slowest may hold the others back");
    differs(about, known, speed, findings);
    let rate = |host: &Known<'_>| {
        let transfer = host.report.transfer?;
        (transfer.took_ns > 0).then(|| transfer.n_bytes as f64 * 1e9 / transfer.took_ns as f64)
    };
    let mut rates: Vec<f64> = known.iter().filter_map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let Some(median) = rates.get(rates.len() / 2).copied() else { return };
    let slow = |host: &Known<'_>| {
        let own = rate(host)?;
        (own < median * SLOW_SHARE).then(|| {
            format!(
                "{} came from it, and {} from the others",
                format_rate_mib_s(own),
                format_rate_mib_s(median)
            )
        })
    };
    let about = (Severity::Caution, "slow-transfer", "look at its link and at its load");
    each_text(about, known, |host| slow(host).into_iter().collect(), findings);
}

fn loads(known: &[Known<'_>], findings: &mut Vec<Finding>) {
    let busy = |host: &Known<'_>| host.facts.load.busy_share;
    let busy = above(known, busy, BUSY_SHARE_MAX).map(|(hosts, shares)| Finding {
        severity: Severity::Caution,
        code: "busy",
        hosts,
        message: format!("other programs use {shares} of the processors"),
        remedy: "end them before the run".to_owned(),
    });
    let steal = |host: &Known<'_>| host.facts.load.steal_share;
    let steal = above(known, steal, STEAL_SHARE_MAX).map(|(hosts, shares)| Finding {
        severity: Severity::Caution,
        code: "steal",
        hosts,
        message: format!("the hypervisor gives {shares} of the processors to others"),
        remedy: "take machines that share no processors".to_owned(),
    });
    findings.extend(busy.into_iter().chain(steal));
}

/// Returns the hosts whose share is larger than this, and how large those are; `None` where there
/// is none.
fn above(
    known: &[Known<'_>],
    share: impl Fn(&Known<'_>) -> Option<f64>,
    share_max: f64,
) -> Option<(Vec<String>, String)> {
    let percent = |host: &Known<'_>| {
        let share = share(host).filter(|share| *share > share_max)?;
        Some((host.name.to_owned(), share))
    };
    let (hosts, mut shares): (Vec<String>, Vec<f64>) = known.iter().filter_map(percent).unzip();
    shares.sort_by(f64::total_cmp);
    let (least, most) = (shares.first()?, shares.last()?);
    let (least, most) = (format_percent_whole(*least), format_percent_whole(*most));
    let is_one = least == most;
    let range = || format!("{} to {most}", least.trim_end_matches(" %"));
    Some((hosts, if is_one { most.clone() } else { range() }))
}

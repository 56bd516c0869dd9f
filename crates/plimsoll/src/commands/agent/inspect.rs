//! What an agent finds out about its host before a run.

use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use dialects::Loader as _;
use dialects::vdbench::Lun;
use fleet::inspect::{
    ClockReading, HostFacts, LimitFacts, LinkFacts, LoadFacts, TargetFacts, ThereFacts,
};
use fleet::wire::Inspect;
use plan::{Diagnostic, Severity};
use runner::{RunOptions, SurveyedTarget};
use rustix::process::{Resource, getrlimit};

use super::super::execute;
use super::{plan_of, texts};
use crate::clock::Stopwatch;
use crate::env;
use crate::loader::HostLoader;

/// How long the load of the host is looked at.
const LOAD_TIME: Duration = Duration::from_millis(500);

/// How long an installed program may take to say its version, and the time between two looks.
const VERSION_TIME: Duration = Duration::from_secs(2);
const VERSION_PAUSE: Duration = Duration::from_millis(10);

/// Longest version that is kept, characters.
const VERSION_CHARS_MAX: usize = 60;

/// Looks at this host. `was_sent` says that the program is not the installed one.
pub(super) fn facts(request: &Inspect, was_sent: bool) -> HostFacts {
    // First, while nothing else is done.
    let load = load();
    let mut facts = HostFacts {
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        was_sent,
        installed: if was_sent { installed().unwrap_or_default() } else { String::new() },
        host: runner::describe_host(),
        boot_id: read("/proc/sys/kernel/random/boot_id").trim().to_owned(),
        clock: ClockReading::now(),
        limits: limits(),
        link: link(),
        load,
        ..HostFacts::default()
    };
    let paths = request.paths.iter();
    let looked_at = |path: &String| TargetFacts {
        there: match HostLoader.lun(path) {
            Lun::Missing => ThereFacts::Missing,
            Lun::NoFolder => ThereFacts::NoFolder,
            Lun::File(bytes) => ThereFacts::File(bytes),
            Lun::Device => ThereFacts::Other,
        },
        ..target(runner::survey_path(path.as_ref()))
    };
    facts.targets.extend(paths.map(looked_at));
    if let Some(assignment) = request.assignment.as_ref().filter(|it| !it.plan_toml.is_empty()) {
        match plan_of(assignment) {
            Err(refusals) => facts.refusals = refusals,
            Ok(plan) => {
                let options = RunOptions {
                    allow_mounted: assignment.allow_mounted,
                    overwrite_filesystem: assignment.overwrite_filesystem,
                    read_only: assignment.read_only,
                    forbid_uring: execute::forbids_uring(),
                    ..RunOptions::default()
                };
                let survey = runner::survey(&plan, &options);
                facts.targets.extend(survey.targets.into_iter().map(target));
                facts.refusals = texts(&survey.findings);
                let is_remark = |it: &&Diagnostic| it.severity != Severity::Error;
                let remarks = survey.findings.iter().filter(is_remark);
                facts.remarks = remarks.map(|it| it.message.clone()).collect();
            }
        }
    }
    facts
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn target(found: SurveyedTarget) -> TargetFacts {
    TargetFacts {
        path: found.path.display().to_string(),
        place: found.place,
        free_bytes: found.free_bytes,
        there: ThereFacts::Unknown,
        layout_bytes: found.layout_bytes,
        uses: found.uses,
        problem: found.problem.unwrap_or_default(),
    }
}

fn limits() -> LimitFacts {
    let files = getrlimit(Resource::Nofile);
    let uring_refusal = if execute::forbids_uring() {
        Some("PLIMSOLL_FORBID_URING is set".to_owned())
    } else {
        engine::uring_refusal()
    };
    LimitFacts {
        open_files: files.current,
        open_files_max: files.maximum,
        locked_bytes: getrlimit(Resource::Memlock).current,
        uring_refusal: uring_refusal.unwrap_or_default(),
    }
}

/// Returns the interface that leads to the controller, by what sshd says of the connection: the
/// address and port of the client, then those of this host.
fn link() -> Option<LinkFacts> {
    let connection = env::SSH_CONNECTION.get()?;
    let words: Vec<&str> = connection.split_whitespace().collect();
    let address = |idx: usize| words.get(idx)?.parse::<IpAddr>().ok();
    let link = runner::link(address(2)?, address(0)?)?;
    Some(LinkFacts { interface: link.interface, bytes_s: link.bytes_s })
}

fn load() -> LoadFacts {
    let load = runner::load_while(|| std::thread::sleep(LOAD_TIME));
    let average = read("/proc/loadavg").split_whitespace().next().and_then(|it| it.parse().ok());
    LoadFacts {
        load_average: average,
        busy_share: load.map(|it| it.busy_share - it.own_share),
        steal_share: load.map(|it| it.steal_share),
    }
}

/// Returns what the installed program calls itself.
fn installed() -> Option<String> {
    let mut command = Command::new("plimsoll");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().ok()?;
    let since = Stopwatch::start();
    while process.try_wait().ok()?.is_none() {
        if since.elapsed() > VERSION_TIME {
            // It is no program of ours.
            let _ended = process.kill();
            let _ended = process.wait();
            return None;
        }
        std::thread::sleep(VERSION_PAUSE);
    }
    let output = process.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim().chars().take(VERSION_CHARS_MAX).collect::<String>();
    (!line.is_empty()).then_some(line)
}

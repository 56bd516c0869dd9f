//! What to do about a check that did not pass.

use crate::gate::{Gate, GateName, GateVerdict};

/// Figure of a check that has nothing to judge because the rate that was asked for changed: a
/// longer run of the same load has neither.
pub(crate) const RATE_CHANGES: &str = "rate_changes";

/// Returns the next step after a check; `None` where there is nothing to do.
pub(crate) fn next_step(gate: &Gate) -> Option<&'static str> {
    match gate.verdict {
        _ if gate.advice.is_some() => gate.advice,
        GateVerdict::Passed => None,
        GateVerdict::Failed if is_on_other_credits(gate) => Some(
            "run until all credits have run out: the level after the fall still uses other \
            credits",
        ),
        GateVerdict::Failed => Some(after_failure(gate.name)),
        GateVerdict::Unknown if gate.figure(RATE_CHANGES).is_some() => None,
        GateVerdict::Unknown => to_decide(gate.name),
    }
}

/// Returns whether one account of credits has ended, and another one is still drawn on.
fn is_on_other_credits(gate: &Gate) -> bool {
    gate.name == GateName::Credits && gate.figure("lasts_s").is_some()
}

fn after_failure(name: GateName) -> &'static str {
    match name {
        GateName::Errors => {
            "repair what fails before using a figure: failed operations have no latency"
        }
        GateName::Steady => {
            "measure longer (`plimsoll run --until-steady` finds how long), and look for what \
             changed meanwhile"
        }
        GateName::Credits => "use the level after the fall as what the volume carries",
        GateName::WriteCache => "use the level with a full cache as what the volume carries",
        GateName::Offered => "lower the rate, or allow more I/Os in flight (iodepth)",
        GateName::QueueDepth => {
            "use more workers (numjobs), or an engine that keeps several in flight"
        }
        GateName::Generator => "repeat the run on an idle host",
        GateName::SharedDisk => {
            "end what else uses the disk, and let what was written before reach it (sync)"
        }
        GateName::Little => {
            "repeat the run; this happens when the machine was suspended or \
            migrated"
        }
        GateName::Footprint => "touch more data than the cache holds (size)",
        GateName::PageCache => "add direct=1, or touch at least twice the memory",
        GateName::SocketBuffers => "set the limit with sysctl, or mount with more nconnect",
        GateName::MountOptions => "mount without this option to measure durable writes",
    }
}

fn to_decide(name: GateName) -> Option<&'static str> {
    match name {
        GateName::Steady => Some("measure longer (`plimsoll run --until-steady` finds how long)"),
        GateName::Credits => Some("run until they would have run out"),
        GateName::WriteCache => Some("run until writes wait for the disks"),
        GateName::Generator
        | GateName::SharedDisk
        | GateName::Offered
        | GateName::QueueDepth
        | GateName::Little => Some("run longer"),
        GateName::Footprint => {
            Some("give the size of the caches: `plimsoll run --cache-size` takes it")
        }
        GateName::PageCache
        | GateName::Errors
        | GateName::SocketBuffers
        | GateName::MountOptions => None,
    }
}

//! Was the load generator the limit?

use crate::gate::{Gate, GateName};

use super::pct;

/// What the generator's own state is judged by. Shares are 0 to 1; none where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GeneratorInputs {
    /// CPU time of the busiest worker over its run time. Leave it out for workers that poll: they
    /// are always busy.
    pub worker_cpu_share_max: Option<f64>,
    /// Time in which all processors of the host together were busy.
    pub host_cpu_share: Option<f64>,
    /// Time that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// Operations that were submitted later than a tick after they were due, although there was
    /// room in flight: the generator's own delay.
    pub late_share: Option<f64>,
}

/// A worker this busy has no time left to notice a completion when it happens.
const WORKER_CPU_MAX: f64 = 0.95;

/// A host this busy makes workers wait for a processor.
const HOST_CPU_MAX: f64 = 0.95;

/// Time stolen is latency added, seen from inside as slow storage.
const STEAL_MAX: f64 = 0.02;

/// Late operations reach the 99th percentile from here on.
const LATE_MAX: f64 = 0.01;

/// Judges whether the generator had room to spare. If not, the result is client-bound: no capacity
/// of the storage follows from it.
pub fn generator(inputs: &GeneratorInputs) -> Gate {
    let checks = [
        (
            inputs.worker_cpu_share_max,
            WORKER_CPU_MAX,
            "worker_cpu_share_max",
            "a worker was busy for",
        ),
        (inputs.host_cpu_share, HOST_CPU_MAX, "host_cpu_share", "the host was busy for"),
        (inputs.steal_share, STEAL_MAX, "steal_share", "the hypervisor took"),
        (inputs.late_share, LATE_MAX, "late_share", "operations were submitted late:"),
    ];
    let known = checks.iter().filter_map(|check| check.0.map(|value| (value, check)));
    let figures: Vec<(&'static str, f64)> =
        known.clone().map(|(value, check)| (check.2, value)).collect();
    if figures.is_empty() {
        return Gate::unknown(GateName::Generator, "the generator's load is not known");
    }
    let broken: Vec<String> = known
        .filter(|(value, check)| *value > check.1)
        .map(|(value, check)| format!("{} {} (limit {})", check.3, pct(value), pct(check.1)))
        .collect();
    let reason = if broken.is_empty() {
        "the generator had room to spare".to_owned()
    } else {
        format!("client-bound: {}", broken.join("; "))
    };
    Gate::judged(GateName::Generator, broken.is_empty(), reason).with(&figures)
}

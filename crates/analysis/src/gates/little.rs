//! Little's law, and what follows from it.

use crate::gate::{Gate, GateName};

use super::pct;

/// What is known of operations in flight over one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlightInputs {
    /// Mean of the operations in flight, sampled while the run went on; none if that was not done.
    pub in_flight: Option<f64>,
    /// Operations completed per second.
    pub completed_iops: f64,
    /// Mean service time, nanoseconds; none without operations.
    pub service_ns: Option<f64>,
    /// Length of the window, seconds.
    pub window_s: f64,
    /// Largest time in the queue, nanoseconds: an operation that crosses an end of the window is
    /// counted whole by its latency, and in part by what was in flight.
    pub latency_ns_max: u64,
}

impl FlightInputs {
    /// Returns rate times service time: what must be in flight.
    fn by_law(&self) -> Option<f64> {
        self.service_ns.map(|service_ns| self.completed_iops * service_ns / 1e9)
    }

    /// Returns the difference that may be by rounding, and by operations that cross an end: as many
    /// as are in flight, one at least. Of a thousand I/Os with 0.04 in flight a single slow one is
    /// a fifth of all.
    fn allowed(&self, in_flight: f64) -> f64 {
        let crossing_s = self.latency_ns_max as f64 / 1e9;
        DIFFERENCE_MAX * in_flight + in_flight.max(1.0) * crossing_s / self.window_s
    }
}

/// The largest difference that rounding explains, as a share.
const DIFFERENCE_MAX: f64 = 0.02;

/// Service times that a window must hold: operations that cross its ends count in part only.
const N_SERVICE_TIMES_MIN: f64 = 100.0;

/// Judges whether in flight = rate x service time, within 2 % and what crosses the ends.
///
/// A difference means a wrong clock, wrong accounting, or errors at the ends of the window. What
/// was in flight must have been sampled: computed from the other two, the law always holds.
pub fn little(inputs: &FlightInputs) -> Gate {
    let name = GateName::Little;
    let (Some(in_flight), Some(by_law)) = (inputs.in_flight, inputs.by_law()) else {
        return Gate::unknown(name, "operations in flight were not sampled");
    };
    let figures = [("in_flight", in_flight), ("rate_x_service_time", by_law)];
    let service_s = inputs.service_ns.unwrap_or(0.0) / 1e9;
    if inputs.window_s < N_SERVICE_TIMES_MIN * service_s {
        let reason = format!(
            "a window of {:.1} s is too short for operations of {service_s:.3} s",
            inputs.window_s
        );
        return Gate::unknown(name, reason).with(&figures);
    }
    let difference = (in_flight - by_law).abs() / in_flight;
    let allowed = inputs.allowed(in_flight);
    let reason = format!(
        "{in_flight:.2} in flight, and rate x service time is {by_law:.2}: off by {} (limit {})",
        pct(difference),
        pct(allowed / in_flight)
    );
    let is_kept = in_flight > 0.0 && difference * in_flight <= allowed;
    Gate::judged(name, is_kept, reason).with(&figures).with(&[("difference_share", difference)])
}

/// Depth that may be missing without a word, as a share; and, of each worker, operations: the time
/// between a completion and the next choice is in no operation.
const SHORTFALL_MAX: f64 = 0.05;
const SHORTFALL_PER_WORKER: f64 = 0.1;

/// Judges whether a closed loop of `n_workers` kept the depth asked for, all together, within 5 %.
///
/// A shortfall means that the engine did not sustain it, as with libaio on buffered files. Where
/// nothing was sampled, rate x service time tells the depth.
pub fn queue_depth(asked: f64, n_workers: u32, inputs: &FlightInputs) -> Gate {
    let name = GateName::QueueDepth;
    let achieved = inputs.in_flight.or(inputs.by_law()).filter(|_| inputs.completed_iops > 0.0);
    let Some(achieved) = achieved else {
        return Gate::unknown(name, "no operations to judge the queue depth by");
    };
    if asked.is_nan() || asked <= 0.0 {
        return Gate::unknown(name, "no queue depth was asked for");
    }
    let shortfall = 1.0 - achieved / asked;
    let reason = format!("a queue depth of {asked:.0} was asked for, and {} kept", kept(achieved));
    let figures = [("asked", asked), ("achieved", achieved), ("shortfall_share", shortfall)];
    let allowed = (SHORTFALL_MAX * asked).max(SHORTFALL_PER_WORKER * f64::from(n_workers));
    Gate::judged(name, asked - achieved <= allowed, reason).with(&figures)
}

/// Small depths have digits that larger ones need not.
fn kept(depth: f64) -> String {
    if depth < 10.0 { format!("{depth:.2}") } else { format!("{depth:.1}") }
}

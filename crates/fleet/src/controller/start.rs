//! How all hosts come to one start of a step.
//!
//! A start is an order to each host, which answers that it will keep it. Where an answer is missing
//! shortly before, all get a later one: no host begins a step that another one cannot.

use super::peer::{Agent, State};
use super::{Action, Controller, DEAD_NS, News, Start};
use crate::wire::Arm;
use crate::wire::to_agent::Kind as To;

/// Least time from the order to start to the start: the order must be there, and answered.
pub(super) const LEAD_NS_MIN: u64 = 2_000_000_000;

/// The same in further runs of a series, whose hosts are known to answer: an eighth. It doubles
/// with each order that a host leaves without an answer.
pub(super) const LEAD_AGAIN_NS_MIN: u64 = LEAD_NS_MIN / 8;

/// The same in round trips, of the longest of late.
const LEAD_ROUND_TRIPS: u64 = 10;

/// Most of it: on what is slower than that a host counts as lost.
const LEAD_NS_MAX: u64 = DEAD_NS;

/// The share of that time, at its end, in which a later order could come too late: a fourth, two
/// and a half round trips.
const CONFIRM_SHARE: u64 = 4;

/// Exchanges of the time before a step may start.
pub(super) const N_EXCHANGES_MIN: u32 = 4;

/// Orders to start a step that an agent may leave without the answer that it begins, while it
/// answers all else. A silent one is lost before.
const ORDERS_MAX: u32 = 16;

impl Controller {
    /// Starts the next step once all that are left wait for it.
    pub(super) fn arm(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if self.end.is_some() {
            self.start = None;
        } else if let Some(start) = self.start {
            self.confirm(start, now_ns, actions);
        } else if let Some(step_idx) = self.next_step() {
            self.order(step_idx, now_ns, actions);
        }
    }

    /// Returns the step that all wait for.
    fn next_step(&self) -> Option<u32> {
        let mut next: Option<u32> = None;
        for agent in &self.agents {
            match agent.state {
                State::Awaited
                | State::Joined
                | State::Preparing
                | State::Armed(_)
                | State::Set(_)
                | State::Running(_) => return None,
                State::Ready(_) if agent.n_exchanges < N_EXCHANGES_MIN => return None,
                State::Ready(step_idx) => {
                    next = Some(next.map_or(step_idx, |it| it.min(step_idx)));
                }
                State::Resting
                | State::Ending
                | State::Finished
                | State::Refused
                | State::Expelled
                | State::Lost => {}
            }
        }
        next
    }

    /// Gives all that wait for a step the same start.
    fn order(&mut self, step_idx: u32, now_ns: u64, actions: &mut Vec<Action>) {
        let live = || self.agents.iter().filter(|agent| agent.state.is_live());
        let round_trip_ns = live().map(|agent| agent.clock.round_trip_ns_recent()).max();
        let lead_ns = round_trip_ns.unwrap_or(0).saturating_mul(LEAD_ROUND_TRIPS);
        let n_unanswered = live().map(|agent| agent.n_unanswered).max().unwrap_or(0);
        let doubled_ns = self.lead_ns_min.saturating_mul(1 << n_unanswered.min(3));
        let lead_ns = lead_ns.clamp(doubled_ns.min(LEAD_NS_MIN), LEAD_NS_MAX);
        let start_ns = now_ns.saturating_add(lead_ns);
        let confirm_until_ns = start_ns - lead_ns / CONFIRM_SHARE;
        self.start = Some(Start { step_idx, confirm_until_ns });
        for idx in 0..self.agents.len() {
            let agent = &mut self.agents[idx];
            if !agent.waits_for(step_idx) {
                continue;
            }
            if agent.n_unanswered >= ORDERS_MAX {
                let reason = format!("it does not answer the order to start step {step_idx}");
                self.expel(idx, reason, now_ns, actions);
                continue;
            }
            let Some(offset) = agent.clock.offset(now_ns) else { continue };
            agent.n_unanswered += u32::from(!agent.is_set());
            agent.state = State::Armed(step_idx);
            let there_ns = offset.there(start_ns);
            agent.orders.push((there_ns, start_ns));
            actions.push(Action::Send(idx, To::Arm(Arm { step_idx, start_ns: there_ns })));
        }
    }

    /// Lets a step begin that all have answered for; gives a later start where that is not so in
    /// time.
    fn confirm(&mut self, start: Start, now_ns: u64, actions: &mut Vec<Action>) {
        let Start { step_idx, confirm_until_ns } = start;
        let is_open = |agent: &Agent| agent.waits_for(step_idx) && !agent.is_set();
        if self.agents.iter().any(is_open) {
            if now_ns >= confirm_until_ns {
                self.order(step_idx, now_ns, actions);
            }
            return;
        }
        self.start = None;
        let mut n_hosts = 0;
        for agent in &mut self.agents {
            if agent.is_set() {
                agent.state = State::Running(step_idx);
                agent.begin(step_idx);
                n_hosts += 1;
            }
        }
        if n_hosts > 0 {
            self.begun = Some(step_idx);
            actions.push(Action::Tell(News::Starts(step_idx, n_hosts)));
        }
    }
}

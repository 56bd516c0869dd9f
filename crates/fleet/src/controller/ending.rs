//! How a run ends before its time: the user wants it, or it cannot go on as it was asked for.

use super::peer::State;
use super::{Action, Controller, End, NOW_NS};
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, Stop};

impl Controller {
    /// Ends as the user wants: with what is measured; the second time with what is here.
    pub(super) fn interrupt(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if !self.is_interrupted {
            self.is_interrupted = true;
            self.end_soon(actions);
            return;
        }
        if matches!(self.end, Some(End::Until(_))) {
            return;
        }
        self.end = Some(End::Until(now_ns.saturating_add(NOW_NS)));
        for idx in 0..self.agents.len() {
            let state = self.agents[idx].state;
            if state.takes_part() {
                self.ask_to_end(idx, actions);
            } else if state == State::Lost {
                actions.push(Action::Send(idx, To::Stop(Stop { is_now: true })));
            }
        }
    }

    /// Asks all to end, for whatever reason.
    pub(super) fn end_soon(&mut self, actions: &mut Vec<Action>) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(End::Soon);
        for idx in 0..self.agents.len() {
            let state = self.agents[idx].state;
            if !state.takes_part() && !matches!(state, State::Awaited | State::Lost) {
                continue;
            }
            if !self.is_assigned {
                self.agents[idx].state = State::Refused;
                let reason = "the run does not begin".to_owned();
                actions.push(Action::Send(idx, To::Bye(Bye { reason })));
            } else if state.takes_part() {
                self.ask_to_end(idx, actions);
            } else {
                // It may hear of it when it goes on.
                actions.push(Action::Send(idx, To::Stop(Stop { is_now: false })));
            }
        }
    }

    /// Asks an agent to end with what it has measured.
    pub(super) fn ask_to_end(&mut self, idx: usize, actions: &mut Vec<Action>) {
        self.agents[idx].state = State::Ending;
        let is_now = matches!(self.end, Some(End::Until(_)));
        actions.push(Action::Send(idx, To::Stop(Stop { is_now })));
    }
}

//! In which order hosts lay out the files of a step: where they work on the same ones, one host
//! does it for all.
//!
//! Hosts that have jobs of their own prepare a step together, once all have ended the one before:
//! what one of them has made in it another may find in the next.
//!
//! The first host has the turn; when it is ready, all others have. Those find the files there, or
//! lay out their own where they share none. When the host with the turn is lost, or has failed, the
//! next one has it.

use super::peer::{Agent, State};
use super::{Action, Controller};
use crate::wire::LayOut;
use crate::wire::to_agent::Kind as To;

/// How a host stands to the step that is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Its files may have to be laid out.
    Before,
    /// They are laid out.
    Behind,
    /// It takes no part in it.
    Out,
}

impl Controller {
    /// Lets hosts lay out the files of the step that is next.
    pub(super) fn give_turns(&mut self, actions: &mut Vec<Action>) {
        if !self.assignment.awaits_turn || !self.is_assigned || self.end.is_some() {
            return;
        }
        let step_idx = self.begun.map_or(0, |begun| begun + 1);
        let progress = |agent: &Agent| progress(agent, step_idx);
        let has_turn = |agent: &Agent| agent.turn.is_some_and(|turn| turn >= step_idx);
        let is_in_one_before = |agent: &Agent| is_in_one_before(agent, step_idx);
        let has_own_jobs = !self.assignment.job_hosts.is_empty();
        if has_own_jobs && self.agents.iter().any(is_in_one_before) {
            return;
        }
        let has_behind = self.agents.iter().any(|it| progress(it) == Progress::Behind);
        let is_laid_out = has_own_jobs || has_behind;
        let is_at_work = |it: &Agent| progress(it) == Progress::Before && has_turn(it);
        if !is_laid_out && self.agents.iter().any(is_at_work) {
            return;
        }
        let waits = |it: &Agent| progress(it) == Progress::Before && !has_turn(it);
        let waiting = (0..self.agents.len()).filter(|idx| waits(&self.agents[*idx]));
        let n_turns = if is_laid_out { self.agents.len() } else { 1 };
        for idx in waiting.take(n_turns).collect::<Vec<_>>() {
            self.agents[idx].turn = Some(step_idx);
            actions.push(Action::Send(idx, To::LayOut(LayOut { step_idx })));
        }
    }
}

/// Returns whether a host has not ended all steps before this one.
fn is_in_one_before(agent: &Agent, step_idx: u32) -> bool {
    match agent.state {
        State::Ready(of) | State::Armed(of) | State::Set(of) | State::Running(of) => {
            of < step_idx && agent.ended_idx < Some(of)
        }
        State::Preparing
        | State::Awaited
        | State::Joined
        | State::Resting
        | State::Ending
        | State::Finished
        | State::Refused
        | State::Expelled
        | State::Lost => false,
    }
}

/// Returns how a host stands to a step.
fn progress(agent: &Agent, step_idx: u32) -> Progress {
    match agent.state {
        State::Preparing => Progress::Before,
        State::Ready(of) | State::Armed(of) | State::Set(of) | State::Running(of) => {
            if of < step_idx { Progress::Before } else { Progress::Behind }
        }
        State::Awaited
        | State::Joined
        | State::Resting
        | State::Ending
        | State::Finished
        | State::Refused
        | State::Expelled
        | State::Lost => Progress::Out,
    }
}

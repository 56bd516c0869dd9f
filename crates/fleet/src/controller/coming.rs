//! How agents come, and come again: what they say of themselves, and what they may have missed.

use super::peer::State;
use super::{Action, Controller, News, RUNS_MINOR};
use crate::clock::ClockEstimate;
use crate::version;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, Hello, LayOut};

impl Controller {
    /// Takes an agent in, or tells it why not. One that was here before says it again with a new
    /// connection, and hears again what it may have missed.
    pub(super) fn greet(
        &mut self,
        idx: usize,
        hello: &Hello,
        now_ns: u64,
        actions: &mut Vec<Action>,
    ) {
        let lacking = || version::lacking(&self.assignment, hello);
        let unfit = self.version.unfit(hello).or_else(lacking);
        let agent = &mut self.agents[idx];
        agent.takes_runs = hello.protocol_minor >= RUNS_MINOR;
        agent.calls_again = hello.calls_again;
        let is_of_another = hello.has_run && hello.run_idx != self.assignment.run_idx;
        agent.is_behind = hello.calls_again && is_of_another;
        let before = agent.incarnation.replace(hello.incarnation);
        let is_same = before == Some(hello.incarnation);
        match agent.state {
            State::Refused | State::Expelled => {
                let reason = "it takes no part in the run any more".to_owned();
                actions.push(Action::Send(idx, To::Bye(Bye { reason })));
            }
            // It called again, and waits for another run.
            State::Finished if is_same && self.keeps_agents && agent.takes_runs => {}
            State::Finished => actions.push(Action::Send(idx, To::Bye(Bye::default()))),
            State::Awaited
            | State::Joined
            | State::Resting
            | State::Preparing
            | State::Ready(_)
            | State::Armed(_)
            | State::Set(_)
            | State::Running(_)
            | State::Ending
            | State::Lost => {
                if let Some(reason) = unfit {
                    self.refuse(idx, reason, actions);
                } else if hello.has_run && !is_same {
                    let reason = "it is in a run that goes on without it".to_owned();
                    self.expel(idx, reason, now_ns, actions);
                } else if !self.is_assigned {
                    if !is_same {
                        // A clock of before may be of another start of the host.
                        (agent.clock, agent.n_exchanges) = (ClockEstimate::default(), 0);
                    }
                    (agent.state, agent.lost) = (State::Joined, None);
                    let Hello { agent, program_version, .. } = hello.clone();
                    actions.push(Action::Tell(News::Came(idx, agent, program_version)));
                } else if is_same {
                    self.hear(idx, now_ns, actions);
                    self.repeat(idx, actions);
                } else {
                    let reason = match before {
                        None => "the run had started before it connected",
                        Some(_) => "it was restarted during the run",
                    };
                    self.expel(idx, reason.to_owned(), now_ns, actions);
                }
            }
        }
    }

    /// Refuses an agent that speaks another protocol, or too old a one for what is asked.
    fn refuse(&mut self, idx: usize, reason: String, actions: &mut Vec<Action>) {
        self.agents[idx].state = State::Refused;
        actions.push(Action::Tell(News::Refused(idx, vec![reason.clone()])));
        actions.push(Action::Send(idx, To::Bye(Bye { reason })));
        self.end_soon(actions);
    }

    /// Says again what an agent with a new connection may have missed. An order to start is
    /// repeated by itself.
    fn repeat(&mut self, idx: usize, actions: &mut Vec<Action>) {
        if self.agents[idx].state == State::Preparing {
            self.send_assignment(idx, actions);
        }
        if let Some(step_idx) = self.agents[idx].turn {
            actions.push(Action::Send(idx, To::LayOut(LayOut { step_idx })));
        }
        let agent = &mut self.agents[idx];
        if agent.state == State::Ending && agent.is_behind {
            // It was away all the time, and has nothing of this run.
            agent.state = State::Refused;
            let reason = "the run has ended without it".to_owned();
            actions.push(Action::Send(idx, To::Bye(Bye { reason })));
        } else if agent.state == State::Ending {
            self.ask_to_end(idx, actions);
        }
    }

    /// Gives one up whose connection has ended, unless it calls again: its silence counts then.
    pub(super) fn disconnect(
        &mut self,
        idx: usize,
        reason: String,
        now_ns: u64,
        actions: &mut Vec<Action>,
    ) {
        let agent = &mut self.agents[idx];
        if !(agent.calls_again && agent.state.is_live()) {
            self.lose(idx, reason, now_ns, actions);
        } else if agent.away_since_ns.is_none() {
            agent.away_since_ns = Some(now_ns);
            actions.push(Action::Tell(News::Away(idx, reason)));
        }
    }
}

//! How the controller finds out who is not there any more: it asks all for the time, and gives up
//! who says nothing for long.

use super::peer::{Agent, State};
use super::{Action, Controller, DEAD_NS, News, PING_NS, SUSPECT_NS};
use crate::wire::Ping;
use crate::wire::to_agent::Kind as To;

impl Controller {
    /// Suspects agents that are silent, and gives those up that are for long.
    pub(super) fn watch_silence(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if now_ns < self.silence_ns {
            return;
        }
        for idx in 0..self.agents.len() {
            let agent = &mut self.agents[idx];
            if agent.state == State::Awaited && now_ns >= agent.join_until_ns {
                let limit_s = self.join_ns / 1_000_000_000;
                self.lose(idx, format!("it did not come within {limit_s} s"), now_ns, actions);
            } else if agent.state.is_live() {
                let silence_ns = now_ns.saturating_sub(agent.heard_ns);
                if silence_ns >= SUSPECT_NS && !agent.is_suspect {
                    agent.is_suspect = true;
                    actions.push(Action::Tell(News::Suspect(idx)));
                }
                if silence_ns >= DEAD_NS {
                    let text = format!("nothing came from it for {} s", DEAD_NS / 1_000_000_000);
                    self.lose(idx, text, now_ns, actions);
                }
            }
        }
        self.silence_ns = self.agents.iter().map(Agent::silent_from_ns).min().unwrap_or(u64::MAX);
    }

    /// Asks all for the time that may answer.
    pub(super) fn ping(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if now_ns < self.next_ping_ns {
            return;
        }
        self.next_ping_ns = now_ns + PING_NS;
        let id = self.next_ping_id;
        self.next_ping_id += 1;
        for (idx, agent) in self.agents.iter_mut().enumerate() {
            // One that stays is to hear that its controller lives.
            let stays = self.keeps_agents && agent.state == State::Finished;
            if agent.state.is_live() || stays || agent.state == State::Lost {
                agent.asked.retain(|(_, asked_ns)| now_ns.saturating_sub(*asked_ns) < DEAD_NS);
                agent.asked.push((id, now_ns));
                actions.push(Action::Send(idx, To::Ping(Ping { id })));
            }
        }
    }
}

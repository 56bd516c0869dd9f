//! The inspection of hosts as a state machine: it does no I/O and reads no clock.
//!
//! Each host is greeted, asked for the time, and asked for its facts, all hosts at once. Then one
//! after the other sends bytes, which are timed: together they would measure the controller's link.

use std::collections::BTreeMap;

use super::facts::{ClockReading, HostFacts};
use crate::clock::{ClockEstimate, Exchange, Offset};
use crate::controller::{Action, Event, News, PING_NS};
use crate::version::Version;
use crate::wire::from_agent::Kind as From;
use crate::wire::to_agent::Kind as To;
use crate::wire::{Bye, Fetch, Inspect, Ping, Pong};

/// Exchanges of the time that are made at once. The quickest one counts.
const N_EXCHANGES: u32 = 16;

/// Bytes of a first transfer, and of a second one where the first was quick.
const FIRST_BYTES: u64 = 256 << 10;
const SECOND_BYTES: u64 = 8 << 20;

/// What the first transfer may take for a second one to follow: that takes a second at most.
const QUICK_NS: u64 = 30_000_000;

/// How long a host may take for its next answer.
const ANSWER_NS: u64 = 30_000_000_000;

/// Bytes that a host sent, and how long they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes behind the first message.
    pub n_bytes: u64,
    /// From the arrival of the first message to that of the last.
    pub took_ns: u64,
}

/// What came of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReport {
    /// Its name.
    pub name: String,
    /// What it found, or why nothing is known of it.
    pub facts: Result<Box<HostFacts>, String>,
    /// What its monotonic clock reads more than the controller's.
    pub offset: Option<Offset>,
    /// What its time of day reads more than the controller's, nanoseconds.
    pub wall_offset_ns: Option<i64>,
    /// Its transfer.
    pub transfer: Option<Transfer>,
}

/// What a host does, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It was called.
    Called,
    /// It answers questions for the time.
    Clock,
    /// It looks at itself.
    Looking,
    /// It waits for its turn to send.
    Waiting,
    /// It sends so many bytes.
    Sending(u64),
    /// It has left, or is to.
    Done,
}

/// What is known of a host.
#[derive(Debug)]
struct Seat {
    phase: Phase,
    /// By when the next answer is due.
    until_ns: u64,
    clock: ClockEstimate,
    n_exchanges: u32,
    /// When pings were sent that it has not answered.
    asked: BTreeMap<u64, u64>,
    facts: Option<Box<HostFacts>>,
    failure: Option<String>,
    /// When the first message of a transfer came, and the bytes behind it.
    first_ns: Option<u64>,
    n_bytes: u64,
    transfer: Option<Transfer>,
}

/// The inspection of hosts.
#[derive(Debug)]
pub struct Inspection {
    request: Inspect,
    seats: Vec<Seat>,
    join_ns: u64,
    next_ping_ns: u64,
    next_ping_id: u64,
    is_finished: bool,
}

impl Inspection {
    /// Begins with so many hosts. Each may take `join_ns` from `now_ns`, or from the last that was
    /// sent of its program, until it speaks.
    pub fn new(n_hosts: usize, request: Inspect, now_ns: u64, join_ns: u64) -> Self {
        let seat = || Seat {
            phase: Phase::Called,
            until_ns: now_ns.saturating_add(join_ns),
            clock: ClockEstimate::default(),
            n_exchanges: 0,
            asked: BTreeMap::new(),
            facts: None,
            failure: None,
            first_ns: None,
            n_bytes: 0,
            transfer: None,
        };
        Inspection {
            request,
            seats: (0..n_hosts).map(|_| seat()).collect(),
            join_ns,
            next_ping_ns: now_ns,
            next_ping_id: 0,
            is_finished: false,
        }
    }

    /// Takes an event that came at `now_ns`, and returns what follows, in order.
    pub fn take(&mut self, event: Event, now_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.is_finished {
            return actions;
        }
        match event {
            Event::Sent(idx, done, total) => {
                self.seats[idx].until_ns = now_ns.saturating_add(self.join_ns);
                actions.push(Action::Tell(News::Sent(idx, done, total)));
            }
            Event::Message(idx, message) => self.message(idx, message, now_ns, &mut actions),
            Event::Gone(idx, reason) => self.fail(idx, reason, &mut actions),
            Event::Stop => {
                for idx in 0..self.seats.len() {
                    self.fail(idx, "stopped before it was done".to_owned(), &mut actions);
                }
            }
            Event::Due => {}
        }
        self.watch(now_ns, &mut actions);
        self.ping_all(now_ns, &mut actions);
        self.give_turn(now_ns, &mut actions);
        if self.seats.iter().all(|seat| seat.phase == Phase::Done) {
            self.is_finished = true;
            actions.push(Action::Finish);
        }
        actions
    }

    /// Returns when [`Inspection::take`] wants to be called even if nothing comes.
    pub fn due_ns(&self) -> u64 {
        self.next_ping_ns
    }

    /// Returns what came of the hosts. `own` is a moment by both clocks of this host.
    pub fn reports(&self, names: &[String], own: ClockReading) -> Vec<HostReport> {
        let report = |(seat, name): (&Seat, &String)| {
            let offset = seat.clock.offset(own.monotonic_ns);
            let wall_offset_ns = seat.facts.as_ref().zip(offset).map(|(facts, offset)| {
                // What its time of day reads at that moment.
                let there_ns = offset.there(own.monotonic_ns);
                let since_ns = i128::from(there_ns) - i128::from(facts.clock.monotonic_ns);
                let unix_ns = i128::from(facts.clock.unix_ns) + since_ns;
                let off_ns = unix_ns - i128::from(own.unix_ns);
                i64::try_from(off_ns).unwrap_or(if off_ns < 0 { i64::MIN } else { i64::MAX })
            });
            let facts = match (&seat.failure, &seat.facts) {
                (None, Some(facts)) => Ok(facts.clone()),
                (failure, _) => Err(failure.clone().unwrap_or_else(|| SILENT.to_owned())),
            };
            let (name, transfer) = (name.clone(), seat.transfer);
            HostReport { name, facts, offset, wall_offset_ns, transfer }
        };
        self.seats.iter().zip(names).map(report).collect()
    }

    fn message(&mut self, idx: usize, message: From, now_ns: u64, actions: &mut Vec<Action>) {
        let seat = &mut self.seats[idx];
        match (message, seat.phase) {
            (From::Hello(hello), Phase::Called) => {
                if let Some(reason) = Version::OWN.unfit(&hello) {
                    self.fail(idx, reason, actions);
                    return;
                }
                seat.phase = Phase::Clock;
                seat.until_ns = now_ns.saturating_add(ANSWER_NS);
                self.ping(idx, now_ns, actions);
            }
            (From::Pong(pong), _) => self.pong(idx, pong, now_ns, actions),
            (From::Inspected(found), Phase::Looking) => {
                match serde_json::from_slice(&found.facts_json) {
                    Ok(facts) => {
                        seat.facts = Some(facts);
                        seat.phase = Phase::Waiting;
                    }
                    Err(error) => {
                        self.fail(idx, format!("its report cannot be read: {error}"), actions);
                    }
                }
            }
            (From::Piece(piece), Phase::Sending(wanted)) => {
                let n_bytes = piece.content.len() as u64;
                match seat.first_ns {
                    None => seat.first_ns = Some(now_ns),
                    Some(first_ns) => {
                        seat.n_bytes += n_bytes;
                        let took_ns = now_ns.saturating_sub(first_ns);
                        seat.transfer = Some(Transfer { n_bytes: seat.n_bytes, took_ns });
                    }
                }
                if piece.is_last {
                    self.fetched(idx, wanted, now_ns, actions);
                }
            }
            // It is of a phase that is over, or of a run.
            (
                From::Hello(_)
                | From::Inspected(_)
                | From::Piece(_)
                | From::Refused(_)
                | From::Progress(_)
                | From::Ready(_)
                | From::Armed(_)
                | From::Frame(_)
                | From::Begun(_)
                | From::Said(_)
                | From::Ended(_)
                | From::Finished(_),
                _,
            ) => {}
        }
    }

    /// Takes an answer to a question for the time, and asks again, or for the facts.
    fn pong(&mut self, idx: usize, pong: Pong, now_ns: u64, actions: &mut Vec<Action>) {
        let seat = &mut self.seats[idx];
        let Some(asked_ns) = seat.asked.remove(&pong.id) else { return };
        let (received_ns, sent_ns) = (pong.received_ns, pong.sent_ns);
        seat.clock.add(Exchange { asked_ns, received_ns, sent_ns, answered_ns: now_ns });
        if seat.phase != Phase::Clock {
            return;
        }
        seat.n_exchanges += 1;
        if seat.n_exchanges < N_EXCHANGES {
            self.ping(idx, now_ns, actions);
            return;
        }
        seat.phase = Phase::Looking;
        seat.until_ns = now_ns.saturating_add(ANSWER_NS);
        actions.push(Action::Send(idx, To::Inspect(self.request.clone())));
    }

    /// Takes the end of a transfer: a longer one follows where it was quick.
    fn fetched(&mut self, idx: usize, wanted: u64, now_ns: u64, actions: &mut Vec<Action>) {
        let seat = &mut self.seats[idx];
        let is_quick = seat.transfer.is_some_and(|transfer| transfer.took_ns <= QUICK_NS);
        if wanted < SECOND_BYTES && is_quick {
            self.fetch(idx, SECOND_BYTES, now_ns, actions);
            return;
        }
        seat.phase = Phase::Done;
        actions.push(Action::Send(idx, To::Bye(Bye::default())));
    }

    fn fetch(&mut self, idx: usize, n_bytes: u64, now_ns: u64, actions: &mut Vec<Action>) {
        let seat = &mut self.seats[idx];
        seat.phase = Phase::Sending(n_bytes);
        seat.until_ns = now_ns.saturating_add(ANSWER_NS);
        (seat.first_ns, seat.n_bytes) = (None, 0);
        actions.push(Action::Send(idx, To::Fetch(Fetch { n_bytes })));
    }

    /// Lets the next host send, once all have looked at themselves and none sends.
    fn give_turn(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        let is_busy = |seat: &Seat| match seat.phase {
            Phase::Called | Phase::Clock | Phase::Looking | Phase::Sending(_) => true,
            Phase::Waiting | Phase::Done => false,
        };
        if self.seats.iter().any(is_busy) {
            return;
        }
        let next = self.seats.iter().position(|seat| seat.phase == Phase::Waiting);
        if let Some(idx) = next {
            self.fetch(idx, FIRST_BYTES, now_ns, actions);
        }
    }

    /// Gives up the hosts that do not answer in time.
    fn watch(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        for idx in 0..self.seats.len() {
            let seat = &self.seats[idx];
            if now_ns < seat.until_ns {
                continue;
            }
            let answer_s = ANSWER_NS / 1_000_000_000;
            match seat.phase {
                Phase::Called => {
                    let limit_s = self.join_ns / 1_000_000_000;
                    self.fail(idx, format!("it did not come within {limit_s} s"), actions);
                }
                Phase::Clock => {
                    self.fail(idx, format!("it did not answer for {answer_s} s"), actions);
                }
                Phase::Looking => {
                    let text = format!(
                        "it did not finish looking at its targets within {answer_s} s: does a \
                         mount hang?"
                    );
                    self.fail(idx, text, actions);
                }
                // What is known of it stays.
                Phase::Sending(_) => {
                    self.seats[idx].phase = Phase::Done;
                    actions.push(Action::Send(idx, To::Bye(Bye::default())));
                }
                Phase::Waiting | Phase::Done => {}
            }
        }
    }

    /// Gives a host up, unless it is done. What it has said of itself stays where only the transfer
    /// is missing.
    fn fail(&mut self, idx: usize, reason: String, actions: &mut Vec<Action>) {
        let seat = &mut self.seats[idx];
        if seat.phase == Phase::Done {
            return;
        }
        seat.phase = Phase::Done;
        if seat.facts.is_none() {
            seat.failure = Some(reason);
        }
        actions.push(Action::Send(idx, To::Bye(Bye::default())));
    }

    /// Asks all that are there for the time now and then: an agent that hears nothing ends.
    fn ping_all(&mut self, now_ns: u64, actions: &mut Vec<Action>) {
        if now_ns < self.next_ping_ns {
            return;
        }
        self.next_ping_ns = now_ns + PING_NS;
        for idx in 0..self.seats.len() {
            match self.seats[idx].phase {
                Phase::Looking | Phase::Waiting => self.ping(idx, now_ns, actions),
                // Bytes that are on their way would delay the answer.
                Phase::Called | Phase::Clock | Phase::Sending(_) | Phase::Done => {}
            }
        }
    }

    fn ping(&mut self, idx: usize, now_ns: u64, actions: &mut Vec<Action>) {
        let id = self.next_ping_id;
        self.next_ping_id += 1;
        self.seats[idx].asked.insert(id, now_ns);
        actions.push(Action::Send(idx, To::Ping(Ping { id })));
    }
}

/// What is said of a host that has not answered when all ends.
const SILENT: &str = "it did not answer";

//! Programs that send the next request when one is answered: when that request counts as made.
//!
//! Of a request is known when it was read. The overhead that it took ([`crate::overhead`]) is one
//! figure for what differs from request to request; but a program that keeps a number of requests
//! going has made none before the answer that it waited for. So no request counts as made before
//! the modelled end of the one that it follows, and such a program never gets more than the model
//! says. Where an answer was late, since this machine had no processor for it in time, those that
//! follow count as made a little earlier, until that is made up for: on average the program gets
//! what the model says.
//!
//! Which answer a request follows: a program that keeps `n` going and has `k` left has made up
//! for all answers but the last `n - k`, in the order in which they came.

use std::collections::{HashMap, VecDeque};

/// Requests of one program beyond which nothing is made up for: with so many, waiting for caps
/// hides the overhead.
const DEPTH_MAX: usize = 64;

/// Requests of a program after which its depth is seen anew: the deepest of this span and the one
/// before counts.
const SPAN: u32 = 32;

/// Programs that are remembered.
const N_MAX: usize = 1024;

/// Longest delay of an answer that is made up for, nanoseconds: the rest of a longer one is lost to
/// the program, as on a disk that hung.
const OWED_MAX_NS: u64 = 100_000_000;

/// Programs and their requests. Times are of the clock, nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    programs: HashMap<u64, Program>,
}

/// How a request counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestTime {
    /// When it was made.
    pub(crate) at_ns: u64,
    /// How late the answers before it were, as far as that is not made up for.
    pub(crate) owed_ns: u64,
}

#[derive(Debug, Default)]
struct Program {
    /// Requests that are not answered.
    n_inside: usize,
    /// Most of them at once, in this span and in the one before.
    deepest: [usize; 2],
    n_in_span: u32,
    /// Its last answers, the latest last.
    answers: VecDeque<Answered>,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
struct Answered {
    /// When it was due, by the model.
    due_ns: u64,
    /// How late it and those before it were, as far as that is not made up for.
    owed_ns: u64,
}

impl Loops {
    /// Takes in a request that was made at a time, as far as the overhead tells, and says how it
    /// counts. At most `part_ns` of what answers were late is made up for at once.
    pub(crate) fn begin(&mut self, program: u64, made_ns: u64, part_ns: u64) -> RequestTime {
        if self.programs.len() >= N_MAX && !self.programs.contains_key(&program) {
            self.programs.retain(|_, program| program.n_inside > 0);
        }
        let program = self.programs.entry(program).or_default();
        program.count();
        let Some(before) = program.followed() else {
            return RequestTime { at_ns: made_ns, owed_ns: 0 };
        };
        // When it would have been made had no answer been late.
        let owed_ns = std::mem::take(&mut before.owed_ns);
        let punctual_ns = made_ns.max(before.due_ns).saturating_sub(owed_ns);
        let at_ns = punctual_ns.max(made_ns.saturating_sub(part_ns));
        RequestTime { at_ns, owed_ns: at_ns - punctual_ns }
    }

    /// A request was answered now that was due at a time.
    pub(crate) fn end(&mut self, program: u64, made: RequestTime, due_ns: u64, now_ns: u64) {
        let Some(program) = self.programs.get_mut(&program) else { return };
        program.n_inside = program.n_inside.saturating_sub(1);
        if program.answers.len() == DEPTH_MAX {
            program.answers.pop_front();
        }
        let owed_ns = (now_ns.saturating_sub(due_ns) + made.owed_ns).min(OWED_MAX_NS);
        program.answers.push_back(Answered { due_ns, owed_ns });
    }

    /// Forgets all programs: what they wait for is lost.
    pub(crate) fn clear(&mut self) {
        self.programs.clear();
    }
}

impl Program {
    /// Counts a request more.
    fn count(&mut self) {
        self.n_inside += 1;
        self.n_in_span += 1;
        if self.n_in_span > SPAN {
            self.deepest = [0, self.deepest[0]];
            self.n_in_span = 1;
        }
        self.deepest[0] = self.deepest[0].max(self.n_inside);
    }

    /// Returns the answer that the latest request follows.
    fn followed(&mut self) -> Option<&mut Answered> {
        let depth = self.deepest[0].max(self.deepest[1]);
        let n_later = depth - self.n_inside;
        let idx = self.answers.len().checked_sub(n_later + 1)?;
        self.answers.get_mut(idx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY_NS: u64 = 1_000;
    const PART_NS: u64 = 250;

    /// Runs a program of a depth: each request is read `way_ns` after the answer that it follows,
    /// and counts as made `known_ns` before that. Answer `late.0` is late by `late.1`. Returns how
    /// long `n` rounds took.
    fn run(depth: u64, n: u64, (way_ns, known_ns): (u64, u64), late: (u64, u64)) -> u64 {
        let mut loops = Loops::default();
        let made = |loops: &mut Loops, read_ns: u64| loops.begin(7, read_ns - known_ns, PART_NS);
        let step = LATENCY_NS / depth;
        let mut inside: VecDeque<RequestTime> =
            (0..depth).map(|i| made(&mut loops, 10_000 + i * step)).collect();
        let mut now_ns = 0;
        for i in 0..depth * n {
            let first = inside.pop_front().expect("the depth is kept");
            let due_ns = first.at_ns + LATENCY_NS;
            now_ns = now_ns.max(due_ns + if i == late.0 { late.1 } else { 0 });
            loops.end(7, first, due_ns, now_ns);
            inside.push_back(made(&mut loops, now_ns + way_ns));
        }
        now_ns - 10_000
    }

    #[test]
    fn a_program_gets_what_the_model_says_and_never_more() {
        for depth in [1, 4, 5] {
            let ideal_ns = 400 * LATENCY_NS;
            // The overhead is as long as is known, shorter, longer; and one answer is late.
            let cases = [
                ((60, 60), (u64::MAX, 0), 0),
                ((20, 60), (u64::MAX, 0), 0),
                ((70, 60), (u64::MAX, 0), 400 * 10),
                ((60, 60), (90, 20_000), 0),
                ((20, 60), (90, 20_000), 0),
            ];
            for (ways, late, longer_ns) in cases {
                let took_ns = run(depth, 400, ways, late);
                let off_ns = took_ns.abs_diff(ideal_ns + longer_ns);
                assert!(off_ns <= LATENCY_NS, "{depth} {ways:?} {late:?}: {took_ns}");
            }
        }
    }

    #[test]
    fn what_is_late_is_made_up_for_in_parts() {
        let mut loops = Loops::default();
        let first = loops.begin(1, 10_000, PART_NS);
        assert_eq!(first, RequestTime { at_ns: 10_000, owed_ns: 0 });
        loops.end(1, first, 11_000, 11_600);
        let second = loops.begin(1, 11_650, PART_NS);
        assert_eq!(second, RequestTime { at_ns: 11_400, owed_ns: 350 });
        loops.end(1, second, 12_400, 12_400);
        // No earlier than the answer before it would have been due had none been late.
        let third = loops.begin(1, 12_380, PART_NS);
        assert_eq!(third, RequestTime { at_ns: 12_130, owed_ns: 80 });
        loops.end(1, third, 13_130, 13_130);
        let fourth = loops.begin(1, 13_100, PART_NS);
        assert_eq!(fourth, RequestTime { at_ns: 13_050, owed_ns: 0 });
        loops.end(1, fourth, 14_050, 14_050);
        assert_eq!(loops.begin(1, 14_000, PART_NS), RequestTime { at_ns: 14_050, owed_ns: 0 });
        loops.end(1, fourth, 14_050, u64::MAX / 2);
        assert_eq!(loops.begin(1, u64::MAX / 2, 0).owed_ns, OWED_MAX_NS);
        // Another program has nothing to do with it.
        assert_eq!(loops.begin(2, 500, PART_NS), RequestTime { at_ns: 500, owed_ns: 0 });
    }

    #[test]
    fn programs_that_wait_for_nothing_are_forgotten_before_others() {
        let mut loops = Loops::default();
        for program in 0..3 * N_MAX as u64 {
            let made = loops.begin(program, 1, PART_NS);
            loops.end(program, made, 2, 2);
        }
        assert!(loops.programs.len() <= N_MAX);
        loops.clear();
        // What was asked before ends without a trace.
        loops.end(5, RequestTime::default(), 3, 4);
        assert!(loops.programs.is_empty());
    }
}

//! Runs one after another by the same agents.

use fleet::controller::{Controller, DEAD_NS, LossPolicy};
use fleet::wire::Assignment;

use super::{Due, JOIN_NS, S, START_NS, World, quiet, seconds_of};

#[test]
fn agents_stay_for_the_next_run_and_who_was_lost_is_called_again() {
    let mut world = quiet(3, (1, 4), LossPolicy::Abort);
    world.controller =
        Controller::new(3, Assignment::default(), LossPolicy::Abort, START_NS, JOIN_NS)
            .keeping_agents();
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None]);
    let ended_ns = world.now_ns;
    world.next_run();
    world.run_to_end();
    // Four seconds of load, up to three to prepare; no greeting and no long lead before the start.
    assert!(world.now_ns - ended_ns < 9 * S, "{} ns", world.now_ns - ended_ns);
    world.next_run();
    while world.begun.is_empty() {
        assert!(world.step());
    }
    world.push(world.now_ns + S, Due::Freeze(1, 60 * S));
    world.run_to_end();
    let reason = format!("nothing came from it for {} s", DEAD_NS / S);
    assert_eq!(world.lost(), [None, Some(reason), None]);
    world.next_run();
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None]);
    let outcomes = world.controller.outcomes(world.now_ns);
    let seconds: Vec<usize> = outcomes.iter().map(|it| it.record.intervals.len()).collect();
    assert_eq!(seconds, [4, 4, 4], "nothing of the runs before is among it");
}

/// A series of three hosts that are there from the start, its first run of one of them.
fn resting(seconds: u32) -> World {
    let mut world = quiet(3, (1, seconds), LossPolicy::Abort);
    let controller =
        Controller::new(3, Assignment::default(), LossPolicy::Abort, START_NS, JOIN_NS);
    world.controller = controller.keeping_agents().of_first(1);
    for idx in 0..3 {
        world.push(START_NS, Due::Connect(idx));
    }
    world
}

#[test]
fn agents_that_rest_are_there_for_a_run_of_more() {
    // Longer than an agent goes on without a word from its controller.
    let mut world = resting(60);
    world.run_to_end();
    assert_eq!(seconds_of(&world), [60]);
    assert!(!world.hosts[1].has_run && !world.hosts[2].has_run, "they rest");
    world.next_run();
    world.run_to_end();
    assert_eq!(world.lost(), [None, None, None]);
    assert_eq!(seconds_of(&world), [60, 60, 60]);
}

#[test]
fn an_agent_that_is_lost_while_it_rests_ends_no_run_and_is_called_for_the_next() {
    let mut world = resting(40);
    world.push(START_NS + 10 * S, Due::Kill(1));
    world.push(START_NS + 10 * S, Due::Freeze(2, 20 * S));
    world.run_to_end();
    assert_eq!(world.lost(), [None], "who takes part is there");
    assert_eq!(seconds_of(&world), [40]);
    let killed = world.hosts[1].is_alive;
    world.next_run();
    assert!(!killed && world.hosts[1].is_alive, "it was called again");
    world.run_to_end();
    assert_eq!(seconds_of(&world), [40, 40, 40]);
}

#[test]
fn an_interrupt_leaves_those_alone_that_rest() {
    let mut world = resting(60);
    world.push(START_NS + 20 * S, Due::CtrlC);
    world.run_to_end();
    assert!(world.controller.is_interrupted());
    assert!(world.now_ns < START_NS + 21 * S);
    world.next_run();
    world.run_to_end();
    assert_eq!(seconds_of(&world), [60, 60, 60]);
}

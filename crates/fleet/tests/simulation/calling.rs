//! Agents that call again where their connection ends.

use fleet::controller::{DEAD_NS, LossPolicy};

use super::{Due, MS, Rng, S, START_NS, World, host, quiet, seconds_of};

/// Hosts whose agents call again, there from the start.
pub(super) fn calling(n_hosts: usize, plan: (u32, u32), policy: LossPolicy) -> World {
    let mut world = quiet(n_hosts, plan, policy);
    for idx in 0..n_hosts {
        world.hosts[idx] = host(idx, plan, true, &mut Rng(7 + idx as u64));
        world.push(START_NS, Due::Connect(idx));
    }
    world
}

#[test]
fn an_agent_whose_connection_ends_calls_again_and_nothing_is_missing() {
    // The controller sees the end at once, late, or never: the next connection is there before.
    for seen_ns in [0, S, 60 * S] {
        let mut world = calling(2, (2, 30), LossPolicy::Abort);
        for at_s in [10, 25, 26, 50] {
            world.push(START_NS + at_s * S, Due::Break(1, 300 * MS, seen_ns));
        }
        world.run_to_end();
        assert_eq!(world.hosts[1].n_connections, 5);
        assert_eq!(world.lost(), [None, None]);
        assert_eq!(world.begun, [0, 1]);
        let outcomes = world.controller.outcomes(world.now_ns);
        assert!(outcomes.iter().all(|it| it.is_complete && it.silence_ns_max == 0), "{outcomes:?}");
        assert_eq!(seconds_of(&world), [60, 60], "each second once");
    }
}

#[test]
fn an_agent_that_was_away_for_long_is_lost_and_brings_what_it_measured() {
    let mut world = calling(2, (1, 40), LossPolicy::Continue);
    world.push(START_NS + 20 * S, Due::Break(1, 15 * S, 0));
    world.run_until(34 * S);
    let reason = format!("nothing came from it for {} s", DEAD_NS / S);
    assert_eq!(world.lost(), [None, Some(reason)]);
    world.run_to_end();
    assert_eq!(world.lost(), [None, None], "it came back");
    assert_eq!(seconds_of(&world), [40, 40]);
}

#[test]
fn an_agent_that_ends_while_it_is_away_delivers_the_rest() {
    let mut world = calling(2, (1, 20), LossPolicy::Continue);
    while world.begun.is_empty() {
        assert!(world.step());
    }
    // Its last eight seconds, and as long again.
    world.push(world.now_ns + 14 * S, Due::Break(1, 16 * S, 0));
    world.run_to_end();
    assert_eq!(world.lost(), [None, None]);
    assert_eq!(seconds_of(&world), [20, 20]);
    assert!(world.hosts.iter().all(|host| host.has_ended));
}

#[test]
fn a_connection_on_which_nothing_comes_is_given_up_for_another() {
    let mut world = calling(1, (1, 60), LossPolicy::Abort);
    world.push(START_NS + 20 * S, Due::Cut(0, 7 * S));
    world.run_to_end();
    assert_eq!(world.hosts[0].n_connections, 2);
    assert_eq!(world.lost(), [None]);
    assert_eq!(seconds_of(&world), [60]);
}

#[test]
fn an_agent_that_stood_still_itself_keeps_its_connection() {
    let mut world = calling(1, (1, 60), LossPolicy::Abort);
    world.push(START_NS + 20 * S, Due::Freeze(0, 8 * S));
    world.run_to_end();
    assert_eq!(world.hosts[0].n_connections, 1);
    assert_eq!(world.lost(), [None]);
}

#[test]
fn a_killed_agent_that_would_call_again_holds_no_run_up_for_long() {
    let mut world = calling(2, (1, 60), LossPolicy::Continue);
    while world.begun.is_empty() {
        assert!(world.step());
    }
    let begun_ns = world.now_ns;
    world.push(begun_ns + 10 * S, Due::Kill(1));
    world.run_to_end();
    // 60 s of load after two until the start.
    assert!(world.now_ns < begun_ns + 64 * S, "{} ns", world.now_ns - begun_ns);
    assert!(world.lost()[1].is_some());
}

#[test]
fn a_host_that_comes_back_while_the_step_behind_its_own_is_started_stays_out() {
    // One begins its step while the other is lost, and is given the start of the next one when
    // that comes back and waits for the one before: it would begin that behind the other.
    super::check(28_352, 1);
}

//! A controller that is killed and started again: from what came to it before, it is where it was.

use fleet::agent;
use fleet::controller::LossPolicy;

use super::calling::calling;
use super::{Due, MS, Rng, S, START_NS, World, check_orphans, check_run, seconds_of};

impl World {
    /// Kills the controller, and starts another one after so long from what came to it.
    fn restart_controller(&mut self, away_ns: u64) {
        self.paused_until_ns = self.now_ns + away_ns;
        // What is on its way is lost with the connections.
        self.queue.retain(|_, due| {
            !matches!(due, Due::ToController(..) | Due::ToAgent(..) | Due::Gone(..))
        });
        let before = format!("{:?}", self.controller);
        self.controller = self.head.controller();
        for (at_ns, event) in self.events.iter().flatten() {
            self.controller.take(event.clone(), *at_ns);
        }
        assert_eq!(format!("{:?}", self.controller), before, "it is where it was");
        for idx in 0..self.hosts.len() {
            let host = &mut self.hosts[idx];
            let number = host.n_connections;
            if std::mem::take(&mut host.is_connected) {
                self.push(self.now_ns + away_ns, Due::Gone(idx, number));
                self.agent_does(idx, agent::Event::Disconnected);
            }
        }
    }
}

/// Has what comes to the controller kept.
fn kept(world: World) -> World {
    World { events: Some(Vec::new()), ..world }
}

#[test]
fn no_second_is_missing_after_a_restart_whenever_it_is() {
    // Before all have come, while they prepare, in a step, between two, while the last end.
    for tenths in 1..280 {
        let mut world = kept(calling(2, (2, 8), LossPolicy::Abort));
        world.run_until(tenths * S / 10);
        if world.is_finished {
            assert!(tenths > 180, "{tenths}");
            break;
        }
        world.restart_controller(700 * MS + tenths * S / 50);
        world.run_to_end();
        assert_eq!(world.lost(), [None, None], "{tenths}");
        assert_eq!(world.begun, [0, 1], "{tenths}");
        assert_eq!(seconds_of(&world), [16, 16], "{tenths}");
    }
}

#[test]
fn agents_that_end_meanwhile_bring_the_rest() {
    let mut world = kept(calling(2, (1, 20), LossPolicy::Abort));
    while world.begun.is_empty() {
        assert!(world.step());
    }
    let begun_ns = world.now_ns;
    world.run_until(begun_ns + 12 * S - START_NS);
    world.restart_controller(25 * S);
    world.run_to_end();
    assert_eq!(world.lost(), [None, None]);
    assert_eq!(seconds_of(&world), [20, 20]);
}

/// Seeds whose controller is killed once.
const N_SEEDS: u64 = 400;

#[test]
fn every_run_whose_controller_was_killed_ends_in_a_true_record() {
    for seed in 1..=N_SEEDS {
        let (world, mut harm) = super::world(seed, 1);
        let mut world = kept(world);
        if !world.hosts[0].calls_again {
            continue;
        }
        let mut rng = Rng(!seed);
        world.run_until(rng.below(40 * S));
        if !world.is_finished {
            world.restart_controller(MS + rng.below(12 * S));
            (harm.is_paused, harm.has_breaks) = (true, true);
        }
        check_run(seed, &mut world, &harm);
        check_orphans(seed, world);
    }
}

//! Controllers and agents of different versions: both state machines, messages handed over.

use fleet::agent::{self, Agent};
use fleet::controller::{self, Controller, LossPolicy, News};
use fleet::version::Version;
use fleet::wire::from_agent::Kind as From;
use fleet::wire::{Assignment, Validation};

/// What came of a controller of one version and an agent of another.
#[derive(Debug, PartialEq)]
enum Met {
    /// The agent was given its part.
    Runs,
    /// It was not: what the agent heard, which the controller's user was shown as well.
    Refused(String),
}

/// Brings an agent that says `theirs` to a controller of version `ours`.
fn meet(ours: Version, theirs: Version) -> Met {
    meet_for(Assignment::default(), ours, theirs)
}

/// Does the same where this is to be done.
fn meet_for(assignment: Assignment, ours: Version, theirs: Version) -> Met {
    let new = Controller::new(1, assignment, LossPolicy::Continue, 0, 1_000_000_000);
    let mut controller = new.of_version(ours);
    let mut agent = Agent::new("a".to_owned(), "0.1.0".to_owned(), 1, 0);
    let mut to_controller = agent.take(agent::Event::Connected, 0);
    let mut shown = Vec::new();
    // A greeting, its answer, and what follows from that.
    for _ in 0..3 {
        let mut to_agent = Vec::new();
        for action in to_controller.drain(..) {
            let mut message = match action {
                agent::Action::Send(message) => message,
                agent::Action::Run(_) => return Met::Runs,
                agent::Action::End(reason) => {
                    let Some(agent::EndReason::Unwanted { reason }) = reason else {
                        panic!("it ends with another reason: {reason:?}")
                    };
                    assert_eq!(shown, std::slice::from_ref(&reason), "both sides hear the same");
                    return Met::Refused(reason);
                }
                agent::Action::Call
                | agent::Action::LayOut(_)
                | agent::Action::Inspect(_)
                | agent::Action::StartStep(..)
                | agent::Action::StopRun(_) => continue,
            };
            if let From::Hello(hello) = &mut message {
                (hello.protocol_major, hello.protocol_minor) = (theirs.major, theirs.minor);
            }
            to_agent.extend(controller.take(controller::Event::Message(0, message), 1));
        }
        for action in to_agent {
            match action {
                controller::Action::Send(_, message) => {
                    to_controller.extend(agent.take(agent::Event::Message(message), 1));
                }
                controller::Action::Tell(News::Refused(_, reasons)) => shown.extend(reasons),
                controller::Action::Tell(_) | controller::Action::Finish => {}
            }
        }
    }
    panic!("neither taken nor refused: {to_controller:?}")
}

#[test]
fn the_same_minor_version_and_the_one_before_are_driven() {
    let version = |major, minor| Version { major, minor };
    for (ours, theirs) in [
        (version(1, 0), version(1, 0)),
        (version(1, 7), version(1, 7)),
        (version(1, 7), version(1, 6)),
        (Version::OWN, Version::OWN),
    ] {
        assert_eq!(meet(ours, theirs), Met::Runs, "{ours} and {theirs}");
    }
    for (ours, theirs) in [
        (version(1, 7), version(1, 5)),
        (version(1, 7), version(1, 8)),
        (version(2, 0), version(1, 9)),
        (version(1, 7), version(2, 7)),
    ] {
        let expected = format!(
            "the agent's plimsoll 0.1.0 speaks protocol {theirs}, the controller's {ours}: \
             install the same version on both"
        );
        assert_eq!(meet(ours, theirs), Met::Refused(expected));
    }
}

/// An agent of the minor version before would write without a journal, and say nothing.
#[test]
fn an_agent_that_cannot_validate_data_is_not_asked_to() {
    let validation = Some(Validation::default());
    let assignment = Assignment { validation, ..Assignment::default() };
    let theirs = Version { major: 1, minor: 7 };
    let ours = Version { major: 1, minor: 8 };
    let expected = "the agent's plimsoll 0.1.0 does not validate data: install the controller's \
                    version";
    assert_eq!(meet_for(assignment.clone(), ours, theirs), Met::Refused(expected.to_owned()));
    assert_eq!(meet_for(assignment, ours, ours), Met::Runs);
    assert_eq!(meet(ours, theirs), Met::Runs);
}

//! What the engine knows of a file on the server.

use nfs3_types::nfs3::stable_how;

use super::encode::Handle;
use super::reply::Answer;

/// A file of the engine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Opened {
    /// `None` until it is opened, and again when it was removed.
    pub(super) handle: Option<Handle>,
    /// What a write asks for.
    pub(super) stable: stable_how,
    /// The server's verifier of the writes that are in its cache.
    verifier: Option<u64>,
    /// The server lost writes from its cache.
    is_lost: bool,
}

impl Opened {
    pub(super) fn new(stable: stable_how) -> Opened {
        Opened { stable, ..Opened::default() }
    }

    /// Returns what a call on the file needs.
    pub(super) fn for_calls(&self) -> (Handle, stable_how) {
        (self.handle.unwrap_or_default(), self.stable)
    }

    /// Notes what an answer says of the server's cache. Returns whether the answer is that of a
    /// commit that came too late: the server has restarted and lost what it should make durable.
    ///
    /// A client that keeps what it has written would write it again (RFC 1813, section 4.8). The
    /// buffers of a load generator hold other bytes by then, so the commit fails instead.
    pub(super) fn note(&mut self, answer: &Answer) -> bool {
        match *answer {
            Answer::Write { is_unstable: true, verifier, .. } => {
                self.is_lost |= self.verifier.is_some_and(|known| known != verifier);
                self.verifier = Some(verifier);
                false
            }
            Answer::Commit { verifier } => {
                let known = self.verifier.take();
                std::mem::take(&mut self.is_lost) || known.is_some_and(|known| known != verifier)
            }
            Answer::Read { .. }
            | Answer::Write { .. }
            | Answer::GetAttr { .. }
            | Answer::Accepted
            | Answer::Refused { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes writes and commits (`w` and `c`, with their verifier) and returns whether the last one
    /// fails.
    #[track_caller]
    fn check(answers: &[(char, u64)], expected: bool) {
        let mut file = Opened::new(stable_how::UNSTABLE);
        let mut is_lost = false;
        for (kind, verifier) in answers {
            let verifier = *verifier;
            is_lost = file.note(&match kind {
                'w' => Answer::Write { count: 1, is_unstable: true, verifier },
                _ => Answer::Commit { verifier },
            });
        }
        assert_eq!(is_lost, expected);
    }

    #[test]
    fn a_restarted_server_fails_the_next_commit_and_no_other() {
        check(&[('w', 1), ('c', 1)], false);
        check(&[('w', 1), ('c', 2)], true);
        check(&[('w', 1), ('w', 2), ('c', 2)], true);
        check(&[('w', 1), ('c', 2), ('w', 2), ('c', 2)], false);
        check(&[('c', 2)], false);
    }
}

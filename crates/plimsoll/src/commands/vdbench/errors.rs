//! Failed operations of a run: the first of each kind is printed, and how many there were in the
//! end; errorlog.html lists them.

use std::io;

use dialects::vdbench::output::Words;
use record::IoErrorRecord;
use units::system_text;

/// Lines of errorlog.html about failed operations: enough to see a pattern, whatever the disk does.
const LISTED_MAX: u64 = 10_000;

/// Failed operations, by what failed.
#[derive(Debug, Default)]
pub(super) struct Errors {
    kinds: Vec<FailureKind>,
    n_listed: u64,
}

#[derive(Debug)]
struct FailureKind {
    job: String,
    op: String,
    errno: i32,
    n: u64,
}

/// What is to be said about a failed operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailureLines {
    pub(super) text: String,
    /// On the console and in the log, too.
    pub(super) is_first: bool,
}

impl Errors {
    /// Counts a failed operation; `None` if it is not reported any more.
    pub(super) fn count(&mut self, error: &IoErrorRecord, words: &Words) -> Option<FailureLines> {
        let IoErrorRecord { job, target, op, offset, len, errno, .. } = error;
        let is_same =
            |kind: &&mut FailureKind| (&kind.job, &kind.op, kind.errno) == (job, op, *errno);
        let known = self.kinds.iter_mut().find(is_same);
        let is_first = known.is_none();
        match known {
            Some(kind) => kind.n += 1,
            None => self.kinds.push(FailureKind {
                job: job.clone(),
                op: op.clone(),
                errno: *errno,
                n: 1,
            }),
        }
        if !is_first && self.n_listed > LISTED_MAX {
            return None;
        }
        self.n_listed += 1;
        if self.n_listed > LISTED_MAX && !is_first {
            let text = "further failed operations are counted, and not listed".to_owned();
            return Some(FailureLines { text, is_first });
        }
        let (why, definition) = (reason(*errno), words.job(job));
        let what = match len {
            0 => format!("{op} of {target}"),
            len => format!("{op} of {len} bytes at {offset} of {target}"),
        };
        Some(FailureLines { text: format!("{definition}: {what} failed: {why}"), is_first })
    }

    /// Forgets all of a run that has ended. Returns a line for each kind of which there were more
    /// than the one that was printed.
    pub(super) fn end(&mut self, words: &Words) -> Vec<String> {
        let several = self.kinds.drain(..).filter(|kind| kind.n > 1);
        let line = |kind: FailureKind| {
            let FailureKind { job, op, errno, n } = kind;
            let (definition, why) = (words.job(&job), reason(errno));
            format!("{definition}: {n} times {op} failed: {why}; errorlog.html lists them")
        };
        several.map(line).collect()
    }
}

fn reason(errno: i32) -> String {
    system_text(io::Error::from_raw_os_error(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_kind_is_printed_and_all_are_counted() {
        let mut errors = Errors::default();
        let words = Words::default();
        let error = |op: &str, offset| IoErrorRecord {
            job: "sd1".to_owned(),
            target: "/f".to_owned(),
            op: op.to_owned(),
            offset,
            len: 512,
            errno: 28,
            at_ms: 0,
        };
        let first = errors.count(&error("write", 0), &words).expect("a line");
        let text = "sd1: write of 512 bytes at 0 of /f failed: No space left on device";
        assert_eq!(first, FailureLines { text: text.to_owned(), is_first: true });
        let of_reads = errors.count(&error("read", 0), &words);
        assert!(of_reads.is_some_and(|said| said.is_first));
        let n_said = (0..2 * LISTED_MAX).filter_map(|offset| {
            let said = errors.count(&error("write", offset), &words)?;
            assert!(!said.is_first);
            Some(said)
        });
        assert_eq!(n_said.count() as u64, LISTED_MAX - 1, "and one that says so");
        let lines = errors.end(&words);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("sd1: 20001 times write failed: No space"), "{lines:?}");
        assert!(errors.end(&words).is_empty());
    }
}

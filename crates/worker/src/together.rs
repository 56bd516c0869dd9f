//! Walks that the workers of one job do together.

use std::sync::Arc;

use pattern::offsets::Cursor;

use crate::source::Source;

/// Where the walks of a job go on, one for each walk of its workload: the first worker that it is
/// given to makes it, and the others share it. See [`pattern::Offsets::share`].
#[derive(Clone, Debug, Default)]
pub struct SharedWalks {
    /// In the order in which a worker asks for them; `None` until there is a first worker.
    cursors: Option<Vec<Arc<Cursor>>>,
}

impl SharedWalks {
    /// Makes a worker's choice of operations one with that of the workers before.
    pub(crate) fn give_to(&mut self, source: &mut Source) {
        let Some(cursors) = &self.cursors else {
            let mut made = Vec::new();
            source.share(&mut |first_bytes| {
                let cursor = Cursor::new(first_bytes);
                made.push(Arc::clone(&cursor));
                cursor
            });
            self.cursors = Some(made);
            return;
        };
        let mut given = cursors.iter();
        source.share(&mut |_| {
            Arc::clone(given.next().expect("the workers of a job have the same walks"))
        });
        assert!(given.next().is_none(), "the workers of a job have the same walks");
    }
}

//! The state that a run's own thread writes and views read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use record::Record;
use tokio::sync::watch;

use crate::model::Live;

/// A run that is shown, shared between whoever feeds it and whoever shows it.
#[derive(Clone, Debug)]
pub struct Shared {
    live: Arc<Mutex<Live>>,
    /// The record at the end.
    record: Arc<Mutex<Option<Box<Record>>>>,
    changed: Arc<watch::Sender<u64>>,
}

impl Shared {
    /// Begins.
    pub fn new(live: Live) -> Self {
        Shared {
            live: Arc::new(Mutex::new(live)),
            record: Arc::default(),
            changed: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Changes it, and lets every view know.
    pub fn change<T>(&self, change: impl FnOnce(&mut Live) -> T) -> T {
        let mut live = self.lock();
        let changed = change(&mut live);
        let n = live.n_updates();
        drop(live);
        self.changed.send_replace(n);
        changed
    }

    /// Ends it with the record.
    pub fn end(&self, record: &Record) {
        *self.record.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Box::new(record.clone()));
        self.change(|live| live.end(record));
    }

    /// Looks at it. The lock is held for moments only.
    pub fn lock(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the record, once it has ended.
    pub(crate) fn with_record<T>(&self, read: impl FnOnce(&Record) -> T) -> Option<T> {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.as_deref().map(read)
    }

    /// Returns what changes with each update.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

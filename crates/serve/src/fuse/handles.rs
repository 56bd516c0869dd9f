//! What programs have open.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use fuser::FileHandle;
use rustix::io::Errno;

use crate::store::Opened;
use crate::tree::{Entry, Node};

/// An open file or folder.
#[derive(Debug)]
pub(super) enum Handle {
    /// A file.
    File(Arc<Node>, Opened),
    /// A folder and its entries when it was last read from the start.
    Folder(Arc<Node>, Mutex<Arc<Vec<Entry>>>),
}

/// All of them, by the number that the kernel has.
#[derive(Debug, Default)]
pub(super) struct Handles {
    next: AtomicU64,
    open: RwLock<HashMap<u64, Arc<Handle>>>,
}

impl Handles {
    pub(super) fn insert(&self, handle: Handle) -> FileHandle {
        let number = self.next.fetch_add(1, Relaxed) + 1;
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(number, Arc::new(handle));
        FileHandle(number)
    }

    pub(super) fn get(&self, number: FileHandle) -> Result<Arc<Handle>, Errno> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&number.0).cloned().ok_or(Errno::BADF)
    }

    pub(super) fn remove(&self, number: FileHandle) -> Option<Arc<Handle>> {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&number.0)
    }
}

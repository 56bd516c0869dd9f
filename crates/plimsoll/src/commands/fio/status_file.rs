//! The file that asks a running fio for its status.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use runner::Control;
use units::system_text;

use crate::stream;

/// Its name in the folder for temporary files.
const NAME: &str = "fio-dump-status";

/// Time between two looks, as in fio.
const PERIOD: Duration = Duration::from_millis(250);

/// Asks the run for its status when the file appears, and removes it, while it lives.
pub(super) struct StatusFile {
    /// Closed at the end, which ends the thread.
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StatusFile {
    /// Starts to look. Without a thread for it there is no status.
    pub(super) fn watch(control: &Arc<Control>) -> Self {
        let path = std::env::temp_dir().join(NAME);
        let control = Arc::clone(control);
        let (alive, ended) = mpsc::channel::<()>();
        let watch = move || {
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if !answer(&path, &control) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name(NAME.to_owned()).spawn(watch).ok();
        StatusFile { alive: Some(alive), thread }
    }
}

/// Takes the file away, if it is there, and asks. Returns false if it cannot be removed: the
/// request would be repeated for ever.
fn answer(path: &PathBuf, control: &Control) -> bool {
    if !path.exists() {
        return true;
    }
    if let Err(error) = std::fs::remove_file(path) {
        let path = path.display();
        stream::print_message(&format!(
            "fio: the status file `{path}` is no longer watched: {}\n",
            system_text(&error)
        ));
        return false;
    }
    control.request_status();
    true
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

//! A thread with a runtime of its own, which ends with what holds it.

use std::io;
use std::thread::JoinHandle;

use tokio::sync::watch;

/// Runs until it is dropped, and then as long as its work takes to end.
#[derive(Debug)]
pub(crate) struct Background {
    stop: Option<watch::Sender<bool>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a thread of this name. Its work is to end when what it is given changes: that is an
    /// error, for the sender is gone.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn start<F: Future>(
        name: &str,
        work: impl FnOnce(watch::Receiver<bool>) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            runtime.block_on(work(stopped));
            runtime.shutdown_background();
        })?;
        Ok(Background { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

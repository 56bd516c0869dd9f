//! What the user asks of a run that goes on.

use tokio::sync::watch;

/// How often the user has asked for the end: the run hears of it at once.
#[derive(Debug)]
pub struct Stops(watch::Sender<u32>);

impl Stops {
    /// Begins with none.
    pub fn new() -> Self {
        Stops(watch::Sender::new(0))
    }

    /// Waits until it was asked for more often than this.
    pub(crate) async fn beyond(&self, n: u32) {
        // The sender is here: it does not end.
        let mut asked = self.0.subscribe();
        let _asked = asked.wait_for(|asked| *asked > n).await;
    }

    /// Asks once more.
    pub fn ask(&self) {
        self.0.send_modify(|n| *n = n.saturating_add(1));
    }
}

impl Default for Stops {
    fn default() -> Self {
        Stops::new()
    }
}

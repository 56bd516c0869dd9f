//! A plan in the words of a tool.

/// The text, and what it cannot say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// The file in the tool's language.
    pub text: String,
    /// What the text leaves out or says otherwise than the plan, one sentence each, no two equal.
    pub losses: Vec<String>,
}

impl Translation {
    /// Says whether nothing could be said: the text has comments at most.
    pub fn is_empty(&self) -> bool {
        self.text.lines().all(|line| line.is_empty() || line.starts_with(['#', '*']))
    }

    /// Notes what cannot be said, once.
    pub(crate) fn lose(&mut self, loss: impl Into<String>) {
        let loss = loss.into();
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }
}

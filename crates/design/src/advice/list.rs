//! Advice, and who gives it.

/// One rule that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub source: &'static str,
}

pub(super) const GUIDE: &str = "Azure Premium Storage: design for high performance, 2018";
pub(super) const GUIDE_2021: &str = "Azure documentation, premium storage performance, 2021-06-29";
pub(super) const LITTLE: &str = "Little's law: in flight = rate x latency";
pub(super) const LOCAL: &str =
    "Amazon EC2 user guide, instance store; Azure documentation, temporary disks";
pub(super) const EBS: &str = "Amazon EC2 user guide, EBS volumes";

pub(super) struct List(pub(super) Vec<Advice>);

impl List {
    pub(super) fn put(
        &mut self,
        rule: impl Into<String>,
        reason: impl Into<String>,
        source: &'static str,
    ) {
        let (rule, reason) = (rule.into(), reason.into());
        self.0.push(Advice { rule, reason, source });
    }
}

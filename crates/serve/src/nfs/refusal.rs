//! Why the procedure of a call is not carried out.

use engine::nfs::xdr::XdrError;

/// Why the procedure of a call is not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another version of the call's own format.
    RpcVersion,
    /// No such program here.
    Program,
    /// The program has this version only.
    Version(u32),
    /// The program has no such procedure.
    Procedure,
    /// The arguments cannot be read.
    Arguments,
}

impl From<XdrError> for Refusal {
    fn from(_: XdrError) -> Self {
        Refusal::Arguments
    }
}

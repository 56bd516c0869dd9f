//! The files of a machine's volumes by number, over the folder that holds them.
//!
//! Each file that is in use is held by a descriptor that only names it (`O_PATH`), so names
//! may change and files may be deleted without anything here going stale, and its number cannot be
//! used again meanwhile. Nothing here takes modelled time.

mod attributes;
mod names;
mod nodes;

pub(crate) use attributes::{Changes, LENT_RIGHTS};
pub(crate) use names::{Entry, Identity, NewKind};
pub(crate) use nodes::{Node, ROOT, Tree};

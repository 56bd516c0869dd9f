//! What starts agents on other hosts. A launcher starts `plimsoll agent`, and no more: it knows
//! nothing of runs.

pub mod ssh;

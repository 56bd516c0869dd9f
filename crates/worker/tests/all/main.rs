//! Workers in virtual time.

mod allocation;
mod common;
mod load;
mod priority;
mod replay;
mod verify;

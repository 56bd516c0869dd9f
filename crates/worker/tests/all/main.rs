//! Workers in virtual time.

mod allocation;
mod common;
mod load;
mod replay;
mod verify;

//! Workers in virtual time.

mod allocation;
mod common;
mod load;
mod parts;
mod priority;
mod replay;
mod verify;

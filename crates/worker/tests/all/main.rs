//! Workers in virtual time.

mod allocation;
mod common;
mod load;
mod parts;
mod priority;
mod rates;
mod replay;
mod verify;

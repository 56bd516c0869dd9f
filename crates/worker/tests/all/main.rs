//! Workers in virtual time.

mod allocation;
mod common;
mod deferred;
mod load;
mod open;
mod parts;
mod priority;
mod rates;
mod regions;
mod replay;
mod share;
mod swap;
mod together;
mod verify;

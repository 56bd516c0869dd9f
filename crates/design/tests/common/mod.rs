//! What tests share.

#![allow(dead_code, reason = "not every test uses all of it")]

pub(crate) mod dice;
pub(crate) mod tables;

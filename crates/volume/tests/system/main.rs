//! Tests of `volume::System`, by what it emulates.

mod cache;
mod caps;
mod common;

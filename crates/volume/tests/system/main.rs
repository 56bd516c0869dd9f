//! Tests of `volume::System`, by what it emulates.

mod caps;
mod common;

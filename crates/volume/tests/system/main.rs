//! Tests of `volume::System`, by what it emulates.

mod allocation;
mod burst;
mod cache;
mod caps;
mod changes;
mod common;
mod contracts;
mod network;
mod properties;

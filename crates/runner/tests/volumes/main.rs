//! Whole runs of job files on emulated volumes, in virtual time.

mod bench;
mod bursts;
mod caps;
mod clients;
mod demands;
mod depths;
mod designs;
mod designs_network;
mod dirty;
mod figures;
mod lifts;
mod own_needs;
mod real_time;
mod refusals;
mod semantics;
mod steps;
mod units;
mod validity;

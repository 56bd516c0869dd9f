//! A device in virtual time: completes each operation after a set latency, with set faults.

use std::sync::Arc;

use plan::Job;
use plan::op::{Completion, Op, OpKind};
use worker::{Data, Decision, FileRegion, Meters, NoData, Worker, WorkerSpec};

/// An operation with the times the device saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) op: Op,
    pub(crate) at_ns: u64,
}

/// Virtual device and clock.
pub(crate) struct Sim {
    pub(crate) now_ns: u64,
    pub(crate) latency_ns: u64,
    /// A call takes this long, if it hands anything over; operations are under way from its start.
    pub(crate) call_ns: u64,
    pub(crate) n_calls: usize,
    /// Operations complete at least so far apart.
    pub(crate) gap_ns: u64,
    /// What is due is seen at the next multiple of this, together with what else is.
    pub(crate) bunch_ns: u64,
    /// Nothing completes in this span; operations due within it complete at its end.
    pub(crate) stall: Option<(u64, u64)>,
    /// The worker is not driven in this span: whoever should do it stands still.
    pub(crate) frozen: Option<(u64, u64)>,
    /// Result of the operation with this number instead of its length.
    pub(crate) fault: Option<(usize, i32)>,
    pub(crate) seen: Vec<Seen>,
    /// What the operations took, by the device.
    pub(crate) latencies_ns: Vec<u64>,
    in_flight: Vec<(u64, Completion)>,
    last_due_ns: u64,
    pub(crate) depth_max: usize,
    /// Operations seen before each time at which the page cache was dropped.
    pub(crate) dropped_at: Vec<usize>,
}

impl Sim {
    pub(crate) fn new(latency_ns: u64) -> Self {
        Sim {
            now_ns: 0,
            latency_ns,
            call_ns: 0,
            n_calls: 0,
            gap_ns: 0,
            bunch_ns: 1,
            stall: None,
            frozen: None,
            fault: None,
            seen: Vec::new(),
            latencies_ns: Vec::new(),
            in_flight: Vec::new(),
            last_due_ns: 0,
            depth_max: 0,
            dropped_at: Vec::new(),
        }
    }

    fn submit(&mut self, op: Op) {
        let mut due_ns = self.now_ns + self.latency_ns;
        if self.gap_ns > 0 {
            due_ns = due_ns.max(self.last_due_ns + self.gap_ns);
            self.last_due_ns = due_ns;
        }
        if let Some((from_ns, to_ns)) = self.stall
            && (from_ns..to_ns).contains(&due_ns)
        {
            due_ns = to_ns;
        }
        due_ns = due_ns.next_multiple_of(self.bunch_ns);
        let result = match self.fault {
            Some((number, result)) if number == self.seen.len() => result,
            _ if op.kind.is_sync() => 0,
            _ => op.len.min(i32::MAX as u32) as i32,
        };
        self.latencies_ns.push(due_ns - self.now_ns);
        self.seen.push(Seen { op, at_ns: self.now_ns });
        self.in_flight.push((due_ns, Completion { slot: op.slot, result }));
        self.depth_max = self.depth_max.max(self.in_flight.len());
    }

    /// Goes on to the time at which `min` operations have completed, or `until_ns`, and returns at
    /// most `max` of them.
    fn exchange(&mut self, min: u32, max: u32, until_ns: Option<u64>) -> Vec<Completion> {
        self.in_flight.sort_by_key(|entry| entry.0);
        let min = (min.min(max) as usize).min(self.in_flight.len());
        if min > 0 {
            let due_ns = self.in_flight[min - 1].0;
            let latest_ns = until_ns.unwrap_or(u64::MAX);
            self.now_ns = self.now_ns.max(due_ns.min(latest_ns));
        } else if self.in_flight.is_empty()
            && let Some(until_ns) = until_ns
        {
            self.now_ns = self.now_ns.max(until_ns);
        }
        if let Some((from_ns, to_ns)) = self.frozen
            && (from_ns..to_ns).contains(&self.now_ns)
        {
            self.now_ns = to_ns;
        }
        let n_due = self.in_flight.iter().filter(|entry| entry.0 <= self.now_ns).count();
        self.in_flight.drain(..n_due.min(max as usize)).map(|entry| entry.1).collect()
    }

    /// Drives a worker to its end.
    pub(crate) fn run<D: Data>(&mut self, worker: &mut Worker, data: &mut D) {
        let mut ops = Vec::new();
        loop {
            let (min, until_ns) = match worker.next(self.now_ns, &mut ops, data) {
                Decision::Exchange { min, until_ns } => (min, until_ns),
                Decision::DropCache => {
                    self.dropped_at.push(self.seen.len());
                    continue;
                }
                Decision::RemoveFiles | Decision::Done => break,
            };
            worker.submitted(self.now_ns, &ops);
            for op in &ops {
                self.submit(*op);
            }
            if !ops.is_empty() {
                self.now_ns += self.call_ns;
                self.n_calls += 1;
            }
            let done = self.exchange(min, worker.complete_max(), until_ns);
            worker.complete(self.now_ns, ops.len(), &done, data);
            assert!(self.seen.len() < 10_000_000, "the worker does not end");
        }
    }
}

/// Makes a worker of one file.
pub(crate) fn worker_of(job: Job, region_bytes: u64, batch_max: u32) -> (Worker, Arc<Meters>) {
    let meters = Meters::of(&job);
    let seed = pattern::derive(job.workload.seed, pattern::Stream::Worker, 0);
    let spec = WorkerSpec {
        worker_idx: 0,
        seed,
        files: vec![FileRegion { offset_bytes: 0, len_bytes: region_bytes }],
        amount_bytes: region_bytes,
        batch_max,
        job: Arc::new(job),
    };
    let worker = Worker::new(&spec, Arc::clone(&meters)).expect("the job fits the region");
    (worker, meters)
}

/// Runs a job on a device with this latency and returns what the device saw.
pub(crate) fn run(job: Job, region_bytes: u64, latency_ns: u64) -> (Sim, Arc<Meters>, Worker) {
    let (mut worker, meters) = worker_of(job, region_bytes, 32);
    let mut sim = Sim::new(latency_ns);
    sim.run(&mut worker, &mut NoData);
    (sim, meters, worker)
}

/// A job of 4 KiB blocks with this depth.
pub(crate) fn job(kind: OpKind, random: bool, queue_depth: u32) -> Job {
    let mut job = Job::default();
    job.engine.kind = plan::EngineKind::Uring;
    job.workload.access.read = kind == OpKind::Read;
    job.workload.access.write = kind == OpKind::Write;
    job.workload.access.random = random;
    job.load.queue_depth = queue_depth;
    job
}

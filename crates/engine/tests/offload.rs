//! The pool of threads that issues I/O for a worker.

mod common;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{
    BLOCK, BYTE_ENGINES, all, arena, file, one, op, options, read_write, scratch, spec, table,
    try_all, zeros,
};
use engine::{Arena, Engine, EngineError, FileTable, TablePolicy, Usage, Wait, build, offload};
use plan::EngineKind;
use plan::op::{BufId, Completion, FileIdx, Op, OpKind};

const DEPTH: u32 = 8;

fn pool_of(kind: EngineKind, files: FileTable) -> Result<Box<dyn Engine>, EngineError> {
    let make = |files, arena| build(&spec(kind), files, arena, options(1));
    offload(DEPTH, files, arena(DEPTH), &make)
}

#[test]
fn every_engine_moves_the_same_bytes_as_without_a_pool() {
    for kind in BYTE_ENGINES {
        let dir = scratch();
        let path = zeros(dir.path(), "f", u64::from(DEPTH * BLOCK));
        let mut pool = match pool_of(kind, table(vec![file(&path, read_write())])) {
            Ok(pool) => pool,
            Err(error @ EngineError::Unavailable { .. }) => {
                testing::skipped!("{error}");
                continue;
            }
            Err(error) => panic!("{kind:?}: {error}"),
        };
        let ops = |kind| {
            let at = |slot: u32| op(kind, slot, u64::from(slot * BLOCK), BLOCK);
            (0..DEPTH).map(at).collect::<Vec<_>>()
        };
        for slot in 0..DEPTH {
            unsafe { pool.arena().slice_mut(BufId(slot), BLOCK) }.fill(slot as u8 + 1);
        }
        let whole = |ops: &[Op]| ops.iter().map(Completion::whole).collect::<Vec<_>>();
        let writes = ops(OpKind::Write);
        assert_eq!(all(pool.as_mut(), &writes), whole(&writes), "{kind:?}");
        for slot in 0..DEPTH {
            unsafe { pool.arena().slice_mut(BufId(slot), BLOCK) }.fill(0);
        }
        for _ in 0..100 {
            let reads = ops(OpKind::Read);
            assert_eq!(all(pool.as_mut(), &reads), whole(&reads), "{kind:?}");
        }
        for slot in 0..DEPTH {
            let bytes = unsafe { pool.arena().slice(BufId(slot), BLOCK) };
            assert!(bytes.iter().all(|byte| *byte == slot as u8 + 1), "{kind:?}, slot {slot}");
        }
        assert!(pool.name().ends_with("(issued by 8 threads)"), "{}", pool.name());
    }
}

#[test]
fn an_operation_that_fails_is_a_result() {
    let dir = scratch();
    let path = zeros(dir.path(), "f", u64::from(BLOCK));
    let files = table(vec![file(&path, engine::OpenFlags::default())]);
    let mut pool = pool_of(EngineKind::Sync, files).unwrap();
    assert_eq!(one(pool.as_mut(), op(OpKind::Write, 3, 0, BLOCK)), -libc::EBADF);
    assert_eq!(one(pool.as_mut(), op(OpKind::Read, 3, 0, BLOCK)), BLOCK as i32);
}

#[test]
fn files_that_were_removed_are_made_anew() {
    let dir = scratch();
    let path = dir.path().join("f");
    let open = engine::OpenFlags { create: true, ..read_write() };
    let mut pool = pool_of(EngineKind::Sync, table(vec![file(&path, open)])).unwrap();
    let writes: Vec<_> =
        (0..DEPTH).map(|slot| op(OpKind::Write, slot, u64::from(slot * BLOCK), BLOCK)).collect();
    for _ in 0..3 {
        all(pool.as_mut(), &writes);
        assert_eq!(path.metadata().unwrap().len(), u64::from(DEPTH * BLOCK));
        pool.files().unlink_all().unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn a_limit_of_open_files_holds_for_each_thread() {
    let dir = scratch();
    let specs = (0..6)
        .map(|idx| file(&zeros(dir.path(), &idx.to_string(), u64::from(BLOCK)), read_write()));
    let policy = TablePolicy { n_open: Some(2), ..TablePolicy::default() };
    let files = FileTable::new(specs.collect(), policy).unwrap();
    let mut pool = pool_of(EngineKind::Sync, files).unwrap();
    for round in 0..50 {
        let at =
            |slot| Op { file: FileIdx((slot + round) % 6), ..op(OpKind::Read, slot, 0, BLOCK) };
        let reads: Vec<_> = (0..DEPTH).map(at).collect();
        for completion in all(pool.as_mut(), &reads) {
            assert_eq!(completion.result, BLOCK as i32);
        }
    }
}

#[test]
fn what_the_threads_use_is_counted() {
    let dir = scratch();
    let path = zeros(dir.path(), "f", u64::from(DEPTH * BLOCK));
    let files = table(vec![file(&path, read_write())]);
    let mut pool = pool_of(EngineKind::Sync, files).unwrap();
    for _ in 0..2_000 {
        one(pool.as_mut(), op(OpKind::Read, 0, 0, BLOCK));
    }
    let usage = pool.end_threads();
    assert!(usage.user_ns + usage.system_ns > 0, "{usage:?}");
    assert_eq!(pool.end_threads(), Usage::default(), "counted twice");
}

/// What an [`HeldEngine`] engine does with an operation.
enum Order {
    Complete,
    Fail,
    Panic,
}

/// An engine that blocks in each operation until it is released, as a slow device blocks.
struct HeldEngine {
    arena: Arena,
    files: FileTable,
    orders: Arc<Mutex<Receiver<Order>>>,
}

impl Engine for HeldEngine {
    fn exchange(
        &mut self,
        ops: &[Op],
        _wait: Wait,
        done: &mut Vec<Completion>,
    ) -> Result<(), EngineError> {
        for op in ops {
            // Reads need no order.
            if op.kind == OpKind::Write {
                match self.orders.lock().unwrap().recv().unwrap_or(Order::Complete) {
                    Order::Complete => {}
                    Order::Fail => {
                        return Err(EngineError::OutOfRange { what: "x", value: 0, expected: "y" });
                    }
                    Order::Panic => panic!("on purpose"),
                }
            }
            done.push(Completion::whole(op));
        }
        Ok(())
    }

    fn batch_max(&self) -> u32 {
        1
    }

    fn name(&self) -> &'static str {
        "obedient"
    }

    fn arena(&mut self) -> &mut Arena {
        &mut self.arena
    }

    fn files(&mut self) -> &mut FileTable {
        &mut self.files
    }
}

fn obedient_pool() -> (Box<dyn Engine>, Sender<Order>) {
    let (sender, orders) = channel();
    let orders = Arc::new(Mutex::new(orders));
    let make = move |files, arena| {
        let orders = Arc::clone(&orders);
        Ok(Box::new(HeldEngine { arena, files, orders }) as Box<dyn Engine>)
    };
    (offload(DEPTH, table(Vec::new()), arena(DEPTH), &make).unwrap(), sender)
}

#[test]
fn a_submission_that_blocks_holds_back_nothing_else() {
    let (mut pool, orders) = obedient_pool();
    let mut done = Vec::with_capacity(DEPTH as usize);
    pool.exchange(&[op(OpKind::Write, 0, 0, BLOCK)], Wait::POLL, &mut done).unwrap();
    for slot in 1..DEPTH {
        let wait = Wait { min: 1, timeout_ns: None };
        pool.exchange(&[op(OpKind::Read, slot, 0, BLOCK)], wait, &mut done).unwrap();
        assert_eq!(done.pop().unwrap().slot, slot, "the others go on");
        assert!(done.is_empty());
    }
    let short = Wait { min: 1, timeout_ns: Some(1_000_000) };
    pool.exchange(&[], short, &mut done).unwrap();
    assert!(done.is_empty(), "a wait ends in time without a completion");
    orders.send(Order::Complete).unwrap();
    pool.exchange(&[], Wait { min: 1, timeout_ns: None }, &mut done).unwrap();
    assert_eq!(done[0].slot, 0);
}

#[test]
fn all_of_the_depth_is_in_flight_at_once() {
    let (mut pool, orders) = obedient_pool();
    let writes: Vec<_> = (0..DEPTH).map(|slot| op(OpKind::Write, slot, 0, BLOCK)).collect();
    let mut done = Vec::with_capacity(DEPTH as usize);
    pool.exchange(&writes, Wait::POLL, &mut done).unwrap();
    assert!(done.is_empty());
    for _ in 0..DEPTH {
        orders.send(Order::Complete).unwrap();
    }
    let all = Wait { min: DEPTH, timeout_ns: Some(Duration::from_mins(1).as_nanos() as u64) };
    pool.exchange(&[], all, &mut done).unwrap();
    assert_eq!(done.len(), DEPTH as usize);
}

#[test]
fn what_is_in_flight_has_its_thread() {
    let writes: Vec<_> = (0..=DEPTH).map(|slot| op(OpKind::Write, slot, 0, BLOCK)).collect();
    let busy = |n_writes: usize| {
        let (mut pool, orders) = obedient_pool();
        pool.exchange(&writes[..n_writes], Wait::POLL, &mut Vec::new()).expect("room");
        (pool, orders)
    };
    testing::check_wrong_calls(&[
        ("one too many", "9 are in flight on 8 threads", &|| {
            let (mut pool, _orders) = busy(8);
            _ = pool.exchange(&writes[8..], Wait::POLL, &mut Vec::new());
        }),
        ("an end too early", "threads end while 1 operations are in flight", &|| {
            let (mut pool, _orders) = busy(1);
            pool.end_threads();
        }),
    ]);
}

#[track_caller]
fn check_loss(order: Order, expected: &str) {
    let (mut pool, orders) = obedient_pool();
    orders.send(order).unwrap();
    let error = try_all(pool.as_mut(), &[op(OpKind::Write, 0, 0, BLOCK)]).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_engine_of_a_thread_that_cannot_go_on_is_an_error_of_the_pool() {
    check_loss(Order::Fail, "x is 0, but must be y");
    check_loss(Order::Panic, "a thread that issues I/O ended unexpectedly");
}

#[test]
fn an_engine_that_cannot_be_made_is_an_error() {
    let make = |_, _| Err(EngineError::OutOfRange { what: "x", value: 0, expected: "y" });
    assert!(offload(DEPTH, table(Vec::new()), arena(DEPTH), &make).is_err());
}

//! Several workers with the same sequence, each of which issues its part.

use std::sync::Arc;

use plan::job::{Part, PartRegion};
use plan::load::Share;
use plan::op::OpKind;
use plan::workload::BlockSize;
use plan::{Job, PerDir};
use proptest::prelude::*;
use worker::{FileRegion, Meters, NoData, Worker, WorkerSpec};

use crate::common::{Sim, job};

/// What was done, in order: kind, file, offset and length.
type Done = Vec<(OpKind, u32, u64, u32)>;

/// Runs a part of a job on files of so many blocks each.
fn run(job: &Job, n_blocks: &[u64], share: Share) -> Done {
    let mut job = job.clone();
    job.load.share = share;
    let files: Vec<FileRegion> =
        n_blocks.iter().map(|n| FileRegion { offset_bytes: 0, len_bytes: n * 4096 }).collect();
    let meters = Meters::of(&job);
    let spec = WorkerSpec {
        worker_idx: 0,
        seed: 5,
        amount_bytes: files.iter().map(|file| file.len_bytes).sum(),
        files,
        batch_max: 32,
        job: Arc::new(job),
    };
    let mut worker = Worker::new(&spec, meters).expect("the job fits its files");
    let mut sim = Sim::new(1000);
    sim.run(&mut worker, &mut NoData);
    sim.seen.iter().map(|it| (it.op.kind, it.op.file.0, it.op.offset, it.op.len)).collect()
}

/// Asserts that so many hosts together do what one does, in equal parts.
fn check(job: &Job, n_blocks: &[u64], n_hosts: u32) {
    let mut alone = run(job, n_blocks, Share::default());
    let parts: Vec<Done> =
        (0..n_hosts).map(|idx| run(job, n_blocks, Share { idx, n: n_hosts })).collect();
    let lens = || parts.iter().map(Vec::len);
    let differ = lens().max().unwrap_or(0) - lens().min().unwrap_or(0);
    // One operation of each pass.
    assert!(differ <= job.limits.loops as usize, "{:?}", lens().collect::<Vec<_>>());
    let mut all = parts.concat();
    let key =
        |(kind, file, offset, len): &(OpKind, u32, u64, u32)| (*file, *offset, *len, *kind as u8);
    alone.sort_by_key(key);
    all.sort_by_key(key);
    assert_eq!(all, alone, "{n_hosts} hosts");
}

#[test]
fn every_block_of_a_pass_is_touched_by_one_host() {
    for random in [false, true] {
        for n_hosts in [2, 3, 8] {
            let job = job(OpKind::Write, random, 4);
            check(&job, &[1000], n_hosts);
            let mut offsets: Vec<u64> = (0..n_hosts)
                .flat_map(|idx| run(&job, &[1000], Share { idx, n: n_hosts }))
                .map(|(_, _, offset, _)| offset / 4096)
                .collect();
            offsets.sort_unstable();
            assert_eq!(offsets, (0..1000).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn hosts_without_a_part_end_at_once() {
    let mut job = job(OpKind::Read, true, 4);
    job.limits.n_ios_max = Some(3);
    check(&job, &[16], 5);
    job.limits.time_based = true;
    job.limits.runtime_ns = Some(50_000);
    assert_eq!(run(&job, &[16], Share { idx: 4, n: 5 }), []);
}

fn any_job() -> impl Strategy<Value = Job> {
    let size = prop_oneof![
        Just(BlockSize::Fixed(4096)),
        Just(BlockSize::Fixed(12288)),
        Just(BlockSize::Range { min: 4096, max: 16384 }),
    ];
    let access = (any::<bool>(), 0_u32..3, 1_u32..20, 1_u32..3);
    let amount = (prop_oneof![Just(None), (1_u64..300).prop_map(Some)], any::<bool>());
    (access, size, amount, 0_usize..4).prop_map(
        |((random, kind, depth, n_passes), size, (n_ios_max, joined), n_parts)| {
            let mut job = job(OpKind::Read, random, depth);
            job.workload.access.read = kind != 1;
            job.workload.access.write = kind != 0;
            job.workload.read_pct = 70.0;
            job.workload.block_size = PerDir::all(size);
            job.limits.n_ios_max = n_ios_max;
            job.limits.loops = n_passes;
            job.files.concatenate = joined;
            let part = |idx: usize| Part {
                name: format!("part{idx}"),
                weight: 1.0 + idx as f64,
                workload: job.workload.clone(),
                region: if idx == 1 { PartRegion::Pct(0.0, 50.0) } else { PartRegion::Whole },
                ..Part::default()
            };
            if n_ios_max.is_some() {
                job.parts = (0..n_parts).map(part).collect();
            }
            job
        },
    )
}

proptest! {
    #[test]
    fn hosts_together_do_what_one_does(
        job in any_job(),
        n_blocks in proptest::collection::vec(8_u64..200, 1..4),
        n_hosts in 2_u32..9,
    ) {
        check(&job, &n_blocks, n_hosts);
    }
}

//! What a caller must not do: each ends with a panic that says what is wrong, in release as well.

use volume::design::{Backing, Latency, NetworkVolume, Stripe};
use volume::limits::cache::WorkingSet;
use volume::limits::size::published_mb_s;
use volume::limits::stripe::{busy_expected, split};
use volume::limits::{Bound, Flow, Load, alone, remedies_among, together};
use volume::{CacheMode, Design};

use crate::common::{S, cap, design, disk, limit, one_p30, p30, system, vm, volume};

fn asked(load: Load, demand: Option<f64>) {
    together(&one_p30(), &[Flow { volume: 0, load, demand }]);
}

#[test]
fn a_load_is_one() {
    let load = Load::new(8192, 1.0);
    testing::check_wrong_calls(&[
        ("no such volume", "volume 1 of 1", &|| drop(alone(&one_p30(), 1, &load))),
        ("no bytes", "has bytes", &|| asked(Load { size_bytes: 0, ..load }, None)),
        ("aligned to nothing", "multiples", &|| {
            asked(Load { align_bytes: Some(0), ..load }, None);
        }),
        ("more than all are reads", "1.01 is no share of reads", &|| {
            asked(Load { read_share: 1.01, ..load }, None);
        }),
        ("a share that is no number", "NaN is no share", &|| {
            asked(Load { read_share: f64::NAN, ..load }, None);
        }),
        ("less than no hits", "-0.1 is no share of hits", &|| {
            asked(Load { hit_ratio: -0.1, ..load }, None);
        }),
        ("no depth", "none in flight", &|| asked(Load { queue_depth: Some(0), ..load }, None)),
        ("a rate below 0", "is no rate", &|| asked(load, Some(-1.0))),
        ("a rate that is no number", "is no rate", &|| asked(load, Some(f64::NAN))),
        ("remedies for no flow", "flow 1 of 1", &|| {
            drop(remedies_among(&one_p30(), &[Flow { volume: 0, load, demand: None }], 1));
        }),
    ]);
}

fn cached() -> Design {
    let vm = vm(cap(5_000, 1 << 30), cap(5_000, 1 << 30), 1 << 30);
    design(Some(vm), vec![volume("/data", vec![p30(CacheMode::ReadOnly)])])
}

#[test]
fn a_working_set_has_a_size() {
    let made = |volume, bytes| WorkingSet::new(&cached(), volume, &Load::new(8192, 1.0), bytes);
    let warm_up = made(0, 1e9).expect("a cache").warm_up;
    testing::check_wrong_calls(&[
        ("no such volume", "volume 1 of 1", &|| _ = made(1, 1e9)),
        ("no bytes", "0 is no size", &|| _ = made(0, 0.0)),
        ("no end", "inf is no size", &|| _ = made(0, f64::INFINITY)),
        ("all of it", "1 is no share below 1", &|| _ = warm_up.seconds_to(1.0)),
    ]);
}

#[test]
fn an_io_has_bytes_and_a_stripe_has_disks() {
    testing::check_wrong_calls(&[
        ("nothing to split", "an I/O without bytes is split", &|| {
            _ = split(0, 4096, 65_536, None);
        }),
        ("a chunk of 4 TiB", "8589934592 places in a chunk of 4398046511104 B", &|| {
            _ = split(4096, 512, 1 << 42, None);
        }),
        ("no disk", "8 I/Os are in flight on no disk", &|| _ = busy_expected(0, 8)),
        ("no bytes in a published figure", "an I/O of 0 B", &|| {
            _ = published_mb_s(5_000.0, 0.0, Bound::Nothing, 0.0);
        }),
    ]);
}

/// Builds a system of volumes without a machine.
fn built(change: &dyn Fn(&mut volume::design::Volume, &mut Vec<volume::design::Disk>)) {
    let mut disks = vec![p30(CacheMode::None); 4];
    let mut data = volume("/data", disks.clone());
    change(&mut data, &mut disks);
    if let Backing::Disks(stripe) = &mut data.backing {
        stripe.disks = disks;
    }
    drop(system(&design(None, vec![data])));
}

/// Builds a system of four disks in a stripe that is not as it should be.
fn striped(n_disks: usize, columns: u32, chunk_bytes: u64) {
    built(&|data, disks| {
        disks.truncate(n_disks);
        let stripe = Stripe {
            disks: Vec::new(),
            chunk_bytes,
            columns,
            is_local: false,
            has_machine_base: false,
        };
        data.backing = Backing::Disks(stripe);
    });
}

#[test]
fn a_design_names_what_is_there() {
    striped(4, 2, 65_536);
    let latency = Latency { mean_ns: 1_000_000, spread: f64::NAN };
    testing::check_wrong_calls(&[
        ("an unknown pool", "`/data` is in a pool that is missing", &|| {
            built(&|data, _| {
                data.backing = Backing::Network(NetworkVolume {
                    level: "own".to_owned(),
                    quota: Some(limit(1 << 20)),
                    ceiling: volume::design::Ceiling::default(),
                    pool: Some(0),
                    transfer_bytes: 1 << 20,
                });
            });
        }),
        ("a latency without spread", "a latency spreads by NaN", &|| {
            built(&|data, _| data.latency = latency);
        }),
        ("a hit without spread", "a latency spreads by NaN", &|| {
            built(&|data, _| data.cache_latency = latency);
        }),
        ("too many disks", "65535 disks are more than can be numbered", &|| {
            let many = vec![disk(cap(500, 1 << 20), CacheMode::None); 65_535];
            drop(system(&design(None, vec![volume("/data", many)])));
        }),
        ("too many volumes", "65535 volumes are more than can be numbered", &|| {
            let many = vec![volume("/data", vec![p30(CacheMode::None)]); 65_535];
            drop(system(&design(None, many)));
        }),
        ("too many clients", "65535 clients are more than can be numbered", &|| {
            let clients = vec![volume::design::Client::default(); 65_535];
            drop(system(&Design { clients, ..one_p30() }));
        }),
        ("no disks", "`/data` is a stripe without disks", &|| striped(0, 1, 65_536)),
        ("a column too many", "`/data` has 4 disks in 3 columns", &|| striped(4, 3, 65_536)),
        ("no columns", "`/data` has 4 disks in 0 columns", &|| striped(4, 0, 65_536)),
        ("an odd chunk", "`/data` has chunks of 65535 B", &|| striped(4, 2, 65_535)),
    ]);
}

#[test]
fn ranges_have_a_beginning_and_an_end() {
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake that is to be found")]
    let reversed = 8192..4096;
    testing::check_wrong_calls(&[
        ("beyond 64 bits", "ends within 64 bits", &|| system(&cached()).warm(0, u64::MAX, 2)),
        ("ends first", "begins before it ends", &|| {
            system(&cached()).discard(0, reversed.clone());
        }),
    ]);
}

#[test]
fn time_does_not_go_back() {
    let mut system = system(&one_p30());
    system.poll(5 * S, &mut Vec::new());
    let before = "the time was 5000000000 ns, and is said to be 4999999999 ns";
    testing::check_wrong_calls(&[
        ("a change before now", before, &|| {
            _ = system.clone().change(5 * S - 1, &one_p30());
        }),
        ("a crash before now", before, &|| system.clone().crash(5 * S - 1)),
        ("a start before now", before, &|| system.clone().restart(5 * S - 1)),
    ]);
}

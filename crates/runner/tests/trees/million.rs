//! A tree of a million files, in flat memory.

use plan::op::OpKind;
use plan::tree::{FileSizes, Select, SelectOrder, TreeSpec, TreeTask};

use crate::bench::{Bench, FORMAT, fine, n_done, task};

#[test]
fn a_million_files_take_a_few_bytes_each() {
    if std::env::var_os("PLIMSOLL_LONG_TESTS").is_none() {
        testing::skipped!("PLIMSOLL_LONG_TESTS is not set");
        return;
    }
    let bench = Bench::new();
    let spec = TreeSpec {
        depth: 2,
        width: 100,
        files: 100,
        sizes: FileSizes::Fixed(512),
        ..bench.spec.clone()
    };
    let bench = Bench { spec, ..bench };
    let before_kib = testing::status_kib("VmHWM");
    let clock = std::time::Instant::now();
    let record = bench.format(FORMAT);
    assert_eq!(n_done(fine(&record), OpKind::Create), 1_000_000);
    println!("made in {:.1} s", clock.elapsed().as_secs_f64());
    let clock = std::time::Instant::now();
    let select = Select { order: SelectOrder::Random, once: true, ..Select::default() };
    let walk = TreeTask { select, ..task(OpKind::Stat) };
    let record = bench.run(vec![bench.task(walk, u64::MAX)]);
    assert_eq!(n_done(fine(&record), OpKind::Stat), 1_000_000);
    println!("walked in {:.1} s", clock.elapsed().as_secs_f64());
    let grown_kib = testing::status_kib("VmHWM") - before_kib;
    println!("peak memory: {before_kib} KiB before, {grown_kib} KiB more");
    // Two bytes per file, some per folder, histograms and buffers of three workers.
    assert!(grown_kib < 48 << 10, "{grown_kib} KiB");
    fine(&bench.format(plan::tree::Format { create: false, ..FORMAT }));
}

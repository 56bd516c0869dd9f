//! docs/circle.md as it stands: an application is captured, designed for, rehearsed and confirmed.

#[path = "common/apart.rs"]
mod apart;
mod common;
#[path = "common/loop_device.rs"]
mod loop_device;

use std::path::Path;

use apart::{SKIPPED, apart};
use common::Sandbox;
use loop_device::LoopDevice;

const PAGE: &str = include_str!("../../../docs/circle.md");

/// Returns what stands in the blocks of one language, one after the other.
fn blocks(language: &str) -> String {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let of = blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'));
    of.collect()
}

/// Every command of the page, with Debian's fio as the application. A loop device stands for the
/// disk of today, and /mnt is empty and the test's own.
#[test]
fn the_page_goes_round() {
    if !["fio", "losetup", "unshare"].into_iter().all(testing::has_program) {
        return;
    }
    if !Path::new("/dev/fuse").exists() {
        testing::skipped!("there is no FUSE here");
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("image", vec![0; 64 << 20]);
    let Some(device) = LoopDevice::new(&sandbox.path("image")) else { return };
    sandbox.write("app.fio", blocks("ini"));
    let script = format!(
        "mount -t tmpfs none /mnt || exit {SKIPPED}\n\
         plimsoll() {{ '{}' \"$@\"; }}\n\
         export DISK={} HOME=\"$PWD\" PLIMSOLL_STORE=\"$PWD/runs.db\"\n\
         trap 'plimsoll rehearse unmount --lazy /mnt/$DISK' EXIT\n\
         {}trap - EXIT\n",
        env!("CARGO_BIN_EXE_plimsoll"),
        device.name(),
        blocks("sh"),
    );
    let Some(outcome) = apart(&sandbox, &script) else { return };
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.code, 0, "{said}");
    for part in ["met", "unmounted"] {
        assert!(said.contains(part), "no `{part}`: {said}");
    }
}

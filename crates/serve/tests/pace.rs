//! When requests are answered: at their modelled time, as whoever waits for them sees it.

mod common;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use common::{Mounted, design, disk};
use serve::clock::now_ns;
use volume::CacheMode;

/// The way between a caller and the server is made up for by at most this much.
const WAY_MAX: Duration = Duration::from_micros(250);

const LATENCY: Duration = Duration::from_millis(5);

/// How late an answer may be is a matter of how busy the machine is; early it is never, but for
/// what makes up for late ones. All together never take less than the model says.
#[test]
fn no_request_is_answered_early() {
    let mut volume = disk(1_000_000, 4 << 30, 64 << 20, CacheMode::None);
    volume.latency.mean_ns = LATENCY.as_nanos() as u64;
    let Some(mounted) = Mounted::new(design(vec![volume])) else { return };
    fs::write(mounted.join("f"), vec![1; 1 << 20]).unwrap();
    let file = File::options().read(true).write(true).open(mounted.join("f")).unwrap();
    let mut page = [0; 4096];
    let early_max = WAY_MAX + LATENCY / 8;
    let begin_ns = now_ns();
    for idx in 0..40 {
        let start_ns = now_ns();
        match idx % 2 {
            0 => file.read_exact_at(&mut page, idx * 4096).unwrap(),
            _ => file.write_all_at(&page, idx * 4096).unwrap(),
        }
        let took = Duration::from_nanos(now_ns() - start_ns);
        assert!(took >= LATENCY.checked_sub(early_max).unwrap(), "{idx}: {took:?}");
    }
    let took = Duration::from_nanos(now_ns() - begin_ns);
    assert!(took >= (40 * LATENCY).checked_sub(WAY_MAX).unwrap(), "{took:?}");
}

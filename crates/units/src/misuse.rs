//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use crate::{nearest_of, plural};

#[test]
fn a_wrong_call_panics() {
    let candidates = || [("Queue-Depth", "queuedepth")].into_iter();
    testing::check_wrong_calls(&[
        ("a count below 0", "a number of `worker` below 0", &|| _ = plural(-1, "worker")),
        ("a thing without a name", "`` is not what one thing is called", &|| _ = plural(2, "")),
        ("several things", "`runs` is not what one thing is called", &|| _ = plural(2, "runs")),
        ("a name as it was typed", "`Queue-Depth` is compared before", &|| {
            _ = nearest_of("Queue-Depth", candidates());
        }),
    ]);
    assert_eq!(nearest_of("queuedepth", candidates()), ["Queue-Depth"]);
    assert_eq!(plural(0, "entry"), "0 entries");
}

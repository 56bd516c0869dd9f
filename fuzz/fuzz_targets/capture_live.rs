//! Texts of /proc: no two looks at any of them make the sampler panic.

#![no_main]

use capture::Collector;
use capture::live::{Cgroup, Live, Moment, Scope, Texts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (one, other) = text.split_once('\0').unwrap_or((&text, ""));
    let scope = Scope { devices: Vec::new(), mounts: vec!["/a".to_owned()] };
    for scope in [Scope::default(), scope] {
        let mut live = Live::new(scope);
        let mut collector = Collector::new();
        collector.begin("live", "live");
        for (idx, text) in [one, other, one].into_iter().enumerate() {
            let texts = Texts {
                diskstats: text,
                stat: text,
                meminfo: text,
                vmstat: text,
                mountstats: text,
                cgroup: Some(if idx == 0 { Cgroup::V2(text) } else { Cgroup::V1(text, other) }),
            };
            let moment = Moment { local_ns: idx as i64, monotonic_ns: idx as u64 * 1_000_000_000 };
            live.take(moment, &texts, &mut |event| collector.take(event));
        }
        live.finish(&mut |event| collector.take(event));
        collector.finish(&[]);
    }
});

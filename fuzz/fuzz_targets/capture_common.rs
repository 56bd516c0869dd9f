//! What must hold of every reader of `capture`, whatever it is given.

use capture::{Collector, Format, Options, Phases, needs_of, read, recognise, series_csv};

/// Reads bytes as a form, and makes needs of what came.
pub fn check(format: Format, bytes: &[u8]) {
    let _ = recognise(bytes);
    for (keeps_first, length_ns) in [(false, None), (true, Some(500_000_000))] {
        let mut collector = Collector::new();
        collector.begin("input", format.name());
        let options = Options { keeps_first, length_ns, dates: None };
        let read = read(format, &mut &bytes[..], options, &mut |event| collector.take(event));
        if let Err(error) = &read {
            assert!(!error.to_string().is_empty());
        }
        let captured = collector.finish(&[]);
        for volume in &captured.volumes {
            assert!(volume.samples.iter().all(|sample| sample.span_ns > 0), "{volume:?}");
        }
        series_csv(&captured);
        let Ok(needs) = needs_of(&captured, "input", &Phases::default()) else { continue };
        let text = needs.to_toml();
        assert!(needs::parse(&text).0.is_some(), "{text}");
    }
}

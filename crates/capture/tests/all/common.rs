//! What the tests share: a text through a reader, into what was captured.

use capture::{Captured, CapturedVolume, Collector, Note, Options, ReadError, recognise};

/// For logs that do not tell how far apart their reports are.
pub(crate) const EVERY_SECOND: Options =
    Options { keeps_first: false, length_ns: Some(capture::NS_PER_S), dates: None };

/// Reads one text by its content.
pub(crate) fn try_capture(text: &str, options: Options) -> Result<Captured, ReadError> {
    let format = recognise(text.as_bytes()).expect("a form that is known");
    let mut collector = Collector::new();
    collector.begin("log", format.name());
    capture::read(format, &mut text.as_bytes(), options, &mut |event| collector.take(event))?;
    Ok(collector.finish(&[]))
}

/// Reads one text that is sound.
#[track_caller]
pub(crate) fn captured(text: &str) -> Captured {
    try_capture(text, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a volume by its name.
#[track_caller]
pub(crate) fn volume<'a>(captured: &'a Captured, name: &str) -> &'a CapturedVolume {
    let names: Vec<&str> = captured.volumes.iter().map(|volume| volume.name.as_str()).collect();
    let found = captured.volumes.iter().find(|volume| volume.name == name);
    found.unwrap_or_else(|| panic!("no volume {name} among {names:?}"))
}

/// Returns the texts of all notes.
pub(crate) fn notes(captured: &Captured) -> String {
    let text = |note: &Note| format!("{:?} {:?} {}\n", note.kind, note.line, note.text);
    captured.notes.iter().map(|note| text(&note.note)).collect()
}

/// Checks that two figures are the same but for rounding.
#[track_caller]
pub(crate) fn assert_near(found: impl Into<Option<f64>>, expected: f64) {
    let found = found.into().expect("the figure is known");
    let is_near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    assert!(is_near, "{found} instead of {expected}");
}

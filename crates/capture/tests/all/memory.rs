//! Readers take no more memory for a long text than for a short one.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, BufReader, Read};

use capture::{Collector, Event, Flow, NS_PER_S, Options, SAMPLES_MAX, Sample, read};

use crate::common::assert_near;
use crate::texts::{TEXTS, Text};

thread_local! {
    static LIVE_BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Counts what the thread holds. What another one frees counts as held.
struct Counting;

// SAFETY: passes every call on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live_bytes = LIVE_BYTES.get() + layout.size();
        LIVE_BYTES.set(live_bytes);
        PEAK_BYTES.set(PEAK_BYTES.get().max(live_bytes));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE_BYTES.set(LIVE_BYTES.get().saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A text that is made while it is read, a part at a time.
struct Made<'a> {
    text: &'a Text,
    n_left: u64,
    idx: u64,
    lines: String,
    n_given: usize,
}

impl Read for Made<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.n_given == self.lines.len() && self.n_left > 0 {
            self.lines.clear();
            (self.text.part)(self.idx, &mut self.lines);
            (self.idx, self.n_left, self.n_given) = (self.idx + 1, self.n_left - 1, 0);
        }
        let n_bytes = (&self.lines.as_bytes()[self.n_given..]).read(buffer)?;
        self.n_given += n_bytes;
        Ok(n_bytes)
    }
}

/// Returns the most that is held while so many I/Os are read, above what is held before.
fn peak_bytes(text: &Text, n_parts: u64) -> usize {
    let lines = text.head.to_owned();
    let made = Made { text, n_left: n_parts, idx: 0, lines, n_given: 0 };
    let before = LIVE_BYTES.get();
    PEAK_BYTES.set(before);
    let mut input = BufReader::new(made);
    let mut n_events = 0_u64;
    read(text.format, &mut input, Options::default(), &mut |_| n_events += 1).expect("a text");
    assert!(n_events > 0, "{}", text.name);
    PEAK_BYTES.get() - before
}

#[test]
fn a_text_of_any_length_takes_the_same_memory() {
    for text in &TEXTS {
        let (short, long) = (peak_bytes(text, 2000), peak_bytes(text, 60_000));
        assert!(long <= short + 4096, "{}: {long} bytes, and {short} of a short one", text.name);
    }
}

/// Beyond the limit neighbours are joined, all of them as often, whether or not they tell how long
/// they are; nothing is lost, and no rate changes.
#[test]
fn samples_beyond_the_limit_are_joined_evenly() {
    for span_ns in [0, NS_PER_S] {
        let mut collector = Collector::new();
        collector.begin("log", "iostat");
        let n_samples = 2 * SAMPLES_MAX;
        for idx in 0..n_samples {
            let end_ns = (idx as u64 * NS_PER_S) as i64;
            let all = Flow { n_ios: Some(100.0), ..Flow::default() };
            let sample = Sample { end_ns, span_ns, all, ..Sample::default() };
            collector.take(Event::Device { name: "sda", sample });
        }
        let captured = collector.finish(&[]);
        let samples = &captured.volumes[0].samples;
        assert!(samples.len() <= SAMPLES_MAX, "{}", samples.len());
        let longest_ns = samples.iter().map(|it| it.span_ns).max();
        // What came since the last joining is as it came, and a joining leaves one rest.
        let is_odd = |it: &&Sample| it.span_ns != NS_PER_S && Some(it.span_ns) != longest_ns;
        let n_odd = samples.iter().filter(is_odd).count();
        assert!(n_odd <= 8, "{n_odd} of {}", samples.len());
        assert!(samples.iter().all(|it| it.n_ios() == Some(100.0 * it.span_s())));
        assert_near(
            samples.iter().filter_map(Sample::n_ios).sum::<f64>(),
            n_samples as f64 * 100.0,
        );
    }
}

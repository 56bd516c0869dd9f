//! What the page of a run shows: the state of a moment as an event, made once for all who watch.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Bytes;
use record::{Interval, Record};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::table;
use crate::view::Shared;

/// Events that wait for a slow reader; it gets the newest state after them.
const EVENTS_MAX: usize = 2;

/// Seconds between two pictures of a long run: at its length a second is no pixel.
const PICTURE_SECONDS: [(u64, u64); 3] = [(600, 1), (7200, 5), (u64::MAX, 15)];

/// The page and its events.
pub(crate) struct Pages {
    shared: Shared,
    html: Bytes,
    made: Mutex<CachedEvent>,
}

/// The last event that was made.
#[derive(Default)]
struct CachedEvent {
    n_updates: Option<u64>,
    event: Bytes,
    /// When the charts were drawn, milliseconds of the run, and what came of it.
    drawn_ms: Option<u64>,
    charts: Value,
}

impl Pages {
    pub(crate) fn new(shared: Shared) -> Self {
        let html = {
            let live = shared.lock();
            report::live_page(&live.about().command.join(" "))
        };
        Pages { shared, html: html.into(), made: Mutex::default() }
    }

    pub(crate) fn html(&self) -> Bytes {
        self.html.clone()
    }

    /// Returns the events from now on: the state at once, then each time it has changed.
    pub(crate) fn follow(self: &Arc<Self>) -> mpsc::Receiver<Bytes> {
        let (to, events) = mpsc::channel(EVENTS_MAX);
        let pages = Arc::clone(self);
        tokio::spawn(async move {
            let mut changes = pages.shared.changes();
            loop {
                changes.mark_unchanged();
                let (event, is_last) = pages.event();
                if to.send(event).await.is_err() || is_last {
                    break;
                }
                tokio::select! {
                    changed = changes.changed() => if changed.is_err() { break },
                    () = to.closed() => break,
                }
            }
        });
        events
    }

    /// Returns the event of this moment, and whether it is the last one.
    fn event(&self) -> (Bytes, bool) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let live = self.shared.lock();
        let (n_updates, is_last) = (live.n_updates(), live.outcome().is_some());
        if made.n_updates == Some(n_updates) {
            return (made.event.clone(), is_last);
        }
        let mut state = table::state(&live);
        let at_ms = live.last().map_or(0, |last| last.end_ms);
        let periods: Option<Vec<Interval>> = made
            .is_due(at_ms)
            .then(|| live.history().periods().cloned().collect())
            .filter(|_| !is_last);
        let n_per = live.history().n_per();
        drop(live);
        if let Some(periods) = periods {
            let record =
                Record { intervals: periods, elapsed_ns: at_ms * 1_000_000, ..Record::default() };
            made.draw(&record, at_ms, n_per);
        }
        if is_last {
            self.shared.with_record(|record| {
                made.draw(record, at_ms, 1);
                state["answer"] = json!(report::answer(record));
                state["jobs"] = table::of_record(record);
            });
        }
        state["charts"] = made.charts.clone();
        made.n_updates = Some(n_updates);
        // A line of JSON has no line breaks.
        made.event = format!("data: {state}\n\n").into();
        (made.event.clone(), is_last)
    }
}

impl CachedEvent {
    fn is_due(&self, at_ms: u64) -> bool {
        let pause = PICTURE_SECONDS.iter().find(|(until_s, _)| at_ms / 1000 < *until_s);
        let pause_ms = pause.map_or(0, |(_, pause_s)| (pause_s - 1) * 1000);
        self.drawn_ms.is_none_or(|drawn_ms| at_ms > drawn_ms + pause_ms)
    }

    fn draw(&mut self, record: &Record, at_ms: u64, n_per: u32) {
        self.drawn_ms = Some(at_ms);
        let note = (n_per > 1).then(|| {
            format!("Each point is {n_per} seconds; of latencies it is the largest of theirs.")
        });
        let charts = report::live_charts(record, note.as_deref());
        self.charts = serde_json::to_value(charts).unwrap_or_default();
    }
}

//! `iostat -o JSON` and `sadf -j`: reports are read one at a time, however long the file is.

use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::context::{Context, Spans};
use crate::lines::ReadError;
use crate::read::sysstat_names::{busy_share, is_busy_cpu, put, what};
use crate::sample::{ClockKind, Event, HostSample, NS_PER_S, Rates};
use crate::time::Stamps;

/// Reads the JSON of sysstat.
pub(super) fn read(
    input: &mut dyn BufRead,
    leaves_out_first: bool,
    stamps: Stamps,
    context: &mut Context<'_>,
) -> Result<(), ReadError> {
    let mut state = State {
        context,
        leaves_out_first,
        stamps,
        spans: Spans::default(),
        n_reports: 0,
        n_all: 0,
        failure: None,
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    // One document after another: iostat that was started again with the same file.
    let end = loop {
        let document = Level { kind: JsonSection::Root, state: &mut state };
        if let Err(error) = document.deserialize(&mut json) {
            break Err(error);
        }
        if json.end().is_ok() {
            break Ok(());
        }
    };
    if let Some(failure) = state.failure.take() {
        return Err(failure);
    }
    let Err(error) = end else { return Ok(()) };
    let line = error.line() as u64;
    // The line stands before the message.
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let error_text = text.strip_suffix(&place).unwrap_or(&text);
    if context.n_samples() == 0 {
        let message = if error.is_eof() {
            "it is cut off here, before its first sample is complete: let the tool run for some \
             intervals, and end by itself or by Ctrl-C, which closes the document"
                .to_owned()
        } else {
            format!("it is not JSON of sysstat: {error_text} (column {})", error.column())
        };
        return Err(ReadError::Line { line, message });
    }
    if error.is_eof() {
        context.remark(Some(line), "the file is cut off here; what stands before it counts");
    } else {
        context
            .unreadable(Some(line), format!("what follows is not JSON of sysstat: {error_text}"));
    }
    Ok(())
}

struct State<'a, 'b> {
    context: &'a mut Context<'b>,
    leaves_out_first: bool,
    stamps: Stamps,
    spans: Spans,
    /// Reports of this host, and of all.
    n_reports: u64,
    n_all: i64,
    /// Why the rest cannot be read.
    failure: Option<ReadError>,
}

/// Where in the document a value stands.
#[derive(Clone, Copy)]
enum JsonSection {
    Root,
    Sysstat,
    Hosts,
    Host,
    Reports,
}

struct Level<'s, 'a, 'b> {
    kind: JsonSection,
    state: &'s mut State<'a, 'b>,
}

impl<'de> DeserializeSeed<'de> for Level<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.kind {
            JsonSection::Root | JsonSection::Sysstat | JsonSection::Host => {
                deserializer.deserialize_map(self)
            }
            JsonSection::Hosts | JsonSection::Reports => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Level<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.kind {
            JsonSection::Root => "an object with `sysstat`",
            JsonSection::Sysstat => "an object with `hosts`",
            JsonSection::Hosts => "a list of hosts",
            JsonSection::Host => "a host with `statistics`",
            JsonSection::Reports => "a list of reports",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let kind = match (self.kind, key.as_str()) {
                (JsonSection::Root, "sysstat") => JsonSection::Sysstat,
                (JsonSection::Sysstat, "hosts") => JsonSection::Hosts,
                (JsonSection::Host, "statistics") => JsonSection::Reports,
                (JsonSection::Host, "number-of-cpus") => {
                    if let Some(n_cpus) = map.next_value::<Value>()?.as_u64() {
                        let n_cpus = u32::try_from(n_cpus).unwrap_or(u32::MAX);
                        self.state.context.put(Event::Machine { n_cpus });
                    }
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(Level { kind, state: &mut *self.state })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if let JsonSection::Hosts = self.kind {
            let mut next = || {
                self.state.n_reports = 0;
                self.state.spans.restart();
                list.next_element_seed(Level { kind: JsonSection::Host, state: &mut *self.state })
            };
            while next()?.is_some() {}
            return Ok(());
        }
        while let Some(report) = list.next_element::<Value>()? {
            self.state.report(&report);
            let doubt = self.state.stamps.doubt();
            let context = &mut *self.state.context;
            let checked = context.check_dates(doubt, None).and_then(|()| context.check_length());
            // What ends here is no document: the reader says why.
            if let Err(failure) = checked {
                self.state.failure = Some(failure);
                break;
            }
        }
        Ok(())
    }
}

impl State<'_, '_> {
    fn report(&mut self, report: &Value) {
        self.n_reports += 1;
        self.n_all += 1;
        let is_of_sadf = report["timestamp"].is_object();
        // Of the report that is left out the moment counts: the next one lasts from then on.
        let (clock, end_ns, span_ns) = self.moment(&report["timestamp"]);
        // sadf leaves the report since the start of the host out by itself.
        if !is_of_sadf && self.n_reports == 1 && self.leaves_out_first {
            self.context.left_out_first();
            return;
        }
        if let Err(message) = self.context.clock(clock) {
            self.context.unreadable(None, message);
            return;
        }
        let busy = share_of(&report["avg-cpu"]).or_else(|| {
            let cpus = report["cpu-load"].as_array()?;
            share_of(cpus.iter().find(|cpu| cpu["cpu"] == "all")?)
        });
        let memory = &report["memory"];
        let host = HostSample {
            end_ns,
            span_ns,
            cpu_share: busy,
            memory_bytes: memory["memused"].as_f64().map(|kib| kib * 1024.0),
            memory_share: memory["memused-percent"].as_f64().map(|percent| percent / 100.0),
        };
        if host.cpu_share.is_some() || host.memory_bytes.is_some() {
            self.context.put(Event::Host(host));
        }
        for disk in report["disk"].as_array().into_iter().flatten() {
            let name = disk["disk_device"].as_str().or(disk["disk-device"].as_str());
            let (Some(name), Some(figures)) = (name, disk.as_object()) else {
                self.context.unreadable(None, format!("a disk without a name: {disk}"));
                continue;
            };
            let mut rates = Rates::default();
            for (key, value) in figures {
                let value = value.as_f64().filter(|value| *value >= 0.0);
                if let (Some((what, unit)), Some(value)) = (what(key), value) {
                    put(&mut rates, what, value * unit);
                }
            }
            self.context.see_totals(&rates);
            self.context.put(Event::Device { name, sample: rates.over(end_ns, span_ns) });
        }
    }

    /// Returns when a report ended, by which clock, and its span.
    fn moment(&mut self, stamp: &Value) -> (ClockKind, i64, u64) {
        let (text, stated_ns) = match (stamp.as_str(), stamp["date"].as_str(), &stamp["time"]) {
            (Some(text), ..) => (text.to_owned(), None),
            (None, Some(date), time) => {
                let zone = if stamp["utc"] == 1 { " UTC" } else { "" };
                let interval_s = stamp["interval"].as_u64().filter(|seconds| *seconds > 0);
                let stated_ns = interval_s.and_then(|seconds| seconds.checked_mul(NS_PER_S));
                (format!("{date} {}{zone}", time.as_str().unwrap_or_default()), stated_ns)
            }
            _ => (String::new(), None),
        };
        let Some(stamp) = self.stamps.stamp(&text) else {
            let end_ns = self.n_all * NS_PER_S as i64;
            return (ClockKind::Absent, end_ns, stated_ns.unwrap_or(0));
        };
        let (span_ns, note) = self.spans.next(stamp.unix_ns, stated_ns);
        if let Some(note) = note {
            self.context.remark(None, note);
        }
        (stamp.clock, stamp.unix_ns, span_ns)
    }
}

/// Returns the share of time in use from an object of percentages.
fn share_of(cpu: &Value) -> Option<f64> {
    let figures = cpu.as_object()?;
    let busy = figures.iter().filter(|(name, _)| is_busy_cpu(name));
    let percents: Vec<f64> = busy.filter_map(|(_, value)| value.as_f64()).collect();
    Some(busy_share(percents.len(), percents.iter().sum()))
}

//! Every form of the same run.

use export::{COLUMNS, ColumnKind, Judge, Run, Table, Value, csv, markdown, parquet, table};
use record::{
    CannotTell, ConditionUnit, CurvePointRecord, CurveRecord, Figure, Figures, GateRecord,
    HostRecord, Interval, IntervalDir, IntervalLatency, IntervalRecord, IntervalResponse,
    JobRecord, ListedLatencies, ListedLatency, LoadLineRecord, NeedConditionRecord, NeedRecord,
    NeedVerdict, Note, NoteSeverity, PerDirRecord, Record, SearchEnd, StepValidity,
    SuiteFigureRecord, SuiteRecord, SuiteRowRecord, Verdict,
};

fn interval(second: u64, n_ios: u64) -> Interval {
    let read = IntervalDir {
        n_ios,
        io_bytes: n_ios * 4096,
        latency: IntervalLatency::each(|figure| {
            let ms = Figure::OF_INTERVAL.iter().position(|it| *it == figure).unwrap() as u64 + 1;
            (n_ios > 0).then_some(ms * 1_000_000)
        }),
        ..IntervalDir::default()
    };
    Interval {
        step_idx: 0,
        end_ms: second * 1000,
        length_ms: 1000,
        ramp: second == 1,
        dirs: PerDirRecord { read, ..PerDirRecord::default() },
        ..Interval::default()
    }
}

/// A run of 2 s with 500 reads of 4 KiB, each in 1 ms.
fn run() -> Run {
    let mut job = JobRecord { name: "oltp|a".to_owned(), n_workers: 2, ..JobRecord::default() };
    let read = &mut job.dirs.read;
    (read.n_ios, read.io_bytes, read.runtime_ns) = (500, 2_048_000, 2_000_000_000);
    read.clat.record_n(990_000, 500);
    read.lat.record_n(1_000_000, 500);
    read.errors.insert(5, 3);
    let host = HostRecord {
        name: "db_1".to_owned(),
        kernel: "Linux 6".to_owned(),
        ..HostRecord::default()
    };
    let warning = Note {
        severity: NoteSeverity::Warning,
        code: "x".to_owned(),
        message: "not *steady*".to_owned(),
    };
    let mut open = interval(2, 300);
    open.dirs.read.response = Some(IntervalResponse {
        latency: IntervalLatency::each(|figure| {
            Some(if figure == Figure::P50 { 5_000_000 } else { 9_000_000 })
        }),
        ..IntervalResponse::default()
    });
    let record = Record {
        plimsoll_version: "0.1.0".to_owned(),
        started_unix_ms: 1_700_000_000_000,
        elapsed_ns: 2_500_000_000,
        host,
        jobs: vec![job],
        intervals: vec![interval(1, 200), open, interval(3, 0)],
        notes: vec![warning],
        ..Record::default()
    };
    Run { id: Some(7), name: "before, \"a\"".to_owned(), record }
}

/// Returns a cell by row and column.
#[track_caller]
fn cell(table: &Table, row: usize, column: &str) -> Value {
    let place = COLUMNS.iter().position(|known| known.name == column);
    table.rows[row][place.unwrap_or_else(|| panic!("no column {column}"))].clone()
}

#[test]
fn rows_are_summaries_latencies_and_intervals() {
    let mut run = run();
    run.record.validity = vec![StepValidity { warm_up_ms: Some(1000), ..StepValidity::default() }];
    let table = table(&[run]);
    let parts: Vec<Value> = (0..table.rows.len()).map(|row| cell(&table, row, "part")).collect();
    let text = |text: &str| Value::Text(text.to_owned());
    let of = ["summary", "latency", "latency", "histogram", "histogram"];
    let of: Vec<&str> = of.into_iter().chain(["interval"; 4]).collect();
    assert_eq!(parts, of.into_iter().map(text).collect::<Vec<_>>());
    for (row, column, value) in [
        (0, "run_id", Value::Whole(7)),
        (0, "n_errors", Value::Whole(3)),
        (0, "rate_iops", Value::Number(250.0)),
        (0, "rate_bytes_per_s", Value::Number(1_024_000.0)),
        (0, "latency", text("total")),
        (0, "latency_ns_p99_9", Value::Whole(1_000_000)),
        (0, "end_ms", Value::None),
        (2, "latency", text("service")),
        (2, "latency_ns_max", Value::Whole(990_000)),
        (3, "latency", text("total")),
        (3, "n_ios", Value::Whole(500)),
        (4, "latency", text("service")),
        (0, "is_warm_up", Value::None),
        (5, "is_ramp", Value::Flag(true)),
        (5, "is_warm_up", Value::Flag(false)),
        (6, "is_ramp", Value::Flag(false)),
        (6, "is_warm_up", Value::Flag(true)),
        (8, "is_warm_up", Value::Flag(false)),
        (6, "start_ms", Value::Whole(1000)),
        (6, "end_ms", Value::Whole(2000)),
        (6, "rate_iops", Value::Number(300.0)),
        (6, "latency_ns_p95", Value::None),
        (7, "latency", text("response")),
        (7, "latency_ns_p99", Value::Whole(9_000_000)),
        (7, "n_ios", Value::None),
        (8, "n_ios", Value::Whole(0)),
        (8, "latency_ns_p99", Value::None),
    ] {
        assert_eq!(cell(&table, row, column), value, "row {row}, {column}");
    }
    let (low, high) = (cell(&table, 3, "latency_ns_min"), cell(&table, 3, "latency_ns_max"));
    let (Value::Whole(low), Value::Whole(high)) = (low, high) else { panic!("no ends") };
    assert!(low <= 1_000_000 && 1_000_000 <= high, "{low} to {high}");
}

#[test]
fn csv_has_a_head_and_quotes_what_needs_it() {
    let text = csv(&table(&[run()]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 10);
    assert!(lines[0].starts_with("run_id,run,started_unix_ms,part,step_idx,step,job,"));
    assert!(
        lines[1].starts_with("7,\"before, \"\"a\"\"\",1700000000000,summary,0,,oltp|a,2,read,")
    );
    assert!(lines.iter().skip(1).all(|line| line.split(',').count() >= COLUMNS.len()));
}

#[test]
fn columns_have_names_of_their_own_with_a_text() {
    for (idx, column) in COLUMNS.iter().enumerate() {
        assert!(column.doc.ends_with('.'), "{}", column.name);
        assert!(COLUMNS[..idx].iter().all(|other| other.name != column.name), "{}", column.name);
    }
}

#[test]
fn markdown_is_a_table_for_a_pull_request() {
    let text = markdown(&[run()], &JUDGE);
    let expected = "\
### Run 7: before, \"a\"

- **Warning:** not \\*steady\\*

| job | | IOPS | MiB/s | mean | p50 | p99 | p99.9 | max |
|---|---|---:|---:|---:|---:|---:|---:|---:|
| oltp\\|a | read | 250 | 0.98 | 1.00 ms | 1.00 ms | 1.00 ms | 1.00 ms | 1.00 ms |

<sub>2.5s · db\\_1, Linux 6 · plimsoll 0.1.0</sub>
";
    assert_eq!(text, expected);
}

#[test]
fn markdown_of_an_open_load_has_the_response_time() {
    let mut run = run();
    let mut response = hist::Histogram::new();
    response.record_n(4_000_000_000, 500);
    run.record.jobs[0].dirs.read.response = Some(response);
    let text = markdown(&[run], &JUDGE);
    let row = "| oltp\\|a | read, response | 250 | 0.98 | 4.00 s | 4.00 s | 4.00 s |";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("| oltp\\|a | read | 250 | 0.98 | 1.00 ms |"), "{text}");
}

const JUDGE: Judge = Judge {
    invalidates: is_error,
    suite_verdict: |suite| suite.indicative.then(|| "indicative".to_owned()),
};

fn is_error(name: &str) -> bool {
    name == "errors"
}

#[test]
fn markdown_says_which_checks_failed_and_what_weighs_most_first() {
    let mut run = run();
    let gate = |name: &str| GateRecord {
        name: name.to_owned(),
        verdict: Verdict::Failed,
        reason: "it rose".to_owned(),
        next_step: None,
        figures: std::collections::BTreeMap::default(),
    };
    let gates = vec![gate("steady"), gate("errors")];
    run.record.validity = vec![StepValidity { gates, ..StepValidity::default() }];
    let text = markdown(&[run], &JUDGE);
    let reported = "- **Not valid:** errors: it rose\n- **Caution:** steady: it rose\n";
    assert!(text.contains(reported), "{text}");
}

fn curve() -> CurveRecord {
    let point = |load: f64, p99_ns: u64, passed| CurvePointRecord {
        step_idx: 0,
        load,
        purpose: "coarse".to_owned(),
        passed,
        broken: if passed { Vec::new() } else { vec!["p99 9 s, not < 10ms".to_owned()] },
        figures: Figures::default()
            .with(Figure::Iops, load.min(5000.0))
            .with(Figure::BytesPerS, load.min(5000.0) * 8192.0)
            .with(Figure::Mean, p99_ns as f64 / 2.0)
            .with(Figure::P50, (p99_ns / 2) as f64)
            .with(Figure::P99, p99_ns as f64)
            .with(Figure::Max, p99_ns as f64),
        ..CurvePointRecord::default()
    };
    CurveRecord {
        arrivals: Some("poisson".to_owned()),
        limits: "p99 < 10ms".to_owned(),
        points: vec![point(16_000.0, 9_000_000_000, false), point(4_975.0, 8_000_000, true)],
        line: LoadLineRecord {
            end: SearchEnd::Bracketed,
            load: Some(4_975.0),
            first_fail: Some(5_020.0),
            interval: Some(IntervalRecord { low: 4_975.0, high: 5_020.0, coverage: 0.875 }),
            achieved_iops: Some(4_975.0),
            bytes_per_s: Some(40_755_200.0),
            n_probes: 6,
            ..LoadLineRecord::default()
        },
        ..CurveRecord::default()
    }
}

#[test]
fn markdown_of_a_curve_is_the_load_line_and_its_points() {
    let mut run = run();
    run.record.notes.clear();
    run.record.curve = Some(curve());
    let expected = "\
### Run 7: before, \"a\"

**Load line: 4975 IOPS (38.9 MiB/s) with p99 \\< 10ms; by all measurements between 4975 and 5020 \
IOPS with a probability of 87.5 % or more**

| offered | IOPS | MiB/s | mean | p50 | p99 | max | |
|---:|---:|---:|---:|---:|---:|---:|---|
| 4975 | 4.98 k | 38.9 | 4.00 ms | 4.00 ms | 8.00 ms | 8.00 ms | carried |
| 16.0 k | 5.00 k | 39.1 | 4.50 s | 4.50 s | 9.00 s | 9.00 s | p99 9 s, not \\< 10ms |

latency: response time, from when an I/O was due

<sub>2.5s · db\\_1, Linux 6 · plimsoll 0.1.0</sub>
";
    assert_eq!(markdown(&[run], &JUDGE), expected);
}

#[test]
fn markdown_of_a_curve_without_a_line_says_why() {
    let without_line = |end, reason: Option<CannotTell>| {
        let mut run = run();
        let mut none = curve();
        none.line.end = end;
        none.line.reason = reason;
        none.line.load = None;
        none.line.interval = None;
        run.record.curve = Some(none);
        markdown(&[run], &JUDGE)
    };
    let text = without_line(SearchEnd::CannotTell, Some(CannotTell::NotOfLoad));
    assert!(text.contains("cannot tell: latency does not follow the load"), "{text}");
    let text = without_line(SearchEnd::CannotTell, Some(CannotTell::Probes));
    assert!(text.contains("cannot tell: the measurements ran out"), "{text}");
    let text = without_line(SearchEnd::NothingPassed, None);
    assert!(!text.contains("cannot tell"), "{text}");
}

#[test]
fn markdown_of_a_suite_is_its_rows_with_verdicts() {
    let mut run = run();
    let figure = |median: f64| SuiteFigureRecord { median, interval: None };
    let row = SuiteRowRecord {
        label: "8 KiB random reads".to_owned(),
        preparation: false,
        steps: vec![0],
        figures: Figures::default()
            .with(Figure::Iops, figure(5000.0))
            .with(Figure::BytesPerS, figure(40_960_000.0))
            .with(Figure::P50, figure(1e6))
            .with(Figure::P99, figure(2e6)),
        sync: Figures::default().with(Figure::P50, figure(3e6)).with(Figure::P99, figure(20e6)),
        measured_ns: 1,
        verdict: "valid".to_owned(),
        reason: String::new(),
    };
    run.record.suite = Some(SuiteRecord {
        name: "quick".to_owned(),
        title: "a first look".to_owned(),
        indicative: true,
        n_repeats: 1,
        rows: vec![row],
        needs: vec![NeedRecord {
            need: "sync p99 < 10ms".to_owned(),
            label: "8 KiB random reads".to_owned(),
            verdict: NeedVerdict::NotMet,
            conditions: vec![NeedConditionRecord {
                condition: "sync p99 < 10ms".to_owned(),
                unit: ConditionUnit::Nanoseconds,
                bound: 1e7,
                value: Some(2e7),
                is_kept: Some(false),
            }],
            n_measured: 2,
            n_failed: 2,
            source: "etcd".to_owned(),
            ..NeedRecord::default()
        }],
        ..SuiteRecord::default()
    });
    let text = markdown(&[run], &JUDGE);
    let head = "**Suite quick**: a first look; **verdict: indicative**\n";
    assert!(text.contains(head), "{text}");
    let rows = "| 8 KiB random reads | 5.00 k | 39.1 | 1.00 ms | 2.00 ms | indicative |  |\n\
                | 8 KiB random reads, made durable in | - | - | 3.00 ms | 20.0 ms | | |\n";
    assert!(text.contains(rows), "{text}");
    let need = "- **Published target sync p99 < 10ms of 8 KiB random reads: not met**; sync p99 < \
                10ms: 20.0 ms, broken; measured 2 times, 2 of them broke a condition; the one \
                that decided is shown\n";
    assert!(text.contains(&need.replace('<', "\\<")), "{text}");
}

#[test]
fn what_is_not_known_is_a_dash() {
    let mut run = run();
    let read = &mut run.record.jobs[0].dirs.read;
    (read.clat, read.lat) = (hist::Histogram::new(), hist::Histogram::new());
    let percentiles = vec![(99.0, 2_000_000)];
    let clat = ListedLatency { n: 500, percentiles, ..ListedLatency::default() };
    read.listed = Some(ListedLatencies { clat: Some(clat), ..ListedLatencies::default() });
    let text = markdown(&[run.clone()], &JUDGE);
    assert!(
        text.contains("| oltp\\|a | read \\* | 250 | 0.98 | 0 ns | - | 2.00 ms | - | - |"),
        "{text}"
    );
    assert!(text.contains("\\* service time: "), "{text}");
    let table = table(&[run]);
    assert_eq!(cell(&table, 0, "latency"), Value::Text("service".to_owned()));
    assert_eq!(cell(&table, 0, "latency_ns_p50"), Value::None);
    assert_eq!(cell(&table, 0, "latency_ns_p99"), Value::Whole(2_000_000));
}

/// Reads a file as parquet.thrift and the format's page say, as far as this table needs.
mod reader {
    use super::{COLUMNS, ColumnKind, Value};

    /// Metadata: whole numbers, texts, lists and structs by field number.
    #[derive(Debug, Clone)]
    pub(super) enum Item {
        Int(i64),
        Text(String),
        List(Vec<Item>),
        Struct(Vec<(u8, Item)>),
    }

    impl Item {
        #[track_caller]
        pub(super) fn field(&self, id: u8) -> &Item {
            let Item::Struct(fields) = self else { panic!("no struct: {self:?}") };
            &fields.iter().find(|(known, _)| *known == id).expect("the field is there").1
        }
        pub(super) fn int(&self) -> i64 {
            if let Item::Int(int) = self { *int } else { panic!("no number: {self:?}") }
        }
        pub(super) fn list(&self) -> &[Item] {
            if let Item::List(list) = self { list } else { panic!("no list: {self:?}") }
        }
        pub(super) fn text(&self) -> &str {
            if let Item::Text(text) = self { text } else { panic!("no text: {self:?}") }
        }
    }

    pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

    impl Bytes<'_> {
        fn byte(&mut self) -> u8 {
            let byte = self.0[0];
            self.0 = &self.0[1..];
            byte
        }
        fn varint(&mut self) -> u64 {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = self.byte();
                value |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        }
        fn take(&mut self, n: usize) -> Vec<u8> {
            let (front, rest) = self.0.split_at(n);
            self.0 = rest;
            front.to_vec()
        }
        fn item(&mut self, kind: u8) -> Item {
            match kind {
                5 | 6 => {
                    let value = self.varint();
                    Item::Int((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
                }
                8 => {
                    let n = self.varint() as usize;
                    Item::Text(String::from_utf8(self.take(n)).unwrap())
                }
                9 => {
                    let head = self.byte();
                    let n = if head >> 4 == 15 { self.varint() } else { u64::from(head >> 4) };
                    Item::List((0..n).map(|_| self.item(head & 15)).collect())
                }
                12 => self.structure(),
                other => panic!("type {other} is not written"),
            }
        }
        pub(super) fn structure(&mut self) -> Item {
            let mut fields = Vec::new();
            let mut id = 0;
            loop {
                let head = self.byte();
                if head == 0 {
                    return Item::Struct(fields);
                }
                id += head >> 4;
                fields.push((id, self.item(head & 15)));
            }
        }
    }

    fn u32_at(bytes: &[u8]) -> usize {
        u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize
    }

    /// Returns the metadata and all rows.
    pub(super) fn read(file: &[u8]) -> (Item, Vec<Vec<Value>>) {
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        let tail = file.len() - 8;
        let footer = tail - u32_at(&file[tail..]);
        let meta = Bytes(&file[footer..tail]).structure();
        let mut rows: Vec<Vec<Value>> = Vec::new();
        for group in meta.field(4).list() {
            let n_rows = group.field(3).int() as usize;
            let first = rows.len();
            rows.resize(first + n_rows, Vec::new());
            for (chunk, column) in group.field(1).list().iter().zip(COLUMNS.iter()) {
                let meta = chunk.field(3);
                assert_eq!(meta.field(3).list()[0].text(), column.name);
                let mut at = Bytes(&file[meta.field(9).int() as usize..]);
                let header = at.structure();
                let packed = at.take(header.field(3).int() as usize);
                let inner = &packed[10..packed.len() - 8];
                let page = miniz_oxide::inflate::decompress_to_vec(inner).unwrap();
                assert_eq!(page.len() as i64, header.field(2).int());
                let values = values(&page, n_rows, column.kind);
                for (row, value) in rows[first..].iter_mut().zip(values) {
                    row.push(value);
                }
            }
        }
        (meta, rows)
    }

    fn values(page: &[u8], n_rows: usize, kind: ColumnKind) -> Vec<Value> {
        let (levels, rest) = page[4..].split_at(u32_at(page));
        let (mut levels, mut rest) = (Bytes(levels), Bytes(rest));
        let mut is_there = Vec::new();
        while is_there.len() < n_rows {
            let n = levels.varint() >> 1;
            let level = levels.byte() == 1;
            is_there.extend((0..n).map(|_| level));
        }
        assert_eq!(is_there.len(), n_rows);
        let mut n_flags = 0;
        let mut value = |is_there: bool| match (is_there, kind) {
            (false, _) => Value::None,
            (true, ColumnKind::Text) => {
                let n = u32_at(rest.0);
                rest.take(4);
                Value::Text(String::from_utf8(rest.take(n)).unwrap())
            }
            (true, ColumnKind::Whole) => {
                Value::Whole(u64::from_le_bytes(rest.take(8).try_into().unwrap()))
            }
            (true, ColumnKind::Number) => {
                Value::Number(f64::from_le_bytes(rest.take(8).try_into().unwrap()))
            }
            (true, ColumnKind::Flag) => {
                let bit = n_flags;
                n_flags += 1;
                Value::Flag(rest.0[bit / 8] >> (bit % 8) & 1 == 1)
            }
        };
        is_there.into_iter().map(&mut value).collect()
    }
}

#[test]
fn parquet_holds_the_table() {
    let mut runs = vec![run()];
    runs.extend((0..30).map(|idx| Run { id: None, name: format!("run {idx}"), ..run() }));
    let table = table(&runs);
    let file = parquet(&table);
    let (meta, rows) = reader::read(&file);
    assert_eq!(meta.field(3).int() as usize, table.rows.len());
    assert_eq!(rows, table.rows);
    let names: Vec<&str> =
        meta.field(2).list()[1..].iter().map(|column| column.field(4).text()).collect();
    assert!(names.iter().eq(COLUMNS.iter().map(|column| &column.name)));
}

#[test]
fn parquet_takes_many_rows_and_none() {
    let one = table(&[run()]);
    let many = Table { rows: one.rows.iter().cycle().take(100_007).cloned().collect() };
    let (meta, rows) = reader::read(&parquet(&many));
    assert_eq!(meta.field(4).list().len(), 2, "in groups");
    assert_eq!(rows, many.rows);
    let (meta, rows) = reader::read(&parquet(&Table::default()));
    assert_eq!((meta.field(3).int(), rows.len()), (0, 0));
}

#[test]
fn what_makes_writes_durable_has_latencies_too() {
    let mut run = run();
    run.record.jobs[0].sync.record_n(7_000_000, 100);
    let table = table(std::slice::from_ref(&run));
    let place = |name: &str| COLUMNS.iter().position(|column| column.name == name).unwrap();
    let text = |row: &[Value], name: &str| match &row[place(name)] {
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    let mut syncs = table.rows.iter().filter(|row| text(row, "dir") == "sync");
    let latency = syncs.next().expect("a row of latencies");
    assert_eq!(text(latency, "part"), "latency");
    assert_eq!(latency[place("n_ios")], Value::Whole(100));
    assert_eq!(syncs.map(|row| text(row, "part")).collect::<Vec<_>>(), ["histogram"]);
    let text = markdown(&[run], &JUDGE);
    assert!(text.contains("| oltp\\|a | sync | 50.0 | - | 7.00 ms |"), "{text}");
}

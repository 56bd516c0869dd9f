//! The 15 rows of the source document.

use needs::{Checklist, ChecklistRow, Label, checklists};

use crate::parsed;

const FILE: &str = "\
[[volume]]
name = 'data'
[[volume]]
name = 'log'
[[phase]]
name = 'peak'
hours = ['9-17']
cpu_percent = { p50 = 20, p90 = 60, p99 = 80, mean = 30, max = 90, label = 'measured' }
memory_percent = 40
[[phase.volume]]
name = 'data'
iops = { p50 = 100, p99 = 900, mean = 300, max = 1000, label = 'measured', source = 'log.txt' }
throughput_mb_s = { p50 = 2, p99 = 9, mean = 3, max = 12, label = 'measured' }
io_size_kib = { mean = 10, label = 'estimated' }
read_percent = { p50 = 70, p90 = 80, mean = 75, min = 50, max = 95, label = 'measured' }
random_percent = 100
latency_ms = { p50 = 1, p99 = 4, mean = 2, min = 0.5, label = 'estimated' }
queue_depth = 4
[[phase.volume]]
name = 'log'
iops = 100
read_percent = 0
io_size_kib = 4
latency_ms = { mean = 1, min = 1 }
";

#[track_caller]
fn row<'a>(list: &'a Checklist, requirement: &str) -> &'a ChecklistRow {
    list.rows.iter().find(|row| row.requirement == requirement).expect("a row")
}

#[track_caller]
fn check(list: &Checklist, requirement: &str, values: [Option<f64>; 4], label: Option<Label>) {
    let row = row(list, requirement);
    assert_eq!([row.p50, row.p90, row.p99, row.overall], values, "{requirement}");
    assert_eq!(row.label, label, "{requirement}");
}

#[test]
fn fifteen_rows_as_the_source_has_them() {
    let lists = checklists(&parsed(FILE));
    let volumes: Vec<Option<&str>> = lists.iter().map(|list| list.volume.as_deref()).collect();
    assert_eq!(volumes, [Some("data"), Some("log"), None]);
    let data = &lists[0];
    let names: Vec<&str> = data.rows.iter().map(|row| row.requirement).collect();
    assert_eq!(
        names,
        [
            "max. transactions per second",
            "reads",
            "writes",
            "random",
            "sequential",
            "I/O size",
            "mean throughput",
            "max. throughput",
            "min. latency",
            "mean latency",
            "max. processors",
            "mean processors",
            "max. memory",
            "mean memory",
            "queue depth",
        ]
    );
    let (measured, estimated, assumed) =
        (Some(Label::Measured), Some(Label::Estimated), Some(Label::Assumed));
    let of =
        |p50: f64, p90: Option<f64>, p99: f64, last: f64| [Some(p50), p90, Some(p99), Some(last)];
    check(data, "max. transactions per second", of(100.0, None, 900.0, 1000.0), measured);
    check(data, "writes", [Some(30.0), None, None, Some(25.0)], measured);
    check(data, "sequential", of(0.0, Some(0.0), 0.0, 0.0), assumed);
    check(data, "I/O size", [None, None, None, Some(10.0)], estimated);
    check(data, "mean throughput", of(2.0, None, 9.0, 3.0), measured);
    check(data, "max. throughput", of(2.0, None, 9.0, 12.0), measured);
    check(data, "min. latency", of(1.0, None, 4.0, 0.5), estimated);
    check(data, "mean latency", of(1.0, None, 4.0, 2.0), estimated);
    check(data, "max. processors", of(20.0, Some(60.0), 80.0, 90.0), measured);
    check(data, "mean memory", of(40.0, Some(40.0), 40.0, 40.0), assumed);
    assert_eq!(row(data, "mean memory").unit, "%");
    check(&lists[1], "queue depth", [None; 4], None);
    // 100 a second of 4 KiB; no throughput is stated.
    check(&lists[1], "max. throughput", [Some(0.4096); 4], assumed);
}

/// Checks the row of writes, of what is known of reads.
#[track_caller]
fn check_writes(reads: &str, expected: [Option<f64>; 4]) {
    let text = format!(
        "[[volume]]\nname = 'data'\n[[phase]]\nname = 'peak'\n[[phase.volume]]\nname = 'data'\n\
         read_percent = {reads}\n"
    );
    let lists = checklists(&parsed(&text));
    let row = row(&lists[0], "writes");
    assert_eq!([row.p50, row.p90, row.p99, row.overall], expected, "{reads}");
}

#[test]
fn percentiles_of_writes_are_what_those_of_reads_leave() {
    let all = "{ p1 = 20, p10 = 45, p50 = 70, p90 = 80, p99 = 90, mean = 65 }";
    check_writes(all, [Some(30.0), Some(55.0), Some(80.0), Some(35.0)]);
    check_writes("{ p10 = 45, p50 = 70, mean = 65 }", [Some(30.0), Some(55.0), None, Some(35.0)]);
    check_writes("{ p50 = 70, p90 = 80, p99 = 90 }", [Some(30.0), None, None, None]);
    check_writes("75", [Some(25.0); 4]);
    check_writes("{ p50 = 75, min = 75, max = 75 }", [Some(25.0), Some(25.0), Some(25.0), None]);
}

#[test]
fn volumes_add_up() {
    let lists = checklists(&parsed(FILE));
    let all = &lists[2];
    let assumed = Some(Label::Assumed);
    // 100 more all the time; the 90th of data is not known.
    let iops = [Some(200.0), None, Some(1000.0), Some(1100.0)];
    check(all, "max. transactions per second", iops, assumed);
    // (300 x 75 + 100 x 0) / 400, and (300 x 10 + 100 x 4) / 400.
    check(all, "reads", [None, None, None, Some(56.25)], assumed);
    check(all, "I/O size", [None, None, None, Some(8.5)], assumed);
    check(all, "min. latency", [None, None, None, Some(0.5)], assumed);
    check(all, "mean latency", [None, None, None, Some(1.75)], assumed);
    let throughput = [Some(2.4096), None, Some(9.4096), Some(12.4096)];
    check(all, "max. throughput", throughput, assumed);
    check(all, "queue depth", [None; 4], None);
}

//! Rows that follow from their own input: no design stands behind them, so they say nothing about
//! the product. No cap is said to bind here.

use std::cmp::Ordering;

use serde_json::Value;

use crate::answer::{Answer, Outcome};
use crate::table::{Case, number, numbers};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const MS: f64 = 1e-3;

/// Works a case out, if its kind is one of these.
pub(crate) fn answer(case: &Case) -> Option<Outcome> {
    Some(Outcome::Arithmetic(match case.kind.as_str() {
        "stripe_qd_range" => queue_range(case),
        "burst_billing" => billing(case),
        "leaky_bucket" => leaky(case),
        "bdp" => window(case),
        "spec_point" => spec_point(case),
        "size_model" => size_model(case),
        "crossing" => crossing(case),
        "compare" => compare(case),
        "ratio" => Answer::new().with("value", (1.0 - case.num("a") / case.num("b")) * 100.0),
        "ratio_pair" => ratio_pair(case),
        "unit" => unit(case),
        "vdbench_threads" => outstanding(case),
        _ => return None,
    }))
}

fn queue_range(case: &Case) -> Answer {
    let depth = |key: &str| case.num("disks") * case.num(key);
    Answer::new()
        .with("queue_depth_low", depth("per_disk_min"))
        .with("queue_depth_high", depth("per_disk_max"))
}

/// Transactions of an on-demand burst: the larger of I/Os and of pieces of 256 KiB above what is
/// provisioned.
fn billing(case: &Case) -> Answer {
    let transactions = |iops: f64, mb_s: f64, seconds: f64| iops.max(mb_s * KIB / 256.0) * seconds;
    if case.has("excess") {
        let bill = |part: &Value| {
            transactions(number(&part["iops"]), number(&part["mb_s"]), number(&part["s"]))
        };
        let each: Vec<f64> = case.list("excess").iter().map(bill).collect();
        return Answer::new().with("transactions_each", each);
    }
    let base = case.num("base_iops");
    let bill = |part: &Value| transactions(number(&part["iops"]) - base, 0.0, number(&part["s"]));
    let total: f64 = case.list("phases").iter().map(bill).sum();
    let units = (total / case.num("unit")).ceil();
    Answer::new().with("transactions", total).with("billed_units", units)
}

/// A bucket of `max` x `length` that leaks at `avg`, as QEMU throttles.
fn leaky(case: &Case) -> Answer {
    let (avg, max) = (case.num("avg"), case.num("max"));
    let bucket = max * case.num("length_s");
    Answer::new()
        .with("bucket", bucket)
        .with("burst_seconds", bucket / (max - avg))
        .with("then", avg)
}

fn window(case: &Case) -> Answer {
    let pairs = case.nums("mib_s").into_iter().zip(case.nums("rtt_ms"));
    let window = |(mib_s, ms): (f64, f64)| mib_s * MIB * ms * MS / KIB;
    Answer::new().with("window_kib", pairs.map(window).collect::<Vec<_>>())
}

fn spec_point(case: &Case) -> Answer {
    let (ops, mib_s) = (case.num("ops_s"), case.num("mib_s"));
    let answer = Answer::new()
        .with("mean_op_kib", mib_s * KIB / ops)
        .with("concurrency", ops * case.num("latency_ms") * MS);
    match case.opt("ceiling_mib_s") {
        Some(ceiling) => answer.with("ceiling_pct", mib_s / ceiling * 100.0),
        None => answer,
    }
}

/// Service time by size, a + b x KiB, through two points.
fn size_model(case: &Case) -> Answer {
    let sizes = case.nums("io_kib");
    let mut answer = Answer::new();
    for way in ["read", "write"] {
        let iops = case.nums(&format!("{way}_iops"));
        let per_kib_s = (1.0 / iops[1] - 1.0 / iops[0]) / (sizes[1] - sizes[0]);
        let per_io_s = 1.0 / iops[0] - per_kib_s * sizes[0];
        let ratio = iops[1] / iops[0];
        answer = answer
            .with(&format!("{way}_a_us"), per_io_s * 1e6)
            .with(&format!("{way}_b_us_per_kib"), per_kib_s * 1e6)
            .with(&format!("{way}_iops_ratio"), ratio)
            .with(&format!("{way}_mib_ratio"), ratio * sizes[1] / sizes[0]);
    }
    answer
}

/// Read share at which two straight lines between their ends cross.
fn crossing(case: &Case) -> Answer {
    let ends = |key: &str| {
        let part = case.get(key);
        (number(&part["read_mib_s"]), number(&part["write_mib_s"]))
    };
    let (a, b) = (ends("cached"), ends("uncached"));
    let share = (b.1 - a.1) / ((a.0 - a.1) - (b.0 - b.1));
    let inside = share > 0.0 && share < 1.0;
    Answer::new().with("crossing_read_fraction", share).with("inside", inside)
}

fn compare(case: &Case) -> Answer {
    let (a, b) = (case.get("a"), case.get("b"));
    let word = |key: &str| match number(&a[key]).total_cmp(&number(&b[key])) {
        Ordering::Less => "a<b",
        Ordering::Equal => "a=b",
        Ordering::Greater => "a>b",
    };
    let answer = Answer::new().with("write", word("write_mib_s")).with("read", word("read_mib_s"));
    match b.get("cache").and_then(Value::as_str) {
        Some("cached") => answer.with("compared_with", "tests with caching"),
        Some(_) => answer.with("compared_with", "tests without caching"),
        None => answer,
    }
}

fn ratio_pair(case: &Case) -> Answer {
    let pairs = numbers(case.get("a")).into_iter().zip(numbers(case.get("b")));
    Answer::new().with("ratio", pairs.map(|(a, b)| a / b).collect::<Vec<_>>())
}

fn unit(case: &Case) -> Answer {
    let bytes_per_s = case.opt("mbit_s").map(|mbit_s| mbit_s * 1e6 / 8.0);
    let bytes_per_s = bytes_per_s.unwrap_or_else(|| case.num("mib_s") * MIB);
    Answer::new()
        .with("mb_s", bytes_per_s / 1e6)
        .with("mib_s", bytes_per_s / MIB)
        .with("gib_s", bytes_per_s / (MIB * KIB))
}

fn outstanding(case: &Case) -> Answer {
    let threads = case.get("threads").as_object().expect("an object");
    let add = |answer: Answer, (run, threads): (&String, &Value)| {
        answer.with(run, case.num("sds") * number(threads))
    };
    threads.iter().fold(Answer::new(), add)
}

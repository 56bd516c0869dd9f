//! What is wrong, where, and what to write instead.

use needs::parse;

/// The file that mistakes are written into; its first line is 1.
const FILE: &str = "\
[[volume]]
name = 'data'

[[phase]]
name = 'normal'

[[phase.volume]]
name = 'data'
";

/// Checks that a text has one mistake, at a line and column, that says this.
#[track_caller]
fn check(text: &str, (line, column): (u32, u32), parts: &[&str]) {
    let (needs, findings) = parse(text);
    assert!(needs.is_none(), "{needs:?}");
    let [finding] = &findings[..] else { panic!("{findings:?}\n{text}") };
    let span = finding.span.as_ref().expect("a mistake has its place");
    let said = format!("{} {}", finding.message, finding.help.join(" "));
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    assert_eq!((span.line, span.column), (line, column), "{said}\n{text}");
}

#[test]
fn one_clear_error_each() {
    let of_load = |line: &str| format!("{FILE}{line}\n");
    let of_volume = |lines: &str| FILE.replacen("'data'\n", &format!("'data'\n{lines}\n"), 1);
    let at_9 = |column| (9, column);
    check(&of_load("read_percent = 130"), at_9(16), &["`read_percent`", "130", "0 to 100"]);
    check(&of_load("random_percent = -1"), at_9(18), &["is -1, expected 0 to 100"]);
    check(
        &of_load("latency_ms = { p50 = 5, p99 = 2 }"),
        at_9(14),
        &["p50 is 5, above p99, which is 2"],
    );
    check(&of_load("iops = { mean = 5, min = 6 }"), at_9(8), &["mean is 5", "between min and max"]);
    check(&of_load("iops = {}"), at_9(8), &["`iops` has no number", "p50 = .."]);
    check(&of_load("iops = 'many'"), at_9(8), &["of type string, expected a number"]);
    check(&of_load("io_size_kib = 0"), at_9(15), &["`io_size_kib` is 0", "not known"]);
    check(&of_load("iopz = 5"), at_9(1), &["unknown key `iopz`", "did you mean `iops`?"]);
    check(&of_load("iops = { p50 = 5, label = 'sure' }"), (9, 27), &["measured, estimated or"]);
    // 16,000 x 16 KiB = 262.1 MB/s, at most times.
    check(
        &of_load("iops = 16000\nio_size_kib = 16\nthroughput_mb_s = { p50 = 200, max = 300 }"),
        (11, 19),
        &["volume `data`: p50 of 16000 IOPS x 16 KiB is 262.1 MB/s", "is 200: raise that"],
    );
    // 2,000 x 8 KiB = 16.4 MB/s, all the time: neither more nor less can be moved.
    for throughput in ["500", "15.5", "0"] {
        check(
            &of_load(&format!("throughput_mb_s = {throughput}\niops = 2000\nio_size_kib = 8")),
            at_9(19),
            &[
                "volume `data`: 2000 IOPS x 8 KiB is 16.4 MB/s",
                &format!("is {throughput}: leave that out, or `io_size_kib`, which is then worked"),
            ],
        );
    }
    // 2,000 a second of 5 ms: 10 in flight.
    check(
        &of_load("queue_depth = 1\nlatency_ms = 5\niops = 2000"),
        at_9(15),
        &[
            "volume `data`: 2000 IOPS of 5 ms are 10 I/Os in flight, but its `queue_depth` is 1, ",
            "with which 5 ms allow 200 IOPS: leave one of the three out",
        ],
    );
    check(
        &of_volume("capacity_gib = 100\nused_gib = 120"),
        (4, 12),
        &["volume `data`: 120 GiB are in use, but it holds 100"],
    );
    check(
        &of_volume("working_set_gib = 200\ncapacity_gib = 100"),
        (3, 19),
        &["200 GiB are read again and again, but it holds 100"],
    );
    check(
        &of_volume("working_set_gib = 2\nhit_percent = 90"),
        (4, 15),
        &["`hit_percent` and `working_set_gib`: write one"],
    );
    check(&of_volume("latency_ms_max = 0"), (3, 18), &["is 0, which nothing can meet"]);
    check(&of_volume("capacity_gib = 0"), (3, 16), &["`capacity_gib` is 0: leave it out"]);
    check(&of_volume("use = 'swap'"), (3, 7), &["`use` is `swap`: write data, log or temp"]);
    check(&of_volume("growth = 150"), (3, 10), &["`growth` is 150", "such as 1.5"]);
    check(&of_volume("growth = { load = 0 }"), (3, 19), &["`load` is 0", "factor of 0.01"]);
    check(&of_volume("size = 5"), (3, 1), &["unknown key `size`", "capacity_gib"]);
}

#[test]
fn parts_fit_each_other() {
    check("name = 'x'", (1, 1), &["there is no volume", "[[volume]]"]);
    check(&format!("schema = 'x/2'\n{FILE}"), (1, 10), &["`x/2`", "`plimsoll.needs/1`"]);
    check(&format!("percentile = 'p95'\n{FILE}"), (1, 14), &["one of p50, p90, p99, max"]);
    check(&format!("peak_factor = 0.5\n{FILE}"), (1, 15), &["a factor of 1 to 100"]);
    check(&FILE.replacen("'normal'", "'busy'", 1), (5, 8), &["write normal, peak or off-peak"]);
    check(&FILE.replacen("'normal'", "'normal'\nhours = ['noon']", 1), (6, 10), &["09:00-17:00"]);
    let other = FILE.replace("[[phase.volume]]\nname = 'data'", "[[phase.volume]]\nname = 'dat'");
    check(&other, (8, 8), &["no `[[volume]]` is called `dat`", "did you mean `data`?"]);
    check(&format!("{FILE}[[phase.volume]]\nname = 'data'\n"), (9, 1), &["stands twice"]);
    check(&format!("{FILE}[[phase]]\nname = 'normal'\n"), (9, 1), &["two phases normal"]);
    check(&format!("{FILE}[[volume]]\nname = 'data'\n"), (10, 8), &["two volumes `data`"]);
    let steering = "[[volume]]\nname = \"a\\u001b[31m\"\n";
    check(&format!("{FILE}{steering}"), (10, 8), &["control character", "'\\u{1b}'"]);
    let hours = FILE.replacen("'normal'", "'normal'\nhours = ['9-12']", 1);
    let text = format!("{hours}[[phase]]\nname = 'peak'\nhours = ['11-17']\n");
    check(&text, (12, 10), &["11:00 is in phase normal and in peak"]);
    let rest = "[[phase]]\nname = 'off-peak'\nhours = ['22-6']\n";
    let at_mistake = text.replace("['11-17']", "['20-22', '11-17']");
    check(&format!("{at_mistake}{rest}"), (12, 19), &["11:00 is in phase normal and in peak"]);
    check("[[volume]]\nname = \n[[phase]]\n", (2, 8), &[""]);
}

/// More in flight than IOPS x latency come to is what there may be; less is rounded at most.
#[test]
fn a_queue_that_carries_its_load_is_no_contradiction() {
    for depth in ["10", "9.2", "32", "{ p50 = 1, p99 = 12 }"] {
        let text = format!("{FILE}iops = 2000\nlatency_ms = 5\nqueue_depth = {depth}\n");
        assert!(parse(&text).0.is_some(), "{depth}");
    }
}

/// Megabytes of tables are of 10^6, 1,024,000 or 2^20 bytes: 5,000 x 8 KiB is called 40.
#[test]
fn what_units_of_tables_explain_is_no_contradiction() {
    let of = |throughput: &str| format!("{FILE}iops = 5000\nio_size_kib = 8\n{throughput}\n");
    // Where it changes, larger I/Os at other times may be the rest of it.
    for throughput in ["40", "39.1", "42.9", "{ p50 = 41, p99 = 500 }"] {
        assert!(parse(&of(&format!("throughput_mb_s = {throughput}"))).0.is_some(), "{throughput}");
    }
    // What was counted is as it was: 5,000 I/Os of 8 KiB in the mean may meet at no moment.
    let counted = "label = 'measured'";
    let text = format!(
        "{FILE}iops = {{ p99 = 5000, {counted} }}\nio_size_kib = {{ mean = 8, {counted} }}\n\
         throughput_mb_s = {{ p99 = 20, {counted} }}\n"
    );
    assert!(parse(&text).0.is_some());
}

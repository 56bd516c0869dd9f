//! Exports of clouds.

use capture::{NS_PER_S, Options};

use crate::common::{assert_near, captured, notes, try_capture, volume};

/// A metric of Azure Monitor, split by LUN, with two minutes of averages.
fn azure(name: &str, lun: &str, values: [f64; 2]) -> String {
    format!(
        "{{\"name\": {{\"value\": \"{name}\"}}, \"unit\": \"CountPerSecond\", \"timeseries\": \
         [{{\"metadatavalues\": [{{\"name\": {{\"value\": \"LUN\"}}, \"value\": \"{lun}\"}}], \
         \"data\": [{{\"timeStamp\": \"2026-11-21T09:00:00Z\", \"average\": {}}}, \
         {{\"timeStamp\": \"2026-11-21T09:01:00Z\", \"average\": {}}}, \
         {{\"timeStamp\": \"2026-11-21T09:02:00Z\"}}]}}]}}",
        values[0], values[1]
    )
}

#[test]
fn azure_monitor() {
    let metrics = [
        azure("Data Disk Read Operations/Sec", "0", [100.0, 200.0]),
        azure("Data Disk Write Operations/Sec", "0", [50.0, 0.0]),
        azure("Data Disk Read Bytes/sec", "0", [819_200.0, 1_638_400.0]),
        azure("Data Disk Write Bytes/sec", "0", [409_600.0, 0.0]),
        azure("Data Disk Queue Depth", "0", [2.0, 3.0]),
        azure("Data Disk Target IOPS", "0", [5000.0, 5000.0]),
    ]
    .join(",");
    let cpu = "{\"name\": {\"value\": \"Percentage CPU\"}, \"timeseries\": [{\"data\": \
               [{\"timeStamp\": \"2026-11-21T09:00:00Z\", \"average\": 40.0}]}]}";
    let text =
        format!("{{\"interval\": \"PT1M\", \"timespan\": \"x\", \"value\": [{metrics},{cpu}]}}");
    let captured = captured(&text);
    let samples = &volume(&captured, "lun 0").samples;
    assert_eq!((samples.len(), samples[0].span_ns), (2, 60 * NS_PER_S));
    assert_near(samples[0].n_ios(), 9000.0);
    assert_near(samples[1].bytes(), 60.0 * 1_638_400.0);
    assert_near(samples[1].in_flight_ns, 180e9);
    // A grain is named for its beginning.
    assert_eq!(capture::iso(samples[0].end_ns), "2026-11-21 09:01:00");
    assert_near(captured.host[0].cpu_share, 0.4);
    assert!(notes(&captured).contains("`Data Disk Target IOPS`"), "{}", notes(&captured));
}

fn cloudwatch(label: &str, values: &str) -> String {
    format!(
        "{{\"Id\": \"m1\", \"Label\": \"{label}\", \"StatusCode\": \"Complete\", \"Timestamps\": \
         [\"2026-11-21T09:05:00+00:00\", \"2026-11-21T09:00:00+00:00\"], \"Values\": {values}}}"
    )
}

/// Sums of 5 minutes, newest first, as the service answers.
#[test]
fn cloudwatch_of_ebs() {
    let results = [
        cloudwatch("vol-0abc VolumeTotalReadTime", "[60.0, 30.0]"),
        cloudwatch("vol-0abc VolumeReadOps", "[60000.0, 30000.0]"),
        cloudwatch("vol-0abc VolumeWriteOps", "[0.0, 3000.0]"),
        cloudwatch("vol-0abc VolumeReadBytes", "[491520000.0, 245760000.0]"),
        cloudwatch("vol-0abc VolumeWriteBytes", "[0.0, 49152000.0]"),
        cloudwatch("vol-0abc VolumeQueueLength", "[0.2, 0.1]"),
        cloudwatch("vol-0abc VolumeReadOps", "[1.0, 1.0]"),
    ]
    .join(",");
    let captured = captured(&format!("{{\"MetricDataResults\": [{results}], \"Messages\": []}}"));
    let samples = &volume(&captured, "vol-0abc").samples;
    assert_eq!((samples.len(), samples[0].span_ns), (2, 300 * NS_PER_S));
    assert_near(samples[0].n_ios(), 33_000.0);
    assert_near(samples[1].n_ios(), 60_000.0);
    // 30 s over 30,000 reads are 1 ms each.
    assert_near(samples[0].read.wait_ns, 30e9);
    let notes = notes(&captured);
    assert!(notes.contains("taken as sums (statistic Sum) of 300 s"), "{notes}");
    assert!(notes.contains("a second `VolumeReadOps` of `vol-0abc`"), "{notes}");
}

/// What has no name or no moment is counted, not taken for something else.
#[test]
fn parts_without_a_name_or_a_moment_are_counted() {
    let reads = azure("Data Disk Read Operations/Sec", "0", [100.0, 200.0]);
    let nameless =
        reads.replace("Data Disk Read Operations/Sec\"}", "\"}").replacen("value", "id", 1);
    let momentless = reads.replace("\"timeStamp\": \"2026-11-21T09:01:00Z\", ", "");
    let text = format!("{{\"interval\": \"PT1M\", \"value\": [{momentless}, {nameless}]}}");
    let found = captured(&text);
    assert_eq!(volume(&found, "lun 0").samples.len(), 1);
    let said = notes(&found);
    assert!(said.contains("1 metric without a name"), "{said}");
    assert!(said.contains("1 point without a time (`timeStamp`)"), "{said}");

    let whole = cloudwatch("vol-0abc VolumeReadOps", "[60000.0, 30000.0]");
    let no_moment = cloudwatch("vol-0def VolumeReadOps", "[60000.0, 30000.0, 7.0]")
        .replace("\"2026-11-21T09:00:00+00:00\"", "null");
    let no_name = whole.replace("\"Id\": \"m1\", \"Label\": \"vol-0abc VolumeReadOps\", ", "");
    let found = captured(&format!("{{\"MetricDataResults\": [{whole}, {no_moment}, {no_name}]}}"));
    let said = notes(&found);
    assert!(said.contains("1 result without a `Label` or `Id`"), "{said}");
    let expected = "2 points of `vol-0def VolumeReadOps` without a time or a value";
    assert!(said.contains(expected), "{said}");
    assert_eq!(volume(&found, "vol-0def").samples.len(), 1);
}

#[test]
fn answers_that_say_too_little() {
    for (text, part) in [
        ("{\"timespan\": \"x\", \"value\": []}", "`interval` is missing"),
        ("{\"timespan\": \"x\", \"interval\": \"PT1M\", \"value\": []}", "no sample"),
        ("{\"MetricDataResults\": []}", "fewer than two times"),
        ("{\"MetricDataResults\": [", "cut off"),
    ] {
        let error = try_capture(text, Options::default()).expect_err("it says too little");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

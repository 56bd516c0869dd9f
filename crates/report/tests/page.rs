//! The page: whole, safe, small, and the same for the same record.

mod common;

use common::{of_curve, of_seconds, of_steps, second};
use report::{Reference, Runs, Set, Subject, json, page};
use serde_json::Value;

/// The largest page of an hour, bytes.
const SIZE_MAX: usize = 3_000_000;

/// Returns the page without the scripts of the charts' library.
fn without_plotly(page: &str) -> String {
    let scripts: Vec<&str> = page.split("<script>").collect();
    assert_eq!(scripts.len(), 3, "the library once, and our own");
    let (library, rest) = scripts[1].split_once("</script>").unwrap();
    assert!(library.contains("plotly.js (cartesian"));
    format!("{}{rest}<script>{}", scripts[0], scripts[2])
}

/// Returns the values of all attributes of a name.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(start.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn hour() -> Subject {
    Subject::of_run(of_seconds(
        (0..3600).map(|n| second(n, 700 + n % 90, 200_000 + n * 31)).collect(),
    ))
}

#[test]
fn a_page_of_an_hour_is_small_and_names_no_place_outside() {
    let page = page(&hour());
    assert!(page.len() < SIZE_MAX, "{} bytes", page.len());
    let own = without_plotly(&page);
    for name in ["src", "href", "action", "srcset", "data", "poster"] {
        for value in attributes(&own, name) {
            let is_inside = value.starts_with('#') || value.starts_with("data:");
            assert!(is_inside, "{name}={}", &value[..value.len().min(60)]);
        }
    }
    assert!(!own.contains("url(") && !own.contains("@import") && !own.contains("fetch("));
    assert!(own.contains("default-src 'none'"), "the browser asks no other host");
}

/// A reader of a screen says the head of a column before each of its cells.
#[test]
fn every_column_has_a_head() {
    let curve = of_curve(&[(1000.0, 1000.0, 1_000_000), (2000.0, 1500.0, 20_000_000)], 1);
    for run in [curve, of_steps(&[(4096, 100, 10), (8192, 100, 5)])] {
        let page = without_plotly(&page(&Subject::of_run(run)));
        let heads: Vec<&str> = page.split("<th scope=\"col\"").skip(1).collect();
        assert!(heads.len() > 5, "{} heads", heads.len());
        let text = |head: &&str| head.split(['>', '<']).nth(1).unwrap_or_default().to_owned();
        assert!(heads.iter().all(|head| !text(head).is_empty()));
    }
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let mut subject = hour();
    let first = page(&subject);
    assert_eq!(first, page(&subject.clone()));
    subject.written = "2026-11-22 08:10".to_owned();
    let later = page(&subject);
    assert_eq!(later.replace(", page written 2026-11-22 08:10", ""), first);
}

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=\"alert('&2')\">";

#[test]
fn names_are_text_wherever_they_stand() {
    let mut run = of_curve(&[(1000.0, 1000.0, 1_000_000), (2000.0, 1500.0, 20_000_000)], 1);
    run.name = HOSTILE.to_owned();
    let record = &mut run.record;
    record.host.name = HOSTILE.to_owned();
    record.command = vec![HOSTILE.to_owned()];
    for job in &mut record.jobs {
        job.name = HOSTILE.to_owned();
        job.targets = vec![HOSTILE.to_owned()];
        job.options = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    }
    if let Some(curve) = &mut record.curve {
        curve.points[1].broken = vec![HOSTILE.to_owned()];
        curve.limits = HOSTILE.to_owned();
    }
    let mut steps = of_steps(&[(4096, 100, 10), (8192, 100, 5)]);
    steps.record.steps[0].name = HOSTILE.to_owned();
    let reference = Reference {
        what: HOSTILE.to_owned(),
        published: HOSTILE.to_owned(),
        measured: HOSTILE.to_owned(),
        source: HOSTILE.to_owned(),
    };
    let subject = Subject {
        title: HOSTILE.to_owned(),
        answer: HOSTILE.to_owned(),
        runs: Runs::Parts(vec![run.clone(), steps]),
        references: vec![reference],
        written: HOSTILE.to_owned(),
        promises: None,
    };
    let sets = ["a", HOSTILE].map(|name| Set { name: name.to_owned(), runs: vec![run.clone()] });
    for subject in [subject, Subject::of_sets(sets.to_vec())] {
        let own = without_plotly(&page(&subject));
        assert!(!own.contains("<img"), "it is never an element");
        assert!(!own.contains("<script>alert"), "nor ends a script");
        assert_eq!(own.matches("</script>").count(), 2, "chart data and our script");
    }
}

/// A row each of dozens of steps would be the whole first screen, and more.
#[test]
fn many_steps_are_a_table_that_scrolls() {
    let sizes: Vec<u64> = (0..8).map(|n| 4096 << n).collect();
    let all: Vec<_> = sizes.iter().flat_map(|size| [(*size, 100, 10), (*size, 0, 5)]).collect();
    let many = Subject::of_run(of_steps(&all));
    let own = without_plotly(&page(&many));
    assert_eq!(report::charts(&many)[0].id, "size-mix-random", "the first picture");
    assert!(!own.contains("id=\"steps\""), "no chart of a row each");
    let table = own.split("aria-label=\"All 16 steps, scrollable table\"").nth(1).expect("a table");
    let table = table.split("</table>").next().unwrap();
    assert_eq!(table.matches("<tr>").count(), 1 + all.len());
    let few = Subject::of_run(of_steps(&all[..15]));
    assert_eq!(report::charts(&few)[0].id, "steps");
}

#[test]
fn every_chart_has_its_table_and_its_file() {
    let subject = hour();
    let own = without_plotly(&page(&subject));
    let charts = report::charts(&subject);
    assert!(charts.len() >= 4, "{}", charts.len());
    let downloads = attributes(&own, "download");
    for chart in &charts {
        assert!(
            own.contains(&format!("data-chart=\"{}\"", chart.id)),
            "{} is on the page",
            chart.id
        );
        assert!(!chart.table.rows.is_empty(), "{} has figures", chart.id);
        assert!(downloads.contains(&format!("{}.csv", chart.id).as_str()), "{downloads:?}");
    }
    assert!(downloads.contains(&"r1-seconds.csv"));
    let data = own.split("id=\"charts\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data.as_array().unwrap().len(), charts.len());
}

#[test]
fn files_hold_what_the_tables_show_at_full_precision() {
    let charts = report::charts(&Subject::of_run(of_curve(
        &[(1000.0, 1000.25, 2_000_000), (4000.0, 3990.0, 90_000_000)],
        1,
    )));
    let csv = charts[0].table.csv();
    let mut lines = csv.lines();
    let head = "offered_iops,iops,mib_per_s,latency_ns_mean,latency_ns_p50,latency_ns_p99,\
                latency_ns_p99_9,latency_ns_max,purpose,broken";
    assert_eq!(lines.next(), Some(head));
    assert!(lines.next().unwrap().starts_with("1000,1000.25,3.907"), "{csv}");
    assert_eq!(lines.count(), 1);
}

#[test]
fn headings_go_down_one_level_at_a_time_and_landmarks_have_names() {
    for subject in [hour(), Subject::of_run(of_steps(&[(4096, 100, 10), (8192, 70, 5)]))] {
        let own = without_plotly(&page(&subject));
        let mut before = 0;
        for at in own.match_indices("<h").map(|(at, _)| at) {
            let Some(level) = own[at + 2..].chars().next().and_then(|c| c.to_digit(10)) else {
                continue;
            };
            assert!(level <= before + 1, "h{before} is followed by h{level}");
            before = level;
        }
        for landmark in ["<main>", "<nav aria-label=", "<header>", "<footer>", "class=\"skip\""] {
            assert!(own.contains(landmark), "{landmark}");
        }
        assert_eq!(own.matches("<h1").count(), 1);
        let pictures = own.matches("role=\"img\" aria-label=\"").count();
        assert_eq!(pictures, report::charts(&subject).len());
    }
}

#[test]
fn an_empty_record_is_a_page_too() {
    for subject in [
        Subject::default(),
        Subject::of_run(common::run("", record::Record::default())),
        Subject::of_sets(Vec::new()),
    ] {
        assert!(page(&subject).contains("<h1"));
    }
}

#[test]
fn the_data_form_has_charts_with_tables() {
    let data: Value = serde_json::from_str(&json(&hour())).unwrap();
    assert_eq!(data["schema"], "plimsoll.report/1");
    let iops = &data["charts"][0];
    assert_eq!(iops["id"], "r1-iops");
    assert_eq!(
        iops["table"].as_array().unwrap().len(),
        iops["series"][0]["x"].as_array().unwrap().len()
    );
}

//! `plimsoll needs`: the checklist, files begun by hand, and loads as jobs.

mod common;

use common::{Outcome, Sandbox};
use insta::assert_snapshot;

/// The page with the example.
const PAGE: &str = include_str!("../../../docs/needs.md");

/// Returns the block of the page that has a line.
#[track_caller]
fn block(with: &str) -> String {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    let found = blocks.map(|it| it.split_once('\n').map_or("", |(_, text)| text));
    let found = found.into_iter().find(|text| text.lines().any(|line| line == with));
    found.unwrap_or_else(|| panic!("no block has `{with}`")).to_owned()
}

/// A folder with the example of the page.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop.toml", block("name = \"shop\""));
    sandbox.write("p30-p10.toml", block("disk = \"P10\""));
    sandbox
}

#[test]
fn the_example_of_the_page_is_what_comes() {
    let outcome = sandbox().plimsoll(&["needs", "shop.toml"]);
    let shown = outcome.success();
    let carried = block("to be carried, at p99 of the time");
    assert!(shown.ends_with(&carried), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert_snapshot!(shown);
}

#[test]
fn needs_run_on_a_design() {
    let sandbox = sandbox();
    let args = ["run", "shop.toml", "--on", "p30-p10.toml", "--virtual", "--no-progress"];
    let args = [&args[..], &["--set", "runtime=10s", "--json"]].concat();
    let outcome = sandbox.plimsoll(&args);
    let record: serde_json::Value = serde_json::from_str(outcome.success()).expect("JSON");
    let steps = record["steps"].as_array().expect("steps");
    let names: Vec<&str> = steps.iter().filter_map(|step| step["name"].as_str()).collect();
    assert_eq!(names, ["normal", "peak"]);
    // A log of 8,000 writes a second is more than the P10 takes.
    let text = block("name = \"shop\"").replace("iops = 200\n", "iops = 4000\n");
    sandbox.write("more.toml", text.replace("throughput_mb_s = 3.2768", "io_size_kib = 4"));
    let more = sandbox.plimsoll(&[&["run", "more.toml"], &args[2..]].concat());
    let both = format!("{}{}", more.stdout, more.stderr);
    assert!(more.code == 3 || both.contains("disk_iops"), "{} {both}", more.code);
}

#[test]
fn a_load_is_written_for_other_tools() {
    let sandbox = sandbox();
    let of = |form: &str, part: &str| {
        let args = ["needs", "shop.toml", "--as", form, "--section", "peak", "-o", part];
        assert_eq!(sandbox.plimsoll(&args).success(), "");
        std::fs::read_to_string(sandbox.path(part)).expect("it was written")
    };
    let fio = of("fio", "peak.fio");
    assert!(fio.contains("[peak data]") && fio.contains("rate_iops=2520,1080"), "{fio}");
    assert!(of("vdbench", "peak.parm").contains("iorate=4080"), "3,600 and 480");
    // A plan of our own reads back without a loss.
    let plan = of("plan", "peak.toml");
    assert!(plan.contains("rate_total_iops = \"3600\""), "{plan}");
    assert_eq!(sandbox.plimsoll(&["check", "peak.toml"]).code, 0);
    assert_eq!(sandbox.plimsoll(&["check", "shop.toml"]).code, 0);
}

#[test]
fn the_checklist_has_other_forms() {
    let sandbox = sandbox();
    let markdown = sandbox.plimsoll(&["needs", "shop.toml", "--as", "markdown"]);
    let row = "| I/O size, KiB | 8.00 | 8.00 | 8.00 | mean 8.00 | assumed | by hand |";
    assert!(markdown.success().lines().any(|line| line == row), "{}", markdown.stdout);
    // What must be carried, and why that is more than was measured, as in text.
    for part in ["| data | peak | 3600 | 29.5 |", "- data, peak: by hand, p99; x 1.2: growth; x 2:"]
    {
        assert!(markdown.stdout.contains(part), "{part}: {}", markdown.stdout);
    }
    let json = sandbox.plimsoll(&["needs", "shop.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(json.success()).expect("JSON");
    assert_eq!(json["schema"], "plimsoll.checklist/1");
    assert_eq!(json["checklists"][0]["rows"].as_array().map(Vec::len), Some(15));
    let peak = &json["requirements"]["volumes"][0]["loads"][1];
    assert_eq!((&peak["phase"], &peak["iops"]["value"]), (&"peak".into(), &3600.0.into()));
    let html = sandbox.plimsoll(&["needs", "shop.toml", "--as", "html"]);
    let html = html.success();
    assert!(html.starts_with("<!doctype html>") && html.contains("normal, data"), "{html}");
    assert!(
        !html.contains("<script") && !html.contains("http:") && !html.contains("https:"),
        "it asks nothing of a network"
    );
}

/// Sizes and shares alone: there is nothing to be carried, and notes say what to write.
#[test]
fn a_table_without_rows_is_left_out() {
    let sandbox = Sandbox::new();
    let volume = "[[volume]]\nname = 'data'\n[[phase]]\nname = 'normal'\n";
    let load = "[[phase.volume]]\nname = 'data'\nio_size_kib = 8\nread_percent = 100\n";
    sandbox.write("needs.toml", format!("{volume}{load}"));
    let text = sandbox.plimsoll(&["needs", "needs.toml"]);
    let note = "note: data: neither IOPS nor throughput is known: write `iops = ..`";
    assert!(text.success().contains(note), "{}", text.stdout);
    assert!(!text.stdout.contains("to be carried"), "{}", text.stdout);
    let html = sandbox.plimsoll(&["needs", "needs.toml", "--as", "html"]);
    assert!(!html.success().contains("To be carried"), "{}", html.stdout);
}

#[test]
fn a_file_begins_from_the_template() {
    let sandbox = Sandbox::new();
    let template = sandbox.plimsoll(&["needs", "--template"]);
    sandbox.write("needs.toml", template.success());
    assert!(sandbox.plimsoll(&["needs", "needs.toml"]).success().contains("normal, data"));
    let new = sandbox.plimsoll(&["needs", "--new"]);
    assert_eq!(new.code, 2);
    assert!(new.stderr.starts_with(template.success()), "{}", new.stderr);
    assert!(new.stderr.contains("error: `--new` asks questions on a terminal"), "{}", new.stderr);
    assert!(!sandbox.path("needs.toml.new").exists());
}

#[test]
fn mistakes_have_their_place() {
    let sandbox = sandbox();
    let text = block("name = \"shop\"");
    sandbox.write("bad.toml", text.replace("read_percent = 70", "read_percent = 170"));
    assert_snapshot!(sandbox.plimsoll(&["needs", "bad.toml"]).mistake());
    let unknown = text.replace("io_size_kib = 8\n", "");
    sandbox.write("unknown.toml", &unknown);
    assert_snapshot!(sandbox.plimsoll(&["run", "unknown.toml"]).mistake());
    let missing = sandbox.plimsoll(&["needs", "none.toml"]);
    assert!(missing.mistake().contains("cannot read needs `none.toml`: no such file"));
}

#[track_caller]
fn check_refused(sandbox: &Sandbox, args: &[&str], what: &str, next: &str) {
    let outcome = sandbox.plimsoll(args);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    let n_errors = outcome.stderr.matches("error").count();
    assert_eq!(n_errors, 1, "{}", outcome.stderr);
    for part in [what, next] {
        assert!(outcome.stderr.contains(part), "`{part}` is not in\n{}", outcome.stderr);
    }
}

/// A file of another kind in the place of needs, or needs in the place of a design, is one error.
#[test]
fn what_is_no_file_of_needs_says_what_it_is() {
    let sandbox = Sandbox::new();
    let series = "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight\n";
    sandbox.write("s.csv", format!("{series}data,0,1,10,10,0,8192,0,\n"));
    sandbox.write("log.txt", "Linux 6.1.0 (host)\n\nDevice r/s w/s\nsda 1 2\n");
    sandbox.write(
        "design.toml",
        "[vm]\nsize = \"D4s_v5\"\n[[volume]]\nmount = \"/v\"\ndisk = \"P30\"\n",
    );
    sandbox.write("needs.toml", "schema = \"plimsoll.needs/1\"\n[[volume]]\nname = \"data\"\n");
    for command in [&["needs"][..], &["design", "--region", "eastus"]] {
        let of = |file: &'static str| [command, &[file]].concat();
        check_refused(&sandbox, &of("s.csv"), "holds the samples beside", "name the file of needs");
        check_refused(&sandbox, &of("log.txt"), "is not a file of needs", "capture --from log.txt");
        check_refused(&sandbox, &of("design.toml"), "is a design", "plimsoll limits design.toml");
        check_refused(&sandbox, &of("no.toml"), "cannot read", "plimsoll needs --new");
    }
    let provision = ["provision", "needs.toml", "--as", "bicep"];
    check_refused(
        &sandbox,
        &provision,
        "is a file of needs, not a design",
        "plimsoll design needs.toml",
    );
}

/// Samples of a volume whose rate rises for ten seconds, and what becomes of them on a P10: 500
/// I/Os a second, 3,500 in bursts.
fn replayed(burst_iops: u64) -> Outcome {
    let sandbox = Sandbox::new();
    let sample = |(end, span_s, iops): (&str, u64, u64)| {
        let (n_ios, bytes) = (iops * span_s, iops * span_s * 4096);
        format!("v,2026-01-01 00:{end},{span_s},{n_ios},{n_ios},0,{bytes},0,1\n")
    };
    let rows = [("00:20", 20, 300), ("00:30", 10, burst_iops), ("01:10", 40, 300)];
    let head = "volume,end,span_s,ios,reads,writes,read_bytes,write_bytes,in_flight";
    sandbox.write("s.csv", format!("{head}\n{}", rows.map(sample).concat()));
    let needs = "schema = \"plimsoll.needs/1\"\nname = \"s\"\nseries = \"s.csv\"\npeak_factor = 1\n\
                 [[volume]]\nname = \"v\"\ncapacity_gib = 100\n[[phase]]\nname = \"normal\"\n\
                 [[phase.volume]]\nname = \"v\"\niops = 300\nio_size_kib = 4\nread_percent = 100\n";
    sandbox.write("s.toml", needs);
    let design = "[vm]\nsize='Standard_D8s_v3'\n[[volume]]\nmount='/v'\ndisk='P10'\ncache='None'\n";
    sandbox.write("on.toml", design);
    sandbox.plimsoll(&["run", "s.toml", "--on", "on.toml", "--virtual", "--section", "series"])
}

/// Of 7,000 a second half wait, though all are done within the 40 quiet seconds after them: the
/// 70,000th, due after 30 s, begins when 68,976 are done, 9.7 s later. 3,000 wait for nothing; that
/// the rate falls again is no end of credits.
#[test]
fn a_series_that_is_not_carried_when_it_is_asked_for_is_no_valid_run() {
    let short = replayed(7000);
    let said = format!("{}{}", short.stdout, short.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(short.code, 3, "{said}");
    let expected = "invalid: offered: not carried from 20 s on: operations waited up to 10 s to be \
                    begun; held by disk_iops";
    assert!(said.contains(expected), "{said}");
    let carried = replayed(3000);
    let said = format!("{}{}", carried.stdout, carried.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(carried.code, 0, "{said}");
    assert!(said.contains("checks passed: errors, offered,"), "{said}");
    assert!(!said.contains("fell from") && !said.contains("run longer"), "{said}");
}

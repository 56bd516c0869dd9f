//! Verdicts and run lists of 5.04.07 on parameter files from the field, where the corpus is
//! present, and on cases written for it, always.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use std::path::Path;

use dialects::Loader;
use dialects::vdbench::run::{Run, SourceRange, Work};
use dialects::vdbench::{
    Host, Options, Parsed, parse_args, parse_files, parse_text, simulation, sniff,
};
use support::{FolderHost, MapHost, all_shown, rows};

/// Returns the corpus. Names of hosts exist, but those that the real run did not find.
fn corpus() -> Option<FolderHost> {
    let path = testing::corpus("vdbench", "index.tsv")?;
    let host = MapHost { unknown_hosts: vec![".xyz.com".to_owned()], ..MapHost::default() };
    Some(FolderHost { path, host })
}

#[test]
fn verdicts_and_run_lists_agree_with_vdbench() {
    let Some(folder) = corpus() else { return };
    let (mut n_files, mut n_lists, mut differences) = (0, 0, Vec::new());
    for columns in rows(&folder.path, "index.tsv") {
        let (file, verdict) = (columns[0].as_str(), columns[2].as_str());
        let parsed = parse_files(&[file], &Options::compat(), &folder);
        n_files += 1;
        if parsed.has_errors() != (verdict == "reject") {
            let found = all_shown(&parsed.diagnostics);
            differences.push(format!("{file}: Vdbench says {verdict}\n{found}"));
            continue;
        }
        if parsed.has_errors() {
            println!("{file}: {} | {}", columns[4], all_shown(&parsed.diagnostics));
            assert!(parsed.runs.is_empty());
            continue;
        }
        let list = folder.path.join(file.replace(".parm", ".runs"));
        let expected = std::fs::read_to_string(list).unwrap();
        n_lists += 1;
        if simulation(&parsed) != expected {
            let simulated = simulation(&parsed);
            differences.push(format!("{file}: expected\n{expected}found\n{simulated}"));
        }
        let text = String::from_utf8_lossy(&folder.read(file).unwrap()).into_owned();
        assert!(sniff(&text) >= 80, "{file} looks like one: {}", sniff(&text));
    }
    println!("{n_files} verdicts and {n_lists} run lists compared");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Whatever the real tool accepts, the kind mode accepts with the same runs, unless it finds now
/// what would fail during the run.
#[test]
fn the_kind_mode_agrees_where_nothing_is_misread() {
    let Some(folder) = corpus() else { return };
    for columns in rows(&folder.path, "index.tsv") {
        let (file, verdict) = (columns[0].as_str(), columns[2].as_str());
        let kind = parse_files(&[file], &Options::default(), &folder);
        if verdict == "reject" {
            // Hosts whose address is unknown do not keep a user from seeing the runs.
            let is_unknown = kind.diagnostics.iter().any(|found| found.code == "unknown-host");
            assert!(kind.has_errors() || is_unknown && !kind.runs.is_empty(), "{file}");
            continue;
        }
        let compat = parse_files(&[file], &Options::compat(), &folder);
        assert!(!kind.has_errors(), "{file}: {}", all_shown(&kind.diagnostics));
        assert_eq!(simulation(&kind), simulation(&compat), "{file}");
    }
}

#[test]
fn cases_agree_with_vdbench() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vdbench-micro");
    let folder = FolderHost { path, host: MapHost::default() };
    let mut n_cases = 0;
    for columns in rows(&folder.path, "expected.tsv") {
        let [case, arguments, verdict, expected] =
            [0, 1, 2, 3].map(|column| columns[column].as_str());
        let mut args =
            vec!["--compat".to_owned(), "-s".to_owned(), "-f".to_owned(), format!("{case}.parm")];
        args.extend(arguments.split_whitespace().map(str::to_owned));
        let parsed: Parsed = parse_args(&args, &folder).parsed;
        let found = all_shown(&parsed.diagnostics);
        if verdict == "reject" {
            assert!(parsed.has_errors(), "{case}");
            // The words may differ, what they speak of not.
            let wanted = expected.to_lowercase();
            let wanted = wanted.trim_end_matches('.');
            assert!(found.to_lowercase().contains(wanted), "{case}: {expected}\n{found}");
        } else {
            assert!(!parsed.has_errors(), "{case}: {found}");
            let text = simulation(&parsed);
            let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("Sim")).collect();
            assert_eq!(lines.join("|"), expected, "{case}");
        }
        n_cases += 1;
    }
    assert_eq!(n_cases, 18);
}

/// In plain form every accepted file comes to the same runs, in both modes.
#[test]
fn plain_forms_come_to_the_same_runs() {
    let Some(folder) = corpus() else { return };
    let mut n_files = 0;
    for columns in rows(&folder.path, "index.tsv") {
        let file = columns[0].as_str();
        for options in [Options::default(), Options::compat()] {
            let parsed = parse_files(&[file], &options, &folder);
            if parsed.has_errors() {
                continue;
            }
            let again = parse_text("plain", &parsed.plain, &options, &folder);
            assert!(!again.has_errors(), "{file}: {}", all_shown(&again.diagnostics));
            let (again_runs, runs) = (without_places(&again), without_places(&parsed));
            assert_eq!(again_runs, runs, "{file}\n{}", parsed.plain);
            assert_eq!(again.settings, parsed.settings, "{file}\n{}", parsed.plain);
            let (again_hosts, hosts) =
                (hosts_without_places(&again), hosts_without_places(&parsed));
            assert_eq!(again_hosts, hosts, "{file}\n{}", parsed.plain);
            assert_eq!(again.plain, parsed.plain, "{file}: once is enough");
            n_files += 1;
        }
    }
    println!("{n_files} files compared with their plain forms");
    assert!(n_files > 100);
}

/// Returns the hosts, which stand elsewhere in plain form.
fn hosts_without_places(parsed: &Parsed) -> Vec<Host> {
    let hosts = parsed.hosts.iter().cloned();
    hosts.map(|host| Host { place: SourceRange::default(), ..host }).collect()
}

/// Returns the runs, whose storage definitions stand elsewhere in plain form.
fn without_places(parsed: &Parsed) -> Vec<Run> {
    let mut runs = parsed.runs.clone();
    for run in &mut runs {
        if let Work::Raw(work) = &mut run.work {
            work.sds.iter_mut().for_each(|sd| sd.place = SourceRange::default());
        }
    }
    runs
}

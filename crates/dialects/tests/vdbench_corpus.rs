//! Verdicts and run lists of 5.04.07 on parameter files from the field, where the corpus is
//! present, and on cases written for it, always.
#![expect(clippy::print_stdout, reason = "a test that cannot run here says so")]

mod vdbench_support;

use std::path::{Path, PathBuf};

use dialects::vdbench::{Options, Parsed, parse_args, parse_files, simulation, sniff};
use dialects::{LoadError, Loader};
use vdbench_support::{MapHost, all_shown};

/// A folder as current directory. Host names exist, but those that the real run did not find.
struct Folder {
    path: PathBuf,
    host: MapHost,
}

impl Loader for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        std::fs::read(self.path.join(path)).map_err(|_| LoadError::NotFound)
    }

    fn host_exists(&self, name: &str) -> bool {
        !name.ends_with(".xyz.com")
    }

    fn env(&self, name: &str) -> Option<String> {
        self.host.env(name)
    }

    fn page_size_bytes(&self) -> u64 {
        self.host.page_size_bytes()
    }

    fn memory_mib(&self) -> u64 {
        self.host.memory_mib()
    }

    fn n_cpus(&self) -> u32 {
        self.host.n_cpus()
    }
}

fn corpus() -> Option<Folder> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    #[expect(clippy::disallowed_methods, reason = "names the corpus of this machine")]
    let path = std::env::var_os("PLIMSOLL_CORPUS")
        .map_or_else(|| workspace.join("../shared/corpus"), PathBuf::from)
        .join("vdbench");
    path.join("index.tsv").is_file().then(|| Folder { path, host: MapHost::default() })
}

#[test]
fn verdicts_and_run_lists_agree_with_vdbench() {
    let Some(folder) = corpus() else {
        println!("skipped: no corpus (set PLIMSOLL_CORPUS)");
        return;
    };
    let index = std::fs::read_to_string(folder.path.join("index.tsv")).unwrap();
    let (mut n_files, mut n_lists, mut differences) = (0, 0, Vec::new());
    for row in index.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (file, verdict) = (columns[0], columns[2]);
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
    let Some(folder) = corpus() else {
        println!("skipped: no corpus (set PLIMSOLL_CORPUS)");
        return;
    };
    let index = std::fs::read_to_string(folder.path.join("index.tsv")).unwrap();
    for row in index.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (file, verdict) = (columns[0], columns[2]);
        let kind = parse_files(&[file], &Options::default(), &folder);
        if verdict == "reject" {
            assert!(kind.has_errors(), "{file}");
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
    let folder = Folder { path, host: MapHost::default() };
    let index = std::fs::read_to_string(folder.path.join("expected.tsv")).unwrap();
    let mut n_cases = 0;
    for row in index.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (case, arguments, verdict, expected) = (columns[0], columns[1], columns[2], columns[3]);
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
    assert_eq!(n_cases, 17);
}

//! A configuration as the text of a file, as version 1.1.0 has it.

use std::fmt::Write as _;

use super::config::{
    AccessLine, AccessSpec, Assigned, Config, DataPattern, Growth, Manager, Rows, SPEC_HEAD, Steps,
    TestSetup, TestType, Worker, word_of,
};

/// The first line, and the last.
const VERSION: &str = "Version 1.1.0 \n";

/// The tool gives up at longer lines, bytes.
pub(super) const LINE_BYTES_MAX: usize = 199;

/// Comments are broken behind so many bytes.
const COMMENT_BYTES: usize = 100;

/// Puts remarks into a file as comments: below the version, which must be the first line.
pub(super) fn annotate(text: &str, remarks: &[String]) -> String {
    let (version, rest) = text.split_at(text.find('\n').map_or(0, |at| at + 1));
    let mut annotated = version.to_owned();
    for remark in remarks {
        let mut line = "'".to_owned();
        for word in remark.split_whitespace() {
            if line.len() + word.len() > COMMENT_BYTES && line.trim() != "'" {
                let _ = writeln!(annotated, "{}", cut(&line, LINE_BYTES_MAX));
                "'  ".clone_into(&mut line);
            }
            line.push(' ');
            line.push_str(word);
        }
        let _ = writeln!(annotated, "{}", cut(&line, LINE_BYTES_MAX));
    }
    annotated + rest
}

/// Returns the start of a text, of so many bytes at most.
pub(super) fn cut(text: &str, n_bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(n_bytes_max)]
}

/// Writes a configuration. Its names have no line ends, and those of specifications no commas.
pub(super) fn text_of(config: &Config) -> String {
    let mut text = VERSION.to_owned();
    let (n_workers, of_network) = workers_of(config);
    test_setup(&mut text, &config.test, n_workers, of_network);
    section(&mut text, "ACCESS SPECIFICATIONS");
    for spec in &config.specs {
        access_spec(&mut text, spec);
    }
    text.push_str("'END access specifications\n");
    section(&mut text, "MANAGER LIST");
    for (idx, manager) in config.managers.iter().enumerate() {
        let Manager { name, address, workers, span: _ } = manager;
        let _ = write!(
            text,
            "'Manager ID, manager name\n\t{},{name}\n'Manager network address\n\t{address}\n",
            idx + 1
        );
        for worker in workers {
            text.push_str(&worker_text(worker));
        }
        text.push_str("'End manager\n");
    }
    text.push_str("'END manager list\n");
    text + VERSION
}

/// Counts workers of disks, and of the network.
fn workers_of(config: &Config) -> (usize, usize) {
    let all = || config.managers.iter().flat_map(|manager| &manager.workers);
    let of_network = all().filter(|worker| worker.is_of_network).count();
    (all().count() - of_network, of_network)
}

/// Begins a section, with a line as long as the tool's.
fn section(text: &mut String, name: &str) {
    let _ = writeln!(text, "'{:=<79}", format!("{name} "));
}

fn test_setup(text: &mut String, test: &TestSetup, n_of_disks: usize, n_of_network: usize) {
    let TestSetup { description, run_time_s, ramp_up_s, rows, test_type, .. } = test;
    let TestSetup { workers, targets, queue_depths, .. } = test;
    let (minutes, seconds) = (run_time_s / 60 % 60, run_time_s % 60);
    let rows = word_of(&Rows::WORDS, rows);
    section(text, "TEST SETUP");
    let _ = write!(
        text,
        "'Test Description\n\t{description}\n'Run Time\n'\thours      minutes    seconds\n\
         \t{:<11}{minutes:<11}{seconds}\n'Ramp Up Time (s)\n\t{ramp_up_s}\n\
         'Default Disk Workers to Spawn\n\t{n_of_disks}\n\
         'Default Network Workers to Spawn\n\t{n_of_network}\n'Record Results\n\t{rows}\n",
        run_time_s / 3600,
    );
    for (key, steps) in [("Worker", workers), ("Disk", targets)] {
        let Steps { start, end: _, step, growth } = steps;
        let growth = word_of(&Growth::WORDS, growth);
        let _ = write!(
            text,
            "'{key} Cycling\n'\tstart      step       step type\n\
             \t{start:<11}{step:<11}{growth}\n"
        );
    }
    let Steps { start, end, step, growth } = queue_depths;
    let growth = word_of(&Growth::WORDS, growth);
    let word = word_of(&TestType::WORDS, test_type);
    let _ = write!(
        text,
        "'Queue Depth Cycling\n'\tstart      end        step       step type\n\
         \t{start:<11}{end:<11}{step:<11}{growth}\n'Test Type\n\t{word}\n'END test setup\n"
    );
}

fn access_spec(text: &mut String, spec: &AccessSpec) {
    let AccessSpec { name, assigned, lines } = spec;
    let assigned = word_of(&Assigned::WORDS, assigned);
    let _ = writeln!(text, "{SPEC_HEAD}\t{name},{assigned}");
    text.push_str(AccessLine::HEAD);
    for line in lines {
        let _ = writeln!(text, "\t{}", line.columns());
    }
}

/// Writes a worker.
pub(super) fn worker_text(worker: &Worker) -> String {
    let kind = if worker.is_of_network { "NETWORK,TCP" } else { "DISK" };
    let connection = match worker.ios_per_open {
        0 => "DISABLED,1".to_owned(),
        n_ios => format!("ENABLED,{n_ios}"),
    };
    let seed = match worker.seed {
        Some(seed) => format!("ENABLED,{seed}"),
        None => "DISABLED,0".to_owned(),
    };
    let data = word_of(&DataPattern::WORDS, &worker.data);
    let mut text = format!(
        "'Worker\n\t{}\n'Worker type\n\t{kind}\n'Default target settings for worker\n\
         'Number of outstanding IOs,test connection rate,transactions per connection,\
         use fixed seed,fixed seed value\n\t{},{connection},{seed}\n\
         'Disk maximum size,starting sector,Data pattern\n\t{},{},{data}\n\
         'End default target settings for worker\n'Assigned access specs\n",
        worker.name, worker.queue_depth, worker.size_sectors, worker.start_sector,
    );
    for (name, _) in &worker.specs {
        let _ = writeln!(text, "\t{name}");
    }
    text.push_str("'End assigned access specs\n'Target assignments\n");
    for target in &worker.targets {
        let _ = write!(text, "'Target\n\t{}\n'Target type\n\tDISK\n'End target\n", target.name);
    }
    text.push_str("'End target assignments\n'End worker\n");
    text
}

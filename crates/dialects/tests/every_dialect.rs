//! What every language does alike: it is found by its name, recognised by its look, and reads what
//! it writes.

mod support;

use dialects::fio::{Wishes, parse_text};
use dialects::{DIALECTS, Dialect, LoadError, Loader, Overrides, Request, find_dialect, likeliest};
use plan::Plan;
use support::{MapHost, all_shown};

/// A host with one file.
struct OneFile(String);

impl Loader for OneFile {
    fn read(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        if path == "jobs" { Ok(self.0.clone().into_bytes()) } else { Err(LoadError::NotFound) }
    }

    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1024
    }

    fn n_cpus(&self) -> u32 {
        1
    }
}

fn plan() -> Plan {
    let text = "[j]\nfilename=/mnt/a/f\nsize=64m\nbs=8k\nrw=randread\nnorandommap\ndirect=1\n\
                ioengine=io_uring\niodepth=4\ntime_based\nruntime=5\n";
    parse_text("t", text, &Wishes::default(), &MapHost::default()).plan
}

fn read(dialect: &dyn Dialect, text: String) -> dialects::Understood {
    let overrides = Overrides::default();
    let request = Request {
        files: &["jobs".to_owned()],
        sections: &[],
        overrides: &overrides,
        all_hosts_local: false,
        is_to_run: false,
    };
    dialect.read(&request, &OneFile(text))
}

#[test]
fn each_recognises_and_reads_what_it_writes() {
    let plan = plan();
    for dialect in DIALECTS {
        let text = dialect.write(&plan).text;
        assert_eq!(likeliest(&text), Some(*dialect), "{text}");
        let parsed = read(*dialect, text.clone()).parsed;
        assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
        let [job] = &parsed.plan.jobs().collect::<Vec<_>>()[..] else { panic!("{text}") };
        assert_eq!(job.files.names, ["/mnt/a/f"], "{text}");
        assert_eq!(job.load.queue_depth, 4, "{text}");
        assert_eq!(job.limits.runtime_ns, Some(5_000_000_000), "{text}");
    }
}

#[test]
fn each_takes_a_value_from_outside() {
    let overrides =
        Overrides { set: vec![("runtime".to_owned(), "7".to_owned())], remap: Vec::new() };
    let set_in = |dialect: &dyn Dialect| {
        let text = dialect.write(&plan()).text;
        let files = ["jobs".to_owned()];
        let request = Request {
            files: &files,
            sections: &[],
            overrides: &overrides,
            all_hosts_local: false,
            is_to_run: false,
        };
        let parsed = dialect.read(&request, &OneFile(text)).parsed;
        parsed.plan.jobs().next().and_then(|job| job.limits.runtime_ns)
    };
    for name in ["fio", "toml"] {
        let dialect = find_dialect(name).expect("a language");
        assert_eq!(set_in(dialect), Some(7_000_000_000), "{name}");
    }
}

#[test]
fn names_are_unique_and_what_looks_like_none_is_none() {
    for dialect in DIALECTS {
        assert_eq!(find_dialect(dialect.name()), Some(*dialect));
        assert!(!dialect.about().ends_with('.') && !dialect.signs().ends_with('.'));
    }
    assert_eq!(find_dialect("iometer"), None);
    assert_eq!(likeliest("Nothing of this is a job at all."), None);
}

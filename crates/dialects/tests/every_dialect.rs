//! What every language does alike: it is found by its name, recognised by its look, and reads what
//! it writes.

mod support;

use dialects::fio::parse_text;
use dialects::{
    DIALECTS, Dialect, FilesOnly, Likeness, LoadError, LowerOptions, Overrides, ReadPlan, Request,
    find_dialect, likeliest,
};
use plan::Plan;
use support::{MapHost, all_shown};

fn plan() -> Plan {
    let text = "[j]\nfilename=/mnt/a/f\nsize=64m\nbs=8k\nrw=randread\nnorandommap\ndirect=1\n\
                ioengine=io_uring\niodepth=4\ntime_based\nruntime=5\n";
    parse_text("t", text, &LowerOptions::default(), &MapHost::default()).plan
}

/// Reads a text, to be looked at.
fn read(dialect: &dyn Dialect, text: &str, overrides: &Overrides) -> ReadPlan {
    let request = Request {
        files: &["jobs".to_owned()],
        sections: &[],
        overrides,
        all_hosts_local: false,
        is_to_run: false,
    };
    let file = |path: &str| match path {
        "jobs" => Ok(text.as_bytes().to_vec()),
        _ => Err(LoadError::NotFound),
    };
    dialect.read(&request, &FilesOnly(file))
}

#[test]
fn each_recognises_and_reads_what_it_writes() {
    let plan = plan();
    for dialect in DIALECTS.iter().filter(|it| it.can_write()) {
        let text = dialect.write(&plan).text;
        assert_eq!(likeliest(&text), Some(*dialect), "{text}");
        let parsed = read(*dialect, &text, &Overrides::default()).parsed;
        assert!(!parsed.has_errors(), "{text}\n{}", all_shown(&parsed.diagnostics));
        let [job] = &parsed.plan.jobs().collect::<Vec<_>>()[..] else { panic!("{text}") };
        // On a folder Iometer has a file of its own name.
        let file = if dialect.name() == "iometer" { "/mnt/a/iobw.tst" } else { "/mnt/a/f" };
        assert_eq!(job.files.names, [file], "{text}");
        assert_eq!(job.load.queue_depth, 4, "{text}");
        assert_eq!(job.limits.runtime_ns, Some(5_000_000_000), "{text}");
    }
}

#[test]
fn each_takes_a_value_from_outside() {
    let overrides = Overrides {
        set: vec![("runtime".to_owned(), "7".to_owned())],
        remap: Vec::new(),
        load: None,
    };
    let set_in = |dialect: &dyn Dialect| {
        let text = dialect.write(&plan()).text;
        let parsed = read(dialect, &text, &overrides).parsed;
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
    assert_eq!(find_dialect("cobol"), None);
    assert_eq!(likeliest("Nothing of this is a job at all."), None);
}

#[test]
fn what_cannot_be_written_says_so() {
    for dialect in DIALECTS.iter().filter(|it| !it.can_write()) {
        let written = dialect.write(&plan());
        assert!(written.is_empty() && !written.losses.is_empty(), "{dialect:?}: {written:?}");
    }
}

/// A plan of our own says in its first line that it is one. However much of the rest another
/// language would know, and wherever it stands in the list, that decides.
#[test]
fn what_a_file_says_of_itself_decides() {
    let jobs = "rw=read\n".repeat(500);
    let text = format!("schema = \"plimsoll.plan/1\"\n[j]\n{jobs}");
    let of = |name: &str, text: &str| find_dialect(name).expect("a language").likeness(text);
    assert_eq!(of("fio", &text), Likeness::Share(99));
    assert_eq!(of("toml", &text), Likeness::Declared);
    assert_eq!(likeliest(&text), find_dialect("toml"));
    let without = text.replacen("schema = ", "# schema = ", 1);
    assert_eq!(of("fio", &without), Likeness::Share(100));
    assert_eq!(of("toml", &without), Likeness::None);
    assert!(Likeness::None < Likeness::Share(1) && Likeness::Share(100) < Likeness::Declared);
}

/// Which of two languages comes first in the list decides nothing: no text looks like both.
#[test]
fn what_one_language_writes_no_other_knows_as_well() {
    let plan = plan();
    for writer in DIALECTS.iter().filter(|it| it.can_write()) {
        let text = writer.write(&plan).text;
        for other in DIALECTS.iter().filter(|other| *other != writer) {
            assert!(other.likeness(&text) < writer.likeness(&text), "{other:?}: {text}");
        }
    }
}

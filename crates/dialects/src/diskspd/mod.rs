//! Command lines of diskspd, as scripts have them: what threads do to targets, with which caches,
//! for how long.
//!
//! A [script] is split into commands; those that call diskspd are read by the table of its
//! [options] into a [command], and each becomes a [step](lower) of a plan: a job for each target,
//! since threads and outstanding I/Os count per target.
//!
//! What options mean is as in diskspd 2.2 and in diskspd for Linux; what is left to the host (drive
//! letters, shares, numbers of disks) is mapped by `--remap`.
//!
//! Tests: `tests/diskspd.rs`.

mod command;
mod lower;
mod options;
mod script;

use plan::Plan;

use crate::{Dialect, Likeness, Loader, Parsed, ReadPlan, Request, Translation};
use crate::{foreign, native};

/// The language of diskspd's command lines.
#[derive(Clone, Copy, Debug)]
pub struct Diskspd;

impl Dialect for Diskspd {
    fn name(&self) -> &'static str {
        "diskspd"
    }

    fn about(&self) -> &'static str {
        "Scripts with command lines of diskspd"
    }

    fn file(&self) -> &'static str {
        "a script that calls diskspd"
    }

    fn signs(&self) -> &'static str {
        "a script that calls diskspd has a line such as `diskspd -b8K -d60 FILE`"
    }

    fn comment(&self) -> char {
        '#'
    }

    fn likeness(&self, text: &str) -> Likeness {
        if foreign::calls_diskspd(text) { Likeness::Declared } else { Likeness::None }
    }

    fn read(&self, request: &Request<'_>, loader: &dyn Loader) -> ReadPlan {
        let mut all = Parsed::default();
        let (variables, files) = request.variables(loader);
        for path in &files {
            let parsed = Parsed::of_wide_file(path, "script", loader, |text| {
                lower::parse_text(path, text, &variables, request, loader)
            });
            native::join(&mut all, parsed);
        }
        ReadPlan::of(all)
    }

    fn can_write(&self) -> bool {
        false
    }

    fn write(&self, _plan: &Plan) -> Translation {
        let mut translation = Translation::default();
        translation.lose("command lines of diskspd are read, and not written yet");
        translation
    }
}

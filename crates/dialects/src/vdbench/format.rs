//! `format=` of a run definition: what becomes of the structures before it.

use super::options::FormatOverride;
use super::params::Param;
use super::scan::Scan;

/// What `format=` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) is_requested: bool,
    pub(super) is_restart: bool,
    pub(super) is_clean: bool,
    pub(super) is_only: bool,
    pub(super) is_folders: bool,
    pub(super) is_once: bool,
    pub(super) is_limited: bool,
    is_complete: bool,
}

impl Format {
    /// Reads the words of the parameter, beside those that were read before.
    pub(super) fn put(&mut self, param: &Param, scan: &mut Scan<'_>) {
        let words = &param.values.words;
        self.is_complete |= words.iter().any(|word| word == "complete");
        let is_no = words.iter().any(|word| "no".starts_with(word.as_str()));
        if is_no {
            self.is_requested = false;
        } else {
            for word in words {
                match word.as_str() {
                    word if "directories".starts_with(word) => self.is_folders = true,
                    "restart" => self.is_restart = true,
                    "only" => self.is_only = true,
                    "once" => self.is_once = true,
                    "clean" => (self.is_only, self.is_clean) = (true, true),
                    "limited" => self.is_limited = true,
                    "complete" => {}
                    word if "yes".starts_with(word) => {}
                    _ => {
                        let wanted = "yes, no, only, restart, clean, once, limited, directories \
                                      or complete";
                        return scan.wrong(param, wanted);
                    }
                }
                self.is_requested = true;
            }
        }
        self.force(scan.options.format);
        let mistakes = [
            (
                self.is_requested && self.is_complete,
                "'format=yes' and 'format=complete' are mutually exclusive",
                "write `format=(no,complete)`",
            ),
            (
                !is_no && self.is_limited && !self.is_only,
                "the use of 'format=limited' requires the use of 'format=(only,limited)'",
                "write `format=(only,limited)`",
            ),
            (
                !is_no && self.is_requested && scan.known.general.is_recovery,
                "'format=yes' and journal recovery are mutually exclusive",
                "write `format=no`",
            ),
        ];
        for (_, message, help) in mistakes.into_iter().filter(|(is_wrong, _, _)| *is_wrong) {
            scan.findings.error_help(param.place, "wrong-format", message, help);
        }
    }

    /// What `-c` says goes.
    pub(super) fn force(&mut self, forced: Option<FormatOverride>) {
        match forced {
            Some(FormatOverride::No) => self.is_requested = false,
            Some(FormatOverride::Yes) => self.is_requested = true,
            Some(FormatOverride::Only) => (self.is_requested, self.is_only) = (true, true),
            None => {}
        }
    }
}

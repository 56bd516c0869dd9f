//! What is reported of storage before it is worked on: sizes, what is missing, what was made of
//! trees.

use super::super::jobs::MemberKind;
use super::super::number::{fixed, thousands};
use super::{LOG, Output, Report};
use crate::vdbench::output::Moment;

const GIB: f64 = (1_u64 << 30) as f64;
const GB: f64 = 1e9;

/// What was made of a structure of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorPart {
    /// Its anchor, which was missing.
    Anchor,
    /// All folders of a format.
    Folders,
    /// All files of a format; they are written next.
    Files,
}

/// A storage definition as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LunSeen {
    /// Its name.
    pub sd: String,
    /// File or device.
    pub lun: String,
    /// Label of its host.
    pub host: String,
    /// Bytes that are there, 0 of a file that is not; `None` where it is unknown.
    pub size_bytes: Option<u64>,
    /// It is written first, since it is missing or too short.
    pub is_to_be_written: bool,
}

impl Report {
    /// Returns what was found of storage definitions. Sizes are for the log alone, as is the sum of
    /// several.
    pub fn luns(&self, now: &Moment, luns: &[LunSeen]) -> Output {
        let mut output = Output::default();
        let clock = now.clock();
        for LunSeen { sd, lun, size_bytes, .. } in luns {
            let size = size_bytes.map_or_else(|| "n/a".to_owned(), sizes);
            output.page(LOG, &format!("{clock} sd={sd},lun={lun} lun size: {size}\n"));
        }
        let total: Option<u64> = luns.iter().map(|lun| lun.size_bytes).sum();
        if let Some(total) = total.filter(|_| luns.len() > 1) {
            output.page(LOG, &format!("{clock} \n{clock} Total SD size: {}\n", sizes(total)));
        }
        for LunSeen { lun, host, .. } in luns.iter().filter(|lun| lun.is_to_be_written) {
            output.log(&format!(
                "{clock} lun={lun} does not exist or is too small. host={host}: SD_format writes \
                 it first\n"
            ));
        }
        output
    }

    /// Returns what says that a part of a structure is there.
    pub fn made(&self, now: &Moment, anchor: &str, part: AnchorPart) -> Output {
        let slaves = self.members.names(MemberKind::Slave);
        let slave = slaves.first().map_or("localhost-0", String::as_str);
        let text = match part {
            AnchorPart::Anchor => format!("{slave}: Created anchor directory: {anchor}"),
            AnchorPart::Folders => format!("{slave}: anchor={anchor} mkdir complete."),
            AnchorPart::Files => format!("{slave}: anchor={anchor} create complete."),
        };
        self.message(now, &text, false)
    }

    /// Returns a message for the log alone.
    pub fn log_line(&self, now: &Moment, text: &str) -> Output {
        let mut output = Output::default();
        output.page(LOG, &format!("{} {text}\n", now.clock()));
        output
    }
}

/// Returns a number of bytes as the log says it: in bytes, and in two kinds of gigabytes.
fn sizes(bytes: u64) -> String {
    let gib = fixed(bytes as f64 / GIB, 4);
    let gb = fixed(bytes as f64 / GB, 4);
    format!("{} bytes; {gib} GB (1024**3); {gb} GB (1000**3)", thousands(bytes))
}

//! Pages of a run before anything is measured: headings and links.

use super::super::jobs::{MemberKind, Storage, StorageKind};
use super::super::members::Member;
use super::super::page::{link, link_line, link_lines, run_links, shown, title};
use super::{
    ANCHORS, ERRORS, FLATFILE, HISTOGRAM, LOG, Output, RUN_TOTALS, Report, SKEW, SUMMARY, TOTALS,
    histogram_page,
};
use crate::vdbench::output::Moment;

impl Report {
    /// Opens the pages of a run that is not simulated.
    pub(super) fn open_details(&self, now: &Moment, output: &mut Output) {
        let links = run_links(&self.runs);
        output.markup(SUMMARY, &self.summary_links());
        output.markup(TOTALS, &links);
        output.markup(LOG, &links);
        let created = format!(
            "Vdbench error log, created {} \nError log. If there are no error messages beyond \
             this line then there were no Data Validation or I/O errors.\n\n",
            now.long()
        );
        self.open_page(output, ERRORS, &created);
        self.open_page(output, SKEW, &format!("Workload skew report\n\n{SKEW_HEAD}\n{links}"));
        self.open_page(output, HISTOGRAM, &format!("Total response time histogram.\n\n{links}"));
        if self.is_files {
            self.open_page(
                output,
                ANCHORS,
                &format!("Anchor status report\n\n{ANCHORS_NOTE}\n{ANCHORS_HEAD}\n{links}"),
            );
        }
        if self.setup.detail.run_totals {
            output.whole.push((RUN_TOTALS.to_owned(), self.run_totals_page(now)));
        }
        for (idx, host) in self.members.of_kind(MemberKind::Host) {
            self.open_host(output, idx, host, &links);
        }
        for (idx, slave) in self.members.of_kind(MemberKind::Slave) {
            self.open_slave(output, idx, slave, &links);
        }
        for member in &self.members.all {
            self.open_member(output, member, &links);
        }
    }

    fn open_page(&self, output: &mut Output, page: &str, head: &str) {
        output.markup(page, &title(&self.setup.folder, page));
        output.markup(page, head);
    }

    fn open_host(&self, output: &mut Output, idx: usize, host: &Member, links: &str) {
        let name = &host.name;
        let mut head = format!("Host summary report(s) for host={}\n\n", shown(name));
        head.push_str(&self.open_histogram(output, host, "Host response time histogram.", links));
        for slave in self.members.below(MemberKind::Slave, idx) {
            let slave = &slave.name;
            let summary = link(&format!("{slave}.html"), &format!("{slave} summary"));
            let stdout = link(&format!("{slave}.stdout.html"), &format!("{slave} stdout"));
            let text = "Link to slave summary report:";
            head.push_str(&format!("{text:<33}{summary}   {stdout}\n"));
        }
        let messages = format!("{name}.var_adm_msgs.html");
        head.push_str(&link_line("Link to /var/adm/messages:", &messages, "messages"));
        head.push_str(&self.part_links("Link to host", idx));
        self.open_page(output, &format!("{name}.html"), &format!("{head}{links}"));
        self.open_page(output, &messages, MESSAGES);
    }

    fn open_slave(&self, output: &mut Output, idx: usize, slave: &Member, links: &str) {
        let name = &slave.name;
        let stdout = format!("{name}.stdout.html");
        let console = link_line("Console log:", &stdout, "Slave stdout/stderr");
        let text = "Slave response time histogram.";
        let histogram = self.open_histogram(output, slave, text, links);
        let parts = self.part_links("Links to slave", idx);
        let is = shown(name);
        let head =
            format!("Slave summary report for slave={is}\n\n{console}{histogram}{parts}{links}");
        self.open_page(output, &format!("{name}.html"), &head);
        self.open_page(output, &stdout, &format!("stdout/stderr for slave={is}\n{links}"));
    }

    /// Opens the page of histograms of a member that has one, and returns the link to it.
    fn open_histogram(
        &self,
        output: &mut Output,
        member: &Member,
        text: &str,
        links: &str,
    ) -> String {
        if !self.has_histogram(member) {
            return String::new();
        }
        let to = match member.kind {
            MemberKind::Fsd | MemberKind::Fwd => "Link to Performance histogram:",
            MemberKind::Total
            | MemberKind::Host
            | MemberKind::Slave
            | MemberKind::Part
            | MemberKind::Sd
            | MemberKind::Wd => "Link to response time histogram:",
        };
        let page = histogram_page(member);
        self.open_page(output, &page, &format!("{}\n\n{links}", shown(text)));
        link_line(to, &page, "histogram")
    }

    /// Returns the links of a host or slave to what it does on each storage.
    fn part_links(&self, of_whom: &str, idx: usize) -> String {
        let what = if self.is_files { "FSD" } else { "SD" };
        let mut lines = String::new();
        for part in self.members.below(MemberKind::Part, idx) {
            let Some(storage) = &part.storage else { continue };
            // Of files every line says what it is, else the first one alone.
            let is_headed = self.is_files || lines.is_empty();
            let text = if is_headed { format!("{of_whom} {what} reports:") } else { String::new() };
            let page = format!("{}.html", part.name);
            lines.push_str(&link_line(&text, &page, &self.part_text(part, storage)));
        }
        lines
    }

    /// Returns which storage a part works on, as links and headings say it.
    fn part_text(&self, part: &Member, storage: &Storage) -> String {
        let Storage { name, path, .. } = storage;
        let host = self.members.host_of(part);
        match storage.kind {
            StorageKind::Fsd => format!("fsd={name}"),
            StorageKind::Sd => format!("sd={name},host={host},lun={path}"),
        }
    }

    fn open_member(&self, output: &mut Output, member: &Member, links: &str) {
        let name = &member.name;
        let (page, histogram) = match member.kind {
            _ if !self.has_page(member) => return,
            MemberKind::Sd => {
                (format!("SD report for sd={name}"), "SD response time histogram.".to_owned())
            }
            MemberKind::Wd => (
                format!("Workload Report for wd={name}"),
                format!("wd={name} response time histogram."),
            ),
            MemberKind::Fsd => {
                (format!("Report for fsd {name}"), format!("Performance histogram for FSD={name}"))
            }
            MemberKind::Fwd => {
                (format!("Report for fwd {name}"), format!("Performance histogram for FWD={name}"))
            }
            MemberKind::Part => return self.open_part(output, member, links),
            MemberKind::Total | MemberKind::Host | MemberKind::Slave => return,
        };
        let link = self.open_histogram(output, member, &histogram, links);
        let head = format!("{}\n\n{link}{links}", shown(&page));
        self.open_page(output, &format!("{name}.html"), &head);
    }

    fn open_part(&self, output: &mut Output, part: &Member, links: &str) {
        let Some(storage) = &part.storage else { return };
        let is_slave = part.of.is_some_and(|of| self.members.all[of].kind == MemberKind::Slave);
        let owner = if is_slave { "Slave" } else { "Host" };
        let what = if self.is_files { "FSD" } else { "SD" };
        // Of a process Vdbench names the definition alone.
        let text = match storage.kind {
            StorageKind::Sd if is_slave => format!("sd={}", storage.name),
            StorageKind::Sd | StorageKind::Fsd => self.part_text(part, storage),
        };
        let head = format!("{owner} {what} report for {}\n\n{links}", shown(&text));
        self.open_page(output, &format!("{}.html", part.name), &head);
    }

    /// Returns whether a member has a page of rows that is its alone.
    pub(super) fn has_page(&self, member: &Member) -> bool {
        match member.kind {
            MemberKind::Total => false,
            MemberKind::Sd => self.setup.detail.sd_detail,
            MemberKind::Fsd => self.setup.detail.fsd_detail,
            MemberKind::Host
            | MemberKind::Slave
            | MemberKind::Part
            | MemberKind::Wd
            | MemberKind::Fwd => true,
        }
    }

    /// Returns whether it has a page of histograms, too.
    pub(super) fn has_histogram(&self, member: &Member) -> bool {
        match member.kind {
            MemberKind::Host => self.setup.detail.host_detail,
            MemberKind::Slave => self.setup.detail.slave_detail,
            MemberKind::Total | MemberKind::Part => false,
            MemberKind::Sd | MemberKind::Wd | MemberKind::Fsd | MemberKind::Fwd => {
                self.has_page(member)
            }
        }
    }

    fn summary_links(&self) -> String {
        let mut text = link_line("Link to errorlog:", ERRORS, "errorlog");
        text.push_str(&link_line("Link to flatfile:", FLATFILE, "flatfile"));
        if self.is_files {
            text.push_str(&link_line("Link to anchor status:", ANCHORS, "anchors"));
        }
        if self.setup.detail.run_totals {
            text.push_str(&link_line("Totals of all runs:", RUN_TOTALS, "totals_optional"));
        }
        text.push('\n');
        let names = |kind| self.members.names(kind);
        let sorted = |kind| {
            let mut names = self.members.names(kind);
            names.sort_unstable();
            names
        };
        text.push_str(&link_lines("Link to HOST reports:", &names(MemberKind::Host)));
        if self.is_files {
            if self.setup.detail.fsd_detail {
                text.push_str(&link_lines("Link to FSD reports:", &sorted(MemberKind::Fsd)));
            }
            text.push_str(&link_lines("Link to FWD reports:", &sorted(MemberKind::Fwd)));
        }
        text.push_str(&link_line("Link to response time histogram:", HISTOGRAM, "histogram"));
        text.push_str(&link_line("Link to workload skew report:", SKEW, "skew"));
        if self.is_files {
            text.push_str(&link_line("Link to anchor report:", ANCHORS, "anchors"));
        } else {
            if self.setup.detail.sd_detail {
                text.push_str(&link_lines("Link to SD reports:", &names(MemberKind::Sd)));
            }
            text.push('\n');
            for name in names(MemberKind::Wd) {
                let page = format!("{name}.html");
                text.push_str(&link_line("Link to workload report:", &page, &name));
            }
        }
        text.push_str(&run_links(&self.runs));
        text
    }
}

const SKEW_HEAD: &str = "\
What each one did, and what share of the workload that was.
Tables of hosts, slaves and workloads are there where there is more than one of them.
";

const MESSAGES: &str = "\
This page is for the last lines of the host's log of system messages.
Plimsoll does not read that log: see `dmesg` or `journalctl -k` for the time of the run.

";

const ANCHORS_NOTE: &str = "\
(Of a structure that several hosts share, 'shared=yes', these are the files of all of them)
";

const ANCHORS_HEAD: &str = concat!(
    "                             ......Anchor size....    ......Total size.....    ",
    "......Workingset.....    ....Existing ........    ...Opened...             \n",
    "                             files     dirs  bytes    files     dirs  bytes    ",
    "files     dirs  bytes    files     dirs  bytes    files  bytes\n",
);

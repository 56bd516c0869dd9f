//! Host definitions, replay groups, and definitions repeated for every host.

use super::findings::Place;
use super::input::{HOSTS_MAX, Input, fits};
use super::keywords::Name::{Any, Full};
use super::keywords::Table;
use super::lines::Line;
use super::params::Param;
use super::parsed::Host;

/// A host as written.
#[derive(Clone, Debug)]
pub(super) struct HostEntry {
    pub(super) host: Host,
    clients: i64,
    pub(super) place: Place,
    /// `jvms=` as a number of its own: Vdbench may raise it.
    pub(super) has_jvms: bool,
}

impl Default for HostEntry {
    fn default() -> Self {
        HostEntry {
            host: Host {
                label: "localhost".to_owned(),
                system: "localhost".to_owned(),
                shell: "rsh".to_owned(),
                user: None,
                folder: None,
                jvms: 1,
                jvms_raised_for: None,
                master: None,
                mounts: Vec::new(),
                is_local: true,
            },
            clients: 0,
            place: Place::NONE,
            has_jvms: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Host,
    System,
    Vdbench,
    Shell,
    User,
    Jvms,
    Clients,
    Mount,
    Master,
}

pub(super) const TABLE: &Table<Key> = &[
    (Full("hd"), Key::Host),
    (Full("host"), Key::Host),
    (Any("system"), Key::System),
    (Any("vdbench"), Key::Vdbench),
    (Any("shell"), Key::Shell),
    (Any("user"), Key::User),
    (Any("jvms"), Key::Jvms),
    (Any("clients"), Key::Clients),
    (Any("mount"), Key::Mount),
    (Any("master"), Key::Master),
];

const ENDS: &[&str] = &["rg", "sd", "fsd", "wd", "fwd", "rd"];

impl Input<'_> {
    pub(super) fn read_hosts(&mut self) {
        let mut default = HostEntry::default();
        // The default while nothing else was begun, then the last host.
        let mut current: Option<HostEntry> = None;
        let mut is_default = true;
        while let Some(param) = self.take(ENDS) {
            let Some(key) = self.keyword(TABLE, &param) else { continue };
            if key == Key::Host {
                self.keep_host(current.take(), is_default, &mut default);
                let begun = self.begin_host(&param, &default);
                is_default = begun.is_none();
                current = Some(begun.unwrap_or_else(|| default.clone()));
            } else if let Some(entry) = &mut current
                && !param.is_broken
            {
                let mut taken = entry.clone();
                self.host_value(key, &param, &mut taken);
                current = Some(taken);
            }
        }
        self.keep_host(current, is_default, &mut default);
        if self.ahead.is_none() && !self.findings.is_hopeless() {
            self.end_of_file("definitions behind the general parameters and hosts");
        }
        if self.hosts.is_empty() {
            self.hosts.push(HostEntry { place: Place::NONE, ..default });
        }
        self.finish_hosts();
    }

    /// Returns the new host; `None` for the default.
    fn begin_host(&mut self, param: &Param, default: &HostEntry) -> Option<HostEntry> {
        self.plain.begin();
        let words = &param.values.words;
        let name = param.word(&mut self.findings).unwrap_or("?").to_owned();
        if name == "default" {
            return None;
        }
        if param.key == "host" || words.len() > 1 {
            self.findings.warning(
                param.key_place,
                "old-parameter",
                "`host=(address,label)` is the old form of a host definition",
                "write `hd=label,system=address`",
            );
        }
        let mut entry = default.clone();
        entry.host.system.clone_from(&name);
        entry.host.label = words.get(1).cloned().unwrap_or(name);
        entry.place = param.place;
        Some(entry)
    }

    fn keep_host(&mut self, entry: Option<HostEntry>, is_default: bool, default: &mut HostEntry) {
        match entry {
            Some(entry) if is_default => *default = entry,
            Some(entry) => self.hosts.push(entry),
            None => {}
        }
    }

    fn host_value(&mut self, key: Key, param: &Param, entry: &mut HostEntry) {
        if matches!(key, Key::Jvms | Key::Clients)
            && !self.first_makes_sense(param, super::sense::COUNT)
        {
            return;
        }
        let findings = &mut self.findings;
        let host = &mut entry.host;
        match key {
            Key::Jvms => {
                let Some(jvms) = param.int(findings) else { return };
                host.jvms = jvms.max(1) as u32;
                entry.has_jvms = true;
                return;
            }
            Key::Clients => {
                entry.clients = param.int(findings).unwrap_or(0);
                return;
            }
            _ => {}
        }
        let Some(word) = param.word(findings).map(str::to_owned) else { return };
        match key {
            Key::System => {
                if !self.options.all_hosts_local
                    && !word.starts_with("localhost")
                    && !self.loader.host_exists(&word)
                {
                    self.unknown_host(param, &word);
                }
                host.system = word;
            }
            Key::Vdbench => host.folder = Some(word),
            Key::Shell => host.shell = word,
            Key::User => host.user = Some(word),
            Key::Master => host.master = Some(word),
            Key::Mount => {
                if param.values.words.iter().any(|line| line.split_whitespace().count() < 2) {
                    self.wrong(param, "a mount command with its device and its folder");
                }
                host.mounts.clone_from(&param.values.words);
            }
            Key::Host | Key::Jvms | Key::Clients => {}
        }
    }

    /// Vdbench ends at the first host that it cannot find. The kind mode lists the runs all the
    /// same, and names all of them at once.
    fn unknown_host(&mut self, param: &Param, system: &str) {
        if self.is_kind() {
            self.unknown_hosts.push((system.to_owned(), param.place));
            return;
        }
        self.findings.error_help(
            param.place,
            "unknown-host",
            format!("Host '{system}' does not exist"),
            "write an address, or a name that this machine can resolve; with \
             `--all-hosts-local` everything runs on this host",
        );
    }

    fn tell_unknown_hosts(&mut self) {
        let Some((_, place)) = self.unknown_hosts.first() else { return };
        let place = *place;
        let mut names: Vec<&str> =
            self.unknown_hosts.iter().map(|(system, _)| system.as_str()).collect();
        names.dedup();
        let message = format!(
            "this machine cannot resolve {}: Vdbench would end here",
            super::parsed::few(&names)
        );
        self.findings.warning(
            place,
            "unknown-host",
            message,
            "write an address, or a name that can be resolved",
        );
    }

    /// Repeats hosts for `clients=`, and checks them.
    fn finish_hosts(&mut self) {
        self.tell_unknown_hosts();
        let n_clients = |entry: &HostEntry| entry.clients.clamp(1, HOSTS_MAX as i64) as usize;
        if self.hosts.iter().map(n_clients).sum::<usize>() > HOSTS_MAX {
            self.too_many(Place::NONE, "hosts", HOSTS_MAX);
            self.hosts.iter_mut().for_each(|entry| entry.clients = 0);
        }
        let mut extra = Vec::new();
        for entry in &mut self.hosts {
            let label = entry.host.label.clone();
            if entry.clients > 0 {
                for client in 1..entry.clients {
                    let mut other = entry.clone();
                    other.host.label = format!("{label}_cl{client}");
                    extra.push(other);
                }
                entry.host.label = format!("{label}_cl0");
            }
        }
        self.hosts.extend(extra);
        for entry in &mut self.hosts {
            if let Some(jvms) = self.options.jvms {
                entry.host.jvms = jvms;
                entry.has_jvms = true;
            }
            let is_this = matches!(entry.host.system.as_str(), "localhost" | "127.0.0.1" | "::1");
            entry.host.is_local = is_this || self.options.all_hosts_local;
        }
        for idx in 0..self.hosts.len() {
            let (label, place) = (self.hosts[idx].host.label.clone(), self.hosts[idx].place);
            if !self.is_new("hd", &label.to_ascii_lowercase()) {
                let message = format!("using duplicate host names: {label}");
                self.findings.error(place, "duplicate-name", message);
            }
            if let Some(folder) = &self.hosts[idx].host.folder
                && !folder.contains(['/', '\\'])
            {
                let message =
                    format!("'vdbench=' directory name must end with a file separator: {folder}");
                self.findings.error(place, "wrong-value", message);
            }
        }
    }

    /// Returns the positions of the hosts that patterns fit, by label or address.
    pub(super) fn select_hosts(&mut self, patterns: &[String], place: Place) -> Vec<usize> {
        let mut found = Vec::new();
        for pattern in patterns {
            for (idx, entry) in self.hosts.iter().enumerate() {
                if fits(pattern, &entry.host.label) || fits(pattern, &entry.host.system) {
                    found.push(idx);
                }
            }
            if found.is_empty() {
                let message = format!("could not find host={pattern}");
                let help = "define it with `hd=`, before the storage definitions";
                self.findings.error_help(place, "unknown-name", message, help);
                return found;
            }
        }
        found
    }

    /// Repeats definitions that name `$host` or `#host` for every host.
    pub(super) fn replicate_hosts(&mut self) {
        let lines = self.params.lines_left();
        let is_asked =
            |line: &Line| ["$host", "!host", "#host"].iter().any(|name| line.text.contains(name));
        if self.ahead.is_none() || !lines.iter().any(is_asked) {
            return;
        }
        let n_hosts = self.hosts.len().to_string();
        let mut left: Vec<Line> = Vec::new();
        let lines: Vec<Line> =
            lines.iter().map(|line| line.replaced(&[("#hosts", &n_hosts)])).collect();
        let mut start = 0;
        while start < lines.len() {
            let n_more = lines[start + 1..].iter().take_while(|line| !is_start(line)).count();
            let block = &lines[start..=start + n_more];
            start += block.len();
            let is_rd = block[0].text.to_lowercase().starts_with("rd=");
            if is_rd || !is_start(&block[0]) || !block.iter().any(is_asked) {
                left.extend_from_slice(block);
                continue;
            }
            for (idx, entry) in self.hosts.iter().enumerate() {
                let (label, idx) = (entry.host.label.as_str(), idx.to_string());
                let names = [("$host", label), ("!host", label), ("#host", idx.as_str())];
                left.extend(block.iter().map(|line| line.replaced(&names)));
            }
        }
        self.params.restart_with(left);
        self.advance();
    }

    /// Reads replay groups, which cannot run.
    pub(super) fn read_replay_groups(&mut self) {
        let mut names: Vec<String> = Vec::new();
        while let Some(param) = self.take(&["wd", "fwd", "sd", "fsd", "rd"]) {
            let table: &Table<bool> = &[(Full("rg"), true), (Any("devices"), false)];
            match self.keyword(table, &param) {
                Some(true) => {
                    self.plain.begin();
                    let name = param.word(&mut self.findings).unwrap_or("?").to_owned();
                    if names.contains(&name) {
                        let message = format!("adding duplicate replay group: {name}");
                        self.findings.error(param.place, "duplicate-name", message);
                    }
                    names.push(name);
                    self.set_replay(param.key_place);
                }
                Some(false) => {
                    param.number(&mut self.findings);
                }
                None => {}
            }
        }
    }

    pub(super) fn set_replay(&mut self, place: Place) {
        self.flags.is_replay = true;
        let message = "replay of traces (`rg=`, `replay=`) does not run: \
                       its trace format belongs to another tool";
        self.findings.refuse(place, "no-replay", message);
    }
}

fn is_start(line: &Line) -> bool {
    let key = line.text.split('=').next().unwrap_or_default().to_lowercase();
    matches!(key.as_str(), "sd" | "fsd" | "wd" | "fwd" | "rd")
}

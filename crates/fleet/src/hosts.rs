//! Lists of hosts: `vm1,vm2,vm[3-24]`, or lines of a file.

use std::collections::BTreeSet;
use std::fmt;
use std::net::Ipv6Addr;

/// Most hosts of a run.
pub const HOSTS_MAX: usize = 10_000;

/// A host as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Host {
    /// User to log in as, where one is named (`root@vm1`).
    pub user: Option<String>,
    /// Name or address.
    pub name: String,
    /// Port of its ssh server, where one is named (`vm1:2222`).
    pub port: Option<u16>,
    /// What it is called in messages and results, where that is not how it is reached.
    pub label: Option<String>,
    /// It is this machine, and no ssh is needed.
    pub is_here: bool,
}

impl Host {
    /// Reads one host as it is reached, `HOST[:PORT]` or an address, for a user where one is named,
    /// and calls it by a label.
    ///
    /// # Errors
    /// Where the text is not one host.
    pub fn labelled(reached: &str, user: Option<&str>, label: &str) -> Result<Self, String> {
        let is_bare_address = reached.parse::<Ipv6Addr>().is_ok();
        let reached = if is_bare_address { format!("[{reached}]") } else { reached.to_owned() };
        if reached.contains(['@', ',']) {
            return Err(format!("`{reached}` is not one host"));
        }
        let entry = user.map_or_else(|| reached.clone(), |user| format!("{user}@{reached}"));
        match expand(&entry)?.as_slice() {
            [host] => Ok(Host { label: Some(label.to_owned()), ..host.clone() }),
            _ => Err(format!("`{reached}` is not one host")),
        }
    }

    /// Calls this machine by a label.
    pub fn here(label: &str) -> Self {
        let (name, label) = ("localhost".to_owned(), Some(label.to_owned()));
        Host { user: None, name, port: None, label, is_here: true }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            return f.write_str(label);
        }
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.port {
            Some(port) if self.name.contains(':') => write!(f, "[{}]:{port}", self.name),
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A mistake in a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostsError {
    /// Line, from 1.
    pub line: u32,
    /// Column of the entry, from 1.
    pub column: u32,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// Reads a list: entries between commas, blanks or lines, each `[USER@]HOST[:PORT]`. In a name
/// `[3-24]` or `[01-12,20]` stands for each number of the ranges, with as many digits as the first
/// one has. An IPv6 address stands in brackets: `[fd00::7]`. From `#` to the end of a line is a
/// comment.
///
/// # Errors
/// Every entry that is no host, or stands for one that was named before.
pub fn parse(text: &str) -> Result<Vec<Host>, Vec<HostsError>> {
    let mut hosts = Vec::new();
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (line, entry_column, entry) in entries(text) {
        let place = |message: String| HostsError { line, column: entry_column, message };
        match expand(entry) {
            Ok(found) => {
                for host in found {
                    if !seen.insert(host.clone()) {
                        errors.push(place(format!("`{host}` is named twice: name each host once")));
                    } else if hosts.len() < HOSTS_MAX {
                        hosts.push(host);
                    } else {
                        errors.push(place(format!("more than {HOSTS_MAX} hosts")));
                        return Err(errors);
                    }
                }
            }
            Err(message) => errors.push(place(message)),
        }
    }
    if hosts.is_empty() && errors.is_empty() {
        let message = "no host is named: write for example vm1,vm[2-8]".to_owned();
        errors.push(HostsError { line: 1, column: 1, message });
    }
    if errors.is_empty() { Ok(hosts) } else { Err(errors) }
}

/// Splits a text into entries with line and column. Commas within brackets separate nothing.
fn entries(text: &str) -> Vec<(u32, u32, &str)> {
    let mut found = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut is_inside = false;
        let mut start = 0;
        let ends = |c: char, is_inside: bool| !is_inside && (c == ',' || c.is_whitespace());
        let mut push = |from: usize, to: usize| {
            if from < to {
                let column = line[..from].chars().count() as u32 + 1;
                found.push((line_idx as u32 + 1, column, &line[from..to]));
            }
        };
        for (at, c) in line.char_indices() {
            if ends(c, is_inside) {
                push(start, at);
                start = at + c.len_utf8();
            }
            match c {
                '[' => is_inside = true,
                ']' => is_inside = false,
                _ => {}
            }
        }
        push(start, line.len());
    }
    found
}

/// Returns the hosts that an entry stands for.
fn expand(entry: &str) -> Result<Vec<Host>, String> {
    let (user, rest) = match entry.split_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, entry),
    };
    if user.is_some_and(|user| !is_word(user)) {
        return Err(format!("`{entry}`: no user is named before `@`"));
    }
    let host = |name: &str, port| {
        let (user, name) = (user.map(str::to_owned), name.to_owned());
        Host { user, name, port, label: None, is_here: false }
    };
    if let Some((address, port)) = bracketed_address(rest) {
        if !is_address(address) {
            return Err(format!(
                "`{entry}`: `{address}` is no IPv6 address, write for example [fd00::7]"
            ));
        }
        return Ok(vec![host(address, port_of(entry, port)?)]);
    }
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (rest, None),
    };
    if name.contains(':') {
        return Err(format!("`{entry}`: write an IPv6 address in brackets, for example [fd00::7]"));
    }
    let port = port_of(entry, port)?;
    Ok(expand_name(entry, name)?.iter().map(|name| host(name, port)).collect())
}

/// Takes an address in brackets apart: it holds a colon, ranges hold none.
fn bracketed_address(text: &str) -> Option<(&str, Option<&str>)> {
    let (address, rest) = text.strip_prefix('[')?.split_once(']')?;
    if !address.contains(':') || !(rest.is_empty() || rest.starts_with(':')) {
        return None;
    }
    Some((address, rest.strip_prefix(':')))
}

/// Returns whether a text is an IPv6 address, with the name of its interface where it has one.
fn is_address(text: &str) -> bool {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(is_word)
}

fn port_of(entry: &str, port: Option<&str>) -> Result<Option<u16>, String> {
    let Some(text) = port else { return Ok(None) };
    match text.parse() {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err(format!("`{entry}`: a port is a number from 1 to 65535, not `{text}`")),
    }
}

/// Returns the names that a name with ranges stands for, in their order.
fn expand_name(entry: &str, name: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = name.split_once('[') else {
        return if is_word(name) {
            Ok(vec![name.to_owned()])
        } else {
            Err(format!("`{entry}` is no name of a host"))
        };
    };
    let Some((ranges, after)) = rest.split_once(']') else {
        return Err(format!("`{entry}`: `[` without `]`, write for example vm[3-24]"));
    };
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let wrong = || format!("`{entry}`: `{range}` is no range, write for example vm[3-24]");
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number = |text: &str| {
            (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(first) || !is_number(last) {
            return Err(wrong());
        }
        let (from, to): (u32, u32) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        if to < from {
            return Err(format!("`{entry}`: {first} is more than {last}"));
        }
        if numbers.len() + (to - from) as usize >= HOSTS_MAX {
            return Err(format!("`{entry}` stands for more than {HOSTS_MAX} hosts"));
        }
        let n_digits = if first.starts_with('0') { first.len() } else { 0 };
        numbers.extend((from..=to).map(|number| format!("{number:0n_digits$}")));
    }
    let names =
        if after.contains('[') { expand_name(entry, after)? } else { vec![after.to_owned()] };
    let all = numbers.len().saturating_mul(names.len());
    if all > HOSTS_MAX {
        return Err(format!("`{entry}` stands for more than {HOSTS_MAX} hosts"));
    }
    let each = numbers
        .iter()
        .flat_map(|number| names.iter().map(move |tail| format!("{before}{number}{tail}")));
    let each: Vec<String> = each.collect();
    if let Some(wrong) = each.iter().find(|name| !is_word(name)) {
        return Err(format!("`{entry}`: `{wrong}` is no name of a host"));
    }
    Ok(each)
}

/// Returns whether a text may be a name: what ssh takes for an option is none, nor what a shell
/// takes for more.
pub(crate) fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> =
            parse(text).expect("a list of hosts").iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn lists_stand_for_their_hosts() {
        check("vm1", &["vm1"]);
        check("vm1,vm2,vm[3-5]", &["vm1", "vm2", "vm3", "vm4", "vm5"]);
        check("vm[08-10]", &["vm08", "vm09", "vm10"]);
        check("n[1,3-4]-eth0", &["n1-eth0", "n3-eth0", "n4-eth0"]);
        check("r[1-2]n[1-2]", &["r1n1", "r1n2", "r2n1", "r2n2"]);
        check("root@vm1:2222 10.0.0.7", &["root@vm1:2222", "10.0.0.7"]);
        check("[fd00::7] [fd00::8]:22", &["fd00::7", "[fd00::8]:22"]);
        check("[fe80::1%eth0]", &["fe80::1%eth0"]);
        check("# all of them\nvm1 # the first\n\nvm2,\n", &["vm1", "vm2"]);
    }

    #[test]
    fn a_host_may_be_called_by_a_label() {
        let reached = |reached: &str, user| {
            let host = Host::labelled(reached, user, "h1").expect("a host");
            assert_eq!(host.to_string(), "h1");
            (host.user, host.name, host.port)
        };
        let me = Some("me".to_owned());
        assert_eq!(reached("10.0.0.7", Some("me")), (me, "10.0.0.7".to_owned(), None));
        assert_eq!(reached("vm1:2222", None), (None, "vm1".to_owned(), Some(2222)));
        assert_eq!(reached("fd00::7", None), (None, "fd00::7".to_owned(), None));
        for wrong in ["vm[1-2]", "a,b", "you@a", "-oProxyCommand=x", "", "a b"] {
            assert!(Host::labelled(wrong, None, "h1").is_err(), "{wrong}");
        }
        assert!(Host::labelled("a", Some("-x"), "h1").is_err());
    }

    #[track_caller]
    fn check_wrong(text: &str, place: (u32, u32), part: &str) {
        let errors = parse(text).expect_err("a mistake");
        let first = &errors[0];
        assert_eq!((first.line, first.column), place, "{text}");
        assert!(first.message.contains(part), "{}", first.message);
    }

    #[test]
    fn mistakes_have_their_place() {
        check_wrong("", (1, 1), "no host");
        check_wrong("a,b\nc,a", (2, 3), "twice");
        check_wrong("vm[1-3],vm2", (1, 9), "twice");
        check_wrong("vm[3-", (1, 1), "without `]`");
        check_wrong("vm[3-x]", (1, 1), "no range");
        check_wrong("vm[5-3]", (1, 1), "more than");
        check_wrong("vm[1-999999999]", (1, 1), "more than 10000");
        check_wrong("vm[1-200][1-200]", (1, 1), "more than 10000");
        check_wrong("a,-oProxyCommand=x", (1, 3), "no name");
        check_wrong("a;rm", (1, 1), "no name");
        check_wrong("b,[a:$(cmd)]", (1, 3), "`a:$(cmd)` is no IPv6 address");
        check_wrong("[fd00::7%;x]", (1, 1), "no IPv6 address");
        check_wrong("fd00::7", (1, 1), "in brackets");
        check_wrong("vm1:0", (1, 1), "port");
        check_wrong("@vm1", (1, 1), "no user");
    }
}

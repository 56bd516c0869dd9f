//! Machines that reach network volumes.

use core::net::IpAddr;
use core::ops::Range;

use catalog::Vm as Size;
use plan::keys::{Findings, Keys, Located};

use super::parser::{PARTS_MAX, Parser};
use super::{Client, Design, service, vm};

/// Connections of one mount, where the catalogue does not say.
const CONNECTIONS_MAX: u64 = 16;

/// Calls in flight on one connection, where the catalogue does not say.
const SLOTS_DEFAULT: u64 = 128;

/// Reads `[[client]]`.
/// Returns them, and where each has which machine of the catalogue.
pub(super) fn clients<'p>(
    list: Vec<Keys<'_>>,
    parser: &mut Parser<'p, '_>,
) -> (Vec<Client>, Vec<Located<&'p Size>>) {
    let mut machines = Vec::new();
    let mut clients: Vec<Client> = Vec::new();
    for mut keys in list {
        let at = keys.at.clone();
        let count = count(&mut keys, clients.len(), parser);
        let client = client(keys, clients.len(), &mut machines, parser);
        if clients.iter().any(|known| known.name == client.name) {
            let text = format!("two clients are named `{}`", client.name);
            parser.findings.error("duplicate-name", &at, text);
        }
        if client.address.is_some() && count > 1 {
            let text = "one `address` for several clients: write a [[client]] for each";
            parser.findings.error("bad-value", &at, text);
        }
        if let Some(address) = client.address
            && clients.iter().any(|known| known.address == Some(address))
        {
            let text = format!("two clients have the address {address}");
            parser.findings.error("duplicate-name", &at, text);
        }
        if count == 1 {
            clients.push(client);
            continue;
        }
        clients.extend((1..=count).map(|number| Client {
            name: format!("{}-{number}", client.name),
            n_following: count - number,
            ..client.clone()
        }));
    }
    (clients, machines)
}

/// Reads how many equal clients a table stands for.
fn count(keys: &mut Keys<'_>, n_before: usize, parser: &mut Parser<'_, '_>) -> u16 {
    let Some((count, at)) = keys.count("count", parser.findings) else { return 1 };
    let most = PARTS_MAX.saturating_sub(n_before).max(1) as u64;
    if !(1..=most).contains(&count) {
        let text = format!("`count` is {count}, expected 1 to {most}: a design has {PARTS_MAX}");
        parser.findings.error("out-of-range", &at, text);
    }
    count.clamp(1, most) as u16
}

fn client<'p>(
    mut keys: Keys<'_>,
    idx: usize,
    machines: &mut Vec<Located<&'p Size>>,
    parser: &mut Parser<'p, '_>,
) -> Client {
    let findings = &mut *parser.findings;
    let name = keys.text("name", findings);
    let name = name.map_or(format!("client{}", idx + 1), |(name, _)| name.to_owned());
    let round_trip = keys.duration("round_trip", findings);
    let connections = keys.count("nconnect", findings);
    let slots = keys.count("slots", findings);
    let egress = vm::written(&mut keys, "egress");
    let by_hand = keys.rate("egress", findings);
    let size = keys.text("vm", findings);
    let jobs = jobs(&mut keys, findings);
    let address = address(&mut keys, findings);
    keys.finish(findings);
    let fact = |scope, parameter| parser.edition.fact(scope, parameter).map(|fact| fact.per_s);
    let connections_max = service::connections_max(parser.edition).unwrap_or(CONNECTIONS_MAX);
    let slots_default = fact("server", "slots_per_connection").unwrap_or(SLOTS_DEFAULT);
    let mut in_range = |value: Option<(u64, Range<usize>)>, name, default, max| {
        let Some((value, at)) = value else { return default };
        if !(1..=max).contains(&value) {
            let text = format!("`{name}` is {value}, expected 1 to {max}");
            parser.findings.error("out-of-range", &at, text);
        }
        value.clamp(1, max)
    };
    let connections = in_range(connections, "nconnect", 1, connections_max);
    let slots = in_range(slots, "slots", slots_default, 65_535);
    let mut round_trip_ns = 0;
    if let Some((time, at)) = round_trip {
        round_trip_ns = units::nanoseconds(time);
        if round_trip_ns > 1_000_000_000 {
            parser.findings.error("out-of-range", &at, "`round_trip` is longer than 1 s");
        }
    }
    let mut egress = by_hand.map(|(per_s, _)| vm::own_limit(per_s, None, egress.as_deref()));
    let mut of_size = String::new();
    if let Some((size, at)) = size {
        let edition = parser.edition;
        if let Some(vm) = edition.vm(size) {
            machines.push((vm, at.clone()));
            of_size.clone_from(&vm.name);
            let known = vm.egress().map(|figure| parser.limit(&vm.name, figure, None));
            if known.is_none() && egress.is_none() {
                parser.findings.warn("unknown-figure", &at, vm::unknown_egress(vm));
            }
            egress = egress.or(known);
        } else {
            let known = edition.vms().iter().map(|vm| vm.name.as_str());
            parser.unknown("machine size", size, &at, known);
        }
    }
    Client {
        name,
        size: of_size,
        n_following: 0,
        round_trip_ns,
        connections: connections as u16,
        slots_per_connection: slots as u16,
        egress,
        jobs,
        address,
    }
}

/// Reads `jobs`: a pattern, or a list of them.
fn jobs(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Vec<String> {
    let patterns = keys.texts("jobs", findings);
    for (pattern, at) in &patterns {
        if pattern.is_empty() {
            findings.error("bad-value", at, "`jobs` names a job without a name");
        }
    }
    patterns.into_iter().map(|(pattern, _)| pattern.to_owned()).collect()
}

fn address(keys: &mut Keys<'_>, findings: &mut Findings<'_>) -> Option<IpAddr> {
    let (text, at) = keys.text("address", findings)?;
    let address = text.parse::<IpAddr>().ok();
    if address.is_none() {
        let text = format!("`address` is `{text}`, expected one such as 10.0.0.4");
        findings.error("bad-value", &at, text);
    }
    address
}

impl Design {
    /// Returns the positions of the clients that a job runs on, its workers in turn: the first that
    /// names it, else the first that names none, with those of the same table. 0 alone in a design
    /// without clients, and `None` where all clients name jobs, but not this one.
    pub fn clients_of(&self, job: &str) -> Option<Range<u16>> {
        if self.clients.is_empty() {
            return Some(0..1);
        }
        let names = |client: &Client| client.jobs.iter().any(|pattern| fits(pattern, job));
        let idx = self.clients.iter().position(names);
        let idx = idx.or_else(|| self.clients.iter().position(|client| client.jobs.is_empty()));
        idx.map(|idx| idx as u16..idx as u16 + 1 + self.clients[idx].n_following)
    }
}

/// Returns whether a name fits a pattern, in which `*` stands for any letters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The shortest match of each part leaves most for those that follow.
    for part in middle.split('*') {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, fitting: &[&str], others: &[&str]) {
        for name in fitting {
            assert!(fits(pattern, name), "`{pattern}` and `{name}`");
        }
        for name in others {
            assert!(!fits(pattern, name), "`{pattern}` and `{name}`");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        check("far", &["far"], &["far1", "afar", ""]);
        check("far*", &["far", "far-1"], &["afar", ""]);
        check("*far", &["far", "so-far"], &["far-1"]);
        check("*", &["", "any"], &[]);
        check("a*b*c", &["abc", "a--b--c", "abbcc"], &["ab", "ac", "abcd", "bc"]);
        check("a*a", &["aa", "aba"], &["a"]);
        check("a**b", &["ab", "a*b"], &["a"]);
        check("ä*ö", &["äö", "ä\u{1f600}ö"], &["ä"]);
    }
}

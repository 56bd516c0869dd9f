//! fio's words for where a server is: `ip:vm1,9001`, `sock:/run/fio`.

use fleet::net::place::{Family, ListenAddress};

/// The port that fio's servers have.
const PORT: u16 = 8765;

/// A server as a client names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// Its host, or the path of its socket.
    pub(super) host: String,
    /// Its port; 0 where it is a socket.
    pub(super) port: u16,
    pub(super) place: ListenAddress,
}

impl Address {
    fn of_port(host: &str, port: u16, family: Family) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let place = ListenAddress::Port { host: host.clone(), port, family };
        Address { host, port, place }
    }
}

/// Reads the port of a place without a host: nothing, or `,4444`.
fn port_alone(text: &str) -> Result<Option<u16>, String> {
    match text.split_once(',') {
        None if text.is_empty() => Ok(Some(PORT)),
        Some(("", number)) => port(number).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// Reads where a server waits: at every address where none is named.
pub(super) fn server(text: &str) -> Result<Address, String> {
    if let Some(port) = port_alone(text)? {
        return Ok(Address::of_port("0.0.0.0", port, Family::V4));
    }
    match clients(text)?.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(format!("`{text}` is more than one place: a server waits at one")),
    }
}

/// Reads the servers that a client names. Between commas stand hosts, each with its port behind
/// another one: `vm1,9001,vm2`. A port alone is one of this host, which fio gives no name.
pub(super) fn clients(text: &str) -> Result<Vec<Address>, String> {
    if let Some(path) = text.strip_prefix("sock:") {
        if path.is_empty() {
            return Err("`sock:` names no socket: write `sock:/run/fio.sock`".to_owned());
        }
        let (host, place) = (path.to_owned(), ListenAddress::Socket(path.into()));
        return Ok(vec![Address { host, port: 0, place }]);
    }
    if let Some(port) = port_alone(text)? {
        let here = Address::of_port("127.0.0.1", port, Family::V4);
        return Ok(vec![Address { host: String::new(), ..here }]);
    }
    let kinds = [("ip:", Family::Any), ("ip4:", Family::V4), ("ip6:", Family::V6)];
    let mut found: Vec<Address> = Vec::new();
    for word in text.split(',') {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(last) = found.last_mut().filter(|_| is_number) {
            let ListenAddress::Port { family, .. } = last.place else { continue };
            *last = Address::of_port(&last.host, port(word)?, family);
            continue;
        }
        let kind = kinds.iter().find_map(|(prefix, kind)| Some((word.strip_prefix(prefix)?, kind)));
        let (host, family) = kind.map_or((word, Family::Any), |(host, kind)| (host, *kind));
        if host.is_empty() {
            return Err(format!("`{text}` names no host: write HOST, or HOST,PORT"));
        }
        found.push(Address::of_port(host, PORT, family));
    }
    Ok(found)
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("`{text}` is no port: write a number up to 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u16)]) {
        let found = clients(text).expect("places");
        let found: Vec<(&str, u16)> = found.iter().map(|it| (&*it.host, it.port)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn clients_name_servers_as_in_fio() {
        check("vm1", &[("vm1", 8765)]);
        check(",9001", &[("", 9001)]);
        check("ip:vm1", &[("vm1", 8765)]);
        check("ip4:10.0.0.1,9001", &[("10.0.0.1", 9001)]);
        check("ip6:fd00::7,9001", &[("fd00::7", 9001)]);
        check("[fd00::7]", &[("fd00::7", 8765)]);
        check("vm1,9001,vm2,vm3,9003", &[("vm1", 9001), ("vm2", 8765), ("vm3", 9003)]);
        check("sock:/run/fio,1", &[("/run/fio,1", 0)]);
        let families = clients("ip4:a,ip6:b,c").expect("places");
        let family = |it: &Address| match it.place {
            ListenAddress::Port { family, .. } => Some(family),
            ListenAddress::Socket(_) => None,
        };
        let families: Vec<_> = families.iter().filter_map(family).collect();
        assert_eq!(families, [Family::V4, Family::V6, Family::Any]);
    }

    #[test]
    fn servers_wait_everywhere_unless_one_place_is_named() {
        let everywhere = |port| Address::of_port("0.0.0.0", port, Family::V4);
        assert_eq!(server(""), Ok(everywhere(8765)));
        assert_eq!(server(",4444"), Ok(everywhere(4444)));
        assert_eq!(server("127.0.0.1,1").expect("a place").place.to_string(), "127.0.0.1:1");
        assert_eq!(server("ip6:::1,2").expect("a place").place.to_string(), "[::1]:2");
        assert_eq!(server("sock:s").expect("a place").place, ListenAddress::Socket("s".into()));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, part) in [
            ("ip:", "names no host"),
            ("vm1,,vm2", "names no host"),
            ("vm1,70000", "`70000` is no port"),
            ("sock:", "names no socket"),
        ] {
            let message = clients(text).expect_err("no place");
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(server(",x").expect_err("no port").contains("`x` is no port"));
        assert!(server("vm1,vm2").expect_err("two").contains("more than one place"));
    }
}

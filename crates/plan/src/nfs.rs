//! Where an NFS export is and how it is used: the address as libnfs and fio write it.

/// The address of an export, `nfs://HOST[:PORT]/PATH[?NAME=VALUE&...]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct NfsUrl {
    /// Name or address of the server.
    pub host: String,
    /// Port of the NFS service; `None` asks the server's portmapper.
    pub port: Option<u16>,
    /// Port of the MOUNT service; `None` is that of NFS where one is given, else the portmapper's.
    pub mount_port: Option<u16>,
    /// Path that is mounted, with a slash in front.
    pub export: String,
    /// User to act as; `None` is the user who runs the program.
    pub uid: Option<u32>,
    /// Group to act as.
    pub gid: Option<u32>,
    /// Most bytes of one READ.
    pub read_bytes: Option<u32>,
    /// Most bytes of one WRITE.
    pub write_bytes: Option<u32>,
}

/// Arguments of libnfs that change nothing here: nothing is cached or read ahead, connections are
/// always made again, and there is one protocol.
const WITHOUT_EFFECT: [&str; 11] = [
    "auto-traverse-mounts",
    "autoreconnect",
    "debug",
    "dircache",
    "if",
    "pagecache",
    "readahead",
    "readdir-buffer",
    "retrans",
    "tcp-syncnt",
    "timeo",
];

/// Smallest transfer in bytes, that of the Linux client.
pub const TRANSFER_BYTES_MIN: u32 = 1024;
/// Largest transfer in bytes, that of the Linux client and server.
pub const TRANSFER_BYTES_MAX: u32 = 1 << 20;
/// Most connections to one server (`nconnect`), that of the Linux client.
pub const CONNECTIONS_MAX: u16 = 16;

impl std::fmt::Display for NfsUrl {
    /// Writes the address as [`NfsUrl::parse`] reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_v6 = self.host.contains(':');
        let host = if is_v6 { format!("[{}]", self.host) } else { self.host.clone() };
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        write!(f, "nfs://{host}{port}{}", self.export)?;
        let arguments = [
            ("mountport", self.mount_port.map(u32::from)),
            ("uid", self.uid),
            ("gid", self.gid),
            ("rsize", self.read_bytes),
            ("wsize", self.write_bytes),
        ];
        let given = arguments.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        for (idx, (name, value)) in given.enumerate() {
            write!(f, "{}{name}={value}", if idx == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl NfsUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it, to be read behind the address.
    pub fn parse(text: &str) -> Result<NfsUrl, String> {
        let form = "is not of the form `nfs://HOST[:PORT]/PATH`";
        let rest = text.strip_prefix("nfs://").ok_or(form)?;
        let (place, arguments) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = place.find('/').ok_or(form)?;
        let (server, export) = place.split_at(slash);
        let (host, port) = host_and_port(server)?;
        let export = export.trim_end_matches('/');
        let mut url = NfsUrl {
            host: host.to_owned(),
            port,
            export: if export.is_empty() { "/".to_owned() } else { export.to_owned() },
            ..NfsUrl::default()
        };
        for argument in arguments.split('&').filter(|argument| !argument.is_empty()) {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            url.argument(name, value)?;
        }
        Ok(url)
    }

    fn argument(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "uid" => self.uid = Some(number(name, value, 0, u32::MAX)?),
            "gid" => self.gid = Some(number(name, value, 0, u32::MAX)?),
            "nfsport" => self.port = Some(port_number(name, value)?),
            "mountport" => self.mount_port = Some(port_number(name, value)?),
            "rsize" => self.read_bytes = Some(transfer_bytes(name, value)?),
            "wsize" => self.write_bytes = Some(transfer_bytes(name, value)?),
            "version" if value == "3" => {}
            "version" => return Err(format!("asks for version `{value}`, but only 3 is built in")),
            _ if WITHOUT_EFFECT.contains(&name) => {}
            _ => return Err(format!("has the unknown argument `{name}`")),
        }
        Ok(())
    }

    /// Returns the export as a folder: files are shown, and distinguished, below it.
    pub fn folder(&self) -> String {
        let (host, export) = (&self.host, self.export.trim_end_matches('/'));
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        match self.port {
            Some(port) => format!("nfs://{host}:{port}{export}"),
            None => format!("nfs://{host}{export}"),
        }
    }
}

/// Splits `HOST`, `HOST:PORT`, `[ADDRESS]` and `[ADDRESS]:PORT`.
fn host_and_port(server: &str) -> Result<(&str, Option<u16>), String> {
    // libnfs takes a user's name in front, and ignores it for version 3.
    let server = server.rsplit_once('@').map_or(server, |(_user, server)| server);
    let (host, rest) = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or("lacks the `]` of its host")?,
        None => server.split_at(server.find(':').unwrap_or(server.len())),
    };
    if host.is_empty() {
        return Err("names no host".to_owned());
    }
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(port_number("port", port)?),
        None if rest.is_empty() => None,
        None => return Err(format!("has `{rest}` behind the host, which is no port")),
    };
    Ok((host, port))
}

fn port_number(name: &str, value: &str) -> Result<u16, String> {
    number(name, value, 1, u32::from(u16::MAX)).map(|port| port as u16)
}

fn transfer_bytes(name: &str, value: &str) -> Result<u32, String> {
    number(name, value, TRANSFER_BYTES_MIN, TRANSFER_BYTES_MAX)
}

fn number(name: &str, value: &str, min: u32, max: u32) -> Result<u32, String> {
    match value.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("has `{name}={value}`; expected is a number from {min} to {max}")),
    }
}

/// How the engine `nfs` reaches its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NfsSpec {
    /// The export.
    pub url: Option<NfsUrl>,
    /// TCP connections, 1 to [`CONNECTIONS_MAX`]; each worker has its own.
    pub n_connections: u16,
    /// Most bytes of one READ; `None` is the address's, or else what the server prefers.
    pub read_bytes: Option<u32>,
    /// Most bytes of one WRITE; as `read_bytes`.
    pub write_bytes: Option<u32>,
}

impl Default for NfsSpec {
    fn default() -> Self {
        NfsSpec { url: None, n_connections: 1, read_bytes: None, write_bytes: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &NfsUrl) {
        assert_eq!(NfsUrl::parse(text).as_ref(), Ok(expected));
    }

    #[track_caller]
    fn check_refused(text: &str, part: &str) {
        let error = NfsUrl::parse(text).expect_err("not an address");
        assert!(error.contains(part), "{error}");
    }

    fn url(host: &str, export: &str) -> NfsUrl {
        NfsUrl { host: host.to_owned(), export: export.to_owned(), ..NfsUrl::default() }
    }

    #[test]
    fn addresses() {
        check("nfs://server/export/a", &url("server", "/export/a"));
        check("nfs://server/", &url("server", "/"));
        check("nfs://10.0.0.1:20049/x/", &NfsUrl { port: Some(20049), ..url("10.0.0.1", "/x") });
        check("nfs://[::1]:2049/x", &NfsUrl { port: Some(2049), ..url("::1", "/x") });
    }

    #[test]
    fn arguments() {
        let text = "nfs://h/e?uid=5&gid=6&mountport=7&nfsport=8&rsize=4096&wsize=8192&version=3";
        let expected = NfsUrl {
            port: Some(8),
            mount_port: Some(7),
            uid: Some(5),
            gid: Some(6),
            read_bytes: Some(4096),
            write_bytes: Some(8192),
            ..url("h", "/e")
        };
        check(text, &expected);
        check("nfs://h/e?readahead=1&debug=2", &url("h", "/e"));
    }

    #[test]
    fn refusals() {
        check_refused("http://h/e", "not of the form `nfs://");
        check_refused("nfs://h", "not of the form `nfs://");
        check_refused("nfs:///e", "no host");
        check_refused("nfs://h:0/e", "`port=0`");
        check_refused("nfs://h/e?version=4", "asks for version `4`");
        check_refused("nfs://h/e?rsize=512", "from 1024 to 1048576");
        check_refused("nfs://h/e?colour=red", "unknown argument `colour`");
    }

    #[test]
    fn folders() {
        assert_eq!(url("h", "/e").folder(), "nfs://h/e");
        assert_eq!(NfsUrl { port: Some(1), ..url("::1", "/") }.folder(), "nfs://[::1]:1");
    }
}

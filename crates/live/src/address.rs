//! Where a view listens, and who may see it.

use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

/// Reads an address: `:7421` is a port of this host alone (127.0.0.1); others can come in only
/// where an address of this host is named, `0.0.0.0:7421` for all of them.
///
/// # Errors
/// What is to be written instead.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let port = text.strip_prefix(':').or_else(|| text.strip_prefix("localhost:")).unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::new(local, port));
    }
    text.parse().map_err(|_| {
        "write :PORT for this host alone, such as :7421, or ADDRESS:PORT, such as 10.0.0.5:7421"
            .to_owned()
    })
}

/// Begins to listen.
///
/// # Errors
/// What the system says.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// What a link has that only those know who were given it: 128 random bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    /// No secret in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Draws one.
    ///
    /// # Errors
    /// Where the system has no random numbers.
    pub fn draw() -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns the link to a page.
    pub fn link(&self, address: SocketAddr) -> String {
        format!("http://{address}/{}/", self.0)
    }

    /// Returns whether a text is it. Takes the same time however much of it is right.
    pub(crate) fn is(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        let differ = own.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == other.len() && std::hint::black_box(differ) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse(text).ok().map(|it| it.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_port_alone_is_of_this_host_alone() {
        check(":7421", Some("127.0.0.1:7421"));
        check("7421", Some("127.0.0.1:7421"));
        check("localhost:7421", Some("127.0.0.1:7421"));
        check("0.0.0.0:7421", Some("0.0.0.0:7421"));
        check("[::1]:7421", Some("[::1]:7421"));
        for wrong in ["", ":", "10.0.0.5", ":70000", "example.org:80", "-1"] {
            check(wrong, None);
        }
    }

    #[test]
    fn only_the_whole_token_is_it() {
        let token = Token::draw().expect("random numbers");
        let text = token.0.clone();
        assert_eq!(text.len(), 32);
        assert!(token.is(&text));
        assert_ne!(Token::draw().expect("random numbers"), token);
        for wrong in [&text[1..], &text[..31], "", &format!("{text}0"), &text.replace('a', "b")] {
            assert!(wrong == text || !token.is(wrong), "{wrong}");
        }
    }
}

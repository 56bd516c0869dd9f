//! Where a program is called: a port of a host, or a socket in the file system.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream, lookup_host};

use super::Duplex;

/// Which addresses of a name are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Family {
    /// All.
    #[default]
    Any,
    /// Those of IPv4.
    V4,
    /// Those of IPv6.
    V6,
}

impl Family {
    fn has(self, address: &SocketAddr) -> bool {
        match self {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        }
    }
}

/// Where a program listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// At a port of a host.
    Port {
        /// Name or address.
        host: String,
        /// The port.
        port: u16,
        /// Which of its addresses.
        family: Family,
    },
    /// At a socket of this host.
    Socket(PathBuf),
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenAddress::Port { host, port, .. } if host.contains(':') => {
                write!(f, "[{host}]:{port}")
            }
            ListenAddress::Port { host, port, .. } => write!(f, "{host}:{port}"),
            ListenAddress::Socket(path) => path.display().fmt(f),
        }
    }
}

/// What takes connections.
#[derive(Debug)]
pub enum Listener {
    /// A port.
    Port(TcpListener),
    /// A socket, and where it is.
    Socket(UnixListener, PathBuf),
}

impl Drop for Listener {
    /// Removes the socket: no one listens there any more.
    fn drop(&mut self) {
        if let Listener::Socket(_, path) = self {
            let _gone = std::fs::remove_file(path);
        }
    }
}

impl Listener {
    /// Waits for a connection, and returns it with who it comes from.
    ///
    /// # Errors
    /// Where it could not be taken.
    pub(super) async fn accept(&self) -> io::Result<(Box<dyn Duplex>, String)> {
        match self {
            Listener::Port(listener) => {
                let (stream, from) = listener.accept().await?;
                // Starts are agreed on in messages that wait for no others.
                let _slower = stream.set_nodelay(true);
                Ok((Box::new(stream), from.to_string()))
            }
            Listener::Socket(listener, path) => {
                let (stream, _) = listener.accept().await?;
                Ok((Box::new(stream), path.display().to_string()))
            }
        }
    }

    /// Returns where it listens: where the system chose a port, that one.
    pub fn place(&self) -> Option<ListenAddress> {
        match self {
            Listener::Port(listener) => {
                let at = listener.local_addr().ok()?;
                let (host, port) = (at.ip().to_string(), at.port());
                Some(ListenAddress::Port { host, port, family: Family::Any })
            }
            Listener::Socket(_, path) => Some(ListenAddress::Socket(path.clone())),
        }
    }
}

impl ListenAddress {
    /// Listens there. A socket that is there already is another program's, or was left behind: it
    /// stays.
    ///
    /// # Errors
    /// Where the system does not let it.
    pub async fn listen(&self) -> io::Result<Listener> {
        match self {
            ListenAddress::Port { .. } => {
                let addresses = self.addresses().await?;
                Ok(Listener::Port(TcpListener::bind(&addresses[..]).await?))
            }
            ListenAddress::Socket(path) => {
                Ok(Listener::Socket(UnixListener::bind(path)?, path.clone()))
            }
        }
    }

    /// Connects to what listens there.
    ///
    /// # Errors
    /// Where nothing does.
    pub(super) async fn connect(&self) -> io::Result<Box<dyn Duplex>> {
        match self {
            ListenAddress::Port { .. } => {
                let stream = TcpStream::connect(&self.addresses().await?[..]).await?;
                let _slower = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            ListenAddress::Socket(path) => Ok(Box::new(UnixStream::connect(path).await?)),
        }
    }

    /// Returns the addresses that a host's name stands for.
    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let ListenAddress::Port { host, port, family } = self else { return Ok(Vec::new()) };
        let found = lookup_host((&**host, *port)).await?;
        let addresses: Vec<SocketAddr> = found.filter(|at| family.has(at)).collect();
        if addresses.is_empty() {
            let text = "the name stands for no address of this kind";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Ok(addresses)
    }
}

//! TCP connections to a server.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// How long a server has to take a connection.
const CONNECT_S: i64 = 5;

/// Ports that only a privileged user may call from. Many servers take calls from no other.
const RESERVED_PORTS: std::ops::RangeInclusive<u16> = 600..=1023;

/// Connects, from a reserved port where this user may. The socket does not block.
pub(super) fn connect(address: SocketAddr) -> io::Result<OwnedFd> {
    match connect_from_reserved(address)? {
        Some(fd) => Ok(fd),
        None => connect_from(address, None),
    }
}

/// Returns `None` where this user may not, or no port is free.
fn connect_from_reserved(address: SocketAddr) -> io::Result<Option<OwnedFd>> {
    // Start somewhere else in each process and thread, since a port rests after its use.
    let seed = super::seed();
    let n_ports = u32::from(RESERVED_PORTS.end() - RESERVED_PORTS.start()) + 1;
    for n in 0..n_ports {
        let port = RESERVED_PORTS.start() + (seed.wrapping_add(n) % n_ports) as u16;
        match connect_from(address, Some(port)) {
            Ok(fd) => return Ok(Some(fd)),
            Err(error) => match error.kind() {
                io::ErrorKind::PermissionDenied => return Ok(None),
                io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => {}
                _ => return Err(error),
            },
        }
    }
    Ok(None)
}

fn connect_from(address: SocketAddr, port: Option<u16>) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(port) = port {
        let any: SocketAddr = if address.is_ipv4() {
            (std::net::Ipv4Addr::UNSPECIFIED, port).into()
        } else {
            (std::net::Ipv6Addr::UNSPECIFIED, port).into()
        };
        sockopt::set_socket_reuseaddr(&fd, true)?;
        match rustix::net::bind(&fd, &any) {
            Err(Errno::ACCESS) => return Err(io::ErrorKind::PermissionDenied.into()),
            other => other?,
        }
    }
    sockopt::set_tcp_nodelay(&fd, true)?;
    match rustix::net::connect(&fd, &address) {
        Ok(()) => return Ok(fd),
        Err(Errno::INPROGRESS | Errno::INTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let timeout = Timespec { tv_sec: CONNECT_S, tv_nsec: 0 };
    loop {
        match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    sockopt::socket_error(&fd)??;
    Ok(fd)
}

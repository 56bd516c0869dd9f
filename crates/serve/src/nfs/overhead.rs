//! How long the overhead of a call is: measured over a connection of our own, before others come.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use super::connection;
use super::record::{LAST, record};
use super::server::{Opened, Server};

/// A call that has no arguments: xid, call, version of RPC, program, its version, procedure, and
/// empty credential and verifier. It stands for a small read.
const CALL: [u32; 10] = [1, 0, 2, 100_003, 3, 0, 0, 0, 0, 0];

/// Measures the overhead of calls. Where that fails nothing is made up for.
pub(super) fn measure(server: &Arc<Server>) {
    let _ = measured(server);
}

fn measured(server: &Arc<Server>) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut ours = TcpStream::connect(listener.local_addr()?)?;
    let (theirs, peer) = listener.accept()?;
    if peer != ours.local_addr()? {
        return Ok(());
    }
    ours.set_nodelay(true)?;
    theirs.set_nodelay(true)?;
    let serving = Arc::clone(server);
    let thread = std::thread::Builder::new().name("nfs-call".to_owned());
    let thread = thread.spawn(move || connection::run(&serving, &Opened::new(theirs), 0))?;
    let mut call = (LAST | size_of_val(&CALL) as u32).to_be_bytes().to_vec();
    call.extend(CALL.iter().flat_map(|word| word.to_be_bytes()));
    server.machine.pacer().overhead().measure(|| {
        ours.write_all(&call).ok()?;
        record(&mut ours).ok().map(drop)
    });
    ours.shutdown(Shutdown::Both)?;
    let _ = thread.join();
    Ok(())
}

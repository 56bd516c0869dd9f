//! `plimsoll rehearse export`: the volumes of a design as an NFSv3 export.
//!
//! It ends by a signal, or by `rehearse unmount` on the folder with the data.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serve::control::Refusal;
use serve::machine::Machine;
use serve::nfs::{self, Export, ExportError, Peers, RootAccess};
use serve::server::{self, Endpoint};
use serve::status::ExportReport;
use units::system_text;

use super::serving::{ServingArgs, detach, on_signals, print_next_commands, unable};
use crate::exit::{Exit, Failure};
use crate::stream;

/// Export the volumes of a design by NFSv3: any client can mount them, behind their caps
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    serving: ServingArgs,

    /// Address and port to serve MOUNT and NFS at.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2049",
          value_parser = address)]
    listen: SocketAddr,

    /// Treat root of a client as root: it may create files of root, give files away and set setuid.
    #[arg(long)]
    no_root_squash: bool,
}

const HELP: &str = "\
Each volume is mounted by its mount path in the design. Machines that connect
become the design's clients, in the order of their arrival; each connection has
as many slots as the design gives that client, so nconnect has an effect.
Volumes on disks can be exported, too.

  mount -t nfs -o vers=3,proto=tcp,port=2049,mountport=2049,nolock,nconnect=8 \\
      HOST:/mnt/anf /mnt
  nfs-ls 'nfs://HOST/mnt/anf?nfsport=2049&mountport=2049'
  plimsoll fio --ioengine=nfs --nfs_url=nfs://HOST:2049/mnt/anf ...

Accepts the owner that a client sends (AUTH_SYS) and checks no permissions:
listen only where every machine may see and change the data. Root of a client
becomes the user nobody, setuid and setgid are left out, and of a file only the
group can be changed, unless --no-root-squash is given. A connection that is
idle for six minutes is closed. Other users have no access to the folder with
the data. Data whose write was answered as durable survive the end of this
process.";

/// Reads an address with a port; a name is looked up.
fn address(text: &str) -> Result<SocketAddr, String> {
    const EXAMPLES: &str = "write `127.0.0.1:2049`, or `0.0.0.0:2049` for all addresses";
    let Some((host, port)) = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()) else {
        return Err(format!("an address and a port are needed: {EXAMPLES}"));
    };
    if port.parse::<u16>().is_err() {
        return Err(format!("`{port}` is not a port, which is a number up to 65535: {EXAMPLES}"));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| format!("`{host}` is not an address: {EXAMPLES}"))
}

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    // Mistakes are found before anything is started. The port comes first: where it is taken, what
    // is to be said of the design is of no use.
    let listener = nfs::bind(args.listen).map_err(unexportable)?;
    let backing = args.serving.backing_dir(&format!("nfs-{}", args.listen.port()))?;
    if args.serving.is_server() {
        return serve(args, listener, &backing);
    }
    drop(listener);
    let (_, text) = args.serving.design()?;
    let mut options: Vec<OsString> = vec!["--listen".into(), args.listen.to_string().into()];
    options.extend(args.no_root_squash.then(|| "--no-root-squash".into()));
    let address = args.serving.start("export", &backing, &text, (options, None))?;
    stream::print(&format!("exported at {address}, data in {}\n", backing.display()))?;
    print_next_commands(&backing);
    Ok(Exit::Fine)
}

/// An export that a command can end.
struct Exported {
    name: String,
    peers: Peers,
    end: UnixStream,
}

impl Endpoint for Exported {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn export(&self) -> Option<ExportReport> {
        Some(self.peers.report())
    }

    fn close(&self, _is_lazy: bool) -> Result<(), Refusal> {
        (&self.end).write_all(b"x").map_err(|error| {
            Refusal::new(format!("the export cannot be ended: {}", system_text(&error)))
        })
    }

    /// Clients of NFS repeat their requests.
    fn forget(&self, _: &Machine) {}
}

/// Serves until a signal or a command ends it.
fn serve(args: &Args, listener: TcpListener, backing: &Path) -> Result<Exit, Failure> {
    let design = args.serving.design()?;
    let end = format!("plimsoll rehearse unmount {}", backing.display());
    let machine = args.serving.machine(design, None, backing, &end)?;
    let dir = machine.backing().dir().display().to_string();
    let (mut ended, end) = on_signals().map_err(unable)?;
    let trust = if args.no_root_squash { RootAccess::Root } else { RootAccess::Squashed };
    let export = Export::over(machine.clone(), listener, trust).map_err(unexportable)?;
    let address = export.address();
    let place = Exported { name: dir.clone(), peers: export.peers(), end };
    server::obey(&machine, place).map_err(unable)?;
    if args.serving.keeps_terminal() {
        stream::print_message(&format!("exported at {address}, data in {dir}; Ctrl-C ends it\n"));
    } else {
        detach(&machine, &address.to_string())?;
    }
    let mut byte = [0];
    while matches!(ended.read(&mut byte), Err(error) if error.kind() == io::ErrorKind::Interrupted)
    {
    }
    drop(export);
    // The command that ended it waits for the answer.
    std::thread::sleep(std::time::Duration::from_millis(100));
    Ok(Exit::Fine)
}

fn unexportable(error: ExportError) -> Failure {
    let failure = Failure::wrong_use(error.to_string());
    match error {
        ExportError::Listen { source, .. } => {
            match source.kind() {
                io::ErrorKind::AddrInUse => failure
                    .hint("another server has the port; name another: --listen 127.0.0.1:20490"),
                io::ErrorKind::PermissionDenied => failure
                    .hint("ports below 1024 need root; name another: --listen 127.0.0.1:20490"),
                io::ErrorKind::AddrNotAvailable => {
                    failure.hint("the address is not this machine's; 0.0.0.0 is all of them")
                }
                _ => failure,
            }
        }
        ExportError::Io(_) => failure.with(Exit::RunFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = address(text).expect_err("no address");
        assert!(error.contains(expected) && error.contains("`127.0.0.1:2049`"), "{error}");
    }

    #[test]
    fn an_address_has_a_port_and_a_mistake_an_example() {
        assert_eq!(address("127.0.0.1:2051").map(|found| found.port()), Ok(2051));
        assert_eq!(address("[::1]:2051").map(|found| found.port()), Ok(2051));
        check(":2051", "an address and a port are needed");
        check("127.0.0.1", "an address and a port are needed");
        check("127.0.0.1:70000", "`70000` is not a port");
        check("1.2.3:2051x", "`2051x` is not a port");
    }
}

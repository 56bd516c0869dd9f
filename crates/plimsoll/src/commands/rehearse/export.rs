//! `plimsoll rehearse export`: the volumes of a design as an NFSv3 export.
//!
//! Serves from this process until it is told to end: by a signal, or by `rehearse unmount` on the
//! folder with the data. Without `--foreground` the command starts itself once more to serve, and
//! returns when clients can mount.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serve::backing::Backing;
use serve::control::Refusal;
use serve::machine::{Machine, MachineError, MachineOptions};
use serve::nfs::{self, Export, ExportError, Peers, Trust};
use serve::server::{self, Place};
use serve::status::ExportReport;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::{CacheState, check_place, tell_of_shortage, unusable};
use crate::commands::catalog::CatalogArgs;
use crate::commands::on::{read_again, read_design, tell_of_nothing_to_warm};
use crate::env;
use crate::exit::{Exit, Failure};
use crate::stream;

/// Export the volumes of a design by NFSv3: any client can mount them, behind their caps
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The design.
    #[arg(value_name = "DESIGN")]
    design: String,

    /// Address and port to serve MOUNT and NFS at.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:2049",
          value_parser = address)]
    listen: SocketAddr,

    /// Folder that keeps the data. Without it, one for the port in ~/.local/state/plimsoll.
    #[arg(long, value_name = "DIR")]
    backing: Option<PathBuf>,

    #[command(flatten)]
    catalog: CatalogArgs,

    /// What the host caches hold at the start: nothing, or the data that are there.
    #[arg(long, value_name = "STATE", value_enum, default_value = "cold")]
    cache: CacheState,

    /// Go on with data that were written to volumes of other sizes.
    #[arg(long)]
    resize: bool,

    /// Take a client's root for root: he makes files of root's, gives files away, sets setuid.
    #[arg(long)]
    no_root_squash: bool,

    /// Serve from this process; Ctrl-C ends it.
    #[arg(long)]
    foreground: bool,

    /// Be the process that the command started to serve.
    #[arg(long, hide = true)]
    serving: bool,
}

const HELP: &str = "\
Each volume is mounted by its mount path in the design. Machines that connect are the design's \
clients, in the order in which they come; every connection has as many slots as its client's, so \
nconnect counts. A design's disks can be exported, too.

  mount -t nfs -o vers=3,proto=tcp,port=2049,mountport=2049,nolock,nconnect=8 \\
      HOST:/mnt/anf /mnt
  nfs-ls 'nfs://HOST/mnt/anf?nfsport=2049&mountport=2049'
  plimsoll fio --ioengine=nfs --nfs_url=nfs://HOST:2049/mnt/anf ...

Names the owner that a client says (AUTH_SYS) and checks no permission: listen only where every \
machine may see and change the data. Root of a client is nobody, setuid and setgid are left out, \
and only its group can be changed of a file, unless --no-root-squash is given. A connection that \
says nothing for six minutes is closed. The folder with the data is closed to other users. What a \
client was told is durable survives the end of this process.";

/// Reads an address with a port; a name is looked up.
fn address(text: &str) -> Result<SocketAddr, String> {
    const EXAMPLES: &str = "write `127.0.0.1:2049`, or `0.0.0.0:2049` for all addresses";
    let Some((host, port)) = text.rsplit_once(':').filter(|(host, _)| !host.is_empty()) else {
        return Err(format!("an address and a port are needed: {EXAMPLES}"));
    };
    if port.parse::<u16>().is_err() {
        return Err(format!("`{port}` is no port, which is a number up to 65535: {EXAMPLES}"));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.ok_or_else(|| format!("`{host}` is no address: {EXAMPLES}"))
}

/// What the serving process says when clients can mount.
const READY: &str = "ready";

/// Runs the command.
pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.foreground || args.serving {
        return serve(args);
    }
    // Mistakes are found before anything is started. The port comes first: where it is taken, what
    // is to be said of the design is of no use.
    drop(nfs::bind(args.listen).map_err(unexportable)?);
    let (design, text) = read_design(&args.design, &args.catalog.load()?)?;
    tell_of_nothing_to_warm(&design, args.cache == CacheState::Warm);
    let backing = backing_dir(args)?;
    let mut server = start_server(args, &backing)
        .map_err(|error| broken(&format!("cannot start the serving process: {error}")))?;
    if let Some(mut stdin) = server.stdin.take() {
        // A server that has ended already says why itself.
        let _ = stdin.write_all(text.as_bytes());
    }
    let mut line = String::new();
    if let Some(stdout) = server.stdout.take() {
        let _ = BufReader::new(stdout).read_line(&mut line);
    }
    let Some(address) = line.trim_end().strip_prefix(READY) else {
        let ended = server.wait().ok().and_then(|status| status.code());
        let exit = if ended == Some(2) { Exit::WrongUse } else { Exit::RunFailed };
        return Err(Failure::silent(exit));
    };
    let backing = backing.display();
    stream::print(&format!("exported at{address}, data in {backing}\n"))?;
    stream::tell(&format!(
        "see what holds it back: plimsoll rehearse status {backing}\n\
         end it, keep the data:  plimsoll rehearse unmount {backing}\n"
    ));
    Ok(Exit::Fine)
}

/// Starts this program again to serve. It hears nothing of the terminal's Ctrl-C.
fn start_server(args: &Args, backing: &Path) -> io::Result<std::process::Child> {
    let mut line: Vec<OsString> = vec!["rehearse".into(), "export".into(), "--serving".into()];
    line.extend(["--backing".into(), backing.into()]);
    line.extend(["--listen".into(), args.listen.to_string().into()]);
    if let Some(dir) = &args.catalog.catalog {
        line.extend(["--catalog".into(), dir.into()]);
    }
    line.extend(["--cache".into(), args.cache.word().into()]);
    line.extend(args.resize.then(|| "--resize".into()));
    line.extend(args.no_root_squash.then(|| "--no-root-squash".into()));
    line.extend(["--".into(), OsString::from(&args.design)]);
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "plimsoll");
    command.args(line).stdin(Stdio::piped()).stdout(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0).spawn()
}

/// An export that a command can end.
struct Exported {
    name: String,
    peers: Peers,
    end: UnixStream,
}

impl Place for Exported {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn export(&self) -> Option<ExportReport> {
        Some(self.peers.report())
    }

    fn close(&self, _is_lazy: bool) -> Result<(), Refusal> {
        (&self.end)
            .write_all(b"x")
            .map_err(|error| Refusal::new(format!("the export cannot be ended: {error}")))
    }

    /// Clients of NFS ask again by themselves.
    fn forget(&self, _: &Machine) {}
}

/// Serves until somebody ends it.
fn serve(args: &Args) -> Result<Exit, Failure> {
    let failed = |error: io::Error| broken(&format!("cannot serve: {error}"));
    let listener = nfs::bind(args.listen).map_err(unexportable)?;
    let read = if args.serving { read_again } else { read_design };
    let (design, design_text) = read(&args.design, &args.catalog.load()?)?;
    if !args.serving {
        tell_of_nothing_to_warm(&design, args.cache == CacheState::Warm);
    }
    let dir = backing_dir(args)?;
    let end = format!("plimsoll rehearse unmount {}", dir.display());
    let unusable = |error| unusable(&error, &end);
    let backing = Backing::open(&dir).map_err(unusable)?.with_other_sizes(args.resize);
    let (dir, log) = (backing.dir().to_owned(), backing.log());
    let is_cache_warm = args.cache == CacheState::Warm;
    let options = MachineOptions { design_text, design, only: None, is_cache_warm };
    let machine = Machine::start(options, backing).map_err(|error| match error {
        MachineError::Backing(error) => unusable(error),
        MachineError::Io(_) => broken(&error.to_string()),
        _ => Failure::wrong_use(error.to_string()),
    })?;
    super::tell_of_resumed_crash(&machine);
    tell_of_shortage(&machine);
    let (mut ended, end) = UnixStream::pair().map_err(failed)?;
    for signal in [SIGINT, SIGTERM] {
        let end = end.try_clone().map_err(failed)?;
        signal_hook::low_level::pipe::register(signal, end).map_err(failed)?;
    }
    let export = Export::over(machine.clone(), listener, trust(args)).map_err(unexportable)?;
    let address = export.address();
    let place = Exported { name: dir.display().to_string(), peers: export.peers(), end };
    server::obey(&machine, place).map_err(failed)?;
    if args.serving {
        super::take_name();
        // Without a session of its own it would end with the terminal.
        let _ = rustix::process::setsid();
        detach(&log, address).map_err(failed)?;
    } else {
        let text = format!("exported at {address}, data in {}; Ctrl-C ends it\n", dir.display());
        stream::tell(&text);
    }
    let mut byte = [0];
    while matches!(ended.read(&mut byte), Err(error) if error.kind() == io::ErrorKind::Interrupted)
    {
    }
    drop(export);
    // Whoever ended it by a command waits for the answer.
    std::thread::sleep(std::time::Duration::from_millis(100));
    Ok(Exit::Fine)
}

/// Says who a client's users are taken for.
fn trust(args: &Args) -> Trust {
    if args.no_root_squash { Trust::Root } else { Trust::Squashed }
}

/// Tells whoever started the server that clients can mount, and lets go of the terminal.
fn detach(log: &Path, address: SocketAddr) -> io::Result<()> {
    let log = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    rustix::stdio::dup2_stderr(&log)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    stream::print(&format!("{READY} {address}\n"))?;
    rustix::stdio::dup2_stdout(&log)?;
    std::env::set_current_dir("/")
}

/// Returns where the data are kept.
fn backing_dir(args: &Args) -> Result<PathBuf, Failure> {
    if let Some(dir) = &args.backing {
        let dir = std::path::absolute(dir);
        let dir =
            dir.map_err(|error| Failure::wrong_use(format!("`--backing` is no path: {error}")))?;
        check_place(&dir)?;
        return Ok(dir);
    }
    let state = env::XDG_STATE_HOME.get().filter(|dir| dir.starts_with('/'));
    let state = state.or_else(|| Some(format!("{}/.local/state", env::HOME.get()?)));
    let Some(state) = state else {
        return Err(Failure::wrong_use("there is no home to keep the data in")
            .hint("name a folder with --backing"));
    };
    let name = format!("nfs-{}", args.listen.port());
    Ok(PathBuf::from(state).join("plimsoll/rehearse").join(name))
}

fn broken(message: &str) -> Failure {
    Failure::wrong_use(message).with(Exit::RunFailed)
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
        check("127.0.0.1:70000", "`70000` is no port");
        check("1.2.3:2051x", "`2051x` is no port");
    }
}

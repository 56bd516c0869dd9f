//! The engine `nfs` against nfs-ganesha, a server that others wrote.
//!
//! Runs in network and mount namespaces of its own: the server wants a portmapper, which has its
//! port and its socket. Prints why and passes where the programs or the permission lack.

mod nfs_support;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set in the process that runs inside of the namespaces.
const INSIDE: &str = "PLIMSOLL_TEST_INSIDE";

/// Ends a process with its group when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn is_installed(program: &str) -> bool {
    ["/usr/bin", "/usr/sbin", "/sbin", "/bin"]
        .iter()
        .any(|dir| Path::new(dir).join(program).exists())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test runs itself again in namespaces")]
fn ganesha_serves_the_engine() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    for program in ["ganesha.nfsd", "rpcbind", "unshare", "ip"] {
        if !is_installed(program) {
            return testing::skipped!("{program} is not installed");
        }
    }
    let namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child"];
    let allowed = Command::new("unshare").args(namespaces).arg("true").output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        return testing::skipped!("this user may not make namespaces");
    }
    let script = "mount -t tmpfs tmpfs /run && mkdir -p /run/rpcbind && ip link set lo up && \
                  exec \"$0\" --exact ganesha_serves_the_engine --nocapture";
    let itself = std::env::current_exe().expect("the test knows itself");
    let status = Command::new("unshare")
        .args(namespaces)
        .args(["sh", "-c", script])
        .arg(itself)
        .env(INSIDE, "1")
        .status()
        .expect("unshare runs");
    assert!(status.success(), "{status}");
}

fn inside() {
    let scratch = tempfile::tempdir().expect("a folder");
    let export = scratch.path().join("export");
    std::fs::create_dir(&export).expect("a folder");
    let config = scratch.path().join("ganesha.conf");
    let log = scratch.path().join("ganesha.log");
    std::fs::write(&config, configuration(&export, scratch.path())).expect("a file");
    let quiet = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("the program starts"))
    };
    let _portmapper = quiet("rpcbind", &["-f", "-w"]);
    wait_for(111, &log);
    let file = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let pid = scratch.path().join("pid");
    let arguments = ["-F", "-L", &file(&log), "-f", &file(&config), "-p", &file(&pid)];
    let _server = quiet("ganesha.nfsd", &arguments);
    // It listens for mounts on a port of its own, a moment apart from NFS.
    wait_for(20_490, &log);
    wait_for(20_491, &log);
    wait_until_known(20_491, &log);
    // By the portmapper, and with the ports given.
    let path = export.display();
    nfs_support::check_server(&format!("nfs://127.0.0.1{path}"));
    nfs_support::check_server(&format!("nfs://127.0.0.1:20490{path}?mountport=20491"));
    let left = std::fs::read_dir(&export).expect("the folder").flatten();
    let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["folder"], "the engine removes what it was asked to, and nothing else");
}

fn wait_for(port: u16, log: &Path) {
    wait_until(log, &format!("nothing listens at port {port}"), || {
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
}

/// Waits until the portmapper knows a port: the server listens there before it says so.
fn wait_until_known(port: u16, log: &Path) {
    wait_until(log, &format!("the portmapper does not know of port {port}"), || {
        let listed = Command::new("rpcinfo").args(["-p", "127.0.0.1"]).output();
        let listed = listed.expect("it comes with rpcbind").stdout;
        String::from_utf8_lossy(&listed).contains(&port.to_string())
    });
}

/// Waits for what a server does, for half a minute.
fn wait_until(log: &Path, failure: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = std::fs::read_to_string(log).unwrap_or_default();
    panic!("{failure}; the server's log:\n{log}");
}

fn configuration(export: &Path, scratch: &Path) -> String {
    let (export, scratch) = (export.display(), scratch.display());
    format!(
        "NFS_CORE_PARAM {{ Protocols = 3; NFS_Port = 20490; MNT_Port = 20491; Enable_NLM = false;
           Enable_RQUOTA = false; mount_path_pseudo = false; }}
         NFSv4 {{ RecoveryRoot = \"{scratch}\"; }}
         EXPORT {{ Export_Id = 1; Path = {export}; Pseudo = /export; Access_Type = RW;
           Squash = No_Root_Squash; SecType = sys, none; Protocols = 3; Transports = TCP;
           FSAL {{ Name = VFS; }} }}
         LOG {{ Default_Log_Level = EVENT; }}\n"
    )
}

//! Real ssh servers on ports of the loopback.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::common::Sandbox;

/// An ssh server of this test's own on a port of the loopback, with keys of its own.
pub(crate) struct Sshd {
    server: Child,
    port: u16,
}

/// Where Debian has it.
const PROGRAM: &str = "/usr/sbin/sshd";

impl Sshd {
    /// Starts one, unless there is no program for it.
    pub(crate) fn start(sandbox: &Sandbox) -> Option<Self> {
        Sshd::start_in(sandbox, "sshd", "exec \"$@\"")
    }

    /// Starts one from a shell's script that ends with the command that it is given, such as one
    /// that changes what the server's sessions see. `name` is that of its files.
    pub(crate) fn start_in(sandbox: &Sandbox, name: &str, script: &str) -> Option<Self> {
        if !Path::new(PROGRAM).exists() || !rustix::process::geteuid().is_root() {
            testing::note_skipped(format_args!("no {PROGRAM} that may be started"));
            return None;
        }
        let text = |name: &str| sandbox.path(name).to_string_lossy().into_owned();
        for key in ["host_key", "key"].into_iter().filter(|key| !sandbox.path(key).exists()) {
            let keygen = ["-q", "-t", "ed25519", "-N", "", "-f", &text(key)];
            let made = Command::new("ssh-keygen").args(keygen).stdin(Stdio::null()).status();
            assert!(made.expect("it comes with sshd").success());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = port.local_addr().expect("it is bound").port();
        let key = std::fs::read_to_string(sandbox.path("host_key.pub")).expect("just made");
        let known = std::fs::read_to_string(sandbox.path("known_hosts")).unwrap_or_default();
        sandbox.write("known_hosts", format!("{known}[127.0.0.1]:{port} {key}"));
        std::fs::create_dir_all("/run/sshd").expect("sshd separates its privileges there");
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\n",
            text("host_key"),
            text("key.pub")
        );
        let config_name = format!("{name}_config");
        sandbox.write(&config_name, config);
        let server = Command::new("sh")
            .args(["-c", script, "sh", PROGRAM, "-D", "-e", "-f", &text(&config_name)])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut sshd = Sshd { server, port };
        sshd.is_up().then_some(sshd)
    }

    /// Returns how it is called in a list of hosts.
    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Waits until it listens; false where it ended before.
    fn is_up(&mut self) -> bool {
        let address = ("127.0.0.1", self.port);
        for _ in 0..600 {
            if std::net::TcpStream::connect(address).is_ok() {
                return true;
            }
            if let Some(ended) = self.server.try_wait().expect("it is ours") {
                testing::note_skipped(format_args!("sshd ended: {ended}"));
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("sshd does not listen");
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the command of an ssh client that has the keys.
pub(crate) fn client(sandbox: &Sandbox) -> String {
    let (key, known) = (sandbox.path("key"), sandbox.path("known_hosts"));
    format!(
        "ssh -F none -i {} -o UserKnownHostsFile={} -o StrictHostKeyChecking=yes",
        key.display(),
        known.display()
    )
}

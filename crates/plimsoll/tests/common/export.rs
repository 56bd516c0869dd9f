//! An emulated volume that others mount or read over NFS.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// An export in the foreground, ended with the test.
pub(crate) struct Export {
    process: Child,
    /// Where it is, on this host.
    pub(crate) port: u16,
}

impl Export {
    /// Exports a design at a port of its own.
    pub(crate) fn start(sandbox: &super::common::Sandbox, design: &str) -> Export {
        Self::start_with(sandbox, design, &[])
    }

    /// Does the same with more arguments.
    pub(crate) fn start_with(
        sandbox: &super::common::Sandbox,
        design: &str,
        more: &[&str],
    ) -> Export {
        sandbox.write("design.toml", design);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        command.current_dir(sandbox.path(""));
        command.args(["rehearse", "export", "--foreground", "--listen", "127.0.0.1:0"]);
        command.args(["--backing", "backing", "design.toml"]).args(more);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe"));
        let (mut line, mut said) = (String::new(), String::new());
        let port = loop {
            line.clear();
            assert!(lines.read_line(&mut line).expect("text") > 0, "no export: {said}");
            said.push_str(&line);
            let address = line.split("127.0.0.1:").nth(1).filter(|_| line.starts_with("exported"));
            if let Some(address) = address {
                break address
                    .split(',')
                    .next()
                    .and_then(|port| port.parse().ok())
                    .expect("a port");
            }
        };
        Export { process, port }
    }

    /// Returns fio's option that names a volume.
    pub(crate) fn url(&self, mount: &str) -> String {
        format!("--nfs_url=nfs://127.0.0.1:{}{mount}", self.port)
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

//! The forms of an emulated volume, and how each is measured.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Bench;
use crate::process;

/// One form.
pub(crate) struct Form {
    /// What `--forms` and tables call it.
    pub(crate) name: &'static str,
    /// Largest deviation, as a share of what is printed.
    pub(crate) tolerance: f64,
    kind: FormKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FormKind {
    Simulated,
    InProcess,
    Mounted,
    Exported,
}

/// All of them.
pub(crate) static FORMS: [Form; 4] = [
    Form { name: "simulated", tolerance: 0.02, kind: FormKind::Simulated },
    Form { name: "in-process", tolerance: 0.03, kind: FormKind::InProcess },
    Form { name: "fuse", tolerance: 0.05, kind: FormKind::Mounted },
    Form { name: "nfs", tolerance: 0.05, kind: FormKind::Exported },
];

/// What serves a form while it is measured.
pub(crate) enum Service {
    Nothing,
    Mount { path: PathBuf },
    Export { process: Child, port: u16 },
}

impl Form {
    /// Returns what this machine lacks for it.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        let is_mount = self.kind == FormKind::Mounted;
        if is_mount && !Path::new("/dev/fuse").exists() {
            return Some("there is no /dev/fuse");
        }
        (is_mount && !process::on_path("fio")).then_some("there is no fio on PATH")
    }

    /// Starts what serves it, with nothing kept from an earlier run.
    pub(crate) fn serve(&self, bench: &Bench) -> Result<Service> {
        match self.kind {
            FormKind::Simulated | FormKind::InProcess => Ok(Service::Nothing),
            FormKind::Mounted => mount(bench),
            FormKind::Exported => export(bench),
        }
    }

    /// Returns what runs a job file and prints fio's JSON.
    pub(crate) fn command(&self, bench: &Bench, job: &Path) -> Command {
        if self.kind == FormKind::Mounted {
            let mut fio = bench.command("fio");
            fio.arg("--output-format=json").arg(job);
            return fio;
        }
        let mut ours = bench.command(&bench.plimsoll);
        ours.args(["run", "--no-progress", "--fio-json"]).arg(job);
        match self.kind {
            FormKind::Simulated => ours.args(["--on", "design.toml", "--virtual"]),
            FormKind::InProcess => ours.args(["--on", "design.toml"]),
            FormKind::Mounted | FormKind::Exported => &mut ours,
        };
        ours
    }
}

/// Returns an empty folder for data.
fn data(bench: &Bench) -> Result<PathBuf> {
    let data = bench.folder.join("data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    Ok(data)
}

fn mount(bench: &Bench) -> Result<Service> {
    let path = bench.folder.join("mnt");
    // An earlier run may have been interrupted: then nothing serves it, or another process still
    // does.
    let mut clear = Command::new(&bench.plimsoll);
    clear.args(["rehearse", "unmount", "--lazy"]).arg(&path);
    let _ = process::output(&mut clear);
    fs::create_dir_all(&path)?;
    let mut mount = bench.command(&bench.plimsoll);
    mount.args(["rehearse", "mount", "design.toml"]).arg(&path).arg("--backing").arg(data(bench)?);
    process::output(&mut mount)?;
    Ok(Service::Mount { path })
}

fn export(bench: &Bench) -> Result<Service> {
    let mut export = bench.command(&bench.plimsoll);
    export.args(["rehearse", "export", "--foreground", "--listen", "127.0.0.1:0", "--backing"]);
    export.arg(data(bench)?).arg("design.toml").stderr(Stdio::piped());
    let mut process = export.spawn().context("the export does not start")?;
    let mut lines = BufReader::new(process.stderr.take().context("it has a stderr")?).lines();
    let mut said = String::new();
    let place = lines.find_map(|line| {
        let line = line.ok()?;
        said.push_str(&line);
        let port = line.strip_prefix("exported at 127.0.0.1:")?.split(|c: char| !c.is_numeric());
        port.take(1).find_map(|port| port.parse().ok())
    });
    // What it says from now on is read and dropped, so that it never waits for us.
    std::thread::spawn(move || lines.for_each(drop));
    let mut service = Service::Export { process, port: 0 };
    match (&mut service, place) {
        (Service::Export { port, .. }, Some(found)) => *port = found,
        _ => bail!("the export does not start: {said}"),
    }
    Ok(service)
}

impl Service {
    /// Returns the lines of a job file that name the place of its file.
    pub(crate) fn place(&self) -> String {
        match self {
            Service::Nothing => "ioengine=libaio\ndirectory=/mnt/p30\n".to_owned(),
            Service::Mount { path } => format!("ioengine=libaio\ndirectory={}\n", path.display()),
            Service::Export { port, .. } => {
                format!("ioengine=nfs\nnfs_nconnect=4\nnfs_url=nfs://127.0.0.1:{port}/mnt/p30\n")
            }
        }
    }

    /// Ends it, and removes its data.
    pub(crate) fn end(mut self, bench: &Bench) -> Result<()> {
        if let Service::Mount { path } = &self {
            let mut unmount = Command::new(&bench.plimsoll);
            process::output(unmount.args(["rehearse", "unmount"]).arg(path))?;
        }
        self.stop();
        data(bench).map(drop)
    }

    fn stop(&mut self) {
        if let Service::Export { process, .. } = self {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

//! Agents that Slurm starts: its own daemons on this host, as Debian has them, and `srun`.

mod common;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::Sandbox;
use record::Record;

const JOB: &str = "[a]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ntime_based\nruntime=2\n\
                   rate_iops=100\ngroup_reporting\n";

/// A cluster of one node. Its daemons end with it.
struct Cluster<'a> {
    sandbox: &'a Sandbox,
    daemons: Vec<Child>,
}

impl<'a> Cluster<'a> {
    /// Starts one, unless its programs are missing.
    fn start(sandbox: &'a Sandbox) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            testing::skipped!("only root may start the daemons of Slurm");
            return None;
        }
        let daemons = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"];
        if !daemons.iter().all(|path| Path::new(path).is_file()) {
            testing::skipped!("no Slurm (`apt-get install slurm-wlm munge`)");
            return None;
        }
        if !testing::has_program("srun") {
            return None;
        }
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(sandbox.path(""), open).expect("it is ours");
        for folder in ["state", "spool"] {
            std::fs::create_dir(sandbox.path(folder)).expect("it is ours");
        }
        sandbox.write("munge.key", [0x5a; 64]);
        let closed = std::fs::Permissions::from_mode(0o400);
        std::fs::set_permissions(sandbox.path("munge.key"), closed).expect("it is ours");
        sandbox.write("slurm.conf", config(sandbox));
        let mut cluster = Cluster { sandbox, daemons: Vec::new() };
        let path = |name: &str| sandbox.path(name).to_string_lossy().into_owned();
        let munged = ["--foreground".to_owned(), "--force".to_owned()].into_iter().chain(
            [
                "key-file=munge.key",
                "socket=munge.socket",
                "pid-file=munge.pid",
                "log-file=munge.log",
                "seed-file=munge.seed",
            ]
            .map(|option| {
                let (name, file) = option.split_once('=').expect("an option with a file");
                format!("--{name}={}", path(file))
            }),
        );
        cluster.daemon("/usr/sbin/munged", &munged.collect::<Vec<_>>());
        cluster.await_answer(&["munge", "--no-input", "--socket", &path("munge.socket")]);
        cluster.daemon("/usr/sbin/slurmctld", &["-D".to_owned()]);
        cluster.daemon("/usr/sbin/slurmd", &["-D".to_owned()]);
        cluster.await_answer(&["scontrol", "ping"]);
        Some(cluster)
    }

    fn daemon(&mut self, program: &str, args: &[String]) {
        let mut command = self.command(program);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().expect("it is there"));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.sandbox.command(Path::new(program));
        command.env("SLURM_CONF", self.sandbox.path("slurm.conf"));
        command
    }

    /// Tries a command until it answers, as long as the daemons live.
    fn await_answer(&mut self, args: &[&str]) {
        for _ in 0..600 {
            let answer = self.command(args[0]).args(&args[1..]).output().expect("it is there");
            if answer.status.success() {
                return;
            }
            let ended = self.daemons.iter_mut().find_map(|it| it.try_wait().expect("it is ours"));
            assert!(ended.is_none(), "a daemon ended: {ended:?}; {}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{args:?} gets no answer: {}", self.logs());
    }

    /// What the daemons wrote last.
    fn logs(&self) -> String {
        let log = |name: &str| {
            let text = std::fs::read_to_string(self.sandbox.path(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            format!("{name}:\n{}\n", lines[lines.len().saturating_sub(10)..].join("\n"))
        };
        ["munge.log", "slurmctld.log", "slurmd.log"].map(log).concat()
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        // In the other order than they began, each in order: a step ends with its daemon.
        for mut daemon in self.daemons.drain(..).rev() {
            let pid = rustix::process::Pid::from_child(&daemon);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            let _ = daemon.wait();
        }
    }
}

/// Returns the settings of a cluster whose files all lie in the folder.
fn config(sandbox: &Sandbox) -> String {
    let folder = sandbox.path("");
    let folder = folder.to_string_lossy();
    let folder = folder.trim_end_matches('/');
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host = host.split('.').next().expect("a name").to_owned();
    // Both are held until both are known.
    let ports = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    let [controller, node] = ports.each_ref().map(|it| it.local_addr().expect("bound").port());
    format!(
        "ClusterName=plimsoll\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n\
         SlurmdPort={node}\nAuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\n\
         SlurmUser=root\nSlurmdUser=root\nStateSaveLocation={folder}/state\n\
         SlurmdSpoolDir={folder}/spool\nSlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/slurmd.pid\nSlurmctldLogFile={folder}/slurmctld.log\n\
         SlurmdLogFile={folder}/slurmd.log\nProctrackType=proctrack/pgid\n\
         TaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
         JobAcctGatherType=jobacct_gather/none\nSelectType=select/linear\nReturnToService=2\n\
         SlurmdParameters=config_overrides\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n\
         PartitionName=all Nodes={host} Default=YES State=UP\n"
    )
}

#[test]
fn srun_starts_the_agents() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else { return };
    sandbox.write("job.fio", JOB);
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let run = ["run", "job.fio", "--json", "--token-file", "t", "--listen", "127.0.0.1:0"];
    let mut controller = sandbox
        .command(program)
        .args(run)
        .args(["--agents", "2", "--no-progress"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    let mut said = BufReader::new(controller.stderr.take().expect("a pipe"));
    let mut text = String::new();
    while !text.contains("--join") {
        assert!(said.read_line(&mut text).expect("text") > 0, "it ended: {text}");
    }
    let (_, rest) = text.split_once("--join ").expect("it is there");
    let address = rest.split_whitespace().next().expect("an address").to_owned();
    let mut srun = cluster.command("srun");
    srun.args(["-N1", "-n2"]).arg(program);
    srun.args(["agent", "--join", &address, "--token-file", "t"]);
    let step = srun.output().expect("it is there");
    let said_by_step = String::from_utf8_lossy(&step.stderr).into_owned();
    assert!(step.status.success(), "{said_by_step}: {}", cluster.logs());
    // Both pipes are read at once: a record fills its own.
    text.push_str(std::str::from_utf8(said.buffer()).expect("text"));
    controller.stderr = Some(said.into_inner());
    let output = controller.wait_with_output().expect("it ends");
    text.push_str(&String::from_utf8(output.stderr).expect("text"));
    let outcome = common::Outcome {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: text,
    };
    let record = Record::from_json(outcome.success()).expect("a record");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let names: Vec<&str> = record.hosts.iter().map(|host| &*host.name).collect();
    assert_eq!(names, [host.clone(), format!("{host}#2")]);
    assert!((380..=400).contains(&record.jobs[0].n_ios()), "{}", record.jobs[0].n_ios());
}

//! Looking at hosts before a run: real ssh servers whose sessions see unlike things, and a program
//! in ssh's place for what needs none.

mod common;
#[path = "common/sshd.rs"]
mod sshd;

use std::os::unix::fs::PermissionsExt as _;

use common::{Outcome, Sandbox};
use serde_json::{Value, json};
use sshd::Sshd;

/// Takes ssh's arguments, and runs the command on this host with a temporary folder of its own. The
/// host `closed` does not answer.
const SSH: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
        --) host=$2; shift 2; break;;
        -o|-p|-l) shift 2;;
        *) shift;;
    esac
done
if [ "$host" = closed ]; then
    echo "ssh: connect to host closed port 22: Connection refused" >&2
    exit 255
fi
TMPDIR="$FLEET_TMP"
export TMPDIR
exec sh -c "$*"
"#;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("ssh", SSH);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("ssh"), mode).expect("it is ours");
    for folder in ["tmp", "vol", "vol/inner"] {
        std::fs::create_dir(sandbox.path(folder)).expect("it is ours");
    }
    sandbox
}

/// Looks at hosts that the program in ssh's place reaches.
fn check(sandbox: &Sandbox, args: &[&str]) -> Outcome {
    let ssh = sandbox.path("ssh").to_string_lossy().into_owned();
    let mut command = sandbox.command(std::path::Path::new(env!("CARGO_BIN_EXE_plimsoll")));
    command.env("FLEET_TMP", sandbox.path("tmp"));
    let outcome = common::outcome(command.args(["fleet", "check", "--ssh", &ssh]).args(args));
    assert_eq!(testing::names_in(&sandbox.path("tmp")), Vec::<String>::new(), "nothing is left");
    outcome
}

/// Returns the findings of a kind: severity, hosts and message.
fn found(json: &Value, code: &str) -> Vec<(String, Vec<String>, String)> {
    let findings = json["findings"].as_array().expect("findings").iter();
    let of_code = findings.filter(|finding| finding["code"] == code);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let hosts = |value: &Value| value.as_array().expect("hosts").iter().map(text).collect();
    of_code.map(|it| (text(&it["severity"]), hosts(&it["hosts"]), text(&it["message"]))).collect()
}

#[track_caller]
fn fits(text: &str) {
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{text}");
}

#[test]
fn hosts_that_can_be_used_are_shown_in_rows() {
    let sandbox = sandbox();
    let vol = sandbox.path("vol").to_string_lossy().into_owned();
    let outcome = check(&sandbox, &["--hosts", "a,b", "--path", &vol]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    for head in ["host ", "a  ", "b  "] {
        assert!(outcome.stdout.lines().any(|line| line.starts_with(head)), "{}", outcome.stdout);
    }
    let same = "a, b: they run on one kernel";
    assert!(outcome.stdout.contains(same), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("2 hosts can be used"), "{}", outcome.stdout);
    // A path of a build may be longer than a line.
    let rows: String = outcome.stdout.lines().take(3).map(|line| format!("{line}\n")).collect();
    fits(&rows);
}

#[test]
fn a_host_that_does_not_answer_is_named_in_sshs_words() {
    let sandbox = sandbox();
    let outcome = check(&sandbox, &["--hosts", "a,closed"]);
    assert_eq!(outcome.code, 1, "{}{}", outcome.stdout, outcome.stderr);
    fits(&outcome.stdout);
    let json = check(&sandbox, &["--hosts", "a,closed", "--json"]);
    assert_eq!(json.code, 1);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let said = "ssh: connect to host closed port 22: Connection refused".to_owned();
    let expected = ("unreachable".to_owned(), vec!["closed".to_owned()], said);
    assert_eq!(found(&json, "unreachable"), [expected]);
    assert_eq!(
        (&json["schema"], &json["exit_code"]),
        (&json!("plimsoll.fleet-check/1"), &json!(1))
    );
    let a = &json["hosts"][0];
    assert!(a["facts"]["host"]["n_cpus"].as_u64() > Some(0), "{a:#}");
    assert!(a["transfer"]["n_bytes"].as_u64() > Some(0), "{a:#}");
    assert!(a["clock_error_ns"].as_u64() < Some(1_000_000_000), "{a:#}");
}

#[test]
fn a_job_with_mistakes_calls_no_host() {
    let sandbox = sandbox();
    sandbox.write("job.fio", "[a]\nrw=sideways\n");
    let outcome = check(&sandbox, &["--hosts", "closed", "job.fio"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("job.fio:2"), "{}", outcome.stderr);
}

#[test]
fn what_keeps_a_job_from_running_is_said_before_the_run() {
    let sandbox = sandbox();
    sandbox.write("job.fio", "[a]\nfilename=/nowhere/there/data\nsize=1m\nrw=write\n");
    let outcome = check(&sandbox, &["--hosts", "a,b", "job.fio", "--json"]);
    assert_eq!(outcome.code, 4, "{}{}", outcome.stdout, outcome.stderr);
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let refused = found(&json, "refused");
    let [(severity, hosts, message)] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((&**severity, &hosts[..]), ("unfit", &["a".to_owned(), "b".to_owned()][..]));
    assert!(message.contains("/nowhere/there/data"), "{message}");
}

/// Two servers: the sessions of the second one see a volume of 1 MiB in memory where the first
/// one's see a folder, may open 300 files, and have a monotonic clock 5000 s ahead.
fn servers(sandbox: &Sandbox) -> Option<[Sshd; 2]> {
    let vol = sandbox.path("vol");
    let seen =
        format!("mount -t tmpfs -o size=1m none {}; ulimit -n 300; exec \"$@\"", vol.display());
    let apart = format!(
        "exec unshare --mount --propagation private --time --monotonic 5000 --fork \
         --kill-child=KILL sh -c 'set -e; {seen}' sh \"$@\""
    );
    let (plain, other) = (Sshd::start(sandbox)?, Sshd::start_in(sandbox, "other", &apart)?);
    Some([plain, other])
}

#[test]
fn two_servers_that_differ_are_compared() {
    let sandbox = sandbox();
    let Some([plain, other]) = servers(&sandbox) else { return };
    let data = sandbox.path("vol/data");
    sandbox.write(
        "job.fio",
        format!("[a]\nfilename={}\nsize=4m\nrw=randread\nbs=4k\n", data.display()),
    );
    let hosts = format!("{},{}", plain.host(), other.host());
    let ssh = sshd::client(&sandbox);
    let inner = sandbox.path("vol/inner").to_string_lossy().into_owned();
    let args = ["fleet", "check", "--hosts", &hosts, "--ssh", &ssh, "job.fio", "--path", &inner];
    let outcome = sandbox.plimsoll(&[&args[..], &["--json"]].concat());
    assert_eq!(outcome.code, 4, "{}{}", outcome.stdout, outcome.stderr);
    let json: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let of_other = |code: &str, severity: &str| {
        let found = found(&json, code);
        let [(is, hosts, _)] = &found[..] else { panic!("{code}: {found:?}") };
        assert_eq!((&**is, &hosts[..]), (severity, &[other.host()][..]), "{code}");
    };
    of_other("space", "unfit");
    of_other("target", "unfit");
    of_other("memory", "caution");
    of_other("open-files", "caution");
    assert_eq!(found(&json, "place").len(), 1, "{json:#}");
    assert_eq!(found(&json, "limits").len(), 1, "of open files: {json:#}");
    for host in json["hosts"].as_array().expect("hosts") {
        // Both have this host's time of day, and one has a monotonic clock of its own.
        let off_ns = host["wall_offset_ns"].as_i64().expect("a number");
        let error_ns = host["clock_error_ns"].as_u64().expect("a number");
        assert!(off_ns.unsigned_abs() <= error_ns + 1_000_000, "{off_ns} known to {error_ns}");
        assert_eq!(host["facts"]["link"]["interface"], "lo", "{host:#}");
    }
    assert!(!data.exists(), "nothing was laid out");
    let outcome = sandbox.plimsoll(&args);
    assert_eq!(outcome.code, 4, "{}{}", outcome.stdout, outcome.stderr);
    let space = "has 1.00 MiB free, and the files of the job need 4.00 MiB more";
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(space), "{}", outcome.stdout);
}

//! What `plimsoll fleet manifest` prints, against the published schemas of Kubernetes.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::Sandbox;

const ARGS: [&str; 8] = [
    "fleet",
    "manifest",
    "--image",
    "registry/plimsoll:1",
    "--agents",
    "24",
    "--join",
    "10.0.0.5:7420",
];

/// Checks a document of YAML against a schema; prints what is wrong.
const CHECK: &str = "\
import json, sys, yaml, jsonschema
schema = json.load(open(sys.argv[1]))
document = yaml.safe_load(open(sys.argv[2]))
errors = jsonschema.Draft7Validator(schema).iter_errors(document)
sys.exit('\\n'.join(f'{list(error.path)}: {error.message}' for error in errors) or 0)
";

/// Returns where the schemas lie, if there are any and what reads them.
#[expect(clippy::disallowed_methods, reason = "what the host has is named by its environment")]
fn schemas() -> Option<(PathBuf, String)> {
    let Ok(folder) = std::env::var("PLIMSOLL_K8S_SCHEMAS") else {
        testing::skipped!("no schemas of Kubernetes (set PLIMSOLL_K8S_SCHEMAS)");
        return None;
    };
    let python = std::env::var("PLIMSOLL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let imports = ["-c", "import yaml, jsonschema"];
    let found = Command::new(&python).args(imports).output();
    if !found.is_ok_and(|output| output.status.success()) {
        testing::skipped!(
            "{python} has no yaml or no jsonschema; PLIMSOLL_PYTHON may name another"
        );
        return None;
    }
    Some((folder.into(), python))
}

#[track_caller]
fn check(sandbox: &Sandbox, schema: &str, file: &str) {
    let Some((folder, python)) = schemas() else { return };
    let mut command = Command::new(python);
    command.args(["-c", CHECK]).arg(folder.join(schema)).arg(sandbox.path(file));
    let output = command.output().expect("it was there");
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_job_starts_the_agents() {
    let sandbox = Sandbox::new();
    let printed = sandbox.plimsoll(&ARGS);
    let printed = printed.success();
    for line in [
        "kind: Job",
        "  completionMode: Indexed",
        "  completions: 24",
        "  parallelism: 24",
        "          image: \"registry/plimsoll:1\"",
        "            secretName: plimsoll-token",
    ] {
        assert!(printed.lines().any(|it| it == line), "{line}: {printed}");
    }
    assert!(!printed.contains("plimsoll-token-1:"), "no secret is printed");
    sandbox.write("job.yaml", printed);
    check(&sandbox, "job-batch-v1.json", "job.yaml");
    let more = ["--claim", "data=/mnt/vol \"a\"", "--name", "load", "--secret", "s"];
    sandbox.write("more.yaml", sandbox.plimsoll(&[&ARGS[..], &more].concat()).success());
    check(&sandbox, "job-batch-v1.json", "more.yaml");
}

#[test]
fn the_secret_that_it_names_has_the_token() {
    let sandbox = Sandbox::new();
    if !testing::has_program("kubectl") {
        return;
    }
    sandbox.plimsoll(&["fleet", "token", "-o", "t"]).success();
    let printed = sandbox.plimsoll(&ARGS);
    // The very line that the manifest says, but for the cluster.
    let line = printed.success().lines().find_map(|line| line.strip_prefix("#   "));
    let line = format!("{} --dry-run=client -o yaml >secret.yaml", line.expect("a command"));
    let made = common::outcome(sandbox.command("sh".as_ref()).args(["-c", &line]));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let secret = std::fs::read_to_string(sandbox.path("secret.yaml")).expect("just made");
    assert!(secret.contains("name: plimsoll-token") && secret.contains("  token: "), "{secret}");
    check(&sandbox, "secret-v1.json", "secret.yaml");
}

#[test]
fn names_that_kubernetes_refuses_are_refused_here() {
    let sandbox = Sandbox::new();
    for wrong in [["--name", "Load"], ["--secret", "-s"], ["--claim", "data"], ["--claim", "d=x"]] {
        let [option, value] = wrong;
        let value = format!("{option}={value}");
        let outcome = sandbox.plimsoll(&[&ARGS[..], &[&value]].concat());
        assert_eq!(outcome.code, 2, "{value}: {}", outcome.stderr);
    }
}

//! `plimsoll fleet manifest`: what makes Kubernetes start the agents.

use fleet::hosts::HOSTS_MAX;

use super::super::dial_in::address;
use crate::exit::{Exit, Failure};
use crate::stream;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(super) struct ManifestArgs {
    /// The container image that has `plimsoll` on its PATH.
    #[arg(long, value_name = "IMAGE")]
    image: String,

    /// How many agents, as given to `plimsoll run --agents`.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=HOSTS_MAX as i64))]
    agents: u32,

    /// Where the controller listens, as pods reach it: `HOST:PORT`.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    join: String,

    /// Name of the Job.
    #[arg(long, value_name = "NAME", default_value = "plimsoll-agents", value_parser = label)]
    name: String,

    /// The Secret that has the token as its key `token`.
    #[arg(long, value_name = "NAME", default_value = "plimsoll-token", value_parser = label)]
    secret: String,

    /// A PersistentVolumeClaim to measure, and where pods mount it: `CLAIM=/mnt/vol`.
    #[arg(long, value_name = "CLAIM=PATH", value_parser = claim)]
    claim: Option<Claim>,
}

/// A volume and where it is mounted.
#[derive(Clone, Debug)]
struct Claim {
    name: String,
    path: String,
}

/// Longest name of an object that is part of others' names.
const LABEL_CHARS_MAX: usize = 63;

/// Reads the name of an object.
fn label(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=LABEL_CHARS_MAX).contains(&text.len())
        && text.chars().all(is_plain)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if is_label {
        Ok(text.to_owned())
    } else {
        Err("write small letters, digits and `-` within, 63 at most".to_owned())
    }
}

fn claim(text: &str) -> Result<Claim, String> {
    let (name, path) = text.split_once('=').ok_or("write CLAIM=PATH, such as data=/mnt/vol")?;
    if !path.starts_with('/') || path.contains(':') {
        return Err("the path begins with `/` and has no `:`".to_owned());
    }
    Ok(Claim { name: label(name)?, path: path.to_owned() })
}

/// Prints the manifest.
pub(super) fn run(args: &ManifestArgs) -> Result<Exit, Failure> {
    Exit::Fine.once(stream::print(&manifest(args)))
}

/// Returns a Job with a pod for each agent, as far as there are nodes on nodes of their own.
fn manifest(args: &ManifestArgs) -> String {
    let ManifestArgs { image, agents, join, name, secret, claim } = args;
    // What stands in quotes of JSON is the same text in YAML.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (image, join) = (quoted(image), quoted(join));
    let (mut mounts, mut volumes) = (String::new(), String::new());
    if let Some(Claim { name, path }) = claim {
        let path = quoted(path);
        mounts = format!("            - name: claim\n              mountPath: {path}\n");
        volumes = format!(
            "        - name: claim\n          persistentVolumeClaim:\n            \
             claimName: {name}\n"
        );
    }
    format!(
        "\
# The agents of: plimsoll run FILE --agents {agents} --listen ... --token-file t
# They read the token from a Secret, which is made of the controller's file:
#   kubectl create secret generic {secret} --from-file=token=t
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completionMode: Indexed
  completions: {agents}
  parallelism: {agents}
  # A pod that fails is started anew, and ends none of the others.
  backoffLimit: 1000000
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: {name}
      containers:
        - name: agent
          image: {image}
          command: [plimsoll, agent]
          args: [--join, {join}, --token-file, /run/plimsoll/token, --name, $(NODE)]
          env:
            - name: NODE
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
          volumeMounts:
            - name: token
              mountPath: /run/plimsoll
              readOnly: true
{mounts}      volumes:
        - name: token
          secret:
            secretName: {secret}
            # 0400: the agent refuses a token that others can read.
            defaultMode: 256
{volumes}"
    )
}

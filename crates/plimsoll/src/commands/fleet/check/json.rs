//! What was found on hosts, for programs.

use fleet::inspect::{CLOCK_ERROR_NS_MAX, Finding, HostReport};
use serde_json::{Value, json};

use crate::exit::Exit;

/// Prints it.
pub(super) fn of(reports: &[HostReport], findings: &[Finding], exit: Exit) -> String {
    let hosts: Vec<Value> = reports.iter().map(host).collect();
    let findings: Vec<Value> = findings.iter().map(finding).collect();
    let all = json!({
        "schema": "plimsoll.fleet-check/1",
        "plimsoll_version": env!("CARGO_PKG_VERSION"),
        "exit_code": exit.number(),
        "clock_error_ns_max": CLOCK_ERROR_NS_MAX,
        "hosts": hosts,
        "findings": findings,
    });
    format!("{all:#}\n")
}

fn host(report: &HostReport) -> Value {
    let mut host = json!({
        "host": report.name,
        "clock_error_ns": report.offset.map(|offset| offset.error_ns),
        "wall_offset_ns": report.wall_offset_ns,
        "transfer": report.transfer.map(|it| json!({"n_bytes": it.n_bytes, "took_ns": it.took_ns})),
    });
    match &report.facts {
        Ok(facts) => host["facts"] = json!(facts),
        Err(reason) => host["unreachable"] = json!(reason),
    }
    host
}

fn finding(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.word(),
        "code": finding.code,
        "hosts": finding.hosts,
        "message": finding.message,
        "remedy": finding.remedy,
    })
}

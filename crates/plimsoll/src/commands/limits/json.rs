//! The answer as JSON.

use plan::Diagnostic;
use serde_json::{Value, json};
use volume::Design;
use volume::limits::path::describe;
use volume::limits::{Done, Load, Remedy};

use super::answer::LimitsAnswer;
use super::demand::meets;
use crate::commands::explained::{changes_json, rows_json, rules_json};

/// Name and version of the layout.
const SCHEMA: &str = "plimsoll.limits/1";

/// Returns the page.
pub(super) fn page(design: &Design, answer: &LimitsAnswer, findings: &[Diagnostic]) -> String {
    let mount = |volume: u16| design.volumes[usize::from(volume)].mount.as_str();
    let volumes = answer.volumes.iter().map(|of| {
        let rows = of.rows.iter().enumerate().map(|(idx, row)| {
            let lifts = of.lifts.iter().find(|(at, _)| *at == idx);
            let lifts = lifts.map_or(Vec::new(), |(_, lifts)| remedies(lifts));
            merged(vec![load(&row.load), done(&row.done, None), json!({"lifted_by": lifts})])
        });
        json!({
            "mount": mount(of.volume),
            "backing": describe(&design.volumes[usize::from(of.volume)]),
            "rows": rows.collect::<Vec<_>>(),
            "notes": of.notes,
        })
    });
    let together = answer.together.iter().map(|(asked, all)| {
        let of = |volume: &Done| {
            merged(vec![json!({"mount": mount(volume.volume)}), done(volume, None)])
        };
        let volumes: Vec<Value> = all.iter().map(of).collect();
        merged(vec![load(asked), json!({"volumes": volumes})])
    });
    let demands = answer.demands.iter().map(|of| {
        let readings = of.readings.iter().map(|(mb_bytes, iops)| {
            let is_met = meets(*iops, of.need);
            json!({"mb_bytes": mb_bytes, "iops": iops, "is_met": is_met})
        });
        let head = json!({
            "mount": mount(of.volume),
            "needed_iops": of.need,
            "is_met": of.is_met(),
            "is_known": answer.not_known.is_empty(),
            "readings": readings.collect::<Vec<_>>(),
            "notes": of.notes,
        });
        let explained = &of.explained;
        let part = explained.done.iops / of.need;
        let why = json!({
            "carried_share": part.min(1.0),
            "latency_without_load_s": explained.latency_s,
            "by_depth": rows_json(&explained.by_depth),
            "lifted_by": changes_json(&of.changes),
        });
        merged(vec![head, load(&of.flow.load), done(&explained.done, Some(of.need)), why])
    });
    // What is unknown or approximated, beside the mistakes that would have ended the command.
    let warnings = findings.iter().map(|finding| {
        let line = finding.span.as_ref().map(|span| span.line);
        json!({"code": finding.code, "message": finding.message, "line": line})
    });
    let page = json!({
        "schema": SCHEMA,
        "design": design.name,
        "edition": design.edition,
        "catalog_hash": design.catalog.own_hash(),
        "bucket_window_ms": design.bucket_window_ns / 1_000_000,
        "constant_latency_mounts": design.constant_latency_mounts(),
        "machine": design.vm.as_ref().map(|vm| vm.size.as_str()),
        "warnings": warnings.collect::<Vec<_>>(),
        "volumes": volumes.collect::<Vec<_>>(),
        "together": together.collect::<Vec<_>>(),
        "demands": demands.collect::<Vec<_>>(),
        "not_known": answer.not_known,
        "rules": rules_json(&answer.rules),
    });
    format!("{page:#}\n")
}

fn merged(parts: Vec<Value>) -> Value {
    let mut all = serde_json::Map::new();
    for part in parts {
        if let Value::Object(part) = part {
            all.extend(part);
        }
    }
    Value::Object(all)
}

fn load(load: &Load) -> Value {
    json!({
        "size_bytes": load.size_bytes,
        "read_share": load.read_share,
        "hit_ratio": load.hit_ratio,
        "queue_depth": load.queue_depth,
        "with_credits": load.with_credits,
        "is_sequential": load.is_sequential,
    })
}

fn done(done: &Done, need: Option<f64>) -> Value {
    let caps = done.caps.iter().map(|(cap, left)| {
        let mut of_cap = json!({
            "cap": cap.bound.name(),
            "name": cap.name,
            "per_s": cap.per_s,
            "per_io": cap.per_io,
            "allows_iops": left,
            "origin": cap.origin,
        });
        if let Some(need) = need {
            of_cap["asked_share"] = json!(need / left);
        }
        of_cap
    });
    let next = done
        .next()
        .map(|(cap, margin)| json!({"cap": cap.bound.name(), "name": cap.name, "margin": margin}));
    json!({
        "iops": done.iops,
        "bytes_per_s": done.bytes_per_s,
        "latency_s": done.latency_s,
        "binds": done.binds.name(),
        "next": next,
        "caps": caps.collect::<Vec<_>>(),
    })
}

fn remedies(remedies: &[Remedy]) -> Vec<Value> {
    let one = |remedy: &Remedy| {
        json!({
            "change": remedy.change,
            "iops": remedy.iops,
            "meets_need": remedy.is_enough,
            "binds": remedy.after.first().map(|cap| cap.bound.name()),
        })
    };
    remedies.iter().map(one).collect()
}

//! What the program is made of, for those who must know: a bill of materials in CycloneDX 1.5.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::workspace::{array, text};

/// Returns the bill for what `cargo metadata` says and the sums of Cargo.lock.
pub(super) fn bill(metadata: &Value, lock: &toml::Table) -> Result<String> {
    let packages: BTreeMap<&str, &Value> =
        array(metadata, "packages").iter().map(|package| (text(package, "id"), package)).collect();
    let nodes: BTreeMap<&str, &Value> =
        array(&metadata["resolve"], "nodes").iter().map(|node| (text(node, "id"), node)).collect();
    let program = packages.iter().find(|(_, package)| package["name"] == "plimsoll");
    let (program, _) = program.context("cargo names no package `plimsoll`")?;
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut open = vec![*program];
    while let Some(id) = open.pop() {
        if !graph.contains_key(id) {
            let below = nodes.get(id).map_or_else(BTreeSet::new, |node| part_of(node));
            open.extend(&below);
            graph.insert(id, below);
        }
    }
    let sums = sums(lock);
    let reference = |id: &str| packages.get(id).map(|package| purl(package)).unwrap_or_default();
    let component = |id: &str| packages.get(id).map(|it| component(it, &sums));
    let others = graph.keys().filter(|id| *id != program);
    let mut components: Vec<Value> = others.filter_map(|id| component(id)).collect();
    components.sort_by_key(|component| component["bom-ref"].to_string());
    let mut dependencies: Vec<Value> = graph
        .iter()
        .map(|(id, below)| {
            let below: BTreeSet<String> = below.iter().map(|id| reference(id)).collect();
            json!({ "ref": reference(id), "dependsOn": below })
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let mut whole = component(program).unwrap_or_default();
    whole["type"] = "application".into();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": whole },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

/// Returns what a package is built from and with. What only its tests need is no part of it.
fn part_of(node: &Value) -> BTreeSet<&str> {
    let is_part = |dep: &&Value| array(dep, "dep_kinds").iter().any(|kind| kind["kind"] != "dev");
    array(node, "deps").iter().filter(is_part).map(|dep| text(dep, "pkg")).collect()
}

/// Returns the sums of the packages' archives, by name and version.
fn sums(lock: &toml::Table) -> BTreeMap<(&str, &str), &str> {
    let packages = lock.get("package").and_then(toml::Value::as_array);
    packages.map_or_else(BTreeMap::new, |packages| packages.iter().filter_map(sum).collect())
}

fn sum(package: &toml::Value) -> Option<((&str, &str), &str)> {
    let text = |key| package.get(key)?.as_str();
    Some(((text("name")?, text("version")?), text("checksum")?))
}

fn component(package: &Value, sums: &BTreeMap<(&str, &str), &str>) -> Value {
    let (name, version) = (text(package, "name"), text(package, "version"));
    let mut component = json!({
        "type": "library", "bom-ref": purl(package), "name": name, "version": version,
        "purl": purl(package),
    });
    // An old way to write "or".
    let licence = text(package, "license").replace('/', " OR ");
    if !licence.is_empty() {
        component["licenses"] = json!([{ "expression": licence }]);
    }
    if let Some(sum) = sums.get(&(name, version)) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

/// Returns the name of a package among those of all languages.
fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_lists_what_is_built_in_and_nothing_else() {
        let package = |name: &str, licence: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": licence });
        let dep = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                package("plimsoll", "MIT"), package("b", "MIT/Apache-2.0"), package("c", ""),
                package("maker", "ISC"), package("tests-only", "ISC"), package("elsewhere", "ISC"),
            ],
            "resolve": { "nodes": [
                { "id": "plimsoll", "deps": [
                    dep("c", Value::Null), dep("b", Value::Null), dep("tests-only", "dev".into()),
                    dep("maker", "build".into()),
                ] },
                { "id": "b", "deps": [dep("c", Value::Null)] },
                { "id": "elsewhere", "deps": [dep("b", Value::Null)] },
            ] },
        });
        let lock = "[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"77\"\n";
        let bill = bill(&metadata, &lock.parse().expect("TOML")).expect("a bill");
        let bill: Value = serde_json::from_str(&bill).expect("JSON");
        let names = |list: &Value, key: &str| {
            let names = list.as_array().expect("a list").iter().map(|it| text(it, key).to_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(bill["metadata"]["component"]["name"], "plimsoll");
        assert_eq!(names(&bill["components"], "name"), ["b", "c", "maker"]);
        let first = &bill["components"][0];
        assert_eq!(first["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(first["hashes"][0]["content"], "77");
        let refs = names(&bill["dependencies"], "ref");
        let named = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("pkg:cargo/{name}@1.0.0")).collect()
        };
        assert_eq!(refs, named(&["b", "c", "maker", "plimsoll"]));
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(named(&["c"])));
        assert_eq!(bill["dependencies"][3]["dependsOn"], json!(named(&["b", "c", "maker"])));
    }
}

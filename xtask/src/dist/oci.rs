//! An image for podman, docker and Kubernetes: one file in one layer. Format: OCI image layout 1.0.

use anyhow::Result;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::target::Target;
use super::tree::{Entry, Stamp, Tree, gzip};
use crate::workspace;

/// Packs the program into an archive that `podman load` takes.
pub(super) fn pack(program: &[u8], target: &Target, stamp: Stamp) -> Result<Vec<u8>> {
    let mut root = Tree::default();
    root.put("plimsoll", Entry::Program(program.to_vec()));
    let layer = root.tar("", stamp)?;
    let config = json!({
        "architecture": target.debian,
        "os": "linux",
        "config": { "Entrypoint": ["/plimsoll"], "Env": ["PATH=/"], "WorkingDir": "/" },
        "rootfs": { "type": "layers", "diff_ids": [digest(&layer)] },
    });
    let mut image = Tree::default();
    let layer = blob(&mut image, "application/vnd.oci.image.layer.v1.tar+gzip", gzip(&layer));
    let config = blob(&mut image, "application/vnd.oci.image.config.v1+json", text(&config));
    let manifest_type = "application/vnd.oci.image.manifest.v1+json";
    let manifest = json!({
        "schemaVersion": 2, "mediaType": manifest_type, "config": config, "layers": [layer],
    });
    let mut manifest = blob(&mut image, manifest_type, text(&manifest));
    let name = format!("plimsoll:{}", workspace::version());
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": name });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    image.put("index.json", Entry::File(text(&index)));
    image.put("oci-layout", Entry::File(text(&json!({ "imageLayoutVersion": "1.0.0" }))));
    image.tar("", stamp)
}

/// Adds a part under the name that its content gives it, and returns how others refer to it.
fn blob(image: &mut Tree, media_type: &str, bytes: Vec<u8>) -> Value {
    let (digest, size) = (digest(&bytes), bytes.len());
    image.put(&format!("blobs/{}", digest.replace(':', "/")), Entry::File(bytes));
    json!({ "mediaType": media_type, "digest": digest, "size": size })
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", super::hex(&Sha256::digest(bytes)))
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

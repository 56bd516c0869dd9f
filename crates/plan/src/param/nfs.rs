//! Switches of the engine `nfs`.

use super::entry::{Param, ValueKind};
use super::fields::field;
use crate::nfs::{CONNECTIONS_MAX, TRANSFER_BYTES_MAX, TRANSFER_BYTES_MIN};

/// Bytes of one call.
const TRANSFER: ValueKind =
    ValueKind::Int { min: TRANSFER_BYTES_MIN as i64, max: TRANSFER_BYTES_MAX as i64 };

// Engines of fio that know the same switches.
const NFS: &[&str] = &["nfs"];

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "nfs_url",
        is_load: false,
        fio: &["nfs_url"],
        engines: NFS,
        kind: ValueKind::Str,
        short: "address of the export",
        long: "nfs: `nfs://HOST[:PORT]/PATH`; the job's files lie below the export, and are \
               created, filled and removed there. Without port the server's portmapper is asked. \
               A question mark may be followed by options of libnfs: `uid` and `gid` to act as, \
               `nfsport` and `mountport`, `rsize` and `wsize`. Each worker mounts the export for \
               itself. direct=1 changes nothing, since nothing is cached on this side; sync=1 \
               asks the server for durable writes, and a sync is a COMMIT.",
        ..field!(engine.nfs.url)
    },
    Param {
        name: "nfs_connections",
        fio: &["nfs_nconnect"],
        engines: NFS,
        kind: ValueKind::Int { min: 1, max: CONNECTIONS_MAX as i64 },
        default: "1",
        short: "TCP connections per worker",
        long: "nfs: calls go over this many connections in turn, as with the mount option \
               `nconnect`. fio has no such option.",
        ..field!(engine.nfs.n_connections)
    },
    Param {
        name: "nfs_read_bytes",
        fio: &["nfs_rsize"],
        engines: NFS,
        kind: TRANSFER,
        short: "most bytes of one READ",
        long: "nfs: a larger read is several calls and completes with the last, as with the mount \
               option `rsize`. Left out, it is what the server prefers; never more than it takes. \
               fio has no such option.",
        ..field!(engine.nfs.read_bytes)
    },
    Param {
        name: "nfs_write_bytes",
        fio: &["nfs_wsize"],
        engines: NFS,
        kind: TRANSFER,
        short: "most bytes of one WRITE",
        long: "nfs: a larger write is several calls and completes with the last, as with the \
               mount option `wsize`. Left out, it is what the server prefers; never more than it \
               takes. fio has no such option.",
        ..field!(engine.nfs.write_bytes)
    },
];

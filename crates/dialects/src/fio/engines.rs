//! Which options belong to which engines: an engine's option is known only where the engine is.

use plan::param::{ENGINES, EngineName, find_engine, find_fio};

/// Engines that fio as distributions build it knows, beyond those of ours: their files parse, and
/// are refused when they are to run.
const KNOWN_TO_FIO: &[&str] = &[
    "cpuio",
    "dev-dax",
    "e4defrag",
    "exec",
    "gfapi",
    "gfapi_async",
    "io_uring_cmd",
    "libpmem",
    "mtd",
    "nbd",
    "net",
    "netsplice",
    "pmemblk",
    "rados",
    "rbd",
    "rdma",
    "sg",
    "splice",
];

const URING: &[&str] = &["io_uring", "io_uring_cmd"];
const URING_CMD: &[&str] = &["io_uring_cmd"];
const PRIORITY: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NET: &[&str] = &["net", "netsplice"];
const CPU: &[&str] = &["cpuio"];
const EXEC: &[&str] = &["exec"];
const HTTP: &[&str] = &["http"];
const CEPH: &[&str] = &["rados", "rbd"];
const NFS: &[&str] = &["nfs"];
const GLUSTER: &[&str] = &["gfapi", "gfapi_async"];

/// Options and the engines that know them.
const OPTIONS: &[(&str, &[&str])] = &[
    ("hipri", &["pvsync2", "io_uring", "io_uring_cmd", "sg"]),
    ("hipri_percentage", &["pvsync2"]),
    ("uncached", &["pvsync2", "io_uring", "io_uring_cmd"]),
    ("nowait", &["pvsync2", "io_uring", "io_uring_cmd", "libaio"]),
    ("userspace_reap", &["libaio"]),
    ("libaio_vectored", &["libaio"]),
    ("cmdprio_percentage", PRIORITY),
    ("cmdprio_class", PRIORITY),
    ("cmdprio", PRIORITY),
    ("cmdprio_hint", PRIORITY),
    ("cmdprio_bssplit", PRIORITY),
    ("fixedbufs", URING),
    ("registerfiles", URING),
    ("sqthread_poll", URING),
    ("sqthread_poll_cpu", URING),
    ("nonvectored", URING),
    ("force_async", URING),
    ("md_per_io_size", URING),
    ("pi_act", URING),
    ("pi_chk", URING),
    ("apptag", URING),
    ("apptag_mask", URING),
    ("cmd_type", URING),
    ("write_mode", URING_CMD),
    ("verify_mode", URING_CMD),
    ("cdb_len", URING_CMD),
    ("read_mode", URING_CMD),
    ("verify_bytchk", URING_CMD),
    ("deac", URING_CMD),
    ("readfua", &["io_uring_cmd", "sg"]),
    ("writefua", &["io_uring_cmd", "sg"]),
    ("sg_write_mode", &["sg"]),
    ("stream_id", &["sg"]),
    ("thp", &["mmap"]),
    ("stat_type", &["filestat"]),
    ("hostname", &["net", "netsplice", "rdma"]),
    ("port", &["net", "netsplice", "rdma"]),
    ("protocol", NET),
    ("nodelay", NET),
    ("listen", NET),
    ("pingpong", NET),
    ("interface", NET),
    ("ttl", NET),
    ("window_size", NET),
    ("mss", NET),
    ("bindname", &["rdma"]),
    ("verb", &["rdma"]),
    ("cpuload", CPU),
    ("cpuchunks", CPU),
    ("cpumode", CPU),
    ("exit_on_io_done", CPU),
    ("program", EXEC),
    ("arguments", EXEC),
    ("grace_time", EXEC),
    ("std_redirect", EXEC),
    ("donorname", &["e4defrag"]),
    ("inplace", &["e4defrag"]),
    ("volume", GLUSTER),
    ("brick", GLUSTER),
    ("single-instance", GLUSTER),
    ("skip_bad", &["mtd"]),
    ("uri", &["nbd"]),
    ("nfs_url", NFS),
    ("nfs_nconnect", NFS),
    ("nfs_rsize", NFS),
    ("nfs_wsize", NFS),
    ("clustername", CEPH),
    ("pool", CEPH),
    ("clientname", CEPH),
    ("busy_poll", CEPH),
    ("conf", &["rados"]),
    ("touch_objects", &["rados"]),
    ("rbdname", &["rbd"]),
    ("https", HTTP),
    ("http_host", HTTP),
    ("http_user", HTTP),
    ("http_pass", HTTP),
    ("http_mode", HTTP),
    ("http_object_mode", HTTP),
    ("http_s3_key", HTTP),
    ("http_s3_keyid", HTTP),
    ("http_s3_region", HTTP),
    ("http_s3_security_token", HTTP),
    ("http_s3_storage_class", HTTP),
    ("http_s3_sse_customer_key", HTTP),
    ("http_s3_sse_customer_algorithm", HTTP),
    ("http_swift_auth_token", HTTP),
    ("http_verbose", HTTP),
];

/// What a name behind `ioengine=` stands for.
pub(super) enum Engine {
    /// One of ours.
    Ours,
    /// fio has it, we do not; says what to use instead.
    Missing(&'static EngineName),
    /// Neither, or only in fio built for it.
    Unknown(Option<&'static EngineName>),
}

/// Finds out what the engine's name stands for.
pub(super) fn engine(name: &str) -> Engine {
    match find_engine(name) {
        Some(found) if found.kind.is_some() => Engine::Ours,
        Some(found) if KNOWN_TO_FIO.contains(&found.name) => Engine::Missing(found),
        found => Engine::Unknown(found),
    }
}

/// Lists the engines that know the option; `None` when it is an option of every job, or unknown.
pub(super) fn owners(option: &str) -> Option<&'static [&'static str]> {
    OPTIONS.iter().find(|(name, _)| *name == option).map(|(_, engines)| *engines)
}

/// Says what `--enghelp=WHAT` prints: all engines, an engine's options, or one of them.
///
/// The error is a message: the engine, or its option, is not known.
pub fn enghelp(what: &str) -> Result<String, String> {
    use std::fmt::Write;
    let mut text = String::new();
    let (name, option) = what.split_once(',').unwrap_or((what, ""));
    if name.is_empty() {
        text.push_str("Available IO engines:\n");
        for engine in ENGINES.iter().filter(|engine| engine.kind.is_some()) {
            let _ = writeln!(text, "\t{}", engine.name);
        }
        return Ok(text);
    }
    let Some(engine) = find_engine(name) else {
        return Err(format!("IO engine {name} not found"));
    };
    if engine.kind.is_none() {
        return Err(format!("IO engine {name} is not built in: {}", engine.note));
    }
    if !option.is_empty() {
        let knows = owners(option).is_some_and(|engines| engines.contains(&engine.name));
        if !knows {
            return Err(format!("engine {name} has no option {option}"));
        }
        return Ok(plan::param::cmdhelp(option));
    }
    let _ = writeln!(text, "{}: {}", engine.name, engine.doc);
    for (option, _) in OPTIONS.iter().filter(|(_, engines)| engines.contains(&engine.name)) {
        let short = find_fio(option).map_or("", |param| param.short);
        let _ = writeln!(text, "{option:<24}: {short}");
    }
    Ok(text)
}

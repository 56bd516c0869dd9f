//! Switches of engines that are not built in, so that a file naming them gets an answer that names
//! the engine. Their values are not looked at.

use super::engines::URING;
use super::entry::{Param, Support, ValueKind};
use super::fields::BASE;

/// Makes the entry of a switch: our name, fio's, and the engines of fio that know it.
const fn foreign(
    name: &'static str,
    fio: &'static [&'static str],
    engines: &'static [&'static str],
) -> Param {
    Param {
        name,
        fio,
        engines,
        kind: ValueKind::OptionalStr,
        short: "belongs to an engine that is not built in",
        long: "A file that names it is read, and refused with what to use instead of the engine.",
        support: Support::NeedsEngine,
        ..BASE
    }
}

// Engines of fio that know the same switches.
const BLKIO: &[&str] = &["libblkio"];
const CEPH: &[&str] = &["rados", "rbd"];
const CPU: &[&str] = &["cpuio"];
const EXEC: &[&str] = &["exec"];
const GLUSTER: &[&str] = &["gfapi", "gfapi_async"];
const HDFS: &[&str] = &["libhdfs"];
const HTTP: &[&str] = &["http"];
const NET: &[&str] = &["net", "netsplice"];
const REMOTE: &[&str] = &["net", "netsplice", "rdma", "libhdfs"];
const SPDK: &[&str] = &["spdk_bdev", "spdk"];
const URING_CMD: &[&str] = &["io_uring_cmd"];
const URING_OR_XNVME: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const XNVME: &[&str] = &["xnvme"];

pub(super) static PARAMS: &[Param] = &[
    foreign("cpu_load_pct", &["cpuload"], CPU),
    foreign("cpu_mode", &["cpumode"], CPU),
    foreign("cpu_chunk_us", &["cpuchunks"], CPU),
    foreign("cpu_exit_with_io", &["exit_on_io_done"], CPU),
    foreign("defrag_donor", &["donorname"], &["e4defrag"]),
    foreign("defrag_in_place", &["inplace"], &["e4defrag"]),
    foreign("exec_program", &["program"], EXEC),
    foreign("exec_arguments", &["arguments"], EXEC),
    foreign("exec_grace_s", &["grace_time"], EXEC),
    foreign("exec_redirect", &["std_redirect"], EXEC),
    foreign("flash_skip_bad", &["skip_bad"], &["mtd"]),
    foreign("command_type", &["cmd_type"], URING),
    foreign("command_write_mode", &["write_mode"], URING_CMD),
    foreign("command_read_mode", &["read_mode"], URING_CMD),
    foreign("command_verify_mode", &["verify_mode"], URING_CMD),
    foreign("command_verify_check", &["verify_bytchk"], URING_CMD),
    foreign("command_length_bytes", &["cdb_len"], URING_CMD),
    foreign("command_deallocate", &["deac"], URING_CMD),
    foreign("read_fua", &["readfua"], &["io_uring_cmd", "sg"]),
    foreign("write_fua", &["writefua"], &["io_uring_cmd", "sg"]),
    foreign("metadata_per_io_bytes", &["md_per_io_size"], URING_OR_XNVME),
    foreign("protection_action", &["pi_act"], URING_OR_XNVME),
    foreign("protection_check", &["pi_chk"], URING_OR_XNVME),
    foreign("protection_tag", &["apptag"], URING_OR_XNVME),
    foreign("protection_tag_mask", &["apptag_mask"], URING_OR_XNVME),
    foreign("scsi_write_mode", &["sg_write_mode"], &["sg"]),
    foreign("scsi_stream", &["stream_id"], &["sg"]),
    foreign("blkio_driver", &["libblkio_driver"], BLKIO),
    foreign("blkio_path", &["libblkio_path"], BLKIO),
    foreign("blkio_connect_properties", &["libblkio_pre_connect_props"], BLKIO),
    foreign("blkio_start_properties", &["libblkio_pre_start_props"], BLKIO),
    foreign("blkio_n_entries", &["libblkio_num_entries"], BLKIO),
    foreign("blkio_queue_entries", &["libblkio_queue_size"], BLKIO),
    foreign("blkio_vectored", &["libblkio_vectored"], BLKIO),
    foreign("blkio_trim_writes_zeros", &["libblkio_write_zeroes_on_trim"], BLKIO),
    foreign("blkio_wait", &["libblkio_wait_mode"], BLKIO),
    foreign("blkio_force_event", &["libblkio_force_enable_completion_eventfd"], BLKIO),
    foreign("xnvme_backend", &["xnvme_be"], XNVME),
    foreign("xnvme_memory", &["xnvme_mem"], XNVME),
    foreign("xnvme_async", &["xnvme_async"], XNVME),
    foreign("xnvme_sync", &["xnvme_sync"], XNVME),
    foreign("xnvme_admin", &["xnvme_admin"], XNVME),
    foreign("xnvme_namespace", &["xnvme_dev_nsid"], XNVME),
    foreign("xnvme_subsystem", &["xnvme_dev_subnqn"], XNVME),
    foreign("xnvme_vectored", &["xnvme_iovec"], XNVME),
    foreign("gpus", &["gpu_dev_ids"], &["libcufile", "libhipfile"]),
    foreign("cuda_io", &["cuda_io"], &["libcufile"]),
    foreign("rocm_io", &["rocm_io"], &["libhipfile"]),
    foreign("no_completion_thread", &["no_completion_thread"], &["windowsaio"]),
    foreign("spdk_config_json", &["spdk_json_conf"], SPDK),
    foreign("spdk_config", &["spdk_conf"], SPDK),
    foreign("spdk_memory_mib", &["spdk_mem"], SPDK),
    foreign("spdk_single_segment", &["spdk_single_seg"], SPDK),
    foreign("spdk_gather", &["enable_sgl"], SPDK),
    foreign("spdk_vmd", &["enable_vmd"], SPDK),
    foreign("spdk_zone_reset", &["initial_zone_reset"], SPDK),
    foreign("spdk_zone_append", &["zone_append"], SPDK),
    foreign("remote_host", &["hostname"], REMOTE),
    foreign("remote_port", &["port"], REMOTE),
    foreign("net_protocol", &["protocol", "proto"], NET),
    foreign("net_no_delay", &["nodelay"], NET),
    foreign("net_listen", &["listen"], NET),
    foreign("net_ping_pong", &["pingpong"], NET),
    foreign("net_interface", &["interface"], NET),
    foreign("net_hops_max", &["ttl"], NET),
    foreign("net_window_bytes", &["window_size"], NET),
    foreign("net_segment_bytes", &["mss"], NET),
    foreign("rdma_bind_host", &["bindname"], &["rdma"]),
    foreign("rdma_verb", &["verb"], &["rdma"]),
    foreign("http_tls", &["https"], HTTP),
    foreign("http_host", &["http_host"], HTTP),
    foreign("http_user", &["http_user"], HTTP),
    foreign("http_password", &["http_pass"], HTTP),
    foreign("http_mode", &["http_mode"], HTTP),
    foreign("http_object_mode", &["http_object_mode"], HTTP),
    foreign("http_verbose", &["http_verbose"], HTTP),
    foreign("s3_key", &["http_s3_key"], HTTP),
    foreign("s3_key_id", &["http_s3_keyid"], HTTP),
    foreign("s3_region", &["http_s3_region"], HTTP),
    foreign("s3_token", &["http_s3_security_token"], HTTP),
    foreign("s3_storage_class", &["http_s3_storage_class"], HTTP),
    foreign("s3_customer_key", &["http_s3_sse_customer_key"], HTTP),
    foreign("s3_customer_algorithm", &["http_s3_sse_customer_algorithm"], HTTP),
    foreign("swift_token", &["http_swift_auth_token"], HTTP),
    foreign("nbd_uri", &["uri"], &["nbd"]),
    foreign("ceph_cluster", &["clustername"], CEPH),
    foreign("ceph_client", &["clientname"], CEPH),
    foreign("remote_pool", &["pool"], &["rados", "rbd", "dfs"]),
    foreign("ceph_config", &["conf"], &["rados"]),
    foreign("ceph_busy_poll", &["busy_poll"], CEPH),
    foreign("ceph_touch", &["touch_objects"], &["rados"]),
    foreign("rbd_image", &["rbdname"], &["rbd"]),
    foreign("rbd_encryption", &["rbd_encryption_format"], &["rbd"]),
    foreign("rbd_passphrase", &["rbd_encryption_passphrase"], &["rbd"]),
    foreign("gluster_volume", &["volume"], GLUSTER),
    foreign("gluster_host", &["brick"], GLUSTER),
    foreign("gluster_shared", &["single-instance"], GLUSTER),
    foreign("daos_container", &["cont"], &["dfs"]),
    foreign("remote_chunk_bytes", &["chunk_size", "chunck_size"], &["dfs", "libhdfs"]),
    foreign("daos_object_class", &["object_class"], &["dfs"]),
    foreign("daos_service", &["svcl"], &["dfs"]),
    foreign("hdfs_name_node", &["namenode"], HDFS),
    foreign("hdfs_directory", &["hdfsdirectory"], HDFS),
    foreign("hdfs_single_instance", &["single_instance"], HDFS),
    foreign("hdfs_direct", &["hdfs_use_direct"], HDFS),
    foreign("iscsi_initiator", &["initiator"], &["libiscsi"]),
];

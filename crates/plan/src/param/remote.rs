//! Switches of engines for network storage, none of which is built in: a file naming them gets an
//! answer that names the engine.

use super::lower::{BASE, NUMBER, word};
use super::{Category, Choice, Kind, Param, Support};

pub(super) static PARAMS: &[Param] = &[
    Param {
        name: "remote_host",
        fio: &["hostname"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "host to connect to",
        long: "Name or address of the other side. Only used by the engine `net` or `rdma` or \
               `libhdfs`.",
        support: Support::NeedsEngine("net, rdma or libhdfs"),
        ..BASE
    },
    Param {
        name: "remote_port",
        fio: &["port"],
        category: Category::Engine,
        kind: Kind::Int { min: 1, max: 65535 },
        short: "port to connect to or listen on",
        long: "Number of the port; further workers take the ones that follow. Only used by the \
               engine `net` or `rdma` or `libhdfs`.",
        support: Support::NeedsEngine("net, rdma or libhdfs"),
        ..BASE
    },
    Param {
        name: "net_protocol",
        fio: &["protocol", "proto"],
        category: Category::Engine,
        kind: Kind::Enum(PROTOCOLS),
        default: "tcp",
        short: "protocol",
        long: "Protocol of the sockets. For the engine `rdma`, `proto` is another name of \
               `verb`. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_no_delay",
        fio: &["nodelay"],
        category: Category::Engine,
        kind: Kind::Bool,
        short: "send small packets at once",
        long: "Sets TCP_NODELAY. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_listen",
        fio: &["listen"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "wait for a connection",
        long: "The reading side of a pair of jobs. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_ping_pong",
        fio: &["pingpong"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "answer each packet",
        long: "Measures round trips in place of throughput. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_interface",
        fio: &["interface"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "interface of multicast",
        long: "Address of the interface that sends or receives multicast. Only used by the \
               engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_hops_max",
        fio: &["ttl"],
        category: Category::Engine,
        kind: NUMBER,
        default: "1",
        short: "hops of multicast packets",
        long: "Time to live of multicast packets. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_window_bytes",
        fio: &["window_size"],
        category: Category::Engine,
        kind: NUMBER,
        short: "size of the socket buffers, in bytes",
        long: "Sets the size of send and receive buffers. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "net_segment_bytes",
        fio: &["mss"],
        category: Category::Engine,
        kind: NUMBER,
        short: "largest segment, in bytes",
        long: "Sets the maximum segment size. Only used by the engine `net`.",
        support: Support::NeedsEngine("net"),
        ..BASE
    },
    Param {
        name: "rdma_bind_host",
        fio: &["bindname"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "local address",
        long: "Address to use on this side. Only used by the engine `rdma`.",
        support: Support::NeedsEngine("rdma"),
        ..BASE
    },
    Param {
        name: "rdma_verb",
        fio: &["verb"],
        category: Category::Engine,
        kind: Kind::Enum(VERBS),
        default: "write",
        short: "kind of transfer",
        long: "Memory semantics (read and write) or channel semantics (send and recv). Only used \
               by the engine `rdma`.",
        support: Support::NeedsEngine("rdma"),
        ..BASE
    },
    Param {
        name: "http_tls",
        fio: &["https"],
        category: Category::Engine,
        kind: Kind::Enum(TLS),
        default: "off",
        short: "encrypt the connection",
        long: "With `insecure` certificates are not checked. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_host",
        fio: &["http_host"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "localhost",
        short: "host to connect to",
        long: "Name of the server. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_user",
        fio: &["http_user"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "user",
        long: "Name for the server. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_password",
        fio: &["http_pass"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "password",
        long: "Password for the server. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_mode",
        fio: &["http_mode"],
        category: Category::Engine,
        kind: Kind::Enum(HTTP_MODES),
        default: "webdav",
        short: "kind of server",
        long: "WebDAV, S3 or Swift. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_object_mode",
        fio: &["http_object_mode"],
        category: Category::Engine,
        kind: Kind::Enum(OBJECT_MODES),
        default: "block",
        short: "what an object is",
        long: "One object for each block, or one for each file that is read in ranges. Only used \
               by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "http_verbose",
        fio: &["http_verbose"],
        category: Category::Engine,
        kind: NUMBER,
        default: "0",
        short: "messages about requests",
        long: "0 to 2, from none to all. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_key",
        fio: &["http_s3_key"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "secret key",
        long: "Secret key of S3. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_key_id",
        fio: &["http_s3_keyid"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "access key",
        long: "Access key of S3. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_region",
        fio: &["http_s3_region"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "us-east-1",
        short: "region",
        long: "Region of S3. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_token",
        fio: &["http_s3_security_token"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "session token",
        long: "Token of temporary credentials of S3. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_storage_class",
        fio: &["http_s3_storage_class"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "STANDARD",
        short: "storage class",
        long: "Storage class of new objects in S3. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_customer_key",
        fio: &["http_s3_sse_customer_key"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "key of encryption at rest",
        long: "Key with which the server encrypts objects. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "s3_customer_algorithm",
        fio: &["http_s3_sse_customer_algorithm"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "AES256",
        short: "algorithm of encryption at rest",
        long: "Algorithm that goes with the key. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "swift_token",
        fio: &["http_swift_auth_token"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "token of Swift",
        long: "Token that Swift asks for. Only used by the engine `http`.",
        support: Support::NeedsEngine("http"),
        ..BASE
    },
    Param {
        name: "nbd_uri",
        fio: &["uri"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "address of the export",
        long: "`nbd://HOST/NAME` or `nbd+unix:///NAME?socket=PATH`. Only used by the engine \
               `nbd`.",
        support: Support::NeedsEngine("nbd"),
        ..BASE
    },
    Param {
        name: "ceph_cluster",
        fio: &["clustername"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "name of the cluster",
        long: "Name of the Ceph cluster. Only used by the engine `rados` or `rbd`.",
        support: Support::NeedsEngine("rados or rbd"),
        ..BASE
    },
    Param {
        name: "ceph_client",
        fio: &["clientname"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "user",
        long: "User name, without or with the type in front. Only used by the engine `rados` or \
               `rbd`.",
        support: Support::NeedsEngine("rados or rbd"),
        ..BASE
    },
    Param {
        name: "remote_pool",
        fio: &["pool"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "pool",
        long: "Pool that holds the data. Only used by the engine `rados` or `rbd` or `dfs`.",
        support: Support::NeedsEngine("rados, rbd or dfs"),
        ..BASE
    },
    Param {
        name: "ceph_config",
        fio: &["conf"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "/etc/ceph/ceph.conf",
        short: "configuration file",
        long: "Configuration of the Ceph client. Only used by the engine `rados`.",
        support: Support::NeedsEngine("rados"),
        ..BASE
    },
    Param {
        name: "ceph_busy_poll",
        fio: &["busy_poll"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "look for completions again and again",
        long: "Spins in place of waiting for an event. Only used by the engine `rados` or `rbd`.",
        support: Support::NeedsEngine("rados or rbd"),
        ..BASE
    },
    Param {
        name: "ceph_touch",
        fio: &["touch_objects"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "1",
        short: "create objects before the run",
        long: "Touches each object before the run. Only used by the engine `rados`.",
        support: Support::NeedsEngine("rados"),
        ..BASE
    },
    Param {
        name: "rbd_image",
        fio: &["rbdname"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "image",
        long: "Name of the block device image. Only used by the engine `rbd`.",
        support: Support::NeedsEngine("rbd"),
        ..BASE
    },
    Param {
        name: "rbd_encryption",
        fio: &["rbd_encryption_format"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "format of an encrypted image",
        long: "Encryption format that the image was made with. Only used by the engine `rbd`.",
        support: Support::NeedsEngine("rbd"),
        ..BASE
    },
    Param {
        name: "rbd_passphrase",
        fio: &["rbd_encryption_passphrase"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "passphrase of an encrypted image",
        long: "Passphrase that opens the encrypted image. Only used by the engine `rbd`.",
        support: Support::NeedsEngine("rbd"),
        ..BASE
    },
    Param {
        name: "gluster_volume",
        fio: &["volume"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "volume",
        long: "Name of the Gluster volume. Only used by the engine `gfapi`.",
        support: Support::NeedsEngine("gfapi"),
        ..BASE
    },
    Param {
        name: "gluster_host",
        fio: &["brick"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "host",
        long: "Server that describes the volume. Only used by the engine `gfapi`.",
        support: Support::NeedsEngine("gfapi"),
        ..BASE
    },
    Param {
        name: "gluster_shared",
        fio: &["single-instance"],
        category: Category::Engine,
        kind: Kind::Flag,
        short: "workers share a connection",
        long: "One connection for all workers. Only used by the engine `gfapi`.",
        support: Support::NeedsEngine("gfapi"),
        ..BASE
    },
    Param {
        name: "daos_container",
        fio: &["cont"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "container",
        long: "Label or identifier of the container. Only used by the engine `dfs`.",
        support: Support::NeedsEngine("dfs"),
        ..BASE
    },
    Param {
        name: "remote_chunk_bytes",
        fio: &["chunk_size", "chunck_size"],
        category: Category::Engine,
        kind: NUMBER,
        short: "size of a chunk, in bytes",
        long: "Size of the pieces a file is divided into. The second spelling is an old mistake \
               that stays accepted. Only used by the engine `dfs` or `libhdfs`.",
        support: Support::NeedsEngine("dfs or libhdfs"),
        ..BASE
    },
    Param {
        name: "daos_object_class",
        fio: &["object_class"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "class of objects",
        long: "How objects are spread and protected. Only used by the engine `dfs`.",
        support: Support::NeedsEngine("dfs"),
        ..BASE
    },
    Param {
        name: "daos_service",
        fio: &["svcl"],
        category: Category::Engine,
        kind: Kind::Str,
        short: "service ranks",
        long: "Older way to find the pool. Only used by the engine `dfs`.",
        support: Support::NeedsEngine("dfs"),
        ..BASE
    },
    Param {
        name: "hdfs_name_node",
        fio: &["namenode"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "localhost",
        short: "name node",
        long: "Host of the name node. Only used by the engine `libhdfs`.",
        support: Support::NeedsEngine("libhdfs"),
        ..BASE
    },
    Param {
        name: "hdfs_directory",
        fio: &["hdfsdirectory"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "/",
        short: "folder",
        long: "Folder of the chunks. Only used by the engine `libhdfs`.",
        support: Support::NeedsEngine("libhdfs"),
        ..BASE
    },
    Param {
        name: "hdfs_single_instance",
        fio: &["single_instance"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "1",
        short: "workers share a connection",
        long: "One connection for all workers. Only used by the engine `libhdfs`.",
        support: Support::NeedsEngine("libhdfs"),
        ..BASE
    },
    Param {
        name: "hdfs_direct",
        fio: &["hdfs_use_direct"],
        category: Category::Engine,
        kind: Kind::Bool,
        default: "0",
        short: "direct reads",
        long: "Reads without copying, where the library can. Only used by the engine `libhdfs`.",
        support: Support::NeedsEngine("libhdfs"),
        ..BASE
    },
    Param {
        name: "iscsi_initiator",
        fio: &["initiator"],
        category: Category::Engine,
        kind: Kind::Str,
        default: "iqn.2019-04.org.fio:fio",
        short: "name of this side",
        long: "Qualified name of the initiator. Only used by the engine `libiscsi`.",
        support: Support::NeedsEngine("libiscsi"),
        ..BASE
    },
];

const PROTOCOLS: &[Choice] = &[
    word("tcp", &[], "TCP"),
    word("tcpv6", &[], "TCP over IPv6"),
    word("udp", &[], "UDP"),
    word("udpv6", &[], "UDP over IPv6"),
    word("unix", &[], "local socket"),
    word("vsock", &[], "virtual machine socket"),
];

const VERBS: &[Choice] = &[
    word("write", &[], "remote write"),
    word("read", &[], "remote read"),
    word("send", &[], "send"),
    word("recv", &[], "receive"),
];

const TLS: &[Choice] = &[
    word("off", &[], "no"),
    word("on", &[], "yes"),
    word("insecure", &[], "yes, without checking"),
];

const HTTP_MODES: &[Choice] =
    &[word("webdav", &[], "WebDAV"), word("s3", &[], "S3"), word("swift", &[], "Swift")];

const OBJECT_MODES: &[Choice] =
    &[word("block", &[], "an object per block"), word("range", &[], "an object per file")];

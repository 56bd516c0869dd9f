//! What mount options cost.

/// A mount option that changes what is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountRemark {
    /// The option as mounted, or the missing one.
    pub option: String,
    /// What it costs, in one sentence.
    pub cost: String,
    /// It makes writes look durable that are not.
    pub fakes_durability: bool,
}

/// Smallest transfer size that counts as large: servers offer 64 KiB and more.
const TRANSFER_BYTES_MIN: u64 = 65_536;

/// Returns what the options of a mount cost, in their order; `block_bytes` is the size of the I/Os.
///
/// `options` are those of `/proc/self/mountinfo` or `mount`, separated by commas.
pub fn mount_remarks(file_system: &str, options: &str, block_bytes: u64) -> Vec<MountRemark> {
    let is_nfs = file_system.starts_with("nfs");
    let options = || options.split(',').map(str::trim).filter(|option| !option.is_empty());
    let mut remarks = Vec::new();
    for option in options() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let cost = match name {
            "rsize" | "wsize" if is_nfs => transfer_cost(value, block_bytes),
            "noac" => Some("attributes are not cached: every open and stat is a call".to_owned()),
            "actimeo" if value == "0" => {
                Some("attributes are not cached: every open and stat is a call".to_owned())
            }
            "lookupcache" if value == "none" => {
                Some("names are not cached: every open looks each folder up again".to_owned())
            }
            "sync" => Some("every write waits until it is on stable storage".to_owned()),
            "proto" if value == "udp" => {
                Some("over UDP a lost packet costs a time-out of seconds".to_owned())
            }
            "soft" if is_nfs => Some("a slow answer becomes an error instead of a wait".to_owned()),
            "discard" if !is_nfs => {
                Some("deleting sends a discard at once, which slows other I/O".to_owned())
            }
            "nobarrier" => Some("flushes are not sent: fast, and not durable".to_owned()),
            "barrier" if value == "0" => {
                Some("flushes are not sent: fast, and not durable".to_owned())
            }
            "data" if value == "journal" => {
                Some("data are written twice, once into the journal".to_owned())
            }
            "strictatime" => Some("every read writes an access time".to_owned()),
            _ => None,
        };
        let fakes_durability = name == "nobarrier" || (name == "barrier" && value == "0");
        let option = option.to_owned();
        remarks.extend(cost.map(|cost| MountRemark { option, cost, fakes_durability }));
    }
    let n_connections = options().find_map(|option| option.strip_prefix("nconnect="));
    if is_nfs && n_connections.is_none_or(|n| n == "1") {
        remarks.push(MountRemark {
            option: "nconnect".to_owned(),
            fakes_durability: false,
            cost: "all I/O shares one TCP connection: one flow's bandwidth, and one window"
                .to_owned(),
        });
    }
    remarks
}

fn transfer_cost(value: &str, block_bytes: u64) -> Option<String> {
    let transfer_bytes = value.parse::<u64>().ok().filter(|bytes| *bytes > 0)?;
    let n_calls = block_bytes.div_ceil(transfer_bytes);
    if n_calls > 1 {
        return Some(format!("an I/O of {block_bytes} B takes {n_calls} calls"));
    }
    let is_small = transfer_bytes < TRANSFER_BYTES_MIN;
    is_small.then(|| "large I/Os and read-ahead are cut into small calls".to_owned())
}

//! What the targets of a plan lie on: file systems with their mount options, devices, and the way
//! to network storage.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::FileKind;
use engine::mounts::{self, Mount};
use plan::tree::TreeWork;
use record::{DeviceRecord, NetworkRecord, PlaceRecord};

use crate::bind::{BoundFile, BoundPlan, BoundWorker};
use crate::clock::Clock;
use crate::disk::{device_of, disk_folder};
use crate::folders::folder_of;

/// Places that are described: more are a fleet of mounts, too many to read.
const PLACES_MAX: usize = 64;

/// Port of an NFS server.
const NFS_PORT: u16 = 2049;

/// Round trips that are measured; the shortest counts.
const N_ROUND_TRIPS: usize = 3;

/// Longest wait for one.
const ROUND_TRIP_MAX: Duration = Duration::from_millis(500);

/// Describes what the targets of a plan lie on, each place once.
pub(crate) fn of_plan(bound: &BoundPlan) -> Vec<PlaceRecord> {
    let table = mounts::table();
    let mut folders = HashSet::new();
    let mut seen = BTreeSet::new();
    let mut places = Vec::new();
    for worker in bound.workers() {
        if worker.job.engine.kind.is_idle() {
            continue;
        }
        if worker.job.engine.kind.is_remote() {
            let place = export(worker);
            places.extend(place.filter(|place| seen.insert(place.path.clone())));
            continue;
        }
        for (path, is_device) in paths(worker) {
            // Files of a folder are at the same place; devices lie side by side in theirs.
            let folder = if is_device { path.as_os_str() } else { folder_of(&path) };
            if places.len() < PLACES_MAX && !folders.contains(folder) {
                folders.insert(folder.to_owned());
                let place = of_path(&table, &path, is_device);
                places.extend(place.filter(|place| seen.insert(place.path.clone())));
            }
        }
    }
    places
}

/// Notes each place that is in this host's memory: a measurement there is not one of a disk.
pub(crate) fn in_memory(places: &[PlaceRecord]) -> Vec<String> {
    let is_ram_disk = |name: &&str| {
        let number = name.strip_prefix("zram").or(name.strip_prefix("ram"));
        number.is_some_and(|number| number.bytes().all(|it| it.is_ascii_digit()))
    };
    let memory = |place: &PlaceRecord| {
        let device = place.device.as_ref().map(|device| device.name.as_str());
        let of_device = device.filter(is_ram_disk);
        let of_files = ["tmpfs", "ramfs"].contains(&place.file_system.as_str());
        of_files.then(|| place.file_system.clone()).or(of_device.map(str::to_owned))
    };
    let in_memory = places.iter().filter_map(|place| Some((&place.path, memory(place)?)));
    in_memory
        .map(|(path, kind)| format!("`{path}` lies in memory ({kind}): this measures no disk"))
        .collect()
}

/// Blocks of a device that are looked at, and their length.
const N_LOOKED_AT: u64 = 32;
const LOOKED_AT_BYTES: usize = 4096;

/// Notes each device that is only read and whose sampled blocks are all zero: what was never
/// written, or was trimmed, is answered without the media.
pub(crate) fn of_zeros(bound: &BoundPlan) -> Vec<String> {
    let workers = || bound.workers();
    let is_of_bytes = |worker: &&BoundWorker| {
        let kind = worker.job.engine.kind;
        worker.job.tree.is_none() && !kind.is_idle() && !kind.is_remote()
    };
    let devices = |modifies: bool| -> BTreeSet<PathBuf> {
        let of = workers().filter(is_of_bytes).filter(|it| it.job.modifies() == modifies);
        let paths = of.flat_map(paths).filter(|(_, is_device)| *is_device);
        paths.map(|(path, _)| path.into_owned()).collect()
    };
    let written = devices(true);
    let read = devices(false).into_iter().filter(|path| !written.contains(path));
    let zeros = read.take(PLACES_MAX).filter(|path| holds_zeros(path));
    let say = |path: PathBuf| {
        format!(
            "all {N_LOOKED_AT} blocks of `{}` that were looked at hold zeros: a device answers \
             reads of what was never written, or was trimmed, without its media; write it once \
             before",
            path.display()
        )
    };
    zeros.map(say).collect()
}

/// Returns whether blocks spread over a device are all zero. What cannot be read is not.
fn holds_zeros(path: &Path) -> bool {
    use std::io::{Seek, SeekFrom};
    use std::os::unix::fs::FileExt;
    let Ok(mut file) = fs::File::open(path) else { return false };
    let Ok(size) = file.seek(SeekFrom::End(0)) else { return false };
    let n_blocks = size / LOOKED_AT_BYTES as u64;
    let mut block = [0; LOOKED_AT_BYTES];
    // What is read must not stay in the page cache; where that is not heard, it is 128 KiB.
    let _heard = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
    let is_zero = (0..N_LOOKED_AT).all(|idx| {
        let at = n_blocks * idx / N_LOOKED_AT * LOOKED_AT_BYTES as u64;
        file.read_exact_at(&mut block, at).is_ok() && block.iter().all(|byte| *byte == 0)
    });
    let _heard = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    n_blocks > 0 && is_zero
}

/// Returns the paths that a worker works on, and whether each is a block device.
fn paths(worker: &BoundWorker) -> impl Iterator<Item = (Cow<'_, Path>, bool)> {
    // The anchor itself, or what will hold it.
    let of_tree = |work: &TreeWork| Cow::from(PathBuf::from(&work.tree.anchor).join("file"));
    let tree = worker.job.tree.as_ref();
    let tree = tree.map(|work| (of_tree(&work.of_worker(worker.worker_idx)), false));
    let files = worker.files.iter().filter(|_| worker.job.tree.is_none());
    let of_file = |file: &'_ BoundFile| file.kind == FileKind::Block;
    tree.into_iter().chain(files.map(move |it| (Cow::from(it.path.as_path()), of_file(it))))
}

/// Describes what a path lies on.
pub(crate) fn of_path(table: &[Mount], path: &Path, is_device: bool) -> Option<PlaceRecord> {
    if is_device { device_place(path) } else { of_file(table, path) }
}

fn device_place(path: &Path) -> Option<PlaceRecord> {
    let device = device(path)?;
    Some(PlaceRecord {
        path: path.display().to_string(),
        device: Some(device),
        ..PlaceRecord::default()
    })
}

fn of_file(table: &[Mount], path: &Path) -> Option<PlaceRecord> {
    let mount = mounts::of_path(table, &resolved(path))?;
    let source = mount.source.display().to_string();
    let is_network = mount.file_system.starts_with("nfs");
    Some(PlaceRecord {
        path: mount.at.display().to_string(),
        file_system: mount.file_system.clone(),
        network: is_network.then(|| of_mount(&source, &mount.options)),
        source,
        mount_options: mount.options.clone(),
        device: device(path),
    })
}

/// Returns the nearest folder of a path that exists, or all of it, without links.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let exists = path.ancestors().find_map(|above| {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        fs::canonicalize(above).ok()
    });
    exists.unwrap_or_else(|| path.to_owned())
}

fn device(path: &Path) -> Option<DeviceRecord> {
    let folder = disk_folder(device_of(path)?)?;
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let scheduler = text("queue/scheduler");
    let chosen = scheduler.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Some(DeviceRecord {
        name: folder.file_name()?.to_string_lossy().into_owned(),
        model: text("device/model").trim().to_owned(),
        size_bytes: text("size").trim().parse::<u64>().unwrap_or(0).saturating_mul(512),
        scheduler: chosen.map_or_else(String::new, |(name, _)| name.to_owned()),
        write_cache: text("queue/write_cache").trim().to_owned(),
        is_rotational: text("queue/rotational").trim() == "1",
    })
}

/// Describes an export that a job uses by itself.
fn export(worker: &BoundWorker) -> Option<PlaceRecord> {
    let spec = &worker.job.engine.nfs;
    let url = spec.url.as_ref()?;
    let server = match url.port {
        Some(port) if !url.host.contains(':') => format!("{}:{port}", url.host),
        _ => url.host.clone(),
    };
    let n_connections = u32::from(spec.n_connections.max(1));
    Some(PlaceRecord {
        network: Some(network(&server, n_connections)),
        path: url.to_string(),
        ..PlaceRecord::default()
    })
}

/// Describes the way to what is mounted, by the options of the mount.
fn of_mount(source: &str, options: &str) -> NetworkRecord {
    let option = |name: &str| {
        options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    };
    let named = source.rsplit_once(":/").map_or(source, |(server, _)| server);
    let server = option("addr").unwrap_or(named);
    let server = match option("port").filter(|port| *port != "0") {
        Some(port) if !server.contains(':') => format!("{server}:{port}"),
        _ => server.to_owned(),
    };
    let n_connections = option("nconnect").and_then(|n| n.parse().ok()).unwrap_or(1);
    network(&server, n_connections)
}

fn network(server: &str, n_connections: u32) -> NetworkRecord {
    let address = address(server);
    let interface = address.map_or_else(String::new, |address| interface_to(address.ip()));
    NetworkRecord {
        server: server.to_owned(),
        n_connections,
        link_bytes_s: link_bytes_s(&interface),
        interface,
        round_trip_ns: address.and_then(round_trip_ns),
        sets_buffers: false,
    }
}

fn address(server: &str) -> Option<SocketAddr> {
    let bare = server.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Some(SocketAddr::new(ip, NFS_PORT));
    }
    let with_port = server.to_socket_addrs().ok().and_then(|mut found| found.next());
    with_port.or_else(|| (bare, NFS_PORT).to_socket_addrs().ok()?.next())
}

/// Returns the round trip time: that of an answer to the opening of a connection, also of a
/// refusal.
fn round_trip_ns(address: SocketAddr) -> Option<f64> {
    let clock = Clock::start_monotonic();
    let trips = (0..N_ROUND_TRIPS).map_while(|_| {
        let since_ns = clock.now_ns();
        let opened = TcpStream::connect_timeout(&address, ROUND_TRIP_MAX);
        let passed_ns = clock.now_ns() - since_ns;
        match opened {
            Ok(_) => Some(passed_ns),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Some(passed_ns),
            Err(_) => None,
        }
    });
    trips.min().map(|ns| ns as f64)
}

/// A network interface of this host.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name.
    pub interface: String,
    /// What its driver says that it carries in one direction, bytes per second.
    pub bytes_s: Option<f64>,
}

/// Returns the interface of a connection between an address of this host and another one; `None` if
/// the kernel does not say.
pub fn link(own: IpAddr, to: IpAddr) -> Option<Link> {
    let interface = match own {
        IpAddr::V4(_) => interface_to(to),
        IpAddr::V6(own) => {
            let table = fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
            interface_with(&table, u128::from(own)).unwrap_or_default()
        }
    };
    let bytes_s = link_bytes_s(&interface);
    (!interface.is_empty()).then_some(Link { interface, bytes_s })
}

/// Finds the interface that has an address in a table of `/proc/net/if_inet6`: the address in
/// hexadecimal, three numbers and flags, and the name.
fn interface_with(table: &str, address: u128) -> Option<String> {
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let own = u128::from_str_radix(fields.first()?, 16).ok()?;
        (own == address).then(|| fields.last().map(ToString::to_string))?
    })
}

/// Returns the network interface that leads to an address, by the kernel's table of routes; empty
/// if it does not say.
fn interface_to(address: IpAddr) -> String {
    let IpAddr::V4(address) = address else { return String::new() };
    if address.is_loopback() {
        return "lo".to_owned();
    }
    let table = fs::read_to_string("/proc/net/route").unwrap_or_default();
    route(&table, u32::from(address)).unwrap_or_default()
}

/// Finds the most specific route in a table (proc_net(5)): interface, destination, gateway, flags,
/// three counters and the mask; numbers in hexadecimal, in the order of the network's bytes.
fn route(table: &str, address: u32) -> Option<String> {
    let rows = table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number =
            |idx: usize| u32::from_str_radix(fields.get(idx)?, 16).ok().map(u32::swap_bytes);
        let (destination, mask) = (number(1)?, number(7)?);
        (address & mask == destination).then(|| (mask, fields[0].to_owned()))
    });
    rows.max_by_key(|(mask, _)| *mask).map(|(_, interface)| interface)
}

/// Returns what a link carries, in bytes per second; `None` if the driver does not say.
fn link_bytes_s(interface: &str) -> Option<f64> {
    if interface.is_empty() {
        return None;
    }
    let path = format!("/sys/class/net/{interface}/speed");
    let mbit_s: f64 = fs::read_to_string(path).ok()?.trim().parse().ok()?;
    (mbit_s > 0.0).then_some(mbit_s * 1e6 / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_route_counts() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n\
                     eth0\t00000000\t010AA8C0\t0003\t0\t0\t0\t00000000\n\
                     eth1\t000AA8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n";
        let to = |text: &str| route(table, u32::from(text.parse::<std::net::Ipv4Addr>().unwrap()));
        assert_eq!(to("192.168.10.7").as_deref(), Some("eth1"));
        assert_eq!(to("192.168.11.7").as_deref(), Some("eth0"));
        assert_eq!(route("", 1), None);
        assert_eq!(route("x\nnonsense\n", 1), None);
    }

    #[test]
    fn the_interface_of_an_address_is_found() {
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fd000000000000000000000000000007 02 40 00 80     eth0\n";
        let with = |text: &str| {
            interface_with(table, u128::from(text.parse::<std::net::Ipv6Addr>().unwrap()))
        };
        assert_eq!(with("::1").as_deref(), Some("lo"));
        assert_eq!(with("fd00::7").as_deref(), Some("eth0"));
        assert_eq!(with("fd00::8"), None);
    }

    #[test]
    fn a_mount_says_where_its_server_is() {
        let network = of_mount("127.0.0.1:/export", "rw,nconnect=8,addr=127.0.0.1,port=1");
        assert_eq!((network.server.as_str(), network.n_connections), ("127.0.0.1:1", 8));
        assert_eq!((network.interface.as_str(), network.sets_buffers), ("lo", false));
        // No server listens there, and the refusal takes a round trip, too.
        assert!(network.round_trip_ns.is_some_and(|ns| ns > 0.0));
    }

    #[test]
    fn a_file_is_at_a_place_with_a_type() {
        let table = mounts::table();
        let place = of_file(&table, Path::new("/proc/self/not/there"));
        if let Some(place) = place {
            assert_eq!((place.path.as_str(), place.file_system.as_str()), ("/proc", "proc"));
            assert_eq!(place.device, None);
        }
    }
}

//! The export against our engine and against libnfs: bytes, sizes, names, errors, restarts, caps,
//! clients.

#[path = "../../engine/tests/nfs_support/mod.rs"]
mod engine_support;
mod nfs_common;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Engine, Wait};
use engine_support::{Setup, check_bytes, check_server, fill, op, run};
use nfs_common::raw::{NFS, answer, ask, call, call_as, opaque, root, send, words};
use nfs_common::{MOUNT, PLENTY, Served, client, design, free_volume, limit, volume};
use plan::op::{Completion, Op, OpKind};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use serve::clock::now_ns;
use serve::nfs::{Export, Limits, RootAccess};
use volume::design::{Backing, Client, Design, Latency, Pool, PoolBuild, Volume};

#[test]
fn the_engine_finds_what_it_wrote() {
    let served = Served::start(free_volume());
    check_server(&served.url(MOUNT));
    assert_eq!(served.machine.in_force().design.volumes.len(), 1);
}

#[test]
fn several_volumes_are_reached_by_their_mount_paths() {
    let volumes = vec![volume("/mnt/a", PLENTY, None), volume("/mnt/b", PLENTY, None)];
    let served = Served::start(design(volumes, Vec::new(), Vec::new()));
    for (mount, salt) in [("/mnt/a", 1), ("/mnt/b", 2)] {
        let mut engine = Setup::new(&served.url(mount)).engine(&["same-name"]).expect("an engine");
        let write = op(OpKind::Write, 0, 0, 4096);
        fill(&mut *engine, &write, salt);
        assert_eq!(run(&mut *engine, &[write]), [4096]);
    }
    for (mount, salt) in [("/mnt/a", 1), ("/mnt/b", 2)] {
        let mut engine = Setup::new(&served.url(mount)).engine(&["same-name"]).expect("an engine");
        let read = op(OpKind::Read, 0, 0, 4096);
        assert_eq!(run(&mut *engine, &[read]), [4096]);
        check_bytes(&mut *engine, &read, 4096, salt);
    }
    // Above the volumes is a folder that takes no files.
    let error = Setup::new(&served.url("/mnt")).engine(&["file"]).err().expect("no volume there");
    assert_eq!(error.errno(), Some(libc::EROFS), "{error}");
}

#[test]
fn a_full_volume_refuses_writes_and_says_how_much_is_free() {
    const CAPACITY: u64 = 4 << 20;
    let small = Volume { capacity_bytes: CAPACITY, ..volume(MOUNT, PLENTY, None) };
    let served = Served::start(design(vec![small], Vec::new(), Vec::new()));
    let setup = Setup { block_bytes: 1 << 20, ..Setup::new(&served.url(MOUNT)) };
    let mut export = engine::nfs::Export::mount(&setup.spec()).expect("mounted");
    let path = setup.path("file");
    assert_eq!(export.probe(&path).expect("an answer").free_bytes, Some(CAPACITY));
    let mut engine = setup.engine(&["file"]).expect("an engine");
    let write = |n: u32| op(OpKind::Write, n, u64::from(n) << 20, 1 << 20);
    for n in 0..4 {
        fill(&mut *engine, &write(n), 0);
        assert_eq!(run(&mut *engine, &[write(n)]), [1 << 20], "write {n}");
    }
    assert_eq!(run(&mut *engine, &[write(4)]), [-libc::ENOSPC]);
    assert_eq!(run(&mut *engine, &[write(0)]), [1 << 20], "what is there can be written over");
    assert_eq!(export.probe(&path).expect("an answer").free_bytes, Some(0));
    engine.remove_files().expect("removed");
    assert_eq!(export.probe(&path).expect("an answer").free_bytes, Some(CAPACITY));
}

/// An export beside the usual one, with limits of its own.
fn limited(served: &Served, limits: Limits) -> Export {
    let machine = Arc::clone(&served.machine);
    Export::limited(machine, nfs_common::anywhere(), RootAccess::Root, limits).expect("an export")
}

fn connected(export: &Export) -> TcpStream {
    let stream = TcpStream::connect(export.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_mins(5))).expect("a timeout");
    stream
}

/// Asks whether the server answers.
fn answers(stream: &mut TcpStream) -> bool {
    send(stream, &call(NFS, 0, &[])).is_ok() && answer(stream).is_some()
}

#[test]
fn a_connection_that_says_nothing_ends() {
    let served = Served::start(free_volume());
    let limits = Limits { idle: Duration::from_millis(50), ..Limits::default() };
    let export = limited(&served, limits);
    // Also one that is silent after half of a call.
    for said in [&[][..], &[0x80, 0, 0, 40, 0, 0]] {
        let mut stream = connected(&export);
        std::io::Write::write_all(&mut stream, said).expect("written");
        assert_eq!(answer(&mut stream), None);
    }
}

#[test]
fn the_connection_that_was_idle_longest_makes_room_for_another() {
    let served = Served::start(free_volume());
    let limits = Limits { idle_min: Duration::ZERO, n_connections_max: 2, ..Limits::default() };
    let export = limited(&served, limits);
    let (mut first, mut second) = (connected(&export), connected(&export));
    assert!(answers(&mut second) && answers(&mut first));
    let mut third = connected(&export);
    assert!(answers(&mut third));
    assert_eq!(answer(&mut second), None, "it was idle longest");
    assert!(answers(&mut first));
}

#[test]
fn connections_in_use_make_no_room() {
    let served = Served::start(free_volume());
    let limits = Limits { n_connections_max: 2, ..Limits::default() };
    let export = limited(&served, limits);
    let (mut first, mut second) = (connected(&export), connected(&export));
    assert!(answers(&mut first) && answers(&mut second));
    assert_eq!(answer(&mut connected(&export)), None);
    assert!(answers(&mut first) && answers(&mut second));
}

/// Starts the export of a machine again, at the port where it was.
fn start_again(served: &Served, address: std::net::SocketAddr) -> Export {
    for _ in 0..100 {
        if let Ok(export) = Export::start(Arc::clone(&served.machine), address, RootAccess::Root) {
            return export;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the port is not free again");
}

#[test]
fn calls_survive_a_server_that_is_killed_and_started_again() {
    const N: u32 = 64;
    // Two hundred a second: when the server ends, most calls are unanswered.
    let slow = design(vec![volume(MOUNT, PLENTY, Some(200))], Vec::new(), Vec::new());
    let mut served = Served::start(slow);
    let address = served.export.address();
    let setup = Setup { n_connections: 4, queue_depth: N, ..Setup::new(&served.url(MOUNT)) };
    let mut engine = setup.engine(&["file"]).expect("an engine");
    let writes: Vec<Op> = (0..N).map(|n| op(OpKind::Write, n, u64::from(n) << 16, 4096)).collect();
    let mut done: Vec<Completion> = Vec::new();
    for batch in writes.chunks(engine.batch_max() as usize) {
        for write in batch {
            fill(&mut *engine, write, 9);
        }
        engine.exchange(batch, Wait::POLL, &mut done).expect("handed over");
    }
    engine.exchange(&[], Wait { min: 4, timeout_ns: None }, &mut done).expect("some are done");
    assert!(done.len() < N as usize, "the server is killed in the middle");
    served.export =
        Export::start(Arc::clone(&served.machine), nfs_common::anywhere(), RootAccess::Root)
            .expect("elsewhere meanwhile");
    served.export = start_again(&served, address);
    while done.len() < N as usize {
        let wait = Wait { min: 1, timeout_ns: Some(20_000_000_000) };
        engine.exchange(&[], wait, &mut done).expect("the engine goes on");
    }
    assert!(done.iter().all(|completion| completion.result == 4096), "{done:?}");
    for write in &writes {
        let read = Op { kind: OpKind::Read, ..*write };
        assert_eq!(run(&mut *engine, &[read]), [4096]);
        check_bytes(&mut *engine, &read, 4096, 9);
    }
}

/// Writes four bytes without making them durable, or commits what was written. Returns the
/// verifier.
fn verifier(served: &Served, file: &[u8], commits: bool) -> Vec<u8> {
    let message = if commits {
        call(NFS, 21, &[file, &words(&[0, 0, 0])].concat())
    } else {
        call(NFS, 7, &[file, &words(&[0, 0, 4, 0]), &opaque(b"data")].concat())
    };
    let answer = ask(served, &message).expect("an answer");
    assert_eq!(answer[24..28], [0; 4], "done");
    answer[answer.len() - 8..].to_vec()
}

#[test]
fn a_crash_between_two_calls_changes_the_verifier() {
    let served = Served::start(free_volume());
    let create = [root(&served), opaque(b"file"), words(&[0, 0, 0, 0, 0, 0, 0])].concat();
    let created = ask(&served, &call(NFS, 8, &create)).expect("an answer");
    let file = opaque(&created[36..52]);
    let written = verifier(&served, &file, false);
    assert_eq!(verifier(&served, &file, true), written);
    served.machine.crash();
    served.machine.restart();
    let after = verifier(&served, &file, true);
    assert_ne!(after, written, "a client has to write again");
    assert_eq!(verifier(&served, &file, false), after);
    // Another process that serves the same data goes on counting.
    let Served { export, machine, scratch } = served;
    drop((export, machine));
    let backing = scratch.path().join("backing");
    while serve::backing::Backing::is_in_use(&backing) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let served = Served::over(free_volume(), scratch);
    assert_eq!(verifier(&served, &file, true), after);
    served.machine.crash();
    served.machine.restart();
    assert!(![written, after].contains(&verifier(&served, &file, true)));
}

#[test]
fn a_server_that_stays_away_ends_the_job_clearly() {
    let served = Served::start(free_volume());
    let mut engine = Setup::new(&served.url(MOUNT)).engine(&["file"]).expect("an engine");
    drop(served);
    let write = op(OpKind::Write, 0, 0, 4096);
    let mut done = Vec::new();
    let ended = engine.exchange(&[write], Wait { min: 1, timeout_ns: None }, &mut done);
    let error = ended.expect_err("no server is there");
    assert!(error.to_string().starts_with("cannot reach again `nfs://127.0.0.1"), "{error}");
    assert_eq!(error.errno(), Some(libc::ECONNREFUSED));
}

/// Keeps `queue_depth` reads in flight for a while and returns how many were done, and the seconds.
#[expect(clippy::disallowed_methods, reason = "a rate is measured by the clock")]
fn load(engine: &mut dyn Engine, depth: u32, len: u32, time: Duration) -> (u64, f64) {
    let mut ops: Vec<Op> =
        (0..depth).map(|n| op(OpKind::Read, n, u64::from(n) * u64::from(len), len)).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut n_done, start) = (0, Instant::now());
    while start.elapsed() < time {
        done.clear();
        engine
            .exchange(&ops, Wait { min: 1, timeout_ns: Some(1_000_000_000) }, &mut done)
            .expect("the engine goes on");
        ops.clear();
        for completion in &done {
            assert_eq!(completion.result, len as i32);
            n_done += 1;
            let offset = u64::from(completion.slot) * u64::from(len);
            ops.push(op(OpKind::Read, completion.slot, offset, len));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    // What is in flight is awaited, so that the engine can be used again.
    let mut n_left = depth as usize - ops.len();
    while n_left > 0 {
        done.clear();
        let wait = Wait { min: 1, timeout_ns: Some(20_000_000_000) };
        engine.exchange(&[], wait, &mut done).expect("the engine goes on");
        n_left -= done.len();
    }
    (n_done, seconds)
}

fn loaded(served: &Served, mount: &str, setup: impl FnOnce(Setup) -> Setup) -> (u64, f64) {
    let setup = setup(Setup::new(&served.url(mount)));
    let mut engine = setup.engine(&["file"]).expect("an engine");
    let size = u64::from(setup.queue_depth) * u64::from(setup.block_bytes);
    let end = op(OpKind::Write, 0, size - 1, 1);
    assert_eq!(run(&mut *engine, &[end]), [1]);
    load(&mut *engine, setup.queue_depth, setup.block_bytes, Duration::from_millis(1500))
}

/// A tenth of a second's worth, which a bucket lets through at once.
const WINDOW_S: f64 = 0.1;

/// Holds a rate against its cap. From below only that there is one: other tests need the CPU, too.
#[track_caller]
fn check_rate((n_done, seconds): (u64, f64), per_s: f64, of_each: f64) {
    let most = per_s * (seconds + 2.0 * WINDOW_S);
    let moved = n_done as f64 * of_each;
    assert!(moved <= most, "{moved} in {seconds} s is more than {per_s}/s");
    assert!(moved >= per_s * seconds / 10.0, "{moved} in {seconds} s of {per_s}/s");
}

#[test]
fn a_volume_of_5000_iops_carries_5000() {
    let p30 = || {
        Served::start(design(
            vec![volume(MOUNT, 200_000_000, Some(5000))],
            vec![client(8, 128)],
            Vec::new(),
        ))
    };
    let small = |setup| Setup { block_bytes: 8192, queue_depth: 64, ..setup };
    check_rate(loaded(&p30(), MOUNT, small), 5000.0, 1.0);
    let large = |setup| Setup { block_bytes: 1 << 20, queue_depth: 8, ..setup };
    check_rate(loaded(&p30(), MOUNT, large), 200e6, f64::from(1 << 20));
}

#[test]
fn more_connections_bring_more_slots() {
    const LATENCY_S: f64 = 0.05;
    let far = Volume {
        latency: Latency { mean_ns: (LATENCY_S * 1e9) as u64, spread: 0.0 },
        ..volume(MOUNT, PLENTY, None)
    };
    let served = Served::start(design(vec![far], vec![client(16, 4)], Vec::new()));
    let setup = |n_connections| {
        move |setup| Setup { n_connections, queue_depth: 64, block_bytes: 4096, ..setup }
    };
    let most = |n_connections: f64, seconds: f64| 4.0 * n_connections * (seconds / LATENCY_S + 1.0);
    let (one, seconds) = loaded(&served, MOUNT, setup(1));
    assert!(one as f64 <= most(1.0, seconds), "{one} by 4 slots in {seconds} s");
    let (four, seconds) = loaded(&served, MOUNT, setup(4));
    assert!(four as f64 <= most(4.0, seconds), "{four} by 16 slots in {seconds} s");
    assert!(four > one * 3 / 2, "{four} by 16 slots against {one} by 4");
}

#[test]
fn the_volumes_of_a_pool_share_its_throughput() {
    const PER_S: u64 = 40_000_000;
    let in_pool = |mount: &str| {
        let mut volume = volume(mount, PER_S, None);
        if let Backing::Network(network) = &mut volume.backing {
            network.pool = Some(0);
        }
        volume
    };
    let throughput = limit(PER_S);
    let pool =
        Pool { name: "pool1".to_owned(), throughput, iops: None, build: PoolBuild::default() };
    let design = |volumes| -> Design { design(volumes, Vec::<Client>::new(), vec![pool.clone()]) };
    let served = Served::start(design(vec![in_pool("/mnt/a"), in_pool("/mnt/b")]));
    let setup = |setup| Setup { block_bytes: 64 << 10, queue_depth: 8, ..setup };
    let [a, b] = std::thread::scope(|scope| {
        let [a, b] =
            ["/mnt/a", "/mnt/b"].map(|mount| scope.spawn(|| loaded(&served, mount, setup)));
        [a, b].map(|thread| thread.join().expect("a load"))
    });
    assert!(a.0 > 0 && b.0 > 0, "both volumes get a share: {a:?}, {b:?}");
    check_rate((a.0 + b.0, a.1.max(b.1)), PER_S as f64, f64::from(64 << 10));
}

/// The way between a client and the server is made up for by at most this much.
const WAY_MAX_NS: u64 = 250_000;

/// How late an answer may be is a matter of how busy the machine is; early it is never.
#[test]
fn no_call_is_answered_early() {
    const LATENCY_NS: u64 = 5_000_000;
    let latency = Latency { mean_ns: LATENCY_NS, spread: 0.0 };
    let slow = Volume { latency, ..volume(MOUNT, PLENTY, None) };
    let served = Served::start(design(vec![slow], vec![client(1, 128)], Vec::new()));
    let mut engine = Setup::new(&served.url(MOUNT)).engine(&["file"]).expect("an engine");
    let early_max_ns = WAY_MAX_NS + LATENCY_NS / 8;
    let begin_ns = now_ns();
    for n in 0..40 {
        let kind = if n % 2 == 0 { OpKind::Write } else { OpKind::Read };
        let one = op(kind, 0, n / 2 * 4096, 4096);
        let start_ns = now_ns();
        assert_eq!(run(&mut *engine, &[one]), [4096]);
        let took_ns = now_ns() - start_ns;
        assert!(took_ns >= LATENCY_NS - early_max_ns, "{kind:?} {n}: {took_ns} ns");
    }
    assert!(now_ns() - begin_ns >= 40 * LATENCY_NS - WAY_MAX_NS);
}

/// Takes connections on 127.0.0.1 and passes all on to an export, coming from `source`. Returns its
/// port. It ends with the process.
fn coming_from(source: Ipv4Addr, export: SocketAddr) -> u16 {
    let listener = TcpListener::bind(nfs_common::anywhere()).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let join = move |inward: TcpStream| -> io::Result<()> {
        let outward = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&outward, &SocketAddr::from((source, 0)))?;
        connect(&outward, &export)?;
        let outward = TcpStream::from(outward);
        for (from, to) in [(&inward, &outward), (&outward, &inward)] {
            to.set_nodelay(true)?;
            let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
            std::thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
        Ok(())
    };
    std::thread::spawn(move || {
        for inward in listener.incoming() {
            inward.and_then(&join).expect("a connection that is passed on");
        }
    });
    port
}

#[test]
fn clients_are_kept_apart_by_their_addresses() {
    const FAR_NS: u64 = 200_000_000;
    let (near, far) = (Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2));
    let at = |address: Ipv4Addr, round_trip_ns| Client {
        name: address.to_string(),
        round_trip_ns,
        address: Some(address.into()),
        ..client(1, 128)
    };
    let clients = vec![at(near, 0), at(far, FAR_NS)];
    let served = Served::start(design(vec![volume(MOUNT, PLENTY, None)], clients, Vec::new()));
    let shortest_ns = |source| {
        let port = coming_from(source, served.export.address());
        let url = format!("nfs://127.0.0.1:{port}{MOUNT}");
        let mut engine = Setup::new(&url).engine(&["file"]).expect("an engine");
        let times = (0..5).map(|_| {
            let start_ns = now_ns();
            assert_eq!(run(&mut *engine, &[op(OpKind::Write, 0, 0, 4096)]), [4096]);
            now_ns() - start_ns
        });
        times.min().expect("five")
    };
    // The far one comes first: in the order of coming it would have the place of the near one.
    let [far_ns, near_ns] = [far, near].map(shortest_ns);
    assert!(far_ns >= FAR_NS - WAY_MAX_NS, "{far_ns} ns over a round trip of {FAR_NS} ns");
    assert!(near_ns < FAR_NS, "{near_ns} ns over no round trip");
}

// --- libnfs ------------------------------------------------------------------------------------

fn libnfs(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).output().expect("the program runs");
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {says}");
    output
}

#[test]
fn libnfs_lists_and_copies() {
    if !["nfs-ls", "nfs-cp", "nfs-cat"].into_iter().all(testing::has_program) {
        return;
    }
    let served = Served::start(free_volume());
    let port = served.port();
    let url = |path: &str| format!("nfs://127.0.0.1{MOUNT}{path}?nfsport={port}&mountport={port}");
    let here = served.scratch.path().join("here");
    let bytes: Vec<u8> = (0..3_000_001_u64).map(|at| engine_support::byte_at(at, 5)).collect();
    std::fs::write(&here, &bytes).expect("a file");
    for n in 0..50 {
        libnfs("nfs-cp", &[here.to_str().expect("UTF-8"), &url(&format!("/copy-{n}"))]);
    }
    let listed = libnfs("nfs-ls", &[&url("/")]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let n_whole = listed.lines().filter(|line| line.contains(" 3000001 copy-")).count();
    assert_eq!(n_whole, 50, "{listed}");
    assert_eq!(libnfs("nfs-cat", &[&url("/copy-7")]).stdout, bytes);
    // And back by our engine.
    let setup = Setup { block_bytes: 1 << 20, ..Setup::new(&served.url(MOUNT)) };
    let mut engine = setup.engine(&["copy-49"]).expect("an engine");
    let read = op(OpKind::Read, 0, 1_500_000, 1 << 20);
    assert_eq!(run(&mut *engine, &[read]), [1 << 20]);
    check_bytes(&mut *engine, &read, 1 << 20, 5);
}

/// Makes a file with a mode as root of a client; returns its handle.
fn created(served: &Served, name: &[u8], mode: u32) -> Vec<u8> {
    let wanted = words(&[0, 1, mode, 0, 0, 0, 0, 0]);
    let create = [root(served), opaque(name), wanted].concat();
    let answer = ask(served, &call(NFS, 8, &create)).expect("an answer");
    assert_eq!(answer[24..28], [0; 4], "made");
    opaque(&answer[36..52])
}

fn mode_and_owner(served: &Served, name: &str) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    let file = served.scratch.path().join("backing/data").join(name);
    let found = std::fs::metadata(file).expect("it is there");
    (found.mode() & 0o7777, found.uid())
}

#[test]
fn root_of_a_client_is_nobody_and_lends_no_rights() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let backing = scratch.path().join("backing");
    std::fs::create_dir(&backing).expect("a folder");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&backing, open).expect("ours");
    let served = Served::trusting(free_volume(), scratch, RootAccess::Squashed);
    let closed = std::fs::metadata(&backing).expect("it is there").permissions().mode();
    assert_eq!(closed & 0o777, 0o700);
    let handle = created(&served, b"lent", 0o6755);
    let (mode, owner) = mode_and_owner(&served, "lent");
    assert_eq!(mode, 0o755);
    assert_ne!(owner, 0);
    let status = |changes: &[u32]| {
        let arguments = [handle.clone(), words(changes)].concat();
        let answer = ask(&served, &call(NFS, 2, &arguments)).expect("an answer");
        u32::from_be_bytes(answer[24..28].try_into().expect("a word"))
    };
    // To another owner: refused. Setuid: left out.
    assert_eq!(status(&[0, 1, 12345, 0, 0, 0, 0, 0]), 1);
    assert_eq!(status(&[1, 0o4700, 0, 0, 0, 0, 0, 0]), 0);
    assert_eq!(mode_and_owner(&served, "lent").0, 0o700);
}

#[test]
fn a_write_by_another_user_takes_setuid_away() {
    let served = Served::start(free_volume());
    let handle = created(&served, b"lent", 0o6777);
    assert_eq!(mode_and_owner(&served, "lent").0, 0o6777);
    let write = [handle, words(&[0, 0, 1, 0]), opaque(b"x")].concat();
    let answer = ask(&served, &call_as(1001, NFS, 7, &write)).expect("an answer");
    assert_eq!(answer[24..28], [0; 4], "written");
    assert_eq!(mode_and_owner(&served, "lent").0, 0o777);
}

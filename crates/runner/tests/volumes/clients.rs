//! Near and far machines that reach one network volume: each job runs on its client.

use record::Record;
use volume::Design;
use volume::design::{
    Backing, Ceiling, Client, Latency, Limit, NetworkVolume, Volume, VolumeBuild,
};

use crate::bench::{Bench, close, design, iops};

fn client(name: &str, round_trip_ns: u64, jobs: &[&str]) -> Client {
    Client {
        name: name.to_owned(),
        round_trip_ns,
        connections: 4,
        slots_per_connection: 128,
        jobs: jobs.iter().map(|&job| job.to_owned()).collect(),
        ..Client::default()
    }
}

/// A volume that answers in 0.5 ms, without caps that a test reaches.
fn reached_from(clients: Vec<Client>) -> Design {
    with_ceiling(Ceiling::default(), clients)
}

/// The same with measured ceilings.
fn with_ceiling(ceiling: Ceiling, clients: Vec<Client>) -> Design {
    let limit = Limit { per_s: 1 << 40, burst: None, origin: "a test".to_owned() };
    let backing = NetworkVolume {
        level: "Ultra".to_owned(),
        quota: Some(limit),
        ceiling,
        pool: None,
        transfer_bytes: 256 << 10,
    };
    let latency = Latency { mean_ns: 500_000, spread: 0.0 };
    let volume = Volume {
        mount: "/mnt/anf".to_owned(),
        capacity_bytes: 1 << 40,
        backing: Backing::Network(backing),
        latency,
        cache_latency: latency,
        build: VolumeBuild::default(),
    };
    Design { clients, ..design(None, vec![volume]) }
}

/// Two jobs of 300 in flight.
const JOBS: &str = "[global]\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\niodepth=300\n\
                    directory=/mnt/anf\nsize=1g\ntime_based=1\nramp_time=1\nruntime=2\n\
                    [near]\n[far-1]\n";

fn run(clients: Vec<Client>) -> Record {
    Bench::new(reached_from(clients)).run(JOBS)
}

#[test]
fn slots_that_a_neighbour_fills_bind_who_does_not_get_to_the_cap() {
    // The card carries 100 MB/s. Writes of 256 KiB fill the slots with calls that wait for it;
    // who writes 8 KiB waits for a slot, and then hardly at all.
    let limit = Limit { per_s: 100_000_000, burst: None, origin: "a test".to_owned() };
    let near = Client {
        egress: Some(limit),
        connections: 1,
        slots_per_connection: 32,
        ..client("only", 500_000, &[])
    };
    let jobs = "[global]\nrw=randwrite\nioengine=libaio\ndirect=1\ndirectory=/mnt/anf\nsize=1g\n\
                time_based=1\nramp_time=1\nruntime=10\n[small]\nbs=8k\niodepth=8\n\
                [large]\nbs=256k\niodepth=64\n";
    let record = Bench::new(reached_from(vec![near])).run(jobs);
    let [small, large] = [0, 1].map(|idx| record.jobs[idx].caps.as_ref().expect("what held it"));
    assert_eq!(small.binding.as_deref(), Some("nfs_slots"), "{small:#?}");
    assert!(!small.counts_slots());
    assert_eq!(small.next.as_deref(), Some("vm_egress"));
    assert!(small.next_away_share.is_some_and(|away| away < 0.02), "{small:#?}");
    assert_eq!(large.binding.as_deref(), Some("vm_egress"), "{large:#?}");
    // With enough of them it has its part.
    let most = 100_000_000.0 / 2.0 / 8192.0;
    let alone = iops(&record.jobs[0]);
    assert!(alone < most / 4.0, "{alone}");
}

/// What the run says of clients.
fn said(record: &Record) -> Vec<&str> {
    let said = record.notes.iter().map(|note| note.message.as_str());
    said.filter(|message| message.contains("client")).collect()
}

#[test]
fn farther_machines_do_fewer_operations_at_the_same_parallelism() {
    // The source document's near and far machines: 300 in flight at 1.0 and at 1.5 ms.
    let clients = vec![client("near", 500_000, &[]), client("far", 1_000_000, &["far*"])];
    let record = run(clients);
    close("near", iops(&record.jobs[0]), 300_000.0, 0.005);
    close("far", iops(&record.jobs[1]), 200_000.0, 0.005);
    assert_eq!(said(&record), Vec::<&str>::new());
    // Neither has met the slots of the other.
    for (job, own) in record.jobs.iter().zip(["client near slots", "client far slots"]) {
        let caps = job.caps.as_ref().expect("what held it");
        let slots = caps.caps.iter().filter(|cap| cap.kind == "nfs_slots");
        let names: Vec<&str> = slots.map(|cap| &*cap.name).collect();
        assert_eq!(names, [format!("nfs_slots {own}")]);
        assert!(
            caps.next.as_ref().is_none_or(|next| !next.contains("slots") || next.ends_with(own))
        );
    }
}

#[test]
fn the_workers_of_a_job_are_spread_over_equal_clients() {
    let text = "edition='current'\n[[volume]]\nmount='/mnt/anf'\nservice='Ultra'\n\
                quota='100TiB'\nmix='published'\nlatency='1ms'\n\
                [[client]]\nname='node'\ncount=3\nnconnect=1\nslots=50\n";
    let design = volume::design::parse(text).0.expect("a design");
    let names: Vec<&str> = design.clients.iter().map(|client| client.name.as_str()).collect();
    assert_eq!(names, ["node-1", "node-2", "node-3"]);
    let of = |n_workers: u32| {
        let job = "[j]\nrw=randread\nbs=8k\nioengine=libaio\ndirect=1\niodepth=200\nsize=1g\n\
                   directory=/mnt/anf\ntime_based=1\nramp_time=1\nruntime=2\ngroup_reporting=1\n";
        Bench::new(design.clone()).run(&format!("{job}numjobs={n_workers}\n"))
    };
    // 50 slots of each client over 1 ms.
    for (n_workers, wanted) in [(1, 50_000.0), (2, 100_000.0), (3, 150_000.0), (7, 150_000.0)] {
        let record = of(n_workers);
        close("slots of the clients", iops(&record.jobs[0]), wanted, 0.01);
        let idle: Vec<String> = (n_workers + 1..=3)
            .map(|number| format!("client `node-{number}` of the design has no worker of its job"))
            .collect();
        assert_eq!(said(&record), idle);
    }
}

#[test]
fn jobs_of_one_client_share_its_slots() {
    let record = run(vec![client("only", 500_000, &[])]);
    for job in &record.jobs {
        close("half of 512 slots over 1 ms", iops(job), 256_000.0, 0.01);
        let caps = job.caps.as_ref().expect("what held it");
        assert_eq!(caps.binding.as_deref(), Some("nfs_slots"));
    }
}

#[test]
fn slots_that_calls_fill_while_they_wait_for_the_volume_do_not_bind() {
    // The volume gives 100,000; near could do 512,000 and waits for a slot most of the time, as it
    // would with any number of them.
    let ceiling = Ceiling { read_iops: Some(100_000), ..Ceiling::default() };
    let clients = vec![client("only", 500_000, &[])];
    let jobs = JOBS.replace("iodepth=300", "iodepth=2000");
    let record = Bench::new(with_ceiling(ceiling, clients)).run(&jobs);
    for job in &record.jobs {
        close("half of the volume", iops(job), 50_000.0, 0.01);
        let caps = job.caps.as_ref().expect("what held it");
        assert_eq!(caps.binding.as_deref(), Some("volume_iops /mnt/anf"));
        assert_eq!(caps.caps[1].kind, "nfs_slots");
        assert!(caps.caps[1].held_ns > caps.caps[0].held_ns);
        // 512 of 4,000 in flight have a slot.
        assert!(caps.counts_slots());
        close("share held", caps.binding_held_share(), 1.0 - 512.0 / 4000.0, 0.02);
        assert_eq!(caps.next.as_deref(), Some("volume_quota /mnt/anf"));
    }
}

#[test]
fn the_ceilings_of_a_volume_stay_apart() {
    let mib = 1 << 20;
    let ceiling = Ceiling {
        read_bytes_per_s: Some(400 * mib),
        write_bytes_per_s: Some(100 * mib),
        total_bytes_per_s: Some(450 * mib),
        ..Ceiling::default()
    };
    let clients = vec![client("only", 0, &[])];
    let jobs = JOBS.replace("rw=randread\nbs=8k", "rw=randrw\nbs=64k");
    let record = Bench::new(with_ceiling(ceiling, clients)).run(&jobs);
    let caps = record.jobs[0].caps.as_ref().expect("what held it");
    let binding = caps.binding_cap().expect("a cap");
    assert_eq!(
        (binding.name.as_str(), binding.per_s),
        ("volume_ceiling /mnt/anf writes", 100 * mib)
    );
    close("used", binding.used_share, 1.0, 0.02);
    // 200 of 450 MiB/s; reads alone come to 100 of 400.
    assert_eq!(caps.next.as_deref(), Some("volume_ceiling /mnt/anf both"));
    close("distance", caps.next_away_share.unwrap(), 1.0 - 200.0 / 450.0, 0.02);
}

#[test]
fn a_client_without_a_job_is_reported() {
    let record = run(vec![client("a", 0, &[]), client("b", 0, &["fare*"]), client("c", 0, &[])]);
    let expected = [
        "client `b` of the design runs no job: no job on a network volume is named `fare*`, or an \
         earlier client runs it",
        "client `c` of the design runs no job",
    ];
    assert_eq!(said(&record), expected);
}

#[test]
fn a_job_on_no_client_is_refused() {
    let bench = Bench::new(reached_from(vec![client("a", 0, &["near"]), client("b", 0, &["x"])]));
    let expected = "job-on-no-client: job `far-1` runs on no client of the design, whose clients \
                    `a`, `b` all name their jobs";
    assert_eq!(bench.refusal(JOBS), [expected]);
}

//! Parameter files such as those that come with Vdbench: devices without `openflags=`, structures
//! of files, curves. They can be looked at and said in every language; run they are as safe as any.
#![expect(clippy::print_stdout, reason = "a test says how much it compared")]

mod support;

use dialects::vdbench::{Options, parse_files, simulation};
use dialects::{
    FilesOnly, LoadError, Loader, LowerOptions, Overrides, ReadPlan, Request, find_dialect, fio,
    native,
};
use plan::Severity;
use support::{FolderHost, MapHost, all_shown, rows};

/// One disk, at a rate.
const DISK: &str = "* One raw disk\nsd=sd1,lun=/dev/rdsk/c1t2d0s6\n\
                    wd=wd1,sd=sd1,xfersize=4096,rdpct=100\n\
                    rd=rd1,wd=wd1,iorate=100,elapsed=10,interval=1\n";
/// Several disks, a mix, sizes by loops.
const DISKS: &str = "sd=sd1,lun=/dev/rdsk/c1t2d0s6\nsd=sd2,lun=/dev/rdsk/c1t3d0s6\n\
                     wd=rr,sd=sd*,seekpct=random,rdpct=60,xfersize=8k\n\
                     wd=log,sd=sd1,seekpct=seq,rdpct=0,xfersize=64k,skew=10\n\
                     rd=rd1,wd=*,iorate=max,elapsed=60,interval=5,forxfersize=(4k-16k,d)\n";
/// A curve on a disk.
const CURVE: &str = "sd=sd1,lun=/dev/rdsk/c1t2d0s6\nwd=wd1,sd=sd*,seekpct=100,rdpct=70\n\
                     rd=rd1,wd=wd*,iorate=curve,curve=(25,50,100),elapsed=60,interval=5\n";
/// A device that says how it is opened, beside one that does not.
const BOTH: &str = "sd=sd1,lun=/dev/sdx,openflags=o_direct\nsd=sd2,lun=/dev/sdy\nwd=wd1,sd=*\n\
                    rd=rd1,wd=wd1,iorate=max,elapsed=10,interval=1\n";
/// A structure of files.
const FILES: &str = "fsd=fsd1,anchor=/dir1,depth=2,width=2,files=4,size=128k\n\
                     fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=random,threads=4\n\
                     rd=rd1,fwd=fwd1,fwdrate=100,format=yes,elapsed=10,interval=1\n";

fn read(file: &str, is_to_run: bool, loader: &dyn Loader) -> ReadPlan {
    let request = Request {
        files: &[file.to_owned()],
        sections: &[],
        overrides: &Overrides::default(),
        all_hosts_local: true,
        is_to_run,
    };
    find_dialect("vdbench").expect("a language").read(&request, loader)
}

/// Codes of the errors that are found in a file.
fn errors(understood: &ReadPlan) -> Vec<&'static str> {
    let parsed = &understood.parsed;
    let found = parsed.diagnostics.iter().chain(&parsed.refusals);
    found.filter(|it| it.severity == Severity::Error).map(|it| it.code).collect()
}

/// Checks a file that can be looked at, and what is said of it in each language. Returns how many
/// devices it uses without direct I/O.
#[track_caller]
fn check(file: &str, loader: &dyn Loader) -> usize {
    let understood = read(file, false, loader);
    let found = all_shown(&understood.parsed.refusals);
    assert_eq!(errors(&understood), [""; 0], "{file}: {found}");
    let plan = &understood.parsed.plan;
    for job in plan.jobs() {
        let is_on_device = job.files.names.iter().any(|name| name.starts_with("/dev/"));
        assert_eq!(is_on_device, job.files.direct, "{file}: {}", job.name);
    }
    let runs = understood.listing.expect("a list of runs");
    let plain = understood.plain.expect("a plain form").translation;
    assert!(plain.losses.is_empty(), "{file}: {:?}", plain.losses);
    let host = FilesOnly(|path: &str| match path {
        "plain" => Ok(plain.text.clone().into_bytes()),
        _ => Err(LoadError::NotFound),
    });
    for options in [Options::default(), Options::compat()] {
        assert_eq!(simulation(&parse_files(&["plain"], &options, &host)), runs, "{file}");
    }
    let own = native::parse_text("t", &native::write(plan).text, &LowerOptions::default(), &host);
    assert!(!own.has_errors(), "{file}: {}", all_shown(&own.diagnostics));
    assert_eq!(own.plan.jobs().count(), plan.jobs().count(), "{file}");
    let of_fio = fio::write(plan);
    let has_files_only = plan.jobs().all(|job| job.tree.is_some());
    assert_eq!(of_fio.is_empty(), has_files_only, "{file}: {:?}", of_fio.losses);
    let jobs = fio::parse_text("t", &of_fio.text, &LowerOptions::default(), &host);
    assert!(has_files_only || !jobs.has_errors(), "{file}: {}", all_shown(&jobs.diagnostics));
    // Nothing of this makes a run less careful.
    let refused = errors(&read(file, true, loader));
    let undirected = understood.parsed.refusals.iter();
    let undirected = undirected.filter(|it| it.code == "device-without-direct").count();
    assert_eq!(refused.iter().filter(|it| **it == "device-without-direct").count(), undirected);
    undirected
}

#[test]
fn devices_can_be_looked_at_without_being_opened() {
    let files = [("disk", DISK, 1), ("disks", DISKS, 2), ("curve", CURVE, 1), ("both", BOTH, 1)];
    for (name, text, n_undirected) in files.into_iter().chain([("files", FILES, 0)]) {
        assert_eq!(check(name, &MapHost::of_files(&[(name, text)])), n_undirected, "{name}");
    }
}

#[test]
fn every_official_example_can_be_looked_at() {
    let Some(path) = testing::corpus("vdbench", "index.tsv") else { return };
    let folder = FolderHost { path, host: MapHost::default() };
    let rows = rows(&folder.path, "index.tsv").into_iter();
    let (mut n_files, mut n_undirected) = (0, 0);
    for row in rows.filter(|row| row[1] == "official-example" && row[2] != "reject") {
        n_undirected += usize::from(check(&row[0], &folder) > 0);
        n_files += 1;
    }
    println!("{n_files} examples, {n_undirected} with devices that do not say how they are opened");
    assert_eq!((n_files, n_undirected), (32, 21));
}

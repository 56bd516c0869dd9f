//! Composite workloads from traces of calls.

use capture::{CallTrace, Component, MountCounts, Scope, Workload};
use dialects::loader::NO_HOST;
use dialects::{LowerOptions, native};
use proptest::prelude::*;

/// Reads lines of one process that runs a program, a tenth of a second apart; a single one with
/// another behind it that works on no file.
fn trace(calls: &[&str], below: &[&str]) -> Result<Workload, String> {
    let lines =
        calls.iter().chain(["getpid() = 7"].iter().filter(|_| calls.len() == 1)).enumerate().map(
            |(idx, call)| format!("7 {}.{}00000 {call}\n", 1_795_812_569 + idx / 10, idx % 10),
        );
    let text = lines.collect::<String>();
    let below = below.iter().map(|it| (*it).to_owned()).collect();
    let mut trace = CallTrace::new(Scope { below });
    trace.read("app.strace", &mut text.as_bytes()).map_err(|error| error.to_string())?;
    trace.finish()
}

fn only(workload: &Workload) -> &Component {
    let [component] = &workload.components[..] else { panic!("{:?}", workload.components) };
    component
}

fn mix(component: &Component) -> String {
    let parts: Vec<String> =
        component.mix.iter().map(|(op, part)| format!("{} {part}", op.name())).collect();
    parts.join(", ")
}

/// What the plan says is what was captured: it has no mistake.
#[track_caller]
fn check_plan(workload: &Workload) {
    let text = workload.to_toml("unit", "app.strace");
    let parsed = native::parse_text("unit.toml", &text, &LowerOptions::default(), &NO_HOST);
    assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
}

#[track_caller]
fn check(calls: &[&str], expected: &str) {
    let workload = trace(calls, &[]).unwrap();
    assert_eq!(mix(only(&workload)), expected, "{calls:?}");
    check_plan(&workload);
}

#[test]
fn calls_become_operations() {
    let open = "openat(AT_FDCWD, \"/d/a\", O_RDWR) = 3";
    check(&["stat(\"/d/a\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0"], "stat 10000");
    check(&["lstat(\"/d/a\", 0x7f) = -1 ENOENT (No such file or directory)"], "neg_stat 10000");
    check(&["access(\"/d/a\", R_OK) = -1 ENOENT (No such file or directory)"], "neg_stat 10000");
    check(
        &[
            open,
            "pread64(3, \"\", 4096, 8192) = 4096",
            "pwrite64(3, \"\", 512, 0) = 512",
            "close(3) = 0",
        ],
        "random_read 5000, random_write 5000",
    );
    check(
        &[open, "read(3, \"\", 4096) = 100", "read(3, \"\", 4096) = 0", "close(3) = 0"],
        "read_file 10000",
    );
    // Not closed: the end of the trace ends it.
    check(&[open, "read(3, \"\", 8) = 8", "read(3, \"\", 8) = 8"], "read 10000");
    check(
        &["chdir(\"/d\") = 0", open, "dup(3) = 4", "close(3) = 0", "flock(4, LOCK_EX) = 0"],
        "lock 10000",
    );
    check(
        &[
            "openat(AT_FDCWD, \"/d\", O_RDONLY|O_DIRECTORY) = 3",
            "getdents64(3, 0x5, 32768) = 168",
            "getdents64(3, 0x5, 32768) = 0",
        ],
        "readdir 10000",
    );
    check(&["mkdir(\"/d/x\", 0777) = 0", "rmdir(\"/d/x\") = 0"], "mkdir 5000, rmdir 5000");
    check(&["rename(\"/d/x\", \"/d/y\") = 0"], "rename 10000");
    check(
        &["fchmodat(AT_FDCWD, \"/d/x\", 0644) = 0", "statfs(\"/d\", {f_type=X}) = 0"],
        "chmod 5000, statfs 5000",
    );
}

/// As many files are made as removed, whatever the trace has: else they pile up.
#[test]
fn files_are_made_as_often_as_they_are_removed() {
    let calls = [
        "openat(AT_FDCWD, \"/d/n\", O_WRONLY|O_CREAT|O_EXCL, 0666) = 3",
        "write(3, \"\", 100) = 100",
        "close(3) = 0",
        "stat(\"/d/n\", {st_mode=S_IFREG|0644, st_size=100, ...}) = 0",
    ];
    let workload = trace(&calls, &[]).unwrap();
    let component = only(&workload);
    assert_eq!(mix(component), "write_file 2500, create 2500, unlink 2500, stat 2500");
    assert!(component.notes.iter().any(|note| note.contains("as many of both")), "{component:?}");
    check_plan(&workload);
}

#[test]
fn pace_sizes_and_files_are_those_of_the_trace() {
    let calls = [
        "execve(\"/opt/bin/app\", [\"app\"], 0x7 /* 1 var */) = 0",
        "openat(AT_FDCWD, \"/d/a\", O_RDONLY|O_DIRECT) = 3",
        "fstat(3, {st_mode=S_IFREG|0644, st_size=1048576, ...}) = 0",
        "pread64(3, \"\", 4096, 8192) = 4096",
        "pread64(3, \"\", 8192, 65536) = 8192",
        "pread64(3, \"\", 4096, 16384) = 4096",
        "close(3) = 0",
        "stat(\"/e/b\", {st_mode=S_IFREG|0644, st_size=0, ...}) = 0",
        "stat(\"/e/b\", {st_mode=S_IFREG|0644, st_size=0, ...}) = 0",
        "getpid() = 7",
        "getpid() = 7",
    ];
    let workload = trace(&calls, &[]).unwrap();
    let component = only(&workload);
    assert_eq!((&*component.name, component.instances, component.n_ops), ("app", 1, 5));
    // 5 operations in a second.
    assert!((component.rate - 5.0).abs() < 1e-9, "{}", component.rate);
    assert_eq!(component.read_sizes, [(4096, 2), (8192, 1)]);
    assert!(component.direct && component.write_sizes.is_empty());
    assert_eq!((component.n_folders, component.files_per_folder), (2, 2));
    assert_eq!(component.file_sizes, [(0, 5000), (1 << 20, 5000)]);
    check_plan(&workload);
    let text = workload.to_toml("unit", "app.strace");
    assert!(text.contains("read_sizes = \"4KiB/2 8KiB/1\"\ndirect = true\n"), "{text}");
    assert!(text.contains("rate = 5\n") && text.contains("random_read = 60\n"), "{text}");
}

#[test]
fn only_files_that_count_are_counted() {
    let calls = [
        "stat(\"/etc/passwd\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0",
        "stat(\"/data/a\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0",
        "stat(\"/database/a\", {st_mode=S_IFREG|0644, st_size=9, ...}) = 0",
    ];
    assert_eq!(only(&trace(&calls, &[]).unwrap()).n_ops, 2);
    assert_eq!(only(&trace(&calls, &["/data"]).unwrap()).n_ops, 1);
    assert_eq!(only(&trace(&calls, &["/etc/", "/data"]).unwrap()).n_ops, 2);
    let why = trace(&calls, &["/none"]).unwrap_err();
    assert!(why.contains("below the folders that were named"), "{why}");
    let why = trace(&calls[..1], &[]).unwrap_err();
    assert!(why.contains("`--below DIR`"), "{why}");
}

/// A child has the files and the folder of its parent, as they were; threads have them in common.
#[test]
fn children_have_what_their_parents_have() {
    let text = "1 1795812569.0 chdir(\"/d\") = 0\n\
        1 1795812569.1 openat(AT_FDCWD, \"a\", O_RDONLY) = 3\n\
        1 1795812569.2 vfork( <unfinished ...>\n\
        2 1795812569.3 read(3, \"\", 8) = 8\n\
        2 1795812569.4 close(3) = 0\n\
        2 1795812569.5 execve(\"/opt/tool\", [\"tool\"], 0x7 /* 1 var */) = 0\n\
        1 1795812569.6 <... vfork resumed>) = 2\n\
        2 1795812569.7 stat(\"b\", 0x7) = -1 ENOENT (No such file or directory)\n\
        2 1795812569.8 exit_group(0) = ?\n\
        1 1795812569.8 clone(child_stack=0x7, flags=CLONE_VM|CLONE_FS|CLONE_FILES) = 3\n\
        3 1795812569.9 close(3) = 0\n\
        1 1795812570.0 read(3, \"\", 8) = 8\n";
    let mut trace = CallTrace::default();
    trace.read("x", &mut text.as_bytes()).unwrap();
    let workload = trace.finish().unwrap();
    let found: Vec<String> =
        workload.components.iter().map(|it| format!("{}: {}", it.name, mix(it))).collect();
    // The thread closed the file of process 1, so that the last read is of an unknown one.
    assert_eq!(found, ["program: random_read 10000", "tool: neg_stat 10000"]);
    assert!(workload.notes[0].contains("open before the trace"), "{:?}", workload.notes);
}

#[test]
fn what_cannot_be_read_is_said() {
    let read = |text: &str| {
        let mut trace = CallTrace::default();
        trace.read("x", &mut text.as_bytes()).map_err(|error| error.to_string())?;
        trace.finish()
    };
    for (text, words) in [
        ("7 close(3) = 0\n", "line 1: a call has no time"),
        ("7      0.000010 close(3) = 0\n", "since the line before"),
        ("", "there is no call in it"),
        ("7 1795812569.0 +++ exited with 0 +++\n", "there is no call in it"),
        ("7 1795812569.0 getpid() = 7\n", "no call of it works on files"),
    ] {
        let why = read(text).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    let cut = "7 1795812569.0 stat(\"/d/a\", 0x7) = 0\nnoise\n7 1795812569.1 getpid() = 7\n\
               7 1795812569.1 stat(\"/d/";
    let workload = read(cut).unwrap();
    assert_eq!(workload.n_unclear, 2);
    assert!(workload.notes[0].ends_with("the first is `x`, line 2"), "{:?}", workload.notes);
}

/// Two looks ten seconds apart, by hand from the kernel's format: 2,000 reads of 8 KiB, 1,000
/// writes of 4 KiB, 200 names looked for, 50 of them in vain, 2,000 looks at files, 100 made and
/// removed.
#[test]
fn counters_of_a_mount_become_a_workload() {
    let seed = include_bytes!("../../../../fuzz/seeds/capture_mountstats/two.mountstats");
    let mut mounts = MountCounts::default();
    mounts.read(&mut &seed[..]).unwrap();
    let workload = mounts.finish(&[]).unwrap();
    let component = only(&workload);
    let mut counted = component.counted.iter().map(|(op, n)| (op.name(), *n)).collect::<Vec<_>>();
    counted.sort_unstable();
    let expected = [
        ("create", 100),
        ("neg_stat", 50),
        ("random_read", 2000),
        ("random_write", 1000),
        ("stat", 2150),
        ("unlink", 100),
    ];
    assert_eq!(counted, expected);
    assert_eq!(
        (&component.read_sizes[..], &component.write_sizes[..]),
        (&[(8192, 2000)][..], &[(4096, 1000)][..])
    );
    // 10 s of reads, 5 s of writes, 4 s of looks at files and some more: two at a time.
    assert_eq!((&*component.name, component.instances), ("vol", 2));
    assert!((component.rate - 270.0).abs() < 1e-9, "{}", component.rate);
    check_plan(&workload);
    let mut one = MountCounts::default();
    let half = seed.len() / 2;
    one.read(&mut &seed[..half]).unwrap();
    assert!(one.finish(&[]).unwrap_err().contains("before and after"));
}

/// A mount may have any name.
#[test]
fn a_mount_with_control_characters_is_named_without_them() {
    let seed = include_str!("../../../../fuzz/seeds/capture_mountstats/two.mountstats");
    let text = format!(
        "device nas:/b mounted on /\u{1}b\u{7f}\u{85} with fstype nfs statvers=1.1\n\
         \tage:\t9\n{seed}"
    );
    let mut mounts = MountCounts::default();
    mounts.read(&mut text.as_bytes()).unwrap();
    let workload = mounts.finish(&[]).unwrap();
    let plan = workload.to_toml("unit", "x");
    assert!(plan.contains("`/?b??` was mounted anew"), "{plan}");
    check_plan(&workload);
}

/// Looks at a mount ten seconds apart whose counters grow to these, and the end of a look.
fn mount_with(age: &str, bytes: &str, read: &str) -> Result<Workload, String> {
    let look = |age: &str, bytes: &str, read: &str| {
        format!(
            "device nas:/vol mounted on /mnt/vol with fstype nfs statvers=1.1\n\tage:\t{age}\n\
             \tbytes:\t0 0 0 0 {bytes} 0 0 0\n\tREAD: {read} 0\n"
        )
    };
    let text = look("100", "0", "0 0 0 0 0 0 0 0") + &look(age, bytes, read);
    let mut mounts = MountCounts::default();
    mounts.read(&mut text.as_bytes()).unwrap();
    mounts.finish(&[])
}

/// What damaged counters say is left out, and what is much is within what a plan can say.
#[test]
fn counters_out_of_reach_are_no_workload() {
    let huge = u64::MAX.to_string();
    let calls = |n: &str, ms: &str| format!("{n} 1 0 0 0 0 0 {ms}");
    for (age, bytes, read) in [
        ("110", "4096", calls("1", "99999999999999999")),
        ("110", &*huge, calls("1", "1")),
        ("99999999999999", "4096", calls("1", "1")),
        ("110", "4096", calls("1800000000000001", "1")),
        (&*huge, &*huge, calls(&huge, &huge)),
    ] {
        let error = mount_with(age, bytes, &read).unwrap_err();
        assert!(error.contains("`/mnt/vol` has counters that no client reaches"), "{error}");
    }
    for (ms, n, said) in [
        ("900000000000", "1000", "a plan has at most 65536"),
        ("1", "1000000000000", "more than a plan can ask for"),
    ] {
        let workload = mount_with("110", "4096", &calls(n, ms)).unwrap();
        let notes = &only(&workload).notes;
        assert!(notes.iter().any(|note| note.contains(said)), "{notes:?}");
        check_plan(&workload);
    }
}

/// A call in three weeks is a rate that no plan can have; few calls of many processes are one.
#[test]
fn what_happens_seldom_has_a_rate_that_a_plan_can_have() {
    let read = "pread64(3</d/f>, \"\", 4096, 0) = 4096";
    for (n, s, n_instances, is_noted) in
        [(1, 2_000_000, 1, true), (3, 10_000, 1, true), (3, 3_000, 1, true), (4, 2_000, 4, false)]
    {
        let mut text = String::new();
        for pid in 1..=n {
            text.push_str(&format!("{pid} 1000000000.000000 {read}\n"));
        }
        for pid in 1..=n {
            text.push_str(&format!("{pid} {}.000000 close(3</d/f>) = 0\n", 1_000_000_000 + s));
        }
        let mut trace = CallTrace::new(Scope::default());
        trace.read("x", &mut text.as_bytes()).unwrap();
        let workload = trace.finish().unwrap();
        let component = only(&workload);
        assert_eq!(component.instances, n_instances, "{component:?}");
        let notes = &component.notes;
        let has_note = notes.iter().any(|note| note.contains("the least rate"));
        assert_eq!(has_note, is_noted, "{notes:?}");
        check_plan(&workload);
    }
}

/// Times in whole seconds, all of one second: nothing says how long it took.
#[test]
fn calls_of_one_moment_have_no_rate() {
    let text = "7 12:00:01 pread64(3</d/f>, \"\", 4096, 0) = 4096\n\
                7 12:00:01 pread64(3</d/f>, \"\", 4096, 0) = 4096\n";
    let mut trace = CallTrace::new(Scope::default());
    trace.read("x", &mut text.as_bytes()).unwrap();
    let error = trace.finish().unwrap_err();
    assert!(error.contains("trace for longer, with `strace -f -ttt`"), "{error}");
}

/// Bytes that are copied between files show how large these are.
#[test]
fn copies_show_the_sizes_of_files() {
    let calls = [
        "openat(AT_FDCWD, \"/d/a\", O_RDONLY) = 3",
        "openat(AT_FDCWD, \"/d/b\", O_WRONLY|O_CREAT) = 4",
        "copy_file_range(3, NULL, 4, NULL, 1048576, 0) = 65536",
        "close(3) = 0",
        "close(4) = 0",
    ];
    let workload = trace(&calls, &[]).unwrap();
    check_plan(&workload);
    let sizes = &only(&workload).file_sizes;
    assert!(sizes.iter().any(|(bytes, _)| *bytes == 65_536), "{sizes:?}");
}

proptest! {
    /// Whatever a program does, the plan that comes of it has no mistake.
    #[test]
    fn every_workload_is_a_plan(
        calls in prop::collection::vec((0usize..14, 0u64..6, 0u64..200_000), 1..80),
    ) {
        let mut lines = Vec::new();
        for (what, file, number) in calls {
            let fd = 3 + file;
            let name = format!("/d/{}/f{file}", file % 3);
            lines.push(match what {
                0 => format!("openat(AT_FDCWD, \"{name}\", O_RDONLY) = {fd}"),
                1 => format!("openat(AT_FDCWD, \"{name}\", O_RDWR|O_CREAT|O_TRUNC) = {fd}"),
                2 => format!("openat(AT_FDCWD, \"{name}\", O_WRONLY|O_APPEND|O_DIRECT) = {fd}"),
                3 => format!("close({fd}) = 0"),
                4 => format!("read({fd}, \"\", 65536) = {}", number.min(65536)),
                5 => format!("write({fd}, \"\", {number}) = {number}"),
                6 => format!("pread64({fd}, \"\", 4096, {number}) = 4096"),
                7 => format!("pwrite64({fd}, \"\", 4096, {number}) = 4096"),
                8 => format!("unlink(\"{name}\") = 0"),
                9 => format!("stat(\"{name}\", {{st_mode=S_IFREG, st_size={}}}) = 0", number << 12),
                10 => format!("rename(\"{name}\", \"/d/0/f0\") = 0"),
                11 => format!("ftruncate({fd}, {number}) = 0"),
                12 => "rmdir(\"/d/9\") = 0".to_owned(),
                _ => format!("mmap(NULL, {number}, PROT_READ, MAP_SHARED, {fd}, 0) = 0x7f"),
            });
        }
        let calls: Vec<&str> = lines.iter().map(String::as_str).collect();
        if let Ok(workload) = trace(&calls, &[]) {
            let text = workload.to_toml("unit", "app.strace");
            let parsed = native::parse_text("u.toml", &text, &LowerOptions::default(), &NO_HOST);
            prop_assert!(!parsed.has_errors(), "{text}\n{:?}", parsed.diagnostics);
            for component in &workload.components {
                let sum: u64 = component.mix.iter().map(|(_, part)| part).sum();
                prop_assert_eq!(sum, 10_000);
            }
        }
    }
}

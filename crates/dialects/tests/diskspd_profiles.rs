//! Profiles of diskspd in XML: what is read of them, what stands beside `-X`, and that a profile of
//! a command line means the same as the line.

use dialects::{FilesOnly, Overrides, ReadPlan, Request, diskspd, find_dialect, likeliest};
use plan::files::{Size, SyncMode};
use plan::workload::Distribution;
use plan::{Diagnostic, Job, Severity};
use proptest::prelude::*;

const REQUEST: Request<'static> = Request {
    files: &[],
    sections: &[],
    overrides: &Overrides { set: Vec::new(), remap: Vec::new(), load: None },
    all_hosts_local: false,
    is_to_run: true,
};

/// Reads one of two files.
fn read_with(script: &str, profile: &[u8], file: &str, request: Request<'_>) -> ReadPlan {
    let loader = FilesOnly(|path: &str| match path {
        "a.cmd" => Ok(script.as_bytes().to_vec()),
        "p.xml" | "C:/p.xml" => Ok(profile.to_vec()),
        _ => Err(dialects::LoadError::NotFound),
    });
    let diskspd = find_dialect("diskspd").expect("it is a language");
    diskspd.read(&Request { files: &[file.to_owned()], ..request }, &loader)
}

fn read(profile: &str) -> ReadPlan {
    read_with("", profile.as_bytes(), "p.xml", REQUEST)
}

fn errors(read: &ReadPlan) -> Vec<Diagnostic> {
    let all = [&read.parsed.diagnostics[..], &read.parsed.refusals].concat();
    all.into_iter().filter(|it| it.severity == Severity::Error).collect()
}

#[track_caller]
fn jobs_of(read: &ReadPlan) -> Vec<Job> {
    assert_eq!(errors(read), []);
    read.parsed.plan.jobs().cloned().collect()
}

/// A profile of one time span, as its own file has it.
fn profile_of(time_span: &str, target: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Profile>\n<TimeSpans>\n<TimeSpan>\n\
         {time_span}\n<Targets>\n<Target>\n<Path>/m/f</Path>\n<FileSize>1073741824</FileSize>\n\
         {target}\n</Target>\n</Targets>\n</TimeSpan>\n</TimeSpans>\n</Profile>\n"
    )
}

#[track_caller]
fn job_of(time_span: &str, target: &str) -> Job {
    let jobs = jobs_of(&read(&profile_of(time_span, target)));
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    job.clone()
}

const TWO: &str = "<Profile><TimeSpans>
  <TimeSpan><Duration>30</Duration><Warmup>0</Warmup><Targets>
    <Target><Path>C:\\a.dat</Path><BlockSize>8192</BlockSize><FileSize>1048576</FileSize>
      <Random>8192</Random><WriteRatio>30</WriteRatio><RequestCount>32</RequestCount>
      <DisableAllCache>true</DisableAllCache><ThreadsPerFile>2</ThreadsPerFile></Target>
    <Target><Path>*1</Path><FileSize>1048576</FileSize><WriteRatio>100</WriteRatio></Target>
  </Targets></TimeSpan>
  <TimeSpan><Targets><Target><Path>*1</Path><FileSize>1048576</FileSize></Target></Targets>
  </TimeSpan>
</TimeSpans></Profile>";

#[test]
fn time_spans_are_steps_and_targets_are_jobs() {
    let remap = [("C:", "/mnt/c"), ("*1", "/dev/sdz")];
    let remap = remap.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
    let overrides = Overrides { remap, ..Overrides::default() };
    let request = Request { overrides: &overrides, ..REQUEST };
    let read = read_with("", TWO.as_bytes(), "p.xml", request);
    let [data, log, alone] = &jobs_of(&read)[..] else { panic!("{:?}", read.parsed.plan) };
    let steps: Vec<&str> = read.parsed.plan.steps.iter().map(|it| &*it.name).collect();
    assert_eq!(steps, ["time span 1", "time span 2"]);
    assert_eq!((&*data.files.names[0], data.n_workers), ("/mnt/c/a.dat", 2));
    assert_eq!((data.load.queue_depth, data.workload.read_pct), (32, 70.0));
    assert!(data.files.direct && data.files.sync == SyncMode::Dsync);
    assert!(data.workload.access.random && !log.workload.access.random);
    assert_eq!((data.limits.runtime_ns, data.limits.ramp_ns), (Some(30_000_000_000), 0));
    assert_eq!((&*log.files.names[0], log.load.queue_depth), ("/dev/sdz", 2));
    assert!(log.workload.access.write && !log.workload.access.read);
    // What is not said is as on a command line.
    assert_eq!(alone.limits.runtime_ns, Some(10_000_000_000));
    assert_eq!(alone.limits.ramp_ns, 5_000_000_000);
}

#[test]
fn it_is_recognised_whatever_wrote_it() {
    let of = |text: &str| likeliest(text).map(dialects::Dialect::name);
    assert_eq!(of(TWO), Some("diskspd"));
    assert_eq!(of(&format!("\u{feff}<?xml version=\"1.0\"?>{TWO}")), Some("diskspd"));
    assert_eq!(of("<Profile>of a user</Profile>"), None);
    let plain = profile_of("", "<BlockSize>4096</BlockSize>").replace('\n', "\r\n");
    let wide = format!("\u{feff}{}", plain.replace("utf-8", "utf-16"));
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_be_bytes).collect();
    // Results hold the profile that they are of.
    let inner = plain.split_once("?>").expect("a head").1;
    let results = format!(
        "<Results><System/>{inner}<TimeSpan><ThreadCount>1</ThreadCount></TimeSpan></Results>"
    );
    for bytes in [plain.as_bytes(), &wide, results.as_bytes()] {
        let jobs = jobs_of(&read_with("", bytes, "p.xml", REQUEST));
        assert_eq!(jobs[0].workload.block_size.read.min(), 4096);
    }
}

#[test]
fn elements_mean_what_options_do() {
    let job = job_of("<RandSeed>7</RandSeed><CalculateIopsStdDev>1</CalculateIopsStdDev>", "");
    assert_eq!((job.workload.seed, job.reporting.iops_sample_ms), (7, 1000));
    let job = job_of("<ThreadCount>3</ThreadCount>", "<Throughput unit=\"IOPS\">9</Throughput>");
    assert_eq!((job.n_workers, job.load.rate_total_iops), (3, Some(27.0)));
    let job = job_of("", "<StrideSize>131072</StrideSize><ParallelAsyncIO>true</ParallelAsyncIO>");
    assert_eq!((job.workload.sequential_step_bytes, job.n_workers), (65_536, 2));
    let job = job_of("", "<BaseFileOffset>4096</BaseFileOffset><MaxFileSize>1052672</MaxFileSize>");
    assert_eq!(job.files.offset, Size::Bytes(4096));
    assert_eq!(job.files.size, Some(Size::Bytes(1 << 20)));
    let spread = "<Random>0</Random><Distribution><Percent><Range IO=\"90\">10</Range>\
                  <Range IO=\"10\">90</Range></Percent></Distribution>";
    let zones = Distribution::Zoned(vec![(90, 10), (10, 90)]);
    assert_eq!(job_of("", spread).workload.distribution.read, zones);
    let cpus = "<Affinity><AffinityGroupAssignment Group=\"0\" Processor=\"2\"/></Affinity>";
    assert_eq!(job_of(cpus, "").process.cpus, [2]);
    let writes = |inner: &str| job_of("", &format!("<WriteRatio>100</WriteRatio>{inner}")).buffers;
    let content = |inner: &str| format!("<WriteBufferContent>{inner}</WriteBufferContent>");
    assert!(writes(&content("<Pattern>zero</Pattern>")).zero);
    assert!(!writes(&content("<Pattern>sequential</Pattern>")).pattern.is_empty());
    let source = "<Pattern>random</Pattern><RandomDataSource><SizeInBytes>1048576</SizeInBytes>\
                  </RandomDataSource>";
    assert!(writes(&content(source)).pattern.is_empty());
    let random = "<RandomWriteData>true</RandomWriteData>";
    assert_eq!(job_of(random, "<WriteRatio>100</WriteRatio>").buffers.refill, Some(true));
}

/// A thread with `-O` draws a target for each I/O.
#[test]
fn targets_of_one_pool_are_worked_on_alike() {
    let target = |path: &str, more: &str| {
        format!("<Target><Path>{path}</Path><FileSize>1048576</FileSize>{more}</Target>")
    };
    let profile = |second: &str| {
        format!(
            "<Profile><TimeSpans><TimeSpan><ThreadCount>4</ThreadCount>\
             <RequestCount>8</RequestCount><Targets>{}{}</Targets></TimeSpan></TimeSpans>\
             </Profile>",
            target("/m/a", ""),
            target("/m/b", second)
        )
    };
    let jobs = jobs_of(&read(&profile("<Weight>1</Weight>")));
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((job.n_workers, job.load.queue_depth, job.files.names.len()), (4, 8, 2));
    for second in ["<Weight>2</Weight>", "<WriteRatio>9</WriteRatio>"] {
        let found = errors(&read(&profile(second)));
        assert_eq!(found.iter().map(|it| it.code).collect::<Vec<_>>(), ["not-supported-yet"]);
    }
}

#[test]
fn some_options_stand_beside_a_profile() {
    let run = |line: &str| read_with(line, TWO.as_bytes(), "a.cmd", REQUEST);
    let read = run("diskspd -XC:\\p.xml -d3 -W1 -z9 -Rxml -v /m/log\n");
    let remapped = errors(&read);
    assert!(remapped.iter().all(|it| it.code == "unmapped-target"), "{remapped:?}");
    let steps = &read.parsed.plan.steps;
    let options = "-XC:\\p.xml -d3 -W1 -z9 -Rxml -v";
    let names: Vec<String> = steps.iter().map(|it| it.name.clone()).collect();
    assert_eq!(names, [1, 2].map(|n| format!("{options}, time span {n}")));
    for job in read.parsed.plan.jobs() {
        assert_eq!(
            (job.limits.runtime_ns, job.limits.ramp_ns),
            (Some(3_000_000_000), 1_000_000_000)
        );
        assert_eq!(job.workload.seed, 9);
    }
    assert_eq!(read.parsed.plan.jobs().filter(|job| job.files.names == ["/m/log"]).count(), 2);
    let of = |line: &str| {
        errors(&run(line))
            .iter()
            .map(|it| (it.code, it.message.clone(), it.help.concat()))
            .collect::<Vec<_>>()
    };
    let others = of("diskspd -b8K -Xp.xml -t4 -Sh /m/log\n");
    let helps: Vec<&str> = others.iter().map(|it| &*it.2).collect();
    let expected = ["BlockSize", "ThreadsPerFile", "DisableAllCache"];
    assert_eq!(helps, expected.map(|it| format!("a profile says it by `<{it}>`")));
    assert!(others.iter().all(|it| it.0 == "conflict"));
    assert_eq!(of("diskspd -Xq.xml /m/log\n")[0].0, "file-unreadable");
    assert_eq!(of("diskspd -Xp.xml -Xp.xml /m/log\n")[0].0, "bad-value");
    assert_eq!(of("diskspd -X /m/log\n")[0].0, "bad-value");
    assert_eq!(of("diskspd -Xp.xml /m/log /m/more\n")[0].0, "unused-target");
    let none = of("diskspd -Xp.xml --remap\n");
    assert!(!none.is_empty());
    // Without targets their places are open.
    let open = of("diskspd -Xp.xml\n");
    assert!(open.iter().any(|it| it.2.contains("`--remap '*1=")), "{open:?}");
}

#[test]
fn time_spans_are_chosen_by_their_numbers() {
    let names = |line: &str, file: &str, wanted: &str| {
        let sections = [wanted.to_owned()];
        let request = Request { sections: &sections, is_to_run: false, ..REQUEST };
        let read = read_with(line, TWO.as_bytes(), file, request);
        read.parsed.plan.steps.iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("", "p.xml", "2"), ["time span 2"]);
    assert_eq!(names("", "p.xml", "time span 1"), ["time span 1"]);
    let line = "diskspd -b4K -c1M f\ndiskspd -Xp.xml /m/g\n";
    let both = ["-Xp.xml, time span 1", "-Xp.xml, time span 2"];
    assert_eq!(names(line, "a.cmd", "2"), both);
    assert_eq!(names(line, "a.cmd", "-Xp.xml"), both);
    assert_eq!(names(line, "a.cmd", both[1]), both[1..]);
    assert_eq!(names(line, "a.cmd", "1"), ["-b4K -c1M"]);
}

/// Checks the first mistake of a profile: its code, line and column, and a part of its message.
#[track_caller]
fn check_mistake(profile: &str, code: &str, at: (u32, u32), message: &str) {
    let found = errors(&read(profile));
    let Some(first) = found.first() else { panic!("{profile}: it has none") };
    let place = first.span.as_ref().map(|span| (span.line, span.column));
    assert_eq!((first.code, place), (code, Some(at)), "{profile}: {found:?}");
    assert!(first.message.contains(message), "{profile}: {first:?}");
}

#[test]
fn mistakes_have_places() {
    let of_target = |target: &str| profile_of("", target);
    let of_span = |time_span: &str| profile_of(time_span, "");
    // A target's elements begin in line 10, a time span's in line 5.
    let cases = [
        (of_target("  <BlockSize>x</BlockSize>"), "bad-value", (10, 3), "`x` is no whole number"),
        (of_target("<BlockSize>0</BlockSize>"), "bad-value", (10, 1), "`0` is not from 1"),
        (of_target("<WriteRatio>101</WriteRatio>"), "bad-value", (10, 1), "not from 0 to 100"),
        (of_target("<WriteThrough>yes</WriteThrough>"), "bad-value", (10, 1), "neither `true`"),
        (of_target("<Blocksize>1</Blocksize>"), "unknown-element", (10, 1), "no element"),
        (of_target("<Path>/m/g</Path>"), "bad-value", (10, 1), "given twice"),
        (of_target("<Throughput unit=\"MB\">1</Throughput>"), "bad-value", (10, 1), "unit `MB`"),
        (of_target("<BlockSize kib=\"1\">9</BlockSize>"), "bad-value", (10, 1), "attribute `kib`"),
        (of_target("words"), "bad-value", (7, 1), "`words` is no element"),
        (of_target("<Distribution/>"), "missing-element", (10, 1), "`<Percent>` is missing"),
        (of_target("<WriteBufferContent/>"), "missing-element", (10, 1), "`<Pattern>`"),
        (of_target("<FlushType>Now</FlushType>"), "bad-value", (10, 1), "`Now` is none of"),
        (of_target("<ThreadTargets/>"), "not-supported-yet", (10, 1), "single threads"),
        (of_span("<Duration>1h</Duration>"), "bad-value", (5, 1), "`1h` is no whole number"),
        (of_span("<WriteRatio>9</WriteRatio>"), "unknown-element", (5, 1), "no element"),
        (of_span("<Affinity><Cpu/></Affinity>"), "unknown-element", (5, 11), "no element `<Cpu>`"),
        ("<Profile><TimeSpans/></Profile>".to_owned(), "missing-element", (1, 10), "`<TimeSpan>`"),
        ("<Profile>\n<TimeSpan></a>".to_owned(), "bad-xml", (2, 11), "no XML"),
        (
            "<Other><TimeSpan>\n<Profiles/></TimeSpan></Other>".to_owned(),
            "not-a-profile",
            (1, 1),
            "`<Other>`",
        ),
    ];
    for (profile, code, at, message) in cases {
        check_mistake(&profile, code, at, message);
    }
    // In the words of profiles.
    let both = "<StrideSize>4096</StrideSize><Random>4096</Random>";
    check_mistake(&of_target(both), "conflict", (10, 1), "`<StrideSize>` is sequential I/O");
    let pool = profile_of("<ThreadCount>2</ThreadCount>", "<ThreadsPerFile>2</ThreadsPerFile>");
    check_mistake(&pool, "conflict", (10, 1), "`<ThreadCount>` is the number of all threads");
    let mapped = "<MemoryMappedIo>true</MemoryMappedIo><DisableOSCache>true</DisableOSCache>";
    check_mistake(&of_target(mapped), "conflict", (10, 38), "goes through the cache");
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = profile_of(
        "<Duration>x</Duration><Bad/>",
        "<Random>-1</Random>\n<RandomRatio>100</RandomRatio>\n<BurstSize>4</BurstSize>",
    );
    let read = read(&text);
    let places: Vec<_> = errors(&read)
        .iter()
        .map(|it| it.span.as_ref().map_or((0, 0), |span| (span.line, span.column)))
        .collect();
    assert_eq!(places, [(5, 1), (5, 23), (10, 1), (11, 1), (12, 1)]);
    assert_eq!(read.parsed.plan.jobs().count(), 0);
}

#[test]
fn large_and_nested_texts_end_soon() {
    let deep = "<a>".repeat(300_000);
    let wide = format!("<Profile><TimeSpans>{}", "<TimeSpan/>".repeat(90_000));
    let entity = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]>\
                  <Profile><TimeSpan/>&c;</Profile>";
    let long = format!("<Profile>{}<TimeSpan/></Profile>", " ".repeat(5 << 20));
    let many = format!(
        "<Profile><TimeSpans>{}</TimeSpans></Profile>",
        "<TimeSpan><x/></TimeSpan>".repeat(60_000)
    );
    for text in [&*deep, &wide, entity, &long, &many] {
        let text = format!("<Profile><TimeSpan/></Profile>{text}");
        assert!(!errors(&read(&text)).is_empty());
    }
    for text in [&*wide, entity, &long, &many] {
        assert!(!errors(&read(text)).is_empty());
    }
}

/// Cut anywhere, changed anywhere: mistakes, and no panic.
#[test]
fn no_text_is_a_panic() {
    for at in (0..TWO.len()).filter(|at| TWO.is_char_boundary(*at)) {
        let _ = read(&format!("<Profile><TimeSpan>{}", &TWO[at..]));
        let _ = read(&TWO[..at]);
        for other in ["<", ">", "/", "&", "\"", "*", "99999999999999999999", "é"] {
            let _ = read(&format!("{}{other}{}", &TWO[..at], &TWO[at + 1..]));
        }
    }
}

/// Options of command lines, of which each may be left out. A profile cannot say what only the
/// program for Linux has, nor that a seed is drawn.
fn any_options() -> impl Strategy<Value = Vec<String>> {
    let one_of = |words: &'static [&'static str]| {
        proptest::option::of(proptest::sample::select(words)).prop_map(|it| it.map(str::to_owned))
    };
    let number = |letter: &'static str, most: u64| {
        proptest::option::of(1..=most).prop_map(move |it| it.map(|n| format!("{letter}{n}")))
    };
    let walks = one_of(&["-r", "-r4K", "-rs30", "-s", "-s128K", "-si", "-p", "-T1M", "-s4K"]);
    let spread = one_of(&["-rdpct90/10:0/10:5/20", "-rdabs90/1M", "-rdabs10/64K:20/128K"]);
    let caches = one_of(&["-Sb", "-S", "-Sh", "-Sr", "-Suw", "-Sw", "-Sm", "-Smw", "-h"]);
    let contents = one_of(&["-Z", "-Zr", "-Z1M", "-Z64K"]);
    let threads = one_of(&["-t3", "-F2", "-F3 -O5", "-t1", "-O4"]);
    let others = one_of(&["-n", "-a0,2", "-ag0,1", "-x", "-l", "-Nv", "-ft", "-fr", "-fs"]);
    let pace = one_of(&["-g1000", "-g50i", "-i10 -j5", "-i10"]);
    let times = (number("-d", 9), number("-W", 9), number("-C", 9), number("-D", 2000));
    let more = (number("-z", 99), number("-o", 40), number("-w", 100), number("-I", 3));
    let sizes =
        (one_of(&["-b4K", "-b64K", "-b512"]), one_of(&["-B1M", "-B1M:4M", "-f6M", "-B64K -f7M"]));
    let latency = one_of(&["-L", "-v", "-Rtext", "-Rxml"]);
    let words = (walks, spread, caches, contents, threads, others, pace, latency);
    (words, times, more, sizes).prop_map(|(words, times, more, sizes)| {
        let (a, b, c, d, e, f, g, h) = words;
        let (i, j, k, l) = times;
        let (m, n, o, p) = more;
        let (q, r) = sizes;
        let all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r];
        all.into_iter().flatten().collect()
    })
}

fn plain(read: &ReadPlan) -> Vec<Job> {
    read.parsed.plan.jobs().map(|job| Job { options: Vec::new(), ..job.clone() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The profile that `-Rpxml` prints of a line is read back to the plan of the line.
    #[test]
    fn a_profile_of_a_line_means_the_same(options in any_options(), n_targets in 1..4_usize) {
        let targets = ["/m/a", "/m/b c", "/m/d&<e>\"'"];
        let targets: Vec<String> = targets[..n_targets].iter().map(|it| (*it).to_owned()).collect();
        let words = options.iter().flat_map(|it| it.split(' '));
        let options: Vec<String> = words.map(str::to_owned).collect();
        let line = |last: &str| {
            let options = [&options[..], &["-c8M".to_owned(), last.to_owned()]].concat();
            diskspd::script_of(&[&options[..], &targets].concat())
        };
        let script = line("-v");
        let looked_at = Request { is_to_run: false, ..REQUEST };
        let of_line = read_with(&script, b"", "a.cmd", looked_at);
        let profile = diskspd::profile(&line("-Rpxml"), REQUEST.overrides, &dialects::NO_HOST);
        prop_assert_eq!(profile.is_some(), errors(&of_line).is_empty(), "{}", script);
        let Some(profile) = profile else { return Ok(()) };
        let of_profile = read_with("", profile.as_bytes(), "p.xml", looked_at);
        prop_assert_eq!(errors(&of_profile), [], "{}{}", script, profile);
        prop_assert_eq!(plain(&of_line), plain(&of_profile), "{}{}", script, profile);
    }
}

//! Job files: sections, comments, includes, variables, defaults, groups and steps.

mod support;

use dialects::Parsed;
use dialects::fio::{parse_args, parse_file, parse_text};
use dialects::{LowerOptions, Overrides};
use plan::EngineKind;
use plan::workload::BlockSize;
use support::fio::parse;
use support::{MapHost, all_shown};

/// Parses `main.fio` of the host and returns its findings.
#[track_caller]
fn file(host: &MapHost) -> Parsed {
    parse_file("main.fio", &LowerOptions::default(), host)
}

#[track_caller]
fn check_names(text: &str, expected: &[&str]) {
    let parsed = parse(text);
    let names: Vec<&str> = parsed.plan.jobs().map(|job| job.name.as_str()).collect();
    assert_eq!(names, expected, "{}", all_shown(&parsed.diagnostics));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
}

/// Checks the block size for reads of each job, in bytes.
#[track_caller]
fn check_block_sizes(parsed: &Parsed, expected: &[u32]) {
    let sizes: Vec<u32> =
        parsed.plan.jobs().map(|job| job.workload.block_size.read.min()).collect();
    assert_eq!(sizes, expected, "{}", all_shown(&parsed.diagnostics));
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
}

/// Checks group ids and the number of jobs per step.
#[track_caller]
fn check_groups(text: &str, groups: &[u32], steps: &[usize]) {
    let parsed = parse(text);
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let found: Vec<u32> = parsed.plan.jobs().map(|job| job.group_id).collect();
    assert_eq!(found, groups, "groups");
    let found: Vec<usize> = parsed.plan.steps.iter().map(|step| step.jobs.len()).collect();
    assert_eq!(found, steps, "steps");
}

/// Checks the findings of a text.
#[track_caller]
fn check_findings(text: &str, expected: &str) {
    assert_eq!(all_shown(&parse(text).diagnostics), expected.trim());
}

/// fio 3.33: `[s]` with `name=third` makes `s.0.0`.
#[test]
fn files_are_named_after_the_section() {
    let format_of = |text: &str| {
        let parsed = parse(text);
        assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
        parsed.plan.jobs().next().and_then(|job| job.files.name_format.clone())
    };
    assert_eq!(format_of("[s]\nsize=4k\n"), None);
    assert_eq!(format_of("[s]\nname=s\nsize=4k\n"), None);
    assert_eq!(format_of("[s]\nname=third\nfilename=f\nsize=4k\n"), None);
    let default = format_of("[s/t]\nname=third\nsize=4k\n");
    assert_eq!(default.as_deref(), Some("s_t.$jobnum.$filenum"));
    let own = format_of("[s]\nname=third\nfilename_format=a-$JobName-$jobnum\nsize=4k\n");
    assert_eq!(own.as_deref(), Some("a-s-$jobnum"));
}

#[test]
fn sections() {
    check_names("[a]\n[b]\n", &["a", "b"]);
    check_names("[a]\n[a]\n", &["a", "a"]);
    check_names("[with blanks]\n", &["with blanks"]);
    check_names("[ a ]\n", &[" a "]);
    check_names("[a]b]\n", &["a]b"]);
    check_names("[a]\nname=other\n", &["other"]);
    check_names("[global]\nname=other\n[a]\n", &["a"]);
    check_names("[global2]\n[a]\n[globalx]\n", &["a"]);
    check_names("[${NAME}]\n", &["${NAME}"]);
    // fio takes all between the bracket and the last character, whatever that is.
    check_names("[a]  xx\n", &["a]  x"]);
    check_names("[abc\n", &["ab"]);
    check_names("[]\n", &[""]);
    check_names("[a;b]\n", &[""]);
    let long = "x".repeat(300);
    check_names(&format!("[{long}]\n"), &[&long[..255]]);
}

#[test]
fn comments_and_blanks() {
    for text in [
        "; c\n#c\n  ;c\n\t#c\n\n[a]\nbs=8k\n",
        "[a] ; comment\nbs=8k ; comment # more\n",
        "[a]\nbs=8k;16k\n",
        "[a]\nbs=8k#16k\n",
        "[a]\n  bs  =  8k  \r\n",
        "[a]\n\tbs\t=\t8k",
        "\u{feff}[a]\nbs=8k\n",
    ] {
        check_block_sizes(&parse(text), &[8192]);
    }
    check_findings(
        "[a]\nbuffer_pattern=\"a#b\"\n",
        "warning comment-in-quotes 2:16 a `;` or `#` starts a comment even within quotes; the \
         value \
         ends before it\n\
         error bad-value 2:16 value `\"a` of `buffer_pattern` lacks a closing \"",
    );
}

#[test]
fn defaults_reach_later_sections_only() {
    let text = "[a]\n[global]\nbs=8k\n[b]\n[global]\nrw=write\n[c]\n[global2]\nbs=16k\n[d]\n";
    let parsed = parse(text);
    check_block_sizes(&parsed, &[4096, 8192, 8192, 16384]);
    let writes: Vec<bool> = parsed.plan.jobs().map(|job| job.workload.access.write).collect();
    assert_eq!(writes, [false, false, true, true]);
    let globals = [("bs", "8k"), ("rw", "write"), ("bs", "16k")];
    let globals: Vec<_> = globals.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(parsed.plan.global_options, globals);
}

#[test]
fn options_as_written_have_canonical_names() {
    let parsed = parse("[a]\nblocksize=4k\ntimeout=5\nnorandommap\nbs=8k\n");
    let job = parsed.plan.jobs().next().unwrap();
    let options: Vec<_> = job.options.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(options, [("bs", "4k"), ("runtime", "5"), ("norandommap", ""), ("bs", "8k")]);
    check_block_sizes(&parsed, &[8192]);
}

#[test]
fn precedence_is_not_file_order() {
    // Units come before sizes, and the engine before its switches.
    check_block_sizes(&parse("[a]\nbs=4k\nkb_base=1000\n"), &[4000]);
    let parsed = parse("[a]\nuserspace_reap\nioengine=libaio\n");
    let job = parsed.plan.jobs().next().unwrap();
    assert!(job.engine.userspace_reap && job.engine.kind == EngineKind::Aio);
    // bssplit is stronger than bs, wherever it stands.
    let parsed = parse("[a]\nbssplit=4k/40:8k/60\nbs=16k\n");
    let job = parsed.plan.jobs().next().unwrap();
    assert_eq!(job.workload.block_size.read, BlockSize::Split(vec![(4096, 40), (8192, 60)]));
    let parsed = parse("[a]\ndirect=1\nbuffered=1\n[b]\nbuffered=1\ndirect=1\n");
    let direct: Vec<bool> = parsed.plan.jobs().map(|job| job.files.direct).collect();
    assert_eq!(direct, [false, true]);
}

#[test]
fn includes() {
    let host = MapHost::with(
        &[
            ("main.fio", "[a]\ninclude inc.fio\nrw=write\n[b]\ninclude=inc.fio\n"),
            ("inc.fio", "bs=8k\ninclude inner.fio\n"),
            ("inner.fio", "# nothing\niodepth=7\n"),
        ],
        &[],
    );
    let parsed = file(&host);
    check_block_sizes(&parsed, &[8192, 8192]);
    assert!(parsed.plan.jobs().all(|job| job.load.queue_depth == 7));
    assert_eq!(parsed.plan.sources.len(), 5);
}

#[test]
fn includes_are_found_beside_the_including_file() {
    let host = MapHost::with(
        &[("jobs/main.fio", "[a]\ninclude inc.fio\n"), ("jobs/inc.fio", "bs=8k\n")],
        &[],
    );
    check_block_sizes(&parse_file("jobs/main.fio", &LowerOptions::default(), &host), &[8192]);
}

#[test]
fn include_mistakes() {
    let host = MapHost::with(
        &[
            ("main.fio", "[a]\ninclude a.inc\ninclude nowhere\ninclude s.inc\nbs=8k\n"),
            ("a.inc", "include ./b.inc\n"),
            ("b.inc", "include main.fio\ninclude a.inc\n"),
            ("s.inc", "[x]\nbs=1k\n"),
        ],
        &[],
    );
    let parsed = file(&host);
    assert_eq!(
        all_shown(&parsed.diagnostics),
        "error file-unreadable 3:9 cannot read job file `nowhere`: no such file\n\
         error include-loop 1:9 include loop: main.fio -> a.inc -> ./b.inc -> main.fio\n\
         error include-loop 2:9 include loop: main.fio -> a.inc -> ./b.inc -> a.inc\n\
         error section-in-include 1:2 section `[x]` stands in a file that `main.fio` includes; an \
         included file may only hold options"
    );
    let sources: Vec<&str> =
        parsed.plan.sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(sources, ["main.fio", "a.inc", "./b.inc", "s.inc"]);
    check_findings(
        "bs=4k\ninclude x\n[a]\n",
        "error option-outside-section 1:1 option `bs` stands before the first section | write \
         `[global]` or a job's `[name]` above it\n\
         error option-outside-section 2:9 `include x` stands before the first section | write \
         `[global]` above it",
    );
}

#[test]
fn variables() {
    let host = MapHost::with(&[], &[("SIZE", "8"), ("UNIT", "k"), ("EMPTY", "")]);
    let sizes = |text: &str| parse_text("v.fio", text, &LowerOptions::default(), &host);
    check_block_sizes(&sizes("[a]\nbs=${SIZE}${UNIT}\n"), &[8192]);
    check_block_sizes(&sizes("[a]\nbs=1${SIZE}k\n"), &[18 << 10]);
    check_block_sizes(&sizes("[a]\nbs=${EMPTY}8k\n"), &[8192]);
    check_block_sizes(&sizes("[a]\nbs=$pagesize\n"), &[4096]);
    check_block_sizes(&sizes("[a]\nbs=$pagesize*2\n"), &[8192]);
    check_block_sizes(&sizes("[a]\nbs=$pagesize+$pagesize/2\n"), &[6144]);
    check_block_sizes(&sizes("[a]\nbs=($ncpus*${SIZE})\n"), &[32]);
    check_block_sizes(&sizes("[a]\nbs=$mb_memory\n"), &[8192]);
    // Names of options are not expanded.
    assert!(sizes("[a]\n${UNIT}=1\n").has_errors());
    check_findings(
        "[a]\nbs=${NOPE}\n",
        "warning undefined-variable 2:4 environment variable `NOPE` is not set; it stands for \
         nothing | set it: `NOPE=... plimsoll ...`\n\
         error bad-value 2:4 value of `bs` is missing; write a whole number, or one each for \
         reads, \
         writes and trims, such as `4k,64k,4k` | environment variable `NOPE` is not set | the \
         default is \
         `bs=4096`",
    );
    check_findings(
        "[a]\nfilename=/data/$ncpus\n",
        "error not-an-expression 2:10 value `/data/4` of `filename` cannot be computed because of \
         its `d` | a value with `$pagesize`, `$mb_memory` or `$ncpus` and one of `+ - * /` is \
         computed, as fio does",
    );
}

#[test]
fn groups_and_steps() {
    check_groups("[a]\n[b]\nstonewall\n[c]\n", &[0, 1, 1], &[1, 2]);
    check_groups("[a]\nnumjobs=2\n[b]\nnew_group\n[c]\n", &[0, 1, 1], &[3]);
    check_groups(
        "[global]\nstonewall\n[a]\nnumjobs=2\n[b]\n[c]\nnew_group\n",
        &[0, 1, 2],
        &[1, 1, 1],
    );
    check_groups("[global]\nnew_group\n[a]\n[b]\n[c]\n", &[0, 1, 2], &[3]);
    check_groups("[a]\nstonewall\n[b]\n[c]\nwait_for_previous\nnew_group\n", &[0, 0, 1], &[2, 1]);
    check_groups("[global]\nstonewall\n[a]\n[b]\nstonewall=0\n", &[0, 0], &[2]);
    check_groups("[a]\ngroup_reporting\n[b]\n", &[0, 0], &[2]);
}

#[test]
fn several_files_start_afresh_after_a_stonewall() {
    let host = MapHost::with(
        &[("1.fio", "[global]\nbs=8k\n[a]\n[b]\n"), ("2.fio", "[c]\n[d]\n[global]\nbs=2k\n[e]\n")],
        &[],
    );
    let args = ["1.fio", "2.fio"].map(str::to_owned);
    let parsed = parse_args(&args, &host).parsed;
    check_block_sizes(&parsed, &[8192, 8192, 4096, 4096, 2048]);
    let groups: Vec<u32> = parsed.plan.jobs().map(|job| job.group_id).collect();
    assert_eq!(groups, [0, 0, 1, 1, 1]);
    assert_eq!(parsed.plan.steps.len(), 2);
}

#[test]
fn sections_can_be_picked() {
    let text = "[a]\nbad=1\n[global]\nbs=8k\n[b]\n[c]\n";
    let wanted = ["b".to_owned()];
    let wishes = LowerOptions { sections: &wanted, ..LowerOptions::default() };
    check_block_sizes(&parse_text("t", text, &wishes, &MapHost::default()), &[8192]);
    let wanted = ["x".to_owned()];
    let wishes = LowerOptions { sections: &wanted, ..LowerOptions::default() };
    let parsed = parse_text("t", text, &wishes, &MapHost::default());
    assert_eq!(
        all_shown(&parsed.refusals),
        "error no-jobs - no job is defined | no section is named x"
    );
}

#[test]
fn engines_and_their_options() {
    check_findings(
        "[global]\nhipri\n[a]\nioengine=io_uring\n",
        "error option-of-other-engine 2:1 option `hipri` belongs to engine `pvsync2` or `io_uring` \
         or `io_uring_cmd` or `sg`; this section's engine is `psync` | an engine and its options \
         stand together, in `[global]` too",
    );
    let parsed = parse("[a]\nioengine=libaoi\n");
    assert!(!parsed.has_errors(), "fio looks for the engine when it runs");
    assert_eq!(
        all_shown(&parsed.refusals),
        "error unknown-engine 2:10 unknown engine `libaoi` | did you mean `libaio`? | built in are \
         io_uring, libaio, sync, psync, vsync, pvsync, pvsync2, mmap, nfs, null, falloc, \
         ftruncate, filecreate, filestat, filedelete, dircreate, dirstat, dirdelete, posixaio"
    );
    let refused = |text| all_shown(&parse(text).refusals);
    assert!(refused("[a]\nioengine=iouring\n").contains("| did you mean `io_uring`? |"));
    assert!(!refused("[a]\nioengine=floppy\n").contains("did you mean"));
    let parsed = parse("[a]\nioengine=rbd\npool=p\nrbdname=x\nclientname=admin\n");
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    assert_eq!(
        all_shown(&parsed.refusals),
        "error engine-not-available 2:10 engine `rbd` (Ceph block device by its library) is not \
         built in | mount or map it with the kernel's client and use `io_uring`"
    );
    // fio looks for an engine it lacks only when an option may be that engine's.
    assert!(!parse("[a]\nioengine=spdk\n").has_errors());
    assert!(parse("[a]\nioengine=spdk\nspdk_json_conf=x\n").has_errors());
    let parsed = parse("[a]\nioengine=posixaio\n");
    assert_eq!(parsed.plan.jobs().next().unwrap().engine.kind, EngineKind::Aio);
    assert!(all_shown(&parsed.diagnostics).starts_with("note engine-alias 2:10"));
}

#[test]
fn a_folder_is_remapped_to_the_root() {
    #[track_caller]
    fn check(to: &str, expected: &str) {
        let remap = vec![("/mnt".to_owned(), to.to_owned())];
        let overrides = Overrides { remap, ..Overrides::default() };
        let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
        let text = "[a]\nsize=1m\ndirectory=/mnt\nfilename=/mnt/f\n";
        let parsed = parse_text("t", text, &wishes, &MapHost::default());
        let files = &parsed.plan.jobs().next().unwrap().files;
        assert_eq!(
            [&files.directories[0], &files.names[0]].map(String::as_str),
            [expected, &format!("{}/f", expected.trim_end_matches('/'))]
        );
    }
    // An empty folder would be the current one.
    check("/", "/");
    check("/srv/", "/srv");
}

#[test]
fn overrides() {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let overrides = Overrides {
        set: vec![pair("bs", "16k"), pair("queue_depth", "9"), pair("runtime", "10s")],
        remap: vec![pair("/mnt/nocache/", "./scratch"), pair("/data", "/tmp/x")],
        load: None,
    };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    let text = "[global]\nbs=8k\ndirectory=/mnt/nocache\n[a]\n\
                filename=/data/f:/data2/f:/mnt/nocache/g\n\
                [b]\nbs=1k\n";
    let parsed = parse_text("t", text, &wishes, &MapHost::default());
    check_block_sizes(&parsed, &[16384, 16384]);
    let job = parsed.plan.jobs().next().unwrap();
    assert_eq!(job.files.directories, ["./scratch"]);
    assert_eq!(job.files.names, ["/tmp/x/f", "/data2/f", "./scratch/g"]);
    assert_eq!(job.load.queue_depth, 9);
    assert_eq!(job.limits.runtime_ns, Some(10_000_000_000));
    let (set, remap) = (vec![pair("runtme", "10s")], vec![pair("/mtn", "x")]);
    let overrides = Overrides { set, remap, load: None };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    let parsed = parse_text("t", text, &wishes, &MapHost::default());
    assert_eq!(
        all_shown(&parsed.diagnostics),
        "error unknown-option - `--set runtme=10s`: unknown option `runtme` | did you mean \
         `runtime`?\n\
         error unused-remap - `--remap /mtn=x` matches no filename, directory or opendir"
    );
}

/// fio checks while it parses that the file of an engine of its user's is there, and no more.
#[test]
fn the_file_of_an_external_engine_must_be_there() {
    let host = MapHost::with(&[("mine.so", "")], &[]);
    let parsed = |engine: &str| {
        let text = format!("[a]\nioengine={engine}\n");
        parse_text("test.fio", &text, &LowerOptions::default(), &host)
    };
    for missing in ["external:/x/y.so", "external:", "external: other.so"] {
        let parsed = parsed(missing);
        assert!(all_shown(&parsed.diagnostics).contains("names no file with an engine"));
    }
    for there in ["external:mine.so", "external: ./mine.so", "external"] {
        let parsed = parsed(there);
        assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
        assert_eq!(parsed.refusals[0].code, "engine-not-available");
    }
}

/// fio 3.33 works on all of them, whether they are in the section or above it.
#[test]
fn each_filename_adds_to_those_before() {
    let text = "[global]\nsize=1m\nfilename=a\nfilename=b\n[j]\n[k]\nfilename=c:d\n";
    let names = |wishes: &LowerOptions<'_>| -> Vec<Vec<String>> {
        let parsed = parse_text("t", text, wishes, &MapHost::default());
        parsed.plan.jobs().map(|job| job.files.names.clone()).collect()
    };
    assert_eq!(names(&LowerOptions::default()), [vec!["a", "b"], vec!["a", "b", "c", "d"]]);
    // What is asked for from outside replaces them.
    let set = vec![("filename".to_owned(), "x".to_owned())];
    let overrides = Overrides { set, ..Overrides::default() };
    let wishes = LowerOptions { overrides: Some(&overrides), ..LowerOptions::default() };
    assert_eq!(names(&wishes), [["x"], ["x"]]);
}

//! The command line: long options, prefixes, values, switches, order.

mod support;

use dialects::fio::{
    ClientArg, ClientFile, CommandLine, Eta, Format, enghelp, parse_args, sniff, usage,
};
use support::fio::parse;
use support::{MapHost, all_shown};

/// Parses a command line; blanks separate arguments, and `~` stands for a blank within one.
fn args(line: &str) -> CommandLine {
    let host = MapHost::with(
        &[("u.fio", "[global]\nrw=write\n[x]\n[y]\nstonewall\n"), ("-", "[in]\n")],
        &[],
    );
    let args: Vec<String> = line.split_whitespace().map(|arg| arg.replace('~', " ")).collect();
    parse_args(&args, &host)
}

/// Checks the jobs of a command line, each as `name bs group`.
#[track_caller]
fn check_jobs(line: &str, expected: &str) {
    let parsed = args(line).parsed;
    assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
    let jobs = parsed
        .plan
        .jobs()
        .map(|job| format!("{} {} {}", job.name, job.workload.block_size.read.min(), job.group_id));
    assert_eq!(jobs.collect::<Vec<_>>().join(", "), expected);
}

#[track_caller]
fn check_said(line: &str, expected: &str) {
    assert_eq!(all_shown(&args(line).parsed.diagnostics), expected);
}

#[test]
fn forms_of_an_option() {
    for line in [
        "--name=a --bs=8k",
        "-name=a -bs=8k",
        "--name a --bs 8k",
        "-name a -blocksize 8k",
        "--nam=a --bs=8k",
        "--name=a --bs=1k --bs=8k",
        "--bs=8k --name=a",
    ] {
        check_jobs(line, "a 8192 0");
    }
    // A flag takes its value behind `=` only.
    check_jobs("--name=a --thread --bs=8k --norandommap=1", "a 8192 0");
    check_jobs("--name=a --gro --loop=2 --runti=5", "a 4096 0");
}

#[test]
fn defaults_and_order() {
    check_jobs("--bs=8k --name=a --bs=1k --name=b", "a 1024 0, b 8192 0");
    check_jobs(
        "--name=global --bs=512 --name=a --name=global --bs=2k --name=b",
        "a 512 0, b 2048 0",
    );
    check_jobs("--name=a --name=b --stonewall --name=c", "a 4096 0, b 4096 1, c 4096 1");
    check_jobs("--bs=8k u.fio", "x 8192 0, y 8192 1");
    check_jobs("u.fio --name=a --bs=1k", "a 1024 0, x 4096 0, y 4096 1");
    check_jobs("--bs=8k u.fio u.fio", "x 8192 0, y 8192 1, x 4096 2, y 4096 3");
    check_jobs("--name=a -- u.fio", "a 4096 0, x 4096 0, y 4096 1");
    check_jobs("-", "in 4096 0");
    check_jobs("--section=y u.fio", "y 4096 0");
}

#[test]
fn names_are_job_options_on_the_command_line_only() {
    let parsed = args("--name=a --direct=1").parsed;
    let job = parsed.plan.jobs().next().unwrap();
    let options: Vec<_> = job.options.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(options, [("name", "a"), ("direct", "1")]);
}

#[test]
fn switches() {
    let switches = |line: &str| {
        let line = args(line);
        assert!(!line.parsed.has_errors(), "{}", all_shown(&line.parsed.diagnostics));
        line.switches
    };
    let json = switches("--output-format=json,normal,json+ --output=f --eta=never --name=a");
    assert_eq!(json.formats, [Format::Normal, Format::JsonPlus]);
    assert_eq!(json.output.as_deref(), Some("f"));
    assert_eq!(json.eta, Eta::Never);
    assert_eq!(switches("--minimal --name=a").formats, [Format::Terse]);
    assert_eq!(switches("--output-format csv --name=a").formats, [Format::Terse]);
    assert_eq!(switches("--terse-version=5 --name=a").terse_version, 5);
    assert_eq!(switches("--status-interval=2 --name=a").status_interval_ms, Some(2000));
    assert_eq!(switches("--eta-interval=250ms --name=a").eta_interval_ms, 250);
    assert_eq!(switches("--bandwidth-log --name=a").bandwidth_log.as_deref(), Some(""));
    assert_eq!(switches("--bandwidth-log=x --name=a").bandwidth_log.as_deref(), Some("x"));
    assert_eq!(switches("--debug=random,io --name=a").debug, ["random", "io"]);
    assert_eq!(switches("--section=x --section=y u.fio").sections, ["x", "y"]);
    assert_eq!(switches("--cmdhelp=bs").cmdhelp.as_deref(), Some("bs"));
    assert_eq!(switches("--enghelp").enghelp.as_deref(), Some(""));
    assert_eq!(
        switches("--aux-path=/tmp --max-jobs=16 --name=a").aux_path.as_deref(),
        Some("/tmp")
    );
    let modes = switches("--parse-only --showcmd --readonly --warnings-fatal --version --help");
    assert!(modes.parse_only && modes.showcmd && modes.readonly && modes.warnings_fatal);
    assert!(modes.version && modes.help);
    assert!(switches("-v").version && switches("-h").help);
}

#[test]
fn mistakes() {
    check_said(
        "--name=a --blocksiz=3 --bogus=1",
        "error ambiguous-option 1:10 `--blocksiz` is ambiguous: it could be `--blocksize`, \
         `--blocksize_range`, `--blocksize_unaligned`\n\
         error unknown-option 1:23 unknown option `--bogus`",
    );
    check_said(
        "--name=a --runtme=3 --output_format=json",
        "error unknown-option 1:10 unknown option `--runtme` | did you mean `--runtime`?\n\
         error unknown-option 1:21 unknown option `--output_format` | did you mean \
         `--output-format`?",
    );
    check_said(
        "--name=a --direct",
        "error missing-value 1:10 `--direct` needs a value | write 1 or 0",
    );
    check_said(
        "--name=a --write_bw_log --write_lat_log=foo",
        "warning swallowed-option 1:25 `--write_lat_log=foo` is taken as the value of \
         `--write_bw_log`, as fio does | write the value behind `=`: `--write_bw_log=...`",
    );
    check_said(
        "--name=a --bs=8q --iodepth=0",
        "warning odd-value 1:15 value `8q` of `bs`: `q` is ignored\n\
         error bad-value 1:28 value `0` of `iodepth` is out of range: the smallest is 1 | the \
         default is `iodepth=1`",
    );
    check_said(
        "--name=a nowhere.fio",
        "error file-unreadable - cannot read job file `nowhere.fio`: no such file | an argument \
         that is no option and no option's value names a job file",
    );
    check_said(
        "--name=a --version=3",
        "error unexpected-value 1:20 `--version` takes no value, but `3` is given | write \
         `--version`",
    );
    check_said(
        "--name=a --output-format=xml --terse-version=9 --eta=often --section=global",
        "error bad-switch 1:26 value `xml` of `--output-format` is not a format; write normal, \
        json, \
         json+ or terse\n\
         error bad-switch 1:46 value `9` of `--terse-version` is not a terse version; write 2, 3, \
         4 \
         or \
         5\n\
         error bad-switch 1:54 value `often` of `--eta` is not known; write always, never or auto\n\
         error bad-switch 1:70 value `global` of `--section` is a global section, which cannot run \
         alone; name a job's section",
    );
    check_said(
        "--name=a --eta-interval=100ms --status-interval=x --remote-config=f --client=h",
        "error bad-switch 1:25 value `100ms` of `--eta-interval` is too short; the smallest is \
         250ms\n\
         error bad-switch 1:49 value `x` of `--status-interval` is not valid: `x` is not a number\n\
         error bad-switch 1:67 value `f` of `--remote-config` is of no client: write it behind the \
         `--client` that has the file",
    );
    check_said(
        "--name=a --rw=randwrite --readonly",
        "error readonly 1:15 job `a` writes or trims, but `--readonly` is given | leave \
         `--readonly` out, or make the job read",
    );
}

#[test]
fn job_files_behind_a_client_are_its_own() {
    let found = args(
        "--client=a 1.fio 2.fio --client=b --remote-config=3.fio --client c --eta=never u.fio",
    );
    let files = |client: &ClientArg| match client.files.as_slice() {
        [] => "all".to_owned(),
        files => files.iter().map(shown).collect::<Vec<_>>().join(" "),
    };
    let shown_of = |it: &ClientArg| format!("{}: {}", it.hosts, files(it));
    let clients: Vec<String> = found.switches.clients.iter().map(shown_of).collect();
    assert_eq!(clients, ["a: 1.fio 2.fio", "b: their 3.fio", "c: all"]);
    assert_eq!(found.parsed.plan.jobs().count(), 2, "those of all");
    assert_eq!(args("--server").switches.server.as_deref(), Some(""));
    assert_eq!(args("--server=ip:h,1 --token-file=t").switches.token_file.as_deref(), Some("t"));
}

fn shown(file: &ClientFile) -> String {
    match file {
        ClientFile::Sent(path) => path.clone(),
        ClientFile::Theirs(path) => format!("their {path}"),
    }
}

#[test]
fn no_job_is_a_refusal() {
    for line in ["", "--bs=4k", "--name=global --bs=4k", "--section=z u.fio"] {
        let parsed = args(line).parsed;
        assert!(!parsed.has_errors(), "{}", all_shown(&parsed.diagnostics));
        assert_eq!(parsed.refusals[0].code, "no-jobs", "{line}");
    }
}

#[test]
fn showcmd_can_be_pasted() {
    let line = "--showcmd --ioengine=null --name=a~b --norandommap --exec_prerun=it's u.fio";
    assert_eq!(
        args(line).showcmd,
        "fio --ioengine=null --name='a b' --norandommap --exec_prerun='it'\\''s' --name=global \
         --rw=write --name=x --name=y --stonewall\n"
    );
}

#[test]
fn help_texts() {
    assert!(usage().contains("--output-format=LIST"));
    assert!(enghelp("").unwrap().contains("\tlibaio\n"));
    assert!(enghelp("libaio").unwrap().contains("userspace_reap"));
    assert!(enghelp("libaio,userspace_reap").unwrap().contains("userspace_reap"));
    assert!(enghelp("null,hipri").is_err());
    assert!(enghelp("rbd").is_err() && enghelp("foo").is_err());
}

#[test]
fn content_says_the_dialect() {
    assert_eq!(sniff("[global]\nioengine=libaio\n[a]\nrw=read\nbs=4k\n"), 100);
    assert_eq!(sniff("sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1\n"), 0);
    assert!(sniff("[package]\nname = \"x\"\nversion = \"1\"\nedition = \"2024\"\n") < 60);
    assert_eq!(sniff(""), 0);
    assert!(!parse("[a]\n").has_errors());
}

/// fio's command line looks for an engine at once: the options after it may be that engine's.
#[test]
fn an_engine_of_the_command_line_must_be_there() {
    for (engine, is_wrong) in [("libaoi", true), ("spdk", true), ("rbd", false), ("psync", false)] {
        let parsed = args(&format!("--name=a --ioengine={engine}")).parsed;
        assert_eq!(parsed.has_errors(), is_wrong, "{}", all_shown(&parsed.diagnostics));
    }
}

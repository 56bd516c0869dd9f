//! What the fuzz targets of the readers start from: a seed that no reader takes is none.

use std::path::{Path, PathBuf};

use capture::{CallTrace, Collector, Event, Format, MountCounts, NS_PER_S, Options, recognise};

/// Returns the seeds of a fuzz target.
fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("no seeds of {target}"));
    entries.map(|entry| entry.expect("it is listed").path()).collect()
}

/// Returns the fuzz target of a form.
fn target(format: Format) -> &'static str {
    match format {
        Format::Iostat => "capture_iostat",
        Format::SysstatJson => "capture_sysstat_json",
        Format::SadfTable => "capture_sadf_table",
        Format::SadfPairs => "capture_sadf_pairs",
        Format::Vmstat => "capture_vmstat",
        Format::Perfmon => "capture_perfmon",
        Format::Biosnoop => "capture_biosnoop",
        Format::Blkparse => "capture_blkparse",
        Format::Iolog => "capture_iolog",
        Format::AzureMonitor => "capture_azure",
        Format::CloudWatch => "capture_cloudwatch",
        Format::Strace => "capture_strace",
        Format::Mountstats => "capture_mountstats",
    }
}

#[test]
fn every_seed_is_read_whole() {
    for format in Format::ALL {
        let seeds = seeds(target(format));
        assert!(!seeds.is_empty(), "{format}");
        for path in seeds {
            let name = path.display();
            let bytes = std::fs::read(&path).expect("it is a file");
            assert_eq!(recognise(&bytes), Ok(format), "{name}");
            if format == Format::Mountstats {
                let mut mounts = MountCounts::default();
                mounts.read(&mut &bytes[..]).expect("counters");
                assert_eq!(mounts.finish(&[]).expect("two looks").components.len(), 1, "{name}");
                continue;
            }
            if format == Format::Strace {
                let mut trace = CallTrace::default();
                trace.read("seed", &mut &bytes[..]).expect("a trace of calls");
                assert_eq!(trace.finish().expect("files").n_unclear, 0, "{name}");
                continue;
            }
            let mut collector = Collector::new();
            collector.begin("seed", format.name());
            let options = Options { length_ns: Some(NS_PER_S), ..Options::default() };
            let read = capture::read(format, &mut &bytes[..], options, &mut |event| {
                if let Event::Note(note) = &event {
                    assert_eq!(note.kind, capture::NoteKind::Remark, "{name}: {note:?}");
                }
                collector.take(event);
            });
            read.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!collector.finish(&[]).volumes.is_empty(), "{name}");
        }
    }
    let live = seeds("capture_live");
    let has_two_looks = |path: &PathBuf| std::fs::read(path).is_ok_and(|it| it.contains(&0));
    assert!(!live.is_empty() && live.iter().all(has_two_looks), "{live:?}");
}

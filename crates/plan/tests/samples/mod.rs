//! Values to try, for tests here and in `dialects`.

use plan::files::Size;
use plan::param::{AccessValue, Param, Value, ValueKind, find_access};
use plan::verify::PatternPart;
use plan::workload::{BlockSize, Distribution};
use plan::{IoPriority, PerDir, PriorityShare};

/// Returns values of the parameter's kind, of which one at least is not its default.
pub(crate) fn samples(param: &Param) -> Vec<Value> {
    match param.kind {
        ValueKind::Flag | ValueKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        // Powers of two alone.
        ValueKind::Int { .. } if param.name == "replay_align_bytes" => {
            vec![Value::Int(0), Value::Int(4096)]
        }
        ValueKind::Int { min, max } => numbers(min, max).map(Value::Int).to_vec(),
        ValueKind::IntPerDir { min, max } => {
            let [one, other, third] = numbers(min, max);
            let each = PerDir { read: Some(third), write: Some(other), trim: None };
            vec![
                Value::IntPerDir(PerDir::all(Some(one))),
                Value::IntPerDir(PerDir::all(Some(other))),
                Value::IntPerDir(each),
            ]
        }
        ValueKind::Size { percent, .. } => {
            let mut sizes = vec![Value::Size(Size::Bytes(1 << 20))];
            sizes.extend(percent.then_some(Value::Size(Size::Percent(30))));
            sizes
        }
        ValueKind::SizeRange => {
            vec![Value::SizeRange(4096, 8192), Value::SizeRange(1 << 20, 1 << 20)]
        }
        ValueKind::Time(_) => vec![Value::TimeNs(7_000_000_000), Value::TimeNs(1_500_000_000)],
        ValueKind::TimeRange(_) => vec![Value::TimeRangeNs(1_000_000_000, 5_000_000_000)],
        ValueKind::TimePerDir(_) => vec![Value::TimePerDirNs(PerDir::all(Some(7000)))],
        ValueKind::Float { min, max } => {
            [min.midpoint(max), 2.5, 33.3].map(|x| Value::Float(x.clamp(min, max))).to_vec()
        }
        ValueKind::FloatList { .. } => vec![Value::Floats(vec![50.0, 99.5])],
        ValueKind::Enum(choices) => {
            // One word is always refused.
            let choices = choices.iter().filter(|it| it.name != "zbd");
            choices.map(|it| Value::Choice(it.name)).collect()
        }
        ValueKind::Str => texts(param).iter().map(|text| Value::Str((*text).to_owned())).collect(),
        ValueKind::OptionalStr => vec![Value::Absent, Value::Str("prefix".to_owned())],
        ValueKind::PathList => vec![Value::Paths(vec!["/mnt/b".to_owned(), "/mnt/c".to_owned()])],
        ValueKind::NumberList => vec![Value::Numbers(vec![0, 3])],
        ValueKind::Access => {
            [("randread", Some(8)), ("write", None), ("randrw", None), ("read", Some(512))]
                .map(|(word, postfix)| {
                    let access = find_access(word).expect("a word of the table");
                    Value::Access(AccessValue { access, postfix })
                })
                .to_vec()
        }
        ValueKind::BlockRange => vec![sizes(BlockSize::Range { min: 4096, max: 16384 })],
        ValueKind::BlockSplit => vec![sizes(BlockSize::Split(vec![(4096, 25), (65536, 75)]))],
        ValueKind::Distribution => {
            let zipf = Distribution::Zipf { theta: 1.2, centre: None };
            vec![Value::Distribution(PerDir::all(zipf))]
        }
        ValueKind::Pattern { .. } => vec![Value::Pattern(vec![PatternPart::Bytes(vec![0xde])])],
        ValueKind::PrioritySplit => {
            let priority = IoPriority::new(1, 2, 3);
            let share = PriorityShare { block_bytes: Some(4096), pct: 50, priority };
            vec![Value::PrioritySplit(PerDir::all(Some(vec![share])))]
        }
        ValueKind::Words => words(param),
    }
}

/// The smallest, one that is not, and one in between.
fn numbers(min: i64, max: i64) -> [i64; 3] {
    [min, max.min(4096), 7.clamp(min, max)]
}

fn sizes(size: BlockSize) -> Value {
    Value::BlockSizes(PerDir::all(Some(size)))
}

fn texts(param: &Param) -> &'static [&'static str] {
    match param.name {
        "engine" => &["psync", "libaio", "mmap", "null", "pvsync2", "io_uring"],
        "ignore_errors" => &["EAGAIN:5"],
        "replay_skip" => &["read,sync"],
        "nfs_url" => &["nfs://host/path"],
        _ => &["some"],
    }
}

fn words(param: &Param) -> Vec<Value> {
    let one = |word: &str, argument: Option<&str>| {
        Value::Words(vec![(word.to_owned(), argument.map(str::to_owned))])
    };
    match param.name {
        "file_service" => vec![one("roundrobin", Some("8")), one("random", None)],
        "sync_file_range" => vec![one("write", Some("32"))],
        "block_size_weights" => vec![one("4096", Some("3"))],
        "dedupe_hot_sets" => vec![one("12", Some("100"))],
        "memory" => vec![one("mmap", Some("/mnt/pmem"))],
        "rate_periods" => vec![one("100", Some("2"))],
        _ => vec![one("iops", Some("5%"))],
    }
}

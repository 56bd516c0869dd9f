//! What a job's field looks like as a parameter's text.

use std::fmt::Display;

use crate::files::{FileService, Size, escape_path};
use crate::load::{Rate, RatePeriod};
use crate::verify::{DedupeMode, Memory, PatternPart, SetCount};
use crate::workload::{BlockSize, Distribution};
use crate::{Direction, Job, PerDir, PriorityShare};

/// Returns the text of a parameter that counts or names something; `None` where the job says
/// nothing of it, and for parameters that other parameters say.
pub(super) fn text_of(name: &str, job: &Job) -> Option<String> {
    of_files(name, job)
        .or_else(|| of_workload(name, job))
        .or_else(|| of_load(name, job))
        .or_else(|| of_time(name, job))
        .or_else(|| of_buffers(name, job))
        .or_else(|| of_dedupe_sets(name, job))
        .or_else(|| of_process(name, job))
        .or_else(|| of_reports(name, job))
        .or_else(|| of_engine(name, job))
}

fn of_files(name: &str, job: &Job) -> Option<String> {
    let (files, due) = (&job.files, &job.durability);
    let plain = |bytes: u64| bytes_text(bytes, job);
    match name {
        "file_names" => list(&files.names, ":", |path| escape_path(path)),
        "directories" => list(&files.directories, ":", |path| escape_path(path)),
        "file_name_format" => files.name_format.clone(),
        "open_directory" => files.open_dir.clone(),
        "n_files" => shown(files.n_files),
        "n_open_files" => files.n_open.map(|n| n.to_string()),
        "file_service" => Some(service_text(files.service, files.ios_per_file)),
        "size" => files.size.map(|size| size_text(size, job)),
        "file_size_bytes" => files.file_size_bytes.map(|(min, max)| range_text(min, max, job)),
        "io_size" => files.io_size.map(|size| size_text(size, job)),
        "offset" => Some(size_text(files.offset, job)),
        "offset_increment" => Some(size_text(files.offset_increment, job)),
        "offset_align_bytes" => Some(plain(files.offset_align_bytes)),
        "open_flag_bits" => shown(files.open_flag_bits),
        "fsync_every" => shown(due.fsync_every),
        "fdatasync_every" => shown(due.fdatasync_every),
        "barrier_every" => shown(due.barrier_every),
        "sync_file_range" if due.sync_file_range_every > 0 => {
            let names = ["wait_before", "write", "wait_after"];
            let set = names.iter().enumerate();
            let set = set.filter(|(bit, _)| due.sync_file_range_flags & (1 << bit) != 0);
            let set: Vec<&str> = set.map(|(_, name)| *name).collect();
            Some(format!("{}:{}", set.join(","), due.sync_file_range_every))
        }
        _ => None,
    }
}

fn of_workload(name: &str, job: &Job) -> Option<String> {
    let workload = &job.workload;
    let bytes = |bytes: u32| bytes_text(bytes.into(), job);
    let sizes = |text: fn(&BlockSize, &dyn Fn(u32) -> String) -> Option<String>| {
        given_dirs_text(&workload.block_size, |size| text(size, &bytes))
    };
    match name {
        "read_pct" => shown(workload.read_pct).filter(|_| is_whole(workload.read_pct)),
        "read_share_pct" => shown(workload.read_pct).filter(|_| !is_whole(workload.read_pct)),
        "block_size_bytes" => sizes(|size, bytes| match size {
            BlockSize::Fixed(size) => Some(bytes(*size)),
            _ => None,
        }),
        "block_size_range" => sizes(|size, bytes| match size {
            BlockSize::Range { min, max } | BlockSize::Stepped { min, max, .. } => {
                Some(format!("{}-{}", bytes(*min), bytes(*max)))
            }
            _ => None,
        }),
        "block_size_split" => sizes(|size, bytes| match size {
            BlockSize::Split(parts) => {
                list(parts, ":", |(size, pct)| format!("{}/{pct}", bytes(*size)))
            }
            _ => None,
        }),
        "block_size_step_bytes" => match &workload.block_size.read {
            BlockSize::Stepped { step, .. } => shown(step),
            _ => None,
        },
        "block_size_weights" => match &workload.block_size.read {
            BlockSize::Weighted(parts) => {
                list(parts, ",", |(size, weight)| format!("{size}:{weight}"))
            }
            _ => None,
        },
        "exponential_mean" => match &workload.distribution.read {
            Distribution::Exponential { mean } => shown(mean),
            _ => None,
        },
        "power_exponent" => match &workload.distribution.read {
            Distribution::Power { exponent } => shown(exponent),
            _ => None,
        },
        "skip_bytes" => workload.skip_bytes.map(|(min, max)| range_text(min, max, job)),
        "n_streams" => shown(workload.n_streams),
        "hit_area_bytes" => shown(workload.hit_area?.len_bytes),
        "hit_area_read_pct" => shown(workload.hit_area?.read_pct),
        "hit_area_write_pct" => shown(workload.hit_area?.write_pct),
        "block_align_bytes" => given_dirs_text(&workload.block_align, |align| align.map(bytes)),
        "random_pct" => Some(dirs_text(&workload.random_pct, f64::to_string))
            .filter(|_| workload.random_pct.iter().all(|(_, pct)| is_whole(*pct))),
        "random_share_pct" => shown(workload.random_pct.read)
            .filter(|_| workload.random_pct.iter().any(|(_, pct)| !is_whole(*pct))),
        "distribution" => {
            given_dirs_text(&workload.distribution, |spread| distribution_text(spread, job))
        }
        "seed" => shown(workload.seed),
        "zone_size_bytes" => Some(bytes_text(workload.strided?.zone_size_bytes, job)),
        "zone_range_bytes" => Some(bytes_text(workload.strided?.zone_range_bytes, job)),
        "zone_skip_bytes" => Some(bytes_text(workload.strided?.zone_skip_bytes, job)),
        "trim_pct" => shown(workload.trim_pct),
        "trim_backlog" => shown(workload.trim_backlog),
        "trim_backlog_batch" => shown(workload.trim_backlog_batch),
        _ => None,
    }
}

fn of_load(name: &str, job: &Job) -> Option<String> {
    let load = &job.load;
    let bytes = |rate: &Option<Rate>| match rate {
        Some(Rate::Bytes(rate)) => Some(bytes_text(*rate, job)),
        _ => None,
    };
    let iops = |rate: &Option<Rate>| match rate {
        Some(Rate::Iops(rate)) => Some(rate.to_string()),
        _ => None,
    };
    match name {
        "queue_depth" => shown(load.queue_depth),
        "spread_workers_max" => load.spread_workers_max.map(|n| n.to_string()),
        "submit_batch" => load.submit_batch.map(|n| n.to_string()),
        "complete_min" => load.complete_min.map(|n| n.to_string()),
        "complete_max" => load.complete_max.map(|n| n.to_string()),
        "queue_depth_low" => load.queue_depth_low.map(|n| n.to_string()),
        "rate" => given_dirs_text(&load.rate, bytes),
        "rate_iops" => given_dirs_text(&load.rate, iops),
        "rate_min" => given_dirs_text(&load.rate_min, bytes),
        "rate_iops_min" => given_dirs_text(&load.rate_min, iops),
        "rate_total_iops" => load.rate_total_iops.map(|rate| rate.to_string()),
        "rate_periods" => load.rate_periods.as_ref().map(|rates| {
            let period = |it: &RatePeriod| format!("{}:{}", it.rate, it.duration_ns as f64 / 1e9);
            rates.periods.iter().map(period).collect::<Vec<_>>().join(",")
        }),
        "flow_slack_ios" => {
            load.flow.filter(|flow| flow.slack_ios != 1).and_then(|flow| shown(flow.slack_ios))
        }
        "rate_window_ms" => shown(load.rate_cycle_ns / 1_000_000),
        "think_time" => Some(time_text(load.think.pause_ns)),
        "think_spin" => Some(time_text(load.think.spin_ns)),
        "think_every_ios" => shown(load.think.every_ios),
        "think_every_time" => Some(time_text(load.think.every_io_time_ns)),
        "latency_target" => Some(time_text(load.latency_target?.target_ns)),
        "latency_window" => Some(time_text(load.latency_target?.window_ns)),
        "latency_target_pct" => shown(load.latency_target?.percentile),
        "latency_max" => given_dirs_text(&load.latency_max_ns, |ns| Some(time_text((*ns)?))),
        "flow_id" => shown(load.flow?.id),
        "flow_weight" => shown(load.flow?.weight),
        "flow_sleep_us" => shown(load.flow?.sleep_ns / 1000),
        _ => None,
    }
}

fn of_time(name: &str, job: &Job) -> Option<String> {
    let limits = &job.limits;
    match name {
        "description" => job.description.clone(),
        "n_workers" => shown(job.n_workers),
        "wait_for" => job.wait_for.clone(),
        "runtime" => limits.runtime_ns.map(time_text),
        "loops" => shown(limits.loops),
        "n_ios_max" => limits.n_ios_max.map(|n| n.to_string()),
        "ramp_time" => Some(time_text(limits.ramp_ns)),
        "ramp_size_bytes" => Some(bytes_text(limits.ramp_bytes, job)),
        "start_delay" => {
            let (min, max) = limits.start_delay_ns;
            let (min, max) = (time_text(min), time_text(max));
            Some(if min == max { min } else { format!("{min}-{max}") })
        }
        "steady_criterion" => {
            let steady = limits.steady?;
            let metric = match steady.metric {
                crate::load::SteadyMetric::Iops => "iops",
                crate::load::SteadyMetric::Bandwidth => "bw",
                crate::load::SteadyMetric::Latency => "lat",
            };
            let slope = if steady.by_slope { "_slope" } else { "" };
            let unit = if steady.limit_is_pct { "%" } else { "" };
            Some(format!("{metric}{slope}:{}{unit}", steady.limit))
        }
        "steady_window" => Some(time_text(limits.steady?.window_ns)),
        "steady_ramp" => Some(time_text(limits.steady?.ramp_ns)),
        "steady_check_interval" => Some(time_text(limits.steady?.check_interval_ns)),
        _ => None,
    }
}

fn of_buffers(name: &str, job: &Job) -> Option<String> {
    let (buffers, verify) = (&job.buffers, &job.verify);
    match name {
        "pattern" => pattern_text(&buffers.pattern),
        "compress_pct" => buffers.compress_pct.map(|pct| pct.to_string()),
        "compress_chunk_bytes" => shown(buffers.compress_chunk_bytes),
        "dedupe_pct" => shown(buffers.dedupe_pct),
        "dedupe_working_set_pct" => match buffers.dedupe_mode {
            DedupeMode::WorkingSet { pct, .. } => shown(pct),
            DedupeMode::Repeat => None,
        },
        "compress_ratio" => buffers.compress_ratio.map(|ratio| ratio.to_string()),
        "memory" => Some(memory_text(&buffers.memory)),
        "memory_align_bytes" => shown(buffers.align_bytes),
        "lock_memory_bytes" => Some(bytes_text(buffers.lock_memory_bytes, job)),
        "verify_interval_bytes" if verify.interval_bytes > 0 => shown(verify.interval_bytes),
        "verify_header_offset_bytes" if verify.header_offset_bytes > 0 => {
            shown(verify.header_offset_bytes)
        }
        "verify_pattern" => pattern_text(&verify.pattern),
        "verify_pattern_interval_bytes" => shown(verify.pattern_interval_bytes),
        "n_verify_threads" => shown(verify.n_threads),
        "verify_cpus" => list(&verify.thread_cpus, ",", u32::to_string),
        "verify_backlog" => shown(verify.backlog),
        "verify_backlog_batch" => shown(verify.backlog_batch),
        _ => None,
    }
}

/// Duplicates by place; `None` without any.
fn of_dedupe_sets(name: &str, job: &Job) -> Option<String> {
    let sets = job.buffers.dedupe_sets.as_ref()?;
    match (name, &sets.sets) {
        ("dedupe_ratio", _) => shown(sets.ratio),
        ("dedupe_unit_bytes", _) => shown(sets.unit_bytes),
        ("dedupe_set_count", SetCount::Count(n)) => shown(n),
        ("dedupe_set_pct", SetCount::Pct(pct)) => shown(pct),
        ("dedupe_hot_sets", _) => list(&sets.hot_sets, ",", |(n, size)| format!("{n}:{size}")),
        _ => None,
    }
}

fn of_process(name: &str, job: &Job) -> Option<String> {
    let process = &job.process;
    match name {
        "cpus" => list(&process.cpus, ",", u32::to_string),
        "numa_cpu_nodes" => list(&process.numa_cpu_nodes, ",", u32::to_string),
        "numa_memory" => process.numa_mem_policy.clone(),
        "nice" => shown(process.nice),
        "io_priority" if process.sets_io_priority => shown(process.io_priority),
        "io_priority_class" if process.io_priority_class > 0 => shown(process.io_priority_class),
        "io_priority_hint" if process.io_priority_hint > 0 => shown(process.io_priority_hint),
        "exec_before" => process.exec_before.clone(),
        "exec_after" => process.exec_after.clone(),
        "n_errors_max" => job.errors.n_errors_max.map(|n| n.to_string()),
        "errors_quiet_s" => job.errors.quiet_ns.map(|ns| (ns / 1_000_000_000).to_string()),
        "user_id" => process.uid.map(|id| id.to_string()),
        "group_id" => process.gid.map(|id| id.to_string()),
        "io_scheduler" => process.io_scheduler.clone(),
        "ignore_errors" => {
            let lists = &job.errors.ignored_errno;
            let one =
                |codes: &Vec<i32>| codes.iter().map(i32::to_string).collect::<Vec<_>>().join(",");
            let text = lists.iter().map(one).collect::<Vec<_>>().join(":");
            Some(text.trim_end_matches(':').to_owned()).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

fn of_reports(name: &str, job: &Job) -> Option<String> {
    let (reporting, logs) = (&job.reporting, &job.logs);
    match name {
        "percentiles" => list(&reporting.percentiles, ":", f64::to_string),
        "bandwidth_sample_ms" => shown(reporting.bandwidth_sample_ms),
        "iops_sample_ms" => shown(reporting.iops_sample_ms),
        "significant_figures" => shown(reporting.significant_figures),
        "bandwidth_log" => logs.bandwidth.clone(),
        "iops_log" => logs.iops.clone(),
        "latency_log" => logs.latency.clone(),
        "histogram_log" => logs.histogram.clone(),
        "log_window_ms" => shown(logs.window_ms),
        "histogram_window_ms" => shown(logs.histogram_window_ms),
        "histogram_coarseness" => shown(logs.histogram_coarseness),
        "write_replay" => logs.write_replay.clone(),
        "read_replay" => list(&logs.read_replay, ":", |path| escape_path(path)),
        "replay_time_scale_pct" => shown(logs.replay.time_scale_pct),
        "replay_redirect" => logs.replay.redirect.clone(),
        "replay_align_bytes" => shown(logs.replay.align_bytes),
        "replay_scale" => shown(logs.replay.scale),
        "replay_skip" => {
            let kinds = ["read", "write", "trim", "sync"].iter().zip(logs.replay.skip);
            let kinds: Vec<&str> = kinds.filter(|(_, on)| *on).map(|(kind, _)| *kind).collect();
            list(&kinds, ",", |kind| (*kind).to_owned())
        }
        _ => None,
    }
}

fn of_engine(name: &str, job: &Job) -> Option<String> {
    let engine = &job.engine;
    match name {
        "engine" => Some(engine.name.clone()),
        "poll_pct" => shown(engine.poll_pct),
        "sq_poll_cpu" => engine.sq_poll_cpu.map(|cpu| cpu.to_string()),
        "force_async" => shown(engine.force_async),
        "priority_pct" => Some(dirs_text(&engine.priority_pct, u8::to_string)),
        "priority_class" => Some(dirs_text(&engine.priority_class, u8::to_string)),
        "priority_level" => Some(dirs_text(&engine.priority_level, u8::to_string)),
        "priority_hint" => Some(dirs_text(&engine.priority_hint, u16::to_string)),
        "priority_split" => given_dirs_text(&engine.priority_split, |shares| {
            list(shares, ":", |share| share_text(share, job))
        }),
        "nfs_url" => engine.nfs.url.as_ref().map(ToString::to_string),
        "nfs_connections" => shown(engine.nfs.n_connections),
        "nfs_read_bytes" => engine.nfs.read_bytes.map(|n| n.to_string()),
        "nfs_write_bytes" => engine.nfs.write_bytes.map(|n| n.to_string()),
        _ => None,
    }
}

/// Says whether a percentage has no fraction, which is all that fio's options take.
fn is_whole(pct: f64) -> bool {
    pct.fract() == 0.0
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where some fields have no text")]
fn shown(value: impl Display) -> Option<String> {
    Some(value.to_string())
}

/// Joins a list; `None` for an empty one.
fn list<T>(values: &[T], between: &str, text: impl Fn(&T) -> String) -> Option<String> {
    let texts: Vec<String> = values.iter().map(text).collect();
    (!texts.is_empty()).then(|| texts.join(between))
}

/// Writes bytes with the largest binary suffix that leaves a whole number. Where a job counts in
/// 1000s, suffixes mean something else and none is written.
fn bytes_text(bytes: u64, job: &Job) -> String {
    if job.reporting.kb_base != 1024 || bytes == 0 {
        return bytes.to_string();
    }
    let units = [(1_u64 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    match units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit)) {
        Some((unit, suffix)) => format!("{}{suffix}", bytes / unit),
        None => bytes.to_string(),
    }
}

fn size_text(size: Size, job: &Job) -> String {
    match size {
        Size::Bytes(bytes) => bytes_text(bytes, job),
        Size::Percent(pct) => format!("{pct}%"),
        Size::Zones(zones) => format!("{zones}z"),
    }
}

fn range_text(min: u64, max: u64, job: &Job) -> String {
    if min == max {
        return bytes_text(min, job);
    }
    format!("{}-{}", bytes_text(min, job), bytes_text(max, job))
}

/// Writes a duration with its unit, so that no default unit matters.
fn time_text(ns: u64) -> String {
    match ns {
        ns if ns % 1_000_000_000 == 0 => format!("{}s", ns / 1_000_000_000),
        ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns / 1000),
    }
}

/// Writes one value where all directions have the same, else one for each.
fn dirs_text<T: PartialEq>(dirs: &PerDir<T>, text: impl Fn(&T) -> String) -> String {
    if dirs.read == dirs.write && dirs.read == dirs.trim {
        return text(&dirs.read);
    }
    Direction::ALL.map(|dir| text(&dirs[dir])).join(",")
}

/// The same where a direction may have none; `None` where none has one.
fn given_dirs_text<T>(dirs: &PerDir<T>, text: impl Fn(&T) -> Option<String>) -> Option<String> {
    let texts = Direction::ALL.map(|dir| text(&dirs[dir]));
    let [read, write, trim] = &texts;
    match read {
        Some(text) if read == write && read == trim => Some(text.clone()),
        _ if texts.iter().all(Option::is_none) => None,
        _ => Some(texts.map(Option::unwrap_or_default).join(",")),
    }
}

fn service_text(service: FileService, ios_per_file: u32) -> String {
    let counted = |word: &str| match ios_per_file {
        1 => word.to_owned(),
        n => format!("{word}:{n}"),
    };
    match service {
        FileService::RoundRobin => counted("roundrobin"),
        FileService::Random => counted("random"),
        FileService::Sequential => counted("sequential"),
        FileService::Zipf(theta) => format!("zipf:{theta}"),
        FileService::Pareto(h) => format!("pareto:{h}"),
        FileService::Normal(pct) => format!("normal:{}", fio_normal_parameter_pct(pct)),
    }
}

fn distribution_text(distribution: &Distribution, job: &Job) -> Option<String> {
    let at = |centre: &Option<f64>| centre.map(|at| format!(":{at}")).unwrap_or_default();
    Some(match distribution {
        Distribution::Uniform => "random".to_owned(),
        Distribution::Zipf { theta, centre } => format!("zipf:{theta}{}", at(centre)),
        Distribution::Pareto { h, centre } => format!("pareto:{h}{}", at(centre)),
        Distribution::Normal { deviation_pct, centre } => {
            format!("normal:{}{}", fio_normal_parameter_pct(*deviation_pct), at(centre))
        }
        Distribution::Zoned(zones) => {
            let zone = |(share, region): &(u8, u8)| format!("{share}/{region}");
            format!("zoned:{}", list(zones, ":", zone).unwrap_or_default())
        }
        Distribution::ZonedAbs(zones) => {
            let zone = |(share, bytes): &(u8, u64)| format!("{share}/{}", bytes_text(*bytes, job));
            format!("zoned_abs:{}", list(zones, ":", zone).unwrap_or_default())
        }
        Distribution::Sequence(blocks) => {
            format!("sequence:{}", list(blocks, ",", u64::to_string).unwrap_or_default())
        }
        Distribution::Exponential { .. } | Distribution::Power { .. } => return None,
    })
}

fn memory_text(memory: &Memory) -> String {
    match memory {
        Memory::Malloc => "malloc".to_owned(),
        Memory::Shm { huge } => if *huge { "shmhuge" } else { "shm" }.to_owned(),
        Memory::Mmap { huge, shared, file } => {
            let word = match (huge, shared) {
                (true, _) => "mmaphuge",
                (_, true) => "mmapshared",
                _ => "mmap",
            };
            file.as_ref().map_or_else(|| word.to_owned(), |file| format!("{word}:{file}"))
        }
    }
}

/// Writes a pattern as hexadecimal bytes; `None` for an empty one.
fn pattern_text(parts: &[PatternPart]) -> Option<String> {
    list(parts, "", |part| match part {
        PatternPart::Offset => "%o".to_owned(),
        PatternPart::Bytes(bytes) => {
            bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
        }
    })
}

fn share_text(share: &PriorityShare, job: &Job) -> String {
    let size = share.block_bytes.map(|bytes| bytes_text(bytes.into(), job)).unwrap_or_default();
    let priority = share.priority;
    let (class, level, hint) = (priority.class(), priority.level(), priority.hint());
    if priority == crate::IoPriority::NONE {
        return format!("{size}/{}", share.pct);
    }
    let hint = if hint > 0 { format!("/{hint}") } else { String::new() };
    format!("{size}/{}/{class}/{level}{hint}", share.pct)
}

/// Returns the parameter of fio's `normal:` that gives this standard deviation, percent of the
/// region: the inverse of [`crate::workload::fio_normal_deviation_pct`], to nine digits.
fn fio_normal_parameter_pct(deviation_pct: f64) -> f64 {
    let mean_of_twelve_pct = 100.0 / 12.0;
    let added_pct2 = deviation_pct.powi(2) - f64::powi(mean_of_twelve_pct, 2);
    let parameter_pct = (added_pct2.max(0.0) * 12.0).sqrt();
    (parameter_pct * 1e9).round() / 1e9
}

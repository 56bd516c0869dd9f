//! What fio prints as the client of servers: what each did, and all of them together.
//!
//! As in fio 3.42, but for what no reader can want: rates of the sum have their units.

use std::fmt::Write as _;

use plan::Plan;
use record::{JobRecord, Record};

use super::ReportTime;
use super::json::{self, JsonOptions};
use super::json_text::Document;
use super::model;
use super::normal::{normal, put_job};
use super::start::start_lines;
use super::terse::{TerseVersion, terse};

/// What one server did.
#[derive(Clone, Copy, Debug)]
pub struct ClientResult<'a> {
    /// What its host calls itself.
    pub name: &'a str,
    /// Where it was called: the host, and the port.
    pub host: &'a str,
    /// See `host`; 0 where it was a socket.
    pub port: u16,
    /// Options of all its jobs.
    pub global_options: &'a [(String, String)],
    /// What it did.
    pub record: &'a Record,
}

/// Returns what is printed of a server's jobs before they run.
pub fn client_start_lines(name: &str, plan: &Plan) -> String {
    let text = start_lines(plan, "");
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| format!("<{name}> {line}\n")).collect()
}

/// Returns the normal report: the entries of each server, and their sum.
pub fn clients_normal(results: &[ClientResult<'_>], now: ReportTime) -> String {
    let mut text = String::new();
    for result in results {
        let _ = write!(text, "<{}> ", result.name);
        text.push_str(&normal(result.record, now));
    }
    if let Some(sum) = sum(results) {
        let groups = model::groups(&sum);
        for job in &sum.jobs {
            put_job(&mut text, job, model::group_of(&groups, job), now);
        }
    }
    text
}

/// Returns fio's JSON with `client_stats` in the place of `jobs`.
pub fn clients_json(results: &[ClientResult<'_>], options: JsonOptions<'_>) -> String {
    let sum = sum(results);
    let last = results.last();
    let with_sum = sum.as_ref().zip(last).map(|(record, last)| ClientResult { record, ..*last });
    Document::write(|top| {
        top.string("fio version", options.version);
        top.int("timestamp", options.now.unix_ms / 1000);
        top.string("time", &options.now.ctime());
        if let [one] = results {
            top.object("global options", |to| json::put_options(to, one.global_options));
        } else {
            let with = results.iter().filter(|of| !of.global_options.is_empty());
            top.objects("global options", with, |to, of| {
                put_client(to, of);
                json::put_options(to, of.global_options);
            });
        }
        let entries = results.iter().chain(&with_sum);
        let entries = entries.flat_map(|of| of.record.jobs.iter().map(move |job| (of, job)));
        top.objects("client_stats", entries, |to, (of, job)| {
            let groups = model::groups(of.record);
            json::put_client_job(to, job, model::group_of(&groups, job), options.plus);
            put_client(to, of);
        });
        let disks = results.iter().flat_map(|of| {
            let disks = model::printed_disks(of.record).iter();
            disks.map(move |disk| (of, disk))
        });
        top.objects("disk_util", disks, |to, (of, disk)| {
            json::put_disk(to, disk);
            put_client(to, of);
        });
    })
}

fn put_client(to: &mut Document, result: &ClientResult<'_>) {
    to.string("hostname", result.host);
    to.int("port", result.port);
}

/// Returns the terse lines of each server, and of their sum.
pub fn clients_terse(
    results: &[ClientResult<'_>],
    version: TerseVersion,
    fio_version: &str,
) -> String {
    let sum = sum(results);
    let records = results.iter().map(|of| of.record).chain(&sum);
    records.map(|record| terse(record, version, fio_version)).collect()
}

/// Returns the entry `All clients`; none where there is one entry, which says the same.
fn sum(results: &[ClientResult<'_>]) -> Option<Record> {
    let mut jobs = results.iter().flat_map(|of| &of.record.jobs);
    let of_no_step = |job: &JobRecord| JobRecord { step_idx: 0, ..job.clone() };
    let mut sum = of_no_step(jobs.next()?);
    let mut n_others = 0;
    for job in jobs {
        sum.merge(&of_no_step(job));
        sum.started_unix_ms = sum.started_unix_ms.min(job.started_unix_ms);
        n_others += 1;
    }
    let whole = JobRecord {
        name: "All clients".to_owned(),
        description: None,
        options: Vec::new(),
        pid: 0,
        queue_depth: 0,
        latency_target: None,
        steady: None,
        error_errno: 0,
        error_message: String::new(),
        ..sum
    };
    (n_others > 0).then(|| Record { jobs: vec![whole], ..Record::default() })
}

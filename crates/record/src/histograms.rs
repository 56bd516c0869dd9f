//! The histograms of a job by name, for whoever sends or keeps them apart from the rest.

use hist::Histogram;

use crate::{DIRECTIONS, DirRecord, JobRecord, PerDirRecord, PriorityRecord, SeriesRecord};

impl JobRecord {
    /// Visits every histogram, each under a name of its own that is the same in every record of
    /// the job, such as `read/clat`. One that is not counted (a response time without a rate) is
    /// not visited.
    pub fn each_histogram(&mut self, visit: &mut dyn FnMut(&str, &mut Histogram)) {
        let JobRecord { dirs: PerDirRecord { read, write, trim }, series, sync, .. } = self;
        visit("sync", sync);
        for (name, dir) in DIRECTIONS.into_iter().zip([read, write, trim]) {
            dir.each_histogram(name, visit);
        }
        for SeriesRecord { part, op, lat, .. } in series {
            visit(&format!("series/{op}/{part}"), lat);
        }
    }
}

impl DirRecord {
    fn each_histogram(&mut self, dir: &str, visit: &mut dyn FnMut(&str, &mut Histogram)) {
        let DirRecord { slat, clat, lat, response, priorities, .. } = self;
        for (name, of) in [("slat", slat), ("clat", clat), ("lat", lat)] {
            visit(&format!("{dir}/{name}"), of);
        }
        if let Some(response) = response {
            visit(&format!("{dir}/response"), response);
        }
        for PriorityRecord { priority, clat, lat } in priorities {
            let name = format!("{dir}/{}.{}.{}", priority.class, priority.level, priority.hint);
            visit(&format!("{name}/clat"), clat);
            visit(&format!("{name}/lat"), lat);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A record in which every histogram has another number of values.
    fn full() -> JobRecord {
        let mut job = JobRecord::default();
        for dir in [&mut job.dirs.read, &mut job.dirs.write, &mut job.dirs.trim] {
            dir.response = Some(Histogram::new());
            dir.priorities = vec![PriorityRecord::default()];
        }
        job.series = ["open", "close"].map(|op| series(op, "")).to_vec();
        job.series.push(series("open", "b"));
        let mut n = 0;
        job.each_histogram(&mut |_, of| {
            n += 1;
            of.record_n(1000, n);
        });
        job
    }

    fn series(op: &str, part: &str) -> SeriesRecord {
        SeriesRecord { op: op.to_owned(), part: part.to_owned(), ..SeriesRecord::default() }
    }

    #[test]
    fn what_is_taken_out_and_put_back_is_the_same_job() {
        let whole = full();
        let mut taken = BTreeMap::new();
        let mut empty = whole.clone();
        empty.each_histogram(&mut |name, of| {
            let before = taken.insert(name.to_owned(), std::mem::take(of));
            assert_eq!(before, None, "{name} is visited twice");
        });
        // Every histogram that the record has was visited.
        let json = serde_json::to_string(&empty).expect("a record");
        let n_there = json.matches(r#""histogram":"#).count();
        assert_eq!(n_there, taken.len(), "{json}");
        let mut again: JobRecord = serde_json::from_str(&json).expect("a record");
        again.each_histogram(&mut |name, of| *of = taken.remove(name).expect("it was taken"));
        assert_eq!(again, whole);
    }
}

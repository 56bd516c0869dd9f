//! Jobs that are left out: what Vdbench would do instead touches what they do not.

use plan::workload::Workload;
use plan::{EngineKind, EngineWork, Job};

use super::places::n_luns;
use super::writer::{JobPosition, Writer};

/// Most files of a job that are written, each as a storage definition: a text of some 100 KiB.
/// Vdbench keeps buffers, threads and tables for each of them, and a job of a million files of
/// which a few are open is another load there in any case.
const LUNS_MAX: u64 = 4096;

impl Writer<'_> {
    /// Says whether a job is left out, and notes why.
    pub(super) fn leaves_out(&mut self, position: JobPosition, job: &Job) -> bool {
        let name = &job.name;
        if let Some(why) = self.left_out.get(&position) {
            self.to.lose(why.clone());
            return true;
        }
        if job.tree.is_some() {
            return false;
        }
        if let Some(instead) = not_real(job.engine.kind) {
            let engine = &job.engine.name;
            self.to.lose(format!("`{name}` is left out: engine `{engine}` {instead}"));
            return true;
        }
        let n_luns = n_luns(job);
        if n_luns > LUNS_MAX {
            self.to.lose(format!(
                "`{name}` is left out: it has {n_luns} files, and each would be a storage \
                 definition; at most {LUNS_MAX} are written"
            ));
            return true;
        }
        let access = job.access();
        if access.trim && !access.read && !access.write {
            self.to.lose(format!("trims: Vdbench has none, and `{name}` is left out"));
            return true;
        }
        let leaves_gaps = |workload: &Workload| {
            let access = workload.access;
            access.write && !access.random && workload.sequential_step_bytes != 0
        };
        if job.workloads().any(leaves_gaps) {
            self.to.lose(format!(
                "`{name}` is left out: it leaves bytes between its writes alone, and Vdbench would \
                 write them"
            ));
            return true;
        }
        false
    }
}

/// Says what an engine does that is no I/O on files and devices as Vdbench does it; `None` for
/// those that read and write.
fn not_real(kind: EngineKind) -> Option<&'static str> {
    match kind.traits().work {
        EngineWork::Bytes | EngineWork::MappedBytes => None,
        EngineWork::Nothing => Some("moves nothing, and Vdbench would read and write"),
        EngineWork::ServerBytes => {
            Some("reaches a server by itself, and Vdbench works on mounted files")
        }
        EngineWork::Space(_) => {
            Some("changes sizes of files alone, and Vdbench would read and write")
        }
        EngineWork::Names(_) => Some("works on names, and Vdbench would read and write"),
    }
}

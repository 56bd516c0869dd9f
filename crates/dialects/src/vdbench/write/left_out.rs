//! Values of jobs before they are written, and jobs that are left out: what Vdbench would do
//! instead touches what they do not.

use plan::param::{Category, Field, Setting};
use plan::tree::Activity;
use plan::workload::{Distribution, Workload};
use plan::{EngineKind, EngineWork, Job, job_field, job_fields};

use super::alone;
use super::places::{NAMES, REGION, are_names_said, is_region_said};
use super::words::is_sayable;
use super::writer::Writer;
use crate::devices::is_device;
use crate::translation::{Values, luns, n_luns};

/// Most files of a job that are written, each as a storage definition: a text of some 100 KiB.
/// Vdbench keeps buffers, threads and tables for each of them, and a job of a million files of
/// which a few are open is another load there in any case.
const LUNS_MAX: u64 = 4096;

impl Writer {
    /// Returns the values of a job that need an answer, a set for each of its workloads; `None`
    /// where it is left out, which is noted.
    pub(super) fn values_of(&mut self, job: &Job) -> Option<Vec<Values>> {
        let values = match &job.tree {
            Some(work) => match work.activity {
                Activity::Operations(_) => vec![self.values_of_tree(job)],
                Activity::Format(_) => Vec::new(),
            },
            None => self.values_of_storage(job),
        };
        let is_harmful = job.tree.is_none() && job.modifies();
        let place = || values.iter().zip(job.workloads()).find_map(|it| unsayable_place(job, it));
        let place = if is_harmful { place() } else { None };
        if let Some(why) = why_left_out(job).or(place.map(|it| elsewhere(job, it))) {
            self.to.lose(why);
            return None;
        }
        Some(values)
    }

    fn values_of_tree(&self, job: &Job) -> Values {
        let mut values = Values::of(&alone(job, None));
        values.beside(&self.usual.of_trees);
        // What the job as a whole says of its I/O is a summary of its tasks.
        values.retain(|param| {
            param.category() != Category::Workload && !param.says(&job_field!(engine.name))
        });
        values
    }

    fn values_of_storage(&mut self, job: &Job) -> Vec<Values> {
        let own = job.parts.is_empty().then_some(None);
        let parts = own.into_iter().chain(job.parts.iter().map(Some));
        let mut sets: Vec<Values> = Vec::new();
        for part in parts {
            let alone = alone(job, part);
            let mut values = Values::of(&alone);
            values.beside(&self.usual.of_storage);
            for (field, is_same) in without_effect(job, &alone.workload) {
                if is_same && values.accept_other(field) {
                    self.to.do_without(&[field]);
                }
            }
            if !sets.is_empty() {
                values.retain(|param| param.category() == Category::Workload);
            }
            sets.push(values);
        }
        sets
    }
}

/// Returns a value that says where a job works, and that Vdbench cannot say.
fn unsayable_place<'a>(
    job: &Job,
    (values, workload): (&'a Values, &Workload),
) -> Option<&'a Setting> {
    let sayable = sayable_places(job, workload);
    let is_sayable = |it: &Setting| sayable.iter().any(|field| it.param.says(field));
    values.open().find(|it| it.param.says_where() && !is_sayable(it))
}

/// Returns the fields that say where a job works, as far as Vdbench has words for what they are.
fn sayable_places(job: &Job, workload: &Workload) -> Vec<Field> {
    let mut sayable = job_fields![workload.skip_bytes, workload.starts_anywhere].to_vec();
    if are_names_said(job) {
        sayable.extend(NAMES);
    }
    if is_region_said(job) {
        sayable.extend(REGION);
    }
    if !workload.starts_anywhere {
        sayable.extend(job_fields![workload.ends_with_region]);
    }
    if luns_are_devices(job) {
        sayable.extend(job_fields![files.spares_first_block]);
    }
    sayable
}

/// Returns fields that all jobs on storage definitions have alike, and whether the I/O of this one
/// is the same with them.
fn without_effect(job: &Job, workload: &Workload) -> [(Field, bool); 7] {
    let access = workload.access;
    let is_even = workload.distribution.iter().all(|(_, it)| *it == Distribution::Uniform);
    let draws_once = access.random && is_even && !workload.ends_with_region;
    let is_cached = !job.files.direct && access.read;
    [
        // Each thread waits for its I/O, however that is issued.
        (job_field!(engine.name), true),
        (job_field!(engine.gives_way), true),
        (job_field!(load.spreads), true),
        // Where sizes differ, `align=` says the multiple.
        (job_field!(workload.aligned_to_length), true),
        (job_field!(workload.no_repeats), !draws_once),
        (job_field!(files.invalidate), !is_cached),
        (job_field!(files.fadvise), !is_cached),
    ]
}

/// Returns whether all files of a job are devices, of which Vdbench leaves the first block alone.
pub(super) fn luns_are_devices(job: &Job) -> bool {
    n_luns(job) <= LUNS_MAX && luns(job).iter().all(|lun| is_device(lun))
}

fn elsewhere(job: &Job, it: &Setting) -> String {
    let key = it.param.fio_name();
    format!(
        "`{}` is left out: Vdbench cannot say `{key}={}`, and would write elsewhere than the job",
        job.name, it.text
    )
}

/// Returns why a job is left out whatever its values; `None` where it is written.
fn why_left_out(job: &Job) -> Option<String> {
    let name = &job.name;
    if let Some(work) = &job.tree {
        let trees = std::iter::once(&work.tree).chain(&work.target);
        let unsayable = trees.map(|it| &it.anchor).find(|anchor| !is_sayable(anchor));
        return unsayable.map(|anchor| unsayable_path(name, anchor));
    }
    if let Some(instead) = not_real(job.engine.kind) {
        let engine = &job.engine.name;
        return Some(format!("`{name}` is left out: engine `{engine}` {instead}"));
    }
    let n_luns = n_luns(job);
    if n_luns > LUNS_MAX {
        return Some(format!(
            "`{name}` is left out: it has {n_luns} files, and each would be a storage definition; \
             at most {LUNS_MAX} are written"
        ));
    }
    if let Some(lun) = luns(job).iter().find(|lun| !is_sayable(lun)) {
        return Some(unsayable_path(name, lun));
    }
    let access = job.access();
    if access.trim && !access.read && !access.write {
        return Some(format!("trims: Vdbench has none, and `{name}` is left out"));
    }
    let leaves_gaps = |workload: &Workload| {
        let access = workload.access;
        access.write && !access.random && workload.sequential_step_bytes != 0
    };
    job.workloads().any(leaves_gaps).then(|| {
        format!(
            "`{name}` is left out: it leaves bytes between its writes alone, and Vdbench would \
             write them"
        )
    })
}

fn unsayable_path(name: &str, path: &str) -> String {
    format!("`{name}` is left out: Vdbench has no way to write quotes or line ends in {path:?}")
}

/// Returns what an engine does that is no I/O on files and devices as Vdbench does it; `None` for
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

//! Needs as a load on a design that was made for them.

use std::path::Path;

use plan::Plan;
use volume::Design;
use volume::design::Backing;

/// Where a plan was made of needs, puts each volume's load where the design has that volume, and
/// gives the load of a network volume a worker for each of the machines that reach it.
pub(super) fn fit(plan: &mut Plan, design: &Design) {
    let is_of_needs = !plan.sources.is_empty()
        && plan.sources.iter().all(|source| ::needs::declares(&source.text));
    if !is_of_needs {
        return;
    }
    for job in plan.jobs_mut() {
        for name in &mut job.files.names {
            let below = format!("{}{name}", ::needs::MOUNTS);
            if volume_of(design, name).is_none() && volume_of(design, &below).is_some() {
                *name = below;
            }
        }
        let volumes = job.files.names.iter().filter_map(|name| volume_of(design, name));
        let is_network = |idx: usize| matches!(design.volumes[idx].backing, Backing::Network(_));
        if volumes.into_iter().any(is_network)
            && let Some(clients) = design.clients_of(&job.name)
        {
            job.n_workers = job.n_workers.max(u32::from(clients.end - clients.start));
            job.reporting.group_reporting = true;
        }
    }
}

/// Returns the volume that a path lies on.
fn volume_of(design: &Design, path: &str) -> Option<usize> {
    let is_on = |mount: &str| Path::new(path).starts_with(mount);
    design.volumes.iter().position(|volume| is_on(&volume.mount))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: &str = "schema = \"plimsoll.needs/1\"\nname = \"test\"\n[[volume]]\n\
                         name = \"data\"\ncapacity_gib = 10\n[[phase]]\nname = \"peak\"\n\
                         [[phase.volume]]\nname = \"data\"\niops = 100\nio_size_kib = 8\n\
                         read_percent = 50\n";

    /// Returns files and workers of the one job.
    fn fitted(text: &str, design: &str) -> (Vec<String>, u32) {
        let wishes = dialects::LowerOptions::default();
        let parsed = if ::needs::declares(text) {
            dialects::needs::parse_text("a file", text, &wishes, &dialects::NO_HOST)
        } else {
            dialects::fio::parse_text("a file", text, &wishes, &dialects::NO_HOST)
        };
        let mut plan = parsed.plan;
        fit(&mut plan, &volume::design::parse(design).0.expect("a design"));
        let job = plan.jobs().next().expect("a job");
        (job.files.names.clone(), job.n_workers)
    }

    const SHARED: &str = "[[volume]]\nmount='/mnt/data'\nservice='Ultra'\nquota='1TiB'\n\
                          [[client]]\nname='node'\negress='100MiB/s'\ncount=3\n";

    #[test]
    fn a_volume_is_found_below_mnt_and_each_machine_has_a_worker() {
        let file = |folder: &str| vec![format!("{folder}/plimsoll.load")];
        assert_eq!(fitted(NEEDS, SHARED), (file("/mnt/data"), 3));
        let at_root = "[[volume]]\nmount='/data'\ndisk='P30'\ncache='None'\n";
        assert_eq!(fitted(NEEDS, at_root), (file("/data"), 1));
        let elsewhere = "[[volume]]\nmount='/mnt/other'\ndisk='P30'\ncache='None'\n";
        assert_eq!(fitted(NEEDS, elsewhere), (file("/data"), 1));
        // A drive of Windows, and a device of a trace, as `plimsoll design` mounts them.
        for (name, folder) in [("D:", "/mnt/D-"), ("8,16", "/mnt/8-16")] {
            let needs = NEEDS.replace("\"data\"", &format!("\"{name}\""));
            let design = at_root.replace("/data", folder);
            assert_eq!(fitted(&needs, &design), (file(folder), 1));
        }
    }

    #[test]
    fn a_job_that_somebody_wrote_stays_as_it_is() {
        let job = "[j]\nfilename=/data/f\nrw=randread\nsize=1m\n";
        assert_eq!(fitted(job, SHARED), (vec!["/data/f".to_owned()], 1));
    }
}

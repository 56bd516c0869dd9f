//! Needs as a load on a design that was made for them.

use std::path::Path;

use plan::files::Size;
use plan::load::Load;
use plan::workload::HitArea;
use plan::{Job, Plan};
use volume::Design;
use volume::design::{Backing, Promised};

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
        warm(job, design);
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

/// Where the design counts on its host cache for reads of a job, lets so many of them go to a small
/// area at the start of the file, which is soon in the cache: what is read again and again is there
/// when the application has run for a while, and a run of a minute does not get to it.
fn warm(job: &mut Job, design: &Design) {
    let volume = job.files.names.iter().find_map(|name| volume_of(design, name));
    let Some(mount) = volume.map(|idx| &design.volumes[idx].mount) else { return };
    let of_volume = || design.promises.iter().filter(|it| it.volume == *mount);
    let is_of_phase = |it: &&Promised| job.name.starts_with(&format!("{} ", it.phase));
    let promised = of_volume().find(is_of_phase).or_else(|| of_volume().next());
    let hits = promised.map_or(0.0, |it| it.hit_share);
    let Load { rate_total_iops: Some(iops), .. } = job.load else { return };
    if hits <= 0.0 || job.workload.hit_area.is_some() || !job.workload.access.random {
        return;
    }
    let sizes = &job.workload.block_size.read;
    let (mean, largest) = (sizes.mean(), f64::from(sizes.max()).max(1.0));
    let area = HitArea::bytes_for(iops * job.workload.read_pct / 100.0 * hits, mean);
    let len_bytes = ((area / largest).ceil().max(1.0) * largest) as u64;
    if matches!(job.files.size, Some(Size::Bytes(size)) if len_bytes > size / 4) {
        return;
    }
    job.workload.hit_area = Some(HitArea { len_bytes, read_pct: hits * 100.0, write_pct: 0.0 });
    let random = &mut job.workload.random_pct.read;
    let left = if hits < 1.0 { (*random / 100.0 - hits) / (1.0 - hits) } else { 1.0 };
    *random = left.clamp(0.0, 1.0) * 100.0;
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
        let plan = fitted_plan(text, design);
        let job = plan.jobs().next().expect("a job");
        (job.files.names.clone(), job.n_workers)
    }

    fn fitted_plan(text: &str, design: &str) -> Plan {
        let wishes = dialects::LowerOptions::default();
        let parsed = if ::needs::declares(text) {
            dialects::needs::parse_text("a file", text, &wishes, &dialects::NO_HOST)
        } else {
            dialects::fio::parse_text("a file", text, &wishes, &dialects::NO_HOST)
        };
        let mut plan = parsed.plan;
        fit(&mut plan, &volume::design::parse(design).0.expect("a design"));
        plan
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

    /// 95 of 100 I/Os at 14,000 a second are reads, all of which the design counts on the cache
    /// for: 665 in 50 ms, each of 8 KiB.
    #[test]
    fn reads_that_the_design_counts_on_its_cache_for_go_to_a_small_area() {
        let needs = NEEDS.replace("iops = 100", "iops = 14000");
        let needs = needs.replace("read_percent = 50", "read_percent = 95");
        let of = |hit_percent: &str| {
            let design = format!(
                "[vm]\nsize='D8s_v3'\n[[volume]]\nmount='/mnt/data'\ndisk='P30'\n\
                 cache='ReadOnly'\n[[promise]]\n\
                 volume='/mnt/data'\nphase='peak'\niops=14000\nio_size_kib=8\nread_percent=95\n\
                 {hit_percent}"
            );
            fitted_plan(&needs, &design).jobs().next().expect("a job").workload.hit_area
        };
        let area = HitArea { len_bytes: 665 * 8192, read_pct: 100.0, write_pct: 0.0 };
        assert_eq!(of("hit_percent=100\n"), Some(area));
        assert_eq!(of(""), None);
    }

    #[test]
    fn a_job_that_somebody_wrote_stays_as_it_is() {
        let job = "[j]\nfilename=/data/f\nrw=randread\nsize=1m\n";
        assert_eq!(fitted(job, SHARED), (vec!["/data/f".to_owned()], 1));
    }
}

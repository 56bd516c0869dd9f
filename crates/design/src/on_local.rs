//! Disks of the machine itself for volumes whose contents may be lost with it.

use volume::Design;
use volume::design::{Backing, Local, parse_in_mb};

use crate::candidate::{Candidate, Fit, VolumeContext, limits_of};
use crate::group::Caps;
use crate::kind::chunk_bytes;
use crate::market::Market;
use crate::price::Price;
use crate::uses::ROUNDING;

/// A design with one volume on local disks, to ask about.
fn frame(local: &Local, market: &Market<'_>) -> Option<Design> {
    let text = format!(
        "edition = \"{}\"\n[[volume]]\nmount = \"/v\"\nlocal = true\n\
         disk = {{ size = \"1GiB\" }}\n",
        market.terms.edition
    );
    let mut frame = parse_in_mb(&text, &market.catalog, market.terms.mb_bytes)?;
    let volume = frame.volumes.first_mut()?;
    volume.latency = local.latency;
    let Backing::Disks(stripe) = &mut volume.backing else { return None };
    stripe.disks = vec![local.disk.clone()];
    Some(frame)
}

/// Returns the numbers of local disks that carry a volume, the fewest first. They cost nothing, so
/// that more of them are of use as long as these carry more.
pub(crate) fn candidates(
    context: &VolumeContext<'_>,
    local: &Local,
    market: &Market<'_>,
) -> Vec<Candidate> {
    let Some(frame) = frame(local, market) else { return Vec::new() };
    let disk = &local.disk;
    let chunk_bytes = chunk_bytes(context.volume());
    let most_ms = context.volume().latency_ms_max.unwrap_or(f64::INFINITY);
    if context.latency_s(&frame, disk, chunk_bytes) * 1e3 > most_ms * (1.0 + ROUNDING) {
        return Vec::new();
    }
    let asked = context.asked(&frame, disk, chunk_bytes);
    let fit = Fit { context, frame: &frame, asked: &asked };
    let Some(fewest) = fit.fewest(disk, local.n_disks) else { return Vec::new() };
    let of = |n_local: u32| Candidate {
        kind: None,
        n_disks: 0,
        n_local,
        cache: context.cache,
        chunk_bytes,
        size_bytes: disk.size_bytes,
        iops: None,
        throughput: None,
        // They are in the machine's price.
        price: Price::default(),
        times: fit.times(limits_of(disk), n_local),
        uses: fit.uses(n_local).iter().map(|uses| uses.machine).collect(),
        per_io: fit.per_io(n_local).machine,
        has_base: None,
    };
    let mut all = vec![of(fewest)];
    for n_local in fewest + 1..=local.n_disks {
        let more = of(n_local);
        if all.iter().all(|known| known.times < more.times) {
            all.push(more);
        }
    }
    all
}

/// Says whether no limit is known of local disks, neither of their own nor of the cached path that
/// they share.
pub(crate) fn is_open(local: &Local, caps: &Caps) -> bool {
    let cap = &local.disk.cap;
    let is_known = cap.iops.is_some() && cap.bytes.is_some();
    let shares_known_path = local.disk.has_no_limit() && caps.has_cached_path;
    !(is_known || shares_known_path)
}

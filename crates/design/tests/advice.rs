//! Rules that apply to a design: of each a case where it does and one where it does not.

use design::advice::{Advice, advice};
use design::{Need, PhaseNeed, VolumeNeed, VolumeUse, judge};
use volume::design::parse;

const DS14: &str = "edition='2018'\n[vm]\nsize='DS14'\n";

/// A volume of P30 disks behind a machine with a host cache.
fn p30(keys: &str) -> String {
    format!("{DS14}[[volume]]\nmount='/d'\ndisk='P30'\n{keys}\n")
}

/// Data that are asked for so many I/Os of a size.
fn asked(iops: f64, size_kib: u64, read_share: f64) -> VolumeNeed {
    let phase = PhaseNeed {
        phase: "peak".to_owned(),
        iops,
        size_bytes: size_kib << 10,
        read_share,
        ..PhaseNeed::default()
    };
    VolumeNeed { mount: "/d".to_owned(), phases: vec![phase], ..VolumeNeed::default() }
}

fn rules(design: &str, volume: VolumeNeed) -> Vec<Advice> {
    let (parsed, findings) = parse(design);
    let parsed = parsed.unwrap_or_else(|| panic!("{design}: {findings:?}"));
    let need = Need { volumes: vec![volume], ..Need::default() };
    advice(&parsed, &need, &judge(&parsed, &need))
}

/// Checks that a rule applies to the first and not to the second, with its source.
#[track_caller]
fn check(rule: &str, source: &str, (yes, no): ((&str, VolumeNeed), (&str, VolumeNeed))) {
    let found = rules(yes.0, yes.1);
    let it = found.iter().find(|advice| advice.rule.contains(rule));
    let it = it.unwrap_or_else(|| panic!("no `{rule}` in {found:#?}"));
    assert!(it.source.contains(source) && it.reason.len() > 10, "{it:?}");
    let found = rules(no.0, no.1);
    assert!(!found.iter().any(|advice| advice.rule.contains(rule)), "`{rule}` in {found:#?}");
}

const GUIDE: &str = "Azure Premium Storage: design for high performance, 2018";

fn log(read_share: f64) -> VolumeNeed {
    VolumeNeed { usage: VolumeUse::Log, ..asked(1000.0, 64, read_share) }
}

#[test]
fn what_is_on_local_disks_may_be_lost_and_premium_disks_want_drivers() {
    let local = "[vm]\nsize='E8bds_v5'\n[[volume]]\nmount='/d'\ndisk='local'\n";
    let temp = VolumeNeed { usage: VolumeUse::Temp, ..asked(1000.0, 64, 0.5) };
    let off = p30("cache='None'");
    check("file system anew", "instance store", ((local, temp.clone()), (&off, temp.clone())));
    check("newest storage drivers", GUIDE, ((&off, temp.clone()), (local, temp)));
}

#[test]
fn a_log_has_no_host_cache() {
    let (off, on) = (p30("cache='None'"), p30("cache='ReadOnly'"));
    let data = asked(1000.0, 64, 0.5);
    check("no host cache (None)", GUIDE, ((&off, log(0.0)), (&off, data.clone())));
    check("set the host cache to None", GUIDE, ((&on, log(0.0)), (&on, data)));
    // A disk that can have none needs no word about it.
    let gp3 = "[[volume]]\nmount='/d'\ndisk='gp3'\nsize='1TiB'\n";
    check("host cache", GUIDE, ((&off, log(0.0)), (gp3, log(0.0))));
}

#[test]
fn the_cache_follows_the_mix_of_reads_and_writes() {
    let (off, on) = (p30("cache='None'"), p30("cache='ReadOnly'"));
    let (writes, reads) = (asked(1000.0, 8, 0.2), asked(1000.0, 8, 0.9));
    check("set the host cache to None", GUIDE, ((&on, writes.clone()), (&on, reads.clone())));
    check("no host cache (None)", GUIDE, ((&off, writes.clone()), (&off, reads.clone())));
    check("working_set_gib", GUIDE, ((&off, reads.clone()), (&off, writes)));
    let known = VolumeNeed { working_set_gib: Some(50.0), ..reads.clone() };
    check("working_set_gib", GUIDE, ((&off, reads), (&off, known)));
}

#[test]
fn a_cache_at_work_is_warmed_and_not_changed_under_way() {
    let (off, on) = (p30("cache='None'"), p30("cache='ReadOnly'"));
    let set = VolumeNeed { working_set_gib: Some(50.0), ..asked(1000.0, 8, 0.9) };
    let cases = || ((&*on, set.clone()), (&*off, set.clone()));
    check("warm the cache", GUIDE, cases());
    check("stop what uses a disk before its cache mode is changed", GUIDE, cases());
    check("barriers may be off", "premium storage performance, 2021-06-29", cases());
    // What counts on no hits needs no warming.
    check("warm the cache", GUIDE, ((&on, set.clone()), (&on, asked(1000.0, 8, 0.9))));
    let both = p30("cache='ReadWrite'");
    check("ReadWrite only if the application flushes", GUIDE, ((&both, set.clone()), (&on, set)));
}

#[test]
fn the_stripe_unit_follows_the_size_of_the_ios() {
    let four = p30("cache='None'\ncount=4");
    let (small, large) = (asked(1000.0, 8, 0.5), asked(100.0, 1024, 0.5));
    check("a stripe unit of 64 KiB", GUIDE, ((&four, small.clone()), (&four, large.clone())));
    let instead = "a stripe unit of 256 KiB, in place of 64 KiB";
    check(instead, GUIDE, ((&four, large.clone()), (&four, small.clone())));
    check("a stripe unit", GUIDE, ((&four, small.clone()), (&p30("cache='None'"), small)));
    let wide = p30("cache='None'\ncount=4\nchunk='256KiB'");
    check("in place of", GUIDE, ((&four, large.clone()), (&wide, large)));
}

#[test]
fn a_stripe_has_a_column_for_each_disk() {
    let need = asked(1000.0, 8, 0.5);
    let (all, half) = (p30("cache='None'\ncount=16"), p30("cache='None'\ncount=16\ncolumns=8"));
    check("16 columns, in place of 8", GUIDE, ((&half, need.clone()), (&all, need.clone())));
    let eight = p30("cache='None'\ncount=8");
    check("with PowerShell", GUIDE, ((&all, need.clone()), (&eight, need.clone())));
    let gp3 = "[[volume]]\nmount='/d'\ndisk='gp3'\nsize='1TiB'\ncount=16\n";
    check("with PowerShell", GUIDE, ((&all, need.clone()), (gp3, need)));
}

/// 5,000 x 0.001 s are five in flight; 4 disks take 32 to 64.
#[test]
fn the_depth_is_rate_times_latency_and_8_to_16_on_each_disk() {
    let (one, four) = (p30("cache='None'"), p30("cache='None'\ncount=4"));
    let little = "Little's law";
    let (met, missed) = (asked(5000.0, 8, 0.5), asked(6000.0, 8, 0.5));
    check("keep at least 5 in flight in phase peak", little, ((&one, met.clone()), (&one, missed)));
    let found = rules(&four, met.clone());
    let each = found.iter().find(|advice| advice.rule.contains("8 to 16 in flight on each disk"));
    assert!(each.is_some_and(|each| each.reason.starts_with("32 to 64 over 4 disks")), "{found:?}");
    let nothing = VolumeNeed { phases: Vec::new(), ..met.clone() };
    check("8 to 16 in flight", GUIDE, ((&one, met), (&one, nothing)));
}

#[test]
fn the_tightest_cap_says_whether_ios_should_be_larger_or_smaller() {
    let one = p30("cache='None'");
    let (small, large) = (asked(4900.0, 8, 0.5), asked(1500.0, 128, 0.5));
    check("larger I/Os", GUIDE, ((&one, small.clone()), (&one, large.clone())));
    check("smaller I/Os", GUIDE, ((&one, large), (&one, small)));
    let gp3 = "[[volume]]\nmount='/d'\ndisk='gp3'\nsize='1TiB'\n";
    let random = asked(1000.0, 8, 0.5);
    let mut ordered = random.clone();
    ordered.phases[0].random_share = 0.0;
    let in_order = "write and read in order";
    check(in_order, "Amazon EC2", ((gp3, random.clone()), (gp3, ordered)));
    check(in_order, "Amazon EC2", ((gp3, random.clone()), (&one, random)));
}

#[test]
fn databases_have_settings_for_size_and_threads() {
    let one = p30("cache='None'");
    let (small, large) = (asked(4000.0, 8, 0.5), asked(150.0, 1024, 0.9));
    let near = "DB_BLOCK_SIZE near 8 KiB";
    check(near, GUIDE, ((&one, small.clone()), (&one, large.clone())));
    let largest = "DB_BLOCK_SIZE as large as it goes";
    check(largest, GUIDE, ((&one, large), (&one, small.clone())));
    check("DB_BLOCK_SIZE", GUIDE, ((&one, small.clone()), (&one, log(0.0))));
    // One thread keeps one in flight.
    let one_thread = asked(900.0, 8, 0.5);
    check("a MAXDOP of at least 4", GUIDE, ((&one, small.clone()), (&one, one_thread.clone())));
    check("a MAXDOP", GUIDE, ((&one, small), (&one, one_thread)));
}

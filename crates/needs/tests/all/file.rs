//! What a person writes, and what is printed.

use needs::{Amount, Growth, Label, Percentile, PhaseName, VolumeUse, parse};
use proptest::prelude::*;

use crate::parsed;
use crate::strategy::needs;

#[test]
fn a_person_writes_few_lines() {
    let needs = parsed(
        "[[volume]]\nname = 'data'\ncapacity_gib = 500\n[[phase]]\nname = 'peak'\n\
         [[phase.volume]]\nname = 'data'\niops = 5000\nread_percent = 70\n\
         io_size_kib = { p50 = 8, p99 = 64 }\n",
    );
    let load = needs.phase(PhaseName::Peak).and_then(|phase| phase.load("data")).expect("a load");
    let iops = load.iops.as_ref().expect("written");
    assert_eq!((iops.p50, iops.p99, iops.label), (Some(5000.0), Some(5000.0), Label::Assumed));
    assert_eq!(load.io_size_kib.as_ref().and_then(|size| size.p99), Some(64.0));
    assert_eq!(needs.volumes[0].capacity_gib, Some(Amount::by_hand(500.0)));
    assert_eq!(needs.percentile, Percentile::P99);
}

#[test]
fn a_designer_says_what_is_wanted() {
    let needs = parsed(
        "percentile = 'max'\ngrowth = { capacity = 2, load = 1.5 }\npeak_factor = 3\n\
         [machine]\ncpus = 16\nmemory_gib = 64\n\
         [[volume]]\nname = 'log'\nuse = 'log'\nlatency_ms_max = 2\ngrowth = 1.2\n\
         [[volume]]\nname = 'data'\nworking_set_gib = { value = 60, label = 'estimated' }\n",
    );
    assert_eq!(needs.percentile, Percentile::Max);
    let [log, data] = &needs.volumes[..] else { panic!("{needs:?}") };
    assert_eq!(log.usage, Some(VolumeUse::Log));
    assert_eq!(needs.growth_of(log), Growth { capacity: 1.2, load: 1.2 });
    assert_eq!(needs.growth_of(data), Growth { capacity: 2.0, load: 1.5 });
    let set = data.working_set_gib.as_ref().expect("written");
    assert_eq!((set.value, set.label, set.source.as_str()), (60.0, Label::Estimated, "by hand"));
    assert_eq!(needs.machine.cpus, Some(Amount::by_hand(16.0)));
    assert_eq!(needs.peak_factor, Some(3.0));
}

#[test]
fn a_file_of_needs_says_so() {
    assert!(needs::declares("# mine\n\nschema = \"plimsoll.needs/1\"\n"));
    assert!(needs::declares("[[volume]]\nname = 'a'\n [[phase]]\nname = 'peak'\n"));
    for text in ["", "schema = \"plimsoll.plan/1\"", "[global]\nrw=read", "[[volume]]"] {
        assert!(!needs::declares(text), "{text}");
    }
    assert!(needs::declares(&needs::Needs::default().to_toml()));
}

proptest! {
    /// What is printed is read as it was.
    #[test]
    fn printed_needs_are_read_as_they_were(needs in needs()) {
        let text = needs.to_toml();
        let (read, findings) = parse(&text);
        prop_assert_eq!(read.as_ref(), Some(&needs), "{:?}\n{}", findings, text);
    }

    /// No text makes the reader panic, and what it takes it prints and takes again.
    #[test]
    fn any_text_is_read_or_refused(
        text in "(schema|name|iops|volume|phase|growth|cpus|[\\[\\]{}='\", .0-9a-z\n-]){0,60}"
    ) {
        if let (Some(needs), _) = parse(&text) {
            let printed = needs.to_toml();
            prop_assert_eq!(parse(&printed).0.map(|again| again.to_toml()), Some(printed));
        }
    }
}

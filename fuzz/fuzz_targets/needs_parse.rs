//! Files of needs: no text makes the parser panic, and what it takes it prints and takes again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use needs::{parse, requirements};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (Some(needs), _) = parse(&text) else { return };
    let printed = needs.to_toml();
    let (again, findings) = parse(&printed);
    let again = again.unwrap_or_else(|| panic!("{findings:?}: {printed}"));
    assert_eq!(again.to_toml(), printed);
    for volume in requirements(&needs).volumes {
        for load in volume.loads {
            let amounts = load.amounts().into_iter().filter_map(|(_, amount)| amount);
            amounts.for_each(|amount| assert!(amount.value >= 0.0, "{amount:?}"));
        }
    }
});

//! Files of needs: no text makes the parser panic, and what it takes it prints and takes again.

#![no_main]

use capture::Needs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(needs) = Needs::parse(&String::from_utf8_lossy(bytes)) else { return };
    let printed = needs.to_toml();
    let again = Needs::parse(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert_eq!(again.to_toml(), printed);
});

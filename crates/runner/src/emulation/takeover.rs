//! Another design in force while a run goes on.

use volume::{Design, Start, System, SystemOptions};

/// Options of a system that nothing is submitted to.
const SMALLEST: SystemOptions = SystemOptions { n_waiting_max: 1, start: Start::Cold, seed: 0 };

/// Puts another design in force, with caps of the same kinds. Returns why it cannot be.
pub(crate) fn change(system: &mut System, now_ns: u64, design: &Design) -> Result<(), String> {
    if System::new(design, &SMALLEST).caps().len() != system.caps().len() {
        return Err("its caps are of other kinds".to_owned());
    }
    system.change(now_ns, design).map_err(|error| error.to_string())
}

/// Returns why a design cannot take another one's place during a run, if it cannot.
pub(super) fn refuse_change(old: &Design, new: &Design) -> Result<(), String> {
    change(&mut System::new(old, &SMALLEST), 0, new)
}

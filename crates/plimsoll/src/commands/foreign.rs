//! Files of other tools in the place of files of this program's.

use dialects::Foreign;

use crate::exit::Failure;

/// Refuses a file of another tool in the place of `wanted`.
pub(super) fn refuse(name: &str, bytes: &[u8], wanted: &str) -> Result<(), Failure> {
    let Some(foreign) = Foreign::recognise(bytes) else { return Ok(()) };
    let failure = Failure::wrong_use(format!("`{name}` {}, not {wanted}", foreign.what()));
    Err(failure.hint(if foreign.is_dialect() {
        format!("`plimsoll run {name}` runs it")
    } else {
        format!("`plimsoll check {name}` says what to write in its place")
    }))
}

//! Small files of a backing, which a crash of this host must not damage.

use std::fs::File;
use std::io;
use std::path::Path;

use engine::PartFile;

/// Replaces a file of a folder durably: afterwards it has either all of the new contents or the old
/// ones.
pub(crate) fn replace(dir: &Path, name: &str, contents: &[u8]) -> io::Result<()> {
    PartFile::replace(&dir.join(name), &format!("{name}.part"), 0o600, contents)?;
    File::open(dir)?.sync_all()
}

//! Reading files that users name, as far as they can be what they are taken for.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::inputs;

/// Largest result or record that is read: far above one of 20,000 jobs, which has 140 MB.
pub(crate) const RESULT_BYTES_MAX: u64 = 1 << 30;

/// Largest published table that is read: the list of one cloud's machines in one region has some
/// hundred MB.
pub(crate) const TABLE_BYTES_MAX: u64 = 1 << 30;

/// Opens a file, pipe or, as `-`, the standard input. Returns its size, too, where that is known.
///
/// # Errors
/// Returns what the system says; that a device is no file.
pub(crate) fn open(path: &Path) -> io::Result<(Box<dyn Read>, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let facts = fs::metadata(path)?;
    let kind = facts.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device, not a file"));
    }
    inputs::note(path);
    let size_bytes = facts.is_file().then_some(facts.len());
    Ok((Box::new(File::open(path)?), size_bytes))
}

/// Reads a file, pipe or, as `-`, the standard input, of at most so many bytes.
///
/// # Errors
/// As for [`open`]; that a file is too large, before it is read where its size is known.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let most = units::format_bytes(bytes_max);
        io::Error::other(format!("it is larger than {most}, the most that is read"))
    };
    let (from, size_bytes) = open(path)?;
    if size_bytes.is_some_and(|bytes| bytes > bytes_max) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // One more tells that there is more.
    from.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large());
    }
    Ok(bytes)
}

/// Reads text likewise.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    String::from_utf8(read(path, bytes_max)?).map_err(|_| io::Error::other("it is not text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let refused = |path: &str, most| read(Path::new(path), most).unwrap_err().to_string();
        assert_eq!(refused("/dev/zero", 1 << 40), "it is a device, not a file");
        let own = tempfile::NamedTempFile::new().expect("a file");
        let path = own.path().to_str().expect("plain");
        fs::write(path, "12345").expect("it is ours");
        assert_eq!(read(own.path(), 5).expect("it fits"), b"12345");
        assert_eq!(refused(path, 4), "it is larger than 4 B, the most that is read");
    }
}

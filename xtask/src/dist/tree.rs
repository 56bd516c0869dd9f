//! Files on their way into an archive. The same files give the same bytes, wherever and whenever
//! they are packed: names in order, one time for all, no owner but root.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use miniz_oxide::deflate::compress_to_vec;

/// Every file's time, in seconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp(pub(super) u64);

/// Files, links and folders, by their path without a slash in front.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree(BTreeMap<String, Entry>);

#[derive(Clone, Debug)]
pub(super) enum Entry {
    Folder,
    File(Vec<u8>),
    Program(Vec<u8>),
    /// A symbolic link, and where it leads.
    Link(String),
}

impl Entry {
    /// Returns the permissions.
    pub(super) fn mode(&self) -> u32 {
        match self {
            Entry::Folder | Entry::Program(_) => 0o755,
            Entry::File(_) => 0o644,
            Entry::Link(_) => 0o777,
        }
    }

    /// Returns what the file holds; nothing for what is no file.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Entry::File(bytes) | Entry::Program(bytes) => bytes,
            Entry::Folder | Entry::Link(_) => &[],
        }
    }
}

impl Tree {
    /// Adds something, and the folders that it lies in.
    pub(super) fn put(&mut self, path: &str, entry: Entry) {
        for (end, _) in path.match_indices('/') {
            self.0.insert(path[..end].to_owned(), Entry::Folder);
        }
        self.0.insert(path.to_owned(), entry);
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.0.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Returns how many bytes all files hold.
    pub(super) fn size_bytes(&self) -> usize {
        self.0.values().map(|entry| entry.bytes().len()).sum()
    }

    /// Packs all of it, each path behind this prefix. Format: POSIX.1-2001, pax, "ustar".
    pub(super) fn tar(&self, prefix: &str, stamp: Stamp) -> Result<Vec<u8>> {
        let mut tar = Vec::new();
        for (path, entry) in self.entries() {
            tar.extend(header(&format!("{prefix}{path}"), entry, stamp)?);
            tar.extend(entry.bytes());
            tar.resize(tar.len().next_multiple_of(BLOCK), 0);
        }
        tar.resize(tar.len() + 2 * BLOCK, 0);
        Ok(tar)
    }
}

const BLOCK: usize = 512;

fn header(path: &str, entry: &Entry, stamp: Stamp) -> Result<[u8; BLOCK]> {
    let (kind, target) = match entry {
        Entry::Folder => (b'5', ""),
        Entry::File(_) | Entry::Program(_) => (b'0', ""),
        Entry::Link(target) => (b'2', target.as_str()),
    };
    let path = if kind == b'5' { format!("{path}/") } else { path.to_owned() };
    ensure!(path.len() <= 100 && target.len() <= 100, "`{path}` is too long a name for an archive");
    let size = entry.bytes().len();
    ensure!(size < 1 << 33, "`{path}` is too large for an archive: {size} B");
    let mut header = [0; BLOCK];
    let mut set = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    set(0, &path);
    set(100, &format!("{:07o}", entry.mode()));
    set(108, "0000000"); // user
    set(116, "0000000"); // group
    set(124, &format!("{size:011o}"));
    set(136, &format!("{:011o}", stamp.0));
    set(148, "        "); // the sum is taken with blanks in its own place
    set(157, target);
    set(257, "ustar\x0000");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(header)
}

/// How hard to compress: 9 is what `gzip -9` does.
const LEVEL: u8 = 9;

/// Compresses as `gzip -n` does: neither a name nor a time is in it. Format: RFC 1952.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff".to_vec();
    packed.extend(compress_to_vec(bytes, LEVEL));
    packed.extend(crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(bytes).to_le_bytes());
    packed.extend((bytes.len() as u32).to_le_bytes()); // modulo 2^32, as the format has it
    packed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// Read back by the system's own tar and gzip.
    #[test]
    fn an_archive_unpacks_to_what_was_put() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut tree = Tree::default();
        let large = [&vec![0; 70_000][..], b"end"].concat();
        tree.put("bin/tool", Entry::Program(large.clone()));
        tree.put("bin/alias", Entry::Link("tool".to_owned()));
        tree.put("a/b/text", Entry::File(b"words\n".to_vec()));
        let archive = dir.path().join("x.tar.gz");
        let packed = gzip(&tree.tar("top/", Stamp(86_400)).expect("short names"));
        fs::write(&archive, &packed).expect("written");
        let tar = |args: &[&str]| {
            let mut tar = Command::new("tar");
            tar.args(args).arg(&archive).env("TZ", "UTC").env("LC_ALL", "C");
            crate::process::output(tar.current_dir(dir.path())).expect("tar reads it")
        };
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let list: Vec<String> = tar(&["-tvf"]).lines().map(words).collect();
        assert_eq!(
            list,
            [
                "drwxr-xr-x 0/0 0 1970-01-02 00:00 top/a/",
                "drwxr-xr-x 0/0 0 1970-01-02 00:00 top/a/b/",
                "-rw-r--r-- 0/0 6 1970-01-02 00:00 top/a/b/text",
                "drwxr-xr-x 0/0 0 1970-01-02 00:00 top/bin/",
                "lrwxrwxrwx 0/0 0 1970-01-02 00:00 top/bin/alias -> tool",
                "-rwxr-xr-x 0/0 70003 1970-01-02 00:00 top/bin/tool",
            ]
        );
        tar(&["-xf"]);
        assert_eq!(fs::read(dir.path().join("top/bin/alias")).expect("unpacked"), large);
        assert!(packed.len() < 1_000, "{} B", packed.len());
    }

    #[test]
    fn a_name_that_does_not_fit_is_an_error() {
        let mut tree = Tree::default();
        tree.put(&"x".repeat(101), Entry::File(Vec::new()));
        let error = tree.tar("", Stamp(0)).expect_err("it does not fit").to_string();
        assert!(error.ends_with("is too long a name for an archive"), "{error}");
    }
}

//! A package for Fedora, openSUSE and their kin. Format: RPM 4, as rpm's own "Package format" has it.

use anyhow::Result;
use md5::Md5;
use sha2::{Digest, Sha256};

use super::hex;
use super::target::Target;
use super::tree::{Entry, Stamp, Tree, gzip};
use crate::workspace;

/// How often this version was packaged.
const RELEASE: &str = "1";

/// Packs the files, which lie below `/`. Of folders the package owns those named like itself.
pub(super) fn pack(files: &Tree, target: &Target, stamp: Stamp) -> Result<Vec<u8>> {
    let is_owned = |path: &str, entry: &Entry| match entry {
        Entry::Folder => path.ends_with("/plimsoll"),
        Entry::File(_) | Entry::Program(_) | Entry::Link(_) => true,
    };
    let files: Vec<(&str, &Entry)> =
        files.entries().filter(|(path, entry)| is_owned(path, entry)).collect();
    let payload = cpio(&files, stamp)?;
    let packed = gzip(&payload);
    let mut header = Header::default();
    describe(&mut header, target, stamp)?;
    list(&mut header, &files, stamp)?;
    header.texts(5092, &[hex(&Sha256::digest(&packed))]);
    header.numbers(5093, &[SHA256]);
    let header = header.packed(63)?;

    let mut signature = Header::default();
    signature.text(273, &hex(&Sha256::digest(&header)));
    signature.numbers(1000, &[u32::try_from(header.len() + packed.len())?]);
    signature.add(1004, Kind::Bytes, 16, &Md5::digest([&header[..], &packed].concat()));
    signature.numbers(1007, &[u32::try_from(payload.len())?]);
    let signature = signature.packed(62)?;

    let mut package = lead();
    package.extend(signature);
    package.resize(package.len().next_multiple_of(8), 0);
    package.extend(header);
    package.extend(packed);
    Ok(package)
}

/// The number of an algorithm, as OpenPGP has it.
const SHA256: u32 = 8;

/// Returns what rpm itself reads only to know that it is a package.
fn lead() -> Vec<u8> {
    let mut lead = b"\xed\xab\xee\xdb\x03\x00\x00\x00\x00\x01".to_vec();
    lead.extend(format!("plimsoll-{}-{RELEASE}", workspace::version()).as_bytes());
    lead.resize(76, 0);
    lead.extend([0, 1, 0, 5]);
    lead.resize(96, 0);
    lead
}

/// Says what the package is, and what it needs of rpm.
fn describe(header: &mut Header, target: &Target, stamp: Stamp) -> Result<()> {
    let version = workspace::version();
    header.texts(100, &["C"]);
    for (tag, text) in [
        (1000, "plimsoll"),
        (1001, version),
        (1002, RELEASE),
        (1014, "MIT OR Apache-2.0"),
        (1021, "linux"),
        (1022, target.machine),
        (1044, &format!("plimsoll-{version}-{RELEASE}.src.rpm")),
        (1064, "4.16.0"),
        (1124, "cpio"),
        (1125, "gzip"),
        (1126, "9"),
        (5062, "utf-8"),
    ] {
        header.text(tag, text);
    }
    for (tag, text) in [(1004, super::ABOUT), (1005, super::ABOUT), (1016, "Unspecified")] {
        header.add(tag, Kind::LocalText, 1, format!("{text}\0").as_bytes());
    }
    header.numbers(1006, &[u32::try_from(stamp.0)?]);
    // Of rpm itself, at most these versions' features; of us, exactly this version.
    let (of_rpm, equal) = (1 << 24 | 2 | 8, 8);
    header.texts(
        1049,
        &["rpmlib(CompressedFileNames)", "rpmlib(FileDigests)", "rpmlib(PayloadFilesHavePrefix)"],
    );
    header.numbers(1048, &[of_rpm; 3]);
    header.texts(1050, &["3.0.4-1", "4.6.0-1", "4.0-1"]);
    header.texts(1047, &["plimsoll".to_owned(), format!("plimsoll({})", target.rpm_isa)]);
    header.numbers(1112, &[equal; 2]);
    header.texts(1113, &[format!("{version}-{RELEASE}"), format!("{version}-{RELEASE}")]);
    Ok(())
}

/// Lists the files.
fn list(header: &mut Header, files: &[(&str, &Entry)], stamp: Stamp) -> Result<()> {
    let mut folders: Vec<String> = Vec::new();
    let (mut names, mut folder_idxs, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut modes, mut digests, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for (path, entry) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = format!("/{folder}/");
        if !folders.contains(&folder) {
            folders.push(folder.clone());
        }
        folder_idxs.push(u32::try_from(folders.iter().position(|it| *it == folder).unwrap_or(0))?);
        names.push(name);
        sizes.push(u32::try_from(entry.bytes().len())?);
        modes.extend((mode(entry) as u16).to_be_bytes());
        digests.push(match entry {
            Entry::File(bytes) | Entry::Program(bytes) => hex(&Sha256::digest(bytes)),
            Entry::Folder | Entry::Link(_) => String::new(),
        });
        targets.push(match entry {
            Entry::Link(target) => target.as_str(),
            Entry::File(_) | Entry::Program(_) | Entry::Folder => "",
        });
    }
    let n = files.len();
    header.numbers(1009, &[sizes.iter().sum()]);
    header.numbers(1028, &sizes);
    header.add(1030, Kind::Short, n, &modes);
    header.add(1033, Kind::Short, n, &vec![0; 2 * n]);
    header.numbers(1034, &vec![u32::try_from(stamp.0)?; n]);
    header.texts(1035, &digests);
    header.texts(1036, &targets);
    header.numbers(1037, &vec![0; n]);
    header.texts(1039, &vec!["root"; n]);
    header.texts(1040, &vec!["root"; n]);
    header.numbers(1045, &vec![u32::MAX; n]); // verify all of it
    header.numbers(1095, &vec![1; n]);
    header.numbers(1096, &(1..=u32::try_from(n)?).collect::<Vec<_>>());
    header.texts(1097, &vec![""; n]);
    header.numbers(1116, &folder_idxs);
    header.texts(1117, &names);
    header.texts(1118, &folders);
    header.numbers(5011, &[SHA256]);
    Ok(())
}

/// Returns kind and permissions of a file, as `stat` has them.
fn mode(entry: &Entry) -> u32 {
    let kind = match entry {
        Entry::Folder => 0o040_000,
        Entry::File(_) | Entry::Program(_) => 0o100_000,
        Entry::Link(_) => 0o120_000,
    };
    kind | entry.mode()
}

/// Packs the files as `cpio -H newc` does.
fn cpio(files: &[(&str, &Entry)], stamp: Stamp) -> Result<Vec<u8>> {
    let mut archive = Vec::new();
    let mut put = |number: usize, mode: u32, name: &str, bytes: &[u8]| -> Result<()> {
        let (time, size) = (if number == 0 { 0 } else { stamp.0 }, u32::try_from(bytes.len())?);
        let head = format!("070701{number:08x}{mode:08x}{:08x}{:08x}{:08x}", 0, 0, 1);
        archive.extend(head.as_bytes());
        let rest = format!("{time:08x}{size:08x}{:08x}{:08x}{:08x}{:08x}", 0, 0, 0, 0);
        archive.extend(rest.as_bytes());
        archive.extend(format!("{:08x}{:08x}{name}\0", name.len() + 1, 0).as_bytes());
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(bytes);
        archive.resize(archive.len().next_multiple_of(4), 0);
        Ok(())
    };
    for (idx, (path, entry)) in files.iter().enumerate() {
        let bytes = match entry {
            Entry::Link(target) => target.as_bytes(),
            Entry::File(_) | Entry::Program(_) | Entry::Folder => entry.bytes(),
        };
        put(idx + 1, mode(entry), &format!("./{path}"), bytes)?;
    }
    put(0, 0, "TRAILER!!!", &[])?;
    Ok(archive)
}

/// Types of a header's values.
#[derive(Clone, Copy)]
enum Kind {
    Short = 3,
    Number = 4,
    Text = 6,
    Bytes = 7,
    Texts = 8,
    LocalText = 9,
}

impl Kind {
    /// Returns what the place of a value is a multiple of.
    fn alignment(self) -> usize {
        match self {
            Kind::Short => 2,
            Kind::Number => 4,
            Kind::Text | Kind::Bytes | Kind::Texts | Kind::LocalText => 1,
        }
    }
}

/// Values by their numbers.
#[derive(Default)]
struct Header(Vec<(u32, Kind, usize, Vec<u8>)>);

impl Header {
    fn add(&mut self, tag: u32, kind: Kind, count: usize, bytes: &[u8]) {
        self.0.push((tag, kind, count, bytes.to_vec()));
    }

    fn text(&mut self, tag: u32, text: &str) {
        self.add(tag, Kind::Text, 1, format!("{text}\0").as_bytes());
    }

    fn texts(&mut self, tag: u32, texts: &[impl AsRef<str>]) {
        let joined: String = texts.iter().map(|text| format!("{}\0", text.as_ref())).collect();
        self.add(tag, Kind::Texts, texts.len(), joined.as_bytes());
    }

    fn numbers(&mut self, tag: u32, numbers: &[u32]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        self.add(tag, Kind::Number, numbers.len(), &bytes);
    }

    /// Returns the bytes: an index in the order of the numbers, then the values. The first and the
    /// last piece belong to `region`, which says that nothing was added since.
    fn packed(mut self, region: u32) -> Result<Vec<u8>> {
        self.0.sort_by_key(|(tag, ..)| *tag);
        let n_entries = u32::try_from(self.0.len() + 1)?;
        let (mut index, mut store) = (Vec::new(), Vec::new());
        let entry = |tag: u32, kind: Kind, offset: u32, count: u32| {
            [tag, kind as u32, offset, count].map(u32::to_be_bytes).concat()
        };
        for (tag, kind, count, bytes) in &self.0 {
            store.resize(store.len().next_multiple_of(kind.alignment()), 0);
            index.extend(entry(*tag, *kind, u32::try_from(store.len())?, u32::try_from(*count)?));
            store.extend(bytes);
        }
        let first = entry(region, Kind::Bytes, u32::try_from(store.len())?, 16);
        store.extend(entry(region, Kind::Bytes, (n_entries * 16).wrapping_neg(), 16));
        let mut header = b"\x8e\xad\xe8\x01\0\0\0\0".to_vec();
        header.extend(n_entries.to_be_bytes());
        header.extend(u32::try_from(store.len())?.to_be_bytes());
        header.extend([first, index, store].concat());
        Ok(header)
    }
}

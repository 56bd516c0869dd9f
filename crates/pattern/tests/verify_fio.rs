//! fio and we check each other's blocks. Skipped, with a message, where fio is not installed or
//! has another header layout than 3.33 (3.41 and later).

use pattern::verify::{BlockFacts, Expected, HeaderLayout, Verifier, WriteFacts};
use plan::verify::{PatternPart, Verify, VerifyMethod};
use std::path::PathBuf;
use std::process::{Command, Output};

const METHODS: [(&str, VerifyMethod); 16] = [
    ("md5", VerifyMethod::Md5),
    ("crc64", VerifyMethod::Crc64),
    ("crc32c", VerifyMethod::Crc32c),
    ("crc32c-intel", VerifyMethod::Crc32c),
    ("crc32", VerifyMethod::Crc32),
    ("crc16", VerifyMethod::Crc16),
    ("crc7", VerifyMethod::Crc7),
    ("xxhash", VerifyMethod::XxHash),
    ("sha1", VerifyMethod::Sha1),
    ("sha256", VerifyMethod::Sha256),
    ("sha512", VerifyMethod::Sha512),
    ("sha3-224", VerifyMethod::Sha3_224),
    ("sha3-256", VerifyMethod::Sha3_256),
    ("sha3-384", VerifyMethod::Sha3_384),
    ("sha3-512", VerifyMethod::Sha3_512),
    ("meta", VerifyMethod::Meta),
];

/// A folder that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    /// `None`, with a message, where fio cannot be compared with.
    fn new(name: &str) -> Option<Self> {
        let version = Command::new("fio").arg("--version").output();
        let version = version.map(|out| String::from_utf8_lossy(&out.stdout).into_owned());
        let minor = version.as_deref().ok().and_then(|text| {
            text.trim().strip_prefix("fio-3.")?.split(['.', '-']).next()?.parse::<u32>().ok()
        });
        if minor.is_none_or(|minor| minor >= 39) {
            testing::skipped!("needs fio 3.0 to 3.38, found {version:?}");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("verify-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Some(Scratch(folder))
    }

    /// File of a case.
    fn path(&self, idx: usize) -> PathBuf {
        self.0.join(format!("file{idx}."))
    }

    /// Runs the cases as the jobs of one fio, which takes a third of a second to start.
    fn fio(&self, cases: &[Case], args: &[&str]) -> Output {
        let mut fio = Command::new("fio");
        fio.current_dir(&self.0).arg("--output=out").arg("--thread");
        for (idx, case) in cases.iter().enumerate() {
            fio.args(["--name=v", "--verify_state_save=0", "--size=16k", "--bs=4k"])
                .arg(format!("--filename={}", self.path(idx).display()))
                .args(&case.options)
                .args(args);
        }
        fio.output().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Settings as fio's options and as ours.
struct Case {
    verify: Verify,
    options: Vec<String>,
}

fn case(name: &str, method: VerifyMethod, interval: u32, header_offset: u32) -> Case {
    let verify = Verify {
        method: Some(method),
        interval_bytes: interval,
        header_offset_bytes: header_offset,
        ..Verify::default()
    };
    let mut options = vec![format!("--verify={name}"), format!("--verify_interval={interval}")];
    if header_offset > 0 {
        options.push(format!("--verify_offset={header_offset}"));
    }
    Case { verify, options }
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> =
        METHODS.into_iter().map(|(name, method)| case(name, method, 1024, 256)).collect();
    cases.push(case("crc32c", VerifyMethod::Crc32c, 4096, 0));
    let mut pattern = case("pattern", VerifyMethod::Pattern, 1024, 0);
    pattern.verify.pattern = vec![bytes(b"abcd"), PatternPart::Offset, bytes(&[0xff])];
    pattern.options.push("--verify_pattern=\"abcd\"%o0xff".to_owned());
    cases.push(pattern);
    cases
}

fn bytes(bytes: &[u8]) -> PatternPart {
    PatternPart::Bytes(bytes.to_vec())
}

fn verifier(case: &Case) -> Verifier {
    let facts = BlockFacts {
        write_min_bytes: 4096,
        write_max_bytes: 4096,
        read_min_bytes: None,
        unaligned: false,
    };
    Verifier::new(&case.verify, facts).unwrap().with_layout(HeaderLayout::Compact)
}

/// Returns whether the method proves the contents; a header alone does not.
fn proves(case: &Case) -> bool {
    case.verify.method != Some(VerifyMethod::Meta)
}

#[test]
fn we_accept_what_fio_wrote() {
    let Some(scratch) = Scratch::new("theirs") else { return };
    let cases = cases();
    let out = scratch.fio(&cases, &["--rw=write", "--do_verify=0"]);
    assert!(out.status.success(), "{out:?}");
    for (idx, case) in cases.iter().enumerate() {
        let blocks = std::fs::read(scratch.path(idx)).unwrap();
        assert_eq!(blocks.len(), 4 * 4096);
        for (idx, block) in blocks.chunks(4096).enumerate() {
            let (number_io, offset) = (Some(idx as u64), idx as u64 * 4096);
            let expected = Expected { offset, number_io, seed: None };
            assert_eq!(verifier(case).check(block, &expected), Ok(()), "{:?}", case.options);
        }
        let mut bad = blocks[..4096].to_vec();
        bad[2500] ^= 4;
        let found = verifier(case).check(&bad, &Expected::default()).is_err();
        // The sha512 of this fio proves only the first and last bytes of an interval.
        let is_proof = proves(case) && case.verify.method != Some(VerifyMethod::Sha512);
        assert_eq!(found, is_proof, "{:?}", case.options);
    }
}

#[test]
fn fio_accepts_what_we_wrote() {
    let Some(scratch) = Scratch::new("ours") else { return };
    let mut cases = cases();
    // This fio stores no digest as sha512, and takes ours for an error.
    cases.retain(|case| case.verify.method != Some(VerifyMethod::Sha512));
    for (idx, case) in cases.iter().enumerate() {
        let mut blocks = vec![0; 4 * 4096];
        for (idx, block) in blocks.chunks_mut(4096).enumerate() {
            let (number_io, offset) = (idx as u64, idx as u64 * 4096);
            let seed = 1000 + number_io;
            let facts = WriteFacts { offset, seed, number_io, ..WriteFacts::default() };
            verifier(case).stamp(block, &facts);
        }
        std::fs::write(scratch.path(idx), &blocks).unwrap();
    }
    let out = scratch.fio(&cases, &["--rw=read"]);
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");

    for idx in 0..cases.len() {
        let mut blocks = std::fs::read(scratch.path(idx)).unwrap();
        blocks[2500] ^= 4;
        std::fs::write(scratch.path(idx), &blocks).unwrap();
    }
    let out = scratch.fio(&cases, &["--rw=read"]);
    let complaints = String::from_utf8_lossy(&out.stderr);
    for (idx, case) in cases.iter().enumerate() {
        let at = format!("verify failed at file {} offset", scratch.path(idx).display());
        assert_eq!(complaints.contains(&at), proves(case), "{:?}: {complaints}", case.options);
    }
}

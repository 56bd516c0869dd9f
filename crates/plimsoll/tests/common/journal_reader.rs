//! A reader of journals and of the blocks that they are of, written from docs/journal.md: it shares
//! no code with what writes them.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// CRC-32C, bit by bit.
fn crc32c<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    !bytes.fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg())
        })
    })
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// What a journal says of the blocks of its targets: of the first, and of the others.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) runs: Vec<u64>,
    pub(crate) block_bytes: u64,
    /// The acknowledged generation, 0 for none, and those that were begun since.
    pub(crate) blocks: BTreeMap<u64, (u16, Vec<u16>)>,
    /// Paths and bytes of a block of all targets.
    pub(crate) targets: Vec<(String, u64)>,
    /// Blocks of the targets after the first.
    pub(crate) others: BTreeMap<u32, BTreeMap<u64, (u16, Vec<u16>)>>,
    pub(crate) n_forgotten: usize,
    pub(crate) n_bytes_torn: usize,
}

impl Journal {
    pub(crate) fn read(path: &Path) -> Journal {
        let bytes = std::fs::read(path).unwrap();
        let mut journal = Journal::default();
        let mut at = 0;
        while let Some(frame) = frame(&bytes[at..]) {
            journal.take(frame[12], &frame[40..]);
            at += frame.len();
        }
        journal.n_bytes_torn = bytes.len() - at;
        journal
    }

    fn take(&mut self, kind: u8, payload: &[u8]) {
        match kind {
            0 => {
                assert_eq!(u64_at(payload, 0), 1, "the version");
                let n_runs = u64_at(payload, 8) as usize;
                self.runs = (0..n_runs).map(|idx| u64_at(payload, 16 + 8 * idx)).collect();
                let mut at = 16 + 8 * n_runs;
                while at < payload.len() {
                    // With 2^32 it is a file of a tree.
                    let block_bytes = u64::from(u32_at(payload, at));
                    let len = u64_at(payload, at + 16) as usize;
                    let path = payload[at + 24..at + 24 + len].to_vec();
                    self.targets.push((String::from_utf8(path).unwrap(), block_bytes));
                    at += 24 + len;
                }
                self.block_bytes = self.targets[0].1;
            }
            1 => payload.chunks(16).for_each(|change| {
                let first = u64_at(change, 0) & ((1 << 56) - 1);
                let (generation, n) = (u16_at(change, 8), u64::from(u16_at(change, 10)));
                if change[7] == 3 {
                    self.n_forgotten += 1;
                    self.blocks_of(u32_at(change, 12)).retain(|block, _| *block < first);
                }
                for block in first..first + n {
                    let state = self.blocks_of(u32_at(change, 12)).entry(block).or_default();
                    match change[7] {
                        1 => state.1.push(generation),
                        2 => *state = (generation, Vec::new()),
                        kind => panic!("a change of kind {kind}"),
                    }
                }
            }),
            2 => {
                let first = u64_at(payload, 8);
                for (idx, word) in (0..).zip(payload[16..].chunks(2)) {
                    if u16_at(word, 0) != 0 {
                        let blocks = self.blocks_of(u64_at(payload, 0) as u32);
                        blocks.insert(first + idx, (u16_at(word, 0), Vec::new()));
                    }
                }
            }
            kind => panic!("a frame of kind {kind}"),
        }
    }

    fn blocks_of(&mut self, target: u32) -> &mut BTreeMap<u64, (u16, Vec<u16>)> {
        if target == 0 { &mut self.blocks } else { self.others.entry(target).or_default() }
    }

    /// Says by the bytes of the target what each block is that is not plainly new, by offset.
    pub(crate) fn judge(&self, target: &Path) -> BTreeMap<u64, &'static str> {
        self.judge_one(0, &self.blocks, target)
    }

    /// Says the same of all targets, by their numbers and offsets.
    #[allow(dead_code, reason = "a part is used here")]
    pub(crate) fn judge_all(&self) -> BTreeMap<(u32, u64), &'static str> {
        let first = std::iter::once((&0, &self.blocks));
        let all = first.chain(&self.others).flat_map(|(target, blocks)| {
            let path = Path::new(&self.targets[*target as usize].0);
            let found = self.judge_one(*target, blocks, path);
            found.into_iter().map(|(offset, word)| ((*target, offset), word))
        });
        all.collect()
    }

    fn judge_one(
        &self,
        target: u32,
        blocks: &BTreeMap<u64, (u16, Vec<u16>)>,
        path: &Path,
    ) -> BTreeMap<u64, &'static str> {
        if blocks.is_empty() {
            return BTreeMap::new();
        }
        // A file of a tree that is not there holds nothing.
        let file = File::open(path).ok();
        let block_bytes = self.targets[target as usize].1;
        let mut bytes = vec![0; block_bytes as usize];
        let mut found = BTreeMap::new();
        for (block, (written, begun)) in blocks {
            let offset = block * block_bytes;
            bytes.fill(0);
            let n_read = file.as_ref().map_or(0, |it| it.read_at(&mut bytes, offset).unwrap());
            assert!(n_read.is_multiple_of(512), "{n_read} bytes at {offset}");
            let sectors: Vec<Option<u16>> = (0..)
                .zip(bytes.chunks(512))
                .map(|(idx, sector)| self.generation(target, sector, offset + 512 * idx))
                .collect();
            let is = |wanted: u16| move |it: &Option<u16>| it.unwrap_or(0) == wanted;
            let is_whole = |generation: u16| sectors.iter().all(is(generation));
            let verdict = if begun.iter().any(|generation| is_whole(*generation)) {
                "new in flight"
            } else if is_whole(*written) {
                if begun.is_empty() {
                    continue;
                }
                "old in flight"
            } else if sectors.windows(2).all(|pair| pair[0] == pair[1]) {
                "lost"
            } else if !begun.is_empty()
                && sectors.iter().all(|it| begun.iter().any(|b| is(*b)(it)) || is(*written)(it))
            {
                "torn in flight"
            } else {
                "torn"
            };
            found.insert(offset, verdict);
        }
        found
    }

    /// Returns the generation that a sector says it is of, if it is one of this place.
    fn generation(&self, target: u32, sector: &[u8], offset: u64) -> Option<u16> {
        let is_ours = &sector[..4] == b"PLB1"
            && u32_at(sector, 4) == crc32c(sector[8..].iter())
            && u64_at(sector, 8) == offset
            && self.runs.contains(&u64_at(sector, 16))
            && u32_at(sector, 32) == target;
        is_ours.then(|| u16_at(sector, 36))
    }
}

/// Returns the whole frame at the start of these bytes, if there is one.
fn frame(bytes: &[u8]) -> Option<&[u8]> {
    let head = bytes.get(..40)?;
    let frame = bytes.get(..40 + u32_at(head, 4) as usize)?;
    let crc = crc32c(frame[4..8].iter().chain(&frame[12..]));
    (&frame[..4] == b"PLJ1" && u32_at(frame, 8) == crc).then_some(frame)
}

/// Returns what `plimsoll verify --json` says in the same words.
pub(crate) fn said(json: &str) -> BTreeMap<u64, &'static str> {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(value["schema"], "plimsoll.verification/1");
    let blocks = value["blocks"].as_array().unwrap().iter();
    blocks.map(|block| (block["offset"].as_u64().unwrap(), word_of(block))).collect()
}

/// Returns the word for a block that `plimsoll verify --json` names.
pub(crate) fn word_of(block: &serde_json::Value) -> &'static str {
    let is_in_flight = block["is_in_flight"].as_bool().unwrap();
    match (block["verdict"].as_str().unwrap(), is_in_flight) {
        ("new", true) => "new in flight",
        ("old", true) => "old in flight",
        ("torn", true) => "torn in flight",
        ("torn", false) => "torn",
        ("lost", _) => "lost",
        (other, _) => panic!("{other}: {block}"),
    }
}

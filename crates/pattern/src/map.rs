//! The map of visited blocks, for mixed block sizes.
//!
//! One bit per smallest block, with levels of summary above it (one bit per full word below), so
//! that the next free block is found in `log64(n)` steps however full the map is. It takes 1.6 %
//! more than one bit per block: 33 MiB for 1 TiB in blocks of 4 KiB. Fixed block sizes need no
//! map; see [`crate::permutation`].

use crate::error::PatternError;

/// A set of visited blocks out of `0..n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMap {
    n: u64,
    /// `levels[0]` has a bit per block; a bit above is set when the word below is full. Bits past
    /// the end count as visited.
    levels: Vec<Vec<u64>>,
}

/// Most blocks a map may have: 4 GiB of memory, 128 TiB in blocks of 4 KiB. Beyond, a plan more
/// likely names a block size of a byte than a target that large.
pub const BLOCKS_MAX: u64 = 1 << 35;

/// Bits per word.
const WORD: u64 = u64::BITS as u64;

impl BlockMap {
    /// Builds a map in which no block was visited.
    ///
    /// Fails above [`BLOCKS_MAX`] blocks, or when memory does not suffice.
    pub fn new(n: u64) -> Result<Self, PatternError> {
        let too_large = || PatternError::MapTooLarge { n_blocks: n };
        if n > BLOCKS_MAX {
            return Err(too_large());
        }
        let mut levels = Vec::new();
        let mut n_bits = n.max(1);
        loop {
            let n_words = usize::try_from(n_bits.div_ceil(WORD)).map_err(|_| too_large())?;
            let mut words = Vec::new();
            words.try_reserve_exact(n_words).map_err(|_| too_large())?;
            words.resize(n_words, 0);
            levels.push(words);
            if n_words == 1 {
                break;
            }
            n_bits = n_words as u64;
        }
        let mut map = BlockMap { n, levels };
        map.clear();
        Ok(map)
    }

    /// Forgets all visits.
    pub fn clear(&mut self) {
        let mut n_bits = self.n;
        for words in &mut self.levels {
            words.fill(0);
            // Only the last word can be partly used.
            let n_used = n_bits - (words.len() as u64 - 1) * WORD;
            if n_used < WORD {
                let last = words.len() - 1;
                words[last] = u64::MAX << n_used;
            }
            n_bits = words.len() as u64;
        }
    }

    /// Returns the bytes of memory it takes.
    pub fn memory_bytes(&self) -> u64 {
        self.levels.iter().map(|words| words.len() as u64 * 8).sum()
    }

    /// Returns whether `block` was visited. Blocks past the end count as visited.
    #[inline]
    pub fn is_visited(&self, block: u64) -> bool {
        block >= self.n || self.levels[0][(block / WORD) as usize] >> (block % WORD) & 1 == 1
    }

    /// Returns the first block at or after `from` that was not visited, going on from the start.
    ///
    /// `None` when all were visited.
    pub fn next_free(&self, from: u64) -> Option<u64> {
        self.next_free_upwards(from).or_else(|| self.next_free_upwards(0))
    }

    fn next_free_upwards(&self, from: u64) -> Option<u64> {
        let mut bit = from;
        for (level, words) in self.levels.iter().enumerate() {
            let word = words.get((bit / WORD) as usize)?;
            let free = !word & (u64::MAX << (bit % WORD));
            if free != 0 {
                let found = bit - bit % WORD + u64::from(free.trailing_zeros());
                return Some(self.descend(level, found));
            }
            // The rest of this word is full: look for a word after it that is not.
            bit = bit / WORD + 1;
        }
        None
    }

    /// Returns the first free block below a bit of a summary level that is known to have one.
    fn descend(&self, level: usize, mut bit: u64) -> u64 {
        for words in self.levels[..level].iter().rev() {
            let word = words[bit as usize];
            bit = bit * WORD + u64::from(word.trailing_ones());
        }
        bit
    }

    /// Returns how many of the up to `n_max` blocks from `block` on were not visited, up to the
    /// first one that was.
    #[inline]
    pub fn free_run(&self, block: u64, n_max: u64) -> u64 {
        let mut n_free = 0;
        while n_free < n_max {
            let at = block + n_free;
            if at >= self.n {
                break;
            }
            let visited = self.levels[0][(at / WORD) as usize] >> (at % WORD);
            let in_word = WORD - at % WORD;
            let run = u64::from(visited.trailing_zeros()).min(in_word);
            n_free += run;
            if run < in_word {
                break;
            }
        }
        n_free.min(n_max)
    }

    /// Marks `n` blocks from `block` on as visited. Blocks past the end are left out.
    #[inline]
    pub fn visit(&mut self, block: u64, n: u64) {
        let end = block.saturating_add(n).min(self.n);
        let mut at = block;
        while at < end {
            let word_idx = at / WORD;
            let n_bits = (WORD - at % WORD).min(end - at);
            let mask = (u64::MAX >> (WORD - n_bits)) << (at % WORD);
            self.set(word_idx, mask);
            at += n_bits;
        }
    }

    fn set(&mut self, word_idx: u64, mask: u64) {
        let mut idx = word_idx;
        let mut mask = mask;
        for words in &mut self.levels {
            let word = &mut words[idx as usize];
            *word |= mask;
            if *word != u64::MAX {
                return;
            }
            mask = 1 << (idx % WORD);
            idx /= WORD;
        }
    }
}

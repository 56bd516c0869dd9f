//! Which of a worker's files takes the next I/O.

use plan::files::FileService;
use plan::workload::Distribution;

use crate::distribution::Spread;
use crate::error::PatternError;
use crate::map::BlockMap;
use crate::rng::{Rng, Stream};

/// Draws of a finished file before the next unfinished one is taken. Each halves what a draw can
/// miss while half of the files are unfinished.
const N_TRIES: u32 = 16;

/// The choice among `n` files, some of which are done.
#[derive(Clone, Debug)]
pub struct FilePicker {
    choice: Choice,
    n_files: u32,
    n_left: u32,
    done: BlockMap,
    current: u32,
    /// I/Os that the current file still gets.
    ios_left: u32,
    ios_per_file: u32,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Choice {
    RoundRobin,
    /// Stays until the file is done.
    Sequential,
    Random(Box<Spread>),
}

impl FilePicker {
    /// Builds the choice among the files `0..n_files`, starting with the first.
    ///
    /// `ios_per_file` is how many I/Os in a row a file gets. Zipf and pareto have hot files, which
    /// the seed chooses; normal prefers those in the middle.
    ///
    /// # Panics
    /// If a file gets no I/O in a row.
    pub fn new(
        service: FileService,
        ios_per_file: u32,
        n_files: u32,
        seed: u64,
    ) -> Result<Self, PatternError> {
        assert!(ios_per_file > 0, "{ios_per_file} I/Os in a row for a file");
        if n_files == 0 {
            return Err(PatternError::NoFiles);
        }
        let centre = None;
        let distribution = match service {
            FileService::RoundRobin | FileService::Sequential => None,
            FileService::Random => Some(Distribution::Uniform),
            FileService::Zipf(theta) => Some(Distribution::Zipf { theta, centre }),
            FileService::Pareto(h) => Some(Distribution::Pareto { h, centre }),
            FileService::Normal(deviation_pct) => {
                Some(Distribution::Normal { deviation_pct, centre })
            }
        };
        let choice = match distribution {
            Some(distribution) => {
                let spread = Spread::new(&distribution, u64::from(n_files), 1, seed, u64::MAX)?;
                Choice::Random(Box::new(spread))
            }
            None if service == FileService::Sequential => Choice::Sequential,
            None => Choice::RoundRobin,
        };
        Ok(FilePicker {
            choice,
            n_files,
            n_left: n_files,
            done: BlockMap::new(u64::from(n_files))?,
            current: n_files - 1,
            ios_left: 0,
            ios_per_file,
            rng: Rng::for_stream(seed, Stream::File, 0),
        })
    }

    /// Returns the file that takes the next I/O, or `None` when all are done.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "files can be finished between calls")]
    pub fn next(&mut self) -> Option<u32> {
        if self.n_files == 1 {
            return (self.n_left == 1).then_some(0);
        }
        if self.ios_left == 0 || self.done.is_visited(u64::from(self.current)) {
            self.current = self.choose()?;
            self.ios_left = self.ios_per_file;
        }
        if !matches!(self.choice, Choice::Sequential) {
            self.ios_left -= 1;
        }
        Some(self.current)
    }

    /// Takes a file out of the choice.
    ///
    /// # Panics
    /// If it is no file of the choice.
    pub fn finish(&mut self, file_idx: u32) {
        assert!(file_idx < self.n_files, "file {file_idx} of {} is done", self.n_files);
        if !self.done.is_visited(u64::from(file_idx)) {
            self.done.visit(u64::from(file_idx), 1);
            self.n_left -= 1;
        }
    }

    /// Puts all files back and starts with the first, for the next pass.
    pub fn restart(&mut self) {
        self.done.clear();
        self.n_left = self.n_files;
        self.current = self.n_files - 1;
        self.ios_left = 0;
    }

    /// Returns how many files are not done.
    pub fn n_left(&self) -> u32 {
        self.n_left
    }

    fn choose(&mut self) -> Option<u32> {
        let from = match &mut self.choice {
            Choice::RoundRobin | Choice::Sequential => u64::from(self.current) + 1,
            Choice::Random(spread) => {
                let mut file = spread.next(&mut self.rng);
                for _ in 0..N_TRIES {
                    if !self.done.is_visited(file) {
                        break;
                    }
                    file = spread.next(&mut self.rng);
                }
                file
            }
        };
        self.done.next_free(from).map(|file| file as u32)
    }
}

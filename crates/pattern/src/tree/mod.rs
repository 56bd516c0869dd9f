//! Trees of folders and files: which numbers there are, and the path and size that belong to each.
//!
//! Nothing is listed. Folders are numbered as Vdbench 5.04.07 numbers them, so that its trees are
//! ours: level by level from 0, and within a level first those that are the first in the folder
//! above, then all second ones, and so on. The folder above one has a smaller number. Files are
//! numbered over the whole tree, folder by folder. A path or a size is computed when it is needed.

mod in_use;
mod java;
mod mask;
mod select;
mod sizes;

pub use in_use::InUse;
pub use mask::MaskError;
pub use select::Selector;

use plan::tree::TreeSpec;

use mask::Mask;
use sizes::SizeOf;

/// Why a tree cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// It has more folders or files than can be numbered.
    #[error(
        "tree `{tree}` would have more than {max} folders or files; lower its depth, width or \
         files",
        max = plan::tree::ENTRIES_MAX
    )]
    TooLarge {
        /// Its name.
        tree: String,
    },
    /// A name mask cannot be used.
    #[error("tree `{tree}`: {error}")]
    Mask {
        /// Its name.
        tree: String,
        /// What is wrong.
        error: MaskError,
    },
    /// The part asked for is more than there is.
    #[error(
        "the requested totalsize={asked_bytes} is greater than the {expected_bytes} B that tree \
         `{tree}` is estimated to hold"
    )]
    TotalTooLarge {
        /// Its name.
        tree: String,
        /// What was asked for.
        asked_bytes: u64,
        /// What all files hold.
        expected_bytes: u64,
    },
}

/// A tree as a function: from numbers to paths and sizes.
#[derive(Clone, Debug)]
pub struct Tree {
    width: u64,
    files: u64,
    /// Number of the first folder of each level, and the number of all folders.
    level_starts: Vec<u64>,
    /// Folders before this one have no files.
    first_with_files: u64,
    n_files: u64,
    sizes: SizeOf,
    file_mask: Mask,
    folder_mask: Mask,
}

impl Tree {
    /// Makes the tree that a specification describes.
    ///
    /// # Errors
    /// When it has more entries than can be numbered, or its masks make no names.
    ///
    /// # Panics
    /// If it has no level, or a folder has none below.
    pub fn new(spec: &TreeSpec) -> Result<Tree, TreeError> {
        let too_large = || TreeError::TooLarge { tree: spec.name.clone() };
        let n_folders = spec.n_folders().ok_or_else(too_large)?;
        let n_files = spec.n_files().ok_or_else(too_large)?;
        let bad_mask = |error| TreeError::Mask { tree: spec.name.clone(), error };
        let file_mask = Mask::new(&spec.file_mask, 1, ".file").map_err(bad_mask)?;
        let folder_mask = Mask::new(&spec.folder_mask, 2, ".dir").map_err(bad_mask)?;
        let width = u64::from(spec.width);
        let mut level_starts = vec![0];
        let mut of_level = 1_u64;
        let mut n_before = 0_u64;
        for _ in 0..spec.depth {
            // Fits: the sum of all levels does.
            of_level *= width;
            n_before += of_level;
            level_starts.push(n_before);
        }
        assert_eq!(n_before, n_folders, "the levels and the whole count unlike folders");
        let lowest_start = level_starts[level_starts.len() - 2];
        Ok(Tree {
            width,
            files: spec.files,
            first_with_files: if spec.bottom_only { lowest_start } else { 0 },
            level_starts,
            n_files,
            sizes: SizeOf::new(&spec.sizes, spec.seed, n_files),
            file_mask,
            folder_mask,
        })
    }

    /// Returns the number of folders, without the anchor.
    pub fn n_folders(&self) -> u32 {
        self.level_starts[self.level_starts.len() - 1] as u32
    }

    /// Returns the number of files.
    pub fn n_files(&self) -> u32 {
        self.n_files as u32
    }

    /// Returns the number of levels of folders.
    pub fn depth(&self) -> u32 {
        (self.level_starts.len() - 1) as u32
    }

    /// Returns the folders of a level, counted from 0, as a range of numbers.
    ///
    /// # Panics
    /// If there is no such level.
    pub fn level(&self, level: u32) -> std::ops::Range<u32> {
        assert!(level < self.depth(), "level {level} of {}", self.depth());
        let level = level as usize;
        self.level_starts[level] as u32..self.level_starts[level + 1] as u32
    }

    /// Returns the level of a folder, from 0.
    #[inline]
    pub fn level_of(&self, folder: u32) -> u32 {
        let later = self.level_starts.iter().skip(1);
        later.take_while(|start| u64::from(folder) >= **start).count() as u32
    }

    /// Returns the folder above a folder; `None` is the anchor.
    ///
    /// # Panics
    /// If there is no such folder.
    #[inline]
    pub fn parent(&self, folder: u32) -> Option<u32> {
        let level = self.level_of(folder) as usize;
        if level == 0 {
            return None;
        }
        let n_folders = self.n_folders();
        assert!(folder < n_folders, "the folder above {folder} of {n_folders}");
        let (_, above) = self.split(folder, level);
        // By names the folder above comes `above`-th in its level; its own place there is last.
        let n_before = self.n_paths(level - 1);
        Some(
            (self.level_starts[level - 1] + above % self.width * n_before + above / self.width)
                as u32,
        )
    }

    /// Splits the number of a folder into its position in the folder above, from 0, and that
    /// folder's place among those of its level, by names.
    #[inline]
    fn split(&self, folder: u32, level: usize) -> (u64, u64) {
        let in_level = u64::from(folder) - self.level_starts[level];
        let n_above = self.n_paths(level);
        (in_level / n_above, in_level % n_above)
    }

    /// Returns how many folders are above those of a level, the anchor included: one for the first.
    #[inline]
    fn n_paths(&self, level: usize) -> u64 {
        match level {
            0 => 1,
            _ => self.level_starts[level] - self.level_starts[level - 1],
        }
    }

    /// Returns the folder that holds a file.
    #[inline]
    pub fn folder_of(&self, file: u32) -> u32 {
        (self.first_with_files + u64::from(file) / self.files.max(1)) as u32
    }

    /// Returns the files in a folder as a range of numbers.
    ///
    /// # Panics
    /// If there is no such folder.
    pub fn files_in(&self, folder: u32) -> std::ops::Range<u32> {
        assert!(folder < self.n_folders(), "folder {folder} of {}", self.n_folders());
        if u64::from(folder) < self.first_with_files {
            return 0..0;
        }
        let first = (u64::from(folder) - self.first_with_files) * self.files;
        if first >= self.n_files {
            return 0..0;
        }
        first as u32..(first + self.files) as u32
    }

    /// Returns the size of a file, bytes, once it is written in full.
    #[inline]
    pub fn size_bytes(&self, file: u32) -> u64 {
        self.sizes.of(file)
    }

    /// Adds the path of a folder, from the anchor and without a slash at the ends.
    pub fn push_folder_path(&self, folder: u32, path: &mut Vec<u8>) {
        let level = self.level_of(folder) as usize;
        let (last, mut rest) = self.split(folder, level);
        let mut of_step = self.n_paths(level);
        for step in 0..level {
            of_step /= self.width;
            self.folder_mask.push(&[step as u64 + 1, rest / of_step + 1], path);
            path.push(b'/');
            rest %= of_step;
        }
        self.folder_mask.push(&[level as u64 + 1, last + 1], path);
    }

    /// Adds the path of a file, from the anchor.
    pub fn push_file_path(&self, file: u32, path: &mut Vec<u8>) {
        self.push_folder_path(self.folder_of(file), path);
        path.push(b'/');
        self.file_mask.push(&[u64::from(file)], path);
    }

    /// Adds the name of a folder within the one above.
    pub fn push_folder_name(&self, folder: u32, name: &mut Vec<u8>) {
        let level = self.level_of(folder) as usize;
        let (position, _) = self.split(folder, level);
        self.folder_mask.push(&[level as u64 + 1, position + 1], name);
    }

    /// Returns the bytes that all files hold once written. Looks at every file: 2 ns each.
    pub fn total_bytes(&self) -> u64 {
        self.sizes.total_bytes(self.n_files)
    }
}

//! What is there of a tree: a few bits per folder and file, shared by all who work on it.
//!
//! A file or folder is held while an operation works on it. Holding is one atomic exchange and
//! never waits. Which worker gets which file depends on time: a named exception to an operation
//! being a function of the seed.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use pattern::tree::Tree;
use plan::tree::SelectFilter;

use super::TreeCounts;
use super::traits::{Effect, N_EFFECTS, WorksOn};

/// The file is there.
const EXISTS: u16 = 1;
/// It holds something.
const DATA: u16 = 2;
/// It has its whole size.
const FULL: u16 = 4;
/// It was opened since the state was made.
const OPENED: u16 = 8;
/// Bits above count who holds it.
const USER: u16 = 16;
/// All bits of the count: one holds it alone.
const ALONE: u16 = !(USER - 1);

/// The folder is there.
const FOLDER_EXISTS: u8 = 1;
/// It is being made or removed.
const FOLDER_BUSY: u8 = 2;

/// What is known about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFlags {
    /// It is there.
    pub exists: bool,
    /// It holds something.
    pub has_data: bool,
    /// It has its whole size.
    pub is_full: bool,
}

impl FileFlags {
    /// Makes the flags of a file of `now_bytes` that shall have `whole_bytes`; `None` is missing.
    pub fn of_size(now_bytes: Option<u64>, whole_bytes: u64) -> Self {
        FileFlags {
            exists: now_bytes.is_some(),
            has_data: now_bytes.is_some_and(|bytes| bytes > 0),
            is_full: now_bytes == Some(whole_bytes),
        }
    }

    fn from_bits(bits: u16) -> Self {
        FileFlags {
            exists: bits & EXISTS != 0,
            has_data: bits & DATA != 0,
            is_full: bits & FULL != 0,
        }
    }

    fn bits(self) -> u16 {
        let bit = |is_set: bool, bit| if is_set { bit } else { 0 };
        bit(self.exists, EXISTS) | bit(self.has_data, DATA) | bit(self.is_full, FULL)
    }
}

/// Why something could not be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Somebody else holds it.
    Busy,
    /// It is not what the operation needs.
    Unfit,
}

/// The state of a tree.
#[derive(Debug)]
pub struct TreeState {
    tree: Tree,
    files: Box<[AtomicU16]>,
    folders: Box<[AtomicU8]>,
    /// Files and folders in each folder.
    n_entries: Box<[AtomicU32]>,
    n_files: AtomicU64,
    n_full: AtomicU64,
    n_folders: AtomicU64,
    /// Workers at work, by what they do.
    n_at_work: [AtomicU32; N_EFFECTS],
    /// Folders that could not be removed for what others put there.
    n_left: AtomicU64,
}

impl TreeState {
    /// Makes the state of a tree of which nothing is there.
    pub fn new(tree: Tree) -> Self {
        let n_folders = tree.n_folders() as usize;
        TreeState {
            files: (0..tree.n_files()).map(|_| AtomicU16::new(0)).collect(),
            folders: (0..n_folders).map(|_| AtomicU8::new(0)).collect(),
            n_entries: (0..n_folders).map(|_| AtomicU32::new(0)).collect(),
            n_files: AtomicU64::new(0),
            n_full: AtomicU64::new(0),
            n_folders: AtomicU64::new(0),
            n_at_work: std::array::from_fn(|_| AtomicU32::new(0)),
            n_left: AtomicU64::new(0),
            tree,
        }
    }

    /// Returns the tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns what is known about a file.
    #[inline]
    pub fn file(&self, file: u32) -> FileFlags {
        FileFlags::from_bits(self.files[file as usize].load(Acquire))
    }

    /// Returns whether a folder is there.
    #[inline]
    pub fn has_folder(&self, folder: u32) -> bool {
        self.folders[folder as usize].load(Acquire) & FOLDER_EXISTS != 0
    }

    /// Returns the number of files that are there, of those with their whole size, and of folders.
    pub fn counts(&self) -> (u64, u64, u64) {
        (self.n_files.load(Relaxed), self.n_full.load(Relaxed), self.n_folders.load(Relaxed))
    }

    /// Notes that a file was opened.
    pub(crate) fn set_opened(&self, file: u32) {
        self.files[file as usize].fetch_or(OPENED, Relaxed);
    }

    /// Returns how many files were opened since the state was made, and their bytes. It looks at
    /// every file.
    pub fn opened(&self) -> (u64, u64) {
        let is_opened = |file: &u32| self.files[*file as usize].load(Relaxed) & OPENED != 0;
        let opened = (0..self.tree.n_files()).filter(is_opened);
        opened.fold((0, 0), |(n, bytes), file| (n + 1, bytes + self.tree.size_bytes(file)))
    }

    /// Returns what is there.
    pub fn there(&self) -> TreeCounts {
        let (n_files, n_full, n_folders) = self.counts();
        TreeCounts { n_files, n_full, n_folders }
    }

    /// Returns the bytes of the files that have their whole size. It looks at every file, unless
    /// all or none do.
    pub fn full_bytes(&self) -> u64 {
        match self.n_full.load(Relaxed) {
            0 => 0,
            n if n == self.files.len() as u64 => self.tree.total_bytes(),
            _ => {
                let full = (0..self.tree.n_files()).filter(|&file| self.file(file).is_full);
                full.map(|file| self.tree.size_bytes(file)).sum()
            }
        }
    }

    /// Returns how many folders could not be removed for what others put there.
    pub fn n_left(&self) -> u64 {
        self.n_left.load(Relaxed)
    }

    /// Notes what a file is now. By its holder, or before any worker starts.
    pub fn set_file(&self, file: u32, flags: FileFlags) {
        let entry = &self.files[file as usize];
        let now = flags.bits();
        let before = entry.fetch_or(now, AcqRel);
        let added = now & !before;
        let removed = entry.fetch_and(now | OPENED | ALONE, AcqRel) & !now;
        let entries = &self.n_entries[self.tree.folder_of(file) as usize];
        if added & EXISTS != 0 {
            entries.fetch_add(1, AcqRel);
            self.n_files.fetch_add(1, Relaxed);
        }
        if removed & EXISTS != 0 {
            entries.fetch_sub(1, AcqRel);
            self.n_files.fetch_sub(1, Relaxed);
        }
        if added & FULL != 0 {
            self.n_full.fetch_add(1, Relaxed);
        }
        if removed & FULL != 0 {
            self.n_full.fetch_sub(1, Relaxed);
        }
    }

    /// Notes that a folder is there or not. By its holder, or before any worker starts.
    pub fn set_folder(&self, folder: u32, exists: bool) {
        if self.has_folder(folder) == exists {
            return;
        }
        let above = self.tree.parent(folder).map(|above| &self.n_entries[above as usize]);
        let entry = &self.folders[folder as usize];
        if exists {
            entry.fetch_or(FOLDER_EXISTS, AcqRel);
            self.n_folders.fetch_add(1, Relaxed);
            above.map(|entries| entries.fetch_add(1, AcqRel));
        } else {
            entry.fetch_and(!FOLDER_EXISTS, AcqRel);
            self.n_folders.fetch_sub(1, Relaxed);
            above.map(|entries| entries.fetch_sub(1, AcqRel));
        }
    }

    /// Returns the size of an entry if it is a file.
    pub(crate) fn file_bytes(&self, is_folder: bool, entry: u32) -> u64 {
        if is_folder { 0 } else { self.tree.size_bytes(entry) }
    }

    pub(crate) fn note_left(&self) {
        self.n_left.fetch_add(1, Relaxed);
    }

    /// Holds a file that fits, alone or with others who share it.
    pub(crate) fn hold_file(
        &self,
        file: u32,
        is_shared: bool,
        fits: impl Fn(FileFlags) -> bool,
    ) -> Result<FileFlags, Refused> {
        let entry = &self.files[file as usize];
        let mut bits = entry.load(Acquire);
        loop {
            let users = bits & ALONE;
            let is_busy = if is_shared { users >= ALONE - USER } else { users != 0 };
            if is_busy {
                return Err(Refused::Busy);
            }
            let flags = FileFlags::from_bits(bits);
            if !fits(flags) {
                return Err(Refused::Unfit);
            }
            let held = if is_shared { bits + USER } else { bits | ALONE };
            match entry.compare_exchange_weak(bits, held, AcqRel, Acquire) {
                Ok(_) => return Ok(flags),
                Err(now) => bits = now,
            }
        }
    }

    pub(crate) fn release_file(&self, file: u32, is_shared: bool) {
        let entry = &self.files[file as usize];
        let held = if is_shared {
            entry.fetch_sub(USER, AcqRel) & ALONE != 0
        } else {
            entry.fetch_and(!ALONE, AcqRel) & ALONE == ALONE
        };
        assert!(held, "a file is let go by who holds it");
    }

    /// Holds a folder that is to be made: missing, with the folder above it there, which then
    /// stays.
    pub(crate) fn hold_missing_folder(&self, folder: u32) -> Result<(), Refused> {
        let above = self.tree.parent(folder);
        if let Some(above) = above {
            self.pin_folder(above)?;
        }
        let held = self.hold_folder(folder, false);
        if let (Err(_), Some(above)) = (held, above) {
            self.unpin_folder(above);
        }
        held
    }

    /// Lets go of a folder that was to be made.
    pub(crate) fn release_missing_folder(&self, folder: u32) {
        self.release_folder(folder);
        if let Some(above) = self.tree.parent(folder) {
            self.unpin_folder(above);
        }
    }

    /// Holds a folder that is to be removed: there, with nothing of the tree in it.
    pub(crate) fn hold_empty_folder(&self, folder: u32) -> Result<(), Refused> {
        let entries = &self.n_entries[folder as usize];
        if entries.load(SeqCst) > 0 {
            return Err(Refused::Unfit);
        }
        self.hold_folder(folder, true)?;
        // Somebody may have begun to make something in it since; who comes later sees it busy.
        if entries.load(SeqCst) > 0 {
            self.release_folder(folder);
            return Err(Refused::Busy);
        }
        Ok(())
    }

    /// Holds a folder that is there, or is not.
    fn hold_folder(&self, folder: u32, exists: bool) -> Result<(), Refused> {
        let entry = &self.folders[folder as usize];
        let bits = entry.load(SeqCst);
        if bits & FOLDER_BUSY != 0 {
            return Err(Refused::Busy);
        }
        if (bits & FOLDER_EXISTS != 0) != exists {
            return Err(Refused::Unfit);
        }
        match entry.compare_exchange(bits, bits | FOLDER_BUSY, SeqCst, SeqCst) {
            Ok(_) => Ok(()),
            Err(_) => Err(Refused::Busy),
        }
    }

    pub(crate) fn release_folder(&self, folder: u32) {
        let before = self.folders[folder as usize].fetch_and(!FOLDER_BUSY, AcqRel);
        assert!(before & FOLDER_BUSY != 0, "a folder is let go by who holds it");
    }

    /// Keeps the folder of a file from being removed while the file is made: it counts as one
    /// entry. Refused where the folder is missing or about to go.
    pub(crate) fn pin_folder(&self, folder: u32) -> Result<(), Refused> {
        self.n_entries[folder as usize].fetch_add(1, SeqCst);
        let bits = self.folders[folder as usize].load(SeqCst);
        let refused = match bits {
            FOLDER_EXISTS => return Ok(()),
            _ if bits & FOLDER_BUSY != 0 => Refused::Busy,
            _ => Refused::Unfit,
        };
        self.unpin_folder(folder);
        Err(refused)
    }

    /// Keeps the folder of a file from being removed, which is there because the file is.
    pub(crate) fn pin_anyway(&self, file: u32) {
        self.n_entries[self.tree.folder_of(file) as usize].fetch_add(1, SeqCst);
    }

    pub(crate) fn unpin_folder(&self, folder: u32) {
        let n_before = self.n_entries[folder as usize].fetch_sub(1, AcqRel);
        assert!(n_before > 0, "a folder is kept before it is let go");
    }

    /// Reports that a worker begins or ends work with these effects.
    pub(crate) fn count_at_work(&self, effects: &[Effect], begins: bool) {
        for effect in effects {
            let n = &self.n_at_work[*effect as usize];
            let n_before = if begins { n.fetch_add(1, AcqRel) } else { n.fetch_sub(1, AcqRel) };
            assert!(begins || n_before > 0, "work ends that has begun");
        }
    }

    /// Returns whether any worker may bring what an operation waits for.
    pub(crate) fn is_awaited(&self, effects: &[Effect]) -> bool {
        effects.iter().any(|effect| self.n_at_work[*effect as usize].load(Acquire) > 0)
    }

    /// Returns whether anything is there to work on, as far as counts show.
    pub(super) fn has_work(
        &self,
        works_on: WorksOn,
        filter: SelectFilter,
        makes_files: bool,
    ) -> bool {
        let TreeCounts { n_files, n_full, n_folders } = self.there();
        // A file that the operation would make is empty.
        let has_missing = makes_files && n_files < u64::from(self.tree.n_files());
        let may_pass = match filter {
            SelectFilter::Any => true,
            SelectFilter::Present => n_files > 0,
            SelectFilter::Full => n_full > 0,
            SelectFilter::Empty => n_files > 0 || has_missing,
            SelectFilter::NotFull => n_files > n_full || has_missing,
        };
        match works_on {
            WorksOn::MissingFolder => n_folders < u64::from(self.tree.n_folders()),
            WorksOn::EmptyFolder | WorksOn::Folder => n_folders > 0,
            WorksOn::MissingFile => n_files < u64::from(self.tree.n_files()) && n_folders > 0,
            WorksOn::File => may_pass && n_files > 0,
            WorksOn::FullFile => may_pass && n_full > 0,
            WorksOn::WrittenFile => may_pass && n_folders > 0,
        }
    }
}

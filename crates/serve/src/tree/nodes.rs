//! Files in use, and how they are found.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, PoisonError, RwLock};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::extent::Ino;
use crate::store::{Occupied, Store};

/// Number that the root has for those who ask. Other files keep the backing's numbers.
pub(crate) const ROOT: Ino = 1;

/// A file, folder or link that is in use.
#[derive(Debug)]
pub(crate) struct Node {
    /// Names it, opens nothing.
    pub(super) name_fd: OwnedFd,
    /// Its number in the backing.
    pub(crate) ino: Ino,
    /// What it is.
    pub(crate) kind: FileType,
    /// Volume it is on; `None` for a folder above the volumes.
    pub(crate) volume: Option<u16>,
    /// Open descriptors for data.
    pub(crate) n_open: AtomicU32,
    /// Its share of the volume's space.
    pub(crate) occupied: Occupied,
    /// The last crash that took something of it, counted from 1; 0 for none.
    pub(crate) lost_at: AtomicU64,
}

#[derive(Debug)]
struct Known {
    node: Arc<Node>,
    n_lookups: u64,
}

/// All files of a machine.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Arc<Node>,
    device: u64,
    known: RwLock<HashMap<Ino, Known>>,
    /// Volume by the number of its folder.
    volume_dirs: HashMap<Ino, u16>,
    stores: Arc<Vec<Store>>,
}

impl Node {
    /// Returns a path that leads to it whatever its names are.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.name_fd.as_raw_fd()))
    }

    /// Opens it anew.
    pub(crate) fn open(&self, flags: OFlags) -> Result<File, Errno> {
        // The descriptor stands for the file itself, so following it leads nowhere else.
        // A pipe must not make the server wait for its other end.
        let flags = (flags - OFlags::NOFOLLOW) | OFlags::CLOEXEC | OFlags::NONBLOCK;
        openat(CWD, self.path(), flags, Mode::empty()).map(File::from)
    }

    /// Returns whether it is a file with neither a name nor a reader left, so that its data are
    /// gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.kind == FileType::RegularFile
            && self.n_open.load(Relaxed) == 0
            && self.stat().is_ok_and(|stat| stat.st_nlink == 0)
    }

    /// Returns its attributes.
    pub(crate) fn stat(&self) -> Result<Stat, Errno> {
        statat(&self.name_fd, "", AtFlags::EMPTY_PATH)
    }
}

impl Tree {
    /// Opens the tree below a folder. `volume_dirs` are the volumes' folders, in their order.
    pub(crate) fn open(
        root: &Path,
        volume_dirs: &[PathBuf],
        stores: Arc<Vec<Store>>,
    ) -> Result<Self, Errno> {
        let (n_dirs, n_stores) = (volume_dirs.len(), stores.len());
        assert_eq!(n_dirs, n_stores, "{n_dirs} folders hold {n_stores} volumes");
        let open = |path: &Path| {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = openat(CWD, path, flags, Mode::empty())?;
            statat(&fd, "", AtFlags::EMPTY_PATH).map(|stat| (fd, stat))
        };
        let (name_fd, stat) = open(root)?;
        let mut volumes = HashMap::new();
        for (dir, volume) in volume_dirs.iter().zip(0..) {
            volumes.insert(open(dir)?.1.st_ino, volume);
        }
        let root = Arc::new(Node {
            name_fd,
            ino: stat.st_ino,
            kind: FileType::Directory,
            volume: volumes.get(&stat.st_ino).copied(),
            n_open: AtomicU32::new(0),
            occupied: Occupied::default(),
            lost_at: AtomicU64::new(0),
        });
        Ok(Tree {
            root,
            device: stat.st_dev,
            known: RwLock::default(),
            volume_dirs: volumes,
            stores,
        })
    }

    /// Returns a file that was looked up. One that was forgotten since is stale.
    pub(crate) fn node(&self, number: u64) -> Result<Arc<Node>, Errno> {
        if number == ROOT {
            return Ok(Arc::clone(&self.root));
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&number).map(|known| Arc::clone(&known.node)).ok_or(Errno::STALE)
    }

    /// Returns the number that a file has for those who ask.
    pub(crate) fn number(&self, ino: Ino) -> u64 {
        if ino == self.root.ino { ROOT } else { ino }
    }

    /// Returns the store of a file's volume. Folders above the volumes are not to be changed.
    pub(crate) fn store(&self, node: &Node) -> Result<&Store, Errno> {
        let volume = node.volume.ok_or(Errno::ROFS)?;
        self.stores.get(usize::from(volume)).ok_or(Errno::ROFS)
    }

    /// Returns whether a folder is that of a volume.
    pub(super) fn is_volume_dir(&self, ino: Ino) -> bool {
        self.volume_dirs.contains_key(&ino)
    }

    /// Counts one more lookup of a file that a descriptor names.
    pub(super) fn know(&self, parent: &Node, name_fd: OwnedFd) -> Result<(Arc<Node>, Stat), Errno> {
        let stat = statat(&name_fd, "", AtFlags::EMPTY_PATH)?;
        if stat.st_dev != self.device || stat.st_ino == ROOT {
            // Numbers of another file system could be those of files here.
            return Err(Errno::XDEV);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let entry = known.entry(stat.st_ino).or_insert_with(|| {
            let volume = self.volume_dirs.get(&stat.st_ino).copied().or(parent.volume);
            let kind = FileType::from_raw_mode(stat.st_mode);
            let is_file = kind == FileType::RegularFile;
            let n_sectors = if is_file { stat.st_blocks as u64 } else { 0 };
            let node = Node {
                name_fd,
                ino: stat.st_ino,
                kind,
                volume,
                n_open: AtomicU32::new(0),
                occupied: Occupied::new(n_sectors),
                lost_at: AtomicU64::new(0),
            };
            Known { node: Arc::new(node), n_lookups: 0 }
        });
        entry.n_lookups += 1;
        Ok((Arc::clone(&entry.node), stat))
    }

    /// Takes lookups back; a file that the kernel no longer refers to is released and returned.
    pub(crate) fn forget(&self, number: u64, n_lookups: u64) -> Option<Arc<Node>> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let entry = known.get_mut(&number)?;
        entry.n_lookups = entry.n_lookups.saturating_sub(n_lookups);
        if entry.n_lookups > 0 {
            return None;
        }
        known.remove(&number).map(|known| known.node)
    }

    /// Returns the numbers of all files that are known.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_volume_has_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let dirs = [folder.path().to_owned()];
        let open = |n_stores: usize| {
            let stores = (0..n_stores).map(|_| Store::new(1 << 20, 0, false)).collect();
            Tree::open(folder.path(), &dirs, Arc::new(stores)).is_ok()
        };
        assert!(open(1));
        testing::check_wrong_calls(&[("one without", "1 folders hold 2 volumes", &|| {
            open(2);
        })]);
    }
}

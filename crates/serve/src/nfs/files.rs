//! Files by the handles that clients keep.
//!
//! A handle is the file's number in the backing and a sum of its time of birth, so it outlives the
//! process: one that is not known is searched for. Descriptors of files in use are kept, up to a
//! limit; a file that was not used for long is closed, and found again by its handle.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use rustix::fs::{AtFlags, CWD, FileType, OFlags, Stat, StatxFlags, statx};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::lock::lock;
use crate::machine::Machine;
use crate::store::Opened;
use crate::tree::{Node, ROOT};

/// What clients keep of a file: mark, sum of the time of birth, number.
pub(super) type Handle = [u8; 16];

/// A file that was found or made, with its attributes. It counts as a lookup.
pub(super) type Child = (Arc<Node>, Stat);

/// What all our handles begin with.
const MARK: u32 = 0x504e_4631;

/// Files known at once. Each has up to two descriptors.
const KNOWN_MAX: u64 = 4096;

/// Descriptors to be left for connections and the rest.
const DESCRIPTORS_LEFT: u64 = 768;

/// Names that a search for a file goes over: all of any backing that a rehearsal fills.
const SEARCH_MAX: usize = 1 << 20;

#[derive(Debug)]
struct Known {
    node: Arc<Node>,
    tag: u32,
    opened: Option<Arc<Opened>>,
    n_lookups: u64,
    used: u64,
}

#[derive(Debug, Default)]
struct Table {
    known: HashMap<u64, Known>,
    /// Counts uses, so that the longest unused is known.
    tick: u64,
}

/// The files of an export.
#[derive(Debug)]
pub(super) struct Files {
    machine: Arc<Machine>,
    table: Mutex<Table>,
    known_max: usize,
}

impl Files {
    pub(super) fn new(machine: Arc<Machine>) -> Result<Files, Errno> {
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.unwrap_or(u64::MAX).min(2 * KNOWN_MAX + DESCRIPTORS_LEFT);
        let mut current = limit.current.unwrap_or(u64::MAX);
        if current < wanted {
            let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
            if setrlimit(Resource::Nofile, raised).is_ok() {
                current = wanted;
            }
        }
        let known_max = (current.saturating_sub(DESCRIPTORS_LEFT) / 2).clamp(64, KNOWN_MAX);
        machine.tree().node(ROOT)?;
        Ok(Files { machine, table: Mutex::default(), known_max: known_max as usize })
    }

    /// Returns the handle of a file that was just found or made, and keeps the file.
    pub(super) fn keep(&self, child: &Child) -> Result<Handle, Errno> {
        let node = &child.0;
        let number = self.machine.tree().number(node.ino);
        let mut table = lock(&self.table);
        table.tick += 1;
        let used = table.tick;
        if let Some(known) = table.known.get_mut(&number) {
            known.n_lookups += 1;
            known.used = used;
            return Ok(handle(known.tag, number));
        }
        let tag = tag(node)?;
        let known = Known { node: Arc::clone(node), tag, opened: None, n_lookups: 1, used };
        table.known.insert(number, known);
        if table.known.len() > self.known_max {
            self.let_go(&mut table);
        }
        Ok(handle(tag, number))
    }

    /// Returns the handle of a file that a client knows.
    pub(super) fn handle_of(&self, node: &Node) -> Result<Handle, Errno> {
        Ok(handle(tag(node)?, self.machine.tree().number(node.ino)))
    }

    /// Returns the folder above a folder; the root's is itself.
    pub(super) fn parent(&self, folder: &Node) -> Result<Arc<Node>, Errno> {
        let tree = self.machine.tree();
        if tree.number(folder.ino) == ROOT {
            return tree.node(ROOT);
        }
        let above = rustix::fs::stat(folder.path().join(".."))?;
        let number = tree.number(above.st_ino);
        if number == ROOT || lock(&self.table).known.contains_key(&number) {
            return tree.node(number);
        }
        let child = self.search(number)?;
        self.keep(&child)?;
        Ok(child.0)
    }

    /// Returns the handle of the export's root.
    fn root(&self) -> Result<Handle, Errno> {
        Ok(handle(tag(&*self.machine.tree().node(ROOT)?)?, ROOT))
    }

    /// Finds a file by its handle.
    pub(super) fn node(&self, handle: &[u8]) -> Result<Arc<Node>, Errno> {
        self.machine.alive()?;
        let (wanted_tag, number) = parts(handle).ok_or(Errno::STALE)?;
        if number == ROOT {
            return self.machine.tree().node(ROOT);
        }
        let mut table = lock(&self.table);
        table.tick += 1;
        let used = table.tick;
        if let Some(known) = table.known.get_mut(&number) {
            known.used = used;
            let is_same = known.tag == wanted_tag;
            return is_same.then(|| Arc::clone(&known.node)).ok_or(Errno::STALE);
        }
        drop(table);
        let child = self.search(number)?;
        self.keep(&child)?;
        if tag(&child.0)? == wanted_tag { Ok(child.0) } else { Err(Errno::STALE) }
    }

    /// Returns a file opened for data.
    pub(super) fn opened(&self, node: &Arc<Node>) -> Result<Arc<Opened>, Errno> {
        match node.kind {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR),
            _ => return Err(Errno::INVAL),
        }
        let number = self.machine.tree().number(node.ino);
        if let Some(Known { opened: Some(opened), .. }) = lock(&self.table).known.get(&number) {
            return Ok(Arc::clone(opened));
        }
        let file = match node.open(OFlags::RDWR) {
            Err(Errno::ACCESS) => node.open(OFlags::RDONLY),
            file => file,
        }?;
        let opened = Arc::new(Opened::new(file, false, 0));
        if let Some(known) = lock(&self.table).known.get_mut(&number)
            && known.opened.is_none()
        {
            known.node.n_open.fetch_add(1, Relaxed);
            known.opened = Some(Arc::clone(&opened));
        }
        Ok(opened)
    }

    /// Lets a file go that lost a name, if it was the last.
    pub(super) fn removed(&self, node: &Node) {
        if node.stat().is_ok_and(|stat| stat.st_nlink > 0) {
            return;
        }
        let number = self.machine.tree().number(node.ino);
        if let Some(known) = lock(&self.table).known.remove(&number) {
            self.forget(number, &known);
        }
        self.machine.release(node);
    }

    /// Finds the folder that a client mounts: by a volume's mount path, or from the root on.
    pub(super) fn find_mounted(&self, path: &str) -> Result<Handle, Errno> {
        let design = self.machine.in_force().design;
        let only = match &design.volumes[..] {
            [volume] => Some(volume.mount.trim_end_matches('/')),
            _ => None,
        };
        // A design's only volume is the root, whatever its mount path.
        let below = only.and_then(|mount| path.strip_prefix(mount));
        let path = below.filter(|rest| rest.is_empty() || rest.starts_with('/')).unwrap_or(path);
        let mut found = self.root()?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let folder = self.node(&found)?;
            let child = self.machine.tree().lookup(&folder, OsStr::from_bytes(name.as_bytes()))?;
            found = self.keep(&child)?;
        }
        let is_folder = self.node(&found)?.kind == FileType::Directory;
        if is_folder { Ok(found) } else { Err(Errno::NOTDIR) }
    }

    /// Searches for a file by its number, and looks it up.
    fn search(&self, number: u64) -> Result<Child, Errno> {
        let tree = self.machine.tree();
        let mut folders = vec![tree.node(ROOT)?];
        let mut n_seen = 0;
        // Lookups that only the search made.
        let mut passing = Vec::new();
        let mut found = Err(Errno::STALE);
        'search: while let Some(folder) = folders.pop() {
            for entry in tree.list(&folder).unwrap_or_default() {
                let name = OsStr::from_bytes(entry.name.to_bytes());
                n_seen += 1;
                if n_seen > SEARCH_MAX {
                    break 'search;
                }
                if name == "." || name == ".." {
                    continue;
                }
                if entry.number == number {
                    found = tree.lookup(&folder, name);
                    break 'search;
                }
                if entry.kind == FileType::Directory
                    && let Ok((child, _)) = tree.lookup(&folder, name)
                {
                    passing.push(tree.number(child.ino));
                    folders.push(child);
                }
            }
        }
        for number in passing {
            tree.forget(number, 1);
        }
        found
    }

    /// Lets the longest unused eighth of the files go.
    fn let_go(&self, table: &mut Table) {
        let mut uses: Vec<(u64, u64)> =
            table.known.iter().map(|(number, known)| (known.used, *number)).collect();
        uses.sort_unstable();
        for (_, number) in &uses[..uses.len().div_ceil(8)] {
            if let Some(known) = table.known.remove(number) {
                self.forget(*number, &known);
            }
        }
    }

    fn forget(&self, number: u64, known: &Known) {
        if known.opened.is_some() {
            known.node.n_open.fetch_sub(1, Relaxed);
        }
        self.machine.tree().forget(number, known.n_lookups);
    }
}

/// Returns a sum of the file's time of birth, which tells it from another that had its number
/// before. 0 where the file system keeps none.
fn tag(node: &Node) -> Result<u32, Errno> {
    let found = statx(CWD, node.path(), AtFlags::empty(), StatxFlags::BTIME)?;
    if found.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return Ok(0);
    }
    let born = found.stx_btime;
    Ok((born.tv_sec as u32).wrapping_mul(1_000_003) ^ born.tv_nsec)
}

fn handle(tag: u32, number: u64) -> Handle {
    let mut handle = [0; 16];
    handle[..4].copy_from_slice(&MARK.to_be_bytes());
    handle[4..8].copy_from_slice(&tag.to_be_bytes());
    handle[8..].copy_from_slice(&number.to_be_bytes());
    handle
}

fn parts(handle: &[u8]) -> Option<(u32, u64)> {
    let handle: &Handle = handle.try_into().ok()?;
    let (mark, rest) = handle.split_first_chunk()?;
    let (tag, number) = rest.split_first_chunk()?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    (u32::from_be_bytes(*mark) == MARK).then_some((u32::from_be_bytes(*tag), number))
}

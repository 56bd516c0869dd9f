//! Listing folders.
//!
//! A client reads a long folder in pieces, and may remove what it has read meanwhile. So the place
//! where it goes on is not a position: entries are listed in the order of a sum of their names,
//! which stays whatever comes and goes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use engine::nfs::xdr::padding;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::reply::{self, Failure, attributes_after, ok, pack, word};
use super::server::Server;
use crate::tree::{Entry, Node};

/// Bytes around the entries of an answer, rounded up: head, attributes, verifier, end.
const AROUND_BYTES: usize = 256;
/// Bytes of an entry beside its name: more follows, number, length, place.
const ENTRY_BYTES: usize = 24;
/// Bytes of an entry's attributes and handle.
const PLUS_BYTES: usize = 4 + 84 + 4 + 4 + 16;
/// Most bytes of one answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Places of the folder itself and of the one above it.
const ITSELF: u64 = 1;
const ABOVE: u64 = 2;
/// First place of an entry.
const FIRST: u64 = 3;

/// The place of a name: its hash, kept within the 63 bits that clients can use.
fn place_of(name: &[u8]) -> u64 {
    match name {
        b"." => return ITSELF,
        b".." => return ABOVE,
        _ => {}
    }
    (units::fnv1a(name.iter().copied()) >> 1).max(FIRST)
}

/// Lists a folder from behind a place on, in order.
fn listed(server: &Server, folder: &Node, behind: u64) -> Result<Vec<(u64, Entry)>, Errno> {
    if folder.kind != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    let entries = server.machine.tree().list(folder)?;
    let mut listed: Vec<(u64, Entry)> = entries
        .into_iter()
        .map(|entry| (place_of(entry.name.to_bytes()), entry))
        .filter(|(place, _)| *place > behind)
        .collect();
    listed.sort_unstable_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    Ok(listed)
}

/// READDIR.
pub(super) fn readdir(
    server: &Server,
    folder: &[u8],
    (behind, count): (u64, u32),
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let folder = server.files.node(folder)?;
    answer(server, &folder, behind, count as usize, message, |_, _| Ok(()), 0)
}

/// READDIRPLUS.
pub(super) fn readdirplus(
    server: &Server,
    folder: &[u8],
    (behind, count): (u64, u32),
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let folder = server.files.node(folder)?;
    let plus = |message: &mut Vec<u8>, entry: &Entry| {
        let name = entry.name.to_bytes();
        let found = match name {
            b"." | b".." => Err(Errno::NOENT),
            _ => server.machine.tree().lookup(&folder, OsStr::from_bytes(name)),
        };
        // One that is gone meanwhile is listed without, as is a folder of the tree's own.
        let Ok(child) = found else {
            word(message, 0);
            word(message, 0);
            return Ok(());
        };
        let handle = server.files.keep(&child)?;
        attributes_after(message, Some(&server.attributes(&child.0, &child.1)));
        word(message, 1);
        pack(message, &reply::wire(handle));
        Ok(())
    };
    answer(server, &folder, behind, count as usize, message, plus, PLUS_BYTES)
}

fn answer(
    server: &Server,
    folder: &Node,
    behind: u64,
    count: usize,
    message: &mut Vec<u8>,
    mut plus: impl FnMut(&mut Vec<u8>, &Entry) -> Result<(), Errno>,
    plus_bytes: usize,
) -> Result<(), Failure> {
    const TOO_SMALL: u32 = 10_005;
    let limit = count.min(ANSWER_BYTES_MAX).saturating_sub(AROUND_BYTES);
    let entries = listed(server, folder, behind)?;
    ok(message);
    attributes_after(message, server.attributes_of(folder).as_ref());
    // The verifier: places never go stale.
    word(message, 0);
    word(message, 0);
    let mut left = limit;
    let n_entries = entries.len();
    let mut n_reported = 0;
    for (place, entry) in entries {
        let name = entry.name.to_bytes();
        let len = ENTRY_BYTES + name.len() + padding(name.len()) + plus_bytes;
        if len > left {
            break;
        }
        left -= len;
        word(message, 1);
        message.extend_from_slice(&entry.number.to_be_bytes());
        word(message, name.len() as u32);
        message.extend_from_slice(name);
        message.extend_from_slice(&[0; 3][..padding(name.len())]);
        message.extend_from_slice(&place.to_be_bytes());
        plus(message, &entry)?;
        n_reported += 1;
    }
    if n_reported == 0 && n_entries > 0 {
        return Err(Failure::Status(TOO_SMALL));
    }
    word(message, 0);
    word(message, u32::from(n_reported == n_entries));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_apart_and_leave_room_for_the_first_two() {
        assert_eq!((place_of(b"."), place_of(b"..")), (1, 2));
        let mut places: Vec<u64> =
            (0..100_000).map(|n| place_of(format!("file-{n}").as_bytes())).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100_000);
        assert!(places[0] >= FIRST && places[99_999] < 1 << 63);
    }
}

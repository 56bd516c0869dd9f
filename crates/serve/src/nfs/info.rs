//! What files and volumes are: attributes, space, limits.

use std::os::unix::ffi::OsStrExt;

use engine::nfs::xdr::padding;
use nfs3_types::nfs3::{
    FSF3_CANSETTIME, FSF3_HOMOGENEOUS, FSF3_LINK, FSF3_SYMLINK, FSINFO3resok, FSSTAT3resok,
    Nfs3Option, PATHCONF3resok, nfstime3,
};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::arguments::Wanted;
use super::attributes;
use super::caller::Caller;
use super::reply::{Failure, NAME_BYTES_MAX, attributes_after, changes, ok, pack, word};
use super::server::Server;

/// Files that a volume can have, as clients are answered.
const FILES_MAX: u64 = 1 << 31;
/// Links of one file.
const LINKS_MAX: u32 = 32_000;
/// Bytes of a folder's listing that are best asked for at once.
const LISTING_BYTES: u32 = 64 << 10;
/// What transfers are best a multiple of.
const TRANSFER_MULTIPLE: u32 = 4096;

/// GETATTR.
pub(super) fn getattr(server: &Server, file: &[u8], message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    let stat = node.stat()?;
    ok(message);
    pack(message, &server.attributes(&node, &stat));
    Ok(())
}

/// SETATTR.
pub(super) fn setattr(
    server: &Server,
    file: &[u8],
    (wanted, guard): (&Wanted, Option<(u32, u32)>),
    caller: &Caller,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    const NOT_SYNC: u32 = 10_002;
    let node = server.files.node(file)?;
    if let Some(guard) = guard {
        let stat = node.stat()?;
        if guard != (stat.st_ctime as u32, stat.st_ctime_nsec as u32) {
            return Err(Failure::Status(NOT_SYNC));
        }
    }
    let asked = server.trust.changes(&node, caller, &wanted.changes)?;
    if let Some(size) = wanted.size {
        match node.kind {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR.into()),
            _ => return Err(Errno::INVAL.into()),
        }
        server.machine.truncate(&node, &node.open(OFlags::WRONLY)?, size)?;
    }
    let stat = server.machine.tree().change(&node, &asked)?;
    ok(message);
    changes(message, Some(&server.attributes(&node, &stat)));
    Ok(())
}

/// ACCESS.
pub(super) fn access(
    server: &Server,
    file: &[u8],
    asked: u32,
    caller: &Caller,
    message: &mut Vec<u8>,
) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    let stat = node.stat()?;
    ok(message);
    attributes_after(message, Some(&server.attributes(&node, &stat)));
    word(message, attributes::access(asked, caller, &stat));
    Ok(())
}

/// READLINK.
pub(super) fn readlink(server: &Server, file: &[u8], message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    if node.kind != FileType::Symlink {
        return Err(Errno::INVAL.into());
    }
    let target = server.machine.tree().readlink(&node)?;
    let target = target.as_os_str().as_bytes();
    ok(message);
    attributes_after(message, server.attributes_of(&node).as_ref());
    word(message, target.len() as u32);
    message.extend_from_slice(target);
    message.extend_from_slice(&[0; 3][..padding(target.len())]);
    Ok(())
}

/// FSSTAT: the volume is as large as what is provisioned. Above the volumes it is all of them.
pub(super) fn fsstat(server: &Server, file: &[u8], message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    let stores = server.machine.stores();
    let stores = match node.volume {
        Some(volume) => stores.get(usize::from(volume)..).unwrap_or_default().split_at(1).0,
        None => stores,
    };
    let tbytes = stores.iter().map(|store| store.space.capacity()).sum();
    let free =
        |store: &crate::store::Store| store.space.capacity().saturating_sub(store.space.used());
    let fbytes = stores.iter().map(free).sum();
    ok(message);
    let resok = FSSTAT3resok {
        obj_attributes: optional(server.attributes_of(&node)),
        tbytes,
        fbytes,
        abytes: fbytes,
        tfiles: FILES_MAX,
        ffiles: FILES_MAX,
        afiles: FILES_MAX,
        invarsec: 0,
    };
    pack(message, &resok);
    Ok(())
}

/// FSINFO.
pub(super) fn fsinfo(server: &Server, file: &[u8], message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    let transfer_bytes = server.facts(node.volume).transfer_bytes;
    ok(message);
    let resok = FSINFO3resok {
        obj_attributes: optional(server.attributes_of(&node)),
        rtmax: transfer_bytes,
        rtpref: transfer_bytes,
        rtmult: TRANSFER_MULTIPLE,
        wtmax: transfer_bytes,
        wtpref: transfer_bytes,
        wtmult: TRANSFER_MULTIPLE,
        dtpref: LISTING_BYTES,
        maxfilesize: i64::MAX as u64,
        time_delta: nfstime3 { seconds: 0, nseconds: 1 },
        properties: FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
    };
    pack(message, &resok);
    Ok(())
}

/// PATHCONF.
pub(super) fn pathconf(server: &Server, file: &[u8], message: &mut Vec<u8>) -> Result<(), Failure> {
    let node = server.files.node(file)?;
    ok(message);
    let resok = PATHCONF3resok {
        obj_attributes: optional(server.attributes_of(&node)),
        linkmax: LINKS_MAX,
        name_max: NAME_BYTES_MAX,
        no_trunc: true,
        chown_restricted: true,
        case_insensitive: false,
        case_preserving: true,
    };
    pack(message, &resok);
    Ok(())
}

fn optional<T: nfs3_types::xdr_codec::Pack + nfs3_types::xdr_codec::Unpack>(
    value: Option<T>,
) -> Nfs3Option<T> {
    value.map_or(Nfs3Option::None, Nfs3Option::Some)
}

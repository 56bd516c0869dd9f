//! The programs around NFS: MOUNT, and the portmapper's questions on the export's own port.

use engine::nfs::xdr::Reader;
use nfs3_types::mount::{
    self as types, MOUNT_PROGRAM, dirpath, export_node, exports, fhandle3, mountres3, mountres3_ok,
    mountstat3,
};
use nfs3_types::nfs3;
use nfs3_types::portmap::{self, PMAP_PROG};
use nfs3_types::xdr_codec::{List, Opaque, Pack};
use rustix::io::Errno;

use super::Server;
use super::call::{self, Call, Refusal};

/// Longest path of an export (RFC 1813, section 5.1.2).
const PATH_BYTES_MAX: usize = 1024;

/// `AUTH_SYS` and `AUTH_NONE`.
const FLAVORS: [u32; 2] = [1, 0];

/// Carries out a call of MOUNT.
pub(super) fn mount(server: &Server, call: &Call<'_>) -> Result<Vec<u8>, Refusal> {
    let mut answer = call::accepted(call.xid);
    let mut arguments = call.arguments;
    let procedure = MOUNT_PROGRAM::try_from(call.procedure).map_err(|_| Refusal::Procedure)?;
    match procedure {
        MOUNT_PROGRAM::MOUNTPROC3_MNT => {
            let path = arguments.opaque(PATH_BYTES_MAX, "path")?;
            pack(&mut answer, &root(server, path));
        }
        MOUNT_PROGRAM::MOUNTPROC3_DUMP => pack(&mut answer, &types::mountlist::default()),
        MOUNT_PROGRAM::MOUNTPROC3_EXPORT => {
            let design = server.machine.in_force().design;
            let node = |mount: &str| export_node {
                ex_dir: dirpath(Opaque::owned(mount.as_bytes().to_vec())),
                ex_groups: List::default(),
            };
            let nodes = design.volumes.iter().map(|volume| node(&volume.mount)).collect();
            let list: exports<'_, '_> = List(nodes);
            pack(&mut answer, &list);
        }
        MOUNT_PROGRAM::MOUNTPROC3_NULL
        | MOUNT_PROGRAM::MOUNTPROC3_UMNT
        | MOUNT_PROGRAM::MOUNTPROC3_UMNTALL => {}
    }
    Ok(answer)
}

/// Finds the folder that is mounted: a volume by its mount path, or any folder below one.
fn root(server: &Server, path: &[u8]) -> mountres3<'static> {
    let found = std::str::from_utf8(path).map_err(|_| Errno::NOENT);
    match found.and_then(|path| server.files.find_mounted(path)) {
        Ok(handle) => mountres3::Ok(mountres3_ok {
            fhandle: fhandle3(Opaque::owned(handle.to_vec())),
            auth_flavors: FLAVORS.to_vec(),
        }),
        Err(Errno::NOTDIR) => mountres3::Err(mountstat3::MNT3ERR_NOTDIR),
        Err(Errno::ACCESS | Errno::PERM) => mountres3::Err(mountstat3::MNT3ERR_ACCES),
        Err(Errno::NOENT | Errno::INVAL) => mountres3::Err(mountstat3::MNT3ERR_NOENT),
        Err(_) => mountres3::Err(mountstat3::MNT3ERR_IO),
    }
}

/// Answers who asks for the port of a service: it is this one.
pub(super) fn portmap(server: &Server, call: &Call<'_>) -> Result<Vec<u8>, Refusal> {
    const TCP: u32 = 6;
    let mut answer = call::accepted(call.xid);
    match PMAP_PROG::try_from(call.procedure).map_err(|_| Refusal::Procedure)? {
        PMAP_PROG::PMAPPROC_NULL => {}
        PMAP_PROG::PMAPPROC_GETPORT => {
            let mut arguments: Reader<'_> = call.arguments;
            let [program, _version, protocol] = [(); 3].map(|()| arguments.u32());
            let is_ours = matches!(program?, nfs3::PROGRAM | types::PROGRAM) && protocol? == TCP;
            let port = if is_ours { u32::from(server.address.port()) } else { 0 };
            pack(&mut answer, &port);
        }
        PMAP_PROG::PMAPPROC_DUMP => {
            let port = u32::from(server.address.port());
            let mapping = |prog| portmap::mapping { prog, vers: 3, prot: TCP, port };
            pack(&mut answer, &List(vec![mapping(nfs3::PROGRAM), mapping(types::PROGRAM)]));
        }
        _ => return Err(Refusal::Procedure),
    }
    Ok(answer)
}

/// Appends results to an answer.
pub(super) fn pack(answer: &mut Vec<u8>, results: &impl Pack) {
    results.pack(answer).expect("a vector takes all");
}

//! The programs around NFS: MOUNT, and the portmapper's questions on the export's own port.

use nfs3_types::mount::{
    self as types, dirpath, export_node, exports, fhandle3, mountres3, mountres3_ok, mountstat3,
};
use nfs3_types::nfs3;
use nfs3_types::portmap::{self};
use nfs3_types::xdr_codec::{List, Opaque};
use rustix::io::Errno;

use super::mount_arguments::{MountAsked, PortmapAsked};
use super::reply::{accepted, pack};
use super::server::Server;

/// `AUTH_SYS` and `AUTH_NONE`.
const FLAVORS: [u32; 2] = [1, 0];

/// Carries out a call of MOUNT.
pub(super) fn mount(server: &Server, xid: u32, asked: MountAsked<'_>) -> Vec<u8> {
    let mut answer = accepted(xid);
    match asked {
        MountAsked::Nothing => {}
        MountAsked::Mount(path) => pack(&mut answer, &root(server, path)),
        MountAsked::Dump => pack(&mut answer, &types::mountlist::default()),
        MountAsked::Exports => {
            let design = server.machine.in_force().design;
            let node = |mount: &str| export_node {
                ex_dir: dirpath(Opaque::owned(mount.as_bytes().to_vec())),
                ex_groups: List::default(),
            };
            let nodes = design.volumes.iter().map(|volume| node(&volume.mount)).collect();
            let list: exports<'_, '_> = List(nodes);
            pack(&mut answer, &list);
        }
    }
    answer
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
pub(super) fn portmap(server: &Server, xid: u32, asked: PortmapAsked) -> Vec<u8> {
    const TCP: u32 = 6;
    let mut answer = accepted(xid);
    let port = u32::from(server.address.port());
    match asked {
        PortmapAsked::Nothing => {}
        PortmapAsked::Port { program, protocol } => {
            let is_ours = matches!(program, nfs3::PROGRAM | types::PROGRAM) && protocol == TCP;
            pack(&mut answer, &if is_ours { port } else { 0 });
        }
        PortmapAsked::Dump => {
            let mapping = |prog| portmap::mapping { prog, vers: 3, prot: TCP, port };
            pack(&mut answer, &List(vec![mapping(nfs3::PROGRAM), mapping(types::PROGRAM)]));
        }
    }
    answer
}

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
use super::call::{self, Refusal};

/// Longest path of an export (RFC 1813, section 5.1.2).
const PATH_BYTES_MAX: usize = 1024;

/// `AUTH_SYS` and `AUTH_NONE`.
const FLAVORS: [u32; 2] = [1, 0];

/// What a call of MOUNT asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum MountAsked<'a> {
    /// Nothing, or to unmount: no list is kept of who has mounted what.
    Nothing,
    /// The handle of a folder.
    Mount(&'a [u8]),
    /// Who has mounted what.
    Dump,
    /// What can be mounted.
    Exports,
}

impl<'a> MountAsked<'a> {
    pub(super) fn read(procedure: u32, arguments: &mut Reader<'a>) -> Result<Self, Refusal> {
        Ok(match MOUNT_PROGRAM::try_from(procedure).map_err(|_| Refusal::Procedure)? {
            MOUNT_PROGRAM::MOUNTPROC3_MNT => {
                MountAsked::Mount(arguments.opaque(PATH_BYTES_MAX, "path")?)
            }
            MOUNT_PROGRAM::MOUNTPROC3_DUMP => MountAsked::Dump,
            MOUNT_PROGRAM::MOUNTPROC3_EXPORT => MountAsked::Exports,
            MOUNT_PROGRAM::MOUNTPROC3_NULL
            | MOUNT_PROGRAM::MOUNTPROC3_UMNT
            | MOUNT_PROGRAM::MOUNTPROC3_UMNTALL => MountAsked::Nothing,
        })
    }
}

/// Carries out a call of MOUNT.
pub(super) fn mount(server: &Server, xid: u32, asked: MountAsked<'_>) -> Vec<u8> {
    let mut answer = call::accepted(xid);
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

/// What a call of the portmapper's program asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum PortmapAsked {
    Nothing,
    /// The port of a service.
    Port {
        program: u32,
        protocol: u32,
    },
    /// All services.
    Dump,
}

impl PortmapAsked {
    pub(super) fn read(procedure: u32, arguments: &mut Reader<'_>) -> Result<Self, Refusal> {
        Ok(match PMAP_PROG::try_from(procedure).map_err(|_| Refusal::Procedure)? {
            PMAP_PROG::PMAPPROC_NULL => PortmapAsked::Nothing,
            PMAP_PROG::PMAPPROC_GETPORT => {
                let (program, _version) = (arguments.u32()?, arguments.u32()?);
                PortmapAsked::Port { program, protocol: arguments.u32()? }
            }
            PMAP_PROG::PMAPPROC_DUMP => PortmapAsked::Dump,
            _ => return Err(Refusal::Procedure),
        })
    }
}

/// Answers who asks for the port of a service: it is this one.
pub(super) fn portmap(server: &Server, xid: u32, asked: PortmapAsked) -> Vec<u8> {
    const TCP: u32 = 6;
    let mut answer = call::accepted(xid);
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

/// Appends results to an answer.
pub(super) fn pack(answer: &mut Vec<u8>, results: &impl Pack) {
    results.pack(answer).expect("a vector takes all");
}

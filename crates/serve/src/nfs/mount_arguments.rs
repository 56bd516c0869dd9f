//! What calls of MOUNT and of the portmapper's program ask for.

use engine::nfs::xdr::Reader;
use nfs3_types::mount::MOUNT_PROGRAM;
use nfs3_types::portmap::PMAP_PROG;

use super::refusal::Refusal;

/// Longest path of an export (RFC 1813, section 5.1.2).
const PATH_BYTES_MAX: usize = 1024;

/// What a call of MOUNT asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum MountAsked<'a> {
    /// Nothing, or to unmount: no list is kept of who has mounted what.
    Nothing,
    /// The handle of a folder.
    Mount(&'a [u8]),
    /// Clients and what they have mounted.
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

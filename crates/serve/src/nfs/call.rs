//! What a call says before its arguments, and the head of its answer.

use engine::nfs::xdr::{Reader, XdrError};
use nfs3_types::rpc::RPC_VERSION_2;
use nfs3_types::{mount as mount_types, nfs3, portmap};

use super::arguments::NfsRequest;
use super::caller::{Caller, GROUPS_MAX};
use super::mount_arguments::{MountAsked, PortmapAsked};
use super::refusal::Refusal;

/// Longest body of a credential (RFC 5531, section 8.2).
const AUTH_BYTES_MAX: usize = 400;
/// Longest name of a machine in a credential.
const MACHINE_BYTES_MAX: usize = 255;

/// `AUTH_SYS`.
const AUTH_SYS: u32 = 1;

/// A call up to its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) xid: u32,
    pub(super) rpc_version: u32,
    pub(super) program: u32,
    pub(super) version: u32,
    pub(super) procedure: u32,
    pub(super) caller: Caller,
    pub(super) arguments: Reader<'a>,
}

/// Reads a call.
///
/// # Errors
/// When the bytes are no call: then there is no one to answer.
pub(super) fn read(message: &[u8]) -> Result<Call<'_>, XdrError> {
    let mut reader = Reader::new(message);
    let xid = reader.u32()?;
    if reader.u32()? != 0 {
        return Err(XdrError::Malformed("a reply where a call is due"));
    }
    let [rpc_version, program, version, procedure, flavor] = [(); 5].map(|()| reader.u32());
    let credential = reader.opaque(AUTH_BYTES_MAX, "credential")?;
    let _flavor = reader.u32()?;
    reader.opaque(AUTH_BYTES_MAX, "verifier")?;
    Ok(Call {
        xid,
        rpc_version: rpc_version?,
        program: program?,
        version: version?,
        procedure: procedure?,
        caller: if flavor? == AUTH_SYS { caller(credential)? } else { Caller::NOBODY },
        arguments: reader,
    })
}

fn caller(credential: &[u8]) -> Result<Caller, XdrError> {
    let mut reader = Reader::new(credential);
    let _stamp = reader.u32()?;
    reader.opaque(MACHINE_BYTES_MAX, "name of a machine")?;
    let (uid, gid) = (reader.u32()?, reader.u32()?);
    let n_groups = reader.u32()? as usize;
    let mut caller = Caller { uid, gid, groups: [gid; GROUPS_MAX] };
    for group in caller.groups.get_mut(..n_groups).ok_or(XdrError::Malformed("groups"))? {
        *group = reader.u32()?;
    }
    Ok(caller)
}

/// What a call asks of which program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question<'a> {
    Nfs(NfsRequest<'a>),
    Mount(MountAsked<'a>),
    Portmap(PortmapAsked),
}

impl<'a> Call<'a> {
    /// Reads what the call asks for, off its arguments.
    ///
    /// # Errors
    /// Why the call is not carried out.
    pub(super) fn question(&self, arguments: &mut Reader<'a>) -> Result<Question<'a>, Refusal> {
        if self.rpc_version != RPC_VERSION_2 {
            return Err(Refusal::RpcVersion);
        }
        let version = match self.program {
            nfs3::PROGRAM => nfs3::VERSION,
            mount_types::PROGRAM => mount_types::VERSION,
            portmap::PROGRAM => portmap::VERSION,
            _ => return Err(Refusal::Program),
        };
        // Version 1 of MOUNT unmounts like version 3, and some clients use it for that.
        if self.version != version && !(self.program == mount_types::PROGRAM && self.version == 1) {
            return Err(Refusal::Version(version));
        }
        Ok(match self.program {
            nfs3::PROGRAM => {
                let procedure = nfs3::NFS_PROGRAM::try_from(self.procedure);
                let procedure = procedure.map_err(|_| Refusal::Procedure)?;
                Question::Nfs(NfsRequest::read(procedure, arguments)?)
            }
            mount_types::PROGRAM => Question::Mount(MountAsked::read(self.procedure, arguments)?),
            _ => Question::Portmap(PortmapAsked::read(self.procedure, arguments)?),
        })
    }
}

//! A mounted export: finding, making and removing its files, one call at a time.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use nfs3_types::mount::{self, MOUNT_PROGRAM};
use nfs3_types::nfs3::{
    self, CREATE3args, GETATTR3args, LOOKUP3args, MKDIR3args, NFS_PROGRAM, Nfs3Option, REMOVE3args,
    SETATTR3args, createhow3, diropargs3, filename3, nfs_fh3, sattr3,
};
use nfs3_types::portmap::{self, PMAP_PROG};
use nfs3_types::xdr_codec::{Opaque, Pack};
use plan::nfs::{NfsSpec, NfsUrl, TRANSFER_BYTES_MAX, TRANSFER_BYTES_MIN};
use units::system_text;

use super::encode::{Caller, HANDLE_BYTES_MAX, Handle};
use super::reply::attributes_after;
use super::rpc::{Rpc, RpcError, status};
use super::xdr::Reader;
use crate::EngineError;

/// Port of NFS where a server has no portmapper.
const NFS_PORT: u16 = 2049;
/// Port of every portmapper.
const PORTMAP_PORT: u16 = 111;
/// `IPPROTO_TCP` in a portmapper's question.
const TCP: u32 = 6;
/// Mode of new files, and of new folders.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RemoteEntry {
    pub(super) handle: Handle,
    pub(super) is_folder: bool,
    pub(super) is_regular: bool,
    pub(super) size_bytes: u64,
    pub(super) used_bytes: u64,
}

/// A mounted export.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) caller: Caller,
    /// Most bytes of one READ.
    pub(super) read_bytes: u32,
    /// Most bytes of one WRITE.
    pub(super) write_bytes: u32,
    rpc: Rpc,
    root: Handle,
    name: String,
}

impl Server {
    /// Mounts the export.
    ///
    /// # Errors
    /// `Remote` with the step that failed.
    pub(super) fn mount(spec: &NfsSpec) -> Result<Server, EngineError> {
        let Some(url) = &spec.url else {
            return Err(remote("mount", "", libc::EINVAL, "no `nfs_url` is given".into()));
        };
        let name = url.folder();
        let fail = |step: &str, error: &RpcError| {
            remote("mount", &name, error.errno(), format!("{step}: {error}"))
        };
        let caller = Caller {
            uid: url.uid.unwrap_or_else(|| rustix::process::geteuid().as_raw()),
            gid: url.gid.unwrap_or_else(|| rustix::process::getegid().as_raw()),
        };
        let host = resolve(&url.host).map_err(|source| {
            remote(
                "find",
                &url.host,
                source.raw_os_error().unwrap_or(libc::EHOSTUNREACH),
                system_text(source),
            )
        })?;
        let nfs_port = match url.port {
            Some(port) => port,
            None => mapped_port(host, nfs3::PROGRAM, caller).unwrap_or(NFS_PORT),
        };
        let root = mount_root(url, host, caller).map_err(|error| fail("MOUNT", &error))?;
        let address = SocketAddr::new(host.ip(), nfs_port);
        let rpc = Rpc::connect(address, caller).map_err(|error| fail("connect", &error))?;
        let mut server = Server {
            address,
            caller,
            read_bytes: 0,
            write_bytes: 0,
            rpc,
            root,
            name: name.clone(),
        };
        server.negotiate(spec, url).map_err(|error| fail("FSINFO", &error))?;
        Ok(server)
    }

    /// Returns the export's address, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Asks what the server can move at once, and settles the sizes of transfers.
    fn negotiate(&mut self, spec: &NfsSpec, url: &NfsUrl) -> Result<(), RpcError> {
        let arguments = nfs3::FSINFO3args { fsroot: wire(&self.root) };
        let results = self.call(NFS_PROGRAM::NFSPROC3_FSINFO, &arguments)?;
        let mut reader = status(&results)?;
        attributes_after(&mut reader)?;
        let [read_max, read_preferred, _, write_max, write_preferred] = words(&mut reader)?;
        let settle = |asked: Option<u32>, preferred: u32, max: u32| {
            let max = max.clamp(TRANSFER_BYTES_MIN, TRANSFER_BYTES_MAX);
            asked.unwrap_or(preferred).clamp(TRANSFER_BYTES_MIN, max)
        };
        self.read_bytes = settle(spec.read_bytes.or(url.read_bytes), read_preferred, read_max);
        self.write_bytes = settle(spec.write_bytes.or(url.write_bytes), write_preferred, write_max);
        Ok(())
    }

    /// Finds what a path below the export leads to.
    pub(super) fn find(&mut self, path: &str) -> Result<RemoteEntry, RpcError> {
        let mut handle = self.root;
        for name in names(path) {
            handle = self.lookup(handle, name)?;
        }
        self.attributes(handle)
    }

    /// Finds a file, or makes it, empty, with mode 0644. `with_folders` makes the folders above it.
    pub(super) fn create(
        &mut self,
        path: &str,
        with_folders: bool,
    ) -> Result<RemoteEntry, RpcError> {
        let (folder, name) = self.folder_of(path, with_folders)?;
        match self.lookup(folder, name) {
            Err(RpcError::Refused(libc::ENOENT)) => {}
            other => return self.attributes(other?),
        }
        let how = createhow3::UNCHECKED(mode(FILE_MODE));
        let arguments = CREATE3args { where_: place(&folder, name), how };
        let results = self.call(NFS_PROGRAM::NFSPROC3_CREATE, &arguments)?;
        status(&results)?;
        // The handle in the reply is optional.
        let handle = self.lookup(folder, name)?;
        self.attributes(handle)
    }

    /// Removes a file. One that is gone already is no error.
    pub(super) fn remove(&mut self, path: &str) -> Result<(), RpcError> {
        let removed = self.folder_of(path, false).and_then(|(folder, name)| {
            let arguments = REMOVE3args { object: place(&folder, name) };
            let results = self.call(NFS_PROGRAM::NFSPROC3_REMOVE, &arguments)?;
            status(&results).map(|_| ())
        });
        match removed {
            Err(RpcError::Refused(libc::ENOENT)) => Ok(()),
            other => other,
        }
    }

    /// Sets the size of a file.
    pub(super) fn set_size(&mut self, handle: &Handle, size_bytes: u64) -> Result<(), RpcError> {
        let arguments = SETATTR3args {
            object: wire(handle),
            new_attributes: sattr3 { size: Nfs3Option::Some(size_bytes), ..sattr3::default() },
            guard: Nfs3Option::None,
        };
        let results = self.call(NFS_PROGRAM::NFSPROC3_SETATTR, &arguments)?;
        status(&results).map(|_| ())
    }

    /// Returns the bytes that this user may still use, where the server says so.
    pub(super) fn free_bytes(&mut self) -> Option<u64> {
        let arguments = nfs3::FSSTAT3args { fsroot: wire(&self.root) };
        let results = self.call(NFS_PROGRAM::NFSPROC3_FSSTAT, &arguments).ok()?;
        let mut reader = status(&results).ok()?;
        attributes_after(&mut reader).ok()?;
        reader.bytes(16).ok()?;
        reader.u64().ok()
    }

    /// Finds the folder of a path, and the name in it.
    fn folder_of<'a>(&mut self, path: &'a str, make: bool) -> Result<(Handle, &'a str), RpcError> {
        let mut names: Vec<&str> = names(path).collect();
        let name = names.pop().ok_or(RpcError::Refused(libc::EISDIR))?;
        let mut folder = self.root;
        for parent in names {
            folder = match self.lookup(folder, parent) {
                Err(RpcError::Refused(libc::ENOENT)) if make => self.make_folder(folder, parent)?,
                other => other?,
            };
        }
        Ok((folder, name))
    }

    fn make_folder(&mut self, parent: Handle, name: &str) -> Result<Handle, RpcError> {
        let arguments = MKDIR3args { where_: place(&parent, name), attributes: mode(FOLDER_MODE) };
        let results = self.call(NFS_PROGRAM::NFSPROC3_MKDIR, &arguments)?;
        match status(&results) {
            // Another worker was faster.
            Err(RpcError::Refused(libc::EEXIST)) | Ok(_) => {}
            Err(error) => return Err(error),
        }
        self.lookup(parent, name)
    }

    fn lookup(&mut self, folder: Handle, name: &str) -> Result<Handle, RpcError> {
        let arguments = LOOKUP3args { what: place(&folder, name) };
        let results = self.call(NFS_PROGRAM::NFSPROC3_LOOKUP, &arguments)?;
        handle(&mut status(&results)?)
    }

    fn attributes(&mut self, handle: Handle) -> Result<RemoteEntry, RpcError> {
        let arguments = GETATTR3args { object: wire(&handle) };
        let results = self.call(NFS_PROGRAM::NFSPROC3_GETATTR, &arguments)?;
        let mut reader = status(&results)?;
        let kind = reader.u32()?;
        reader.bytes(16)?;
        Ok(RemoteEntry {
            handle,
            is_regular: kind == 1,
            is_folder: kind == 2,
            size_bytes: reader.u64()?,
            used_bytes: reader.u64()?,
        })
    }

    fn call(&mut self, procedure: NFS_PROGRAM, arguments: &impl Pack) -> Result<Vec<u8>, RpcError> {
        self.rpc.call([nfs3::PROGRAM, nfs3::VERSION, procedure as u32], arguments)
    }
}

fn resolve(host: &str) -> io::Result<SocketAddr> {
    let mut addresses = (host, PORTMAP_PORT).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::from_raw_os_error(libc::EHOSTUNREACH))
}

/// Asks the portmapper for the port of a service; version 3 is meant. `None` without portmapper, or
/// where it does not know the service.
fn mapped_port(host: SocketAddr, program: u32, caller: Caller) -> Option<u16> {
    let mut rpc = Rpc::connect(SocketAddr::new(host.ip(), PORTMAP_PORT), caller).ok()?;
    let procedure = PMAP_PROG::PMAPPROC_GETPORT as u32;
    let arguments = portmap::mapping { prog: program, vers: 3, prot: TCP, port: 0 };
    let results = rpc.call([portmap::PROGRAM, portmap::VERSION, procedure], &arguments).ok()?;
    let port = Reader::new(&results).u32().ok()?;
    u16::try_from(port).ok().filter(|port| *port > 0)
}

/// Asks the MOUNT service for the export's root: on the port that is given, on the one of NFS, or
/// on the one that the portmapper knows.
fn mount_root(url: &NfsUrl, host: SocketAddr, caller: Caller) -> Result<Handle, RpcError> {
    let mapped = || mapped_port(host, mount::PROGRAM, caller);
    let port = url.mount_port.or(url.port).or_else(mapped).unwrap_or(NFS_PORT);
    let result = mount_root_at(url, SocketAddr::new(host.ip(), port), caller);
    let given_for_nfs_alone = url.mount_port.is_none() && url.port.is_some();
    match result {
        Err(RpcError::Refused(libc::EOPNOTSUPP)) if given_for_nfs_alone => {
            let port = mapped().ok_or(RpcError::Refused(libc::EOPNOTSUPP))?;
            mount_root_at(url, SocketAddr::new(host.ip(), port), caller)
        }
        other => other,
    }
}

fn mount_root_at(url: &NfsUrl, address: SocketAddr, caller: Caller) -> Result<Handle, RpcError> {
    let mut rpc = Rpc::connect(address, caller)?;
    let procedure = MOUNT_PROGRAM::MOUNTPROC3_MNT as u32;
    let arguments = mount::dirpath(Opaque::borrowed(url.export.as_bytes()));
    let results = rpc.call([mount::PROGRAM, mount::VERSION, procedure], &arguments)?;
    handle(&mut status(&results)?)
}

/// Returns the names that a path is made of.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

fn handle(reader: &mut Reader<'_>) -> Result<Handle, RpcError> {
    let bytes = reader.opaque(HANDLE_BYTES_MAX, "handle of a file")?;
    Handle::new(bytes).ok_or(RpcError::Nonsense("handle of a file"))
}

fn words<const N: usize>(reader: &mut Reader<'_>) -> Result<[u32; N], RpcError> {
    let mut words = [0; N];
    for word in &mut words {
        *word = reader.u32()?;
    }
    Ok(words)
}

fn wire(handle: &Handle) -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(handle.as_bytes().to_vec()) }
}

fn place<'a>(folder: &Handle, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: wire(folder), name: filename3(Opaque::borrowed(name.as_bytes())) }
}

fn mode(mode: u32) -> sattr3 {
    sattr3 { mode: Nfs3Option::Some(mode), ..sattr3::default() }
}

pub(super) fn remote(
    action: &'static str,
    server: &str,
    errno: i32,
    reason: String,
) -> EngineError {
    EngineError::Remote { action, server: server.to_owned(), errno, reason }
}

//! What answers are made of.

use nfs3_types::nfs3::{fattr3, nfs_fh3};
use nfs3_types::rpc::RPC_VERSION_2;
use nfs3_types::xdr_codec::{Opaque, Pack};
use rustix::io::Errno;

use super::answer::Answer;
use super::arguments::NfsRequest;
use super::attributes::status;
use super::files::Handle;
use super::refusal::Refusal;

/// Longest name, as nearly everywhere.
pub(super) const NAME_BYTES_MAX: u32 = 255;

/// Why a call brings no results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// What it asks for cannot be done.
    File(Errno),
    /// As a number that only NFS has.
    Status(u32),
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        Failure::File(error)
    }
}

/// What follows the status of a call that failed; all attributes are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Nothing.
    Empty,
    /// Attributes of one file.
    Attributes,
    /// Changes of one file.
    Changes,
    /// Both.
    AttributesAndChanges,
    /// Changes of two files.
    TwoChanges,
}

impl Body {
    fn n_words(self) -> usize {
        match self {
            Body::Empty => 0,
            Body::Attributes => 1,
            Body::Changes => 2,
            Body::AttributesAndChanges => 3,
            Body::TwoChanges => 4,
        }
    }

    pub(super) fn of(asked: &NfsRequest<'_>) -> Body {
        match asked {
            NfsRequest::Null | NfsRequest::Getattr(_) => Body::Empty,
            NfsRequest::Rename { .. } => Body::TwoChanges,
            NfsRequest::Link { .. } => Body::AttributesAndChanges,
            NfsRequest::Setattr { .. }
            | NfsRequest::Write { .. }
            | NfsRequest::Create(..)
            | NfsRequest::Mkdir(..)
            | NfsRequest::Symlink(..)
            | NfsRequest::Mknod(..)
            | NfsRequest::Remove(_)
            | NfsRequest::Rmdir(_)
            | NfsRequest::Commit(_) => Body::Changes,
            NfsRequest::Lookup(_)
            | NfsRequest::Access { .. }
            | NfsRequest::Readlink(_)
            | NfsRequest::Read { .. }
            | NfsRequest::Readdir { .. }
            | NfsRequest::Readdirplus { .. }
            | NfsRequest::Fsstat(_)
            | NfsRequest::Fsinfo(_)
            | NfsRequest::Pathconf(_) => Body::Attributes,
        }
    }
}

impl Answer {
    /// Answers that what was asked for cannot be done.
    pub(super) fn failed(self, body: Body, error: Errno) {
        let message = failed(self.xid, body, status(error));
        self.send(message);
    }
}

pub(super) fn failed(xid: u32, body: Body, status: u32) -> Vec<u8> {
    let mut message = accepted(xid);
    word(&mut message, status);
    for _ in 0..body.n_words() {
        word(&mut message, 0);
    }
    message
}

/// Starts the answer of a call that is carried out; its results follow.
pub(super) fn accepted(xid: u32) -> Vec<u8> {
    let mut answer = Vec::with_capacity(256);
    words(&mut answer, &[xid, 1, 0, 0, 0, 0]);
    answer
}

/// Makes the answer of a call that is not.
pub(super) fn refused(xid: u32, refusal: Refusal) -> Vec<u8> {
    let mut answer = Vec::with_capacity(32);
    match refusal {
        Refusal::RpcVersion => {
            words(&mut answer, &[xid, 1, 1, 0, RPC_VERSION_2, RPC_VERSION_2]);
        }
        Refusal::Program => words(&mut answer, &[xid, 1, 0, 0, 0, 1]),
        Refusal::Version(version) => words(&mut answer, &[xid, 1, 0, 0, 0, 2, version, version]),
        Refusal::Procedure => words(&mut answer, &[xid, 1, 0, 0, 0, 3]),
        Refusal::Arguments => words(&mut answer, &[xid, 1, 0, 0, 0, 4]),
    }
    answer
}

fn words(answer: &mut Vec<u8>, words: &[u32]) {
    for word in words {
        answer.extend_from_slice(&word.to_be_bytes());
    }
}

pub(super) fn word(message: &mut Vec<u8>, word: u32) {
    message.extend_from_slice(&word.to_be_bytes());
}

/// Appends results to an answer.
pub(super) fn pack(answer: &mut Vec<u8>, results: &impl Pack) {
    results.pack(answer).expect("a vector takes all");
}

/// Reports that it was done.
pub(super) fn ok(message: &mut Vec<u8>) {
    word(message, 0);
}

/// Writes the attributes of a file, where they are known.
pub(super) fn attributes_after(message: &mut Vec<u8>, attributes: Option<&fattr3>) {
    word(message, u32::from(attributes.is_some()));
    if let Some(attributes) = attributes {
        pack(message, attributes);
    }
}

/// Writes the attributes of a file that a call changed. Those from before are left out: others may
/// change the file at the same time.
pub(super) fn changes(message: &mut Vec<u8>, after: Option<&fattr3>) {
    word(message, 0);
    attributes_after(message, after);
}

pub(super) fn wire(handle: Handle) -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(handle.to_vec()) }
}

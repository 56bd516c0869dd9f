//! Who calls.

/// Groups beside the first that a credential names (RFC 5531, appendix A).
pub(super) const GROUPS_MAX: usize = 16;

/// The user and group `nobody`.
const NOBODY: u32 = 65_534;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) groups: [u32; GROUPS_MAX],
}

impl Caller {
    pub(super) const NOBODY: Caller =
        Caller { uid: NOBODY, gid: NOBODY, groups: [NOBODY; GROUPS_MAX] };

    /// Returns the caller as the user nobody if it says that it is root, and in no group of
    /// root's.
    pub(super) fn squashed(mut self) -> Caller {
        const ROOT: u32 = 0;
        if self.uid == ROOT {
            return Caller::NOBODY;
        }
        for gid in std::iter::once(&mut self.gid).chain(&mut self.groups) {
            if *gid == ROOT {
                *gid = NOBODY;
            }
        }
        self
    }

    /// Returns whether the caller is in a group.
    pub(super) fn is_in(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }
}

//! Which volumes a backing holds the data of, so that no other design is served from it by mistake.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use volume::Design;

use super::{Backing, BackingError, classify, relative};
use crate::durable;

/// A volume that has data here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Claimed {
    mount: String,
    size_bytes: u64,
}

impl Backing {
    /// Lets volumes have other sizes than those that the data were written with.
    #[must_use]
    pub fn with_other_sizes(mut self, takes: bool) -> Self {
        self.takes_other_sizes = takes;
        self
    }

    /// Takes the backing for a design, unless its data belong to another one.
    pub(crate) fn claim(&self, design: &Design) -> Result<(), BackingError> {
        let asked = claimed(design);
        let found = self.claimed()?;
        if let Some(found) = &found
            && let Err(error) = self.compare(found, &asked)
        {
            // Nothing was ever written: there are no data that could be served as another's.
            if !self.give_up(found)? {
                return Err(error);
            }
        }
        if found.as_ref() == Some(&asked) {
            return Ok(());
        }
        self.note(design).map_err(|source| classify(&self.dir, source))
    }

    fn compare(&self, found: &[Claimed], asked: &[Claimed]) -> Result<(), BackingError> {
        let mounts = |claims: &[Claimed]| -> Vec<String> {
            claims.iter().map(|claim| claim.mount.clone()).collect()
        };
        let path = self.dir.clone();
        if mounts(found) != mounts(asked) {
            let (has, asked) = (mounts(found), mounts(asked));
            return Err(BackingError::OtherVolumes { path, has, asked });
        }
        let mut pairs = found.iter().zip(asked);
        match pairs.find(|(has, asked)| has != asked && !self.takes_other_sizes) {
            Some((has, asked)) => Err(BackingError::OtherSize {
                path,
                mount: has.mount.clone(),
                has_bytes: has.size_bytes,
                asked_bytes: asked.size_bytes,
            }),
            None => Ok(()),
        }
    }

    /// Takes the empty folders of volumes away. Returns false, and changes nothing, where there is
    /// anything else.
    fn give_up(&self, found: &[Claimed]) -> Result<bool, BackingError> {
        let mut own = HashSet::new();
        for claim in found.iter().filter(|_| found.len() > 1) {
            let path = self.data().join(relative(&claim.mount)?);
            own.extend(path.ancestors().take_while(|dir| *dir != self.data()).map(PathBuf::from));
        }
        let mut dirs = vec![self.data()];
        let mut idx = 0;
        while let Some(dir) = dirs.get(idx) {
            let entries = fs::read_dir(dir).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            for entry in entries.map_err(|error| classify(&self.dir, error))? {
                if !own.contains(&entry.path()) || !entry.path().is_dir() {
                    return Ok(false);
                }
                dirs.push(entry.path());
            }
            idx += 1;
        }
        // The deepest first; the folder of the data stays.
        for dir in dirs.iter().skip(1).rev() {
            fs::remove_dir(dir).map_err(|error| classify(dir, error))?;
        }
        Ok(true)
    }

    /// Returns the volumes that the data belong to; `None` where they were not noted, or what is
    /// noted cannot be read.
    fn claimed(&self) -> Result<Option<Vec<Claimed>>, BackingError> {
        match fs::read(self.claim_path()) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(classify(&self.claim_path(), error)),
        }
    }

    /// Notes the volumes of a design as those that the data belong to: as a whole, or not at all.
    pub(crate) fn note(&self, design: &Design) -> io::Result<()> {
        durable::replace(&self.dir, "volumes", &serde_json::to_vec(&claimed(design))?)
    }

    fn claim_path(&self) -> PathBuf {
        self.dir.join("volumes")
    }
}

/// Returns the volumes of a design by mount path: their order changes nothing in the data.
fn claimed(design: &Design) -> Vec<Claimed> {
    let claim = |volume: &volume::design::Volume| Claimed {
        mount: volume.mount.clone(),
        size_bytes: volume.capacity_bytes,
    };
    let mut claims: Vec<Claimed> = design.volumes.iter().map(claim).collect();
    claims.sort_unstable();
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(volumes: &[(&str, &str)]) -> Design {
        let volume = |(mount, disk): &(&str, &str)| {
            format!("[[volume]]\nmount = \"{mount}\"\ndisk = \"{disk}\"\n")
        };
        let text: String = volumes.iter().map(volume).collect();
        volume::design::parse(&text).0.expect("a design")
    }

    #[test]
    fn a_backing_stays_with_its_volumes_and_their_sizes() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Backing::open(folder.path()).unwrap();
        let two = [("/a", "P30"), ("/b", "P40")];
        open().claim(&design(&two)).unwrap();
        open().volume_dirs(&["/a", "/b"]).unwrap();
        fs::write(open().data().join("a/file"), "data").unwrap();
        open().claim(&design(&[two[1], two[0]])).unwrap();
        let error = open().claim(&design(&two[..1])).unwrap_err();
        let BackingError::OtherVolumes { has, asked, .. } = error else { panic!("{error}") };
        assert_eq!((has.join(" ").as_str(), asked.join(" ").as_str()), ("/a /b", "/a"));
        let larger = design(&[("/a", "P40"), ("/b", "P40")]);
        let error = open().claim(&larger).unwrap_err();
        let BackingError::OtherSize { mount, has_bytes, asked_bytes, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((mount.as_str(), has_bytes, asked_bytes), ("/a", 1 << 40, 2 << 40));
        open().with_other_sizes(true).claim(&larger).unwrap();
        open().claim(&larger).unwrap();
    }

    #[test]
    fn a_backing_that_was_never_written_to_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Backing::open(folder.path()).unwrap();
        let deep = [("/mnt/a", "P30"), ("/mnt/a/b", "P30")];
        open().claim(&design(&deep)).unwrap();
        open().volume_dirs(&["/mnt/a", "/mnt/a/b"]).unwrap();
        open().claim(&design(&[("/c", "P30")])).unwrap();
        assert_eq!(fs::read_dir(open().data()).unwrap().count(), 0);
        // A folder that a program made is data.
        fs::create_dir(open().data().join("mnt")).unwrap();
        open().claim(&design(&deep)).unwrap_err();
        assert!(open().data().join("mnt").is_dir());
    }
}

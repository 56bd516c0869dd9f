//! The folder that holds a tree: whether it may be used, and what is in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::devices;
use engine::tree::Anchored;
use pattern::tree::Tree;
use plan::Diagnostic;
use plan::op::OpKind;
use plan::tree::{Activity, FileIo, Format, TreeSpec, TreeWork};
use units::system_text;
use worker::{TreeCounts, TreeState};

use super::control::{self as control_file, ControlFile};
use super::previous::{PreviousTree, find_tree};
use super::refusal::{below, of_io, refused};
use super::scan;
use crate::control::Control;
use crate::setup_error::SetupError;

/// What a step is about to do in an anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Purpose {
    pub(super) format: Option<Format>,
    pub(super) modifies: bool,
    /// Removes files or folders.
    pub(super) removes: bool,
    /// Makes files or folders.
    pub(super) makes: bool,
    /// Does more than a format.
    pub(super) operates: bool,
}

impl Purpose {
    pub(super) fn of(work: &TreeWork) -> Self {
        let modifies = work.modifies();
        let tasks = match &work.activity {
            Activity::Operations(tasks) => tasks,
            Activity::Format(format) => {
                let (format, removes) = (Some(*format), format.clean);
                return Purpose { format, modifies, removes, makes: true, operates: false };
            }
        };
        let removes = tasks.iter().any(|task| {
            let of_names =
                matches!(task.operation, OpKind::Delete | OpKind::Rmdir | OpKind::Rename);
            of_names
                || task.operation == OpKind::Move
                || matches!(task.io, FileIo::Sequential { delete: true, .. })
        });
        let makes = tasks
            .iter()
            .any(|task| matches!(task.operation, OpKind::Mkdir | OpKind::Create | OpKind::Write));
        Purpose { format: None, modifies, removes, makes, operates: true }
    }

    /// Joins the purposes of two jobs in the same anchor.
    pub(super) fn and(self, other: Purpose) -> Purpose {
        Purpose {
            format: self.format.or(other.format),
            modifies: self.modifies || other.modifies,
            removes: self.removes || other.removes,
            makes: self.makes || other.makes,
            operates: self.operates || other.operates,
        }
    }
}

/// An anchor in use by a step.
pub(super) struct Anchor {
    pub(super) path: PathBuf,
    pub(super) spec: TreeSpec,
    pub(super) state: Arc<TreeState>,
    pub(super) purpose: Purpose,
    /// The folder was made for this step.
    pub(super) is_new: bool,
    /// What is there of another structure, which a format removes first.
    pub(super) former: Option<PreviousTree>,
    /// The control file is ours to write.
    pub(super) is_ours: bool,
    /// Things by other names that lie in the anchor.
    pub(super) n_others: u64,
    /// What the user should know before the step.
    pub(super) incomplete: Option<String>,
}

impl Anchor {
    /// Returns what is there and not gone yet of another structure.
    pub(super) fn former(&self) -> Option<&PreviousTree> {
        self.former.as_ref().filter(|former| !former.is_replaced)
    }

    /// Writes down that the other structure is gone, and finds what was left in its folders.
    pub(super) fn replace_former(&self) -> Result<(), SetupError> {
        // While workers run: who asks for the end has the format end as far as it is.
        find_tree(&self.state, &self.path, &Control::new())?;
        control_file::write(&self.path, &control_file::structure_of(&self.spec), None)
            .map_err(|error| of_io("cannot write the control file of", &self.path, &error))
    }

    /// Makes sure that a tree may be used, and finds out what is there of it.
    pub(super) fn open(
        spec: &TreeSpec,
        purpose: Purpose,
        control: &Control,
    ) -> Result<Anchor, SetupError> {
        let tree = Tree::new(spec).map_err(|error| refused(libc::EINVAL, error.to_string()))?;
        let (path, is_new) = usable(spec, purpose.modifies)?;
        let found = control_file::read(&path).map_err(|message| refused(libc::EINVAL, message))?;
        let structure = control_file::structure_of(spec);
        let anchored =
            Anchored::open(tree.clone(), &path).map_err(|error| SetupError::from(&error))?;
        let (n_ours, n_others) =
            scan::entries(&path, &tree).map_err(|error| of_io("cannot list", &path, &error))?;
        let is_clean = purpose.format.is_some_and(|format| format.clean);
        let mut state = TreeState::new(tree.clone());
        let agrees = |state: &TreeState| {
            let agrees = scan::folders_agree(state, &anchored.anchor, control);
            agrees.map_err(|error| below(&path, &error))
        };
        let mut is_ours = true;
        let mut former = None;
        match found {
            ControlFile::Nothing if n_ours == 0 => {}
            ControlFile::Older => return Err(of_older(&path)),
            ControlFile::Nothing if purpose.modifies => return Err(not_ours(&path, spec)),
            ControlFile::OfOthers if purpose.format.is_some() || purpose.removes => {
                return Err(of_others(&path));
            }
            ControlFile::Nothing | ControlFile::OfOthers => {
                is_ours = false;
                find_tree(&state, &path, control)?;
            }
            ControlFile::Ours(known) if !known.fits(&structure) => {
                let there = known.named_as(&structure);
                if !is_clean {
                    return Err(differs(&path, spec, &there));
                }
                if purpose.operates {
                    return Err(shared_with_others(&path, spec));
                }
                former = PreviousTree::find(&path, &there, spec, control)?;
            }
            ControlFile::Ours(known) => {
                // A format repairs what another program has changed.
                let contents = known.contents.as_ref().filter(|_| purpose.format.is_none());
                let is_known = contents.is_some_and(|contents| contents.apply(&state));
                if !is_known || !agrees(&state)? {
                    state = TreeState::new(tree);
                    find_tree(&state, &path, control)?;
                }
            }
        }
        if is_ours && purpose.modifies {
            let now = former.as_ref().map(|former| control_file::structure_of(&former.spec));
            control_file::write(&path, now.as_ref().unwrap_or(&structure), None)
                .map_err(|error| of_io("cannot write the control file of", &path, &error))?;
        }
        let state = Arc::new(state);
        let incomplete = incomplete(&state, spec, purpose, is_ours);
        let spec = spec.clone();
        Ok(Anchor { path, spec, state, purpose, is_new, former, is_ours, n_others, incomplete })
    }

    /// Writes down what is there after a step. Returns what the user should know.
    pub(super) fn close(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let shown = self.path.display();
        let of_former = self.former.as_ref().map_or(0, |former| former.state.n_left());
        let n_left = self.state.n_left() + of_former;
        if n_left > 0 {
            remarks.push(format!(
                "`{shown}`: {n_left} folders were not removed: they hold what is not of tree `{}`",
                self.spec.name
            ));
        }
        if self.purpose.format.is_some() && self.n_others > 0 {
            remarks.push(format!(
                "`{shown}` holds {} things that are not of tree `{}`: they are left alone",
                self.n_others, self.spec.name
            ));
        }
        let trouble = self.former.as_ref().and_then(|former| former.trouble.clone());
        remarks.extend(trouble);
        // As long as another structure lies there, the control file describes that.
        if !self.is_ours || !self.purpose.modifies || self.former().is_some() {
            return remarks;
        }
        let is_removal = self.purpose.format.is_some_and(|format| !format.create);
        let is_gone = self.state.counts() == (0, 0, 0);
        let written = if is_removal && is_gone {
            std::fs::remove_file(self.path.join(control_file::NAME))
        } else {
            let structure = control_file::structure_of(&self.spec);
            control_file::write(&self.path, &structure, Some(&self.state))
        };
        if let Err(error) = written {
            remarks.push(format!(
                "the control file of `{shown}` cannot be written: {}; the next run looks at \
                 every file instead",
                system_text(&error)
            ));
        }
        remarks
    }
}

/// Reports that a step works on a part of a tree that no step completes: of an interrupted format,
/// or of a larger structure. Where files are only made, or nothing is there, other messages say so.
///
/// A format keeps only what a control file says is ours.
fn incomplete(
    state: &TreeState,
    spec: &TreeSpec,
    purpose: Purpose,
    is_ours: bool,
) -> Option<String> {
    let TreeCounts { n_files, n_full, .. } = state.there();
    let expected = u64::from(state.tree().n_files());
    // How many files a limited size comes to shows in the files themselves.
    let is_part_wanted = spec.total_bytes > 0 || spec.share.1 > 1;
    if purpose.makes || is_part_wanted || n_full >= expected || n_files == 0 {
        return None;
    }
    let of_size = if n_full == n_files {
        String::new()
    } else {
        format!(", {n_full} of them with their whole size")
    };
    let remedy = if is_ours {
        "a format that keeps what is there (format=restart) completes it".to_owned()
    } else {
        format!(
            "no {} of Plimsoll says that they were made for it, so no format touches them: remove \
             them yourself, or name another anchor",
            control_file::NAME
        )
    };
    Some(format!(
        "tree `{}` in `{}` is not complete: {n_files} of its {expected} files exist{of_size}; \
         {remedy}",
        spec.name, spec.anchor
    ))
}

/// Returns the anchor as a path without links, and whether it was missing and is made now.
fn usable(spec: &TreeSpec, modifies: bool) -> Result<(PathBuf, bool), SetupError> {
    let path = Path::new(&spec.anchor);
    let mut is_new = false;
    let facts = match std::fs::symlink_metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !modifies => {
            let message = format!(
                "the anchor `{}` does not exist, and nothing here makes it: run a format first",
                path.display()
            );
            return Err(refused(libc::ENOENT, message));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            make(spec)?;
            is_new = true;
            std::fs::symlink_metadata(path).map_err(|error| of_io("cannot use", path, &error))?
        }
        Err(error) => return Err(of_io("cannot use", path, &error)),
    };
    let shown = path.display();
    if facts.is_symlink() {
        let message =
            format!("the anchor `{shown}` is a symbolic link; name the folder that it points to");
        return Err(refused(libc::ELOOP, message));
    }
    if !facts.is_dir() {
        return Err(refused(libc::ENOTDIR, format!("the anchor `{shown}` is not a folder")));
    }
    let whole = path.canonicalize().map_err(|error| of_io("cannot use", path, &error))?;
    if whole.parent().is_none() {
        let message = format!("the anchor `{shown}` is the root of all files; name a folder in it");
        return Err(refused(libc::EINVAL, message));
    }
    if modifies && let Err(errno) = rustix::fs::access(&whole, rustix::fs::Access::WRITE_OK) {
        let message = match errno {
            rustix::io::Errno::ROFS => format!(
                "the anchor `{shown}` is on a file system that is mounted read-only; name another"
            ),
            errno => {
                return Err(of_io("nothing can be made in the anchor", path, &errno.into()));
            }
        };
        return Err(refused(errno.raw_os_error(), message));
    }
    Ok((whole, is_new))
}

/// Makes the folder in which workers have a tree each, where it is missing. Folders above it are
/// made only where the plan says so: a volume that is not mounted, or a mistyped one, would become
/// a folder of another disk, and be measured.
pub(super) fn make_for_own(spec: &TreeSpec) -> Result<(), SetupError> {
    let path = Path::new(&spec.anchor);
    if path.exists() {
        return Ok(());
    }
    make(spec)
}

/// Returns what forbids trees where devices have their names: their files would lie in memory.
pub(crate) fn among_devices(work: &TreeWork) -> impl Iterator<Item = Diagnostic> {
    let trees = [Some(&work.tree), work.target.as_ref()].into_iter().flatten();
    let made = trees.filter(|_| work.modifies()).map(|spec| &spec.anchor);
    made.filter(|anchor| devices::would_hold(&Path::new(anchor).join("file"))).map(|anchor| {
        let folder = devices::FOLDER;
        let message =
            format!("the anchor `{anchor}` cannot hold files: only devices belong in {folder}");
        Diagnostic::error("tree-among-devices", message).help("name a folder of a disk")
    })
}

fn make(spec: &TreeSpec) -> Result<(), SetupError> {
    let path = Path::new(&spec.anchor);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.exists() && !spec.create_parents) {
        let remedy = if spec.own.is_some() {
            "mount the volume there, or create it"
        } else {
            "create it, or have it made: `create_anchors=yes` in a Vdbench file, \
             `create_parents = true` in a plan"
        };
        let message = format!(
            "the folder `{}` above the anchor `{}` does not exist: {remedy}",
            parent.display(),
            path.display()
        );
        return Err(refused(libc::ENOENT, message));
    }
    let made =
        if spec.create_parents { std::fs::create_dir_all(path) } else { std::fs::create_dir(path) };
    made.map_err(|error| of_io("cannot make the anchor", path, &error))
}

fn not_ours(path: &Path, spec: &TreeSpec) -> SetupError {
    let message = format!(
        "`{}` holds folders by the names of tree `{}`, but no {} says that they were made for it: \
         remove them yourself, or name another anchor",
        path.display(),
        spec.name,
        control_file::NAME
    );
    refused(libc::EEXIST, message)
}

fn of_others(path: &Path) -> SetupError {
    let message = format!(
        "the {} in `{}` was made by another program: remove its files with that, or name another \
         anchor",
        control_file::NAME,
        path.display()
    );
    refused(libc::EEXIST, message)
}

fn of_older(path: &Path) -> SetupError {
    let message = format!(
        "the tree in `{shown}` was made by an earlier version of Plimsoll, which numbered files in \
         another order than Vdbench does: remove its folders yourself (`rm -r {shown}/vdb*`) and \
         let a format make the tree again, or name another anchor",
        shown = path.display()
    );
    refused(libc::EEXIST, message)
}

fn shared_with_others(path: &Path, spec: &TreeSpec) -> SetupError {
    let message = format!(
        "the structure in `{}` is another one than tree `{}`: a format that removes it must be a \
         step of its own, without other jobs there",
        path.display(),
        spec.name
    );
    refused(libc::EBUSY, message)
}

fn differs(path: &Path, spec: &TreeSpec, there: &TreeSpec) -> SetupError {
    let message = format!(
        "the structure in `{}` is another one than tree `{}`: it has {}, but {} is asked for; \
         format=yes removes it and makes the new one",
        path.display(),
        spec.name,
        control_file::describe(there),
        control_file::describe(&control_file::structure_of(spec))
    );
    refused(libc::EEXIST, message)
}

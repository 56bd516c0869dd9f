//! What the operations of tasks work on and do to a tree. A new operation says it here, once.

use plan::op::OpKind;
use plan::tree::{FileIo, SelectFilter, TreeTask};

/// What work does to a tree, and others may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    CreatesFiles,
    FillsFiles,
    DeletesFiles,
    MakesFolders,
    RemovesFolders,
}

pub(super) const N_EFFECTS: usize = 5;

/// What an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorksOn {
    MissingFolder,
    EmptyFolder,
    /// A folder that is there.
    Folder,
    MissingFile,
    /// A file that is there.
    File,
    /// A file of its whole size.
    FullFile,
    /// A file to write: one that is there, or is made first.
    WrittenFile,
}

/// What an operation is to the tasks that do it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskTraits {
    pub(super) works_on: WorksOn,
    /// What it does to the tree.
    effects: &'static [Effect],
    /// The file neither comes nor goes by it: others may work on it at the same time.
    pub(super) may_share: bool,
    /// The file is opened for it.
    pub(super) opens: bool,
    /// What is drawn for an open file, where that is not planned.
    pub(super) draws: Option<TreeIo>,
}

/// I/Os on an open file that nothing leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeIo {
    /// Reads and writes; all of them reads where the task names no share.
    Reads,
    /// The same; all of them writes where the task names no share.
    Writes,
    /// The operation itself.
    Itself,
}

impl TaskTraits {
    const fn new(works_on: WorksOn, effects: &'static [Effect], may_share: bool) -> Self {
        TaskTraits { works_on, effects, may_share, opens: false, draws: None }
    }

    const fn opened(works_on: WorksOn, draws: Option<TreeIo>) -> Self {
        TaskTraits { works_on, effects: &[], may_share: true, opens: true, draws }
    }

    /// Returns the traits of an operation.
    #[inline]
    pub(super) const fn of(operation: OpKind) -> Self {
        use Effect::{CreatesFiles, DeletesFiles, FillsFiles, MakesFolders, RemovesFolders};
        use WorksOn::{
            EmptyFolder, File, Folder, FullFile, MissingFile, MissingFolder, WrittenFile,
        };
        match operation {
            OpKind::Mkdir => Self::new(MissingFolder, &[MakesFolders], false),
            OpKind::Rmdir => Self::new(EmptyFolder, &[RemovesFolders], false),
            OpKind::Create => Self::new(MissingFile, &[CreatesFiles], false),
            OpKind::Write => {
                let effects = &[CreatesFiles, FillsFiles];
                TaskTraits { effects, ..Self::opened(WrittenFile, Some(TreeIo::Writes)) }
            }
            OpKind::Read => Self::opened(FullFile, Some(TreeIo::Reads)),
            OpKind::MapRead | OpKind::MapWrite => Self::opened(FullFile, Some(TreeIo::Itself)),
            // What is cut off for a moment is not there for others.
            OpKind::Truncate => TaskTraits { may_share: false, ..Self::opened(FullFile, None) },
            OpKind::Rename => Self::new(File, &[], false),
            OpKind::Readdir | OpKind::Statfs | OpKind::Pathconf => Self::new(Folder, &[], true),
            OpKind::Copy => Self::new(FullFile, &[], false),
            OpKind::Move => Self::new(FullFile, &[DeletesFiles], false),
            OpKind::Delete => Self::new(File, &[DeletesFiles], false),
            OpKind::NegStat => Self::new(MissingFile, &[], false),
            OpKind::Open | OpKind::Close | OpKind::Lock => Self::opened(File, None),
            OpKind::Stat | OpKind::Access | OpKind::Setattr | OpKind::Chmod => {
                Self::new(File, &[], true)
            }
            // No task does these.
            OpKind::Trim | OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange => {
                Self::new(File, &[], false)
            }
        }
    }

    /// Returns what a task does to the tree it works on.
    pub(super) fn effects(task: &TreeTask) -> &'static [Effect] {
        use Effect::{CreatesFiles, DeletesFiles, FillsFiles};
        let traits = TaskTraits::of(task.operation);
        if task.recycles {
            return &[Effect::MakesFolders, Effect::RemovesFolders];
        }
        if traits.works_on != WorksOn::WrittenFile {
            return traits.effects;
        }
        let is_sequential = matches!(task.io, FileIo::Sequential { .. });
        let deletes = matches!(task.io, FileIo::Sequential { delete: true, .. });
        // One that is chosen by what is in it is made only where it is written in order.
        let is_made = match task.select.filter {
            SelectFilter::Any => true,
            SelectFilter::Empty | SelectFilter::NotFull => is_sequential,
            SelectFilter::Present | SelectFilter::Full => false,
        };
        match (is_made, deletes) {
            (false, _) => &[FillsFiles],
            (true, true) => &[CreatesFiles, FillsFiles, DeletesFiles],
            (true, false) => traits.effects,
        }
    }
}

impl WorksOn {
    /// Returns what others can do so that there is something to work on.
    pub(super) fn suppliers(self) -> &'static [Effect] {
        use Effect::{CreatesFiles, DeletesFiles, FillsFiles, MakesFolders, RemovesFolders};
        match self {
            WorksOn::MissingFolder => &[RemovesFolders],
            WorksOn::EmptyFolder | WorksOn::Folder => &[MakesFolders],
            WorksOn::MissingFile => &[DeletesFiles, MakesFolders],
            WorksOn::File => &[CreatesFiles],
            WorksOn::FullFile => &[FillsFiles],
            WorksOn::WrittenFile => &[MakesFolders, CreatesFiles],
        }
    }
}

//! What a job works on: files that are named or generated, and how they come and go.

/// A size that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Bytes.
    Bytes(u64),
    /// Percent of the target's own size, 1..=100.
    Percent(u8),
    /// Zones of a strided or zoned target.
    Zones(u64),
}

/// Writes a path as lists of paths hold it, where a colon stands between two.
pub fn escape_path(path: &str) -> String {
    path.replace(':', "\\:")
}

/// How the next file is picked among several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileService {
    /// One after the other.
    RoundRobin,
    /// Equally likely.
    Random,
    /// Stay with a file until it is done.
    Sequential,
    /// Zipf with this exponent.
    Zipf(f64),
    /// Pareto with this input value.
    Pareto(f64),
    /// Normal with this deviation in percent.
    Normal(f64),
}

/// How space is reserved when a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Not reserved.
    None,
    /// `fallocate`, silently left out where the file system cannot.
    Native,
    /// `posix_fallocate`.
    Posix,
    /// `fallocate` that keeps the size.
    KeepSize,
    /// `ftruncate` to the size.
    Truncate,
}

/// Durability asked for at open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// None.
    None,
    /// `O_SYNC`.
    Sync,
    /// `O_DSYNC`.
    Dsync,
}

/// Advice given to the kernel about buffered access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fadvise {
    /// None.
    None,
    /// From the job's walk: sequential or random.
    ByAccess,
    /// `POSIX_FADV_RANDOM`.
    Random,
    /// `POSIX_FADV_SEQUENTIAL`.
    Sequential,
    /// `POSIX_FADV_NOREUSE`.
    NoReuse,
}

/// Locks between workers that share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFile {
    /// None.
    None,
    /// One at a time.
    Exclusive,
    /// Many readers or one writer.
    ReadWrite,
}

/// What kind of file is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// Whatever is there; a regular file is made where nothing is.
    Any,
    /// Regular file.
    Regular,
    /// Block device.
    Block,
    /// Character device.
    Character,
}

/// The files of a job and how they are made, opened and removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fileset {
    /// Named files or devices, shared by all workers of the job; empty: names are generated.
    pub names: Vec<String>,
    /// Folders for relative and generated names; workers take them in turn.
    pub directories: Vec<String>,
    /// Pattern of generated names with `$jobname`, `$jobnum`, `$filenum`, `$clientuid`.
    pub name_format: Option<String>,
    /// Generated files per worker, at least 1.
    pub n_files: u32,
    /// Files open at once; `None` is all.
    pub n_open: Option<u32>,
    /// Region per worker over all its files.
    pub size: Option<Size>,
    /// Size of each file, drawn between the two; overrides the split of `size`.
    pub file_size_bytes: Option<(u64, u64)>,
    /// Amount of I/O per pass when it differs from the region.
    pub io_size: Option<Size>,
    /// Start of the region.
    pub offset: Size,
    /// Added to the offset for each further worker of the job.
    pub offset_increment: Size,
    /// Rounding of an offset given in percent; 0 is the smallest block size.
    pub offset_align_bytes: u64,
    /// How the next file is picked.
    pub service: FileService,
    /// I/Os to a file before the next is picked, at least 1.
    pub ios_per_file: u32,
    /// Expected kind.
    pub file_type: FileType,
    /// Bypasses the page cache.
    pub direct: bool,
    /// Durability at open.
    pub sync: SyncMode,
    /// Writes are atomic (`RWF_ATOMIC`).
    pub atomic: bool,
    /// Drops the file's cached pages before the run.
    pub invalidate: bool,
    /// Advice about access.
    pub fadvise: Fadvise,
    /// A missing file may be created.
    pub allow_create: bool,
    /// Files are created when opened, not laid out before.
    pub create_on_open: bool,
    /// Lay files out, then stop.
    pub create_only: bool,
    /// Workers lay out one after another.
    pub create_serialize: bool,
    /// Laid out files are made durable.
    pub create_fsync: bool,
    /// How space is reserved.
    pub fallocate: Fallocate,
    /// Files are written in full before a write job starts. Jobs that read always do so.
    pub overwrite: bool,
    /// Read files into the cache before the run.
    pub pre_read: bool,
    /// Start writing at the end of the file.
    pub append: bool,
    /// Remove files at the end of the job.
    pub unlink: bool,
    /// Remove files after each pass.
    pub unlink_each_loop: bool,
    /// Make the file durable each time it is closed.
    pub fsync_on_close: bool,
    /// Write until the device is full, which is not an error.
    pub fill_device: bool,
    /// Locks between workers.
    pub lock: LockFile,
    /// Use the files found under this folder.
    pub open_dir: Option<String>,
    /// The files form one volume, in order: the workload walks all of them as one region.
    pub concatenate: bool,
    /// The first block of a block device is never touched: the region starts behind it.
    pub spares_first_block: bool,
    /// Bits added to the flags of `open(2)`, as the kernel knows them.
    pub open_flag_bits: u32,
    /// Agents give generated names their host's name.
    pub unique_per_host: bool,
}

impl Default for Fileset {
    fn default() -> Self {
        Fileset {
            names: Vec::new(),
            directories: Vec::new(),
            name_format: None,
            n_files: 1,
            n_open: None,
            size: None,
            file_size_bytes: None,
            io_size: None,
            offset: Size::Bytes(0),
            offset_increment: Size::Bytes(0),
            offset_align_bytes: 0,
            service: FileService::RoundRobin,
            ios_per_file: 1,
            file_type: FileType::Any,
            direct: false,
            sync: SyncMode::None,
            atomic: false,
            invalidate: true,
            fadvise: Fadvise::ByAccess,
            allow_create: true,
            create_on_open: false,
            create_only: false,
            create_serialize: true,
            create_fsync: true,
            fallocate: Fallocate::Native,
            overwrite: false,
            pre_read: false,
            append: false,
            unlink: false,
            unlink_each_loop: false,
            fsync_on_close: false,
            fill_device: false,
            lock: LockFile::None,
            open_dir: None,
            concatenate: false,
            spares_first_block: false,
            open_flag_bits: 0,
            unique_per_host: true,
        }
    }
}

/// When written data is made durable during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Durability {
    /// `fsync` after every this many writes; 0 is off.
    pub fsync_every: u32,
    /// `fdatasync` after every this many writes; 0 is off.
    pub fdatasync_every: u32,
    /// `sync_file_range` with these flags after every this many writes; 0 is off.
    pub sync_file_range_every: u32,
    /// Flags of `sync_file_range(2)`.
    pub sync_file_range_flags: u32,
    /// A barrier (`fsync`) before every this many writes; 0 is off.
    pub barrier_every: u32,
    /// `fsync` each file when the write phase ends.
    pub end_fsync: bool,
    /// `syncfs` when the write phase ends.
    pub end_syncfs: bool,
}

//! An emulated volume served to other programs: as a mounted folder (FUSE) and as an NFSv3 export.

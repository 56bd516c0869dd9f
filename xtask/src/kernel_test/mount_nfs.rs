//! `mount_nfs FOLDER OPTIONS`: mounts an NFS export by mount(2), which busybox has no word for.
//!
//! Compiled by `cargo xtask kernel-test` without a crate, statically, for its initial RAM disk.

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};

unsafe extern "C" {
    fn mount(
        source: *const c_char,
        target: *const c_char,
        kind: *const c_char,
        flags: c_ulong,
        options: *const c_void,
    ) -> c_int;
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| CString::new(text).expect("no NUL"));
    let (Some(source), Some(folder), Some(options)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: mount_nfs SOURCE FOLDER OPTIONS");
        std::process::exit(2);
    };
    // SAFETY: all texts end with NUL and outlive the call.
    let outcome = unsafe {
        mount(source.as_ptr(), folder.as_ptr(), c"nfs".as_ptr(), 0, options.as_ptr().cast())
    };
    if outcome != 0 {
        eprintln!("mount_nfs: {}", std::io::Error::last_os_error());
        std::process::exit(1);
    }
}

//! What runs where the kernel refuses both of its interfaces for I/O at once, as gVisor and
//! qemu-user do.

mod common;

use common::{BLOCK, all, arena, file, op, options, read_write, scratch, spec, table, zeros};
use engine::build;
use plan::EngineKind;
use plan::op::OpKind;

/// Has the kernel refuse these system calls to this thread, and to those that it starts, as if it
/// did not know them.
fn refuse(calls: [i64; 2]) {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let end = libc::BPF_RET | libc::BPF_K;
    let step = |code: u32, k: u32, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The number of the call is the first of what a filter sees.
        step(load, 0, 0, 0),
        step(equal, calls[0] as u32, 1, 0),
        step(equal, calls[1] as u32, 0, 1),
        step(end, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32, 0, 0),
        step(end, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the filter lives as long as the call, and lets all other calls of this process be.
    let results = unsafe {
        let own = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        [own, libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)]
    };
    assert_eq!(results, [0, 0], "{}", std::io::Error::last_os_error());
}

#[test]
fn threads_stand_in_where_both_interfaces_are_refused() {
    const DEPTH: u32 = 8;
    let dir = scratch();
    let path = zeros(dir.path(), "f", u64::from(DEPTH * BLOCK));
    let refused = std::thread::spawn(move || {
        refuse([libc::SYS_io_setup, libc::SYS_io_uring_setup]);
        let files = table(vec![file(&path, read_write())]);
        let mut engine =
            build(&spec(EngineKind::Uring), files, arena(DEPTH), options(DEPTH)).expect("threads");
        let name = engine.name().to_owned();
        assert!(name.contains("psync (in place of io_uring and of libaio: "), "{name}");
        assert!(name.ends_with("(issued by 8 threads)") && engine.stands_in(), "{name}");
        let at = |slot: u32| op(OpKind::Read, slot, u64::from(slot * BLOCK), BLOCK);
        let ops: Vec<_> = (0..DEPTH).map(at).collect();
        let done = all(engine.as_mut(), &ops);
        assert!(done.len() == 8 && done.iter().all(|it| it.result == BLOCK as i32), "{done:?}");
        // Asked for by name, native AIO is not replaced.
        let files = table(vec![file(&path, read_write())]);
        let asked = build(&spec(EngineKind::Aio), files, arena(DEPTH), options(DEPTH));
        assert!(asked.is_err_and(|error| error.to_string().contains("native AIO")));
    });
    refused.join().expect("it runs");
}

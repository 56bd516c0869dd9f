//! What this program was built from, for `--version`. `build.rs` finds it out.

/// Returns version, commit, target, what is built in, and the compiler: a line each.
pub(crate) fn in_full() -> String {
    let linked = if cfg!(target_feature = "crt-static") {
        "needs no library of the host"
    } else {
        "needs the host's C library"
    };
    let allocator = if cfg!(target_env = "musl") { "mimalloc" } else { "the system's allocator" };
    let checks = if cfg!(debug_assertions) { ", unoptimised: never measure with it" } else { "" };
    format!(
        "{}\ncommit    {}\ntarget    {}\nfeatures  {linked}, {allocator}{checks}\ncompiler  {}",
        env!("CARGO_PKG_VERSION"),
        env!("PLIMSOLL_BUILT_FROM"),
        env!("PLIMSOLL_BUILT_FOR"),
        env!("PLIMSOLL_BUILT_BY"),
    )
}

//! Shell scripts in a mount namespace of their own.

use std::path::Path;

use crate::common::{Outcome, Sandbox};

/// What a script ends with that may not make the mounts it needs.
pub(crate) const SKIPPED: i32 = 77;

/// Runs a script with every right, until its first command that fails; says that the test was
/// skipped where there are no namespaces.
pub(crate) fn apart(sandbox: &Sandbox, script: &str) -> Option<Outcome> {
    apart_by(&["--mount", "--propagation", "private"], sandbox, script)
}

/// Does the same with these options of `unshare`.
pub(crate) fn apart_by(options: &[&str], sandbox: &Sandbox, script: &str) -> Option<Outcome> {
    let mut unshare = sandbox.command(Path::new("unshare"));
    unshare.args(options).args(["sh", "-c"]);
    match unshare.arg(format!("set -e; {script}")).output() {
        Ok(output) if output.status.code() != Some(SKIPPED) => {
            let stderr = String::from_utf8(output.stderr).expect("text");
            if stderr.starts_with("unshare") {
                testing::skipped!("{stderr}");
                return None;
            }
            let stdout = String::from_utf8(output.stdout).expect("text");
            let code = output.status.code().expect("it ends by itself");
            Some(Outcome { code, stdout, stderr })
        }
        Ok(output) => {
            testing::skipped!("{}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            testing::skipped!("no unshare here: {error}");
            None
        }
    }
}

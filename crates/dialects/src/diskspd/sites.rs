//! What the threads of a time span do, target by target.

use super::command::{Command, Target, TimeSpan};

/// What several threads do alike: to a target, or to all of them.
pub(super) struct Site<'a> {
    pub(super) command: &'a Command,
    pub(super) name: String,
    pub(super) targets: &'a [Target],
    /// Number of the first thread among those of the time span.
    pub(super) thread_idx: u64,
    pub(super) n_threads: u64,
    /// Where they begin, bytes from the start of the target.
    pub(super) start_bytes: u64,
    pub(super) queue_depth: u64,
}

/// Lists what threads do, target by target; with `-O`, all of it together.
pub(super) fn sites(time_span: &TimeSpan) -> impl Iterator<Item = Site<'_>> {
    // Threads of `-F` work on all targets; others are counted on.
    let mut n_before = 0_u64;
    let with_first = time_span.commands.iter().map(move |command| {
        let first = n_before;
        let n_targets = command.targets.len() as u64;
        if command.n_threads.is_none() {
            let n_own = command.n_threads_per_target().saturating_mul(n_targets);
            n_before = n_before.saturating_add(n_own);
        }
        (command, first)
    });
    with_first.flat_map(|(command, first)| of_command(command, first))
}

fn of_command(command: &Command, first: u64) -> impl Iterator<Item = Site<'_>> {
    let n_threads = command.n_threads_per_target();
    let depth = command.shared_depth();
    let per_group = if depth.is_some() { command.targets.len().max(1) } else { 1 };
    let strides = command.thread_stride.as_ref().map(|it| it.value);
    // Threads that begin at different places are jobs of their own.
    let (n_groups, n_each) = if strides.is_some() { (n_threads, 1) } else { (1, n_threads) };
    let n_before = if command.n_threads.is_some() { 0 } else { n_threads };
    let groups = command.targets.chunks(per_group).enumerate();
    groups.flat_map(move |(target_idx, targets)| {
        (0..n_groups).map(move |group_idx| {
            let name = match targets {
                [target] => target.name.clone(),
                targets => format!("{} targets", targets.len()),
            };
            let stride = strides.unwrap_or(0).saturating_mul(group_idx);
            let own = n_before.saturating_mul(target_idx as u64).saturating_add(group_idx);
            Site {
                command,
                name,
                targets,
                thread_idx: first.saturating_add(own),
                n_threads: n_each,
                start_bytes: command.base_bytes().saturating_add(stride),
                queue_depth: depth.unwrap_or_else(|| command.queue_depth()),
            }
        })
    })
}

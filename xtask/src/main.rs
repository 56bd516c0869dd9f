//! The developer's toolbox: `cargo xtask COMMAND`. HACKING.md lists every command on one page.
//!
//! It owns what a shell script would do elsewhere: the checks of CI, the house rules that no
//! compiler knows, the release archive. One file per command. It never becomes part of the
//! product, and no crate may depend on it. Its tests stand beside each command; one of them runs
//! `tidy` over the whole tree, so that plain `cargo test` finds what CI would find.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a command line tool prints, reads its environment and times its steps"
)]

mod acceptance;
mod book;
mod ci;
mod deny;
mod dist;
mod e2e;
mod fuzz;
mod fuzz_fio;
mod kernel_test;
mod peers;
mod process;
mod proto;
mod reference;
mod rehearsal;
mod tidy;
mod trust;
mod unused;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  ci [STAGE...]                  every check of CI, or only the stages named
  tidy                           the house rules: layers, sizes, words, calls, documents
  reference                      write docs/reference/ from the code
  messages [WORD...]             every text of the program that a user may read, with its place
  proto [--check]                write the fleet's messages (src/wire.rs) from their description,
                                 or compare them with it
  book                           the documentation as a site, in target/book/html (needs mdbook)
  acceptance                     write docs/acceptance.md and docs/errata.md from a run
  rehearsal [OPTIONS]            an emulated P30 in all its forms, beside what is printed
  kernel-test                    the NFS export under the kernel's client, in qemu
  e2e                            reports in a browser: figures, requests, pictures
  dist [--target NAME]           what a release consists of, for x86-64 and arm64 Linux, in dist/;
                                 `--program FILE` packs one that is there
  fuzz TARGET [--minutes N]      fuzz one target (needs nightly and cargo-fuzz), 10 minutes
  fuzz-fio [--seed N] [--jobs N] random jobs in the real fio and in ours, 200 fresh ones
  peers [OPTIONS]                fio and bare loops beside our release build; `--help` says more
  trust [OPTIONS]                is the answer on a real host right, or \"cannot tell\"? `--help`

`cargo xtask ci --list` names the stages and the targets' names are in fuzz/Cargo.toml.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["ci", rest @ ..] => ci::run(rest),
        ["tidy"] => tidy::run(),
        ["reference"] => reference::run(),
        ["book"] => book::run(),
        ["messages", words @ ..] => tidy::messages(words),
        ["acceptance"] => acceptance::run(),
        ["dist", rest @ ..] => dist::run(rest),
        ["e2e"] => e2e::run(),
        ["kernel-test"] => kernel_test::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["fuzz-fio", rest @ ..] => fuzz_fio::run(rest),
        ["proto", rest @ ..] => proto::run(rest),
        ["rehearsal", rest @ ..] => rehearsal::run(rest),
        ["peers", rest @ ..] => peers::run(rest),
        ["trust", rest @ ..] => trust::run(rest),
        [] | ["help" | "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("error: no such command: `cargo xtask {}`\n\n{USAGE}", args.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

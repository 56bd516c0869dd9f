//! Messages of a run in the words of parameter files: a job is a storage definition or a workload,
//! a tree a file system definition, and each has a line where it is defined.

use plan::job::Source;

use super::jobs::{Share, shares};
use super::members::Kind;
use crate::vdbench::run::Run;

/// What our messages say, and what parameter files call it. In this order: what is longer first.
const PHRASES: [(&str, &str); 20] = [
    (
        "check the name, or remove `allow_file_create=0` to let it be made",
        "check lun=, or write size= so that it is made first",
    ),
    (
        "set `size=`, for example `size=1g`, or name an existing file or device",
        "write size= into the storage definition, for example size=1g, or name an existing file \
         or device in lun=",
    ),
    (
        "lower `size` or `offset`, or use `size=100%`",
        "lower size= or offset=, or leave size= out to use all of it",
    ),
    ("raise `size`, or lower `bs` or the number of files", "raise size=, or lower xfersize="),
    ("name a file in the directory, or use `directory=`", "name a file in the directory"),
    ("pass `--allow-mounted-write` or set `allow_mounted_write=1` on the job", ALLOW_MOUNTED),
    ("set `openfiles` to keep fewer files open", "use fewer files at a time"),
    ("lower `iodepth` or `numjobs`, or raise", "lower threads=, or raise"),
    ("lower `iodepth` or `bs`", "lower threads= or xfersize="),
    ("set `direct=0`", "leave out openflags=o_direct"),
    ("`direct=0`", "leave out openflags=o_direct"),
    ("direct=1", "openflags=o_direct"),
    ("use an `offset` that", "use an offset= that"),
    ("whatever the iodepth", "whatever the threads="),
    ("raise `size`", "raise size="),
    ("lower `size`", "lower size="),
    ("use fewer threads or another fileselect", "use fewer threads= or another fileselect="),
    ("let a format make", "let a format (format=yes or restart) make"),
    ("make the tree smaller", "lower depth=, width=, files= or sizes="),
    ("`bs`", "xfersize="),
];
const ALLOW_MOUNTED: &str = "pass `--allow-mounted-write`";

/// Turns messages into the words of the parameter files that a run is made from.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Every job of every run, each name once.
    jobs: Vec<(String, Defined)>,
    /// Every file, device and anchor.
    paths: Vec<(String, Defined)>,
    /// The texts that definitions are in.
    sources: Vec<Source>,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Defined {
    /// `sd`, `fsd`, `wd` or `fwd`.
    key: &'static str,
    name: String,
}

impl Words {
    /// Makes the words for these runs, which the texts define.
    pub fn new(runs: &[Run], sources: &[Source]) -> Self {
        let mut words = Words { sources: sources.to_vec(), ..Words::default() };
        for share in runs.iter().flat_map(shares) {
            if let Some(storage) = &share.storage
                && !words.paths.iter().any(|(path, _)| *path == storage.path)
            {
                let key = key_of(storage.kind);
                let defined = Defined { key, name: storage.name.clone() };
                words.paths.push((storage.path.clone(), defined));
            }
            if !words.jobs.iter().any(|(job, _)| *job == share.job) {
                words.jobs.push((share.job.clone(), defined(share)));
            }
        }
        words
    }

    /// Returns what a job stands for, such as `sd=sd1 (a.parm:2)`.
    pub fn job(&self, job: &str) -> String {
        let known = self.jobs.iter().find(|(name, _)| name == job);
        known.map_or_else(|| job.to_owned(), |(_, defined)| self.placed(defined))
    }

    /// Returns a message in the words of parameter files.
    pub fn message(&self, text: &str) -> String {
        let theirs = self.translated(text);
        let names_one = |(_, defined): &(String, Defined)| theirs.contains(&self.placed(defined));
        if self.paths.iter().chain(&self.jobs).any(names_one) {
            return theirs;
        }
        let is_about = |(path, _): &&(String, Defined)| {
            theirs.contains(&format!("`{path}`")) || theirs.contains(&format!("`{path}/"))
        };
        match self.paths.iter().find(is_about) {
            Some((_, defined)) => format!("{}: {theirs}", self.placed(defined)),
            None => theirs,
        }
    }

    /// Returns why a job failed, in the words of parameter files and with what it stands for.
    pub fn failure(&self, job: &str, text: &str) -> String {
        let (definition, theirs) = (self.job(job), self.message(text));
        let names_it = theirs.contains(&definition);
        if names_it || definition == job { theirs } else { format!("{definition}: {theirs}") }
    }

    fn translated(&self, text: &str) -> String {
        let text = replaced(text, "job `", |name| self.job(name));
        let fsd = |name: &str| self.placed(&Defined { key: "fsd", name: name.to_owned() });
        let text = replaced(&text, "tree `", fsd);
        let text = replaced(&text, "step `", |name| format!("RD={name}"));
        let text = replaced(&text, "name a file, or set `directory=", |_| "name a file".to_owned());
        let text = text.replace("name a file to make files in it", "name a file in it");
        PHRASES.iter().fold(text, |text, (ours, theirs)| text.replace(ours, theirs))
    }

    fn placed(&self, defined: &Defined) -> String {
        let Defined { key, name } = defined;
        match self.place(key, name) {
            Some((file, line)) => format!("{key}={name} ({file}:{line})"),
            None => format!("{key}={name}"),
        }
    }

    /// Finds the line that defines a name: the first that begins with it. What is made by `count=`
    /// or from a host's name has none.
    fn place(&self, key: &str, name: &str) -> Option<(&str, usize)> {
        let is_definition = |line: &str| {
            let (found, rest) = line.trim_start().split_once('=')?;
            let value = rest.split([',', ' ', '\t']).next()?.trim_matches('"');
            (found.eq_ignore_ascii_case(key) && value == name).then_some(())
        };
        self.sources.iter().find_map(|source| {
            let line_idx = source.text.lines().position(|line| is_definition(line).is_some())?;
            Some((source.name.as_str(), line_idx + 1))
        })
    }
}

fn defined(share: Share) -> Defined {
    match (share.fwd, share.storage) {
        (Some(fwd), _) if fwd != super::jobs::FORMAT => Defined { key: "fwd", name: fwd },
        (_, Some(storage)) => Defined { key: key_of(storage.kind), name: storage.name },
        (_, None) => Defined { key: "wd", name: share.job },
    }
}

fn key_of(kind: Kind) -> &'static str {
    if kind == Kind::Sd { "sd" } else { "fsd" }
}

/// Replaces `before` with a name and a closing quote by what the name stands for.
fn replaced(text: &str, before: &str, stands_for: impl Fn(&str) -> String) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(before) {
        let Some((name, tail)) = tail.split_once('`') else { break };
        done.push_str(head);
        done.push_str(&stands_for(name));
        rest = tail;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_speak_of_definitions() {
        #[track_caller]
        fn check(ours: &str, theirs: &str) {
            let text = "* sd=sd1\nsd=default,size=1g\n\tSD=sd1,lun=/a\nfsd=\"fsd1\",anchor=/b\n";
            let sources = vec![Source { name: "a.parm".to_owned(), text: text.to_owned() }];
            let sd = Defined { key: "sd", name: "sd1".to_owned() };
            let (jobs, paths) = (vec![("sd1".to_owned(), sd.clone())], vec![("/a".to_owned(), sd)]);
            let words = Words { jobs, paths, sources };
            assert_eq!(words.message(ours), theirs);
        }
        check("job `sd1` needs `/a`", "sd=sd1 (a.parm:3) needs `/a`");
        check("job `sd2` and job `sd1` meet", "sd2 and sd=sd1 (a.parm:3) meet");
        check("tree `fsd1` has no file", "fsd=fsd1 (a.parm:4) has no file");
        check("tree `fsd9` has no file", "fsd=fsd9 has no file");
        check("the mean latency of step `rd1`", "the mean latency of RD=rd1");
        check("name a file, or set `directory=/c` to make files in it", "name a file in it");
        check("use 512, or `direct=0`", "use 512, or leave out openflags=o_direct");
        check("cannot open `/a`", "sd=sd1 (a.parm:3): cannot open `/a`");
        check("cannot open `/abc`", "cannot open `/abc`");
        check("a job `that ends", "a job `that ends");
    }
}

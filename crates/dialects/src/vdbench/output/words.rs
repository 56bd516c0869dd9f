//! Messages of a run in the words of parameter files: a job is a storage definition or a workload,
//! a tree a file system definition, and each has a line where it is defined.

use std::collections::{HashMap, HashSet};

use plan::job::Source;

use super::jobs::{Share, StorageKind, shares};
use crate::vdbench::run::Run;

/// What our messages say, and what parameter files call it. In this order: what is longer first.
const PHRASES: [(&str, &str); 20] = [
    (
        "check the name, or remove `allow_file_create=0` to let it be made",
        "check lun=, or let it be made first: write size=, and not formatsds=no",
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
///
/// A message is looked through once, however many definitions there are.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Every job of every run.
    jobs: HashMap<String, Defined>,
    /// Every file, device and anchor.
    paths: HashMap<String, Defined>,
    /// What these stand for.
    known: HashSet<Defined>,
    /// File and line of each definition. What is made by `count=` or from a host's name has none.
    places: HashMap<Defined, (String, usize)>,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Defined {
    /// `sd`, `fsd`, `wd` or `fwd`.
    key: &'static str,
    name: String,
}

const KEYS: [&str; 4] = ["sd", "fsd", "wd", "fwd"];

/// Returns a definition by a keyword, in whatever case.
fn by_keyword(keyword: &str, name: &str) -> Option<Defined> {
    let key = KEYS.into_iter().find(|key| keyword.eq_ignore_ascii_case(key))?;
    Some(Defined { key, name: name.to_owned() })
}

impl Words {
    /// Makes the words for these runs, which the texts define.
    pub fn new(runs: &[Run], sources: &[Source]) -> Self {
        let mut words = Words { places: places(sources), ..Words::default() };
        for share in runs.iter().flat_map(shares) {
            if let Some(storage) = &share.storage
                && !words.paths.contains_key(&storage.path)
            {
                let defined = Defined { key: key_of(storage.kind), name: storage.name.clone() };
                words.known.insert(defined.clone());
                words.paths.insert(storage.path.clone(), defined);
            }
            if !words.jobs.contains_key(&share.job) {
                let (job, defined) = (share.job.clone(), defined(share));
                words.known.insert(defined.clone());
                words.jobs.insert(job, defined);
            }
        }
        words
    }

    /// Returns what a job stands for, such as `sd=sd1 (a.parm:2)`.
    pub fn job(&self, job: &str) -> String {
        self.jobs.get(job).map_or_else(|| job.to_owned(), |defined| self.placed(defined))
    }

    /// Returns a message in the words of parameter files.
    pub fn message(&self, text: &str) -> String {
        let theirs = self.translated(text);
        if self.names_one(&theirs) {
            return theirs;
        }
        match self.about(&theirs) {
            Some(defined) => format!("{}: {theirs}", self.placed(defined)),
            None => theirs,
        }
    }

    /// Returns whether a message names a definition already.
    fn names_one(&self, theirs: &str) -> bool {
        theirs.match_indices('=').any(|(at, _)| {
            let keyword = theirs[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
            let name = theirs[at + 1..].split([' ', ',', ':', ';']).next();
            let defined = by_keyword(keyword.unwrap_or_default(), name.unwrap_or_default());
            defined.is_some_and(|defined| self.known.contains(&defined))
        })
    }

    /// Finds the first definition whose path, or a path below it, stands in a message in quotes.
    fn about(&self, theirs: &str) -> Option<&Defined> {
        theirs.match_indices('`').find_map(|(at, _)| {
            let (path, _) = theirs[at + 1..].split_once('`')?;
            let below = path.rmatch_indices('/').map(|(end, _)| &path[..end]);
            std::iter::once(path).chain(below).find_map(|path| self.paths.get(path))
        })
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
        match self.places.get(defined) {
            Some((file, line)) => format!("{key}={name} ({file}:{line})"),
            None => format!("{key}={name}"),
        }
    }
}

/// Finds the lines that define something: of each name the first that begins with it.
fn places(sources: &[Source]) -> HashMap<Defined, (String, usize)> {
    let mut places = HashMap::new();
    for source in sources {
        for (line_idx, line) in source.text.lines().enumerate() {
            let Some((keyword, rest)) = line.trim_start().split_once('=') else { continue };
            let name = rest.split([',', ' ', '\t']).next().unwrap_or_default().trim_matches('"');
            if let Some(defined) = by_keyword(keyword, name) {
                places.entry(defined).or_insert_with(|| (source.name.clone(), line_idx + 1));
            }
        }
    }
    places
}

fn defined(share: Share) -> Defined {
    match (share.fwd, share.storage) {
        (Some(fwd), _) if fwd != super::jobs::FORMAT => Defined { key: "fwd", name: fwd },
        (_, Some(storage)) => Defined { key: key_of(storage.kind), name: storage.name },
        (_, None) => Defined { key: "wd", name: share.job },
    }
}

fn key_of(kind: StorageKind) -> &'static str {
    match kind {
        StorageKind::Sd => "sd",
        StorageKind::Fsd => "fsd",
    }
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
            let words = Words {
                jobs: HashMap::from([("sd1".to_owned(), sd.clone())]),
                paths: HashMap::from([("/a".to_owned(), sd.clone())]),
                known: HashSet::from([sd]),
                places: places(&sources),
            };
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
        check("cannot open `/a/b/c`", "sd=sd1 (a.parm:3): cannot open `/a/b/c`");
        check("sd=sd2: cannot open `/a`", "sd=sd1 (a.parm:3): sd=sd2: cannot open `/a`");
        check("sd=sd1: cannot open `/a`", "sd=sd1: cannot open `/a`");
        check("a job `that ends", "a job `that ends");
    }
}

//! How long parameter files take: `cargo run --release -p dialects --example vdbench_runs [FILE]`.
//!
//! Parses the file, or else one of 2,000 storage definitions, and expands 100,000 runs.
#![expect(clippy::print_stdout, reason = "it prints its figures")]

use std::time::Instant;

use dialects::NO_HOST;
use dialects::vdbench::{Options, parse_text};

fn main() {
    #[expect(clippy::disallowed_methods, reason = "an example has arguments and a clock")]
    let (path, start) = (std::env::args().nth(1), Instant::now);
    let large = if let Some(path) = path {
        std::fs::read_to_string(path).unwrap_or_default()
    } else {
        let sd = |idx| format!("sd=sd{idx},lun=/disk{idx},size=1g\n");
        (0..2000).map(sd).collect::<String>() + "rd=r1,sd=sd*,iorate=9,elapsed=4\n"
    };
    let loops = "sd=sd1,lun=/a,size=1g\nsd=sd2,lun=/b,size=1g\nwd=wd1,sd=sd*\nrd=r1,wd=wd1,\
                 elapsed=4,iorate=(1-10,1),threads=(1-100,1),rdpct=(1-100,1)\n";
    for (name, text) in [("the file", large.as_str()), ("100,000 runs", loops)] {
        let began = start();
        let parsed = parse_text("file", text, &Options::default(), &NO_HOST);
        let ms = began.elapsed().as_secs_f64() * 1e3;
        println!("{name}: {} runs, {} bytes in {ms:.1} ms", parsed.runs.len(), text.len());
    }
}

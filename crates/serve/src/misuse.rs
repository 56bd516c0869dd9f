//! What a wrong caller within the crate meets: each check that stays on in release, failed on
//! purpose, unless the module has tests of its own.

use std::fs::File;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use volume::{IoKind, Start};

use crate::clock::now_ns;
use crate::extent::Extent;
use crate::pacer::{Outcome, Pacer, Request};
use crate::store::rollback::Marker;
use crate::store::undo::Undo;

#[test]
fn what_comes_to_the_model_is_of_its_volumes() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = File::create(folder.path().join("undo")).expect("a log");
    let undo = Undo::new(log, Marker::new(folder.path())).expect("nothing to take back");
    let text = "[[volume]]\nmount = \"/a\"\ncache = \"None\"\ndisk = \"P30\"\n";
    let design = volume::design::parse(text).0.expect("a design");
    let pacer = Pacer::start(&design, Start::Cold, Arc::new(Mutex::new(undo))).expect("a thread");
    let extent = Extent { address: 0, len_bytes: 4096 };
    let request = |volume| Request::new(IoKind::Read, volume, extent, now_ns());
    let submit = |request| pacer.submit(request, Box::new(|_| ()));
    testing::check_wrong_calls(&[
        ("nothing to do", "a request has an extent", &|| {
            submit(Request { extents: Vec::new(), ..request(0) });
        }),
        ("another design's volume", "no volume 1", &|| submit(request(1))),
        ("another design's crash", "all volumes crash", &|| drop(pacer.crash(2, &|_, _| None))),
    ]);
    // The model goes on for those who call it rightly.
    let (send, receive) = channel();
    pacer.submit(request(0), Box::new(move |outcome| send.send(outcome).expect("it is read")));
    assert_eq!(receive.recv(), Ok(Outcome::Done));
}

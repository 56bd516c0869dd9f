//! The journal's blocks, maps and frames.

use pattern::journal::frame::Body;
use pattern::journal::judge::ExpectedBlock;
use pattern::journal::{
    BlockMap, BlockState, Change, ChangeKind, Frame, FrameError, Header, SECTOR_BYTES,
    SectorContent, Stamp, Target, Verdict, judge, next_generation, stamp,
};
use proptest::prelude::*;

const RUN: u64 = 77;
const OFFSET: u64 = 8192;

/// A block of four sectors, each of this generation; 0 is a sector that nothing was written to.
fn block(generations: [u16; 4]) -> Vec<u8> {
    let mut block = vec![7; 4 * SECTOR_BYTES];
    for (idx, generation) in generations.into_iter().enumerate().filter(|it| it.1 != 0) {
        let facts = Stamp { run: RUN, generation, block_bytes: 2048, ..Stamp::default() };
        let at = idx * SECTOR_BYTES;
        stamp(&mut block[at..at + SECTOR_BYTES], OFFSET + at as u64, &facts);
    }
    block
}

fn judged(bytes: &[u8], written: u16, pending: u16) -> (Verdict, bool) {
    let state = BlockState { written, pending: (pending != 0).then_some(pending) };
    let place = ExpectedBlock { target: 0, offset: OFFSET, state };
    let judged = judge(bytes, &place, &|run| run == RUN);
    (judged.verdict, judged.is_bad())
}

#[track_caller]
fn check(generations: [u16; 4], written: u16, pending: u16, verdict: Verdict, is_bad: bool) {
    assert_eq!(judged(&block(generations), written, pending), (verdict, is_bad));
}

#[test]
fn a_block_is_new_old_lost_or_torn() {
    check([3; 4], 3, 0, Verdict::New, false);
    check([2; 4], 3, 0, Verdict::Lost, true);
    check([4; 4], 3, 0, Verdict::Lost, true);
    check([0; 4], 3, 0, Verdict::Lost, true);
    check([3, 3, 2, 3], 3, 0, Verdict::Torn, true);
    check([3, 0, 3, 3], 3, 0, Verdict::Torn, true);
    // In flight it may be either.
    check([3; 4], 3, 4, Verdict::Old, false);
    check([4; 4], 3, 4, Verdict::New, false);
    check([4, 4, 3, 3], 3, 4, Verdict::Torn, false);
    check([2; 4], 3, 4, Verdict::Lost, true);
    check([4, 4, 2, 3], 3, 4, Verdict::Torn, true);
    check([0; 4], 3, 4, Verdict::Lost, true);
    // Before the first write anything may be there.
    check([0; 4], 0, 1, Verdict::Old, false);
    check([1, 0, 0, 1], 0, 1, Verdict::Torn, false);
    check([1; 4], 0, 1, Verdict::New, false);
    // Failed writes: each of them may be there.
    check([5; 4], 3, 6, Verdict::New, false);
    check([7; 4], 3, 6, Verdict::Lost, true);
    // The count begins anew behind 65,535.
    check([1; 4], 65_534, 1, Verdict::New, false);
    check([65_535; 4], 65_534, 1, Verdict::New, false);
    check([65_534; 4], 65_534, 1, Verdict::Old, false);
    check([2; 4], 65_534, 1, Verdict::Lost, true);
}

#[test]
fn every_changed_byte_of_a_block_is_found() {
    let good = block([3; 4]);
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        assert_eq!(judged(&bytes, 3, 0), (Verdict::Torn, true), "byte {at}");
    }
}

#[test]
fn what_belongs_elsewhere_is_named() {
    let of = |target, run, offset| {
        let mut bytes = vec![0; 2 * SECTOR_BYTES];
        let facts = Stamp { run, target, generation: 3, ..Stamp::default() };
        stamp(&mut bytes, offset, &facts);
        let state = BlockState { written: 3, pending: None };
        judge(&bytes, &ExpectedBlock { target: 1, offset: OFFSET, state }, &|run| run == RUN)
    };
    assert_eq!(of(1, RUN, OFFSET).verdict, Verdict::New);
    for judged in [of(2, RUN, OFFSET), of(1, RUN + 1, OFFSET), of(1, RUN, 4096)] {
        assert_eq!(judged.verdict, Verdict::Lost);
        assert!(matches!(judged.found, Some((0, SectorContent::Misplaced(..)))), "{judged:?}");
    }
}

#[test]
fn generations_count_from_one_and_never_come_to_zero() {
    assert_eq!((next_generation(0), next_generation(u16::MAX)), (1, 1));
    let mut map = BlockMap::default();
    assert!(!map.state(9).is_known());
    map.writing(9, map.state(9).next());
    assert_eq!(map.state(9), BlockState { written: 0, pending: Some(1) });
    map.writing(9, map.state(9).next());
    map.written(9, 2);
    map.writing(5000, 1);
    map.writing(10, 1);
    assert_eq!(map.state(9), BlockState { written: 2, pending: None });
    assert_eq!(map.known(), [(9, 11), (5000, 5001)]);
}

/// What is given up may hold anything, and is counted on behind all that there was.
#[test]
fn what_is_given_up_is_not_known_and_counts_on() {
    let mut map = BlockMap::default();
    for block in [0, 1, 5000] {
        map.written(block, 3);
    }
    map.writing(2, 4);
    assert!(map.knows_from(2) && map.knows_from(5000) && !map.knows_from(5001));
    assert_eq!((map.forget(2), map.base()), (4, Some(4)));
    assert_eq!((map.known(), map.knows_from(2)), (vec![(0, 2)], false));
    assert_eq!([1, 2, 5000].map(|block| map.next(block)), [4, 5, 5]);
    map.written(2, 5);
    assert_eq!((map.forget(0), map.known()), (5, vec![]));
    assert_eq!((map.next(0), map.size_bytes()), (6, 0));
    // As the journal says it, in a map that knows less.
    let mut other = BlockMap::default();
    other.written(9, 1);
    other.forgotten(0, 5);
    assert_eq!((other.known(), other.next(9)), (vec![], 6));
    // Behind 65,535 comes 1.
    map.written(0, 65_535);
    map.forget(0);
    assert_eq!(map.next(0), 1);
    map.written(0, 1);
    assert_eq!(map.forget(0), 1);
}

fn frames() -> Vec<Frame> {
    let target = |path: &str, is_of_tree| {
        let path = path.to_owned();
        Target { path, block_bytes: 4096, n_blocks: 1 << 40, is_of_tree }
    };
    let targets = vec![target("a", false), target("/dev/b c", false), target("/t/f", true)];
    let header = Header { runs: vec![4, 5], targets };
    let change = |kind, generation| Change {
        kind,
        target: 1,
        first: (1 << 50) + 3,
        n_blocks: 17,
        generation,
    };
    let kinds = [ChangeKind::Writing, ChangeKind::Written, ChangeKind::Forgotten];
    let changes =
        kinds.into_iter().zip([65_535, 1, 7]).map(|(kind, it)| change(kind, it)).collect();
    let piece = Body::Piece { target: 1, first: 4096, generations: vec![0, 9, 65_535] };
    let bodies = [Body::Header(header), Body::Changes(changes), piece, Body::Changes(Vec::new())];
    let frame = |(number, body)| Frame { number, time_us: 1 << 60, run: u64::MAX - 1, body };
    (5..).zip(bodies).map(frame).collect()
}

#[test]
fn frames_are_read_as_they_were_written() {
    for frame in frames() {
        let mut bytes = vec![1, 2, 3];
        frame.encode(&mut bytes);
        assert_eq!(Frame::decode(&bytes[3..]), Ok(frame));
    }
}

#[test]
fn a_frame_that_is_cut_or_changed_is_torn() {
    for frame in frames() {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(Frame::decode(&bytes[..len]), Err(FrameError::Torn), "{len} bytes");
        }
        for at in 0..bytes.len() {
            bytes[at] ^= 0x40;
            assert_eq!(Frame::decode(&bytes), Err(FrameError::Torn), "byte {at}");
            bytes[at] ^= 0x40;
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Frame::decode(&bytes);
        bytes.splice(0..0, Frame::MAGIC);
        let _ = Frame::decode(&bytes);
        let state = BlockState { written: 1, pending: None };
        let place = ExpectedBlock { target: 0, offset: 0, state };
        let _ = judge(&bytes, &place, &|_| true);
    }

    /// The map is what the changes say, whatever their order.
    #[test]
    fn a_map_says_what_was_noted(
        steps in proptest::collection::vec((0_u64..10_000, 1_u16..9, any::<bool>()), 0..200)
    ) {
        let (mut map, mut model) = (BlockMap::default(), std::collections::BTreeMap::new());
        for (block, generation, is_written) in steps {
            let state: &mut BlockState = model.entry(block).or_default();
            if is_written {
                map.written(block, generation);
                *state = BlockState { written: generation, pending: None };
            } else {
                map.writing(block, generation);
                state.pending = Some(generation);
            }
        }
        let known: Vec<u64> = map.known().into_iter().flat_map(|(from, to)| from..to).collect();
        prop_assert_eq!(known, model.keys().copied().collect::<Vec<_>>());
        for (block, state) in model {
            prop_assert_eq!(map.state(block), state);
        }
    }
}

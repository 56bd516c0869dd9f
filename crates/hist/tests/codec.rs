//! Bytes and text: round trips, and no panic or surprise on anything else.

mod common;

use common::{histogram_of, latencies};
use hist::{DecodeError, Histogram};
use proptest::prelude::*;

#[track_caller]
fn check_error(bytes: &[u8], expected: DecodeError) {
    assert_eq!(Histogram::decode(bytes), Err(expected));
}

#[test]
fn version_1_is_pinned() {
    assert_eq!(histogram_of(&[]).encode(), [1, 0]);
    assert_eq!(
        histogram_of(&[5, 5, 300]).encode(),
        [1, 2, 5, 2, 144, 2, 1, 0, 0, 182, 2, 194, 191, 5]
    );
    assert_eq!(histogram_of(&[5]).encode_text(), "AQEFAQAABRk");
}

#[test]
fn malformed_bytes_are_named() {
    check_error(&[], DecodeError::Version { found: None });
    check_error(&[2, 0], DecodeError::Version { found: Some(2) });
    check_error(&[1], DecodeError::Truncated);
    check_error(&[1, 0, 0], DecodeError::Trailing { n_bytes: 1 });
    check_error(&[1, 0x80, 0], DecodeError::Number { offset: 1 });
    check_error(&[1, 1, 5, 0], DecodeError::Inconsistent { what: "an empty bucket" });
    check_error(
        &[1, 1, 5, 1, 1, 0, 5, 25],
        DecodeError::Inconsistent { what: "the minimum is not in the first bucket" },
    );
    check_error(
        &[1, 1, 5, 1, 0, 0, 6, 25],
        DecodeError::Inconsistent { what: "the buckets do not allow the sum" },
    );
    check_error(
        &[1, 1, 5, 1, 0, 0, 5, 26],
        DecodeError::Inconsistent { what: "the buckets do not allow the sum of squares" },
    );
    check_error(
        &[1, 0xff, 0xff, 0x7f],
        DecodeError::Inconsistent { what: "more buckets than there are" },
    );
    check_error(
        &[1, 2, 0xff, 0x39, 1, 1, 1],
        DecodeError::Inconsistent { what: "a bucket beyond the last" },
    );
}

#[test]
fn malformed_text_is_named() {
    let decode = Histogram::decode_text;
    assert_eq!(decode("AQ*A"), Err(DecodeError::Text { offset: 2 }));
    assert_eq!(decode("A"), Err(DecodeError::Text { offset: 0 }));
    assert_eq!(decode("AQEFAQAABRl"), Err(DecodeError::Text { offset: 10 }));
    assert_eq!(decode(""), Err(DecodeError::Version { found: None }));
}

proptest! {
    #[test]
    fn round_trip(values in latencies()) {
        let hist = histogram_of(&values);
        prop_assert_eq!(Histogram::decode(&hist.encode()), Ok(hist.clone()));
        prop_assert_eq!(Histogram::decode_text(&hist.encode_text()), Ok(hist));
    }

    /// A delta's sum and extremes must stay within what its buckets allow.
    #[test]
    fn deltas_round_trip(a in latencies(), b in latencies()) {
        let delta = histogram_of(&[a.clone(), b].concat()).delta_since(&histogram_of(&a));
        prop_assert_eq!(Histogram::decode(&delta.encode()), Ok(delta));
    }

    #[test]
    fn whatever_decodes_is_canonical(mut bytes: Vec<u8>) {
        if let Some(version) = bytes.first_mut() {
            *version = 1;
        }
        if let Ok(hist) = Histogram::decode(&bytes) {
            prop_assert_eq!(hist.encode(), bytes);
        }
    }

    #[test]
    fn a_flipped_byte_is_rejected_or_canonical(
        values in latencies(),
        at: prop::sample::Index,
        flip in 1..=255_u8,
    ) {
        let mut bytes = histogram_of(&values).encode();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        if let Ok(hist) = Histogram::decode(&bytes) {
            prop_assert_eq!(hist.encode(), bytes);
        }
    }

    #[test]
    fn any_text_is_handled(text in "\\PC*") {
        if let Ok(hist) = Histogram::decode_text(&text) {
            prop_assert_eq!(hist.encode_text(), text);
        }
    }
}

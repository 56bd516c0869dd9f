//! What fio's own client shows its user where it calls a server of ours.
//!
//! Its network format is not spoken. One message of it is known, a line of text, so that its user
//! reads why nothing comes of the call: whatever else is sent, its client says nothing.

/// Length of the head that each of its messages has, bytes.
pub(super) const HEAD_BYTES: usize = 24;

/// Where the head ends that its first checksum is of.
const SUMMED_BYTES: usize = 20;

/// The number of a message that is printed.
const TEXT: u16 = 5;

/// How it is printed: as what fio says at any time.
const LEVEL: u32 = 2;

/// What its user reads.
const WORDS: &str = "fio: this is a server of plimsoll, and fio's network format is not spoken \
                     here: use `plimsoll fio --client`\n";

/// Returns whether this is the head of a message of fio.
pub(super) fn is_fio(head: [u8; HEAD_BYTES]) -> bool {
    let sum = u16::from_le_bytes([head[SUMMED_BYTES], head[SUMMED_BYTES + 1]]);
    crc16(&head[..SUMMED_BYTES]) == sum
}

/// Returns the message that answers one with this head, in the version that it has.
pub(super) fn farewell(head: [u8; HEAD_BYTES]) -> Vec<u8> {
    let length = WORDS.len() as u32;
    let mut content = Vec::new();
    content.extend(LEVEL.to_le_bytes());
    content.extend(length.to_le_bytes());
    // When it was said, which is shown in logs alone.
    content.extend([0; 16]);
    content.extend(WORDS.as_bytes());
    let mut message = head[..2].to_vec();
    message.extend(TEXT.to_le_bytes());
    // No flags, and no message that it answers.
    message.extend([0; 12]);
    message.extend((content.len() as u32).to_le_bytes());
    message.extend(crc16(&message).to_le_bytes());
    message.extend(crc16(&content).to_le_bytes());
    message.extend(content);
    message
}

/// Returns the checksum CRC-16/ARC.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| (sum >> 1) ^ (0xA001 * (sum & 1)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The question for the version that fio 3.33 asks first.
    const PROBE: [u8; HEAD_BYTES] =
        *b"\x61\0\x0a\0\0\0\0\0\x50\x8a\x23\x0b\xb3\x55\0\0\x88\0\0\0\x38\xe8\x9a\xec";

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(crc16(b"123456789"), 0xBB3D);
    }

    #[test]
    fn messages_of_fio_are_known_and_nothing_else() {
        assert!(is_fio(PROBE));
        for at in 0..SUMMED_BYTES {
            let mut damaged = PROBE;
            damaged[at] ^= 1;
            assert!(!is_fio(damaged));
        }
        assert!(!is_fio(*b"GET / HTTP/1.1\r\nHost: a\r"));
    }

    #[test]
    fn the_answer_is_a_message_of_the_same_version() {
        let answer = farewell(PROBE);
        let (head, content) = answer.split_first_chunk().expect("a head");
        assert!(is_fio(*head));
        assert_eq!(head[..4], [0x61, 0, 5, 0]);
        assert_eq!(content.len(), u32::from_le_bytes([head[16], head[17], 0, 0]) as usize);
        assert_eq!(crc16(content).to_le_bytes(), head[22..]);
        assert!(content.ends_with(WORDS.as_bytes()));
    }
}

//! Names by a `printf` mask: text with `%d`, `%6d` or `%04d` for each number.

/// Why a mask makes no names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// It has not as many numbers as it must.
    #[error("the name mask `{mask}` must hold {expected} of `%d` or `%04d`")]
    Numbers {
        /// The mask.
        mask: String,
        /// How many.
        expected: usize,
    },
    /// Names that it makes would not be recognised.
    #[error("the name mask `{mask}` must start with `vdb` and end in `{ending}`")]
    Frame {
        /// The mask.
        mask: String,
        /// The end it must have.
        ending: &'static str,
    },
    /// It holds something that is no part of a name.
    #[error("the name mask `{mask}` may not hold `/` or NUL")]
    Character {
        /// The mask.
        mask: String,
    },
}

/// Widest number of a mask, in digits: beyond all that is numbered.
const DIGITS_MAX: usize = 20;

/// A mask, cut into pieces.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    /// Text before each number, the number's width, and whether it is filled with zeros.
    numbers: Vec<(Vec<u8>, usize, bool)>,
    end: Vec<u8>,
}

impl Mask {
    /// Reads a mask with so many numbers.
    pub(super) fn new(
        mask: &str,
        n_numbers: usize,
        ending: &'static str,
    ) -> Result<Mask, MaskError> {
        let text = mask.as_bytes();
        if !mask.starts_with("vdb") || !mask.ends_with(ending) {
            return Err(MaskError::Frame { mask: mask.to_owned(), ending });
        }
        if text.iter().any(|byte| matches!(byte, b'/' | 0)) {
            return Err(MaskError::Character { mask: mask.to_owned() });
        }
        let wrong = || MaskError::Numbers { mask: mask.to_owned(), expected: n_numbers };
        let mut numbers = Vec::new();
        let mut piece = Vec::new();
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'%' {
                piece.push(byte);
                continue;
            }
            let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, after) = rest.split_at(n_digits);
            let width = match digits {
                [] => Some(0),
                digits => std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()),
            };
            let width = width.filter(|width| *width <= DIGITS_MAX).ok_or_else(wrong)?;
            rest = after.strip_prefix(b"d").ok_or_else(wrong)?;
            numbers.push((std::mem::take(&mut piece), width, digits.starts_with(b"0")));
        }
        if numbers.len() == n_numbers { Ok(Mask { numbers, end: piece }) } else { Err(wrong()) }
    }

    /// Adds the name for these numbers.
    pub(super) fn push(&self, numbers: &[u64], name: &mut Vec<u8>) {
        for ((text, width, zeros), number) in self.numbers.iter().zip(numbers) {
            name.extend_from_slice(text);
            push_number(*number, *width, *zeros, name);
        }
        name.extend_from_slice(&self.end);
    }
}

fn push_number(mut number: u64, width: usize, zeros: bool, name: &mut Vec<u8>) {
    let mut digits = [if zeros { b'0' } else { b' ' }; DIGITS_MAX];
    let mut n_digits = 0;
    loop {
        n_digits += 1;
        digits[DIGITS_MAX - n_digits] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    name.extend_from_slice(&digits[DIGITS_MAX - n_digits.max(width)..]);
}

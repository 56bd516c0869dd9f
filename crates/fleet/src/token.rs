//! The secret by which a controller and its agents know each other, and the file that holds it.
//!
//! The file has one line: a word with the version, and the secret in hexadecimal digits. Whoever
//! has it can be the controller or an agent of a run; without it no connection comes about.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use ring::hkdf;
use ring::rand::{SecureRandom as _, SystemRandom};
use units::system_text;
use zeroize::Zeroizing;

/// What a token's line begins with, its version in front of the colon.
const WORD: &str = "plimsoll-token-1:";

/// The same of every version.
const WORD_OF_ANY: &str = "plimsoll-token-";

/// Length of the secret, bytes.
const SECRET_BYTES: usize = 32;

/// Longest file that may be a token: the line, and some blanks behind it.
const FILE_BYTES_MAX: usize = 128;

/// The secret. It is shown nowhere, and erased from memory in the end.
pub struct Token {
    secret: Zeroizing<[u8; SECRET_BYTES]>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file `{path}`: {}", system_text(.error))]
    Unreadable {
        /// As the user named it.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// Others than its owner can read it.
    #[error("others than its owner can use the token file `{path}`, whose mode is {mode:03o}")]
    Exposed {
        /// As the user named it.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// It does not hold a token.
    #[error("{path}:1:{column}: this is no token: {message}")]
    Malformed {
        /// As the user named it.
        path: String,
        /// Where the mistake is, from 1.
        column: usize,
        /// What is wrong. It repeats nothing of the line.
        message: &'static str,
    },
    /// A new one would take its place.
    #[error("`{path}` exists already and is not overwritten: name another file, or use this token")]
    Exists {
        /// As the user named it.
        path: String,
    },
    /// A new one cannot be written.
    #[error("cannot write the token file `{path}`: {}", system_text(.error))]
    Unwritable {
        /// As the user named it.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers for a token")]
    NoRandom,
}

impl TokenError {
    /// Returns what to type against it, where that is known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            TokenError::Exposed { path, .. } => Some(format!("chmod 600 {path}")),
            TokenError::Malformed { .. } => Some("plimsoll fleet token -o FILE".to_owned()),
            TokenError::Unreadable { path, error } => (error.kind() == io::ErrorKind::NotFound)
                .then(|| format!("plimsoll fleet token -o {path}")),
            TokenError::Exists { .. } | TokenError::Unwritable { .. } | TokenError::NoRandom => {
                None
            }
        }
    }
}

impl Token {
    /// Draws a new one.
    ///
    /// # Errors
    /// Where the system has no random numbers.
    pub fn draw() -> Result<Self, TokenError> {
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        SystemRandom::new().fill(&mut *secret).map_err(|_| TokenError::NoRandom)?;
        Ok(Token { secret })
    }

    /// Reads the one of a file, which only its owner may be able to use.
    ///
    /// # Errors
    /// Where it cannot be read, others can use it, or it holds no token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let name = || path.display().to_string();
        let unreadable = |error| TokenError::Unreadable { path: name(), error };
        let mut file = File::open(path).map_err(unreadable)?;
        // Of the file that is open: the name may stand for another one by now.
        let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(TokenError::Exposed { path: name(), mode });
        }
        let mut bytes = Zeroizing::new([0; FILE_BYTES_MAX]);
        let mut n_bytes = 0;
        while n_bytes < bytes.len() {
            match file.read(&mut bytes[n_bytes..]) {
                Ok(0) => break,
                Ok(n) => n_bytes += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        Self::parse(&bytes[..n_bytes]).map_err(|(column, message)| TokenError::Malformed {
            path: name(),
            column,
            message,
        })
    }

    /// Writes a new one to a file, which must not be there: only its owner can use it.
    ///
    /// # Errors
    /// Where the file is there, or cannot be written.
    pub fn create(path: &Path) -> Result<Self, TokenError> {
        let name = || path.display().to_string();
        let token = Self::draw()?;
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => TokenError::Exists { path: name() },
            _ => TokenError::Unwritable { path: name(), error },
        })?;
        let written = file.write_all(token.line().as_bytes()).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // A part of a token is of no use.
            let _gone = fs::remove_file(path);
            return Err(TokenError::Unwritable { path: name(), error });
        }
        Ok(token)
    }

    /// Reads the one of a file, and makes it where there is none. Returns whether it did.
    ///
    /// # Errors
    /// As [`Token::read`] and [`Token::create`].
    pub fn read_or_create(path: &Path) -> Result<(Self, bool), TokenError> {
        match Self::read(path) {
            Ok(token) => Ok((token, false)),
            Err(TokenError::Unreadable { error, .. })
                if error.kind() == io::ErrorKind::NotFound =>
            {
                Self::create(path).map(|token| (token, true))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the line of its file.
    pub fn line(&self) -> Zeroizing<String> {
        // Of the full length from the start: a text that grows leaves copies behind.
        let mut line = Zeroizing::new(String::with_capacity(FILE_BYTES_MAX));
        line.push_str(WORD);
        for byte in *self.secret {
            for digit in [byte >> 4, byte & 0xf] {
                line.push(char::from_digit(u32::from(digit), 16).expect("four bits are a digit"));
            }
        }
        line.push('\n');
        line
    }

    /// Reads a line.
    fn parse(bytes: &[u8]) -> Result<Self, (usize, &'static str)> {
        let line = bytes.trim_ascii_end();
        let Some(digits) = line.strip_prefix(WORD.as_bytes()) else {
            return Err(if line.starts_with(WORD_OF_ANY.as_bytes()) {
                (WORD_OF_ANY.len() + 1, "this program reads version 1")
            } else {
                (1, "the line is `plimsoll-token-1:` and 64 hexadecimal digits")
            });
        };
        let mut secret = Zeroizing::new([0; SECRET_BYTES]);
        for (at, digit) in digits.iter().enumerate() {
            let column = WORD.len() + at + 1;
            let Some(value) = char::from(*digit).to_digit(16) else {
                return Err((column, "not a hexadecimal digit"));
            };
            let Some(byte) = secret.get_mut(at / 2) else {
                return Err((column, "it has more than 64 hexadecimal digits"));
            };
            *byte = *byte << 4 | value as u8;
        }
        if digits.len() < 2 * SECRET_BYTES {
            let column = WORD.len() + digits.len() + 1;
            return Err((column, "it has fewer than 64 hexadecimal digits"));
        }
        Ok(Token { secret })
    }

    /// Returns the secret that follows from this one for a purpose, by HKDF with SHA-256. Those of
    /// two purposes say nothing about each other.
    pub(crate) fn derived(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, WORD.as_bytes());
        let purpose = [purpose.as_bytes()];
        let mut key = Zeroizing::new([0; 32]);
        let pseudorandom = salt.extract(&*self.secret);
        let filled = pseudorandom
            .expand(&purpose, hkdf::HKDF_SHA256)
            .and_then(|output| output.fill(&mut *key));
        filled.expect("as many bytes as one block has");
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_back_its_token() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        let (made, is_new) = Token::read_or_create(&path).expect("a token");
        let (read, is_new_again) = Token::read_or_create(&path).expect("the token");
        assert!(is_new && !is_new_again);
        assert_eq!(made.secret, read.secret);
        assert_ne!(made.secret, Token::draw().expect("a token").secret);
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = fs::read_to_string(&path).expect("it is ours");
        assert!(text.starts_with("plimsoll-token-1:") && text.ends_with('\n'), "{}", text.len());
        assert!(matches!(Token::create(&path), Err(TokenError::Exists { .. })));
        assert_eq!(fs::read_to_string(&path).expect("it is ours"), text, "never overwritten");
    }

    #[test]
    fn a_file_that_others_can_use_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t");
        Token::create(&path).expect("a token");
        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            let refused = Token::read(&path).expect_err("others can use it");
            assert!(refused.to_string().contains(&format!("mode is {mode:o}")), "{refused}");
            assert_eq!(refused.remedy(), Some(format!("chmod 600 {}", path.display())));
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("it is ours");
        Token::read(&path).expect("only its owner can");
    }

    #[track_caller]
    fn check_wrong(line: &str, column: usize, part: &str) {
        let (found, message) = Token::parse(line.as_bytes()).expect_err("no token");
        assert_eq!(found, column, "{line}: {message}");
        assert!(message.contains(part), "{message}");
    }

    #[test]
    fn mistakes_have_their_place_and_repeat_nothing() {
        let digits = "5a".repeat(32);
        check_wrong("", 1, "plimsoll-token-1:");
        check_wrong(&digits, 1, "plimsoll-token-1:");
        check_wrong(&format!("plimsoll-token-2:{digits}"), 16, "version 1");
        check_wrong(&format!("plimsoll-token-1:{digits}0"), 82, "more than 64");
        check_wrong(&format!("plimsoll-token-1:{}", &digits[1..]), 81, "fewer than 64");
        check_wrong(&format!("plimsoll-token-1:x{digits}"), 18, "not a hexadecimal");
        Token::parse(format!("plimsoll-token-1:{}\r\n", digits.to_uppercase()).as_bytes())
            .expect("either case, and any blanks behind it");
    }

    #[test]
    fn no_output_shows_the_secret() {
        let token = Token { secret: Zeroizing::new([0x5a; SECRET_BYTES]) };
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert_eq!(format!("{token:#?}"), "Token(..)");
    }
}

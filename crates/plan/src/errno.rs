//! Error numbers of Linux that I/O meets: their names, as job files write them, and what they mean.

/// An error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno {
    /// The number.
    pub number: i32,
    /// Its name, such as `EIO`.
    pub name: &'static str,
    /// What it means for I/O, a few words in lower case.
    pub meaning: &'static str,
}

const fn errno(number: i32, name: &'static str, meaning: &'static str) -> Errno {
    Errno { number, name, meaning }
}

/// Those that are known, by number.
const KNOWN: [Errno; 35] = [
    errno(1, "EPERM", "operation not permitted"),
    errno(2, "ENOENT", "no such file or directory"),
    errno(4, "EINTR", "interrupted by a signal"),
    errno(5, "EIO", "input/output error"),
    errno(6, "ENXIO", "no such device or address"),
    errno(9, "EBADF", "bad file descriptor"),
    errno(11, "EAGAIN", "try again"),
    errno(12, "ENOMEM", "out of memory"),
    errno(13, "EACCES", "permission denied"),
    errno(14, "EFAULT", "bad address"),
    errno(16, "EBUSY", "device or resource busy"),
    errno(17, "EEXIST", "file exists"),
    errno(19, "ENODEV", "no such device"),
    errno(20, "ENOTDIR", "not a directory"),
    errno(21, "EISDIR", "is a directory"),
    errno(22, "EINVAL", "invalid argument"),
    errno(23, "ENFILE", "too many open files on this host"),
    errno(24, "EMFILE", "too many open files in this process"),
    errno(26, "ETXTBSY", "file of a running program"),
    errno(27, "EFBIG", "file too large"),
    errno(28, "ENOSPC", "no space left"),
    errno(29, "ESPIPE", "no place can be chosen in it"),
    errno(30, "EROFS", "read-only file system"),
    errno(32, "EPIPE", "broken pipe"),
    errno(33, "EDOM", "outside of the domain of a function"),
    errno(34, "ERANGE", "result too large"),
    errno(61, "ENODATA", "no data available: unreadable sector"),
    errno(75, "EOVERFLOW", "value too large for its type"),
    errno(84, "EILSEQ", "data differs from what was written"),
    errno(95, "EOPNOTSUPP", "not supported"),
    errno(110, "ETIMEDOUT", "timed out"),
    errno(116, "ESTALE", "stale file handle"),
    errno(121, "EREMOTEIO", "remote input/output error"),
    errno(122, "EDQUOT", "quota exceeded"),
    errno(125, "ECANCELED", "cancelled"),
];

impl Errno {
    /// Finds one by its number.
    pub fn of_number(number: i32) -> Option<Errno> {
        KNOWN.into_iter().find(|errno| errno.number == number)
    }

    /// Finds one by its name; case counts.
    pub fn of_name(name: &str) -> Option<Errno> {
        KNOWN.into_iter().find(|errno| errno.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_name_and_number() {
        assert!(KNOWN.is_sorted_by(|one, next| one.number < next.number));
        for errno in KNOWN {
            assert_eq!(Errno::of_number(errno.number), Some(errno));
            assert_eq!(Errno::of_name(errno.name), Some(errno));
        }
        assert_eq!(Errno::of_name("eio"), None);
        assert_eq!(Errno::of_number(3), None);
    }
}

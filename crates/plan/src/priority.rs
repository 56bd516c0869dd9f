//! I/O priorities: which classes and levels there are, and which I/Os of a job carry another one
//! than the rest.

/// An I/O priority as the kernel packs it (`linux/ioprio.h`): class in the top three bits of
/// sixteen, hint in the ten below, level in the lowest three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct IoPriority(u16);

impl IoPriority {
    /// No priority of its own: an I/O has its job's, a job the kernel's default.
    pub const NONE: IoPriority = IoPriority(0);
    /// Class of I/Os that go before all others. Needs privileges.
    pub const REAL_TIME: u8 = 1;
    /// The usual class.
    pub const BEST_EFFORT: u8 = 2;
    /// Highest class: 3, served when nothing else is asked for.
    pub const CLASS_MAX: u8 = 3;
    /// Lowest level within a class; 0 is the highest.
    pub const LEVEL_MAX: u8 = 7;
    /// Largest hint.
    pub const HINT_MAX: u16 = 1023;

    /// Packs class, level and hint. Class 0 becomes best effort, as in fio: the kernel takes no
    /// level without a class.
    ///
    /// # Panics
    /// If one of them does not fit: a class has three bits, a level and a hint their largest.
    pub fn new(class: u8, level: u8, hint: u16) -> IoPriority {
        // The kernel refuses those that have three bits and no meaning.
        assert!(class < 8, "the class {class} of a priority");
        assert!(level <= IoPriority::LEVEL_MAX, "the level {level} of a priority");
        assert!(hint <= IoPriority::HINT_MAX, "the hint {hint} of a priority");
        let class = if class == 0 { IoPriority::BEST_EFFORT } else { class };
        IoPriority(u16::from(class) << 13 | hint << 3 | u16::from(level))
    }

    /// Returns the packed form.
    #[inline]
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Returns the class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub fn class(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// Returns the level within the class, 0..=7; 0 is the highest.
    pub fn level(self) -> u8 {
        (self.0 & u16::from(IoPriority::LEVEL_MAX)) as u8
    }

    /// Returns the hint, 0..=1023.
    pub fn hint(self) -> u16 {
        self.0 >> 3 & IoPriority::HINT_MAX
    }
}

/// A share of the I/Os of one direction that carries a priority of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Only I/Os of this many bytes; `None` is any.
    pub block_bytes: Option<u32>,
    /// Share of those I/Os, percent, 0..=100.
    pub pct: u8,
    /// What they carry. [`IoPriority::NONE`] in what a user wrote: the priority that the job gives
    /// for such I/Os.
    pub priority: IoPriority,
}

#[cfg(test)]
mod tests {
    use super::IoPriority;

    #[track_caller]
    fn check(class: u8, level: u8, hint: u16, bits: u16) {
        let priority = IoPriority::new(class, level, hint);
        assert_eq!(priority.bits(), bits);
        let class = if class == 0 { 2 } else { class };
        assert_eq!((priority.class(), priority.level(), priority.hint()), (class, level, hint));
    }

    /// The figures are those of `IOPRIO_PRIO_VALUE_HINT` of `linux/ioprio.h`.
    #[test]
    fn priorities_are_packed_as_the_kernel_does() {
        check(1, 0, 0, 0x2000);
        check(2, 4, 0, 0x4004);
        check(3, 7, 0, 0x6007);
        check(1, 1, 1, 0x2009);
        check(3, 7, 1023, 0x7fff);
        check(0, 5, 0, 0x4005);
        assert_eq!(IoPriority::NONE.class(), 0);
    }
}

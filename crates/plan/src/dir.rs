//! The three data directions, and values given for each of them.

/// Where the bytes of an operation go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Direction {
    /// From the target into memory.
    Read = 0,
    /// From memory to the target.
    Write = 1,
    /// No data moves: the range is given back to the device (discard, hole punch).
    Trim = 2,
}

impl Direction {
    /// All directions, in the order in which every output lists them.
    pub const ALL: [Direction; 3] = units::all_of!(Direction: Read, Write, Trim);

    /// Returns the lower-case word used in every output.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

/// One value per direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PerDir<T> {
    /// The value for reads.
    pub read: T,
    /// The value for writes.
    pub write: T,
    /// The value for trims.
    pub trim: T,
}

impl<T> PerDir<T> {
    /// Gives every direction the value.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        PerDir { read: value.clone(), write: value.clone(), trim: value }
    }

    /// Applies `f` to each value.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerDir<U> {
        PerDir { read: f(self.read), write: f(self.write), trim: f(self.trim) }
    }

    /// Iterates over the directions and their values, in the order of [`Direction::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Direction, &T)> {
        [
            (Direction::Read, &self.read),
            (Direction::Write, &self.write),
            (Direction::Trim, &self.trim),
        ]
        .into_iter()
    }
}

impl<T> PerDir<T> {
    /// Iterates over the values, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        [&mut self.read, &mut self.write, &mut self.trim].into_iter()
    }
}

impl<T> std::ops::Index<Direction> for PerDir<T> {
    type Output = T;
    fn index(&self, dir: Direction) -> &T {
        match dir {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }
}

impl<T> std::ops::IndexMut<Direction> for PerDir<T> {
    fn index_mut(&mut self, dir: Direction) -> &mut T {
        match dir {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
            Direction::Trim => &mut self.trim,
        }
    }
}

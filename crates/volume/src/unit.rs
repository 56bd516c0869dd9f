//! What one operation counts for.

/// Returns how many operations one of `len_bytes` counts for: one for each begun piece of
/// `unit_bytes`, at least one.
///
/// Azure's premium and standard SSD disks count pieces of 256 KiB: 1,100 KB are five.
#[inline]
pub(crate) fn units(len_bytes: u32, unit_bytes: Option<u64>) -> u32 {
    match unit_bytes {
        Some(unit) if u64::from(len_bytes) > unit => u64::from(len_bytes).div_ceil(unit) as u32,
        _ => 1,
    }
}

/// Streams of I/Os that a disk tells apart. What the provider does is not published; so many jobs
/// that each read or write in sequence do not disturb each other.
const N_STREAMS: usize = 8;

/// I/Os that follow each other on a disk that merges them.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    unit_bytes: u64,
    all: [Stream; N_STREAMS],
    /// Whose place the next new stream takes.
    oldest: usize,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Where on the disk the next I/O follows.
    end: u64,
    writes: bool,
    /// Bytes of the last unit that nothing has taken yet.
    n_left: u64,
}

impl Streams {
    pub(crate) fn new(unit_bytes: u64) -> Streams {
        let nowhere = Stream { end: u64::MAX, writes: false, n_left: 0 };
        Streams { unit_bytes, all: [nowhere; N_STREAMS], oldest: 0 }
    }

    /// Returns how many units an I/O begins: as it begins them, they count.
    pub(crate) fn units(&mut self, at: u64, len_bytes: u32, writes: bool) -> u32 {
        let follows = |stream: &Stream| stream.end == at && stream.writes == writes;
        let idx = self.all.iter().position(follows);
        let n_left = idx.map_or(0, |idx| self.all[idx].n_left);
        let needed = u64::from(len_bytes).saturating_sub(n_left);
        let n_units = needed.div_ceil(self.unit_bytes);
        let n_left = n_left + n_units * self.unit_bytes - u64::from(len_bytes);
        let end = at.saturating_add(len_bytes.into());
        self.all[idx.unwrap_or(self.oldest)] = Stream { end, writes, n_left };
        if idx.is_none() {
            self.oldest = (self.oldest + 1) % N_STREAMS;
        }
        n_units as u32
    }
}

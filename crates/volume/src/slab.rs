//! Numbered places for things that come and go, and queues through them.

/// No place.
pub(crate) const NIL: u32 = u32::MAX;

/// Something that stands in at most one queue at a time.
pub(crate) trait Linked {
    /// The next one in its queue, or in the list of free places.
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
}

/// Places that are used again. It allocates only when it grows beyond what was reserved.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    places: Vec<T>,
    free: u32,
    n_used: usize,
}

impl<T: Linked> Slab<T> {
    pub(crate) fn with_capacity(n: usize) -> Slab<T> {
        Slab { places: Vec::with_capacity(n), free: NIL, n_used: 0 }
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        self.n_used += 1;
        let place = self.free;
        if place == NIL {
            self.places.push(value);
            return (self.places.len() - 1) as u32;
        }
        self.free = self.places[place as usize].next();
        self.places[place as usize] = value;
        place
    }

    /// Gives a place back. What stood there may still be read until the next insertion.
    #[inline]
    pub(crate) fn remove(&mut self, place: u32) {
        self.n_used -= 1;
        self.places[place as usize].set_next(self.free);
        self.free = place;
    }

    /// Goes through every place, used or not.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut()
    }

    pub(crate) fn len(&self) -> usize {
        self.n_used
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.free = NIL;
        self.n_used = 0;
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}

/// First come, first served, linked through a slab.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    first: u32,
    last: u32,
    n: u32,
}

impl Fifo {
    pub(crate) const EMPTY: Fifo = Fifo { first: NIL, last: NIL, n: 0 };

    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NIL).then_some(self.first)
    }

    pub(crate) fn len(&self) -> u32 {
        self.n
    }

    #[inline]
    pub(crate) fn push<T: Linked>(&mut self, slab: &mut Slab<T>, place: u32) {
        slab[place].set_next(NIL);
        if self.last == NIL {
            self.first = place;
        } else {
            slab[self.last].set_next(place);
        }
        self.last = place;
        self.n += 1;
    }

    /// Puts a place behind those with the same key or a smaller one: at the end as a rule.
    #[inline]
    pub(crate) fn push_in_order<T: Linked>(
        &mut self,
        slab: &mut Slab<T>,
        place: u32,
        key: impl Fn(&T) -> u64,
    ) {
        if self.last != NIL && key(&slab[self.last]) > key(&slab[place]) {
            self.put_among(slab, place, key);
        } else {
            self.push(slab, place);
        }
    }

    /// Puts a place before the first one with a larger key, which there is.
    fn put_among<T: Linked>(&mut self, slab: &mut Slab<T>, place: u32, key: impl Fn(&T) -> u64) {
        let own = key(&slab[place]);
        let (mut before, mut after) = (NIL, self.first);
        while key(&slab[after]) <= own {
            (before, after) = (after, slab[after].next());
        }
        slab[place].set_next(after);
        if before == NIL {
            self.first = place;
        } else {
            slab[before].set_next(place);
        }
        self.n += 1;
    }

    #[inline]
    pub(crate) fn pop<T: Linked>(&mut self, slab: &Slab<T>) -> Option<u32> {
        let place = self.first()?;
        self.first = slab[place].next();
        if self.first == NIL {
            self.last = NIL;
        }
        self.n -= 1;
        Some(place)
    }
}

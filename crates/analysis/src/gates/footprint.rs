//! Did the storage answer, or a cache before it?

use units::format_bytes;

use crate::gate::{Gate, GateName};

/// A cache between the generator and the media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize<'a> {
    /// Such as `host cache` or `controller`.
    pub name: &'a str,
    /// How much it holds; none if unknown.
    pub bytes: Option<u64>,
}

/// What the footprint is judged by.
#[derive(Clone, Copy, Debug)]
pub struct FootprintInputs<'a> {
    /// Different bytes that the run touched, or could have by its plan; none if unknown.
    pub touched_bytes: Option<u64>,
    /// The caches on the way.
    pub caches: &'a [CacheSize<'a>],
}

/// Judges whether more was touched than the largest cache on the way holds.
///
/// # Panics
/// If a cache has no name.
pub fn footprint(inputs: &FootprintInputs<'_>) -> Gate {
    let nameless = inputs.caches.iter().find(|cache| cache.name.is_empty());
    assert!(nameless.is_none(), "a cache has no name: {nameless:?}");
    let name = GateName::Footprint;
    let Some(touched) = inputs.touched_bytes else {
        return Gate::unknown(name, "how much was touched is not known");
    };
    let text = format_bytes(touched);
    let known = inputs.caches.iter().filter_map(|cache| cache.bytes.map(|bytes| (bytes, cache)));
    let largest = known.max_by_key(|(bytes, _)| *bytes);
    if let Some((bytes, cache)) = largest
        && touched < bytes
    {
        let size = format_bytes(bytes);
        let reason = format!("{text} were touched, and the {} holds {size}", cache.name);
        let figures = [("touched_bytes", touched as f64), ("cache_bytes", bytes as f64)];
        return Gate::failed(name, reason).with(&figures);
    }
    if let Some(cache) = inputs.caches.iter().find(|cache| cache.bytes.is_none()) {
        let reason = format!("{text} were touched, and the size of the {} is unknown", cache.name);
        return Gate::unknown(name, reason).with(&[("touched_bytes", touched as f64)]);
    }
    let reason = match largest {
        Some((bytes, cache)) => {
            format!("{text} were touched, more than the {} of {}", cache.name, format_bytes(bytes))
        }
        None => format!("{text} were touched, and no cache is on the way"),
    };
    Gate::passed(name, reason).with(&[("touched_bytes", touched as f64)])
}

/// What the page cache is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCacheInputs {
    /// I/O went past the page cache (`O_DIRECT`, or a client of our own); none if unknown.
    pub is_direct: Option<bool>,
    /// Different bytes that the run touched; none if unknown.
    pub touched_bytes: Option<u64>,
    /// Memory of this host.
    pub memory_bytes: u64,
}

/// Times the memory that a buffered run must touch: then most of what it reads was evicted.
const MEMORY_TIMES_MIN: u64 = 2;

/// Judges whether the page cache of this host was used.
pub fn page_cache(inputs: &PageCacheInputs) -> Gate {
    let name = GateName::PageCache;
    let Some(is_direct) = inputs.is_direct else {
        return Gate::unknown(name, "whether I/O was direct is not known");
    };
    if is_direct {
        return Gate::passed(name, "I/O was direct");
    }
    let memory = format_bytes(inputs.memory_bytes);
    let Some(touched_bytes) = inputs.touched_bytes else {
        let reason = format!("the page cache was used, with up to {memory}");
        return Gate::unknown(name, reason);
    };
    let touched = format_bytes(touched_bytes);
    let figures =
        [("touched_bytes", touched_bytes as f64), ("memory_bytes", inputs.memory_bytes as f64)];
    let is_kept = touched_bytes >= inputs.memory_bytes.saturating_mul(MEMORY_TIMES_MIN);
    let reason = if is_kept {
        format!("the page cache was used, but {touched} were touched with {memory} of memory")
    } else {
        format!(
            "the page cache was used: {touched} were touched with {memory} of memory, so this \
             may be the speed of memory"
        )
    };
    Gate::judged(name, is_kept, reason).with(&figures)
}

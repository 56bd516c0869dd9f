//! I/O priorities as the kernel packs them.

use plan::PerDir;
use plan::job::EngineSpec;

/// Returns the priority of raised operations per direction: class in the top three bits, level in
/// the lowest three (`IOPRIO_PRIO_VALUE` of `linux/ioprio.h`).
pub(crate) fn raised(spec: &EngineSpec) -> PerDir<u16> {
    let pack = |class: u8, level: u8| u16::from(class & 7) << 13 | u16::from(level & 7);
    let (class, level) = (spec.priority_class, spec.priority_level);
    PerDir {
        read: pack(class.read, level.read),
        write: pack(class.write, level.write),
        trim: pack(class.trim, level.trim),
    }
}

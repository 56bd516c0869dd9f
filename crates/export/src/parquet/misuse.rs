//! What a wrong caller meets: each check that stays on in release, failed on purpose.

use super::thrift::Struct;
use super::{levels, size};

#[test]
fn what_parquet_cannot_say_is_not_written() {
    testing::check_wrong_calls(&[
        ("2 GiB in one page", "2147483648 B in one piece", &|| _ = size(1 << 31)),
        ("fewer values than said", "a page of 3 values has 2", &|| {
            _ = levels([true, false].into_iter(), 3);
        }),
        ("a number too large for its field", "field 1 holds 4294967296 in 32 bits", &|| {
            _ = Struct::new().i32(1, 1 << 32);
        }),
        ("a field twice", "field 2 comes behind 2", &|| _ = Struct::new().i64(2, 1).i64(2, 1)),
        ("a field that comes late", "field 1 comes behind 2", &|| {
            _ = Struct::new().i64(2, 1).i64(1, 1);
        }),
        ("a field far away", "field 17 comes behind 1", &|| {
            _ = Struct::new().i64(1, 1).i64(17, 1);
        }),
    ]);
    assert_eq!(size((1 << 31) - 1), (1 << 31) - 1);
}

//! The map of visited blocks against a plain model.

use pattern::map::{BLOCKS_MAX, BlockMap};
use proptest::prelude::*;

#[test]
fn finds_the_last_free_block_of_a_large_map() {
    let n = 64 * 64 * 64 + 5;
    let mut map = BlockMap::new(n).unwrap();
    map.visit(0, n);
    assert_eq!(map.next_free(0), None);
    map.clear();
    map.visit(0, n - 1);
    for from in [0, 1, n / 2, n - 1, n, u64::MAX] {
        assert_eq!(map.next_free(from), Some(n - 1), "from {from}");
    }
}

#[test]
fn memory_has_a_limit() {
    assert!(BlockMap::new(BLOCKS_MAX + 1).is_err());
}

proptest! {
    #[test]
    fn behaves_as_a_set(
        n in 1_u64..10_000,
        visits in prop::collection::vec((0_u64..10_000, 1_u64..300), 0..80),
        queries in prop::collection::vec((0_u64..10_000, 1_u64..300), 1..50),
    ) {
        let mut map = BlockMap::new(n).unwrap();
        let mut model = vec![false; n as usize];
        for (block, n_blocks) in visits {
            map.visit(block, n_blocks);
            let end = (block + n_blocks).min(n);
            for is_visited in model.get_mut(block as usize..end as usize).into_iter().flatten() {
                *is_visited = true;
            }
        }
        for (block, n_max) in queries {
            let is_free = |b: &u64| !model[*b as usize];
            let from = block.min(n);
            let expected = (from..n).chain(0..from).find(is_free);
            prop_assert_eq!(map.next_free(block), expected);
            let run = (block..n).take(n_max as usize).take_while(|b| is_free(b)).count();
            prop_assert_eq!(map.free_run(block, n_max), run as u64);
        }
    }
}

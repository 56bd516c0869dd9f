//! What two numbers have in common.

/// Returns the greatest common divisor; the other number where one is 0.
pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_common_divisor() {
        let check = |a, b, expected| assert_eq!((gcd(a, b), gcd(b, a)), (expected, expected));
        check(0, 0, 0);
        check(0, 7, 7);
        check(1, 7, 1);
        check(12, 18, 6);
        check(4096, 65_536, 4096);
        check(u64::MAX, u64::MAX - 1, 1);
    }
}

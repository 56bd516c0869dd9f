//! Choices that are dealt: every choice of a deck comes once before any comes again.

use crate::rng::Rng;

/// Most cards of a deck: shares in hundredths of a percent, and two bytes each.
const CARDS_MAX: usize = 10_000;

/// A shuffled deck in which each choice has as many cards as its share.
///
/// Over each whole deck the shares are exact, where single draws would drift apart by the root of
/// their number: of 14,400 draws, half of which make a file and half remove one, by 120 files.
#[derive(Clone, Debug)]
pub struct Deck {
    cards: Box<[u16]>,
    /// The next one.
    next: usize,
}

impl Deck {
    /// Makes a deck of choices by their weights, in the smallest whole numbers that have the
    /// shares to a hundredth of a percent. `None` where no weight is above 0.
    ///
    /// # Panics
    /// If there are more choices than [`CARDS_MAX`].
    pub fn new(weights: impl Iterator<Item = f64> + Clone) -> Option<Deck> {
        let n_choices = weights.clone().count();
        assert!(n_choices <= CARDS_MAX, "a deck of {n_choices} choices");
        let total: f64 = weights.clone().map(|weight| weight.max(0.0)).sum();
        let counts: Vec<usize> = weights
            .map(|weight| (weight.max(0.0) / total * CARDS_MAX as f64).round() as usize)
            .collect();
        let divisor = counts.iter().copied().fold(0, greatest_divisor);
        if divisor == 0 {
            return None;
        }
        let cards = counts
            .iter()
            .enumerate()
            .flat_map(|(choice, count)| std::iter::repeat_n(choice as u16, count / divisor));
        let cards: Box<[u16]> = cards.collect();
        let next = cards.len();
        Some(Deck { cards, next })
    }

    /// Deals the next choice.
    #[inline]
    pub fn deal(&mut self, rng: &mut Rng) -> usize {
        if self.next >= self.cards.len() {
            self.shuffle(rng);
        }
        let choice = self.cards[self.next];
        self.next += 1;
        usize::from(choice)
    }

    /// Puts back the choice that was dealt last: the next other one comes first. Returns false, and
    /// changes nothing, where the rest of the deck has no other.
    pub fn postpone(&mut self) -> bool {
        let Some(last) = self.next.checked_sub(1) else { return false };
        let rest = &self.cards[self.next..];
        let other = rest.iter().position(|card| *card != self.cards[last]);
        if let Some(other) = other {
            self.cards.swap(last, self.next + other);
            self.next = last;
        }
        other.is_some()
    }

    /// Returns the number of cards.
    pub fn n_cards(&self) -> usize {
        self.cards.len()
    }

    /// Shuffles as Fisher and Yates do, and begins anew.
    fn shuffle(&mut self, rng: &mut Rng) {
        for idx in (1..self.cards.len()).rev() {
            let other = rng.bounded(idx as u64 + 1) as usize;
            self.cards.swap(idx, other);
        }
        self.next = 0;
    }
}

fn greatest_divisor(a: usize, b: usize) -> usize {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deals two decks. Checks the number of cards, and that each deck has each choice so often.
    #[track_caller]
    fn check(weights: &[f64], n_cards: usize, expected: &[usize]) {
        let mut deck = Deck::new(weights.iter().copied()).expect("a deck");
        assert_eq!(deck.n_cards(), n_cards);
        let mut rng = Rng::new(7);
        let mut orders = Vec::new();
        for _ in 0..2 {
            let dealt: Vec<usize> = (0..n_cards).map(|_| deck.deal(&mut rng)).collect();
            let count = |choice: usize| dealt.iter().filter(|it| **it == choice).count();
            assert_eq!((0..weights.len()).map(count).collect::<Vec<_>>(), expected);
            orders.push(dealt);
        }
        assert!(n_cards < 10 || orders[0] != orders[1], "each deck is shuffled by itself");
    }

    #[test]
    fn each_deck_has_the_shares() {
        let frontend = [39.0, 15.0, 15.0, 10.0, 8.0, 7.0, 1.0, 2.0, 1.0, 1.0, 1.0];
        check(&frontend, 100, &[39, 15, 15, 10, 8, 7, 1, 2, 1, 1, 1]);
        check(&[50.0, 50.0], 2, &[1, 1]);
        check(&[99.5, 0.0, 0.5], 200, &[199, 0, 1]);
        check(&[3.0, 1.0], 4, &[3, 1]);
    }

    #[test]
    fn what_is_postponed_comes_later_in_the_same_deck() {
        let mut deck = Deck::new([30.0, 70.0].into_iter()).expect("a deck");
        let mut rng = Rng::new(7);
        let mut dealt = Vec::new();
        while dealt.len() < 10 {
            let choice = deck.deal(&mut rng);
            if choice == 0 && deck.postpone() {
                continue;
            }
            dealt.push(choice);
        }
        assert_eq!(dealt, [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn nothing_makes_no_deck() {
        assert!(Deck::new([0.0, 0.0].into_iter()).is_none());
        assert!(Deck::new(std::iter::empty()).is_none());
    }
}

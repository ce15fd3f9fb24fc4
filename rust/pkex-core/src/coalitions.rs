//! Coalitions of a given size, in lexicographic order: counted, numbered, walked.

use std::ops::Range;

/// The coalitions of `size` of the players 0..`players` whose first player is in `first`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coalitions {
    players: usize,
    size: usize,
    first: Range<usize>,
}

impl Coalitions {
    /// All coalitions of a size, cut by their first players into parts of about `most`, where a
    /// single first player has no more. `None` if they are too many to be counted.
    pub fn parts(players: usize, size: usize, most: usize) -> Option<Vec<Self>> {
        binomial(players, size)?;
        let mut parts: Vec<Self> = Vec::new();
        // A coalition without players counts as one whose first player is 0.
        for first in 0..if size == 0 { 1 } else { players } {
            let next = Self { players, size, first: first..first + 1 };
            match parts.last_mut() {
                Some(part) if part.count() + next.count() <= most => part.first.end += 1,
                _ if next.count() > 0 => parts.push(next),
                _ => {}
            }
        }
        Some(parts)
    }

    /// Number of players in each.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        if self.size == 0 {
            return 1;
        }
        self.from(self.first.start) - self.from(self.first.end)
    }

    /// How many there are if the first player is `first` or a later one, of any part.
    fn from(&self, first: usize) -> usize {
        binomial(self.players - first, self.size).unwrap_or(usize::MAX)
    }

    /// The coalitions of some of the players (ascending) only, who are renumbered from 0.
    pub fn among(&self, players: &[usize]) -> Self {
        let position = |player| players.partition_point(|&other| other < player);
        let first = position(self.first.start)..position(self.first.end);
        Self { players: players.len(), size: self.size, first }
    }

    /// Adds to `places` the number among these coalitions of each one that has some of the players
    /// (ascending) only.
    pub fn places(&self, players: &[usize], walk: &mut Walk, places: &mut Vec<usize>) {
        let some = self.among(players);
        if self.size == 0 || players.len() == self.players {
            places.extend(0..some.count());
            return;
        }
        // Of the coalitions after {p₁ < … < pₛ}, C(d − 1 − pᵢ, s − i + 1) first differ at pᵢ.
        let last = self.from(self.first.start) - 1;
        let after = |depth: usize, player: usize| {
            binomial(self.players - 1 - players[player], self.size - depth).unwrap_or(usize::MAX)
        };
        let mut is_left = walk.start(&some);
        while is_left {
            let leading: usize = (0..self.size - 1).map(|i| after(i, walk.chosen[i])).sum();
            for player in walk.last(&some) {
                places.push(last - leading - after(self.size - 1, player));
            }
            is_left = walk.advance(&some).is_some();
        }
    }
}

/// C(n, k), if it is a `usize`.
fn binomial(n: usize, k: usize) -> Option<usize> {
    if k > n {
        return Some(0);
    }
    (0..k.min(n - k)).try_fold(1_usize, |product, i| Some(product.checked_mul(n - i)? / (i + 1)))
}

/// Walks coalitions by all but their last player; the last is for the caller to run through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    /// All but the last player, ascending.
    pub chosen: Vec<usize>,
}

impl Walk {
    /// Goes to the first coalitions, of at least one player; false if there are none.
    #[inline(always)]
    pub fn start(&mut self, coalitions: &Coalitions) -> bool {
        let Coalitions { players, size, ref first } = *coalitions;
        self.chosen.clear();
        self.chosen.extend(first.start..first.start + size - 1);
        !first.is_empty() && first.start + size <= players
    }

    /// What the last player can be.
    #[inline(always)]
    pub fn last(&self, coalitions: &Coalitions) -> Range<usize> {
        match self.chosen.last() {
            Some(player) => player + 1..coalitions.players,
            None => coalitions.first.clone(),
        }
    }

    /// Goes on: returns the place in `chosen` of the player that was replaced by the next one; the
    /// players after it follow directly. `None` after the last coalitions.
    #[inline(always)]
    pub fn advance(&mut self, coalitions: &Coalitions) -> Option<usize> {
        for depth in (0..self.chosen.len()).rev() {
            let next = self.chosen[depth] + 1;
            let in_part = depth > 0 || next < coalitions.first.end;
            if in_part && next + coalitions.size - depth <= coalitions.players {
                for (offset, player) in self.chosen[depth..].iter_mut().enumerate() {
                    *player = next + offset;
                }
                return Some(depth);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coalitions that a walk meets.
    fn walked(coalitions: &Coalitions) -> Vec<Vec<usize>> {
        let mut walk = Walk::default();
        let mut found = Vec::new();
        let mut is_left = walk.start(coalitions);
        while is_left {
            let with = |last| [walk.chosen.clone(), vec![last]].concat();
            found.extend(walk.last(coalitions).map(with));
            is_left = walk.advance(coalitions).is_some();
        }
        found
    }

    #[test]
    fn parts_hold_every_coalition_once_in_lexicographic_order() {
        for players in 1..8 {
            for size in 1..=players {
                let all = Coalitions { players, size, first: 0..players };
                let found = walked(&all);
                assert_eq!(found.len(), binomial(players, size).unwrap());
                assert!(found.is_sorted());
                assert!(found.iter().all(|coalition| coalition.is_sorted()));
                for most in [1, 7, 1000] {
                    let parts = Coalitions::parts(players, size, most).unwrap();
                    assert!(parts.iter().all(|part| walked(part).len() == part.count()));
                    assert_eq!(parts.iter().flat_map(walked).collect::<Vec<_>>(), found);
                }
            }
        }
    }

    #[test]
    fn places_of_some_players_are_those_among_all() {
        for (size, most) in [(1, 2), (2, 5), (3, 1000)] {
            for part in Coalitions::parts(7, size, most).unwrap() {
                for some in [vec![0, 1, 2, 3, 4, 5, 6], vec![1, 4, 5, 6], vec![0, 2], vec![]] {
                    let mut places = Vec::new();
                    part.places(&some, &mut Walk::default(), &mut places);
                    let all = walked(&part);
                    let expected = walked(&part.among(&some)).into_iter().map(|coalition| {
                        let named: Vec<usize> = coalition.iter().map(|&p| some[p]).collect();
                        all.iter().position(|other| *other == named).unwrap()
                    });
                    assert_eq!(places, expected.collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn too_many_coalitions_are_none() {
        assert!(Coalitions::parts(10_000, 30, 100).is_none());
        assert_eq!(binomial(60, 30), Some(118_264_581_564_861_424));
    }
}

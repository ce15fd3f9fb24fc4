//! Coalitions of one size in lexicographic order: their number, places and iteration.

use std::ops::Range;

/// The coalitions of `size` of the players 0..`players` that begin with the players `prefix`,
/// followed by a player in `next`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coalitions {
    players: usize,
    size: usize,
    prefix: Vec<usize>,
    next: Range<usize>,
}

impl Coalitions {
    /// All coalitions of a size. The one without players counts as one whose first player is 0.
    pub fn all(players: usize, size: usize) -> Self {
        Self { players, size, prefix: Vec::new(), next: 0..if size == 0 { 1 } else { players } }
    }

    /// All coalitions of a size, in parts of at most `max_count` coalitions, if no more than these
    /// differ in their last player. `None` if their number is not a `usize`.
    pub fn parts(players: usize, size: usize, max_count: usize) -> Option<Vec<Self>> {
        binomial(players, size)?;
        let mut parts = Vec::new();
        Self::all(players, size).push_parts(max_count, &mut parts);
        Some(parts)
    }

    /// Adds parts of these coalitions.
    fn push_parts(&self, max_count: usize, parts: &mut Vec<Self>) {
        for next in self.next.clone() {
            let part = Self { next: next..next + 1, ..self.clone() };
            let count = part.count();
            if count > max_count && self.size > self.prefix.len() + 1 {
                let prefix = [&self.prefix[..], &[next]].concat();
                Self { prefix, next: next + 1..self.players, ..*self }.push_parts(max_count, parts);
                continue;
            }
            match parts.last_mut() {
                Some(part)
                    if part.prefix == self.prefix
                        && part.next.end == next
                        && part.count() + count <= max_count =>
                {
                    part.next.end += 1;
                }
                _ if count > 0 => parts.push(part),
                _ => {}
            }
        }
    }

    /// Number of players in each.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of coalitions.
    pub fn count(&self) -> usize {
        if self.size == 0 {
            return 1;
        }
        self.from(self.next.start) - self.from(self.next.end)
    }

    /// The range of the first player, for coalitions of two players.
    pub fn first_of_two(&self) -> Range<usize> {
        match self.prefix[..] {
            [first] => first..first + 1,
            _ => self.next.clone(),
        }
    }

    /// For coalitions of two players with this first one: the number of the first coalition, and
    /// the range of the second player.
    pub fn pairs_of(&self, first: usize) -> (usize, Range<usize>) {
        match self.prefix[..] {
            [player] if player == first => (0, self.next.clone()),
            [] if self.next.contains(&first) => {
                (self.from(self.next.start) - self.from(first), first + 1..self.players)
            }
            _ => (0, 0..0),
        }
    }

    /// The number of coalitions that begin with the fixed players, followed by `next` or a later
    /// player.
    fn from(&self, next: usize) -> usize {
        binomial(self.players - next, self.size - self.prefix.len()).unwrap_or(usize::MAX)
    }

    /// The coalitions that contain only some of the players (ascending), who are renumbered from 0.
    pub fn among(&self, players: &[usize]) -> Self {
        let position = |player| players.partition_point(|&other| other < player);
        let prefix: Vec<usize> = self.prefix.iter().map(|&player| position(player)).collect();
        let is_there = |(&player, &place): (&usize, &usize)| players.get(place) == Some(&player);
        let next = if self.prefix.iter().zip(&prefix).all(is_there) {
            position(self.next.start)..position(self.next.end)
        } else {
            0..0
        };
        Self { players: players.len(), size: self.size, prefix, next }
    }

    /// Appends to `places` the number, among these coalitions, of each coalition that contains only
    /// some of the players (ascending).
    pub fn places(&self, players: &[usize], cursor: &mut Cursor, places: &mut Vec<usize>) {
        if self.size == 0 || players.len() == self.players {
            places.extend(0..self.count());
            return;
        }
        let subset = self.among(players);
        // C(d − 1 − pᵢ, s − i + 1) of the coalitions after {p₁ < … < pₛ} first differ at pᵢ.
        let last = self.from(self.next.start) - 1;
        let after = |depth: usize, player: usize| {
            binomial(self.players - 1 - players[player], self.size - depth).unwrap_or(usize::MAX)
        };
        let mut has_next = cursor.start(&subset);
        while has_next {
            let moving = self.prefix.len()..self.size - 1;
            let leading: usize = moving.map(|i| after(i, cursor.members[i])).sum();
            for player in cursor.last(&subset) {
                places.push(last - leading - after(self.size - 1, player));
            }
            has_next = cursor.advance(&subset).is_some();
        }
    }
}

/// C(n, k), if it fits into a `usize`.
pub(crate) fn binomial(n: usize, k: usize) -> Option<usize> {
    if k > n {
        return Some(0);
    }
    (0..k.min(n - k)).try_fold(1_usize, |product, i| Some(product.checked_mul(n - i)? / (i + 1)))
}

/// Iterates over coalitions by all players except the last; the caller iterates over the last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    /// All players except the last, ascending.
    pub members: Vec<usize>,
}

impl Cursor {
    /// Moves to the first coalitions, of at least one player; returns false if there are none.
    #[inline(always)]
    pub fn start(&mut self, coalitions: &Coalitions) -> bool {
        let Coalitions { players, size, ref prefix, ref next } = *coalitions;
        self.members.clear();
        self.members.extend_from_slice(prefix);
        self.members.extend(next.start..next.start + size - 1 - prefix.len());
        !next.is_empty() && next.start + size - prefix.len() <= players
    }

    /// The range of the last player.
    #[inline(always)]
    pub fn last(&self, coalitions: &Coalitions) -> Range<usize> {
        match self.members.last() {
            Some(player) if self.members.len() > coalitions.prefix.len() => {
                player + 1..coalitions.players
            }
            _ => coalitions.next.clone(),
        }
    }

    /// Moves to the next coalitions. Returns the place in `members` of the player that was replaced
    /// by the next one; the players after it follow directly. `None` after the last coalitions.
    #[inline(always)]
    pub fn advance(&mut self, coalitions: &Coalitions) -> Option<usize> {
        let moving = coalitions.prefix.len();
        for depth in (moving..self.members.len()).rev() {
            let next = self.members[depth] + 1;
            let is_in_range = depth > moving || next < coalitions.next.end;
            if is_in_range && next + coalitions.size - depth <= coalitions.players {
                for (offset, player) in self.members[depth..].iter_mut().enumerate() {
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

    /// The coalitions that a cursor visits.
    fn list_members(coalitions: &Coalitions) -> Vec<Vec<usize>> {
        let mut cursor = Cursor::default();
        let mut result = Vec::new();
        let mut is_left = cursor.start(coalitions);
        while is_left {
            let with = |last| [cursor.members.clone(), vec![last]].concat();
            result.extend(cursor.last(coalitions).map(with));
            is_left = cursor.advance(coalitions).is_some();
        }
        result
    }

    #[test]
    fn parts_hold_every_coalition_once_in_lexicographic_order() {
        for players in 1..8 {
            for size in 1..=players {
                let all = Coalitions::all(players, size);
                let found = list_members(&all);
                assert_eq!(found.len(), binomial(players, size).unwrap());
                assert!(found.is_sorted());
                assert!(found.iter().all(|coalition| coalition.is_sorted()));
                for max_count in [1, 7, 1000] {
                    let parts = Coalitions::parts(players, size, max_count).unwrap();
                    assert!(parts.iter().all(|part| list_members(part).len() == part.count()));
                    assert!(parts.iter().all(|part| part.count() <= max_count.max(players)));
                    assert_eq!(parts.iter().flat_map(list_members).collect::<Vec<_>>(), found);
                }
            }
        }
    }

    #[test]
    fn places_of_some_players_are_those_among_all() {
        for (size, max_count) in [(1, 2), (2, 5), (3, 1000)] {
            for part in Coalitions::parts(7, size, max_count).unwrap() {
                for subset in [vec![0, 1, 2, 3, 4, 5, 6], vec![1, 4, 5, 6], vec![0, 2], vec![]] {
                    let mut places = Vec::new();
                    part.places(&subset, &mut Cursor::default(), &mut places);
                    let all = list_members(&part);
                    let expected =
                        list_members(&part.among(&subset)).into_iter().map(|coalition| {
                            let members: Vec<usize> =
                                coalition.iter().map(|&p| subset[p]).collect();
                            all.iter().position(|other| *other == members).unwrap()
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

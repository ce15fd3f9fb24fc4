//! Factors of the pairs of a term, of present players and of absent ones.

use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::term::PackedTerm;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;

/// What a term's players are worth while others are absent.
pub(crate) struct AbsentPlayers<'a> {
    /// The absent factors of all players, if they are not 1.
    factors: Option<&'a [f64]>,
    /// For each of the term's players what c is to be multiplied by for the player's worth alone:
    /// the coefficient and the absent factors of the others.
    pub alone: Vec<f64>,
}

impl<'a> AbsentPlayers<'a> {
    pub fn new(term: &PackedTerm, factors: Option<&'a [f64]>) -> Self {
        let of = |player: usize| factors.map_or(1.0, |factors| factors[player]);
        let players = &term.players;
        let mut alone = vec![term.coefficient; players.len()];
        let (mut before, mut after) = (1.0, 1.0);
        for place in 0..players.len() {
            let opposite = players.len() - 1 - place;
            alone[place] *= before;
            alone[opposite] *= after;
            before *= of(players[place]);
            after *= of(players[opposite]);
        }
        Self { factors, alone }
    }
}

/// The factors of the pairs of a row and a block.
pub(crate) struct FillPairs<'a> {
    pub term: &'a PackedTerm,
    pub absent: &'a AbsentPlayers<'a>,
    pub x: &'a [f64],
    pub points: &'a [Lanes],
    pub block: &'a mut Block,
}

impl Body for FillPairs<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let spread = self.term.fill::<A, W>(self.x, self.points, self.block);
        let Some(factors) = self.absent.factors else {
            return spread;
        };
        self.block.set_absent::<W>(self.term.players.iter().map(|&player| factors[player]));
        self.block.spread_of_fractions::<A, W>()
    }
}

/// Adds a term's values to the pairs'.
pub(crate) struct AddTerm<'a> {
    pub term: &'a PackedTerm,
    pub block: &'a Block,
    pub gamma: &'a mut [Lanes],
}

impl Body for AddTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let coefficient = Lanes([self.term.coefficient; LANES]);
        let values = self.block.omega.iter().zip(&self.block.difference);
        for ((omega, difference), &player) in values.zip(&self.term.players) {
            let value = omega.times::<W>(difference);
            self.gamma[player].add_product::<A, W>(&value, &coefficient);
        }
    }
}

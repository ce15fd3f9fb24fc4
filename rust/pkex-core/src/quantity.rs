//! What is computed of each game of a block.

use crate::arithmetic::Arithmetic;
use crate::block::{Block, Scaling, Spread};
use crate::nodes::{NodeTable, Rule};
use crate::pool::Stop;
use crate::quadrature::{self, Prefixes};
use crate::recursion::{self, Rows};
use crate::simd::{Body, Level};

/// What is computed of each game.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quantity<'a> {
    /// Shapley values by quadrature.
    ShapleyByQuadrature(&'a NodeTable),
    /// Shapley values by the recursion.
    ShapleyByRecursion,
    /// Banzhaf values: the integrand at t = ½, given as a rule.
    Banzhaf(&'a Rule),
    /// The worth of the grand coalition, as if it were one player's value.
    GrandCoalition,
}

impl Quantity<'_> {
    /// Players of the result, for games of `players` players.
    pub fn players(self, players: usize) -> usize {
        match self {
            Self::GrandCoalition => 1,
            _ => players,
        }
    }
}

/// Room for the computation, kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    prefixes: Prefixes,
    rows: Rows,
}

impl Quantity<'_> {
    /// Ω of each game of a block, player by player, from factors of that spread. Factors that could
    /// leave the range are scaled; then `omega` holds c Ω, and c becomes 1.
    pub fn evaluate(
        self,
        spread: &Spread,
        block: &mut Block,
        scratch: &mut Scratch,
        (level, stop): (Level, &Stop),
    ) {
        let scaling = Scaling::apply(block, spread);
        let Scratch { prefixes, rows } = scratch;
        match self {
            Self::GrandCoalition => level.run(GrandCoalition { block }),
            Self::ShapleyByRecursion => level.run(ByRecursion { block, rows, stop }),
            Self::Banzhaf(rule) => level.run(ByQuadrature { rule, block, prefixes }),
            Self::ShapleyByQuadrature(table) => {
                let rule = table.rule(spread.lambda, spread.mixed_signs);
                level.run(ByQuadrature { rule, block, prefixes });
            }
        }
        if let Some(scaling) = scaling {
            scaling.undo(block);
        }
    }
}

// Each is compiled by itself: in one large function the compiler unrolls and keeps in registers
// less than it could.

struct GrandCoalition<'a> {
    block: &'a mut Block,
}

impl Body for GrandCoalition<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        self.block.grand_coalition::<W>();
    }
}

struct ByRecursion<'a> {
    block: &'a mut Block,
    rows: &'a mut Rows,
    stop: &'a Stop,
}

impl Body for ByRecursion<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        recursion::omega::<A, W>(self.block, self.rows, self.stop);
    }
}

struct ByQuadrature<'a> {
    rule: &'a Rule,
    block: &'a mut Block,
    prefixes: &'a mut Prefixes,
}

impl Body for ByQuadrature<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        quadrature::omega::<A, W>(self.rule, self.block, self.prefixes);
    }
}

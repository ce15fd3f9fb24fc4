//! Interventional games of pairs: v(S) is the mean over background rows z of the quadratic form
//! with the features outside S set to z's.
//!
//! The factors of a row, a background row and all points are computed once for many pairs.

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, fill_block_against};
use crate::expansion::interventional::{BetweenRows, Interventional};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::term::FillTerm;
use crate::memory::Memory;
use crate::quadratic::factors::SingleFactors;
use crate::quadratic::games::{AbsentFromPairs, PairsOfRow};
use crate::quadratic::pairs::Pairs;
use crate::quadratic::products::MultiplyBoth;
use crate::settings::Context;

/// The factors of a row against a background row, and room for those that they are made from.
#[derive(Debug, Default)]
pub(crate) struct FactorsBetweenRows {
    singles: SingleFactors,
    present: Block,
    absent: AbsentFactors,
}

impl AbsentFromPairs for Interventional<'_> {
    type Cache = FactorsBetweenRows;

    fn alternatives(&self) -> usize {
        self.background.rows.rows()
    }

    fn share(&self, z: usize) -> f64 {
        self.background.weights[z]
    }

    fn reserve(
        &self,
        (expansion, _): (&PackedExpansion, &Pairs),
        _blocks: usize,
        cache: &mut FactorsBetweenRows,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = expansion.players();
        cache.present.reserve(players, 0, memory)?;
        cache.absent.reserve((players, 0), memory)?;
        cache.singles.reserve(expansion.evaluation_blocks(), players, memory)
    }

    fn fill(
        &self,
        at: &PairsOfRow<'_>,
        block: &mut Block,
        cache: &mut FactorsBetweenRows,
        context: Context<'_>,
    ) -> Spread {
        let FactorsBetweenRows { singles, present, absent } = cache;
        let (x, z) = (at.x, self.background.rows.row(at.alternative));
        for number in singles.missing([at.item, at.alternative], at.pair).into_iter().flatten() {
            let (term, points) = at.expansion.term_and_points(number);
            context.run(FillTerm { term, row: z, points, block: present });
            absent.factor.clone_from(&present.present);
            absent.less_one.clone_from(&present.difference);
            context.run(FillTerm { term, row: x, points, block: present });
            let contrast = BetweenRows { term, x, z, points };
            fill_block_against(present, absent, singles.block_mut(number), &contrast, context);
        }
        let singles = singles.of_pair(at.pair);
        context.run(MultiplyBoth { singles, at, block })
    }
}

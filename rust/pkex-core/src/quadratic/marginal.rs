//! Marginal games of pairs: each feature outside S is drawn from the background on its own.
//!
//! The absent factor of a pair (p, q) is the mean of k(z, p) k(z, q) over background rows z: that
//! of the product, not the product of the means, as the game is the mean of the quadratic form.

use std::ops::Range;

use crate::error::Error;
use crate::expansion::absent::{AbsentFactors, Contrast, fill_block_against};
use crate::expansion::background::Background;
use crate::expansion::marginal::{LOSS_OF_MEANS, mean_contrast};
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::joint::Compared;
use crate::kernel::term::ContrastOfPlayer;
use crate::memory::Memory;
use crate::quadratic::factors::SingleFactors;
use crate::quadratic::games::{AbsentFromPairs, PairsOfRow};
use crate::quadratic::means::MeanSums;
use crate::quadratic::pairs::Pairs;
use crate::quadratic::products::{MultiplyContrasts, MultiplyPresent};
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};

/// Values of background rows, each feature's of a row of its own.
pub(crate) struct MarginalOfPairs<'a> {
    pub background: Background<'a>,
}

/// The mean factors of a tile, and the factors of a row.
#[derive(Debug, Default)]
pub(crate) struct PairMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    sums: MeanSums,
    singles: SingleFactors,
    products: Block,
}

impl AbsentFromPairs for MarginalOfPairs<'_> {
    type Cache = PairMeans;

    fn preparation(&self) -> usize {
        self.background.rows.rows()
    }

    fn reserve(
        &self,
        (expansion, _): (&PackedExpansion, &Pairs),
        blocks: usize,
        cache: &mut PairMeans,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = expansion.players();
        cache.sums.reserve(expansion, blocks, memory)?;
        cache.products.reserve(players, 0, memory)?;
        cache.singles.reserve(expansion.evaluation_blocks(), players, memory)?;
        AbsentFactors::reserve_all(&mut cache.means, blocks, (players, 0), memory)
    }

    fn prepare(
        &self,
        of: (&PackedExpansion, &Pairs),
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut PairMeans,
    ) {
        cache.first = blocks.start;
        cache.sums.means(of, blocks, self.background, context, &mut cache.means);
    }

    fn fill(
        &self,
        at: &PairsOfRow<'_>,
        block: &mut Block,
        cache: &mut PairMeans,
        context: Context<'_>,
    ) -> Spread {
        let PairMeans { first, means, singles, products, .. } = cache;
        let singles = at.singles(singles, context);
        context.run(MultiplyPresent { singles, at, block: products });
        let contrast = FromMeanOfPairs { background: self.background, at, singles };
        fill_block_against(products, &means[at.index - *first], block, &contrast, context)
    }
}

/// The mean of k(x, p) k(x, q) − k(z, p) k(z, q) over background rows z.
struct FromMeanOfPairs<'a> {
    background: Background<'a>,
    at: &'a PairsOfRow<'a>,
    /// The factors of the one evaluation, and of the others.
    singles: [&'a Block; 2],
}

impl Contrast for FromMeanOfPairs<'_> {
    fn loss(&self) -> f64 {
        LOSS_OF_MEANS
    }

    fn of_player(&self, player: usize, found: &Lanes, context: Context<'_>) -> Lanes {
        let PairsOfRow { pair, union, .. } = *self.at;
        let places = union.places[player];
        mean_contrast(found, self.background, context, |lane, first| {
            let one = self.single(0, pair.one, places[0], first, context);
            let others = self.single(1, (pair.others, lane), places[1], first, context);
            [context.run(MultiplyContrasts([one, others])), Lanes::ZERO]
        })
    }

    fn of_series(&self, _: usize, _: &[bool; LANES], _: &mut [Lanes], _: Context<'_>) {
        // No term of pairs is a power series.
    }
}

impl FromMeanOfPairs<'_> {
    /// k(x, p), k(z, p) and k(x, p) − k(z, p) of a player at its place in one of the evaluations,
    /// for background rows z from number `first`.
    fn single(
        &self,
        which: usize,
        (block, lane): (usize, usize),
        place: Option<usize>,
        first: usize,
        context: Context<'_>,
    ) -> [Lanes; 3] {
        let Some(player) = place else { return [Lanes::ONE, Lanes::ONE, Lanes::ZERO] };
        let (term, points) = self.at.expansion.term_and_points(block);
        let z = (self.background.rows, first);
        let compared = Compared::Rows { x: self.at.x, z, point: (points, lane) };
        let [high, low] = context.run(ContrastOfPlayer { term, player, compared });
        let difference = Lanes(zip_lanes(&high.0, &low.0, |high, low| high + low));
        let present = self.singles[which].present[player].0[lane];
        let absent = Lanes(map_lanes(&difference.0, |c| present - c));
        [Lanes([present; LANES]), absent, difference]
    }
}

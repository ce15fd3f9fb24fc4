//! Marginal games of quadratic forms: absent features are drawn from the background independently of
//! each other.
//!
//! The absent factor of the product of p and q is the mean of k(z, p) k(z, q), and not the product
//! of the means, because the game is the mean of the form (`squares` has the form of the means).

use std::ops::Range;

use crate::absent::against::fill_block_against;
use crate::absent::background::Background;
use crate::absent::contrast::{Contrast, LOSS_OF_MEANS, mean_contrast};
use crate::absent::factors::AbsentFactors;
use crate::absent::games::{Absent, Alternatives};
use crate::absent::node_means::NodeMeans;
use crate::absent::product_means::ProductMeanSums;
use crate::absent::sample_rules::SampleRules;
use crate::error::Error;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed::RowPlace;
use crate::evaluations::products::{MultiplyContrasts, MultiplyPresent, ProductBlock, Products};
use crate::game::block::{Block, FactorCount};
use crate::game::spread::Spread;
use crate::kernel::joint::Compared;
use crate::kernel::term::ContrastOfPlayer;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::sum::Accumulator;
use crate::walk::triangle::EvaluationPlace;

/// The values of background rows, each feature drawn independently.
pub(crate) struct MarginalProducts<'a> {
    background: Background<'a>,
    /// Rules for its columns, if they suffice.
    rules: Option<SampleRules>,
}

impl<'a> MarginalProducts<'a> {
    /// Absent factors over a background.
    pub fn new(products: &Products<'_>, background: Background<'a>) -> Result<Self, Error> {
        let rules = SampleRules::new((products.expansion, products.form), background)?;
        Ok(Self { background, rules })
    }
}

impl Alternatives for MarginalProducts<'_> {}

/// The means of a tile, and the present factors of a block.
#[derive(Debug, Default)]
pub(crate) struct ProductMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    of_rows: ProductMeanSums,
    of_nodes: NodeMeans,
    present: Block,
}

impl<'a> Absent<Products<'a>> for MarginalProducts<'_> {
    type Cache = ProductMeans;

    fn preparation(&self) -> usize {
        self.rules.as_ref().map_or(self.background.rows.rows(), SampleRules::most_nodes)
    }

    fn prepared_bytes(&self, _: &Products<'a>) -> usize {
        // The factors, and the sums from which they are computed.
        AbsentFactors::bytes(0) + 2 * size_of::<Accumulator>()
    }

    fn reserve(
        &self,
        products: &Products<'a>,
        blocks: usize,
        cache: &mut Self::Cache,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = products.expansion.players();
        match &self.rules {
            Some(rules) => cache.of_nodes.reserve(players, rules.most_nodes(), memory)?,
            None => cache.of_rows.reserve(products.expansion, blocks, memory)?,
        }
        cache.present.reserve(players, 0, memory)?;
        let of_block = FactorCount::numbers(players);
        AbsentFactors::reserve_all(&mut cache.means, blocks, of_block, memory)
    }

    fn prepare(
        &self,
        products: &Products<'a>,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut Self::Cache,
    ) {
        let ProductMeans { first, means, of_rows, of_nodes, .. } = cache;
        *first = blocks.start;
        if let Some(rules) = &self.rules {
            of_nodes.means(products, rules, blocks, context, means);
        } else {
            let Products { expansion, form } = *products;
            of_rows.means((expansion, form), blocks, self.background, context, means);
        }
    }

    fn fill(
        &self,
        products: &Products<'a>,
        at: RowPlace<'_>,
        block: &mut Block,
        (factors, cache): (&mut <Products<'a> as Evaluations>::Cache, &mut Self::Cache),
        context: Context<'_>,
    ) -> Spread {
        let ProductMeans { first, means, present, .. } = cache;
        let of = products.of_block(at.block);
        let singles = products.singles(at, factors, context);
        context.run(MultiplyPresent { singles, of, block: present });
        let contrast =
            FromMeanProduct { background: self.background, products, x: at.x, of, singles };
        fill_block_against(present, &means[at.index - *first], block, &contrast, context)
    }
}

/// The contrast that is the mean of k(x, p) k(x, q) − k(z, p) k(z, q) over background rows z.
struct FromMeanProduct<'a> {
    background: Background<'a>,
    products: &'a Products<'a>,
    x: &'a [f64],
    of: ProductBlock<'a>,
    /// The present factors of the one evaluation, and of its partners.
    singles: [&'a Block; 2],
}

impl Contrast for FromMeanProduct<'_> {
    fn loss(&self) -> f64 {
        LOSS_OF_MEANS
    }

    fn of_player(&self, player: usize, wanted: &[bool; LANES], context: Context<'_>) -> Lanes {
        let ProductBlock { partners, union } = self.of;
        let places = union.places[player];
        mean_contrast(wanted, self.background, context, |lane, first| {
            let place = EvaluationPlace { block: partners.others, lane };
            let one = self.single(0, partners.one, places[0], first, context);
            let others = self.single(1, place, places[1], first, context);
            [context.run(MultiplyContrasts([one, others])), Lanes::ZERO]
        })
    }

    fn of_series(&self, _: usize, _: &[bool; LANES], _: &mut [Lanes], _: Context<'_>) {
        // Quadratic forms have no terms that are power series.
    }
}

impl FromMeanProduct<'_> {
    /// k(x, p), k(z, p) and k(x, p) − k(z, p) of a player at its place in one of the evaluations,
    /// for background rows z from number `first`.
    fn single(
        &self,
        which: usize,
        EvaluationPlace { block, lane }: EvaluationPlace,
        place: Option<usize>,
        first: usize,
        context: Context<'_>,
    ) -> [Lanes; 3] {
        let Some(player) = place else { return [Lanes::ONE, Lanes::ONE, Lanes::ZERO] };
        let (term, points) = self.products.expansion.term_and_points(block);
        let z = (self.background.rows, first);
        let compared = Compared::Rows { x: self.x, z, point: (points, lane) };
        let [high, low] = context.run(ContrastOfPlayer { term, player, compared });
        let difference = Lanes(zip_lanes(&high.0, &low.0, |high, low| high + low));
        let present = self.singles[which].present[player].0[lane];
        let absent = Lanes(map_lanes(&difference.0, |c| present - c));
        [Lanes([present; LANES]), absent, difference]
    }
}

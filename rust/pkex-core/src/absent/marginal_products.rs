//! Marginal games of quadratic forms: absent features are drawn from the background independently of
//! each other.
//!
//! The absent factor of the product of p and q is the mean of k(z, p) k(z, q), and not the product
//! of the means, because the game is the mean of the form (`squares` has the form of the means).

use std::ops::Range;

use crate::absent::background::{Background, ConstantColumns};
use crate::absent::blocks::fill_from_block;
use crate::absent::contrast::{Contrast, LOSS_OF_MEANS, Sample, mean_contrast};
use crate::absent::factors::AbsentFactors;
use crate::absent::games::{Absent, Alternatives};
use crate::absent::node_means::NodeMeans;
use crate::absent::product_means::ProductMeanSums;
use crate::absent::sample_rules::SampleRules;
use crate::error::Error;
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed_expansion::RowPlace;
use crate::evaluations::products::{MultiplyContrasts, MultiplyPresent, ProductBlock, Products};
use crate::game::block::{Block, FactorCount};
use crate::game::spread::Spread;
use crate::kernel::term::{ContrastOfPlayer, PackedTerm};
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, map_lanes, zip_lanes};
use crate::simd::sum::Accumulator;
use crate::threads::Monitor;
use crate::walk::triangle::EvaluationPlace;

/// The values of background rows, each feature drawn independently.
pub(crate) struct MarginalProducts<'a> {
    background: Background<'a>,
    /// Rules for its columns, if they suffice.
    rules: Option<SampleRules>,
    constant: ConstantColumns,
}

impl<'a> MarginalProducts<'a> {
    /// Absent factors over a background.
    pub fn new(
        products: &Products<'_>,
        background: Background<'a>,
        monitor: Monitor<'_>,
    ) -> Result<Self, Error> {
        let rules = SampleRules::new((products.expansion, products.form), background, monitor)?;
        Ok(Self { background, rules, constant: ConstantColumns::of(background) })
    }

    /// The sample over which the factors of two terms at a player's places are averaged.
    fn sample(&self, terms: [&PackedTerm; 2], places: [Option<usize>; 2]) -> Sample<'_> {
        let nodes = self.rules.as_ref().and_then(|rules| rules.nodes_of(terms, places));
        nodes.map_or(Sample::Rows(self.background), Sample::Nodes)
    }
}

impl Alternatives for MarginalProducts<'_> {}

/// The means of a tile, and the present factors of a block.
#[derive(Debug, Default)]
pub(crate) struct ProductMeans {
    first: usize,
    means: Vec<AbsentFactors>,
    row_sums: ProductMeanSums,
    node_means: NodeMeans,
    present: Block,
}

impl<'a> Absent<Products<'a>> for MarginalProducts<'_> {
    type Cache = ProductMeans;

    fn preparation(&self) -> usize {
        self.rules.as_ref().map_or(self.background.rows.rows(), SampleRules::max_nodes)
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
            Some(rules) => cache.node_means.reserve(players, rules.max_nodes(), memory)?,
            None => cache.row_sums.reserve(products.expansion, blocks, memory)?,
        }
        cache.present.reserve(players, 0, memory)?;
        let counts = FactorCount::numbers(players);
        AbsentFactors::reserve_all(&mut cache.means, blocks, counts, memory)
    }

    fn prepare(
        &self,
        products: &Products<'a>,
        blocks: Range<usize>,
        context: Context<'_>,
        cache: &mut Self::Cache,
    ) {
        let ProductMeans { first, means, row_sums, node_means, .. } = cache;
        *first = blocks.start;
        if let Some(rules) = &self.rules {
            node_means.means(products, rules, blocks, context, means);
        } else {
            let Products { expansion, form } = *products;
            row_sums.means((expansion, form), blocks, self.background, context, means);
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
        let product_block = products.of_block(at.block);
        let singles = products.singles(at, factors, context);
        context.run(MultiplyPresent { singles, product_block, block: present });
        let contrast = FromMeanProduct { absent: self, products, x: at.x, product_block, singles };
        fill_from_block(present, &means[at.index - *first], block, &contrast, context)
    }
}

/// The contrast that is the mean of k(x, p) k(x, q) − k(z, p) k(z, q) over a sample of z.
struct FromMeanProduct<'a> {
    absent: &'a MarginalProducts<'a>,
    products: &'a Products<'a>,
    x: &'a [f64],
    product_block: ProductBlock<'a>,
    /// The present factors of the one evaluation, and of its partners.
    singles: [&'a Block; 2],
}

impl Contrast for FromMeanProduct<'_> {
    fn loss(&self) -> f64 {
        LOSS_OF_MEANS
    }

    fn of_player(&self, player: usize, mask: &[bool; LANES], context: Context<'_>) -> Lanes {
        let ProductBlock { partners, union } = self.product_block;
        let (places, blocks) = (union.places[player], [partners.one.block, partners.block]);
        let terms = blocks.map(|block| self.products.expansion.term_and_points(block).0);
        let columns = |i: usize| places[i].into_iter().flat_map(move |at| terms[i].columns_of(at));
        if self.absent.constant.are_of(self.x, columns(0).chain(columns(1))) {
            return Lanes::ZERO;
        }
        let sample = self.absent.sample(terms, places);
        mean_contrast(mask, sample, context, |lane, first| {
            let place = EvaluationPlace { block: partners.block, lane };
            let one = self.single(0, partners.one, places[0], (sample, first), context);
            let other = self.single(1, place, places[1], (sample, first), context);
            [context.run(MultiplyContrasts([one, other])), Lanes::ZERO]
        })
    }

    fn of_series(&self, _: usize, _: &[bool; LANES], _: &mut [Lanes], _: Context<'_>) {
        // Quadratic forms have no terms that are power series.
    }
}

impl FromMeanProduct<'_> {
    /// k(x, p), k(z, p) and k(x, p) − k(z, p) of a player at its place in one of the evaluations,
    /// for z from number `first` of a sample.
    fn single(
        &self,
        side: usize,
        EvaluationPlace { block, lane }: EvaluationPlace,
        place: Option<usize>,
        (sample, first): (Sample<'_>, usize),
        context: Context<'_>,
    ) -> [Lanes; 3] {
        let Some(player) = place else { return [Lanes::ONE, Lanes::ONE, Lanes::ZERO] };
        let (term, points) = self.products.expansion.term_and_points(block);
        let operands = sample.operands(self.x, first, (points, lane));
        let [high, low] = context.run(ContrastOfPlayer { term, player, operands });
        let difference = Lanes(zip_lanes(&high.0, &low.0, |high, low| high + low));
        let present = self.singles[side].present[player].0[lane];
        let absent = Lanes(map_lanes(&difference.0, |c| present - c));
        [Lanes([present; LANES]), absent, difference]
    }
}

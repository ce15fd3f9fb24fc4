//! The evaluations of a quadratic form: products of two evaluations of single points.

use crate::error::Error;
use crate::evaluations::kind::{BlockAlternative, Evaluations};
use crate::evaluations::packed_expansion::{PackedExpansion, RowPlace};
use crate::evaluations::quadratic_form::{QuadraticForm, Union};
use crate::evaluations::single_factors::{RowAlternative, SingleFactors};
use crate::game::block::{AbsentFactor, Block};
use crate::game::spread::Spread;
use crate::kernel::product::{multiply_contrasts, multiply_factors};
use crate::kernel::term::FillTerm;
use crate::memory::Memory;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};
use crate::simd::level::Body;
use crate::walk::triangle::Partners;

/// Products of two evaluations of an expansion.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a> {
    pub expansion: &'a PackedExpansion,
    pub form: &'a QuadraticForm,
}

/// An evaluation and sixteen partners, and the players of their terms.
#[derive(Clone, Copy)]
pub(crate) struct ProductBlock<'a> {
    pub partners: Partners,
    pub union: &'a Union,
}

impl<'a> Products<'a> {
    /// The evaluations of a block, and their players.
    pub fn of_block(&self, block: usize) -> ProductBlock<'a> {
        let partners = self.form.locate(block);
        ProductBlock { partners, union: self.form.union(partners) }
    }

    /// The factors between a row and the points of a block; absent factors are 1.
    pub fn singles<'f>(
        &self,
        at: RowPlace<'_>,
        factors: &'f mut SingleFactors,
        context: Context<'_>,
    ) -> [&'f Block; 2] {
        let partners = self.form.locate(at.block);
        let row = RowAlternative { item: at.item, alternative: 0 };
        for number in factors.missing(row, partners).into_iter().flatten() {
            let (term, points) = self.expansion.term_and_points(number);
            let block = factors.block_mut(number);
            context.run(FillTerm { term, row: at.x, points, block });
        }
        factors.of_partners(partners)
    }
}

impl Evaluations for Products<'_> {
    type Cache = SingleFactors;

    fn expansion(&self) -> &PackedExpansion {
        self.expansion
    }

    fn outputs(&self) -> usize {
        self.form.outputs()
    }

    fn blocks(&self) -> usize {
        self.form.blocks()
    }

    fn alternatives_adjoin(&self) -> bool {
        // The blocks of an alternative are computed from the same factors.
        false
    }

    fn locate(&self, index: usize, _alternatives: usize) -> BlockAlternative {
        let blocks = self.form.blocks();
        BlockAlternative { block: index % blocks, alternative: index / blocks }
    }

    fn reserve(&self, factors: &mut SingleFactors, memory: &Memory) -> Result<(), Error> {
        factors.reserve(self.expansion.evaluation_blocks(), self.expansion.players(), memory)
    }

    fn fill(
        &self,
        at: RowPlace<'_>,
        block: &mut Block,
        factors: &mut SingleFactors,
        context: Context<'_>,
    ) -> Spread {
        let singles = self.singles(at, factors, context);
        context.run(MultiplyPresent { singles, product_block: self.of_block(at.block), block })
    }

    fn players(&self, block: usize) -> &[usize] {
        &self.of_block(block).union.players
    }

    fn weights(&self, block: usize, share: f64) -> impl Iterator<Item = (usize, Lanes)> {
        let partners = self.form.locate(block);
        let weights = move |output| (output, self.form.weights(partners, output, share));
        (0..self.form.outputs()).map(weights)
    }
}

/// Two kinds of factors of the one evaluation, and of the sixteen others.
type Factors<'a> = ([f64; 2], [&'a Lanes; 2]);

/// Fills a block with products of present factors; absent factors are 1.
pub(crate) struct MultiplyPresent<'a> {
    pub singles: [&'a Block; 2],
    pub product_block: ProductBlock<'a>,
    pub block: &'a mut Block,
}

impl Body for MultiplyPresent<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { singles, product_block: ProductBlock { partners, union }, block } = self;
        block.begin(union.players.len(), AbsentFactor::One);
        let mut sums = Lanes::ZERO;
        for (player, &places) in union.places.iter().enumerate() {
            let present = singles.map(|single| [&single.present, &single.difference]);
            let ([a, c], [other_a, other_c]) = factors(places, partners.one.lane, present);
            for part in 0..LANES / W {
                let other = (other_a.part(part), other_c.part(part));
                let (product, less_one) = multiply_factors::<A, W>((&[a; W], &[c; W]), other);
                let sum = sums.part_mut(part);
                *sum = zip_lanes(sum, &less_one, |sum, c| sum - c);
                *block.present[player].part_mut(part) = product;
                *block.difference[player].part_mut(part) = less_one;
            }
        }
        Spread::of_unit_factors(&sums)
    }
}

/// Fills a block with products of present and of absent factors.
pub(crate) struct MultiplyBoth<'a> {
    pub singles: [&'a Block; 2],
    pub product_block: ProductBlock<'a>,
    pub block: &'a mut Block,
}

impl Body for MultiplyBoth<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { singles, product_block: ProductBlock { partners, union }, block } = self;
        block.begin(union.players.len(), AbsentFactor::Each);
        for (player, &places) in union.places.iter().enumerate() {
            let present = singles.map(|single| [&single.present, &single.difference]);
            let absent = singles.map(|single| [&single.absent, &single.difference]);
            let ([a, c], [other_a, other_c]) = factors(places, partners.one.lane, present);
            // If a term does not compare a player, its absent and present factors are 1.
            let ([b, _], [other_b, _]) = factors(places, partners.one.lane, absent);
            for part in 0..LANES / W {
                let one = [&[a; W], &[b; W], &[c; W]];
                let other = [other_a.part(part), other_b.part(part), other_c.part(part)];
                let [present, absent, difference] = multiply_contrasts::<A, W>(one, other);
                *block.present[player].part_mut(part) = present;
                *block.absent[player].part_mut(part) = absent;
                *block.difference[player].part_mut(part) = difference;
            }
        }
        block.spread_of_fractions::<A, W>()
    }
}

/// Computes the difference a a′ − b b′ from a, b and c = a − b of each of two factors.
pub(crate) struct MultiplyContrasts(pub [[Lanes; 3]; 2]);

impl Body for MultiplyContrasts {
    type Output = Lanes;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Lanes {
        let Self([one, other]) = self;
        let mut difference = Lanes::ZERO;
        for part in 0..LANES / W {
            let parts = |factors: &'_ [Lanes; 3]| -> [[f64; W]; 3] {
                [0, 1, 2].map(|kind| *factors[kind].part(part))
            };
            let (one, other) = (parts(&one), parts(&other));
            let [_, _, c] = multiply_contrasts::<A, W>(one.each_ref(), other.each_ref());
            *difference.part_mut(part) = c;
        }
        difference
    }
}

/// The factors of a player at its places; 1 and 0 if a term does not compare it.
#[inline(always)]
fn factors(
    places: [Option<usize>; 2],
    lane: usize,
    [one, partners]: [[&Vec<Lanes>; 2]; 2],
) -> Factors<'_> {
    (
        places[0].map_or([1.0, 0.0], |place| one.map(|values| values[place].0[lane])),
        places[1]
            .map_or([&Lanes::ONE, &Lanes::ZERO], |place| partners.map(|values| &values[place])),
    )
}

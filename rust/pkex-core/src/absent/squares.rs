//! Marginal games of squares (Σᵢ αᵢ k(x, xᵢ))².
//!
//! The value of a coalition is the square of its value in the marginal game of the sum, so the
//! absent factor of the product of p and q is the product of the mean factors of p and of q. With a
//! target as an additional constant, this is the squared error of a prediction.

use crate::absent::background_means::BackgroundMeans;
use crate::absent::blocks::fill_from_block;
use crate::absent::games::{Absent, Alternatives};
use crate::absent::marginal::{FromMean, Marginal};
use crate::error::Error;
use crate::evaluations::packed_expansion::RowPlace;
use crate::evaluations::products::{MultiplyBoth, Products};
use crate::evaluations::single_factors::{RowAlternative, SingleFactors};
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::term::FillTerm;
use crate::memory::Memory;
use crate::settings::Context;

/// Products of mean factors.
pub(crate) struct MarginalSquares<'a> {
    marginal: Marginal<'a>,
    means: &'a BackgroundMeans,
}

impl<'a> MarginalSquares<'a> {
    /// Absent factors with the means of an expansion.
    pub fn new(means: &'a BackgroundMeans) -> Self {
        Self { marginal: Marginal::new(means.background(), None), means }
    }
}

impl Alternatives for MarginalSquares<'_> {}

impl<'a> Absent<Products<'a>> for MarginalSquares<'_> {
    /// The present factors of a row with a block of points.
    type Cache = Block;

    fn reserve(
        &self,
        products: &Products<'a>,
        _blocks: usize,
        present: &mut Block,
        memory: &Memory,
    ) -> Result<(), Error> {
        present.reserve(products.expansion.players(), 0, memory)
    }

    fn fill(
        &self,
        products: &Products<'a>,
        at: RowPlace<'_>,
        block: &mut Block,
        (singles, present): (&mut SingleFactors, &mut Block),
        context: Context<'_>,
    ) -> Spread {
        let product_block = products.of_block(at.block);
        let row = RowAlternative { item: at.item, alternative: at.alternative };
        for number in singles.missing(row, product_block.partners).into_iter().flatten() {
            let (term, points) = products.expansion.term_and_points(number);
            context.run(FillTerm { term, row: at.x, points, block: present });
            let contrast = FromMean { absent: &self.marginal, term, x: at.x, points };
            let absent = self.means.of_block(number);
            fill_from_block(present, absent, singles.block_mut(number), &contrast, context);
        }
        let singles = singles.of_partners(product_block.partners);
        context.run(MultiplyBoth { singles, product_block, block })
    }
}

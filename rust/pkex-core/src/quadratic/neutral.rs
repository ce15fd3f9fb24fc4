//! Neutral games of pairs: the factors of absent features are 1.

use crate::error::Error;
use crate::expansion::neutral::Neutral;
use crate::expansion::packed::PackedExpansion;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::memory::Memory;
use crate::quadratic::factors::SingleFactors;
use crate::quadratic::games::{AbsentFromPairs, PairsOfRow};
use crate::quadratic::pairs::Pairs;
use crate::quadratic::products::MultiplyPresent;
use crate::settings::Context;

impl AbsentFromPairs for Neutral {
    type Cache = SingleFactors;

    fn reserve(
        &self,
        (expansion, _): (&PackedExpansion, &Pairs),
        _blocks: usize,
        factors: &mut SingleFactors,
        memory: &Memory,
    ) -> Result<(), Error> {
        factors.reserve(expansion.evaluation_blocks(), expansion.players(), memory)
    }

    fn fill(
        &self,
        at: &PairsOfRow<'_>,
        block: &mut Block,
        factors: &mut SingleFactors,
        context: Context<'_>,
    ) -> Spread {
        let singles = at.singles(factors, context);
        context.run(MultiplyPresent { singles, at, block })
    }
}

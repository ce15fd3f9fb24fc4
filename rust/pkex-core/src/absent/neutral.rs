//! Neutral games: the factors of absent features are 1.
//!
//! The neutral game of a row x (the PKeX-Shapley paper's, its definition 2) is
//! v(S) = Σᵢ αᵢ ∏_{j∈S} kⱼ(xⱼ, xᵢⱼ), term by term for a kernel that is a sum of products.

use crate::absent::games::{Absent, Alternatives};
use crate::evaluations::kind::Evaluations;
use crate::evaluations::packed_expansion::RowPlace;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::settings::Context;

/// Absent factors of 1.
pub(crate) struct Neutral;

impl Alternatives for Neutral {}

impl<E: Evaluations> Absent<E> for Neutral {
    type Cache = ();

    fn factor_bytes(&self, _: &E) -> usize {
        0
    }

    fn fill(
        &self,
        evaluations: &E,
        at: RowPlace<'_>,
        block: &mut Block,
        (cache, ()): (&mut E::Cache, &mut ()),
        context: Context<'_>,
    ) -> Spread {
        evaluations.fill(at, block, cache, context)
    }
}

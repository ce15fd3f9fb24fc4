//! Neutral games: the factors of absent features are 1.
//!
//! The neutral game of a row x (the PKeX-Shapley paper's, its definition 2) is
//! v(S) = Σᵢ αᵢ ∏_{j∈S} kⱼ(xⱼ, xᵢⱼ), term by term for a kernel that is a sum of products.

use crate::expansion::games::{Absent, Evaluation};
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::doubling::Rung;
use crate::settings::Context;

/// Nothing: factors are 1.
pub(crate) struct Neutral;

impl Absent for Neutral {
    type Cache = ();

    fn has_factors(&self) -> bool {
        false
    }

    fn fill(
        &self,
        at: &Evaluation<'_>,
        rung: Option<Rung<'_>>,
        block: &mut Block,
        (): &mut (),
        context: Context<'_>,
    ) -> Spread {
        at.fill_own(rung, block, context)
    }
}

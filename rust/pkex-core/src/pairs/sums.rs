//! Sums over all pairs of rows of a sample: what MMD and HSIC and their attributions are made of.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once, in tiles whose plain sums (of
//! some hundred numbers) are added up in tile order. A row's pair with itself is left out (of power
//! series it counts for half in all pairs of the row: see `own`). Memory: the results, and the sums
//! of a wave of tiles.

use crate::error::Error;
use crate::memory::Memory;
use crate::pairs::packed::PackedPairs;
use crate::pairs::problem::{PairProblem, PairSums};
use crate::pairs::tiles::TileSums;
use crate::pairs::totals::Totals;
use crate::pairs::workspace::PairWorkspace;
use crate::settings::Settings;
use crate::threads::Monitor;

impl PairProblem<'_> {
    /// Computes the sums.
    ///
    /// # Errors
    /// If shapes do not fit, groups are not as described, a sum overflows, or the monitor stops.
    pub fn sums(&self, settings: &Settings, monitor: Monitor<'_>) -> Result<PairSums, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        let memory = Memory::default();
        let mut totals = Totals::new(&packed, &memory)?;
        packed.walk(&chunks, settings)?.run(
            (
                |tile| packed.bytes(tile),
                |tile, sums: &mut TileSums| sums.reserve(&packed, tile, &memory),
            ),
            || PairWorkspace::new(&packed, &chunks, &memory),
            |workspace, tile, sums, context| packed.add_up(tile, context, workspace, sums),
            |tile, sums| totals.add(&packed, tile, sums, settings.summation),
            &memory,
            monitor,
        )?;
        totals.finish(&packed)
    }
}

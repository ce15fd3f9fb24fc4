//! Sums over all pairs of rows of a sample: what MMD and HSIC and their attributions are made of.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once, in tiles whose plain sums (of
//! some hundred numbers) are added up in tile order. A row's pair with itself is left out (of power
//! series it counts for half in all pairs of the row: see `own`). Memory: the results, and the sums
//! of a wave of tiles.
//!
//! Tiles may also be computed apart, perhaps on other machines, and put together tile by tile in their
//! order: the bits are those of the sums computed at once.

use std::ops::Range;

use crate::error::Error;
use crate::memory::{Memory, PAIRS};
use crate::pairs::packed::PackedPairs;
use crate::pairs::problem::{PairProblem, PairSums};
use crate::pairs::tiles::TileSums;
use crate::pairs::totals::Totals;
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
            &packed,
            |tile, sums| totals.add(&packed, tile, sums, settings.summation),
            &memory,
            monitor,
        )?;
        totals.finish(&packed)
    }

    /// The number of tiles that the pairs come in.
    ///
    /// # Errors
    /// As [`PairProblem::sums`].
    pub fn tile_count(&self, settings: &Settings) -> Result<usize, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        Ok(packed.walk(&chunks, settings)?.tiles().len())
    }

    /// The plain sums of some tiles, one tile after the other, for [`PairProblem::sums_of_parts`].
    ///
    /// # Errors
    /// As [`PairProblem::sums`].
    pub fn tile_sums(
        &self,
        tiles: Range<usize>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        let memory = Memory::default();
        let walk = packed.walk(&chunks, settings)?.within(tiles);
        let bytes: usize = walk.tiles().iter().map(|tile| packed.bytes(*tile)).sum();
        let mut found = Vec::new();
        memory.reserve(&mut found, bytes / size_of::<f64>(), PAIRS)?;
        walk.run(
            &packed,
            |_, sums| sums.parts().into_iter().for_each(|part| found.extend_from_slice(part)),
            &memory,
            monitor,
        )?;
        Ok(found)
    }

    /// The sums over all tiles, which come in parts: what [`PairProblem::tile_sums`] has of the
    /// first tiles, of those after them, and so on.
    ///
    /// # Errors
    /// Those of `next_part`; and as [`PairProblem::sums`], also if there are too few or too many.
    pub fn sums_of_parts<P: AsRef<[f64]>>(
        &self,
        mut next_part: impl FnMut() -> Result<Option<P>, Error>,
        settings: &Settings,
    ) -> Result<PairSums, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        let memory = Memory::default();
        let mut totals = Totals::new(&packed, &memory)?;
        let walk = packed.walk(&chunks, settings)?;
        let mut tiles = walk.tiles().iter().copied();
        let mut sums = TileSums::default();
        while let Some(part) = next_part()? {
            let mut rest = part.as_ref();
            while !rest.is_empty() {
                let tile = tiles.next().ok_or_else(|| unfit("no more", rest.len()))?;
                sums.reserve(&packed, tile, &memory)?;
                sums.reset(&packed, tile);
                for own in sums.parts_mut() {
                    let (values, others) = rest
                        .split_at_checked(own.len())
                        .ok_or_else(|| unfit("those of whole tiles", rest.len()))?;
                    own.copy_from_slice(values);
                    rest = others;
                }
                totals.add(&packed, tile, &sums, settings.summation);
            }
        }
        match tiles.count() {
            0 => totals.finish(&packed),
            missing => Err(unfit(&format!("those of {missing} more tiles"), 0)),
        }
    }
}

fn unfit(expected: &str, got: usize) -> Error {
    Error::Shape { argument: "tiles", expected: format!("{expected} sums"), got: got.to_string() }
}

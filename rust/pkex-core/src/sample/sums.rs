//! Sums over all pairs of rows of a sample, from which MMD, HSIC and their attributions are
//! computed.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once, in tiles whose plain sums (of
//! some hundred numbers) are added up in the order of tiles. The pair of a row with itself is left
//! out (for power series, half of it is subtracted from all pairs of the row: see `self_pairs`).
//! Memory: the results, and the sums of a wave of tiles.
//!
//! Tiles may also be computed separately, for example on other machines, and combined in their
//! order: the bits are those of the sums computed at once.

use std::ops::Range;

use crate::error::Error;
use crate::memory::{Memory, PAIRS};
use crate::sample::packed::PackedPairs;
use crate::sample::problem::{PairProblem, PairSums};
use crate::sample::tiles::TileSums;
use crate::sample::totals::Totals;
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

    /// The number of tiles of the pairs.
    ///
    /// # Errors
    /// As [`PairProblem::sums`].
    pub fn tile_count(&self, settings: &Settings) -> Result<usize, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        Ok(packed.walk(&chunks, settings)?.tiles().len())
    }

    /// Computes the plain sums of some tiles, one tile after the other, for
    /// [`PairProblem::sums_of_parts`].
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

    /// Combines the sums of all tiles. A part is the result of [`PairProblem::tile_sums`] for the
    /// first tiles, the next part that for the tiles after these, and so on.
    ///
    /// # Errors
    /// The errors of `next_part` and of [`PairProblem::sums`]; also if there are too few or too
    /// many sums.
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

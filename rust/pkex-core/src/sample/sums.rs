//! Sums over all pairs of rows of a sample, from which MMD, HSIC and their attributions are
//! computed.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once, in tiles whose plain sums (of
//! some hundred numbers) are added up in the order of tiles. Sums of rows are added and rounded
//! within a rectangle of tiles, and then rectangle by rectangle. The pair of a row with itself is
//! left out (for power series, half of it is subtracted from all pairs of the row: `self_pairs`).
//! Memory: the results, and the sums of a wave of tiles.
//!
//! Rectangles may also be computed separately, for example on other machines, and combined in their
//! order: the bits are those of the sums computed at once.

use std::ops::Range;

use crate::error::Error;
use crate::memory::{Memory, PAIRS};
use crate::sample::packed_pairs::PackedPairs;
use crate::sample::problem::{PairProblem, PairSums};
use crate::sample::rectangle_rows::RectangleRows;
use crate::sample::tiles::TileSums;
use crate::sample::totals::Totals;
use crate::settings::Settings;
use crate::simd::sum::add_each;
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
        let mut totals = Totals::new(&packed, &chunks, &memory)?;
        packed.walk(&chunks, settings)?.run(
            &packed,
            |tile, sums| totals.add(&packed, tile, sums, settings.summation),
            &memory,
            monitor,
        )?;
        totals.finish(&packed)
    }

    /// The number of rectangles of the pairs.
    ///
    /// # Errors
    /// As [`PairProblem::sums`].
    pub fn rectangle_count(&self, settings: &Settings) -> Result<usize, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        Ok(packed.walk(&chunks, settings)?.rectangles().count())
    }

    /// Computes the sums of some rectangles, one rectangle after the other, for
    /// [`PairProblem::sums_of_parts`].
    ///
    /// # Errors
    /// As [`PairProblem::sums`].
    pub fn rectangle_sums(
        &self,
        rectangles: Range<usize>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        self.check()?;
        let chunks = self.chunks();
        let packed = PackedPairs::new(self, &chunks, settings)?;
        let memory = Memory::default();
        let walk = packed.walk(&chunks, settings)?.within(rectangles);
        let numbers = walk.tiles().iter().map(|tile| {
            let row_count =
                if tile.ends_rectangle { RectangleRows::count(&packed, *tile) } else { 0 };
            row_count + packed.other_sums(*tile)
        });
        let mut result = Vec::new();
        memory.reserve(&mut result, numbers.sum(), PAIRS)?;
        let mut rows = RectangleRows::new(&packed, &chunks, &memory)?;
        walk.run(
            &packed,
            |tile, sums| {
                rows.add(&packed, tile, sums, settings.summation);
                sums.other_sums().into_iter().for_each(|part| result.extend_from_slice(part));
                if tile.ends_rectangle {
                    rows.sums
                        .iter()
                        .for_each(|part| result.extend(part.iter().map(|sum| sum.value())));
                    rows.clear();
                }
            },
            &memory,
            monitor,
        )?;
        Ok(result)
    }

    /// Combines the sums of all rectangles. A part is the result of
    /// [`PairProblem::rectangle_sums`] for the first rectangles, the next part that for the
    /// rectangles after these, and so on.
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
        let mut totals = Totals::new(&packed, &chunks, &memory)?;
        let walk = packed.walk(&chunks, settings)?;
        let mut tiles = walk.tiles().iter().copied();
        let mut sums = TileSums::default();
        let mut rows = RectangleRows::new(&packed, &chunks, &memory)?;
        while let Some(part) = next_part()? {
            let mut rest = part.as_ref();
            while !rest.is_empty() {
                let tile = tiles.next().ok_or_else(|| unfit("no more", rest.len()))?;
                sums.reserve(&packed, tile, &memory)?;
                sums.reset(&packed, tile);
                for target in sums.other_sums_mut() {
                    let values = first(&mut rest, target.len())?;
                    target.copy_from_slice(values);
                }
                totals.add_other_sums(&packed, tile, &sums, settings.summation);
                if tile.ends_rectangle {
                    rows.reset(&packed, tile);
                    for target in &mut rows.sums {
                        let values = first(&mut rest, target.len())?;
                        add_each(target, values, settings.summation);
                    }
                    totals.add_rows(&packed, tile, &rows, settings.summation);
                }
            }
        }
        match tiles.count() {
            0 => totals.finish(&packed),
            missing => Err(unfit(&format!("those of {missing} more tiles"), 0)),
        }
    }
}

/// Removes the first numbers of a part, and returns them.
fn first<'a>(part: &mut &'a [f64], count: usize) -> Result<&'a [f64], Error> {
    let (values, rest) = part
        .split_at_checked(count)
        .ok_or_else(|| unfit("those of whole rectangles", part.len()))?;
    *part = rest;
    Ok(values)
}

fn unfit(expected: &str, got: usize) -> Error {
    Error::Shape {
        argument: "rectangles",
        expected: format!("{expected} sums"),
        got: got.to_string(),
    }
}

//! The sums of the rows of a rectangle of tiles, which is a pair of bands of chunks.

use crate::error::Error;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::sample::packed_pairs::PackedPairs;
use crate::sample::tiles::TileSums;
use crate::simd::sum::{Sum, Summation, add_each};
use crate::walk::chunks::Chunks;
use crate::walk::pairs::Tile;

/// Sums of each row of the first band and of the second.
#[derive(Clone, Debug, Default)]
pub(crate) struct RectangleRows {
    pub sums: [Vec<Sum>; 2],
}

impl RectangleRows {
    /// No sums, with memory for any rectangle.
    pub fn new(packed: &PackedPairs<'_>, chunks: &Chunks, memory: &Memory) -> Result<Self, Error> {
        let band_length = chunks.all().iter().map(|chunk| chunk.band.len()).max().unwrap_or(0);
        let mut rows = Self::default();
        for sums in &mut rows.sums {
            memory.reserve(
                sums,
                saturating_product([band_length, packed.layout.row_width]),
                PAIRS,
            )?;
        }
        Ok(rows)
    }

    /// The number of sums of the tile's rectangle.
    pub fn count(packed: &PackedPairs<'_>, tile: Tile<'_>) -> usize {
        (tile.first.band.len() + tile.second.band.len()) * packed.layout.row_width
    }

    /// Sets all sums to 0, at the sizes of the tile's rectangle.
    pub fn reset(&mut self, packed: &PackedPairs<'_>, tile: Tile<'_>) {
        for (sums, chunk) in self.sums.iter_mut().zip([tile.first, tile.second]) {
            sums.clear();
            sums.resize(chunk.band.len() * packed.layout.row_width, Sum::default());
        }
    }

    /// Adds the sums of a tile, which begins a rectangle if there are no sums.
    pub fn add(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        sums: &TileSums,
        summation: Summation,
    ) {
        if self.sums[0].is_empty() {
            self.reset(packed, tile);
        }
        for ((totals, chunk), tile_sums) in
            self.sums.iter_mut().zip([tile.first, tile.second]).zip(&sums.rows)
        {
            let start = (chunk.rows.start - chunk.band.start) * packed.layout.row_width;
            add_each(&mut totals[start..][..tile_sums.len()], tile_sums, summation);
        }
    }

    /// Removes the sums, at the end of a rectangle.
    pub fn clear(&mut self) {
        self.sums.iter_mut().for_each(Vec::clear);
    }
}

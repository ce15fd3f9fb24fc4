//! The sums over all tiles.

use crate::error::Error;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::sample::octets;
use crate::sample::packed_pairs::PackedPairs;
use crate::sample::problem::{PairSums, triangle_index};
use crate::sample::rectangle_rows::RectangleRows;
use crate::sample::tiles::TileSums;
use crate::simd::sum::{Sum, Summation, add_each};
use crate::walk::chunks::Chunks;
use crate::walk::pairs::Tile;

/// The number of sums of each row.
const ROW_SUMS: usize = 2;

/// The sums over the tiles that were added.
pub(crate) struct Totals {
    rows: Vec<Sum>,
    groups: Vec<Sum>,
    univariate: Vec<Sum>,
    squares: Vec<Sum>,
    /// The sums of rows over the tiles of the current rectangle.
    rectangle: RectangleRows,
}

impl Totals {
    pub fn new(packed: &PackedPairs<'_>, chunks: &Chunks, memory: &Memory) -> Result<Self, Error> {
        let zeros = |length: usize| {
            memory.filled(
                saturating_product([length, packed.layout.players]),
                Sum::default(),
                PAIRS,
            )
        };
        let groups = packed.group_count();
        let group_pairs = saturating_product([groups, groups + 1]) / 2;
        let (class_pairs, squares) = if packed.weights.is_target() { (1, 0) } else { (3, 3) };
        Ok(Self {
            rows: zeros(saturating_product([packed.problem.rows.rows(), ROW_SUMS]))?,
            groups: memory.filled(
                saturating_product([group_pairs, packed.layout.group_width]),
                Sum::default(),
                PAIRS,
            )?,
            univariate: zeros(class_pairs)?,
            squares: zeros(squares)?,
            rectangle: RectangleRows::new(packed, chunks, memory)?,
        })
    }

    /// Adds a tile's sums.
    pub fn add(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        sums: &TileSums,
        summation: Summation,
    ) {
        self.add_other_sums(packed, tile, sums, summation);
        self.rectangle.add(packed, tile, sums, summation);
        if tile.ends_rectangle {
            let mut rectangle = std::mem::take(&mut self.rectangle);
            self.add_rows(packed, tile, &rectangle, summation);
            rectangle.clear();
            self.rectangle = rectangle;
        }
    }

    /// Adds the sums of the rows of a tile's rectangle.
    pub fn add_rows(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        rectangle: &RectangleRows,
        summation: Summation,
    ) {
        let (players, row_width) = (packed.layout.players, packed.layout.row_width);
        let sides = [[tile.first, tile.second], [tile.second, tile.first]];
        for ([chunk, other], sums) in sides.into_iter().zip(&rectangle.sums) {
            let place = if packed.weights.is_target() { 0 } else { other.class * players };
            for (row, values) in chunk.band.clone().zip(sums.chunks(row_width)) {
                let at = row * ROW_SUMS * players + place;
                let totals = &mut self.rows[at..at + row_width];
                for (total, sum) in totals.iter_mut().zip(values) {
                    total.add(Sum::from(sum.value()), summation);
                }
            }
        }
    }

    /// Adds a tile's sums except those of rows.
    pub fn add_other_sums(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        sums: &TileSums,
        summation: Summation,
    ) {
        let (players, is_target) = (packed.layout.players, packed.weights.is_target());
        let (row_groups, column_groups) =
            (packed.groups_of(tile.first), packed.groups_of(tile.second));
        let width = packed.layout.group_width;
        for (number, values) in sums.groups.chunks(width).enumerate() {
            let one = row_groups.start + number / column_groups.len();
            let other = column_groups.start + number % column_groups.len();
            if one <= other {
                let at = triangle_index(one, other, packed.group_count()) * width;
                add_each(&mut self.groups[at..at + width], values, summation);
            }
        }
        // The pairs of classes 00, 01, 11.
        let at = if is_target { 0 } else { (tile.first.class + tile.second.class) * players };
        add_each(&mut self.univariate[at..at + players], &sums.univariate, summation);
        if !is_target {
            add_each(&mut self.squares[at..at + players], &sums.squares, summation);
        }
    }

    /// The sums' values.
    pub fn finish(self, packed: &PackedPairs<'_>) -> Result<PairSums, Error> {
        // Values are collected in place, in half of the memory; the other half is freed.
        let values = |sums: Vec<Sum>| {
            let mut values: Vec<f64> = sums.into_iter().map(Sum::value).collect();
            values.shrink_to_fit();
            values
        };
        let mut sums = PairSums {
            rows: values(self.rows),
            groups: values(self.groups),
            univariate: values(self.univariate),
            squares: values(self.squares),
        };
        if packed.weights.exchanges() {
            for group_sums in sums.groups.chunks_mut(packed.layout.group_width) {
                octets::transform_back(group_sums, packed.layout.values);
            }
        }
        match sums.rows.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Error::Overflow { row: index / (ROW_SUMS * packed.layout.players) }),
            None => Ok(sums),
        }
    }
}

//! Sparse points, cut into tiles whose entries are stored twice: by block of sixteen points, and by
//! column.
//!
//! Lanes of a block hold different columns in the same slot: a product of factors does not depend
//! on their order. An entry's *place* is the number of its slot and lane.

use std::ops::Range;

use crate::simd::lanes::LANES;
use crate::sparse::rows::{ByColumn, SparseMatrix};

/// Maximum slots of a tile: numbers of a few megabytes for each thread.
const MAX_SLOTS: usize = 1 << 16;

/// Some points and their entries.
#[derive(Debug)]
pub(crate) struct Tile {
    /// The rows of the matrix that the tile's points are, in the order of the tile.
    pub rows: Vec<usize>,
    /// The end of each block's slots.
    ends: Vec<usize>,
    /// The columns with entries, ascending, and the end of each one's entries.
    pub columns: Vec<usize>,
    column_ends: Vec<usize>,
    /// The entries, column by column: values, points of the tile, and places.
    pub values: Vec<f64>,
    pub points: Vec<usize>,
    pub places: Vec<usize>,
}

impl Tile {
    /// Cuts the rows of a matrix into tiles. Rows with similarly many entries are neighbors, so
    /// that few lanes of their slots are empty.
    pub fn all(matrix: SparseMatrix<'_>) -> Vec<Self> {
        let length = |row: usize| matrix.row(row).columns.len();
        let mut order: Vec<usize> = (0..matrix.rows()).collect();
        order.sort_by_key(|&row| (length(row), row));
        let (mut tiles, mut rows, mut slots) = (Vec::new(), Vec::new(), 0);
        for block in order.chunks(LANES) {
            let block_slots = slots_for(block.iter().map(|&row| length(row)).max().unwrap_or(0));
            if slots + block_slots > MAX_SLOTS && !rows.is_empty() {
                tiles.push(Self::new(matrix, std::mem::take(&mut rows)));
                slots = 0;
            }
            slots += block_slots;
            rows.extend_from_slice(block);
        }
        if !rows.is_empty() {
            tiles.push(Self::new(matrix, rows));
        }
        tiles
    }

    fn new(matrix: SparseMatrix<'_>, rows: Vec<usize>) -> Self {
        let (mut ends, mut end) = (Vec::new(), 0);
        for block in rows.chunks(LANES) {
            let lengths = block.iter().map(|&row| matrix.row(row).columns.len());
            end += slots_for(lengths.max().unwrap_or(0));
            ends.push(end);
        }
        let by_column = ByColumn::new(matrix, rows.iter().copied());
        let has_entries = |column: &usize| !by_column.of(*column).is_empty();
        let columns: Vec<usize> = (0..matrix.columns()).filter(has_entries).collect();
        let column_ends = columns.iter().map(|&column| by_column.of(column).end).collect();
        let ByColumn { values, rows: points, .. } = by_column;
        let mut tile =
            Self { rows, ends, columns, column_ends, values, points, places: Vec::new() };
        tile.places = tile.compute_places();
        tile
    }

    /// The place of each entry: the entries of a point have the slots from the first on.
    fn compute_places(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rows.len()];
        let place = |&point: &usize| {
            let slot = self.slots(point / LANES).start + counts[point];
            counts[point] += 1;
            slot * LANES + point % LANES
        };
        self.points.iter().map(place).collect()
    }

    /// Number of points.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.ends.len()
    }

    /// Number of slots of all blocks.
    pub fn all_slots(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The slots of a block: an even number.
    pub fn slots(&self, block: usize) -> Range<usize> {
        block.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[block]
    }

    /// The entries of the column number `index` of [`Tile::columns`].
    pub fn entries_at(&self, index: usize) -> Range<usize> {
        index.checked_sub(1).map_or(0, |before| self.column_ends[before])..self.column_ends[index]
    }

    /// The entries of a column.
    pub fn entries(&self, column: usize) -> Range<usize> {
        self.columns.binary_search(&column).map_or(0..0, |index| self.entries_at(index))
    }
}

/// Slots for a number of entries: an even number.
pub(crate) fn slots_for(entries: usize) -> usize {
    entries.next_multiple_of(2)
}

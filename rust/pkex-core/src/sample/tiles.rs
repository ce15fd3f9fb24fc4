//! The sums over the pairs of one tile.

use std::ops::Range;

use crate::error::Error;
use crate::game::quantity::{AddValues, Nodes, Quantity, Scratch};
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::sample::absent::{AddUnivariate, fill_pairs};
use crate::sample::accumulate::Accumulate;
use crate::sample::layout::Layout;
use crate::sample::octets::Correlate;
use crate::sample::packed_pairs::PackedPairs;
use crate::sample::workspace::{PairWorkspace, RowPairs};
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes};
use crate::walk::chunks::{Chunk, ChunkBlock};
use crate::walk::pairs::{Tile, TileWork};

/// Plain sums of one tile; the last axis of each is players.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileSums {
    /// The sums of each row of the first chunk and of the second.
    pub rows: [Vec<f64>; 2],
    /// The sums of each group of the first chunk, group of the second, and weight.
    pub groups: Vec<f64>,
    pub univariate: Vec<f64>,
    pub squares: Vec<f64>,
}

impl TileSums {
    /// Reserves memory for a tile's sums.
    pub fn reserve(
        &mut self,
        packed: &PackedPairs<'_>,
        tile: Tile<'_>,
        memory: &Memory,
    ) -> Result<(), Error> {
        let room = |sums: &mut Vec<f64>, count| memory.reserve(sums, count, PAIRS);
        for (rows, chunk) in self.rows.iter_mut().zip([tile.first, tile.second]) {
            room(rows, saturating_product([chunk.rows.len(), packed.layout.row_width]))?;
        }
        memory.reserve(&mut self.groups, packed.group_sums(tile), PAIRS)?;
        room(&mut self.univariate, packed.layout.players)?;
        room(&mut self.squares, packed.layout.players)
    }

    /// All sums except those of rows, in a fixed order.
    pub fn other_sums(&self) -> [&Vec<f64>; 3] {
        [&self.groups, &self.univariate, &self.squares]
    }

    /// These sums, mutable, in the order of [`Self::other_sums`].
    pub fn other_sums_mut(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.groups, &mut self.univariate, &mut self.squares]
    }

    /// Sets all sums to 0, at the sizes of the tile.
    pub fn reset(&mut self, packed: &PackedPairs<'_>, tile: Tile<'_>) {
        let zeros = |sums: &mut Vec<f64>, length| {
            sums.clear();
            sums.resize(length, 0.0);
        };
        let players = packed.layout.players;
        for (rows, chunk) in self.rows.iter_mut().zip([tile.first, tile.second]) {
            zeros(rows, chunk.rows.len() * packed.layout.row_width);
        }
        zeros(&mut self.groups, packed.group_sums(tile));
        zeros(&mut self.univariate, players);
        zeros(&mut self.squares, players);
    }
}

impl TileWork for PackedPairs<'_> {
    type Workspace = PairWorkspace;
    type Sums = TileSums;

    fn bytes(&self, tile: Tile<'_>) -> usize {
        PackedPairs::bytes(self, tile)
    }

    fn reserve(&self, tile: Tile<'_>, sums: &mut TileSums, memory: &Memory) -> Result<(), Error> {
        sums.reserve(self, tile, memory)
    }

    fn workspace(&self, memory: &Memory) -> Result<PairWorkspace, Error> {
        PairWorkspace::new(self, memory)
    }

    fn add_up(
        &self,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut PairWorkspace,
        sums: &mut TileSums,
    ) {
        sums.reset(self, tile);
        workspace.reset(self, tile.second.blocks());
        let groups = &self.problem.groups;
        let row_width = self.layout.row_width;
        let mut start = tile.first.rows.start;
        while start < tile.first.rows.end {
            let rows = self.rows_together(tile.first, start);
            workspace.rows.fill(Lanes::ZERO);
            for block in tile.blocks_of(start) {
                self.add_block(tile, rows.clone(), block, context, workspace);
            }
            let first = (start - tile.first.rows.start) * row_width;
            into_totals(&workspace.rows, &mut sums.rows[0][first..][..rows.len() * row_width]);
            start = rows.end;
            if start == tile.first.rows.end || groups[start - 1] != groups[start] {
                let group = groups[start - 1] - groups[tile.first.rows.start];
                self.flush_columns(group, tile.second, workspace, sums);
            }
        }
        into_totals(&workspace.univariate, &mut sums.univariate);
        into_totals(&workspace.squares, &mut sums.squares);
    }
}

impl PackedPairs<'_> {
    /// The rows from `start` of a chunk that are summed together: they belong to one group.
    fn rows_together(&self, chunk: &Chunk, start: usize) -> Range<usize> {
        let end = (start + self.layout.rows_together).min(chunk.rows.end);
        let groups = &self.problem.groups[start..end];
        start..start + groups.partition_point(|group| *group == groups[0])
    }

    /// Adds the pairs of some rows and a block to running sums.
    fn add_block(
        &self,
        tile: Tile<'_>,
        rows: Range<usize>,
        block: usize,
        context: Context<'_>,
        workspace: &mut PairWorkspace,
    ) {
        let at = ChunkBlock { chunk: tile.second, index: block };
        if self.weights.exchanges() {
            workspace.octet.reset(self.layout.values);
        }
        let count = rows.len();
        for (row, pairs) in rows.zip(&mut workspace.pairs) {
            let weight = self.weights.of_pairs(row, at, &mut workspace.target_block, context);
            if self.weights.exchanges() {
                *workspace.octet.weights_of(row) = weight;
            }
            pairs.row = row;
            pairs.mask = tile.mask(row, block);
            pairs.weight = weight;
        }
        let PairWorkspace { pairs, scratch, .. } = workspace;
        self.evaluate(at, &mut pairs[..count], scratch, context);
        context.run(Accumulate { packed: self, at, count, workspace });
        if self.weights.exchanges() {
            let sums = &mut workspace.columns[block * self.layout.column_width..];
            context.run(Correlate { pairs: &mut workspace.octet, sums });
        }
    }

    /// Computes γ and univariate values of the pairs of rows and a block.
    fn evaluate(
        &self,
        at: ChunkBlock<'_>,
        rows: &mut [RowPairs],
        scratch: &mut Scratch,
        context: Context<'_>,
    ) {
        let players = self.layout.players;
        let quantity = Quantity::Values(Nodes::Table(&self.nodes));
        for RowPairs { values, .. } in &mut *rows {
            values.clear();
            values.resize(if self.is_one_product() { 0 } else { 2 * players }, Lanes::ZERO);
        }
        for (term, absent) in self.kernel.terms.iter().zip(&self.absent) {
            // All rows are filled first: the number of nodes of a row waits for its last factor.
            for pairs in &mut *rows {
                let (x, points) = (self.problem.rows.row(pairs.row), self.points.block(at));
                pairs.spread = fill_pairs((term, absent), (x, points), &mut pairs.block, context);
                // Scaling replaces c.
                pairs.is_in_block = self.is_one_product() && pairs.spread.in_range;
                if !pairs.is_in_block {
                    pairs.values.resize(2 * players, Lanes::ZERO);
                    let (block, values) = (&pairs.block, &mut pairs.values[players..]);
                    context.run(AddUnivariate { term, absent, block, values });
                }
            }
            for RowPairs { block, spread, is_in_block, values, .. } in &mut *rows {
                quantity.evaluate(spread, (block, &term.players), scratch, context);
                if !*is_in_block {
                    let scale = Lanes([absent.coefficient; LANES]);
                    context.run(AddValues { scale, block, places: &term.players, values });
                }
            }
        }
    }

    /// Adds the column sums of the rows of one group to the sums of rows and groups, and sets them
    /// to 0.
    fn flush_columns(
        &self,
        group: usize,
        second: &Chunk,
        workspace: &mut PairWorkspace,
        sums: &mut TileSums,
    ) {
        let Layout {
            exchange_size: together, values, row_width, column_width, group_width, ..
        } = self.layout;
        let groups = self.groups_of(second);
        // The place of each row has sums for one transformed place in an octet, so that an
        // incomplete octet has as many places.
        for place in 0..second.rows.len().next_multiple_of(together) {
            let (block, lane) = (place / LANES, place % LANES);
            let column = &workspace.columns[block * column_width..][..column_width];
            let group_sums = &column[self.layout.column_groups.clone()];
            let row = (second.rows.start + place).min(second.rows.end - 1);
            let group_pair = group * groups.len() + self.problem.groups[row] - groups.start;
            let into_group = &mut sums.groups[group_pair * group_width..][..group_width];
            let place_sums = into_group.chunks_mut(values).skip(place % together).step_by(together);
            for (sums, lanes) in place_sums.zip(group_sums.chunks(values)) {
                add_lane(sums, lanes, lane);
            }
            if let Some(into_row) = sums.rows[1].chunks_mut(row_width).nth(place) {
                let (weighted_sums, plain_sums) =
                    into_row.split_at_mut(self.layout.row_plain.start);
                add_lane(weighted_sums, &column[self.layout.column_weighted.clone()], lane);
                add_lane(plain_sums, &column[self.layout.column_plain.clone()], lane);
            }
        }
        workspace.columns.fill(Lanes::ZERO);
    }
}

/// Adds one lane of each value to sums.
fn add_lane(sums: &mut [f64], lanes: &[Lanes], lane: usize) {
    debug_assert_eq!(sums.len(), lanes.len());
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.0[lane];
    }
}

fn into_totals(lanes: &[Lanes], totals: &mut [f64]) {
    debug_assert!(totals.len() <= lanes.len(), "an octet may not be whole");
    for (total, lanes) in totals.iter_mut().zip(lanes) {
        *total = lanes.total();
    }
}

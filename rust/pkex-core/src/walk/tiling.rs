//! The cut of the evaluations of some items into tiles, waves and tasks.

use std::ops::Range;

use crate::game::quantity::Quantity;
use crate::memory::saturating_product;
use crate::simd::lanes::LANES;
use crate::simd::sum::{Accumulator, Sum};
use crate::threads::Parallelism;
use crate::walk::source::{Size, Source};

/// Sizes of tiles, batches and waves. Only `blocks_per_tile` affects the bits of the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiling {
    blocks: usize,
    pub blocks_per_tile: usize,
    /// Tiles of an item.
    pub tiles: usize,
    pub items_per_batch: usize,
    pub tiles_per_wave: usize,
    /// Numbers of one item: players (or coalitions) × outputs.
    pub width: usize,
    /// Rough cost of a cell, in node-player steps of one lane.
    cell_cost: usize,
    /// Rough cost of preparing a tile, in cells.
    preparation: usize,
}

impl Tiling {
    /// Bytes of the sums of a wave, if that is a cell for each thread.
    const WAVE_BYTES: usize = 12 << 20;
    /// Tiles of a wave, so that it has work for many threads even where a batch is few items.
    const TILES_PER_WAVE: usize = 16;
    /// Maximum bytes that are prepared for a tile.
    const PREPARED_BYTES: usize = 16 << 20;
    /// Maximum bytes that all items of a tile read: they fit into a second-level cache.
    const CACHED_BYTES: usize = 512 << 10;
    /// Minimum blocks of a tile, so that adding its sums is cheap compared with computing them.
    const MIN_BLOCKS: usize = 8;
    /// Rough cost of a task, and so of a cell (50 µs), so that threads share an item.
    const TASK_COST: usize = 1 << 18;
    /// Maximum cost of a cell (about 50 ms).
    const MAX_CELL_COST: usize = 1 << 28;
    const MAX_BLOCKS_PER_TILE: usize = 64;
    /// A task costs at least this multiple of its preparation, if there are enough items.
    const PREPARATION_SHARE: usize = 8;

    pub fn new<S: Source>(source: &S, quantity: Quantity<'_>, threads: usize) -> Self {
        let (Size { items, players, outputs, blocks, .. }, costs) = (source.size(), source.costs());
        let width = saturating_product([quantity.count(players), outputs]);
        let game_cost = quantity.cost(players).saturating_add(width);
        let block_cost = saturating_product([LANES, game_cost.max(1)]);
        let preparation_limit = match costs.preparation {
            0 => usize::MAX,
            _ => Self::PREPARED_BYTES / saturating_product([costs.prepared_bytes, players.max(1)]),
        };
        // Sums that fill the cache leave no room anyway.
        let sums = saturating_product([width, size_of::<Accumulator>()]);
        let cache_limit = match costs.block_bytes {
            1.. if sums <= Self::CACHED_BYTES => Self::CACHED_BYTES / costs.block_bytes,
            _ => usize::MAX,
        };
        let max_blocks = (Self::TASK_COST / block_cost)
            .min(cache_limit)
            .max(Self::MIN_BLOCKS)
            .min(Self::MAX_CELL_COST / block_cost)
            .min(preparation_limit)
            .clamp(1, Self::MAX_BLOCKS_PER_TILE);
        let tiles = blocks.div_ceil(max_blocks);
        // Tiles have equal size, so that threads can share them, and hold all terms of a sum.
        let blocks_per_tile = blocks.div_ceil(tiles.max(1)).max(1);
        let blocks_per_tile = blocks_per_tile.next_multiple_of(source.runs().blocks_together);
        let tiles = blocks.div_ceil(blocks_per_tile);
        let sums_bytes = saturating_product([width, size_of::<Sum>()]);
        let cells_per_wave = (Self::WAVE_BYTES / sums_bytes.max(1)).max(threads);
        let items_per_batch =
            (cells_per_wave / tiles.clamp(1, Self::TILES_PER_WAVE)).clamp(1, items.max(1));
        Self {
            blocks,
            blocks_per_tile,
            tiles,
            items_per_batch,
            tiles_per_wave: (cells_per_wave / items_per_batch).max(1),
            width,
            cell_cost: saturating_product([block_cost, blocks_per_tile.min(blocks)]),
            preparation: costs.preparation,
        }
    }

    pub fn parallelism(&self, items: usize, threads: usize) -> Parallelism<'static> {
        Parallelism::of(saturating_product([items, self.tiles, self.cell_cost]), threads)
    }

    /// Cells of a task; cells that share a preparation are of one tile.
    pub fn cells_per_task(&self, items: usize) -> usize {
        let sharing = items.min(saturating_product([Self::PREPARATION_SHARE, self.preparation]));
        let min_cells = (Self::TASK_COST / self.cell_cost.max(1)).max(1);
        min_cells.next_multiple_of(sharing.max(1))
    }

    /// The blocks of a tile.
    pub fn blocks(&self, tile: usize) -> Range<usize> {
        let first = tile * self.blocks_per_tile;
        first..(first + self.blocks_per_tile).min(self.blocks)
    }
}

//! The pair driver: walks items × evaluations in tiles, and adds what they contribute.
//!
//! An item is what gets a result of its own (an explained row); its evaluations come in blocks of
//! [`LANES`], and a tile is a fixed number of blocks of one item. Tiles depend on the problem alone
//! and their sums are added in order, so the result's bits depend neither on the number of threads
//! nor on which items are computed together. Memory: the results, a tile's workspace per thread,
//! and the tile sums of a wave of items.

use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::block::{Block, Spread};
use crate::lanes::{LANES, Lanes};
use crate::pool::{self, Monitor, Parallelism, Stop};
use crate::quantity::{Quantity, Scratch};
use crate::reduce::{Accumulator, Sum, Summation};
use crate::simd::{Body, Level};

/// How Ω is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Gauss–Legendre quadrature, with the nodes that full double precision takes.
    #[default]
    Quadrature,
    /// The recursion over coalition sizes, O(d²).
    Recursion,
}

/// Settings of a call that do not change what is computed, but for rounding.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How sums over evaluations are formed.
    pub summation: Summation,
    /// Threads to use, at least 1.
    pub threads: usize,
    /// Instruction set to use.
    pub level: Level,
}

impl Default for Settings {
    /// Compensated sums, one thread, the best instruction set of this machine.
    fn default() -> Self {
        Self { summation: Summation::default(), threads: 1, level: Level::best() }
    }
}

/// The evaluations of some items, block by block, and their weights.
pub(crate) trait Source: Sync {
    /// What a thread keeps between fills.
    type Cache: Default;

    /// Number of items.
    fn items(&self) -> usize;
    /// Players of the games.
    fn players(&self) -> usize;
    /// Outputs: sums with weights of their own.
    fn outputs(&self) -> usize;
    /// Blocks of evaluations of an item.
    fn blocks(&self) -> usize;
    /// Fills a block's factors; lanes beyond the last evaluation repeat one.
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        item: usize,
        index: usize,
        block: &mut Block,
        cache: &mut Self::Cache,
    ) -> Spread;
    /// The result's player for each player of the block.
    fn block_players(&self, index: usize) -> &[usize];
    /// For each output with a weight in the block: the output, and its weights (0 in unused lanes).
    fn weights(&self, index: usize) -> impl Iterator<Item = (usize, Lanes)>;
}

/// For every item, player (or coalition) and output, in this order: Σ weight · quantity over the evaluations.
pub(crate) fn run<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let tiling = Tiling::new(source, quantity);
    let width = tiling.width;
    let mut result = vec![0.0; source.items() * width];
    if tiling.tiles_per_item == 0 || width == 0 {
        return Ok(result);
    }
    let parallelism = tiling.parallelism(source.items(), settings.threads);
    let tiles = source.items() * tiling.tiles_per_item;
    let mut sums = vec![
        Sum::default();
        tiling.items_per_wave.min(source.items()) * tiling.tiles_per_item * width
    ];
    for (wave, results) in result.chunks_mut(tiling.items_per_wave * width).enumerate() {
        let first_tile = wave * tiling.items_per_wave * tiling.tiles_per_item;
        let sums = &mut sums[..results.len() * tiling.tiles_per_item];
        let tasks = sums.chunks_mut(tiling.tiles_per_task * width).enumerate();
        pool::for_each(
            tasks,
            parallelism,
            Workspace::default,
            |workspace, (task, sums), stop| {
                let first = first_tile + task * tiling.tiles_per_task;
                for (offset, sums) in sums.chunks_mut(width).enumerate() {
                    let tile = tiling.tile(first + offset, source.blocks());
                    add_up(source, quantity, tile, (settings, stop), workspace, sums);
                }
            },
            &mut |done, _| monitor(tiles.min(first_tile + done * tiling.tiles_per_task), tiles),
        )?;
        combine(sums, &tiling, settings.summation, results);
    }
    match result.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::Overflow { row: index / width }),
        None => Ok(result),
    }
}

/// Adds the sums of each item's tiles, in order.
fn combine(sums: &[Sum], tiling: &Tiling, summation: Summation, results: &mut [f64]) {
    let items = sums.chunks(tiling.tiles_per_item * tiling.width);
    for (tiles, results) in items.zip(results.chunks_mut(tiling.width)) {
        for (entry, result) in results.iter_mut().enumerate() {
            let mut total = Sum::default();
            for tile in tiles.chunks(tiling.width) {
                total.add(tile[entry], summation);
            }
            *result = total.value();
        }
    }
}

/// How the work is cut. Only `tiles_per_item` and `blocks_per_tile` decide the result's bits.
#[derive(Clone, Copy, Debug)]
struct Tiling {
    blocks_per_tile: usize,
    tiles_per_item: usize,
    tiles_per_task: usize,
    items_per_wave: usize,
    /// Numbers of one item: players (or coalitions) × outputs.
    width: usize,
    /// Rough cost of a tile, in node-player steps of one lane.
    tile_cost: usize,
}

impl Tiling {
    /// Bytes of tile sums that are kept at a time.
    const WAVE_BYTES: usize = 16 << 20;
    /// A task is at least this much work (about 50 µs) and a tile at most (about 50 ms).
    const TASK_COST: usize = 1 << 18;
    const MOST_TILE_COST: usize = 1 << 28;
    const MOST_BLOCKS_PER_TILE: usize = 64;
    /// Below this much work (about 50 µs) threads cost more than they give.
    const INLINE_COST: usize = 1 << 18;

    fn new<S: Source>(source: &S, quantity: Quantity<'_>) -> Self {
        let width = quantity.count(source.players()) * source.outputs();
        let game_cost = quantity.cost(source.players()) + width;
        let block_cost = LANES * game_cost.max(1);
        let blocks_per_tile =
            (Self::MOST_TILE_COST / block_cost).clamp(1, Self::MOST_BLOCKS_PER_TILE);
        let tiles_per_item = source.blocks().div_ceil(blocks_per_tile);
        let tile_cost = block_cost * blocks_per_tile.min(source.blocks());
        let item_bytes = (tiles_per_item * width * size_of::<Sum>()).max(1);
        Self {
            blocks_per_tile,
            tiles_per_item,
            tiles_per_task: (Self::TASK_COST / tile_cost.max(1)).max(1),
            items_per_wave: (Self::WAVE_BYTES / item_bytes).max(1),
            width,
            tile_cost,
        }
    }

    fn parallelism(&self, items: usize, threads: usize) -> Parallelism {
        if items * self.tiles_per_item * self.tile_cost <= Self::INLINE_COST {
            Parallelism::Inline
        } else {
            Parallelism::Threads(threads.max(1))
        }
    }

    /// The item and the blocks of tile number `index`.
    fn tile(&self, index: usize, blocks: usize) -> (usize, Range<usize>) {
        let (item, part) = (index / self.tiles_per_item, index % self.tiles_per_item);
        let first = part * self.blocks_per_tile;
        (item, first..(first + self.blocks_per_tile).min(blocks))
    }
}

/// What a thread keeps between tiles.
#[derive(Debug, Default)]
struct Workspace<C> {
    block: Block,
    cache: C,
    scratch: Scratch,
    weights: Vec<(usize, Lanes)>,
    places: Vec<usize>,
    accumulators: Vec<Accumulator>,
}

/// Adds up one tile: the evaluations in `blocks` of an item.
fn add_up<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    (item, blocks): (usize, Range<usize>),
    (settings, stop): (&Settings, &Stop),
    workspace: &mut Workspace<S::Cache>,
    sums: &mut [Sum],
) {
    let Workspace { block, cache, scratch, weights, places, accumulators } = workspace;
    accumulators.clear();
    accumulators.resize(sums.len(), Accumulator::ZERO);
    for index in blocks {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let spread = settings.level.run(Fill { source, item, index, block, cache });
        let players = source.block_players(index);
        quantity.evaluate(&spread, (block, players), scratch, (settings.level, stop));
        quantity.places(players, scratch, places);
        weights.clear();
        weights.extend(source.weights(index));
        let (outputs, summation) = (source.outputs(), settings.summation);
        settings.level.run(Reduce { block, places, weights, outputs, summation, accumulators });
    }
    for (sum, accumulator) in sums.iter_mut().zip(accumulators) {
        *sum = accumulator.total(settings.summation);
    }
}

/// The factors of a block.
struct Fill<'a, S: Source> {
    source: &'a S,
    item: usize,
    index: usize,
    block: &'a mut Block,
    cache: &'a mut S::Cache,
}

impl<S: Source> Body for Fill<'_, S> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        self.source.fill::<A, W>(self.item, self.index, self.block, self.cache)
    }
}

/// Weighs and adds the values of a block.
struct Reduce<'a> {
    block: &'a Block,
    places: &'a [usize],
    weights: &'a [(usize, Lanes)],
    outputs: usize,
    summation: Summation,
    accumulators: &'a mut [Accumulator],
}

impl Body for Reduce<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let values = self.block.omega.iter().zip(&self.block.difference);
        for ((omega, difference), place) in values.zip(self.places) {
            let value = omega.times::<W>(difference);
            for (output, weights) in self.weights {
                self.accumulators[place * self.outputs + output].add_product::<A, W>(
                    weights,
                    &value,
                    self.summation,
                );
            }
        }
    }
}

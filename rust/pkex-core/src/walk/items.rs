//! The pair driver: walks items × evaluations in tiles, and adds what they contribute.
//!
//! An item is what gets a result of its own (an explained row); its evaluations come in blocks of
//! [`LANES`], and a tile is a fixed number of blocks. A batch of items is walked tile by tile, so that
//! what the items have in common in a tile is prepared once for many of them. A cell is a tile of one
//! item. Tiles depend on the problem alone and the sums of an item's cells are added in order, so the
//! result's bits depend neither on the number of threads nor on which items are computed together.
//! Memory: the results, a tile's workspace per thread, and the sums of a wave of cells.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::error::Error;
use crate::expansion::absent::AbsentFactors;
use crate::game::block::{Block, Spread};
use crate::game::quantity::{Quantity, Scratch};
use crate::memory::{Memory, RESULT, SUMS, product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::{Body, Level};
use crate::simd::sum::{Accumulator, Sum, Summation};
use crate::threads::{self, Monitor, Parallelism, Stop};

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
    /// What it costs to prepare a block, in fills: 0 if there is nothing to prepare.
    fn preparation(&self) -> usize {
        0
    }
    /// Makes room in a cache for the factors of so many blocks at a time.
    fn reserve(&self, _: usize, _: &mut Self::Cache, _: &Memory) -> Result<(), Error> {
        Ok(())
    }
    /// Makes ready what the items have in common in some blocks (at most
    /// [`AbsentFactors::BYTES`] a block and player), before these are filled.
    fn prepare(&self, _: Range<usize>, _: Level, _: &Stop, _: &mut Self::Cache) {}
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

/// For every item, player (or coalition) and output, in this order: Σ weight · quantity over the
/// evaluations.
pub(crate) fn run<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    walk(source, quantity, settings, None, monitor)
}

/// The same, on a thread of another computation, until that is to stop.
pub(crate) fn run_within<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    settings: &Settings,
    stop: &Stop,
) -> Result<Vec<f64>, Error> {
    let settings = Settings { threads: 1, ..*settings };
    walk(source, quantity, &settings, Some(stop), &mut |_, _| ControlFlow::Continue(()))
}

fn walk<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    settings: &Settings,
    within: Option<&Stop>,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let tiling = Tiling::new(source, quantity, settings.threads);
    let width = tiling.width;
    let memory = Memory::default();
    let length = product([source.items(), width]);
    let mut result = Vec::new();
    memory.reserve(&mut result, length, RESULT)?;
    if tiling.tiles == 0 || width == 0 {
        result.resize(length, 0.0);
        return Ok(result);
    }
    let (sums, totals) = (Vec::new(), Vec::new());
    let mut walk = Walk { source, quantity, settings, within, tiling, memory, sums, totals };
    let cells = product([source.items(), tiling.tiles]);
    let mut cells_before = 0;
    // Waves may be shorter than the pool takes to ask.
    let mut asked = Instant::now();
    for first in (0..source.items()).step_by(tiling.items_per_batch) {
        let items = first..(first + tiling.items_per_batch).min(source.items());
        let batch_cells = items.len() * tiling.tiles;
        // Memory is touched batch by batch: all at once would take long, unnoticed by the monitor.
        let (start, end) = (items.start * width, items.end * width);
        result.resize(end, 0.0);
        walk.batch(items, &mut result[start..], &mut |done| {
            if asked.elapsed() < threads::POLL_INTERVAL {
                return ControlFlow::Continue(());
            }
            asked = Instant::now();
            monitor(cells_before + done, cells)
        })?;
        cells_before += batch_cells;
    }
    match result.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::Overflow { row: index / width }),
        None => Ok(result),
    }
}

/// A walk over batches of items.
struct Walk<'a, S> {
    source: &'a S,
    quantity: Quantity<'a>,
    settings: &'a Settings,
    /// Set by the computation that this is a part of, if it is one.
    within: Option<&'a Stop>,
    tiling: Tiling,
    memory: Memory,
    /// Of the cells of a wave: tile by tile, item by item.
    sums: Vec<Sum>,
    /// Of the batch's items, over the waves so far.
    totals: Vec<Sum>,
}

impl<S: Source> Walk<'_, S> {
    /// Walks the tiles of some items in waves; `monitor` is told how many cells are done.
    fn batch(
        &mut self,
        items: Range<usize>,
        results: &mut [f64],
        monitor: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let Tiling { tiles, tiles_per_wave, .. } = self.tiling;
        self.memory.reserve(&mut self.totals, results.len(), SUMS)?;
        self.totals.clear();
        self.totals.resize(results.len(), Sum::default());
        for first in (0..tiles).step_by(tiles_per_wave) {
            let wave = first..(first + tiles_per_wave).min(tiles);
            let done = first * items.len();
            let cells = wave.len() * items.len();
            self.wave(wave, &items, &mut |cells, _| monitor(done + cells))?;
            if monitor(done + cells).is_break() {
                return Err(Error::Interrupted);
            }
        }
        for (result, total) in results.iter_mut().zip(&self.totals) {
            *result = total.value();
        }
        Ok(())
    }

    /// Walks some tiles of some items, and adds their sums to the totals.
    fn wave(
        &mut self,
        tiles: Range<usize>,
        items: &Range<usize>,
        monitor: Monitor<'_>,
    ) -> Result<(), Error> {
        let Self { source, quantity, settings, within, tiling, memory, sums, totals } = self;
        let (cells, width) = (tiles.len() * items.len(), tiling.width);
        memory.reserve(sums, product([cells, width]), SUMS)?;
        sums.resize(cells * width, Sum::default());
        let cells_per_task = tiling.cells_per_task(items.len());
        threads::for_each(
            sums.chunks_mut(cells_per_task * width).enumerate(),
            within.map_or_else(
                || tiling.parallelism(source.items(), settings.threads),
                Parallelism::Within,
            ),
            || Workspace::new(*source, *quantity, tiling, memory),
            |workspace, (task, sums), stop| {
                for (offset, sums) in sums.chunks_mut(width).enumerate() {
                    let cell = task * cells_per_task + offset;
                    let (tile, item) = (cell / items.len(), cell % items.len());
                    let blocks = tiling.blocks(tiles.start + tile);
                    workspace.prepare(*source, &blocks, settings.level, stop);
                    let cell = (items.start + item, blocks);
                    add_up(*source, *quantity, cell, (settings, stop), workspace, sums);
                }
            },
            &mut |done, _| monitor(cells.min(done * cells_per_task), cells),
        )?;
        for tile in sums.chunks(totals.len()) {
            for (total, sum) in totals.iter_mut().zip(tile) {
                total.add(*sum, settings.summation);
            }
        }
        Ok(())
    }
}

/// How the work is cut. Only `blocks_per_tile` decides the result's bits.
#[derive(Clone, Copy, Debug)]
struct Tiling {
    blocks: usize,
    blocks_per_tile: usize,
    /// Tiles of an item.
    tiles: usize,
    items_per_batch: usize,
    tiles_per_wave: usize,
    /// Numbers of one item: players (or coalitions) × outputs.
    width: usize,
    /// Rough cost of a cell, in node-player steps of one lane.
    cell_cost: usize,
    /// What preparing a tile costs, in cells, roughly.
    preparation: usize,
}

impl Tiling {
    /// Bytes of the sums of a wave, if that is a cell for each thread.
    const WAVE_BYTES: usize = 16 << 20;
    /// Tiles of a wave, so that it has work for many threads even where a batch is few items.
    const TILES_PER_WAVE: usize = 16;
    /// Bytes of what is prepared of a tile.
    const PREPARED_BYTES: usize = 16 << 20;
    /// A task is at least this much work (about 50 µs) and a cell at most (about 50 ms).
    const TASK_COST: usize = 1 << 18;
    const MOST_CELL_COST: usize = 1 << 28;
    const MOST_BLOCKS_PER_TILE: usize = 64;
    /// A task costs at least this many times its preparation, if it has the items.
    const PREPARATION_SHARE: usize = 8;

    fn new<S: Source>(source: &S, quantity: Quantity<'_>, threads: usize) -> Self {
        let width = product([quantity.count(source.players()), source.outputs()]);
        let game_cost = quantity.cost(source.players()).saturating_add(width);
        let block_cost = product([LANES, game_cost.max(1)]);
        let most_prepared = match source.preparation() {
            0 => usize::MAX,
            _ => Self::PREPARED_BYTES / product([AbsentFactors::BYTES, source.players().max(1)]),
        };
        let blocks_per_tile = (Self::MOST_CELL_COST / block_cost)
            .min(most_prepared)
            .clamp(1, Self::MOST_BLOCKS_PER_TILE);
        let tiles = source.blocks().div_ceil(blocks_per_tile);
        let sums_bytes = product([width, size_of::<Sum>()]);
        let cells_per_wave = (Self::WAVE_BYTES / sums_bytes.max(1)).max(threads);
        let items_per_batch =
            (cells_per_wave / tiles.clamp(1, Self::TILES_PER_WAVE)).clamp(1, source.items().max(1));
        Self {
            blocks: source.blocks(),
            blocks_per_tile,
            tiles,
            items_per_batch,
            tiles_per_wave: (cells_per_wave / items_per_batch).max(1),
            width,
            cell_cost: product([block_cost, blocks_per_tile.min(source.blocks())]),
            preparation: source.preparation(),
        }
    }

    fn parallelism(&self, items: usize, threads: usize) -> Parallelism<'static> {
        Parallelism::of(product([items, self.tiles, self.cell_cost]), threads)
    }

    /// Cells of a task; no more of those that share a preparation than are of one tile.
    fn cells_per_task(&self, items: usize) -> usize {
        let sharing = items.min(product([Self::PREPARATION_SHARE, self.preparation]));
        (Self::TASK_COST / self.cell_cost.max(1)).max(sharing).max(1)
    }

    /// The blocks of a tile.
    fn blocks(&self, tile: usize) -> Range<usize> {
        let first = tile * self.blocks_per_tile;
        first..(first + self.blocks_per_tile).min(self.blocks)
    }
}

/// What a thread keeps between cells.
#[derive(Debug, Default)]
struct Workspace<C> {
    block: Block,
    /// The first block of the tile that the cache is prepared for.
    prepared: Option<usize>,
    cache: C,
    scratch: Scratch,
    weights: Vec<(usize, Lanes)>,
    places: Vec<usize>,
    accumulators: Vec<Accumulator>,
}

impl<C: Default> Workspace<C> {
    /// With room for every cell: later none is asked for.
    fn new<S: Source<Cache = C>>(
        source: &S,
        quantity: Quantity<'_>,
        tiling: &Tiling,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let (players, outputs) = (source.players(), source.outputs());
        let count = quantity.count(players);
        let mut workspace = Self::default();
        memory.reserve(&mut workspace.accumulators, tiling.width, SUMS)?;
        memory.reserve(&mut workspace.weights, outputs, SUMS)?;
        memory.reserve(&mut workspace.places, count, SUMS)?;
        workspace.block.reserve(players, count, memory)?;
        workspace.scratch.reserve(quantity, players, memory)?;
        source.reserve(tiling.blocks_per_tile, &mut workspace.cache, memory)?;
        Ok(workspace)
    }

    /// Prepares a tile, unless that has just been done.
    fn prepare<S: Source<Cache = C>>(
        &mut self,
        source: &S,
        blocks: &Range<usize>,
        level: Level,
        stop: &Stop,
    ) {
        if source.preparation() > 0 && self.prepared != Some(blocks.start) {
            source.prepare(blocks.clone(), level, stop, &mut self.cache);
            self.prepared = Some(blocks.start);
        }
    }
}

/// Adds up one cell: the evaluations in `blocks` of an item.
fn add_up<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    (item, blocks): (usize, Range<usize>),
    (settings, stop): (&Settings, &Stop),
    workspace: &mut Workspace<S::Cache>,
    sums: &mut [Sum],
) {
    let Workspace { block, cache, scratch, weights, places, accumulators, .. } = workspace;
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

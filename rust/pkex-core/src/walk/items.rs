//! The walk over items × evaluations, in tiles whose sums are added up.
//!
//! An item has a result of its own (an explained row). Its evaluations come in blocks of sixteen,
//! and a tile is a fixed number of blocks. A batch of items is walked tile by tile, so that factors
//! that all items share in a tile are prepared once for many items. A cell is a tile of one item.
//! Tiles depend only on the problem, and the sums of an item's cells are added in order. So the
//! bits of the result depend neither on the number of threads nor on which items are computed
//! together. Memory: the results, a workspace for each thread, and the sums of a wave of cells.

use std::ops::{ControlFlow, Range};

use crate::error::Error;
use crate::game::quantity::Quantity;
use crate::memory::{Memory, RESULT, SUMS, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::sum::Sum;
use crate::threads::{Monitor, Parallelism, Stop};
use crate::walk::cell::{CellWorkspace, add_up_cell};
use crate::walk::source::Source;
use crate::walk::tiling::Tiling;
use crate::walk::waves::{Units, Waves};

/// Computes Σ weight · quantity over the evaluations for every item, player (or coalition) and
/// output, in this order.
pub(crate) fn run<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    walk(source, quantity, settings, None, monitor)
}

/// Computes the sums of [`run`] on a thread of another computation, until that is to stop.
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
    let (width, items) = (tiling.width, source.size().items);
    let memory = Memory::default();
    let length = saturating_product([items, width]);
    let mut result = Vec::new();
    memory.reserve(&mut result, length, RESULT)?;
    if tiling.tiles == 0 || width == 0 {
        result.resize(length, 0.0);
        return Ok(result);
    }
    let (sums, totals) = (Vec::new(), Vec::new());
    let mut walk = ItemWalk { source, quantity, settings, within, tiling, memory, sums, totals };
    let mut waves = Waves::new(saturating_product([items, tiling.tiles]), monitor);
    for first in (0..items).step_by(tiling.items_per_batch) {
        let items = first..(first + tiling.items_per_batch).min(items);
        // Memory is touched batch by batch: all at once would take long, without a call of the
        // monitor.
        let (start, end) = (items.start * width, items.end * width);
        result.resize(end, 0.0);
        walk.batch(&items, &mut result[start..], &mut waves)?;
    }
    match result.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(Error::Overflow { row: index / width }),
        None => Ok(result),
    }
}

/// A walk over batches of items.
struct ItemWalk<'a, S> {
    source: &'a S,
    quantity: Quantity<'a>,
    settings: &'a Settings,
    /// The stop flag of the computation that this walk is a part of, if there is one.
    within: Option<&'a Stop>,
    tiling: Tiling,
    memory: Memory,
    /// The sums of the cells of a wave: tile by tile, item by item.
    sums: Vec<Sum>,
    /// The sums of the batch's items over the completed waves.
    totals: Vec<Sum>,
}

impl<S: Source> ItemWalk<'_, S> {
    /// Walks the tiles of some items in waves of cells.
    fn batch(
        &mut self,
        items: &Range<usize>,
        results: &mut [f64],
        waves: &mut Waves<'_>,
    ) -> Result<(), Error> {
        let Tiling { tiles, tiles_per_wave, .. } = self.tiling;
        self.memory.reserve(&mut self.totals, results.len(), SUMS)?;
        self.totals.clear();
        self.totals.resize(results.len(), Sum::default());
        for first in (0..tiles).step_by(tiles_per_wave) {
            self.wave(first..(first + tiles_per_wave).min(tiles), items, waves)?;
        }
        debug_assert_eq!(results.len(), self.totals.len());
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
        waves: &mut Waves<'_>,
    ) -> Result<(), Error> {
        let Self { source, quantity, settings, within, tiling, memory, sums, totals } = self;
        let (cells, width) = (tiles.len() * items.len(), tiling.width);
        memory.reserve(sums, saturating_product([cells, width]), SUMS)?;
        sums.resize(cells * width, Sum::default());
        let cells_per_task = tiling.cells_per_task(items.len());
        let parallelism = within.map_or_else(
            || tiling.parallelism(source.size().items, settings.threads),
            Parallelism::Within,
        );
        waves.compute(
            memory,
            Units { count: cells, per_task: cells_per_task },
            parallelism,
            sums.chunks_mut(cells_per_task * width).enumerate(),
            || CellWorkspace::new(*source, *quantity, tiling, memory),
            |workspace, (task, sums), stop| {
                let context = Context { settings, stop };
                for (offset, sums) in sums.chunks_mut(width).enumerate() {
                    let cell = task * cells_per_task + offset;
                    let (tile, item) = (cell / items.len(), cell % items.len());
                    let blocks = tiling.blocks(tiles.start + tile);
                    workspace.prepare(*source, &blocks, context);
                    let item = items.start + item;
                    let quantity = source.quantity(item, *quantity);
                    add_up_cell(*source, quantity, (item, blocks), context, workspace, sums);
                }
            },
        )?;
        debug_assert_eq!(sums.len(), tiles.len() * totals.len());
        for tile in sums.chunks(totals.len()) {
            for (total, sum) in totals.iter_mut().zip(tile) {
                total.add(*sum, settings.summation);
            }
        }
        Ok(())
    }
}

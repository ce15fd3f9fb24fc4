//! The sums of one cell: the evaluations of an item in a tile.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::quantity::{AddValues, Quantity, Scratch};
use crate::memory::{Memory, SUMS};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, map_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::larger;
use crate::simd::sum::{Accumulator, Sum, Summation, add_to_outputs};
use crate::walk::source::Source;
use crate::walk::tiling::Tiling;

/// The workspace of a thread.
#[derive(Debug, Default)]
pub(crate) struct CellWorkspace<C> {
    block: Block,
    /// The first block of the tile for which the cache is prepared.
    prepared_block: Option<usize>,
    cache: C,
    scratch: Scratch,
    weights: Vec<(usize, Lanes)>,
    places: Vec<usize>,
    /// The sums of values of a run of blocks, by place; empty if every block is weighted
    /// separately.
    values: Vec<Lanes>,
    accumulators: Vec<Accumulator>,
}

impl<C: Default> CellWorkspace<C> {
    /// A workspace with memory for any cell: if memory is missing, the call fails before it
    /// computes.
    pub fn new<S: Source<Cache = C>>(
        source: &S,
        quantity: Quantity<'_>,
        tiling: &Tiling,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let size = source.size();
        let (players, count) = (size.players, quantity.count(size.players));
        let mut workspace = Self::default();
        memory.reserve(&mut workspace.accumulators, tiling.width, SUMS)?;
        memory.reserve(&mut workspace.weights, size.outputs, SUMS)?;
        memory.reserve(&mut workspace.places, count, SUMS)?;
        if source.runs().exist() {
            workspace.values = memory.filled(count, Lanes::ZERO, SUMS)?;
        }
        workspace.block.reserve(players, count, memory)?;
        workspace.block.needs_present = size.orders > 0 || quantity.needs_present();
        workspace.scratch.reserve(quantity, players, memory)?;
        if size.orders > 0 {
            workspace.block.reserve_series(size.factors(), memory)?;
            workspace.scratch.reserve_series(quantity, size.factors(), memory)?;
        }
        source.reserve(tiling.blocks_per_tile, &mut workspace.cache, memory)?;
        Ok(workspace)
    }

    /// Prepares a tile, unless the cache is prepared for it.
    pub fn prepare<S: Source<Cache = C>>(
        &mut self,
        source: &S,
        blocks: &Range<usize>,
        context: Context<'_>,
    ) {
        if source.costs().preparation > 0 && self.prepared_block != Some(blocks.start) {
            source.prepare(blocks.clone(), context, &mut self.cache);
            self.prepared_block = Some(blocks.start);
        }
    }
}

/// The narrower terms of a run are left out where all their products of factors are smaller than
/// this share of the largest: they would not change the last bit. That their weights are small is
/// not enough, because differences grow with the rate: those of nearly equal entries are largest in
/// the narrowest terms.
const NEGLIGIBLE: f64 = 1.0 / (1_u128 << 80) as f64;

/// Computes the sums of one cell: the evaluations in `blocks` of an item.
pub(crate) fn add_up_cell<S: Source>(
    source: &S,
    quantity: Quantity<'_>,
    (item, blocks): (usize, Range<usize>),
    context: Context<'_>,
    workspace: &mut CellWorkspace<S::Cache>,
    sums: &mut [Sum],
) {
    let CellWorkspace { block, cache, scratch, weights, places, values, accumulators, .. } =
        workspace;
    accumulators.clear();
    accumulators.resize(sums.len(), Accumulator::ZERO);
    let (outputs, summation) = (source.size().outputs, context.settings.summation);
    let runs = source.runs();
    source.start(cache);
    let (mut next, end) = (blocks.start, blocks.end);
    // The largest bound of a term's values among those of the run so far, and their weights.
    let (mut largest, mut weight) = (0.0, 0.0);
    while next < end {
        let index = next;
        next += 1;
        if context.is_stopped() {
            return;
        }
        let spread = source.fill(item, index, block, cache, context);
        let players = source.block_players(index);
        quantity.evaluate(&spread, (block, players), scratch, context);
        quantity.places(players, scratch, places);
        let coefficient = source.coefficient(index);
        let mut scale = Lanes(map_lanes(&block.divisor.0, |divisor| coefficient * divisor));
        if !values.is_empty() {
            context.run(AddValues { scale, block, places, values });
            let bound = quantity.bound(&spread, block);
            largest = larger(largest, coefficient.abs() * bound);
            weight += coefficient.abs();
            let narrower_terms = source.narrower_terms(index);
            if (weight + narrower_terms.weight) * bound <= NEGLIGIBLE * largest {
                next += narrower_terms.count;
            }
            if !runs.ends_with(next - 1) && next < end {
                continue;
            }
            (scale, largest, weight) = (Lanes::ONE, 0.0, 0.0);
        }
        weights.clear();
        let scale_weights =
            |weights: Lanes| Lanes(zip_lanes(&weights.0, &scale.0, |w, scale| w * scale));
        weights.extend(
            source.weights(index).map(|(output, weights)| (output, scale_weights(weights))),
        );
        if values.is_empty() {
            context.run(Reduce { block, places, weights, outputs, summation, accumulators });
        } else {
            context.run(ReduceSums { values, weights, outputs, summation, accumulators });
            values.fill(Lanes::ZERO);
        }
    }
    debug_assert_eq!(sums.len(), accumulators.len());
    for (sum, accumulator) in sums.iter_mut().zip(accumulators) {
        *sum = accumulator.total();
    }
}

/// Adds the values of a block, times weights, to the sums of outputs.
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
        let Self { block, places, weights, outputs, summation, accumulators } = self;
        debug_assert_eq!(block.omega.len(), places.len());
        debug_assert_eq!(block.difference.len(), places.len());
        let factors = block.omega.iter().zip(&block.difference);
        for ((omega, difference), place) in factors.zip(places) {
            let sums = &mut accumulators[place * outputs..][..outputs];
            add_to_outputs::<A, W>(&omega.times::<W>(difference), weights, summation, sums);
        }
    }
}

/// Adds values, one for each place, times weights, to the sums of outputs.
struct ReduceSums<'a> {
    values: &'a [Lanes],
    weights: &'a [(usize, Lanes)],
    outputs: usize,
    summation: Summation,
    accumulators: &'a mut [Accumulator],
}

impl Body for ReduceSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { values, weights, outputs, summation, accumulators } = self;
        debug_assert_eq!(values.len() * outputs, accumulators.len());
        for (value, sums) in values.iter().zip(accumulators.chunks_exact_mut(outputs)) {
            add_to_outputs::<A, W>(value, weights, summation, sums);
        }
    }
}

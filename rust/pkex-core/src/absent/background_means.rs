//! The mean factors over a background: the absent factors of marginal games.
//!
//! They cost as much as the prediction of all background rows. An expansion keeps the means over
//! its points, and the means over its last background up to [`MAX_BYTES`]. Larger means are
//! computed in each call, tile by tile, for several explained rows at a time.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use crate::absent::background::Background;
use crate::absent::factors::AbsentFactors;
use crate::absent::gaussian_means::SortedColumns;
use crate::absent::point_means::means_of_points;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::game::block::{Block, FactorCount};
use crate::kernel::term::{FillTerm, PackedTerm};
use crate::matrix::Matrix;
use crate::memory::{FACTORS, INPUT, Memory, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Level;
use crate::simd::sum::{Accumulator, AddWeighted};
use crate::threads::{self, Monitor, Parallelism};

/// Maximum bytes of means that are kept between calls, for all evaluations of an expansion.
const MAX_BYTES: usize = 128 << 20;

/// Mean factors over a background, by evaluation block.
#[derive(Debug)]
pub(crate) struct BackgroundMeans {
    rows: Vec<f64>,
    columns: usize,
    weights: Vec<f64>,
    level: Level,
    factors: Vec<AbsentFactors>,
}

/// The means over the last background of an expansion.
#[derive(Debug, Default)]
pub(crate) struct LastMeans(Mutex<Option<Arc<BackgroundMeans>>>);

impl LastMeans {
    /// The means over a background, computed unless they are kept; `None` if they are too large.
    pub fn of(
        &self,
        expansion: &PackedExpansion,
        background: Background<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Option<Arc<BackgroundMeans>>, Error> {
        let factors = saturating_product([expansion.evaluation_blocks(), expansion.players()]);
        let bytes = AbsentFactors::bytes(expansion.kernel.max_orders());
        if saturating_product([bytes, factors]) > MAX_BYTES {
            return Ok(None);
        }
        // Without waiting: the thread that holds the lock may not exist in a forked child.
        let last = self.0.try_lock().ok().and_then(|last| last.clone());
        if let Some(means) = last.filter(|means| means.are_of(background, settings.level)) {
            return Ok(Some(means));
        }
        let means = Arc::new(BackgroundMeans::new(expansion, background, settings, monitor)?);
        if let Ok(mut last) = self.0.try_lock() {
            *last = Some(Arc::clone(&means));
        }
        Ok(Some(means))
    }
}

/// The means over an expansion's points with equal weights: they never change.
#[derive(Debug, Default)]
pub(crate) struct MeansOfPoints(OnceLock<Arc<BackgroundMeans>>);

impl MeansOfPoints {
    /// The means, computed in the first call. The expansion must have points.
    pub fn of(
        &self,
        expansion: &PackedExpansion,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Arc<BackgroundMeans>, Error> {
        if let Some(means) = self.0.get().filter(|means| means.level == settings.level) {
            return Ok(Arc::clone(means));
        }
        let (rows, shape) = expansion.unpacked_points()?;
        let points = Matrix::of_shape(&rows, shape);
        let [count, columns] = shape;
        let weights = Memory::default().filled(count, 1.0 / count as f64, INPUT)?;
        let background = Background { rows: points, weights: &weights };
        let terms = &expansion.kernel.terms;
        let blocks = expansion.evaluation_blocks() / terms.len().max(1);
        let mut sorted_columns = SortedColumns::of(points);
        let mut factors = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            let monitor = &mut |done, total| monitor(number * total + done, terms.len() * total);
            factors.extend(if term.diagonal_varies() {
                let blocks = number * blocks..(number + 1) * blocks;
                means_of_blocks(expansion, blocks, background, settings, monitor)?
            } else if let Some(means) = sorted_columns.means(term, settings, monitor)? {
                means
            } else {
                means_of_points(points, term, settings, monitor)?
            });
        }
        let means =
            Arc::new(BackgroundMeans { rows, columns, weights, level: settings.level, factors });
        // Means that another thread has set meanwhile have equal bits.
        let _ = self.0.set(Arc::clone(&means));
        Ok(means)
    }
}

impl BackgroundMeans {
    /// The means of all evaluation blocks.
    pub fn new(
        expansion: &PackedExpansion,
        background: Background<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Self, Error> {
        let blocks = 0..expansion.evaluation_blocks();
        let mut rows = Vec::new();
        Memory::default().reserve(&mut rows, background.rows.data().len(), INPUT)?;
        rows.extend_from_slice(background.rows.data());
        // Nothing of the computation that needs the means is done yet.
        let monitor = &mut |_, total| monitor(0, total);
        let factors = means_of_blocks(expansion, blocks, background, settings, monitor)?;
        let (columns, weights) = (background.rows.columns(), background.weights.to_vec());
        Ok(Self { rows, columns, weights, level: settings.level, factors })
    }

    /// The background of the means.
    pub fn background(&self) -> Background<'_> {
        let shape = [self.weights.len(), self.columns];
        Background { rows: Matrix::of_shape(&self.rows, shape), weights: &self.weights }
    }

    /// The means of an evaluation block.
    pub fn of_block(&self, index: usize) -> &AbsentFactors {
        &self.factors[index]
    }

    fn are_of(&self, background: Background<'_>, level: Level) -> bool {
        self.level == level
            && self.weights == background.weights
            && background.rows.data() == self.rows
    }
}

/// The mean factors of some evaluation blocks.
fn means_of_blocks(
    expansion: &PackedExpansion,
    blocks: Range<usize>,
    background: Background<'_>,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<AbsentFactors>, Error> {
    let memory = Memory::default();
    let mut factors = memory.filled(blocks.len(), AbsentFactors::default(), FACTORS)?;
    for (index, mean) in blocks.clone().zip(&mut factors) {
        let term = expansion.term_and_points(index).0;
        mean.reserve(term.factor_count(), &memory)?;
    }
    let cost = background.cost_of_means(expansion.players());
    threads::for_each(
        blocks.clone().zip(&mut factors),
        Parallelism::of(saturating_product([blocks.len(), cost]), settings.threads),
        || {
            let mut sums = MeanSums::default();
            sums.reserve(expansion.factor_count(), &memory)?;
            Ok(sums)
        },
        |sums, (index, mean), stop| {
            let context = Context { settings, stop };
            sums.mean(expansion.term_and_points(index), background, context, mean);
        },
        monitor,
    )?;
    Ok(factors)
}

impl Background<'_> {
    /// Rough cost of the means of a block, in steps of one node and player.
    fn cost_of_means(self, players: usize) -> usize {
        saturating_product([4, LANES, players, self.rows.rows()])
    }
}

/// Sums for the computation of means.
#[derive(Debug, Default)]
pub(crate) struct MeanSums {
    block: Block,
    factor: Vec<Accumulator>,
    less_one: Vec<Accumulator>,
    higher: Vec<Accumulator>,
}

impl MeanSums {
    /// Reserves memory for the factors of a block.
    pub fn reserve(&mut self, counts: FactorCount, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.factor, counts.players, FACTORS)?;
        memory.reserve(&mut self.less_one, counts.players, FACTORS)?;
        memory.reserve(&mut self.higher, counts.higher(), FACTORS)?;
        self.block.reserve(counts.players, 0, memory)?;
        self.block.reserve_series(counts, memory)
    }

    /// Computes the mean factors of a term and a block of points; incomplete if the call is to
    /// stop.
    pub fn mean(
        &mut self,
        (term, points): (&PackedTerm, &[Lanes]),
        background: Background<'_>,
        context: Context<'_>,
        mean: &mut AbsentFactors,
    ) {
        let Self { block, factor, less_one, higher } = self;
        let players = term.players.len();
        let lengths = [players, players, players * term.orders()];
        for (sums, length) in [&mut *factor, less_one, higher].into_iter().zip(lengths) {
            sums.clear();
            sums.resize(length, Accumulator::ZERO);
        }
        for (z, &weight) in background.weights.iter().enumerate() {
            if context.is_stopped() {
                return;
            }
            context.run(FillTerm { term, row: background.rows.row(z), points, block });
            let weights = Lanes([weight; LANES]);
            let values = [&block.present, &block.difference, &block.series.present];
            for (values, sums) in values.into_iter().zip([&mut *factor, less_one, higher]) {
                context.run(AddWeighted { weights, values, sums });
            }
        }
        let AbsentFactors { factor: means, less_one: means_less_one, higher: means_higher, .. } =
            mean;
        for (means, sums) in [(means, factor), (means_less_one, less_one), (means_higher, higher)] {
            means.clear();
            means.extend(sums.iter().map(Accumulator::lanes));
        }
        mean.set_divisor(context.settings.level);
    }
}

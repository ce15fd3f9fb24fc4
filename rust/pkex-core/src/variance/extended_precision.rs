//! The sums of [`VarianceGames`] in twice the working precision.
//!
//! If weights are huge and cancel, rounding errors of factors are not small compared with the sum,
//! because they are multiplied by the squares of weights. Rounding errors of means and deviations
//! are small: they change the function by their products with the weights themselves. So all
//! computations from these numbers on have twice the digits, and the exact number of nodes: the
//! error of a quadrature would be multiplied as well (the rounding error of a node or of its weight
//! is not).

use std::ops::Range;

use crate::error::Error;
use crate::memory::{Memory, RESULT, SUMS, saturating_product};
use crate::quadrature::rule::{Node, Rule};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::{Arithmetic, two_sum};
use crate::simd::double::Double;
use crate::simd::lanes::LANES;
use crate::simd::level::Body;
use crate::threads::{Monitor, Parallelism};
use crate::variance::games::{ColumnOfProducts, VarianceGames};
use crate::walk::triangle::Partners;
use crate::walk::waves::{Units, Waves};

/// Blocks of a tile, and tiles of a wave.
const BLOCKS_PER_TILE: usize = 32;
const TILES_PER_WAVE: usize = 256;
/// The cost of the arithmetic, in steps of one node and player.
const COST: usize = 16;

impl VarianceGames<'_> {
    /// Computes [`VarianceGames::values`] in twice the working precision.
    ///
    /// # Errors
    /// As [`VarianceGames::values`].
    pub fn in_twice_the_precision(
        &self,
        with_interactions: bool,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let players = self.columns_of_player.len();
        let interactions =
            if with_interactions { players * players.saturating_sub(1) / 2 } else { 0 };
        let width = saturating_product([3 * players + interactions, self.weights.columns()]);
        let rule = Rule::gauss_legendre(players.div_ceil(2).max(1));
        let tiles = self.tiles.blocks().div_ceil(BLOCKS_PER_TILE);
        let cost = [self.tiles.blocks(), LANES, players, rule.count() + 2, COST];
        let parallelism = Parallelism::of(saturating_product(cost), settings.threads);
        let memory = Memory::default();
        let length = saturating_product([width, TILES_PER_WAVE.min(tiles)]);
        let mut sums = memory.filled(length, Double::of(0.0, 0.0), SUMS)?;
        let mut totals = memory.filled(width, Double::<1>::of(0.0, 0.0), RESULT)?;
        let mut waves = Waves::new(tiles, monitor);
        for first in (0..tiles).step_by(TILES_PER_WAVE) {
            let count = TILES_PER_WAVE.min(tiles - first);
            let sums = &mut sums[..count * width];
            sums.fill(Double::of(0.0, 0.0));
            waves.compute(
                &memory,
                Units { count, per_task: 1 },
                parallelism,
                sums.chunks_mut(width.max(1)).enumerate(),
                || Ok(()),
                |(), (tile, sums), stop| {
                    let start = (first + tile) * BLOCKS_PER_TILE;
                    let blocks = start..(start + BLOCKS_PER_TILE).min(self.tiles.blocks());
                    let context = Context { settings, stop };
                    let rule = &rule;
                    let tile = TileOfProducts {
                        games: self,
                        blocks,
                        rule,
                        with_interactions,
                        context,
                        sums,
                    };
                    context.run_in_registers(tile);
                },
            )?;
            for tile in sums.chunks(width.max(1)) {
                for (total, sum) in totals.iter_mut().zip(tile) {
                    *total = total.plus(sum);
                }
            }
        }
        let values: Vec<f64> = totals.iter().map(|total| total.values()[0]).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Overflow { row: 0 });
        }
        Ok(values)
    }
}

/// Adds the products of some blocks.
struct TileOfProducts<'a> {
    games: &'a VarianceGames<'a>,
    blocks: Range<usize>,
    rule: &'a Rule,
    with_interactions: bool,
    context: Context<'a>,
    sums: &'a mut [Double<1>],
}

impl Body for TileOfProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { games, blocks, rule, with_interactions, context, sums } = self;
        let outputs = games.weights.columns();
        let mut workspace = Workspace::<W>::new(games.columns_of_player.len());
        let mut totals = vec![Double::<W>::of(0.0, 0.0); sums.len()];
        for part in 0..LANES / W {
            totals.fill(Double::of(0.0, 0.0));
            for block in blocks.clone() {
                if context.is_stopped() {
                    return;
                }
                let partners = games.tiles.locate(block);
                workspace.fill::<A>(games, partners, part);
                workspace.evaluate::<A>(rule, with_interactions);
                for (output, weight, partner_weights) in games.weights_of_products(partners) {
                    let partner_weights: &[f64; W] = partner_weights.part(part);
                    let weights =
                        Double::from_lanes(|i| A::two_product(weight, partner_weights[i]));
                    let output_totals = totals.iter_mut().skip(output).step_by(outputs);
                    for (total, value) in output_totals.zip(&workspace.values) {
                        *total = total.plus(&weights.times::<A>(value));
                    }
                }
            }
            for (sum, total) in sums.iter_mut().zip(&totals) {
                for lane in 0..W {
                    *sum = sum.plus(&Double::of(total.high[lane], total.low[lane]));
                }
            }
        }
    }
}

/// The factors of the players of some products, and the quantities computed from them.
struct Workspace<const W: usize> {
    present: Vec<Double<W>>,
    absent: Vec<Double<W>>,
    difference: Vec<Double<W>>,
    /// The products of the factors of the players before each player, and of all.
    before: Vec<Double<W>>,
    values: Vec<Double<W>>,
}

impl<const W: usize> Workspace<W> {
    fn new(count: usize) -> Self {
        let zeros = |length| vec![Double::of(0.0, 0.0); length];
        Self {
            present: zeros(count),
            absent: zeros(count),
            difference: zeros(count),
            before: zeros(count + 1),
            values: Vec::new(),
        }
    }

    #[inline(always)]
    fn fill<A: Arithmetic>(&mut self, games: &VarianceGames<'_>, partners: Partners, part: usize) {
        for (player, columns) in games.columns_of_player.iter().enumerate() {
            let one = Double::of(1.0, 0.0);
            let (mut present, mut absent) = (one, one);
            let mut difference = Double::of(0.0, 0.0);
            for &column in columns {
                let [a, b, c] = factors::<A, W>(games, partners, column, part);
                // a a′ − b b′ = c a′ + b c′.
                difference = difference.times::<A>(&a).plus(&absent.times::<A>(&c));
                present = present.times::<A>(&a);
                absent = absent.times::<A>(&b);
            }
            self.present[player] = present;
            self.absent[player] = absent;
            self.difference[player] = difference;
        }
    }

    /// Computes the values of each player, then of coalitions of two, without the weights of the
    /// games.
    #[inline(always)]
    fn evaluate<A: Arithmetic>(&mut self, rule: &Rule, with_interactions: bool) {
        let count = self.difference.len();
        self.values.clear();
        self.values.resize(3 * count, Double::of(0.0, 0.0));
        let [at_absent, at_present] = [Node { step: 0.0, weight: 1.0 }; 2];
        for node in &rule.from_absent {
            self.add_node::<A>(node, false, 0);
        }
        for node in &rule.from_present {
            self.add_node::<A>(node, true, 0);
        }
        self.add_node::<A>(&at_present, true, 2 * count);
        // This node is the last, because interactions use its products.
        self.add_node::<A>(&at_absent, false, count);
        for place in 0..3 * count {
            self.values[place] = self.values[place].times::<A>(&self.difference[place % count]);
        }
        if with_interactions {
            self.add_interactions::<A>();
        }
    }

    /// Adds weight · ∏_{l≠j} Fₗ at a node, seen from an end of [0, 1], to a value of each player.
    #[inline(always)]
    fn add_node<A: Arithmetic>(&mut self, node: &Node, from_present: bool, start: usize) {
        let ends = if from_present { &self.present } else { &self.absent };
        let step = Double::of(node.step, 0.0);
        let mut run = Double::of(1.0, 0.0);
        for (player, (end, difference)) in ends.iter().zip(&self.difference).enumerate() {
            self.before[player] = run;
            run = run.times::<A>(&end.plus(&difference.times::<A>(&step)));
        }
        let mut after = Double::of(node.weight, 0.0);
        for (player, (end, difference)) in ends.iter().zip(&self.difference).enumerate().rev() {
            let value = &mut self.values[start + player];
            *value = value.plus(&self.before[player].times::<A>(&after));
            after = after.times::<A>(&end.plus(&difference.times::<A>(&step)));
        }
    }

    /// Appends cᵢ cⱼ ∏ bₗ of each coalition of two, from the products of b before each player.
    #[inline(always)]
    fn add_interactions<A: Arithmetic>(&mut self) {
        let count = self.difference.len();
        let mut after = vec![Double::of(1.0, 0.0); count + 1];
        for player in (0..count).rev() {
            after[player] = after[player + 1].times::<A>(&self.absent[player]);
        }
        for one in 0..count {
            let mut run = self.before[one].times::<A>(&self.difference[one]);
            for other in one + 1..count {
                let value = run.times::<A>(&self.difference[other]);
                self.values.push(value.times::<A>(&after[other + 1]));
                run = run.times::<A>(&self.absent[other]);
            }
        }
    }
}

/// a, b and c of a column, for the products of a block in some lanes.
#[inline(always)]
fn factors<A: Arithmetic, const W: usize>(
    games: &VarianceGames<'_>,
    partners: Partners,
    column: usize,
    part: usize,
) -> [Double<W>; 3] {
    let ColumnOfProducts { deviations, partner_deviations, mean, partner_means } =
        games.column_of_products::<W>(partners, column, part);
    let mut c = Double::<W>::of(0.0, 0.0);
    for (g, h) in deviations.iter().zip(partner_deviations) {
        for (i, h) in h.part::<W>(part).iter().enumerate() {
            let (product, product_error) = A::two_product(*g, *h);
            let (sum, sum_error) = two_sum(c.high[i], product);
            c.high[i] = sum;
            c.low[i] += sum_error + product_error;
        }
    }
    let c = Double::from_lanes(|i| two_sum(c.high[i], c.low[i]));
    let b = Double::from_lanes(|i| A::two_product(mean, partner_means[i]));
    [b.plus(&c), b, c]
}

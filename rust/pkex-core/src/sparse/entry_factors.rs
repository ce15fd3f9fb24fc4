//! The factors of points' own entries where the explained row is zero: k(0, y) for an entry y.
//!
//! They do not depend on the explained row, and are prepared once.

use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::sum::{Sum, Summation};
use crate::sparse::means::{ColumnMeans, EntryMeans};
use crate::sparse::profiles::{ComputeFactors, Factor, Profiles, difference, log};
use crate::sparse::tiles::Tile;

/// k(0, y) of each entry y of a tile, and its logarithms.
#[derive(Debug)]
pub(crate) struct ZeroFactors {
    pub factors: Vec<f64>,
    pub less_one: Vec<f64>,
    pub logs: Vec<f64>,
    /// The sum of each point's logarithms: ln ∏ k(0, y).
    pub log_sums: Vec<Sum>,
}

impl ZeroFactors {
    /// The factors of a tile's entries.
    pub fn new(profiles: &Profiles, tile: &Tile, context: Context<'_>) -> Self {
        let count = tile.values.len();
        let (mut factors, mut less_one) = (vec![0.0; count], vec![0.0; count]);
        for (index, &column) in tile.columns.iter().enumerate() {
            let entries = tile.entries_at(index);
            context.run(ComputeFactors {
                profile: profiles.of(column),
                x: 0.0,
                values: &tile.values[entries.clone()],
                factors: &mut factors[entries.clone()],
                less_one: &mut less_one[entries],
            });
        }
        let logs: Vec<f64> = factors.iter().zip(&less_one).map(|(a, c)| log(*a, *c)).collect();
        let mut log_sums = vec![Sum::default(); tile.count()];
        for (&point, &log) in tile.points.iter().zip(&logs) {
            log_sums[point].add(Sum::from(log), Summation::Compensated);
        }
        Self { factors, less_one, logs, log_sums }
    }
}

/// The factors a, b and c of a tile's entries where x is zero, in a game.
#[derive(Debug)]
pub(crate) struct EntryFactors {
    /// Slot by slot; empty lanes have a = b = 1.
    pub present: Vec<Lanes>,
    /// Empty if every b is 1.
    pub absent: Vec<Lanes>,
    pub difference: Vec<Lanes>,
    /// |c|/M of each entry.
    pub shares: Vec<f64>,
    /// For each point, the sum of the shares of its entries less those of zero entries instead.
    pub lambda: Vec<f64>,
}

impl EntryFactors {
    /// The factors in the neutral game, where b = 1.
    pub fn neutral(tile: &Tile, zero: &ZeroFactors) -> Self {
        let factor = |entry: usize| Factor {
            present: zero.factors[entry],
            absent: 1.0,
            present_less_one: zero.less_one[entry],
            absent_less_one: 0.0,
            difference: zero.less_one[entry],
        };
        Self::new(tile, factor, |_| 0.0, false)
    }

    /// The factors in a marginal game.
    pub fn marginal(
        tile: &Tile,
        zero: &ZeroFactors,
        entries: &EntryMeans,
        columns: &ColumnMeans,
    ) -> Self {
        let factor = |entry: usize| Factor {
            present: zero.factors[entry],
            absent: entries.factors[entry],
            present_less_one: zero.less_one[entry],
            absent_less_one: entries.less_one[entry],
            difference: difference(
                (zero.factors[entry], entries.factors[entry]),
                (zero.less_one[entry], entries.less_one[entry]),
            ),
        };
        Self::new(tile, factor, |column| columns.of_zero(column).share(), true)
    }

    fn new(
        tile: &Tile,
        factor: impl Fn(usize) -> Factor,
        share_of_zero: impl Fn(usize) -> f64,
        has_absent: bool,
    ) -> Self {
        let slots = tile.all_slots();
        let mut result = Self {
            present: vec![Lanes::ONE; slots],
            absent: vec![Lanes::ONE; if has_absent { slots } else { 0 }],
            difference: vec![Lanes::ZERO; slots],
            shares: Vec::with_capacity(tile.values.len()),
            lambda: vec![0.0; tile.count()],
        };
        for (index, &column) in tile.columns.iter().enumerate() {
            let zero_share = share_of_zero(column);
            for entry in tile.entries_at(index) {
                let (factor, place) = (factor(entry), tile.places[entry]);
                let (slot, lane) = (place / LANES, place % LANES);
                result.present[slot].0[lane] = factor.present;
                result.difference[slot].0[lane] = factor.difference;
                if has_absent {
                    result.absent[slot].0[lane] = factor.absent;
                }
                result.shares.push(factor.share());
                result.lambda[tile.points[entry]] += factor.share() - zero_share;
            }
        }
        result
    }
}

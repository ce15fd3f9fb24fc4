//! The absent factors of a term in a marginal game, and products of those of empty points.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::kernel::family::Profile;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::quadrature::rule::Rule;
use crate::settings::{Context, Settings};
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::sum::{Sum, Summation};
use crate::sparse::entry_factors::{EntryFactors, ZeroFactors};
use crate::sparse::means::{ColumnMeans, ComputeMeans, EntryMeans, SparseBackground};
use crate::sparse::profiles::{Logarithm, Profiles, log};
use crate::sparse::tiles::Tile;
use crate::threads::{self, Monitor, Parallelism};

/// The logarithms of the factors of zero entries at the nodes of a rule, or their slopes.
#[derive(Debug)]
pub(crate) struct ZeroLogs {
    /// Of the product over all columns, sixteen nodes in a register.
    pub total: Vec<Lanes>,
    /// Tile by tile, point by point: of the product over the point's columns.
    pub points: Vec<Vec<Lanes>>,
}

/// The absent factors of a term in a marginal game.
#[derive(Debug)]
pub(crate) struct MarginalTerm {
    pub columns: ColumnMeans,
    pub entries: Vec<EntryMeans>,
    /// The factors of the points' own entries, tile by tile.
    pub entry_factors: Vec<EntryFactors>,
    /// The columns whose zero entries have another factor for absent players than for present ones.
    pub references: Vec<usize>,
    /// Their entries in each tile.
    pub reference_entries: Vec<Vec<Range<usize>>>,
    /// Σ |c|/M over these columns.
    pub lambda: f64,
    /// By the number of nodes of the rule.
    zero_logs: Mutex<BTreeMap<(Logarithm, usize), Arc<ZeroLogs>>>,
}

impl MarginalTerm {
    /// The means of a term over a background of rows with these columns.
    pub fn new(
        profiles: &Profiles,
        (tiles, zeros): (&[Tile], &[ZeroFactors]),
        background: &SparseBackground,
        n_columns: usize,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Self, Error> {
        let mut means = Memory::default().filled(n_columns, Vec::new(), INPUT)?;
        let counts = (0..n_columns).map(|column| {
            let entries = tiles.iter().map(|tile| tile.entries(column).len()).sum::<usize>();
            saturating_product([background.count(column), entries + 1])
        });
        let cost = saturating_product([STEPS, counts.sum()]);
        threads::for_each(
            means.iter_mut().enumerate(),
            Parallelism::of(cost, settings.threads),
            || Ok(()),
            |(), (column, means), stop| {
                let context = Context { settings, stop };
                *means = means_of_column(profiles.of(column), tiles, background, column, context);
            },
            monitor,
        )?;
        let (columns, entries) = split_means(&means, tiles);
        let is_reference = |column: &usize| columns.less_one[*column] != 0.0;
        let references: Vec<usize> = (0..n_columns).filter(is_reference).collect();
        let of_tile = |tile: &Tile| references.iter().map(|column| tile.entries(*column)).collect();
        let entry_factors = tiles.iter().zip(zeros).zip(&entries);
        let entry_factors = entry_factors
            .map(|((tile, zero), means)| EntryFactors::marginal(tile, zero, means, &columns));
        Ok(Self {
            entry_factors: entry_factors.collect(),
            reference_entries: tiles.iter().map(of_tile).collect(),
            lambda: references.iter().map(|&column| columns.of_zero(column).share()).sum(),
            zero_logs: Mutex::default(),
            columns,
            entries,
            references,
        })
    }

    /// ln of the product of all absent factors of the points of a tile.
    pub fn logs_of_absent(&self, tile: &Tile, number: usize) -> Vec<f64> {
        let zero_log = |column: usize| {
            let factor = self.columns.of_zero(column);
            log(factor.absent, factor.absent_less_one)
        };
        let total = self.references.iter().map(|&column| zero_log(column)).sum();
        let mut logs = vec![total; tile.count()];
        let means = &self.entries[number];
        for (index, &column) in tile.columns.iter().enumerate() {
            let zero_log = zero_log(column);
            for entry in tile.entries_at(index) {
                let entry_log = log(means.factors[entry], means.less_one[entry]);
                logs[tile.points[entry]] += entry_log - zero_log;
            }
        }
        logs
    }

    /// The logarithms at the nodes of a rule, which its number of nodes identifies, or their slopes.
    pub fn zero_logs(&self, rule: &Rule, logarithm: Logarithm, tiles: &[Tile]) -> Arc<ZeroLogs> {
        let key = (logarithm, rule.count());
        // Without waiting: the thread that holds the lock may not exist in a forked process.
        if let Some(logs) =
            self.zero_logs.try_lock().ok().and_then(|cache| cache.get(&key).cloned())
        {
            return logs;
        }
        let zero_logs = Arc::new(self.compute_zero_logs((rule, logarithm), tiles));
        if let Ok(mut cache) = self.zero_logs.try_lock() {
            cache.insert(key, Arc::clone(&zero_logs));
        }
        zero_logs
    }

    fn compute_zero_logs(&self, at: (&Rule, Logarithm), tiles: &[Tile]) -> ZeroLogs {
        let rule = at.0;
        let (nodes, registers) = (rule.count(), rule.count().div_ceil(LANES));
        let mut total = vec![Sum::from(0.0); nodes];
        let zeros = |tile: &Tile| vec![Lanes::ZERO; tile.count() * registers];
        let mut points: Vec<Vec<Lanes>> = tiles.iter().map(zeros).collect();
        let mut logs = vec![0.0; nodes];
        for (number, &column) in self.references.iter().enumerate() {
            self.columns.of_zero(column).logs_at(at, &mut logs);
            for (total, &log) in total.iter_mut().zip(&logs) {
                total.add(Sum::from(log), Summation::Compensated);
            }
            let entries = self.reference_entries.iter().map(|entries| entries[number].clone());
            for ((tile, points), entries) in tiles.iter().zip(&mut points).zip(entries) {
                for &point in &tile.points[entries] {
                    let point_sums = &mut points[point * registers..][..registers];
                    let sums = point_sums.iter_mut().flat_map(|register| &mut register.0);
                    sums.zip(&logs).for_each(|(sum, log)| *sum += log);
                }
            }
        }
        let total: Vec<f64> = total.into_iter().map(Sum::value).collect();
        let lane = |nodes: &[f64], lane: usize| nodes.get(lane).copied().unwrap_or(0.0);
        let register = |nodes: &[f64]| Lanes(std::array::from_fn(|n| lane(nodes, n)));
        ZeroLogs { total: total.chunks(LANES).map(register).collect(), points }
    }
}

/// The cost of a mean, for each background entry.
const STEPS: usize = 8;

/// Entries whose means are computed before the call may stop.
const AT_ONCE: usize = 64;

/// The means of k(z, y) and k(z, y) − 1 over a background: of y = 0, and of the entries in a column,
/// tile by tile.
fn means_of_column(
    profile: &Profile,
    tiles: &[Tile],
    background: &SparseBackground,
    column: usize,
    context: Context<'_>,
) -> Vec<[f64; 2]> {
    let (values, weights, zero_weight) = background.of(column);
    let entries = tiles.iter().flat_map(|tile| &tile.values[tile.entries(column)]);
    let at: Vec<f64> = std::iter::once(0.0).chain(entries.copied()).collect();
    let mut means = vec![[1.0, 0.0]; at.len()];
    // Without rows, the mean of k(0, 0) is exactly 1.
    let first = usize::from(values.is_empty());
    for (at, means) in at[first..].chunks(AT_ONCE).zip(means[first..].chunks_mut(AT_ONCE)) {
        if context.is_stopped() {
            break;
        }
        let background = (values, weights.as_slice(), zero_weight);
        context.run(ComputeMeans { profile, background, values: at, results: means });
    }
    means
}

/// The means of all columns, by column and by entry.
fn split_means(column_means: &[Vec<[f64; 2]>], tiles: &[Tile]) -> (ColumnMeans, Vec<EntryMeans>) {
    let columns = ColumnMeans {
        factors: column_means.iter().map(|means| means[0][0]).collect(),
        less_one: column_means.iter().map(|means| means[0][1]).collect(),
    };
    let mut next = vec![1; column_means.len()];
    let of_tile = |tile: &Tile| {
        let mut entries = EntryMeans { factors: Vec::new(), less_one: Vec::new() };
        for (index, &column) in tile.columns.iter().enumerate() {
            let count = tile.entries_at(index).len();
            for [factor, less_one] in &column_means[column][next[column]..][..count] {
                entries.factors.push(*factor);
                entries.less_one.push(*less_one);
            }
            next[column] += count;
        }
        entries
    };
    let entries = tiles.iter().map(of_tile).collect();
    (columns, entries)
}

//! The absent factors of a term in a marginal game, and products of those of empty points.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::quadrature::rule::Rule;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::sum::{Sum, Summation};
use crate::sparse::means::{ColumnMeans, EntryMeans, Means, SparseBackground};
use crate::sparse::own_factors::{OwnFactors, ZeroFactors};
use crate::sparse::profiles::{Profiles, log};
use crate::sparse::tiles::Tile;

/// The logarithms of the factors of zero entries at the nodes of a rule.
#[derive(Debug)]
pub(crate) struct RestAtNodes {
    /// Of the product over all columns, sixteen nodes in a register.
    pub total: Vec<Lanes>,
    /// Tile by tile, point by point: of the product over the point's columns.
    pub of_points: Vec<Vec<Lanes>>,
}

/// The absent factors of a term in a marginal game.
#[derive(Debug)]
pub(crate) struct MarginalTerm {
    pub columns: ColumnMeans,
    pub entries: Vec<EntryMeans>,
    /// The factors of the points' own entries, tile by tile.
    pub own: Vec<OwnFactors>,
    /// The columns whose zero entries have another factor for absent players than for present ones.
    pub references: Vec<usize>,
    /// Their entries in each tile.
    pub reference_entries: Vec<Vec<Range<usize>>>,
    /// Σ |c|/M over these columns.
    pub lambda: f64,
    /// By the number of nodes of the rule.
    rests: Mutex<BTreeMap<usize, Arc<RestAtNodes>>>,
}

impl MarginalTerm {
    /// The means of a term over a background.
    pub fn new(
        profiles: &Profiles,
        (tiles, zeros): (&[Tile], &[ZeroFactors]),
        background: &SparseBackground,
        n_columns: usize,
        context: Context<'_>,
    ) -> Self {
        let mut columns =
            ColumnMeans { factors: vec![1.0; n_columns], less_one: vec![0.0; n_columns] };
        let empty = |tile: &Tile| EntryMeans {
            factors: vec![1.0; tile.values.len()],
            less_one: vec![0.0; tile.values.len()],
        };
        let mut entries: Vec<EntryMeans> = tiles.iter().map(empty).collect();
        let mut reference_entries = vec![Vec::new(); tiles.len()];
        let mut references = Vec::new();
        for column in 0..n_columns {
            let (values, weights, rest) = background.of(column);
            let profile = profiles.of(column);
            let mean = |values_of: &[f64], factors: &mut [f64], less_one: &mut [f64]| {
                let background = (values, &*weights, rest);
                let values = values_of;
                context.run(Means { profile, background, values, factors, less_one });
            };
            if !values.is_empty() {
                let (factor, less_one) =
                    (&mut columns.factors[column..=column], &mut columns.less_one[column..=column]);
                mean(&[0.0], factor, less_one);
            }
            let is_reference = columns.less_one[column] != 0.0;
            if is_reference {
                references.push(column);
            }
            for ((tile, means), of_references) in
                tiles.iter().zip(&mut entries).zip(&mut reference_entries)
            {
                let own = tile.entries(column);
                let EntryMeans { factors, less_one } = means;
                mean(
                    &tile.values[own.clone()],
                    &mut factors[own.clone()],
                    &mut less_one[own.clone()],
                );
                if is_reference {
                    of_references.push(own);
                }
            }
        }
        let own = tiles.iter().zip(zeros).zip(&entries);
        let own =
            own.map(|((tile, zero), means)| OwnFactors::marginal(tile, zero, means, &columns));
        let own = own.collect();
        let lambda = references.iter().map(|&column| columns.of_zero(column).share()).sum();
        let rests = Mutex::default();
        Self { columns, entries, own, references, reference_entries, lambda, rests }
    }

    /// ln of the product of all absent factors of the points of a tile.
    pub fn logs_of_absent(&self, tile: &Tile, number: usize) -> Vec<f64> {
        let of_zero = |column: usize| {
            let factor = self.columns.of_zero(column);
            log(factor.absent, factor.absent_less_one)
        };
        let total = self.references.iter().map(|&column| of_zero(column)).sum();
        let mut logs = vec![total; tile.count()];
        let means = &self.entries[number];
        for (index, &column) in tile.columns.iter().enumerate() {
            let of_zero = of_zero(column);
            for entry in tile.entries_at(index) {
                let own = log(means.factors[entry], means.less_one[entry]);
                logs[tile.points[entry]] += own - of_zero;
            }
        }
        logs
    }

    /// The logarithms at the nodes of a rule, which its number of nodes identifies.
    pub fn rest(&self, rule: &Rule, tiles: &[Tile]) -> Arc<RestAtNodes> {
        // Without waiting: the thread that holds the lock may not exist in a forked process.
        if let Some(known) =
            self.rests.try_lock().ok().and_then(|rests| rests.get(&rule.count()).cloned())
        {
            return known;
        }
        let rest = Arc::new(self.computed_rest(rule, tiles));
        if let Ok(mut rests) = self.rests.try_lock() {
            rests.insert(rule.count(), Arc::clone(&rest));
        }
        rest
    }

    fn computed_rest(&self, rule: &Rule, tiles: &[Tile]) -> RestAtNodes {
        let (nodes, registers) = (rule.count(), rule.count().div_ceil(LANES));
        let mut total = vec![Sum::from(0.0); nodes];
        let zeros = |tile: &Tile| vec![Lanes::ZERO; tile.count() * registers];
        let mut of_points: Vec<Vec<Lanes>> = tiles.iter().map(zeros).collect();
        let mut logs = vec![0.0; nodes];
        for (number, &column) in self.references.iter().enumerate() {
            self.columns.of_zero(column).logs_at(rule, &mut logs);
            for (total, &log) in total.iter_mut().zip(&logs) {
                total.add(Sum::from(log), Summation::Compensated);
            }
            let entries = self.reference_entries.iter().map(|entries| entries[number].clone());
            for ((tile, of_points), entries) in tiles.iter().zip(&mut of_points).zip(entries) {
                for &point in &tile.points[entries] {
                    let of_point = &mut of_points[point * registers..][..registers];
                    let sums = of_point.iter_mut().flat_map(|register| &mut register.0);
                    sums.zip(&logs).for_each(|(sum, log)| *sum += log);
                }
            }
        }
        let total: Vec<f64> = total.into_iter().map(Sum::value).collect();
        let lane = |nodes: &[f64], lane: usize| nodes.get(lane).copied().unwrap_or(0.0);
        let register = |nodes: &[f64]| Lanes(std::array::from_fn(|n| lane(nodes, n)));
        RestAtNodes { total: total.chunks(LANES).map(register).collect(), of_points }
    }
}

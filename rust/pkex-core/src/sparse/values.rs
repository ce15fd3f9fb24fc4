//! The values of one explained row from one tile of points, for one term of the kernel.
//!
//! A point differs from an empty one, all of whose entries are zero, in few columns U. With F₀ the
//! factors of the empty point, the product of its factors at a node t is
//!
//!   P(t) = ∏_{j∉U} F₀ⱼ(t) · ∏_{j∈U} Fⱼ(t),
//!
//! so that the players in U are swept as everywhere, with the first product as a prefix. It is the
//! product of all F₀, which is computed once, divided by those in U: a difference of logarithms,
//! because both products may be below the range. If the logarithms are so large that their
//! difference loses digits, those of the columns outside U are added up instead. The other columns
//! have c and F of the empty point, and so together
//!
//!   φⱼ = c₀ⱼ ∫ Σ_{i: j∉Uᵢ} αᵢ Pᵢ(t) / F₀ⱼ(t) dt.
//!
//! In the neutral game the empty point differs from the absent factor 1 in the columns of x alone;
//! in marginal games, in all columns of the background. In the interventional game, columns outside
//! x and z have a = b: their factors k(0, y) belong to the weight of a point.

use std::sync::Arc;

use crate::game::sweep::{FromBothEnds, FromOneEnd, OtherProducts};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};
use crate::simd::sum::Sum;
use crate::sparse::add_up::{AddEntries, AddZeroEntries, NodeLanes, Output};
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, Comparison, ItemColumn};
use crate::sparse::compare::Compare;
use crate::sparse::fill::{Fill, Keep, TileZeroLogs};
use crate::sparse::marginal::ZeroLogs;
use crate::sparse::profiles::Logarithm;

/// Sums of logarithms below this number have rounding errors that matter in a difference.
const FAR: f64 = -512.0;

/// The numbers of zero entries at the nodes, for a tile.
pub(super) struct SharedZeroLogs {
    logs: Arc<ZeroLogs>,
    tile: usize,
}

impl SharedZeroLogs {
    pub(super) fn of_tile(&self) -> TileZeroLogs<'_> {
        TileZeroLogs { total: &self.logs.total, points: &self.logs.points[self.tile] }
    }
}

impl CellWorkspace {
    /// The rules for games up to a Λ.
    pub(super) fn table(&mut self, lambda: f64) -> NodeTable {
        let mut bound = 64;
        while (bound as f64) < lambda {
            bound *= 2;
        }
        match &self.table {
            Some((key, table)) if *key == bound => table.clone(),
            _ => self.table.insert((bound, NodeTable::up_to(bound))).1.clone(),
        }
    }
}

impl Cell<'_> {
    /// Adds the values of an item with these columns to sums: column by column, output by output.
    pub fn add_values(
        &self,
        item: &[ItemColumn],
        workspace: &mut CellWorkspace,
        context: Context<'_>,
        sums: &mut [Sum],
    ) {
        context.run(Compare { cell: self, item, workspace: &mut *workspace });
        let lambda = self.largest_lambda(workspace);
        let table = workspace.table(lambda);
        let rule = table.rule(lambda, !matches!(self.absent, AbsentFactors::Neutral(_)));
        let zero_logs = self.zero_logs(rule, Logarithm::Value);
        let zero_logs = zero_logs.as_ref().map(SharedZeroLogs::of_tile);
        let CellWorkspace { comparisons, logs, total, .. } = &mut *workspace;
        self.compute_logs((rule, Logarithm::Value), zero_logs.as_ref(), comparisons, (logs, total));
        workspace.outside = self.is_far(workspace).then(|| self.logs_outside(workspace));
        self.sweep(rule, zero_logs.as_ref(), workspace, context);
        if context.is_stopped() {
            return;
        }
        let nodes = NodeLanes::new(rule);
        let output = Output { number: 0, count: self.weights.len() / self.tile.count().max(1) };
        for number in 0..output.count {
            let output = Output { number, ..output };
            context.run(AddEntries { cell: self, workspace: &*workspace, output, context, sums });
            let nodes = &nodes;
            context.run(AddZeroEntries {
                cell: self,
                nodes,
                workspace: &*workspace,
                output,
                context,
                sums,
            });
        }
    }

    /// The largest Λ of a point: the shares of zero entries and of its own, as `Compare` replaced
    /// some of them.
    pub(super) fn largest_lambda(&self, workspace: &CellWorkspace) -> f64 {
        let zero_lambda = match self.absent {
            AbsentFactors::Marginal(term, _) => term.lambda,
            _ => 0.0,
        };
        let item_share = |comparison: &Comparison| {
            comparison.reference.share() - self.zero_factor(comparison.column).share()
        };
        let lambda = zero_lambda + workspace.comparisons.iter().map(item_share).sum::<f64>();
        // Rounding errors of the sums are far below this margin.
        let largest =
            workspace.lambda.iter().fold(f64::NEG_INFINITY, |largest, &lambda| largest.max(lambda));
        (lambda + largest).max(0.0) + 1e-9
    }

    /// The logarithms of zero entries at the nodes, or their slopes, in a marginal game.
    pub(super) fn zero_logs(&self, rule: &Rule, logarithm: Logarithm) -> Option<SharedZeroLogs> {
        match self.absent {
            AbsentFactors::Marginal(term, tile) => {
                Some(SharedZeroLogs { logs: term.zero_logs(rule, logarithm, self.tiles), tile })
            }
            _ => None,
        }
    }

    /// Computes the logarithms at the nodes of the products of empty points, or their slopes: those
    /// of x less those of zero of each compared column, and the sums over all columns.
    pub(super) fn compute_logs(
        &self,
        at: (&Rule, Logarithm),
        zero_logs: Option<&TileZeroLogs<'_>>,
        comparisons: &[Comparison],
        (logs, total): (&mut Vec<Lanes>, &mut Vec<Lanes>),
    ) {
        let nodes = at.0.count();
        let registers = nodes.div_ceil(LANES);
        total.clear();
        match zero_logs {
            Some(zero_logs) => total.extend_from_slice(zero_logs.total),
            None => total.resize(registers, Lanes::ZERO),
        }
        logs.clear();
        logs.resize(registers * comparisons.len(), Lanes::ZERO);
        let (mut item_logs, mut zero_factor_logs) = (vec![0.0; nodes], vec![0.0; nodes]);
        for (comparison, logs) in comparisons.iter().zip(logs.chunks_mut(registers)) {
            comparison.reference.logs_at(at, &mut item_logs);
            if zero_logs.is_some() {
                self.zero_factor(comparison.column).logs_at(at, &mut zero_factor_logs);
            }
            for (node, (log, zero_log)) in item_logs.iter().zip(&zero_factor_logs).enumerate() {
                logs[node / LANES].0[node % LANES] = log - zero_log;
            }
            for (total, log) in total.iter_mut().zip(&*logs) {
                *total = Lanes(zip_lanes(&total.0, &log.0, |total, log| total + log));
            }
        }
    }

    /// Whether differences of logarithms lose more digits than the values have.
    pub(super) fn is_far(&self, workspace: &CellWorkspace) -> bool {
        let logs = workspace.total.iter().flat_map(|register| register.0);
        let lowest_log = logs.fold(0.0, f64::min);
        let lowest_weight = match self.absent {
            AbsentFactors::Interventional => {
                self.zero.log_sums.iter().map(|log| log.value()).fold(0.0, f64::min)
            }
            _ => 0.0,
        };
        lowest_log + lowest_weight < FAR
    }

    /// ln ∏ k(0, y) over each point's entries outside the item's columns.
    pub(super) fn logs_outside(&self, workspace: &CellWorkspace) -> Vec<f64> {
        let mut logs = vec![0.0; self.tile.count()];
        let comparisons = &workspace.comparisons;
        for (index, column) in self.tile.columns.iter().enumerate() {
            if comparisons.binary_search_by_key(column, |comparison| comparison.column).is_err() {
                for entry in self.tile.entries_at(index) {
                    logs[self.tile.points[entry]] += self.zero.logs[entry];
                }
            }
        }
        logs
    }

    /// Computes c Ω of all slots, and the products of all points.
    fn sweep(
        &self,
        rule: &Rule,
        zero_logs: Option<&TileZeroLogs<'_>>,
        workspace: &mut CellWorkspace,
        context: Context<'_>,
    ) {
        let free_end = FreeEnd::from(rule);
        let (blocks, registers) = (self.tile.blocks(), rule.count().div_ceil(LANES));
        workspace.values.clear();
        workspace.places.clear();
        workspace.places.resize(workspace.present.len(), 0);
        workspace.products.clear();
        workspace.products.resize(blocks * LANES * registers, Lanes::ZERO);
        workspace.block_products.resize(rule.count(), Lanes::ONE);
        for number in 0..blocks {
            if context.is_stopped() {
                return;
            }
            context.run(Fill {
                cell: self,
                number,
                registers,
                zero_logs,
                workspace: &mut *workspace,
            });
            let CellWorkspace { block, prefixes, block_products, .. } = &mut *workspace;
            let other_players = OtherProducts(block_products);
            if matches!(self.absent, AbsentFactors::Neutral(_)) {
                context.run_in_registers(FromOneEnd {
                    rule: &free_end,
                    block,
                    prefixes,
                    other_players,
                });
            } else {
                context.run_in_registers(FromBothEnds { rule, block, prefixes, other_players });
            }
            context.run(Keep { number, registers, workspace: &mut *workspace });
        }
    }
}

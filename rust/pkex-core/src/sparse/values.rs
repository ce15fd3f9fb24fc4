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

use crate::game::sweep::{FromBothEnds, FromOneEnd, Others};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::rule::Rule;
use crate::quadrature::table::NodeTable;
use crate::settings::Context;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};
use crate::simd::sum::Sum;
use crate::sparse::add_up::{AddOthers, AddOwn, NodeLanes, Output};
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, Compared, ItemColumn};
use crate::sparse::compare::Compare;
use crate::sparse::fill::{Fill, Keep, RestOfTile};
use crate::sparse::marginal::RestAtNodes;
use crate::sparse::profiles::Logarithm;

/// Sums of logarithms below this number have rounding errors that matter in a difference.
const FAR: f64 = -512.0;

/// The numbers of zero entries at the nodes, for a tile.
pub(super) struct Rest {
    all: Arc<RestAtNodes>,
    tile: usize,
}

impl Rest {
    pub(super) fn of_tile(&self) -> RestOfTile<'_> {
        RestOfTile { total: &self.all.total, of_points: &self.all.of_points[self.tile] }
    }
}

impl CellWorkspace {
    /// The rules for games up to a Λ.
    pub(super) fn table(&mut self, lambda: f64) -> NodeTable {
        let mut largest = 64;
        while (largest as f64) < lambda {
            largest *= 2;
        }
        match &self.table {
            Some((known, table)) if *known == largest => table.clone(),
            _ => self.table.insert((largest, NodeTable::up_to(largest))).1.clone(),
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
        let rest = self.rest(rule, Logarithm::Value);
        let rest = rest.as_ref().map(Rest::of_tile);
        let CellWorkspace { compared, logs, total, .. } = &mut *workspace;
        self.at_nodes((rule, Logarithm::Value), rest.as_ref(), compared, (logs, total));
        workspace.outside = self.is_far(workspace).then(|| self.logs_outside(workspace));
        self.sweep(rule, rest.as_ref(), workspace, context);
        if context.is_stopped() {
            return;
        }
        let nodes = NodeLanes::new(rule);
        let output = Output { number: 0, of: self.weights.len() / self.tile.count().max(1) };
        for number in 0..output.of {
            let output = Output { number, ..output };
            context.run(AddOwn { cell: self, workspace: &*workspace, output, context, sums });
            let nodes = &nodes;
            context.run(AddOthers {
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
        let of_zero = match self.absent {
            AbsentFactors::Marginal(term, _) => term.lambda,
            _ => 0.0,
        };
        let of_item = |compared: &Compared| {
            compared.reference.share() - self.zero_factor(compared.column).share()
        };
        let lambda = of_zero + workspace.compared.iter().map(of_item).sum::<f64>();
        // Rounding errors of the sums are far below this margin.
        let largest = workspace.lambda.iter().fold(f64::NEG_INFINITY, |most, &own| most.max(own));
        (lambda + largest).max(0.0) + 1e-9
    }

    /// The logarithms of zero entries at the nodes, or their slopes, in a marginal game.
    pub(super) fn rest(&self, rule: &Rule, which: Logarithm) -> Option<Rest> {
        match self.absent {
            AbsentFactors::Marginal(term, tile) => {
                Some(Rest { all: term.rest(rule, which, self.tiles), tile })
            }
            _ => None,
        }
    }

    /// Computes the logarithms at the nodes of the products of empty points, or their slopes: those
    /// of x less those of zero of each compared column, and the sums over all columns.
    pub(super) fn at_nodes(
        &self,
        at: (&Rule, Logarithm),
        rest: Option<&RestOfTile<'_>>,
        compared: &[Compared],
        (logs, total): (&mut Vec<Lanes>, &mut Vec<Lanes>),
    ) {
        let nodes = at.0.count();
        let registers = nodes.div_ceil(LANES);
        total.clear();
        match rest {
            Some(rest) => total.extend_from_slice(rest.total),
            None => total.resize(registers, Lanes::ZERO),
        }
        logs.clear();
        logs.resize(registers * compared.len(), Lanes::ZERO);
        let (mut of_item, mut of_zero) = (vec![0.0; nodes], vec![0.0; nodes]);
        for (compared, logs) in compared.iter().zip(logs.chunks_mut(registers)) {
            compared.reference.logs_at(at, &mut of_item);
            if rest.is_some() {
                self.zero_factor(compared.column).logs_at(at, &mut of_zero);
            }
            for (node, (log, of_zero)) in of_item.iter().zip(&of_zero).enumerate() {
                logs[node / LANES].0[node % LANES] = log - of_zero;
            }
            for (total, log) in total.iter_mut().zip(&*logs) {
                *total = Lanes(zip_lanes(&total.0, &log.0, |total, log| total + log));
            }
        }
    }

    /// Whether differences of logarithms lose more digits than the values have.
    pub(super) fn is_far(&self, workspace: &CellWorkspace) -> bool {
        let logs = workspace.total.iter().flat_map(|register| register.0);
        let least = logs.fold(0.0, f64::min);
        let of_weights = match self.absent {
            AbsentFactors::Interventional => {
                self.zero.log_sums.iter().map(|log| log.value()).fold(0.0, f64::min)
            }
            _ => 0.0,
        };
        least + of_weights < FAR
    }

    /// ln ∏ k(0, y) over each point's entries outside the item's columns.
    pub(super) fn logs_outside(&self, workspace: &CellWorkspace) -> Vec<f64> {
        let mut logs = vec![0.0; self.tile.count()];
        let compared = &workspace.compared;
        for (index, column) in self.tile.columns.iter().enumerate() {
            if compared.binary_search_by_key(column, |compared| compared.column).is_err() {
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
        rest: Option<&RestOfTile<'_>>,
        workspace: &mut CellWorkspace,
        context: Context<'_>,
    ) {
        let of_unit = FreeEnd::from(rule);
        let (blocks, registers) = (self.tile.blocks(), rule.count().div_ceil(LANES));
        workspace.values.clear();
        workspace.places.clear();
        workspace.places.resize(workspace.present.len(), 0);
        workspace.products.clear();
        workspace.products.resize(blocks * LANES * registers, Lanes::ZERO);
        workspace.others.resize(rule.count(), Lanes::ONE);
        for number in 0..blocks {
            if context.is_stopped() {
                return;
            }
            context.run(Fill { cell: self, number, registers, rest, workspace: &mut *workspace });
            let CellWorkspace { block, prefixes, others, .. } = &mut *workspace;
            let rest = Others(others);
            if matches!(self.absent, AbsentFactors::Neutral(_)) {
                context.run_in_registers(FromOneEnd { rule: &of_unit, block, prefixes, rest });
            } else {
                context.run_in_registers(FromBothEnds { rule, block, prefixes, rest });
            }
            context.run(Keep { number, registers, workspace: &mut *workspace });
        }
    }
}

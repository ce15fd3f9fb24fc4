//! The pairs of selected columns, and of each with all others together, of one explained row from
//! one tile of points, for one term of the kernel.
//!
//! A pair has the coefficient cᵢ cⱼ ∫ ∏_{l∉{i,j}} Fₗ dt, its Shapley interaction index. For the
//! selected columns C, let P(t) = ∏_{l∉C} Fₗ(t) at a node, with the derivative
//! P′(t) = Σ_{j∉C} cⱼ ∏_{l∉C∪{j}} Fₗ(t). Then
//!
//!   Iᵢⱼ = cᵢ cⱼ ∫ P ∏_{l∈C∖{i,j}} Fₗ dt,    Σ_{j∉C} Iᵢⱼ = cᵢ ∫ P′ ∏_{l∈C∖{i}} Fₗ dt.
//!
//! An entry j of a point takes (P, P′) to (P Fⱼ, P′ Fⱼ + P cⱼ), without a division. The columns
//! outside of a point's entries, whose product of factors is the exponential of a sum of logarithms
//! (see `values`), have P′ = P Σ cⱼ/Fⱼ, the sum of the slopes of these logarithms.

use crate::game::block::Block;
use crate::quadrature::rule::{Node, Rule};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, multiply_add_lanes, multiply_lanes};
use crate::simd::level::Body;
use crate::simd::sum::{Accumulator, Sum, Summation, add_to_outputs};
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, ItemColumn};
use crate::sparse::compare::Compare;
use crate::sparse::fill::{Fill, TileZeroLogs};
use crate::sparse::profiles::{Factor, Logarithm};

/// The number of pairs of some selected columns and one more player, which stands for all others.
pub(crate) fn pairs_with_others(selected: usize) -> usize {
    selected * (selected + 1) / 2
}

/// The workspace of a thread.
#[derive(Debug, Default)]
pub(crate) struct PairWorkspace {
    cell: CellWorkspace,
    /// For each selected column, its place among the compared ones, and the factor of points
    /// without an entry.
    selected_columns: Vec<(usize, Factor)>,
    /// For each compared column and node, (ln F₀)′ of x less that of zero.
    slopes: Vec<Lanes>,
    /// Σ (ln F₀)′ at the nodes: of an empty point, and of the other columns of each lane's point.
    total: Vec<Lanes>,
    lane_slopes: Vec<Lanes>,
    /// The same, node by node.
    node_slopes: Vec<Lanes>,
    /// The first entry of a block in each compared column.
    firsts: Vec<usize>,
    /// The factors of the selected columns.
    factors: Block,
    /// Of the selected columns at a node: their factors, and the products from each one on.
    node_factors: Vec<Lanes>,
    suffixes: Vec<Lanes>,
    /// The integral of each pair, and the sums of the outputs.
    integrals: Vec<Lanes>,
    sums: Vec<Accumulator>,
}

impl Cell<'_> {
    /// Adds the pairs of an item to sums, pair by pair in lexicographic order, output by output.
    /// The item's columns include the selected ones.
    pub fn add_pairs(
        &self,
        item: &[ItemColumn],
        selected: &[usize],
        workspace: &mut PairWorkspace,
        context: Context<'_>,
        sums: &mut [Sum],
    ) {
        let cell = &mut workspace.cell;
        context.run(Compare { cell: self, item, workspace: &mut *cell });
        let lambda = self.largest_lambda(cell);
        let table = cell.table(lambda);
        let rule = table.rule(lambda, !matches!(self.absent, AbsentFactors::Neutral(_)));
        // The other columns are those of a point whose selected columns have the factor 1.
        workspace.selected_columns.clear();
        for column in selected {
            let place = cell.comparisons.partition_point(|comparison| comparison.column < *column);
            let reference = std::mem::replace(&mut cell.comparisons[place].reference, Factor::ONE);
            workspace.selected_columns.push((place, reference));
        }
        let logs = self.zero_logs(rule, Logarithm::Value);
        let slopes = self.zero_logs(rule, Logarithm::Slope);
        let [logs, slopes] = [&logs, &slopes].map(|logs| logs.as_ref().map(|logs| logs.of_tile()));
        let CellWorkspace { comparisons, logs: column_logs, total, .. } = &mut *cell;
        self.compute_logs(
            (rule, Logarithm::Value),
            logs.as_ref(),
            comparisons,
            (column_logs, total),
        );
        cell.outside = self.is_far(cell).then(|| self.logs_outside(cell));
        let numbers = (&mut workspace.slopes, &mut workspace.total);
        self.compute_logs((rule, Logarithm::Slope), slopes.as_ref(), &cell.comparisons, numbers);

        let outputs = self.weights.len() / self.tile.count().max(1);
        let count = pairs_with_others(selected.len());
        workspace.sums.clear();
        workspace.sums.resize(count * outputs, Accumulator::ZERO);
        workspace.cell.places.clear();
        workspace.cell.places.resize(workspace.cell.present.len(), 0);
        workspace.cell.values.clear();
        workspace.cell.block_products.resize(rule.count(), Lanes::ONE);
        let nodes = self.nodes(rule);
        for number in 0..self.tile.blocks() {
            if context.is_stopped() {
                return;
            }
            let (firsts, cell) = (&mut workspace.firsts, &mut workspace.cell);
            firsts.clear();
            firsts.extend(cell.comparisons.iter().map(|comparison| comparison.next));
            let registers = rule.count().div_ceil(LANES);
            context.run(Fill {
                cell: self,
                number,
                registers,
                zero_logs: logs.as_ref(),
                workspace: cell,
            });
            self.sum_slopes((number, registers), slopes.as_ref(), rule.count(), workspace);
            self.extract_factors(number, workspace);
            let is_unit = matches!(self.absent, AbsentFactors::Neutral(_));
            context.run_in_registers(Integrate { nodes: &nodes, is_unit, workspace });
            context.run(AddPairs { cell: self, number, outputs, workspace, context });
        }
        for (sum, pair) in sums.iter_mut().zip(&workspace.sums) {
            sum.add(Sum::from(pair.total().value() * self.scale), Summation::Compensated);
        }
    }

    /// The nodes of a rule, near ones first. In the neutral game all are seen from t = 0.
    fn nodes(&self, rule: &Rule) -> [Vec<Node>; 2] {
        let Rule { from_absent, from_present } = rule.clone();
        if !matches!(self.absent, AbsentFactors::Neutral(_)) {
            return [from_absent, from_present];
        }
        let from_one = from_present.iter().map(|node| Node { step: 1.0 + node.step, ..*node });
        [from_absent.into_iter().chain(from_one).collect(), Vec::new()]
    }

    /// Adds up the slopes of the logarithms of the other columns of each lane's point.
    fn sum_slopes(
        &self,
        (number, registers): (usize, usize),
        zero_slopes: Option<&TileZeroLogs<'_>>,
        n_nodes: usize,
        workspace: &mut PairWorkspace,
    ) {
        let PairWorkspace { cell, slopes, total, lane_slopes, node_slopes, firsts, .. } = workspace;
        let (first_point, tile) = (number * LANES, self.tile);
        lane_slopes.clear();
        for point in first_point..first_point + LANES {
            let start = lane_slopes.len();
            lane_slopes.extend_from_slice(total);
            if let Some(zero_slopes) = zero_slopes.filter(|_| point < tile.count()) {
                for (sum, slope) in
                    lane_slopes[start..].iter_mut().zip(&zero_slopes.points[point * registers..])
                {
                    sum.subtract::<LANES>(slope);
                }
            }
        }
        let columns = cell.comparisons.iter().zip(firsts).zip(slopes.chunks_exact(registers));
        for ((comparison, first), slopes) in columns {
            for &point in &tile.points[*first..comparison.next] {
                let sum = &mut lane_slopes[(point - first_point) * registers..][..registers];
                for (sum, slope) in sum.iter_mut().zip(slopes) {
                    sum.subtract::<LANES>(slope);
                }
            }
        }
        node_slopes.clear();
        node_slopes.extend((0..n_nodes).map(|node| {
            let lane = |lane: usize| lane_slopes[lane * registers + node / LANES].0[node % LANES];
            Lanes(std::array::from_fn(lane))
        }));
    }

    /// Takes the factors of the selected columns out of a block.
    fn extract_factors(&self, number: usize, workspace: &mut PairWorkspace) {
        let PairWorkspace { cell, selected_columns, firsts, factors, .. } = workspace;
        let Block { present, absent, difference, .. } = factors;
        for numbers in [&mut *present, &mut *absent, &mut *difference] {
            numbers.clear();
        }
        for (_, reference) in &*selected_columns {
            present.push(Lanes([reference.present; LANES]));
            absent.push(Lanes([reference.absent; LANES]));
            difference.push(Lanes([reference.difference; LANES]));
        }
        for (index, (place, _)) in selected_columns.iter().enumerate() {
            let comparison = &cell.comparisons[*place];
            for entry in firsts[*place]..comparison.next {
                let at = comparison.first + entry - comparison.entries.start;
                let lane = self.tile.points[entry] - number * LANES;
                present[index].0[lane] = cell.present[at];
                absent[index].0[lane] = cell.absent[at];
                difference[index].0[lane] = cell.difference[at];
                let slot = cell.places[at] / LANES;
                cell.block.difference[slot].0[lane] = 0.0;
                if !cell.block.absent.is_empty() {
                    cell.block.present[slot].0[lane] = 1.0;
                    cell.block.absent[slot].0[lane] = 1.0;
                }
            }
        }
    }
}

/// Maximum nodes whose products are computed together.
const MAX_NODES: usize = 4;

/// Computes the integral of each pair of a block, without the factors c of its members.
struct Integrate<'a> {
    nodes: &'a [Vec<Node>; 2],
    /// Whether all absent factors are 1.
    is_unit: bool,
    workspace: &'a mut PairWorkspace,
}

impl Body for Integrate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { nodes: [near, far], is_unit, workspace } = self;
        let count = workspace.factors.difference.len();
        workspace.integrals.clear();
        workspace.integrals.resize(pairs_with_others(count), Lanes::ZERO);
        workspace.node_factors.resize(count, Lanes::ONE);
        workspace.suffixes.resize(count + 1, Lanes::ONE);
        for (first, nodes, end) in [
            (0, near, if is_unit { End::One } else { End::Absent }),
            (near.len(), far, End::Present),
        ] {
            for (group, nodes) in nodes.chunks(MAX_NODES).enumerate() {
                for part in 0..LANES / W {
                    let at = NodeGroup { nodes, first: first + group * MAX_NODES, end, part };
                    at.add::<A, W>(workspace);
                }
            }
        }
    }
}

/// The factors at the end of [0, 1] from which nodes are seen.
#[derive(Clone, Copy)]
enum End {
    One,
    Absent,
    Present,
}

impl End {
    #[inline(always)]
    fn of<const W: usize>(self, block: &Block, player: usize, part: usize) -> [f64; W] {
        match self {
            Self::One => [1.0; W],
            Self::Absent => *block.absent[player].part(part),
            Self::Present => *block.present[player].part(part),
        }
    }
}

/// Some nodes, the number of the first of them, and a part of the lanes.
#[derive(Clone, Copy)]
struct NodeGroup<'a> {
    nodes: &'a [Node],
    first: usize,
    end: End,
    part: usize,
}

impl NodeGroup<'_> {
    /// Adds the contribution of the nodes to the integrals.
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(self, workspace: &mut PairWorkspace) {
        let missing = Node { step: 0.0, weight: 0.0 };
        let nodes: [Node; MAX_NODES] =
            std::array::from_fn(|n| self.nodes.get(n).copied().unwrap_or(missing));
        let (products, derivatives) = self.products::<A, W>(&nodes, workspace);
        for n in 0..self.nodes.len() {
            let weight = nodes[n].weight;
            let product = each_lane(|i| weight * products[n][i]);
            let derivative = each_lane(|i| weight * derivatives[n][i]);
            self.add_node::<A, W>(nodes[n].step, (product, derivative), workspace);
        }
    }

    /// P and P′ at the nodes.
    #[inline(always)]
    fn products<A: Arithmetic, const W: usize>(
        self,
        nodes: &[Node; MAX_NODES],
        workspace: &PairWorkspace,
    ) -> ([[f64; W]; MAX_NODES], [[f64; W]; MAX_NODES]) {
        let PairWorkspace {
            cell: CellWorkspace { block, block_products, .. }, node_slopes, ..
        } = workspace;
        let mut products = [[0.0; W]; MAX_NODES];
        let mut derivatives = [[0.0; W]; MAX_NODES];
        for n in 0..self.nodes.len() {
            products[n] = *block_products[self.first + n].part(self.part);
            derivatives[n] =
                multiply_lanes(&products[n], node_slopes[self.first + n].part(self.part));
        }
        for (player, c) in block.difference.iter().enumerate() {
            let (c, end): (&[f64; W], [f64; W]) =
                (c.part(self.part), self.end.of(block, player, self.part));
            for n in 0..MAX_NODES {
                let factor = each_lane(|i| A::mul_add(nodes[n].step, c[i], end[i]));
                let increment = multiply_lanes(&products[n], c);
                derivatives[n] = multiply_add_lanes::<A, W>(&increment, &derivatives[n], &factor);
                products[n] = multiply_lanes(&products[n], &factor);
            }
        }
        (products, derivatives)
    }

    /// Adds the contribution of a node, given its weight times P and P′.
    #[inline(always)]
    fn add_node<A: Arithmetic, const W: usize>(
        self,
        step: f64,
        (mut product, mut derivative): ([f64; W], [f64; W]),
        workspace: &mut PairWorkspace,
    ) {
        let PairWorkspace { factors, node_factors, suffixes, integrals, .. } = workspace;
        let count = factors.difference.len();
        let mut suffix = [1.0; W];
        for player in (0..count).rev() {
            let end: [f64; W] = self.end.of(factors, player, self.part);
            let c: &[f64; W] = factors.difference[player].part(self.part);
            let factor = each_lane(|i| A::mul_add(step, c[i], end[i]));
            *node_factors[player].part_mut(self.part) = factor;
            *suffixes[player + 1].part_mut(self.part) = suffix;
            suffix = multiply_lanes(&suffix, &factor);
        }
        let mut integrals = integrals.iter_mut();
        for one in 0..count {
            let mut run = product;
            for other in one + 1..count {
                let Some(integral) = integrals.next() else { return };
                let integral: &mut [f64; W] = integral.part_mut(self.part);
                let after = suffixes[other + 1].part(self.part);
                *integral = multiply_add_lanes::<A, W>(integral, &run, after);
                run = multiply_lanes(&run, node_factors[other].part(self.part));
            }
            let Some(integral) = integrals.next() else { return };
            let integral: &mut [f64; W] = integral.part_mut(self.part);
            let after = suffixes[one + 1].part(self.part);
            *integral = multiply_add_lanes::<A, W>(integral, &derivative, after);
            let factor: &[f64; W] = node_factors[one].part(self.part);
            product = multiply_lanes(&product, factor);
            derivative = multiply_lanes(&derivative, factor);
        }
    }
}

/// Adds the pairs of a block, times the weights of its points.
struct AddPairs<'a> {
    cell: &'a Cell<'a>,
    /// The number of the block.
    number: usize,
    outputs: usize,
    workspace: &'a mut PairWorkspace,
    context: Context<'a>,
}

impl Body for AddPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, number, outputs, workspace, context } = self;
        let PairWorkspace { factors: Block { difference, .. }, integrals, sums, .. } = workspace;
        let first = number * LANES;
        let count = cell.tile.count().saturating_sub(first).min(LANES);
        let weight = |output: usize| {
            let point_weight = |lane: usize| cell.weights[(first + lane) * outputs + output];
            let lane = |lane: usize| if lane < count { point_weight(lane) } else { 0.0 };
            (output, Lanes(std::array::from_fn(lane)))
        };
        let weights: Vec<(usize, Lanes)> = (0..outputs).map(weight).collect();
        let mut pairs = integrals.iter().zip(sums.chunks_mut(outputs.max(1)));
        for one in 0..difference.len() {
            for other in one + 1..=difference.len() {
                let Some((integral, sums)) = pairs.next() else { return };
                let mut value = integral.times::<W>(&difference[one]);
                if let Some(c) = difference.get(other) {
                    value = value.times::<W>(c);
                }
                add_to_outputs::<A, W>(&value, &weights, context.settings.summation, sums);
            }
        }
    }
}

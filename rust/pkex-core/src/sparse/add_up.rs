//! The values of a cell, added up by column.

use std::ops::Range;

use crate::quadrature::rule::{Node, Rule};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::simd::numbers::larger;
use crate::simd::sum::{Accumulator, Sum, Summation};
use crate::sparse::cell::{AbsentFactors, Cell, CellWorkspace, Comparison};
use crate::sparse::profiles::{Factor, MIN_FACTOR};

/// The number of an output, among so many.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub number: usize,
    pub count: usize,
}

impl Output {
    /// The weight of a point.
    #[inline(always)]
    fn weight(self, weights: &[f64], point: usize) -> f64 {
        weights[point * self.count + self.number]
    }

    /// Adds to the sum of a column.
    #[inline(always)]
    fn add(self, sums: &mut [Sum], column: usize, value: f64) {
        sums[column * self.count + self.number].add(Sum::from(value), Summation::Compensated);
    }
}

/// Adds c Ω of the points' entries, by column.
pub(crate) struct AddEntries<'a> {
    pub cell: &'a Cell<'a>,
    pub workspace: &'a CellWorkspace,
    pub output: Output,
    pub context: Context<'a>,
    pub sums: &'a mut [Sum],
}

impl Body for AddEntries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, workspace, output, context, sums } = self;
        let (tile, summation) = (cell.tile, context.settings.summation);
        if matches!(cell.absent, AbsentFactors::Interventional) {
            for Comparison { column, entries, first, .. } in &workspace.comparisons {
                let places = &workspace.places[*first..][..entries.len()];
                let points = &tile.points[entries.clone()];
                let sum = cell.sum::<A>((points, places), &workspace.values, output, summation);
                output.add(sums, *column, sum * cell.scale);
            }
            return;
        }
        for (index, &column) in tile.columns.iter().enumerate() {
            let entries = tile.entries_at(index);
            let (points, places) = (&tile.points[entries.clone()], &tile.places[entries]);
            let sum = cell.sum::<A>((points, places), &workspace.values, output, summation);
            output.add(sums, column, sum * cell.scale);
        }
    }
}

impl Cell<'_> {
    /// The sum of weights times values of entries.
    #[inline(always)]
    fn sum<A: Arithmetic>(
        &self,
        (points, places): (&[usize], &[usize]),
        values: &[Lanes],
        output: Output,
        summation: Summation,
    ) -> f64 {
        let (mut sum, mut plain) = (Sum::default(), 0.0);
        for (&point, &place) in points.iter().zip(places) {
            let weight = output.weight(self.weights, point);
            let value = values[place / LANES].0[place % LANES];
            match summation {
                Summation::Compensated => sum.add_product::<A>(weight, value),
                Summation::Plain => plain = A::mul_add(weight, value, plain),
            }
        }
        sum.value() + plain
    }
}

/// The nodes of a rule, sixteen in a register; missing ones have weight 0.
pub(crate) struct NodeLanes {
    registers: Vec<NodeRegister>,
}

struct NodeRegister {
    steps: Lanes,
    weights: Lanes,
    /// 1 where the node is seen from the factors of present players, else 0.
    is_far: Lanes,
}

impl NodeLanes {
    pub fn new(rule: &Rule) -> Self {
        let near = rule.from_absent.iter().map(|node| (node, 0.0));
        let nodes: Vec<_> = near.chain(rule.from_present.iter().map(|node| (node, 1.0))).collect();
        let register = |nodes: &[(&Node, f64)]| {
            let lanes = |number: fn(&(&Node, f64)) -> f64| {
                Lanes(std::array::from_fn(|n| nodes.get(n).map_or(0.0, number)))
            };
            NodeRegister {
                steps: lanes(|(node, _)| node.step),
                weights: lanes(|(node, _)| node.weight),
                is_far: lanes(|(_, is_far)| *is_far),
            }
        };
        Self { registers: nodes.chunks(LANES).map(register).collect() }
    }
}

impl NodeRegister {
    /// The part of ∫ numbers / F(t) dt that belongs to these nodes.
    #[inline(always)]
    fn integral_without<A: Arithmetic, const W: usize>(
        &self,
        factor: &Factor,
        numbers: &Lanes,
    ) -> f64 {
        let mut quotients = Lanes::ZERO;
        for part in 0..LANES / W {
            let (steps, weights): (&[f64; W], &[f64; W]) =
                (self.steps.part(part), self.weights.part(part));
            let (is_far, numbers): (&[f64; W], &[f64; W]) =
                (self.is_far.part(part), numbers.part(part));
            *quotients.part_mut::<W>(part) = each_lane(|i| {
                let end = if is_far[i] > 0.0 { factor.present } else { factor.absent };
                let value = A::mul_add(steps[i], factor.difference, end);
                weights[i] * numbers[i] / larger(value, MIN_FACTOR)
            });
        }
        quotients.total()
    }
}

/// Adds the values of columns from the points without an entry.
pub(crate) struct AddZeroEntries<'a> {
    pub cell: &'a Cell<'a>,
    pub nodes: &'a NodeLanes,
    pub workspace: &'a CellWorkspace,
    pub output: Output,
    pub context: Context<'a>,
    pub sums: &'a mut [Sum],
}

impl Body for AddZeroEntries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { cell, nodes, workspace, output, context, sums } = self;
        let comparisons = workspace.comparisons.as_slice();
        for (number, nodes) in nodes.registers.iter().enumerate() {
            let summation = context.settings.summation;
            let at = NodeSums { cell, nodes, number, workspace, output, summation };
            let mut total = Accumulator::ZERO;
            for point in 0..cell.tile.count() {
                at.include::<A, W>(point, &mut total);
            }
            for Comparison { column, reference, entries, .. } in comparisons {
                at.add_column::<A, W>(&total, (*column, reference), entries.clone(), sums);
            }
            let AbsentFactors::Marginal(term, tile) = cell.absent else { continue };
            let mut next = 0;
            for (&column, entries) in term.references.iter().zip(&term.reference_entries[tile]) {
                while next < comparisons.len() && comparisons[next].column < column {
                    next += 1;
                }
                if next == comparisons.len() || comparisons[next].column != column {
                    let reference = term.columns.of_zero(column);
                    at.add_column::<A, W>(&total, (column, &reference), entries.clone(), sums);
                }
            }
        }
    }
}

/// Sums over points at some of the nodes.
struct NodeSums<'a> {
    cell: &'a Cell<'a>,
    nodes: &'a NodeRegister,
    /// The number of the register of nodes.
    number: usize,
    workspace: &'a CellWorkspace,
    output: Output,
    summation: Summation,
}

impl NodeSums<'_> {
    /// Adds the products of a point, times its weight.
    #[inline(always)]
    fn include<A: Arithmetic, const W: usize>(&self, point: usize, sums: &mut Accumulator) {
        let registers = self.workspace.products.len() / (self.cell.tile.blocks() * LANES);
        let products = &self.workspace.products[point * registers + self.number];
        let weight = Lanes([self.output.weight(self.cell.weights, point); LANES]);
        match self.summation {
            Summation::Compensated => sums.add_product::<A, W>(&weight, products),
            Summation::Plain => sums.add_plainly::<A, W>(&weight, products),
        }
    }

    /// Adds c ∫ Σ weight · P / F dt over the points that are not among some entries.
    #[inline(always)]
    fn add_column<A: Arithmetic, const W: usize>(
        &self,
        total: &Accumulator,
        (column, reference): (usize, &Factor),
        entries: Range<usize>,
        sums: &mut [Sum],
    ) {
        let mut entry_sum = Accumulator::ZERO;
        for &point in &self.cell.tile.points[entries] {
            self.include::<A, W>(point, &mut entry_sum);
        }
        let integral = self.nodes.integral_without::<A, W>(reference, &total.minus(&entry_sum));
        self.output.add(sums, column, reference.difference * integral * self.cell.scale);
    }
}

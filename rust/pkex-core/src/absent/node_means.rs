//! The mean factors of products of two Gaussian kernels over a background, as sums over the nodes of
//! its columns' rules: in a time that hardly depends on the number of background rows.

use std::ops::Range;

use crate::absent::factors::AbsentFactors;
use crate::absent::product_means::NEGLIGIBLE_FACTOR;
use crate::absent::sample_rules::{Gaussians, SampleRules};
use crate::error::Error;
use crate::evaluations::products::Products;
use crate::kernel::family::gaussian;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::quadrature::sample_rule::Node;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, map_lanes, multiply_add_lanes};
use crate::simd::level::Body;
use crate::simd::sum::Accumulator;

/// Lanes of the one evaluation block that are multiplied side by side, for which registers suffice.
const TOGETHER: usize = 4;

/// A node's weight times a, and times a − 1, in lanes side by side.
type WeightedFactors = [[f64; TOGETHER]; 2];

/// The factors of two evaluation blocks at nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeMeans {
    /// The factors of a player of the one block at the nodes of a rule, lanes by lanes.
    one: Vec<WeightedFactors>,
    /// Those of the others, player by player.
    partners: Vec<NodeFactors>,
}

/// The factors of a player of an evaluation block at the nodes of a rule.
#[derive(Debug, Default)]
struct NodeFactors {
    /// The evaluation block and the level of the rule, if they are kept.
    key: Option<[usize; 2]>,
    factors: Vec<Lanes>,
    /// Σ weight · (a − 1).
    less_one: Lanes,
}

impl NodeMeans {
    /// Reserves memory for a number of players and nodes.
    pub fn reserve(&mut self, players: usize, nodes: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.partners, players, FACTORS)?;
        self.partners.resize_with(players, NodeFactors::default);
        let count = saturating_product([nodes, LANES / TOGETHER]);
        memory.reserve(&mut self.one, count, FACTORS)?;
        self.partners
            .iter_mut()
            .try_for_each(|player| memory.reserve(&mut player.factors, nodes, FACTORS))
    }

    /// Computes the means of some blocks of products, unless the call is to stop.
    pub fn means(
        &mut self,
        products: &Products<'_>,
        rules: &SampleRules,
        blocks: Range<usize>,
        context: Context<'_>,
        mut means: &mut [AbsentFactors],
    ) {
        let Range { start: mut index, end } = blocks;
        while index < end && !context.is_stopped() {
            let count = products.form.blocks_together(index..end);
            let (block_means, rest) = means.split_at_mut(count);
            for means in &mut *block_means {
                means.factor.clear();
                means.less_one.clear();
            }
            for player in 0..products.of_block(index).union.players.len() {
                self.add_player(products, rules, (index, player), context, block_means);
            }
            (means, index) = (rest, index + count);
        }
    }

    /// Appends the means of a player of blocks that have the evaluation blocks of block `index`.
    fn add_player(
        &mut self,
        products: &Products<'_>,
        rules: &SampleRules,
        (index, player): (usize, usize),
        context: Context<'_>,
        means: &mut [AbsentFactors],
    ) {
        let product_block = products.of_block(index);
        let (one, partner_block) = (product_block.partners.one, product_block.partners.block);
        let evaluations =
            [one.block, partner_block].map(|block| products.expansion.term_and_points(block));
        let terms = evaluations.map(|(term, _)| term);
        // Rules exist only if all players have such factors.
        let Some(gaussians) = Gaussians::of(terms, product_block.union.places[player]) else {
            return;
        };
        let Gaussians { column, rates } = gaussians;
        let level = rules.level(gaussians);
        let nodes = rules.nodes(column, level);
        let points = evaluations.map(|(_, points)| &points[column]);
        context.run(FillOne {
            nodes,
            rate: rates[0],
            points: points[0],
            weighted_factors: &mut self.one,
        });
        let node_factors = &mut self.partners[product_block.union.players[player]];
        // Many evaluations in turn have the same partners.
        if node_factors.key != Some([partner_block, level]) {
            node_factors.key = Some([partner_block, level]);
            let (rate, points, factors) = (rates[1], points[1], &mut node_factors.factors);
            node_factors.less_one = context.run(FillPartners { nodes, rate, points, factors });
        }
        for (first, weighted_factors) in
            (0..LANES).step_by(TOGETHER).zip(self.one.chunks(nodes.len()))
        {
            let lanes = one.lane.max(first)..(one.lane + means.len()).min(first + TOGETHER);
            if lanes.is_empty() {
                continue;
            }
            let sums =
                context.run(MultiplyAtNodes { weighted_factors, partners: &node_factors.factors });
            for lane in lanes {
                let [factor, mut less_one] = sums[lane - first];
                less_one
                    .0
                    .iter_mut()
                    .zip(&node_factors.less_one.0)
                    .for_each(|(sum, other)| *sum += other);
                means[lane - one.lane].factor.push(factor);
                means[lane - one.lane].less_one.push(less_one);
            }
        }
    }
}

/// The factors a of sixteen points at a node, and a − 1.
#[inline(always)]
fn factors_at_node<A: Arithmetic, const W: usize>(
    node: &Node,
    rate: f64,
    points: &Lanes,
) -> [Lanes; 2] {
    let (mut factor, mut less_one) = (Lanes::ZERO, Lanes::ZERO);
    for part in 0..LANES / W {
        let distances = map_lanes(points.part::<W>(part), |point| point - node.center);
        let (a, c) = gaussian::<A, W>(rate, node.offset, &distances);
        *factor.part_mut(part) = map_lanes(&a, |a| if a < NEGLIGIBLE_FACTOR { 0.0 } else { a });
        *less_one.part_mut(part) = c;
    }
    [factor, less_one]
}

/// Computes the weighted factors of the one block at nodes.
struct FillOne<'a> {
    nodes: &'a [Node],
    rate: f64,
    points: &'a Lanes,
    weighted_factors: &'a mut Vec<WeightedFactors>,
}

impl Body for FillOne<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { nodes, rate, points, weighted_factors } = self;
        weighted_factors.clear();
        weighted_factors.resize(nodes.len() * (LANES / TOGETHER), WeightedFactors::default());
        for (number, node) in nodes.iter().enumerate() {
            let values = factors_at_node::<A, W>(node, rate, points);
            let places = weighted_factors.iter_mut().skip(number).step_by(nodes.len());
            for (group, place) in places.enumerate() {
                for (weighted_factors, values) in place.iter_mut().zip(&values) {
                    let lanes = &values.0.as_chunks::<TOGETHER>().0[group];
                    *weighted_factors = map_lanes(lanes, |value| node.weight * value);
                }
            }
        }
    }
}

/// Computes the factors of the other block at nodes, and Σ weight · (a − 1).
struct FillPartners<'a> {
    nodes: &'a [Node],
    rate: f64,
    points: &'a Lanes,
    factors: &'a mut Vec<Lanes>,
}

impl Body for FillPartners<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Lanes {
        let Self { nodes, rate, points, factors } = self;
        let mut sum = Accumulator::ZERO;
        factors.clear();
        for node in nodes {
            let [factor, less_one] = factors_at_node::<A, W>(node, rate, points);
            sum.add_product::<A, W>(&Lanes([node.weight; LANES]), &less_one);
            factors.push(factor);
        }
        sum.lanes()
    }
}

/// Computes Σ weight · a a′ and Σ weight · (a − 1) a′ over nodes, for each a of the one block in
/// lanes side by side, and a′ in sixteen.
struct MultiplyAtNodes<'a> {
    weighted_factors: &'a [WeightedFactors],
    partners: &'a [Lanes],
}

impl Body for MultiplyAtNodes<'_> {
    type Output = [[Lanes; 2]; TOGETHER];

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> [[Lanes; 2]; TOGETHER] {
        let Self { weighted_factors, partners } = self;
        let mut result = [[Lanes::ZERO; 2]; TOGETHER];
        for part in 0..LANES / W {
            let mut sums = [[[0.0; W]; 2]; TOGETHER];
            for (weighted_factors, other) in weighted_factors.iter().zip(partners) {
                let other: &[f64; W] = other.part(part);
                for (lane, sums) in sums.iter_mut().enumerate() {
                    for (sum, weighted_factors) in sums.iter_mut().zip(weighted_factors) {
                        *sum = multiply_add_lanes::<A, W>(sum, &[weighted_factors[lane]; W], other);
                    }
                }
            }
            for (result, sums) in result.iter_mut().zip(&sums) {
                for (result, sum) in result.iter_mut().zip(sums) {
                    *result.part_mut(part) = *sum;
                }
            }
        }
        result
    }
}

//! The mean factors of products of two Gaussian kernels over a background, as sums over the nodes of
//! its columns' rules: in a time that hardly depends on the number of background rows.

use std::ops::Range;

use crate::absent::factors::AbsentFactors;
use crate::absent::product_means::{MultiplyKept, RowFactors};
use crate::absent::sample_rules::{Gaussians, SampleRules};
use crate::error::Error;
use crate::evaluations::products::Products;
use crate::kernel::family::gaussian;
use crate::memory::{FACTORS, Memory};
use crate::quadrature::sample_rule::Node;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, map_lanes};
use crate::simd::level::Body;
use crate::simd::sum::Accumulator;

/// The factors of two evaluation blocks at nodes.
#[derive(Debug, Default)]
pub(crate) struct NodeMeans {
    one: NodeFactors,
    /// Player by player.
    others: Vec<NodeFactors>,
}

/// The factors of a player of an evaluation block at the nodes of a rule.
#[derive(Debug, Default)]
struct NodeFactors {
    /// The evaluation block and the level of the rule, if they are kept.
    of: Option<[usize; 2]>,
    factors: Vec<RowFactors>,
    /// Σ weight · (a − 1).
    less_one: Lanes,
}

impl NodeMeans {
    /// Reserves memory for a number of players and nodes.
    pub fn reserve(&mut self, players: usize, nodes: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.others, players, FACTORS)?;
        self.others.resize_with(players, NodeFactors::default);
        let all = self.others.iter_mut().chain([&mut self.one]);
        all.into_iter().try_for_each(|own| memory.reserve(&mut own.factors, nodes, FACTORS))
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
            let (own, rest) = means.split_at_mut(count);
            for means in &mut *own {
                means.factor.clear();
                means.less_one.clear();
            }
            for player in 0..products.of_block(index).union.players.len() {
                self.add_player(products, rules, (index, player), context, own);
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
        let of = products.of_block(index);
        let blocks = [of.partners.one.block, of.partners.others];
        let evaluations = blocks.map(|block| products.expansion.term_and_points(block));
        let terms = evaluations.map(|(term, _)| term);
        // Rules exist only if all players have such factors.
        let Some(gaussians) = Gaussians::of(terms, of.union.places[player]) else { return };
        let Gaussians { column, rates } = gaussians;
        let level = rules.level(gaussians);
        let nodes = rules.nodes(column, level);
        let fill = |own: &mut NodeFactors, which: usize| {
            let (rate, points) = (rates[which], &evaluations[which].1[column]);
            let factors = &mut own.factors;
            own.less_one = context.run(FillNodes { nodes, rate, points, factors });
        };
        let (one, others) = (&mut self.one, &mut self.others[of.union.players[player]]);
        fill(one, 0);
        // Many evaluations in turn have the same partners.
        let key = Some([blocks[1], level]);
        if others.of != key {
            others.of = key;
            fill(others, 1);
        }
        for (means, lane) in means.iter_mut().zip(of.partners.one.lane..LANES) {
            let [factor, less_one] = context.run(MultiplyKept {
                one: (&one.factors, lane),
                others: (&others.factors, &others.less_one),
            });
            means.factor.push(factor);
            means.less_one.push(less_one);
        }
    }
}

/// Computes the factors of sixteen points at nodes, and Σ weight · (a − 1).
struct FillNodes<'a> {
    nodes: &'a [Node],
    rate: f64,
    points: &'a Lanes,
    factors: &'a mut Vec<RowFactors>,
}

impl Body for FillNodes<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Lanes {
        let Self { nodes, rate, points, factors } = self;
        let mut sum = Accumulator::ZERO;
        factors.clear();
        for &Node { center, offset, weight } in nodes {
            let (mut factor, mut less_one) = (Lanes::ZERO, Lanes::ZERO);
            for part in 0..LANES / W {
                let from_center = map_lanes(points.part::<W>(part), |point| point - center);
                let (a, c) = gaussian::<A, W>(rate, offset, &from_center);
                *factor.part_mut(part) = a;
                *less_one.part_mut(part) = c;
            }
            factors.push(RowFactors::new(&factor, &less_one, weight));
            sum.add_product::<A, W>(&Lanes([weight; LANES]), &less_one);
        }
        sum.lanes()
    }
}

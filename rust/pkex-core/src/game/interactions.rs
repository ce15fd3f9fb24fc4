//! ∫ ∏_{l∉T} Fₗ(t) μ(dt) for every coalition T of a size, by a quadrature rule.
//!
//! At each node the products of the factors after a player are stored. A running product of the
//! factors before it, without the members of T, then gives all coalitions that differ in their last
//! player by two instructions each, and one for the factor: O(d^|T|) a node.

use crate::error::Error;
use crate::game::block::Block;
use crate::game::coalitions::{Coalitions, Cursor};
use crate::memory::{FACTORS, Memory};
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, multiply_add_lanes, multiply_lanes, zip_lanes};
use crate::simd::level::Body;

/// Products of factors, in memory that is kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoalitionProducts {
    cursor: Cursor,
    /// For player j and node n: the node's weight times the factors of the players from j on.
    suffixes: Vec<Lanes>,
    /// For the i-th member of T and node n: the factors of the players before it outside T; or, for
    /// [`MultiplyDifferences`], the product of the c of the members before it.
    before: Vec<Lanes>,
    /// The product of c over each coalition.
    differences: Vec<Lanes>,
}

impl CoalitionProducts {
    /// A cursor for coalitions.
    pub fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    /// Reserves memory for games of a number of players.
    pub fn reserve(
        &mut self,
        players: usize,
        coalitions: &Coalitions,
        memory: &Memory,
    ) -> Result<(), Error> {
        memory.reserve(&mut self.suffixes, (players + 1).saturating_mul(MAX_NODES), FACTORS)?;
        memory.reserve(&mut self.before, coalitions.size().saturating_mul(MAX_NODES), FACTORS)?;
        // These are swapped with the block's differences.
        let count = players.saturating_add(1).max(coalitions.count());
        memory.reserve(&mut self.differences, count, FACTORS)
    }
}

/// Computes Ω of every coalition into `block.omega`, and the product of its members' c into
/// `block.difference`.
pub(crate) struct EvaluateCoalitions<'a> {
    pub rule: &'a Rule,
    pub coalitions: &'a Coalitions,
    pub block: &'a mut Block,
    pub products: &'a mut CoalitionProducts,
}

impl Body for EvaluateCoalitions<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { rule, coalitions, block, products } = self;
        let players = block.difference.len();
        products.suffixes.resize((players + 1) * MAX_NODES, Lanes::ONE);
        products.before.resize(coalitions.size() * MAX_NODES, Lanes::ONE);
        block.omega.clear();
        block.omega.resize(coalitions.count(), Lanes::ZERO);
        let Block { present, absent, difference, omega, .. } = &mut *block;
        let mut sweep = CoalitionSweep { coalitions, difference, omega, products: &mut *products };
        if absent.is_empty() {
            sweep.run::<A, W, _>(&rule.from_absent, UnitEnd);
        } else {
            sweep.run::<A, W, _>(&rule.from_absent, FactorEnd(absent));
        }
        sweep.run::<A, W, _>(&rule.from_present, FactorEnd(present));
        MultiplyDifferences { coalitions, block, products }.run::<A, W>();
    }
}

/// Maximum nodes whose products are computed together: as many as registers hold.
const MAX_NODES: usize = 4;

/// The factors at the end of [0, 1] from which nodes are seen.
trait End: Copy {
    fn factor<const W: usize>(self, player: usize, part: usize) -> [f64; W];
}

/// Every factor is 1.
#[derive(Clone, Copy)]
struct UnitEnd;

/// One factor per player.
#[derive(Clone, Copy)]
struct FactorEnd<'a>(&'a [Lanes]);

impl End for UnitEnd {
    #[inline(always)]
    fn factor<const W: usize>(self, _player: usize, _part: usize) -> [f64; W] {
        [1.0; W]
    }
}

impl End for FactorEnd<'_> {
    #[inline(always)]
    fn factor<const W: usize>(self, player: usize, part: usize) -> [f64; W] {
        *self.0[player].part(part)
    }
}

/// A pass over the coalitions.
struct CoalitionSweep<'a> {
    coalitions: &'a Coalitions,
    difference: &'a [Lanes],
    omega: &'a mut [Lanes],
    products: &'a mut CoalitionProducts,
}

impl CoalitionSweep<'_> {
    /// Adds the contribution of the nodes seen from one end, in groups of nearly equal size.
    #[inline(always)]
    fn run<A: Arithmetic, const W: usize, E: End>(&mut self, nodes: &[Node], end: E) {
        let mut remaining = nodes;
        while !remaining.is_empty() {
            let groups = remaining.len().div_ceil(MAX_NODES);
            let (group, tail) = remaining.split_at(remaining.len().div_ceil(groups));
            remaining = tail;
            match *group {
                [n0] => self.group::<A, W, 1, E>([n0], end),
                [n0, n1] => self.group::<A, W, 2, E>([n0, n1], end),
                [n0, n1, n2] => self.group::<A, W, 3, E>([n0, n1, n2], end),
                [n0, n1, n2, n3] => self.group::<A, W, 4, E>([n0, n1, n2, n3], end),
                _ => unreachable!("a group has 1 to {MAX_NODES} nodes"),
            }
        }
    }

    /// Adds the contribution of `N` nodes, from the factors at their end of [0, 1].
    #[inline(always)]
    fn group<A: Arithmetic, const W: usize, const N: usize, E: End>(
        &mut self,
        nodes: [Node; N],
        end: E,
    ) {
        let Self { coalitions, difference, .. } = *self;
        let omega = &mut *self.omega;
        let players = difference.len();
        let CoalitionProducts { cursor, suffixes, before, .. } = &mut *self.products;
        let suffixes = &mut suffixes.as_chunks_mut::<N>().0[..=players];
        let before = before.as_chunks_mut::<N>().0;
        for part in 0..LANES / W {
            let factors = FactorsAtNodes { nodes: &nodes, end, difference, part };
            for n in 0..N {
                let mut suffix = [nodes[n].weight; W];
                *suffixes[players][n].part_mut(part) = suffix;
                for player in (0..players).rev() {
                    suffix = multiply_lanes(&suffix, &factors.at::<A, W>(player, n));
                    *suffixes[player][n].part_mut(part) = suffix;
                }
            }
            add_nodes::<A, W, N, E>((coalitions, cursor), factors, (suffixes, before), omega);
        }
    }
}

/// The factors at `N` nodes, of one part of the lanes.
#[derive(Clone, Copy)]
struct FactorsAtNodes<'a, const N: usize, E> {
    nodes: &'a [Node; N],
    end: E,
    difference: &'a [Lanes],
    part: usize,
}

impl<const N: usize, E: End> FactorsAtNodes<'_, N, E> {
    /// A method and not a closure: a closure that is used in several places is not inlined, and
    /// then not vectorized.
    #[inline(always)]
    fn at<A: Arithmetic, const W: usize>(&self, player: usize, n: usize) -> [f64; W] {
        let c: &[f64; W] = self.difference[player].part(self.part);
        let end = self.end.factor(player, self.part);
        zip_lanes(c, &end, |c, end| A::mul_add(self.nodes[n].step, c, end))
    }
}

/// Adds the contribution of `N` nodes to Ω of every coalition, from their factors and suffix
/// products.
#[inline(always)]
fn add_nodes<A: Arithmetic, const W: usize, const N: usize, E: End>(
    (coalitions, cursor): (&Coalitions, &mut Cursor),
    factors: FactorsAtNodes<'_, N, E>,
    (suffixes, before): (&[[Lanes; N]], &mut [[Lanes; N]]),
    omega: &mut [Lanes],
) {
    let part = factors.part;
    if coalitions.size() == 0 {
        let total: &mut [f64; W] = omega[0].part_mut(part);
        for suffix in &suffixes[0] {
            *total = zip_lanes(total, suffix.part(part), |total, product| total + product);
        }
        return;
    }
    if !cursor.start(coalitions) {
        return;
    }
    let last = coalitions.size() - 1;
    let members = [&cursor.members[..], &[cursor.last(coalitions).start]].concat();
    for n in 0..N {
        let (mut run, mut next) = ([1.0; W], 0);
        for (&member, products) in members.iter().zip(&mut before[..=last]) {
            for player in next..member {
                run = multiply_lanes(&run, &factors.at::<A, W>(player, n));
            }
            *products[n].part_mut(part) = run;
            next = member + 1;
        }
    }
    let mut omega = omega.iter_mut();
    loop {
        let mut run: [[f64; W]; N] = std::array::from_fn(|n| *before[last][n].part(part));
        let members = cursor.last(coalitions);
        for ((player, after), omega) in
            members.clone().zip(&suffixes[members.start + 1..]).zip(&mut omega)
        {
            let mut sum: [f64; W] = *omega.part(part);
            for n in 0..N {
                sum = multiply_add_lanes::<A, W>(&sum, &run[n], after[n].part(part));
                run[n] = multiply_lanes(&run[n], &factors.at::<A, W>(player, n));
            }
            *omega.part_mut(part) = sum;
        }
        let Some(depth) = cursor.advance(coalitions) else { return };
        for n in 0..N {
            let factor = factors.at::<A, W>(cursor.members[depth] - 1, n);
            let run: [f64; W] = multiply_lanes(before[depth][n].part(part), &factor);
            for products in &mut before[depth..=last] {
                *products[n].part_mut(part) = run;
            }
        }
    }
}

/// Replaces `block.difference` by the product of c over the members of every coalition.
pub(crate) struct MultiplyDifferences<'a> {
    pub coalitions: &'a Coalitions,
    pub block: &'a mut Block,
    pub products: &'a mut CoalitionProducts,
}

impl Body for MultiplyDifferences<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { coalitions, block, products } = self;
        let CoalitionProducts { cursor, before, differences, .. } = products;
        let c = &block.difference;
        differences.clear();
        if coalitions.size() == 0 {
            differences.push(Lanes::ONE);
        } else if cursor.start(coalitions) {
            before.resize(coalitions.size() * MAX_NODES, Lanes::ONE);
            before[0] = Lanes::ONE;
            let mut changed_depth = Some(0);
            while let Some(first) = changed_depth {
                for depth in first..cursor.members.len() {
                    before[depth + 1] = before[depth].times::<W>(&c[cursor.members[depth]]);
                }
                let product = before[cursor.members.len()];
                differences
                    .extend(c[cursor.last(coalitions)].iter().map(|c| product.times::<W>(c)));
                changed_depth = cursor.advance(coalitions);
            }
        }
        std::mem::swap(&mut block.difference, &mut products.differences);
    }
}

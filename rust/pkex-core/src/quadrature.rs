//! Ω by Gauss–Legendre quadrature, for all players of a block at once.
//!
//! Ωⱼ = ∫₀¹ ∏_{l≠j} Fₗ(t) dt with Fₗ(t) = bₗ + t cₗ (Owen 1972). At each node the products of the
//! factors before and after player j are kept as a running prefix and suffix, so nothing is ever
//! divided (factors may be 0) and no logarithm is taken (they may be negative). Five instructions
//! per node and player: two on the way up (F, prefix), three on the way down (F, Ω, suffix).

use crate::arithmetic::Arithmetic;
use crate::block::Block;
use crate::lanes::{LANES, Lanes, each, zip};
use crate::nodes::{Node, Rule};

/// Most nodes that go through the players together: as many products as registers hold.
const MOST_NODES: usize = 4;

/// Room for the prefix products, kept between blocks.
#[derive(Clone, Debug, Default)]
pub struct Prefixes(Vec<Lanes>);

/// Ω of every player into `block.values`.
#[inline(always)]
pub fn omega<A: Arithmetic, const W: usize>(
    rule: &Rule,
    block: &mut Block,
    prefixes: &mut Prefixes,
) {
    block.values.fill(Lanes::ZERO);
    prefixes.0.resize(block.present.len() * MOST_NODES, Lanes::ONE);
    if block.absent.is_empty() {
        let Block { present, difference, values, .. } = block;
        sweep_all::<A, W, _>(&rule.from_absent, One, difference, values, prefixes);
        sweep_all::<A, W, _>(&rule.from_present, Each(present), difference, values, prefixes);
    } else {
        let Block { present, absent, difference, values } = block;
        sweep_all::<A, W, _>(&rule.from_absent, Each(absent), difference, values, prefixes);
        sweep_all::<A, W, _>(&rule.from_present, Each(present), difference, values, prefixes);
    }
}

/// The factors at the end of [0, 1] from which nodes are seen.
trait End: Copy {
    fn factor<const W: usize>(self, player: usize, part: usize) -> [f64; W];
}

/// Every factor is 1.
#[derive(Clone, Copy)]
struct One;

/// One factor per player.
#[derive(Clone, Copy)]
struct Each<'a>(&'a [Lanes]);

impl End for One {
    #[inline(always)]
    fn factor<const W: usize>(self, _player: usize, _part: usize) -> [f64; W] {
        [1.0; W]
    }
}

impl End for Each<'_> {
    #[inline(always)]
    fn factor<const W: usize>(self, player: usize, part: usize) -> [f64; W] {
        *self.0[player].part(part)
    }
}

/// Adds the nodes' contributions to Ω, in groups of nearly equal size.
#[inline(always)]
fn sweep_all<A: Arithmetic, const W: usize, E: End>(
    nodes: &[Node],
    end: E,
    difference: &[Lanes],
    omega: &mut [Lanes],
    prefixes: &mut Prefixes,
) {
    let mut rest = nodes;
    while !rest.is_empty() {
        let groups = rest.len().div_ceil(MOST_NODES);
        let (group, others) = rest.split_at(rest.len().div_ceil(groups));
        rest = others;
        match *group {
            [n0] => sweep::<A, W, 1, E>([n0], end, difference, omega, prefixes),
            [n0, n1] => sweep::<A, W, 2, E>([n0, n1], end, difference, omega, prefixes),
            [n0, n1, n2] => sweep::<A, W, 3, E>([n0, n1, n2], end, difference, omega, prefixes),
            [n0, n1, n2, n3] => {
                sweep::<A, W, 4, E>([n0, n1, n2, n3], end, difference, omega, prefixes);
            }
            _ => unreachable!("a group has 1 to {MOST_NODES} nodes"),
        }
    }
}

/// Adds `N` nodes' contributions to Ω of every player.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "players index several arrays")]
fn sweep<A: Arithmetic, const W: usize, const N: usize, E: End>(
    nodes: [Node; N],
    end: E,
    difference: &[Lanes],
    omega: &mut [Lanes],
    prefixes: &mut Prefixes,
) {
    let players = difference.len();
    let prefixes = &mut prefixes.0.as_chunks_mut::<N>().0[..players];
    let omega = &mut omega[..players];
    for part in 0..LANES / W {
        let factor = |player: usize, node: &Node| -> [f64; W] {
            let c: &[f64; W] = difference[player].part(part);
            zip(c, &end.factor(player, part), |c, end| A::mul_add(node.step, c, end))
        };
        let mut prefix = [[1.0; W]; N];
        for player in 0..players {
            for n in 0..N {
                *prefixes[player][n].part_mut(part) = prefix[n];
                prefix[n] = zip(&prefix[n], &factor(player, &nodes[n]), |p, f| p * f);
            }
        }
        let mut suffix: [[f64; W]; N] = std::array::from_fn(|n| [nodes[n].weight; W]);
        for player in (0..players).rev() {
            let mut sum: [f64; W] = *omega[player].part(part);
            for n in 0..N {
                let before: &[f64; W] = prefixes[player][n].part(part);
                sum = each(|i| A::mul_add(before[i], suffix[n][i], sum[i]));
                suffix[n] = zip(&suffix[n], &factor(player, &nodes[n]), |s, f| s * f);
            }
            *omega[player].part_mut(part) = sum;
        }
    }
}

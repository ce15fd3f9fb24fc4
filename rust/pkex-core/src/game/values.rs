//! Ω by Gauss–Legendre quadrature, for all players of a block at once.
//!
//! Ωⱼ = ∫₀¹ ∏_{l≠j} Fₗ(t) dt with Fₗ(t) = bₗ + t cₗ (Owen 1972). At each node the products of the
//! factors before and after player j are kept as a running prefix and suffix, so nothing is ever
//! divided (factors may be 0) and no logarithm is taken (they may be negative). Five instructions
//! per node and player: two on the way up (F, prefix), three on the way down (F, Ω, suffix). Prefixes
//! are stored for every second player only, which costs half an instruction more and saves half of
//! the memory: stores, and what does not fit the first-level cache, cost more than arithmetic.

use crate::error::Error;
use crate::game::block::Block;
use crate::memory::{FACTORS, Memory};
use crate::quadrature::table::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each, zip};

/// Most nodes that go through the players together: as many products as registers hold.
pub(crate) const MOST_NODES: usize = 4;

/// Room for the prefix products, kept between blocks.
#[derive(Clone, Debug, Default)]
pub struct Prefixes(Vec<Lanes>);

impl Prefixes {
    /// Makes room for games of that many players.
    pub(crate) fn reserve(&mut self, players: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.0, players / 2 * MOST_NODES, FACTORS)
    }
}

/// Ω of every player into `block.omega`.
#[inline(always)]
pub fn omega<A: Arithmetic, const W: usize>(
    rule: &Rule,
    block: &mut Block,
    prefixes: &mut Prefixes,
) {
    block.omega.fill(Lanes::ZERO);
    prefixes.0.resize(block.present.len() / 2 * MOST_NODES, Lanes::ONE);
    pass::<A, W, _>(rule, block, &mut ByPlayer(prefixes));
}

/// What a group of nodes contributes to Ω.
pub(crate) trait Sweep {
    /// Adds what `N` nodes contribute, given the factors at their end of [0, 1].
    fn sweep<A: Arithmetic, const W: usize, const N: usize, E: End>(
        &mut self,
        nodes: [Node; N],
        end: E,
        difference: &[Lanes],
        omega: &mut [Lanes],
    );
}

/// Passes over the nodes of a rule in groups of at most [`MOST_NODES`].
#[inline(always)]
pub(crate) fn pass<A: Arithmetic, const W: usize, S: Sweep>(
    rule: &Rule,
    block: &mut Block,
    sweep: &mut S,
) {
    let Block { present, absent, difference, omega } = block;
    if absent.is_empty() {
        sweep_all::<A, W, _, S>(&rule.from_absent, One, difference, omega, sweep);
    } else {
        sweep_all::<A, W, _, S>(&rule.from_absent, Each(absent), difference, omega, sweep);
    }
    sweep_all::<A, W, _, S>(&rule.from_present, Each(present), difference, omega, sweep);
}

/// The factors at the end of [0, 1] from which nodes are seen.
pub(crate) trait End: Copy {
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

/// Sweeps nodes seen from one end, in groups of nearly equal size.
#[inline(always)]
fn sweep_all<A: Arithmetic, const W: usize, E: End, S: Sweep>(
    nodes: &[Node],
    end: E,
    difference: &[Lanes],
    omega: &mut [Lanes],
    by: &mut S,
) {
    let mut rest = nodes;
    while !rest.is_empty() {
        let groups = rest.len().div_ceil(MOST_NODES);
        let (group, others) = rest.split_at(rest.len().div_ceil(groups));
        rest = others;
        match *group {
            [n0] => by.sweep::<A, W, 1, E>([n0], end, difference, omega),
            [n0, n1] => by.sweep::<A, W, 2, E>([n0, n1], end, difference, omega),
            [n0, n1, n2] => by.sweep::<A, W, 3, E>([n0, n1, n2], end, difference, omega),
            [n0, n1, n2, n3] => by.sweep::<A, W, 4, E>([n0, n1, n2, n3], end, difference, omega),
            _ => unreachable!("a group has 1 to {MOST_NODES} nodes"),
        }
    }
}

/// Ω of every player.
struct ByPlayer<'a>(&'a mut Prefixes);

impl Sweep for ByPlayer<'_> {
    #[inline(always)]
    fn sweep<A: Arithmetic, const W: usize, const N: usize, E: End>(
        &mut self,
        nodes: [Node; N],
        end: E,
        difference: &[Lanes],
        omega: &mut [Lanes],
    ) {
        sweep::<A, W, N, E>(nodes, end, difference, omega, self.0);
    }
}

/// Adds `N` nodes' contributions to Ω of every player.
#[inline(always)]
fn sweep<A: Arithmetic, const W: usize, const N: usize, E: End>(
    nodes: [Node; N],
    end: E,
    difference: &[Lanes],
    omega: &mut [Lanes],
    prefixes: &mut Prefixes,
) {
    let players = difference.len();
    let pairs = players / 2;
    let prefixes = &mut prefixes.0.as_chunks_mut::<N>().0[..pairs];
    let omega = &mut omega[..players];
    for part in 0..LANES / W {
        let factor = |player: usize, node: &Node| -> [f64; W] {
            let c: &[f64; W] = difference[player].part(part);
            zip(c, &end.factor(player, part), |c, end| A::mul_add(node.step, c, end))
        };
        let mut prefix = [[1.0; W]; N];
        for (pair, stored) in prefixes.iter_mut().enumerate() {
            for n in 0..N {
                *stored[n].part_mut(part) = prefix[n];
                prefix[n] = product(&prefix[n], &factor(2 * pair, &nodes[n]));
                prefix[n] = product(&prefix[n], &factor(2 * pair + 1, &nodes[n]));
            }
        }
        let mut suffix: [[f64; W]; N] = std::array::from_fn(|n| [nodes[n].weight; W]);
        if players % 2 == 1 {
            let last: &mut [f64; W] = omega[players - 1].part_mut(part);
            for n in 0..N {
                *last = add_product::<A, W>(last, &prefix[n], &suffix[n]);
                suffix[n] = product(&suffix[n], &factor(players - 1, &nodes[n]));
            }
        }
        for (pair, stored) in prefixes.iter().enumerate().rev() {
            let (first, second) = (2 * pair, 2 * pair + 1);
            let mut omega_first: [f64; W] = *omega[first].part(part);
            let mut omega_second: [f64; W] = *omega[second].part(part);
            for n in 0..N {
                let before: &[f64; W] = stored[n].part(part);
                let first_factor = factor(first, &nodes[n]);
                let between = product(before, &first_factor);
                omega_second = add_product::<A, W>(&omega_second, &between, &suffix[n]);
                suffix[n] = product(&suffix[n], &factor(second, &nodes[n]));
                omega_first = add_product::<A, W>(&omega_first, before, &suffix[n]);
                suffix[n] = product(&suffix[n], &first_factor);
            }
            *omega[first].part_mut(part) = omega_first;
            *omega[second].part_mut(part) = omega_second;
        }
    }
}

#[inline(always)]
pub(crate) fn product<const W: usize>(a: &[f64; W], b: &[f64; W]) -> [f64; W] {
    zip(a, b, |a, b| a * b)
}

/// sum + a·b.
#[inline(always)]
pub(crate) fn add_product<A: Arithmetic, const W: usize>(
    sum: &[f64; W],
    a: &[f64; W],
    b: &[f64; W],
) -> [f64; W] {
    each(|i| A::mul_add(a[i], b[i], sum[i]))
}

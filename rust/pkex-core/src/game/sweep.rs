//! Passes over the nodes of a rule, a few at a time.

use crate::game::block::Block;
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;

/// Most nodes that go through the players together: as many products as registers hold.
pub(crate) const MOST_NODES: usize = 4;

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
    let Block { present, absent, difference, omega, .. } = block;
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

//! Ω by Gauss–Legendre quadrature, for all players of a block at once.
//!
//! Ωⱼ = ∫₀¹ ∏_{l≠j} Fₗ(t) dt with Fₗ(t) = bₗ + t cₗ (Owen 1972). At each node the products of the
//! factors before and after player j are kept as a running prefix and suffix, so nothing is ever
//! divided (factors may be 0) and no logarithm is taken (they may be negative). Five instructions
//! per node and player: two on the way up (F, prefix), three on the way down (F, Ω, suffix).
//! Prefixes are stored for every second player only, which costs half an instruction more and saves
//! half of the memory: stores, and what does not fit the first-level cache, cost more than
//! arithmetic.

use crate::error::Error;
use crate::game::block::Block;
use crate::game::sweep::{End, MOST_NODES, Sweep, pass};
use crate::memory::{FACTORS, Memory};
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, multiply_add_lanes, multiply_lanes, zip_lanes};

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
            zip_lanes(c, &end.factor(player, part), |c, end| A::mul_add(node.step, c, end))
        };
        let mut prefix = [[1.0; W]; N];
        for (pair, stored) in prefixes.iter_mut().enumerate() {
            for n in 0..N {
                *stored[n].part_mut(part) = prefix[n];
                prefix[n] = multiply_lanes(&prefix[n], &factor(2 * pair, &nodes[n]));
                prefix[n] = multiply_lanes(&prefix[n], &factor(2 * pair + 1, &nodes[n]));
            }
        }
        let mut suffix: [[f64; W]; N] = std::array::from_fn(|n| [nodes[n].weight; W]);
        if players % 2 == 1 {
            let last: &mut [f64; W] = omega[players - 1].part_mut(part);
            for n in 0..N {
                *last = multiply_add_lanes::<A, W>(last, &prefix[n], &suffix[n]);
                suffix[n] = multiply_lanes(&suffix[n], &factor(players - 1, &nodes[n]));
            }
        }
        for (pair, stored) in prefixes.iter().enumerate().rev() {
            let (first, second) = (2 * pair, 2 * pair + 1);
            let mut omega_first: [f64; W] = *omega[first].part(part);
            let mut omega_second: [f64; W] = *omega[second].part(part);
            for n in 0..N {
                let before: &[f64; W] = stored[n].part(part);
                let first_factor = factor(first, &nodes[n]);
                let between = multiply_lanes(before, &first_factor);
                omega_second = multiply_add_lanes::<A, W>(&omega_second, &between, &suffix[n]);
                suffix[n] = multiply_lanes(&suffix[n], &factor(second, &nodes[n]));
                omega_first = multiply_add_lanes::<A, W>(&omega_first, before, &suffix[n]);
                suffix[n] = multiply_lanes(&suffix[n], &first_factor);
            }
            *omega[first].part_mut(part) = omega_first;
            *omega[second].part_mut(part) = omega_second;
        }
    }
}

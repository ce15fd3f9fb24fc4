//! Ω by quadrature, for all players of a block at once.
//!
//! Ωⱼ = ∫₀¹ ∏_{l≠j} Fₗ(t) dt with Fₗ(t) = bₗ + t cₗ (Owen 1972). Nothing is divided, because
//! factors may be 0, and no logarithm is taken, because they may be negative. At each node the
//! products of the factors before and after two players are kept as a running prefix and suffix.
//! Seen from an end of [0, 1] with the factors e, at a step s from it, the product of the two
//! factors is
//!
//!   Fᵢ Fⱼ = eᵢ eⱼ + s (eᵢ cⱼ + eⱼ cᵢ) + s² cᵢ cⱼ,
//!
//! and with A = weight · prefix · suffix at a node, M₀ = Σ A and M₁ = Σ s A over the nodes,
//!
//!   Ωᵢ = eⱼ M₀ + cⱼ M₁,    Ωⱼ = eᵢ M₀ + cᵢ M₁.
//!
//! Nine instructions per node and two players: three in the pass up (F, prefix), six in the pass
//! down (A, M, F, suffix).

use crate::game::block::Block;
use crate::game::two_players::{
    MAX_FROM_EACH_END, MAX_FROM_ONE_END, PerTwo, TwoPlayers, in_groups,
};
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, multiply_add_lanes, multiply_lanes, zip_lanes};
use crate::simd::level::Body;

/// Computes Ω of every player into `block.omega`, for games with b = 1, by nodes seen from t = 0.
///
/// Errors near t = 1 are absolute. They are small compared with Ω where 1 + c is in [0, 1].
pub(crate) struct FromOneEnd<'a, R> {
    pub rule: &'a FreeEnd,
    pub block: &'a mut Block,
    pub prefixes: &'a mut PerTwo,
    pub other_players: R,
}

impl<R: OtherPlayers> Body for FromOneEnd<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { rule, block: Block { difference, omega, .. }, prefixes, mut other_players } =
            self;
        prefixes.resize(difference.len());
        const { assert!(MAX_FROM_ONE_END == 8, "the cases below") };
        let mut ends = OneEnd { value: rule.value, slope: rule.slope };
        let mut first = [0, rule.nodes.len()];
        let mut is_first = true;
        for (near, far) in in_groups((&rule.nodes, &[]), MAX_FROM_ONE_END) {
            let other_players = &mut other_players;
            let mut sweep =
                Sweep { ends, difference, omega, is_first, prefixes, other_players, first };
            match near.len() {
                1 => sweep.run::<A, W, 1, 1>(near, far),
                2 => sweep.run::<A, W, 2, 2>(near, far),
                3 => sweep.run::<A, W, 3, 3>(near, far),
                4 => sweep.run::<A, W, 4, 4>(near, far),
                5 => sweep.run::<A, W, 5, 5>(near, far),
                6 => sweep.run::<A, W, 6, 6>(near, far),
                7 => sweep.run::<A, W, 7, 7>(near, far),
                _ => sweep.run::<A, W, 8, 8>(near, far),
            }
            ends = OneEnd { value: 0.0, slope: 0.0 };
            is_first = false;
            first[0] += near.len();
        }
    }
}

/// Computes Ω of every player into `block.omega`, by nodes that are each seen from the nearer end.
pub(crate) struct FromBothEnds<'a, R> {
    pub rule: &'a Rule,
    pub block: &'a mut Block,
    pub prefixes: &'a mut PerTwo,
    pub other_players: R,
}

impl<R: OtherPlayers> Body for FromBothEnds<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { rule, block, prefixes, mut other_players } = self;
        let Block { present, absent, difference, omega, .. } = block;
        prefixes.resize(difference.len());
        const { assert!(MAX_FROM_EACH_END == 5, "the cases below") };
        let ends = BothEnds { near: absent, far: present };
        let mut first = [0, rule.from_absent.len()];
        let mut is_first = true;
        for (near, far) in in_groups((&rule.from_absent, &rule.from_present), MAX_FROM_EACH_END) {
            let other_players = &mut other_players;
            let mut sweep =
                Sweep { ends, difference, omega, is_first, prefixes, other_players, first };
            match (near.len(), far.len()) {
                (0, _) => sweep.run::<A, W, 1, 0>(near, far),
                (1, 0) => sweep.run::<A, W, 1, 1>(near, far),
                (1, _) => sweep.run::<A, W, 2, 1>(near, far),
                (2, 1) => sweep.run::<A, W, 3, 2>(near, far),
                (2, _) => sweep.run::<A, W, 4, 2>(near, far),
                (3, 2) => sweep.run::<A, W, 5, 3>(near, far),
                (3, _) => sweep.run::<A, W, 6, 3>(near, far),
                (4, 3) => sweep.run::<A, W, 7, 4>(near, far),
                (4, _) => sweep.run::<A, W, 8, 4>(near, far),
                // Nine nodes are ten, one of which has no weight.
                _ => sweep.run::<A, W, 10, 5>(near, far),
            }
            is_first = false;
            first = [first[0] + near.len(), first[1] + far.len()];
        }
    }
}

/// The factors of other players, which are not in the block: what multiplies the factors of the
/// block's players at each node of a rule. Nodes are numbered from 0, near ones first.
pub(crate) trait OtherPlayers {
    /// The product of the others at a node.
    fn start<const W: usize>(&self, node: usize, part: usize) -> [f64; W];

    /// Takes the product of all players at a node.
    fn finish<const W: usize>(&mut self, node: usize, part: usize, product: &[f64; W]);
}

/// There are no other players.
pub(crate) struct NoOtherPlayers;

impl OtherPlayers for NoOtherPlayers {
    #[inline(always)]
    fn start<const W: usize>(&self, _node: usize, _part: usize) -> [f64; W] {
        [1.0; W]
    }

    #[inline(always)]
    fn finish<const W: usize>(&mut self, _node: usize, _part: usize, _product: &[f64; W]) {}
}

/// The products of the others at each node, which become the products of all players.
pub(crate) struct OtherProducts<'a>(pub &'a mut [Lanes]);

impl OtherPlayers for OtherProducts<'_> {
    #[inline(always)]
    fn start<const W: usize>(&self, node: usize, part: usize) -> [f64; W] {
        *self.0[node].part(part)
    }

    #[inline(always)]
    fn finish<const W: usize>(&mut self, node: usize, part: usize, product: &[f64; W]) {
        *self.0[node].part_mut(part) = *product;
    }
}

/// The factors at the ends of [0, 1] from which nodes are seen.
trait Ends: Copy {
    /// The factor of a player at the end of the near nodes, and at the end of the far ones.
    fn near<const W: usize>(self, player: usize, part: usize) -> [f64; W];
    fn far<const W: usize>(self, player: usize, part: usize) -> [f64; W];

    /// The contribution of the near end itself to M₀ and M₁, from the sum of the c of all other
    /// players.
    fn moments<A: Arithmetic, const W: usize>(self, other_sum: &[f64; W]) -> [[f64; W]; 2];
}

/// Every factor is 1 at t = 0, where value and slope of the product have these weights.
#[derive(Clone, Copy)]
struct OneEnd {
    value: f64,
    slope: f64,
}

impl Ends for OneEnd {
    #[inline(always)]
    fn near<const W: usize>(self, _player: usize, _part: usize) -> [f64; W] {
        [1.0; W]
    }

    #[inline(always)]
    fn far<const W: usize>(self, _player: usize, _part: usize) -> [f64; W] {
        [0.0; W]
    }

    #[inline(always)]
    fn moments<A: Arithmetic, const W: usize>(self, other_sum: &[f64; W]) -> [[f64; W]; 2] {
        let Self { value, slope } = self;
        [each_lane(|i| A::mul_add(other_sum[i], slope, value)), [slope; W]]
    }
}

/// Factors of absent players at t = 0, and of present ones at t = 1.
#[derive(Clone, Copy)]
struct BothEnds<'a> {
    near: &'a [Lanes],
    far: &'a [Lanes],
}

impl Ends for BothEnds<'_> {
    #[inline(always)]
    fn near<const W: usize>(self, player: usize, part: usize) -> [f64; W] {
        *self.near[player].part(part)
    }

    #[inline(always)]
    fn far<const W: usize>(self, player: usize, part: usize) -> [f64; W] {
        *self.far[player].part(part)
    }

    #[inline(always)]
    fn moments<A: Arithmetic, const W: usize>(self, _others: &[f64; W]) -> [[f64; W]; 2] {
        [[0.0; W]; 2]
    }
}

/// A pass over the players with some nodes.
struct Sweep<'a, E, R> {
    ends: E,
    difference: &'a [Lanes],
    omega: &'a mut [Lanes],
    /// Whether Ω is set by this pass: there is nothing to add to.
    is_first: bool,
    prefixes: &'a mut PerTwo,
    other_players: &'a mut R,
    /// The numbers of the first near node and of the first far one.
    first: [usize; 2],
}

impl<E: Ends, R: OtherPlayers> Sweep<'_, E, R> {
    /// Adds the contribution of `N` nodes, the first `B` of them near ones, to Ω; missing nodes
    /// have weight 0.
    #[inline(always)]
    fn run<A: Arithmetic, const W: usize, const N: usize, const B: usize>(
        &mut self,
        near: &[Node],
        far: &[Node],
    ) {
        let missing = Node { step: 0.0, weight: 0.0 };
        let node = |n: usize| if n < B { near.get(n) } else { far.get(n - B) };
        let nodes: [Node; N] = std::array::from_fn(|n| node(n).copied().unwrap_or(missing));
        let first = self.first;
        let number = |n: usize| match n.checked_sub(B) {
            None => (n < near.len()).then_some(first[0] + n),
            Some(n) => (n < far.len()).then_some(first[1] + n),
        };
        let Self { ends, difference, is_first, .. } = *self;
        let (twos, last) = difference.as_chunks::<2>();
        let prefixes = &mut self.prefixes.registers::<W, N>()[..twos.len()];
        let (omega, last_omega) = self.omega.as_chunks_mut::<2>();
        for part in 0..LANES / W {
            let at = SweepNodes::<E, N, B> { ends, nodes, part };
            let start: [[f64; W]; N] = std::array::from_fn(|n| {
                number(n).map_or([1.0; W], |node| self.other_players.start(node, part))
            });
            let (prefix, mut sum) = at.ascend::<A, W>(twos, prefixes, start);
            let mut suffix: [[f64; W]; N] = std::array::from_fn(|n| [nodes[n].weight; W]);
            if let ([c], [omega]) = (last, &mut *last_omega) {
                let player = (difference.len() - 1, c.part(part));
                let total = at.last_omega::<A, W>(player, &prefix, &mut suffix, &sum);
                let omega: &mut [f64; W] = omega.part_mut(part);
                let before = if is_first { [0.0; W] } else { *omega };
                *omega = zip_lanes(&before, &total, |omega, total| omega + total);
                sum = zip_lanes(&sum, player.1, |sum, c| sum + c);
            }
            for (n, product) in prefix.iter().enumerate() {
                let Some(node) = number(n) else { continue };
                let total = match last {
                    [c] => {
                        let factor = at.factor::<A, W>(n, difference.len() - 1, c.part(part));
                        multiply_lanes(product, &factor)
                    }
                    _ => *product,
                };
                self.other_players.finish(node, part, &total);
            }
            let omega = &mut omega[..twos.len()];
            at.descend::<A, W>(twos, prefixes, &mut suffix, &sum, (omega, is_first));
        }
    }
}

/// The factors of players at `N` nodes, the first `B` of them near ones, in some lanes.
#[derive(Clone, Copy)]
struct SweepNodes<E, const N: usize, const B: usize> {
    ends: E,
    nodes: [Node; N],
    part: usize,
}

impl<E: Ends, const N: usize, const B: usize> SweepNodes<E, N, B> {
    /// Multiplies the prefixes by all players, two by two, and stores the products before each two.
    /// Returns the products of all of them, and the sum of their c.
    #[inline(always)]
    fn ascend<A: Arithmetic, const W: usize>(
        &self,
        twos: &[[Lanes; 2]],
        prefixes: &mut [[[f64; W]; N]],
        mut prefix: [[f64; W]; N],
    ) -> ([[f64; W]; N], [f64; W]) {
        let mut sum = [0.0; W];
        for (number, (c, slot)) in twos.iter().zip(prefixes).enumerate() {
            let [near, far] = self.polynomials::<A, W>(number, c);
            for n in 0..N {
                let factor = if n < B { &near } else { &far }.at::<A>(self.nodes[n].step);
                slot[n] = prefix[n];
                prefix[n] = multiply_lanes(&prefix[n], &factor);
            }
            sum = zip_lanes(&sum, &self.sum(c), |sum, c| sum + c);
        }
        (prefix, sum)
    }

    /// The contribution to Ω of the last player of an odd number, from its number and c. Then its
    /// factors are included in the suffixes.
    #[inline(always)]
    fn last_omega<A: Arithmetic, const W: usize>(
        &self,
        (player, c): (usize, &[f64; W]),
        prefix: &[[f64; W]; N],
        suffix: &mut [[f64; W]; N],
        sum: &[f64; W],
    ) -> [f64; W] {
        let [mut total, _] = self.ends.moments::<A, W>(sum);
        for n in 0..N {
            total = multiply_add_lanes::<A, W>(&total, &prefix[n], &suffix[n]);
            suffix[n] = multiply_lanes(&suffix[n], &self.factor::<A, W>(n, player, c));
        }
        total
    }

    /// The factor of a player at node number n.
    #[inline(always)]
    fn factor<A: Arithmetic, const W: usize>(
        &self,
        n: usize,
        player: usize,
        c: &[f64; W],
    ) -> [f64; W] {
        let Self { ends, nodes, part } = *self;
        let end: [f64; W] = if n < B { ends.near(player, part) } else { ends.far(player, part) };
        each_lane(|i| A::mul_add(nodes[n].step, c[i], end[i]))
    }

    /// Adds to Ω of all twos, from the last to the first, or sets it in the first pass.
    #[inline(always)]
    fn descend<A: Arithmetic, const W: usize>(
        &self,
        twos: &[[Lanes; 2]],
        prefixes: &[[[f64; W]; N]],
        suffix: &mut [[f64; W]; N],
        sum: &[f64; W],
        (omega, is_first): (&mut [[Lanes; 2]], bool),
    ) {
        let nodes = self.nodes;
        for (number, ((c, prefix), omega)) in twos.iter().zip(prefixes).zip(omega).enumerate().rev()
        {
            let [near, far] = self.polynomials::<A, W>(number, c);
            let other_sum = zip_lanes(sum, &self.sum(c), |sum, c| sum - c);
            let [mut near_moment, mut first_moment] = self.ends.moments::<A, W>(&other_sum);
            let mut far_moment = [0.0; W];
            for n in 0..N {
                let product = multiply_lanes(&prefix[n], &suffix[n]);
                if n < B {
                    near_moment = zip_lanes(&near_moment, &product, |sum, a| sum + a);
                } else {
                    far_moment = zip_lanes(&far_moment, &product, |sum, a| sum + a);
                }
                first_moment =
                    each_lane(|i| A::mul_add(product[i], nodes[n].step, first_moment[i]));
                let factor = if n < B { &near } else { &far }.at::<A>(nodes[n].step);
                suffix[n] = multiply_lanes(&suffix[n], &factor);
            }
            self.add::<A, W>(
                number,
                c,
                [&near_moment, &far_moment, &first_moment],
                (omega, is_first),
            );
        }
    }

    /// Adds to Ω of two players, or sets it in the first pass, from their moments: M₀ of the near and
    /// of the far nodes, and M₁ of all nodes.
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(
        &self,
        number: usize,
        c: &[Lanes; 2],
        [near_moment, far_moment, first_moment]: [&[f64; W]; 3],
        (omega, is_first): (&mut [Lanes; 2], bool),
    ) {
        let Self { ends, part, .. } = *self;
        for (player, omega) in omega.iter_mut().enumerate() {
            let (other, c) = (2 * number + 1 - player, c[1 - player].part(part));
            let omega: &mut [f64; W] = omega.part_mut(part);
            let before = if is_first { [0.0; W] } else { *omega };
            let mut total = multiply_add_lanes::<A, W>(&before, first_moment, c);
            if B > 0 {
                total = multiply_add_lanes::<A, W>(&total, near_moment, &ends.near(other, part));
            }
            if B < N {
                total = multiply_add_lanes::<A, W>(&total, far_moment, &ends.far(other, part));
            }
            *omega = total;
        }
    }

    /// The polynomials of two players, at the near end and at the far one.
    #[inline(always)]
    fn polynomials<A: Arithmetic, const W: usize>(
        &self,
        number: usize,
        c: &[Lanes; 2],
    ) -> [TwoPlayers<W>; 2] {
        let Self { ends, part, .. } = *self;
        let (first, second) = (2 * number, 2 * number + 1);
        let c = [c[0].part(part), c[1].part(part)];
        let near = [&ends.near(first, part), &ends.near(second, part)];
        let far = [&ends.far(first, part), &ends.far(second, part)];
        [TwoPlayers::new::<A>(near, c), TwoPlayers::new::<A>(far, c)]
    }

    /// The sum of two players' c.
    #[inline(always)]
    fn sum<const W: usize>(&self, c: &[Lanes; 2]) -> [f64; W] {
        zip_lanes(c[0].part(self.part), c[1].part(self.part), |a, b| a + b)
    }
}

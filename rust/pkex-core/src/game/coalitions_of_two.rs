//! ∫ ∏_{l≠i,j} Fₗ(t) dt for every coalition {i, j} of two players, by nodes seen from t = 0.
//!
//! In games with b = 1 (Fₗ = 1 + t cₗ), players are grouped by twos, as in [`sweep`]. Two such
//! twos, {i, i′} and {j, j′}, make four coalitions. With A = weight · ∏ of the factors of all other
//! players at a node t, and the moments M_k = Σ tᵏ A over the nodes,
//!
//!   Ω_ij = ∫ (1 + t cᵢ′) (1 + t cⱼ′) ∏ of all others = (M₀ + cᵢ′ M₁) + cⱼ′ (M₁ + cᵢ′ M₂):
//!
//! five instructions a node for four coalitions, each of which takes three instructions separately
//! ([`interactions`]).
//!
//! [`sweep`]: crate::game::sweep
//! [`interactions`]: crate::game::interactions

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::coalitions::Coalitions;
use crate::game::two_players::{MAX_FROM_ONE_END, PerTwo, TwoPlayers, in_groups};
use crate::memory::Memory;
use crate::quadrature::free_end::FreeEnd;
use crate::quadrature::rule::Node;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, multiply_add_lanes, multiply_lanes, zip_lanes};
use crate::simd::level::Body;

/// Products at the nodes for each two players.
#[derive(Clone, Debug, Default)]
pub(crate) struct TwoProducts {
    /// The product of the two factors.
    factors: PerTwo,
    /// The weight of the node times the factors of all later twos.
    after: PerTwo,
}

impl TwoProducts {
    /// Reserves memory for games of a number of players.
    pub fn reserve(&mut self, players: usize, memory: &Memory) -> Result<(), Error> {
        self.factors.reserve(players.next_multiple_of(2), memory)?;
        self.after.reserve(players.next_multiple_of(2), memory)
    }
}

/// Computes Ω of every coalition of two players into `block.omega`, for games with b = 1.
///
/// Errors near t = 1 are absolute. They are small compared with Ω where 1 + c is in [0, 1].
pub(crate) struct EvaluatePairs<'a> {
    pub rule: &'a FreeEnd,
    pub coalitions: &'a Coalitions,
    pub block: &'a mut Block,
    pub products: &'a mut TwoProducts,
}

impl Body for EvaluatePairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { rule, coalitions, block: Block { difference, omega, .. }, products } = self;
        omega.clear();
        omega.resize(coalitions.count(), Lanes::ZERO);
        let players = difference.len();
        // A player whose presence changes nothing makes the number of players even.
        difference.resize(players.next_multiple_of(2), Lanes::ZERO);
        products.factors.resize(difference.len());
        products.after.resize(difference.len());
        const { assert!(MAX_FROM_ONE_END == 8, "the cases below") };
        let mut end = [rule.value, rule.slope];
        for (nodes, _) in in_groups((&rule.nodes, &[]), MAX_FROM_ONE_END) {
            let mut sweep = SweepOfTwos { end, coalitions, difference, omega, products };
            match nodes.len() {
                // An odd number of nodes is completed by one without weight.
                0..=2 => sweep.run::<A, W, 2>(nodes),
                3..=4 => sweep.run::<A, W, 4>(nodes),
                5..=6 => sweep.run::<A, W, 6>(nodes),
                _ => sweep.run::<A, W, 8>(nodes),
            }
            end = [0.0; 2];
        }
        difference.truncate(players);
    }
}

/// A pass over the coalitions with some nodes.
struct SweepOfTwos<'a> {
    /// The weights of value and slope at t = 0.
    end: [f64; 2],
    coalitions: &'a Coalitions,
    difference: &'a [Lanes],
    omega: &'a mut [Lanes],
    products: &'a mut TwoProducts,
}

impl SweepOfTwos<'_> {
    /// Adds the contribution of `N` nodes to Ω; missing nodes have weight 0.
    #[inline(always)]
    fn run<A: Arithmetic, const W: usize, const N: usize>(&mut self, nodes: &[Node]) {
        let missing = Node { step: 0.0, weight: 0.0 };
        let nodes: [Node; N] = std::array::from_fn(|n| nodes.get(n).copied().unwrap_or(missing));
        let (twos, _) = self.difference.as_chunks::<2>();
        let factors = &mut self.products.factors.registers::<W, N>()[..twos.len()];
        let after = &mut self.products.after.registers::<W, N>()[..twos.len()];
        for part in 0..LANES / W {
            let sum = multiply_up::<A, W, N>(&nodes, part, twos, factors, after);
            let [value, slope] = self.end;
            let at = PairSweep { nodes, value, slope, part, twos, factors, after };
            at.add_all::<A>(self.coalitions, &sum, self.omega);
        }
    }
}

/// Stores the factors of each two players and the products of those after it. Returns the sum of
/// all c.
#[inline(always)]
fn multiply_up<A: Arithmetic, const W: usize, const N: usize>(
    nodes: &[Node; N],
    part: usize,
    twos: &[[Lanes; 2]],
    factors: &mut [[[f64; W]; N]],
    after: &mut [[[f64; W]; N]],
) -> [f64; W] {
    let mut product: [[f64; W]; N] = std::array::from_fn(|n| [nodes[n].weight; W]);
    let mut sum = [0.0; W];
    for ((c, factors), after) in twos.iter().zip(factors).zip(after).rev() {
        let c = [c[0].part(part), c[1].part(part)];
        let two = TwoPlayers::new::<A>([&[1.0; W]; 2], c);
        for n in 0..N {
            factors[n] = two.at::<A>(nodes[n].step);
            after[n] = product[n];
            product[n] = multiply_lanes(&product[n], &factors[n]);
        }
        sum = each_lane(|i| sum[i] + (c[0][i] + c[1][i]));
    }
    sum
}

/// The factors of twos at `N` nodes, in some lanes.
struct PairSweep<'a, const W: usize, const N: usize> {
    nodes: [Node; N],
    value: f64,
    slope: f64,
    part: usize,
    twos: &'a [[Lanes; 2]],
    factors: &'a [[[f64; W]; N]],
    after: &'a [[[f64; W]; N]],
}

/// The coalitions of a player and a later one.
struct Row {
    start: usize,
    second: Range<usize>,
}

impl Row {
    /// The place of the coalition with this second player, if it is requested.
    #[inline(always)]
    fn place(&self, second: usize) -> Option<usize> {
        self.second.contains(&second).then(|| self.start + (second - self.second.start))
    }
}

/// The later twos that contain a second player of these rows.
fn later_twos(two: usize, rows: &[Row; 2]) -> Range<usize> {
    let seconds = rows.iter().map(|row| &row.second).filter(|second| !second.is_empty());
    let start = seconds.clone().map(|second| second.start / 2).fold(usize::MAX, usize::min);
    let end = seconds.map(|second| second.end.div_ceil(2)).fold(0, usize::max);
    start.max(two + 1)..end
}

impl<const W: usize, const N: usize> PairSweep<'_, W, N> {
    /// Adds to Ω of all coalitions, from the sum of all c.
    #[inline(always)]
    fn add_all<A: Arithmetic>(&self, coalitions: &Coalitions, sum: &[f64; W], omega: &mut [Lanes]) {
        let first = coalitions.first_of_two();
        let mut before = [[1.0; W]; N];
        for (two, factors) in self.factors.iter().enumerate().take(first.end.div_ceil(2)) {
            if two >= first.start / 2 {
                let rows = [2 * two, 2 * two + 1].map(|player| {
                    let (start, second) = coalitions.pairs_of(player);
                    Row { start, second }
                });
                let other_sum = self.without(sum, two);
                self.add_two::<A>((two, &rows[0]), &before, &other_sum, omega);
                self.add_rows::<A>((two, &rows), before, &other_sum, omega);
            }
            for n in 0..N {
                before[n] = multiply_lanes(&before[n], &factors[n]);
            }
        }
    }

    /// Adds to Ω of the coalition of the two players.
    #[inline(always)]
    fn add_two<A: Arithmetic>(
        &self,
        (two, row): (usize, &Row),
        before: &[[f64; W]; N],
        other_sum: &[f64; W],
        omega: &mut [Lanes],
    ) {
        let Some(place) = row.place(2 * two + 1) else { return };
        let mut total = self.end_moment::<A>(other_sum);
        for (before, after) in before.iter().zip(&self.after[two]) {
            total = multiply_add_lanes::<A, W>(&total, before, after);
        }
        let omega: &mut [f64; W] = omega[place].part_mut(self.part);
        *omega = zip_lanes(omega, &total, |omega, total| omega + total);
    }

    /// Adds to Ω of each coalition of one of the two players and a later player.
    #[inline(always)]
    fn add_rows<A: Arithmetic>(
        &self,
        (two, rows): (usize, &[Row; 2]),
        mut run: [[f64; W]; N],
        other_sum: &[f64; W],
        omega: &mut [Lanes],
    ) {
        let Self { nodes, slope, part, twos, factors, after, .. } = *self;
        let later = later_twos(two, rows);
        if later.is_empty() {
            return;
        }
        for factors in &factors[two + 1..later.start] {
            for n in 0..N {
                run[n] = multiply_lanes(&run[n], &factors[n]);
            }
        }
        let partner_c = [twos[two][1].part(part), twos[two][0].part(part)];
        for later_two in later {
            let [mut m0, mut m1, mut m2] =
                [self.end_moment::<A>(&self.without(other_sum, later_two)), [slope; W], [0.0; W]];
            let (factors, after) = (&factors[later_two], &after[later_two]);
            for n in 0..N {
                let Node { step, .. } = nodes[n];
                let product = multiply_lanes(&run[n], &after[n]);
                m0 = zip_lanes(&m0, &product, |sum, a| sum + a);
                m1 = each_lane(|i| A::mul_add(product[i], step, m1[i]));
                m2 = each_lane(|i| A::mul_add(product[i], step * step, m2[i]));
                run[n] = multiply_lanes(&run[n], &factors[n]);
            }
            for (row, partner_c) in rows.iter().zip(partner_c) {
                let constant: [f64; W] = multiply_add_lanes::<A, W>(&m0, &m1, partner_c);
                let linear: [f64; W] = multiply_add_lanes::<A, W>(&m1, &m2, partner_c);
                for member in 0..2 {
                    let Some(place) = row.place(2 * later_two + member) else { continue };
                    let c: &[f64; W] = twos[later_two][1 - member].part(part);
                    let omega: &mut [f64; W] = omega[place].part_mut(part);
                    *omega = each_lane(|i| omega[i] + A::mul_add(linear[i], c[i], constant[i]));
                }
            }
        }
    }

    /// The contribution of the end t = 0 to M₀, from the sum of the c of the factors there.
    #[inline(always)]
    fn end_moment<A: Arithmetic>(&self, sum: &[f64; W]) -> [f64; W] {
        each_lane(|i| A::mul_add(sum[i], self.slope, self.value))
    }

    /// A sum of c without the c of two players.
    #[inline(always)]
    fn without(&self, sum: &[f64; W], two: usize) -> [f64; W] {
        let c: [&[f64; W]; 2] = [0, 1].map(|member| self.twos[two][member].part(self.part));
        each_lane(|i| sum[i] - (c[0][i] + c[1][i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::block::AbsentFactor;
    use crate::game::interactions::{CoalitionProducts, EvaluateCoalitions};
    use crate::quadrature::rule::Rule;
    use crate::simd::arithmetic::Separate;

    /// A block of games with b = 1 whose factors fall, or rise a little.
    fn block(players: usize) -> Block {
        let mut state = 1_u64;
        let mut number = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut block = Block::default();
        block.begin(players, AbsentFactor::One);
        for (a, c) in block.present.iter_mut().zip(&mut block.difference) {
            *a = Lanes(std::array::from_fn(|_| 1.25 * number()));
            *c = Lanes(each_lane(|i| a.0[i] - 1.0));
        }
        block
    }

    #[test]
    fn all_parts_have_what_they_have_one_by_one() {
        for players in 2..=9 {
            let exact = Rule::gauss_legendre(players);
            for (max_count, count) in
                [(1, 4), (3, 5), (4, 12), (7, 7), (1000, 9), (1000, 3), (5, 16)]
            {
                let rule = FreeEnd::new(count);
                for part in Coalitions::parts(players, 2, max_count).unwrap() {
                    let (mut actual, mut expected) = (block(players), block(players));
                    let products = &mut TwoProducts::default();
                    let coalitions = &part;
                    let evaluate_pairs =
                        EvaluatePairs { rule: &rule, coalitions, block: &mut actual, products };
                    evaluate_pairs.run::<Separate, 4>();
                    let products = &mut CoalitionProducts::default();
                    let (rule, exact) = (&exact, &mut expected);
                    let evaluate_coalitions =
                        EvaluateCoalitions { rule, coalitions, block: exact, products };
                    evaluate_coalitions.run::<Separate, 4>();
                    assert_eq!(actual.omega.len(), part.count());
                    assert_eq!(actual.difference, block(players).difference);
                    let of = |block: &Block| block.omega.iter().flat_map(|omega| omega.0).collect();
                    let (actual, expected): (Vec<f64>, Vec<f64>) = (of(&actual), of(&expected));
                    for (actual, expected) in actual.into_iter().zip(expected) {
                        let error = (actual / expected - 1.0).abs();
                        assert!(error < 1e-14, "{players} players, {part:?}: {error:e}");
                    }
                }
            }
        }
    }
}

//! Games whose factors are power series in a variable s, truncated at order p:
//!
//!   v(S) = Σ_q w_q [s^q] ∏_{j∈S} aⱼ(s) ∏_{j∉S} bⱼ(s).
//!
//! They are product games over the ring of such series, so that the coefficient of a coalition T is
//! Σ_q w_q [s^q] ∏_{j∈T} cⱼ(s) ∫ ∏_{l∉T} (bₗ(s) + t cₗ(s)) dt. At each node the functional that
//! takes Σ_q w_q [s^q] of a product is pulled back through the factors from the last player on,
//!
//!   λ ← λ′ with λ′_q = Σ_r λ_{q+r} F_r,    as ⟨λ, F P⟩ = ⟨λ′, P⟩,
//!
//! and kept after each of them. The running product P of the factors of earlier players, with c
//! instead of F for members of T, then gives ⟨λ, c P⟩ for all coalitions that differ in their last
//! player: about 3 (p+1)²/2 multiplications a player and node.

use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::game::coalitions::{Coalitions, Cursor};
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::quadrature::rule::{Node, Rule};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, multiply_add_lanes, multiply_lanes};
use crate::simd::level::Body;

/// Functionals and products of power series, in memory that is kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polynomials {
    cursor: Cursor,
    /// After each player: the functional, pulled back through the factors of later players.
    functionals: Vec<Lanes>,
    /// For the i-th member of T: the product of the factors before it. Then the running product.
    before: Vec<Lanes>,
    /// The current factor.
    factor: Vec<Lanes>,
}

impl Polynomials {
    /// Reserves memory for games of a number of players whose series have `orders` orders.
    pub fn reserve(
        &mut self,
        FactorCount { players, orders }: FactorCount,
        max_members: usize,
        memory: &Memory,
    ) -> Result<(), Error> {
        let count = |series: usize| saturating_product([series, orders + 1]);
        memory.reserve(&mut self.functionals, count(players + 1), FACTORS)?;
        memory.reserve(&mut self.before, count(max_members + 1), FACTORS)?;
        memory.reserve(&mut self.factor, orders + 1, FACTORS)
    }
}

/// Computes the coefficient of every coalition into `block.omega`, and sets `block.difference` to 1.
pub(crate) struct EvaluateSeries<'a> {
    pub rule: &'a Rule,
    pub coalitions: &'a Coalitions,
    pub block: &'a mut Block,
    pub polynomials: &'a mut Polynomials,
}

impl Body for EvaluateSeries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { rule, coalitions, block, polynomials } = self;
        let mut omega = std::mem::take(&mut block.omega);
        omega.clear();
        omega.resize(coalitions.count(), Lanes::ZERO);
        let games = (rule, coalitions);
        // Loops of a known length are unrolled. They are short, and each player waits for the one
        // before: computing all lanes together fills the wait.
        match (block.series.weights.len(), block.series.is_pure) {
            (2, true) => evaluate::<A, LANES>(games, block, polynomials, (2, true), &mut omega),
            (3, true) => evaluate::<A, LANES>(games, block, polynomials, (3, true), &mut omega),
            (4, true) => evaluate::<A, LANES>(games, block, polynomials, (4, true), &mut omega),
            (2, false) => evaluate::<A, LANES>(games, block, polynomials, (2, false), &mut omega),
            (3, false) => evaluate::<A, LANES>(games, block, polynomials, (3, false), &mut omega),
            (4, false) => evaluate::<A, LANES>(games, block, polynomials, (4, false), &mut omega),
            other => evaluate::<A, W>(games, block, polynomials, other, &mut omega),
        }
        block.difference.clear();
        block.difference.resize(omega.len(), Lanes::ONE);
        block.omega = omega;
    }
}

#[inline(always)]
fn evaluate<A: Arithmetic, const W: usize>(
    (rule, coalitions): (&Rule, &Coalitions),
    block: &Block,
    polynomials: &mut Polynomials,
    (length, is_pure): (usize, bool),
    omega: &mut [Lanes],
) {
    let players = block.present.len();
    let Polynomials { functionals, before, factor, .. } = polynomials;
    functionals.resize((players + 1) * length, Lanes::ZERO);
    before.resize((coalitions.size() + 1) * length, Lanes::ZERO);
    factor.resize(length, Lanes::ZERO);
    for (nodes, from_present) in [(&rule.from_absent, false), (&rule.from_present, true)] {
        for &node in nodes {
            for part in 0..LANES / W {
                let at = AtNode { block, node, from_present, part, length, is_pure };
                at.pull_back::<A, W>(polynomials);
                at.add::<A, W>(coalitions, polynomials, omega);
            }
        }
    }
}

/// The factors of a block at a node, of one part of the lanes.
#[derive(Clone, Copy)]
struct AtNode<'a> {
    block: &'a Block,
    node: Node,
    from_present: bool,
    part: usize,
    /// The number of coefficients of a series.
    length: usize,
    /// Whether the first coefficient of a factor is 1, and the first of a difference 0.
    is_pure: bool,
}

impl<'a> AtNode<'a> {
    /// The higher orders of a player, among the coefficients of all players.
    #[inline(always)]
    fn player_orders(&self, coefficients: &'a [Lanes], player: usize) -> &'a [Lanes] {
        let orders = self.length - 1;
        &coefficients[player * orders..][..orders]
    }

    /// A player's c: the coefficient of s⁰, and the others.
    #[inline(always)]
    fn difference(&self, player: usize) -> (&'a Lanes, &'a [Lanes]) {
        let Block { difference, series, .. } = self.block;
        (&difference[player], self.player_orders(series.differences(), player))
    }

    /// A player's F = end + step · c, with the factor at the node's end of [0, 1].
    #[inline(always)]
    fn factor<A: Arithmetic, const W: usize>(&self, player: usize, factor: &mut [Lanes]) {
        let Block { present, absent, series, .. } = self.block;
        let (zeroth, higher) =
            if self.from_present { (present, &series.present) } else { (absent, &series.absent) };
        let (c_zeroth, c) = self.difference(player);
        let (step, part) = ([self.node.step; W], self.part);
        let (first, factor) = factor[..self.length].split_at_mut(1);
        if !self.is_pure {
            let end = zeroth.get(player).map_or([1.0; W], |end| *end.part(part));
            let sum = multiply_add_lanes::<A, W>(&end, c_zeroth.part(part), &step);
            *first[0].part_mut(part) = sum;
        }
        if higher.is_empty() {
            for (factor, c) in factor.iter_mut().zip(c) {
                *factor.part_mut(part) = multiply_lanes(c.part(part), &step);
            }
            return;
        }
        let end = self.player_orders(higher, player);
        for ((factor, c), end) in factor.iter_mut().zip(c).zip(end) {
            let sum = multiply_add_lanes::<A, W>(end.part(part), c.part(part), &step);
            *factor.part_mut(part) = sum;
        }
    }

    /// Computes the functional after each player.
    #[inline(always)]
    fn pull_back<A: Arithmetic, const W: usize>(&self, polynomials: &mut Polynomials) {
        let Self { length, part, .. } = *self;
        let Polynomials { functionals, factor, .. } = polynomials;
        let players = self.block.present.len();
        for (lanes, weight) in
            functionals[players * length..].iter_mut().zip(&self.block.series.weights)
        {
            *lanes.part_mut(part) = [self.node.weight * weight; W];
        }
        for player in (0..players).rev() {
            self.factor::<A, W>(player, factor);
            let (functional, after) =
                functionals[player * length..][..2 * length].split_at_mut(length);
            let factor = &factor[..length];
            for q in 0..length {
                let mut sum: [f64; W] = *after[q].part(part);
                if !self.is_pure {
                    sum = multiply_lanes(&sum, factor[0].part(part));
                }
                for (functional, factor) in after[q + 1..].iter().zip(&factor[1..]) {
                    sum =
                        multiply_add_lanes::<A, W>(&sum, functional.part(part), factor.part(part));
                }
                *functional[q].part_mut(part) = sum;
            }
        }
    }

    /// Adds the contribution of the node to the coefficients of all coalitions.
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(
        &self,
        coalitions: &Coalitions,
        polynomials: &mut Polynomials,
        omega: &mut [Lanes],
    ) {
        let Self { length, part, .. } = *self;
        let Polynomials { cursor, functionals, before, factor } = polynomials;
        if coalitions.size() == 0 {
            let total: &mut [f64; W] = omega[0].part_mut(part);
            let functional: &[f64; W] = functionals[0].part(part);
            *total = each_lane(|i| total[i] + functional[i]);
            return;
        }
        if !cursor.start(coalitions) {
            return;
        }
        let last = coalitions.size() - 1;
        let mut products = Products { factors: self, before, factor };
        products.set_one::<W>();
        let mut next = 0;
        for (place, &member) in cursor.members.iter().enumerate() {
            products.pass::<A, W>(place, next..member);
            products.choose::<A, W>(place, member);
            next = member + 1;
        }
        products.pass::<A, W>(last, next..cursor.last(coalitions).start);
        let mut omega = omega.iter_mut();
        loop {
            let members = cursor.last(coalitions);
            products.copy_to_last::<W>(last);
            for (player, omega) in members.zip(&mut omega) {
                let after = &functionals[(player + 1) * length..][..length];
                let sum: &mut [f64; W] = omega.part_mut(part);
                *sum = products.add_pairing::<A, W>(player, after, sum);
                products.pass::<A, W>(last + 1, player..player + 1);
            }
            let Some(depth) = cursor.advance(coalitions) else { return };
            let first = cursor.members[depth] - 1;
            products.pass::<A, W>(depth, first..first + 1);
            for place in depth..last {
                products.choose::<A, W>(place, cursor.members[place]);
            }
        }
    }
}

/// The products before the members of a coalition.
struct Products<'a> {
    factors: &'a AtNode<'a>,
    before: &'a mut [Lanes],
    factor: &'a mut [Lanes],
}

impl Products<'_> {
    /// Sets the product before the first member to 1.
    #[inline(always)]
    fn set_one<const W: usize>(&mut self) {
        for (q, lanes) in self.before[..self.factors.length].iter_mut().enumerate() {
            *lanes.part_mut(self.factors.part) = [if q == 0 { 1.0 } else { 0.0 }; W];
        }
    }

    /// Multiplies the product before the member at a place by the factors of players.
    #[inline(always)]
    fn pass<A: Arithmetic, const W: usize>(
        &mut self,
        place: usize,
        players: std::ops::Range<usize>,
    ) {
        let AtNode { length, part, .. } = *self.factors;
        let product = &mut self.before[place * length..][..length];
        for player in players {
            self.factors.factor::<A, W>(player, self.factor);
            let factor = &self.factor[..length];
            for q in (0..length).rev() {
                let mut sum: [f64; W] = *product[q].part(part);
                if !self.factors.is_pure {
                    sum = multiply_lanes(&sum, factor[0].part(part));
                }
                for (before, factor) in product[..q].iter().rev().zip(&factor[1..]) {
                    sum = multiply_add_lanes::<A, W>(&sum, before.part(part), factor.part(part));
                }
                *product[q].part_mut(part) = sum;
            }
        }
    }

    /// Computes the product before the next member, with a player as the member at a place.
    #[inline(always)]
    fn choose<A: Arithmetic, const W: usize>(&mut self, place: usize, player: usize) {
        let AtNode { length, part, .. } = *self.factors;
        let (before, next) = self.before[place * length..][..2 * length].split_at_mut(length);
        let (zeroth, higher) = self.factors.difference(player);
        for q in 0..length {
            let mut sum = [0.0; W];
            if !self.factors.is_pure {
                sum = multiply_lanes(before[q].part(part), zeroth.part(part));
            }
            for (before, difference) in before[..q].iter().rev().zip(higher) {
                sum = multiply_add_lanes::<A, W>(&sum, before.part(part), difference.part(part));
            }
            *next[q].part_mut(part) = sum;
        }
    }

    /// Sets the running product to the product before the last member.
    #[inline(always)]
    fn copy_to_last<const W: usize>(&mut self, last: usize) {
        let AtNode { length, part, .. } = *self.factors;
        let (before, run) = self.before[last * length..][..2 * length].split_at_mut(length);
        for (run, before) in run.iter_mut().zip(before) {
            *run.part_mut(part) = *before.part::<W>(part);
        }
    }

    /// `sum` + ⟨λ, c P⟩ with a player's c and the running product P.
    #[inline(always)]
    fn add_pairing<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        functional: &[Lanes],
        sum: &[f64; W],
    ) -> [f64; W] {
        let AtNode { length, part, .. } = *self.factors;
        let run = &self.before[self.before.len() - length..];
        let (zeroth, higher) = self.factors.difference(player);
        let mut total = *sum;
        for q in 0..length {
            let mut lambda = [0.0; W];
            if !self.factors.is_pure {
                lambda = multiply_lanes(functional[q].part(part), zeroth.part(part));
            }
            for (functional, difference) in functional[q + 1..].iter().zip(higher) {
                let (functional, c) = (functional.part(part), difference.part(part));
                lambda = multiply_add_lanes::<A, W>(&lambda, functional, c);
            }
            total = multiply_add_lanes::<A, W>(&total, &lambda, run[q].part(part));
        }
        total
    }
}

//! The spread of the factors of a block, which determines the number of nodes.

use crate::game::block::Block;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::numbers::{INVERSE_MARGIN, binary_exponent, larger, nearly_inverse, smaller};

/// The spread of the factors of a block, which determines its quadrature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Λ = Σₗ |cₗ|/Mₗ, the largest of the block's games.
    pub lambda: f64,
    /// Whether, within a game, some cₗ are positive and some negative, or factors are negative.
    pub mixed_signs: bool,
    /// Whether products of factors, of any of the players, stay within 2^±900.
    pub(crate) in_range: bool,
    /// An upper bound of ∏M over the block's games, for factors in [0, 1]; 1 if it is not computed.
    pub(crate) size_bound: f64,
}

impl Spread {
    /// The spread of games without players.
    pub const NONE: Self =
        Self { lambda: 0.0, mixed_signs: false, in_range: true, size_bound: 1.0 };

    /// The spread of games whose present factors are in [0, 1] and absent ones 1 (M = 1, c ≤ 0),
    /// from Σₗ |cₗ|.
    pub fn of_unit_factors(sums: &Lanes) -> Self {
        Self { lambda: sums.largest(), ..Self::NONE }
    }

    /// The spread of games whose absent factors are 1, because they were divided by them, or whose
    /// factors may have any sign; from upper bounds of Σ |c|/M.
    pub fn of_quotients(sums: &Lanes) -> Self {
        Self { mixed_signs: true, ..Self::of_unit_factors(sums) }
    }
}

/// An upper bound of |c|/M for factors 1 of absent players and 1 + c of present ones: where a factor
/// rises, c/(1 + c) is at most c, and at most 1. NaN for NaN.
#[inline(always)]
pub(crate) fn share_of_quotient(c: f64) -> f64 {
    smaller(1.0, c.abs())
}

/// −ln [`MIN_DIVISOR`](crate::game::block::MIN_DIVISOR).
const MAX_RISE: f64 = 10.0 * std::f64::consts::LN_2;

/// ln 2^[`SAFE_POWER`].
const MAX_PRODUCT: f64 = SAFE_POWER * std::f64::consts::LN_2;

/// The spread of the players included so far, for factors in [0, 1].
pub(crate) struct RunningSpread {
    lambda: Lanes,
    /// ∏M.
    size: Lanes,
    lowest: Lanes,
    highest: Lanes,
}

impl RunningSpread {
    /// The spread of no players.
    pub const START: Self =
        Self { lambda: Lanes::ZERO, size: Lanes::ONE, lowest: Lanes::ZERO, highest: Lanes::ZERO };

    /// Includes a player, from c and M.
    #[inline(always)]
    pub fn include<A: Arithmetic, const W: usize>(
        &mut self,
        part: usize,
        c: &[f64; W],
        size: &[f64; W],
    ) {
        let Self { lambda, size: product, lowest, highest } = self;
        let mut sums: [f64; W] = *lambda.part(part);
        let mut products: [f64; W] = *product.part(part);
        let (mut low, mut high): ([f64; W], [f64; W]) = (*lowest.part(part), *highest.part(part));
        // One loop, which is vectorized as a whole.
        for i in 0..W {
            // If both factors are 0, c is 0 as well.
            let inverse = nearly_inverse::<A>(larger(size[i], f64::MIN_POSITIVE));
            sums[i] = A::mul_add(c[i].abs(), inverse, sums[i]);
            products[i] *= size[i];
            low[i] = smaller(low[i], c[i]);
            high[i] = larger(high[i], c[i]);
        }
        *lambda.part_mut(part) = sums;
        *product.part_mut(part) = products;
        *lowest.part_mut(part) = low;
        *highest.part_mut(part) = high;
    }

    /// The spread of all players; `None` if a c is NaN.
    #[inline(always)]
    pub fn total(&self) -> Option<Spread> {
        let Self { lambda, size, lowest, highest } = self;
        if lambda.0.iter().any(|lambda| lambda.is_nan()) {
            return None;
        }
        let mut spread = Spread { size_bound: size.largest() * INVERSE_MARGIN, ..Spread::NONE };
        for i in 0..LANES {
            spread.lambda = larger(spread.lambda, lambda.0[i] * INVERSE_MARGIN);
            spread.mixed_signs |= lowest.0[i] < 0.0 && highest.0[i] > 0.0;
            spread.in_range &= size.0[i] > 1e-270;
        }
        Some(spread)
    }
}

impl Block {
    /// The spread of factors in [0, 1]; the running product of M determines whether the range
    /// suffices.
    #[inline(always)]
    pub fn spread_of_fractions<A: Arithmetic, const W: usize>(&self) -> Spread {
        let mut spread = RunningSpread::START;
        for (j, c) in self.difference.iter().enumerate() {
            for part in 0..LANES / W {
                let size = zip_lanes(self.present[j].part(part), self.absent[j].part(part), larger);
                spread.include::<A, W>(part, c.part(part), &size);
            }
        }
        let unknown = Spread { lambda: f64::INFINITY, mixed_signs: true, ..Spread::NONE };
        spread.total().unwrap_or(unknown)
    }

    /// The spread of factors that were divided by absent factors.
    #[inline(always)]
    pub fn spread_of_quotients<const W: usize>(&self) -> Spread {
        let mut sums = Lanes::ZERO;
        for c in &self.difference {
            for part in 0..LANES / W {
                let sum: &mut [f64; W] = sums.part_mut(part);
                *sum = zip_lanes(sum, c.part(part), |sum, c| sum + share_of_quotient(c));
            }
        }
        Spread::of_quotients(&sums)
    }

    /// The spread of factors 1 + c of any sign whose absent factors are 1, from c. `None` if a rule
    /// that sees all nodes from t = 0, where factors are 1, would lose digits: if factors fall far,
    /// so that their rounding errors matter, and others may grow large (see
    /// [`MIN_DIVISOR`](crate::game::block::MIN_DIVISOR)), or products leave the range.
    #[inline(always)]
    pub fn spread_of_signed<const W: usize>(&self) -> Option<Spread> {
        let mut lambda = Lanes::ZERO;
        for part in 0..LANES / W {
            let sizes = self.difference.iter().fold([0.0; W], |sums, c| {
                // |c|/M is at most |c|.
                zip_lanes(&sums, c.part(part), |sum, c| sum + c.abs())
            });
            *lambda.part_mut(part) = sizes;
        }
        let spread = Spread::of_quotients(&lambda);
        // ln max(1, |1 + c|) ≤ |c|: factors grow to no more than e^Λ together.
        let is_moderate = spread.lambda <= MAX_RISE || self.is_moderate::<W>();
        is_moderate.then_some(spread)
    }

    /// Whether rising factors stay moderate together, or no factor falls by more than ½.
    ///
    /// As ln max(1, |1 + c|) ≤ (|c| + c)/2 for c ≥ −2, rising factors grow to no more than the
    /// exponential of half of Σ |c| + c together.
    #[inline(always)]
    fn is_moderate<const W: usize>(&self) -> bool {
        let (mut log_rise, mut fall) = (Lanes::ZERO, Lanes::ZERO);
        for c in &self.difference {
            for part in 0..LANES / W {
                let c: &[f64; W] = c.part(part);
                let (rises, falls): (&mut [f64; W], &mut [f64; W]) =
                    (log_rise.part_mut(part), fall.part_mut(part));
                *rises = zip_lanes(rises, c, |sum, c| sum + f64::midpoint(c.abs(), c));
                *falls = zip_lanes(falls, c, |fall, c| larger(fall, -c));
            }
        }
        let fall = fall.largest();
        let max_log_rise = if fall <= 0.5 { MAX_PRODUCT } else { MAX_RISE };
        fall <= 2.0 && log_rise.largest() <= max_log_rise
    }

    /// The spread of factors of any size and sign.
    #[inline(always)]
    pub fn spread<A: Arithmetic, const W: usize>(&self) -> Spread {
        let mut lambda = Lanes::ZERO;
        let (mut smallest, mut largest) = (Lanes::ONE, Lanes::ONE);
        let (mut lowest, mut highest, mut lowest_factor) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
        for (j, c) in self.difference.iter().enumerate() {
            for part in 0..LANES / W {
                let c: &[f64; W] = c.part(part);
                let (a, b): (&[f64; W], &[f64; W]) =
                    (self.present[j].part(part), self.absent[j].part(part));
                let sum: &mut [f64; W] = lambda.part_mut(part);
                let (small, large): (&mut [f64; W], &mut [f64; W]) =
                    (smallest.part_mut(part), largest.part_mut(part));
                let (low, high): (&mut [f64; W], &mut [f64; W]) =
                    (lowest.part_mut(part), highest.part_mut(part));
                let negative: &mut [f64; W] = lowest_factor.part_mut(part);
                // One loop, which is vectorized as a whole.
                for i in 0..W {
                    let size = larger(a[i].abs(), b[i].abs());
                    // If both factors are 0, c is 0 as well.
                    let inverse = nearly_inverse::<A>(larger(size, f64::MIN_POSITIVE));
                    sum[i] = A::mul_add(c[i].abs(), inverse, sum[i]);
                    small[i] = smaller(small[i], if size > 0.0 { size } else { 1.0 });
                    large[i] = larger(large[i], size);
                    low[i] = smaller(low[i], c[i]);
                    high[i] = larger(high[i], c[i]);
                    negative[i] = smaller(negative[i], smaller(a[i], b[i]));
                }
            }
        }
        // Positive where c has both signs, or a factor is negative.
        let mixed = |i: usize| larger(smaller(-lowest.0[i], highest.0[i]), -lowest_factor.0[i]);
        let mixed_signs = Lanes(each_lane(mixed)).largest() > 0.0;
        let sizes = (smallest.smallest(), largest.largest());
        let players = self.present.len() as f64;
        let in_range = players * f64::from(binary_exponent(sizes.0)) > -SAFE_POWER
            && players * f64::from(binary_exponent(sizes.1) + 1) < SAFE_POWER;
        let in_range = in_range || sizes == (1.0, 1.0);
        // Subnormal and huge sizes have no such inverse.
        let is_invertible = sizes.0 >= f64::MIN_POSITIVE && sizes.1 < LARGEST_INVERTED;
        let lambda = if is_invertible { lambda.largest() * INVERSE_MARGIN } else { f64::INFINITY };
        Spread { lambda, mixed_signs, in_range, ..Spread::NONE }
    }
}

/// Numbers up to this have a [`nearly_inverse`] in the range.
const LARGEST_INVERTED: f64 = 1e300;

/// Products between 2^−900 and 2^900 leave room for sums and weights.
const SAFE_POWER: f64 = 900.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::block::AbsentFactor;
    use crate::simd::arithmetic::Fused;

    /// The spread of games with these present and absent factors, in all lanes.
    fn spread(factors: &[[f64; 2]]) -> Spread {
        let mut block = Block::default();
        block.begin(factors.len(), AbsentFactor::Each);
        for (player, [a, b]) in factors.iter().enumerate() {
            block.present[player] = Lanes([*a; LANES]);
            block.absent[player] = Lanes([*b; LANES]);
            block.difference[player] = Lanes([a - b; LANES]);
        }
        block.spread::<Fused, 8>()
    }

    #[test]
    fn the_spread_of_factors_of_any_size_is_bounded_closely_from_above() {
        for size in [1e-290, 1e-30, 0.3, 1.0, 7.0, 1e30, 1e290] {
            let factors = [[size, 0.5 * size], [0.25 * size, size], [0.0, 0.0]];
            let Spread { lambda, mixed_signs, .. } = spread(&factors);
            assert!((1.25..1.26).contains(&lambda), "{size}: {lambda}");
            assert!(mixed_signs);
        }
        assert!(!spread(&[[1.0, 0.5], [3.0, 2.0]]).mixed_signs);
        assert!(spread(&[[1.0, -0.5]]).mixed_signs);
    }

    #[test]
    fn the_spread_of_sizes_without_an_inverse_is_unbounded() {
        for size in [1e-310, 1e305, f64::INFINITY] {
            let spread = spread(&[[size, 0.0], [1.0, 1.0]]);
            assert!(spread.lambda.is_infinite() && !spread.in_range, "{size}");
        }
    }
}

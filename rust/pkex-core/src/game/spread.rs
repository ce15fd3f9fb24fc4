//! How far the factors of a block are from each other, which decides how it is computed.

use crate::game::block::Block;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, map_lanes, zip_lanes};
use crate::simd::numbers::{INVERSE_MARGIN, binary_exponent, larger, nearly_inverse, smaller};

/// What decides the number of quadrature nodes of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Λ = Σₗ |cₗ|/Mₗ, the largest of the block's games.
    pub lambda: f64,
    /// Whether, within a game, some cₗ are positive and some negative, or factors are negative.
    pub mixed_signs: bool,
    /// Whether products of factors, of any of the players, stay within 2^±900.
    pub(crate) in_range: bool,
}

impl Spread {
    /// Of games whose present factors are in [0, 1] and absent ones 1 (M = 1, c ≤ 0), from Σₗ |cₗ|.
    pub fn of_unit_factors(sums: &Lanes) -> Self {
        let lambda = sums.0.into_iter().fold(0.0, f64::max);
        Self { lambda, mixed_signs: false, in_range: true }
    }
}

impl Block {
    /// Λ of factors in [0, 1]; the running product of M shows whether the range suffices.
    #[inline(always)]
    pub fn spread_of_fractions<A: Arithmetic, const W: usize>(&self) -> Spread {
        let mut spread = Spread { lambda: 0.0, mixed_signs: false, in_range: true };
        for part in 0..LANES / W {
            let (mut sum, mut size_so_far) = ([0.0; W], [1.0; W]);
            let (mut lowest, mut highest) = ([0.0; W], [0.0; W]);
            for j in 0..self.present.len() {
                let c: &[f64; W] = self.difference[j].part(part);
                let size = zip_lanes(self.present[j].part(part), self.absent[j].part(part), larger);
                size_so_far = zip_lanes(&size_so_far, &size, |product, m| product * m);
                // Where both factors are 0, so is c.
                let inverse =
                    map_lanes(&size, |m| nearly_inverse::<A>(larger(m, f64::MIN_POSITIVE)));
                sum = each_lane(|i| A::mul_add(c[i].abs(), inverse[i], sum[i]));
                lowest = zip_lanes(&lowest, c, smaller);
                highest = zip_lanes(&highest, c, larger);
            }
            let lambda = sum.into_iter().fold(0.0, f64::max) * INVERSE_MARGIN;
            spread.lambda = spread.lambda.max(lambda);
            for i in 0..W {
                spread.mixed_signs |= lowest[i] < 0.0 && highest[i] > 0.0;
                spread.in_range &= size_so_far[i] > 1e-270;
            }
        }
        spread
    }

    /// Λ of factors of any size and sign.
    #[inline(always)]
    pub fn spread<const W: usize>(&self) -> Spread {
        let mut lambda: f64 = 0.0;
        let mut mixed_signs = false;
        let mut sizes = (1.0_f64, 1.0_f64);
        for part in 0..LANES / W {
            let mut sum = [0.0; W];
            let (mut smallest, mut largest) = ([1.0; W], [1.0; W]);
            let (mut lowest, mut highest, mut least) = ([0.0; W], [0.0; W], [0.0; W]);
            for j in 0..self.present.len() {
                let a: &[f64; W] = self.present[j].part(part);
                let b: &[f64; W] = self.absent[j].part(part);
                let c: &[f64; W] = self.difference[j].part(part);
                let size = zip_lanes(a, b, |a, b| a.abs().max(b.abs()));
                largest = zip_lanes(&largest, &size, f64::max);
                smallest = zip_lanes(&smallest, &size, |s, m| if m > 0.0 { s.min(m) } else { s });
                let share = zip_lanes(c, &size, |c, m| if m > 0.0 { c.abs() / m } else { 0.0 });
                sum = zip_lanes(&sum, &share, |s, x| s + x);
                lowest = zip_lanes(&lowest, c, f64::min);
                highest = zip_lanes(&highest, c, f64::max);
                least = zip_lanes(&least, &zip_lanes(a, b, f64::min), f64::min);
            }
            lambda = sum.into_iter().fold(lambda, f64::max);
            sizes.0 = smallest.into_iter().fold(sizes.0, f64::min);
            sizes.1 = largest.into_iter().fold(sizes.1, f64::max);
            for i in 0..W {
                mixed_signs |= (lowest[i] < 0.0 && highest[i] > 0.0) || least[i] < 0.0;
            }
        }
        let most = self.present.len() as f64;
        let in_range = most * f64::from(binary_exponent(sizes.0)) > -SAFE_POWER
            && most * f64::from(binary_exponent(sizes.1) + 1) < SAFE_POWER;
        Spread { lambda, mixed_signs, in_range: in_range || sizes == (1.0, 1.0) }
    }
}

/// Products between 2^−900 and 2^900 leave room for sums and weights.
const SAFE_POWER: f64 = 900.0;

//! A block of evaluations: the factors of sixteen product games, player by player.

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::lanes::{LANES, Lanes, each, map, zip};
use crate::memory::{FACTORS, Memory};

/// Factors of [`LANES`] product games, and room for what is computed from them.
///
/// Entry j of each vector belongs to player j of the block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The factors of present players, a.
    pub present: Vec<Lanes>,
    /// The factors of absent players, b; empty where all of them are 1.
    pub absent: Vec<Lanes>,
    /// c = a − b, delivered without cancellation.
    pub difference: Vec<Lanes>,
    /// Ω: a player's Shapley (or Banzhaf) value divided by c.
    pub omega: Vec<Lanes>,
}

/// What decides the number of quadrature nodes of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Λ = Σₗ |cₗ|/Mₗ, the largest of the block's games.
    pub lambda: f64,
    /// Whether, within a game, some cₗ are positive and some negative, or factors are negative.
    pub mixed_signs: bool,
    /// Whether products of factors, of any of the players, stay within 2^±900.
    in_range: bool,
}

impl Spread {
    /// Of games whose present factors are in [0, 1] and absent ones 1 (M = 1, c ≤ 0), from Σₗ |cₗ|.
    pub fn of_unit_factors(sums: &Lanes) -> Self {
        let lambda = sums.0.into_iter().fold(0.0, f64::max);
        Self { lambda, mixed_signs: false, in_range: true }
    }
}

/// 1/x of a normal x from 2⁻¹⁰²² to 1, less at most 0.26 %: a division costs as much as ten
/// multiplications. Negating the exponent and the digits comes within 5.1 %, and Newton's step
/// squares the error.
#[inline(always)]
fn nearly_inverse<A: Arithmetic>(x: f64) -> f64 {
    const NEGATED: u64 = 0x7fde_6000_0000_0000;
    let guess = f64::from_bits(NEGATED.wrapping_sub(x.to_bits()));
    guess * A::mul_add(-x, guess, 2.0)
}

/// What makes a sum of [`nearly_inverse`] an upper bound again.
const INVERSE_MARGIN: f64 = 1.0026;

/// The larger of two numbers, in one instruction: `f64::max` has to mind NaN.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, in one instruction.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl Block {
    /// Makes room for factors of that many players, and numbers of that many players or coalitions.
    pub fn reserve(&mut self, players: usize, count: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.present, players, FACTORS)?;
        memory.reserve(&mut self.absent, players, FACTORS)?;
        memory.reserve(&mut self.difference, players.max(count), FACTORS)?;
        memory.reserve(&mut self.omega, players.max(count), FACTORS)
    }

    /// Sets the number of players; `unit_absent` says that every absent factor is 1.
    pub fn resize(&mut self, players: usize, unit_absent: bool) {
        self.present.resize(players, Lanes::ONE);
        self.difference.resize(players, Lanes::ZERO);
        self.omega.resize(players, Lanes::ZERO);
        self.absent.resize(if unit_absent { 0 } else { players }, Lanes::ONE);
    }

    /// Gives factors, filled for absent ones of 1, absent ones of another size: one for each player.
    #[inline(always)]
    pub fn set_absent<const W: usize>(&mut self, absent: impl Iterator<Item = f64>) {
        self.absent.clear();
        for (b, difference) in absent.zip(&mut self.difference) {
            self.absent.push(Lanes([b; LANES]));
            // a − b = (a − 1) − (b − 1).
            for part in 0..LANES / W {
                let c: &mut [f64; W] = difference.part_mut(part);
                *c = each(|i| c[i] - (b - 1.0));
            }
        }
    }

    /// Λ of factors in [0, 1]; the running product of M shows whether the range suffices.
    #[inline(always)]
    pub fn spread_of_fractions<A: Arithmetic, const W: usize>(&self) -> Spread {
        let mut spread = Spread { lambda: 0.0, mixed_signs: false, in_range: true };
        for part in 0..LANES / W {
            let (mut sum, mut size_so_far) = ([0.0; W], [1.0; W]);
            let (mut lowest, mut highest) = ([0.0; W], [0.0; W]);
            for j in 0..self.present.len() {
                let c: &[f64; W] = self.difference[j].part(part);
                let size = zip(self.present[j].part(part), self.absent[j].part(part), larger);
                size_so_far = zip(&size_so_far, &size, |product, m| product * m);
                // Where both factors are 0, so is c.
                let inverse = map(&size, |m| nearly_inverse::<A>(larger(m, f64::MIN_POSITIVE)));
                sum = each(|i| A::mul_add(c[i].abs(), inverse[i], sum[i]));
                lowest = zip(&lowest, c, smaller);
                highest = zip(&highest, c, larger);
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
                let size = zip(a, b, |a, b| a.abs().max(b.abs()));
                largest = zip(&largest, &size, f64::max);
                smallest = zip(&smallest, &size, |s, m| if m > 0.0 { s.min(m) } else { s });
                let share = zip(c, &size, |c, m| if m > 0.0 { c.abs() / m } else { 0.0 });
                sum = zip(&sum, &share, |s, x| s + x);
                lowest = zip(&lowest, c, f64::min);
                highest = zip(&highest, c, f64::max);
                least = zip(&least, &zip(a, b, f64::min), f64::min);
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

    /// The product of all present or of all absent factors, the worth of the grand or the empty
    /// coalition, as Ω of a single player with c = 1.
    #[inline(always)]
    pub fn multiply_all<const W: usize>(&mut self, present: bool) {
        self.omega.resize(1, Lanes::ZERO);
        self.difference.resize(1, Lanes::ONE);
        self.difference[0] = Lanes::ONE;
        for part in 0..LANES / W {
            let mut product = [1.0; W];
            for factor in if present { &self.present } else { &self.absent } {
                product = zip(&product, factor.part(part), |p, a| p * a);
            }
            *self.omega[0].part_mut(part) = product;
        }
    }
}

/// What brings factors of any size into the range of double precision: powers of two.
///
/// Each player's a, b and c are divided by a power of two such that the product of the sizes M of
/// the first k players stays in [1, 2) for every k. Products of factors can then neither overflow
/// nor, unless they are negligible beside ∏M, underflow. The game is 2^exponent times the scaled one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    exponent: [i32; LANES],
    /// Whether a player's factors are both 0, so that the products of all others are, too.
    has_zero: [bool; LANES],
}

impl Scaling {
    /// Scales the block's factors where their products could leave the range; else `None`.
    pub fn apply(block: &mut Block, spread: &Spread) -> Option<Self> {
        if spread.in_range {
            return None;
        }
        let mut exponent = [0; LANES];
        let mut has_zero = [false; LANES];
        let mut size_so_far = [1.0; LANES];
        for j in 0..block.present.len() {
            for lane in 0..LANES {
                let (a, b) = (block.present[j].0[lane], block.absent[j].0[lane]);
                let size = a.abs().max(b.abs());
                if size == 0.0 || !size.is_finite() {
                    has_zero[lane] |= size == 0.0;
                    continue;
                }
                let power = (binary_exponent(size_so_far[lane]) + binary_exponent(size))
                    .clamp(-MAX_POWER, MAX_POWER);
                let factor = power_of_two(-power);
                size_so_far[lane] *= size * factor;
                exponent[lane] += power;
                let c = block.difference[j].0[lane];
                for factors in [&mut block.present, &mut block.absent, &mut block.difference] {
                    factors[j].0[lane] *= factor;
                }
                // So far below its factors, a given c has lost its digits: reported as an overflow.
                if c != 0.0 && block.difference[j].0[lane].abs() < f64::MIN_POSITIVE {
                    block.difference[j].0[lane] = f64::NAN;
                }
            }
        }
        Some(Self { exponent, has_zero })
    }

    /// Turns the Ω of the scaled games into c Ω of the games themselves, and c into 1. Where Ω has
    /// sunk below the range although the game's own size would bring it back, it becomes NaN: its
    /// digits are lost. Of few players that is impossible, and an Ω of nothing the sum of terms
    /// that cancel.
    pub fn undo(&self, block: &mut Block) {
        let may_be_lost = block.omega.len() > FEW_PLAYERS;
        for (omega, difference) in block.omega.iter_mut().zip(&mut block.difference) {
            for lane in 0..LANES {
                let is_small = omega.0[lane].abs() < LEAST_OMEGA && self.exponent[lane] > 0;
                if is_small && may_be_lost {
                    omega.0[lane] = if self.has_zero[lane] { 0.0 } else { f64::NAN };
                }
                omega.0[lane] *= difference.0[lane];
                let mut left = self.exponent[lane];
                while left != 0 {
                    let power = left.clamp(-MAX_POWER, MAX_POWER);
                    omega.0[lane] *= power_of_two(power);
                    left -= power;
                }
            }
            *difference = Lanes::ONE;
        }
    }
}

/// Products between 2^−900 and 2^900 leave room for sums and weights.
const SAFE_POWER: f64 = 900.0;

/// Below this, relative to ∏M, Ω may have lost digits to underflow.
const LEAST_OMEGA: f64 = 1e-250;

/// So many factors cannot sink that far: at a node each is 0 or, t being at least 10⁻⁴, no less than
/// 2⁻⁶⁷ of its size.
const FEW_PLAYERS: usize = 12;

/// Powers of two beyond this are applied in steps.
const MAX_POWER: i32 = 1000;

/// ⌊log₂ x⌋ of a positive finite x.
fn binary_exponent(x: f64) -> i32 {
    let biased = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    match biased(x) {
        0 => biased(x * power_of_two(64)) - 64 - 1023, // subnormal
        biased => biased - 1023,
    }
}

/// 2^power for |power| ≤ 1022.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(u64::from((1023 + power).unsigned_abs()) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::{Fused, Separate};

    #[test]
    fn an_inverse_is_never_too_large_and_hardly_too_small() {
        for step in 0..100_000 {
            let x = f64::from_bits(1.0_f64.to_bits() - step * 0x0000_5300_0000_0000 / 2);
            for found in [nearly_inverse::<Fused>(x), nearly_inverse::<Separate>(x)] {
                let share = found * x;
                assert!(share < 1.0 + 1e-15 && share * INVERSE_MARGIN > 1.0, "1/{x}: {found}");
            }
        }
    }
}

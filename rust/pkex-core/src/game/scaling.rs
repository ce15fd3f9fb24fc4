//! Scaling of the factors of a block into the range of double precision.

use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::numbers::{binary_exponent, power_of_two};

/// Powers of two by which factors of any size are divided.
///
/// Each player's a, b and c are divided by a power of two such that the product of the sizes M of
/// the first k players stays in [1, 2) for every k. Products of factors can then neither overflow
/// nor, unless they are negligible compared with ∏M, underflow. The game is 2^exponent times the
/// scaled one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    exponent: [i32; LANES],
    /// Whether both factors of a player are 0, so that the products of all other players are 0.
    has_zero: [bool; LANES],
}

impl Scaling {
    /// Scales the block's factors if their products could leave the range; else returns `None`.
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
                // A given c that is so far below its factors has lost its digits.
                if c != 0.0 && block.difference[j].0[lane].abs() < f64::MIN_POSITIVE {
                    block.difference[j].0[lane] = LOST;
                }
            }
        }
        Some(Self { exponent, has_zero })
    }

    /// Turns the Ω of the scaled games into c Ω of the games themselves, and c into 1.
    ///
    /// An Ω below the range has lost its digits. If the exponent would bring it back into the
    /// range, it becomes [`LOST`], or 0 if both factors of a player are 0. With few players no
    /// product can become so small: there, such an Ω is a sum of terms that cancel.
    pub fn undo(&self, block: &mut Block) {
        let may_be_lost = block.omega.len() > FEW_PLAYERS;
        debug_assert_eq!(block.omega.len(), block.difference.len());
        for (omega, difference) in block.omega.iter_mut().zip(&mut block.difference) {
            for lane in 0..LANES {
                let is_small = omega.0[lane].abs() < MIN_OMEGA && self.exponent[lane] > 0;
                if is_small && may_be_lost {
                    omega.0[lane] = if self.has_zero[lane] { 0.0 } else { LOST };
                }
                omega.0[lane] *= difference.0[lane];
                let mut remaining = self.exponent[lane];
                while remaining != 0 {
                    let power = remaining.clamp(-MAX_POWER, MAX_POWER);
                    omega.0[lane] *= power_of_two(power);
                    remaining -= power;
                }
            }
            *difference = Lanes::ONE;
        }
    }
}

/// The value of a number that has lost its digits. Nothing tests for it: every sum that contains it
/// is NaN, and results that are not finite are reported as an overflow of their row.
const LOST: f64 = f64::NAN;

/// Below this, relative to ∏M, Ω may have lost digits to underflow.
const MIN_OMEGA: f64 = 1e-250;

/// The number of factors whose product cannot become so small: at a node each factor is 0 or,
/// because t is at least 10⁻⁴, at least 2⁻⁶⁷ of its size.
const FEW_PLAYERS: usize = 12;

/// Powers of two beyond this are applied in steps.
const MAX_POWER: i32 = 1000;

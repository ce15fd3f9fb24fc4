//! Numbers with the digits of double precision and a larger range.

use std::ops::{Add, Mul};

/// mantissa · 2^exponent with a mantissa of size 1 to 2, or 0.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    mantissa: f64,
    pub exponent: i32,
}

impl Wide {
    pub fn new(x: f64) -> Self {
        if x == 0.0 {
            return Self { mantissa: 0.0, exponent: 0 };
        }
        let (normal, shift) = if x.is_subnormal() { (x * 2.0_f64.powi(64), 64) } else { (x, 0) };
        let exponent_bits = i32::try_from(normal.to_bits() >> 52 & 0x7ff).expect("eleven bits");
        let exponent = exponent_bits - 1023 - shift;
        Self { mantissa: times_power(x, -exponent), exponent }
    }

    pub fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }

    pub fn size(self) -> Self {
        Self { mantissa: self.mantissa.abs(), ..self }
    }

    /// The number times 2^−exponent, in double precision.
    pub fn in_units_of(self, exponent: i32) -> f64 {
        times_power(self.mantissa, self.exponent - exponent)
    }

    fn scaled(self, power: i32) -> Self {
        let exponent = if self.mantissa == 0.0 { 0 } else { self.exponent + power };
        Self { exponent, ..self }
    }
}

impl Mul for Wide {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa).scaled(self.exponent + other.exponent)
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.mantissa == 0.0 || other.mantissa == 0.0 {
            return if self.mantissa == 0.0 { other } else { self };
        }
        let exponent = self.exponent.max(other.exponent);
        Self::new(self.in_units_of(exponent) + other.in_units_of(exponent)).scaled(exponent)
    }
}

/// x · 2^exponent, in steps that stay in range.
fn times_power(x: f64, exponent: i32) -> f64 {
    let exponent = exponent.clamp(-2200, 2200);
    let third = exponent / 3;
    x * 2.0_f64.powi(third) * 2.0_f64.powi(third) * 2.0_f64.powi(exponent - 2 * third)
}

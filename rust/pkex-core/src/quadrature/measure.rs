//! Measures on [0, 1]: each interaction index integrates over a measure.

use libm::pow;

use crate::quadrature::rule::Node;

/// A measure on [0, 1], over which an index integrates ∏ Fₗ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// All mass, 1, at t.
    Point(f64),
    /// A density.
    Density(Density),
}

/// The density `scale` · tⁱ (1 − t)ʲ `P_m`(1 − 2t) with the powers i and j and Jacobi's polynomial
/// of degree m and parameters j + 1 and i (1 for degree 0); the uniform one is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// The factor of the density.
    pub scale: f64,
    /// The powers of t and of 1 − t.
    pub powers: (u32, u32),
    /// The degree of Jacobi's polynomial.
    pub degree: u32,
}

impl Density {
    /// The uniform density, 1.
    pub const UNIFORM: Self = Self { scale: 1.0, powers: (0, 0), degree: 0 };

    pub(crate) fn total_degree(self) -> usize {
        (self.powers.0 + self.powers.1 + self.degree) as usize
    }

    /// The density at a node, from t and 1 − t.
    pub(crate) fn at(self, node: &Node) -> f64 {
        let Self { scale, powers, degree } = self;
        let (t, complement) = if node.step >= 0.0 {
            (node.step, 1.0 - node.step)
        } else {
            (1.0 + node.step, -node.step)
        };
        let parameters = (f64::from(powers.1 + 1), f64::from(powers.0));
        let power = |x: f64, exponent: u32| pow(x, f64::from(exponent));
        scale
            * power(t, powers.0)
            * power(complement, powers.1)
            * jacobi(degree, parameters, complement - t)
    }
}

/// Jacobi's polynomial with parameters a and b at x, by the recursion in its degree (Szegő 1939,
/// equation 4.5.1), which does not cancel as its sum of powers does.
pub(crate) fn jacobi(degree: u32, (a, b): (f64, f64), x: f64) -> f64 {
    let (mut before, mut value) = (1.0, 1.0);
    for n in 1..=degree {
        let n = f64::from(n);
        let c = 2.0 * n + a + b;
        let next = if n > 1.0 {
            ((c - 1.0) * (c * (c - 2.0) * x + a * a - b * b) * value
                - 2.0 * (n + a - 1.0) * (n + b - 1.0) * c * before)
                / (2.0 * n * (n + a + b) * (c - 2.0))
        } else {
            (a + 1.0) + (a + b + 2.0) * (x - 1.0) / 2.0
        };
        (before, value) = (value, next);
    }
    value
}

//! Rules on [0, 1] that have the end t = 0 for nothing, where every factor is 1.
//!
//! For f(t) = ∏ (1 + t cₗ) both f(0) = 1 and f′(0) = Σ cₗ are known without a node. The rule
//!
//!   ∫₀¹ f ≈ w₀ f(0) + w₁ f′(0) + Σₙ λₙ f(tₙ)
//!
//! whose m nodes are the zeros of the polynomial orthogonal to t² integrates polynomials of degree
//! 2m + 1 exactly (Gautschi 2004, section 3.1.4: a Gauss–Radau rule with an end of multiplicity
//! two), as Gauss–Legendre with m + 1 nodes does.

use std::f64::consts::PI;

use crate::quadrature::measure::jacobi;
use crate::quadrature::rule::{Node, Rule};

/// A rule seen from the end t = 0 alone.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeEnd {
    /// The weights w₀ of f(0) and w₁ of f′(0).
    pub value: f64,
    pub slope: f64,
    /// The nodes t, as steps from 0.
    pub nodes: Vec<Node>,
}

impl FreeEnd {
    /// The rule of `count` nodes and the end.
    ///
    /// With π the polynomial of the nodes, the rule is exact for t π and π, whose integrals are those
    /// of Jacobi's polynomials: w₁ = ∫ t π dt/π(0) = 2/((m+1)² (m+2)²), and as π′(0)/π(0) is
    /// −m (m+3)/3, w₀ = ∫ π dt/π(0) + w₁ m (m+3)/3 with ∫ π dt/π(0) = 2/((m+1) (m+2)). Sums of the
    /// other weights would leave errors that are large beside w₁.
    pub fn new(count: usize) -> Self {
        let m = count as f64;
        let product = (m + 1.0) * (m + 2.0);
        let slope = 2.0 / (product * product);
        let value = 2.0 / product + slope * (m * (m + 3.0) / 3.0);
        Self { value, slope, nodes: (0..count).map(|k| node(count, k)).collect() }
    }
}

impl From<&Rule> for FreeEnd {
    /// The same nodes, without the end.
    fn from(rule: &Rule) -> Self {
        let from_present =
            rule.from_present.iter().map(|node| Node { step: 1.0 + node.step, ..*node });
        let nodes = rule.from_absent.iter().copied().chain(from_present).collect();
        Self { value: 0.0, slope: 0.0, nodes }
    }
}

/// Node number `k` < `count`, counted from t = 1.
///
/// With P Jacobi's polynomial of parameters 0 and 2 at x = 2t − 1, the weight is 1/(t³ (1 − t)
/// (dP/dt)²) (Szegő 1939, equation 15.3.1, divided by t²).
fn node(count: usize, k: usize) -> Node {
    let degree = u32::try_from(count).unwrap_or(u32::MAX);
    let value = |t: f64| jacobi(degree, (0.0, 2.0), 2.0 * t - 1.0);
    let slope = |t: f64| (count as f64 + 3.0) * jacobi(degree - 1, (1.0, 3.0), 2.0 * t - 1.0);
    // Near the zero (Szegő 1939, equation 8.9.1); then Newton's iteration.
    let theta = PI * (k as f64 + 0.75) / (count as f64 + 1.5);
    let mut t = f64::midpoint(1.0, libm::cos(theta));
    for _ in 0..20 {
        let change = value(t) / slope(t);
        t -= change;
        if change.abs() <= 1e-16 {
            break;
        }
    }
    let rise = t * slope(t);
    Node { step: t, weight: 1.0 / (t * (1.0 - t) * (rise * rise)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_makes_up_for_a_node_and_no_weight_is_negative() {
        for count in 0..=16 {
            let FreeEnd { value, slope, nodes } = FreeEnd::new(count);
            assert_eq!(nodes.len(), count);
            assert!(value > 0.0 && slope > 0.0 && nodes.iter().all(|node| node.weight > 0.0));
            let of_nodes = |degree: usize| -> f64 {
                let power = |t: f64| libm::pow(t, degree as f64);
                nodes.iter().map(|node| node.weight * power(node.step)).sum()
            };
            for degree in 0..=2 * count + 1 {
                let of_end = [value, slope].get(degree).copied().unwrap_or(0.0);
                let error = of_nodes(degree) + of_end - 1.0 / (degree as f64 + 1.0);
                assert!(error.abs() < 1e-15, "{count} nodes, t^{degree}: {error:e}");
            }
            let error = 1.0 / (2.0 * count as f64 + 3.0) - of_nodes(2 * count + 2);
            // ∫ t² π² of the monic polynomial with the zeros tₙ: (m! (m+2)!/(2m+2)!)²/(2m+3).
            let ln = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
            let expected = 2.0 * (ln(count) + ln(count + 2) - ln(2 * count + 2))
                - (2.0 * count as f64 + 3.0).ln();
            assert!(count > 8 || (error / expected.exp() - 1.0).abs() < 1e-3, "{count}: {error:e}");
        }
    }
}

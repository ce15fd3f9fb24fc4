//! Rules on [0, 1] that use the end t = 0 at no cost: every factor is 1 there.
//!
//! For f(t) = ∏ (1 + t cₗ) both f(0) = 1 and f′(0) = Σ cₗ are known without a node. The rule
//!
//!   ∫₀¹ f ≈ w₀ f(0) + w₁ f′(0) + Σₙ λₙ f(tₙ)
//!
//! whose m nodes are the zeros of the polynomial orthogonal to t², integrates polynomials of degree
//! 2m + 1 exactly, as Gauss–Legendre with m + 1 nodes does (Gautschi 2004, section 3.1.4: a
//! Gauss–Radau rule with an end of multiplicity two).

use std::f64::consts::PI;

use crate::quadrature::measure::jacobi;
use crate::quadrature::rule::{Node, Rule};

/// A rule all of whose nodes are seen from the end t = 0.
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
    /// With the polynomial π of the nodes, the rule is exact for t π and π, whose integrals are
    /// those of Jacobi's polynomials: w₁ = ∫ t π dt/π(0) = 2/((m+1)² (m+2)²). Because π′(0)/π(0) is
    /// −m (m+3)/3, w₀ = ∫ π dt/π(0) + w₁ m (m+3)/3 with ∫ π dt/π(0) = 2/((m+1) (m+2)). Sums of the
    /// other weights would leave errors that are large compared with w₁.
    pub fn new(count: usize) -> Self {
        let m = count as f64;
        let product = (m + 1.0) * (m + 2.0);
        let slope = 2.0 / (product * product);
        let value = 2.0 / product + slope * (m * (m + 3.0) / 3.0);
        Self { value, slope, nodes: (0..count).map(|k| node(count, k)).collect() }
    }
}

impl From<&Rule> for FreeEnd {
    /// A rule without the end t = 0.
    fn from(rule: &Rule) -> Self {
        let from_present =
            rule.from_present.iter().map(|node| Node { step: 1.0 + node.step, ..*node });
        let nodes = rule.from_absent.iter().copied().chain(from_present).collect();
        Self { value: 0.0, slope: 0.0, nodes }
    }
}

/// Node number `k` < `count`, counted from t = 1.
///
/// The weight is 1/(t² Σₙ (2n + 3) Pₙ²), n < `count`, with Jacobi's polynomials P of parameters 0
/// and 2 at 2t − 1, whose squares times t² have the integrals 1/(2n + 3) (Szegő 1939, equations
/// 3.4.8 and 4.3.3). All terms are positive and accurate near t = 0, where f is largest.
fn node(count: usize, k: usize) -> Node {
    let degree = u32::try_from(count).unwrap_or(u32::MAX);
    let slope = |t: f64| (count as f64 + 3.0) * jacobi(degree - 1, (1.0, 3.0), 2.0 * t - 1.0);
    // An approximation of the zero (Szegő 1939, equation 8.9.1), then Newton's iteration.
    let theta = PI * (k as f64 + 0.75) / (count as f64 + 1.5);
    let mut t = f64::midpoint(1.0, libm::cos(theta));
    for _ in 0..20 {
        let (value, _) = polynomial(count, t);
        let change = value / slope(t);
        t -= change;
        if change.abs() <= 1e-17 {
            break;
        }
    }
    let (_, squares) = polynomial(count, t);
    Node { step: t, weight: 1.0 / (t * t * squares) }
}

/// P of degree `count` at 2t − 1, and Σₙ (2n + 3) Pₙ² over all lower degrees n.
///
/// P is (−1)ⁿ (n+1)(n+2)/2 R with R = 1 at t = 0. The differences of R by degree, D, do not cancel
/// there: (n+3)² D₊ = n² (n+2)/(n+1) D − 2 (2n+3)(n+2) t R (from Szegő 1939, equation 4.5.1).
fn polynomial(count: usize, t: f64) -> (f64, f64) {
    let (mut ratio, mut difference) = (1.0, 0.0);
    let (mut at_zero, mut squares) = (1.0, 0.0);
    for n in 0..count {
        let n = n as f64;
        let value = at_zero * ratio;
        squares += (2.0 * n + 3.0) * value * value;
        let before = n * n * (n + 2.0) / (n + 1.0) * difference;
        let change = 2.0 * (2.0 * n + 3.0) * (n + 2.0) * t * ratio;
        difference = (before - change) / ((n + 3.0) * (n + 3.0));
        ratio += difference;
        at_zero *= -(n + 3.0) / (n + 1.0);
    }
    (at_zero * ratio, squares)
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
            let node_sum = |degree: usize| -> f64 {
                let power = |t: f64| libm::pow(t, degree as f64);
                nodes.iter().map(|node| node.weight * power(node.step)).sum()
            };
            for degree in 0..=2 * count + 1 {
                let end_term = [value, slope].get(degree).copied().unwrap_or(0.0);
                let error = node_sum(degree) + end_term - 1.0 / (degree as f64 + 1.0);
                assert!(error.abs() < 1e-15, "{count} nodes, t^{degree}: {error:e}");
            }
            let error = 1.0 / (2.0 * count as f64 + 3.0) - node_sum(2 * count + 2);
            // ∫ t² π² of the monic polynomial with the zeros tₙ: (m! (m+2)!/(2m+2)!)²/(2m+3).
            let ln = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
            let expected = 2.0 * (ln(count) + ln(count + 2) - ln(2 * count + 2))
                - (2.0 * count as f64 + 3.0).ln();
            assert!(count > 8 || (error / expected.exp() - 1.0).abs() < 1e-3, "{count}: {error:e}");
        }
    }

    #[test]
    fn falling_functions_are_integrated_to_a_few_units() {
        for count in 1..=12 {
            let rule = FreeEnd::new(count);
            for degree in 0..=2 * count + 1 {
                let n = degree as f64;
                let at = |node: &Node| node.weight * libm::exp(n * libm::log1p(-node.step));
                let sum = rule.value - rule.slope * n + rule.nodes.iter().map(at).sum::<f64>();
                let error = sum * (n + 1.0) - 1.0;
                assert!(error.abs() < 8.0 * f64::EPSILON / 2.0, "{count}, {degree}: {error:e}");
            }
        }
    }
}

//! Gauss–Legendre rules on [0, 1].

use std::f64::consts::PI;

use libm::sin;

/// One node t of a rule, seen from the nearer end of [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Fₗ(t) is the absent factor plus `step`·cₗ for t ≤ ½ (step = t), and the present factor plus
    /// `step`·cₗ for t > ½ (step = t − 1): neither cancels where cₗ ≈ −1.
    pub step: f64,
    /// The node's weight.
    pub weight: f64,
}

/// A quadrature rule on [0, 1], with its nodes split by the end from which they are seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Nodes with t ≤ ½.
    pub from_absent: Vec<Node>,
    /// Nodes with t > ½.
    pub from_present: Vec<Node>,
}

impl Rule {
    /// The single node `t`, of weight 1.
    #[must_use]
    pub fn point(t: f64) -> Self {
        let (from_absent, from_present) =
            if t <= 0.5 { (Some(t), None) } else { (None, Some(t - 1.0)) };
        let node = |step| Node { step, weight: 1.0 };
        Self {
            from_absent: from_absent.map(node).into_iter().collect(),
            from_present: from_present.map(node).into_iter().collect(),
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.from_absent.len() + self.from_present.len()
    }

    /// The Gauss–Legendre rule of `count` nodes.
    ///
    /// With x = cos θ, Newton's iteration for `P_count`(cos θ) = 0 in θ; then t = (1 + x)/2 =
    /// cos²(θ/2), 1 − t = sin²(θ/2), and the weight on [0, 1] is (dP/dθ)⁻².
    ///
    /// # Panics
    /// If `count` is 0.
    #[must_use]
    pub fn gauss_legendre(count: usize) -> Self {
        assert!(count > 0, "a quadrature rule needs a node");
        let upper: Vec<Node> = (0..count / 2)
            .map(|k| {
                let theta = legendre_zero(count, k);
                let (_, slope) = legendre(count, theta);
                let sine = sin(theta / 2.0);
                Node { step: -(sine * sine), weight: 1.0 / (slope * slope) }
            })
            .collect();
        let mut lower: Vec<Node> =
            upper.iter().map(|node| Node { step: -node.step, ..*node }).collect();
        if count % 2 == 1 {
            let (_, slope) = legendre(count, PI / 2.0);
            lower.push(Node { step: 0.5, weight: 1.0 / (slope * slope) });
        }
        Self { from_absent: lower, from_present: upper }
    }
}

/// The zero number `k` < `count`/2 of θ ↦ `P_count`(cos θ), counted from θ = 0.
fn legendre_zero(count: usize, k: usize) -> f64 {
    // Szegő (1939), equation 6.21.5: within O(1/count²) of the zero.
    let mut theta = PI * (k as f64 + 0.75) / (count as f64 + 0.5);
    for _ in 0..20 {
        let (value, slope) = legendre(count, theta);
        let change = value / slope;
        theta -= change;
        if change.abs() <= 1e-15 * theta {
            break;
        }
    }
    theta
}

/// P(cos θ) of degree `count` ≥ 1, and its derivative by θ.
///
/// Bonnet's recursion for D = `P_k` − `P_{k−1}` in y = 1 − cos θ = 2 sin²(θ/2), accurate near 0:
/// (k+1) `D_{k+1}` = k `D_k` − (2k+1) y `P_k`; and dP/dθ = k (`D_k` − y `P_k`)/sin θ.
fn legendre(count: usize, theta: f64) -> (f64, f64) {
    let sine = sin(theta / 2.0);
    let y = 2.0 * sine * sine;
    let mut value = 1.0 - y;
    let mut difference = -y;
    for k in 1..count {
        let k = k as f64;
        difference = (k * difference - (2.0 * k + 1.0) * y * value) / (k + 1.0);
        value += difference;
    }
    (value, -(count as f64) * (y * value - difference) / sin(theta))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_integrate_monomials_exactly() {
        for count in [1, 2, 3, 5, 8, 17, 32, 88, 153, 1000] {
            let rule = Rule::gauss_legendre(count);
            assert_eq!(rule.count(), count);
            for degree in [0, 1, 2, 5, 2 * count - 2, 2 * count - 1] {
                let at = |t: f64, weight: f64| weight * t.powf(degree as f64);
                let sum: f64 = rule.from_absent.iter().map(|n| at(n.step, n.weight)).sum::<f64>()
                    + rule
                        .from_present
                        .iter()
                        .map(|n| {
                            // t^degree from 1 − t, without rounding t first.
                            n.weight * (degree as f64 * n.step.ln_1p()).exp()
                        })
                        .sum::<f64>();
                if degree < 2 * count {
                    let exact = 1.0 / (degree as f64 + 1.0);
                    assert!((sum / exact - 1.0).abs() < 2e-13, "{count} nodes, t^{degree}: {sum}");
                }
            }
        }
    }
}

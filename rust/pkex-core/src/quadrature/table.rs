//! Gauss–Legendre rules on [0, 1], and how many nodes full double precision takes.
//!
//! The integrand ∏ₗ Fₗ(t), Fₗ = bₗ + t cₗ, of d − 1 linear factors is integrated exactly by ⌈d/2⌉
//! nodes. With Mₗ = max(|aₗ|, |bₗ|) and Λ = Σₗ |cₗ|/Mₗ far fewer err by less than rounding does:
//! see [`error_bound`]. Rules and limits are made once per number of players ([`NodeTable::new`]).

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

/// Half an ulp of 1.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// One node t of a rule, seen from the nearer end of [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Fₗ(t) is the absent factor plus `step`·cₗ for t ≤ ½ (step = t), and the present factor plus
    /// `step`·cₗ for t > ½ (step = t − 1): neither cancels where cₗ ≈ −1.
    pub step: f64,
    /// The node's weight.
    pub weight: f64,
}

/// A quadrature rule on [0, 1], its nodes split by the end they are seen from.
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
                Node { step: -(theta / 2.0).sin().powi(2), weight: slope.powi(-2) }
            })
            .collect();
        let mut lower: Vec<Node> =
            upper.iter().map(|node| Node { step: -node.step, ..*node }).collect();
        if count % 2 == 1 {
            let (_, slope) = legendre(count, PI / 2.0);
            lower.push(Node { step: 0.5, weight: slope.powi(-2) });
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
/// Bonnet's recursion for D = `P_k` − `P_{k−1}` in y = 1 − cos θ = 2 sin²(θ/2), accurate near θ = 0:
/// (k+1) `D_{k+1}` = k `D_k` − (2k+1) y `P_k`; and dP/dθ = k (`D_k` − y `P_k`)/sin θ.
fn legendre(count: usize, theta: f64) -> (f64, f64) {
    let y = 2.0 * (theta / 2.0).sin().powi(2);
    let mut value = 1.0 - y;
    let mut difference = -y;
    for k in 1..count {
        let k = k as f64;
        difference = (k * difference - (2.0 * k + 1.0) * y * value) / (k + 1.0);
        value += difference;
    }
    (value, -(count as f64) * (y * value - difference) / theta.sin())
}

/// An upper bound of a rule's error with `count` nodes, relative to ∏M, as a function of Λ.
///
/// The smaller of Λ^{2m} (m!)⁴ / ((2m+1) ((2m)!)³) (the rule's remainder, as every 2m-th derivative
/// is at most Λ^{2m} ∏M) and (32/15) e^{Λ sinh²(s/2) − 2ms} / (1 − e^{−2s}), m ≥ 2 (the integrand's
/// size on a Bernstein ellipse e^s), which holds for every s > 0: here for the near-optimal one.
fn error_bound(count: usize) -> impl Fn(f64) -> f64 {
    let m = count as f64;
    let constant = 4.0 * ln_factorial(count) - 3.0 * ln_factorial(2 * count) - (2.0 * m + 1.0).ln();
    move |lambda| {
        let log_remainder = 2.0 * m * lambda.ln() + constant;
        if count < 2 {
            return log_remainder.exp();
        }
        let s = (4.0 * m / lambda).asinh();
        let log_ellipse = (32.0_f64 / 15.0).ln() + lambda * (s / 2.0).sinh().powi(2)
            - 2.0 * m * s
            - (-(-2.0 * s).exp_m1()).ln();
        log_remainder.min(log_ellipse).exp()
    }
}

fn ln_factorial(n: usize) -> f64 {
    (2..=n).map(|k| (k as f64).ln()).sum()
}

/// The largest Λ for which `error(Λ)` stays within `tolerance(Λ)`, by bisection.
fn largest_lambda(error: impl Fn(f64) -> f64, tolerance: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if error(middle) <= tolerance(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A measure on [0, 1], over which an index integrates ∏ Fₗ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// All mass, 1, at t.
    Point(f64),
    /// A density.
    Density(Density),
}

/// The density `scale` · tⁱ (1 − t)ʲ `P_m`(1 − 2t) with the powers i and j and Jacobi's polynomial of
/// degree m and parameters j + 1 and i (1 for degree 0); the uniform one is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// A factor in front.
    pub scale: f64,
    /// The powers of t and of 1 − t.
    pub powers: (u32, u32),
    /// The degree of Jacobi's polynomial.
    pub degree: u32,
}

impl Density {
    /// 1.
    pub const UNIFORM: Self = Self { scale: 1.0, powers: (0, 0), degree: 0 };

    fn total_degree(self) -> usize {
        (self.powers.0 + self.powers.1 + self.degree) as usize
    }

    /// The density at a node, from t and 1 − t.
    fn at(self, node: &Node) -> f64 {
        let Self { scale, powers, degree } = self;
        let (t, rest) = if node.step >= 0.0 {
            (node.step, 1.0 - node.step)
        } else {
            (1.0 + node.step, -node.step)
        };
        let parameters = (f64::from(powers.1 + 1), f64::from(powers.0));
        let power = |x: f64, exponent: u32| x.powf(f64::from(exponent));
        scale * power(t, powers.0) * power(rest, powers.1) * jacobi(degree, parameters, rest - t)
    }
}

/// Jacobi's polynomial with parameters a and b at x, by the recursion in its degree (Szegő 1939,
/// equation 4.5.1), which does not cancel as its sum of powers does.
fn jacobi(degree: u32, (a, b): (f64, f64), x: f64) -> f64 {
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

/// A rule and the largest Λ up to which it reaches full double precision.
#[derive(Debug)]
struct Entry {
    rule: Rule,
    /// For differences c of one sign, relative to ∏M (and so to Ω ≥ ∏M/(Λ+1)).
    limit_one_sign: f64,
    /// For differences of mixed signs, with 2Λ and a tolerance smaller by Λ + 1.
    limit_mixed: f64,
}

impl Entry {
    /// The rule of `count` nodes, which `is_exact` if that many integrate any game exactly.
    fn new(count: usize, is_exact: bool) -> Self {
        let bound = error_bound(count);
        let limit = |scale: f64, growth: f64| {
            let error = |lambda: f64| bound(scale * lambda);
            let tolerance = |lambda: f64| UNIT_ROUNDOFF / (1.0 + growth * lambda);
            if is_exact { f64::INFINITY } else { largest_lambda(error, tolerance) }
        };
        Self {
            rule: Rule::gauss_legendre(count),
            limit_one_sign: limit(1.0, 0.0),
            limit_mixed: limit(2.0, 1.0),
        }
    }

    /// The same, made once per process: bisection for the limits costs more than the rule.
    fn shared(count: usize, is_exact: bool) -> Arc<Self> {
        static MADE: Mutex<BTreeMap<(usize, bool), Arc<Entry>>> = Mutex::new(BTreeMap::new());
        let make = || Arc::new(Self::new(count, is_exact));
        // Without waiting: a fork may have taken the thread away that holds the lock.
        match MADE.try_lock() {
            Ok(mut made) => Arc::clone(made.entry((count, is_exact)).or_insert_with(make)),
            Err(_) => make(),
        }
    }
}

/// The rules that games of a number of players need, from the shortest to the exact one.
#[derive(Clone, Debug)]
pub struct NodeTable {
    entries: Vec<Arc<Entry>>,
}

impl NodeTable {
    /// The rules for games of at most `players` players (Λ ≤ 2·`players`, as |c| ≤ 2M).
    #[must_use]
    pub fn new(players: usize) -> Self {
        let exact = players.div_ceil(2).max(1);
        let largest = 2.0 * players as f64;
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut count = 1;
        while entries.last().is_none_or(|entry| entry.limit_mixed < largest) {
            entries.push(Entry::shared(count.min(exact), count >= exact));
            // Every size up to 32, then steps of an eighth: few rules, at most that much longer.
            count += if count < 32 { 1 } else { 1 << (count.ilog2() - 3) };
        }
        Self { entries }
    }

    /// The rules for the integral of games of at most `players` players over a density of degree g.
    ///
    /// On an ellipse e^s the density grows by e^{gs} at most (Bernstein), as much as ⌈g/2⌉ nodes more
    /// make up for. It may leave little of the game's own size: limits are those of mixed signs.
    #[must_use]
    pub fn weighted(players: usize, density: &Density) -> Self {
        if *density == Density::UNIFORM {
            return Self::new(players);
        }
        let weighted = |entry: &Arc<Entry>| {
            let count = entry.rule.count() + density.total_degree().div_ceil(2);
            let mut rule = Rule::gauss_legendre(count);
            for node in rule.from_absent.iter_mut().chain(&mut rule.from_present) {
                node.weight *= density.at(node);
            }
            Arc::new(Entry {
                rule,
                limit_one_sign: entry.limit_mixed,
                limit_mixed: entry.limit_mixed,
            })
        };
        Self { entries: Self::new(players).entries.iter().map(weighted).collect() }
    }

    /// The shortest rule that reaches full double precision at Λ = `lambda`.
    #[must_use]
    pub fn rule(&self, lambda: f64, mixed_signs: bool) -> &Rule {
        let too_short = |entry: &Arc<Entry>| {
            lambda > if mixed_signs { entry.limit_mixed } else { entry.limit_one_sign }
        };
        let index = self.entries.partition_point(too_short);
        &self.entries[index.min(self.entries.len() - 1)].rule
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_numbers_are_those_of_the_table() {
        let table = NodeTable::new(10_000);
        for (lambda, expected) in
            [(1.0, 7), (2.0, 8), (4.0, 10), (8.0, 12), (16.0, 15), (32.0, 20), (64.0, 27)]
        {
            assert_eq!(table.rule(lambda, false).count(), expected, "Λ = {lambda}");
        }
        for (lambda, expected) in [(1.0, 8), (4.0, 12), (16.0, 21)] {
            assert_eq!(table.rule(lambda, true).count(), expected, "mixed, Λ = {lambda}");
        }
        // Beyond 32 nodes sizes grow in steps of an eighth.
        for (lambda, at_least) in [(128.0, 37), (256.0, 51), (512.0, 71), (1024.0, 100)] {
            let count = table.rule(lambda, false).count();
            assert!((at_least..=at_least + at_least / 8 + 1).contains(&count), "{lambda}: {count}");
        }
    }

    #[test]
    fn node_numbers_are_capped_at_exactness() {
        for players in [1, 2, 3, 7, 20, 101] {
            let table = NodeTable::new(players);
            let exact = players.div_ceil(2);
            assert!(table.rule(players as f64, false).count() <= exact);
            assert_eq!(
                table.rule(f64::INFINITY, true).count(),
                table.entries.last().unwrap().rule.count()
            );
        }
        assert_eq!(NodeTable::new(8).rule(8.0, true).count(), 4);
    }

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

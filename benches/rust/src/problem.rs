//! Explanations of a kernel expansion with a known number of quadrature nodes.

use std::hint::black_box;
use std::ops::ControlFlow;

use pkex_core::{
    Error, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
};

/// Expansion points of every problem.
pub const POINTS: usize = 1000;

/// Rows to be explained, and the Gaussian kernel expansion that explains them.
///
/// The rows are 0 and the points' entries ±1, so that every factor of the kernel is the same
/// k = exp(−1/(2ℓ²)), and every evaluation has the same Λ = Σⱼ (1 − kⱼ) and number of nodes. (The
/// engine does not branch on factors: this takes no less time than other data of that Λ.)
pub struct Problem {
    features: usize,
    rows: Vec<f64>,
    expansion: Expansion,
}

impl Problem {
    /// About as many rows as have `factors` factors in all, at least two, with the length-scale ℓ of Λ = `lambda`.
    ///
    /// # Panics
    /// If Λ is not between 0 and `features`.
    #[must_use]
    pub fn new(features: usize, factors: usize, lambda: f64) -> Self {
        let points: Vec<f64> = signs().take(POINTS * features).collect();
        let coefficients: Vec<f64> = signs().take(POINTS).collect();
        let length_scale = (-2.0 * (-lambda / features as f64).ln_1p()).recip().sqrt();
        let factor = |column| Factor { family: Family::Rbf, column, parameter: length_scale };
        let term =
            Term { coefficient: 1.0, factors: (0..features).map(factor).collect(), series: None };
        let expansion = Expansion::new(
            Matrix::of_shape(&points, [POINTS, features]),
            Matrix::of_shape(&coefficients, [POINTS, 1]),
            &[term],
            Players::columns(features),
        );
        let rows = (factors / (POINTS * features)).max(2);
        Self { features, rows: vec![0.0; rows * features], expansion: expect(expansion) }
    }

    /// Factors of the kernel: rows × points × features.
    #[must_use]
    pub fn factors(&self) -> f64 {
        (self.rows.len() * POINTS) as f64
    }

    /// Computes the Shapley values.
    pub fn explain(&self, method: Method, settings: &Settings) {
        black_box(expect(self.expansion.explain(
            self.rows(),
            ValueFunction::Neutral,
            method,
            settings,
            &mut go_on,
        )));
    }

    /// Evaluates the expansion: only factors, their products and a sum.
    pub fn predict(&self, settings: &Settings) {
        black_box(expect(self.expansion.predict(self.rows(), settings, &mut go_on)));
    }

    fn rows(&self) -> Matrix<'_> {
        Matrix::of_shape(&self.rows, [self.rows.len() / self.features, self.features])
    }
}

/// The Gauss–Legendre nodes of an evaluation: the smallest number m with an error of at most 2⁻⁵³;
/// ⌈d/2⌉ nodes are exact.
///
/// The error bound is the smaller of Λ^{2m} (m!)⁴ / ((2m+1) ((2m)!)³) and, for m ≥ 2 and every s >
/// 0, (32/15) e^{Λ sinh²(s/2) − 2ms} / (1 − e^{−2s}), here with the near-optimal s = arsinh(4m/Λ).
#[must_use]
pub fn nodes(features: usize, lambda: f64) -> f64 {
    let ln_factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let suffices = |&count: &usize| {
        let m = count as f64;
        let remainder = 2.0 * m * lambda.ln() + 4.0 * ln_factorial(count)
            - (2.0 * m + 1.0).ln()
            - 3.0 * ln_factorial(2 * count);
        let s = (4.0 * m / lambda).asinh();
        let ellipse = (32.0_f64 / 15.0).ln() + lambda * (s / 2.0).sinh().powi(2)
            - 2.0 * m * s
            - (-(-2.0 * s).exp_m1()).ln();
        let bound = if count < 2 { remainder } else { remainder.min(ellipse) };
        bound <= (f64::EPSILON / 2.0).ln()
    };
    let exact = features.div_ceil(2);
    (1..exact).find(suffices).unwrap_or(exact) as f64
}

fn expect<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("the engine takes this problem: {error}"))
}

fn go_on(_done: usize, _total: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Pseudo-random signs ±1, equal in every run.
fn signs() -> impl Iterator<Item = f64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        // Knuth's MMIX generator, of which the highest bit is the most random.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { -1.0 } else { 1.0 }
    })
}

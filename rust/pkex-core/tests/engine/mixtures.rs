//! Mixtures of Gaussians: what is left out, and means over points that are not computed by pairs.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
};

use crate::random::Random;

const COLUMNS: usize = 9;

/// Points, of which the first ones are also explained, and a column of which some entries are equal.
struct Mixture {
    points: Vec<f64>,
    coefficients: Vec<f64>,
    terms: Vec<Term>,
}

impl Mixture {
    /// Terms of these length-scales. Weights are those of a Matérn kernel.
    fn new(count: usize, length_scales: impl Iterator<Item = f64>) -> Self {
        let mut random = Random::new(count as u64);
        let term = |scale: f64| {
            let factor = |column| Factor { family: Family::Rbf, column, parameter: scale };
            let factors = (0..COLUMNS).map(factor).collect();
            Term { coefficient: scale.powi(5) / (1.0 + scale.powi(9)), factors, series: None }
        };
        let mut points = random.numbers(count * COLUMNS, -2.0, 2.0);
        points.iter_mut().step_by(COLUMNS).for_each(|entry| *entry = entry.round());
        let coefficients = random.numbers(count, -1.0, 1.0);
        Self { points, coefficients, terms: length_scales.map(term).collect() }
    }

    /// The values of the first rows, in the marginal game of the points.
    fn values(&self, game: ValueFunction<'_>, threads: usize) -> Vec<f64> {
        let shape = [self.coefficients.len(), COLUMNS];
        let expansion = Expansion::new(
            Matrix::of_shape(&self.points, shape),
            Matrix::of_shape(&self.coefficients, [shape[0], 1]),
            &self.terms,
            Players::columns(COLUMNS),
        );
        let rows = Matrix::of_shape(&self.points[..6 * COLUMNS], [6, COLUMNS]);
        let settings = Settings { threads, ..Settings::default() };
        let monitor = &mut |_, _| ControlFlow::Continue(());
        expansion.unwrap().explain(rows, game, Method::Quadrature, &settings, monitor).unwrap()
    }
}

fn assert_close(found: &[f64], expected: &[f64], share: f64) {
    let scale = expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= share * scale, "{found} instead of {expected}");
    }
}

#[test]
fn narrow_components_are_left_out_only_where_they_change_no_digit() {
    // The rows are points: their own components are never negligible.
    let scales = || (0..36).map(|k| 4.0 * 0.75_f64.powi(k));
    let narrowing = Mixture::new(40, scales());
    // Nothing is left out where each component is wider than the one before.
    let widening = Mixture::new(40, scales().collect::<Vec<_>>().into_iter().rev());
    let values = |mixture: &Mixture| mixture.values(ValueFunction::MarginalOfPoints, 1);
    assert_close(&values(&narrowing), &values(&widening), 4e-16);
}

#[test]
fn what_is_left_out_is_negligible_compared_with_the_largest_product_with_its_coefficient() {
    // Only the narrowest term depends on column 1. Its product is 2⁻ᵏ of that of the widest.
    let value = |widest: f64, narrowest: f64, k: f64| {
        let (point, row, other) = ([0.1, 0.5], [0.0; 2], [0.0, 1.5]);
        let scale = 0.1 / (2.0 * k * std::f64::consts::LN_2).sqrt();
        let term = |coefficient, scales: [f64; 2]| {
            let factors = scales.into_iter().enumerate();
            let factor = |(column, parameter)| Factor { family: Family::Rbf, column, parameter };
            Term { coefficient, factors: factors.map(factor).collect(), series: None }
        };
        let terms = [
            term(widest, [1.0, 1e300]),
            term(1e-30, [scale, 1e300]),
            term(narrowest, [scale, 1.0]),
        ];
        let matrix = |row| Matrix::of_shape(row, [1, 2]);
        let coefficients = Matrix::of_shape(&[1.0], [1, 1]);
        let players = Players::columns(2);
        let expansion = Expansion::new(matrix(&point), coefficients, &terms, players).unwrap();
        let game = ValueFunction::Marginal(Background { rows: matrix(&other), weights: &[1.0] });
        let (settings, monitor) = (Settings::default(), &mut |_, _| ControlFlow::Continue(()));
        let found = expansion
            .explain(matrix(&row), game, Method::Quadrature, &settings, monitor)
            .unwrap()[1];
        let change = (-0.125_f64).exp() - (-0.5_f64).exp();
        found / (narrowest * (-k).exp2() * change)
    };
    let two_to_30 = 30.0_f64.exp2();
    for (widest, narrowest, k) in
        [(1.0, 1.0, 60.0), (1.0, two_to_30, 100.0), (1.0 / two_to_30, 1.0, 100.0)]
    {
        assert!((value(widest, narrowest, k) - 1.0).abs() < 1e-12);
    }
    assert!(value(1.0, 1.0, 100.0).abs() < 1e-3, "it is not left out");
}

#[test]
fn means_over_many_points_are_those_over_a_background_of_the_same_rows() {
    for scale in [0.001, 0.2, 1.0, 30.0, 1e5] {
        let mixture = Mixture::new(150, [scale, scale / 3.0].into_iter());
        let rows = Matrix::of_shape(&mixture.points, [150, COLUMNS]);
        let weights = vec![1.0 / 150.0; 150];
        let background = Background { rows, weights: &weights };
        let given = mixture.values(ValueFunction::Marginal(background), 1);
        let own = mixture.values(ValueFunction::MarginalOfPoints, 1);
        assert_close(&own, &given, 2e-14);
        assert_eq!(own, mixture.values(ValueFunction::MarginalOfPoints, 3));
    }
}

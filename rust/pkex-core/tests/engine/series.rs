//! Terms that are power series: equal bits, and errors for unsupported ones.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Classes, Error, Expansion, Factor, Family, Form, Level, Matrix, Method,
    PairProblem, Players, Series, Settings, Term, ValueFunction, Weighting, mean_factors,
    self_pairs,
};

use crate::random::Random;

const COLUMNS: usize = 7;
const POINTS: usize = 70;

fn rbf(column: usize) -> Factor {
    Factor { family: Family::Rbf, column, parameter: 2.0 }
}

fn series(weights: &[f64], form: Form) -> Series {
    Series {
        weights: weights.to_vec(),
        form,
        dots: (0..5).map(|column| (column, 0.1 + column as f64)).collect(),
        factors: (3..COLUMNS).map(rbf).collect(),
    }
}

fn terms() -> [Term; 3] {
    let polynomial = series(&[0.5, 1.0, 0.25, 2.0], Form::Exponential);
    let additive = series(&[0.0, 1.0, 0.25, 0.5, 0.1, 0.3], Form::Linear);
    let factors = vec![rbf(0), rbf(1), rbf(6)];
    [
        Term { coefficient: 0.5, factors: Vec::new(), series: Some(polynomial.clone()) },
        Term { coefficient: 2.0, factors, series: Some(polynomial) },
        Term { coefficient: 0.7, factors: vec![rbf(2)], series: Some(additive) },
    ]
}

fn players() -> Players {
    Players::new(vec![0, 1, 2, 3, 4, 0, 5])
}

fn numbers(rows: usize) -> Vec<f64> {
    Random::new(rows as u64).numbers(rows * COLUMNS, -1.0, 1.0)
}

fn explain(game: &str, settings: &Settings) -> Vec<f64> {
    let (points, rows) = (numbers(POINTS), numbers(5));
    // Some entries equal those of the rows, some nearly, so that bits cancel.
    let steps = [0.0, 1e-9, 0.5];
    let near: Vec<f64> = rows.iter().enumerate().map(|(i, entry)| entry + steps[i % 3]).collect();
    let points = Matrix::of_shape(&points, [POINTS, COLUMNS]);
    let weights = [0.25, 0.25, 0.125, 0.125, 0.25];
    let background = Background { rows: Matrix::of_shape(&near, [5, COLUMNS]), weights: &weights };
    let coefficients: Vec<f64> = (0..POINTS).map(|i| (i as f64).cos()).collect();
    let coefficients = Matrix::of_shape(&coefficients, [POINTS, 1]);
    let made = Expansion::new(points, coefficients, &terms(), players()).unwrap();
    let game = match game {
        "neutral" => ValueFunction::Neutral,
        "interventional" => ValueFunction::Interventional(background),
        "marginal" => ValueFunction::Marginal(background),
        _ => ValueFunction::MarginalOfPoints,
    };
    let go_on = &mut |_, _| ControlFlow::Continue(());
    made.explain(Matrix::of_shape(&rows, [5, COLUMNS]), game, Method::Quadrature, settings, go_on)
        .unwrap()
}

const GAMES: [&str; 4] = ["neutral", "interventional", "marginal", "of points"];

#[test]
fn bits_depend_neither_on_threads_nor_on_the_level() {
    for game in GAMES {
        let expected = explain(game, &Settings::default());
        for level in Level::ALL.iter().copied().filter(|level| level.is_available()) {
            for threads in [1, 3] {
                let found = explain(game, &Settings { level, threads, ..Settings::default() });
                if level == Level::Portable {
                    for (one, other) in found.iter().zip(&expected) {
                        assert!((one - other).abs() < 1e-11, "{game}: {one} and {other}");
                    }
                } else if Level::best() != Level::Portable {
                    assert_eq!(found, expected, "{game}, {level:?}, {threads} threads");
                }
            }
        }
    }
}

#[test]
fn what_is_no_series_is_refused() {
    let one = Matrix::of_shape(&[1.0], [1, 1]);
    let made = |weights: &[f64], rate: f64, column: usize| {
        let (weights, dots) = (weights.to_vec(), vec![(column, rate)]);
        let series = Series { weights, form: Form::Exponential, dots, factors: Vec::new() };
        let term = Term { coefficient: 1.0, factors: Vec::new(), series: Some(series) };
        Expansion::new(one, one, &[term], Players::columns(1))
    };
    assert!(made(&[1.0, 2.0], 3.0, 0).is_ok());
    for (weights, rate, column) in [
        (vec![], 1.0, 0),
        (vec![1.0; 130], 1.0, 0),
        (vec![f64::NAN], 1.0, 0),
        (vec![1.0], f64::INFINITY, 0),
        (vec![1.0], 1.0, 1),
    ] {
        let outcome = made(&weights, rate, column);
        assert!(matches!(outcome, Err(Error::Domain { .. })), "{weights:?}, {rate}, {column}");
    }
}

#[test]
fn absent_factors_of_pairs_have_a_coefficient_for_each_order() {
    let (terms, players, data) = (terms(), players(), numbers(20));
    let rows = Matrix::of_shape(&data, [20, COLUMNS]);
    let settings = Settings::default();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let means = mean_factors(rows, &terms, &players, &settings, go_on).unwrap();
    assert_eq!(means.len(), terms.len() * players.count() * 6);
    let absent = Matrix::of_shape(&means, [terms.len(), players.count() * 6]);
    let own = self_pairs(rows, &terms, &players, Some(absent), &settings).unwrap();
    assert_eq!(own.len(), 20 * 2 * players.count());
    let too_few = Matrix::of_shape(&means[..18], [3, 6]);
    let refused = self_pairs(rows, &terms, &players, Some(too_few), &settings);
    assert!(matches!(refused, Err(Error::Shape { argument: "absent", .. })));
    let problem = PairProblem {
        rows,
        terms: &terms,
        players: &players,
        absent: Some(too_few),
        groups: &[0; 20],
        weighting: Weighting::Classes(Classes {
            first: 20,
            weights: None,
            skips_second: false,
            takes_halves: true,
        }),
        univariate_in_groups: false,
    };
    assert!(matches!(problem.sums(&settings, go_on), Err(Error::Shape { .. })));
}

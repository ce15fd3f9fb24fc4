//! Squares of expansions: the value of a coalition is the square of its value in the expansion.

use std::ops::ControlFlow;

use pkex_core::{Background, Expansion, Matrix, Method, Players, Settings, ValueFunction};

use crate::case::{COLUMNS, Case, Kind, PLAYERS};

/// The factor of the coefficients of the second output.
const TIMES: f64 = -3.0;
const GAMES: [Kind; 2] = [Kind::Neutral, Kind::Marginal];

fn go_on(_done: usize, _total: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn squares(case: &Case) -> Expansion {
    let n = case.coefficients.len();
    let coefficients: Vec<f64> = case.coefficients.iter().flat_map(|c| [*c, TIMES * c]).collect();
    Expansion::squares(
        Matrix::of_shape(&case.points, [n, COLUMNS]),
        Matrix::of_shape(&coefficients, [n, 2]),
        &case.terms,
        Players::new(vec![0, 1, 2, 1, 3]),
    )
    .unwrap()
}

fn explain(case: &Case, game: ValueFunction<'_>, method: Method, threads: usize) -> Vec<f64> {
    let settings = Settings { threads, ..Settings::default() };
    squares(case).explain(case.rows(), game, method, &settings, &mut go_on).unwrap()
}

fn brute_force(case: &Case, row: &[f64], player: usize, kind: Kind) -> f64 {
    let square = |coalition| case.coalition_value(row, coalition, kind).powi(2);
    (0..1_usize << PLAYERS)
        .filter(|coalition| coalition >> player & 1 == 0)
        .map(|coalition| {
            let share = [3.0, 1.0, 1.0, 3.0][coalition.count_ones() as usize] / 12.0;
            share * (square(coalition | 1 << player) - square(coalition))
        })
        .sum()
}

#[test]
fn values_of_squares_equal_brute_force() {
    for (points, background, scale) in [(1, 1, 0.5), (5, 3, 0.05), (18, 2, 1.0), (33, 7, 20.0)] {
        let case = Case::new(points, background, 2, scale);
        for (kind, method) in GAMES.into_iter().zip([Method::Quadrature, Method::Recursion]) {
            let values = explain(&case, case.game(kind), method, 1);
            for (row, values) in case.rows.chunks(COLUMNS).zip(values.chunks(2 * PLAYERS)) {
                let size = (0..1 << PLAYERS)
                    .map(|coalition| case.coalition_value(row, coalition, kind).powi(2))
                    .fold(0.0, f64::max);
                for (player, values) in values.chunks(2).enumerate() {
                    let expected = brute_force(&case, row, player, kind);
                    let error = (values[0] - expected).abs();
                    assert!(error < 1e-12 * size, "{kind:?}, scale {scale}: {error}");
                    let error = (values[1] - TIMES * TIMES * expected).abs();
                    assert!(error < 1e-11 * size, "{kind:?}, scale {scale}: {error}");
                }
            }
        }
    }
}

#[test]
fn empty_coalitions_and_predictions_are_squares() {
    let case = Case::new(20, 4, 3, 0.8);
    let settings = Settings::default();
    for kind in GAMES {
        let base = squares(&case).base(case.game(kind), &settings, &mut go_on).unwrap();
        let expected = case.coalition_value(&case.rows, 0, kind).powi(2);
        assert!((base[0] - expected).abs() < 1e-13 * expected.max(1.0), "{kind:?}");
    }
    let squared = squares(&case).predict(case.rows(), &settings, &mut go_on).unwrap();
    let plain = case.expansion().predict(case.rows(), &settings, &mut go_on).unwrap();
    for (squared, plain) in squared.chunks(2).zip(plain) {
        assert!((squared[0] - plain * plain).abs() < 1e-13 * squared[0].max(1.0));
    }
}

#[test]
fn squares_have_equal_bits_for_any_threads() {
    let case = Case::new(70, 4, 3, 0.8);
    let games = [case.game(GAMES[0]), case.game(GAMES[1]), ValueFunction::MarginalOfPoints];
    for game in games {
        let values = [1, 2, 5].map(|threads| explain(&case, game, Method::Quadrature, threads));
        assert_eq!(values[0], values[1]);
        assert_eq!(values[0], values[2]);
    }
}

#[test]
fn stored_points_are_a_background_with_equal_weights() {
    let case = Case::new(18, 1, 2, 1.0);
    let weights = [1.0 / 18.0; 18];
    let rows = Matrix::of_shape(&case.points, [18, COLUMNS]);
    let game = ValueFunction::Marginal(Background { rows, weights: &weights });
    let expected = explain(&case, game, Method::Quadrature, 1);
    let values = explain(&case, ValueFunction::MarginalOfPoints, Method::Quadrature, 1);
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    }
}

#[test]
fn squares_of_means_over_whole_rows_are_not_supported() {
    let case = Case::new(3, 2, 1, 1.0);
    let game = case.game(Kind::Interventional);
    let made = squares(&case).explain(
        case.rows(),
        game,
        Method::Quadrature,
        &Settings::default(),
        &mut go_on,
    );
    assert!(made.is_err_and(|error| error.to_string().contains("whole background rows")));
}

//! Games against a background equal their definition, coalition by coalition.

use std::ops::ControlFlow;

use pkex_core::{Method, Settings, ValueFunction};

use crate::case::{BOTH, COLUMNS, Case, Kind, PLAYERS};

#[test]
fn values_against_a_background_equal_brute_force() {
    // Length-scales from narrow to wide; one row (no table of absent factors) and several.
    for (points, background, rows, scale) in
        [(1, 1, 1, 0.5), (20, 7, 3, 0.05), (33, 4, 2, 1.0), (5, 3, 1, 20.0)]
    {
        let case = Case::new(points, background, rows, scale);
        for kind in BOTH {
            for method in [Method::Quadrature, Method::Recursion] {
                let values = case.values(kind, method);
                for (row, values) in case.rows.chunks(COLUMNS).zip(values.chunks(PLAYERS)) {
                    for (player, value) in values.iter().enumerate() {
                        let expected = case.brute_force(row, player, kind);
                        assert!(
                            (value - expected).abs() < 1e-12,
                            "{kind:?}, {method:?}: {value} instead of {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_empty_coalition_is_worth_what_its_definition_says() {
    for scale in [0.5, 20.0] {
        let case = Case::new(40, 5, 1, scale);
        for kind in [Kind::Neutral, Kind::Interventional, Kind::Marginal] {
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let base = case.expansion().base(case.game(kind), &Settings::default(), go_on);
            let expected = case.coalition_value(&case.rows, 0, kind);
            assert!((base.unwrap()[0] - expected).abs() < 1e-13, "{kind:?}");
        }
    }
}

#[test]
fn the_expansions_own_points_are_a_background_of_equal_weights() {
    for count in [1, 5, 16, 37, 300] {
        let mut case = Case::new(count, count, 4, 0.7);
        case.background = case.points.clone();
        let expansion = case.expansion();
        let explain = |game, threads| {
            let settings = Settings { threads, ..Settings::default() };
            let monitor = &mut |_, _| ControlFlow::Continue(());
            expansion.explain(case.rows(), game, Method::Quadrature, &settings, monitor).unwrap()
        };
        let given = explain(case.game(Kind::Marginal), 1);
        let own = explain(ValueFunction::MarginalOfPoints, 1);
        let scale = given.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
        for (own, given) in own.iter().zip(&given) {
            assert!((own - given).abs() <= 1e-13 * scale, "{own} {given}");
        }
        // A new expansion, so that the means are computed again.
        let again = case.expansion();
        let settings = Settings { threads: 3, ..Settings::default() };
        let on_threads = again
            .explain(
                case.rows(),
                ValueFunction::MarginalOfPoints,
                Method::Quadrature,
                &settings,
                &mut |_, _| ControlFlow::Continue(()),
            )
            .unwrap();
        assert_eq!(own, on_threads);
    }
}

#[test]
fn a_mean_over_background_rows_is_the_mean_of_games_against_one() {
    let case = Case::new(40, 5, 4, 0.8);
    let whole = case.values(Kind::Interventional, Method::Quadrature);
    let mut mean = vec![0.0; whole.len()];
    for row in case.background.chunks(COLUMNS) {
        let one = Case {
            background: row.to_vec(),
            shares: vec![1.0],
            points: case.points.clone(),
            coefficients: case.coefficients.clone(),
            terms: case.terms.clone(),
            rows: case.rows.clone(),
        };
        for (sum, value) in
            mean.iter_mut().zip(one.values(Kind::Interventional, Method::Quadrature))
        {
            *sum += value / 5.0;
        }
    }
    for (one, other) in whole.iter().zip(&mean) {
        assert!((one - other).abs() < 1e-13);
    }
}

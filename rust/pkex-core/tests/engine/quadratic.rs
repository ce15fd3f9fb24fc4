//! Quadratic forms: each two points and terms are a game of products of factors.

use std::ops::ControlFlow;

use pkex_core::{
    Error, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
};

use crate::case::{COLUMNS, Case, Kind};

const PLAYERS: usize = COLUMNS;
const KINDS: [Kind; 3] = [Kind::Neutral, Kind::Interventional, Kind::Marginal];

/// Terms that do not compare the same columns, the second with shorter scales.
fn terms(scale: f64) -> Vec<Term> {
    let of = |coefficient, columns: &[usize], parameter| {
        let factor = |&column| Factor { family: Family::Rbf, column, parameter };
        let factors = columns.iter().map(factor).collect();
        Term { coefficient, factors, series: None }
    };
    vec![of(1.5, &[0, 1, 2, 3, 4], scale), of(-0.7, &[1, 3], scale / 3.0), of(0.2, &[], scale)]
}

fn weights(points: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| ((i * j) as f64).cos() - ((i + j) as f64).sin();
    (0..points * points).map(|place| entry(place / points, place % points)).collect()
}

fn quadratic(case: &Case, terms: &[Term]) -> Expansion {
    let n = case.coefficients.len();
    let points = Matrix::of_shape(&case.points, [n, COLUMNS]);
    let weights = weights(n);
    let weights = Matrix::of_shape(&weights, [n, n]);
    Expansion::quadratic(points, weights, terms, Players::columns(COLUMNS)).unwrap()
}

fn explain(case: &Case, terms: &[Term], game: ValueFunction<'_>, settings: &Settings) -> Vec<f64> {
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let form = quadratic(case, terms);
    form.explain(case.rows(), game, Method::Quadrature, settings, go_on).unwrap()
}

/// The product over some columns of the factors of a term.
fn product(term: &Term, row: &[f64], point: &[f64], is_in: impl Fn(usize) -> bool) -> f64 {
    let factors = term.factors.iter().filter(|factor| is_in(factor.column));
    let squares = factors.map(|f| ((row[f.column] - point[f.column]) / f.parameter).powi(2));
    (-squares.sum::<f64>() / 2.0).exp()
}

/// The value of a coalition by its definition: a bit for each player.
fn coalition_value(case: &Case, terms: &[Term], row: &[f64], coalition: usize, kind: Kind) -> f64 {
    let is_in = |column: usize| coalition >> column & 1 == 1;
    let points: Vec<&[f64]> = case.points.chunks(COLUMNS).collect();
    let weights = weights(points.len());
    let background = || case.background.chunks(COLUMNS).zip(&case.shares);
    let evaluations = || points.iter().enumerate().flat_map(|p| terms.iter().map(move |t| (p, t)));
    let mut coalition_value = 0.0;
    for ((i, p), first) in evaluations() {
        for ((j, q), second) in evaluations() {
            let both = |row: &[f64], is_in: &dyn Fn(usize) -> bool| {
                product(first, row, p, is_in) * product(second, row, q, is_in)
            };
            let absent = match kind {
                Kind::Neutral => 1.0,
                Kind::Interventional => {
                    background().map(|(z, share)| share * both(z, &|column| !is_in(column))).sum()
                }
                Kind::Marginal => (0..COLUMNS)
                    .filter(|&column| !is_in(column))
                    .map(|own| background().map(|(z, s)| s * both(z, &|c| c == own)).sum::<f64>())
                    .product::<f64>(),
            };
            let weight = weights[i * points.len() + j] * first.coefficient * second.coefficient;
            coalition_value += weight * both(row, &is_in) * absent;
        }
    }
    coalition_value
}

fn brute_force(coalition_values: &[f64], player: usize) -> f64 {
    (0..1_usize << PLAYERS)
        .filter(|coalition| coalition >> player & 1 == 0)
        .map(|coalition| {
            let share = [12.0, 3.0, 2.0, 3.0, 12.0][coalition.count_ones() as usize] / 60.0;
            share * (coalition_values[coalition | 1 << player] - coalition_values[coalition])
        })
        .sum()
}

#[test]
fn values_of_quadratic_forms_equal_brute_force() {
    for (points, background, scale) in
        [(1, 1, 0.5), (5, 3, 0.05), (18, 2, 1.0), (5, 3, 20.0), (3, 71, 0.8)]
            .into_iter()
            // Means over many rows are sums over nodes, of one interval or several.
            .chain([(3, 150, 3.0), (2, 150, 1.0), (3, 150, 0.25), (3, 400, 0.1), (2, 71, 1e-3)])
    {
        let (mut case, terms) = (Case::new(points, background, 2, scale), terms(scale));
        assert_equals_brute_force(&case, &terms);
        // Rules have positive weights only, so negative ones take all rows.
        for sign in [1.0, -1.0] {
            let shares = (0..background).map(|i| [1.5, 0.0, sign * 0.7, 1.0][i % 4]);
            let total: f64 = shares.clone().sum();
            case.shares = shares.map(|share| share / total).collect();
            assert_equals_brute_force(&case, &terms);
        }
    }
}

fn assert_equals_brute_force(case: &Case, terms: &[Term]) {
    for kind in KINDS {
        let values = explain(case, terms, case.game(kind), &Settings::default());
        for (row, values) in case.rows.chunks(COLUMNS).zip(values.chunks(PLAYERS)) {
            let coalition_value = |coalition| coalition_value(case, terms, row, coalition, kind);
            let coalition_values: Vec<f64> = (0..1 << PLAYERS).map(coalition_value).collect();
            let sizes = coalition_values.iter().map(|value| value.abs());
            let size = sizes.fold(1.0_f64, f64::max);
            for (player, value) in values.iter().enumerate() {
                let error = (value - brute_force(&coalition_values, player)).abs();
                assert!(error < 1e-13 * size, "{kind:?}: {error}");
            }
        }
    }
}

#[test]
fn quadratic_forms_have_equal_bits_for_any_threads() {
    let (case, terms) = (Case::new(70, 4, 3, 0.8), terms(0.8));
    for game in
        KINDS.map(|kind| case.game(kind)).into_iter().chain([ValueFunction::MarginalOfPoints])
    {
        let values = [1, 2, 5].map(|threads| {
            explain(&case, &terms, game, &Settings { threads, ..Settings::default() })
        });
        assert_eq!(values[0], values[1]);
        assert_eq!(values[0], values[2]);
    }
}

#[test]
fn rows_that_nearly_agree_with_the_background_keep_their_digits() {
    let mut case = Case::new(20, 3, 1, 1.0);
    let terms = terms(1.0);
    // The difference of x and z is a power of two, and so is that of half of it.
    let shifted = |shift: f64| -> Vec<f64> {
        let row: Vec<f64> = case.background[..COLUMNS].iter().map(|z| z + shift).collect();
        row
    };
    let (near, nearer) = (shifted(2.0_f64.powi(-30)), shifted(2.0_f64.powi(-31)));
    case.background = case.background[..COLUMNS].to_vec();
    case.shares = vec![1.0];
    for kind in [Kind::Interventional, Kind::Marginal] {
        let mut values = [&near, &nearer].map(|row| {
            case.rows.clone_from(row);
            explain(&case, &terms, case.game(kind), &Settings::default())
        });
        values[1].iter_mut().for_each(|value| *value *= 2.0);
        for (value, doubled) in values[0].iter().zip(&values[1]) {
            // Linear up to the square of the step.
            assert!((value - doubled).abs() < 1e-8 * value.abs(), "{kind:?}: {value} {doubled}");
        }
    }
}

#[test]
fn rows_that_nearly_agree_with_many_background_rows_keep_their_digits() {
    let (terms, count) = (terms(1.0), 150);
    let values_at = |change: &dyn Fn(&mut Case)| {
        let mut case = Case::new(3, count, 1, 1.0);
        change(&mut case);
        assert_equals_brute_force(&case, &terms);
        explain(&case, &terms, case.game(Kind::Marginal), &Settings::default())[1]
    };
    // A single row has another entry than x.
    let rare = |weight: f64| {
        values_at(&|case| {
            (1..count).for_each(|row| case.background[row * COLUMNS + 1] = case.rows[1]);
            case.shares.fill((1.0 - weight) / (count - 1) as f64);
            case.shares[0] = weight;
        })
    };
    // All rows are near x, at numbers of few digits, which are not rounded.
    let near = |scale: f64| {
        values_at(&|case| {
            let entry = |number: f64| 0.25 + scale * (1024.0 * number).round() / 1024.0;
            case.rows[1] = entry(case.rows[1]);
            for row in case.background.chunks_mut(COLUMNS) {
                row[1] = entry(row[1]);
            }
        })
    };
    // Differences that are large enough for brute force.
    near(2.0_f64.powi(-20));
    let step = 2.0_f64.powi(-36);
    for (value, half) in [(rare(step), rare(step / 2.0)), (near(step), near(step / 2.0))] {
        // Linear up to the square of the step.
        assert!((value - 2.0 * half).abs() < 1e-8 * value.abs(), "{value} {half}");
    }
}

#[test]
fn means_over_many_rows_keep_their_digits_under_a_large_offset() {
    let mut case = Case::new(20, 200, 2, 0.3);
    let terms = terms(0.3);
    let offset = 2.0_f64.powi(24);
    let values = [0.0, offset].map(|offset| {
        for numbers in [&mut case.points, &mut case.background, &mut case.rows] {
            for number in numbers {
                // Few digits, so that the offset is added without rounding.
                *number = (*number * 2.0_f64.powi(20)).round() * 2.0_f64.powi(-20) + offset;
            }
        }
        explain(&case, &terms, case.game(Kind::Marginal), &Settings::default())
    });
    let size = values[0].iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    for (value, shifted) in values[0].iter().zip(&values[1]) {
        assert!((value - shifted).abs() < 1e-14 * size, "{value} {shifted}");
    }
}

#[test]
fn rules_of_columns_stop_when_the_monitor_says_so() {
    let (case, mut calls) = (Case::new(3, 200, 1, 1.0), 0);
    let form = quadratic(&case, &terms(1.0));
    let stop_at_third = &mut |done, _| {
        assert_eq!(done, 0);
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (game, settings) = (case.game(Kind::Marginal), Settings::default());
    let outcome = form.explain(case.rows(), game, Method::Quadrature, &settings, stop_at_third);
    assert_eq!(outcome, Err(Error::Interrupted));
}

#[test]
fn power_series_have_no_quadratic_form() {
    let case = Case::new(3, 1, 1, 1.0);
    let weights = [0.0; 9];
    let points = Matrix::of_shape(&case.points, [3, COLUMNS]);
    let series = pkex_core::Series {
        weights: vec![0.0, 1.0],
        form: pkex_core::Form::Linear,
        dots: vec![(0, 1.0)],
        factors: Vec::new(),
    };
    let term = Term { coefficient: 1.0, factors: Vec::new(), series: Some(series) };
    let weights = Matrix::of_shape(&weights, [3, 3]);
    let made = Expansion::quadratic(points, weights, &[term], Players::columns(COLUMNS));
    assert!(made.is_err_and(|error| error.to_string().contains("power series")));
}

#[test]
fn weights_of_another_shape_are_refused() {
    let case = Case::new(3, 1, 1, 1.0);
    let points = Matrix::of_shape(&case.points, [3, COLUMNS]);
    let weights = Matrix::of_shape(&[0.0; 6], [3, 2]);
    let made = Expansion::quadratic(points, weights, &terms(1.0), Players::columns(COLUMNS));
    assert!(made.is_err_and(|error| error.to_string().contains("for each of 3 points")));
}

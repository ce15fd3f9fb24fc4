//! Equal bits for any number of threads, any splitting of rows, any level with fused multiply-add.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Error, Expansion, Factor, Family, Level, Matrix, Method, Players, Settings,
    Summation, Term, ValueFunction,
};

use crate::random::Random;

const FEATURES: usize = 11;
const ROWS: usize = 60;

fn points_and_coefficients(points: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(1);
    (random.numbers(points * FEATURES, -2.0, 2.0), random.numbers(points * 2, -1.0, 1.0))
}

fn expansion(points: usize) -> Expansion {
    let factor = |(column, family)| Factor { family, column, parameter: 0.7 + column as f64 };
    let families = [Family::Rbf, Family::Laplacian, Family::Cauchy];
    let others = [Family::Matern32, Family::Matern52, Family::Periodic { period: 0.6 }];
    let terms = [
        Term {
            coefficient: 0.5,
            factors: (0..FEATURES).map(|j| factor((j, Family::Rbf))).collect(),
            series: None,
        },
        Term {
            coefficient: 2.0,
            factors: (2..9).map(|j| factor((j, families[j % 3]))).collect(),
            series: None,
        },
        Term {
            coefficient: 0.1,
            factors: (1..9).map(|j| factor((j, others[j % 3]))).collect(),
            series: None,
        },
    ];
    let (data, coefficients) = points_and_coefficients(points);
    Expansion::new(
        Matrix::new(&data, points, FEATURES).unwrap(),
        Matrix::new(&coefficients, points, 2).unwrap(),
        &terms,
        Players::columns(FEATURES),
    )
    .unwrap()
}

fn rows() -> Vec<f64> {
    Random::new(2).numbers(ROWS * FEATURES, -2.0, 2.0)
}

/// Rows similar to the explained ones: some entries are equal, some nearly, so that bits cancel.
fn background() -> (Vec<f64>, Vec<f64>) {
    let mut rows = rows();
    rows.truncate(20 * FEATURES);
    for (place, entry) in rows.iter_mut().enumerate() {
        *entry += [0.0, 1e-9, 0.5][place % 3];
    }
    (rows, (1..=20).map(|l| f64::from(l) / 210.0).collect())
}

/// Names of value functions.
const GAMES: [&str; 3] = ["neutral", "interventional", "marginal"];

fn explain(
    expansion: &Expansion,
    rows: &[f64],
    game: &str,
    method: Method,
    settings: &Settings,
) -> Vec<u64> {
    let x = Matrix::new(rows, rows.len() / FEATURES, FEATURES).unwrap();
    let (rows, weights) = background();
    let rows = Matrix::new(&rows, weights.len(), FEATURES).unwrap();
    let background = Background { rows, weights: &weights };
    let game = match game {
        "neutral" => ValueFunction::Neutral,
        "interventional" => ValueFunction::Interventional(background),
        _ => ValueFunction::Marginal(background),
    };
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let values = expansion.explain(x, game, method, settings, go_on);
    values.unwrap().into_iter().map(f64::to_bits).collect()
}

#[test]
fn bits_do_not_depend_on_threads_or_on_how_rows_are_split() {
    for (game, points) in GAMES.into_iter().zip([2500, 300, 2500]) {
        let (expansion, rows) = (expansion(points), rows());
        for method in [Method::Quadrature, Method::Recursion] {
            for summation in [Summation::Compensated, Summation::Plain] {
                let settings = |threads| Settings { summation, threads, ..Settings::default() };
                let whole = explain(&expansion, &rows, game, method, &settings(1));
                for threads in [2, 7] {
                    let other = explain(&expansion, &rows, game, method, &settings(threads));
                    assert_eq!(whole, other, "{game}, {threads} threads");
                }
                let by_row: Vec<u64> = rows
                    .chunks(FEATURES)
                    .flat_map(|row| explain(&expansion, row, game, method, &settings(2)))
                    .collect();
                assert_eq!(whole, by_row, "{game}, row by row");
            }
        }
    }
}

#[test]
fn bits_do_not_depend_on_how_many_waves_the_tiles_of_an_item_take() {
    // 4000 numbers of a row, and 300 tiles: 19 MB of sums, of which 16 MB are kept at a time.
    const OUTPUTS: usize = 2000;
    let mut random = Random::new(5);
    let (points, background) =
        (random.numbers(1000 * 2, -1.0, 1.0), random.numbers(308 * 2, -1.0, 1.0));
    let coefficients = random.numbers(1000 * OUTPUTS, -1.0, 1.0);
    let factor = |column| Factor { family: Family::Rbf, column, parameter: 1.0 };
    let expansion = Expansion::new(
        Matrix::new(&points, 1000, 2).unwrap(),
        Matrix::new(&coefficients, 1000, OUTPUTS).unwrap(),
        &[Term { coefficient: 1.0, factors: vec![factor(0), factor(1)], series: None }],
        Players::columns(2),
    )
    .unwrap();
    let weights = [1.0 / 308.0; 308];
    let background =
        Background { rows: Matrix::new(&background, 308, 2).unwrap(), weights: &weights };
    let settings = Settings { summation: Summation::Plain, threads: 2, ..Settings::default() };
    let explain = |rows: &[f64]| {
        let x = Matrix::new(rows, rows.len() / 2, 2).unwrap();
        let game = ValueFunction::Interventional(background);
        let go_on = &mut |_, _| ControlFlow::Continue(());
        expansion.explain(x, game, Method::Quadrature, &settings, go_on).unwrap()
    };
    let rows = random.numbers(2 * 2, -1.0, 1.0);
    assert_eq!(explain(&rows)[..2 * OUTPUTS], explain(&rows[..2]));
}

#[test]
fn bits_do_not_depend_on_the_width_of_fused_levels() {
    let (expansion, rows) = (expansion(300), rows());
    let fused: Vec<Level> = Level::ALL
        .iter()
        .copied()
        .filter(|level| level.is_available() && *level != Level::Portable)
        .collect();
    println!("levels compared: {fused:?}, of {:?}", Level::ALL);
    for game in GAMES {
        for method in [Method::Quadrature, Method::Recursion] {
            let on = |level| {
                let settings = Settings { level, ..Settings::default() };
                explain(&expansion, &rows, game, method, &settings)
            };
            for pair in fused.windows(2) {
                assert_eq!(on(pair[0]), on(pair[1]), "{game}, {pair:?}");
            }
        }
    }
}

#[test]
fn the_portable_level_agrees_with_the_best_to_rounding() {
    let (expansion, rows) = (expansion(300), rows());
    let on = |level| {
        let settings = Settings { level, ..Settings::default() };
        explain(&expansion, &rows, "interventional", Method::Quadrature, &settings)
    };
    for (one, other) in on(Level::Portable).into_iter().zip(on(Level::best())) {
        let (one, other) = (f64::from_bits(one), f64::from_bits(other));
        assert!((one - other).abs() <= 1e-13, "{one} and {other}");
    }
}

#[test]
fn values_add_up_to_what_the_expansion_predicts() {
    let (expansion, rows) = (expansion(500), rows());
    let x = Matrix::new(&rows, ROWS, FEATURES).unwrap();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let predictions = expansion.predict(x, &Settings::default(), go_on).unwrap();
    let values = expansion
        .explain(x, ValueFunction::Neutral, Method::Quadrature, &Settings::default(), go_on)
        .unwrap();
    // With every factor 1, the terms add up to their coefficients.
    let (_, coefficients) = points_and_coefficients(500);
    let empty: Vec<f64> = (0..2)
        .map(|k| coefficients.iter().skip(k).step_by(2).sum::<f64>() * (0.5 + 2.0 + 0.1))
        .collect();
    for row in 0..ROWS {
        for output in 0..2 {
            let sum: f64 = (0..FEATURES).map(|j| values[(row * FEATURES + j) * 2 + output]).sum();
            let prediction = predictions[row * 2 + output];
            assert!((sum + empty[output] - prediction).abs() < 1e-11);
        }
    }
}

#[test]
fn a_monitor_stops_a_long_call() {
    let (expansion, rows) = (expansion(50_000), rows());
    let x = Matrix::new(&rows, ROWS, FEATURES).unwrap();
    let settings = Settings { threads: 2, ..Settings::default() };
    let outcome =
        expansion.explain(x, ValueFunction::Neutral, Method::Recursion, &settings, &mut |_, _| {
            ControlFlow::Break(())
        });
    assert_eq!(outcome, Err(Error::Interrupted));
}

#[test]
fn an_overflowing_row_is_named() {
    let points = [0.0, 0.0];
    let term = Term {
        coefficient: 1.0,
        factors: vec![Factor { family: Family::Rbf, column: 0, parameter: 1.0 }],
        series: None,
    };
    let expansion = Expansion::new(
        Matrix::new(&points, 2, 1).unwrap(),
        Matrix::new(&[f64::MAX, f64::MAX], 2, 1).unwrap(),
        &[term],
        Players::columns(1),
    )
    .unwrap();
    let rows = [0.0, 40.0];
    let x = Matrix::new(&rows, 2, 1).unwrap();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let outcome = expansion.explain(
        x,
        ValueFunction::Neutral,
        Method::Quadrature,
        &Settings::default(),
        go_on,
    );
    assert_eq!(outcome, Err(Error::Overflow { row: 1 }));
}

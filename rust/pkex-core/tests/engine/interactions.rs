//! Interactions of coalitions equal their definition by discrete derivatives.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Density, Expansion, Factor, Family, Matrix, Measure, Method, Players, Settings,
    Term, ValueFunction,
};

use crate::case::{Case, Kind, PLAYERS};
use crate::random::Random;

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// ∫ tⁱ (1 − t)^{n−i} dμ.
fn moment(measure: &Measure, i: usize, n: usize) -> f64 {
    let power = |x: f64, k: usize| x.powi(i32::try_from(k).unwrap());
    match measure {
        Measure::Point(t) => power(*t, i) * power(1.0 - t, n - i),
        Measure::Density(Density { scale, powers, degree }) => {
            let (i, n) = (i + powers.0 as usize, n + (powers.0 + powers.1) as usize);
            let beta = |i: usize, n: usize| 1.0 / ((n + 1) as f64 * binomial(n, i));
            // P of degree 1 at 1 − 2t is j + 2 − (i + j + 3) t.
            let linear = (f64::from(powers.1 + 2), f64::from(powers.0 + powers.1 + 3));
            scale
                * match degree {
                    0 => beta(i, n),
                    _ => linear.0 * beta(i, n) - linear.1 * beta(i + 1, n + 1),
                }
        }
    }
}

/// Σ over coalitions R without members of T of ∫ t^|R| (1 − t)^{d−|T|−|R|} dμ times Δ_T v(R).
fn by_definition(case: &Case, row: &[f64], kind: Kind, members: usize, measure: &Measure) -> f64 {
    let outside = PLAYERS - members.count_ones() as usize;
    let of_coalition = |others: usize| {
        let derivative: f64 = (0..1_usize << PLAYERS)
            .filter(|some| some & !members == 0)
            .map(|some| {
                let missing = (members ^ some).count_ones();
                let sign = if missing.is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * case.coalition_value(row, others | some, kind)
            })
            .sum();
        moment(measure, others.count_ones() as usize, outside) * derivative
    };
    (0..1_usize << PLAYERS).filter(|others| others & members == 0).map(of_coalition).sum()
}

/// The coalitions of a size, as bits, in lexicographic order of their ascending members.
fn coalitions(size: usize) -> Vec<usize> {
    let mut found: Vec<usize> =
        (0..1_usize << PLAYERS).filter(|members| members.count_ones() as usize == size).collect();
    found.sort_by_key(|members| {
        (0..PLAYERS).filter(|player| members >> player & 1 == 1).collect::<Vec<_>>()
    });
    found
}

#[test]
fn interactions_equal_brute_force_for_every_value_function_size_and_measure() {
    let case = Case::new(20, 3, 2, 0.6);
    let expansion = case.expansion();
    let measures = [
        Measure::Point(0.0),
        Measure::Point(0.5),
        Measure::Point(1.0),
        Measure::Density(Density::UNIFORM),
        Measure::Density(Density { scale: 3.0, powers: (0, 2), degree: 0 }),
        Measure::Density(Density { scale: 2.0, powers: (0, 0), degree: 1 }),
        Measure::Density(Density { scale: 5.0, powers: (1, 1), degree: 1 }),
    ];
    for kind in [Kind::Neutral, Kind::Interventional, Kind::Marginal] {
        for size in 0..=PLAYERS {
            for measure in &measures {
                let go_on = &mut |_, _| ControlFlow::Continue(());
                let settings = Settings::default();
                let values = expansion
                    .interactions(case.rows(), case.game(kind), (size, measure), &settings, go_on)
                    .unwrap();
                let rows = (0..case.rows().rows()).map(|row| case.rows().row(row).to_vec());
                let expected: Vec<f64> = rows
                    .flat_map(|row| {
                        let of = |members| by_definition(&case, &row, kind, members, measure);
                        coalitions(size).into_iter().map(of).collect::<Vec<_>>()
                    })
                    .collect();
                assert_eq!(values.len(), expected.len());
                for (value, expected) in values.iter().zip(&expected) {
                    assert!(
                        (value - expected).abs() < 1e-12,
                        "{kind:?}, size {size}, {measure:?}: {value} instead of {expected}"
                    );
                }
            }
        }
    }
}

const POINTS: usize = 5;

/// A sum of Gaussians of one length-scale, at a number of points.
fn gaussians(points: &[f64], coefficients: &[f64], length_scale: f64) -> Expansion {
    let columns = points.len() / POINTS;
    let rbf = |column| Factor { family: Family::Rbf, column, parameter: length_scale };
    let term = Term { coefficient: 1.0, factors: (0..columns).map(rbf).collect(), series: None };
    let points = Matrix::of_shape(points, [POINTS, columns]);
    let coefficients = Matrix::of_shape(coefficients, [POINTS, 1]);
    Expansion::new(points, coefficients, &[term], Players::columns(columns)).unwrap()
}

/// The neutral game, or the game against a row.
fn game(absent: Option<&[f64]>) -> ValueFunction<'_> {
    absent.map_or(ValueFunction::Neutral, |absent| {
        let rows = Matrix::of_shape(absent, [1, absent.len()]);
        ValueFunction::Interventional(Background { rows, weights: &[1.0] })
    })
}

/// Rows of `columns` entries, without those of a column.
fn without(column: usize, columns: usize, entries: &[f64]) -> Vec<f64> {
    let kept = (0..entries.len()).filter(|place| place % columns != column);
    kept.map(|place| entries[place]).collect()
}

/// The presence of j multiplies a game of the others by a factor: the interaction of i and j is the
/// value of i without j, with weights times the change of that factor.
#[test]
fn interactions_of_many_features_are_values_without_one_of_them_times_what_it_changes() {
    let (settings, go_on) = (Settings::default(), &mut |_, _| ControlFlow::Continue(()));
    // More coalitions than are computed in one pass, length-scales that need few nodes and many,
    // and games that are divided by their absent factors and are not.
    for (columns, scale) in [(12, 1.5), (66, 0.7), (66, 2.0), (67, 10.0)] {
        let mut random = Random::new(columns as u64);
        let mut numbers = |count| random.numbers(count, -1.0, 1.0);
        let (points, coefficients) = (numbers(POINTS * columns), numbers(POINTS));
        let (row, absent) = (numbers(columns), numbers(columns));
        let x = Matrix::of_shape(&row, [1, columns]);
        for absent in [None, Some(&absent[..])] {
            let pairs = gaussians(&points, &coefficients, scale)
                .interactions(
                    x,
                    game(absent),
                    (2, &Measure::Density(Density::UNIFORM)),
                    &settings,
                    go_on,
                )
                .unwrap();
            for j in [0, 1, columns / 2, columns - 1] {
                let factor = |entry: f64, point: usize| {
                    let distance = (entry - points[point * columns + j]) / scale;
                    (-distance * distance / 2.0).exp()
                };
                let change = |(point, weight): (usize, f64)| {
                    let b = absent.map_or(1.0, |absent| factor(absent[j], point));
                    weight * (factor(row[j], point) - b)
                };
                let changes: Vec<f64> =
                    coefficients.iter().copied().enumerate().map(change).collect();
                let [points, row, absent] = [&points[..], &row, absent.unwrap_or_default()]
                    .map(|entries| without(j, columns, entries));
                let absent = (!absent.is_empty()).then_some(&absent[..]);
                let x = Matrix::of_shape(&row, [1, columns - 1]);
                let values = gaussians(&points, &changes, scale)
                    .explain(x, game(absent), Method::Recursion, &settings, go_on)
                    .unwrap();
                let largest =
                    values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
                for (place, expected) in values.iter().enumerate() {
                    let i = place + usize::from(place >= j);
                    let (first, second) = (i.min(j), i.max(j));
                    let found = pairs[first * (2 * columns - first - 1) / 2 + second - first - 1];
                    assert!(
                        (found - expected).abs() < 1e-12 * largest,
                        "{columns} features, {i} and {j}: {found} instead of {expected}"
                    );
                }
            }
        }
    }
}

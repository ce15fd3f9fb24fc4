//! Interactions of coalitions equal their definition by discrete derivatives.

use std::ops::ControlFlow;

use pkex_core::{Density, Measure, Settings};

use crate::case::{Case, Kind, PLAYERS};

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
                sign * case.worth(row, others | some, kind)
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

//! Differences of factors keep their digits where rows and background are close, or far away.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Error, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term,
    ValueFunction,
};

use crate::case::{BOTH, Case, Kind};

/// All families except centered ones, whose factors are known to an absolute error.
fn families() -> impl Iterator<Item = Family> {
    Family::ALL.iter().copied().filter(|family| !family.is_centered())
}

/// A family in units of a scale, with its parameter.
fn in_units(family: Family, scale: f64) -> (Family, f64) {
    match family {
        Family::Rbf
        | Family::Laplacian
        | Family::Cauchy
        | Family::Matern32
        | Family::Matern52
        | Family::CenteredRbf { .. }
        | Family::CenteredCategorical => (family, scale),
        Family::Categorical => (family, 0.25),
        Family::Chi2 => (family, 1.0 / scale),
        Family::Overlap => (family, 1.0 / (scale * scale)),
        Family::Periodic { .. } => (Family::Periodic { period: 3.0 * scale }, 1.25),
    }
}

/// −dk(t, 0)/dt in units of the scale, at t > 0.
fn slope(family: Family, t: f64) -> f64 {
    match family {
        Family::Rbf => t * (-t * t / 2.0).exp(),
        Family::Laplacian | Family::Chi2 => (-t).exp(),
        Family::Cauchy => 2.0 * t / (1.0 + t * t).powi(2),
        Family::Matern32 => 3.0 * t * (-3.0_f64.sqrt() * t).exp(),
        Family::Matern52 => {
            let root = 5.0_f64.sqrt();
            5.0 / 3.0 * t * (1.0 + root * t) * (-root * t).exp()
        }
        Family::Periodic { .. } => {
            let (sine, cosine) = (std::f64::consts::PI * t / 3.0).sin_cos();
            let rate = 2.0 / 1.25_f64.powi(2);
            rate * (2.0 * std::f64::consts::PI / 3.0) * sine * cosine * (-rate * sine * sine).exp()
        }
        Family::Overlap => 2.0 * t * (-t * t).exp(),
        // Different categories have one similarity.
        Family::Categorical => 0.0,
        Family::CenteredRbf { .. } | Family::CenteredCategorical => {
            panic!("{family:?} is centered")
        }
    }
}

/// The value of the only player of a kernel between x and 0, against entries of equal weight.
fn value_of_one(family: Family, scale: f64, x: f64, background: &[f64], kind: Kind) -> f64 {
    let factor = Factor { family, column: 0, parameter: scale };
    let case = Case {
        points: vec![0.0],
        coefficients: vec![1.0],
        terms: vec![Term { coefficient: 1.0, factors: vec![factor], series: None }],
        background: background.to_vec(),
        shares: vec![1.0 / background.len() as f64; background.len()],
        rows: vec![x],
    };
    let expansion = Expansion::new(
        Matrix::of_shape(&case.points, [1, 1]),
        Matrix::of_shape(&case.coefficients, [1, 1]),
        &case.terms,
        Players::columns(1),
    )
    .unwrap();
    let rows = Matrix::of_shape(&case.background, [background.len(), 1]);
    let background = Background { rows, weights: &case.shares };
    let game = match kind {
        Kind::Neutral => ValueFunction::Neutral,
        Kind::Interventional => ValueFunction::Interventional(background),
        Kind::Marginal => ValueFunction::Marginal(background),
    };
    let (x, settings) = (Matrix::of_shape(&case.rows, [1, 1]), Settings::default());
    let go_on = &mut |_, _| ControlFlow::Continue(());
    expansion.explain(x, game, Method::Quadrature, &settings, go_on).unwrap()[0]
}

#[test]
fn a_background_next_to_the_row_loses_no_accuracy() {
    // The value of the only player is f(x) minus the mean of f(z), with z at even steps up to x +
    // h.
    for (scale, step) in [(1.0, 1e-9), (1e6, 1.0), (1e-3, 1e-12)] {
        for (family, kind) in families().flat_map(|f| BOTH.map(|kind| (f, kind))) {
            let (of_scale, parameter) = in_units(family, scale);
            for rows in [1_u32, 2, 21] {
                let x = 0.7 * scale;
                let z: Vec<f64> =
                    (1..=rows).map(|l| x + step * f64::from(l) / f64::from(rows)).collect();
                let value = value_of_one(of_scale, parameter, x, &z, kind);
                // Mean value theorem, with the slope in the middle: an error of order step².
                let change =
                    |z: f64| slope(family, f64::midpoint(x, z) / scale) * ((z - x) / scale);
                let expected = z.iter().map(|&z| change(z)).sum::<f64>() / f64::from(rows);
                assert!(
                    (value - expected).abs() <= 1e-11 * expected.abs(),
                    "{kind:?}, {family:?}, scale {scale}, {rows} rows: {value}, not {expected}"
                );
            }
        }
    }
}

/// k(x, y) of a kernel of one column, or the error that it is out of range.
fn kernel(family: Family, parameter: f64, x: f64, y: f64) -> Result<f64, Error> {
    let term = Term {
        coefficient: 1.0,
        factors: vec![Factor { family, column: 0, parameter }],
        series: None,
    };
    let (point, one) = ([y], [1.0]);
    let one = Matrix::of_shape(&one, [1, 1]);
    let expansion =
        Expansion::new(Matrix::of_shape(&point, [1, 1]), one, &[term], Players::columns(1))
            .unwrap();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let values = expansion.predict(Matrix::of_shape(&[x], [1, 1]), &Settings::default(), go_on);
    values.map(|values| values[0])
}

#[test]
fn factors_are_in_0_to_1_unless_a_family_is_centered() {
    // Sums and differences of factors rely on factors in [0, 1]: those of a new family with other
    // factors would lose digits, unless it is declared as centered.
    let entries = [0.0, 5e-324, 1e-160, 1e-9, 0.3, 0.7, 1.0, 2.5, 40.0, 1e9, 1e160, 1.7e308];
    for family in families() {
        let has_negative = family != Family::Chi2;
        for scale in [1e-3, 1.0, 1e6] {
            let (family, parameter) = in_units(family, scale);
            for (x, y) in entries.iter().flat_map(|&x| entries.map(|y| (x, y))) {
                for x in [x, -x].into_iter().take(1 + usize::from(has_negative)) {
                    let Ok(value) = kernel(family, parameter, x, y) else {
                        // Squares of opposite entries are out of range.
                        assert!(family == Family::Overlap && x * y < 0.0, "{family:?}({x}, {y})");
                        continue;
                    };
                    let most = 1.0 + 4.0 * f64::EPSILON;
                    assert!((0.0..=most).contains(&value), "{family:?}({x}, {y}) = {value}");
                }
            }
        }
    }
}

#[test]
fn rows_and_backgrounds_far_from_the_points_lose_no_accuracy() {
    // exp(−8.5²/2) (1 − ½ (exp((8.5² − 8.8²)/2) + exp((8.5² − 9²)/2))), whose last factor is not
    // small.
    for kind in BOTH {
        let value = value_of_one(Family::Rbf, 1.0, 8.5, &[8.8, 9.0], kind);
        let expected =
            (-36.125_f64).exp() * (-((-2.595_f64).exp_m1() + (-4.375_f64).exp_m1()) / 2.0);
        assert!((value / expected - 1.0).abs() < 1e-13, "{kind:?}: {value} instead of {expected}");
    }
}

#[test]
fn entries_of_any_size_have_the_values_of_their_differences() {
    // Differences of squares, and of the entries themselves, are beyond the range of f64.
    let families = [Family::Rbf, Family::Laplacian, Family::Cauchy];
    for (family, kind) in families.into_iter().flat_map(|f| BOTH.map(|kind| (f, kind))) {
        for scale in [1.0, 1e160] {
            for (x, z) in [(1e160, -2e200), (1e160, 1e160), (1e160, 0.0), (1.7e308, -1.7e308)] {
                let at = |r: f64| match family {
                    Family::Rbf => (-(r / scale) * (r / scale) / 2.0).exp(),
                    Family::Laplacian => (-(r / scale).abs()).exp(),
                    Family::Cauchy => 1.0 / (1.0 + (r / scale) * (r / scale)),
                    other => panic!("no formula is known of {other:?}"),
                };
                let value = value_of_one(family, scale, x, &[z], kind);
                let expected = at(x) - at(z);
                assert!(
                    (value - expected).abs() < 1e-14,
                    "{kind:?}, {family:?}, x = {x}, z = {z}: {value} instead of {expected}"
                );
            }
        }
    }
    // Next to each other nothing cancels there either.
    let value = value_of_one(Family::Rbf, 1e160, 1e160, &[1e160 * (1.0 + 1e-9)], BOTH[0]);
    let expected = 1e-9 * (-0.5_f64).exp();
    assert!((value / expected - 1.0).abs() < 1e-6, "{value} instead of {expected}");
}

#[test]
fn chi2_factors_change_without_cancellation() {
    // Against 0 the exponent is γx, whatever the size of x.
    for (gamma, kind) in [0.5, 2e3].into_iter().flat_map(|gamma| BOTH.map(|kind| (gamma, kind))) {
        for (x, z) in [(0.0, 0.3), (3.0, 3.0 + 1e-9), (1e-9, 0.0), (0.0, 0.0), (1.7e308, 1e308)] {
            let value = value_of_one(Family::Chi2, gamma, x, &[z], kind);
            let expected = (-gamma * x).exp() * -(gamma * (x - z)).exp_m1();
            let expected = if expected.is_nan() { 0.0 } else { expected };
            assert!(
                (value - expected).abs() <= 1e-12 * expected.abs(),
                "{kind:?}, gamma = {gamma}, x = {x}, z = {z}: {value} instead of {expected}"
            );
        }
    }
    for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let factor = Factor { family: Family::Chi2, column: 0, parameter: gamma };
        let term = Term { coefficient: 1.0, factors: vec![factor], series: None };
        let one = Matrix::of_shape(&[1.0], [1, 1]);
        let made = Expansion::new(one, one, &[term], Players::columns(1));
        assert!(matches!(made, Err(Error::Domain { argument: "gamma", .. })), "{gamma}");
    }
}

/// Families without a simple formula at entries of any size.
const SINGLES: [Family; 3] =
    [Family::Matern32, Family::Matern52, Family::Periodic { period: 0.75 }];

#[test]
fn factors_of_entries_of_any_size_are_numbers_from_0_to_1() {
    for (family, kind) in SINGLES.into_iter().flat_map(|f| BOTH.map(|kind| (f, kind))) {
        for scale in [1e-308, 1e-160, 1.0, 1e160] {
            for (x, z) in [(1e160, -2e200), (3e-308, 0.0), (1e160, 0.0), (1.7e308, -1.7e308)] {
                let value = value_of_one(family, scale, x, &[z], kind);
                assert!(value.abs() <= 1.0, "{kind:?}, {family:?}, x = {x}, z = {z}: {value}");
            }
        }
    }
    for period in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300] {
        let family = Family::Periodic { period };
        let factor = Factor { family, column: 0, parameter: 1.0 };
        let term = Term { coefficient: 1.0, factors: vec![factor], series: None };
        let one = Matrix::of_shape(&[1.0], [1, 1]);
        let made = Expansion::new(one, one, &[term], Players::columns(1));
        assert!(matches!(made, Err(Error::Domain { argument: "period", .. })), "{period}");
    }
}

/// The value of one player of two columns of a family, points at 0, against one background row.
fn value_of_group(family: Family, scales: [f64; 2], x: [f64; 2], z: [f64; 2], kind: Kind) -> f64 {
    let factor = |column| Factor { family, column, parameter: scales[column] };
    let expansion = Expansion::new(
        Matrix::of_shape(&[0.0, 0.0], [1, 2]),
        Matrix::of_shape(&[1.0], [1, 1]),
        &[Term { coefficient: 1.0, factors: vec![factor(0), factor(1)], series: None }],
        Players::new(vec![0, 0]),
    )
    .unwrap();
    let background = Background { rows: Matrix::of_shape(&z, [1, 2]), weights: &[1.0] };
    let game = match kind {
        Kind::Marginal => ValueFunction::Marginal(background),
        _ => ValueFunction::Interventional(background),
    };
    let (x, go_on) = (Matrix::of_shape(&x, [1, 2]), &mut |_, _| ControlFlow::Continue(()));
    expansion.explain(x, game, Method::Quadrature, &Settings::default(), go_on).unwrap()[0]
}

#[test]
fn columns_of_a_player_that_rise_and_fall_at_once_lose_no_accuracy() {
    // Digits from mpmath, for the differences of the products at these doubles.
    let cases = [
        (Family::Laplacian, [1.0, 1.0], [30.0, 0.0], [0.0, 30.00002], 1.871_505_878_576_014_8e-18),
        (
            Family::Laplacian,
            [0.7, 1.3],
            [7.0, 0.1],
            [0.35, 12.450_001],
            3.233_734_748_091_083_5e-11,
        ),
        (Family::Rbf, [1.0, 1.0], [9.0, 1.0], [1.0, 9.000_001], 1.406_587_717_838_332e-23),
        (Family::Rbf, [0.7, 1.3], [3.5, 2.6], [1.4, 6.500_000_1], 1.939_798_337_201_008e-13),
        (Family::Cauchy, [1.0, 1.0], [9.0, 1.0], [1.0, 9.000_001], 1.338_488_774_190_192_7e-9),
        (Family::Cauchy, [0.7, 1.3], [3.5, 2.6], [1.4, 6.500_000_1], 2.275_830_620_315_637e-10),
    ];
    for (family, scales, x, z, expected) in cases {
        for kind in BOTH {
            let value = value_of_group(family, scales, x, z, kind);
            let error = (value / expected - 1.0).abs();
            assert!(error < 1e-12, "{kind:?}, {family:?}, {scales:?}: {value}, not {expected}");
        }
    }
}

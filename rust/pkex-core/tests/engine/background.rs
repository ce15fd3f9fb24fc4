//! Games against a background equal their definition, coalition by coalition.

use std::ops::ControlFlow;
use std::time::Instant;

use pkex_core::{
    Background, Error, Expansion, Factor, Family, Matrix, Method, Monitor, Players, Settings, Term,
    ValueFunction,
};

use crate::random::Random;

const COLUMNS: usize = 5;
const OF_COLUMN: [usize; COLUMNS] = [0, 1, 2, 1, 3];
pub const PLAYERS: usize = 4;

/// Which value function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Neutral,
    Interventional,
    Marginal,
}

pub struct Case {
    points: Vec<f64>,
    coefficients: Vec<f64>,
    terms: Vec<Term>,
    background: Vec<f64>,
    shares: Vec<f64>,
    rows: Vec<f64>,
}

impl Case {
    pub fn new(points: usize, background: usize, rows: usize, scale: f64) -> Self {
        let mut random = Random::new(points as u64);
        let factor = |family, column| Factor { family, column, parameter: scale };
        let all = |family| (0..COLUMNS).map(|column| factor(family, column)).collect();
        let mixed =
            vec![factor(Family::Laplacian, 0), factor(Family::Rbf, 0), factor(Family::Cauchy, 3)];
        Self {
            points: random.numbers(points * COLUMNS, -1.0, 1.0),
            coefficients: random.numbers(points, -1.0, 1.0),
            terms: vec![
                Term { coefficient: 0.7, factors: all(Family::Rbf) },
                Term { coefficient: 1.5, factors: all(Family::Cauchy) },
                Term { coefficient: 2.0, factors: mixed },
            ],
            background: random.numbers(background * COLUMNS, -1.0, 1.0),
            shares: vec![1.0 / background as f64; background],
            rows: random.numbers(rows * COLUMNS, -1.0, 1.0),
        }
    }

    pub fn expansion(&self) -> Expansion {
        Expansion::new(
            Matrix::of_shape(&self.points, [self.coefficients.len(), COLUMNS]),
            Matrix::of_shape(&self.coefficients, [self.coefficients.len(), 1]),
            &self.terms,
            Players::grouped(OF_COLUMN.to_vec()),
        )
        .unwrap()
    }

    pub fn game(&self, kind: Kind) -> ValueFunction<'_> {
        let rows = Matrix::of_shape(&self.background, [self.shares.len(), COLUMNS]);
        let background = Background { rows, weights: &self.shares };
        match kind {
            Kind::Neutral => ValueFunction::Neutral,
            Kind::Interventional => ValueFunction::Interventional(background),
            Kind::Marginal => ValueFunction::Marginal(background),
        }
    }

    pub fn rows(&self) -> Matrix<'_> {
        Matrix::of_shape(&self.rows, [self.rows.len() / COLUMNS, COLUMNS])
    }

    /// Factor of a player between a row and a point, by its definition.
    fn factor(term: &Term, player: usize, row: &[f64], point: &[f64]) -> f64 {
        let own = term.factors.iter().filter(|factor| OF_COLUMN[factor.column] == player);
        own.map(|factor| {
            let r = (row[factor.column] - point[factor.column]) / factor.parameter;
            match factor.family {
                Family::Rbf => (-r * r / 2.0).exp(),
                Family::Laplacian => (-r.abs()).exp(),
                _ => 1.0 / (1.0 + r * r),
            }
        })
        .product()
    }

    /// The worth of a coalition (a bit for each player) at a row.
    pub fn worth(&self, row: &[f64], coalition: usize, kind: Kind) -> f64 {
        let is_in = |player: usize| coalition >> player & 1 == 1;
        let mut worth = 0.0;
        for (point, coefficient) in self.points.chunks(COLUMNS).zip(&self.coefficients) {
            for term in &self.terms {
                let present: f64 = (0..PLAYERS)
                    .filter(|&player| is_in(player))
                    .map(|player| Self::factor(term, player, row, point))
                    .product();
                let absent_factor = |player, z: &[f64]| Self::factor(term, player, z, point);
                let absent_players = || (0..PLAYERS).filter(|&player| !is_in(player));
                let background = || self.background.chunks(COLUMNS).zip(&self.shares);
                let absent: f64 = match kind {
                    Kind::Neutral => 1.0,
                    Kind::Marginal => {
                        let mean = |player| {
                            background()
                                .map(|(z, share)| share * absent_factor(player, z))
                                .sum::<f64>()
                        };
                        absent_players().map(mean).product()
                    }
                    Kind::Interventional => {
                        let joint = |z: &[f64]| -> f64 {
                            absent_players().map(|player| absent_factor(player, z)).product()
                        };
                        background().map(|(z, share)| share * joint(z)).sum()
                    }
                };
                worth += coefficient * term.coefficient * present * absent;
            }
        }
        worth
    }

    fn brute_force(&self, row: &[f64], player: usize, kind: Kind) -> f64 {
        (0..1_usize << PLAYERS)
            .filter(|coalition| coalition >> player & 1 == 0)
            .map(|coalition| {
                let share = [3.0, 1.0, 1.0, 3.0][coalition.count_ones() as usize] / 12.0;
                let with = self.worth(row, coalition | 1 << player, kind);
                share * (with - self.worth(row, coalition, kind))
            })
            .sum()
    }

    fn values(&self, kind: Kind, method: Method) -> Vec<f64> {
        let (expansion, settings) = (self.expansion(), Settings::default());
        let go_on = &mut |_, _| ControlFlow::Continue(());
        let game = self.game(kind);
        expansion.explain(self.rows(), game, method, &settings, go_on).unwrap()
    }
}

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

const BOTH: [Kind; 2] = [Kind::Interventional, Kind::Marginal];
const FAMILIES: [Family; 3] = [Family::Rbf, Family::Laplacian, Family::Cauchy];

/// The value of the only player of a kernel between x and 0, against entries of equal weight.
fn value_of_one(family: Family, scale: f64, x: f64, background: &[f64], kind: Kind) -> f64 {
    let factor = Factor { family, column: 0, parameter: scale };
    let case = Case {
        points: vec![0.0],
        coefficients: vec![1.0],
        terms: vec![Term { coefficient: 1.0, factors: vec![factor] }],
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
    // The value of the only player is f(x) less the mean of f(z), z at even steps up to x + h.
    for (scale, step) in [(1.0, 1e-9), (1e6, 1.0), (1e-3, 1e-12)] {
        for (family, kind) in FAMILIES.into_iter().flat_map(|f| BOTH.map(|kind| (f, kind))) {
            for rows in [1_u32, 2, 21] {
                let x = 0.7 * scale;
                let z: Vec<f64> =
                    (1..=rows).map(|l| x + step * f64::from(l) / f64::from(rows)).collect();
                let value = value_of_one(family, scale, x, &z, kind);
                // Mean value theorem, with the slope in the middle: an error of order step².
                let change = |z: f64| {
                    let t = f64::midpoint(x, z) / scale;
                    let slope = match family {
                        Family::Rbf => t * (-t * t / 2.0).exp(),
                        Family::Laplacian => (-t).exp(),
                        _ => 2.0 * t / (1.0 + t * t).powi(2),
                    };
                    slope * ((z - x) / scale)
                };
                let expected = z.iter().map(|&z| change(z)).sum::<f64>() / f64::from(rows);
                assert!(
                    (value / expected - 1.0).abs() < 1e-11,
                    "{kind:?}, {family:?}, scale {scale}, {rows} rows: {value}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn rows_and_backgrounds_far_from_the_points_lose_no_accuracy() {
    // exp(−8.5²/2) (1 − ½ (exp((8.5² − 8.8²)/2) + exp((8.5² − 9²)/2))): the last factor is of order 1.
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
    for (family, kind) in FAMILIES.into_iter().flat_map(|f| BOTH.map(|kind| (f, kind))) {
        for scale in [1.0, 1e160] {
            for (x, z) in [(1e160, -2e200), (1e160, 1e160), (1e160, 0.0), (1.7e308, -1.7e308)] {
                let at = |r: f64| match family {
                    Family::Rbf => (-(r / scale) * (r / scale) / 2.0).exp(),
                    Family::Laplacian => (-(r / scale).abs()).exp(),
                    _ => 1.0 / (1.0 + (r / scale) * (r / scale)),
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
        let term = Term { coefficient: 1.0, factors: vec![factor] };
        let one = Matrix::of_shape(&[1.0], [1, 1]);
        let made = Expansion::new(one, one, &[term], Players::columns(1));
        assert!(matches!(made, Err(Error::Domain { argument: "gamma", .. })), "{gamma}");
    }
}

#[test]
fn the_empty_coalition_is_worth_what_its_definition_says() {
    for scale in [0.5, 20.0] {
        let case = Case::new(40, 5, 1, scale);
        for kind in [Kind::Neutral, Kind::Interventional, Kind::Marginal] {
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let base = case.expansion().base(case.game(kind), &Settings::default(), go_on);
            let expected = case.worth(&case.rows, 0, kind);
            assert!((base.unwrap()[0] - expected).abs() < 1e-13, "{kind:?}");
        }
    }
}

/// A problem that takes long.
struct Long {
    points: Vec<f64>,
    background: Vec<f64>,
    shares: Vec<f64>,
    columns: usize,
}

impl Long {
    fn new([points, rows, columns]: [usize; 3]) -> Self {
        let mut random = Random::new(3);
        Self {
            points: random.numbers(points * columns, -1.0, 1.0),
            background: random.numbers(rows * columns, -1.0, 1.0),
            shares: vec![1.0 / rows as f64; rows],
            columns,
        }
    }

    fn expansion(&self) -> Expansion {
        let points = self.points.len() / self.columns;
        let scale = (self.columns as f64).sqrt();
        let factor = |column| Factor { family: Family::Rbf, column, parameter: scale };
        let term = Term { coefficient: 1.0, factors: (0..self.columns).map(factor).collect() };
        Expansion::new(
            Matrix::of_shape(&self.points, [points, self.columns]),
            Matrix::of_shape(&vec![1.0; points], [points, 1]),
            &[term],
            Players::columns(self.columns),
        )
        .unwrap()
    }

    /// The values of a row of zeros.
    fn explain(&self, expansion: &Expansion, kind: Kind, monitor: Monitor<'_>) -> Outcome {
        let rows = Matrix::of_shape(&self.background, [self.shares.len(), self.columns]);
        let background = Background { rows, weights: &self.shares };
        let game = match kind {
            Kind::Marginal => ValueFunction::Marginal(background),
            _ => ValueFunction::Interventional(background),
        };
        let (x, settings) =
            (vec![0.0; self.columns], Settings { threads: 2, ..Settings::default() });
        let x = Matrix::of_shape(&x, [1, self.columns]);
        expansion.explain(x, game, Method::Quadrature, &settings, monitor)
    }
}

type Outcome = Result<Vec<f64>, Error>;

#[test]
fn a_marginal_background_is_prepared_once_and_again_when_it_changes() {
    let (long, other) = (Long::new([500, 3000, 20]), Long::new([500, 2, 20]));
    let expansion = long.expansion();
    let timed = |long: &Long| {
        let start = Instant::now();
        let values =
            long.explain(&expansion, Kind::Marginal, &mut |_, _| ControlFlow::Continue(()));
        (start.elapsed(), values.unwrap())
    };
    let ((first, values), (second, again)) = (timed(&long), timed(&long));
    assert!(second < first / 5, "{first:?}, then {second:?}");
    assert_eq!(values, again);
    assert_ne!(values, timed(&other).1);
    assert_eq!(values, timed(&long).1);
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
        // Of an expansion of its own, so that the means are computed again.
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
fn the_preparation_of_a_background_can_be_stopped() {
    let long = Long::new([5000, 3000, 20]);
    let expansion = long.expansion();
    let start = Instant::now();
    let outcome = long.explain(&expansion, Kind::Marginal, &mut |_, _| ControlFlow::Break(()));
    assert_eq!(outcome, Err(Error::Interrupted));
    assert!(start.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn the_preparation_of_many_points_can_be_stopped_and_shows_how_far_it_is() {
    let expansion = Long::new([4000, 1, 300]).expansion();
    let settings = Settings { threads: 2, ..Settings::default() };
    let mut shares = Vec::new();
    let start = Instant::now();
    let outcome = expansion.base(ValueFunction::MarginalOfPoints, &settings, &mut |done, total| {
        shares.push(done as f64 / total as f64);
        if shares.len() < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!(outcome, Err(Error::Interrupted));
    assert!(start.elapsed().as_secs_f64() < 2.0);
    assert!(shares.is_sorted() && shares[0] < shares[3] && shares[3] < 1.0, "{shares:?}");
}

#[test]
fn mean_factors_too_many_to_be_kept_are_those_of_each_tile() {
    // Sixteen bytes for a point and player are 134 MB; with one background row both games are one.
    let long = Long::new([84_000, 1, 100]);
    let expansion = long.expansion();
    let values = |kind| long.explain(&expansion, kind, &mut |_, _| ControlFlow::Continue(()));
    let pairs =
        values(Kind::Marginal).unwrap().into_iter().zip(values(Kind::Interventional).unwrap());
    for (marginal, interventional) in pairs {
        assert!((marginal / interventional - 1.0).abs() < 1e-10);
    }
}

/// Seconds of the fastest of some calls.
fn fastest(call: impl Fn()) -> f64 {
    let seconds = (0..5).map(|_| {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}

#[test]
fn entries_that_rows_and_background_share_cost_no_more_than_others() {
    const FEATURES: usize = 15_000;
    let seconds = |entries: &dyn Fn(f64) -> f64, kind| {
        let mut random = Random::new(9);
        let mut some = |rows: usize| -> Vec<f64> {
            random.numbers(rows * FEATURES, 0.0, 1.0).into_iter().map(entries).collect()
        };
        let (points, background, x) = (some(16), some(1), some(1));
        let factor = |column| Factor { family: Family::Rbf, column, parameter: 100.0 };
        let expansion = Expansion::new(
            Matrix::of_shape(&points, [16, FEATURES]),
            Matrix::of_shape(&[1.0; 16], [16, 1]),
            &[Term { coefficient: 1.0, factors: (0..FEATURES).map(factor).collect() }],
            Players::columns(FEATURES),
        )
        .unwrap();
        let background =
            Background { rows: Matrix::of_shape(&background, [1, FEATURES]), weights: &[1.0] };
        let game = match kind {
            Kind::Marginal => ValueFunction::Marginal(background),
            _ => ValueFunction::Interventional(background),
        };
        fastest(|| {
            let x = Matrix::of_shape(&x, [1, FEATURES]);
            let go_on = &mut |_, _| ControlFlow::Continue(());
            expansion.explain(x, game, Method::Quadrature, &Settings::default(), go_on).unwrap();
        })
    };
    for kind in BOTH {
        let (all, few) =
            (seconds(&|entry| f64::from(entry > 0.9), kind), seconds(&|entry| entry, kind));
        assert!(all < 2.5 * few, "{kind:?}: {all} s with entries of 0 and 1, {few} s with others");
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

/// The value of one player of two columns of a family, points at 0, against one background row.
fn value_of_group(family: Family, scales: [f64; 2], x: [f64; 2], z: [f64; 2], kind: Kind) -> f64 {
    let factor = |column| Factor { family, column, parameter: scales[column] };
    let expansion = Expansion::new(
        Matrix::of_shape(&[0.0, 0.0], [1, 2]),
        Matrix::of_shape(&[1.0], [1, 1]),
        &[Term { coefficient: 1.0, factors: vec![factor(0), factor(1)] }],
        Players::grouped(vec![0, 0]),
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
    // Digits by mpmath, of the differences of the products at these doubles.
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

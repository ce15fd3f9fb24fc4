//! The variance of conditional means: products of two evaluations are product games of their
//! moments.

use std::ops::ControlFlow;

use pkex_core::{Error, Level, Matrix, Players, Settings, Summation, VarianceGames};

use crate::random::Random;

const COUNT: usize = 35;
const COLUMNS: usize = 4;
/// Few and many deviations; column 1 does not vary.
const STARTS: [usize; COLUMNS + 1] = [0, 3, 3, 8, 9];
const MANY_STARTS: [usize; COLUMNS + 1] = [0, 150, 150, 300, 429];
const OUTPUTS: usize = 2;

/// Sums of products with known deviations and means.
struct Case {
    count: usize,
    starts: [usize; COLUMNS + 1],
    means: Vec<f64>,
    deviations: Vec<f64>,
    weights: Vec<f64>,
    players: Players,
}

impl Case {
    fn new(of_column: &[usize]) -> Self {
        Self::of_size(COUNT, STARTS, of_column)
    }

    fn of_size(count: usize, starts: [usize; COLUMNS + 1], of_column: &[usize]) -> Self {
        let mut random = Random::new(7);
        let size = (9.0 / starts[COLUMNS] as f64).sqrt();
        Self {
            count,
            starts,
            means: random.numbers(count * COLUMNS, -1.0, 1.0),
            deviations: random.numbers(count * starts[COLUMNS], -size, size),
            weights: random.numbers(count * OUTPUTS, -1.0, 1.0),
            players: Players::new(of_column.to_vec()),
        }
    }

    fn games(&self) -> VarianceGames<'_> {
        let means = Matrix::of_shape(&self.means, [self.count, COLUMNS]);
        let deviations = Matrix::of_shape(&self.deviations, [self.count, self.starts[COLUMNS]]);
        let weights = Matrix::of_shape(&self.weights, [self.count, OUTPUTS]);
        VarianceGames::new(means, (deviations, &self.starts), weights, &self.players).unwrap()
    }

    fn once(&self, settings: &Settings) -> Vec<f64> {
        let go_on = &mut |_, _| ControlFlow::Continue(());
        self.games().values(true, settings, go_on).unwrap()
    }

    fn twice(&self, settings: &Settings) -> Vec<f64> {
        let go_on = &mut |_, _| ControlFlow::Continue(());
        self.games().in_twice_the_precision(true, settings, go_on).unwrap()
    }

    /// v(S) + (E f)² of a coalition, a bit for each player, by its definition.
    fn coalition_value(&self, coalition: usize, output: usize) -> f64 {
        let mut coalition_value = 0.0;
        for e in 0..self.count {
            for other in 0..self.count {
                let factor = |column: usize| {
                    let means =
                        self.means[e * COLUMNS + column] * self.means[other * COLUMNS + column];
                    let player = self.players.of(column).unwrap();
                    let is_present = coalition >> player & 1 == 1;
                    let covariance = |r: usize| {
                        self.deviations[e * self.starts[COLUMNS] + r]
                            * self.deviations[other * self.starts[COLUMNS] + r]
                    };
                    let present = (self.starts[column]..self.starts[column + 1]).map(covariance);
                    means + if is_present { present.sum() } else { 0.0 }
                };
                coalition_value += self.weights[e * OUTPUTS + output]
                    * self.weights[other * OUTPUTS + output]
                    * (0..COLUMNS).map(factor).product::<f64>();
            }
        }
        coalition_value
    }
}

/// Σ_S |S|! (p − |S| − 1)! / p! (v(S ∪ j) − v(S)).
fn shapley(coalition_values: &[f64], player: usize) -> f64 {
    let p = coalition_values.len().ilog2();
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let change = |s: usize| {
        let size = s.count_ones();
        let weight = factorial(size) * factorial(p - size - 1) / factorial(p);
        weight * (coalition_values[s | 1 << player] - coalition_values[s])
    };
    (0..coalition_values.len()).filter(|s| s >> player & 1 == 0).map(change).sum()
}

#[test]
fn indices_are_those_of_all_coalitions_with_and_without_groups() {
    // The last case has several groups of tiles, and chunks of deviations.
    let cases = [
        Case::new(&[0, 1, 2, 3]),
        Case::new(&[0, 1, 0, 2]),
        Case::of_size(150, MANY_STARTS, &[0, 1, 2, 3]),
    ];
    for case in cases {
        let p = case.players.count();
        let all = case.once(&Settings::default());
        let [values, first, total] = [0, 1, 2].map(|part| &all[part * p * OUTPUTS..]);
        let pairs = &all[3 * p * OUTPUTS..];
        for output in 0..OUTPUTS {
            let coalition_values: Vec<f64> =
                (0..1 << p).map(|s| case.coalition_value(s, output)).collect();
            let grand = coalition_values.len() - 1;
            let scale = coalition_values[grand].abs().max(1.0);
            let check = |found: f64, expected: f64| {
                assert!((found - expected).abs() < 1e-12 * scale, "{found} {expected}");
            };
            let mut place = 0;
            for j in 0..p {
                check(values[j * OUTPUTS + output], shapley(&coalition_values, j));
                check(first[j * OUTPUTS + output], coalition_values[1 << j] - coalition_values[0]);
                check(
                    total[j * OUTPUTS + output],
                    coalition_values[grand] - coalition_values[grand ^ 1 << j],
                );
                for k in j + 1..p {
                    let both = coalition_values[1 << j | 1 << k]
                        - coalition_values[1 << j]
                        - coalition_values[1 << k];
                    check(pairs[place * OUTPUTS + output], both + coalition_values[0]);
                    place += 1;
                }
            }
        }
    }
}

#[test]
fn twice_the_precision_gives_the_same_numbers() {
    for of_column in [[0, 1, 2, 3], [0, 1, 0, 2], [0, 0, 0, 0]] {
        let case = Case::new(&of_column);
        let expected = case.once(&Settings::default());
        let found = case.twice(&Settings::default());
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}

#[test]
fn weights_that_cancel_leave_no_rounding_errors_in_twice_the_precision() {
    // The first evaluation, and others that equal it with huge weights whose sum is 1.
    let mut case = Case::new(&[0, 1, 2, 3]);
    let repeat = |numbers: &[f64], width: usize| numbers[..width].repeat(COUNT);
    case.means = repeat(&case.means, COLUMNS);
    case.deviations = repeat(&case.deviations, STARTS[COLUMNS]);
    case.weights.fill(0.0);
    case.weights[0] = 1.0;
    let expected = case.twice(&Settings::default());
    for (e, weights) in case.weights.chunks_mut(OUTPUTS).enumerate() {
        weights[0] = if e % 2 == 0 { 1e8 * (1.0 + e as f64) } else { -1e8 * e as f64 };
    }
    case.weights[0] += 1.0 - 35e8;
    let found = case.twice(&Settings::default());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-11, "{found} {expected}");
    }
}

#[test]
fn a_column_that_does_not_vary_has_exactly_nothing() {
    let values = Case::new(&[0, 1, 2, 3]).once(&Settings::default());
    assert_eq!(values[OUTPUTS..2 * OUTPUTS], [0.0; OUTPUTS]);
}

#[test]
fn bits_are_the_same_for_any_number_of_threads_and_fused_level() {
    let case = Case::new(&[0, 1, 2, 3]);
    for summation in [Summation::Compensated, Summation::Plain] {
        let settings = Settings { summation, ..Settings::default() };
        let (expected, twice) = (case.once(&settings), case.twice(&settings));
        for &level in Level::ALL.iter().filter(|&&level| level != Level::Portable) {
            for threads in [1, 2, 5] {
                let settings = Settings { level, threads, ..settings };
                assert_eq!(case.once(&settings), expected, "{level:?}, {threads}");
                assert_eq!(case.twice(&settings), twice, "{level:?}, {threads}");
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let numbers = [0.0; 12];
    let matrix = |rows, columns| Matrix::of_shape(&numbers[..rows * columns], [rows, columns]);
    let refused = |deviations, starts: &[usize], weights, players| {
        let games = VarianceGames::new(matrix(3, 2), (deviations, starts), weights, &players);
        assert!(matches!(games, Err(Error::Shape { .. })));
    };
    let players = || Players::columns(2);
    refused(matrix(2, 4), &[0, 1, 4], matrix(3, 1), players());
    refused(matrix(3, 4), &[0, 1, 4], matrix(2, 1), players());
    refused(matrix(3, 4), &[0, 5, 4], matrix(3, 1), players());
    refused(matrix(3, 4), &[0, 4], matrix(3, 1), players());
    refused(matrix(3, 4), &[0, 1, 4], matrix(3, 1), Players::columns(3));
}

//! Games against a background equal their definition, coalition by coalition.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
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
        for kind in [Kind::Interventional, Kind::Marginal] {
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
fn a_background_next_to_the_row_loses_no_accuracy() {
    // f(x) = exp(−x²/2ℓ²) at x and z = x + h: the value of the only player is f(x) − f(z).
    for (scale, step) in [(1.0, 1e-9), (1e6, 1.0), (1e-3, 1e-12)] {
        let (x, z) = (0.7 * scale, 0.7 * scale + step);
        for family in [Family::Rbf, Family::Laplacian, Family::Cauchy] {
            let factor = Factor { family, column: 0, parameter: scale };
            let expansion = Expansion::new(
                Matrix::of_shape(&[0.0], [1, 1]),
                Matrix::of_shape(&[1.0], [1, 1]),
                &[Term { coefficient: 1.0, factors: vec![factor] }],
                Players::columns(1),
            );
            let row = [z];
            let background = Background { rows: Matrix::of_shape(&row, [1, 1]), weights: &[1.0] };
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let value = expansion
                .unwrap()
                .explain(
                    Matrix::of_shape(&[x], [1, 1]),
                    ValueFunction::Interventional(background),
                    Method::Quadrature,
                    &Settings::default(),
                    go_on,
                )
                .unwrap()[0];
            // Mean value theorem, with the slope in the middle: an error of order step².
            let (t, h) = (f64::midpoint(x, z) / scale, (z - x) / scale);
            let slope = match family {
                Family::Rbf => t * (-t * t / 2.0).exp(),
                Family::Laplacian => (-t).exp(),
                _ => 2.0 * t / (1.0 + t * t).powi(2),
            };
            let expected = slope * h;
            assert!(
                (value / expected - 1.0).abs() < 1e-11,
                "{family:?}, scale {scale}: {value} instead of {expected}"
            );
        }
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

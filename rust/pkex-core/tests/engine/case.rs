//! A small problem; the value of every coalition is computed by its definition.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
};

use crate::random::Random;

pub const COLUMNS: usize = 5;
const OF_COLUMN: [usize; COLUMNS] = [0, 1, 2, 1, 3];
pub const PLAYERS: usize = 4;

/// The value functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Neutral,
    Interventional,
    Marginal,
}

pub struct Case {
    pub points: Vec<f64>,
    pub coefficients: Vec<f64>,
    pub terms: Vec<Term>,
    pub background: Vec<f64>,
    pub shares: Vec<f64>,
    pub rows: Vec<f64>,
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
                Term { coefficient: 0.7, factors: all(Family::Rbf), series: None },
                Term { coefficient: 1.5, factors: all(Family::Cauchy), series: None },
                Term { coefficient: 2.0, factors: mixed, series: None },
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
            Players::new(OF_COLUMN.to_vec()),
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
                Family::Cauchy => 1.0 / (1.0 + r * r),
                other => panic!("no formula is known of {other:?}"),
            }
        })
        .product()
    }

    /// The value of a coalition (a bit for each player) at a row.
    pub fn coalition_value(&self, row: &[f64], coalition: usize, kind: Kind) -> f64 {
        let is_in = |player: usize| coalition >> player & 1 == 1;
        let mut coalition_value = 0.0;
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
                coalition_value += coefficient * term.coefficient * present * absent;
            }
        }
        coalition_value
    }

    pub fn brute_force(&self, row: &[f64], player: usize, kind: Kind) -> f64 {
        (0..1_usize << PLAYERS)
            .filter(|coalition| coalition >> player & 1 == 0)
            .map(|coalition| {
                let share = [3.0, 1.0, 1.0, 3.0][coalition.count_ones() as usize] / 12.0;
                let with = self.coalition_value(row, coalition | 1 << player, kind);
                share * (with - self.coalition_value(row, coalition, kind))
            })
            .sum()
    }

    pub fn values(&self, kind: Kind, method: Method) -> Vec<f64> {
        let (expansion, settings) = (self.expansion(), Settings::default());
        let go_on = &mut |_, _| ControlFlow::Continue(());
        let game = self.game(kind);
        expansion.explain(self.rows(), game, method, &settings, go_on).unwrap()
    }
}

/// The value functions that take a background.
pub const BOTH: [Kind; 2] = [Kind::Interventional, Kind::Marginal];

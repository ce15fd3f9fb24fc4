//! Quadrature and recursion are compared with each other and with enumeration of all coalitions, on
//! any games.
//!
//! `cargo test` runs for a second and `make fuzz` longer, with random games. With the nightly
//! toolchain or `--rustc-bootstrap`,
//! `cargo bolero test --package pkex-fuzz methods_agree_with_all_coalitions --sanitizer NONE`
//! is guided by coverage. A failure prints a small game that shows it.

#![cfg(test)]

mod wide;

use std::ops::ControlFlow;

use bolero::TypeGenerator;
use pkex_core::{Error, Index, Matrix, Method, ProductGames, Settings, Summation};

use crate::wide::Wide;

/// The promised error, on the scale Σ|w c Ω|, where products in Ω count by their sizes.
const TOLERANCE: f64 = 1e-10;

#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Number {
    Zero,
    One,
    MinusOne,
    Fraction(#[generator(0.0..1.0)] f64),
    Moderate(#[generator(-4.0..4.0)] f64),
    /// Any bits, and so any size: subnormal numbers as well as numbers near overflow.
    Any(f64),
}

impl Number {
    fn value(self) -> f64 {
        match self {
            Self::Any(x) if x.is_finite() => x,
            Self::Zero | Self::Any(_) => 0.0,
            Self::One => 1.0,
            Self::MinusOne => -1.0,
            Self::Fraction(x) | Self::Moderate(x) => x,
        }
    }
}

/// The absent factors of a game.
#[derive(Clone, Copy, Debug, TypeGenerator)]
enum Absent {
    /// Absent factors are 1.
    Nothing,
    Factors,
    /// Absent factors b, and differences c, so that present factors are b + c.
    FactorsAndDifferences,
}

/// Games whose entries are picked from a few numbers, as often as there are picks.
#[derive(Clone, Debug, TypeGenerator)]
struct Recipe {
    #[generator(1..=24_usize)]
    players: usize,
    #[generator(1..=24_usize)]
    games: usize,
    #[generator(1..=3_usize)]
    outputs: usize,
    absent: Absent,
    numbers: [Number; 8],
    picks: Vec<u8>,
}

/// Matrices by rows: factors have a column for each player, weights one for each output.
struct Games {
    players: usize,
    outputs: usize,
    present: Vec<f64>,
    absent: Option<Vec<f64>>,
    difference: Option<Vec<f64>>,
    weights: Vec<f64>,
}

impl Recipe {
    fn games(&self) -> Games {
        let mut picks = self.picks.iter().cycle();
        let mut pick = |count: usize| -> Vec<f64> {
            let mut next = || picks.next().map_or(0, |&pick| usize::from(pick) % 8);
            (0..count).map(|_| self.numbers[next()].value()).collect()
        };
        let entries = self.players * self.games;
        let first = pick(entries);
        let (present, absent, difference) = match self.absent {
            Absent::Nothing => (first, None, None),
            Absent::Factors => (first, Some(pick(entries)), None),
            Absent::FactorsAndDifferences => {
                let absent = pick(entries);
                let sums = absent.iter().zip(&first).map(|(b, c)| b + c);
                (sums.collect(), Some(absent), Some(first))
            }
        };
        let weights = pick(self.games * self.outputs);
        Games { players: self.players, outputs: self.outputs, present, absent, difference, weights }
    }
}

/// Ω by its definition: the products of all coalitions of the other players, added by size, because
/// those of a size have the same share.
fn omega(other_factors: &[(Wide, Wide)], index: Index) -> Wide {
    let mut products_by_size = vec![Wide::new(1.0)];
    for &(present, absent) in other_factors {
        products_by_size.push(Wide::new(0.0));
        for size in (0..products_by_size.len()).rev() {
            let without = products_by_size[size] * absent;
            products_by_size[size] =
                if size > 0 { products_by_size[size - 1] * present + without } else { without };
        }
    }
    let players = products_by_size.len();
    let mut share = match index {
        Index::Shapley => 1.0 / players as f64,
        Index::Banzhaf => 0.5_f64.powi(i32::try_from(players - 1).expect("few players")),
    };
    let mut sum = Wide::new(0.0);
    for (size, products) in products_by_size.into_iter().enumerate() {
        sum = sum + Wide::new(share) * products;
        if index == Index::Shapley {
            share *= (size + 1) as f64 / (players - 1).saturating_sub(size).max(1) as f64;
        }
    }
    sum
}

/// A value by definition, and bounds of its rounding error.
#[derive(Clone, Copy)]
struct Expected {
    value: Wide,
    /// The scale of its error.
    scale: Wide,
    /// Σ|w|: every c Ω may be wrong by the smallest number of the range.
    weights: Wide,
    /// The exponent of the largest intermediate number.
    largest: i32,
}

impl Games {
    fn count(&self) -> usize {
        self.present.len() / self.players
    }

    /// A bound of the exponents of products of one factor per player.
    fn reach(&self) -> i32 {
        let factors = self.present.iter().chain(self.absent.iter().flatten());
        let exponents = factors.map(|&factor| Wide::new(factor).exponent.abs() + 1);
        exponents.max().unwrap_or(0) * i32::try_from(self.players).expect("few players")
    }

    /// The values by definition: player by player, output by output.
    fn expected(&self, index: Index) -> Vec<Expected> {
        let zero = Wide::new(0.0);
        let nothing = Expected { value: zero, scale: zero, weights: Wide::new(1.0), largest: 0 };
        let mut expected = vec![nothing; self.players * self.outputs];
        for game in 0..self.count() {
            let weights = &self.weights[game * self.outputs..][..self.outputs];
            for player in 0..self.players {
                let term = self.term(game, player, index);
                for (output, &weight) in weights.iter().enumerate() {
                    let sum = &mut expected[player * self.outputs + output];
                    let weight = Wide::new(weight);
                    let scale = weight.size() * term.1;
                    sum.value = sum.value + weight * term.0;
                    sum.scale = sum.scale + scale;
                    sum.weights = sum.weights + weight.size();
                    sum.largest = sum.largest.max(term.1.exponent).max(scale.exponent);
                }
            }
        }
        expected
    }

    /// c Ω of a game and a player, and its size if all products in Ω are replaced by their sizes.
    fn term(&self, game: usize, player: usize, index: Index) -> (Wide, Wide) {
        let factors = |player: usize| {
            let place = game * self.players + player;
            let absent = self.absent.as_ref().map_or(1.0, |absent| absent[place]);
            (Wide::new(self.present[place]), Wide::new(absent))
        };
        let (present, absent) = factors(player);
        let place = game * self.players + player;
        let c = match &self.difference {
            Some(difference) => Wide::new(difference[place]),
            None => present + absent.negated(),
        };
        let other_factors: Vec<_> =
            (0..self.players).filter(|&l| l != player).map(factors).collect();
        let sizes: Vec<_> = other_factors.iter().map(|(a, b)| (a.size(), b.size())).collect();
        (c * omega(&other_factors, index), c.size() * omega(&sizes, index))
    }

    fn values(
        &self,
        index: Index,
        method: Method,
        summation: Summation,
    ) -> Result<Vec<f64>, Error> {
        let shape = [self.count(), self.players];
        let games = ProductGames {
            present: Matrix::of_shape(&self.present, shape),
            absent: self.absent.as_ref().map(|absent| Matrix::of_shape(absent, shape)),
            difference: self.difference.as_ref().map(|c| Matrix::of_shape(c, shape)),
            weights: Matrix::of_shape(&self.weights, [self.count(), self.outputs]),
        };
        let settings = Settings { summation, ..Settings::default() };
        games.values(index, method, &settings, &mut |_, _| ControlFlow::Continue(()))
    }
}

/// Compares a result with the expected one. Overflow may be reported only if products of factors
/// leave 2^±900, or numbers come near the end of the range.
fn check(result: Result<Vec<f64>, Error>, (expected, reach): (&[Expected], i32), label: &str) {
    let values = match result {
        Err(Error::Overflow { .. }) => {
            let largest = expected.iter().map(|expected| expected.largest).max().unwrap_or(0);
            assert!(largest > 960 || reach > 900, "{label}: overflow, but 2^{largest}, 2^{reach}");
            return;
        }
        result => result.expect(label),
    };
    assert_eq!(values.len(), expected.len());
    for (&value, expected) in values.iter().zip(expected) {
        assert!(value.is_finite(), "{label}: {value}");
        // In units in which neither of the two overflows.
        let unit = expected.scale.exponent.max(-960);
        let actual = Wide::new(value).in_units_of(unit);
        let expected_value = expected.value.in_units_of(unit);
        let tolerance = TOLERANCE * expected.scale.in_units_of(unit)
            + expected.weights.in_units_of(unit + 1068);
        assert!(
            (actual - expected_value).abs() <= tolerance,
            "{label}: {actual} instead of {expected_value}, times 2^{unit}; tolerance {tolerance}"
        );
    }
}

#[test]
fn methods_agree_with_all_coalitions() {
    bolero::check!().with_type::<Recipe>().for_each(|recipe| {
        let games = recipe.games();
        if games.present.iter().any(|a| !a.is_finite()) {
            return; // b + c is above all numbers
        }
        for index in [Index::Shapley, Index::Banzhaf] {
            let expected = games.expected(index);
            for method in [Method::Quadrature, Method::Recursion] {
                if (index, method) == (Index::Banzhaf, Method::Recursion) {
                    continue; // which there is not
                }
                for summation in [Summation::Compensated, Summation::Plain] {
                    let result = games.values(index, method, summation);
                    check(
                        result,
                        (&expected, games.reach()),
                        &format!("{index:?} {method:?} {summation:?}"),
                    );
                }
            }
        }
    });
}

#[test]
fn a_difference_that_sinks_below_the_range_beside_its_factors_is_reported() {
    // The value of the first player is 1e-200 · 1e250; its difference, scaled as its factors, is 0.
    let games = Games {
        players: 2,
        outputs: 1,
        present: vec![1e200, 1e250],
        absent: Some(vec![1e200, 1e250]),
        difference: Some(vec![1e-200, 0.0]),
        weights: vec![1.0],
    };
    for method in [Method::Quadrature, Method::Recursion] {
        let result = games.values(Index::Shapley, method, Summation::Compensated);
        assert_eq!(result, Err(Error::Overflow { row: 0 }), "{method:?}");
    }
}

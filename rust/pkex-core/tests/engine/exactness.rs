//! Values equal their definitions, and the two methods agree.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Expansion, Factor, Family, Index, Matrix, Method, Players, Settings, Summation,
    Term, ValueFunction,
};
use proptest::prelude::*;

use crate::games::Games;
use crate::random::Random;

/// Difficult factors: zeros, equal factors, negative ones, factors above 1.
fn factor() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -2.0..2.0_f64,
        4 => 0.0..1.0_f64,
        1 => Just(0.0),
        1 => Just(1.0),
        1 => Just(-1.0),
        1 => 1e-9..1e-6_f64,
    ]
}

fn games() -> impl Strategy<Value = Games> {
    (1..=8_usize, 1..=40_usize).prop_flat_map(|(players, games)| {
        let factors = || prop::collection::vec(factor(), players * games);
        let weights = prop::collection::vec(-10.0..10.0_f64, games);
        (factors(), factors(), weights).prop_map(move |(present, absent, weights)| Games {
            players,
            present,
            absent,
            weights,
        })
    })
}

proptest! {
    #[test]
    fn values_equal_brute_force_for_any_factors(games in games()) {
        for (index, method) in [
            (Index::Shapley, Method::Quadrature),
            (Index::Shapley, Method::Recursion),
            (Index::Banzhaf, Method::Quadrature),
        ] {
            let reference = games.brute_force(index);
            for summation in [Summation::Compensated, Summation::Plain] {
                let settings = Settings { summation, ..Settings::default() };
                let values = games.values(index, method, &settings).unwrap();
                for (value, (expected, scale)) in values.iter().zip(&reference) {
                    prop_assert!(
                        (value - expected).abs() <= 1e-13 * scale,
                        "{index:?} {method:?} {summation:?}: {value} instead of {expected}"
                    );
                }
            }
        }
    }
}

/// Games of `players` players with factors similar to those of kernels.
fn kernel_like_games(players: usize, narrowness: f64, with_background: bool) -> Games {
    let mut random = Random::new(players as u64);
    let games = 20;
    let mut factors = || -> Vec<f64> {
        let exponents = random.numbers(players * games, 0.0, narrowness);
        exponents.into_iter().map(|x| (-x).exp()).collect()
    };
    let present = factors();
    let absent = if with_background { factors() } else { vec![1.0; players * games] };
    Games { players, present, absent, weights: random.numbers(games, -1.0, 1.0) }
}

#[test]
fn quadrature_and_recursion_agree_up_to_2000_players() {
    for (players, narrowness) in
        [(1, 1.0), (3, 40.0), (17, 0.01), (100, 1.0), (400, 10.0), (2000, 0.001), (2000, 2.0)]
    {
        for with_background in [false, true] {
            let games = kernel_like_games(players, narrowness, with_background);
            let quadrature = games.shapley(Method::Quadrature);
            let recursion = games.shapley(Method::Recursion);
            let largest = recursion.iter().fold(0.0_f64, |m, value| m.max(value.abs()));
            for (one, other) in quadrature.iter().zip(&recursion) {
                assert!(
                    (one - other).abs() <= 1e-11 * largest,
                    "d = {players}, narrowness {narrowness}: {one} and {other}"
                );
            }
        }
    }
}

/// The values of a row in a game of one point, where factor j is `factors[j]` or 1: the row's
/// factor is 1 if it `agrees` with the point, and the background row's is 1 if the row does not
/// agree; in the neutral game, if the row never agrees.
fn values_of_one_point(factors: &[f64], agrees: &[bool], method: Method) -> Vec<f64> {
    let players = factors.len();
    let of = |(column, &parameter)| Factor { family: Family::Categorical, column, parameter };
    let factors = factors.iter().enumerate().map(of).collect();
    let kernel = [Term { coefficient: 1.0, factors, series: None }];
    let point = vec![0.0; players];
    let entries = |agrees: &dyn Fn(bool) -> bool, of: &[bool]| -> Vec<f64> {
        of.iter().map(|&of| if agrees(of) { 0.0 } else { 1.0 }).collect()
    };
    let (row, background) = (entries(&|agrees| agrees, agrees), entries(&|agrees| !agrees, agrees));
    let matrix = |row| Matrix::of_shape(row, [1, players]);
    let expansion = Expansion::new(
        matrix(&point),
        Matrix::of_shape(&[1.0], [1, 1]),
        &kernel,
        Players::columns(players),
    );
    let background = Background { rows: matrix(&background), weights: &[1.0] };
    let game = if agrees.contains(&true) {
        ValueFunction::Interventional(background)
    } else {
        ValueFunction::Neutral
    };
    let mut go_on = |_, _| ControlFlow::Continue(());
    let settings = Settings::default();
    expansion.unwrap().explain(matrix(&row), game, method, &settings, &mut go_on).unwrap()
}

#[test]
fn nodes_seen_from_one_end_err_by_a_few_units_for_every_number_of_players() {
    let mut random = Random::new(11);
    for players in (1..=40).chain([41, 60, 100, 299, 300]) {
        for narrowest in [0.0, 0.5, 0.9, 0.999] {
            let factors = random.numbers(players, narrowest, 0.999_999);
            let lambda: f64 = factors.iter().map(|factor| 1.0 - factor).sum();
            let of = |method| values_of_one_point(&factors, &vec![false; players], method);
            let (found, expected) = (of(Method::Quadrature), of(Method::Recursion));
            let limit = (lambda + 16.0 + players as f64 / 8.0) * f64::EPSILON / 2.0;
            for (found, expected) in found.iter().zip(expected) {
                let error = (found / expected - 1.0).abs();
                assert!(error < limit, "{players} players, Λ = {lambda}: {error:e}");
            }
        }
    }
}

#[test]
fn games_divided_by_their_absent_factors_err_by_a_few_units() {
    let mut random = Random::new(12);
    for players in (2..=40).chain([41, 60, 100, 299, 300]) {
        for narrowest in [0.0, 0.07, 0.5, 0.99] {
            let factors = random.numbers(players, narrowest, 0.999_999);
            // Factors rise while the product of absent factors is not too small.
            let mut product = 1.0;
            let rises =
                factors.iter().zip(random.numbers(players, 0.0, 1.0)).map(|(factor, kind)| {
                    let fits = *factor > 1.0 / 16.0 && product * factor > 1.0 / 1024.0;
                    if fits && kind < 0.7 {
                        product *= factor;
                    }
                    fits && kind < 0.7
                });
            let rises: Vec<bool> = rises.collect();
            let of = |method| values_of_one_point(&factors, &rises, method);
            let (found, expected) = (of(Method::Quadrature), of(Method::Recursion));
            let lambda: f64 = factors.iter().map(|factor| 1.0 - factor).sum();
            let limit = (2.0 * lambda + 32.0 + players as f64 / 8.0) * f64::EPSILON / 2.0;
            for (found, expected) in found.iter().zip(expected) {
                let error = (found / expected - 1.0).abs();
                assert!(error < limit, "{players} players, Λ = {lambda}: {error:e} > {limit:e}");
            }
        }
    }
}

#[test]
fn products_that_leave_the_range_midway_give_the_right_value() {
    // 200 factors 1e-5 and then 200 factors 1e5: the grand coalition has value 1.
    let players = 400;
    let present: Vec<f64> =
        (0..players).map(|player| if player < 200 { 1e-5 } else { 1e5 }).collect();
    let games = Games { players, absent: present.clone(), present, weights: vec![1.0] };
    // One player changes from 1 to 3: its value is 2, all others' 0.
    let mut games = games;
    games.present[7] = 3e-5;
    for method in [Method::Quadrature, Method::Recursion] {
        let values = games.shapley(method);
        assert!((values[7] - 2.0).abs() < 1e-12, "{method:?}: {}", values[7]);
        assert!(values.iter().enumerate().all(|(player, value)| player == 7 || *value == 0.0));
    }
}

#[test]
fn tiny_and_huge_factors_keep_relative_accuracy() {
    // Subnormal and near-overflow factors whose product is moderate.
    for (small, large) in [(1e-310, 1e308), (5e-324, 1e300), (1e-200, 1e200)] {
        let games = Games {
            players: 3,
            present: vec![small, large, 3.0],
            absent: vec![small, large, 1.0],
            weights: vec![1.0],
        };
        for method in [Method::Quadrature, Method::Recursion] {
            let value = games.shapley(method)[2];
            let expected = 2.0 * small * large;
            assert!((value / expected - 1.0).abs() < 1e-14, "{method:?}: {value}, not {expected}");
        }
    }
}

#[test]
fn compensated_sums_beat_plain_ones_on_alternating_large_weights() {
    // Every game occurs twice, with weights w and −w far apart, except one of weight 1.
    let (players, pairs) = (4, 5003);
    let mut random = Random::new(3);
    let factors = random.numbers(players * pairs, 0.0, 1.0);
    let weights = random.numbers(pairs, 0.0, 1e9);
    let present = [&factors[..], &[0.5; 4], &factors].concat();
    let negated: Vec<f64> = weights.iter().map(|weight| -weight).collect();
    let weights = [&weights[..], &[1.0], &negated].concat();
    let games = Games { players, absent: vec![1.0; present.len()], present, weights };
    let error = |summation| {
        let settings = Settings { summation, ..Settings::default() };
        let values = games.values(Index::Shapley, Method::Quadrature, &settings).unwrap();
        let expected = (0.5_f64.powi(4) - 1.0) / 4.0;
        values.iter().map(|value| (value - expected).abs()).fold(0.0, f64::max)
    };
    let (compensated, plain) = (error(Summation::Compensated), error(Summation::Plain));
    assert!(compensated < 1e-15, "compensated: {compensated}");
    assert!(plain > 1e6 * compensated.max(1e-16), "plain: {plain}, compensated: {compensated}");
}

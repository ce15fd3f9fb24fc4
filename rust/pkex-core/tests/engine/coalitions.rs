//! Values of single coalitions, compared with their definition, and their bits.

use std::ops::ControlFlow;

use pkex_core::{Coalitions, Error, Level, Settings, Summation};

use crate::case::{COLUMNS, Case, Kind, PLAYERS};

const COALITIONS: usize = 1 << PLAYERS;
const ALL: Coalitions<'_> = Coalitions::Range(0..COALITIONS);
const KINDS: [Kind; 3] = [Kind::Neutral, Kind::Interventional, Kind::Marginal];

/// The values of the coalitions of a case in a game: against each background row if these are drawn as they are.
fn coalition_values(
    case: &Case,
    kind: Kind,
    coalitions: &Coalitions<'_>,
    settings: &Settings,
) -> Vec<f64> {
    let (expansion, game) = (case.expansion(), case.game(kind));
    let go_on = &mut |_, _| ControlFlow::Continue(());
    expansion.coalition_values(case.rows(), game, coalitions, settings, go_on).unwrap()
}

/// Whether each player is in each coalition.
fn members(coalitions: impl Iterator<Item = usize>) -> Vec<bool> {
    coalitions
        .flat_map(|number| (0..PLAYERS).map(move |player| number >> player & 1 == 1))
        .collect()
}

#[test]
fn worths_are_those_of_the_definition() {
    // More points than are multiplied at a time, and not a multiple of the lanes.
    let case = Case::new(150, 3, 2, 0.8);
    let settings = Settings::default();
    for kind in KINDS {
        let found = coalition_values(&case, kind, &ALL, &settings);
        let per_row = found.len() / 2;
        for (row, found) in case.rows.chunks(COLUMNS).zip(found.chunks(per_row)) {
            for coalition in 0..COALITIONS {
                let games = found.chunks(COALITIONS);
                let mean =
                    games.map(|game| game[coalition]).sum::<f64>() / (per_row / COALITIONS) as f64;
                let expected = case.coalition_value(row, coalition, kind);
                assert!((mean - expected).abs() < 1e-13, "{kind:?} {coalition}: {mean} {expected}");
            }
        }
    }
}

#[test]
fn given_coalitions_have_the_worths_that_they_have_among_all() {
    let case = Case::new(40, 3, 2, 0.8);
    let given = [5, 0, 15, 5, 8];
    let settings = Settings::default();
    for kind in KINDS {
        let all = coalition_values(&case, kind, &ALL, &settings);
        let members = members(given.into_iter());
        let some = coalition_values(&case, kind, &Coalitions::Listed(&members), &settings);
        for (all, some) in all.chunks(COALITIONS).zip(some.chunks(given.len())) {
            for (&number, coalition_value) in given.iter().zip(some) {
                assert!((coalition_value - all[number]).abs() < 1e-14, "{kind:?} {number}");
            }
        }
    }
}

#[test]
fn ranges_of_coalitions_have_the_worths_that_they_have_among_all() {
    let case = Case::new(150, 3, 2, 0.8);
    let settings = Settings::default();
    for kind in KINDS {
        let all = coalition_values(&case, kind, &ALL, &settings);
        for length in [1, 2, 8] {
            for start in (0..COALITIONS).step_by(length) {
                let range = Coalitions::Range(start..start + length);
                let some = coalition_values(&case, kind, &range, &settings);
                for (all, some) in all.chunks(COALITIONS).zip(some.chunks(length)) {
                    let same = all[start..].iter().zip(some);
                    assert!(
                        same.into_iter().all(|(a, b)| (a - b).abs() < 1e-14),
                        "{kind:?} {range:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn coalitions_along_orders_have_the_worths_that_they_have_among_all() {
    // More points than are added at a time.
    let case = Case::new(290, 3, 2, 0.8);
    let settings = Settings::default();
    let orders = [[2, 0, 3, 1], [0, 1, 2, 3], [3, 1, 0, 2]];
    let numbers: Vec<usize> = orders
        .iter()
        .flat_map(|order| {
            let number = |players: &[usize]| players.iter().map(|player| 1 << player).sum();
            let of_first = (1..PLAYERS).map(move |size| number(&order[..size]));
            of_first.chain((1..PLAYERS).map(move |size| number(&order[PLAYERS - size..])))
        })
        .collect();
    for kind in KINDS {
        let all = coalition_values(&case, kind, &ALL, &settings);
        let orders = Coalitions::Orders(orders.as_flattened());
        let some = coalition_values(&case, kind, &orders, &settings);
        for (all, some) in all.chunks(COALITIONS).zip(some.chunks(numbers.len())) {
            for (&number, coalition_value) in numbers.iter().zip(some) {
                let error = (coalition_value - all[number]).abs();
                assert!(error < 1e-13, "{kind:?} {number}: {error}");
            }
        }
    }
}

#[test]
fn orders_that_are_not_permutations_are_errors() {
    let case = Case::new(20, 3, 2, 0.8);
    let (expansion, settings) = (case.expansion(), Settings::default());
    for orders in [&[0, 1, 2, 2][..], &[0, 1, 2, 4], &[0, 1, 2, 3, 0]] {
        let go_on = &mut |_, _| ControlFlow::Continue(());
        let (game, orders) = (case.game(Kind::Neutral), Coalitions::Orders(orders));
        let found = expansion.coalition_values(case.rows(), game, &orders, &settings, go_on);
        assert!(matches!(found, Err(Error::Shape { argument: "orders", .. })));
    }
}

#[test]
fn other_ranges_of_coalitions_are_errors() {
    let case = Case::new(20, 3, 2, 0.8);
    let (expansion, settings) = (case.expansion(), Settings::default());
    for range in [0..0, 0..3, 2..6, 0..2 * COALITIONS] {
        let go_on = &mut |_, _| ControlFlow::Continue(());
        let (game, range) = (case.game(Kind::Neutral), Coalitions::Range(range));
        let found = expansion.coalition_values(case.rows(), game, &range, &settings, go_on);
        assert!(matches!(found, Err(Error::Shape { argument: "coalitions", .. })), "{range:?}");
    }
}

#[test]
fn worths_have_equal_bits_for_any_threads_and_levels() {
    let case = Case::new(700, 20, 3, 0.8);
    let few = members([1, 7, 12].into_iter());
    for summation in [Summation::Compensated, Summation::Plain] {
        for coalitions in [
            ALL,
            Coalitions::Range(4..8),
            Coalitions::Listed(&few),
            Coalitions::Orders(&[1, 3, 0, 2]),
        ] {
            let first = Settings { summation, ..Settings::default() };
            let expected = coalition_values(&case, Kind::Interventional, &coalitions, &first);
            let fused = Level::ALL.iter().filter(|level| {
                level.is_available() && (**level == Level::best() || **level != Level::Portable)
            });
            for &level in fused {
                let settings = Settings { threads: 3, level, ..first };
                let found = coalition_values(&case, Kind::Interventional, &coalitions, &settings);
                assert!(found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}

#[test]
fn worths_stop_when_the_monitor_says_so() {
    let case = Case::new(20_000, 400, 1, 0.8);
    let game = case.game(Kind::Interventional);
    let settings = Settings { threads: 2, ..Settings::default() };
    let mut stop = |_, _| ControlFlow::Break(());
    let found = case.expansion().coalition_values(case.rows(), game, &ALL, &settings, &mut stop);
    assert_eq!(found, Err(Error::Interrupted));
}

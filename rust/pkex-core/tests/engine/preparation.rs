//! What is prepared of a background: kept, computed again when it changes, and stopped.

use std::ops::ControlFlow;
use std::time::Instant;

use pkex_core::{
    Background, Error, Expansion, Factor, Family, Matrix, Method, Monitor, Players, Settings, Term,
    ValueFunction,
};

use crate::case::{BOTH, Kind};
use crate::random::Random;

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
        let term = Term {
            coefficient: 1.0,
            factors: (0..self.columns).map(factor).collect(),
            series: None,
        };
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
    let seconds = (0..15).map(|_| {
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
            &[Term {
                coefficient: 1.0,
                factors: (0..FEATURES).map(factor).collect(),
                series: None,
            }],
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

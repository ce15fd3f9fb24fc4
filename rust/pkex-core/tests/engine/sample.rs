//! Sums over pairs equal sums computed pair by pair, and their bits depend only on the problem.

use std::ops::ControlFlow;

use pkex_core::{
    Classes, Error, Expansion, Factor, Family, Index, Matrix, Method, OCTET, PairProblem, PairSums,
    Players, ProductGames, Settings, TargetWeights, Term, ValueFunction, Weighting, mean_factors,
};

use crate::random::Random;

const COLUMNS: usize = 5;

/// A sample with a kernel of two terms, columns 1 and 3 being one player, and a target.
#[derive(Clone)]
struct Case {
    rows: usize,
    data: Vec<f64>,
    terms: Vec<Term>,
    players: Players,
    absent: Option<Vec<f64>>,
    groups: Vec<usize>,
    targets: Vec<f64>,
    target_terms: Vec<Term>,
    offsets: Vec<f64>,
    row_weights: Vec<f64>,
    univariate_in_groups: bool,
}

const OF_COLUMN: [usize; COLUMNS] = [0, 1, 2, 1, 3];
const PLAYERS: usize = 4;
const CONSTANT: f64 = 0.3;

impl Case {
    fn new(rows: usize, group_size: usize, with_absent: bool) -> Self {
        let mut random = Random::new(rows as u64);
        let factor =
            |family, column| Factor { family, column, parameter: 1.0 + column as f64 / 4.0 };
        let first = (0..COLUMNS).map(|column| factor(Family::Rbf, column)).collect();
        let second = [0, 3, 4].map(|column| factor(Family::Laplacian, column)).to_vec();
        Self {
            rows,
            data: random.numbers(rows * COLUMNS, -1.0, 1.0),
            terms: vec![
                Term { coefficient: 0.7, factors: first, series: None },
                Term { coefficient: 2.0, factors: second, series: None },
            ],
            players: Players::new(OF_COLUMN.to_vec()),
            absent: with_absent.then(|| random.numbers(2 * PLAYERS, 0.3, 0.9)),
            groups: (0..rows).map(|row| row / group_size).collect(),
            targets: random.numbers(rows, 0.0, 3.0).into_iter().map(f64::floor).collect(),
            target_terms: vec![Term {
                coefficient: 1.0,
                factors: vec![Factor { family: Family::Categorical, column: 0, parameter: 0.25 }],
                series: None,
            }],
            offsets: random.numbers(rows, -0.2, 0.2),
            row_weights: random.numbers(rows, 0.0, 2.0),
            univariate_in_groups: false,
        }
    }

    /// A problem with the first term only, which has factors of all players.
    fn of_one_term(mut self) -> Self {
        self.terms.truncate(1);
        self.absent = self.absent.map(|absent| absent[..PLAYERS].to_vec());
        self
    }

    fn weighting(&self, kind: Kind) -> Weighting<'_> {
        match kind {
            Kind::Classes { first, weighted, skips_second } => Weighting::Classes(Classes {
                first,
                weights: weighted.then_some(&self.row_weights),
                skips_second,
                takes_halves: true,
            }),
            Kind::Target { exchanges } => Weighting::Target(TargetWeights {
                targets: Matrix::of_shape(&self.targets, [self.rows, 1]),
                terms: &self.target_terms,
                offsets: &self.offsets,
                constant: CONSTANT,
                exchanges,
                takes_halves: [true, true],
            }),
        }
    }

    fn sums(&self, kind: Kind, settings: &Settings) -> PairSums {
        self.try_sums(kind, settings).unwrap()
    }

    fn try_sums(&self, kind: Kind, settings: &Settings) -> Result<PairSums, Error> {
        self.problem(kind).sums(settings, &mut |_, _| ControlFlow::Continue(()))
    }

    fn problem(&self, kind: Kind) -> PairProblem<'_> {
        let absent = self.absent.as_deref();
        PairProblem {
            rows: Matrix::of_shape(&self.data, [self.rows, COLUMNS]),
            terms: &self.terms,
            players: &self.players,
            absent: absent.map(|absent| Matrix::of_shape(absent, [self.terms.len(), PLAYERS])),
            groups: &self.groups,
            weighting: self.weighting(kind),
            univariate_in_groups: self.univariate_in_groups,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.data[row * COLUMNS..][..COLUMNS]
    }

    /// The players' factors of a pair.
    fn factors(&self, term: &Term, a: usize, b: usize) -> [f64; PLAYERS] {
        let mut factors = [1.0; PLAYERS];
        for factor in &term.factors {
            let r = (self.row(a)[factor.column] - self.row(b)[factor.column]) / factor.parameter;
            factors[OF_COLUMN[factor.column]] *= match factor.family {
                Family::Rbf => (-r * r / 2.0).exp(),
                Family::Laplacian => (-r.abs()).exp(),
                _ => unreachable!("the kernel has no other family"),
            };
        }
        factors
    }

    /// v({j}) and γ of a pair, player by player, through the engine for arrays.
    fn pair(&self, a: usize, b: usize) -> ([f64; PLAYERS], [f64; PLAYERS]) {
        let (mut univariate, mut gamma) = ([0.0; PLAYERS], [0.0; PLAYERS]);
        for (number, term) in self.terms.iter().enumerate() {
            let present = self.factors(term, a, b);
            let mut absent = [1.0; PLAYERS];
            if let Some(given) = &self.absent {
                for factor in &term.factors {
                    let player = OF_COLUMN[factor.column];
                    absent[player] = given[number * PLAYERS + player];
                }
            }
            let game = ProductGames {
                present: Matrix::of_shape(&present, [1, PLAYERS]),
                absent: Some(Matrix::of_shape(&absent, [1, PLAYERS])),
                difference: None,
                weights: Matrix::of_shape(std::slice::from_ref(&term.coefficient), [1, 1]),
            };
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let values =
                game.values(Index::Shapley, Method::Quadrature, &Settings::default(), go_on);
            for (player, value) in values.unwrap().into_iter().enumerate() {
                gamma[player] += value;
                let others = (0..PLAYERS).filter(|&other| other != player);
                univariate[player] += term.coefficient
                    * (present[player] - absent[player])
                    * others.map(|other| absent[other]).product::<f64>();
            }
        }
        (univariate, gamma)
    }

    /// The weight of a pair when rows `a` and `b` have the targets of `target_a` and `target_b`;
    /// NaN if there are no such rows, as in the last octet.
    fn weight(&self, target_a: usize, target_b: usize) -> f64 {
        if target_a.max(target_b) >= self.rows {
            return f64::NAN;
        }
        let is_same = (self.targets[target_a] - self.targets[target_b]).abs() < 0.5;
        let kernel = if is_same { 1.0 } else { 0.25 };
        kernel - 1.0 - self.offsets[target_a] - self.offsets[target_b] + CONSTANT
    }

    /// The sums, pair by pair.
    fn reference(&self, kind: Kind) -> PairSums {
        let group_count = self.groups.last().unwrap() + 1;
        let octet = if let Kind::Target { exchanges: true } = kind { OCTET } else { 1 };
        let weights = octet * octet;
        let in_group = if self.univariate_in_groups { 2 * PLAYERS } else { PLAYERS };
        let class_pairs = if let Kind::Classes { .. } = kind { 3 } else { 1 };
        let mut sums = PairSums {
            rows: vec![0.0; self.rows * 2 * PLAYERS],
            groups: vec![0.0; group_count * (group_count + 1) / 2 * weights * in_group],
            univariate: vec![0.0; class_pairs * PLAYERS],
            squares: vec![0.0; if class_pairs == 3 { 3 * PLAYERS } else { 0 }],
        };
        for a in 0..self.rows {
            for b in a + 1..self.rows {
                let class =
                    |row| usize::from(matches!(kind, Kind::Classes { first, .. } if row >= first));
                if let Kind::Classes { skips_second: true, .. } = kind
                    && class(a) + class(b) == 2
                {
                    continue;
                }
                let (univariate, gamma) = self.pair(a, b);
                let (one, other) = (self.groups[a], self.groups[b]);
                let group_pair: usize =
                    (0..one).map(|group| group_count - group).sum::<usize>() + other - one;
                let pair_weights: Vec<f64> = match kind {
                    Kind::Classes { weighted: true, .. } => {
                        vec![self.row_weights[a] * self.row_weights[b]]
                    }
                    Kind::Classes { .. } => vec![1.0],
                    Kind::Target { .. } => (0..weights)
                        .map(|number| self.weight(a ^ (number / octet), b ^ (number % octet)))
                        .collect(),
                };
                for player in 0..PLAYERS {
                    for (number, weight) in pair_weights.iter().enumerate() {
                        let at = (group_pair * weights + number) * in_group + player;
                        sums.groups[at] += weight * gamma[player];
                        if self.univariate_in_groups {
                            sums.groups[at + PLAYERS] += weight * univariate[player];
                        }
                    }
                    let at = (class(a) + class(b)) * PLAYERS + player;
                    sums.univariate[at] += pair_weights[0] * univariate[player];
                    if let Kind::Classes { .. } = kind {
                        sums.squares[at] += gamma[player].powi(2);
                        let value = pair_weights[0] * gamma[player];
                        sums.rows[(a * 2 + class(b)) * PLAYERS + player] += value;
                        sums.rows[(b * 2 + class(a)) * PLAYERS + player] += value;
                    } else {
                        for row in [a, b] {
                            sums.rows[row * 2 * PLAYERS + player] +=
                                pair_weights[0] * gamma[player];
                            sums.rows[(row * 2 + 1) * PLAYERS + player] += gamma[player];
                        }
                    }
                }
            }
        }
        sums
    }
}

impl Case {
    fn assert_equals_reference(&self, kind: Kind) {
        let (computed, expected) = (self.sums(kind, &Settings::default()), self.reference(kind));
        assert_close("rows", &computed.rows, &expected.rows);
        assert_close("groups", &computed.groups, &expected.groups);
        assert_close("univariate", &computed.univariate, &expected.univariate);
        assert_close("squares", &computed.squares, &expected.squares);
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Classes { first: usize, weighted: bool, skips_second: bool },
    Target { exchanges: bool },
}

impl Kind {
    fn plain(first: usize) -> Self {
        Self::Classes { first, weighted: false, skips_second: false }
    }
}

fn assert_close(name: &str, computed: &[f64], expected: &[f64]) {
    assert_eq!(computed.len(), expected.len(), "{name}");
    let scale = expected.iter().fold(1.0_f64, |scale, value| scale.max(value.abs()));
    for (one, other) in computed.iter().zip(expected) {
        assert!(one.is_finite(), "{name}");
        // Exchanges of an incomplete octet have no meaning.
        let is_close = (one - other).abs() <= 1e-13 * scale;
        assert!(is_close || other.is_nan(), "{name}: {one} instead of {other}");
    }
}

#[test]
fn sums_equal_those_over_pairs_one_by_one() {
    // Chunks of 256 rows, blocks of 16: sizes around both, groups of all sizes.
    for (rows, group_size, first) in [(2, 1, 1), (16, 1, 5), (40, 8, 24), (300, 10, 270)] {
        let new = |with_absent| Case::new(rows, group_size, with_absent);
        let cases = [new(false), new(true), new(false).of_one_term(), new(true).of_one_term()];
        let with_alone = cases.clone().map(|case| Case { univariate_in_groups: true, ..case });
        for case in cases.into_iter().chain(with_alone) {
            let first = first / group_size * group_size;
            for kind in [
                Kind::plain(first),
                Kind::Classes { first, weighted: true, skips_second: false },
                Kind::Classes { first, weighted: false, skips_second: true },
                Kind::Target { exchanges: false },
            ] {
                case.assert_equals_reference(kind);
            }
        }
    }
}

#[test]
fn sums_equal_those_over_pairs_whose_factors_are_scaled() {
    for (kind, univariate_in_groups) in [
        (Kind::plain(24), false),
        (Kind::Classes { first: 24, weighted: true, skips_second: false }, true),
        (Kind::Target { exchanges: true }, true),
    ] {
        let mut case = Case { univariate_in_groups, ..Case::new(40, 8, true) }.of_one_term();
        // Products of the factors are below the range: games are scaled.
        case.absent.as_mut().unwrap()[..3].fill(1e-95);
        case.terms[0].coefficient = 1e285;
        for (row, data) in case.data.chunks_exact_mut(COLUMNS).enumerate() {
            data[..3].fill(30.0 * row as f64);
        }
        case.assert_equals_reference(kind);
    }
}

#[test]
fn sums_with_exchanged_targets_equal_those_over_pairs_one_by_one() {
    // With and without an incomplete octet, in a group of its own or not.
    for (rows, group_size) in [(3, 8), (8, 8), (40, 16), (300, 8), (276, 40), (530, 136)] {
        for (with_absent, univariate_in_groups) in [(false, false), (true, true)] {
            let case = Case { univariate_in_groups, ..Case::new(rows, group_size, with_absent) };
            for case in [case.clone(), case.of_one_term()] {
                case.assert_equals_reference(Kind::Target { exchanges: true });
            }
        }
    }
}

#[test]
fn octets_of_several_groups_are_refused() {
    let refused = Case::new(32, 12, false)
        .try_sums(Kind::Target { exchanges: true }, &Settings::default())
        .unwrap_err();
    assert!(refused.to_string().contains("octets"), "{refused}");
}

#[test]
fn sums_take_no_more_memory_than_their_numbers() {
    let sums = Case::new(200, 10, false).sums(Kind::plain(100), &Settings::default());
    for numbers in [sums.rows, sums.groups, sums.univariate, sums.squares] {
        assert_eq!(numbers.capacity(), numbers.len());
    }
}

#[test]
fn absent_factors_beyond_those_of_kernels_and_weights_of_other_rows_are_refused() {
    let mut case = Case::new(20, 1, true);
    case.absent.as_mut().unwrap()[2] = 1.5;
    let refused = case.try_sums(Kind::plain(10), &Settings::default()).unwrap_err();
    assert!(refused.to_string().contains("absent"), "{refused}");

    let mut case = Case::new(20, 1, false);
    case.row_weights.pop();
    let weighted = Kind::Classes { first: 10, weighted: true, skips_second: false };
    let refused = case.try_sums(weighted, &Settings::default()).unwrap_err();
    assert!(refused.to_string().contains("weights"), "{refused}");
}

#[test]
fn bits_of_pair_sums_do_not_depend_on_threads() {
    let case = Case::new(1500, 104, false);
    for kind in [Kind::plain(728), Kind::Target { exchanges: true }] {
        let one = case.sums(kind, &Settings { threads: 1, ..Settings::default() });
        for threads in [2, 7] {
            assert_eq!(one, case.sums(kind, &Settings { threads, ..Settings::default() }));
        }
    }
}

/// The sums of the rectangles of a problem, in parts of a number of rectangles.
fn parts_of(problem: &PairProblem<'_>, of_part: usize, settings: &Settings) -> Vec<Vec<f64>> {
    let starts = (0..problem.rectangle_count(settings).unwrap()).step_by(of_part);
    let go_on = &mut |_, _| ControlFlow::Continue(());
    starts
        .map(|start| problem.rectangle_sums(start..start + of_part, settings, go_on).unwrap())
        .collect()
}

#[test]
fn rectangles_computed_apart_have_the_bits_of_all_at_once() {
    let mut case = Case::new(600, 8, true);
    case.univariate_in_groups = true;
    let settings = Settings::default();
    for kind in [
        Kind::Classes { first: 304, weighted: true, skips_second: false },
        Kind::Classes { first: 304, weighted: false, skips_second: true },
        Kind::Target { exchanges: false },
        Kind::Target { exchanges: true },
    ] {
        let (problem, expected) = (case.problem(kind), case.sums(kind, &settings));
        for of_part in [1, 3, 1000] {
            let mut parts = parts_of(&problem, of_part, &settings).into_iter();
            let sums = problem.sums_of_parts(|| Ok(parts.next()), &settings).unwrap();
            assert_eq!(sums, expected);
        }
    }
}

#[test]
fn parts_that_are_missing_or_left_over_are_refused() {
    let (case, settings) = (Case::new(2100, 8, true), Settings::default());
    let problem = case.problem(Kind::Target { exchanges: false });
    let parts = parts_of(&problem, 1, &settings);
    assert!(parts.len() > 1);
    let cut = parts[0][1..].to_vec();
    for wrong in [parts[1..].to_vec(), [parts.clone(), parts.clone()].concat(), vec![cut]] {
        let mut wrong = wrong.into_iter();
        let refused = problem.sums_of_parts(|| Ok(wrong.next()), &settings);
        assert!(matches!(refused, Err(Error::Shape { argument: "rectangles", .. })));
    }
}

#[test]
fn mean_factors_equal_those_of_pairs_one_by_one_for_any_threads() {
    let rows = 300;
    let case = Case::new(rows, 1, false);
    let points = Matrix::of_shape(&case.data, [rows, COLUMNS]);
    let means = |threads| {
        let settings = Settings { threads, ..Settings::default() };
        let go_on = &mut |_, _| ControlFlow::Continue(());
        mean_factors(points, &case.terms, &case.players, &settings, go_on).unwrap()
    };
    let mut expected = vec![0.0; 2 * PLAYERS];
    for a in 0..rows {
        for b in a + 1..rows {
            for (term, sums) in case.terms.iter().zip(expected.chunks_mut(PLAYERS)) {
                let factors = case.factors(term, a, b);
                sums.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += factor);
            }
        }
    }
    let pairs = (rows * (rows - 1) / 2) as f64;
    let expected: Vec<_> = expected.into_iter().map(|sum| sum / pairs).collect();
    assert_close("means", &means(1), &expected);
    assert_eq!(means(1), means(3));
}

#[test]
fn row_sums_over_classes_are_explanations_by_indicator_weights() {
    let case = Case::new(200, 200, false);
    let sums = case.sums(Kind::plain(0), &Settings::default());
    let points = Matrix::of_shape(&case.data, [case.rows, COLUMNS]);
    let ones = vec![1.0; case.rows];
    let expansion = Expansion::new(
        points,
        Matrix::of_shape(&ones, [case.rows, 1]),
        &case.terms,
        case.players.clone(),
    );
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let values = expansion
        .unwrap()
        .explain(points, ValueFunction::Neutral, Method::Quadrature, &Settings::default(), go_on)
        .unwrap();
    for (row, values) in values.chunks(PLAYERS).enumerate() {
        assert_close("row", &sums.rows[(row * 2 + 1) * PLAYERS..][..PLAYERS], values);
    }
}

#[test]
fn means_of_gaussian_columns_equal_those_of_pairs_at_any_width() {
    let rows = 100;
    let mut column = Random::new(5).numbers(rows, -3.0, 2.0);
    column[17] = 9.0;
    for length_scale in [1e-3, 0.1, 0.7, 1.0, 1.5, 2.0, 5.0, 30.0, 1e3, 1e9] {
        for offset in [0.0, 1e6] {
            let data: Vec<_> = column.iter().map(|entry| entry + offset).collect();
            let factors = vec![Factor { family: Family::Rbf, column: 0, parameter: length_scale }];
            let found = mean_factors(
                Matrix::of_shape(&data, [rows, 1]),
                &[Term { coefficient: 1.0, factors, series: None }],
                &Players::new(vec![0]),
                &Settings::default(),
                &mut |_, _| ControlFlow::Continue(()),
            );
            let pairs = (0..rows).flat_map(|a| (0..a).map(move |b| (a, b)));
            let kernel = |(a, b): (usize, usize)| {
                (-((data[a] - data[b]) / length_scale).powi(2) / 2.0).exp()
            };
            let expected = pairs.map(kernel).sum::<f64>() / (rows * (rows - 1) / 2) as f64;
            let found = found.unwrap()[0];
            assert!((found - expected).abs() < 1e-14, "{length_scale}: {found}, {expected}");
        }
    }
}

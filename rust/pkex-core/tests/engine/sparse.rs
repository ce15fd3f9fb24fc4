//! Sparse rows have the values that the same rows have as dense ones.

use std::ops::ControlFlow;

use pkex_core::{
    Background, Density, Error, Expansion, Factor, Family, Level, Matrix, Measure, Method, Players,
    Settings, SparseExpansion, SparseGame, SparseMatrix, Summation, Term, ValueFunction,
};

use crate::random::Random;

/// A sparse matrix, and the same dense.
struct Rows {
    dense: Vec<f64>,
    count: usize,
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Rows {
    /// Rows of which a share of the entries is not zero: none in row 0, all in row 1.
    fn new(random: &mut Random, [rows, columns]: [usize; 2], share: f64) -> Self {
        let mut dense = vec![0.0; rows * columns];
        for (place, entry) in dense.iter_mut().enumerate() {
            let is_there = match place / columns {
                0 => false,
                1 => true,
                _ => random.next() < share,
            };
            if is_there {
                *entry = 3.0 * random.next() - 1.0;
            }
        }
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in dense.chunks(columns) {
            for (column, &value) in row.iter().enumerate() {
                if value != 0.0 {
                    indices.push(column);
                    values.push(value);
                }
            }
            starts.push(values.len());
        }
        Self { dense, count: rows, columns, starts, indices, values }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix::of_shape(&self.dense, [self.count, self.columns])
    }

    fn sparse(&self) -> SparseMatrix<'_> {
        SparseMatrix::new(self.columns, &self.starts, &self.indices, &self.values).unwrap()
    }
}

/// A problem with two outputs and a kernel of two terms.
struct Problem {
    points: Rows,
    x: Rows,
    background: Rows,
    weights: Vec<f64>,
    coefficients: Vec<f64>,
    terms: Vec<Term>,
}

impl Problem {
    fn new([points, columns]: [usize; 2], share: f64, families: [Family; 2]) -> Self {
        let mut random = Random::new(7 * points as u64 + columns as u64);
        let mut rows = |count| Rows::new(&mut random, [count, columns], share);
        let (points, x, background) = (rows(points), rows(6), rows(5));
        let weights = vec![0.1, 0.3, 0.2, 0.15, 0.25];
        let coefficients = random.numbers(points.count * 2, -1.0, 1.0);
        let term = |coefficient, family, width: f64| {
            let parameter = |column| width * (1.0 + 0.01 * column as f64);
            let factor = |column| Factor { family, column, parameter: parameter(column) };
            Term { coefficient, factors: (0..columns).map(factor).collect(), series: None }
        };
        let terms = vec![term(0.7, families[0], 1.5), term(1.3, families[1], 4.0)];
        Self { points, x, background, weights, coefficients, terms }
    }

    fn coefficients(&self) -> Matrix<'_> {
        Matrix::of_shape(&self.coefficients, [self.points.count, 2])
    }

    fn games(&self) -> [(SparseGame<'_>, ValueFunction<'_>); 4] {
        let (rows, weights) = (self.background.sparse(), self.weights.as_slice());
        let background = Background { rows: self.background.matrix(), weights };
        [
            (SparseGame::Neutral, ValueFunction::Neutral),
            (SparseGame::Interventional(rows, weights), ValueFunction::Interventional(background)),
            (SparseGame::Marginal(rows, weights), ValueFunction::Marginal(background)),
            (SparseGame::MarginalOfPoints, ValueFunction::MarginalOfPoints),
        ]
    }

    fn sparse(&self, settings: &Settings) -> SparseExpansion {
        SparseExpansion::new(self.points.sparse(), self.coefficients(), &self.terms, settings)
            .unwrap()
    }

    fn dense(&self) -> Expansion {
        let players = Players::columns(self.points.columns);
        Expansion::new(self.points.matrix(), self.coefficients(), &self.terms, players).unwrap()
    }
}

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The largest difference, relative to the largest number.
fn distance(ours: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(ours.len(), expected.len());
    let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let differences = ours.iter().zip(expected).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max) / size
}

const FAMILIES: [[Family; 2]; 3] = [
    [Family::Rbf, Family::Laplacian],
    [Family::Cauchy, Family::Matern32],
    [Family::Matern52, Family::Periodic { period: 7.0 }],
];

#[test]
fn values_predictions_and_bases_are_those_of_dense_rows() {
    let settings = Settings::default();
    for (families, shape, share) in [
        (FAMILIES[0], [50, 30], 0.1),
        (FAMILIES[1], [33, 60], 0.05),
        (FAMILIES[2], [17, 12], 0.4),
        (FAMILIES[0], [3, 5], 0.0),
    ] {
        let problem = Problem::new(shape, share, families);
        let (sparse, dense) = (problem.sparse(&settings), problem.dense());
        let (x, x_dense) = (problem.x.sparse(), problem.x.matrix());
        let predicted = sparse.predict(x, &settings, &mut go_on).unwrap();
        let expected = dense.predict(x_dense, &settings, &mut go_on).unwrap();
        assert!(distance(&predicted, &expected) < 1e-13);
        for (game, of_dense) in problem.games() {
            let values = sparse.explain(x, game, &settings, &mut go_on).unwrap();
            let method = Method::Quadrature;
            let expected = dense.explain(x_dense, of_dense, method, &settings, &mut go_on).unwrap();
            let error = distance(&values, &expected);
            assert!(error < 1e-12, "{game:?}: {error:e}");
            if !matches!(game, SparseGame::Interventional(..)) {
                let base = sparse.base(game, &settings, &mut go_on).unwrap();
                let expected = dense.base(of_dense, &settings, &mut go_on).unwrap();
                assert!(distance(&base, &expected) < 1e-13, "{game:?}");
            }
        }
    }
}

/// The pairs of selected columns and of each with all others, in a row of all pairs of columns.
fn selected_of(pairs: &[f64], selected: &[usize], columns: usize) -> Vec<f64> {
    let place = |i: usize, j: usize| {
        let (i, j) = (i.min(j), i.max(j));
        i * (2 * columns - i - 1) / 2 + j - i - 1
    };
    let mut found = Vec::new();
    for (number, &one) in selected.iter().enumerate() {
        let sum = |others: &mut dyn Iterator<Item = usize>| {
            let mut sums = [0.0; 2];
            others
                .for_each(|other| (0..2).for_each(|o| sums[o] += pairs[2 * place(one, other) + o]));
            sums
        };
        for &other in &selected[number + 1..] {
            found.extend(sum(&mut std::iter::once(other)));
        }
        found.extend(sum(&mut (0..columns).filter(|other| !selected.contains(other))));
    }
    found
}

/// Compares the pairs of selected columns with those of all pairs of dense rows.
fn assert_pairs_are_those_of_dense_rows(
    problem: &Problem,
    selected: &[usize],
    settings: &Settings,
) {
    let (sparse, dense, columns) = (problem.sparse(settings), problem.dense(), problem.x.columns);
    for (game, of_dense) in problem.games() {
        let x = problem.x.sparse();
        let found = sparse.selected_pairs(x, selected, game, settings, &mut go_on).unwrap();
        let measure = Measure::Density(Density { scale: 1.0, powers: (0, 0), degree: 0 });
        let x = problem.x.matrix();
        let all = dense.interactions(x, of_dense, (2, &measure), settings, &mut go_on).unwrap();
        let rows = all.chunks(columns * (columns - 1));
        let expected: Vec<f64> = rows.flat_map(|row| selected_of(row, selected, columns)).collect();
        let error = distance(&found, &expected);
        assert!(error < 1e-12, "{game:?}: {error:e}");
    }
}

#[test]
fn pairs_of_selected_columns_are_those_of_dense_rows() {
    let plain = Settings { summation: Summation::Plain, ..Settings::default() };
    for (families, shape, share, settings) in [
        (FAMILIES[0], [50, 30], 0.1, Settings::default()),
        (FAMILIES[1], [33, 60], 0.05, Settings::default()),
        (FAMILIES[2], [17, 12], 0.4, plain),
        (FAMILIES[0], [3, 5], 0.0, Settings::default()),
    ] {
        let problem = Problem::new(shape, share, families);
        for selected in [&[3, 0, 4][..], &[2], &[0, 1, 2, 3, 4]] {
            assert_pairs_are_those_of_dense_rows(&problem, selected, &settings);
        }
    }
}

#[test]
fn pairs_do_not_depend_on_threads_levels_or_the_other_rows() {
    let problem = Problem::new([70, 40], 0.1, FAMILIES[0]);
    let (one, two) = (Settings::default(), Settings { threads: 2, ..Settings::default() });
    let selected = [7, 3, 30];
    for (game, _) in problem.games() {
        let of = |settings: &Settings, x| {
            let expansion = problem.sparse(settings);
            expansion.selected_pairs(x, &selected, game, settings, &mut go_on).unwrap()
        };
        let pairs = of(&one, problem.x.sparse());
        assert_eq!(pairs, of(&two, problem.x.sparse()));
        let fused = |level: &&Level| level.is_available() && **level != Level::Portable;
        for &level in Level::ALL.iter().filter(fused) {
            if Level::best() != Level::Portable {
                assert_eq!(pairs, of(&Settings { level, ..one }, problem.x.sparse()));
            }
        }
        let Rows { starts, indices, values: entries, columns, .. } = &problem.x;
        let last = starts[5]..starts[6];
        let starts = [0, last.len()];
        let row = SparseMatrix::new(*columns, &starts, &indices[last.clone()], &entries[last]);
        assert_eq!(of(&one, row.unwrap()), pairs[5 * 6 * 2..]);
    }
}

#[test]
fn columns_that_do_not_exist_or_occur_twice_are_refused() {
    let problem = Problem::new([5, 4], 0.5, FAMILIES[0]);
    let settings = Settings::default();
    let expansion = problem.sparse(&settings);
    for selected in [&[4][..], &[1, 1]] {
        let (x, game) = (problem.x.sparse(), SparseGame::Neutral);
        let outcome = expansion.selected_pairs(x, selected, game, &settings, &mut go_on);
        assert!(matches!(outcome, Err(Error::Shape { argument: "selected", .. })));
    }
}

#[test]
fn values_do_not_depend_on_threads_or_on_the_other_rows() {
    let problem = Problem::new([70, 40], 0.1, FAMILIES[0]);
    let (one, two) = (Settings::default(), Settings { threads: 2, ..Settings::default() });
    let expansion = problem.sparse(&one);
    for (game, _) in problem.games() {
        let values = expansion.explain(problem.x.sparse(), game, &one, &mut go_on).unwrap();
        assert_eq!(values, expansion.explain(problem.x.sparse(), game, &two, &mut go_on).unwrap());
        let Rows { starts, indices, values: entries, columns, .. } = &problem.x;
        let last = starts[5]..starts[6];
        let starts = [0, last.len()];
        let row = SparseMatrix::new(*columns, &starts, &indices[last.clone()], &entries[last]);
        let alone = expansion.explain(row.unwrap(), game, &one, &mut go_on).unwrap();
        assert_eq!(alone, values[5 * columns * 2..]);
    }
}

#[test]
fn values_do_not_depend_on_the_width_of_fused_levels() {
    let problem = Problem::new([70, 40], 0.1, FAMILIES[0]);
    let is_fused = |level: &Level| level.is_available() && *level != Level::Portable;
    let fused: Vec<Level> = Level::ALL.iter().copied().filter(is_fused).collect();
    for (game, _) in problem.games() {
        let on = |level| {
            let settings = Settings { level, ..Settings::default() };
            let expansion = problem.sparse(&settings);
            expansion.explain(problem.x.sparse(), game, &settings, &mut go_on).unwrap()
        };
        for pair in fused.windows(2) {
            assert_eq!(on(pair[0]), on(pair[1]), "{game:?}, {pair:?}");
        }
    }
}

#[test]
fn long_preparations_and_calls_stop_when_they_are_asked_to() {
    let problem = Problem::new([20, 10], 0.1, FAMILIES[0]);
    let settings = Settings { threads: 2, ..Settings::default() };
    let mut terms = problem.terms.clone();
    let dense = Rows::new(&mut Random::new(1), [6000, 10], 1.0);
    let coefficients = vec![1.0; 6000];
    terms.truncate(1);
    let coefficients = Matrix::of_shape(&coefficients, [6000, 1]);
    let expansion = SparseExpansion::new(dense.sparse(), coefficients, &terms, &settings).unwrap();
    let mut stop = |_: usize, _: usize| ControlFlow::Break(());
    let game = SparseGame::MarginalOfPoints;
    let outcome = expansion.base(game, &settings, &mut stop);
    assert_eq!(outcome, Err(Error::Interrupted));
    let outcome = expansion.explain(dense.sparse(), SparseGame::Neutral, &settings, &mut stop);
    assert_eq!(outcome, Err(Error::Interrupted));
}

#[test]
fn plain_sums_are_those_of_dense_rows_too() {
    let settings = Settings { summation: Summation::Plain, ..Settings::default() };
    let problem = Problem::new([50, 30], 0.1, FAMILIES[0]);
    let (sparse, dense) = (problem.sparse(&settings), problem.dense());
    for (game, of_dense) in problem.games() {
        let values = sparse.explain(problem.x.sparse(), game, &settings, &mut go_on).unwrap();
        let (x, method) = (problem.x.matrix(), Method::Quadrature);
        let expected = dense.explain(x, of_dense, method, &settings, &mut go_on).unwrap();
        assert!(distance(&values, &expected) < 1e-12, "{game:?}");
    }
}

#[test]
fn factors_below_the_range_do_not_lose_the_values_of_equal_entries() {
    // k(60, 0) is exp(−1800), but the points with an entry 60 have k = 1.
    let family = Family::Rbf;
    let mut problem = Problem::new([20, 8], 0.2, [family, family]);
    for rows in [&mut problem.points, &mut problem.x, &mut problem.background] {
        for (entry, column) in rows.values.iter_mut().zip(&rows.indices) {
            if column % 2 == 0 {
                *entry = 60.0;
            }
        }
        for row in 0..rows.count {
            for at in rows.starts[row]..rows.starts[row + 1] {
                rows.dense[row * rows.columns + rows.indices[at]] = rows.values[at];
            }
        }
    }
    for term in &mut problem.terms {
        term.factors.iter_mut().for_each(|factor| factor.parameter = 1.0);
    }
    let settings = Settings::default();
    let (sparse, dense) = (problem.sparse(&settings), problem.dense());
    for (game, of_dense) in problem.games() {
        let values = sparse.explain(problem.x.sparse(), game, &settings, &mut go_on).unwrap();
        let (x, method) = (problem.x.matrix(), Method::Quadrature);
        let expected = dense.explain(x, of_dense, method, &settings, &mut go_on).unwrap();
        let error = distance(&values, &expected);
        assert!(error < 1e-12, "{game:?}: {error:e}");
    }
    assert_pairs_are_those_of_dense_rows(&problem, &[4, 1], &settings);
}

#[test]
fn more_columns_than_there_is_memory_for_are_refused() {
    let points = SparseMatrix::new(usize::MAX / 2, &[0, 1], &[3], &[1.0]).unwrap();
    let (one, settings) = ([1.0], Settings::default());
    let packed = SparseExpansion::new(points, Matrix::of_shape(&one, [1, 1]), &[], &settings);
    assert!(matches!(packed, Err(Error::Memory { .. })));
}

#[test]
fn matrices_of_unordered_columns_are_refused() {
    assert!(SparseMatrix::new(3, &[0, 2], &[1, 0], &[1.0, 2.0]).is_err());
    assert!(SparseMatrix::new(3, &[0, 2], &[1, 3], &[1.0, 2.0]).is_err());
    assert!(SparseMatrix::new(3, &[0, 1], &[1, 2], &[1.0, 2.0]).is_err());
    assert!(SparseMatrix::new(3, &[0, 2], &[1, 2], &[1.0, 2.0]).is_ok());
}

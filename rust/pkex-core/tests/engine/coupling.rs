//! Coupled probabilities, compared with libsvm's algorithm row by row, and their bits.

use std::ops::ControlFlow;

use pkex_core::{Error, Level, Matrix, PairSigmoids, Settings};

use crate::random::Random;

/// Not a multiple of the lanes, and more than a task.
const ROWS: usize = 1500;

/// Decision values of the pairs of some classes, and sigmoids of these.
fn problem(classes: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut random = Random::new(classes as u64);
    let pairs = classes * (classes - 1) / 2;
    // The last rows have probabilities beyond libsvm's bounds.
    let mut values = random.numbers(ROWS * pairs, -3.0, 3.0);
    values[(ROWS - 9) * pairs..].iter_mut().for_each(|value| *value *= 1e3);
    (values, random.numbers(pairs, -2.0, 0.5), random.numbers(pairs, -1.0, 1.0))
}

fn coupled(classes: usize, rows: std::ops::Range<usize>, settings: &Settings) -> Vec<f64> {
    let (values, slopes, offsets) = problem(classes);
    let pairs = slopes.len();
    let values = &values[rows.start * pairs..rows.end * pairs];
    let sigmoids = PairSigmoids { slopes: &slopes, offsets: &offsets };
    let values = Matrix::of_shape(values, [rows.len(), pairs]);
    sigmoids.couple(values, settings, &mut |_, _| ControlFlow::Continue(())).unwrap()
}

/// libsvm's `multiclass_probability`, for probabilities r of pairs.
fn multiclass_probability(k: usize, r: &[Vec<f64>]) -> Vec<f64> {
    let mut q = vec![vec![0.0; k]; k];
    for t in 0..k {
        for j in (0..k).filter(|&j| j != t) {
            q[t][t] += r[j][t] * r[j][t];
            q[t][j] = -r[j][t] * r[t][j];
        }
    }
    let mut p = vec![1.0 / k as f64; k];
    for _ in 0..k.max(100) {
        let mut products: Vec<f64> =
            q.iter().map(|row| row.iter().zip(&p).map(|(q, p)| q * p).sum()).collect();
        let mut form: f64 = p.iter().zip(&products).map(|(p, product)| p * product).sum();
        if products.iter().all(|product| (product - form).abs() < 0.005 / k as f64) {
            break;
        }
        for t in 0..k {
            let change = (form - products[t]) / q[t][t];
            p[t] += change;
            form = (form + change * (change * q[t][t] + 2.0 * products[t]))
                / (1.0 + change)
                / (1.0 + change);
            for j in 0..k {
                products[j] = (products[j] + change * q[t][j]) / (1.0 + change);
                p[j] /= 1.0 + change;
            }
        }
    }
    p
}

#[test]
fn probabilities_are_those_of_libsvm() {
    for classes in [2, 3, 4, 5, 8] {
        let (values, slopes, offsets) = problem(classes);
        let found = coupled(classes, 0..ROWS, &Settings::default());
        for (row, found) in values.chunks(slopes.len()).zip(found.chunks(classes)) {
            let mut r = vec![vec![0.0; classes]; classes];
            let pairs = (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j)));
            for (pair, (i, j)) in pairs.enumerate() {
                let share = 1.0 / (1.0 + (slopes[pair] * row[pair] + offsets[pair]).exp());
                r[i][j] = share.clamp(1e-7, 1.0 - 1e-7);
                r[j][i] = 1.0 - r[i][j];
            }
            for (found, expected) in found.iter().zip(multiclass_probability(classes, &r)) {
                assert!((found - expected).abs() < 1e-13, "{classes}: {found} {expected}");
            }
        }
    }
}

#[test]
fn probabilities_have_equal_bits_for_any_threads_splits_and_levels() {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for classes in [2, 3, 4, 6] {
        let one = coupled(classes, 0..ROWS, &Settings::default());
        for threads in [2, 5] {
            let settings = Settings { threads, ..Settings::default() };
            assert_eq!(bits(&coupled(classes, 0..ROWS, &settings)), bits(&one));
        }
        for &level in Level::ALL.iter().filter(|level| level.is_available()) {
            let settings = Settings { level, ..Settings::default() };
            let found = coupled(classes, 0..ROWS, &settings);
            if level.name() == "portable" {
                assert!(found.iter().zip(&one).all(|(a, b)| (a - b).abs() < 1e-13));
            } else {
                assert_eq!(bits(&found), bits(&one), "{}", level.name());
            }
        }
        let parts = [0..1, 1..700, 700..ROWS];
        let parts = parts.map(|rows| coupled(classes, rows, &Settings::default()));
        assert_eq!(bits(&parts.concat()), bits(&one));
    }
}

#[test]
fn numbers_that_are_not_those_of_pairs_are_errors() {
    let couple = |slopes: &[f64], offsets: &[f64], columns: usize| {
        let values = vec![0.0; columns];
        let values = Matrix::of_shape(&values, [1, columns]);
        let go_on = &mut |_, _| ControlFlow::Continue(());
        PairSigmoids { slopes, offsets }.couple(values, &Settings::default(), go_on)
    };
    assert_eq!(couple(&[0.0], &[0.0], 1), Ok(vec![0.5, 0.5]));
    for (slopes, offsets, columns) in [(2, 2, 2), (0, 0, 0), (3, 1, 3), (3, 3, 1)] {
        let outcome = couple(&vec![1.0; slopes], &vec![0.0; offsets], columns);
        assert!(matches!(outcome, Err(Error::Shape { .. })), "{slopes} {offsets} {columns}");
    }
}

//! Sums over pairs with permuted weights equal sums computed pair by pair.

use std::ops::ControlFlow;

use pkex_core::{Error, Matrix, Settings, permuted_sums};

use crate::random::Random;

const WIDTH: usize = 3;

/// Symmetric weights, values of the pairs of the triangle, and orders of some rows.
struct Case {
    rows: usize,
    weights: Vec<f64>,
    values: Vec<f64>,
    orders: Vec<usize>,
}

impl Case {
    fn new(rows: usize, permutations: usize) -> Self {
        let mut random = Random::new(rows as u64);
        let mut weights = random.numbers(rows * rows, -1.0, 1.0);
        for a in 0..rows {
            for b in 0..a {
                weights[a * rows + b] = weights[b * rows + a];
            }
        }
        let values = random.numbers(rows * (rows + 1) / 2 * WIDTH, -1.0, 1.0);
        let order = |_| {
            let mut order: Vec<_> = (0..rows).map(|row| (random.next(), row)).collect();
            order.sort_by(|one, other| one.0.total_cmp(&other.0));
            order.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
        };
        let orders = (0..permutations).flat_map(order).collect();
        Self { rows, weights, values, orders }
    }

    fn sums(&self, threads: usize) -> Result<Vec<f64>, Error> {
        permuted_sums(
            Matrix::of_shape(&self.weights, [self.rows, self.rows]),
            Matrix::of_shape(&self.values, [self.values.len() / WIDTH, WIDTH]),
            &self.orders,
            &Settings { threads, ..Settings::default() },
            &mut |_, _| ControlFlow::Continue(()),
        )
    }

    fn reference(&self) -> Vec<f64> {
        let mut sums = Vec::new();
        for order in self.orders.chunks(self.rows) {
            let mut of_order = [0.0; WIDTH];
            let mut pair = 0;
            for a in 0..self.rows {
                for b in a..self.rows {
                    for (value, sum) in of_order.iter_mut().enumerate().filter(|_| a < b) {
                        *sum += self.weights[order[a] * self.rows + order[b]]
                            * self.values[pair * WIDTH + value];
                    }
                    pair += 1;
                }
            }
            sums.extend(of_order);
        }
        sums
    }
}

#[test]
fn permuted_sums_equal_those_over_pairs_one_by_one_for_any_threads() {
    // Sizes around blocks of 16 rows, and 4 and 32 permutations.
    for (rows, permutations) in [(1, 2), (2, 5), (16, 4), (17, 33), (50, 70), (130, 3)] {
        let case = Case::new(rows, permutations);
        let (sums, expected) = (case.sums(1).unwrap(), case.reference());
        assert_eq!(sums.len(), expected.len());
        for (sum, expected) in sums.iter().zip(&expected) {
            assert!((sum - expected).abs() <= 1e-12, "{rows} rows: {sum} instead of {expected}");
        }
        assert_eq!(sums, case.sums(3).unwrap());
    }
}

#[test]
fn orders_of_other_rows_and_values_of_other_pairs_are_refused() {
    let mut case = Case::new(5, 2);
    case.orders[3] = 5;
    assert!(case.sums(1).unwrap_err().to_string().contains("orders"));
    let mut case = Case::new(5, 2);
    case.orders.pop();
    assert!(case.sums(1).unwrap_err().to_string().contains("orders"));
    let mut case = Case::new(5, 2);
    case.values.truncate(10 * WIDTH);
    assert!(case.sums(1).unwrap_err().to_string().contains("values"));
}

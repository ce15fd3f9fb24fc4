//! Gauss rules of samples: few numbers with weights, whose sums of polynomials are those of many.
//!
//! The rule of m nodes has the sums of all polynomials of degree below 2m. Its nodes are the
//! eigenvalues of the Jacobi matrix of the sample, from Lanczos' algorithm (Gautschi 2004,
//! sections 2.2.3 and 3.1.1).

use crate::error::Error;
use crate::memory::{INPUT, Memory, saturating_product};

/// A number of a sample or a node of a rule, `center` + `offset`, and its weight, which is positive.
/// A number of a sample has offset 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    pub center: f64,
    /// Unlike the sum, it has all digits if the numbers have a large mean.
    pub offset: f64,
    pub weight: f64,
}

impl Node {
    /// The distance from a number, without the rounding error of the sum.
    pub fn from(&self, origin: f64) -> f64 {
        (self.center - origin) + self.offset
    }
}

/// The numbers of a sample in ascending order, equal ones as one; those of weight 0 are left out.
pub(crate) fn distinct(mut sample: Vec<Node>) -> Vec<Node> {
    sample.retain(|entry| entry.weight != 0.0);
    sample.sort_by(|one, other| one.center.total_cmp(&other.center));
    sample.dedup_by(|next, previous| {
        let is_same = next.center - previous.center == 0.0;
        if is_same {
            previous.weight += next.weight;
        }
        is_same
    });
    sample
}

/// Appends the Gauss rule of at most `count` nodes, ascending, of a sample in ascending order: if it
/// has no more than `count` numbers, these themselves.
pub(crate) fn add_gauss_rule(
    sample: &[Node],
    count: usize,
    rule: &mut Vec<Node>,
) -> Result<(), Error> {
    let (Some(first), Some(last)) = (sample.first(), sample.last()) else { return Ok(()) };
    if sample.len() <= count {
        rule.extend_from_slice(sample);
        return Ok(());
    }
    let origin = first.center;
    let (low, high) = (first.from(origin), last.from(origin));
    let (middle, radius) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
    let total: f64 = sample.iter().map(|entry| entry.weight).sum();
    let mut jacobi = Jacobi::of(sample, count, |entry| (entry.from(origin) - middle) / radius)?;
    jacobi.diagonalize();
    let start = rule.len();
    // The weights are the squares of the first entries of the eigenvectors.
    rule.extend(jacobi.diagonal.iter().zip(&jacobi.first).map(|(x, share)| Node {
        center: origin,
        offset: middle + radius * x,
        weight: total * share * share,
    }));
    rule[start..].sort_by(|one, other| one.offset.total_cmp(&other.offset));
    Ok(())
}

/// A symmetric tridiagonal matrix, and the first entries of its eigenvectors.
struct Jacobi {
    diagonal: Vec<f64>,
    /// The entries next to the diagonal, and a last 0.
    off_diagonal: Vec<f64>,
    first: Vec<f64>,
}

impl Jacobi {
    /// The Jacobi matrix of a sample whose numbers are scaled to [−1, 1], with at most `count` rows.
    fn of(sample: &[Node], count: usize, scale: impl Fn(&Node) -> f64) -> Result<Self, Error> {
        let (memory, length) = (Memory::default(), sample.len());
        let mut vectors = memory.filled(saturating_product([count, length]), 0.0, INPUT)?;
        let mut next = memory.filled(length, 0.0, INPUT)?;
        for (value, entry) in next.iter_mut().zip(sample) {
            *value = entry.weight.sqrt();
        }
        let mut norm = normalize(&mut next);
        let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());
        for (start, row) in (0..count).map(|row| (row * length, row)) {
            // A sample of fewer numbers, up to rounding, has a smaller matrix.
            if row > 0 && norm <= f64::EPSILON {
                break;
            }
            off_diagonal.push(norm);
            vectors[start..start + length].copy_from_slice(&next);
            for (value, entry) in next.iter_mut().zip(sample) {
                *value *= scale(entry);
            }
            diagonal.push(dot(&next, &vectors[start..start + length]));
            // Twice, so that vectors stay orthogonal up to rounding.
            for _ in 0..2 {
                for earlier in vectors[..start + length].chunks(length) {
                    let part = dot(&next, earlier);
                    next.iter_mut()
                        .zip(earlier)
                        .for_each(|(value, component)| *value -= part * component);
                }
            }
            norm = normalize(&mut next);
        }
        // The first is the norm of the start.
        off_diagonal.rotate_left(1);
        let last = off_diagonal.len() - 1;
        off_diagonal[last] = 0.0;
        let mut first = vec![0.0; diagonal.len()];
        first[0] = 1.0;
        Ok(Self { diagonal, off_diagonal, first })
    }

    /// Replaces the diagonal by the eigenvalues, by implicit QL steps (Golub and Welsch 1969).
    fn diagonalize(&mut self) {
        let last = self.diagonal.len() - 1;
        for low in 0..last {
            // Convergence is cubic: some two steps for each eigenvalue.
            for _ in 0..MAX_STEPS {
                let high = (low..last).find(|&row| self.is_split_after(row)).unwrap_or(last);
                if high == low {
                    break;
                }
                self.step(low, high);
            }
        }
    }

    fn is_split_after(&self, row: usize) -> bool {
        let size = self.diagonal[row].abs() + self.diagonal[row + 1].abs();
        self.off_diagonal[row].abs() <= f64::EPSILON * 0.25 * size.max(f64::EPSILON)
    }

    /// A QL step with Wilkinson's shift on the rows from `low` to `high`.
    fn step(&mut self, low: usize, high: usize) {
        let Self { diagonal, off_diagonal, first } = self;
        let half = (diagonal[low + 1] - diagonal[low]) / (2.0 * off_diagonal[low]);
        let root = (half * half + 1.0).sqrt();
        let shift = diagonal[low] - off_diagonal[low] / (half + root.copysign(half));
        let (mut g, mut sine, mut cosine, mut correction) = (diagonal[high] - shift, 1.0, 1.0, 0.0);
        for row in (low..high).rev() {
            let (f, b) = (sine * off_diagonal[row], cosine * off_diagonal[row]);
            let r = (f * f + g * g).sqrt();
            off_diagonal[row + 1] = r;
            if r == 0.0 {
                diagonal[row + 1] -= correction;
                off_diagonal[high] = 0.0;
                return;
            }
            (sine, cosine) = (f / r, g / r);
            let base = diagonal[row + 1] - correction;
            let s = (diagonal[row] - base) * sine + 2.0 * cosine * b;
            correction = sine * s;
            diagonal[row + 1] = base + correction;
            g = cosine * s - b;
            let component = first[row + 1];
            first[row + 1] = sine * first[row] + cosine * component;
            first[row] = cosine * first[row] - sine * component;
        }
        diagonal[low] -= correction;
        off_diagonal[low] = g;
        off_diagonal[high] = 0.0;
    }
}

/// Maximum steps for an eigenvalue.
const MAX_STEPS: usize = 60;

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Divides a vector by its norm, which is returned; 0 stays 0.
fn normalize(vector: &mut [f64]) -> f64 {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 {
        for value in vector {
            *value /= norm;
        }
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(entries: impl Iterator<Item = f64>) -> Vec<Node> {
        let weight = |i: usize| 0.5 + (i % 3) as f64;
        let entries = entries.enumerate();
        let node = |(i, center): (usize, f64)| Node { center, offset: 0.0, weight: weight(i) };
        distinct(entries.map(node).collect())
    }

    #[test]
    fn rules_have_the_sums_of_polynomials_of_their_sample() {
        let even = sample((0..500).map(|i| f64::from(i) / 250.0 - 1.0));
        let shifted = sample((0..500).map(|i| 1e9 + f64::from(i) / 1024.0));
        // Its vectors lose orthogonality fast.
        let skewed = sample((0..300).map(|i| (f64::from(i) / 5.0).exp()));
        let clusters = sample((0..200).map(|i| f64::from(i % 5) + 1e-9 * f64::from(i)));
        for sample in [even, shifted, skewed, clusters] {
            let origin = sample[0].center;
            let range = sample[sample.len() - 1].center - origin;
            let total: f64 = sample.iter().map(|entry| entry.weight).sum();
            for count in [1_u16, 2, 3, 5, 10, 14, 20, 32] {
                let mut rule = Vec::new();
                add_gauss_rule(&sample, count.into(), &mut rule).unwrap();
                assert!(rule.len() <= count.into());
                assert!(rule.iter().all(|node| node.weight > 0.0 && node.from(origin) >= 0.0));
                for degree in 0..2 * count {
                    // Chebyshev's polynomial, with derivatives up to the square of the degree.
                    let degree = f64::from(degree);
                    let value = |node: &Node| {
                        let t = (2.0 * node.from(origin) / range - 1.0).clamp(-1.0, 1.0);
                        node.weight * (degree * t.acos()).cos()
                    };
                    let sum = |of: &[Node]| of.iter().map(value).sum::<f64>();
                    let error = (sum(&rule) - sum(&sample)).abs() / total;
                    let limit = 1e-15 * (10.0 + degree * degree);
                    assert!(error < limit, "{count} nodes, degree {degree}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn small_samples_are_their_own_rules() {
        let entries = sample([2.0, -1.0, 2.0, 0.5, -0.0, 0.0].into_iter());
        let centers: Vec<_> = entries.iter().map(|entry| entry.center.to_bits()).collect();
        assert_eq!(centers, [-1.0, -0.0, 0.5, 2.0].map(f64::to_bits));
        let mut rule = Vec::new();
        add_gauss_rule(&entries, 4, &mut rule).unwrap();
        assert_eq!(rule, entries);
        add_gauss_rule(&[], 4, &mut rule).unwrap();
        assert_eq!(rule, entries);
    }
}

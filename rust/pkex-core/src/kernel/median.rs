//! The median distance between the entries of a column.

use crate::error::Error;
use crate::memory::{INPUT, Memory};

/// The median of |x − y| over all pairs of entries, or over the pairs that differ if that is 0. If
/// the number of pairs is even, it is the mean of the two distances in the middle. It is 0 if no
/// two entries differ.
///
/// The median is found by bisection over the numbers of double precision, counting the pairs within
/// a distance: O(n log n) steps, without a list of pairs.
///
/// # Errors
/// If entries are not finite, or memory is missing.
pub fn median_distance(entries: &[f64]) -> Result<f64, Error> {
    if let Some(entry) = entries.iter().find(|entry| !entry.is_finite()) {
        let (argument, requirement) = ("entries", "finite numbers");
        return Err(Error::Domain { argument, requirement, got: entry.to_string() });
    }
    let mut sorted_entries = Vec::new();
    Memory::default().reserve(&mut sorted_entries, entries.len(), INPUT)?;
    sorted_entries.extend_from_slice(entries);
    sorted_entries.sort_unstable_by(f64::total_cmp);
    let (pairs, ties) =
        (pairs_within(&sorted_entries, f64::INFINITY), pairs_within(&sorted_entries, 0.0));
    if pairs == ties {
        return Ok(0.0);
    }
    let median = median_beyond(&sorted_entries, 0, pairs);
    Ok(if median > 0.0 { median } else { median_beyond(&sorted_entries, ties, pairs) })
}

/// The median of the distances whose ranks are from `first` to below `end`.
fn median_beyond(sorted_entries: &[f64], first: usize, end: usize) -> f64 {
    let middle = [first + (end - first - 1) / 2, first + (end - first) / 2];
    let [low, high] = middle.map(|rank| distance_of_rank(sorted_entries, rank));
    low / 2.0 + high / 2.0
}

/// The distance of that rank among all distances.
fn distance_of_rank(sorted_entries: &[f64], rank: usize) -> f64 {
    // Numbers that are not negative have the order of their bits.
    let (mut low, mut high) = (0, f64::INFINITY.to_bits());
    while low < high {
        let middle = low.midpoint(high);
        if pairs_within(sorted_entries, f64::from_bits(middle)) > rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    f64::from_bits(high)
}

/// The number of pairs of ascending entries within a distance.
fn pairs_within(sorted_entries: &[f64], distance: f64) -> usize {
    let (mut count, mut end) = (0, 0);
    for (place, entry) in sorted_entries.iter().enumerate() {
        while end < sorted_entries.len() && sorted_entries[end] - entry <= distance {
            end += 1;
        }
        count += end - place - 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median from the list of all distances, with or without zeros.
    fn expected(entries: &[f64], with_ties: bool) -> f64 {
        let pairs = entries.iter().enumerate();
        let distances = pairs.flat_map(|(i, x)| entries[..i].iter().map(move |y| (x - y).abs()));
        let mut distances: Vec<f64> =
            distances.filter(|&distance| with_ties || distance > 0.0).collect();
        distances.sort_unstable_by(f64::total_cmp);
        f64::midpoint(distances[(distances.len() - 1) / 2], distances[distances.len() / 2])
    }

    fn assert_median(entries: &[f64], expected: f64) {
        assert_eq!(median_distance(entries).unwrap().to_bits(), expected.to_bits(), "{entries:?}");
    }

    #[test]
    fn medians_are_those_of_the_list_of_distances() {
        let spread = |n: i32| (0..n).map(|i| 1e6 + f64::from(i * i % 97) / 7.0).collect();
        let samples: [Vec<f64>; 5] = [
            vec![1.0, 3.0],
            vec![5.0, -1.0, 2.5],
            spread(40),
            spread(97),
            vec![-1e308, 1e-308, 0.0],
        ];
        for entries in samples {
            assert_median(&entries, expected(&entries, true));
        }
        let entries_with_ties = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 5.0];
        assert_median(&entries_with_ties, expected(&entries_with_ties, false));
    }

    #[test]
    fn entries_that_are_all_equal_or_not_finite() {
        for entries in [&[][..], &[1.0], &[2.0, 2.0, 2.0]] {
            assert_median(entries, 0.0);
        }
        assert!(median_distance(&[1.0, f64::NAN]).is_err());
        assert!(median_distance(&[1.0, f64::INFINITY]).is_err());
        assert_median(&[-1.7e308, 1.7e308], f64::INFINITY);
    }
}

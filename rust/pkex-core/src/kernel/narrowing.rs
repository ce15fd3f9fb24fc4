//! Terms that are followed by narrower ones, whose factors are all at most as large.
//!
//! A mixture of Gaussians is a sum of products with ascending rates. Where even the product of the
//! larger of all players' present and absent factors is negligible, so are those of all narrower
//! terms.

use crate::kernel::term::PackedTerm;

/// The terms directly after a term that are narrower than it and one another, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NarrowerTerms {
    /// Their number.
    pub count: usize,
    /// The sum of the sizes of their coefficients.
    pub weight: f64,
}

impl NarrowerTerms {
    /// The narrower terms that follow each of some terms.
    pub fn after_each(terms: &[PackedTerm]) -> Vec<Self> {
        let mut narrower_terms = vec![Self::default(); terms.len()];
        for number in (1..terms.len()).rev() {
            let (before, after) = (&terms[number - 1], &terms[number]);
            if is_narrower(after, before) {
                let Self { count, weight } = narrower_terms[number];
                narrower_terms[number - 1] =
                    Self { count: count + 1, weight: weight + after.coefficient.abs() };
            }
        }
        narrower_terms
    }
}

/// Whether all factors of a term are Gaussians, with rates that are at least those of another term.
fn is_narrower(term: &PackedTerm, before: &PackedTerm) -> bool {
    let is_gaussian = |term: &PackedTerm| !term.gaussians.is_empty() && term.series.is_none();
    let mut pairs = term.gaussians.iter().zip(&before.gaussians);
    is_gaussian(term)
        && is_gaussian(before)
        && term.players == before.players
        && pairs.all(|((column, rate), (other_column, other_rate))| {
            column == other_column && rate >= other_rate
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::family::{Factor, Family};
    use crate::kernel::players::Players;
    use crate::kernel::term::Term;

    /// A product of these families in columns 0, 1, …, of length-scales or other parameters.
    fn term(coefficient: f64, factors: &[(Family, f64)]) -> PackedTerm {
        let factor = |(column, &(family, parameter)): (usize, &(Family, f64))| Factor {
            family,
            column,
            parameter,
        };
        let factors = factors.iter().enumerate().map(factor).collect();
        let term = Term { coefficient, factors, series: None };
        PackedTerm::new(&term, &Players::columns(2)).unwrap()
    }

    #[test]
    fn narrower_terms_follow_directly_and_have_the_same_players() {
        let gaussian = |scales: [f64; 2]| scales.map(|scale| (Family::Rbf, scale));
        let terms = [
            term(1.0, &gaussian([4.0, 3.0])),
            term(0.5, &gaussian([3.0, 3.0])),
            term(-0.25, &gaussian([1.0, 2.0])),
            term(2.0, &gaussian([0.5, 2.5])),
            term(4.0, &gaussian([0.5, 2.0])),
            term(8.0, &[(Family::Rbf, 0.1)]),
            term(16.0, &[(Family::Laplacian, 0.1)]),
        ];
        let expected = [(2, 0.75), (1, 0.25), (0, 0.0), (1, 4.0), (0, 0.0), (0, 0.0), (0, 0.0)];
        let expected = expected.map(|(count, weight)| NarrowerTerms { count, weight });
        assert_eq!(NarrowerTerms::after_each(&terms), expected);
    }

    #[test]
    fn terms_that_compare_other_columns_of_a_player_are_not_narrower() {
        let one_player = Players::new(vec![0, 0]);
        let terms = [(0, 4.0), (1, 1.0)].map(|(column, parameter)| {
            let factors = vec![Factor { family: Family::Rbf, column, parameter }];
            PackedTerm::new(&Term { coefficient: 1.0, factors, series: None }, &one_player).unwrap()
        });
        assert_eq!(NarrowerTerms::after_each(&terms), [NarrowerTerms::default(); 2]);
    }
}

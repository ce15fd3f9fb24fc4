//! What is summed over all pairs of rows of a sample, and what results.

use crate::error::Error;
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::pairs::absent::check_absent;
use crate::pairs::octets::OCTET;
use crate::pairs::weights::{Classes, TargetWeights, Weighting};
use crate::walk::chunks::Chunks;

/// A sample whose pairs are to be summed.
#[derive(Clone, Copy, Debug)]
pub struct PairProblem<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// The kernel.
    pub terms: &'a [Term],
    /// Whom the columns belong to.
    pub players: &'a Players,
    /// The factors of absent players, in [0, 1], a row for each term; 1 if not given. Of power
    /// series they are coefficients: those of s⁰, in [0, 1], of all players, then those of s, ….
    pub absent: Option<Matrix<'a>>,
    /// The group of each row, numbered from 0 and never decreasing.
    pub groups: &'a [usize],
    /// What pairs weigh.
    pub weighting: Weighting<'a>,
    /// Whether sums over groups are kept of what players are worth alone, too.
    pub alone_in_groups: bool,
}

/// Sums over unordered pairs, each an array whose last axis is players.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSums {
    /// For each row, over all other rows: two sums of γ (see [`Weighting`]).
    pub rows: Vec<f64>,
    /// Σ w γ for each pair of groups I ≤ J, row by row of the triangle, and each exchange of
    /// targets in I and in J, number 8p + q; followed by Σ w v({j}), if that is asked for.
    pub groups: Vec<f64>,
    /// Σ w v({j}), what players are worth alone; for classes apart for the pairs of classes 00, 01,
    /// 11.
    pub alone: Vec<f64>,
    /// Σ γ² for the pairs of classes, without weights; empty with a target.
    pub squares: Vec<f64>,
}

impl PairProblem<'_> {
    /// Whether shapes fit, absent factors are in range and groups are as described.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.rows.columns() != self.players.column_count() {
            let expected = format!("{} columns", self.players.column_count());
            return Err(shape("rows", expected, self.rows.columns()));
        }
        let targets = match self.weighting {
            Weighting::Classes(_) => None,
            Weighting::Target(TargetWeights { targets, .. }) => Some(("targets", targets)),
        };
        for (argument, matrix) in [("rows", self.rows)].into_iter().chain(targets) {
            if matrix.columns() == 0 {
                return Err(shape(argument, "at least one column".to_owned(), 0));
            }
        }
        let rows = self.rows.rows();
        if self.groups.len() != rows {
            return Err(shape("groups", format!("{rows} entries"), self.groups.len()));
        }
        check_absent(self.absent, self.terms, self.players)?;
        self.check_groups()
    }

    fn check_groups(&self) -> Result<(), Error> {
        let refused = |requirement| {
            let got = "others".to_owned();
            Err(Error::Domain { argument: "groups", requirement, got })
        };
        let exchanges = matches!(self.weighting, Weighting::Target(target) if target.exchanges);
        if exchanges && self.groups.chunks(OCTET).any(|octet| octet[0] != octet[octet.len() - 1]) {
            return refused("of whole octets");
        }
        let rows = self.rows.rows();
        let straddled = match self.weighting {
            Weighting::Classes(Classes { first, .. }) if first > rows => {
                return Err(shape("first", format!("at most {rows}"), first));
            }
            Weighting::Classes(Classes { first, .. }) if first > 0 && first < rows => {
                self.groups[first - 1] == self.groups[first]
            }
            _ => false,
        };
        let mut steps = self.groups.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let is_dense = self.groups.first().is_none_or(|&first| first == 0)
            && steps.all(|step| matches!(step, Some(0 | 1)));
        if straddled || !is_dense {
            return refused("0, 1, … without gaps or descents, and of one class each");
        }
        Ok(())
    }

    /// Chunks whose columns' sums stay in the first-level cache, or in the second-level one where
    /// octets exchange targets: then each column has sums for every row of an octet.
    pub(crate) fn chunks(&self) -> Chunks {
        // With a target all rows are of the second class.
        let first = match self.weighting {
            Weighting::Classes(Classes { first, .. }) => first,
            Weighting::Target(_) => 0,
        };
        let blocks = (320 / self.players.count().max(1)).clamp(1, 16);
        Chunks::new(&[0..first, first..self.rows.rows()], blocks)
    }
}

fn shape(argument: &'static str, expected: String, got: usize) -> Error {
    Error::Shape { argument, expected, got: got.to_string() }
}

/// The place of the pair one ≤ other among the pairs of `count` things, row by row.
pub(crate) fn triangle_index(one: usize, other: usize, count: usize) -> usize {
    one * (2 * count - one + 1) / 2 + (other - one)
}

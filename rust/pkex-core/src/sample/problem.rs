//! A sample whose pairs of rows are summed, and the resulting sums.

use crate::error::Error;
use crate::kernel::players::Players;
use crate::kernel::term::Term;
use crate::matrix::Matrix;
use crate::sample::absent::check_absent;
use crate::sample::octets::OCTET;
use crate::sample::weights::{Classes, TargetWeights, Weighting};
use crate::walk::chunks::Chunks;

/// Maximum rows of a band, unless one chunk has more.
const ROWS_OF_BAND: usize = 2048;

/// A sample whose pairs of rows are summed.
#[derive(Clone, Copy, Debug)]
pub struct PairProblem<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// The kernel.
    pub terms: &'a [Term],
    /// The players of the columns.
    pub players: &'a Players,
    /// The absent factors, in [0, 1], a row for each term; 1 if `None`. For power series they are
    /// coefficients: those of s⁰, in [0, 1], of all players, then those of s, ….
    pub absent: Option<Matrix<'a>>,
    /// The group of each row, numbered from 0 and never decreasing.
    pub groups: &'a [usize],
    /// The weights of pairs.
    pub weighting: Weighting<'a>,
    /// Whether univariate values are also summed over groups.
    pub univariate_in_groups: bool,
}

/// Sums over unordered pairs. The last axis of each array is players.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSums {
    /// Two sums of γ for each row, over all other rows (see [`Weighting`]).
    pub rows: Vec<f64>,
    /// Σ w γ for each pair of groups I ≤ J, row by row of the triangle, and each exchange of
    /// targets in I and in J, number 8p + q; followed by Σ w v({j}), if requested.
    pub groups: Vec<f64>,
    /// Σ w v({j}) of univariate values; for classes, separately for the pairs of classes 00, 01,
    /// 11.
    pub univariate: Vec<f64>,
    /// Σ γ² for the pairs of classes, without weights; empty with a target.
    pub squares: Vec<f64>,
}

impl PairProblem<'_> {
    /// Checks that shapes fit, absent factors are in range and groups are as described.
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
        let error = |requirement, got| Err(Error::Domain { argument: "groups", requirement, got });
        let exchanges = matches!(self.weighting, Weighting::Target(target) if target.exchanges);
        let is_split = |octet: &&[usize]| octet[0] != octet[octet.len() - 1];
        if exchanges && let Some(octet) = self.groups.chunks(OCTET).find(is_split) {
            return error("equal within octets of rows", format!("{octet:?}"));
        }
        let rows = self.rows.rows();
        let has_mixed_group = match self.weighting {
            Weighting::Classes(Classes { first, .. }) if first > rows => {
                return Err(shape("first", format!("at most {rows}"), first));
            }
            Weighting::Classes(Classes { first, .. }) if first > 0 && first < rows => {
                self.groups[first - 1] == self.groups[first]
            }
            _ => false,
        };
        if has_mixed_group {
            let got = "a group with rows of both".to_owned();
            return error("within one class each", got);
        }
        let is_gap = |pair: &&[usize]| !matches!(pair[1].checked_sub(pair[0]), Some(0 | 1));
        let got = match self.groups.first() {
            Some(&first) if first > 0 => format!("{first} first"),
            _ => match self.groups.windows(2).find(is_gap) {
                Some(pair) => format!("{} after {}", pair[1], pair[0]),
                None => return Ok(()),
            },
        };
        error("numbered 0, 1, … in ascending order without gaps", got)
    }

    /// Chunks whose columns' sums stay in the first-level cache, or in the second-level cache if
    /// octets exchange targets, because each column then has sums for every row of an octet. They
    /// are in bands, whose sums are many times fewer than those of tiles.
    pub(crate) fn chunks(&self) -> Chunks {
        // With a target all rows are of the second class.
        let first = match self.weighting {
            Weighting::Classes(Classes { first, .. }) => first,
            Weighting::Target(_) => 0,
        };
        let blocks = (320 / self.players.count().max(1)).clamp(1, 16);
        Chunks::new(&[0..first, first..self.rows.rows()], blocks).in_bands(ROWS_OF_BAND)
    }
}

fn shape(argument: &'static str, expected: String, got: usize) -> Error {
    Error::Shape { argument, expected, got: got.to_string() }
}

/// The place of the pair one ≤ other among the pairs of `count` numbers, row by row of the
/// triangle.
pub(crate) fn triangle_index(one: usize, other: usize, count: usize) -> usize {
    one * (2 * count - one + 1) / 2 + (other - one)
}

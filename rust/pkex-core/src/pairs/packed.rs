//! A problem made ready, and how many sums it takes.

use std::ops::Range;

use crate::error::Error;
use crate::kernel::packed::PackedKernel;
use crate::memory::saturating_product;
use crate::pairs::absent::AbsentPlayers;
use crate::pairs::octets::OCTET;
use crate::pairs::own::{OwnPairs, own_values};
use crate::pairs::problem::PairProblem;
use crate::pairs::weights::{Classes, PackedWeights, TargetWeights, Weighting};
use crate::quadrature::table::NodeTable;
use crate::settings::Settings;
use crate::walk::chunks::{Chunk, Chunks, PackedRows};
use crate::walk::pairs::{PairWalk, Tile};

/// A problem made ready.
pub(crate) struct PackedPairs<'a> {
    pub problem: &'a PairProblem<'a>,
    pub weights: PackedWeights<'a>,
    pub points: PackedRows,
    pub kernel: PackedKernel,
    /// Of each of the kernel's terms.
    pub absent: Vec<AbsentPlayers<'a>>,
    pub nodes: NodeTable,
    /// What terms whose k(x, x) depends on x have in pairs of a row with itself, if there are some.
    pub own: Option<OwnPairs>,
}

impl<'a> PackedPairs<'a> {
    pub fn new(
        problem: &'a PairProblem<'a>,
        chunks: &Chunks,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let kernel = PackedKernel::new(problem.terms, problem.players.clone())?;
        let absent = AbsentPlayers::of_terms(&kernel, problem.absent);
        let takes_halves = match problem.weighting {
            Weighting::Classes(Classes { takes_halves, .. }) => takes_halves,
            Weighting::Target(TargetWeights { takes_halves: [takes_halves, _], .. }) => {
                takes_halves
            }
        };
        let own = if takes_halves && kernel.has_own_pairs() {
            let values = own_values(problem.rows, &kernel, &absent, settings)?;
            Some(OwnPairs::new(values, problem.rows.rows(), chunks)?)
        } else {
            None
        };
        Ok(Self {
            problem,
            weights: PackedWeights::new(problem.weighting, problem.rows.rows(), chunks, settings)?,
            points: PackedRows::new(problem.rows, chunks, |row| row)?,
            absent,
            kernel,
            nodes: NodeTable::new(problem.players.count()),
            own,
        })
    }

    pub fn players(&self) -> usize {
        self.problem.players.count()
    }

    pub fn group_count(&self) -> usize {
        self.problem.groups.last().map_or(0, |last| last + 1)
    }

    /// Sums that each row has in a tile: with classes the tile belongs to one of the two.
    pub fn row_sums(&self) -> usize {
        if self.weights.is_target() { 2 } else { 1 }
    }

    /// Rows that are walked together, as their pairs are summed together.
    pub fn rows_together(&self) -> usize {
        if self.weights.exchanges() { OCTET } else { 1 }
    }

    /// Values of a pair that are summed over groups: γ, and what players are worth alone.
    pub fn values_in_groups(&self) -> usize {
        self.players() * (1 + usize::from(self.problem.alone_in_groups))
    }

    /// Sums of a pair of groups.
    pub fn in_group(&self) -> usize {
        self.rows_together().pow(2) * self.values_in_groups()
    }

    /// Sums over groups of each column.
    pub fn in_group_of_column(&self) -> usize {
        self.rows_together() * self.values_in_groups()
    }

    /// Sums of each column: those over groups, and the row's that are not among them.
    pub fn in_column(&self) -> usize {
        let others = self.row_sums() - usize::from(!self.weights.exchanges());
        self.in_group_of_column() + others * self.players()
    }

    /// The groups of a chunk's rows.
    pub fn groups_of(&self, chunk: &Chunk) -> Range<usize> {
        let groups = &self.problem.groups[chunk.rows.clone()];
        groups[0]..groups[groups.len() - 1] + 1
    }

    /// The tiles in which the pairs come.
    pub fn walk<'c>(
        &self,
        chunks: &'c Chunks,
        settings: &'c Settings,
    ) -> Result<PairWalk<'c>, Error> {
        let skips_second = match self.problem.weighting {
            Weighting::Classes(Classes { skips_second, .. }) => skips_second,
            Weighting::Target(_) => false,
        };
        let pair_cost = saturating_product([self.players(), self.kernel.terms.len().max(1)]);
        PairWalk::new(chunks, skips_second, pair_cost, settings)
    }

    /// Whether γ is c Ω of one term, which compares the columns of all players.
    pub fn is_one_term(&self) -> bool {
        self.kernel.terms.len() == 1 && self.kernel.terms[0].players.len() == self.players()
    }

    /// Sums of all pairs of groups of a tile.
    pub fn group_sums(&self, tile: Tile<'_>) -> usize {
        let [first, second] = [tile.first, tile.second].map(|chunk| self.groups_of(chunk).len());
        first * second * self.in_group()
    }

    /// The memory that a tile's sums take.
    pub fn bytes(&self, tile: Tile<'_>) -> usize {
        let rows = (tile.first.rows.len() + tile.second.rows.len()) * self.row_sums();
        let sums =
            saturating_product([rows + 2, self.players()]).saturating_add(self.group_sums(tile));
        saturating_product([sums, size_of::<f64>()])
    }
}

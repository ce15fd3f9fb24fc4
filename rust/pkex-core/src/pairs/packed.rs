//! A problem made ready, and how many sums it takes.

use std::ops::Range;

use crate::error::Error;
use crate::kernel::packed::PackedKernel;
use crate::memory::saturating_product;
use crate::pairs::absent::AbsentPlayers;
use crate::pairs::layout::Layout;
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
    pub layout: Layout,
    /// Most blocks of a chunk.
    pub most_blocks: usize,
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
        let own = if takes_halves && kernel.diagonal_varies() {
            let values = own_values(problem.rows, &kernel, &absent, settings)?;
            Some(OwnPairs::new(values, problem.rows.rows(), chunks)?)
        } else {
            None
        };
        let weights = PackedWeights::new(problem.weighting, problem.rows.rows(), chunks, settings)?;
        let kind = (weights.is_target(), weights.exchanges());
        Ok(Self {
            layout: Layout::new(problem.players.count(), kind, problem.alone_in_groups),
            most_blocks: chunks.all().iter().map(Chunk::blocks).max().unwrap_or(0),
            problem,
            weights,
            points: PackedRows::new(problem.rows, chunks, |row| row)?,
            absent,
            kernel,
            nodes: NodeTable::new(problem.players.count()),
            own,
        })
    }

    pub fn group_count(&self) -> usize {
        self.problem.groups.last().map_or(0, |last| last + 1)
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
        let pair_cost = saturating_product([self.layout.players, self.kernel.terms.len().max(1)]);
        PairWalk::new(chunks, skips_second, pair_cost, settings)
    }

    /// Whether γ is c Ω of one term, which compares the columns of all players.
    pub fn is_one_term(&self) -> bool {
        self.kernel.terms.len() == 1 && self.kernel.terms[0].players.len() == self.layout.players
    }

    /// Sums of all pairs of groups of a tile.
    pub fn group_sums(&self, tile: Tile<'_>) -> usize {
        let [first, second] = [tile.first, tile.second].map(|chunk| self.groups_of(chunk).len());
        first * second * self.layout.in_group
    }

    /// The memory that a tile's sums take.
    pub fn bytes(&self, tile: Tile<'_>) -> usize {
        let rows = tile.first.rows.len() + tile.second.rows.len();
        let of_rows = saturating_product([rows, self.layout.in_row]);
        let sums = of_rows.saturating_add(2 * self.layout.players + self.group_sums(tile));
        saturating_product([sums, size_of::<f64>()])
    }
}

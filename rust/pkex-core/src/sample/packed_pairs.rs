//! A packed problem, and the number of its sums.

use std::ops::Range;

use crate::error::Error;
use crate::kernel::packed_kernel::PackedKernel;
use crate::memory::saturating_product;
use crate::quadrature::table::NodeTable;
use crate::sample::absent::AbsentPlayers;
use crate::sample::layout::Layout;
use crate::sample::problem::PairProblem;
use crate::sample::self_pairs::{SelfPairs, self_pair_values};
use crate::sample::weights::{Classes, PackedWeights, TargetWeights, Weighting};
use crate::settings::Settings;
use crate::walk::chunks::{Chunk, Chunks, PackedRows};
use crate::walk::pairs::{PairWalk, Tile};

/// A packed problem.
pub(crate) struct PackedPairs<'a> {
    pub problem: &'a PairProblem<'a>,
    pub weights: PackedWeights<'a>,
    pub points: PackedRows,
    pub kernel: PackedKernel,
    /// The absent factors of each of the kernel's terms.
    pub absent: Vec<AbsentPlayers<'a>>,
    pub nodes: NodeTable,
    /// The pairs of rows with themselves, for terms whose k(x, x) depends on x, if there are any.
    pub self_pairs: Option<SelfPairs>,
    pub layout: Layout,
    /// Maximum blocks of a chunk.
    pub max_blocks: usize,
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
        let self_pairs = if takes_halves && kernel.diagonal_varies() {
            let values = self_pair_values(problem.rows, &kernel, &absent, settings)?;
            Some(SelfPairs::new(values, problem.rows.rows(), chunks)?)
        } else {
            None
        };
        let weights = PackedWeights::new(problem.weighting, problem.rows.rows(), chunks, settings)?;
        let kind = (weights.is_target(), weights.exchanges());
        Ok(Self {
            layout: Layout::new(problem.players.count(), kind, problem.univariate_in_groups),
            max_blocks: chunks.all().iter().map(Chunk::blocks).max().unwrap_or(0),
            problem,
            weights,
            points: PackedRows::new(problem.rows, chunks, |row| row)?,
            absent,
            kernel,
            nodes: NodeTable::new(problem.players.count()),
            self_pairs,
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

    /// The walk over the tiles of the pairs.
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

    /// Whether γ is c Ω of one term that is not a power series and compares the columns of all
    /// players.
    pub fn is_one_product(&self) -> bool {
        let [term] = &*self.kernel.terms else { return false };
        term.series.is_none() && term.players.len() == self.layout.players
    }

    /// The number of sums of all pairs of groups of a tile.
    pub fn group_sums(&self, tile: Tile<'_>) -> usize {
        let [first, second] = [tile.first, tile.second].map(|chunk| self.groups_of(chunk).len());
        first * second * self.layout.group_width
    }

    /// The bytes of a tile's sums.
    pub fn bytes(&self, tile: Tile<'_>) -> usize {
        let rows = tile.first.rows.len() + tile.second.rows.len();
        let row_sums = saturating_product([rows, self.layout.row_width]);
        saturating_product([row_sums.saturating_add(self.other_sums(tile)), size_of::<f64>()])
    }

    /// The number of a tile's sums except those of rows.
    pub fn other_sums(&self, tile: Tile<'_>) -> usize {
        2 * self.layout.players + self.group_sums(tile)
    }
}

//! The running sums of a thread.

use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::game::spread::Spread;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::sample::absent::AbsentPlayers;
use crate::sample::octets::OctetPairs;
use crate::sample::packed_pairs::PackedPairs;
use crate::simd::lanes::Lanes;

/// The pairs of a row and a block.
#[derive(Debug)]
pub(crate) struct RowPairs {
    /// The row of the sample.
    pub row: usize,
    /// 1 in lanes that hold a pair, 0 in others; `None` if all lanes hold one.
    pub mask: Option<Lanes>,
    /// The weights of the pairs, of any size in lanes that hold none.
    pub weight: Lanes,
    /// The factors of a term, their spread, and Ω.
    pub block: Block,
    pub spread: Spread,
    /// Whether γ is c Ω of the block and univariate values are multiples of its c, so that they need
    /// not be stored.
    pub is_in_block: bool,
    /// γ player by player, then univariate values, of all terms.
    pub values: Vec<Lanes>,
}

impl Default for RowPairs {
    fn default() -> Self {
        Self {
            row: 0,
            mask: None,
            weight: Lanes::ZERO,
            block: Block::default(),
            spread: Spread::NONE,
            is_in_block: false,
            values: Vec::new(),
        }
    }
}

/// The workspace of a thread.
#[derive(Debug, Default)]
pub(crate) struct PairWorkspace {
    /// The pairs of each of the rows that are summed together with a block.
    pub pairs: Vec<RowPairs>,
    pub scratch: Scratch,
    pub target_block: Block,
    /// The pairs of the octet that contains the row, if octets exchange targets.
    pub octet: OctetPairs,
    /// Running sums of the rows that are summed together: for each row, each sum, each player.
    pub rows: Vec<Lanes>,
    /// Running sums of the columns: for each block the sums of a pair of groups (with octets, for
    /// each row of the octet), and the other sums of a row.
    pub columns: Vec<Lanes>,
    pub univariate: Vec<Lanes>,
    pub squares: Vec<Lanes>,
}

impl PairWorkspace {
    /// A workspace with memory for the sums of any tile.
    pub fn new(packed: &PackedPairs<'_>, memory: &Memory) -> Result<Self, Error> {
        let (layout, players) = (&packed.layout, packed.layout.players);
        let mut workspace = Self::default();
        let Self { pairs, scratch, octet, rows, columns, univariate, squares, .. } = &mut workspace;
        let quantity = Quantity::Values(Nodes::Table(&packed.nodes));
        scratch.reserve(quantity, players, memory)?;
        let counts = FactorCount { players, orders: packed.kernel.max_orders() };
        if counts.orders > 0 {
            scratch.reserve_series(quantity, counts, memory)?;
        }
        let needs_present = packed.absent.iter().any(AbsentPlayers::needs_present);
        memory.reserve(pairs, layout.rows_together, PAIRS)?;
        pairs.resize_with(layout.rows_together, RowPairs::default);
        for RowPairs { block, values, .. } in pairs {
            block.reserve(players, 0, memory)?;
            block.needs_present = needs_present || packed.kernel.has_series();
            if counts.orders > 0 {
                block.reserve_series(counts, memory)?;
            }
            memory.reserve(values, saturating_product([2, players]), PAIRS)?;
        }
        if packed.weights.exchanges() {
            octet.reserve(layout.values, memory)?;
        }
        let blocks = packed.max_blocks;
        memory.reserve(columns, saturating_product([blocks, layout.column_width]), PAIRS)?;
        memory.reserve(
            rows,
            saturating_product([layout.rows_together, layout.row_width]),
            PAIRS,
        )?;
        for sums in [univariate, squares] {
            memory.reserve(sums, players, PAIRS)?;
        }
        Ok(workspace)
    }

    /// Sets all sums to 0, for a tile with a number of blocks of columns.
    pub fn reset(&mut self, packed: &PackedPairs<'_>, blocks: usize) {
        let (layout, players) = (&packed.layout, packed.layout.players);
        let zeros = |lanes: &mut Vec<Lanes>, length| {
            lanes.clear();
            lanes.resize(length, Lanes::ZERO);
        };
        zeros(&mut self.rows, layout.rows_together * layout.row_width);
        zeros(&mut self.columns, blocks * layout.column_width);
        zeros(&mut self.univariate, players);
        zeros(&mut self.squares, players);
    }
}

//! The running sums of a thread.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::kernel::term::PackedTerm;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::sample::absent::AbsentPlayers;
use crate::sample::octets::OctetPairs;
use crate::sample::packed::PackedPairs;
use crate::sample::self_pairs::{SelfPairs, SelfPairsOfBlock};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};
use crate::simd::level::Body;
use crate::walk::chunks::ChunkBlock;

/// The workspace of a thread.
#[derive(Debug, Default)]
pub(crate) struct PairWorkspace {
    pub block: Block,
    pub scratch: Scratch,
    pub target_block: Block,
    /// γ of the pairs of a row and a block, player by player; not used for one term.
    pub gamma: Vec<Lanes>,
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
        let Self { block, scratch, gamma, octet, rows, columns, univariate, squares, .. } =
            &mut workspace;
        block.reserve(players, 0, memory)?;
        let needs_present = packed.absent.iter().any(AbsentPlayers::needs_present);
        block.needs_present = needs_present || packed.kernel.has_series();
        let quantity = Quantity::Values(Nodes::Table(&packed.nodes));
        scratch.reserve(quantity, players, memory)?;
        let of_block = FactorCount { players, orders: packed.kernel.most_orders() };
        if of_block.orders > 0 {
            block.reserve_series(of_block, memory)?;
            scratch.reserve_series(quantity, of_block, memory)?;
        }
        if packed.weights.exchanges() {
            octet.reserve(layout.values, memory)?;
        }
        let blocks = packed.most_blocks;
        memory.reserve(columns, saturating_product([blocks, layout.in_column]), PAIRS)?;
        memory.reserve(rows, saturating_product([layout.rows_together, layout.in_row]), PAIRS)?;
        for sums in [gamma, univariate, squares] {
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
        zeros(&mut self.gamma, if packed.is_one_term() { 0 } else { players });
        zeros(&mut self.rows, layout.rows_together * layout.in_row);
        zeros(&mut self.columns, blocks * layout.in_column);
        zeros(&mut self.univariate, players);
        zeros(&mut self.squares, players);
    }
}

/// The weights of the pairs of a row and a block, 0 if a lane holds no pair.
pub(crate) fn weigh(
    packed: &PackedPairs<'_>,
    row: usize,
    at: ChunkBlock<'_>,
    mask: &Lanes,
    context: Context<'_>,
    workspace: &mut PairWorkspace,
) -> Lanes {
    let PairWorkspace { target_block, octet, .. } = workspace;
    let weights = packed.weights.of_pairs(row, at, target_block, context);
    if packed.weights.exchanges() {
        *octet.weights_of(row) = weights;
    }
    weights.times::<LANES>(mask)
}

/// Adds the univariate values of players in a term to weighted sums.
pub(crate) struct AddUnivariate<'a> {
    pub term: &'a PackedTerm,
    pub absent: &'a AbsentPlayers<'a>,
    pub sums: UnivariateSums<'a>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for AddUnivariate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let orders = self.term.orders();
        for (place, &player) in self.term.players.iter().enumerate() {
            let value = self.absent.univariate_value::<A, W>(orders, place, &self.workspace.block);
            self.sums.add::<A, W>(player, &value, self.workspace);
        }
    }
}

/// Adds the part of univariate values that is subtracted for both rows' pairs with themselves: see
/// [`SelfPairs`].
pub(crate) struct AddSelfUnivariate<'a> {
    pub own: &'a SelfPairs,
    pub sums: UnivariateSums<'a>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for AddSelfUnivariate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { own, sums, workspace } = self;
        let players = sums.packed.layout.players;
        let own = SelfPairsOfBlock { own: Some(own), at: sums.at, row: sums.row };
        for player in 0..players {
            let mut halves = Lanes::ZERO;
            own.take_halves::<A, W>(players + player, &mut halves);
            sums.add::<A, W>(player, &halves, workspace);
        }
    }
}

/// The sums to which the univariate values of a row and a block are added.
#[derive(Clone, Copy)]
pub(crate) struct UnivariateSums<'a> {
    pub packed: &'a PackedPairs<'a>,
    pub row: usize,
    pub at: ChunkBlock<'a>,
    /// 1 in lanes that hold a pair, 0 in others.
    pub mask: &'a Lanes,
    /// Whether all lanes hold a pair.
    pub is_whole: bool,
    pub weight: &'a Lanes,
}

impl UnivariateSums<'_> {
    /// The numbers of pairs, 0 in lanes that hold none: numbers of a row with itself may be
    /// infinite.
    #[inline(always)]
    fn of_pairs<const W: usize>(&self, numbers: &Lanes) -> Lanes {
        if self.is_whole {
            return *numbers;
        }
        let mut kept = Lanes::ZERO;
        for part in 0..LANES / W {
            let mask: &[f64; W] = self.mask.part(part);
            *kept.part_mut(part) =
                zip_lanes(numbers.part(part), mask, |x, m| if m == 0.0 { 0.0 } else { x });
        }
        kept
    }

    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        value: &Lanes,
        workspace: &mut PairWorkspace,
    ) {
        let PairWorkspace { octet, univariate, columns, .. } = workspace;
        let value = &self.of_pairs::<W>(value);
        univariate[player].add_product::<A, W>(value, self.weight);
        let layout = &self.packed.layout;
        if layout.univariate.is_empty() {
            return;
        }
        if self.packed.weights.exchanges() {
            let values = &mut octet.values_of(self.row)[layout.univariate.clone()];
            values[player].add_product::<A, W>(value, self.mask);
        } else {
            let columns =
                &mut columns[self.at.index * layout.in_column..][layout.univariate.clone()];
            columns[player].add_product::<A, W>(value, self.weight);
        }
    }
}

/// Adds the pairs of a row and a block to all running sums of γ.
pub(crate) struct Accumulate<'a> {
    pub sums: UnivariateSums<'a>,
    pub row_sums: Range<usize>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let UnivariateSums { packed, row, at, mask, weight, .. } = self.sums;
        let PairWorkspace { block, gamma, octet, rows, columns, squares, .. } = self.workspace;
        let layout = &packed.layout;
        let column = &mut columns[at.index * layout.in_column..][..layout.in_column];
        let (column, column_plain) = column.split_at_mut(layout.column_plain.start);
        let (row_weighted, row_plain) = rows[self.row_sums].split_at_mut(layout.row_plain.start);
        let mut sums = RunningSums {
            weight,
            mask,
            row_weighted,
            row_plain,
            column_weighted: &mut column[layout.column_weighted.clone()],
            column_plain,
            octet: packed.weights.exchanges().then(|| octet.values_of(row)),
            squares,
        };
        let is_target = packed.weights.is_target();
        let own = SelfPairsOfBlock { own: packed.own.as_ref(), at, row };
        if packed.is_one_term() {
            let coefficient = Lanes([packed.absent[0].coefficient; LANES]);
            let values = block.omega.iter().zip(&block.difference);
            for (player, (omega, difference)) in values.enumerate() {
                let mut value = omega.times::<W>(difference).times::<W>(&coefficient);
                own.take_halves::<A, W>(player, &mut value);
                sums.add::<A, W>(player, &self.sums.of_pairs::<W>(&value), is_target);
            }
        } else {
            for (player, value) in gamma.iter_mut().enumerate() {
                own.take_halves::<A, W>(player, value);
                sums.add::<A, W>(player, &self.sums.of_pairs::<W>(value), is_target);
            }
        }
    }
}

/// The running sums of γ of a row and a block.
struct RunningSums<'a> {
    weight: &'a Lanes,
    mask: &'a Lanes,
    row_weighted: &'a mut [Lanes],
    row_plain: &'a mut [Lanes],
    column_weighted: &'a mut [Lanes],
    column_plain: &'a mut [Lanes],
    /// The values of the row's octet, if octets exchange targets: their pairs are summed over
    /// groups later.
    octet: Option<&'a mut [Lanes]>,
    squares: &'a mut [Lanes],
}

impl RunningSums<'_> {
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(
        &mut self,
        player: usize,
        value: &Lanes,
        is_target: bool,
    ) {
        self.row_weighted[player].add_product::<A, W>(value, self.weight);
        self.column_weighted[player].add_product::<A, W>(value, self.weight);
        if let Some(octet) = &mut self.octet {
            octet[player] = value.times::<W>(self.mask);
        }
        if is_target {
            self.row_plain[player].add_product::<A, W>(value, self.mask);
            self.column_plain[player].add_product::<A, W>(value, self.mask);
        } else {
            let square = value.times::<W>(value);
            self.squares[player].add_product::<A, W>(&square, self.mask);
        }
    }
}

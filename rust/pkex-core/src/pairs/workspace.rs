//! The running sums of a thread.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::kernel::term::PackedTerm;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::pairs::absent::AbsentPlayers;
use crate::pairs::octets::OctetPairs;
use crate::pairs::own::{OwnOfPairs, OwnPairs};
use crate::pairs::packed::PackedPairs;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};
use crate::simd::level::Body;
use crate::walk::chunks::Chunk;

/// What a thread keeps between tiles.
#[derive(Debug, Default)]
pub(crate) struct PairWorkspace {
    pub block: Block,
    pub scratch: Scratch,
    pub target_block: Block,
    /// γ of the pairs of a row and a block, player by player; not used for one term.
    pub gamma: Vec<Lanes>,
    /// The pairs of the octet that the row is of, if octets exchange targets.
    pub octet: OctetPairs,
    /// Running sums of the rows that are walked together: for each row, each sum, each player.
    pub rows: Vec<Lanes>,
    /// Running sums of the columns: for each block those of a pair of groups, of octets for each
    /// row of it, and those of a row that are not among them.
    pub columns: Vec<Lanes>,
    pub alone: Vec<Lanes>,
    pub squares: Vec<Lanes>,
}

impl PairWorkspace {
    /// With room for the sums of any tile.
    pub fn new(packed: &PackedPairs<'_>, memory: &Memory) -> Result<Self, Error> {
        let (layout, players) = (&packed.layout, packed.layout.players);
        let mut workspace = Self::default();
        let Self { block, scratch, gamma, octet, rows, columns, alone, squares, .. } =
            &mut workspace;
        block.reserve(players, 0, memory)?;
        let needs_present = packed.absent.iter().any(AbsentPlayers::needs_present);
        block.needs_present = needs_present || packed.kernel.has_series();
        let quantity = Quantity::Values(Nodes::Table(&packed.nodes));
        scratch.reserve(quantity, players, memory)?;
        let series = (players, packed.kernel.most_orders());
        if series.1 > 0 {
            block.reserve_series(series, memory)?;
            scratch.reserve_series(quantity, series, memory)?;
        }
        if packed.weights.exchanges() {
            octet.reserve(layout.values, memory)?;
        }
        let blocks = packed.most_blocks;
        memory.reserve(columns, saturating_product([blocks, layout.in_column]), PAIRS)?;
        memory.reserve(rows, saturating_product([layout.rows_together, layout.in_row]), PAIRS)?;
        for sums in [gamma, alone, squares] {
            memory.reserve(sums, players, PAIRS)?;
        }
        Ok(workspace)
    }

    /// Sets all sums to 0, for a tile with so many blocks of columns.
    pub fn reset(&mut self, packed: &PackedPairs<'_>, blocks: usize) {
        let (layout, players) = (&packed.layout, packed.layout.players);
        let zeros = |lanes: &mut Vec<Lanes>, length| {
            lanes.clear();
            lanes.resize(length, Lanes::ZERO);
        };
        zeros(&mut self.gamma, if packed.is_one_term() { 0 } else { players });
        zeros(&mut self.rows, layout.rows_together * layout.in_row);
        zeros(&mut self.columns, blocks * layout.in_column);
        zeros(&mut self.alone, players);
        zeros(&mut self.squares, players);
    }
}

/// The weights of the pairs of a row and a block, 0 where a lane holds no pair.
pub(crate) fn weigh(
    packed: &PackedPairs<'_>,
    (row, at): (usize, (&Chunk, usize)),
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

/// Adds what players are worth alone in a term to weighted sums.
pub(crate) struct AddAlone<'a> {
    pub term: &'a PackedTerm,
    pub absent: &'a AbsentPlayers<'a>,
    pub sums: AloneSums<'a>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for AddAlone<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let orders = self.term.orders();
        for (place, &player) in self.term.players.iter().enumerate() {
            let value = self.absent.worth_alone::<A, W>(orders, place, &self.workspace.block);
            self.sums.add::<A, W>(player, &value, self.workspace);
        }
    }
}

/// Adds what is taken away for both rows' pairs with themselves of what players are worth alone:
/// see [`OwnPairs`].
pub(crate) struct AddOwnAlone<'a> {
    pub own: &'a OwnPairs,
    pub chunk: &'a Chunk,
    pub sums: AloneSums<'a>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for AddOwnAlone<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { own, chunk, sums, workspace } = self;
        let players = sums.packed.layout.players;
        let own = OwnOfPairs { own: Some(own), at: (chunk, sums.block), row: sums.row };
        for player in 0..players {
            let mut halves = Lanes::ZERO;
            own.take_halves::<A, W>(players + player, &mut halves);
            sums.add::<A, W>(player, &halves, workspace);
        }
    }
}

/// The sums to which a row and a block add what players are worth alone.
#[derive(Clone, Copy)]
pub(crate) struct AloneSums<'a> {
    pub packed: &'a PackedPairs<'a>,
    pub row: usize,
    pub block: usize,
    /// 1 in lanes that hold a pair, 0 in others.
    pub mask: &'a Lanes,
    /// Whether all lanes hold one.
    pub is_whole: bool,
    pub weight: &'a Lanes,
}

impl AloneSums<'_> {
    /// Numbers of the pairs, 0 in lanes that hold none: those of a row with itself may be infinite.
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
        let PairWorkspace { octet, alone, columns, .. } = workspace;
        let value = &self.of_pairs::<W>(value);
        alone[player].add_product::<A, W>(value, self.weight);
        let layout = &self.packed.layout;
        if layout.alone.is_empty() {
            return;
        }
        if self.packed.weights.exchanges() {
            let values = &mut octet.values_of(self.row)[layout.alone.clone()];
            values[player].add_product::<A, W>(value, self.mask);
        } else {
            let columns = &mut columns[self.block * layout.in_column..][layout.alone.clone()];
            columns[player].add_product::<A, W>(value, self.weight);
        }
    }
}

/// Adds the pairs of a row and a block to all running sums of γ.
pub(crate) struct Accumulate<'a> {
    pub sums: AloneSums<'a>,
    /// The chunk of the block.
    pub chunk: &'a Chunk,
    pub row_sums: Range<usize>,
    pub workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let AloneSums { packed, row, block: number, mask, weight, .. } = self.sums;
        let PairWorkspace { block, gamma, octet, rows, columns, squares, .. } = self.workspace;
        let layout = &packed.layout;
        let column = &mut columns[number * layout.in_column..][..layout.in_column];
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
        let own = OwnOfPairs { own: packed.own.as_ref(), at: (self.chunk, number), row };
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

/// Running sums of γ that a row and a block contribute to.
struct RunningSums<'a> {
    weight: &'a Lanes,
    mask: &'a Lanes,
    row_weighted: &'a mut [Lanes],
    row_plain: &'a mut [Lanes],
    column_weighted: &'a mut [Lanes],
    column_plain: &'a mut [Lanes],
    /// The values of the row's octet, if octets exchange targets: its pairs are summed over groups
    /// later.
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

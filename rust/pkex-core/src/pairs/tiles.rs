//! The sums over the pairs of one tile.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::game::quantity::{Nodes, Quantity, Scratch};
use crate::kernel::term::PackedTerm;
use crate::memory::{Memory, PAIRS, product};
use crate::pairs::octets::{Correlate, OCTET, OctetPairs};
use crate::pairs::problem::PairProblem;
use crate::pairs::terms::{AddTerm, Fill, PairTerm};
use crate::pairs::weights::{Classes, PackedWeights, Weighting};
use crate::quadrature::table::NodeTable;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;
use crate::walk::chunks::{Chunk, Chunks, PackedRows};
use crate::walk::pairs::{PairWalk, Tile};

/// A problem made ready.
pub(crate) struct PackedPairs<'a> {
    pub problem: &'a PairProblem<'a>,
    pub weights: PackedWeights<'a>,
    points: PackedRows,
    terms: Vec<PairTerm<'a>>,
    nodes: NodeTable,
}

/// Plain sums of one tile; the last axis of each is players.
#[derive(Clone, Debug, Default)]
pub(crate) struct TileSums {
    /// For each row of the first chunk and of the second.
    pub rows: [Vec<f64>; 2],
    /// For each group of the first chunk, of the second, and each weight.
    pub groups: Vec<f64>,
    pub alone: Vec<f64>,
    pub squares: Vec<f64>,
}

/// What a thread keeps between tiles.
#[derive(Debug, Default)]
pub(crate) struct PairWorkspace {
    block: Block,
    scratch: Scratch,
    target_block: Block,
    /// γ of the pairs of a row and a block, player by player; not used for one term.
    gamma: Vec<Lanes>,
    /// The pairs of the octet that the row is of, if octets exchange targets.
    octet: OctetPairs,
    /// Running sums of the rows that are walked together: for each row, each sum, each player.
    rows: Vec<Lanes>,
    /// Running sums of the columns: for each block those of a pair of groups, of octets for each
    /// row of it, and those of a row that are not among them.
    columns: Vec<Lanes>,
    alone: Vec<Lanes>,
    squares: Vec<Lanes>,
}

impl PairProblem<'_> {
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

impl<'a> PackedPairs<'a> {
    pub fn new(problem: &'a PairProblem<'a>, chunks: &Chunks) -> Result<Self, Error> {
        let term = |(number, term)| {
            let absent = problem.absent.map(|absent| absent.row(number));
            Ok(PairTerm::new(PackedTerm::new(term, problem.players)?, absent))
        };
        Ok(Self {
            problem,
            weights: PackedWeights::new(problem.weighting, problem.rows.rows(), chunks)?,
            points: PackedRows::new(problem.rows, chunks, |row| row)?,
            terms: problem.terms.iter().enumerate().map(term).collect::<Result<_, _>>()?,
            nodes: NodeTable::new(problem.players.count()),
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
    fn rows_together(&self) -> usize {
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
    fn in_group_of_column(&self) -> usize {
        self.rows_together() * self.values_in_groups()
    }

    /// Sums of each column: those over groups, and the row's that are not among them.
    fn in_column(&self) -> usize {
        let others = self.row_sums() - usize::from(!self.weights.exchanges());
        self.in_group_of_column() + others * self.players()
    }

    /// The groups of a chunk's rows.
    pub fn groups_of(&self, chunk: &Chunk) -> Range<usize> {
        let groups = &self.problem.groups[chunk.rows.clone()];
        groups[0]..groups[groups.len() - 1] + 1
    }

    /// The tiles in which the pairs come.
    pub fn walk<'c>(&self, chunks: &'c Chunks, threads: usize) -> Result<PairWalk<'c>, Error> {
        let skips_second = match self.problem.weighting {
            Weighting::Classes(Classes { skips_second, .. }) => skips_second,
            Weighting::Target(_) => false,
        };
        let pair_cost = product([self.players(), self.terms.len().max(1)]);
        PairWalk::new(chunks, skips_second, pair_cost, threads)
    }

    /// Whether γ is c Ω of one term, which compares the columns of all players.
    fn is_one_term(&self) -> bool {
        self.terms.len() == 1 && self.terms[0].term.players.len() == self.players()
    }

    /// Sums of all pairs of groups of a tile.
    fn group_sums(&self, tile: Tile<'_>) -> usize {
        let [first, second] = [tile.first, tile.second].map(|chunk| self.groups_of(chunk).len());
        first * second * self.in_group()
    }

    /// The memory that a tile's sums take.
    pub fn bytes(&self, tile: Tile<'_>) -> usize {
        let rows = (tile.first.rows.len() + tile.second.rows.len()) * self.row_sums();
        let sums = product([rows + 2, self.players()]).saturating_add(self.group_sums(tile));
        product([sums, size_of::<f64>()])
    }

    /// Makes room for a tile's sums.
    pub fn reserve(
        &self,
        tile: Tile<'_>,
        sums: &mut TileSums,
        memory: &Memory,
    ) -> Result<(), Error> {
        let room = |sums: &mut Vec<f64>, count| {
            memory.reserve(sums, product([count, self.players()]), PAIRS)
        };
        for (rows, chunk) in sums.rows.iter_mut().zip([tile.first, tile.second]) {
            room(rows, chunk.rows.len() * self.row_sums())?;
        }
        memory.reserve(&mut sums.groups, self.group_sums(tile), PAIRS)?;
        room(&mut sums.alone, 1)?;
        room(&mut sums.squares, 1)
    }

    /// Room for a thread's sums of any tile.
    pub fn workspace(&self, chunks: &Chunks, memory: &Memory) -> Result<PairWorkspace, Error> {
        let mut workspace = PairWorkspace::default();
        let PairWorkspace { block, scratch, gamma, octet, rows, columns, alone, squares, .. } =
            &mut workspace;
        block.reserve(self.players(), 0, memory)?;
        scratch.reserve(Quantity::Values(Nodes::Table(&self.nodes)), self.players(), memory)?;
        if self.weights.exchanges() {
            octet.reserve(self.values_in_groups(), memory)?;
        }
        let blocks = chunks.all().iter().map(Chunk::blocks).max().unwrap_or(0);
        memory.reserve(columns, product([blocks, self.in_column()]), PAIRS)?;
        let per_player =
            [(gamma, 1), (rows, self.rows_together() * self.row_sums()), (alone, 1), (squares, 1)];
        for (sums, count) in per_player {
            memory.reserve(sums, product([count, self.players()]), PAIRS)?;
        }
        Ok(workspace)
    }

    /// Sums the pairs of one tile.
    pub fn add_up(
        &self,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut PairWorkspace,
        sums: &mut TileSums,
    ) {
        self.reset(tile, workspace, sums);
        let groups = &self.problem.groups;
        let in_row = self.row_sums() * self.players();
        for start in tile.first.rows.clone().step_by(self.rows_together()) {
            let rows = start..(start + self.rows_together()).min(tile.first.rows.end);
            workspace.rows.fill(Lanes::ZERO);
            for block in tile.blocks_of(start) {
                self.add_block(tile, rows.clone(), block, context, workspace);
            }
            let first = (start - tile.first.rows.start) * in_row;
            into_totals(&workspace.rows, &mut sums.rows[0][first..][..rows.len() * in_row]);
            let last = rows.end - 1;
            if rows.end == tile.first.rows.end || groups[last] != groups[rows.end] {
                let group = groups[last] - groups[tile.first.rows.start];
                self.flush_columns(group, tile.second, workspace, sums);
            }
        }
        into_totals(&workspace.alone, &mut sums.alone);
        into_totals(&workspace.squares, &mut sums.squares);
    }

    /// Adds the pairs of some rows and a block to running sums.
    fn add_block(
        &self,
        tile: Tile<'_>,
        rows: Range<usize>,
        block: usize,
        context: Context<'_>,
        workspace: &mut PairWorkspace,
    ) {
        let at = (tile.second, block);
        let in_row = self.row_sums() * self.players();
        if self.weights.exchanges() {
            workspace.octet.reset(self.values_in_groups());
        }
        for (place, row) in rows.enumerate() {
            let mask = tile.mask(row, block);
            let weight = context.run(Weigh { packed: self, row, at, mask, workspace });
            self.evaluate(row, at, context, [&mask, &weight], workspace);
            let row_sums = place * in_row..(place + 1) * in_row;
            context.run(Accumulate { packed: self, row, block, row_sums, mask, weight, workspace });
        }
        if self.weights.exchanges() {
            let sums = &mut workspace.columns[block * self.in_column()..];
            context.run(Correlate { pairs: &mut workspace.octet, sums });
        }
    }

    /// Sets all sums to 0, at the sizes of the tile.
    fn reset(&self, tile: Tile<'_>, workspace: &mut PairWorkspace, sums: &mut TileSums) {
        let players = self.players();
        for (rows, chunk) in sums.rows.iter_mut().zip([tile.first, tile.second]) {
            zeros(rows, chunk.rows.len() * self.row_sums() * players, 0.0);
        }
        zeros(&mut sums.groups, self.group_sums(tile), 0.0);
        zeros(&mut sums.alone, players, 0.0);
        zeros(&mut sums.squares, players, 0.0);
        zeros(&mut workspace.gamma, if self.is_one_term() { 0 } else { players }, Lanes::ZERO);
        let rows = self.rows_together() * self.row_sums();
        zeros(&mut workspace.rows, rows * players, Lanes::ZERO);
        let columns = tile.second.blocks() * self.in_column();
        zeros(&mut workspace.columns, columns, Lanes::ZERO);
        zeros(&mut workspace.alone, players, Lanes::ZERO);
        zeros(&mut workspace.squares, players, Lanes::ZERO);
    }

    /// γ of the pairs of a row and a block, summed over terms; adds what players are worth alone.
    fn evaluate(
        &self,
        row: usize,
        at: (&Chunk, usize),
        context: Context<'_>,
        [mask, weight]: [&Lanes; 2],
        workspace: &mut PairWorkspace,
    ) {
        let (x, points) = (self.problem.rows.row(row), self.points.block(at.0, at.1));
        workspace.gamma.fill(Lanes::ZERO);
        for term in &self.terms {
            let spread = context.run(Fill { term, x, points, block: &mut workspace.block });
            context.run(AddAlone { packed: self, term, row, block: at.1, mask, weight, workspace });
            let PairWorkspace { block, scratch, gamma, .. } = &mut *workspace;
            Quantity::Values(Nodes::Table(&self.nodes)).evaluate(
                &spread,
                (block, &term.term.players),
                scratch,
                context,
            );
            if !self.is_one_term() {
                context.run(AddTerm { term: &term.term, block, gamma });
            }
        }
    }

    /// Hands the column sums of the rows of one group over to rows and groups, and starts anew.
    fn flush_columns(
        &self,
        group: usize,
        second: &Chunk,
        workspace: &mut PairWorkspace,
        sums: &mut TileSums,
    ) {
        let in_row = self.row_sums() * self.players();
        let together = self.rows_together();
        let (values, in_group) = (self.values_in_groups(), self.in_group());
        let groups = self.groups_of(second);
        // In the place of each row are sums for one transformed place in an octet, so that an octet
        // that is not whole has as many.
        for place in 0..second.rows.len().next_multiple_of(together) {
            let (block, lane) = (place / LANES, place % LANES);
            let columns = &workspace.columns[block * self.in_column()..][..self.in_column()];
            let (of_groups, others) = columns.split_at(self.in_group_of_column());
            let row = (second.rows.start + place).min(second.rows.end - 1);
            let other = group * groups.len() + self.problem.groups[row] - groups.start;
            let into_group = &mut sums.groups[other * in_group..][..in_group];
            let of_place = into_group.chunks_mut(values).skip(place % together).step_by(together);
            for (sums, lanes) in of_place.zip(of_groups.chunks(values)) {
                add_lane(sums, lanes, lane);
            }
            if let Some(into_row) = sums.rows[1].chunks_mut(in_row).nth(place) {
                let (weighted, rest) = into_row.split_at_mut(in_row - others.len());
                add_lane(weighted, of_groups, lane);
                add_lane(rest, others, lane);
            }
        }
        workspace.columns.fill(Lanes::ZERO);
    }
}

fn zeros<T: Copy>(vector: &mut Vec<T>, length: usize, zero: T) {
    vector.clear();
    vector.resize(length, zero);
}

/// Adds one lane of each to sums, of which there may be fewer.
fn add_lane(sums: &mut [f64], lanes: &[Lanes], lane: usize) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.0[lane];
    }
}

fn into_totals(lanes: &[Lanes], totals: &mut [f64]) {
    for (total, lanes) in totals.iter_mut().zip(lanes) {
        *total = lanes.total();
    }
}

/// The weights of the pairs of a row and a block, 0 where a lane holds no pair.
struct Weigh<'a> {
    packed: &'a PackedPairs<'a>,
    row: usize,
    at: (&'a Chunk, usize),
    mask: Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for Weigh<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Lanes {
        let PairWorkspace { target_block, octet, .. } = self.workspace;
        let weights = self.packed.weights.of_pairs::<A, W>(self.row, self.at, target_block);
        if self.packed.weights.exchanges() {
            *octet.weights_of(self.row) = weights;
        }
        weights.times::<W>(&self.mask)
    }
}

/// Adds what players are worth alone in a term to weighted sums.
struct AddAlone<'a> {
    packed: &'a PackedPairs<'a>,
    term: &'a PairTerm<'a>,
    row: usize,
    block: usize,
    mask: &'a Lanes,
    weight: &'a Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for AddAlone<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let PairWorkspace { block, octet, alone, columns, .. } = self.workspace;
        let (width, first) = (self.packed.in_column(), self.packed.players());
        let columns = &mut columns[self.block * width..][..width];
        let players = self.term.term.players.iter().zip(&self.term.alone);
        for ((&player, &factor), difference) in players.zip(&block.difference) {
            let value = Lanes([factor; LANES]).times::<W>(difference);
            alone[player].add_product::<A, W>(&value, self.weight);
            if !self.packed.problem.alone_in_groups {
                continue;
            }
            if self.packed.weights.exchanges() {
                let values = octet.values_of(self.row);
                values[first + player].add_product::<A, W>(&value, self.mask);
            } else {
                columns[first + player].add_product::<A, W>(&value, self.weight);
            }
        }
    }
}

/// Adds the pairs of a row and a block to all running sums of γ.
struct Accumulate<'a> {
    packed: &'a PackedPairs<'a>,
    row: usize,
    block: usize,
    row_sums: Range<usize>,
    mask: Lanes,
    weight: Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let PairWorkspace { block, gamma, octet, rows, columns, squares, .. } = self.workspace;
        let width = self.packed.in_column();
        let columns = &mut columns[self.block * width..][..width];
        let (of_groups, others) = columns.split_at_mut(self.packed.in_group_of_column());
        let mut sums = Sums {
            weight: &self.weight,
            mask: &self.mask,
            row: &mut rows[self.row_sums],
            of_groups,
            others,
            octet: self.packed.weights.exchanges().then(|| octet.values_of(self.row)),
            squares,
        };
        let is_target = self.packed.weights.is_target();
        if self.packed.is_one_term() {
            let coefficient = Lanes([self.packed.terms[0].term.coefficient; LANES]);
            let values = block.omega.iter().zip(&block.difference);
            for (player, (omega, difference)) in values.enumerate() {
                let value = omega.times::<W>(difference).times::<W>(&coefficient);
                sums.add::<A, W>(player, &value, is_target);
            }
        } else {
            for (player, value) in gamma.iter().enumerate() {
                sums.add::<A, W>(player, value, is_target);
            }
        }
    }
}

/// Running sums of γ that a row and a block contribute to.
struct Sums<'a> {
    weight: &'a Lanes,
    mask: &'a Lanes,
    row: &'a mut [Lanes],
    /// Of the columns: over groups, and others.
    of_groups: &'a mut [Lanes],
    others: &'a mut [Lanes],
    /// The values of the row's octet, if octets exchange targets: its pairs are summed later.
    octet: Option<&'a mut [Lanes]>,
    squares: &'a mut [Lanes],
}

impl Sums<'_> {
    #[inline(always)]
    fn add<A: Arithmetic, const W: usize>(
        &mut self,
        player: usize,
        value: &Lanes,
        is_target: bool,
    ) {
        let players = self.squares.len();
        self.row[player].add_product::<A, W>(value, self.weight);
        let plain = if let Some(octet) = &mut self.octet {
            octet[player] = value.times::<W>(self.mask);
            self.others[player].add_product::<A, W>(value, self.weight);
            players
        } else {
            self.of_groups[player].add_product::<A, W>(value, self.weight);
            0
        };
        if is_target {
            self.row[players + player].add_product::<A, W>(value, self.mask);
            self.others[plain + player].add_product::<A, W>(value, self.mask);
        } else {
            let square = value.times::<W>(value);
            self.squares[player].add_product::<A, W>(&square, self.mask);
        }
    }
}

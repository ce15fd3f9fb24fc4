//! The sums over the pairs of one tile.

use std::ops::Range;

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::block::{Block, Spread};
use crate::kernel::CompiledTerm;
use crate::lanes::{LANES, Lanes};
use crate::memory::{Memory, PAIRS, product};
use crate::nodes::NodeTable;
use crate::pair_walk::{Tile, Walk};
use crate::pair_weights::{Classes, PackedWeights, Weighting};
use crate::pairs::PairProblem;
use crate::pool::Stop;
use crate::quantity::{Nodes, Quantity, Scratch};
use crate::sample::{Chunk, Chunks, PackedRows};
use crate::simd::{Body, Level};

/// A problem made ready.
pub(crate) struct PackedPairs<'a> {
    pub problem: &'a PairProblem<'a>,
    pub weights: PackedWeights<'a>,
    points: PackedRows,
    terms: Vec<PackedTerm<'a>>,
    nodes: NodeTable,
}

struct PackedTerm<'a> {
    term: CompiledTerm,
    /// The absent factors of all players.
    absent: Option<&'a [f64]>,
    /// For each of the term's players what c is to be multiplied by for the player's worth alone:
    /// the coefficient and the absent factors of the others.
    alone: Vec<f64>,
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
    /// The pairs' weights, 0 where a lane holds no pair.
    weights: Vec<Lanes>,
    /// Running sums of a row: for each sum, each player.
    row: Vec<Lanes>,
    /// Running sums of the columns: for each block, each weight those of a group (and with a target
    /// the sums without weights), each player.
    columns: Vec<Lanes>,
    alone: Vec<Lanes>,
    squares: Vec<Lanes>,
}

impl PairProblem<'_> {
    /// Chunks whose columns' sums stay in the first-level cache.
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
            Ok(PackedTerm::new(CompiledTerm::new(term, problem.players)?, absent))
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

    /// Sums of a pair of groups with each weight: of γ, and of what players are worth alone.
    fn with_each_weight(&self) -> usize {
        self.players() * (1 + usize::from(self.problem.alone_in_groups))
    }

    /// Sums of a pair of groups.
    pub fn in_group(&self) -> usize {
        self.weights.count() * self.with_each_weight()
    }

    /// Sums of each column: those of a pair of groups, and with a target one without weights.
    fn in_column(&self) -> usize {
        self.in_group() + usize::from(self.weights.is_target()) * self.players()
    }

    /// The groups of a chunk's rows.
    pub fn groups_of(&self, chunk: &Chunk) -> Range<usize> {
        let groups = &self.problem.groups[chunk.rows.clone()];
        groups[0]..groups[groups.len() - 1] + 1
    }

    /// The tiles in which the pairs come.
    pub fn walk<'c>(&self, chunks: &'c Chunks, threads: usize) -> Result<Walk<'c>, Error> {
        let skips_second = match self.problem.weighting {
            Weighting::Classes(Classes { skips_second, .. }) => skips_second,
            Weighting::Target(_) => false,
        };
        let pair_cost = product([self.players(), self.terms.len().max(1)]);
        Walk::new(chunks, skips_second, pair_cost, threads)
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
        let PairWorkspace { block, scratch, gamma, weights, row, columns, alone, squares, .. } =
            &mut workspace;
        block.reserve(self.players(), 0, memory)?;
        scratch.reserve(Quantity::Values(Nodes::Table(&self.nodes)), self.players(), memory)?;
        memory.reserve(weights, self.weights.count(), PAIRS)?;
        let blocks = chunks.all().iter().map(Chunk::blocks).max().unwrap_or(0);
        memory.reserve(columns, product([blocks, self.in_column()]), PAIRS)?;
        let per_player = [(gamma, 1), (row, self.row_sums()), (alone, 1), (squares, 1)];
        for (sums, count) in per_player {
            memory.reserve(sums, product([count, self.players()]), PAIRS)?;
        }
        Ok(workspace)
    }

    /// Sums the pairs of one tile.
    pub fn add_up(
        &self,
        tile: Tile<'_>,
        (level, stop): (Level, &Stop),
        workspace: &mut PairWorkspace,
        sums: &mut TileSums,
    ) {
        self.reset(tile, workspace, sums);
        let groups = &self.problem.groups;
        let in_row = self.row_sums() * self.players();
        for (place, row) in tile.first.rows.clone().enumerate() {
            workspace.row.fill(Lanes::ZERO);
            for (block, mask) in tile.blocks_of(row) {
                let at = (tile.second, block);
                level.run(Weigh { packed: self, row, at, mask, workspace });
                self.evaluate(row, at, (level, stop), workspace);
                level.run(Accumulate { packed: self, block, mask, workspace });
            }
            into_totals(&workspace.row, &mut sums.rows[0][place * in_row..][..in_row]);
            if row + 1 == tile.first.rows.end || groups[row] != groups[row + 1] {
                let group = groups[row] - groups[tile.first.rows.start];
                self.flush_columns(group, tile.second, workspace, sums);
            }
        }
        into_totals(&workspace.alone, &mut sums.alone);
        into_totals(&workspace.squares, &mut sums.squares);
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
        zeros(&mut workspace.weights, self.weights.count(), Lanes::ZERO);
        zeros(&mut workspace.row, self.row_sums() * players, Lanes::ZERO);
        let columns = tile.second.blocks() * self.in_column();
        zeros(&mut workspace.columns, columns, Lanes::ZERO);
        zeros(&mut workspace.alone, players, Lanes::ZERO);
        zeros(&mut workspace.squares, players, Lanes::ZERO);
    }

    /// γ of the pairs of a row and a block, summed over terms, and what players are worth alone.
    fn evaluate(
        &self,
        row: usize,
        (chunk, index): (&Chunk, usize),
        (level, stop): (Level, &Stop),
        workspace: &mut PairWorkspace,
    ) {
        let PairWorkspace { block, scratch, gamma, weights, alone, columns, .. } = workspace;
        let columns = &mut columns[index * self.in_column()..][..self.in_column()];
        let (x, points) = (self.problem.rows.row(row), self.points.block(chunk, index));
        gamma.fill(Lanes::ZERO);
        for term in &self.terms {
            let spread = level.run(Fill { term, x, points, block });
            let difference = &block.difference;
            level.run(AddAlone { packed: self, term, difference, weights, alone, columns });
            Quantity::Values(Nodes::Table(&self.nodes)).evaluate(
                &spread,
                (block, &term.term.players),
                scratch,
                (level, stop),
            );
            if !self.is_one_term() {
                level.run(AddTerm { term: &term.term, block, gamma });
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
        let (players, in_row) = (self.players(), self.row_sums() * self.players());
        let (in_group, width) = (self.in_group(), self.in_column());
        let groups = self.groups_of(second);
        for (place, row) in second.rows.clone().enumerate() {
            let (block, lane) = (place / LANES, place % LANES);
            let columns = &workspace.columns[block * width..][..width];
            let other = self.problem.groups[row] - groups.start;
            let into_groups =
                &mut sums.groups[(group * groups.len() + other) * in_group..][..in_group];
            for (sum, lanes) in into_groups.iter_mut().zip(columns) {
                *sum += lanes.0[lane];
            }
            let into_row = &mut sums.rows[1][place * in_row..][..in_row];
            // With the first weight and, with a target, without any.
            let kept = columns[..players].iter().chain(&columns[in_group..]);
            for (sum, lanes) in into_row.iter_mut().zip(kept) {
                *sum += lanes.0[lane];
            }
        }
        workspace.columns.fill(Lanes::ZERO);
    }
}

impl<'a> PackedTerm<'a> {
    fn new(term: CompiledTerm, absent: Option<&'a [f64]>) -> Self {
        let of = |player: usize| absent.map_or(1.0, |absent| absent[player]);
        let players = &term.players;
        let mut alone = vec![term.coefficient; players.len()];
        let (mut before, mut after) = (1.0, 1.0);
        for place in 0..players.len() {
            let opposite = players.len() - 1 - place;
            alone[place] *= before;
            alone[opposite] *= after;
            before *= of(players[place]);
            after *= of(players[opposite]);
        }
        Self { term, absent, alone }
    }
}

fn zeros<T: Copy>(vector: &mut Vec<T>, length: usize, zero: T) {
    vector.clear();
    vector.resize(length, zero);
}

fn into_totals(lanes: &[Lanes], totals: &mut [f64]) {
    for (total, lanes) in totals.iter_mut().zip(lanes) {
        *total = lanes.total();
    }
}

/// The weights of the pairs of a row and a block.
struct Weigh<'a> {
    packed: &'a PackedPairs<'a>,
    row: usize,
    at: (&'a Chunk, usize),
    mask: Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let PairWorkspace { target_block, weights, .. } = self.workspace;
        self.packed.weights.fill::<A, W>(self.row, self.at, &self.mask, target_block, weights);
    }
}

/// The factors of the pairs of a row and a block.
struct Fill<'a> {
    term: &'a PackedTerm<'a>,
    x: &'a [f64],
    points: &'a [Lanes],
    block: &'a mut Block,
}

impl Body for Fill<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let PackedTerm { term, absent, .. } = self.term;
        let spread = term.fill::<A, W>(self.x, self.points, self.block);
        let Some(absent) = absent else {
            return spread;
        };
        self.block.set_absent::<W>(term.players.iter().map(|&player| absent[player]));
        self.block.spread_of_fractions::<A, W>()
    }
}

/// Adds what players are worth alone in a term to weighted sums.
struct AddAlone<'a> {
    packed: &'a PackedPairs<'a>,
    term: &'a PackedTerm<'a>,
    difference: &'a [Lanes],
    weights: &'a [Lanes],
    alone: &'a mut [Lanes],
    columns: &'a mut [Lanes],
}

impl Body for AddAlone<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let players = self.term.term.players.iter().zip(&self.term.alone);
        for ((&player, &factor), difference) in players.zip(self.difference) {
            let value = Lanes([factor; LANES]).times::<W>(difference);
            self.alone[player].add_product::<A, W>(&value, &self.weights[0]);
            if self.packed.problem.alone_in_groups {
                let place = self.packed.players() + player;
                for (number, weight) in self.weights.iter().enumerate() {
                    let at = number * self.packed.with_each_weight() + place;
                    self.columns[at].add_product::<A, W>(&value, weight);
                }
            }
        }
    }
}

/// Adds a term's values to the pairs'.
struct AddTerm<'a> {
    term: &'a CompiledTerm,
    block: &'a Block,
    gamma: &'a mut [Lanes],
}

impl Body for AddTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let coefficient = Lanes([self.term.coefficient; LANES]);
        let values = self.block.omega.iter().zip(&self.block.difference);
        for ((omega, difference), &player) in values.zip(&self.term.players) {
            let value = omega.times::<W>(difference);
            self.gamma[player].add_product::<A, W>(&value, &coefficient);
        }
    }
}

/// Adds the pairs of a row and a block to all running sums of γ.
struct Accumulate<'a> {
    packed: &'a PackedPairs<'a>,
    block: usize,
    mask: Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let PairWorkspace { block, gamma, weights, row, columns, squares, .. } = self.workspace;
        let width = self.packed.in_column();
        let mut sums = Sums {
            weights,
            with_each_weight: self.packed.with_each_weight(),
            mask: &self.mask,
            row,
            columns: &mut columns[self.block * width..][..width],
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
    weights: &'a [Lanes],
    /// Sums of a column with each weight, those of γ first.
    with_each_weight: usize,
    mask: &'a Lanes,
    row: &'a mut [Lanes],
    columns: &'a mut [Lanes],
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
        self.row[player].add_product::<A, W>(value, &self.weights[0]);
        self.columns[player].add_product::<A, W>(value, &self.weights[0]);
        if is_target {
            self.row[players + player].add_product::<A, W>(value, self.mask);
            for (number, weight) in self.weights.iter().chain([self.mask]).enumerate().skip(1) {
                let at = number * self.with_each_weight + player;
                self.columns[at].add_product::<A, W>(value, weight);
            }
        } else {
            let square = value.times::<W>(value);
            self.squares[player].add_product::<A, W>(&square, self.mask);
        }
    }
}

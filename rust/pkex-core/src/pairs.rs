//! Sums over all pairs of rows of a sample: what MMD and HSIC and their attributions are made of.
//!
//! Every pair of rows a, b is a product game with the value γⱼ = cⱼ Ωⱼ for player j, summed over
//! the terms of the kernel. Each unordered pair is computed once. The walk goes over tiles, pairs
//! of chunks of rows; a tile's plain sums (of some hundred numbers) are added up in tile order, so
//! that the result's bits do not depend on the number of threads. A row's pair with itself is left
//! out. Memory: the results, and the sums of a wave of tiles.

use std::ops::Range;

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::block::{Block, Spread};
use crate::driver::Settings;
use crate::kernel::{CompiledTerm, Players, Term};
use crate::lanes::{LANES, Lanes, each};
use crate::matrix::Matrix;
use crate::nodes::NodeTable;
use crate::pair_weights::{PackedTarget, TargetWeights};
use crate::pool::{self, Monitor, Parallelism, Stop};
use crate::quantity::{Nodes, Quantity, Scratch};
use crate::reduce::{Sum, Summation};
use crate::sample::{Chunk, Chunks, PackedRows};
use crate::simd::{Body, Level};

/// A sample whose pairs are to be summed.
#[derive(Clone, Copy, Debug)]
pub struct PairProblem<'a> {
    /// The rows.
    pub rows: Matrix<'a>,
    /// The kernel.
    pub terms: &'a [Term],
    /// Whom the columns belong to.
    pub players: &'a Players,
    /// The factors of absent players, a row for each term; 1 if not given.
    pub absent: Option<Matrix<'a>>,
    /// The group of each row, numbered from 0 and never decreasing.
    pub groups: &'a [usize],
    /// What pairs weigh.
    pub weighting: Weighting<'a>,
}

/// What pairs weigh, and so what rows' sums are kept apart.
#[derive(Clone, Copy, Debug)]
pub enum Weighting<'a> {
    /// Every pair weighs 1; the first rows are one class, the others the second, and no group has
    /// rows of both. A row has one sum over each class.
    Classes {
        /// Number of rows of the first class.
        first: usize,
    },
    /// Pairs weigh what a target says. A row has its weighted sum and its plain one.
    Target(TargetWeights<'a>),
}

/// Sums over unordered pairs, each an array whose last axis is players.
#[derive(Clone, Debug, PartialEq)]
pub struct PairSums {
    /// For each row, over all other rows: two sums of γ (see [`Weighting`]).
    pub rows: Vec<f64>,
    /// Σ w γ for each pair of groups I ≤ J, row by row of the triangle, and each weight.
    pub groups: Vec<f64>,
    /// Σ w c; for classes apart for the pairs of classes 00, 01, 11.
    pub alone: Vec<f64>,
    /// Σ γ² for the pairs of classes; empty with a target.
    pub squares: Vec<f64>,
}

/// Row sums kept for each row.
const ROW_SUMS: usize = 2;

impl PairProblem<'_> {
    /// Computes the sums.
    ///
    /// # Errors
    /// If shapes do not fit, groups are not as described, a sum overflows, or the monitor stops.
    pub fn sums(&self, settings: &Settings, monitor: Monitor<'_>) -> Result<PairSums, Error> {
        let packed = Packed::new(self)?;
        let mut totals = Totals::new(&packed);
        let tiles = packed.tiles();
        let parallelism = packed.parallelism(settings.threads);
        let mut wave = vec![TileSums::default(); TILES_PER_WAVE.min(tiles.len())];
        for (number, tiles_of_wave) in tiles.chunks(TILES_PER_WAVE).enumerate() {
            let wave = &mut wave[..tiles_of_wave.len()];
            pool::for_each(
                wave.iter_mut().zip(tiles_of_wave),
                parallelism,
                PairWorkspace::default,
                |workspace, (sums, tile), stop| {
                    add_up(&packed, tile, (settings.level, stop), workspace, sums);
                },
                &mut |done, _| monitor(number * TILES_PER_WAVE + done, tiles.len()),
            )?;
            for (sums, tile) in wave.iter().zip(tiles_of_wave) {
                totals.add(&packed, tile, sums, settings.summation);
            }
        }
        totals.finish(self.players.count())
    }
}

/// Tiles whose sums are kept at a time.
const TILES_PER_WAVE: usize = 128;

/// A problem made ready.
struct Packed<'a> {
    problem: &'a PairProblem<'a>,
    chunks: Chunks,
    points: PackedRows,
    terms: Vec<CompiledTerm>,
    nodes: NodeTable,
    target: Option<PackedTarget<'a>>,
    group_count: usize,
}

/// The pairs between the rows of two chunks, `rows` ≤ `columns`.
#[derive(Clone, Copy, Debug)]
struct TileIndex {
    rows: usize,
    columns: usize,
}

impl<'a> Packed<'a> {
    fn new(problem: &'a PairProblem<'a>) -> Result<Self, Error> {
        let rows = problem.rows.rows();
        problem.check_shapes()?;
        // With a target all rows are of the second class.
        let first = match problem.weighting {
            Weighting::Classes { first } => first,
            Weighting::Target(_) => 0,
        };
        // Column sums of a chunk stay in the second-level cache.
        let blocks = (320 / problem.players.count().max(1)).clamp(1, 16);
        let chunks = Chunks::new(&[0..first, first..rows], blocks);
        let target = match problem.weighting {
            Weighting::Classes { .. } => None,
            Weighting::Target(weights) => Some(PackedTarget::new(weights, rows, &chunks)?),
        };
        let compile = |term| CompiledTerm::new(term, problem.players);
        Ok(Self {
            problem,
            points: PackedRows::new(problem.rows, &chunks, |row| row),
            terms: problem.terms.iter().map(compile).collect::<Result<_, _>>()?,
            nodes: NodeTable::new(problem.players.count()),
            target,
            group_count: problem.groups.last().map_or(0, |last| last + 1),
            chunks,
        })
    }

    fn players(&self) -> usize {
        self.problem.players.count()
    }

    /// Weights of a pair.
    fn weight_count(&self) -> usize {
        self.target.as_ref().map_or(1, PackedTarget::count)
    }

    /// Sums that each row has in a tile: with classes the tile belongs to one of the two.
    fn row_sums(&self) -> usize {
        if self.target.is_some() { ROW_SUMS } else { 1 }
    }

    fn tiles(&self) -> Vec<TileIndex> {
        let chunks = self.chunks.len();
        (0..chunks)
            .flat_map(|rows| (rows..chunks).map(move |columns| TileIndex { rows, columns }))
            .collect()
    }

    fn parallelism(&self, threads: usize) -> Parallelism {
        let rows = self.problem.rows.rows();
        if rows * rows * self.players() * self.terms.len().max(1) < 50_000 {
            Parallelism::Inline
        } else {
            Parallelism::Threads(threads.max(1))
        }
    }

    /// The groups of a chunk's rows.
    fn groups_of(&self, chunk: &Chunk) -> Range<usize> {
        let groups = &self.problem.groups[chunk.rows.clone()];
        groups[0]..groups[groups.len() - 1] + 1
    }
}

impl PairProblem<'_> {
    fn check_shapes(&self) -> Result<(), Error> {
        let rows = self.rows.rows();
        let shape = |argument, expected: String, got: usize| Error::Shape {
            argument,
            expected,
            got: got.to_string(),
        };
        if self.rows.columns() != self.players.column_count() {
            let expected = format!("{} columns", self.players.column_count());
            return Err(shape("rows", expected, self.rows.columns()));
        }
        if self.groups.len() != rows {
            return Err(shape("groups", format!("{rows} entries"), self.groups.len()));
        }
        if let Some(absent) = self.absent
            && (absent.rows(), absent.columns()) != (self.terms.len(), self.players.count())
        {
            let expected = format!("{} × {} factors", self.terms.len(), self.players.count());
            return Err(shape("absent", expected, absent.rows()));
        }
        let steps = self.groups.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let straddled = match self.weighting {
            Weighting::Classes { first } if first > rows => {
                return Err(shape("first", format!("at most {rows}"), first));
            }
            Weighting::Classes { first } if first > 0 && first < rows => {
                self.groups[first - 1] == self.groups[first]
            }
            _ => false,
        };
        let is_dense = self.groups.first().is_none_or(|&first| first == 0)
            && steps.into_iter().all(|step| matches!(step, Some(0 | 1)));
        if straddled || !is_dense {
            return Err(Error::Domain {
                argument: "groups",
                requirement: "0, 1, … without gaps or descents, and of one class each",
                got: "others".to_owned(),
            });
        }
        Ok(())
    }
}

/// Plain sums of one tile; the last axis of each is players.
#[derive(Clone, Debug, Default)]
struct TileSums {
    /// For each row of the first chunk and of the second.
    rows: [Vec<f64>; 2],
    /// For each group of the first chunk, of the second, and each weight.
    groups: Vec<f64>,
    alone: Vec<f64>,
    squares: Vec<f64>,
}

/// What a thread keeps between tiles.
#[derive(Debug, Default)]
struct PairWorkspace {
    block: Block,
    scratch: Scratch,
    target_block: Block,
    /// γ and c of the pairs of a row and a block, player by player.
    gamma: Vec<Lanes>,
    alone: Vec<Lanes>,
    /// The pairs' weights, 0 where a lane holds no pair; the last is 1 where it does.
    weights: Vec<Lanes>,
    /// Running sums of a row: for each sum, each player.
    row: Vec<Lanes>,
    /// Running sums of the columns: for each block, each weight and 1, each player.
    columns: Vec<Lanes>,
    total_alone: Vec<Lanes>,
    total_squares: Vec<Lanes>,
}

/// Sums the pairs of one tile.
fn add_up(
    packed: &Packed<'_>,
    tile: &TileIndex,
    (level, stop): (Level, &Stop),
    workspace: &mut PairWorkspace,
    sums: &mut TileSums,
) {
    let (first, second) = (packed.chunks.get(tile.rows), packed.chunks.get(tile.columns));
    let is_diagonal = tile.rows == tile.columns;
    reset(packed, workspace, sums, first, second);
    let groups = &packed.problem.groups;
    for row in first.rows.clone() {
        workspace.row.fill(Lanes::ZERO);
        let start = if is_diagonal { (row - first.rows.start) / LANES } else { 0 };
        for block in start..second.blocks() {
            let columns = second.rows.start + block * LANES..second.rows.end;
            let mask = Lanes(each(|lane| {
                let column = columns.start + lane;
                let is_pair = column < columns.end && (!is_diagonal || column > row);
                f64::from(u8::from(is_pair))
            }));
            evaluate(packed, (row, second, block), (level, stop), workspace);
            level.run(Weigh { packed, row, chunk: second, index: block, mask, workspace });
            level.run(Accumulate { packed, block, workspace });
        }
        let row_sums = packed.row_sums() * packed.players();
        let at = (row - first.rows.start) * row_sums;
        for (sum, lanes) in sums.rows[0][at..at + row_sums].iter_mut().zip(&workspace.row) {
            *sum = lane_sum(lanes);
        }
        if row + 1 == first.rows.end || groups[row] != groups[row + 1] {
            let group = groups[row] - groups[first.rows.start];
            flush_columns(packed, group, second, workspace, sums);
        }
    }
    for (sum, lanes) in sums.alone.iter_mut().zip(&workspace.total_alone) {
        *sum = lane_sum(lanes);
    }
    for (sum, lanes) in sums.squares.iter_mut().zip(&workspace.total_squares) {
        *sum = lane_sum(lanes);
    }
}

/// Sets all sums to 0, at the sizes of the tile.
fn reset(
    packed: &Packed<'_>,
    workspace: &mut PairWorkspace,
    sums: &mut TileSums,
    first: &Chunk,
    second: &Chunk,
) {
    let (players, weights) = (packed.players(), packed.weight_count());
    let zeros = |vector: &mut Vec<f64>, length| {
        vector.clear();
        vector.resize(length, 0.0);
    };
    let zero_lanes = |vector: &mut Vec<Lanes>, length| {
        vector.clear();
        vector.resize(length, Lanes::ZERO);
    };
    for (rows, chunk) in sums.rows.iter_mut().zip([first, second]) {
        zeros(rows, chunk.rows.len() * packed.row_sums() * players);
    }
    let group_pairs = packed.groups_of(first).len() * packed.groups_of(second).len();
    zeros(&mut sums.groups, group_pairs * weights * players);
    zeros(&mut sums.alone, players);
    zeros(&mut sums.squares, players);
    zero_lanes(&mut workspace.gamma, players);
    zero_lanes(&mut workspace.alone, players);
    zero_lanes(&mut workspace.weights, weights + 1);
    zero_lanes(&mut workspace.row, packed.row_sums() * players);
    zero_lanes(&mut workspace.columns, second.blocks() * (weights + 1) * players);
    zero_lanes(&mut workspace.total_alone, players);
    zero_lanes(&mut workspace.total_squares, players);
}

/// γ and c of the pairs of a row and a block, summed over terms.
fn evaluate(
    packed: &Packed<'_>,
    (row, chunk, index): (usize, &Chunk, usize),
    (level, stop): (Level, &Stop),
    workspace: &mut PairWorkspace,
) {
    let PairWorkspace { block, scratch, gamma, alone, .. } = workspace;
    gamma.fill(Lanes::ZERO);
    alone.fill(Lanes::ZERO);
    let (x, points) = (packed.problem.rows.row(row), packed.points.block(chunk, index));
    for (number, term) in packed.terms.iter().enumerate() {
        let absent = packed.problem.absent.map(|absent| absent.row(number));
        let spread = level.run(Fill { term, x, points, absent, block });
        level.run(AddTerm { term, values: None, differences: &block.difference, sums: alone });
        Quantity::Values(Nodes::Table(&packed.nodes)).evaluate(
            &spread,
            (block, &term.players),
            scratch,
            (level, stop),
        );
        let (values, differences) = (Some(&block.omega[..]), &block.difference[..]);
        level.run(AddTerm { term, values, differences, sums: gamma });
    }
}

/// The factors of the pairs of a row and a block.
struct Fill<'a> {
    term: &'a CompiledTerm,
    x: &'a [f64],
    points: &'a [Lanes],
    absent: Option<&'a [f64]>,
    block: &'a mut Block,
}

impl Body for Fill<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let spread = self.term.fill::<A, W>(self.x, self.points, self.block);
        let Some(absent) = self.absent else {
            return spread;
        };
        let players = self.term.players.iter();
        self.block.set_absent::<W>(players.map(|&player| absent[player]));
        self.block.spread::<W>()
    }
}

/// Adds a term's differences, times values where given, to sums of its players.
struct AddTerm<'a> {
    term: &'a CompiledTerm,
    values: Option<&'a [Lanes]>,
    differences: &'a [Lanes],
    sums: &'a mut [Lanes],
}

impl Body for AddTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let coefficient = Lanes([self.term.coefficient; LANES]);
        for (place, &player) in self.term.players.iter().enumerate() {
            let difference = self.differences[place];
            let value = match self.values {
                Some(values) => values[place].times::<W>(&difference),
                None => difference,
            };
            add_product::<A, W>(&mut self.sums[player], &value, &coefficient);
        }
    }
}

/// sum += a·b.
#[inline(always)]
fn add_product<A: Arithmetic, const W: usize>(sum: &mut Lanes, a: &Lanes, b: &Lanes) {
    for part in 0..LANES / W {
        let (a, b): (&[f64; W], &[f64; W]) = (a.part(part), b.part(part));
        let sum: &mut [f64; W] = sum.part_mut(part);
        *sum = each(|i| A::mul_add(a[i], b[i], sum[i]));
    }
}

/// The weights of the pairs of a row and a block.
struct Weigh<'a> {
    packed: &'a Packed<'a>,
    row: usize,
    chunk: &'a Chunk,
    index: usize,
    mask: Lanes,
    workspace: &'a mut PairWorkspace,
}

impl Body for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let PairWorkspace { target_block, weights, .. } = self.workspace;
        if let Some(target) = &self.packed.target {
            target.fill::<A, W>(self.row, self.chunk, self.index, target_block, weights);
            for weight in &mut *weights {
                *weight = weight.times::<W>(&self.mask);
            }
        } else {
            weights[0] = self.mask;
        }
        let last = weights.len() - 1;
        weights[last] = self.mask;
    }
}

/// Adds the pairs of a row and a block to all running sums.
struct Accumulate<'a> {
    packed: &'a Packed<'a>,
    block: usize,
    workspace: &'a mut PairWorkspace,
}

impl Body for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let players = self.packed.players();
        let has_target = self.packed.target.is_some();
        let PairWorkspace {
            gamma, alone, weights, row, columns, total_alone, total_squares, ..
        } = self.workspace;
        let width = weights.len() * players;
        let columns = &mut columns[self.block * width..][..width];
        let mask = weights[weights.len() - 1];
        for player in 0..players {
            let value = gamma[player];
            add_product::<A, W>(&mut row[player], &value, &weights[0]);
            add_product::<A, W>(&mut columns[player], &value, &weights[0]);
            add_product::<A, W>(&mut total_alone[player], &alone[player], &weights[0]);
            if has_target {
                add_product::<A, W>(&mut row[players + player], &value, &mask);
                for (number, weight) in weights.iter().enumerate().skip(1) {
                    add_product::<A, W>(&mut columns[number * players + player], &value, weight);
                }
            } else {
                let square = value.times::<W>(&value);
                add_product::<A, W>(&mut total_squares[player], &square, &mask);
            }
        }
    }
}

/// Hands the column sums of the rows of one group over to rows and groups, and starts anew.
fn flush_columns(
    packed: &Packed<'_>,
    group: usize,
    second: &Chunk,
    workspace: &mut PairWorkspace,
    sums: &mut TileSums,
) {
    let (players, weights, row_sums) = (packed.players(), packed.weight_count(), packed.row_sums());
    let groups = packed.groups_of(second);
    for (block, columns) in workspace.columns.chunks_mut((weights + 1) * players).enumerate() {
        for lane in 0..LANES {
            let place = block * LANES + lane;
            let row = second.rows.start + place;
            if row >= second.rows.end {
                break;
            }
            let other = packed.problem.groups[row] - groups.start;
            let at = (group * groups.len() + other) * weights * players;
            let into_groups = &mut sums.groups[at..at + weights * players];
            for (sum, lanes) in into_groups.iter_mut().zip(&*columns) {
                *sum += lanes.0[lane];
            }
            let into_row = &mut sums.rows[1][place * row_sums * players..][..row_sums * players];
            for player in 0..players {
                into_row[player] += columns[player].0[lane];
                if row_sums > 1 {
                    into_row[players + player] += columns[weights * players + player].0[lane];
                }
            }
        }
        columns.fill(Lanes::ZERO);
    }
}

/// The sum of the lanes as a tree.
fn lane_sum(lanes: &Lanes) -> f64 {
    let mut sums = lanes.0;
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            sums[i] += sums[i + count];
        }
    }
    sums[0]
}

/// The sums over all tiles so far.
struct Totals {
    rows: Vec<Sum>,
    groups: Vec<Sum>,
    alone: Vec<Sum>,
    squares: Vec<Sum>,
}

impl Totals {
    fn new(packed: &Packed<'_>) -> Self {
        let zeros = |length: usize| vec![Sum::default(); length * packed.players()];
        let groups = packed.group_count;
        let (class_pairs, squares) = if packed.target.is_some() { (1, 0) } else { (3, 3) };
        Self {
            rows: zeros(packed.problem.rows.rows() * ROW_SUMS),
            groups: zeros(groups * (groups + 1) / 2 * packed.weight_count()),
            alone: zeros(class_pairs),
            squares: zeros(squares),
        }
    }

    /// Adds a tile's sums.
    fn add(
        &mut self,
        packed: &Packed<'_>,
        tile: &TileIndex,
        sums: &TileSums,
        summation: Summation,
    ) {
        let players = packed.players();
        let chunks = [packed.chunks.get(tile.rows), packed.chunks.get(tile.columns)];
        let [first, second] = chunks;
        for (side, rows) in sums.rows.iter().enumerate() {
            let other_class = chunks[1 - side].class;
            let in_row = packed.row_sums() * players;
            for (row, values) in chunks[side].rows.clone().zip(rows.chunks(in_row)) {
                let at = row * ROW_SUMS * players
                    + if packed.target.is_some() { 0 } else { other_class * players };
                add_all(&mut self.rows[at..at + in_row], values, summation);
            }
        }
        let (row_groups, column_groups) = (packed.groups_of(first), packed.groups_of(second));
        let width = packed.weight_count() * players;
        for (number, values) in sums.groups.chunks(width).enumerate() {
            let one = row_groups.start + number / column_groups.len();
            let other = column_groups.start + number % column_groups.len();
            if one <= other {
                let at = triangle_index(one, other, packed.group_count) * width;
                add_all(&mut self.groups[at..at + width], values, summation);
            }
        }
        // The classes' pairs 00, 01, 11.
        let at = if packed.target.is_some() { 0 } else { (first.class + second.class) * players };
        add_all(&mut self.alone[at..at + players], &sums.alone, summation);
        if packed.target.is_none() {
            add_all(&mut self.squares[at..at + players], &sums.squares, summation);
        }
    }

    fn finish(self, players: usize) -> Result<PairSums, Error> {
        let values = |sums: Vec<Sum>| sums.into_iter().map(Sum::value).collect::<Vec<f64>>();
        let sums = PairSums {
            rows: values(self.rows),
            groups: values(self.groups),
            alone: values(self.alone),
            squares: values(self.squares),
        };
        match sums.rows.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Error::Overflow { row: index / (ROW_SUMS * players) }),
            None => Ok(sums),
        }
    }
}

/// The place of the pair one ≤ other among the pairs of `count` things, row by row.
fn triangle_index(one: usize, other: usize, count: usize) -> usize {
    one * (2 * count - one + 1) / 2 + (other - one)
}

fn add_all(totals: &mut [Sum], values: &[f64], summation: Summation) {
    for (total, &value) in totals.iter_mut().zip(values) {
        total.add(Sum::from(value), summation);
    }
}

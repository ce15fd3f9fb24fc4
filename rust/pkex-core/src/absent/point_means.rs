//! The mean factors over an expansion's points: each pair of points is computed once, and counts
//! for both. The factors are numbers; those of a point with itself are 1.
//!
//! Sums over sixteen rows are plain, and sums of these are compensated. So a mean is known to
//! nearly all its digits, as contrasts need, in which digits cancel.

use crate::absent::factors::AbsentFactors;
use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::kernel::term::{FillTerm, PackedTerm};
use crate::matrix::Matrix;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;
use crate::simd::sum::{Accumulator, AddWeighted, Sum, Summation};
use crate::threads::Monitor;
use crate::walk::chunks::{ChunkBlock, Chunks, PackedRows};
use crate::walk::pairs::{PairWalk, Tile, TileWork};

/// The sums of each player: of its factors, and of its factors minus 1.
pub(crate) const KINDS: usize = 2;

/// The mean factors of a term over all points, block by block of points.
pub(crate) fn means_of_points(
    points: Matrix<'_>,
    term: &PackedTerm,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<AbsentFactors>, Error> {
    let width = KINDS * term.players.len();
    // The sums of a chunk's columns stay in the first-level cache.
    let blocks = (320 / width.max(1)).clamp(1, 16);
    let chunks = Chunks::new(std::slice::from_ref(&(0..points.rows())), blocks);
    let packed_rows = PackedRows::new(points, &chunks, |row| row)?;
    let pairs = PointPairs { points, packed_rows, term, blocks };
    let memory = Memory::default();
    let mut totals =
        memory.filled(saturating_product([points.rows(), width]), Sum::default(), FACTORS)?;
    PairWalk::new(&chunks, false, width, settings)?.run(
        &pairs,
        |tile, sums| {
            for (chunk, sums) in [tile.first, tile.second].into_iter().zip(sums) {
                let totals = &mut totals[chunk.rows.start * width..][..sums.len()];
                for (total, &sum) in totals.iter_mut().zip(sums) {
                    total.add(sum.into(), Summation::Compensated);
                }
            }
        },
        &memory,
        monitor,
    )?;
    // The sums are over all other points: the factor of a point with itself is 1.
    pack_means([points.rows(), term.players.len()], settings, |row, player| {
        [(0, 1.0), (1, 0.0)].map(|(kind, self_value)| {
            let mut total = Sum::from(self_value);
            total.add(totals[row * width + KINDS * player + kind], Summation::Compensated);
            total.value()
        })
    })
}

/// The mean factors, from a number of points and of players, and the sums of a player's factors at a
/// point over all points, and of the factors minus 1.
pub(crate) fn pack_means(
    [count, players]: [usize; 2],
    settings: &Settings,
    sums: impl Fn(usize, usize) -> [f64; KINDS],
) -> Result<Vec<AbsentFactors>, Error> {
    let mut means = Vec::new();
    let counts = FactorCount::numbers(players);
    let blocks = count.div_ceil(LANES);
    AbsentFactors::reserve_all(&mut means, blocks, counts, &Memory::default())?;
    for (block, means) in means.iter_mut().enumerate() {
        for player in 0..players {
            let (mut factor, mut less_one) = (Lanes::ZERO, Lanes::ZERO);
            for lane in 0..LANES {
                // The last point fills unused lanes, as among the points.
                let row = (block * LANES + lane).min(count - 1);
                [factor.0[lane], less_one.0[lane]] =
                    sums(row, player).map(|sum| sum / count as f64);
            }
            means.factor.push(factor);
            means.less_one.push(less_one);
        }
        means.set_divisor(settings.level);
    }
    Ok(means)
}

/// The pairs of points of an expansion.
struct PointPairs<'a> {
    points: Matrix<'a>,
    packed_rows: PackedRows,
    term: &'a PackedTerm,
    /// Maximum blocks of a chunk.
    blocks: usize,
}

/// The workspace of a thread: sums of both kinds, player by player.
#[derive(Debug, Default)]
struct PointWorkspace {
    block: Block,
    row: Vec<Lanes>,
    /// The sums of each block of the second chunk, over a run of rows.
    run: Vec<Lanes>,
    columns: Vec<Accumulator>,
}

impl PointWorkspace {
    fn new(players: usize, blocks: usize, memory: &Memory) -> Result<Self, Error> {
        let mut workspace = Self::default();
        let Self { block, row, run, columns } = &mut workspace;
        block.reserve(players, 0, memory)?;
        memory.reserve(row, KINDS * players, FACTORS)?;
        memory.reserve(run, saturating_product([blocks, KINDS, players]), FACTORS)?;
        memory.reserve(columns, saturating_product([blocks, KINDS, players]), FACTORS)?;
        Ok(workspace)
    }
}

impl PointPairs<'_> {
    /// The number of sums of a point.
    fn width(&self) -> usize {
        KINDS * self.term.players.len()
    }
}

impl TileWork for PointPairs<'_> {
    type Workspace = PointWorkspace;
    /// The sums of the rows of the first chunk, and of the second.
    type Sums = [Vec<f64>; 2];

    fn bytes(&self, tile: Tile<'_>) -> usize {
        let rows = tile.first.rows.len() + tile.second.rows.len();
        saturating_product([rows, self.width(), size_of::<f64>()])
    }

    fn reserve(
        &self,
        tile: Tile<'_>,
        sums: &mut [Vec<f64>; 2],
        memory: &Memory,
    ) -> Result<(), Error> {
        let rows = [tile.first, tile.second].map(|chunk| chunk.rows.len());
        sums.iter_mut().zip(rows).try_for_each(|(sums, rows)| {
            memory.reserve(sums, saturating_product([rows, self.width()]), FACTORS)
        })
    }

    fn workspace(&self, memory: &Memory) -> Result<PointWorkspace, Error> {
        PointWorkspace::new(self.term.players.len(), self.blocks, memory)
    }

    fn add_up(
        &self,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut PointWorkspace,
        sums: &mut [Vec<f64>; 2],
    ) {
        let width = self.width();
        let length = tile.second.blocks() * width;
        workspace.columns.clear();
        workspace.columns.resize(length, Accumulator::ZERO);
        for sums in &mut *sums {
            sums.clear();
        }
        for run in tile.first.rows.clone().step_by(LANES) {
            workspace.run.clear();
            workspace.run.resize(length, Lanes::ZERO);
            for row in run..(run + LANES).min(tile.first.rows.end) {
                self.add_row(row, tile, context, workspace);
                sums[0].extend(workspace.row.iter().map(Lanes::total));
            }
            let PointWorkspace { run: values, columns: sums, .. } = workspace;
            context.run(AddWeighted { weights: Lanes::ONE, values, sums });
        }
        workspace.run.clear();
        workspace.run.extend(workspace.columns.iter().map(Accumulator::lanes));
        let column = |row: usize| workspace.run[row / LANES * width..][..width].iter();
        let rows = 0..tile.second.rows.len();
        sums[1].extend(rows.flat_map(|row| column(row).map(move |sum| sum.0[row % LANES])));
    }
}

impl PointPairs<'_> {
    /// Adds the pairs of a row and the second chunk of a tile.
    fn add_row(
        &self,
        row: usize,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut PointWorkspace,
    ) {
        let PointWorkspace { block, row: row_sums, run, .. } = workspace;
        let (term, width) = (self.term, self.width());
        row_sums.clear();
        row_sums.resize(width, Lanes::ZERO);
        for index in tile.blocks_of(row) {
            let points = self.packed_rows.block(ChunkBlock { chunk: tile.second, index });
            context.run(FillTerm { term, row: self.points.row(row), points, block });
            let mask = tile.mask(row, index).unwrap_or(Lanes::ONE);
            let columns = &mut run[index * width..][..width];
            context.run(AddPairsOfPoints { block, mask, row_sums, columns });
        }
    }
}

/// Adds the pairs of a row and a block to the sums of both.
struct AddPairsOfPoints<'a> {
    block: &'a Block,
    mask: Lanes,
    row_sums: &'a mut [Lanes],
    columns: &'a mut [Lanes],
}

impl Body for AddPairsOfPoints<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { block, mask, row_sums, columns } = self;
        debug_assert_eq!(row_sums.len(), KINDS * block.present.len());
        debug_assert_eq!(columns.len(), KINDS * block.difference.len());
        let sums = row_sums.chunks_exact_mut(KINDS).zip(columns.chunks_exact_mut(KINDS));
        let factors = block.present.iter().zip(&block.difference);
        for ((row_sums, column_sums), (factor, less_one)) in sums.zip(factors) {
            for (kind, value) in [factor, less_one].into_iter().enumerate() {
                row_sums[kind].add_product::<A, W>(value, &mask);
                column_sums[kind].add_product::<A, W>(value, &mask);
            }
        }
    }
}

//! The means of players' factors over pairs of rows: the absent factors of the marginal convention.
//!
//! The mean of a Gaussian kernel of one column is computed without the pairs; all others are summed
//! over them.

use crate::error::Error;
use crate::game::block::{Block, FactorCount};
use crate::kernel::players::Players;
use crate::kernel::term::{FillTerm, PackedTerm, Term, max_orders};
use crate::matrix::Matrix;
use crate::memory::{Memory, PAIRS, RESULT, saturating_product};
use crate::sample::gaussian_means::gaussian_mean;
use crate::settings::{Context, Settings};
use crate::simd::lanes::Lanes;
use crate::simd::sum::{AddWeighted, Sum, add_each};
use crate::threads::Monitor;
use crate::walk::chunks::{ChunkBlock, Chunks, PackedRows};
use crate::walk::pairs::{PairWalk, Tile, TileWork};

/// Blocks of a chunk of rows.
const BLOCKS: usize = 16;

/// Computes the mean of each player's factor over all pairs of different rows, term by term. For
/// factors that are power series these are means of coefficients, those of s⁰ of all players first.
///
/// # Errors
/// If shapes do not fit, there are fewer than two rows, a factor is not valid, or the monitor stops
/// the call.
pub fn mean_factors(
    rows: Matrix<'_>,
    terms: &[Term],
    players: &Players,
    settings: &Settings,
    monitor: Monitor<'_>,
) -> Result<Vec<f64>, Error> {
    let count = rows.rows();
    if count < 2 || rows.columns() != players.column_count() {
        return Err(Error::Shape {
            argument: "rows",
            expected: format!("at least two of {} columns", players.column_count()),
            got: format!("{count} of {}", rows.columns()),
        });
    }
    let memory = Memory::default();
    let width = players.count() * (1 + max_orders(terms));
    let mut means = memory.filled(saturating_product([terms.len(), width]), 0.0, RESULT)?;
    let mut pair_terms = Vec::new();
    memory.reserve(&mut pair_terms, terms.len(), PAIRS)?;
    for (term, means) in terms.iter().zip(means.chunks_mut(width.max(1))) {
        means[..players.count()].fill(1.0);
        pair_terms.push(set_gaussian_means(rows, term, players, settings, means)?);
    }
    if pair_terms.iter().any(|term| !term.players.is_empty()) {
        set_pair_means(rows, &pair_terms, players, (settings, monitor), &mut means)?;
    } else if monitor(1, 1).is_break() {
        return Err(Error::Interrupted);
    }
    Ok(means)
}

/// Computes the means of all players of some terms, from their factors for all pairs.
fn set_pair_means(
    rows: Matrix<'_>,
    terms: &[PackedTerm],
    players: &Players,
    (settings, monitor): (&Settings, Monitor<'_>),
    means: &mut [f64],
) -> Result<(), Error> {
    let (count, memory) = (rows.rows(), Memory::default());
    let factors: usize = terms.iter().map(PackedTerm::coefficients).sum();
    let chunks = Chunks::new(std::slice::from_ref(&(0..count)), BLOCKS);
    let points = PackedRows::new(rows, &chunks, |row| row)?;
    let mut totals = memory.filled(factors, Sum::default(), PAIRS)?;
    let work = FactorPairs { rows, points, terms, players: players.count(), factors };
    PairWalk::new(&chunks, false, factors, settings)?.run(
        &work,
        |_, sums| add_each(&mut totals, sums, settings.summation),
        &memory,
        monitor,
    )?;
    let pairs = count as f64 * (count - 1) as f64 / 2.0;
    let width = means.len() / terms.len();
    let mut totals = totals.into_iter().map(|total| total.value() / pairs);
    for (term, means) in terms.iter().zip(means.chunks_mut(width)) {
        for (&player, mean) in term.players.iter().zip(&mut totals) {
            // Rounding could move the mean below 0.
            means[player] = (1.0 + mean).max(0.0);
        }
        for &player in &term.players {
            for (order, mean) in (1..=term.orders()).zip(&mut totals) {
                means[order * players.count() + player] = mean;
            }
        }
    }
    Ok(())
}

/// Computes the means of players whose factors are Gaussian kernels of one column, and returns the
/// term of all others.
fn set_gaussian_means(
    rows: Matrix<'_>,
    term: &Term,
    players: &Players,
    settings: &Settings,
    means: &mut [f64],
) -> Result<PackedTerm, Error> {
    let packed_term = PackedTerm::new(term, players)?;
    if term.series.is_some() {
        return Ok(packed_term);
    }
    let mut entries = Vec::new();
    Memory::default().reserve(&mut entries, rows.rows(), PAIRS)?;
    let mut pair_term = term.clone();
    for (place, &player) in packed_term.players.iter().enumerate() {
        let Some((column, rate)) = packed_term.gaussian_of(place) else {
            continue;
        };
        entries.clear();
        entries.extend((0..rows.rows()).map(|row| rows.row(row)[column]));
        if let Some(mean) = gaussian_mean(&entries, rate, settings.level)? {
            means[player] = mean;
            pair_term.factors.retain(|factor| factor.column != column);
        }
    }
    PackedTerm::new(&pair_term, players)
}

/// The factors of all pairs of rows.
struct FactorPairs<'a> {
    rows: Matrix<'a>,
    points: PackedRows,
    terms: &'a [PackedTerm],
    players: usize,
    /// The number of all terms' factors and of their higher orders.
    factors: usize,
}

/// The workspace of a thread.
#[derive(Default)]
struct MeanWorkspace {
    block: Block,
    /// The sums of factors, term by term and player by player, and of their higher orders.
    sums: Vec<Lanes>,
}

impl TileWork for FactorPairs<'_> {
    type Workspace = MeanWorkspace;
    type Sums = Vec<f64>;

    fn bytes(&self, _: Tile<'_>) -> usize {
        saturating_product([self.factors, size_of::<f64>()])
    }

    fn reserve(&self, _: Tile<'_>, sums: &mut Vec<f64>, memory: &Memory) -> Result<(), Error> {
        memory.reserve(sums, self.factors, PAIRS)
    }

    fn workspace(&self, memory: &Memory) -> Result<MeanWorkspace, Error> {
        let mut workspace = MeanWorkspace::default();
        memory.reserve(&mut workspace.sums, self.factors, PAIRS)?;
        workspace.block.reserve(self.players, 0, memory)?;
        let orders = self.terms.iter().map(PackedTerm::orders).max().unwrap_or(0);
        let counts = FactorCount { players: self.players, orders };
        workspace.block.reserve_series(counts, memory)?;
        Ok(workspace)
    }

    fn add_up(
        &self,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut MeanWorkspace,
        sums: &mut Vec<f64>,
    ) {
        let MeanWorkspace { block, sums: lanes } = workspace;
        lanes.clear();
        lanes.resize(self.factors, Lanes::ZERO);
        for row in tile.first.rows.clone() {
            for index in tile.blocks_of(row) {
                let weights = tile.mask(row, index).unwrap_or(Lanes::ONE);
                let at = ChunkBlock { chunk: tile.second, index };
                let (x, points) = (self.rows.row(row), self.points.block(at));
                let mut rest = &mut lanes[..];
                for term in self.terms {
                    context.run(FillTerm { term, row: x, points, block });
                    for values in term.less_one(block) {
                        let (sums, tail) = rest.split_at_mut(values.len());
                        context.run(AddWeighted { weights, values, sums });
                        rest = tail;
                    }
                }
                debug_assert!(rest.is_empty(), "all terms' factors have a sum");
            }
        }
        sums.clear();
        sums.extend(lanes.iter().map(Lanes::total));
    }
}

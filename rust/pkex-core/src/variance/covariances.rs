//! The covariances of the factors of two evaluations, tile by tile.
//!
//! A tile is the products of sixteen evaluations, or fewer if there are many columns, with those of
//! four evaluation blocks. Its covariances are the product of two matrices, column by column: a tile
//! of sixteen reads the deviations of 80 evaluations for 64 blocks of products. Neighboring tiles
//! have the same evaluation blocks, so these stay in the cache.

use std::ops::Range;

use crate::error::Error;
use crate::matrix::Matrix;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::level::Body;
use crate::walk::triangle::{EvaluationPlace, Partners};

/// Evaluations of a tile, and the evaluation blocks of their partners.
const MAX_EVALUATIONS: usize = 16;
const MIN_EVALUATIONS: usize = 4;
const PARTNER_BLOCKS: usize = 4;
/// Maximum bytes of a tile's covariances, unless it has the minimum of evaluations.
const TILE_BYTES: usize = 4 << 20;
/// Deviations of a chunk: those of all evaluations and of one block fit into the first-level cache.
const CHUNK: usize = 128;

/// The products of two evaluations, each at least once, in blocks: one evaluation and sixteen
/// partners. The blocks of products of a group of evaluation blocks come before those of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles {
    evaluations: usize,
    evaluations_per_tile: usize,
}

/// The products of some evaluations and some evaluation blocks: for each of these blocks, a block
/// of products for each evaluation.
struct Tile {
    /// The number of its first block of products.
    first: usize,
    evaluations: Range<usize>,
    partner_blocks: Range<usize>,
}

impl Tile {
    /// The number after its last block of products.
    fn end(&self) -> usize {
        self.first + self.evaluations.len() * self.partner_blocks.len()
    }
}

impl Tiles {
    /// The products of a number of evaluations with factors of a number of columns.
    pub fn new(evaluations: usize, columns: usize) -> Self {
        let bytes = saturating_product([PARTNER_BLOCKS, columns.max(1), size_of::<Lanes>()]);
        let evaluations_per_tile = (TILE_BYTES / bytes).clamp(MIN_EVALUATIONS, MAX_EVALUATIONS);
        Self { evaluations, evaluations_per_tile }
    }

    /// The number of blocks of products in a tile. The last tiles may have fewer.
    pub fn blocks_per_tile(self) -> usize {
        self.evaluations_per_tile * PARTNER_BLOCKS
    }

    /// The number of blocks of products.
    pub fn blocks(self) -> usize {
        let Some(last) = self.evaluations.div_ceil(PARTNER_BLOCKS * LANES).checked_sub(1) else {
            return 0;
        };
        let [evaluations, partner_blocks] = self.sides(last);
        Self::before(last) + evaluations.len() * partner_blocks.len()
    }

    /// The number of blocks of products before a group: Σ_{g < group} `PARTNER_BLOCKS`² · `LANES`
    /// (g + 1).
    fn before(group: usize) -> usize {
        PARTNER_BLOCKS * PARTNER_BLOCKS * LANES * (group * (group + 1) / 2)
    }

    /// The group of a block of products: the largest g with g (g + 1)/2 up to a quotient.
    #[inline(always)]
    fn group(index: usize) -> usize {
        let triangle = index / (PARTNER_BLOCKS * PARTNER_BLOCKS * LANES);
        let group = ((8 * triangle + 1).isqrt() - 1) / 2;
        debug_assert!(Self::before(group) <= index && index < Self::before(group + 1));
        group
    }

    /// The evaluations of a block of products.
    #[inline(always)]
    pub fn locate(self, index: usize) -> Partners {
        let Tile { first, evaluations, partner_blocks } = self.tile(index);
        let (block, evaluation) =
            ((index - first) / evaluations.len(), (index - first) % evaluations.len());
        let one = evaluations.start + evaluation;
        Partners {
            one: EvaluationPlace { block: one / LANES, lane: one % LANES },
            block: partner_blocks.start + block,
        }
    }

    /// The evaluation blocks of a group, and the evaluations up to the last of them.
    #[inline(always)]
    fn sides(self, group: usize) -> [Range<usize>; 2] {
        let blocks = self.evaluations.div_ceil(LANES);
        let partner_blocks = group * PARTNER_BLOCKS..((group + 1) * PARTNER_BLOCKS).min(blocks);
        [0..self.evaluations.min(partner_blocks.end * LANES), partner_blocks]
    }

    /// The tile of a block of products.
    #[inline(always)]
    fn tile(self, index: usize) -> Tile {
        let group = Self::group(index);
        let start = Self::before(group);
        let [evaluations, partner_blocks] = self.sides(group);
        let length = self.evaluations_per_tile;
        let blocks = length * partner_blocks.len();
        let tile = (index - start) / blocks;
        Tile {
            first: start + tile * blocks,
            evaluations: tile * length..((tile + 1) * length).min(evaluations.end),
            partner_blocks,
        }
    }
}

/// Covariances of the products of some blocks.
#[derive(Debug, Default)]
pub(crate) struct Covariances {
    /// The number of the first block.
    first: usize,
    /// Block by block, column by column.
    values: Vec<Lanes>,
}

impl Covariances {
    /// Reserves memory for any sequence of a number of blocks. The tiles at its ends are computed as
    /// a whole.
    pub fn reserve(
        &mut self,
        tiles: Tiles,
        blocks: usize,
        columns: usize,
        memory: &Memory,
    ) -> Result<(), Error> {
        let length =
            saturating_product([blocks.saturating_add(2 * tiles.blocks_per_tile()), columns]);
        self.values = memory.filled(length, Lanes::ZERO, FACTORS)?;
        Ok(())
    }

    /// The covariances of a block, column by column.
    #[inline(always)]
    pub fn block(&self, index: usize, columns: usize) -> &[Lanes] {
        &self.values[(index - self.first) * columns..][..columns]
    }
}

/// Computes the covariances of some blocks.
pub(crate) struct MultiplyDeviations<'a> {
    pub tiles: Tiles,
    pub deviations: Matrix<'a>,
    /// The deviations of sixteen evaluations as lanes, block by block.
    pub packed: &'a [Lanes],
    /// The start of each column's deviations, then the end of all.
    pub starts: &'a [usize],
    pub blocks: Range<usize>,
    pub covariances: &'a mut Covariances,
}

impl Body for MultiplyDeviations<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let columns = self.starts.len() - 1;
        let mut tile = self.tiles.tile(self.blocks.start);
        let first = tile.first;
        self.covariances.first = first;
        loop {
            let range = (tile.first - first) * columns..(tile.end() - first) * columns;
            let values = &mut self.covariances.values[range];
            multiply::<A, W>(&tile, self.deviations, (self.packed, self.starts), values);
            if tile.end() >= self.blocks.end {
                return;
            }
            tile = self.tiles.tile(tile.end());
        }
    }
}

/// Computes the covariances of a tile.
#[inline(always)]
fn multiply<A: Arithmetic, const W: usize>(
    tile: &Tile,
    deviations: Matrix<'_>,
    (packed, starts): (&[Lanes], &[usize]),
    values: &mut [Lanes],
) {
    values.fill(Lanes::ZERO);
    let columns = starts.len() - 1;
    let block_values = values.chunks_mut((tile.evaluations.len() * columns).max(1));
    for (block, values) in tile.partner_blocks.clone().zip(block_values) {
        let partners = &packed[block * deviations.columns()..][..deviations.columns()];
        for column in 0..columns {
            for start in (starts[column]..starts[column + 1]).step_by(CHUNK) {
                let chunk = start..(start + CHUNK).min(starts[column + 1]);
                let (evaluations, partners) =
                    ((deviations, tile.evaluations.clone()), &partners[chunk.clone()]);
                let values = values.iter_mut().skip(column).step_by(columns);
                // Two registers for each of the evaluations leave room for their factors.
                match W {
                    8 => add_chunk::<A, W, 8>(evaluations, partners, chunk, values),
                    _ => add_chunk::<A, W, 4>(evaluations, partners, chunk, values),
                }
            }
        }
    }
}

/// Adds the products of a chunk of the deviations of some evaluations with those of a block to their
/// covariances, `N` evaluations together. After the last evaluation, that one is repeated.
#[inline(always)]
fn add_chunk<'a, A: Arithmetic, const W: usize, const N: usize>(
    (deviations, evaluations): (Matrix<'_>, Range<usize>),
    partners: &[Lanes],
    chunk: Range<usize>,
    mut covariances: impl Iterator<Item = &'a mut Lanes>,
) {
    for first in evaluations.clone().step_by(N) {
        let row =
            |place: usize| &deviations.row((first + place).min(evaluations.end - 1))[chunk.clone()];
        let rows: [&[f64]; N] = std::array::from_fn(row);
        let mut sums = [Lanes::ZERO; N];
        for part in 0..LANES / (2 * W) {
            for (sum, products) in sums.iter_mut().zip(products::<A, W, N>(rows, partners, part)) {
                for (half, products) in products.iter().enumerate() {
                    *sum.part_mut(2 * part + half) = *products;
                }
            }
        }
        for (sum, covariance) in sums.iter().zip(covariances.by_ref()) {
            for part in 0..LANES / W {
                let total: &mut [f64; W] = covariance.part_mut(part);
                *total = zip_lanes(total, sum.part(part), |total, sum| total + sum);
            }
        }
    }
}

/// The products of the deviations of a few evaluations and those of others in the `part`-th two
/// registers; these sums stay in registers.
#[inline(always)]
fn products<A: Arithmetic, const W: usize, const N: usize>(
    rows: [&[f64]; N],
    partners: &[Lanes],
    part: usize,
) -> [[[f64; W]; 2]; N] {
    let mut sums = [[[0.0; W]; 2]; N];
    let rows = rows.map(|row| &row[..partners.len()]);
    for (place, partner) in partners.iter().enumerate() {
        let halves: [&[f64; W]; 2] = [partner.part(2 * part), partner.part(2 * part + 1)];
        for (half, partner) in halves.into_iter().enumerate() {
            for row in 0..N {
                let (deviation, sum) = (rows[row][place], &mut sums[row][half]);
                *sum = each_lane(|i| A::mul_add(deviation, partner[i], sum[i]));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_product_is_counted_once_for_each_order_of_its_evaluations() {
        let numbers = [1, 15, 16, 17, 64, 65, 100, 128, 300];
        let numbers = numbers.into_iter().flat_map(|n| [0, 1, 700, 1_000_000].map(|d| (n, d)));
        for (evaluations, columns) in numbers {
            let tiles = Tiles::new(evaluations, columns);
            let mut counts = vec![0.0; evaluations * evaluations];
            for index in 0..tiles.blocks() {
                let partners = tiles.locate(index);
                let one = partners.one.block * LANES + partners.one.lane;
                for (lane, times) in partners.times().0.into_iter().enumerate() {
                    let other = partners.block * LANES + lane;
                    if other < evaluations {
                        counts[one * evaluations + other] += times;
                    }
                }
            }
            for one in 0..evaluations {
                for other in 0..evaluations {
                    let count =
                        counts[one * evaluations + other] + counts[other * evaluations + one];
                    assert!(
                        (count - 2.0).abs() < 0.5,
                        "{one} and {other} of {evaluations}: {count}"
                    );
                }
            }
        }
        assert_eq!(Tiles::new(0, 1).blocks(), 0);
    }
}

//! The walk over all pairs of rows, in tiles: pairs of chunks of rows.
//!
//! Tiles are computed wave after wave, and collected in their order, which depends only on the
//! chunks. A rectangle has the tiles of a pair of bands; one comes after the other.

use std::ops::Range;

use crate::error::Error;
use crate::memory::{Memory, PAIRS, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::lanes::{LANES, Lanes};
use crate::threads::{Monitor, Parallelism};
use crate::walk::chunks::{Chunk, Chunks};
use crate::walk::waves::{Units, Waves};

/// The pairs between the rows of two chunks, of which the first does not come after the second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile<'a> {
    pub first: &'a Chunk,
    pub second: &'a Chunk,
    /// Whether the chunks are the same.
    is_diagonal: bool,
    /// Whether the next tile belongs to another pair of bands.
    pub ends_rectangle: bool,
}

impl Tile<'_> {
    /// The place of the tile's pair of bands among all, then that of the tile in it.
    fn place(&self) -> [usize; 4] {
        let [first, second] = [self.first, self.second];
        [first.band.start, second.band.start, first.rows.start, second.rows.start]
    }

    /// The blocks of the second chunk that contain a pair with a row of the first chunk.
    pub fn blocks_of(self, row: usize) -> Range<usize> {
        let start = if self.is_diagonal { (row - self.first.rows.start) / LANES } else { 0 };
        start..self.second.blocks()
    }

    /// A mask of the lanes that hold a pair: 1, and 0 for the others; `None` if all lanes do. A pair
    /// occurs once. The pair of a row with itself does not occur.
    pub fn mask(self, row: usize, block: usize) -> Option<Lanes> {
        let start = self.second.rows.start + block * LANES;
        let behind = if self.is_diagonal { row + 1 } else { start };
        if behind <= start && start + LANES <= self.second.rows.end {
            return None;
        }
        let is_pair = |column| (behind..self.second.rows.end).contains(&column);
        Some(Lanes(std::array::from_fn(|lane| f64::from(u8::from(is_pair(start + lane))))))
    }
}

/// A sum over the pairs of a tile.
pub(crate) trait TileWork: Sync {
    /// The workspace of a thread.
    type Workspace;
    /// The sums of a tile.
    type Sums: Default + Send;

    /// The bytes of a tile's sums.
    fn bytes(&self, tile: Tile<'_>) -> usize;
    /// Reserves memory for a tile's sums.
    fn reserve(&self, tile: Tile<'_>, sums: &mut Self::Sums, memory: &Memory) -> Result<(), Error>;
    /// A workspace with memory for any tile.
    fn workspace(&self, memory: &Memory) -> Result<Self::Workspace, Error>;
    /// Computes the sums of a tile.
    fn add_up(
        &self,
        tile: Tile<'_>,
        context: Context<'_>,
        workspace: &mut Self::Workspace,
        sums: &mut Self::Sums,
    );
}

/// Tiles in the order in which their sums are collected.
pub(crate) struct PairWalk<'a> {
    tiles: Vec<Tile<'a>>,
    parallelism: Parallelism<'static>,
    settings: &'a Settings,
}

/// Bytes of tiles' sums that are kept at a time, unless that would be too few tiles for the
/// threads.
const WAVE_BYTES: usize = 8 << 20;

impl<'a> PairWalk<'a> {
    /// All pairs of chunks, or all except those within the second class. `pair_cost` is roughly the
    /// number of factors of a pair.
    pub fn new(
        chunks: &'a Chunks,
        skips_second: bool,
        pair_cost: usize,
        settings: &'a Settings,
    ) -> Result<Self, Error> {
        let chunks = chunks.all();
        let tile = |i: usize, j: usize| Tile {
            first: &chunks[i],
            second: &chunks[j],
            is_diagonal: i == j,
            ends_rectangle: false,
        };
        let mut tiles = Vec::new();
        let max_tiles = saturating_product([chunks.len(), chunks.len() + 1]) / 2;
        Memory::default().reserve(&mut tiles, max_tiles, PAIRS)?;
        tiles.extend(
            (0..chunks.len())
                .flat_map(|i| (i..chunks.len()).map(move |j| tile(i, j)))
                .filter(|tile| !(skips_second && tile.first.class == 1)),
        );
        tiles.sort_unstable_by_key(Tile::place);
        for rectangle in tiles.chunk_by_mut(|tile, next| tile.place()[..2] == next.place()[..2]) {
            rectangle[rectangle.len() - 1].ends_rectangle = true;
        }
        let pairs = |tile: &Tile<'_>| tile.first.rows.len() * tile.second.rows.len();
        let pairs = tiles.iter().map(pairs).sum();
        let parallelism = if saturating_product([pairs, pair_cost]) < 50_000 {
            Parallelism::Inline
        } else {
            Parallelism::Threads(settings.threads.max(1))
        };
        Ok(Self { tiles, parallelism, settings })
    }

    /// The tiles, in their order.
    pub fn tiles(&self) -> &[Tile<'a>] {
        &self.tiles
    }

    /// The rectangles, in their order.
    pub fn rectangles(&self) -> impl Iterator<Item = &[Tile<'a>]> {
        self.tiles.split_inclusive(|tile| tile.ends_rectangle)
    }

    /// The walk over some of the rectangles.
    pub fn within(mut self, rectangles: Range<usize>) -> Self {
        let tiles = |first| self.rectangles().take(first).map(<[_]>::len).sum::<usize>();
        let (start, end) = (tiles(rectangles.start), tiles(rectangles.end));
        self.tiles.truncate(end);
        self.tiles.drain(..start.min(end));
        self
    }

    /// Computes the sums of each tile, and passes them to `collect` in the order of the tiles.
    /// Workspaces and sums are reserved in `memory`.
    pub fn run<T: TileWork>(
        &self,
        work: &T,
        mut collect: impl FnMut(Tile<'_>, &T::Sums),
        memory: &Memory,
        monitor: Monitor<'_>,
    ) -> Result<(), Error> {
        let settings = self.settings;
        let mut waves = Waves::new(self.tiles.len(), monitor);
        let mut wave: Vec<T::Sums> = Vec::new();
        let mut start = 0;
        while start < self.tiles.len() {
            let tiles = &self.tiles[start..][..self.wave_length(start, work)];
            if wave.len() < tiles.len() {
                wave.resize_with(tiles.len(), T::Sums::default);
            }
            for (sums, tile) in wave.iter_mut().zip(tiles) {
                work.reserve(*tile, sums, memory)?;
            }
            waves.compute(
                memory,
                Units { count: tiles.len(), per_task: 1 },
                self.parallelism,
                wave.iter_mut().zip(tiles),
                || work.workspace(memory),
                |workspace, (sums, tile), stop| {
                    work.add_up(*tile, Context { settings, stop }, workspace, sums);
                },
            )?;
            for (tile, sums) in tiles.iter().zip(&wave) {
                collect(*tile, sums);
            }
            start += tiles.len();
        }
        Ok(())
    }

    /// The number of tiles of the wave that starts with tile number `start`.
    fn wave_length(&self, start: usize, work: &impl TileWork) -> usize {
        let min_length = match self.parallelism {
            Parallelism::Inline | Parallelism::Within(_) => 1,
            Parallelism::Shared(threads) | Parallelism::Threads(threads) => 2 * threads,
        };
        let tiles = &self.tiles[start..];
        let fits = |total: &mut usize, tile: &Tile<'_>| {
            *total = total.saturating_add(work.bytes(*tile));
            (*total <= WAVE_BYTES).then_some(())
        };
        tiles.iter().scan(0, fits).count().max(min_length).min(tiles.len())
    }
}

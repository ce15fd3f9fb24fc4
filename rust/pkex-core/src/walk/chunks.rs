//! A sample of rows, cut into chunks whose rows are also stored as lanes.

use std::ops::Range;

use crate::error::Error;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory, saturating_product};
use crate::simd::lanes::{LANES, Lanes};

/// The chunks of a sample: every pair of chunks is a tile of the walk over pairs.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    chunks: Vec<Chunk>,
}

/// Neighbouring rows of one class.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub rows: Range<usize>,
    pub class: usize,
    /// The rows of the chunk's band: neighboring chunks of one class, see [`Chunks::in_bands`].
    pub band: Range<usize>,
    /// Index of the chunk's first block among all blocks.
    first_block: usize,
}

impl Chunk {
    /// The number of blocks of lanes.
    pub fn blocks(&self) -> usize {
        self.rows.len().div_ceil(LANES)
    }
}

/// A block of the rows of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkBlock<'a> {
    pub chunk: &'a Chunk,
    /// The number of the block in the chunk.
    pub index: usize,
}

impl Chunks {
    /// Cuts the rows of each class into chunks of at most `blocks` blocks, each a band.
    pub fn new(classes: &[Range<usize>], blocks: usize) -> Self {
        let mut chunks = Vec::new();
        let mut first_block = 0;
        for (class, rows) in classes.iter().enumerate() {
            for start in rows.clone().step_by(blocks * LANES) {
                let rows = start..(start + blocks * LANES).min(rows.end);
                let chunk = Chunk { band: rows.clone(), rows, class, first_block };
                first_block += chunk.blocks();
                chunks.push(chunk);
            }
        }
        Self { chunks }
    }

    /// The chunks in bands of about equal size, with at most `most` rows or one chunk each.
    pub fn in_bands(mut self, max_rows: usize) -> Self {
        for class_chunks in self.chunks.chunk_by_mut(|chunk, next| chunk.class == next.class) {
            let chunks_per_band = (max_rows / class_chunks[0].rows.len()).max(1);
            let bands = class_chunks.len().div_ceil(chunks_per_band);
            for band in class_chunks.chunks_mut(class_chunks.len().div_ceil(bands)) {
                let rows = band[0].rows.start..band[band.len() - 1].rows.end;
                for chunk in band {
                    chunk.band = rows.clone();
                }
            }
        }
        self
    }

    /// The chunks, in the order of their rows.
    pub fn all(&self) -> &[Chunk] {
        &self.chunks
    }
}

/// The rows of a matrix as the lanes of chunks, block by block, column by column.
#[derive(Clone, Debug)]
pub(crate) struct PackedRows {
    columns: usize,
    lanes: Vec<Lanes>,
}

impl PackedRows {
    /// Packs row `source(i)` of `rows` in the place of row i. The last row of a chunk fills unused
    /// lanes.
    pub fn new(
        rows: Matrix<'_>,
        chunks: &Chunks,
        source: impl Fn(usize) -> usize,
    ) -> Result<Self, Error> {
        let mut lanes = Vec::new();
        let blocks = chunks.chunks.iter().map(Chunk::blocks).sum();
        Memory::default().reserve(
            &mut lanes,
            saturating_product([blocks, rows.columns()]),
            INPUT,
        )?;
        for chunk in &chunks.chunks {
            for first in chunk.rows.clone().step_by(LANES) {
                let row = |lane: usize| rows.row(source((first + lane).min(chunk.rows.end - 1)));
                let side_by_side: [&[f64]; LANES] = std::array::from_fn(row);
                lanes.extend((0..rows.columns()).map(|j| Lanes(side_by_side.map(|row| row[j]))));
            }
        }
        Ok(Self { columns: rows.columns(), lanes })
    }

    /// The rows of a block, column by column.
    pub fn block(&self, at: ChunkBlock<'_>) -> &[Lanes] {
        &self.lanes[(at.chunk.first_block + at.index) * self.columns..][..self.columns]
    }
}

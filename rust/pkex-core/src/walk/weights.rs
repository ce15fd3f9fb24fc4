//! Weights of evaluations, packed by block, without the outputs that have no weight in a block.
//!
//! A one-vs-one output of a multiclass machine has weights at the support vectors of two classes
//! only.

use crate::error::Error;
use crate::matrix::Matrix;
use crate::memory::{INPUT, Memory};
use crate::simd::lanes::{LANES, Lanes};

/// Weights of the evaluations, for one or several outputs.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    outputs: usize,
    /// The end of each block's entries.
    ends: Vec<usize>,
    /// Outputs and their weights, block by block; unused lanes have weight 0.
    entries: Vec<(usize, Lanes)>,
}

impl Weights {
    /// Packs one row of `weights` for each evaluation, one column for each output.
    pub fn new(weights: Matrix<'_>) -> Result<Self, Error> {
        let outputs = weights.columns();
        let (memory, mut entries, mut ends) = (Memory::default(), Vec::new(), Vec::new());
        for first in (0..weights.rows()).step_by(LANES) {
            let weight = |row: usize, output: usize| {
                if row < weights.rows() { weights.row(row)[output] } else { 0.0 }
            };
            for output in 0..outputs {
                let lanes = Lanes(std::array::from_fn(|lane| weight(first + lane, output)));
                if lanes != Lanes::ZERO {
                    if entries.len() == entries.capacity() {
                        let capacity = (2 * entries.len()).max(LANES);
                        memory.reserve(&mut entries, capacity, INPUT)?;
                    }
                    entries.push((output, lanes));
                }
            }
            ends.push(entries.len());
        }
        Ok(Self { outputs, ends, entries })
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.ends.len()
    }

    /// The outputs with a weight in the block, and their weights.
    pub fn of_block(&self, block: usize) -> impl Iterator<Item = (usize, &Lanes)> {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        self.entries[start..self.ends[block]].iter().map(|(output, lanes)| (*output, lanes))
    }
}

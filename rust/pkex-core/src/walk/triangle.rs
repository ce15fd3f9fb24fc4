//! The products of two evaluations, each once, in blocks: one evaluation beside sixteen partners.
//!
//! As (p, q) is worth what (q, p) is, each product is computed once, with p up to q, and counts twice
//! if they differ.

use std::cmp::Ordering;

use crate::error::Error;
use crate::memory::{INPUT, Memory};
use crate::simd::lanes::Lanes;

/// One evaluation, and a block of evaluations of which those from it on are its partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partners {
    /// The evaluation block of the one, and its lane.
    pub one: (usize, usize),
    /// The evaluation block of the others.
    pub others: usize,
}

impl Partners {
    /// How often the products with the partners count: 0 of those that others stand for.
    #[inline(always)]
    pub fn times(self) -> Lanes {
        Lanes(std::array::from_fn(|other| match (self.others, other).cmp(&self.one) {
            Ordering::Less => 0.0,
            Ordering::Equal => 1.0,
            Ordering::Greater => 2.0,
        }))
    }
}

/// The blocks of products of two evaluations, which come in blocks themselves.
#[derive(Debug)]
pub(crate) struct Triangle {
    /// The evaluations in order: their block and lane.
    evaluations: Vec<(usize, usize)>,
    /// For each evaluation block the number of blocks of products before it, then that of all.
    starts: Vec<usize>,
}

impl Triangle {
    /// From the number of evaluations in each block.
    pub fn new(lanes_of_blocks: impl Iterator<Item = usize> + Clone) -> Result<Self, Error> {
        let (mut evaluations, mut starts) = (Vec::new(), vec![0]);
        Memory::default().reserve(&mut evaluations, lanes_of_blocks.clone().sum(), INPUT)?;
        for (block, lanes) in lanes_of_blocks.enumerate() {
            evaluations.extend((0..lanes).map(|lane| (block, lane)));
            starts.push(starts[block] + evaluations.len());
        }
        Ok(Self { evaluations, starts })
    }

    /// Number of blocks of products.
    pub fn blocks(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The evaluations of a block of products.
    pub fn locate(&self, index: usize) -> Partners {
        let others = self.starts.partition_point(|&start| start <= index) - 1;
        Partners { one: self.evaluations[index - self.starts[others]], others }
    }
}

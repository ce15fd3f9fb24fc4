//! The products of two evaluations, each once, in blocks: one evaluation and sixteen partners.
//!
//! The products (p, q) and (q, p) are equal. So each product is computed once, with p up to q, and
//! counts twice if p and q differ.

use std::cmp::Ordering;

use crate::error::Error;
use crate::memory::{INPUT, Memory};
use crate::simd::lanes::{LANES, Lanes};

/// The place of an evaluation: its evaluation block, and its lane in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EvaluationPlace {
    pub block: usize,
    pub lane: usize,
}

/// One evaluation, and a block of evaluations. The evaluations of the block that are not before it
/// are its partners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partners {
    pub one: EvaluationPlace,
    /// The evaluation block of the partners.
    pub block: usize,
}

impl Partners {
    /// How often each product counts: 0 if another product stands for it.
    #[inline(always)]
    pub fn times(self) -> Lanes {
        let times = |order: Ordering| match order {
            Ordering::Less => 0.0,
            Ordering::Equal => 1.0,
            Ordering::Greater => 2.0,
        };
        match self.block.cmp(&self.one.block) {
            Ordering::Equal => Lanes(std::array::from_fn(|lane| times(lane.cmp(&self.one.lane)))),
            order => Lanes([times(order); LANES]),
        }
    }
}

/// The blocks of products of two evaluations, which come in blocks themselves.
#[derive(Debug)]
pub(crate) struct Triangle {
    /// The evaluations in order.
    evaluations: Vec<EvaluationPlace>,
    /// For each evaluation block, the number of blocks of products before it; then the number of
    /// all.
    starts: Vec<usize>,
}

impl Triangle {
    /// The products of evaluations, from the number of evaluations in each block.
    pub fn new(lanes_of_blocks: impl Iterator<Item = usize> + Clone) -> Result<Self, Error> {
        let (mut evaluations, mut starts) = (Vec::new(), vec![0]);
        Memory::default().reserve(&mut evaluations, lanes_of_blocks.clone().sum(), INPUT)?;
        for (block, lanes) in lanes_of_blocks.enumerate() {
            evaluations.extend((0..lanes).map(|lane| EvaluationPlace { block, lane }));
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
        let block = self.starts.partition_point(|&start| start <= index) - 1;
        Partners { one: self.evaluations[index - self.starts[block]], block }
    }
}

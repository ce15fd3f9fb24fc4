//! The weights of the pairs of a sample.

use crate::error::Error;
use crate::game::block::Block;
use crate::kernel::packed_kernel::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::{FillTerm, PackedTerm, Term};
use crate::matrix::Matrix;
use crate::sample::absent::AbsentPlayers;
use crate::sample::self_pairs::{SelfPairs, SelfPairsOfBlock, self_pair_values};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::walk::chunks::{ChunkBlock, Chunks, PackedRows};

/// The weights of pairs, which also determine the two sums of a row.
#[derive(Clone, Copy, Debug)]
pub enum Weighting<'a> {
    /// Rows are of two classes. A row has one sum over each class.
    Classes(Classes<'a>),
    /// The weights depend on a target. A row has a weighted sum and a plain one.
    Target(TargetWeights<'a>),
}

/// Two classes of rows; no group has rows of both.
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a> {
    /// Number of rows of the first class, which come first.
    pub first: usize,
    /// The weight of each row; the weight of a pair is the product of both. 1 if `None`.
    pub weights: Option<&'a [f64]>,
    /// Whether pairs within the second class are left out.
    pub skips_second: bool,
    /// Whether halves of γ(x, x) and γ(y, y) are subtracted from γ(x, y) if k(x, x) depends on x,
    /// so that γ(x, x) is 0: for estimators that include pairs of rows with themselves. Halves cost
    /// digits if γ(x, x) is much larger than γ(x, y).
    pub takes_halves: bool,
}

/// The weight of HSIC: w_ab = l_ab − offset_a − offset_b + constant, where l = L − L(0) is the
/// kernel of a target minus its value at distance 0. Centering removes that constant, and without
/// it a kernel near 1 keeps its digits.
#[derive(Clone, Copy, Debug)]
pub struct TargetWeights<'a> {
    /// The target, a row for each row of the sample.
    pub targets: Matrix<'a>,
    /// The target's kernel.
    pub terms: &'a [Term],
    /// An offset for each row.
    pub offsets: &'a [f64],
    /// The constant of all pairs.
    pub constant: f64,
    /// Whether the rows of octets exchange targets (see [`crate::OCTET`]).
    pub exchanges: bool,
    /// [`Classes::takes_halves`] for the attributed kernel and for the target's kernel.
    pub takes_halves: [bool; 2],
}

/// A packed weighting.
#[derive(Debug)]
pub(crate) enum PackedWeights<'a> {
    One,
    Rows(&'a [f64], PackedRows),
    Target(Box<PackedTarget<'a>>),
}

impl<'a> PackedWeights<'a> {
    pub fn new(
        weighting: Weighting<'a>,
        rows: usize,
        chunks: &Chunks,
        settings: &Settings,
    ) -> Result<Self, Error> {
        match weighting {
            Weighting::Classes(Classes { weights: None, .. }) => Ok(Self::One),
            Weighting::Classes(Classes { weights: Some(row_weights), .. }) => {
                check_length("weights", row_weights.len(), rows)?;
                let weights = Matrix::of_shape(row_weights, [rows, 1]);
                Ok(Self::Rows(row_weights, PackedRows::new(weights, chunks, |row| row)?))
            }
            Weighting::Target(target) => {
                PackedTarget::new(target, rows, chunks, settings).map(Box::new).map(Self::Target)
            }
        }
    }

    pub fn is_target(&self) -> bool {
        matches!(self, Self::Target(_))
    }

    /// Whether the rows of octets exchange targets.
    pub fn exchanges(&self) -> bool {
        matches!(self, Self::Target(target) if target.weighting.exchanges)
    }

    /// The weights of the pairs of row `row` with a block of rows.
    pub fn of_pairs(
        &self,
        row: usize,
        at: ChunkBlock<'_>,
        block: &mut Block,
        context: Context<'_>,
    ) -> Lanes {
        match self {
            Self::One => Lanes::ONE,
            Self::Rows(row_weights, lanes) => {
                lanes.block(at)[0].times::<LANES>(&Lanes([row_weights[row]; LANES]))
            }
            Self::Target(target) => target.of_pairs(row, at, block, context),
        }
    }
}

/// Packed weights by a target.
#[derive(Debug)]
pub(crate) struct PackedTarget<'a> {
    weighting: TargetWeights<'a>,
    /// The target's kernel, with all columns as one player.
    kernel: PackedKernel,
    /// The absent factors of each of its terms.
    absent: Vec<AbsentPlayers<'a>>,
    /// The pairs of targets with themselves, for terms whose k(x, x) depends on x.
    self_pairs: Option<SelfPairs>,
    targets: PackedRows,
    offsets: PackedRows,
}

impl<'a> PackedTarget<'a> {
    fn new(
        weighting: TargetWeights<'a>,
        rows: usize,
        chunks: &Chunks,
        settings: &Settings,
    ) -> Result<Self, Error> {
        check_length("targets", weighting.targets.rows(), rows)?;
        check_length("offsets", weighting.offsets.len(), rows)?;
        let players = Players::new(vec![0; weighting.targets.columns()]);
        let offsets = Matrix::of_shape(weighting.offsets, [rows, 1]);
        let kernel = PackedKernel::new(weighting.terms, players)?;
        let absent = AbsentPlayers::of_terms(&kernel, None);
        let [_, takes_halves] = weighting.takes_halves;
        let self_pairs = if takes_halves && kernel.diagonal_varies() {
            let values = self_pair_values(weighting.targets, &kernel, &absent, settings)?;
            Some(SelfPairs::new(values, rows, chunks)?)
        } else {
            None
        };
        Ok(Self {
            weighting,
            kernel,
            absent,
            self_pairs,
            targets: PackedRows::new(weighting.targets, chunks, |row| row)?,
            offsets: PackedRows::new(offsets, chunks, |row| row)?,
        })
    }

    fn of_pairs(
        &self,
        row: usize,
        at: ChunkBlock<'_>,
        block: &mut Block,
        context: Context<'_>,
    ) -> Lanes {
        let (y, points) = (self.weighting.targets.row(row), self.targets.block(at));
        let mut weights = Lanes::ZERO;
        context.run(AddOffsets { target: self, row, at, weights: &mut weights });
        for (term, absent) in self.kernel.terms.iter().zip(&self.absent) {
            context.run(FillTerm { term, row: y, points, block });
            context.run(AddTargetTerm { term, absent, block, weights: &mut weights });
        }
        weights
    }
}

/// Computes the part of the weights that does not depend on the target kernel's terms.
struct AddOffsets<'a> {
    target: &'a PackedTarget<'a>,
    row: usize,
    at: ChunkBlock<'a>,
    weights: &'a mut Lanes,
}

impl Body for AddOffsets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { target: PackedTarget { weighting, offsets, self_pairs, .. }, row, at, weights } =
            self;
        let (offset, block_offsets) = (weighting.offsets[row], offsets.block(at)[0]);
        let self_pairs = SelfPairsOfBlock { self_pairs: self_pairs.as_ref(), at, row };
        for part in 0..LANES / W {
            let lane_offsets: &[f64; W] = block_offsets.part(part);
            let weights: &mut [f64; W] = weights.part_mut(part);
            *weights = each_lane(|i| weighting.constant - offset - lane_offsets[i]);
            self_pairs.take_halves::<A, W>((0, part), weights);
        }
    }
}

/// Adds a term of the target kernel, from its factors in a block.
struct AddTargetTerm<'a> {
    term: &'a PackedTerm,
    absent: &'a AbsentPlayers<'a>,
    block: &'a Block,
    weights: &'a mut Lanes,
}

impl Body for AddTargetTerm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { term, absent, block, weights } = self;
        if term.series.is_some() && !term.players.is_empty() {
            // The value of the term minus its value without columns.
            let value = absent.univariate_value::<A, W>(term.orders(), 0, block);
            weights.add_product::<A, W>(&Lanes::ONE, &value);
            return;
        }
        // There is one player if the term compares a column, else none.
        for less_one in &block.difference {
            weights.add_product::<A, W>(&Lanes([term.coefficient; LANES]), less_one);
        }
    }
}

fn check_length(argument: &'static str, length: usize, rows: usize) -> Result<(), Error> {
    if length == rows {
        return Ok(());
    }
    Err(Error::Shape {
        argument,
        expected: format!("{rows} rows, as many as the sample"),
        got: format!("{length} rows"),
    })
}

//! What the pairs of a sample weigh.

use crate::error::Error;
use crate::game::block::Block;
use crate::kernel::packed::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::term::{FillTerm, PackedTerm, Term};
use crate::matrix::Matrix;
use crate::pairs::absent::AbsentPlayers;
use crate::pairs::own::{OwnOfPairs, OwnPairs, own_values};
use crate::settings::{Context, Settings};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;
use crate::walk::chunks::{Chunk, Chunks, PackedRows};

/// What pairs weigh, and so what rows' sums are kept apart.
#[derive(Clone, Copy, Debug)]
pub enum Weighting<'a> {
    /// Rows are of two classes. A row has one sum over each class.
    Classes(Classes<'a>),
    /// Pairs weigh what a target says. A row has its weighted sum and its plain one.
    Target(TargetWeights<'a>),
}

/// Two classes of rows; no group has rows of both.
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a> {
    /// Number of rows of the first class, which come first.
    pub first: usize,
    /// The weight of each row, a pair's being the product of both; 1 if not given.
    pub weights: Option<&'a [f64]>,
    /// Whether pairs within the second class are left out.
    pub skips_second: bool,
    /// Whether, where k(x, x) depends on x, halves of γ(x, x) and γ(y, y) are taken away from
    /// γ(x, y), so that γ(x, x) is 0: for estimates in which pairs of rows with themselves count.
    /// Halves cost digits where γ(x, x) is much larger than what counts.
    pub takes_halves: bool,
}

/// The weight of HSIC: w_ab = l_ab − offset_a − offset_b + constant, where l = L − L(0) is the
/// kernel of a target less its value at distance 0. Centring removes that constant anyway, and
/// without it a kernel near 1 keeps its digits.
#[derive(Clone, Copy, Debug)]
pub struct TargetWeights<'a> {
    /// The target, a row for each row of the sample.
    pub targets: Matrix<'a>,
    /// The target's kernel.
    pub terms: &'a [Term],
    /// One for each row.
    pub offsets: &'a [f64],
    /// The same for all pairs.
    pub constant: f64,
    /// Whether the rows of octets exchange targets (see [`crate::OCTET`]).
    pub exchanges: bool,
    /// As [`Classes::takes_halves`], of the attributed kernel and of the target's.
    pub takes_halves: [bool; 2],
}

/// A weighting, packed.
#[derive(Debug)]
pub(crate) enum PackedWeights<'a> {
    One,
    OfRows(&'a [f64], PackedRows),
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
            Weighting::Classes(Classes { weights: Some(given), .. }) => {
                check_length("weights", given.len(), rows)?;
                let weights = Matrix::of_shape(given, [rows, 1]);
                Ok(Self::OfRows(given, PackedRows::new(weights, chunks, |row| row)?))
            }
            Weighting::Target(given) => {
                PackedTarget::new(given, rows, chunks, settings).map(Box::new).map(Self::Target)
            }
        }
    }

    pub fn is_target(&self) -> bool {
        matches!(self, Self::Target(_))
    }

    /// Whether the rows of octets exchange targets.
    pub fn exchanges(&self) -> bool {
        matches!(self, Self::Target(target) if target.given.exchanges)
    }

    /// The weights of the pairs of row `row` with a block of rows.
    pub fn of_pairs(
        &self,
        row: usize,
        (chunk, index): (&Chunk, usize),
        block: &mut Block,
        context: Context<'_>,
    ) -> Lanes {
        match self {
            Self::One => Lanes::ONE,
            Self::OfRows(given, lanes) => {
                lanes.block(chunk, index)[0].times::<LANES>(&Lanes([given[row]; LANES]))
            }
            Self::Target(target) => target.of_pairs(row, (chunk, index), block, context),
        }
    }
}

/// Weights by a target, packed.
#[derive(Debug)]
pub(crate) struct PackedTarget<'a> {
    given: TargetWeights<'a>,
    /// With all columns as one player.
    kernel: PackedKernel,
    /// Of each of its terms.
    absent: Vec<AbsentPlayers<'a>>,
    /// Of terms whose k(x, x) depends on x.
    own: Option<OwnPairs>,
    targets: PackedRows,
    offsets: PackedRows,
}

impl<'a> PackedTarget<'a> {
    fn new(
        given: TargetWeights<'a>,
        rows: usize,
        chunks: &Chunks,
        settings: &Settings,
    ) -> Result<Self, Error> {
        check_length("targets", given.targets.rows(), rows)?;
        check_length("offsets", given.offsets.len(), rows)?;
        let players = Players::grouped(vec![0; given.targets.columns()]);
        let offsets = Matrix::of_shape(given.offsets, [rows, 1]);
        let kernel = PackedKernel::new(given.terms, players)?;
        let absent = AbsentPlayers::of_terms(&kernel, None);
        let [_, takes_halves] = given.takes_halves;
        let own = if takes_halves && kernel.diagonal_varies() {
            let values = own_values(given.targets, &kernel, &absent, settings)?;
            Some(OwnPairs::new(values, rows, chunks)?)
        } else {
            None
        };
        Ok(Self {
            given,
            kernel,
            absent,
            own,
            targets: PackedRows::new(given.targets, chunks, |row| row)?,
            offsets: PackedRows::new(offsets, chunks, |row| row)?,
        })
    }

    fn of_pairs(
        &self,
        row: usize,
        (chunk, index): (&Chunk, usize),
        block: &mut Block,
        context: Context<'_>,
    ) -> Lanes {
        let (y, points) = (self.given.targets.row(row), self.targets.block(chunk, index));
        let mut weights = Lanes::ZERO;
        context.run(AddOffsets { of: self, row, at: (chunk, index), weights: &mut weights });
        for (term, absent) in self.kernel.terms.iter().zip(&self.absent) {
            context.run(FillTerm { term, row: y, points, block });
            context.run(AddTargetTerm { term, absent, block, weights: &mut weights });
        }
        weights
    }
}

/// Adds what does not depend on the target kernel's terms.
struct AddOffsets<'a> {
    of: &'a PackedTarget<'a>,
    row: usize,
    at: (&'a Chunk, usize),
    weights: &'a mut Lanes,
}

impl Body for AddOffsets<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { of: PackedTarget { given, offsets, own, .. }, row, at, weights } = self;
        let (offset, others) = (given.offsets[row], offsets.block(at.0, at.1)[0]);
        for part in 0..LANES / W {
            let other: &[f64; W] = others.part(part);
            *weights.part_mut::<W>(part) = each_lane(|i| given.constant - offset - other[i]);
        }
        OwnOfPairs { own: own.as_ref(), at, row }.take_halves::<A, W>(0, weights);
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
            // Less what it is of no column.
            let value = absent.worth_alone::<A, W>(term.orders(), 0, block);
            weights.add_product::<A, W>(&Lanes::ONE, &value);
            return;
        }
        // Of the one player, if the term compares any column.
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
        expected: format!("{rows} rows, as the sample"),
        got: format!("{length} rows"),
    })
}

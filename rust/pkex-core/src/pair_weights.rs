//! What the pairs of a sample weigh.

use crate::Error;
use crate::arithmetic::Arithmetic;
use crate::block::Block;
use crate::kernel::{CompiledTerm, Players, Term};
use crate::lanes::{LANES, Lanes, each};
use crate::matrix::Matrix;
use crate::sample::{Chunk, Chunks, PackedRows};

/// The weight of HSIC: w_ab = L_ab − offset_a − offset_b + constant, L the kernel of a target.
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
    /// For each row, another one whose target it may take over: then there are four weights
    /// w(uᵖ, vᵠ), number 2p + q, u⁰ being row u itself and u¹ its partner.
    pub partners: Option<&'a [usize]>,
}

/// The same, packed.
#[derive(Debug)]
pub(crate) struct PackedTarget<'a> {
    given: TargetWeights<'a>,
    terms: Vec<CompiledTerm>,
    /// Targets and offsets in lanes: the rows' own and, where there are some, their partners'.
    sides: Vec<(PackedRows, PackedRows)>,
}

impl<'a> PackedTarget<'a> {
    pub fn new(given: TargetWeights<'a>, rows: usize, chunks: &Chunks) -> Result<Self, Error> {
        let lengths = [
            ("targets", given.targets.rows()),
            ("offsets", given.offsets.len()),
            ("partners", given.partners.map_or(rows, <[usize]>::len)),
        ];
        for (argument, length) in lengths {
            if length != rows {
                return Err(Error::Shape {
                    argument,
                    expected: format!("{rows} rows, as the sample"),
                    got: format!("{length} rows"),
                });
            }
        }
        if let Some(&partner) = given.partners.and_then(|p| p.iter().find(|&&row| row >= rows)) {
            return Err(Error::Domain {
                argument: "partners",
                requirement: "row numbers of the sample",
                got: partner.to_string(),
            });
        }
        let players = Players::columns(given.targets.columns());
        let compile = |term| CompiledTerm::new(term, &players);
        let terms = given.terms.iter().map(compile).collect::<Result<_, _>>()?;
        let offsets = Matrix::of_shape(given.offsets, [rows, 1]);
        let side = |source: &dyn Fn(usize) -> usize| {
            (
                PackedRows::new(given.targets, chunks, source),
                PackedRows::new(offsets, chunks, source),
            )
        };
        let mut sides = vec![side(&|row| row)];
        if let Some(partners) = given.partners {
            sides.push(side(&|row| partners[row]));
        }
        Ok(Self { given, terms, sides })
    }

    /// Number of weights of a pair: 1 or 4.
    pub fn count(&self) -> usize {
        self.sides.len().pow(2)
    }

    /// The weights of the pairs of row `row` with a block of rows.
    #[inline(always)]
    pub fn fill<A: Arithmetic, const W: usize>(
        &self,
        row: usize,
        chunk: &Chunk,
        index: usize,
        block: &mut Block,
        weights: &mut [Lanes],
    ) {
        let partner = self.given.partners.map(|partners| partners[row]);
        for (p, row) in [Some(row), partner].into_iter().flatten().enumerate() {
            let (y, offset) = (self.given.targets.row(row), self.given.offsets[row]);
            for (q, (targets, offsets)) in self.sides.iter().enumerate() {
                let weight = &mut weights[p * self.sides.len() + q];
                let offsets = offsets.block(chunk, index)[0];
                for part in 0..LANES / W {
                    let other: &[f64; W] = offsets.part(part);
                    *weight.part_mut::<W>(part) = each(|i| self.given.constant - offset - other[i]);
                }
                for term in &self.terms {
                    term.fill::<A, W>(y, targets.block(chunk, index), block);
                    block.multiply_all::<W>(true);
                    for part in 0..LANES / W {
                        let kernel: &[f64; W] = block.omega[0].part(part);
                        let weight: &mut [f64; W] = weight.part_mut(part);
                        *weight = each(|i| A::mul_add(term.coefficient, kernel[i], weight[i]));
                    }
                }
            }
        }
    }
}

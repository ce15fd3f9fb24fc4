//! The values of listed coalitions.
//!
//! Players are grouped in quartets. The products of the 16 coalitions of each quartet are in a
//! table, so that a coalition of d players takes d / 4 multiplications for each evaluation.

use crate::coalitions::factors::{Factors, Rows};
use crate::coalitions::tables::multiply_out;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::memory::{FACTORS, INPUT, Memory, SUMS, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;
use crate::simd::level::Body;
use crate::simd::sum::{Accumulator, Summation, add_to_outputs};

const QUARTET: usize = 4;
const COALITIONS: usize = 1 << QUARTET;

/// Coalitions, as the numbers of their parts in each quartet.
#[derive(Debug)]
pub(crate) struct CoalitionList {
    count: usize,
    quartets: usize,
    parts: Vec<u8>,
}

impl CoalitionList {
    /// Reads coalitions of a number of players, each as one boolean for each player.
    pub fn new(members: &[bool], players: usize) -> Result<Self, Error> {
        let quartets = players.div_ceil(QUARTET);
        let count = members.len() / players.max(1);
        let mut parts = Vec::new();
        Memory::default().reserve(&mut parts, saturating_product([count, quartets]), INPUT)?;
        for coalition in members.chunks_exact(players.max(1)) {
            let part = |quartet: &[bool]| {
                quartet.iter().rev().fold(0, |part, &is_in| part << 1 | u8::from(is_in))
            };
            parts.extend(coalition.chunks(QUARTET).map(part));
        }
        Ok(Self { count, quartets, parts })
    }

    /// The number of coalitions.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// The workspace of a thread.
#[derive(Debug)]
pub(crate) struct ListWorkspace {
    factors: Factors,
    /// The products of the coalitions of each quartet.
    tables: Vec<[Lanes; COALITIONS]>,
    weights: Vec<(usize, Lanes)>,
    /// Coalition by coalition, output by output.
    accumulators: Vec<Accumulator>,
}

impl ListWorkspace {
    /// A workspace with memory for listed coalitions.
    pub fn new(
        expansion: &PackedExpansion,
        coalitions: &CoalitionList,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let (players, outputs) = (expansion.players(), expansion.outputs());
        let (mut tables, mut weights, mut accumulators) = (Vec::new(), Vec::new(), Vec::new());
        memory.reserve(&mut tables, players.div_ceil(QUARTET), FACTORS)?;
        memory.reserve(&mut weights, outputs, FACTORS)?;
        memory.reserve(&mut accumulators, saturating_product([coalitions.count, outputs]), SUMS)?;
        let factors = Factors::new(players, memory)?;
        Ok(Self { factors, tables, weights, accumulators })
    }

    /// Computes the values of coalitions: output by output, coalition by coalition.
    pub fn compute(
        &mut self,
        expansion: &PackedExpansion,
        rows: Rows<'_>,
        coalitions: &CoalitionList,
        context: Context<'_>,
        values: &mut [f64],
    ) {
        let (outputs, summation) = (expansion.outputs(), context.settings.summation);
        let Self { factors, tables, weights, accumulators } = self;
        accumulators.clear();
        accumulators.resize(values.len(), Accumulator::ZERO);
        for index in 0..expansion.evaluation_blocks() {
            if context.is_stopped() {
                return;
            }
            factors.fill(expansion, index, rows, context);
            weights.clear();
            weights.extend(expansion.block_weights(index));
            tables.clear();
            tables.resize(coalitions.quartets, [Lanes::ONE; COALITIONS]);
            context.run(AddUp {
                factors,
                tables,
                weights,
                coalitions,
                outputs,
                summation,
                accumulators,
            });
        }
        let count = values.len() / outputs.max(1);
        for (place, value) in values.iter_mut().enumerate() {
            *value = accumulators[place % count * outputs + place / count].total().value();
        }
    }
}

/// Adds a block of evaluations to the values.
struct AddUp<'a> {
    factors: &'a Factors,
    tables: &'a mut [[Lanes; COALITIONS]],
    weights: &'a [(usize, Lanes)],
    coalitions: &'a CoalitionList,
    outputs: usize,
    summation: Summation,
    accumulators: &'a mut [Accumulator],
}

impl Body for AddUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { factors, tables, weights, coalitions, outputs, summation, accumulators } = self;
        for (table, players) in tables.iter_mut().zip(factors.players.chunks(QUARTET)) {
            multiply_out(table, players.iter().copied(), |x, y| x.times::<W>(&y));
        }
        debug_assert_eq!(
            coalitions.parts.len() * outputs,
            accumulators.len() * coalitions.quartets,
            "every coalition has a sum for each output"
        );
        let coalitions = coalitions.parts.chunks_exact(coalitions.quartets);
        for (parts, accumulators) in coalitions.zip(accumulators.chunks_exact_mut(outputs)) {
            let mut product = Lanes::ONE;
            for (table, &part) in tables.iter().zip(parts) {
                product = product.times::<W>(&table[usize::from(part) % COALITIONS]);
            }
            add_to_outputs::<A, W>(&product, weights, summation, accumulators);
        }
    }
}

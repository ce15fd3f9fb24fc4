//! The values of the coalitions along orders of the players, and along the reversed orders.
//!
//! The first s players of an order are present, and the others absent: the value is the product of
//! the present factors of the former times that of the absent factors of the latter. The last p − s
//! players are the coalition of the reversed order. Both products are those of one player fewer,
//! times a factor, so that a coalition takes three multiplications for each evaluation, for any
//! number of players.

use crate::coalitions::factors::{Factors, Rows};
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::memory::{FACTORS, INPUT, Memory, SUMS, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::Lanes;
use crate::simd::level::Body;
use crate::simd::sum::{Sum, Summation};

/// Blocks of evaluations that are added before their sum is added to the value of a coalition.
const BLOCKS: usize = 8;

/// Orders of players.
#[derive(Debug)]
pub(crate) struct Orders {
    players: usize,
    orders: Vec<usize>,
}

impl Orders {
    /// Reads orders of a number of players, one after another.
    ///
    /// # Errors
    /// If an order is not a permutation of the players.
    pub fn new(orders: &[usize], players: usize) -> Result<Self, Error> {
        let (mut copy, mut is_in) = (Vec::new(), Vec::new());
        let memory = Memory::default();
        memory.reserve(&mut copy, orders.len(), INPUT)?;
        memory.reserve(&mut is_in, players, INPUT)?;
        for order in orders.chunks(players.max(1)) {
            is_in.clear();
            is_in.resize(players, false);
            for &player in order.iter().filter(|&&player| player < players) {
                is_in[player] = true;
            }
            if order.len() != players || !is_in.iter().all(|&is_in| is_in) {
                return Err(Error::Shape {
                    argument: "orders",
                    expected: format!("permutations of the {players} players"),
                    got: format!("{order:?}"),
                });
            }
        }
        copy.extend_from_slice(orders);
        Ok(Self { players, orders: copy })
    }

    /// Coalitions of an order and its reverse: all but the empty and the full one.
    fn coalitions_per_order(&self) -> usize {
        2 * self.players.saturating_sub(1)
    }

    /// The number of coalitions.
    pub fn count(&self) -> usize {
        self.orders.len() / self.players.max(1) * self.coalitions_per_order()
    }
}

/// The workspace of a thread.
#[derive(Debug)]
pub(crate) struct OrdersWorkspace {
    factors: Factors,
    /// Present and absent factors of all players, block by block.
    block_factors: Vec<(Lanes, Lanes)>,
    /// Weights of some outputs, and the block.
    weights: Vec<(usize, usize, Lanes)>,
    /// The products of the last players of an order.
    suffixes: Vec<(Lanes, Lanes)>,
    /// The sums of an order: output by output, coalition by coalition.
    order_sums: Vec<Lanes>,
    /// Output by output, coalition by coalition.
    totals: Vec<Sum>,
}

impl OrdersWorkspace {
    pub fn new(
        expansion: &PackedExpansion,
        orders: &Orders,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let (players, outputs) = (expansion.players(), expansion.outputs());
        let (mut block_factors, mut weights) = (Vec::new(), Vec::new());
        memory.reserve(&mut block_factors, saturating_product([players, BLOCKS]), FACTORS)?;
        memory.reserve(&mut weights, saturating_product([outputs, BLOCKS]), FACTORS)?;
        let (mut suffixes, mut order_sums, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        memory.reserve(&mut suffixes, players, FACTORS)?;
        memory.reserve(
            &mut order_sums,
            saturating_product([outputs, orders.coalitions_per_order()]),
            SUMS,
        )?;
        memory.reserve(&mut totals, saturating_product([outputs, orders.count()]), SUMS)?;
        let factors = Factors::new(players, memory)?;
        Ok(Self { factors, block_factors, weights, suffixes, order_sums, totals })
    }

    /// Computes the values of coalitions: output by output, order by order. The coalitions of an
    /// order are its first 1, …, p − 1 players, and its last 1, …, p − 1 players.
    pub fn compute(
        &mut self,
        expansion: &PackedExpansion,
        rows: Rows<'_>,
        orders: &Orders,
        context: Context<'_>,
        values: &mut [f64],
    ) {
        let (players, outputs) = (expansion.players(), expansion.outputs());
        let Self { factors, block_factors, weights, suffixes, order_sums, totals } = self;
        suffixes.clear();
        suffixes.resize(players, (Lanes::ONE, Lanes::ONE));
        order_sums.clear();
        order_sums.resize(outputs * orders.coalitions_per_order(), Lanes::ZERO);
        totals.clear();
        totals.resize(values.len(), Sum::default());
        let blocks = expansion.evaluation_blocks();
        for first in (0..blocks).step_by(BLOCKS) {
            if context.is_stopped() {
                return;
            }
            block_factors.clear();
            weights.clear();
            for (place, index) in (first..(first + BLOCKS).min(blocks)).enumerate() {
                factors.fill(expansion, index, rows, context);
                block_factors.extend_from_slice(&factors.players);
                let block_weights = expansion.block_weights(index);
                weights.extend(block_weights.map(|(output, weights)| (output, place, weights)));
            }
            context.run(AddUp {
                orders,
                block_factors,
                weights,
                suffixes,
                order_sums,
                totals,
                summation: context.settings.summation,
            });
        }
        for (value, total) in values.iter_mut().zip(totals) {
            *value = total.value();
        }
    }
}

/// Adds some blocks of evaluations to the values.
struct AddUp<'a> {
    orders: &'a Orders,
    block_factors: &'a [(Lanes, Lanes)],
    weights: &'a [(usize, usize, Lanes)],
    suffixes: &'a mut [(Lanes, Lanes)],
    order_sums: &'a mut [Lanes],
    totals: &'a mut [Sum],
    summation: Summation,
}

impl Body for AddUp<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { orders, block_factors, weights, suffixes, order_sums, totals, summation } = self;
        let (players, width, count) =
            (orders.players, orders.coalitions_per_order(), orders.count());
        for (number, order) in orders.orders.chunks_exact(players).enumerate() {
            order_sums.fill(Lanes::ZERO);
            let mut products_of = usize::MAX;
            for (output, place, weights) in weights {
                let factors = &block_factors[place * players..][..players];
                if products_of != *place {
                    multiply_suffixes::<W>(order, factors, suffixes);
                    products_of = *place;
                }
                let sums = &mut order_sums[output * width..][..width];
                add_products::<A, W>(order, factors, weights, suffixes, sums);
            }
            for (output, sums) in order_sums.chunks_exact(width).enumerate() {
                let totals = &mut totals[output * count + number * width..][..width];
                for (total, sum) in totals.iter_mut().zip(sums) {
                    total.add(Sum::from(sum.total()), summation);
                }
            }
        }
    }
}

/// Sets the place s > 0 to the products of the factors of all players of an order from s on.
#[inline(always)]
fn multiply_suffixes<const W: usize>(
    order: &[usize],
    factors: &[(Lanes, Lanes)],
    suffixes: &mut [(Lanes, Lanes)],
) {
    let (mut present, mut absent) = (Lanes::ONE, Lanes::ONE);
    for place in (1..order.len()).rev() {
        let (a, b) = &factors[order[place]];
        present = present.times::<W>(a);
        absent = absent.times::<W>(b);
        suffixes[place] = (present, absent);
    }
}

/// Adds the weighted products of the coalitions of an order: of its first players, and of its last.
#[inline(always)]
fn add_products<A: Arithmetic, const W: usize>(
    order: &[usize],
    factors: &[(Lanes, Lanes)],
    weights: &Lanes,
    suffixes: &[(Lanes, Lanes)],
    sums: &mut [Lanes],
) {
    let (prefix_sums, suffix_sums) = sums.split_at_mut(order.len() - 1);
    let (mut present, mut absent) = (*weights, *weights);
    for place in 1..order.len() {
        let (a, b) = &factors[order[place - 1]];
        present = present.times::<W>(a);
        absent = absent.times::<W>(b);
        let (suffix_present, suffix_absent) = &suffixes[place];
        prefix_sums[place - 1].add_product::<A, W>(&present, suffix_absent);
        suffix_sums[order.len() - 1 - place].add_product::<A, W>(&absent, suffix_present);
    }
}

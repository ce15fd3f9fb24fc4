//! The mean factors of products of two evaluations over background rows.
//!
//! With factors a and a′ of a row, b is the mean of a a′, and b − 1 the mean of (a − 1) a′ + (a′ −
//! 1), where both terms have the same sign for factors in [0, 1]. These sums of products take most
//! of the time. So the factors of some rows are kept for all products of a tile, plain sums over
//! these rows are formed in registers, and only these sums are added with compensation.

use std::ops::Range;

use crate::absent::background::Background;
use crate::absent::factors::AbsentFactors;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::evaluations::quadratic_form::QuadraticForm;
use crate::game::block::Block;
use crate::kernel::term::FillTerm;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, map_lanes, multiply_add_lanes};
use crate::simd::level::Body;
use crate::simd::sum::Accumulator;
use crate::walk::triangle::EvaluationPlace;

/// Maximum background rows whose factors are kept at a time.
const MAX_ROWS: usize = 32;
/// Maximum bytes of kept factors, unless a single row takes more.
const BYTES: usize = 4 << 20;
/// Smaller factors count as 0: their products may be subnormal numbers, with which processors are
/// many times slower.
pub(crate) const NEGLIGIBLE_FACTOR: f64 = 1e-150;

/// The factors of a player between a background row and sixteen evaluations.
#[derive(Clone, Copy, Debug)]
struct RowFactors {
    /// The factor a.
    factor: Lanes,
    /// The weight of the row times a, and the weight times a − 1.
    weighted_factors: [Lanes; 2],
}

impl RowFactors {
    #[inline(always)]
    fn new(factor: &Lanes, less_one: &Lanes, weight: f64) -> Self {
        let factor =
            Lanes(map_lanes(&factor.0, |a| if a.abs() < NEGLIGIBLE_FACTOR { 0.0 } else { a }));
        let weighted_factors =
            [&factor, less_one].map(|lanes| Lanes(map_lanes(&lanes.0, |a| weight * a)));
        Self { factor, weighted_factors }
    }
}

/// The sums for the products of a tile.
///
/// A *place* is a player of an evaluation block; the first one stands for all players that a term
/// does not compare.
#[derive(Debug, Default)]
pub(crate) struct ProductMeanSums {
    /// The evaluation blocks of the products, ascending.
    numbers: Vec<usize>,
    /// The factors of the kept rows, place by place and row by row.
    factors: Vec<RowFactors>,
    /// Σ weight · (a − 1) of the kept rows, place by place.
    less_one: Vec<Lanes>,
    /// Σ weight · a a′ and Σ weight · (a a′ − 1): block of products by block of products, player by
    /// player.
    sums: Vec<[Accumulator; 2]>,
    /// The factors of a row and an evaluation block.
    block: Block,
}

impl ProductMeanSums {
    /// Reserves memory for a number of blocks of products.
    pub fn reserve(
        &mut self,
        expansion: &PackedExpansion,
        blocks: usize,
        memory: &Memory,
    ) -> Result<(), Error> {
        let players = expansion.players();
        let evaluation_blocks = blocks.saturating_mul(2).min(expansion.evaluation_blocks());
        let places = saturating_product([evaluation_blocks, players]).saturating_add(1);
        // For fewer places, as many rows are kept.
        let row_count =
            places.max((BYTES / size_of::<RowFactors>()).min(places.saturating_mul(MAX_ROWS)));
        memory.reserve(&mut self.numbers, blocks.saturating_mul(2), FACTORS)?;
        memory.reserve(&mut self.factors, row_count, FACTORS)?;
        memory.reserve(&mut self.less_one, places, FACTORS)?;
        memory.reserve(&mut self.sums, saturating_product([blocks, players]), FACTORS)?;
        self.block.reserve(players, 0, memory)
    }

    /// Computes the means of some blocks of products, unless the call is to stop.
    pub fn means(
        &mut self,
        (expansion, form): (&PackedExpansion, &QuadraticForm),
        blocks: Range<usize>,
        background: Background<'_>,
        context: Context<'_>,
        means: &mut [AbsentFactors],
    ) {
        let unions = || blocks.clone().map(|index| form.union(form.locate(index)));
        self.numbers.clear();
        for partners in blocks.clone().map(|index| form.locate(index)) {
            self.numbers.extend([partners.one.block, partners.block]);
        }
        self.numbers.sort_unstable();
        self.numbers.dedup();
        self.sums.clear();
        self.sums.resize(unions().map(|union| union.players.len()).sum(), [Accumulator::ZERO; 2]);
        let (rows, players) = (background.rows.rows(), expansion.players());
        let step = rows_at_a_time(1 + self.numbers.len() * players);
        for first in (0..rows).step_by(step) {
            if context.is_stopped() {
                return;
            }
            let rows = first..(first + step).min(rows);
            self.keep(expansion, background, rows.clone(), context);
            let cache = RowCache {
                players,
                rows: rows.len(),
                numbers: &self.numbers,
                factors: &self.factors,
                less_one: &self.less_one,
            };
            context.run(AddRows { form, blocks: blocks.clone(), cache, sums: &mut self.sums });
        }
        let mut sums = self.sums.iter();
        for (union, means) in unions().zip(means) {
            means.factor.clear();
            means.less_one.clear();
            for [factor, less_one] in sums.by_ref().take(union.players.len()) {
                means.factor.push(factor.lanes());
                means.less_one.push(less_one.lanes());
            }
        }
    }

    /// Computes the factors of some background rows.
    fn keep(
        &mut self,
        expansion: &PackedExpansion,
        background: Background<'_>,
        rows: Range<usize>,
        context: Context<'_>,
    ) {
        let Self { numbers, factors, less_one, block, .. } = self;
        let (players, count) = (expansion.players(), rows.len());
        let places = 1 + numbers.len() * players;
        let none = |weight: f64| RowFactors::new(&Lanes::ONE, &Lanes::ZERO, weight);
        // All factors that are read are written before.
        factors.resize(factors.len().max(places * count), none(0.0));
        less_one.clear();
        less_one.resize(places, Lanes::ZERO);
        for (place, row) in rows.enumerate() {
            let (x, weight) = (background.rows.row(row), background.weights[row]);
            factors[place] = none(weight);
            for (slot, &number) in numbers.iter().enumerate() {
                let (term, points) = expansion.term_and_points(number);
                context.run(FillTerm { term, row: x, points, block });
                let first = 1 + slot * players;
                let (factors, less_one) = (&mut factors[first * count..], &mut less_one[first..]);
                let rows = count;
                context.run(KeepRow { weight, block, row: place, rows, factors, less_one });
            }
        }
    }
}

/// The number of rows whose factors are kept at a time, for a number of places.
fn rows_at_a_time(places: usize) -> usize {
    (BYTES / saturating_product([places, size_of::<RowFactors>()])).clamp(1, MAX_ROWS)
}

/// Stores the factors of a row and an evaluation block.
struct KeepRow<'a> {
    weight: f64,
    block: &'a Block,
    /// The place of the row among the kept ones, and the number of these.
    row: usize,
    rows: usize,
    factors: &'a mut [RowFactors],
    less_one: &'a mut [Lanes],
}

impl Body for KeepRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { weight, block, row, rows, factors, less_one } = self;
        debug_assert!(factors.len() >= rows * block.present.len(), "every player has a place");
        let values = block.present.iter().zip(&block.difference);
        let places = factors.chunks_exact_mut(rows).zip(less_one);
        for ((row_factors, sum), (factor, difference)) in places.zip(values) {
            row_factors[row] = RowFactors::new(factor, difference, weight);
            sum.add_product::<A, W>(&Lanes([weight; LANES]), difference);
        }
    }
}

/// The kept factors of some rows.
#[derive(Clone, Copy)]
struct RowCache<'a> {
    players: usize,
    rows: usize,
    numbers: &'a [usize],
    factors: &'a [RowFactors],
    less_one: &'a [Lanes],
}

impl RowCache<'_> {
    /// The place of the first player of an evaluation block.
    #[inline(always)]
    fn first_place(&self, number: usize) -> usize {
        1 + self.numbers.partition_point(|&other| other < number) * self.players
    }

    /// The kept rows of a place.
    #[inline(always)]
    fn rows_of(&self, place: usize) -> &[RowFactors] {
        &self.factors[place * self.rows..][..self.rows]
    }
}

/// Σ weight · a a′ and Σ weight · (a − 1) a′ over rows, a in one lane and a′ in sixteen.
#[inline(always)]
fn products<A: Arithmetic, const W: usize>(
    one: &[RowFactors],
    lane: usize,
    partners: &[RowFactors],
) -> [Lanes; 2] {
    let mut result = [Lanes::ZERO; 2];
    for part in 0..LANES / W {
        // Two sums, each over every other row, so that one sum does not wait for the other.
        let mut sums = [[[0.0; W]; 2]; 2];
        let (twos, last) = one.as_chunks::<2>();
        let (partner_twos, partner_last) = partners.as_chunks::<2>();
        for ([first, second], [other_first, other_second]) in twos.iter().zip(partner_twos) {
            add_product::<A, W>(&mut sums[0], (first, lane), (other_first, part));
            add_product::<A, W>(&mut sums[1], (second, lane), (other_second, part));
        }
        if let ([last], [partner_last]) = (last, partner_last) {
            add_product::<A, W>(&mut sums[0], (last, lane), (partner_last, part));
        }
        for (kind, result) in result.iter_mut().enumerate() {
            let sum: &mut [f64; W] = result.part_mut(part);
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum = sums[0][kind][i] + sums[1][kind][i];
            }
        }
    }
    result
}

/// Adds the products of a row's weighted factors in a lane and another's factor.
#[inline(always)]
fn add_product<A: Arithmetic, const W: usize>(
    sums: &mut [[f64; W]; 2],
    (one, lane): (&RowFactors, usize),
    (other, part): (&RowFactors, usize),
) {
    for (sum, weighted_factor) in sums.iter_mut().zip(&one.weighted_factors) {
        *sum =
            multiply_add_lanes::<A, W>(sum, &[weighted_factor.0[lane]; W], other.factor.part(part));
    }
}

/// Adds the products of the factors of kept rows.
struct AddRows<'a> {
    form: &'a QuadraticForm,
    blocks: Range<usize>,
    cache: RowCache<'a>,
    sums: &'a mut [[Accumulator; 2]],
}

impl Body for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { form, blocks, cache, mut sums } = self;
        let Range { start: mut index, end } = blocks;
        while index < end {
            // The products of two evaluation blocks, whose factors are in the cache.
            let partners = form.locate(index);
            let EvaluationPlace { block, lane } = partners.one;
            let lanes = form.blocks_together(index..end);
            let places = &form.union(partners).places;
            let (block_sums, rest) = sums.split_at_mut(lanes * places.len());
            let (one, others) = (cache.first_place(block), cache.first_place(partners.block));
            for (player, &[one_place, partner_place]) in places.iter().enumerate() {
                let one = one_place.map_or(0, |place| one + place);
                let others = partner_place.map_or(0, |place| others + place);
                let sums = block_sums.iter_mut().skip(player).step_by(places.len());
                for (lane, [factor, less_one]) in (lane..lane + lanes).zip(sums) {
                    let [a, c] = products::<A, W>(cache.rows_of(one), lane, cache.rows_of(others));
                    factor.add_product::<A, W>(&Lanes::ONE, &a);
                    less_one.add_product::<A, W>(&Lanes::ONE, &c);
                    less_one.add_product::<A, W>(&Lanes::ONE, &cache.less_one[others]);
                }
            }
            (sums, index) = (rest, index + lanes);
        }
    }
}

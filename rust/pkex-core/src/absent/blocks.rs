//! Blocks of present and absent factors and their differences.

use std::marker::PhantomData;

use crate::absent::contrast::Contrast;
use crate::absent::factors::AbsentFactors;
use crate::game::block::{AbsentFactor, Block, HigherOrders, PlayerPart};
use crate::game::spread::{RunningSpread, Spread, share_of_quotient};
use crate::kernel::linked_terms::LinkedFactors;
use crate::kernel::term::{PackedTerm, Sink};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, multiply_lanes, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::{larger, smaller};

/// Present factors a, computed when a sink takes them or before.
pub(crate) trait PresentFactors {
    /// Whether factors may be negative, or above 1.
    fn are_signed(&self) -> bool {
        false
    }

    /// Passes the factors to a sink.
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S);
}

impl PresentFactors for LinkedFactors<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        self.factors_into::<A, S, W>(sink);
    }
}

/// The present factors of a term between a row and a block of points.
pub(crate) struct TermFactors<'a> {
    pub term: &'a PackedTerm,
    pub x: &'a [f64],
    pub points: &'a [Lanes],
}

impl PresentFactors for TermFactors<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        self.term.factors_into::<A, S, W>(self.x, self.points, sink);
    }
}

impl PresentFactors for &Block {
    fn are_signed(&self) -> bool {
        self.is_signed
    }

    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        for (player, (present, less_one)) in self.present.iter().zip(&self.difference).enumerate() {
            for part in 0..LANES / W {
                sink.take::<W>(
                    PlayerPart { player, part },
                    present.part(part),
                    less_one.part(part),
                );
            }
        }
    }
}

/// Fills a block with present and absent factors. Returns no spread if a difference is [`CANCELLED`].
struct FillBlock<'a, O> {
    factors: O,
    absent: &'a AbsentFactors,
    block: &'a mut Block,
    loss: f64,
}

impl<O: PresentFactors> Body for FillBlock<'_, O> {
    type Output = Option<Spread>;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Option<Spread> {
        let Self { factors, absent, block, loss } = self;
        if factors.are_signed() {
            return Some(fill_signed::<A, _, W>(factors, absent, block));
        }
        if !block.needs_present && !absent.inverse.is_empty() {
            return fill_quotients::<A, _, W>(factors, absent, block, loss);
        }
        block.begin(absent.factor.len(), AbsentFactor::Each);
        let mut sink = DifferenceSink::<A> {
            absent_factors: absent,
            loss,
            present: &mut block.present,
            absent: &mut block.absent,
            difference: &mut block.difference,
            spread: RunningSpread::START,
            of: PhantomData,
        };
        factors.factors_into::<A, _, W>(&mut sink);
        sink.spread.total()
    }
}

/// Fills a block with a row's present factors and absent ones.
pub(crate) fn fill_block(
    factors: impl PresentFactors,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) -> Spread {
    let spread = context.run(FillBlock { factors, absent, block, loss: contrast.loss() });
    spread.unwrap_or_else(|| context.run(ReplaceCancelled { absent, block, contrast, context }))
}

/// Fills a block with the present factors of another block, which may be power series, and absent
/// ones.
pub(crate) fn fill_from_block(
    source: &Block,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) -> Spread {
    let spread = fill_block(source, absent, block, contrast, context);
    if source.series.exists() {
        block.series.weights.clone_from(&source.series.weights);
        fill_series(&source.series, &absent.higher, block, contrast, context);
    }
    spread
}

/// Fills a block with factors of any sign, which are known to an absolute error: c is computed from
/// a − 1 and b − 1.
#[inline(always)]
fn fill_signed<A: Arithmetic, O: PresentFactors, const W: usize>(
    factors: O,
    absent: &AbsentFactors,
    block: &mut Block,
) -> Spread {
    block.begin(absent.factor.len(), AbsentFactor::Each);
    block.is_signed = true;
    let Block { present, absent: absent_lanes, difference, .. } = block;
    let mut sink = SignedSink { absent_factors: absent, present, absent: absent_lanes, difference };
    factors.factors_into::<A, _, W>(&mut sink);
    block.spread::<A, W>()
}

/// Takes present factors of any sign, and fills a block with them, absent ones and differences.
struct SignedSink<'a> {
    absent_factors: &'a AbsentFactors,
    present: &'a mut [Lanes],
    absent: &'a mut [Lanes],
    difference: &'a mut [Lanes],
}

impl Sink for SignedSink<'_> {
    const PRESENT: bool = true;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        a: &[f64; W],
        a_less_one: &[f64; W],
    ) {
        let b_less_one: &[f64; W] = self.absent_factors.less_one[player].part(part);
        *self.present[player].part_mut(part) = *a;
        *self.absent[player].part_mut::<W>(part) = *self.absent_factors.factor[player].part(part);
        *self.difference[player].part_mut(part) = zip_lanes(a_less_one, b_less_one, |a, b| a - b);
    }
}

/// Fills a block with games divided by ∏ b: absent factors are 1, and c is (a − b)/b.
#[inline(always)]
fn fill_quotients<A: Arithmetic, O: PresentFactors, const W: usize>(
    factors: O,
    absent: &AbsentFactors,
    block: &mut Block,
    loss: f64,
) -> Option<Spread> {
    block.begin(absent.factor.len(), AbsentFactor::One);
    block.divisor = absent.product;
    // Absent factors are at least `MIN_ABSENT_FACTOR`, so that factors have few halvings.
    let (loss, difference) = (5.0 * loss, &mut block.difference);
    let mut quotients = Quotients { absent_factors: absent, loss, difference, sums: Lanes::ZERO };
    factors.factors_into::<A, _, W>(&mut quotients);
    let has_cancelled = quotients.sums.0.iter().any(|sum| sum.is_nan());
    (!has_cancelled).then(|| Spread::of_quotients(&quotients.sums))
}

/// The value of a difference of which too many bits have cancelled, until its contrast replaces it.
/// It makes the sums of the spread NaN as well, so that one test of these finds it: a flag for
/// each difference takes 5 to 30 % more instructions.
const CANCELLED: f64 = f64::NAN;

/// Takes present factors, and fills a block with them, absent ones and differences or [`CANCELLED`].
struct DifferenceSink<'a, A> {
    absent_factors: &'a AbsentFactors,
    loss: f64,
    present: &'a mut [Lanes],
    absent: &'a mut [Lanes],
    difference: &'a mut [Lanes],
    spread: RunningSpread,
    of: PhantomData<A>,
}

impl<A: Arithmetic> Sink for DifferenceSink<'_, A> {
    const PRESENT: bool = true;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        a: &[f64; W],
        a_less_one: &[f64; W],
    ) {
        let b: [f64; W] = *self.absent_factors.factor[player].part(part);
        let b_less_one: [f64; W] = *self.absent_factors.less_one[player].part(part);
        let (mut c, mut size) = ([0.0; W], [0.0; W]);
        // One loop, which is vectorized as a whole.
        for i in 0..W {
            size[i] = larger(a[i], b[i]);
            c[i] = difference((a[i], b[i]), (a_less_one[i], b_less_one[i]), self.loss);
        }
        self.spread.include::<A, W>(part, &c, &size);
        *self.present[player].part_mut(part) = *a;
        *self.absent[player].part_mut(part) = b;
        *self.difference[player].part_mut(part) = c;
    }
}

/// Takes present factors, and fills a block with their differences to absent ones divided by these,
/// or [`CANCELLED`].
struct Quotients<'a> {
    absent_factors: &'a AbsentFactors,
    loss: f64,
    difference: &'a mut [Lanes],
    /// Sums of [`share_of_quotient`].
    sums: Lanes,
}

impl Sink for Quotients<'_> {
    // Linked terms need a, because they are computed from the factors of this term.
    const PRESENT: bool = true;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        _a: &[f64; W],
        a_less_one: &[f64; W],
    ) {
        let (loss, AbsentFactors { less_one, inverse, .. }) = (self.loss, self.absent_factors);
        let b_less_one: &[f64; W] = less_one[player].part(part);
        let inverse: &[f64; W] = inverse[player].part(part);
        // Products before the selection among them, so that the selection is not a branch.
        let c = zip_lanes(a_less_one, b_less_one, |a, b| a - b);
        let threshold = zip_lanes(a_less_one, b_less_one, |a, b| -loss * smaller(a, b));
        let quotient = multiply_lanes(&c, inverse);
        let c: [f64; W] =
            each_lane(|i| if c[i].abs() < threshold[i] { CANCELLED } else { quotient[i] });
        let sum = self.sums.part_mut(part);
        *sum = zip_lanes(sum, &c, |sum, c| sum + share_of_quotient(c));
        *self.difference[player].part_mut(part) = c;
    }
}

/// c = a − b, from a and b if both are below ½, else from a − 1 and b − 1: from the numbers that are
/// known to more digits. Rounding changes a factor exp(−E) by a multiple of E·2⁻⁵³ of itself, as it
/// changes the exponent. The least |c| that is not [`CANCELLED`] grows with E as well.
#[inline(always)]
fn difference((a, b): (f64, f64), (a_less_one, b_less_one): (f64, f64), loss: f64) -> f64 {
    let size = larger(a, b);
    let from_one = a_less_one - b_less_one;
    let lack = -smaller(a_less_one, b_less_one);
    let (c, scale) = if size < 0.5 { (a - b, size) } else { (from_one, lack) };
    if c.abs() < scale * halvings(loss, size) { CANCELLED } else { c }
}

/// Replaces each [`CANCELLED`] by a contrast; returns the spread.
struct ReplaceCancelled<'a> {
    absent: &'a AbsentFactors,
    block: &'a mut Block,
    contrast: &'a dyn Contrast,
    context: Context<'a>,
}

impl Body for ReplaceCancelled<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { absent, block, contrast, context } = self;
        let are_quotients = block.absent_factor() == AbsentFactor::One;
        for (player, difference) in block.difference.iter_mut().enumerate() {
            let mask = difference.0.map(f64::is_nan);
            if !mask.contains(&true) {
                continue;
            }
            let mut exact = contrast.of_player(player, &mask, context);
            if are_quotients {
                exact = exact.times::<W>(&absent.inverse[player]);
            }
            for part in 0..LANES / W {
                let (c, exact): (&mut [f64; W], &[f64; W]) =
                    (difference.part_mut(part), exact.part(part));
                *c = zip_lanes(c, exact, |c, exact| if c.is_nan() { exact } else { c });
            }
        }
        if are_quotients {
            block.spread_of_quotients::<W>()
        } else {
            block.spread_of_fractions::<A, W>()
        }
    }
}

/// Fills the higher orders of a block whose factors are power series.
fn fill_series(
    source: &HigherOrders,
    absent: &[Lanes],
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) {
    let (players, orders, series) = (block.present.len(), source.orders(), &mut block.series);
    series.is_pure = source.is_pure;
    series.begin(players, AbsentFactor::Each);
    series.present.copy_from_slice(&source.present);
    series.absent.copy_from_slice(absent);
    series.exact.resize(2 * orders, Lanes::ZERO);
    for player in 0..players {
        let range = player * orders..(player + 1) * orders;
        let difference = &mut series.difference[range.clone()];
        let (present, absent) = (&source.present[range.clone()], &absent[range]);
        let loss = contrast.loss();
        let mask = context.run(Subtract { present, absent, difference, loss });
        if !mask.contains(&true) {
            continue;
        }
        contrast.of_series(player, &mask, &mut series.exact, context);
        for (difference, exact) in difference.iter_mut().zip(&series.exact) {
            for lane in (0..LANES).filter(|&lane| mask[lane]) {
                difference.0[lane] = exact.0[lane];
            }
        }
    }
}

/// Computes the differences of a player's higher orders. Returns the lanes in which too many bits
/// have cancelled.
struct Subtract<'a> {
    present: &'a [Lanes],
    absent: &'a [Lanes],
    difference: &'a mut [Lanes],
    loss: f64,
}

impl Body for Subtract<'_> {
    type Output = [bool; LANES];

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> [bool; LANES] {
        let Self { present, absent, difference, loss } = self;
        let mut mask = [false; LANES];
        for ((a, b), difference) in present.iter().zip(absent).zip(difference) {
            for (i, mask) in mask.iter_mut().enumerate() {
                let (a, b) = (a.0[i], b.0[i]);
                difference.0[i] = a - b;
                *mask |= (a - b).abs() < loss * larger(a.abs(), b.abs());
            }
        }
        mask
    }
}

/// `unit`, a power of two, times 1 + ⌈−log₂ x⌉ for x from 0 to 1 (or 1 more), from the binary
/// exponent of x.
#[inline(always)]
const fn halvings(unit: f64, x: f64) -> f64 {
    // A unit is the last digit of 2⁵² units. The biased exponent of 1 is 1023.
    let offset = 4_503_599_627_370_496.0 * unit;
    let bits = (offset + 1024.0 * unit).to_bits();
    f64::from_bits(bits - (x.to_bits() >> 52)) - offset
}

#[cfg(test)]
mod tests {
    use super::halvings;

    #[test]
    fn halvings_count_powers_of_two() {
        let numbers = [1.0, 0.75, 0.5, 0.3, 2.0_f64.powi(-30), f64::MIN_POSITIVE, 5e-324, 0.0];
        let expected = [1.0, 2.0, 2.0, 3.0, 31.0, 1023.0, 1024.0, 1024.0];
        for unit in [1.0, 0.125] {
            let actual = numbers.map(|x| halvings(unit, x) / unit);
            assert_eq!(actual.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}

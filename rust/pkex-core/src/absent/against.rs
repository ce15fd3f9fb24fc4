//! Blocks of present and absent factors and their differences.

use std::marker::PhantomData;

use crate::absent::contrast::Contrast;
use crate::absent::factors::AbsentFactors;
use crate::game::block::{AbsentFactor, Block, Higher, PlayerPart};
use crate::game::spread::{RunningSpread, Spread, share_of_quotient};
use crate::kernel::linked_terms::LinkedFactors;
use crate::kernel::term::{FillTerm, PackedTerm, Sink};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::level::Body;
use crate::simd::numbers::{larger, smaller};

/// Present factors a, computed when a sink takes them or before.
pub(crate) trait OwnFactors {
    /// Whether factors may be negative, or above 1.
    fn are_signed(&self) -> bool {
        false
    }

    /// Passes the factors to a sink.
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(&mut self, sink: &mut S);

    /// a − 1 of each player, after a sink has taken the factors.
    fn less_one(&mut self, context: Context<'_>) -> &[Lanes];
}

impl OwnFactors for LinkedFactors<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(&mut self, sink: &mut S) {
        LinkedFactors::factors_into::<A, S, W>(self, sink);
    }

    fn less_one(&mut self, _: Context<'_>) -> &[Lanes] {
        LinkedFactors::less_one(self)
    }
}

/// The present factors of a term between a row and a block of points.
pub(crate) struct TermFactors<'a> {
    pub term: &'a PackedTerm,
    pub x: &'a [f64],
    pub points: &'a [Lanes],
    /// Room for the factors, where they are needed again.
    pub room: &'a mut Block,
}

impl OwnFactors for TermFactors<'_> {
    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(&mut self, sink: &mut S) {
        self.term.factors_into::<A, S, W>(self.x, self.points, sink);
    }

    fn less_one(&mut self, context: Context<'_>) -> &[Lanes] {
        let Self { term, x, points, room } = self;
        context.run(FillTerm { term, row: x, points, block: room });
        &room.difference
    }
}

impl OwnFactors for &Block {
    fn are_signed(&self) -> bool {
        self.is_signed
    }

    #[inline(always)]
    fn factors_into<A: Arithmetic, S: Sink, const W: usize>(&mut self, sink: &mut S) {
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

    fn less_one(&mut self, _: Context<'_>) -> &[Lanes] {
        &self.difference
    }
}

/// Fills a block with present and absent factors. Returns no spread if too many bits of a difference
/// have cancelled.
struct FillAgainst<'a, O> {
    own: &'a mut O,
    absent: &'a AbsentFactors,
    block: &'a mut Block,
    loss: f64,
}

impl<O: OwnFactors> Body for FillAgainst<'_, O> {
    type Output = Option<Spread>;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Option<Spread> {
        let Self { own, absent, block, loss } = self;
        if own.are_signed() {
            return Some(fill_signed::<A, _, W>(own, absent, block));
        }
        if !block.needs_present && !absent.inverse.is_empty() {
            return fill_quotients::<A, _, W>(own, absent, block, loss);
        }
        block.begin(absent.factor.len(), AbsentFactor::Each);
        let mut against = Against::<A> {
            known: absent,
            loss,
            present: &mut block.present,
            absent: &mut block.absent,
            difference: &mut block.difference,
            spread: RunningSpread::START,
            of: PhantomData,
        };
        own.factors_into::<A, _, W>(&mut against);
        against.spread.total()
    }
}

/// Fills a block with a row's present factors and absent ones.
pub(crate) fn fill_against(
    mut own: impl OwnFactors,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) -> Spread {
    let loss = contrast.loss();
    let spread = context.run(FillAgainst { own: &mut own, absent, block, loss });
    spread.unwrap_or_else(|| {
        let less_one = own.less_one(context);
        context.run(ReplaceCancelled { less_one, absent, block, contrast, context })
    })
}

/// Fills a block with the present factors of another block, which may be power series, and absent
/// ones.
pub(crate) fn fill_block_against(
    own: &Block,
    absent: &AbsentFactors,
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) -> Spread {
    let spread = fill_against(own, absent, block, contrast, context);
    if own.series.is_there() {
        block.series.weights.clone_from(&own.series.weights);
        fill_series(&own.series, &absent.higher, block, contrast, context);
    }
    spread
}

/// Fills a block with factors of any sign, which are known to an absolute error: c is computed from
/// a − 1 and b − 1.
#[inline(always)]
fn fill_signed<A: Arithmetic, O: OwnFactors, const W: usize>(
    own: &mut O,
    absent: &AbsentFactors,
    block: &mut Block,
) -> Spread {
    block.begin(absent.factor.len(), AbsentFactor::Each);
    block.is_signed = true;
    let Block { present, absent: factors, difference, .. } = block;
    let mut sink = SignedAgainst { known: absent, present, absent: factors, difference };
    own.factors_into::<A, _, W>(&mut sink);
    block.spread::<W>()
}

/// Takes present factors of any sign, and fills a block with them, absent ones and differences.
struct SignedAgainst<'a> {
    known: &'a AbsentFactors,
    present: &'a mut [Lanes],
    absent: &'a mut [Lanes],
    difference: &'a mut [Lanes],
}

impl Sink for SignedAgainst<'_> {
    const PRESENT: bool = true;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        a: &[f64; W],
        a_less_one: &[f64; W],
    ) {
        let b_less_one: &[f64; W] = self.known.less_one[player].part(part);
        *self.present[player].part_mut(part) = *a;
        *self.absent[player].part_mut::<W>(part) = *self.known.factor[player].part(part);
        *self.difference[player].part_mut(part) = zip_lanes(a_less_one, b_less_one, |a, b| a - b);
    }
}

/// Fills a block with games divided by ∏ b: absent factors are 1, and c is (a − b)/b.
#[inline(always)]
fn fill_quotients<A: Arithmetic, O: OwnFactors, const W: usize>(
    own: &mut O,
    absent: &AbsentFactors,
    block: &mut Block,
    loss: f64,
) -> Option<Spread> {
    block.begin(absent.factor.len(), AbsentFactor::One);
    block.divisor = absent.product;
    let difference = &mut block.difference;
    let mut quotients = Quotients { known: absent, loss, difference, sums: Lanes::ZERO };
    own.factors_into::<A, _, W>(&mut quotients);
    let is_known = quotients.sums.0.iter().all(|sum| sum.is_finite());
    is_known.then(|| Spread::of_quotients(&quotients.sums))
}

/// Takes present factors, and fills a block with them, absent ones and differences. The spread is
/// infinite if too many bits of a difference have cancelled.
struct Against<'a, A> {
    known: &'a AbsentFactors,
    loss: f64,
    present: &'a mut [Lanes],
    absent: &'a mut [Lanes],
    difference: &'a mut [Lanes],
    spread: RunningSpread,
    of: PhantomData<A>,
}

impl<A: Arithmetic> Sink for Against<'_, A> {
    const PRESENT: bool = true;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        a: &[f64; W],
        a_less_one: &[f64; W],
    ) {
        let b: [f64; W] = *self.known.factor[player].part(part);
        let b_less_one: [f64; W] = *self.known.less_one[player].part(part);
        let (mut c, mut known, mut size) = ([0.0; W], [0.0; W], [0.0; W]);
        // One loop, which is vectorized as a whole.
        for i in 0..W {
            let of_lane = Subtracted::new((a[i], b[i]), (a_less_one[i], b_less_one[i]), self.loss);
            size[i] = larger(a[i], b[i]);
            c[i] = of_lane.c;
            known[i] = if of_lane.is_exact() { of_lane.c } else { f64::INFINITY };
        }
        self.spread.include::<A, W>(part, &known, &size);
        *self.present[player].part_mut(part) = *a;
        *self.absent[player].part_mut(part) = b;
        *self.difference[player].part_mut(part) = c;
    }
}

/// Takes present factors, and fills a block with their differences to absent ones divided by these.
struct Quotients<'a> {
    known: &'a AbsentFactors,
    loss: f64,
    difference: &'a mut [Lanes],
    /// Sums of [`share_of_quotient`], infinite if too many bits of a difference have cancelled.
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
        let (loss, AbsentFactors { less_one, inverse, .. }) = (self.loss, self.known);
        let b_less_one: &[f64; W] = less_one[player].part(part);
        let inverse: &[f64; W] = inverse[player].part(part);
        let of = |i: usize| Subtracted::to_divide(a_less_one[i], b_less_one[i], loss);
        let quotient: [f64; W] = each_lane(|i| of(i).c * inverse[i]);
        let sum: &mut [f64; W] = self.sums.part_mut(part);
        *sum = each_lane(|i| {
            let share = share_of_quotient(quotient[i]);
            sum[i] + if of(i).is_exact() { share } else { f64::INFINITY }
        });
        *self.difference[player].part_mut(part) = quotient;
    }
}

/// A difference a − b by subtraction.
#[derive(Clone, Copy)]
struct Subtracted {
    c: f64,
    /// The least |c| of which few enough bits have cancelled.
    least: f64,
}

impl Subtracted {
    /// From a and b where both are below ½, else from a − 1 and b − 1: from the numbers that are
    /// known to more digits. Rounding changes a factor exp(−E) by a multiple of E·2⁻⁵³ of itself,
    /// as it changes the exponent. The least |c| grows with E as well.
    #[inline(always)]
    fn new((a, b): (f64, f64), (a_less_one, b_less_one): (f64, f64), loss: f64) -> Self {
        let size = larger(a, b);
        let from_one = a_less_one - b_less_one;
        let lack = -smaller(a_less_one, b_less_one);
        let (c, of) = if size < 0.5 { (a - b, size) } else { (from_one, lack) };
        Self { c, least: of * in_halvings(loss, size) }
    }

    /// From a − 1 and b − 1, where b is at least [`LEAST_FACTOR`], so that factors have few halvings.
    ///
    /// [`LEAST_FACTOR`]: crate::game::block::LEAST_FACTOR
    #[inline(always)]
    fn to_divide(a_less_one: f64, b_less_one: f64, loss: f64) -> Self {
        let least = -(5.0 * loss) * smaller(a_less_one, b_less_one);
        Self { c: a_less_one - b_less_one, least }
    }

    /// Whether few enough bits have cancelled.
    #[inline(always)]
    fn is_exact(self) -> bool {
        self.c.abs() >= self.least
    }
}

/// Replaces differences of which too many bits have cancelled by contrasts; returns the spread.
struct ReplaceCancelled<'a> {
    /// a − 1 of each player.
    less_one: &'a [Lanes],
    absent: &'a AbsentFactors,
    block: &'a mut Block,
    contrast: &'a dyn Contrast,
    context: Context<'a>,
}

impl Body for ReplaceCancelled<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { less_one, absent, block, contrast, context } = self;
        debug_assert_eq!(less_one.len(), absent.factor.len());
        let (are_quotients, loss) = (block.absent_factor() == AbsentFactor::One, contrast.loss());
        for (player, difference) in block.difference.iter_mut().enumerate() {
            // 1 where too many bits have cancelled, else 0.
            let mut cancelled = Lanes::ZERO;
            for part in 0..LANES / W {
                let a_less_one: &[f64; W] = less_one[player].part(part);
                let b_less_one: &[f64; W] = absent.less_one[player].part(part);
                let flag = |subtracted: Subtracted| f64::from(u8::from(!subtracted.is_exact()));
                *cancelled.part_mut::<W>(part) = if are_quotients {
                    each_lane(|i| flag(Subtracted::to_divide(a_less_one[i], b_less_one[i], loss)))
                } else {
                    let a: &[f64; W] = block.present[player].part(part);
                    let b: &[f64; W] = block.absent[player].part(part);
                    each_lane(|i| {
                        let less_one = (a_less_one[i], b_less_one[i]);
                        flag(Subtracted::new((a[i], b[i]), less_one, loss))
                    })
                };
            }
            if cancelled == Lanes::ZERO {
                continue;
            }
            let wanted = cancelled.0.map(|flag| flag > 0.0);
            let mut exact = contrast.of_player(player, &wanted, context);
            if are_quotients {
                exact = exact.times::<W>(&absent.inverse[player]);
            }
            for (lane, c) in difference.0.iter_mut().enumerate() {
                *c = if wanted[lane] { exact.0[lane] } else { *c };
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
    own: &Higher,
    absent: &[Lanes],
    block: &mut Block,
    contrast: &dyn Contrast,
    context: Context<'_>,
) {
    let (players, orders, series) = (block.present.len(), own.orders(), &mut block.series);
    series.is_pure = own.is_pure;
    series.begin(players, AbsentFactor::Each);
    series.present.copy_from_slice(&own.present);
    series.absent.copy_from_slice(absent);
    series.exact.resize(2 * orders, Lanes::ZERO);
    for player in 0..players {
        let these = player * orders..(player + 1) * orders;
        let difference = &mut series.difference[these.clone()];
        let (present, absent) = (&own.present[these.clone()], &absent[these]);
        let loss = contrast.loss();
        let cancelled = context.run(Subtract { present, absent, difference, loss });
        if !cancelled.contains(&true) {
            continue;
        }
        contrast.of_series(player, &cancelled, &mut series.exact, context);
        for (difference, exact) in difference.iter_mut().zip(&series.exact) {
            for lane in (0..LANES).filter(|&lane| cancelled[lane]) {
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
        let mut cancelled = [false; LANES];
        for ((a, b), difference) in present.iter().zip(absent).zip(difference) {
            for (i, cancelled) in cancelled.iter_mut().enumerate() {
                let (a, b) = (a.0[i], b.0[i]);
                difference.0[i] = a - b;
                *cancelled |= (a - b).abs() < loss * larger(a.abs(), b.abs());
            }
        }
        cancelled
    }
}

/// `unit`, a power of two, times 1 + ⌈−log₂ x⌉ for x from 0 to 1 (or 1 more), from the binary
/// exponent of x.
#[inline(always)]
const fn in_halvings(unit: f64, x: f64) -> f64 {
    // A unit is the last digit of 2⁵² units. The biased exponent of 1 is 1023.
    let many = 4_503_599_627_370_496.0 * unit;
    let bits = (many + 1024.0 * unit).to_bits();
    f64::from_bits(bits - (x.to_bits() >> 52)) - many
}

#[cfg(test)]
mod tests {
    use super::in_halvings;

    #[test]
    fn halvings_count_powers_of_two() {
        let numbers = [1.0, 0.75, 0.5, 0.3, 2.0_f64.powi(-30), f64::MIN_POSITIVE, 5e-324, 0.0];
        let expected = [1.0, 2.0, 2.0, 3.0, 31.0, 1023.0, 1024.0, 1024.0];
        for unit in [1.0, 0.125] {
            let found = numbers.map(|x| in_halvings(unit, x) / unit);
            assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}

//! Gaussian factors of a term, computed from the factors of another term whose rates are half as
//! large.
//!
//! For a = exp(−E) and c = a − 1,
//!
//! exp(−2E) − 1 = c (2 + c),    exp(−2E) = 1 + c (2 + c) = a².
//!
//! A relative error of c is multiplied by (2 + 2c) / (2 + c), which is at most 1, so that each
//! doubling adds only its own rounding error. The error of a is doubled, as if the exponent were
//! doubled. Near 1, where it would be larger than that of an exponential, a is 1 + c. The rates of
//! mixtures are powers of a root of 2, so that nearly all their terms need no exponential.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block, PlayerPart};
use crate::game::spread::Spread;
use crate::kernel::family::gaussian;
use crate::kernel::term::{PackedTerm, Sink, UnitFactors};
use crate::memory::{FACTORS, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;

/// Maximum doublings from one term to the next: as many as cost half an exponential.
const MAX_DOUBLINGS: u32 = 4;

/// Maximum doublings after an exponential, each with an error of one and a half ulps of c.
const MAX_DOUBLINGS_IN_A_ROW: u32 = 8;

/// A term that is linked to others by doubled rates.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    /// The slot that keeps the factors of the last linked term.
    slot: usize,
    /// The number of the previous term, and the number of doublings from it; the first term has
    /// none.
    before: Option<(usize, u32)>,
}

/// The links between the terms of a kernel, and the number of slots for their factors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    of_terms: Vec<Option<Link>>,
    pub slots: usize,
}

impl Links {
    /// The links between some terms.
    pub fn among(terms: &[PackedTerm]) -> Self {
        let mut of_terms = vec![None; terms.len()];
        // The last term of each slot, and the number of doublings since an exponential.
        let mut slots: Vec<(usize, u32)> = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            let times = |&(last, _): &(usize, u32)| times_narrower(term, &terms[last]);
            let found = (0..slots.len()).find_map(|slot| Some((slot, times(&slots[slot])?)));
            let Some((slot, times)) = found else {
                slots.push((number, 0));
                continue;
            };
            let (last, in_a_row) = slots[slot];
            let follows = in_a_row + times <= MAX_DOUBLINGS_IN_A_ROW;
            of_terms[last].get_or_insert(Link { slot, before: None });
            of_terms[number] = Some(Link { slot, before: follows.then_some((last, times)) });
            slots[slot] = (number, if follows { in_a_row + times } else { 0 });
        }
        Self { of_terms, slots: slots.len() }
    }
}

/// The number of doublings of the rates of all players' Gaussians from one term to another.
fn times_narrower(term: &PackedTerm, before: &PackedTerm) -> Option<u32> {
    let both = || term.gaussians.iter().zip(&before.gaussians);
    // exp(−(r p)²): doubling the exponent multiplies p by √2, with rounding.
    let is_narrower = |times: u32| {
        let factor = f64::from(1 << times);
        let is_factor = |p: f64, of: f64| (p * p / (of * of) / factor - 1.0).abs() < 4e-15;
        both().all(|(p, of)| p.0 == of.0 && is_factor(p.1, of.1))
    };
    let is_gaussian = |term: &PackedTerm| !term.gaussians.is_empty() && term.series.is_none();
    if !is_gaussian(term) || !is_gaussian(before) || term.players != before.players {
        return None;
    }
    (1..=MAX_DOUBLINGS).find(|&times| is_narrower(times))
}

/// The factors of the last term in each slot, which a thread keeps while it fills blocks.
#[derive(Debug, Default)]
pub(crate) struct KeptFactors(Vec<Slot>);

/// The numbers of the row, the block and the term of factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FactorNumbers {
    pub row: usize,
    pub block: usize,
    pub term: usize,
}

#[derive(Debug, Default)]
struct Slot {
    of: Option<FactorNumbers>,
    present: Vec<Lanes>,
    less_one: Vec<Lanes>,
}

impl KeptFactors {
    /// Reserves memory for a number of slots and players.
    pub fn reserve(&mut self, slots: usize, players: usize, memory: &Memory) -> Result<(), Error> {
        self.0.resize_with(slots, Slot::default);
        self.0.iter_mut().try_for_each(|slot| {
            memory.reserve(&mut slot.present, players, FACTORS)?;
            memory.reserve(&mut slot.less_one, players, FACTORS)
        })
    }

    /// Invalidates all factors, so that later results do not depend on earlier ones.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|slot| slot.of = None);
    }

    /// The factors of a linked term between a row and a block of points, with the numbers of all
    /// three.
    pub fn linked<'a>(
        &'a mut self,
        links: &Links,
        of: FactorNumbers,
        (term, row, points): (&'a PackedTerm, &'a [f64], &'a [Lanes]),
    ) -> Option<LinkedFactors<'a>> {
        let Link { slot, before } = links.of_terms[of.term]?;
        let slot = &mut self.0[slot];
        let is_kept = |&(term, _): &(usize, u32)| slot.of == Some(FactorNumbers { term, ..of });
        let times = before.filter(is_kept).map(|(_, times)| times);
        Some(LinkedFactors { term, row, points, slot, times, of })
    }
}

/// The factors between a row and a block of points, computed from those of the previous term if
/// they are kept.
#[derive(Debug)]
pub(crate) struct LinkedFactors<'a> {
    term: &'a PackedTerm,
    row: &'a [f64],
    points: &'a [Lanes],
    slot: &'a mut Slot,
    times: Option<u32>,
    of: FactorNumbers,
}

impl LinkedFactors<'_> {
    /// Passes the factors to a sink, and keeps them.
    #[inline(always)]
    pub fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        let Self { term, row, points, slot, times, of } = self;
        let Slot { of: kept, present, less_one } = slot;
        *kept = Some(of);
        present.resize(term.players.len(), Lanes::ONE);
        less_one.resize(term.players.len(), Lanes::ZERO);
        let factors = present.iter_mut().zip(less_one);
        for ((player, (present, less_one)), &(column, rate)) in
            factors.enumerate().zip(&term.gaussians)
        {
            for part in 0..LANES / W {
                let (a, c) = if let Some(times) = times {
                    let (mut a, mut c) = (*present.part(part), *less_one.part(part));
                    for _ in 0..times {
                        (a, c) = doubled::<A, S, W>(&a, &c);
                    }
                    (a, c)
                } else {
                    gaussian::<A, W>(rate, row[column], points[column].part(part))
                };
                *present.part_mut(part) = a;
                *less_one.part_mut(part) = c;
                sink.take(PlayerPart { player, part }, &a, &c);
            }
        }
    }
}

/// The factors with twice the exponent, and these factors minus 1.
#[inline(always)]
fn doubled<A: Arithmetic, S: Sink, const W: usize>(
    a: &[f64; W],
    c: &[f64; W],
) -> ([f64; W], [f64; W]) {
    let (mut squares, mut less_one) = (*a, [0.0; W]);
    for i in 0..W {
        less_one[i] = A::mul_add(c[i], c[i], c[i] + c[i]);
        if S::PRESENT {
            squares[i] = if less_one[i] > -0.5 { 1.0 + less_one[i] } else { a[i] * a[i] };
        }
    }
    (squares, less_one)
}

/// Fills a block with factors of a linked term; absent factors are 1.
pub(crate) struct FillLinked<'a> {
    pub linked: LinkedFactors<'a>,
    pub block: &'a mut Block,
}

impl Body for FillLinked<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { linked, block } = self;
        block.begin(linked.term.players.len(), AbsentFactor::One);
        if block.needs_present {
            let mut factors = UnitFactors::<true>::of(block);
            linked.factors_into::<A, _, W>(&mut factors);
            factors.spread()
        } else {
            let mut factors = UnitFactors::<false>::of(block);
            linked.factors_into::<A, _, W>(&mut factors);
            factors.spread()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::family::{Factor, Family};
    use crate::kernel::players::Players;
    use crate::kernel::term::Term;
    use crate::simd::arithmetic::Fused;

    /// A Gaussian of two columns with these rates.
    fn term(rates: [f64; 2]) -> Term {
        let factor = |(column, rate): (usize, f64)| Factor {
            column,
            family: Family::Rbf,
            parameter: (0.5 / rate).sqrt(),
        };
        let factors = rates.into_iter().enumerate().map(factor).collect();
        Term { coefficient: 1.0, factors, series: None }
    }

    fn packed(terms: &[Term]) -> (Vec<PackedTerm>, Links) {
        let packed = |term| PackedTerm::new(term, &Players::columns(2)).unwrap();
        let terms: Vec<_> = terms.iter().map(packed).collect();
        let links = Links::among(&terms);
        (terms, links)
    }

    /// The previous term of each of some terms, and the number of doublings.
    fn links(rates: &[[f64; 2]]) -> Vec<Option<(usize, u32)>> {
        let (_, links) = packed(&rates.iter().copied().map(term).collect::<Vec<_>>());
        links.of_terms.into_iter().map(|link| link?.before).collect()
    }

    #[test]
    fn terms_follow_from_those_of_which_all_rates_double() {
        let rates = [[0.3, 0.5], [0.4, 0.7], [0.6, 1.0], [1.6, 2.8], [1.6, 2.0], [1.2, 2.1]];
        let expected = [None, None, Some((0, 1)), Some((1, 2)), None, None];
        assert_eq!(links(&rates), expected);
    }

    #[test]
    fn an_exponential_follows_after_eight_doublings() {
        let rates: Vec<_> = (0..12).map(|k| [0.3 * 2.0_f64.powi(k), 2.0_f64.powi(k)]).collect();
        let links = links(&rates);
        let roots = (0..12).filter(|&number| links[number].is_none()).collect::<Vec<_>>();
        assert_eq!(roots, [0, 9]);
        assert_eq!(links[11], Some((10, 1)));
    }

    /// Records the factors of a term.
    struct Kept(Vec<(f64, f64)>);

    impl Sink for Kept {
        const PRESENT: bool = true;

        fn take<const W: usize>(&mut self, _: PlayerPart, a: &[f64; W], c: &[f64; W]) {
            self.0.extend(a.iter().copied().zip(c.iter().copied()));
        }
    }

    #[test]
    fn doubled_factors_are_those_of_exponentials() {
        let terms: Vec<_> =
            (0..9).map(|k| term([0.01 * 2.0_f64.powi(k), 2.0_f64.powi(k)])).collect();
        let (terms, links) = packed(&terms);
        let mut kept = KeptFactors::default();
        kept.reserve(links.slots, 2, &Memory::default()).unwrap();
        let points: Vec<_> =
            [0.3, 4.0].map(|scale| Lanes(std::array::from_fn(|i| scale * (i as f64 - 5.0)))).into();
        for (number, term) in terms.iter().enumerate() {
            let row = [0.1, -0.2];
            let of = FactorNumbers { row: 0, block: 0, term: number };
            let linked = kept.linked(&links, of, (term, &row, &points)).unwrap();
            assert_eq!(linked.times, (number > 0).then_some(1));
            let (mut doubled, mut expected) = (Kept(Vec::new()), Kept(Vec::new()));
            linked.factors_into::<Fused, _, 8>(&mut doubled);
            term.factors_into::<Fused, _, 8>(&row, &points, &mut expected);
            for ((a, c), (exact_a, exact_c)) in doubled.0.into_iter().zip(expected.0) {
                let ulp = |exact: f64| f64::EPSILON * exact.abs() + 5e-324;
                assert!((c - exact_c).abs() < 15.0 * ulp(exact_c), "{c} for {exact_c}");
                // The error that the rounding of the exponent causes.
                let most = 4.0 - 4.0 * exact_a.ln().max(-745.0);
                assert!((a - exact_a).abs() < most * ulp(exact_a), "{a} for {exact_a}");
            }
        }
    }

    #[test]
    fn factors_of_another_row_or_before_clearing_are_not_doubled() {
        let (terms, links) = packed(&[term([0.3, 0.5]), term([0.6, 1.0])]);
        let points = [Lanes::ONE; 2];
        let mut kept = KeptFactors::default();
        kept.reserve(links.slots, 2, &Memory::default()).unwrap();
        let times = |kept: &mut KeptFactors, number: usize, item: usize| {
            let of = FactorNumbers { row: item, block: 0, term: number };
            let factors = (&terms[number], &[0.0, 0.0][..], &points[..]);
            let linked = kept.linked(&links, of, factors).unwrap();
            let times = linked.times;
            linked.factors_into::<Fused, _, 8>(&mut Kept(Vec::new()));
            times
        };
        assert_eq!(times(&mut kept, 0, 0), None);
        assert_eq!(times(&mut kept, 1, 0), Some(1));
        assert_eq!(times(&mut kept, 0, 0), None);
        assert_eq!(times(&mut kept, 1, 1), None);
        assert_eq!(times(&mut kept, 0, 0), None);
        kept.clear();
        assert_eq!(times(&mut kept, 1, 0), None);
    }
}

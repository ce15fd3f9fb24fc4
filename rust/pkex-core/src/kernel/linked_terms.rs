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
    links: Vec<Option<Link>>,
    pub slots: usize,
}

impl Links {
    /// The links between some terms.
    pub fn among(terms: &[PackedTerm]) -> Self {
        let mut links = vec![None; terms.len()];
        // The last term of each slot, and the number of doublings since an exponential.
        let mut slots: Vec<(usize, u32)> = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            let times = |&(last, _): &(usize, u32)| times_narrower(term, &terms[last]);
            let previous = (0..slots.len()).find_map(|slot| Some((slot, times(&slots[slot])?)));
            let Some((slot, times)) = previous else {
                slots.push((number, 0));
                continue;
            };
            let (last, run) = slots[slot];
            let follows = run + times <= MAX_DOUBLINGS_IN_A_ROW;
            links[last].get_or_insert(Link { slot, before: None });
            links[number] = Some(Link { slot, before: follows.then_some((last, times)) });
            slots[slot] = (number, if follows { run + times } else { 0 });
        }
        Self { links, slots: slots.len() }
    }
}

/// The number of doublings of the rates of all players' Gaussians from one term to another.
fn times_narrower(term: &PackedTerm, before: &PackedTerm) -> Option<u32> {
    let pairs = || term.gaussians.iter().zip(&before.gaussians);
    // exp(−(r p)²): doubling the exponent multiplies p by √2, with rounding.
    let is_narrower = |times: u32| {
        let factor = f64::from(1 << times);
        let is_factor = |p: f64, q: f64| (p * p / (q * q) / factor - 1.0).abs() < 4e-15;
        pairs().all(|(p, q)| p.0 == q.0 && is_factor(p.1, q.1))
    };
    let is_gaussian = |term: &PackedTerm| !term.gaussians.is_empty() && term.series.is_none();
    if !is_gaussian(term) || !is_gaussian(before) || term.players != before.players {
        return None;
    }
    (1..=MAX_DOUBLINGS).find(|&times| is_narrower(times))
}

/// The factors of the last term in each slot, which a thread keeps while it fills blocks.
#[derive(Debug, Default)]
pub(crate) struct FactorCache(Vec<Slot>);

/// The numbers of the row, the block and the term of factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FactorNumbers {
    pub row: usize,
    pub block: usize,
    pub term: usize,
}

#[derive(Debug, Default)]
struct Slot {
    numbers: Option<FactorNumbers>,
    present: Vec<Lanes>,
    less_one: Vec<Lanes>,
}

impl FactorCache {
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
        self.0.iter_mut().for_each(|slot| slot.numbers = None);
    }

    /// The factors of a linked term between a row and a block of points, with the numbers of all
    /// three.
    pub fn linked_factors<'a>(
        &'a mut self,
        links: &Links,
        numbers: FactorNumbers,
        (term, row, points): (&'a PackedTerm, &'a [f64], &'a [Lanes]),
    ) -> Option<LinkedFactors<'a>> {
        let Link { slot, before } = links.links[numbers.term]?;
        let slot = &mut self.0[slot];
        let is_kept =
            |&(term, _): &(usize, u32)| slot.numbers == Some(FactorNumbers { term, ..numbers });
        let times = before.filter(is_kept).map(|(_, times)| times);
        Some(LinkedFactors { term, row, points, slot, times, numbers })
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
    numbers: FactorNumbers,
}

impl LinkedFactors<'_> {
    /// Passes the factors to a sink, and keeps them.
    #[inline(always)]
    pub fn factors_into<A: Arithmetic, S: Sink, const W: usize>(self, sink: &mut S) {
        let Self { term, row, points, slot, times, numbers } = self;
        let Slot { numbers: slot_numbers, present, less_one } = slot;
        *slot_numbers = Some(numbers);
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
                        (a, c) = double_exponent::<A, S, W>(&a, &c);
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
fn double_exponent<A: Arithmetic, S: Sink, const W: usize>(
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
    pub factors: LinkedFactors<'a>,
    pub block: &'a mut Block,
}

impl Body for FillLinked<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { factors, block } = self;
        block.begin(factors.term.players.len(), AbsentFactor::One);
        if block.needs_present {
            let mut sink = UnitFactors::<true>::of(block);
            factors.factors_into::<A, _, W>(&mut sink);
            sink.spread()
        } else {
            let mut sink = UnitFactors::<false>::of(block);
            factors.factors_into::<A, _, W>(&mut sink);
            sink.spread()
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

    fn pack_terms(terms: &[Term]) -> (Vec<PackedTerm>, Links) {
        let pack = |term| PackedTerm::new(term, &Players::columns(2)).unwrap();
        let terms: Vec<_> = terms.iter().map(pack).collect();
        let links = Links::among(&terms);
        (terms, links)
    }

    /// The previous term of each of some terms, and the number of doublings.
    fn links(rates: &[[f64; 2]]) -> Vec<Option<(usize, u32)>> {
        let (_, links) = pack_terms(&rates.iter().copied().map(term).collect::<Vec<_>>());
        links.links.into_iter().map(|link| link?.before).collect()
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
    struct Recorder(Vec<(f64, f64)>);

    impl Sink for Recorder {
        const PRESENT: bool = true;

        fn take<const W: usize>(&mut self, _: PlayerPart, a: &[f64; W], c: &[f64; W]) {
            self.0.extend(a.iter().copied().zip(c.iter().copied()));
        }
    }

    #[test]
    fn doubled_factors_are_those_of_exponentials() {
        let terms: Vec<_> =
            (0..9).map(|k| term([0.01 * 2.0_f64.powi(k), 2.0_f64.powi(k)])).collect();
        let (terms, links) = pack_terms(&terms);
        let mut cache = FactorCache::default();
        cache.reserve(links.slots, 2, &Memory::default()).unwrap();
        let points: Vec<_> =
            [0.3, 4.0].map(|scale| Lanes(std::array::from_fn(|i| scale * (i as f64 - 5.0)))).into();
        for (number, term) in terms.iter().enumerate() {
            let row = [0.1, -0.2];
            let numbers = FactorNumbers { row: 0, block: 0, term: number };
            let factors = cache.linked_factors(&links, numbers, (term, &row, &points)).unwrap();
            assert_eq!(factors.times, (number > 0).then_some(1));
            let (mut doubled, mut expected) = (Recorder(Vec::new()), Recorder(Vec::new()));
            factors.factors_into::<Fused, _, 8>(&mut doubled);
            term.factors_into::<Fused, _, 8>(&row, &points, &mut expected);
            for ((a, c), (exact_a, exact_c)) in doubled.0.into_iter().zip(expected.0) {
                let ulp = |exact: f64| f64::EPSILON * exact.abs() + 5e-324;
                assert!((c - exact_c).abs() < 15.0 * ulp(exact_c), "{c} for {exact_c}");
                // The error that the rounding of the exponent causes.
                let limit = 4.0 - 4.0 * exact_a.ln().max(-745.0);
                assert!((a - exact_a).abs() < limit * ulp(exact_a), "{a} for {exact_a}");
            }
        }
    }

    #[test]
    fn factors_of_another_row_or_before_clearing_are_not_doubled() {
        let (terms, links) = pack_terms(&[term([0.3, 0.5]), term([0.6, 1.0])]);
        let points = [Lanes::ONE; 2];
        let mut cache = FactorCache::default();
        cache.reserve(links.slots, 2, &Memory::default()).unwrap();
        let times = |cache: &mut FactorCache, number: usize, item: usize| {
            let numbers = FactorNumbers { row: item, block: 0, term: number };
            let arguments = (&terms[number], &[0.0, 0.0][..], &points[..]);
            let factors = cache.linked_factors(&links, numbers, arguments).unwrap();
            let times = factors.times;
            factors.factors_into::<Fused, _, 8>(&mut Recorder(Vec::new()));
            times
        };
        assert_eq!(times(&mut cache, 0, 0), None);
        assert_eq!(times(&mut cache, 1, 0), Some(1));
        assert_eq!(times(&mut cache, 0, 0), None);
        assert_eq!(times(&mut cache, 1, 1), None);
        assert_eq!(times(&mut cache, 0, 0), None);
        cache.clear();
        assert_eq!(times(&mut cache, 1, 0), None);
    }
}

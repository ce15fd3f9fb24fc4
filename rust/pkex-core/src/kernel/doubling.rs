//! Gaussian factors of a term from those of another one, whose rates are half as large.
//!
//! From a = exp(−E) and c = a − 1 follow
//!
//! exp(−2E) − 1 = c (2 + c),    exp(−2E) = 1 + c (2 + c) = a².
//!
//! A relative error of c becomes (2 + 2c) / (2 + c) times as large, which is at most 1, so that each
//! doubling adds but its own rounding. That of a becomes twice as large, as it is with the exponent;
//! near 1, where it would then be larger than an exponential's, a is 1 + c. The rates of mixtures
//! are powers of a root of 2, and nearly all their terms need no exponential.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block};
use crate::game::spread::Spread;
use crate::kernel::family::gaussian;
use crate::kernel::term::{PackedTerm, Sink, UnitFactors};
use crate::memory::{FACTORS, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes};
use crate::simd::level::Body;

/// The most doublings from one term to the next: as many as cost half an exponential.
const MOST_TIMES: u32 = 4;

/// The most doublings after an exponential, each of which errs by one and a half ulps of c.
const MOST_IN_A_ROW: u32 = 8;

/// A term among those whose factors follow from each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    /// The slot that keeps the factors of the last of these terms.
    slot: usize,
    /// The number of the term before, and how often its rates double; the first has none.
    before: Option<(usize, u32)>,
}

/// Which terms' factors follow from each other, and the number of slots that takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    of_terms: Vec<Option<Link>>,
    pub slots: usize,
}

impl Links {
    /// Those among some terms.
    pub fn among(terms: &[PackedTerm]) -> Self {
        let mut of_terms = vec![None; terms.len()];
        // The last term of each slot, and how often rates have doubled since an exponential.
        let mut slots: Vec<(usize, u32)> = Vec::new();
        for (number, term) in terms.iter().enumerate() {
            let times = |&(last, _): &(usize, u32)| times_narrower(term, &terms[last]);
            let found = (0..slots.len()).find_map(|slot| Some((slot, times(&slots[slot])?)));
            let Some((slot, times)) = found else {
                slots.push((number, 0));
                continue;
            };
            let (last, in_a_row) = slots[slot];
            let follows = in_a_row + times <= MOST_IN_A_ROW;
            of_terms[last].get_or_insert(Link { slot, before: None });
            of_terms[number] = Some(Link { slot, before: follows.then_some((last, times)) });
            slots[slot] = (number, if follows { in_a_row + times } else { 0 });
        }
        Self { of_terms, slots: slots.len() }
    }
}

/// How often the rates of all players' Gaussians double from one term to another.
fn times_narrower(term: &PackedTerm, before: &PackedTerm) -> Option<u32> {
    let both = || term.gaussians.iter().zip(&before.gaussians);
    // exp(−(r p)²): twice the exponent is √2 p, which is no float.
    let is_narrower = |times: u32| {
        let factor = f64::from(1 << times);
        let is_factor = |p: f64, of: f64| (p * p / (of * of) / factor - 1.0).abs() < 4e-15;
        both().all(|(p, of)| p.0 == of.0 && is_factor(p.1, of.1))
    };
    let is_gaussian = |term: &PackedTerm| !term.gaussians.is_empty() && term.series.is_none();
    if !is_gaussian(term) || !is_gaussian(before) || term.players != before.players {
        return None;
    }
    (1..=MOST_TIMES).find(|&times| is_narrower(times))
}

/// The factors of the last term in each slot, which a thread keeps while it fills blocks.
#[derive(Debug, Default)]
pub(crate) struct Ladder(Vec<Slot>);

/// Which factors a slot keeps, by the numbers of what they are between.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FactorNumbers {
    row: usize,
    block: usize,
    term: usize,
}

#[derive(Debug, Default)]
struct Slot {
    of: Option<FactorNumbers>,
    present: Vec<Lanes>,
    less_one: Vec<Lanes>,
}

impl Ladder {
    /// Makes room for so many slots of that many players.
    pub fn reserve(&mut self, slots: usize, players: usize, memory: &Memory) -> Result<(), Error> {
        self.0.resize_with(slots, Slot::default);
        self.0.iter_mut().try_for_each(|slot| {
            memory.reserve(&mut slot.present, players, FACTORS)?;
            memory.reserve(&mut slot.less_one, players, FACTORS)
        })
    }

    /// Forgets all factors, so that what follows does not depend on what was before.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|slot| slot.of = None);
    }

    /// The factors of a linked term between a row and a block of points, all three numbered.
    pub fn rung<'a>(
        &'a mut self,
        links: &Links,
        (number, term): (usize, &'a PackedTerm),
        (item, row): (usize, &'a [f64]),
        (block, points): (usize, &'a [Lanes]),
    ) -> Option<Rung<'a>> {
        let Link { slot, before } = links.of_terms[number]?;
        let slot = &mut self.0[slot];
        let of = FactorNumbers { row: item, block, term: number };
        let is_kept = |&(term, _): &(usize, u32)| slot.of == Some(FactorNumbers { term, ..of });
        let times = before.filter(is_kept).map(|(_, times)| times);
        Some(Rung { term, row, points, slot, times, of })
    }
}

/// The factors between a row and a block of points, from those of the term before if they are kept.
#[derive(Debug)]
pub(crate) struct Rung<'a> {
    term: &'a PackedTerm,
    row: &'a [f64],
    points: &'a [Lanes],
    slot: &'a mut Slot,
    times: Option<u32>,
    of: FactorNumbers,
}

impl Rung<'_> {
    /// Hands the factors to a sink, and keeps them.
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
                sink.take((player, part), &a, &c);
            }
        }
    }
}

/// The factors of twice the exponent, and what they exceed 1 by.
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

/// Fills a block with such factors: b is 1.
pub(crate) struct FillRung<'a> {
    pub rung: Rung<'a>,
    pub block: &'a mut Block,
}

impl Body for FillRung<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { rung, block } = self;
        block.begin(rung.term.players.len(), AbsentFactor::One);
        if block.needs_present {
            let mut factors = UnitFactors::<true>::of(block);
            rung.factors_into::<A, _, W>(&mut factors);
            factors.spread()
        } else {
            let mut factors = UnitFactors::<false>::of(block);
            rung.factors_into::<A, _, W>(&mut factors);
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

    /// The term before each of some terms, and how often its rates double.
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

    /// Takes factors as they come.
    struct Kept(Vec<(f64, f64)>);

    impl Sink for Kept {
        const PRESENT: bool = true;

        fn take<const W: usize>(&mut self, _: (usize, usize), a: &[f64; W], c: &[f64; W]) {
            self.0.extend(a.iter().copied().zip(c.iter().copied()));
        }
    }

    #[test]
    fn doubled_factors_are_those_of_exponentials() {
        let terms: Vec<_> =
            (0..9).map(|k| term([0.01 * 2.0_f64.powi(k), 2.0_f64.powi(k)])).collect();
        let (terms, links) = packed(&terms);
        let mut ladder = Ladder::default();
        ladder.reserve(links.slots, 2, &Memory::default()).unwrap();
        let points: Vec<_> =
            [0.3, 4.0].map(|scale| Lanes(std::array::from_fn(|i| scale * (i as f64 - 5.0)))).into();
        for (number, term) in terms.iter().enumerate() {
            let row = [0.1, -0.2];
            let rung = ladder.rung(&links, (number, term), (0, &row), (0, &points)).unwrap();
            assert_eq!(rung.times, (number > 0).then_some(1));
            let (mut doubled, mut expected) = (Kept(Vec::new()), Kept(Vec::new()));
            rung.factors_into::<Fused, _, 8>(&mut doubled);
            term.factors_into::<Fused, _, 8>(&row, &points, &mut expected);
            for ((a, c), (exact_a, exact_c)) in doubled.0.into_iter().zip(expected.0) {
                let ulp = |exact: f64| f64::EPSILON * exact.abs() + 5e-324;
                assert!((c - exact_c).abs() < 15.0 * ulp(exact_c), "{c} for {exact_c}");
                // As large as the rounding of the exponent makes it.
                let most = 4.0 - 4.0 * exact_a.ln().max(-745.0);
                assert!((a - exact_a).abs() < most * ulp(exact_a), "{a} for {exact_a}");
            }
        }
    }

    #[test]
    fn factors_of_another_row_or_before_clearing_are_not_doubled() {
        let (terms, links) = packed(&[term([0.3, 0.5]), term([0.6, 1.0])]);
        let points = [Lanes::ONE; 2];
        let mut ladder = Ladder::default();
        ladder.reserve(links.slots, 2, &Memory::default()).unwrap();
        let times = |ladder: &mut Ladder, number: usize, item: usize| {
            let term = (number, &terms[number]);
            let row = (item, &[0.0, 0.0][..]);
            let rung = ladder.rung(&links, term, row, (0, &points)).unwrap();
            let times = rung.times;
            rung.factors_into::<Fused, _, 8>(&mut Kept(Vec::new()));
            times
        };
        assert_eq!(times(&mut ladder, 0, 0), None);
        assert_eq!(times(&mut ladder, 1, 0), Some(1));
        assert_eq!(times(&mut ladder, 0, 0), None);
        assert_eq!(times(&mut ladder, 1, 1), None);
        assert_eq!(times(&mut ladder, 0, 0), None);
        ladder.clear();
        assert_eq!(times(&mut ladder, 1, 0), None);
    }
}

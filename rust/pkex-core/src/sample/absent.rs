//! Present and absent factors of the pairs of rows, for one term.

use std::marker::PhantomData;

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block, MIN_ABSENT_FACTOR, MIN_DIVISOR, PlayerPart};
use crate::game::spread::Spread;
use crate::kernel::packed_kernel::PackedKernel;
use crate::kernel::players::Players;
use crate::kernel::series::PackedSeries;
use crate::kernel::term::{FillTerm, PackedTerm, Sink, Term, max_orders};
use crate::matrix::Matrix;
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane};
use crate::simd::level::Body;

/// Checks that absent factors fit the terms and are in range.
pub(crate) fn check_absent(
    absent: Option<Matrix<'_>>,
    terms: &[Term],
    players: &Players,
) -> Result<(), Error> {
    let Some(absent) = absent else { return Ok(()) };
    if terms.iter().flat_map(|term| &term.factors).any(|factor| factor.family.is_centered()) {
        let message = "absent factors of centered kernels are 1: `absent` must be None";
        return Err(Error::Unsupported(message.to_owned()));
    }
    let width = players.count() * (1 + max_orders(terms));
    if (absent.rows(), absent.columns()) != (terms.len(), width) {
        return Err(Error::Shape {
            argument: "absent",
            expected: format!("{} × {width} factors", terms.len()),
            got: format!("{} × {}", absent.rows(), absent.columns()),
        });
    }
    let is_wrong = |&(place, factor): &(usize, &f64)| {
        let is_of_order_0 = place % width < players.count();
        if is_of_order_0 { !(0.0..=1.0).contains(factor) } else { !factor.is_finite() }
    };
    match absent.data().iter().enumerate().find(is_wrong) {
        None => Ok(()),
        Some((_, factor)) => Err(Error::Domain {
            argument: "absent",
            requirement: "factors in [0, 1], and finite ones of higher orders",
            got: factor.to_string(),
        }),
    }
}

/// The absent factors of a term.
#[derive(Debug)]
pub(crate) struct AbsentPlayers<'a> {
    /// The absent factors of all players, if they are not 1; for power series the coefficients of
    /// s⁰ first.
    factors: Option<&'a [f64]>,
    /// The number of all players.
    count: usize,
    /// 1/b and (1 − b)/b of each of the term's players, if games are divided by ∏ b; else empty.
    divisors: Vec<(f64, f64)>,
    /// The factor of the games: the term's coefficient, and ∏ b if they are divided by it.
    pub coefficient: f64,
    /// For each of the term's players the factor of c in its univariate value v({j}): the
    /// coefficient and the absent factors of the others. For power series, one factor for each
    /// order.
    pub univariate: Vec<f64>,
}

impl<'a> AbsentPlayers<'a> {
    /// The absent factors of each term of a kernel; `factors` has a row for each.
    pub fn of_terms(kernel: &PackedKernel, factors: Option<Matrix<'a>>) -> Vec<Self> {
        let count = kernel.players.count();
        let absent_players =
            |(number, term)| Self::new(term, factors.map(|factors| factors.row(number)), count);
        kernel.terms.iter().enumerate().map(absent_players).collect()
    }

    fn new(term: &PackedTerm, factors: Option<&'a [f64]>, count: usize) -> Self {
        let factor = |player: usize| factors.map_or(1.0, |factors| factors[player]);
        let (players, coefficient) = (&term.players, term.coefficient);
        let (divisors, univariate) = (Vec::new(), vec![coefficient; players.len()]);
        let mut absent = Self { factors, count, divisors, coefficient, univariate };
        if let Some(series) = &term.series {
            absent.univariate = absent.univariate_in_series(term, series);
            return absent;
        }
        let divisor: f64 = players.iter().map(|&player| factor(player)).product();
        let is_large = players.iter().all(|&player| factor(player) >= MIN_ABSENT_FACTOR);
        if factors.is_some() && is_large && divisor >= MIN_DIVISOR {
            let divide = |b: f64| (1.0 / b, (1.0 - b) / b);
            absent.divisors = players.iter().map(|&player| divide(factor(player))).collect();
            absent.coefficient *= divisor;
            absent.univariate.fill(absent.coefficient);
            return absent;
        }
        let (mut before, mut after) = (1.0, 1.0);
        for place in 0..players.len() {
            let opposite = players.len() - 1 - place;
            absent.univariate[place] *= before;
            absent.univariate[opposite] *= after;
            before *= factor(players[place]);
            after *= factor(players[opposite]);
        }
        absent
    }

    /// Whether present factors are needed: not if absent ones are 1, or become 1 by division.
    pub fn needs_present(&self) -> bool {
        self.factors.is_some() && self.divisors.is_empty()
    }

    /// A coefficient of a player's absent factor.
    fn of_order(&self, player: usize, order: usize) -> f64 {
        let neutral = if order == 0 { 1.0 } else { 0.0 };
        self.factors.map_or(neutral, |factors| factors[order * self.count + player])
    }

    /// For each player the functional Σ_q w_q [s^q], pulled back through the factors of the others:
    /// λ′_q = Σ_r λ_{q+r} F_r (see `game::series`).
    fn univariate_in_series(&self, term: &PackedTerm, series: &PackedSeries) -> Vec<f64> {
        let length = series.orders() + 1;
        let pull_back = |functional: &[f64], player: usize| -> Vec<f64> {
            let terms = |q: usize| (0..length - q).map(move |r| (q + r, r));
            let value = |(at, r): (usize, usize)| functional[at] * self.of_order(player, r);
            (0..length).map(|q| terms(q).map(value).sum()).collect()
        };
        let weights = series.weights.iter().map(|weight| weight * term.coefficient);
        let mut before: Vec<f64> = weights.collect();
        let mut univariate = Vec::new();
        for (place, &player) in term.players.iter().enumerate() {
            let later_players = term.players[place + 1..].iter();
            univariate
                .extend(later_players.fold(before.clone(), |before, &later_player| {
                    pull_back(&before, later_player)
                }));
            before = pull_back(&before, player);
        }
        univariate
    }

    /// Sets the absent factors of power series in a block that was filled for absent factors of 1.
    #[inline(always)]
    fn set_series<A: Arithmetic, const W: usize>(&self, term: &PackedTerm, block: &mut Block) {
        let (players, orders) = (term.players.len(), term.orders());
        block.series.begin(players, AbsentFactor::Each);
        for place in 0..players * orders {
            let (player, order) = (term.players[place / orders], place % orders + 1);
            let absent = self.of_order(player, order);
            block.series.absent[place] = Lanes([absent; LANES]);
            let difference = &mut block.series.difference[place];
            *difference = block.series.present[place];
            difference.add_product::<A, W>(&Lanes::ONE, &Lanes([-absent; LANES]));
        }
    }

    /// The univariate value of the term's player at a place, from the factors of a block.
    #[inline(always)]
    pub fn univariate_value<A: Arithmetic, const W: usize>(
        &self,
        orders: usize,
        place: usize,
        block: &Block,
    ) -> Lanes {
        let univariate =
            |order: usize| Lanes([self.univariate[place * (orders + 1) + order]; LANES]);
        let mut value = univariate(0).times::<W>(&block.difference[place]);
        for (order, difference) in
            (1..).zip(&block.series.differences()[place * orders..][..orders])
        {
            value.add_product::<A, W>(&univariate(order), difference);
        }
        value
    }
}

/// Computes the univariate value of a term's player at a place, for the first pair of a block.
pub(crate) struct FirstUnivariate<'a> {
    pub absent: &'a AbsentPlayers<'a>,
    pub orders: usize,
    pub place: usize,
    pub block: &'a Block,
}

impl Body for FirstUnivariate<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> f64 {
        self.absent.univariate_value::<A, W>(self.orders, self.place, self.block).0[0]
    }
}

/// Adds the univariate values of a term's players in the pairs of a block, player by player.
pub(crate) struct AddUnivariate<'a> {
    pub term: &'a PackedTerm,
    pub absent: &'a AbsentPlayers<'a>,
    pub block: &'a Block,
    pub values: &'a mut [Lanes],
}

impl Body for AddUnivariate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { term, absent, block, values } = self;
        for (place, &player) in term.players.iter().enumerate() {
            let value = absent.univariate_value::<A, W>(term.orders(), place, block);
            values[player].add_product::<A, W>(&value, &Lanes::ONE);
        }
    }
}

/// Fills a block with the factors of the pairs of a row and a block of rows.
pub(crate) fn fill_pairs(
    (term, absent): (&PackedTerm, &AbsentPlayers<'_>),
    (row, points): (&[f64], &[Lanes]),
    block: &mut Block,
    context: Context<'_>,
) -> Spread {
    if !absent.divisors.is_empty() {
        let divisors = &absent.divisors;
        return context.run(FillQuotients { term, divisors, row, points, block });
    }
    let spread = context.run(FillTerm { term, row, points, block });
    match absent.factors {
        Some(factors) => context.run(SetAbsent { term, absent, factors, block }),
        None => spread,
    }
}

/// Fills a block with a term's factors divided by absent ones: c is (a − b)/b.
struct FillQuotients<'a> {
    term: &'a PackedTerm,
    divisors: &'a [(f64, f64)],
    row: &'a [f64],
    points: &'a [Lanes],
    block: &'a mut Block,
}

impl Body for FillQuotients<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { term, divisors, row, points, block } = self;
        block.begin(term.players.len(), AbsentFactor::One);
        let difference = &mut block.difference;
        let mut sink = Quotients::<A> { divisors, difference, of: PhantomData };
        term.factors_into::<A, _, W>(row, points, &mut sink);
        // A separate pass: above, registers are full.
        block.spread_of_quotients::<W>()
    }
}

/// Takes factors, and fills a block with their quotients by absent factors, minus 1.
struct Quotients<'a, A> {
    divisors: &'a [(f64, f64)],
    difference: &'a mut [Lanes],
    of: PhantomData<A>,
}

impl<A: Arithmetic> Sink for Quotients<'_, A> {
    const PRESENT: bool = false;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        _present: &[f64; W],
        less_one: &[f64; W],
    ) {
        let (inverse, lack) = self.divisors[player];
        // (a − b)/b = (a − 1)/b + (1 − b)/b.
        let c: &mut [f64; W] = self.difference[player].part_mut(part);
        *c = each_lane(|i| A::mul_add(less_one[i], inverse, lack));
    }
}

/// Sets the absent factors of a term in a block that was filled for absent factors of 1.
struct SetAbsent<'a> {
    term: &'a PackedTerm,
    absent: &'a AbsentPlayers<'a>,
    factors: &'a [f64],
    block: &'a mut Block,
}

impl Body for SetAbsent<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { term, absent, factors, block } = self;
        block.set_absent::<W>(term.players.iter().map(|&player| factors[player]));
        if term.series.is_some() {
            absent.set_series::<A, W>(term, block);
        }
        block.spread_of_fractions::<A, W>()
    }
}

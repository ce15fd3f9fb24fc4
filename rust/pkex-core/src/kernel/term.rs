//! Kernels as sums of product kernels, and the factors they give a block of evaluations.

use crate::error::Error;
use crate::game::block::{AbsentFactor, Block, FactorCount, PlayerPart};
use crate::game::spread::Spread;
use crate::kernel::family::{Factor, Profile, gaussian, two_gaussians};
use crate::kernel::joint::{ContrastOperands, Entries, Joint};
use crate::kernel::players::Players;
use crate::kernel::product::multiply_factors;
use crate::kernel::series::{PackedSeries, Series};
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::lanes::{LANES, Lanes, each_lane, map_lanes, zip_lanes};
use crate::simd::level::Body;

/// A product kernel: a coefficient times a product of one-dimensional kernels. Several factors on a
/// column are multiplied; a column without factors has no part in the term.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The factor of the term.
    pub coefficient: f64,
    /// The one-dimensional kernels.
    pub factors: Vec<Factor>,
    /// A truncated power series by which the factors are multiplied.
    pub series: Option<Series>,
}

impl Term {
    /// The columns of the factors and of the series; some may occur several times.
    fn columns(&self) -> impl Iterator<Item = usize> {
        let series_columns = self.series.iter().flat_map(Series::columns);
        self.factors.iter().map(|factor| factor.column).chain(series_columns)
    }
}

/// The highest power of s in the terms that are power series.
pub(crate) fn max_orders(terms: &[Term]) -> usize {
    let orders = |term: &Term| term.series.as_ref().map_or(0, Series::orders);
    terms.iter().map(orders).max().unwrap_or(0)
}

/// A packed term: the factors of its players.
#[derive(Clone, Debug)]
pub(crate) struct PackedTerm {
    pub coefficient: f64,
    /// The players that it compares, ascending.
    pub players: Vec<usize>,
    /// The compared columns, player by player.
    members: Vec<Member>,
    /// The end of each player's members.
    ends: Vec<usize>,
    pub series: Option<PackedSeries>,
    /// Whether the term has no factors except those of the series.
    is_pure: bool,
    /// The columns and rates of the players, if each is a Gaussian kernel of one column; else
    /// empty.
    pub gaussians: Vec<(usize, f64)>,
    /// Whether factors may be negative or above 1, because kernels are centered.
    pub is_signed: bool,
}

/// A sink for the factors of a term, player by player and part by part.
pub(crate) trait Sink {
    /// Whether the sink needs a in addition to a − 1.
    const PRESENT: bool;

    /// Takes the factor a of a player, and a − 1.
    fn take<const W: usize>(&mut self, at: PlayerPart, present: &[f64; W], less_one: &[f64; W]);
}

/// Collects the factors of games with b = 1, and Σ |c|; present factors only if they are needed.
pub(crate) struct UnitFactors<'a, const PRESENT: bool> {
    present: &'a mut [Lanes],
    difference: &'a mut [Lanes],
    sums: Lanes,
}

impl<'a, const PRESENT: bool> UnitFactors<'a, PRESENT> {
    /// A sink for the factors of a block, whose players are set.
    #[inline(always)]
    pub fn of(block: &'a mut Block) -> Self {
        let Block { present, difference, .. } = block;
        Self { present, difference, sums: Lanes::ZERO }
    }

    /// The spread of the collected factors.
    #[inline(always)]
    pub fn spread(&self) -> Spread {
        Spread::of_unit_factors(&self.sums)
    }
}

impl<const PRESENT: bool> Sink for UnitFactors<'_, PRESENT> {
    const PRESENT: bool = PRESENT;

    #[inline(always)]
    fn take<const W: usize>(
        &mut self,
        PlayerPart { player, part }: PlayerPart,
        present: &[f64; W],
        less_one: &[f64; W],
    ) {
        if PRESENT {
            *self.present[player].part_mut(part) = *present;
        }
        *self.difference[player].part_mut(part) = *less_one;
        let sum = self.sums.part_mut(part);
        *sum = zip_lanes(sum, less_one, |sum, c| sum - c);
    }
}

/// The player, the column and the number of each of a term's factors, sorted in this order; factors
/// of the series have no number.
fn sort_factors(
    term: &Term,
    players: &Players,
) -> Result<Vec<(usize, usize, Option<usize>)>, Error> {
    let mut factors = Vec::new();
    Memory::default().reserve(&mut factors, term.columns().count(), INPUT)?;
    for (number, column) in term.columns().enumerate() {
        let number = (number < term.factors.len()).then_some(number);
        let Some(player) = players.of(column) else {
            return Err(Error::Domain {
                argument: "a factor's column",
                requirement: "below the number of columns",
                got: column.to_string(),
            });
        };
        factors.push((player, column, number));
    }
    factors.sort_unstable();
    Ok(factors)
}

/// A column of a player, and its kernel.
#[derive(Clone, Debug)]
struct Member {
    column: usize,
    profile: Profile,
}

impl Member {
    /// a − 1, for kernels that may be centered.
    #[inline(always)]
    fn less_one<A: Arithmetic, const W: usize>(
        &self,
        (x, points): (&[f64], &[Lanes]),
        part: usize,
    ) -> [f64; W] {
        let at = |behind: usize| {
            let column = self.column + behind;
            (x[column], *points[column].part(part))
        };
        if let Some(centering) = self.profile.centering() {
            return centering.less_one::<A, W>(at);
        }
        let (x, y) = at(0);
        self.profile.factor::<A, W>(&[x; W], &y).1
    }
}

/// Fills a block with the factors between a row and a block of points, column by column; absent
/// factors are 1. Compiled once for each instruction set, because it contains the loops of all
/// families.
pub(crate) struct FillTerm<'a> {
    pub term: &'a PackedTerm,
    pub row: &'a [f64],
    pub points: &'a [Lanes],
    pub block: &'a mut Block,
}

impl Body for FillTerm<'_> {
    type Output = Spread;

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> Spread {
        let Self { term, row, points, block } = self;
        if term.is_signed {
            term.fill_signed::<A, W>(row, points, block)
        } else if block.needs_present || term.gaussians.is_empty() {
            term.fill::<A, W>(row, points, block)
        } else {
            term.fill_differences::<A, W>(row, points, block)
        }
    }
}

impl PackedTerm {
    /// Sorts the factors by player and column.
    pub fn new(term: &Term, players: &Players) -> Result<Self, Error> {
        if !term.coefficient.is_finite() {
            return Err(Error::Domain {
                argument: "a term's coefficient",
                requirement: "finite",
                got: term.coefficient.to_string(),
            });
        }
        let mut packed_term = Self::with_capacity(term)?;
        for (player, column, factor) in sort_factors(term, players)? {
            let is_first = packed_term.players.last() != Some(&player);
            if is_first {
                packed_term.players.push(player);
                packed_term.ends.push(0);
            }
            if is_first || packed_term.members.last().is_none_or(|member| member.column != column) {
                let profile = Profile::default();
                packed_term.members.push(Member { column, profile });
            }
            if let Some(end) = packed_term.ends.last_mut() {
                *end = packed_term.members.len();
            }
            if let (Some(member), Some(factor)) = (packed_term.members.last_mut(), factor) {
                let Factor { family, parameter, .. } = term.factors[factor];
                member.profile.include(family, parameter)?;
            }
        }
        if let Some(series) = &term.series {
            packed_term.series = Some(PackedSeries::new(series, &packed_term.players, players)?);
        }
        packed_term.check_centering(players)?;
        let places = 0..packed_term.players.len();
        let gaussians = places.map(|player| packed_term.gaussian_of(player));
        packed_term.gaussians = gaussians.collect::<Option<_>>().unwrap_or_default();
        Ok(packed_term)
    }

    /// Checks that the columns after those of centered kernels belong to the same player, and that
    /// centered kernels have no series.
    fn check_centering(&mut self, players: &Players) -> Result<(), Error> {
        for (place, &player) in self.players.iter().enumerate() {
            for member in self.members_of(place) {
                let Some(centering) = member.profile.centering() else { continue };
                let last = member.column + centering.columns();
                if (member.column..=last).any(|column| players.of(column) != Some(player)) {
                    return Err(Error::Shape {
                        argument: "players",
                        expected: format!("one player for columns {} to {last}", member.column),
                        got: "several players".to_owned(),
                    });
                }
            }
        }
        self.is_signed = self.members.iter().any(|member| member.profile.centering().is_some());
        if self.is_signed && self.series.is_some() {
            let message = "power series of centered kernels are not supported";
            return Err(Error::Unsupported(message.to_owned()));
        }
        Ok(())
    }

    /// A term without factors, with memory for the factors of `term`.
    fn with_capacity(term: &Term) -> Result<Self, Error> {
        let (memory, count) = (Memory::default(), term.columns().count());
        let (mut players, mut members, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        memory.reserve(&mut players, count, INPUT)?;
        memory.reserve(&mut members, count, INPUT)?;
        memory.reserve(&mut ends, count, INPUT)?;
        let (coefficient, is_pure) = (term.coefficient, term.factors.is_empty());
        Ok(Self {
            coefficient,
            players,
            members,
            ends,
            series: None,
            is_pure,
            gaussians: Vec::new(),
            is_signed: false,
        })
    }

    /// Whether k(x, x) may differ from row to row.
    pub fn diagonal_varies(&self) -> bool {
        self.is_signed || self.series.is_some()
    }

    /// The highest power of s of the series; 0 if factors are numbers.
    pub fn orders(&self) -> usize {
        self.series.as_ref().map_or(0, PackedSeries::orders)
    }

    /// The factors of a block.
    pub fn factor_count(&self) -> FactorCount {
        FactorCount { players: self.players.len(), orders: self.orders() }
    }

    /// The number of coefficients of all players.
    pub fn coefficients(&self) -> usize {
        self.players.len() * (1 + self.orders())
    }

    /// The coefficients of a filled block, minus the coefficients of 1: those of s⁰, then the
    /// others.
    pub fn less_one<'a>(&self, block: &'a Block) -> [&'a [Lanes]; 2] {
        let higher = self.players.len() * self.orders();
        debug_assert_eq!(block.difference.len(), self.players.len());
        [&block.difference, &block.series.present[..higher]]
    }

    /// Fills a block with factors between the row `x` and a block of points, column by column;
    /// absent factors are 1.
    #[inline(always)]
    fn fill<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) -> Spread {
        block.begin(self.players.len(), AbsentFactor::One);
        let mut factors = UnitFactors::<true>::of(block);
        self.factors_into::<A, _, W>(x, points, &mut factors);
        let spread = factors.spread();
        if let Some(series) = &self.series {
            self.fill_series::<A, W>(series, x, points, block);
        }
        spread
    }

    /// Fills a block with differences of Gaussian factors, without present factors.
    #[inline(always)]
    fn fill_differences<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) -> Spread {
        block.begin(self.players.len(), AbsentFactor::One);
        let mut factors = UnitFactors::<false>::of(block);
        self.gaussians_into::<A, _, W>(x, points, &mut factors);
        factors.spread()
    }

    /// Fills a block with factors some of which are centered. Present factors are filled if they
    /// are needed, and absent ones if a rule with a free end would lose digits.
    #[inline(always)]
    fn fill_signed<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) -> Spread {
        block.begin(self.players.len(), AbsentFactor::One);
        block.is_signed = true;
        for (player, difference) in block.difference.iter_mut().enumerate() {
            let Some((first, rest)) = self.members_of(player).split_first() else { continue };
            for part in 0..LANES / W {
                let mut c = first.less_one::<A, W>((x, points), part);
                for member in rest {
                    let other_c = member.less_one::<A, W>((x, points), part);
                    // (1 + c)(1 + c′) − 1.
                    c = each_lane(|i| A::mul_add(1.0 + c[i], other_c[i], c[i]));
                }
                *difference.part_mut(part) = c;
            }
        }
        let spread = block.spread_of_signed::<W>();
        if block.needs_present || spread.is_none() {
            for (a, c) in block.present.iter_mut().zip(&block.difference) {
                *a = Lanes(map_lanes(&c.0, |c| 1.0 + c));
            }
        }
        spread.unwrap_or_else(|| {
            block.absent.resize(self.players.len(), Lanes::ONE);
            block.spread::<A, W>()
        })
    }

    /// Passes Gaussian factors between the row `x` and a block of points to a sink.
    #[inline(always)]
    fn gaussians_into<A: Arithmetic, S: Sink, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        sink: &mut S,
    ) {
        // Two players at a time, where registers hold the numbers of both.
        let twos = if W == LANES { self.gaussians.as_chunks::<2>().0 } else { &[] };
        for (number, two) in twos.iter().enumerate() {
            let columns = two.map(|(column, rate)| (rate, x[column], &points[column]));
            for (place, (a, c)) in two_gaussians::<A>(columns).iter().enumerate() {
                sink.take(PlayerPart { player: 2 * number + place, part: 0 }, a, c);
            }
        }
        let rest = self.gaussians.iter().enumerate().skip(2 * twos.len());
        for (player, &(column, rate)) in rest {
            for part in 0..LANES / W {
                let (a, c) = gaussian::<A, W>(rate, x[column], points[column].part(part));
                sink.take(PlayerPart { player, part }, &a, &c);
            }
        }
    }

    /// Passes the factors between the row `x` and a block of points to a sink, without higher
    /// orders. They are in [0, 1], on which all sinks rely: sums of |c| are sums of −c, and
    /// differences of products keep their digits.
    #[inline(always)]
    pub fn factors_into<A: Arithmetic, S: Sink, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        sink: &mut S,
    ) {
        if !self.gaussians.is_empty() {
            self.gaussians_into::<A, S, W>(x, points, sink);
            return;
        }
        for player in 0..self.players.len() {
            for part in 0..LANES / W {
                let (mut a, mut c) = ([1.0; W], [0.0; W]);
                for (number, member) in self.members_of(player).iter().enumerate() {
                    let y: &[f64; W] = points[member.column].part(part);
                    let factor = member.profile.factor::<A, W>(&[x[member.column]; W], y);
                    (a, c) = if number == 0 {
                        factor
                    } else {
                        multiply_factors::<A, W>((&a, &c), (&factor.0, &factor.1))
                    };
                }
                debug_assert!(
                    a.iter().all(|a| a.is_nan() || (0.0..=1.0 + 1e-14).contains(a)),
                    "factors are in [0, 1] unless a family is centered, got {a:?}"
                );
                sink.take(PlayerPart { player, part }, &a, &c);
            }
        }
    }

    /// Fills the higher orders of a block whose coefficients of s⁰ are filled; absent factors are
    /// 1.
    #[inline(always)]
    fn fill_series<A: Arithmetic, const W: usize>(
        &self,
        series: &PackedSeries,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) {
        let (orders, higher) = (series.orders(), &mut block.series);
        higher.weights.extend_from_slice(&series.weights);
        higher.is_pure = self.is_pure;
        higher.begin(self.players.len(), AbsentFactor::One);
        if orders == 0 {
            return;
        }
        let factors = higher.present.chunks_exact_mut(orders).zip(&block.present);
        for (player, (higher, zeroth)) in factors.enumerate() {
            for part in 0..LANES / W {
                let at = |column: usize| ([x[column]; W], *points[column].part(part));
                series.expand::<A, W>(PlayerPart { player, part }, zeroth.part(part), at, higher);
            }
        }
    }

    /// A player's a − b without cancellation: a between x and y, b between z and y.
    #[inline(always)]
    fn contrast<A: Arithmetic, const W: usize>(
        &self,
        player: usize,
        entries: impl Fn(usize) -> Entries<W>,
    ) -> Double<W> {
        let mut joint = Joint::ONE;
        for member in self.members_of(player) {
            member.profile.join::<A, W>(&mut joint, &entries(member.column));
        }
        joint.difference::<A>()
    }

    /// Computes the higher orders of a player's a − b without cancellation, a between x and y, b
    /// between z and y. They are in the first half of `higher`; the second half holds other
    /// numbers.
    #[inline(always)]
    fn contrast_of_series<A: Arithmetic, const W: usize>(
        &self,
        series: &PackedSeries,
        at: PlayerPart,
        entries: impl Fn(usize) -> Entries<W>,
        higher: &mut [Lanes],
    ) {
        let (higher, at_z) = higher.split_at_mut(series.orders());
        series.contrast::<A, W>(at, &entries, higher, at_z);
        let PlayerPart { player, part } = at;
        if self.is_pure {
            return;
        }
        let mut zeroth = [1.0; W];
        for member in self.members_of(player) {
            let Entries { z, y, .. } = entries(member.column);
            let (factor, _) = member.profile.factor::<A, W>(&z, &y);
            zeroth = zip_lanes(&zeroth, &factor, |product, factor| product * factor);
        }
        let change = self.contrast::<A, W>(player, &entries).values();
        // k A − k′ B = k′ (A − B) + (k − k′) A.
        for (difference, at_z) in higher.iter_mut().zip(at_z) {
            let z_part: &[f64; W] = at_z.part(part);
            let c: &mut [f64; W] = difference.part_mut(part);
            *c = each_lane(|i| zeroth[i] * c[i] + change[i] * (z_part[i] + c[i]));
        }
    }

    /// The columns that a player's factor compares.
    pub fn columns_of(&self, player: usize) -> impl Iterator<Item = usize> {
        self.members_of(player).iter().map(|member| member.column)
    }

    /// The column and the rate of a player whose factor is a Gaussian kernel of one column.
    pub fn gaussian_of(&self, player: usize) -> Option<(usize, f64)> {
        match self.members_of(player) {
            [member] => Some((member.column, member.profile.gaussian_rate()?)),
            _ => None,
        }
    }

    fn members_of(&self, player: usize) -> &[Member] {
        let start = if player == 0 { 0 } else { self.ends[player - 1] };
        &self.members[start..self.ends[player]]
    }
}

/// A player's a − b without cancellation, for the rows that are compared: the rounded number and
/// its rounding error.
pub(crate) struct ContrastOfPlayer<'a> {
    pub term: &'a PackedTerm,
    pub player: usize,
    pub operands: ContrastOperands<'a>,
}

impl Body for ContrastOfPlayer<'_> {
    type Output = [Lanes; 2];

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) -> [Lanes; 2] {
        let Self { term, player, operands } = self;
        let [mut high, mut low] = [Lanes::ZERO; 2];
        for part in 0..LANES / W {
            let c = term.contrast::<A, W>(player, |column| operands.entries(column, part));
            *high.part_mut(part) = c.high;
            *low.part_mut(part) = c.low;
        }
        [high, low]
    }
}

/// Computes the contrasts of the higher orders of a player into the first half of `higher`, if its
/// factor is a power series.
pub(crate) struct ContrastOfSeries<'a> {
    pub term: &'a PackedTerm,
    pub player: usize,
    pub operands: ContrastOperands<'a>,
    pub higher: &'a mut [Lanes],
}

impl Body for ContrastOfSeries<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { term, player, operands, higher } = self;
        let Some(series) = &term.series else { return };
        for part in 0..LANES / W {
            let entries = |column: usize| operands.entries(column, part);
            let at = PlayerPart { player, part };
            term.contrast_of_series::<A, W>(series, at, entries, higher);
        }
    }
}

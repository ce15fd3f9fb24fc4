//! Kernels as sums of product kernels, and the factors they give a block of evaluations.

use crate::error::Error;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::family::{Factor, Profile, multiplied};
use crate::kernel::joint::{Entries, Joint};
use crate::kernel::players::Players;
use crate::kernel::series::{PackedSeries, Series};
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};

/// A product kernel: a coefficient times a product of one-dimensional kernels. Several factors on a
/// column multiply; a column without any has no part in the term.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The constant in front.
    pub coefficient: f64,
    /// The one-dimensional kernels.
    pub factors: Vec<Factor>,
    /// A truncated power series that they are multiplied with.
    pub series: Option<Series>,
}

impl Term {
    /// The columns of its factors, and of its series; some may occur several times.
    fn columns(&self) -> impl Iterator<Item = usize> {
        let of_series = self.series.iter().flat_map(Series::columns);
        self.factors.iter().map(|factor| factor.column).chain(of_series)
    }
}

/// The highest power of s in the terms that are power series.
pub(crate) fn most_orders(terms: &[Term]) -> usize {
    let orders = |term: &Term| term.series.as_ref().map_or(0, Series::orders);
    terms.iter().map(orders).max().unwrap_or(0)
}

/// A term made ready: its players' factors.
#[derive(Clone, Debug)]
pub(crate) struct PackedTerm {
    pub coefficient: f64,
    /// The players that it compares, ascending.
    pub players: Vec<usize>,
    /// The compared columns, player by player.
    members: Vec<Member>,
    /// For each player, where its members end.
    ends: Vec<usize>,
    pub series: Option<PackedSeries>,
    /// Whether there are no factors but those of the series.
    is_pure: bool,
}

/// The player, the column and the number of each of a term's factors, in this order; without a
/// number those of its series.
fn sorted(term: &Term, players: &Players) -> Result<Vec<(usize, usize, Option<usize>)>, Error> {
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

/// A column's part in its player's factor.
#[derive(Clone, Debug)]
struct Member {
    /// Index into the term's players.
    player: usize,
    /// Whether it is the player's first column.
    is_first: bool,
    column: usize,
    profile: Profile,
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
        let mut compiled = Self::with_room(term)?;
        for (player, column, factor) in sorted(term, players)? {
            let is_first = compiled.players.last() != Some(&player);
            if is_first {
                compiled.players.push(player);
                compiled.ends.push(0);
            }
            let player = compiled.players.len() - 1;
            if is_first || compiled.members.last().is_none_or(|member| member.column != column) {
                let profile = Profile::default();
                compiled.members.push(Member { player, is_first, column, profile });
            }
            compiled.ends[player] = compiled.members.len();
            if let (Some(member), Some(factor)) = (compiled.members.last_mut(), factor) {
                let Factor { family, parameter, .. } = term.factors[factor];
                member.profile.include(family, parameter)?;
            }
        }
        if let Some(series) = &term.series {
            compiled.series = Some(PackedSeries::new(series, &compiled.players, players)?);
        }
        Ok(compiled)
    }

    /// No factors yet, with room for those of a term.
    fn with_room(term: &Term) -> Result<Self, Error> {
        let (memory, count) = (Memory::default(), term.columns().count());
        let (mut players, mut members, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        memory.reserve(&mut players, count, INPUT)?;
        memory.reserve(&mut members, count, INPUT)?;
        memory.reserve(&mut ends, count, INPUT)?;
        let (coefficient, is_pure) = (term.coefficient, term.factors.is_empty());
        Ok(Self { coefficient, players, members, ends, series: None, is_pure })
    }

    /// The highest power of s of the series, 0 where factors are numbers.
    pub fn orders(&self) -> usize {
        self.series.as_ref().map_or(0, PackedSeries::orders)
    }

    /// How many coefficients its players have together.
    pub fn coefficients(&self) -> usize {
        self.players.len() * (1 + self.orders())
    }

    /// The coefficients that it has filled a block with, less those of 1: of s⁰, then the others.
    pub fn less_one<'a>(&self, block: &'a Block) -> impl Iterator<Item = &'a Lanes> {
        let higher = self.players.len() * self.orders();
        block.difference.iter().chain(&block.series.present[..higher])
    }

    /// Factors between the row `x` and a block of points, given column by column: b is 1.
    #[inline(always)]
    pub fn fill<A: Arithmetic, const W: usize>(
        &self,
        x: &[f64],
        points: &[Lanes],
        block: &mut Block,
    ) -> Spread {
        block.resize(self.players.len(), true);
        let mut sums = Lanes::ZERO;
        for member in &self.members {
            let present = &mut block.present[member.player];
            let difference = &mut block.difference[member.player];
            for part in 0..LANES / W {
                let y: &[f64; W] = points[member.column].part(part);
                let (mut a, mut c) = member.profile.factor::<A, W>(&[x[member.column]; W], y);
                let sum = sums.part_mut(part);
                if member.is_first {
                    *sum = zip_lanes(sum, &c, |sum, c| sum - c);
                } else {
                    let before: &[f64; W] = difference.part(part);
                    let total = multiplied::<A, W>((present.part(part), before), (&a, &c));
                    let change = zip_lanes(&total.1, before, |total, before| total - before);
                    *sum = zip_lanes(sum, &change, |sum, change| sum - change);
                    (a, c) = total;
                }
                *present.part_mut(part) = a;
                *difference.part_mut(part) = c;
            }
        }
        block.series.weights.clear();
        if let Some(series) = &self.series {
            self.fill_series::<A, W>(series, x, points, block);
        }
        Spread::of_unit_factors(&sums)
    }

    /// The higher orders of the factors, of which those of s⁰ are there: b is 1.
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
        higher.resize(self.players.len(), true);
        if orders == 0 {
            return;
        }
        let factors = higher.present.chunks_exact_mut(orders).zip(&block.present);
        for (player, (higher, zeroth)) in factors.enumerate() {
            for part in 0..LANES / W {
                let at = |column: usize| ([x[column]; W], *points[column].part(part));
                series.expand::<A, W>((player, part), zeroth.part(part), at, higher);
            }
        }
    }

    /// A player's a − b without cancellation: a between x and y, b between z and y.
    #[inline(always)]
    pub fn contrast<A: Arithmetic, const W: usize>(
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

    /// The higher orders of a player's a − b without cancellation: a between x and y, b between z
    /// and y; into `higher`, of which the second half is left with others.
    #[inline(always)]
    pub fn contrast_of_series<A: Arithmetic, const W: usize>(
        &self,
        series: &PackedSeries,
        (player, part): (usize, usize),
        entries: impl Fn(usize) -> Entries<W>,
        higher: &mut [Lanes],
    ) {
        let (higher, at_z) = higher.split_at_mut(series.orders());
        series.contrast::<A, W>((player, part), &entries, higher, at_z);
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
            let of_z: &[f64; W] = at_z.part(part);
            let c: &mut [f64; W] = difference.part_mut(part);
            *c = each_lane(|i| zeroth[i] * c[i] + change[i] * (of_z[i] + c[i]));
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

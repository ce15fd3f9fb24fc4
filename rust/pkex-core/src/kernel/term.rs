//! Kernels as sums of product kernels, and the factors they give a block of evaluations.

use crate::error::Error;
use crate::game::block::Block;
use crate::game::spread::Spread;
use crate::kernel::family::{Family, Profile, multiplied};
use crate::kernel::joint::{Entries, Joint};
use crate::kernel::players::Players;
use crate::memory::{INPUT, Memory};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::double::Double;
use crate::simd::lanes::{LANES, Lanes, zip_lanes};

/// A one-dimensional kernel on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The kernel's family.
    pub family: Family,
    /// The column it compares.
    pub column: usize,
    /// The family's parameter, such as the length-scale in the column's units.
    pub parameter: f64,
}

/// A product kernel: a coefficient times a product of one-dimensional kernels. Several factors on a
/// column multiply; a column without any has no part in the term.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The constant in front.
    pub coefficient: f64,
    /// The one-dimensional kernels.
    pub factors: Vec<Factor>,
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
}

/// The player, the column and the number of each of a term's factors, in this order.
fn sorted(term: &Term, players: &Players) -> Result<Vec<(usize, usize, usize)>, Error> {
    let mut factors = Vec::new();
    Memory::default().reserve(&mut factors, term.factors.len(), INPUT)?;
    for (number, &Factor { column, .. }) in term.factors.iter().enumerate() {
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
            if let Some(member) = compiled.members.last_mut() {
                let Factor { family, parameter, .. } = term.factors[factor];
                member.profile.include(family, parameter)?;
            }
        }
        Ok(compiled)
    }

    /// No factors yet, with room for those of a term.
    fn with_room(term: &Term) -> Result<Self, Error> {
        let (memory, count) = (Memory::default(), term.factors.len());
        let (mut players, mut members, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        memory.reserve(&mut players, count, INPUT)?;
        memory.reserve(&mut members, count, INPUT)?;
        memory.reserve(&mut ends, count, INPUT)?;
        Ok(Self { coefficient: term.coefficient, players, members, ends })
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
        Spread::of_unit_factors(&sums)
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

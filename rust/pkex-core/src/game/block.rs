//! A block of evaluations: the factors of sixteen product games, player by player.

use crate::error::Error;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};

/// Factors of [`LANES`] product games, and room for what is computed from them.
///
/// Entry j of each vector belongs to player j of the block.
#[derive(Clone, Debug)]
pub struct Block {
    /// The factors of present players, a; not filled where they are not needed, as absent ones are
    /// 1.
    pub present: Vec<Lanes>,
    /// Whether the factors of present players are needed beside differences.
    pub needs_present: bool,
    /// The factors of absent players, b; empty where all of them are 1.
    pub absent: Vec<Lanes>,
    /// c = a − b, delivered without cancellation.
    pub difference: Vec<Lanes>,
    /// What each game was divided by so that absent factors are 1, ∏ b; 1 where it was not.
    pub divisor: Lanes,
    /// Ω: a player's Shapley (or Banzhaf) value divided by c.
    pub omega: Vec<Lanes>,
    /// What makes power series of the factors, if they are that.
    pub series: Higher,
    /// Whether factors may be negative, or above 1.
    pub is_signed: bool,
}

/// The least ∏ b that games are divided by. The factors of players that rise, from 1, then grow to
/// no more than 1/∏ b together; so their product is not so much larger near t = 1 that the rounding
/// of falling factors counts, which is absolute there (`game::sweep`).
pub(crate) const LEAST_DIVISOR: f64 = 1.0 / 1024.0;

/// The least b by which factors are divided: c is then found from what a and b lack to 1 alone, to
/// few bits less than from a and b where both are small.
pub(crate) const LEAST_FACTOR: f64 = 1.0 / 16.0;

/// What the factors of absent players are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentFactor {
    /// All are 1.
    One,
    /// Each player has its own.
    Each,
}

impl AbsentFactor {
    /// Of so many factors, the number of those that are kept.
    fn count(self, factors: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Each => factors,
        }
    }
}

/// The coefficients of s, s², …, p of them, of factors that are power series in s; those of s⁰ are
/// the factors themselves. A game is then worth Σ_q w_q [s^q] ∏ of the factors.
#[derive(Clone, Debug, Default)]
pub struct Higher {
    /// The weights w of s⁰, s¹, …; empty where factors are numbers.
    pub weights: Vec<f64>,
    /// Whether the coefficients of s⁰ are 1, of present and of absent players.
    pub is_pure: bool,
    /// Of present players' factors: player by player, order by order.
    pub present: Vec<Lanes>,
    /// Of absent players' factors, likewise; empty where all of them are 1.
    pub absent: Vec<Lanes>,
    /// Their differences; empty where absent factors are 1.
    pub difference: Vec<Lanes>,
    /// Room for differences of a player that are computed anew.
    pub exact: Vec<Lanes>,
}

impl Higher {
    /// How many coefficients a player has.
    pub fn orders(&self) -> usize {
        self.weights.len().saturating_sub(1)
    }

    /// The differences of present and absent players' factors.
    #[inline(always)]
    pub fn differences(&self) -> &[Lanes] {
        if self.absent.is_empty() { &self.present } else { &self.difference }
    }

    /// Whether factors are power series.
    pub fn is_there(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Sets the number of players.
    pub fn begin(&mut self, players: usize, absent: AbsentFactor) {
        let count = players * self.orders();
        self.present.resize(count, Lanes::ZERO);
        for factors in [&mut self.absent, &mut self.difference] {
            factors.resize(absent.count(count), Lanes::ZERO);
        }
    }
}

impl Default for Block {
    fn default() -> Self {
        Self {
            present: Vec::new(),
            needs_present: true,
            absent: Vec::new(),
            difference: Vec::new(),
            divisor: Lanes::ONE,
            omega: Vec::new(),
            series: Higher::default(),
            is_signed: false,
        }
    }
}

impl Block {
    /// Makes room for factors of that many players, and numbers of that many players or coalitions.
    pub fn reserve(&mut self, players: usize, count: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.present, players, FACTORS)?;
        memory.reserve(&mut self.absent, players, FACTORS)?;
        // One more makes the number of players even.
        memory.reserve(&mut self.difference, players.saturating_add(1).max(count), FACTORS)?;
        memory.reserve(&mut self.omega, players.max(count), FACTORS)
    }

    /// Makes room for so many coefficients of that many players.
    pub fn reserve_series(
        &mut self,
        (players, orders): (usize, usize),
        memory: &Memory,
    ) -> Result<(), Error> {
        let count = saturating_product([players, orders]);
        let Higher { weights, present, absent, difference, exact, .. } = &mut self.series;
        memory.reserve(weights, orders + 1, FACTORS)?;
        memory.reserve(exact, 2 * orders, FACTORS)?;
        for factors in [present, absent, difference] {
            memory.reserve(factors, count, FACTORS)?;
        }
        Ok(())
    }

    /// Starts anew with games of so many players, whose factors are numbers.
    pub fn begin(&mut self, players: usize, absent: AbsentFactor) {
        self.present.resize(players, Lanes::ONE);
        self.difference.resize(players, Lanes::ZERO);
        self.omega.resize(players, Lanes::ZERO);
        self.absent.resize(absent.count(players), Lanes::ONE);
        self.divisor = Lanes::ONE;
        self.is_signed = false;
        self.series.weights.clear();
    }

    /// Whether the absent factors are 1, or each player has one.
    #[inline(always)]
    pub fn absent_factor(&self) -> AbsentFactor {
        if self.absent.is_empty() { AbsentFactor::One } else { AbsentFactor::Each }
    }

    /// Gives factors, filled for absent ones of 1, absent ones of another size: one for each
    /// player.
    #[inline(always)]
    pub fn set_absent<const W: usize>(&mut self, absent: impl Iterator<Item = f64>) {
        self.absent.clear();
        for (b, difference) in absent.zip(&mut self.difference) {
            self.absent.push(Lanes([b; LANES]));
            // a − b = (a − 1) − (b − 1).
            for part in 0..LANES / W {
                let c: &mut [f64; W] = difference.part_mut(part);
                *c = each_lane(|i| c[i] - (b - 1.0));
            }
        }
    }

    /// The product of all present or of all absent factors, the worth of the grand or the empty
    /// coalition, as Ω of a single player with c = 1.
    #[inline(always)]
    pub fn multiply_all<const W: usize>(&mut self, present: bool) {
        self.omega.resize(1, Lanes::ZERO);
        self.difference.resize(1, Lanes::ONE);
        self.difference[0] = Lanes::ONE;
        for part in 0..LANES / W {
            let mut product = [1.0; W];
            for factor in if present { &self.present } else { &self.absent } {
                product = zip_lanes(&product, factor.part(part), |p, a| p * a);
            }
            *self.omega[0].part_mut(part) = product;
        }
    }
}

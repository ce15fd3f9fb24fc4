//! A block of evaluations: the factors of sixteen product games, player by player.

use crate::error::Error;
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, Lanes, each_lane, zip_lanes};
use crate::simd::level::Body;

/// Factors of [`LANES`] product games, and memory for results.
///
/// Entry j of each vector belongs to player j of the block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Present factors a. They are not filled if they are not needed, because absent factors are 1.
    pub present: Vec<Lanes>,
    /// Whether present factors are needed in addition to differences.
    pub needs_present: bool,
    /// Absent factors b; empty if all of them are 1.
    pub absent: Vec<Lanes>,
    /// Differences c = a − b, computed without cancellation.
    pub difference: Vec<Lanes>,
    /// The number by which each game was divided so that absent factors are 1: ∏ b, or 1 if it was
    /// not.
    pub divisor: Lanes,
    /// Ω: a player's Shapley (or Banzhaf) value divided by c.
    pub omega: Vec<Lanes>,
    /// The higher orders of the factors, if these are power series.
    pub series: HigherOrders,
    /// Whether factors may be negative, or above 1.
    pub is_signed: bool,
}

/// The minimum ∏ b by which games are divided. Factors of players that rise, from 1, then grow to
/// at most 1/∏ b together. So near t = 1 their product does not amplify the rounding errors of
/// falling factors, which are absolute there (`game::sweep`).
pub(crate) const MIN_DIVISOR: f64 = 1.0 / 1024.0;

/// The minimum b by which factors are divided. c is then computed only from a − 1 and b − 1, with a
/// few bits fewer than from a and b where both are small.
pub(crate) const MIN_ABSENT_FACTOR: f64 = 1.0 / 16.0;

/// The number of players of a block, and of the higher orders of each player's factor.
#[derive(Clone, Copy, Debug)]
pub struct FactorCount {
    /// Players.
    pub players: usize,
    /// The highest power of s in factors that are power series; 0 where factors are numbers.
    pub orders: usize,
}

impl FactorCount {
    /// Factors that are numbers.
    pub const fn numbers(players: usize) -> Self {
        Self { players, orders: 0 }
    }

    /// Coefficients of s, s², … of all players.
    pub fn higher(self) -> usize {
        saturating_product([self.players, self.orders])
    }
}

/// A player of a block, and a group of lanes of it: see [`Lanes::part`].
#[derive(Clone, Copy, Debug)]
pub struct PlayerPart {
    /// The player's place in the block.
    pub player: usize,
    /// The number of the group of lanes.
    pub part: usize,
}

/// The kind of a block's absent factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbsentFactor {
    /// All absent factors are 1.
    One,
    /// Each player has an absent factor.
    Each,
}

impl AbsentFactor {
    /// The number of absent factors that are stored for a number of players.
    fn count(self, factors: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Each => factors,
        }
    }
}

/// The coefficients of s, s², …, s^p of factors that are power series in s; the coefficients of s⁰
/// are the factors of the block. The value of a game is Σ_q w_q [s^q] ∏ of the factors.
#[derive(Clone, Debug, Default)]
pub struct HigherOrders {
    /// The weights w of s⁰, s¹, …; empty if factors are numbers.
    pub weights: Vec<f64>,
    /// Whether the coefficients of s⁰ are 1, for present and for absent players.
    pub is_pure: bool,
    /// Coefficients of present factors: player by player, order by order.
    pub present: Vec<Lanes>,
    /// Coefficients of absent factors, in the same order; empty if all absent factors are 1.
    pub absent: Vec<Lanes>,
    /// Differences of these coefficients; empty if absent factors are 1.
    pub difference: Vec<Lanes>,
    /// Memory for differences of a player that are computed again.
    pub exact: Vec<Lanes>,
}

impl HigherOrders {
    /// The number of higher-order coefficients of a player.
    pub fn orders(&self) -> usize {
        self.weights.len().saturating_sub(1)
    }

    /// The differences of the coefficients of present and absent factors.
    #[inline(always)]
    pub fn differences(&self) -> &[Lanes] {
        if self.absent.is_empty() { &self.present } else { &self.difference }
    }

    /// Whether factors are power series.
    pub fn exists(&self) -> bool {
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
            series: HigherOrders::default(),
            is_signed: false,
        }
    }
}

impl Block {
    /// Reserves memory for the factors of a number of players, and for `count` results.
    pub fn reserve(&mut self, players: usize, count: usize, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.present, players, FACTORS)?;
        memory.reserve(&mut self.absent, players, FACTORS)?;
        // One more player makes their number even.
        memory.reserve(&mut self.difference, players.saturating_add(1).max(count), FACTORS)?;
        memory.reserve(&mut self.omega, players.max(count), FACTORS)
    }

    /// Reserves memory for the higher orders of factors that are power series.
    pub fn reserve_series(&mut self, counts: FactorCount, memory: &Memory) -> Result<(), Error> {
        let (count, orders) = (counts.higher(), counts.orders);
        let HigherOrders { weights, present, absent, difference, exact, .. } = &mut self.series;
        memory.reserve(weights, orders + 1, FACTORS)?;
        memory.reserve(exact, 2 * orders, FACTORS)?;
        for factors in [present, absent, difference] {
            memory.reserve(factors, count, FACTORS)?;
        }
        Ok(())
    }

    /// Sets the number of players of the games. Factors are numbers.
    pub fn begin(&mut self, players: usize, absent: AbsentFactor) {
        self.present.resize(players, Lanes::ONE);
        self.difference.resize(players, Lanes::ZERO);
        self.omega.resize(players, Lanes::ZERO);
        self.absent.resize(absent.count(players), Lanes::ONE);
        self.divisor = Lanes::ONE;
        self.is_signed = false;
        self.series.weights.clear();
    }

    /// Adds a player whose present and absent factors are 1, among players with absent factors.
    #[inline(always)]
    pub(crate) fn add_player(&mut self) {
        self.present.push(Lanes::ONE);
        self.absent.push(Lanes::ONE);
        self.difference.push(Lanes::ZERO);
        self.omega.push(Lanes::ZERO);
    }

    /// Whether all absent factors are 1.
    #[inline(always)]
    pub fn absent_factor(&self) -> AbsentFactor {
        if self.absent.is_empty() { AbsentFactor::One } else { AbsentFactor::Each }
    }

    /// Sets absent factors of a block that was filled for absent factors of 1: one number for each
    /// player.
    #[inline(always)]
    pub fn set_absent<const W: usize>(&mut self, absent: impl Iterator<Item = f64>) {
        self.absent.clear();
        for ((b, difference), present) in absent.zip(&mut self.difference).zip(&self.present) {
            self.absent.push(Lanes([b; LANES]));
            // a − b = (a − 1) − (b − 1) keeps the digits of a and b near 1.
            let is_near_1 = b > 0.5;
            for part in 0..LANES / W {
                let (a, c): (&[f64; W], &mut [f64; W]) =
                    (present.part(part), difference.part_mut(part));
                *c = each_lane(|i| if is_near_1 { c[i] - (b - 1.0) } else { a[i] - b });
            }
        }
    }
}

/// Computes the product of all present factors or of all absent ones, the value of the grand or of
/// the empty coalition, as Ω of a single player with c = 1.
pub(crate) struct MultiplyAll<'a> {
    pub block: &'a mut Block,
    pub present: bool,
}

impl Body for MultiplyAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Block { present, absent, difference, omega, .. } = self.block;
        omega.resize(1, Lanes::ZERO);
        difference.resize(1, Lanes::ONE);
        difference[0] = Lanes::ONE;
        let factors = if self.present { present } else { absent };
        for part in 0..LANES / W {
            let mut product = [1.0; W];
            for factor in &*factors {
                product = zip_lanes(&product, factor.part(part), |p, a| p * a);
            }
            *omega[0].part_mut(part) = product;
        }
    }
}

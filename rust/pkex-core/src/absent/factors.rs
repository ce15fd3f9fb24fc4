//! Factors of absent players.

use crate::error::Error;
use crate::game::block::{Block, FactorCount, MIN_ABSENT_FACTOR, MIN_DIVISOR};
use crate::memory::{FACTORS, Memory, saturating_product};
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{Lanes, map_lanes};
use crate::simd::level::{Body, Level};

/// Absent factors b of a block, and b − 1.
#[derive(Clone, Debug)]
pub(crate) struct AbsentFactors {
    pub factor: Vec<Lanes>,
    pub less_one: Vec<Lanes>,
    /// The higher orders of factors that are power series, player by player.
    pub higher: Vec<Lanes>,
    /// 1/b, if games may be divided by ∏ b; else empty.
    pub inverse: Vec<Lanes>,
    /// ∏ b.
    pub product: Lanes,
}

impl Default for AbsentFactors {
    fn default() -> Self {
        let (factor, less_one, higher, inverse) = Default::default();
        Self { factor, less_one, higher, inverse, product: Lanes::ONE }
    }
}

impl AbsentFactors {
    /// Bytes for each player of a block, whose factors have a number of higher orders.
    pub fn bytes(orders: usize) -> usize {
        saturating_product([3 + orders, size_of::<Lanes>()])
    }

    /// Copies the present factors of a block.
    pub fn copy_present(&mut self, block: &Block) {
        self.factor.clone_from(&block.present);
        self.less_one.clone_from(&block.difference);
        self.higher.clear();
        if block.series.exists() {
            self.higher.extend_from_slice(&block.series.present);
        }
    }

    /// Prepares the division of games by ∏ b, after the factors are set.
    pub fn set_divisor(&mut self, level: Level) {
        level.run(SetDivisor { absent: self });
    }

    /// Reserves memory for the factors of a block.
    pub fn reserve(&mut self, counts: FactorCount, memory: &Memory) -> Result<(), Error> {
        memory.reserve(&mut self.factor, counts.players, FACTORS)?;
        memory.reserve(&mut self.less_one, counts.players, FACTORS)?;
        memory.reserve(&mut self.inverse, counts.players, FACTORS)?;
        memory.reserve(&mut self.higher, counts.higher(), FACTORS)
    }

    /// Reserves memory for the factors of a number of blocks.
    pub fn reserve_all(
        factors: &mut Vec<Self>,
        blocks: usize,
        counts: FactorCount,
        memory: &Memory,
    ) -> Result<(), Error> {
        factors.resize_with(blocks, Self::default);
        factors.iter_mut().try_for_each(|block| block.reserve(counts, memory))
    }
}

/// Computes ∏ b, and 1/b if games may be divided by ∏ b.
struct SetDivisor<'a> {
    absent: &'a mut AbsentFactors,
}

impl Body for SetDivisor<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let AbsentFactors { factor, higher, inverse, product, .. } = self.absent;
        inverse.clear();
        *product = Lanes::ONE;
        for factor in factor.iter() {
            *product = product.times::<W>(factor);
        }
        let fits = |lanes: &Lanes, bound: f64| lanes.0.iter().all(|lane| *lane >= bound);
        let all_fit = factor.iter().all(|factor| fits(factor, MIN_ABSENT_FACTOR));
        if higher.is_empty() && all_fit && fits(product, MIN_DIVISOR) {
            let invert = |b: &Lanes| Lanes(map_lanes(&b.0, |b| 1.0 / b));
            inverse.extend(factor.iter().map(invert));
        }
    }
}

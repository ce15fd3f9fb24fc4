//! Ω by the recursion over coalition sizes: the O(d²) method of the paper, normalized.
//!
//! hᵏ_q is the mean, over coalitions of q of the first k players, of the product of their factors.
//! It is the paper's elementary symmetric polynomial divided by its number of terms, and so in the
//! range of the factors' products for every d:
//!
//!   h⁰₀ = 1,  hᵏ_q = ((k−q)/k) bₖ hᵏ⁻¹_q + (q/k) aₖ hᵏ⁻¹_{q−1}.
//!
//! The reverse pass (the derivative of Σ_{q≥1} hᵈ_q/q along the recursion) yields all players at
//! once: λᵈ_q = 1/q, and for k = d…1
//!
//!   Ωₖ = Σ_{q=1}^k λᵏ_q (q/k) hᵏ⁻¹_{q−1},
//!   λᵏ⁻¹_q = ((k−q)/k) bₖ λᵏ_q + ((q+1)/k) aₖ λᵏ_{q+1}.
//!
//! The reverse pass needs the rows h in reverse. So every √(d/2)-th row is kept, and the rows
//! between are computed again: half as much work more, for d√(2d) numbers instead of d²/2. Eight
//! games are computed at a time, to save memory: with 10,000 players they take 90 MB a thread.

use std::ops::Range;

use crate::error::Error;
use crate::game::block::Block;
use crate::memory::{Memory, RECURSION, saturating_product};
use crate::settings::Context;
use crate::simd::arithmetic::Arithmetic;
use crate::simd::lanes::{LANES, each_lane, map_lanes};
use crate::simd::level::Body;

/// Games computed at a time.
const GAMES: usize = 8;

/// One number for each game.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Numbers([f64; GAMES]);

impl Numbers {
    const ZERO: Self = Self([0.0; GAMES]);
}

/// The rows of the recursion, kept between blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecursionRows {
    /// Every stride-th row, without the entries that are 0.
    checkpoints: Vec<Numbers>,
    /// The rows from one checkpoint to the next.
    segment: Vec<Numbers>,
    /// λ of the reverse pass.
    adjoint: Vec<Numbers>,
    /// q/k for every q of the current step.
    shares: Vec<f64>,
}

/// Players from one kept row to the next.
fn stride(players: usize) -> usize {
    (players / 2).isqrt().max(1)
}

/// The place of the kept row of a number: the row of k − 1 players has k entries.
fn checkpoint(number: usize, stride: usize) -> Range<usize> {
    let before =
        saturating_product([stride, saturating_product([number, number.saturating_sub(1)]) / 2]);
    let start = number.saturating_add(before);
    start..start.saturating_add(saturating_product([number, stride])).saturating_add(1)
}

impl RecursionRows {
    /// Reserves memory for games of a number of players.
    pub fn reserve(&mut self, players: usize, memory: &Memory) -> Result<(), Error> {
        let stride = stride(players);
        let checkpoint_count = checkpoint(players.div_ceil(stride), stride).start;
        memory.reserve(&mut self.checkpoints, checkpoint_count, RECURSION)?;
        memory.reserve(
            &mut self.segment,
            saturating_product([stride + 1, players + 1]),
            RECURSION,
        )?;
        memory.reserve(&mut self.adjoint, players + 2, RECURSION)?;
        memory.reserve(&mut self.shares, players + 1, RECURSION)
    }
}

/// Computes Ω of every player into `block.omega`. For thousands of players this takes seconds: it
/// returns early, with some of the values, if the call is to stop.
pub(crate) struct ByRecursion<'a> {
    pub block: &'a mut Block,
    pub rows: &'a mut RecursionRows,
    pub context: Context<'a>,
}

impl Body for ByRecursion<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic, const W: usize>(self) {
        let Self { block, rows, context } = self;
        let players = block.present.len();
        let stride = stride(players);
        let width = players + 1;
        let checkpoint = |number| checkpoint(number, stride);
        rows.checkpoints.resize(checkpoint(players.div_ceil(stride)).start, Numbers::ZERO);
        rows.segment.resize((stride + 1) * width, Numbers::ZERO);
        rows.adjoint.resize(width + 1, Numbers::ZERO);
        rows.shares.resize(width, 0.0);
        for part in 0..LANES / GAMES {
            let factors = |k: usize| {
                let absent = block.absent.get(k - 1).map_or([1.0; GAMES], |b| *b.part(part));
                (*block.present[k - 1].part(part), absent)
            };
            let RecursionRows { checkpoints, segment, adjoint, shares } = &mut *rows;

            segment[0] = Numbers([1.0; GAMES]);
            for k in 1..=players {
                if (k - 1) % stride == 0 {
                    if context.is_stopped() {
                        return;
                    }
                    checkpoints[checkpoint((k - 1) / stride)].copy_from_slice(&segment[..k]);
                }
                Step::new(k, factors(k), shares).forward_in_place::<A>(&mut segment[..=k]);
            }

            for (q, lambda) in adjoint.iter_mut().enumerate().skip(1) {
                *lambda = Numbers([if q <= players { 1.0 / q as f64 } else { 0.0 }; GAMES]);
            }
            for first in (0..players).step_by(stride).rev().map(|before| before + 1) {
                if context.is_stopped() {
                    return;
                }
                let last = (first + stride - 1).min(players);
                segment[..first].copy_from_slice(&checkpoints[checkpoint((first - 1) / stride)]);
                for k in first..last {
                    let (above, below) = segment[(k - first) * width..].split_at_mut(width);
                    let step = Step::new(k, factors(k), shares);
                    step.forward::<A>(&above[..k], &mut below[..=k]);
                }
                for k in (first..=last).rev() {
                    let row = &segment[(k - first) * width..][..k];
                    let step = Step::new(k, factors(k), shares);
                    *block.omega[k - 1].part_mut(part) = step.omega::<A>(row, adjoint);
                    step.backward::<A>(adjoint);
                }
            }
        }
    }
}

/// One step of the recursion: player k's factors.
struct Step<'a> {
    a: [f64; GAMES],
    b: [f64; GAMES],
    /// q/k for q = 0…k.
    shares: &'a [f64],
}

impl<'a> Step<'a> {
    #[inline(always)]
    fn new(k: usize, (a, b): ([f64; GAMES], [f64; GAMES]), shares: &'a mut [f64]) -> Self {
        for (q, share) in shares[..=k].iter_mut().enumerate() {
            *share = q as f64 / k as f64;
        }
        Self { a, b, shares: &shares[..=k] }
    }

    /// k.
    #[inline(always)]
    fn players(&self) -> usize {
        self.shares.len() - 1
    }

    /// hᵏ_q from hᵏ⁻¹_q and hᵏ⁻¹_{q−1}.
    #[inline(always)]
    fn next<A: Arithmetic>(&self, q: usize, without: &Numbers, with: &Numbers) -> Numbers {
        self.mean::<A>((self.shares[self.players() - q], without), (self.shares[q], with))
    }

    /// The mean of numbers without the player and numbers with it, by their shares.
    #[inline(always)]
    fn mean<A: Arithmetic>(
        &self,
        (share, without): (f64, &Numbers),
        (other_share, with): (f64, &Numbers),
    ) -> Numbers {
        Numbers(each_lane(|i| {
            A::mul_add(share * self.b[i], without.0[i], other_share * self.a[i] * with.0[i])
        }))
    }

    /// Row k from row k − 1, of k entries.
    #[inline(always)]
    fn forward<A: Arithmetic>(&self, row: &[Numbers], next: &mut [Numbers]) {
        let k = self.players();
        next[0] = self.next::<A>(0, &row[0], &Numbers::ZERO);
        for q in 1..k {
            next[q] = self.next::<A>(q, &row[q], &row[q - 1]);
        }
        next[k] = self.next::<A>(k, &Numbers::ZERO, &row[k - 1]);
    }

    /// Row k over row k − 1.
    #[inline(always)]
    fn forward_in_place<A: Arithmetic>(&self, row: &mut [Numbers]) {
        let k = self.players();
        row[k] = self.next::<A>(k, &Numbers::ZERO, &row[k - 1]);
        for q in (1..k).rev() {
            row[q] = self.next::<A>(q, &row[q], &row[q - 1]);
        }
        row[0] = self.next::<A>(0, &row[0], &Numbers::ZERO);
    }

    /// Ωₖ from row k − 1 and λᵏ.
    #[inline(always)]
    fn omega<A: Arithmetic>(&self, row: &[Numbers], adjoint: &[Numbers]) -> [f64; GAMES] {
        let mut sum = [0.0; GAMES];
        for q in 1..=self.players() {
            let lambda = map_lanes(&adjoint[q].0, |lambda| lambda * self.shares[q]);
            sum = each_lane(|i| A::mul_add(lambda[i], row[q - 1].0[i], sum[i]));
        }
        sum
    }

    /// λᵏ⁻¹ over λᵏ.
    #[inline(always)]
    fn backward<A: Arithmetic>(&self, adjoint: &mut [Numbers]) {
        let k = self.players();
        for q in 1..k {
            let (without, with) = (self.shares[k - q], self.shares[q + 1]);
            adjoint[q] = self.mean::<A>((without, &adjoint[q]), (with, &adjoint[q + 1]));
        }
    }
}

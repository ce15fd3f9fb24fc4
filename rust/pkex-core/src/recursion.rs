//! Ω by the recursion over coalition sizes: the paper's O(d²) method, normalised.
//!
//! hᵏ_q is the mean, over coalitions of q of the first k players, of the product of their factors;
//! the paper's elementary symmetric polynomials divided by their number of terms, and so in the
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
//! It needs the rows h in reverse, so every √d-th is kept and those between are made again: half
//! as much work more, for O(d√d) numbers instead of d²/2.

use std::sync::atomic::Ordering;

use crate::arithmetic::Arithmetic;
use crate::block::Block;
use crate::lanes::{LANES, Lanes, each, map};
use crate::pool::Stop;

/// Rows of the recursion, kept between blocks.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Every stride-th row.
    checkpoints: Vec<Lanes>,
    /// The rows from one checkpoint to the next.
    segment: Vec<Lanes>,
    /// λ of the reverse pass.
    adjoint: Vec<Lanes>,
}

/// Ω of every player into `block.omega`. For thousands of players this takes seconds: it returns
/// early, with some of the values, when told to stop.
#[inline(always)]
pub fn omega<A: Arithmetic, const W: usize>(block: &mut Block, rows: &mut Rows, stop: &Stop) {
    let players = block.present.len();
    let stride = players.isqrt().max(1);
    let width = players + 1;
    rows.checkpoints.resize(players.div_ceil(stride) * width, Lanes::ZERO);
    rows.segment.resize((stride + 1) * width, Lanes::ZERO);
    rows.adjoint.resize(width + 1, Lanes::ZERO);
    for part in 0..LANES / W {
        let factors = |k: usize| Step {
            k,
            a: *block.present[k - 1].part::<W>(part),
            b: block.absent.get(k - 1).map_or([1.0; W], |b| *b.part(part)),
        };
        let Rows { checkpoints, segment, adjoint } = &mut *rows;

        *segment[0].part_mut(part) = [1.0; W];
        for k in 1..=players {
            if (k - 1) % stride == 0 {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let at = (k - 1) / stride * width;
                checkpoints[at..at + k].copy_from_slice(&segment[..k]);
            }
            factors(k).forward_in_place::<A>(part, &mut segment[..=k]);
        }

        for (q, lambda) in adjoint.iter_mut().enumerate().skip(1) {
            let start = if q <= players { 1.0 / q as f64 } else { 0.0 };
            *lambda.part_mut(part) = [start; W];
        }
        for first in (0..players).step_by(stride).rev().map(|before| before + 1) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let last = (first + stride - 1).min(players);
            let at = (first - 1) / stride * width;
            segment[..first].copy_from_slice(&checkpoints[at..at + first]);
            for k in first..last {
                let (above, below) = segment[(k - first) * width..].split_at_mut(width);
                factors(k).forward::<A>(part, &above[..k], &mut below[..=k]);
            }
            for k in (first..=last).rev() {
                let row = &segment[(k - first) * width..][..k];
                let step = factors(k);
                *block.omega[k - 1].part_mut(part) = step.omega::<A>(part, row, adjoint);
                step.backward::<A>(part, adjoint);
            }
        }
    }
}

/// One step of the recursion: player k's factors.
struct Step<const W: usize> {
    k: usize,
    a: [f64; W],
    b: [f64; W],
}

impl<const W: usize> Step<W> {
    /// n/k.
    #[inline(always)]
    fn share(&self, n: usize) -> f64 {
        n as f64 / self.k as f64
    }

    /// hᵏ_q from hᵏ⁻¹_q and hᵏ⁻¹_{q−1}.
    #[inline(always)]
    fn next<A: Arithmetic>(&self, q: usize, same: &[f64; W], one_less: &[f64; W]) -> [f64; W] {
        let (without, with) = (self.share(self.k - q), self.share(q));
        each(|i| A::mul_add(without * self.b[i], same[i], with * self.a[i] * one_less[i]))
    }

    /// Row k from row k − 1, of k entries.
    #[inline(always)]
    fn forward<A: Arithmetic>(&self, part: usize, row: &[Lanes], next: &mut [Lanes]) {
        let k = self.k;
        *next[0].part_mut(part) = self.next::<A>(0, row[0].part(part), &[0.0; W]);
        for q in 1..k {
            let value = self.next::<A>(q, row[q].part(part), row[q - 1].part(part));
            *next[q].part_mut(part) = value;
        }
        *next[k].part_mut(part) = self.next::<A>(k, &[0.0; W], row[k - 1].part(part));
    }

    /// Row k over row k − 1.
    #[inline(always)]
    fn forward_in_place<A: Arithmetic>(&self, part: usize, row: &mut [Lanes]) {
        let k = self.k;
        *row[k].part_mut(part) = self.next::<A>(k, &[0.0; W], row[k - 1].part(part));
        for q in (1..k).rev() {
            let value = self.next::<A>(q, row[q].part(part), row[q - 1].part(part));
            *row[q].part_mut(part) = value;
        }
        *row[0].part_mut(part) = self.next::<A>(0, row[0].part(part), &[0.0; W]);
    }

    /// Ωₖ from row k − 1 and λᵏ.
    #[inline(always)]
    fn omega<A: Arithmetic>(&self, part: usize, row: &[Lanes], adjoint: &[Lanes]) -> [f64; W] {
        let mut sum = [0.0; W];
        for q in 1..=self.k {
            let h: &[f64; W] = row[q - 1].part(part);
            let lambda: [f64; W] = map(adjoint[q].part(part), |lambda| lambda * self.share(q));
            sum = each(|i| A::mul_add(lambda[i], h[i], sum[i]));
        }
        sum
    }

    /// λᵏ⁻¹ over λᵏ.
    #[inline(always)]
    fn backward<A: Arithmetic>(&self, part: usize, adjoint: &mut [Lanes]) {
        for q in 1..self.k {
            let (without, with) = (self.share(self.k - q), self.share(q + 1));
            let one_more: [f64; W] = *adjoint[q + 1].part(part);
            let same: &mut [f64; W] = adjoint[q].part_mut(part);
            *same =
                each(|i| A::mul_add(without * self.b[i], same[i], with * self.a[i] * one_more[i]));
        }
    }
}

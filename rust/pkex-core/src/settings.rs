//! How a call computes: its options, and what the work on a thread gets to know of them.

use crate::simd::level::Level;
use crate::simd::sum::Summation;

/// How Ω is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Gauss–Legendre quadrature, with the nodes that full double precision takes.
    #[default]
    Quadrature,
    /// The recursion over coalition sizes, O(d²).
    Recursion,
}

/// Settings of a call that do not change what is computed, but for rounding.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How sums over evaluations are formed.
    pub summation: Summation,
    /// Threads to use, at least 1.
    pub threads: usize,
    /// Instruction set to use.
    pub level: Level,
}

impl Default for Settings {
    /// Compensated sums, one thread, the best instruction set of this machine.
    fn default() -> Self {
        Self { summation: Summation::default(), threads: 1, level: Level::best() }
    }
}

//! The settings of a call, and the context that its work on a thread receives.

use std::sync::atomic::Ordering;

use crate::simd::level::{Body, Level};
use crate::simd::sum::Summation;
use crate::threads::Stop;

/// How Ω is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Quadrature, with as many nodes as full double precision needs.
    #[default]
    Quadrature,
    /// The recursion over coalition sizes, O(d²).
    Recursion,
}

/// Settings of a call that change results by no more than rounding.
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

/// The context of the work on a thread: the settings of the call, and its stop flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub settings: &'a Settings,
    pub stop: &'a Stop,
}

impl Context<'_> {
    /// Runs `body` on the call's instruction set.
    pub fn run<B: Body>(self, body: B) -> B::Output {
        self.settings.level.run(body)
    }

    /// Runs `body` with as many lanes at a time as a register holds.
    pub fn run_in_registers<B: Body>(self, body: B) -> B::Output {
        self.settings.level.run_in_registers(body)
    }

    /// Whether the call is to stop.
    pub fn is_stopped(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

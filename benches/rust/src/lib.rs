//! Code that the benchmarks share: problems of a known amount of work, the machine's own peak, and
//! timings in turns.

pub mod cases;
pub mod peak;
pub mod problem;

use std::time::{Duration, Instant};

use pkex_core::{Level, Settings, Summation};

/// The settings of users' calls, on one thread and on the instruction set that the environment
/// variable `PKEX_SIMD` names, if it is set.
///
/// # Panics
/// If the machine has no instruction set of that name.
#[must_use]
pub fn settings() -> Settings {
    let level = std::env::var("PKEX_SIMD").map_or(Level::best(), |name| {
        let level = Level::from_name(&name).filter(|level| level.is_available());
        level.unwrap_or_else(|| panic!("PKEX_SIMD={name}: not on this machine"))
    });
    Settings { summation: Summation::Compensated, threads: 1, level }
}

/// Seconds of the fastest run of each computation. The computations run in turns for `time`.
///
/// Other work on the machine only adds time: the fastest of many short runs had the least of it,
/// and in turns all computations have the same chances.
pub fn fastest<const N: usize>(time: Duration, computations: [&dyn Fn(); N]) -> [f64; N] {
    let mut seconds = [f64::INFINITY; N];
    let begin = Instant::now();
    while begin.elapsed() < time {
        for (computation, fastest) in computations.iter().zip(&mut seconds) {
            let start = Instant::now();
            computation();
            *fastest = fastest.min(start.elapsed().as_secs_f64());
        }
    }
    seconds
}

//! The machine's own peak: multiply-adds that wait for nothing but the arithmetic units.

use std::hint::black_box;

use pkex_core::Level;

/// Chains of dependent multiply-adds that run in parallel: enough to hide the latency of the
/// instruction, few enough to stay in registers.
const CHAINS: usize = 6;

/// Multiply-adds of each lane of each chain: about half a millisecond.
const STEPS: u32 = 1 << 17;

/// Does multiply-adds as fast as the instruction set can, on one thread, and returns their number.
///
/// # Panics
/// If the machine does not support the instruction set.
#[must_use]
pub fn multiply_adds(level: Level) -> f64 {
    let lanes = match level {
        Level::Portable => chains::<4, false>(),
        // SAFETY: the features that these functions are compiled for are checked first.
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "calls of functions compiled for features just asked for")]
        Level::Avx2 if level.is_available() => unsafe { chains_avx2() },
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "calls of functions compiled for features just asked for")]
        Level::Avx512 if level.is_available() => unsafe { chains_avx512() },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => chains::<8, true>(),
        #[cfg(target_arch = "x86_64")]
        _ => panic!("this machine has no {}", level.name()),
    };
    lanes * f64::from(STEPS)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_avx2() -> f64 {
    chains::<8, true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
fn chains_avx512() -> f64 {
    chains::<16, true>()
}

/// x ← x·factor + term, a step at a time in each of `W` lanes of each chain; returns their number.
#[inline(always)]
#[allow(clippy::inline_always, reason = "one copy for each instruction set")]
fn chains<const W: usize, const FUSED: bool>() -> f64 {
    let (factor, term) = black_box((0.999_999, 1e-6));
    let mut chains = black_box([[0.5_f64; W]; CHAINS]);
    for _ in 0..STEPS {
        for chain in &mut chains {
            for x in chain {
                *x = if FUSED { x.mul_add(factor, term) } else { *x * factor + term };
            }
        }
    }
    black_box(chains);
    (W * CHAINS) as f64
}

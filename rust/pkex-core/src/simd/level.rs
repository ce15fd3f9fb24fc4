//! Which instruction set runs the numerical bodies: found at run time, entered a few times a block.
//!
//! A body is ordinary code over arrays of `W` lanes, inlined as a whole into one function per
//! instruction set, where the compiler vectorises it. This module holds the crate's only `unsafe`.

use crate::simd::arithmetic::{Arithmetic, Fused, Separate};

/// Work that is compiled for every instruction set.
pub trait Body {
    /// What the work returns.
    type Output;

    /// Does the work `W` lanes at a time. Must be `#[inline(always)]`, and so must all it calls.
    fn run<A: Arithmetic, const W: usize>(self) -> Self::Output;
}

/// An instruction set that bodies are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The target's baseline, without a fused multiply-add on x86-64.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON, the baseline of 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// All levels of this architecture, from the widest down.
    pub const ALL: &'static [Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "aarch64")]
        Self::Neon,
        Self::Portable,
    ];

    /// The level's name, as [`Level::from_name`] takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
        }
    }

    /// The level of that name, if this architecture has it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|level| level.name() == name)
    }

    /// Whether this machine can run the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
        }
    }

    /// The widest level this machine can run.
    #[must_use]
    pub fn best() -> Self {
        let available = Self::ALL.iter().copied().find(|level| level.is_available());
        available.unwrap_or(Self::Portable)
    }

    /// Runs `body` on this level, or on the best one available if the machine lacks it: with the
    /// lanes of several registers at a time, so that one waits less for the other.
    pub fn run<B: Body>(self, body: B) -> B::Output {
        match self.or_best() {
            Self::Portable => body.run::<Separate, 4>(),
            // SAFETY: `or_best` has just found the features these functions are compiled for.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx2 => unsafe { run_avx2::<B, 8>(body) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx512 => unsafe { run_avx512::<B, 16>(body) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => body.run::<Fused, 8>(),
        }
    }

    /// The same with the lanes of one register, for bodies that keep many numbers at hand.
    pub fn run_in_registers<B: Body>(self, body: B) -> B::Output {
        match self.or_best() {
            Self::Portable => body.run::<Separate, 2>(),
            // SAFETY: as in `run`.
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx2 => unsafe { run_avx2::<B, 4>(body) },
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx512 => unsafe { run_avx512::<B, 8>(body) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => body.run::<Fused, 2>(),
        }
    }

    /// This level, or the best one available if the machine lacks it.
    fn or_best(self) -> Self {
        if self.is_available() { self } else { Self::best() }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<B: Body, const W: usize>(body: B) -> B::Output {
    body.run::<Fused, W>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
fn run_avx512<B: Body, const W: usize>(body: B) -> B::Output {
    body.run::<Fused, W>()
}

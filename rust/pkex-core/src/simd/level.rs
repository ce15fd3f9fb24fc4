//! The instruction set that runs the numerical bodies: found at run time, entered a few times a
//! block.
//!
//! A body is ordinary code over arrays of `W` lanes, inlined as a whole into one function per
//! instruction set, where the compiler vectorises it. This module holds the crate's only `unsafe`.

use crate::simd::arithmetic::{self, Arithmetic};

/// Work that is compiled for every instruction set.
pub trait Body {
    /// The result of the work.
    type Output;

    /// Computes `W` lanes at a time. Must be `#[inline(always)]`, as well as all functions that it
    /// calls.
    fn run<A: Arithmetic, const W: usize>(self) -> Self::Output;
}

/// An instruction set that bodies are compiled for: `build.rs` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The target's baseline, without a fused multiply-add on x86-64.
    #[cfg(level = "portable")]
    Portable,
    /// AVX2 and FMA.
    #[cfg(level = "avx2")]
    Avx2,
    /// AVX-512 F, DQ and VL.
    #[cfg(level = "avx512")]
    Avx512,
    /// NEON, the baseline of 64-bit ARM.
    #[cfg(level = "neon")]
    Neon,
}

impl Level {
    /// All levels that are compiled, from the widest down.
    pub const ALL: &'static [Self] = &[
        #[cfg(level = "avx512")]
        Self::Avx512,
        #[cfg(level = "avx2")]
        Self::Avx2,
        #[cfg(level = "neon")]
        Self::Neon,
        #[cfg(level = "portable")]
        Self::Portable,
    ];

    /// The level's name, as [`Level::from_name`] takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(level = "portable")]
            Self::Portable => "portable",
            #[cfg(level = "avx2")]
            Self::Avx2 => "avx2",
            #[cfg(level = "avx512")]
            Self::Avx512 => "avx512",
            #[cfg(level = "neon")]
            Self::Neon => "neon",
        }
    }

    /// The level of that name, if it is compiled.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|level| level.name() == name)
    }

    /// Whether this machine can run the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(level = "portable")]
            Self::Portable => true,
            #[cfg(level = "avx2")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(level = "avx512")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(level = "neon")]
            Self::Neon => true,
        }
    }

    /// The widest level this machine can run.
    ///
    /// # Panics
    ///
    /// If there is none, because the core was compiled only for another machine's instruction set.
    #[must_use]
    pub fn best() -> Self {
        let available = Self::ALL.iter().copied().find(|level| level.is_available());
        available
            .expect("a core with PKEX_LEVELS=native runs on machines like that it was built on")
    }

    /// Runs `body` on this level, or on the best available one if the machine does not support it.
    /// Lanes of several registers are computed at a time, so that one register waits less for
    /// another.
    pub fn run<B: Body>(self, body: B) -> B::Output {
        match self.or_best() {
            #[cfg(level = "portable")]
            Self::Portable => body.run::<arithmetic::Separate, 4>(),
            // SAFETY: `or_best` has just found the features these methods are compiled for.
            #[cfg(level = "avx2")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx2 => unsafe { body.on_avx2::<8>() },
            #[cfg(level = "avx512")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx512 => unsafe { body.on_avx512::<16>() },
            #[cfg(level = "neon")]
            Self::Neon => body.run::<arithmetic::Fused, 8>(),
        }
    }

    /// Runs `body` with the lanes of one register at a time, for bodies that keep many numbers in
    /// registers.
    pub fn run_in_registers<B: Body>(self, body: B) -> B::Output {
        match self.or_best() {
            #[cfg(level = "portable")]
            Self::Portable => body.run::<arithmetic::Separate, 2>(),
            // SAFETY: as in `run`.
            #[cfg(level = "avx2")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx2 => unsafe { body.on_avx2::<4>() },
            #[cfg(level = "avx512")]
            #[expect(unsafe_code, reason = "calls of functions compiled for detected features")]
            Self::Avx512 => unsafe { body.on_avx512::<8>() },
            #[cfg(level = "neon")]
            Self::Neon => body.run::<arithmetic::Fused, 2>(),
        }
    }

    /// This level, or the best available one if the machine does not support it.
    fn or_best(self) -> Self {
        if self.is_available() { self } else { Self::best() }
    }
}

/// The copies of a body, as methods: the compiler places them next to the body, so that it can
/// compile bodies of several modules in parallel.
#[cfg(any(level = "avx2", level = "avx512"))]
#[expect(unsafe_code, reason = "methods compiled for features are unsafe to call")]
trait Copies: Body + Sized {
    #[cfg(level = "avx2")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn on_avx2<const W: usize>(self) -> Self::Output {
        self.run::<arithmetic::Fused, W>()
    }

    #[cfg(level = "avx512")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
    unsafe fn on_avx512<const W: usize>(self) -> Self::Output {
        self.run::<arithmetic::Fused, W>()
    }
}

#[cfg(any(level = "avx2", level = "avx512"))]
impl<B: Body> Copies for B {}

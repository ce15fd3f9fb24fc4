//! How the variance of a function divides among its inputs.
//!
//! `games`: as product games of two evaluations, for the engine; `twice`: the same sums in
//! twice the working precision.

pub(crate) mod games;
pub(crate) mod twice;

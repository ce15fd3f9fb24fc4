//! The division of a function's variance among its inputs.
//!
//! `covariances`: those of factors of two evaluations; `games`: product games of two evaluations, for
//! the engine; `extended_precision`: the same sums in twice the working precision.

pub(crate) mod covariances;
pub(crate) mod extended_precision;
pub(crate) mod games;

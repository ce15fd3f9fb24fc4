//! Tests of the engine through its public interface, named after the promises that they test.

// Results may be compared with functions of the system's library.
#![allow(clippy::disallowed_methods)]

mod background;
mod cancellation;
mod case;
mod coalitions;
mod coupling;
mod exactness;
mod games;
mod golden;
mod interactions;
mod mixtures;
mod permuted;
mod preparation;
mod quadratic;
mod random;
mod reproducibility;
mod sample;
mod series;
mod sparse;
mod squares;
mod variance;

//! Tests of the engine through its public surface, named after what they promise.

// What results are compared with may come from the system's library.
#![allow(clippy::disallowed_methods)]

mod background;
mod cancellation;
mod case;
mod coalitions;
mod exactness;
mod games;
mod golden;
mod interactions;
mod pairs;
mod permuted;
mod preparation;
mod quadratic;
mod random;
mod reproducibility;
mod series;
mod variance;

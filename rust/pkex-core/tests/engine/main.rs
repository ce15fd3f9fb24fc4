//! Tests of the engine through its public surface, named after what they promise.

mod background;
mod cancellation;
mod case;
mod exactness;
mod games;
mod interactions;
mod pairs;
mod permuted;
mod preparation;
mod quadratic;
mod random;
mod reproducibility;
mod series;

//! Tests of the engine through its public surface, named after what they promise.

mod background;
mod exactness;
mod games;
mod interactions;
mod pairs;
mod permuted;
mod random;
mod reproducibility;

//! Sums over all pairs of rows of a sample.

pub(crate) mod absent;
pub(crate) mod gaussian_means;
pub(crate) mod mean_factors;
pub(crate) mod octets;
pub(crate) mod packed;
pub(crate) mod permuted;
pub(crate) mod problem;
pub(crate) mod sums;
pub(crate) mod tiles;
pub(crate) mod totals;
pub(crate) mod weights;
pub(crate) mod workspace;

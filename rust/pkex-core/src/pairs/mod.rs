//! Sums over all pairs of rows of a sample.
//!
//! `problem`: what is summed; `weights`: what pairs weigh; `octets`: exchanges of targets; `absent`:
//! the factors of pairs; `own`: those of a row with itself; `packed`: a problem made ready, and
//! `layout`: where its sums stand; `workspace`: the running sums of a thread; `tiles`: the sums of a
//! tile; `totals`: those of all tiles; `sums`: the whole computation, at once or in parts.
//! `mean_factors` and `gaussian_means`: means over pairs; `permuted`: sums after permutations.

pub(crate) mod absent;
pub(crate) mod gaussian_means;
pub(crate) mod layout;
pub(crate) mod mean_factors;
pub(crate) mod octets;
pub(crate) mod own;
pub(crate) mod packed;
pub(crate) mod permuted;
pub(crate) mod problem;
pub(crate) mod sums;
pub(crate) mod tiles;
pub(crate) mod totals;
pub(crate) mod weights;
pub(crate) mod workspace;

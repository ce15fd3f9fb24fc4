//! Sums over all pairs of rows of a sample.
//!
//! `problem`: a sample and the sums over its pairs; `weights`: the weights of pairs; `octets`:
//! exchanges of targets; `absent`: the factors of pairs; `self_pairs`: pairs of a row with itself;
//! `packed_pairs`: a packed problem; `layout`: the places of its sums; `workspace`: the running
//! sums of a thread; `accumulate`: adds pairs to them; `tiles`: the sums of a tile;
//! `rectangle_rows`: the sums of rows in a rectangle of tiles; `totals`: the sums of all tiles;
//! `sums`: the whole computation, at once or in parts; `mean_factors` and `gaussian_means`: means
//! over pairs; `permutations`: sums after permutations.

pub(crate) mod absent;
pub(crate) mod accumulate;
pub(crate) mod gaussian_means;
pub(crate) mod layout;
pub(crate) mod mean_factors;
pub(crate) mod octets;
pub(crate) mod packed_pairs;
pub(crate) mod permutations;
pub(crate) mod problem;
pub(crate) mod rectangle_rows;
pub(crate) mod self_pairs;
pub(crate) mod sums;
pub(crate) mod tiles;
pub(crate) mod totals;
pub(crate) mod weights;
pub(crate) mod workspace;

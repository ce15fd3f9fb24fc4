//! Kernels as sums of products, and their factors.
//!
//! `family`: the kernels of one column, of which `matern`, `overlap` and `periodic` have files of
//! their own; `exponential`: kernels exp(−E); `centering`: kernels centered on a sample;
//! `gauss_sums`: the means for centering; `gauss_transform`: sums over a sample, to nearly all
//! digits; `median`: median distances for length-scales; `product` and `joint`: products of factors
//! and their differences without cancellation; `players`: the players of columns; `series`:
//! truncated power series; `term`: a product; `linked_terms`: Gaussian terms computed from other
//! terms; `narrowing`: terms followed by narrower ones; `packed_kernel`: a sum of terms.

pub(crate) mod centering;
pub(crate) mod exponential;
pub(crate) mod family;
pub(crate) mod gauss_sums;
pub(crate) mod gauss_transform;
pub(crate) mod joint;
pub(crate) mod linked_terms;
pub(crate) mod matern;
pub(crate) mod median;
pub(crate) mod narrowing;
mod overlap;
pub(crate) mod packed_kernel;
pub(crate) mod periodic;
pub(crate) mod players;
pub(crate) mod product;
pub(crate) mod series;
pub(crate) mod term;

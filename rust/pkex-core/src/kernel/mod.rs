//! Kernels as sums of products, and the factors that they give.
//!
//! `family`: all about the kernels of one column, of which `matern`, `overlap` and `periodic` have
//! files of their own; `exponential`: those that are exp(−E); `centering`: those that are centered on a sample, `gauss_sums`: on which
//! means; `median`: distances that make length-scales; `product` and `joint`: products of factors and their
//! differences without cancellation; `players`: whom columns belong to;
//! `series`: truncated power series of them; `term`: a product; `doubling`: Gaussian terms from
//! others; `packed`: a sum of them.

pub(crate) mod centering;
pub(crate) mod doubling;
pub(crate) mod exponential;
pub(crate) mod family;
pub(crate) mod gauss_sums;
pub(crate) mod joint;
pub(crate) mod matern;
pub(crate) mod median;
mod overlap;
pub(crate) mod packed;
pub(crate) mod periodic;
pub(crate) mod players;
pub(crate) mod product;
pub(crate) mod series;
pub(crate) mod term;

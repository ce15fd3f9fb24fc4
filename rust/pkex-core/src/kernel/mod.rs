//! Kernels as sums of products, and the factors that they give.
//!
//! `family`: all about the kernels of one column; `joint`: differences of products without
//! cancellation; `players`: whom columns belong to; `term`: a product; `packed`: a sum of them.

pub(crate) mod family;
pub(crate) mod joint;
pub(crate) mod packed;
pub(crate) mod players;
pub(crate) mod term;

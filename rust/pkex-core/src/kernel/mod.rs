//! Kernels as sums of products, and the factors that they give.

pub(crate) mod family;
pub(crate) mod joint;
pub(crate) mod packed;
pub(crate) mod players;
pub(crate) mod term;

//! The numbers of a block side by side, and how they are computed on every instruction set.

pub(crate) mod arithmetic;
pub(crate) mod double;
pub(crate) mod exp;
pub(crate) mod lanes;
pub(crate) mod level;
pub(crate) mod numbers;
pub(crate) mod sum;

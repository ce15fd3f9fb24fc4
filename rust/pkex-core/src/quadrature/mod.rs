//! Gauss–Legendre rules, and how many nodes an integral over t takes.

pub(crate) mod bound;
pub(crate) mod measure;
pub(crate) mod rule;
pub(crate) mod table;

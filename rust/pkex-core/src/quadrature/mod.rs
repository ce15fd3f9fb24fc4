//! Gauss–Legendre rules, and how many nodes an integral over t takes.

pub(crate) mod table;

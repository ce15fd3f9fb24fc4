//! Gauss–Legendre rules, and how many nodes an integral over t takes.
//!
//! `rule`: nodes and weights; `bound`: how far a rule may err; `measure`: what is integrated over;
//! `table`: the shortest rule for each Λ.

pub(crate) mod bound;
pub(crate) mod measure;
pub(crate) mod rule;
pub(crate) mod table;

//! Quadrature rules, and how many nodes an integral over t takes.
//!
//! `rule`: nodes and weights; `bound`: how far a rule may err; `measure`: what is integrated over;
//! `free_end`: rules that know their integrand at 0; `table`: the shortest rule for each Λ.

pub(crate) mod bound;
pub(crate) mod free_end;
pub(crate) mod measure;
pub(crate) mod rule;
pub(crate) mod table;

//! Quadrature rules, and the number of nodes of an integral over t.
//!
//! `rule`: nodes and weights; `bound`: error bounds; `measure`: measures to integrate over;
//! `free_end`: rules with known values at t = 0; `sample_rule`: rules of samples; `table`: the shortest rule for each Λ.

pub(crate) mod bound;
pub(crate) mod free_end;
pub(crate) mod measure;
pub(crate) mod rule;
pub(crate) mod sample_rule;
pub(crate) mod table;

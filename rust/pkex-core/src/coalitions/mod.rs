//! Worths of coalitions one by one: a kernel expansion at rows that mix the entries of an explained
//! row and a background row.
//!
//! `factors`: those of present and absent players, block by block; `tables`: the products of all
//! coalitions of a few players; `all`: the worths of all coalitions; `listed`: those of given ones;
//! `worths`: the walk over rows and background rows.

pub(crate) mod all;
pub(crate) mod factors;
pub(crate) mod listed;
pub(crate) mod tables;
pub(crate) mod worths;

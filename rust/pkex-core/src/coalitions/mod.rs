//! Values of single coalitions: a kernel expansion at rows that combine entries of an explained row
//! and a background row.
//!
//! `factors`: present and absent factors, block by block; `tables`: the products of all coalitions
//! of a few players; `range`: the values of all coalitions, or of a range of them; `list`: the
//! values of listed coalitions; `orders`: those of the coalitions along orders of the players;
//! `values`: the walk over rows and background rows.

pub(crate) mod factors;
pub(crate) mod list;
pub(crate) mod orders;
pub(crate) mod range;
pub(crate) mod tables;
pub(crate) mod values;

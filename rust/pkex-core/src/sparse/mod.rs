//! Kernel expansions of sparse rows: the work is that of the entries that are not zero.
//!
//! `rows`: sparse matrices; `profiles`: kernels of columns; `tiles`: the points; `means`,
//! `entry_factors`, `marginal`: factors that do not depend on the explained row; `cell`: a row and
//! a tile; `compare`, `fill`, `add_up`: the steps of their values; `values`: the values;
//! `selected_pairs`: interactions of selected columns; `expansion`: the expansion.

mod add_up;
mod cell;
mod compare;
mod entry_factors;
pub(crate) mod expansion;
mod fill;
mod marginal;
mod means;

mod profiles;
pub(crate) mod rows;
mod selected_pairs;
mod tiles;
mod values;

//! What the evaluations of an expansion are: its points, or products of two of them.
//!
//! `packed`: points, weights and kernel; `beside_row`: what all evaluations have; `points`: those of
//! a sum over points; `quadratic_form`: products of two points, and their weights;
//! `single_factors`: the factors of one point, kept for many products; `products`: those of
//! products.

pub(crate) mod beside_row;
pub(crate) mod packed;
pub(crate) mod points;
pub(crate) mod products;
pub(crate) mod quadratic_form;
pub(crate) mod single_factors;

//! The evaluations of an expansion: its points, or products of two points.
//!
//! `packed_expansion`: points, weights and kernel; `kind`: the interface of all kinds of
//! evaluations; `points`: a sum over points; `quadratic_form`: products of two points, and their
//! weights; `single_factors`: the factors of one point, kept for many products; `products`: the
//! evaluations of a quadratic form.

pub(crate) mod kind;
pub(crate) mod packed_expansion;
pub(crate) mod points;
pub(crate) mod products;
pub(crate) mod quadratic_form;
pub(crate) mod single_factors;

//! Quadratic forms f(x) = Σ C_pq k(x, p) k(x, q) of the kernel's values at an expansion's points,
//! such as the variance of a Gaussian process.
//!
//! `triangle`: which pairs there are; `pairs`: those of an expansion's evaluations, and their
//! weights; `factors`: those of single evaluations; `games`: the games of rows, whatever is absent;
//! `products`: the factors of pairs; `means`: those of absent features; `neutral`, `interventional`
//! and `marginal`: what it may be.

pub(crate) mod factors;
pub(crate) mod games;
pub(crate) mod interventional;
pub(crate) mod marginal;
pub(crate) mod means;
pub(crate) mod neutral;
pub(crate) mod pairs;
pub(crate) mod products;
pub(crate) mod triangle;

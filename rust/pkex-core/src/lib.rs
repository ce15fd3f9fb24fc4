//! Exact Shapley values of weighted sums of product games.
//!
//! A *product game* over players 1…d is v(S) = ∏_{j∈S} aⱼ · ∏_{j∉S} bⱼ. The predictions of kernel
//! machines and the kernel statistics MMD and HSIC are weighted sums of such games, one per
//! evaluation of the kernel, and their Shapley values are
//!
//!   φⱼ = Σ_p w_p c_pj ∫₀¹ ∏_{l≠j} (b_pl + t c_pl) dt,  c = a − b  (Owen 1972).
//!
//! From the outside in: [`Expansion`] and [`ProductGames`] say what the evaluations are, the driver
//! walks them in tiles, the quadrature or the recursion computes the integral for a block of
//! sixteen evaluations, and the reduction weighs and adds.

// Functions are inlined into one copy per instruction set (see `simd`): there is no other way.
#![allow(clippy::inline_always)]

mod arithmetic;
mod background;
mod block;
mod chi2;
mod coalitions;
mod double;
mod driver;
mod error;
mod exp;
mod expansion;
mod gaussian_means;
mod interactions;
mod interventional;
mod joint;
mod kernel;
mod lanes;
mod marginal;
mod matrix;
mod mean_factors;
mod means;
mod means_of_points;
mod memory;
mod nodes;
mod octets;
mod pair_terms;
mod pair_tiles;
mod pair_walk;
mod pair_weights;
mod pairs;
mod permuted;
mod pool;
mod product_game;
mod profile;
mod quadrature;
mod quantity;
mod recursion;
mod reduce;
mod sample;
mod simd;
mod supersets;
mod weights;

pub use background::{Background, ValueFunction};
pub use driver::{Method, Settings};
pub use error::Error;
pub use expansion::Expansion;
pub use kernel::{Factor, Players, Term};
pub use matrix::Matrix;
pub use mean_factors::mean_factors;
pub use nodes::{Density, Measure};
pub use octets::OCTET;
pub use pair_weights::{Classes, TargetWeights, Weighting};
pub use pairs::{PairProblem, PairSums};
pub use permuted::permuted_sums;
pub use pool::Monitor;
pub use product_game::{Index, ProductGames};
pub use profile::Family;
pub use reduce::Summation;
pub use simd::Level;
pub use supersets::superset_sums;

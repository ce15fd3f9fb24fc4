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

mod error;
mod expansion;
mod game;
mod kernel;
mod matrix;
mod memory;
mod pairs;
mod product_games;
mod quadrature;
mod settings;
mod simd;
mod threads;
mod walk;

pub use error::Error;
pub use expansion::background::{Background, ValueFunction};
pub use expansion::explain::Expansion;
pub use game::supersets::superset_sums;
pub use kernel::family::Family;
pub use kernel::players::Players;
pub use kernel::term::{Factor, Term};
pub use matrix::Matrix;
pub use pairs::mean_factors::mean_factors;
pub use pairs::octets::OCTET;
pub use pairs::permuted::permuted_sums;
pub use pairs::problem::{PairProblem, PairSums};
pub use pairs::weights::{Classes, TargetWeights, Weighting};
pub use product_games::{Index, ProductGames};
pub use quadrature::measure::{Density, Measure};
pub use settings::{Method, Settings};
pub use simd::level::Level;
pub use simd::sum::Summation;
pub use threads::Monitor;

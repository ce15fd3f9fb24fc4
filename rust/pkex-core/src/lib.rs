//! Exact Shapley values of weighted sums of product games.
//!
//! A *product game* over players 1…d is v(S) = ∏_{j∈S} aⱼ · ∏_{j∉S} bⱼ. The predictions of kernel
//! machines and the kernel statistics MMD and HSIC are weighted sums of such games, one per
//! evaluation of the kernel, and their Shapley values are
//!
//!   φⱼ = Σ_p w_p c_pj ∫₀¹ ∏_{l≠j} (b_pl + t c_pl) dt,  c = a − b  (Owen 1972).
//!
//! # Overview
//!
//! - [`ProductGames`]: games given as arrays of factors, and their [`Index`].
//! - [`Expansion`]: a kernel expansion f(x) = Σᵢ αᵢ k(x, xᵢ), its values and interactions at rows,
//!   in the game of a [`ValueFunction`], which may need a [`Background`]. Interactions integrate
//!   over a [`Measure`], such as a [`Density`]; [`superset_sums`] adds those of larger coalitions.
//!   [`Expansion::worths`] has what coalitions are worth one by one.
//! - [`PairProblem`]: sums over all pairs of rows of a sample ([`PairSums`]), which MMD and HSIC
//!   are made of. Pairs weigh what a [`Weighting`] says: by [`Classes`] of rows, or by a target
//!   ([`TargetWeights`]), which rows may exchange within an octet of [`OCTET`]. [`mean_factors`]
//!   gives absent factors, [`self_pairs`] what pairs of a row with itself have, [`permuted_sums`] the
//!   sums after permutations.
//! - [`VarianceGames`]: how the variance of a sum of products of independent inputs divides among
//!   them.
//! - A kernel is a sum of [`Term`]s, each a product of [`Factor`]s of a [`Family`] on one column, and
//!   perhaps of a truncated power [`Series`]; columns belong to [`Players`].
//! - Data are borrowed as a [`Matrix`]. [`Settings`] name the threads, the [`Summation`] and the
//!   instruction set ([`Level`]); values are computed by a [`Method`]. A long call asks its
//!   [`Monitor`] whether to go on, and may fail with an [`Error`].
//!
//! # Example
//!
//! The Shapley values of a prediction, against the model's own points:
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use pkex_core::{
//!     Expansion, Factor, Family, Matrix, Method, Players, Settings, Term, ValueFunction,
//! };
//!
//! # fn main() -> Result<(), pkex_core::Error> {
//! // f(x) = k(x, (0, 0)) − k(x, (1, 2)) with a Gaussian kernel.
//! let points = Matrix::new(&[0.0, 0.0, 1.0, 2.0], 2, 2)?;
//! let coefficients = Matrix::new(&[1.0, -1.0], 2, 1)?;
//! let rbf = |column| Factor { family: Family::Rbf, column, parameter: 1.0 };
//! let kernel = [Term { coefficient: 1.0, factors: vec![rbf(0), rbf(1)], series: None }];
//! let f = Expansion::new(points, coefficients, &kernel, Players::columns(2))?;
//!
//! let x = Matrix::new(&[0.5, 1.5], 1, 2)?;
//! let (game, settings) = (ValueFunction::MarginalOfPoints, Settings::default());
//! let mut go_on = |_, _| ControlFlow::Continue(());
//! let values = f.explain(x, game, Method::Quadrature, &settings, &mut go_on)?;
//! let base = f.base(game, &settings, &mut go_on)?;
//! let prediction = f.predict(x, &settings, &mut go_on)?;
//! assert!((base[0] + values[0] + values[1] - prediction[0]).abs() < 1e-15);
//! # Ok(())
//! # }
//! ```
//!
//! # How it is built
//!
//! Every file imports only from files before it in the order of `tests/rooms.rs`; from the bottom
//! up: `simd` (lanes and instruction sets), `quadrature` (nodes), `game` (what is computed of a
//! block of sixteen evaluations), `kernel` (their factors), `walk` (tiles, waves, sums),
//! `product_games`, `variance` and `evaluations` (what the evaluations are), `absent` (what stands in
//! for absent players), `expansion`, `coalitions` (worths one by one), `pairs` (pairs of rows).

// Functions are inlined into one copy per instruction set (see `simd`): there is no other way.
#![allow(clippy::inline_always)]
// What tests compare with may come from the system's library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod absent;
mod coalitions;
mod error;
mod evaluations;
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
mod variance;
mod walk;

pub use absent::background::{Background, ValueFunction};
pub use error::Error;
pub use expansion::Expansion;
pub use game::supersets::superset_sums;
pub use kernel::family::{Factor, Family};
pub use kernel::gauss_sums::GaussMean;
pub use kernel::median::median_distance;
pub use kernel::players::Players;
pub use kernel::series::{Form, Series};
pub use kernel::term::Term;
pub use matrix::Matrix;
pub use pairs::mean_factors::mean_factors;
pub use pairs::octets::OCTET;
pub use pairs::own::self_pairs;
pub use pairs::permuted::permuted_sums;
pub use pairs::problem::{PairProblem, PairSums};
pub use pairs::weights::{Classes, TargetWeights, Weighting};
pub use product_games::{Index, ProductGames};
pub use quadrature::measure::{Density, Measure};
pub use settings::{Method, Settings};
pub use simd::level::Level;
pub use simd::sum::Summation;
pub use threads::Monitor;
pub use variance::games::VarianceGames;

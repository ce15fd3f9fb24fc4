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
//! - [`ProductGames`]: games that are arrays of factors, and their [`Index`].
//! - [`Expansion`]: a kernel expansion f(x) = Σᵢ αᵢ k(x, xᵢ), with its values and interactions at
//!   rows, for the game of a [`ValueFunction`], which may need a [`Background`]. Interactions
//!   integrate over a [`Measure`], such as a [`Density`]; [`Supersets`] adds those of larger
//!   coalitions. [`Expansion::coalition_values`] computes the values of single coalitions.
//! - [`PairProblem`]: sums over all pairs of rows of a sample ([`PairSums`]), from which MMD and
//!   HSIC are computed. A [`Weighting`] defines the weights of pairs: by [`Classes`] of rows, or by
//!   a target ([`TargetWeights`]), which rows may exchange within an octet of [`OCTET`].
//!   [`mean_factors`] computes absent factors, [`self_pairs`] the pairs of rows with themselves,
//!   [`permuted_sums`] the sums after permutations.
//! - [`VarianceGames`]: the division of the variance of a sum of products of independent inputs
//!   among the inputs.
//! - [`PairSigmoids`]: the probabilities of classes, coupled from those of pairs of classes.
//! - A kernel is a sum of [`Term`]s, each a product of [`Factor`]s of a [`Family`] on one column,
//!   and optionally of a truncated power [`Series`]; columns belong to [`Players`].
//! - Data are borrowed as a [`Matrix`]. [`Settings`] contain the threads, the [`Summation`] and the
//!   instruction set ([`Level`]); values are computed by a [`Method`]. A long call asks its
//!   [`Monitor`] whether to go on, and may fail with an [`Error`].
//!
//! # Example
//!
//! The Shapley values of a prediction, in the marginal game of the model's points:
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
//! Every file imports only from files before it in the order of `tests/rooms.rs`. From the bottom
//! up: `simd` (lanes and instruction sets), `quadrature` (nodes), `game` (computations on a block
//! of sixteen evaluations), `kernel` (factors), `walk` (tiles, waves, sums), `product_games`,
//! `variance` and `evaluations` (the evaluations), `absent` (absent factors), `expansion`,
//! `coalitions` (values of single coalitions), `coupling` (probabilities of classes), `sample` (pairs
//! of rows).

// Functions are inlined into one copy per instruction set (see `simd`), which requires this
// attribute.
#![allow(clippy::inline_always)]
// Tests may compare with functions of the system's library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod absent;
mod coalitions;
mod coupling;
mod error;
mod evaluations;
mod expansion;
mod game;
mod kernel;
mod matrix;
mod memory;
mod product_games;
mod quadrature;
mod sample;
mod settings;
mod simd;
mod sparse;
mod threads;
mod variance;
mod walk;

pub use absent::background::{Background, ValueFunction};
pub use coalitions::values::Coalitions;
pub use coupling::PairSigmoids;
pub use error::Error;
pub use expansion::Expansion;
pub use game::supersets::Supersets;
pub use kernel::family::{Factor, Family};
pub use kernel::gauss_sums::GaussMean;
pub use kernel::median::median_distance;
pub use kernel::players::Players;
pub use kernel::series::{Form, Series};
pub use kernel::term::Term;
pub use matrix::Matrix;
pub use product_games::{Index, ProductGames};
pub use quadrature::measure::{Density, Measure};
pub use sample::mean_factors::mean_factors;
pub use sample::octets::OCTET;
pub use sample::permutations::permuted_sums;
pub use sample::problem::{PairProblem, PairSums};
pub use sample::self_pairs::self_pairs;
pub use sample::weights::{Classes, TargetWeights, Weighting};
pub use settings::{Method, Settings};
pub use simd::level::Level;
pub use simd::sum::Summation;
pub use sparse::expansion::{SparseExpansion, SparseGame};
pub use sparse::rows::SparseMatrix;
pub use threads::Monitor;
pub use variance::games::VarianceGames;

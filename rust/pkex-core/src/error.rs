//! What can go wrong in a call, in terms its caller can act on.

use thiserror::Error;

/// Why a call returned no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// An input array does not fit the others.
    #[error("{argument} has {got}, expected {expected}")]
    Shape {
        /// The argument's name.
        argument: &'static str,
        /// What would have fitted.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A parameter is outside its domain.
    #[error("{argument} must be {requirement}, got {got}")]
    Domain {
        /// The argument's name.
        argument: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What was given.
        got: String,
    },
    /// An option that this computation does not have.
    #[error("{0}")]
    Unsupported(String),
    /// A result, or a product on the way to it, is outside the range of double precision.
    #[error(
        "the result for row {row} overflows double precision, or a product on the way leaves its range: \
         scale the coefficients, or the factors"
    )]
    Overflow {
        /// Index of the first such row.
        row: usize,
    },
    /// There is too little memory.
    #[error("not enough memory: {} for {of}{}", gigabytes(*bytes), already(*bytes, *beside))]
    Memory {
        /// How many bytes were asked for.
        bytes: usize,
        /// How many more the call has already.
        beside: usize,
        /// What for, and what to do.
        of: &'static str,
    },
    /// The caller's monitor asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// What the call has already, where that is more than it asks for.
fn already(bytes: usize, beside: usize) -> String {
    if beside > bytes {
        format!(" (the call has {} already)", gigabytes(beside))
    } else {
        String::new()
    }
}

/// A size in megabytes, or in gigabytes of 10⁹ bytes.
fn gigabytes(bytes: usize) -> String {
    match bytes {
        usize::MAX => "more than ten billion GB".to_owned(),
        0..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

//! The errors of a call, in terms that its caller can act on.

use thiserror::Error;

/// Why a call returned no result.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Error {
    /// An input array does not fit the other inputs.
    #[error("{argument} has {got}, expected {expected}")]
    Shape {
        /// The argument's name.
        argument: &'static str,
        /// The expected shape.
        expected: String,
        /// The shape of the argument.
        got: String,
    },
    /// A parameter is outside its domain.
    #[error("{argument} must be {requirement}, got {got}")]
    Domain {
        /// The argument's name.
        argument: &'static str,
        /// The requirement.
        requirement: &'static str,
        /// The value of the argument.
        got: String,
    },
    /// The computation does not support an option.
    #[error("{0}")]
    Unsupported(String),
    /// A result, or an intermediate product, is outside the range of double precision.
    #[error(
        "the result for row {row} overflows double precision, or an intermediate product does. \
         Scale the coefficients or the factors."
    )]
    Overflow {
        /// Index of the first such row.
        row: usize,
    },
    /// There is too little memory.
    #[error("not enough memory: {} for {of}{}", gigabytes(*bytes), already(*bytes, *beside))]
    Memory {
        /// The bytes of the failed request.
        bytes: usize,
        /// The bytes that the call has reserved before.
        beside: usize,
        /// The purpose of the memory, and a way to need less.
        of: &'static str,
    },
    /// The caller's monitor stopped the call.
    #[error("interrupted")]
    Interrupted,
}

/// A note on the memory reserved before, if it is more than the request.
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

//! The errors of a call, in terms that its caller can act on.

use std::fmt;

/// Why a call returned no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// An input array does not fit the other inputs.
    Shape {
        /// The argument's name.
        argument: &'static str,
        /// The expected shape.
        expected: String,
        /// The shape of the argument.
        got: String,
    },
    /// A parameter is outside its domain.
    Domain {
        /// The argument's name.
        argument: &'static str,
        /// The requirement.
        requirement: &'static str,
        /// The value of the argument.
        got: String,
    },
    /// The computation does not support an option.
    Unsupported(String),
    /// A result, or an intermediate product, is outside the range of double precision.
    Overflow {
        /// Index of the first such row.
        row: usize,
    },
    /// There is too little memory.
    Memory {
        /// The bytes of the failed request.
        bytes: usize,
        /// The bytes that the call has reserved before.
        beside: usize,
        /// The purpose of the memory, and a way to need less.
        of: &'static str,
    },
    /// The caller's monitor stopped the call.
    Interrupted,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { argument, expected, got } => {
                write!(f, "{argument} has {got}, expected {expected}")
            }
            Self::Domain { argument, requirement, got } => {
                write!(f, "{argument} must be {requirement}, got {got}")
            }
            Self::Unsupported(message) => f.write_str(message),
            Self::Overflow { row } => write!(
                f,
                "the result for row {row} overflows double precision, or an intermediate product \
                 does. Scale the coefficients or the factors."
            ),
            Self::Memory { bytes, beside, of } => {
                write!(f, "not enough memory: {} for {of}", gigabytes(*bytes))?;
                if beside > bytes {
                    write!(f, " (the call has {} already)", gigabytes(*beside))?;
                }
                Ok(())
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
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

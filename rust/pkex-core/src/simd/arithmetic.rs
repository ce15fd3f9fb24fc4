//! The one arithmetic operation in which instruction sets differ: multiply-add.
//!
//! Every numerical body of this crate is written once, over arrays of `W` lanes and a type
//! `A: Arithmetic`, always inlined, and compiled for several instruction sets by
//! [`crate::simd::level`]. All sets with a fused multiply-add compute the same operations on the
//! same lanes and so return the same bits, whatever `W` they take at a time.

/// How `a·b + c` is rounded.
pub trait Arithmetic: Copy + Send + Sync + 'static {
    /// `a·b + c`.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;

    /// The rounded product of `a` and `b`, and its rounding error.
    fn two_product(a: f64, b: f64) -> (f64, f64);
}

/// One rounding; only for targets with the instruction, because elsewhere it is a slow library
/// call.
#[derive(Clone, Copy, Debug)]
pub struct Fused;

/// Two roundings, for targets without a fused multiply-add.
#[derive(Clone, Copy, Debug)]
pub struct Separate;

impl Arithmetic for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn two_product(a: f64, b: f64) -> (f64, f64) {
        let product = a * b;
        (product, a.mul_add(b, -product))
    }
}

impl Arithmetic for Separate {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    /// Dekker (1971), with Veltkamp's splitting. Where the splitting overflows (beyond 2⁹⁹⁶) the
    /// product is returned as if it were exact.
    #[inline(always)]
    fn two_product(a: f64, b: f64) -> (f64, f64) {
        let product = a * b;
        let (a_high, a_low) = split(a);
        let (b_high, b_low) = split(b);
        let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
        (product, if error.is_finite() { error } else { 0.0 })
    }
}

/// `x` as the sum of two numbers of at most 26 bits each.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2²⁷ + 1
    let product = FACTOR * x;
    let high = product - (product - x);
    (high, x - high)
}

/// The rounded sum of `a` and `b`, and its rounding error (Knuth 1969).
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_virtual = sum - a;
    (sum, (a - (sum - b_virtual)) + (b - b_virtual))
}

//! placeholder until the real one lands
use crate::arithmetic::Arithmetic;
#[inline(always)]
pub fn exp_and_expm1<A: Arithmetic, const W: usize>(x: &[f64; W]) -> ([f64; W], [f64; W]) {
    (std::array::from_fn(|i| x[i].exp()), std::array::from_fn(|i| x[i].exp_m1()))
}

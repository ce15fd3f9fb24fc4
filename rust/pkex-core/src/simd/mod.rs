//! Numbers in lanes, and their arithmetic on every instruction set.
//!
//! `arithmetic`: multiply-add, exact products and sums; `level`: the instruction sets; `lanes`:
//! sixteen numbers; `numbers`: operations on single numbers; `exp`: eˣ and eˣ − 1; `double`: twice
//! the working precision; `sin`: sin(π r/p); `sum`: weighted sums in a fixed order.

pub(crate) mod arithmetic;
pub(crate) mod double;
pub(crate) mod exp;
pub(crate) mod lanes;
pub(crate) mod level;
pub(crate) mod numbers;
pub(crate) mod sin;
pub(crate) mod sum;

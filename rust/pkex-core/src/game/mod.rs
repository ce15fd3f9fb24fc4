//! What is computed of the product games of a block.

pub(crate) mod block;
pub(crate) mod coalitions;
pub(crate) mod interactions;
pub(crate) mod quantity;
pub(crate) mod recursion;
pub(crate) mod scaling;
pub(crate) mod spread;
pub(crate) mod supersets;
pub(crate) mod sweep;
pub(crate) mod values;

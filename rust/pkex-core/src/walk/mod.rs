//! How evaluations, and pairs of rows, are walked in tiles on several threads.

pub(crate) mod cell;
pub(crate) mod chunks;
pub(crate) mod items;
pub(crate) mod pairs;
pub(crate) mod source;
pub(crate) mod tiling;
pub(crate) mod waves;
pub(crate) mod weights;

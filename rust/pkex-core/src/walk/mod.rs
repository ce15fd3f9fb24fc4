//! How evaluations, and pairs of rows, are walked in tiles on several threads.

pub(crate) mod chunks;
pub(crate) mod items;
pub(crate) mod pairs;
pub(crate) mod weights;

//! How evaluations, and pairs of rows, are walked in tiles on several threads.
//!
//! `source`: where evaluations come from; `tiling`: how they are cut; `cell`: the sums of a tile
//! and an item; `waves`: tasks side by side, wave after wave; `items`: the walk over items ×
//! evaluations; `computation`: what is computed of them, perhaps in parts; `weights`: their weights;
//! `triangle`: products of two evaluations, each once; `chunks`: a sample cut into chunks; `pairs`: the walk
//! over its pairs.

pub(crate) mod cell;
pub(crate) mod chunks;
pub(crate) mod computation;
pub(crate) mod items;
pub(crate) mod pairs;
pub(crate) mod source;
pub(crate) mod tiling;
pub(crate) mod triangle;
pub(crate) mod waves;
pub(crate) mod weights;

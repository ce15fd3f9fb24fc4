//! The walks over evaluations and over pairs of rows, in tiles and on several threads.
//!
//! `source`: the interface to evaluations; `tiling`: their cut into tiles; `cell`: the sums of a
//! tile and an item; `waves`: waves of tasks; `items`: the walk over items × evaluations;
//! `computation`: one quantity of all rows, or interactions in parts; `weights`: the weights of
//! evaluations; `triangle`: products of two evaluations; `chunks`: a sample cut into chunks;
//! `pairs`: the walk over pairs of rows.

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

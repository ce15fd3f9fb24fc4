//! Kernel expansions and their explanations.
//!
//! `background`: value functions; `packed`: points, weights and kernel; `absent`: factors of absent
//! players; `games`: the games of rows, whatever is absent; `neutral`, `interventional` and
//! `marginal`: what it may be; `background_means` and `own_point_means`: mean factors; `parts`:
//! interactions in parts; `explain`: the public expansion.

pub(crate) mod absent;
pub(crate) mod background;
pub(crate) mod background_means;
pub(crate) mod explain;
pub(crate) mod games;
pub(crate) mod interventional;
pub(crate) mod marginal;
pub(crate) mod neutral;
pub(crate) mod own_point_means;
pub(crate) mod packed;
pub(crate) mod parts;

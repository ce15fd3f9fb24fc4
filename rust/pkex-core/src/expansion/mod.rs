//! Kernel expansions and their explanations.

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

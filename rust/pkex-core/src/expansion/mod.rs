//! Kernel expansions and their explanations.

pub(crate) mod absent;
pub(crate) mod background_means;
pub(crate) mod explain;
pub(crate) mod interventional;
pub(crate) mod marginal;
pub(crate) mod own_point_means;

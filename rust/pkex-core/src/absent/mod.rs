//! The factors of absent players in the games of rows.
//!
//! `background`: value functions; `factors`: absent factors of a block; `contrast`: a − b without
//! cancellation; `blocks`: blocks of present and absent factors; `point_means`, `gaussian_means`,
//! `background_means` and `product_means`: mean factors; `sample_rules`: Gauss rules of columns;
//! `node_means`: mean factors over their nodes; `games`: the games of rows; `neutral`,
//! `interventional`, `marginal` and `marginal_products`: their absent factors; `squares`: those of
//! squares.

pub(crate) mod background;
pub(crate) mod background_means;
pub(crate) mod blocks;
pub(crate) mod contrast;
pub(crate) mod factors;
pub(crate) mod games;
pub(crate) mod gaussian_means;
pub(crate) mod interventional;
pub(crate) mod marginal;
pub(crate) mod marginal_products;
pub(crate) mod neutral;
pub(crate) mod node_means;
pub(crate) mod point_means;
pub(crate) mod product_means;
pub(crate) mod sample_rules;
pub(crate) mod squares;

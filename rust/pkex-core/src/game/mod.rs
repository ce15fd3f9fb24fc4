//! What is computed of the product games of a block.
//!
//! `block`: factors of sixteen games; `spread`: their Λ and range; `scaling`: powers of two for
//! those beyond it; `sweep`: passes over the nodes of a rule; `values`, `interactions` and
//! `recursion`: Ω of players and of coalitions; `series`: those of power series; `coalitions`: their
//! order; `quantity`: the choice between them; `supersets`: sums over larger coalitions.

pub(crate) mod block;
pub(crate) mod coalitions;
pub(crate) mod interactions;
pub(crate) mod quantity;
pub(crate) mod recursion;
pub(crate) mod scaling;
pub(crate) mod series;
pub(crate) mod spread;
pub(crate) mod supersets;
pub(crate) mod sweep;
pub(crate) mod values;

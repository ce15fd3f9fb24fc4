//! What is computed of the product games of a block.
//!
//! `block`: factors of sixteen games; `spread`: their Λ and range; `scaling`: powers of two for
//! those beyond it; `coalitions`: their order; `two_players`: products of two
//! factors; `sweep`, `recursion` and `interactions`: Ω of players and of coalitions;
//! `coalitions_of_two`: of these by fewer instructions; `series`: those of power series; `quantity`:
//! the choice between them; `supersets`: sums over larger coalitions.

pub(crate) mod block;
pub(crate) mod coalitions;
pub(crate) mod coalitions_of_two;
pub(crate) mod interactions;
pub(crate) mod quantity;
pub(crate) mod recursion;
pub(crate) mod scaling;
pub(crate) mod series;
pub(crate) mod spread;
pub(crate) mod supersets;
pub(crate) mod sweep;
pub(crate) mod two_players;

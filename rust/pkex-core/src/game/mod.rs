//! Computations on the product games of a block.
//!
//! `block`: the factors of sixteen games; `spread`: their Λ and range; `scaling`: scaling by powers
//! of two; `coalitions`: coalitions in order; `two_players`: products of two factors; `sweep`,
//! `recursion` and `interactions`: Ω of players and of coalitions; `coalitions_of_two`: Ω of
//! coalitions of two players, with fewer instructions; `series`: factors that are power series;
//! `quantity`: the choice between these computations; `supersets`: sums over larger coalitions.

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

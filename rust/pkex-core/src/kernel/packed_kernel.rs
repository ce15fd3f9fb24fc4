//! A kernel, packed for the engine: its terms, and the players that they compare.

use crate::error::Error;
use crate::kernel::linked_terms::Links;
use crate::kernel::narrowing::NarrowerTerms;
use crate::kernel::players::Players;
use crate::kernel::term::{PackedTerm, Term};

/// A sum of product kernels, packed. Expansions and sums over pairs use it.
#[derive(Clone, Debug)]
pub(crate) struct PackedKernel {
    pub players: Players,
    pub terms: Vec<PackedTerm>,
    /// The terms whose factors are computed from those of other terms.
    pub links: Links,
    /// The narrower terms after each term.
    pub narrower_terms: Vec<NarrowerTerms>,
}

impl PackedKernel {
    /// Packs the terms of a kernel whose columns belong to these players.
    pub fn new(terms: &[Term], players: Players) -> Result<Self, Error> {
        let terms = terms.iter().map(|term| PackedTerm::new(term, &players));
        let terms: Vec<_> = terms.collect::<Result<_, _>>()?;
        let narrower_terms = NarrowerTerms::after_each(&terms);
        Ok(Self { links: Links::among(&terms), narrower_terms, terms, players })
    }

    /// The largest number of players that a term compares.
    pub fn max_players(&self) -> usize {
        self.terms.iter().map(|term| term.players.len()).max().unwrap_or(0)
    }

    /// Whether a player is compared by at least two terms on average.
    pub fn shares_players(&self) -> bool {
        let count: usize = self.terms.iter().map(|term| term.players.len()).sum();
        count >= 2 * self.players.count()
    }

    /// The highest power of s of a term that is a power series; 0 if there is none.
    pub fn max_orders(&self) -> usize {
        self.terms.iter().map(PackedTerm::orders).max().unwrap_or(0)
    }

    /// Whether k(x, x) may differ from row to row, as for power series and centered kernels.
    pub fn diagonal_varies(&self) -> bool {
        self.terms.iter().any(PackedTerm::diagonal_varies)
    }

    /// Whether factors may be negative, or above 1.
    pub fn is_signed(&self) -> bool {
        self.terms.iter().any(|term| term.is_signed)
    }

    /// Whether a term is a power series.
    pub fn has_series(&self) -> bool {
        self.terms.iter().any(|term| term.series.is_some())
    }
}

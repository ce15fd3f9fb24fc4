//! The games between an explained row and a tile of points, for one term of the kernel; and the
//! memory of a thread for their values.

use std::ops::Range;

use crate::game::block::Block;
use crate::game::two_players::PerTwo;
use crate::quadrature::table::NodeTable;
use crate::simd::lanes::Lanes;
use crate::sparse::entry_factors::{EntryFactors, ZeroFactors};
use crate::sparse::marginal::MarginalTerm;
use crate::sparse::profiles::{Factor, Profiles};
use crate::sparse::tiles::Tile;

/// A column in which x or a background row is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemColumn {
    pub column: usize,
    pub x: f64,
    pub z: f64,
}

/// The absent factors of a cell.
#[derive(Clone, Copy)]
pub(crate) enum AbsentFactors<'a> {
    /// 1.
    Neutral(&'a EntryFactors),
    /// Those of the entries z.
    Interventional,
    /// The means of a background; also the number of the tile.
    Marginal(&'a MarginalTerm, usize),
}

/// A tile of points, and the game of a term of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub tile: &'a Tile,
    pub tiles: &'a [Tile],
    pub profiles: &'a Profiles,
    pub zero: &'a ZeroFactors,
    pub absent: AbsentFactors<'a>,
    /// The weights of the tile's points, output by output.
    pub weights: &'a [f64],
    /// The number by which values are multiplied.
    pub scale: f64,
}

/// A column of the item, compared with the points of a tile.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub column: usize,
    /// The factor of points without an entry.
    pub reference: Factor,
    /// The entries of the tile in this column.
    pub entries: Range<usize>,
    /// The place of the first of them among all that are compared.
    pub first: usize,
    /// The first entry of the blocks that are not yet filled.
    pub next: usize,
}

/// The workspace of a thread.
#[derive(Debug, Default)]
pub(crate) struct CellWorkspace {
    pub comparisons: Vec<Comparison>,
    /// The factors a, b and c of the compared entries, and |c|/M less what it replaces.
    pub present: Vec<f64>,
    pub absent: Vec<f64>,
    pub difference: Vec<f64>,
    /// The numbers a − 1, and k(z, y) − 1 which are not used.
    pub less_one: Vec<f64>,
    /// Λ of each point.
    pub lambda: Vec<f64>,
    /// For each compared column and node, ln F₀ of x less that of zero.
    pub logs: Vec<Lanes>,
    /// ln ∏ F₀ at the nodes: of an empty point, and of the other columns of each lane's point.
    pub total: Vec<Lanes>,
    pub lane_logs: Vec<Lanes>,
    /// For each point, ln ∏ k(0, y) over its entries outside the item's columns, if `total` is so
    /// far from 0 that differences from it lose digits; the products are then added up column by
    /// column.
    pub outside: Option<Vec<f64>>,
    pub block: Block,
    pub prefixes: PerTwo,
    /// The products at the nodes, for a block, and for each point of the tile.
    pub block_products: Vec<Lanes>,
    pub products: Vec<Lanes>,
    /// c Ω, slot by slot, and the places of the compared entries in it.
    pub values: Vec<Lanes>,
    pub places: Vec<usize>,
    pub table: Option<(usize, NodeTable)>,
}

impl Cell<'_> {
    /// The factors of the points' own entries where x is zero; `None` if these have a = b.
    pub fn entry_factors(&self) -> Option<&EntryFactors> {
        match self.absent {
            AbsentFactors::Neutral(entry_factors) => Some(entry_factors),
            AbsentFactors::Marginal(term, tile) => Some(&term.entry_factors[tile]),
            AbsentFactors::Interventional => None,
        }
    }

    /// The factor of an empty point where x is zero.
    pub fn zero_factor(&self, column: usize) -> Factor {
        match self.absent {
            AbsentFactors::Marginal(term, _) => term.columns.of_zero(column),
            _ => Factor::ONE,
        }
    }
}

//! The values of coalitions in the games of rows: for each background row separately, or for
//! features that are drawn independently.

use std::ops::Range;

use crate::absent::background::ValueFunction;
use crate::coalitions::factors::{AbsentValues, Rows};
use crate::coalitions::list::{CoalitionList, ListWorkspace};
use crate::coalitions::orders::{Orders, OrdersWorkspace};
use crate::coalitions::range::RangeWorkspace;
use crate::error::Error;
use crate::evaluations::packed_expansion::PackedExpansion;
use crate::expansion::Expansion;
use crate::matrix::Matrix;
use crate::memory::{Memory, RESULT, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::lanes::LANES;
use crate::threads::{self, Monitor, Parallelism};

/// Maximum coalitions of a range that are computed together.
const MAX_COALITIONS: usize = 1 << 30;

/// Coalitions, whose values are computed.
#[derive(Clone, Debug)]
pub enum Coalitions<'a> {
    /// Those with consecutive numbers, whose bit j is player j. They are the 2^k coalitions that
    /// agree in all but the first k players: the length is 2^k, and divides the start.
    Range(Range<usize>),
    /// One boolean for each coalition and player, coalition by coalition.
    Listed(&'a [bool]),
    /// Permutations of the players, one after another: for each of them the coalitions of its first
    /// 1, …, p − 1 players, and those of its last 1, …, p − 1 players.
    Orders(&'a [usize]),
}

impl Expansion {
    /// Computes the values of coalitions. In the interventional game, these are f at rows with the
    /// entries of a row of `x` for present players and of a background row for absent ones, before
    /// they are averaged.
    ///
    /// The order is row by row of `x`, background row by background row (one in other games), output
    /// by output, coalition by coalition.
    ///
    /// # Errors
    /// If the number of columns of rows or of players of coalitions is wrong; if the kernel is a
    /// power series or the expansion a quadratic form; if a value overflows, there is too little
    /// memory, or the monitor stops the call.
    pub fn coalition_values(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        coalitions: &Coalitions<'_>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let expansion = &self.packed;
        self.check_coalitions(x, value_function, coalitions)?;
        let means =
            self.marginal_means(value_function, settings, &mut |_, total| monitor(0, total))?;
        let background = match value_function {
            ValueFunction::Interventional(background) => Some(background.rows),
            _ => None,
        };
        let players = expansion.players();
        let packed_coalitions = match coalitions {
            Coalitions::Range(range) => PackedCoalitions::Range(range.clone()),
            Coalitions::Listed(members) => {
                PackedCoalitions::Listed(CoalitionList::new(members, players)?)
            }
            Coalitions::Orders(orders) => PackedCoalitions::Orders(Orders::new(orders, players)?),
        };
        let width = saturating_product([packed_coalitions.count(), expansion.outputs()]);
        let alternatives = background.map_or(1, |rows| rows.rows());
        let length = saturating_product([x.rows(), alternatives, width]);
        let mut values = Memory::default().filled(length, 0.0, RESULT)?;
        if values.is_empty() {
            return Ok(values);
        }
        let memory = Memory::default();
        let rows_of = |cell: usize| Rows {
            x: x.row(cell / alternatives),
            absent: match (background, &means) {
                (Some(rows), _) => AbsentValues::Row(rows.row(cell % alternatives)),
                (None, Some(means)) => AbsentValues::Means(means),
                (None, None) => AbsentValues::One,
            },
        };
        let cells = values.chunks_mut(width).enumerate();
        let cost = saturating_product([length, expansion.evaluation_blocks(), LANES]);
        threads::for_each(
            cells,
            Parallelism::of(cost, settings.threads),
            || Workspace::new(expansion, &packed_coalitions, &memory),
            |workspace, (cell, values), stop| {
                let context = Context { settings, stop };
                workspace.compute(expansion, rows_of(cell), context, values);
            },
            monitor,
        )?;
        match values.iter().position(|value| !value.is_finite()) {
            Some(place) => Err(Error::Overflow { row: place / (width * alternatives) }),
            None => Ok(values),
        }
    }

    fn check_coalitions(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        coalitions: &Coalitions<'_>,
    ) -> Result<(), Error> {
        let expansion = &self.packed;
        expansion.check_columns("X", x)?;
        if let Some(background) = value_function.background() {
            self.check_background(background)?;
        }
        let players = expansion.players();
        if self.is_quadratic() || expansion.kernel.has_series() {
            let message = "values of single coalitions require a sum over points whose kernel is a sum of \
                           products: power series and quadratic forms are not supported";
            return Err(Error::Unsupported(message.to_owned()));
        }
        let shape = |argument, expected, got| Err(Error::Shape { argument, expected, got });
        match coalitions {
            Coalitions::Range(range) => {
                let (count, first) = (range.len(), range.start);
                let is_block = count.is_power_of_two() && first.is_multiple_of(count);
                let is_within = players >= usize::BITS as usize || range.end <= 1 << players;
                if count > MAX_COALITIONS || !is_block || !is_within {
                    let expected = format!(
                        "2^k of the 2^{players} coalitions, up to {MAX_COALITIONS}, from a \
                         multiple of 2^k on"
                    );
                    return shape("coalitions", expected, format!("{range:?}"));
                }
            }
            Coalitions::Listed(members) if !members.len().is_multiple_of(players.max(1)) => {
                let expected = format!("{players} entries of each coalition");
                return shape("members", expected, format!("{} entries", members.len()));
            }
            Coalitions::Listed(_) | Coalitions::Orders(_) => {}
        }
        Ok(())
    }
}

/// Coalitions in the form that they are computed in.
enum PackedCoalitions {
    Range(Range<usize>),
    Listed(CoalitionList),
    Orders(Orders),
}

impl PackedCoalitions {
    fn count(&self) -> usize {
        match self {
            Self::Range(range) => range.len(),
            Self::Listed(list) => list.count(),
            Self::Orders(orders) => orders.count(),
        }
    }
}

/// The workspace of a thread.
enum Workspace<'a> {
    /// With the number of the first coalition.
    Range(RangeWorkspace, usize),
    Listed(ListWorkspace, &'a CoalitionList),
    Orders(OrdersWorkspace, &'a Orders),
}

impl<'a> Workspace<'a> {
    fn new(
        expansion: &PackedExpansion,
        packed_coalitions: &'a PackedCoalitions,
        memory: &Memory,
    ) -> Result<Self, Error> {
        Ok(match packed_coalitions {
            PackedCoalitions::Range(range) => {
                let free = range.len().ilog2() as usize;
                Self::Range(RangeWorkspace::new(expansion, free, memory)?, range.start)
            }
            PackedCoalitions::Listed(list) => {
                Self::Listed(ListWorkspace::new(expansion, list, memory)?, list)
            }
            PackedCoalitions::Orders(orders) => {
                Self::Orders(OrdersWorkspace::new(expansion, orders, memory)?, orders)
            }
        })
    }

    fn compute(
        &mut self,
        expansion: &PackedExpansion,
        rows: Rows<'_>,
        context: Context<'_>,
        values: &mut [f64],
    ) {
        match self {
            Self::Range(workspace, start) => {
                workspace.compute(expansion, rows, *start, context, values);
            }
            Self::Listed(workspace, list) => {
                workspace.compute(expansion, rows, list, context, values);
            }
            Self::Orders(workspace, orders) => {
                workspace.compute(expansion, rows, orders, context, values);
            }
        }
    }
}

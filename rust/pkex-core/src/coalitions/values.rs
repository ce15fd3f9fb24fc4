//! The values of coalitions in the games of rows: for each background row separately, or for
//! features that are drawn independently.

use crate::absent::background::ValueFunction;
use crate::coalitions::all::AllWorkspace;
use crate::coalitions::factors::{AbsentValues, Rows};
use crate::coalitions::listed::{Listed, ListedWorkspace};
use crate::error::Error;
use crate::evaluations::packed::PackedExpansion;
use crate::expansion::Expansion;
use crate::matrix::Matrix;
use crate::memory::{Memory, RESULT, saturating_product};
use crate::settings::{Context, Settings};
use crate::simd::lanes::LANES;
use crate::threads::{self, Monitor, Parallelism};

/// Most players all of whose coalitions are computed.
const MOST_PLAYERS: usize = 30;

impl Expansion {
    /// Computes the values of coalitions. In the interventional game, these are f at rows with the
    /// entries of a row of `x` for present players and of a background row for absent ones, before
    /// they are averaged.
    ///
    /// The order is row by row of `x`, background row by background row (one in other games), output
    /// by output, coalition by coalition: those in `members`, which has a boolean for each
    /// coalition and player; without `members` all 2^p of p players, by the number whose bit j is
    /// player j.
    ///
    /// # Errors
    /// If the number of columns of rows or of players of `members` is wrong; if the kernel is a
    /// power series or the expansion a quadratic form; if a value overflows, there is too little
    /// memory, or the monitor stops the call.
    pub fn coalition_values(
        &self,
        x: Matrix<'_>,
        value_function: ValueFunction<'_>,
        members: Option<&[bool]>,
        settings: &Settings,
        monitor: Monitor<'_>,
    ) -> Result<Vec<f64>, Error> {
        let expansion = &self.packed;
        self.check_coalitions(x, value_function, members)?;
        let means =
            self.marginal_means(value_function, settings, &mut |_, total| monitor(0, total))?;
        let background = match value_function {
            ValueFunction::Interventional(background) => Some(background.rows),
            _ => None,
        };
        let players = expansion.players();
        let listed = members.map(|members| Listed::new(members, players)).transpose()?;
        let count = members.map_or(1 << players, |members| members.len() / players.max(1));
        let width = saturating_product([count, expansion.outputs()]);
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
            || Workspace::new(expansion, listed.as_ref(), count, &memory),
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
        members: Option<&[bool]>,
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
        match members {
            None if players > MOST_PLAYERS => Err(Error::Unsupported(format!(
                "{players} players have too many coalitions to compute all"
            ))),
            Some(members) if !members.len().is_multiple_of(players.max(1)) => Err(Error::Shape {
                argument: "members",
                expected: format!("{players} entries of each coalition"),
                got: format!("{} entries", members.len()),
            }),
            _ => Ok(()),
        }
    }
}

/// The workspace of a thread.
enum Workspace<'a> {
    All(AllWorkspace),
    Listed(ListedWorkspace, &'a Listed),
}

impl<'a> Workspace<'a> {
    fn new(
        expansion: &PackedExpansion,
        listed: Option<&'a Listed>,
        count: usize,
        memory: &Memory,
    ) -> Result<Self, Error> {
        Ok(match listed {
            None => Self::All(AllWorkspace::new(expansion, memory)?),
            Some(listed) => Self::Listed(ListedWorkspace::new(expansion, count, memory)?, listed),
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
            Self::All(workspace) => workspace.compute(expansion, rows, context, values),
            Self::Listed(workspace, listed) => {
                workspace.compute(expansion, rows, listed, context, values);
            }
        }
    }
}
